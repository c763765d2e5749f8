/*
 * heapdb/sql_rows.c - see sql_rows.h.
 */
#include "heapdb/sql_rows.h"

#include "heapdb/cli.h"

#ifdef HAVE_SQLITE
#include "sqlite/sqlite.h"

/* Counts text before writing it, so that an answer cannot exceed its limit. */
static int count_texts(struct sql_rows *r, struct hdb_error *err)
{
	for (size_t i = 0; i < r->source.count; i++) {
		const struct hdb_value *value = &r->source.cells[i];

		if (value->type == HDB_TYPE_TEXT)
			r->texts += value->text_size;
	}
	if (r->texts_max && r->texts > r->texts_max)
		return hdb_fail(err, HDB_ELIMIT,
				"the answer exceeds %" PRIu64 " MiB of text; request fewer "
				"rows, or use substr(text, 1, 100)",
				r->texts_max >> 20);
	return HDB_OK;
}

static int row_next(void *ctx, struct hdb_error *err)
{
	struct sql_rows *r = ctx;
	int rc = r->is_first ? r->first : heapsql_next(r->rows, err);

	r->is_first = false;
	TRY(rc);
	return r->texts_max ? count_texts(r, err) : HDB_OK;
}

int sql_rows_begin(struct sql_rows *out, struct heapsql_rows *rows, struct hdb_error *err)
{
	*out = (struct sql_rows){
		.source = {
			.ctx = out,
			.count = heapsql_column_count(rows),
			.next = row_next,
			.columns = heapsql_column(rows, 0),
			.cells = heapsql_value(rows, 0),
		},
		.rows = rows,
		.is_first = true,
		.first = heapsql_next(rows, err),
	};
	return out->first < 0 ? out->first : HDB_OK;
}

#endif
