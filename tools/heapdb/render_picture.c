/*
 * heapdb/render_picture.c - draws tree answers: rows with a level, a name and bytes, parents first
 * (dominator-tree, merged-paths). Reads the whole answer first, since the scale depends on the
 * total.
 */
#include "heapdb/render.h"

#include "heapdb/cli.h"
#include "heapdb/prose.h"
#include "pictures/pictures.h"

/* Indexes of the columns to draw, or NO_COLUMN if missing. */
struct columns {
	size_t level, name, bytes, count, others, count_below;
};

#define NO_COLUMN SIZE_MAX

static size_t column_named(const struct answer *answer, const char *name)
{
	const size_t count = answer_column_count(answer);

	for (size_t i = 0; i < count; i++)
		if (strcmp(answer_column(answer, i)->name, name) == 0)
			return i;
	return NO_COLUMN;
}

static int find_columns(const struct answer *answer, struct columns *columns)
{
	columns->level = column_named(answer, "level");
	columns->name = column_named(answer, "name");
	columns->count = column_named(answer, "objects");
	columns->others = column_named(answer, "others");
	columns->count_below = column_named(answer, "retained_objects");
	columns->bytes = column_named(answer, "retained");
	if (columns->bytes == NO_COLUMN)
		columns->bytes = column_named(answer, "below_shallow");
	if (columns->bytes == NO_COLUMN)
		columns->bytes = column_named(answer, "bytes");
	if (columns->level == NO_COLUMN || columns->name == NO_COLUMN ||
	    columns->bytes == NO_COLUMN || answer->sort)
		return hdb_fail(answer->err, HDB_EUSAGE,
				"only trees in their original order can be drawn, such as "
				"dominator-tree without --sort and --columns");
	return HDB_OK;
}

/* Returns 0 if the row has no value. */
static uint64_t number_in(const struct answer *answer, size_t column)
{
	const struct hdb_value *value = column == NO_COLUMN ? NULL : answer_value(answer, column);

	return value && value->type != HDB_TYPE_NULL ? value->u : 0;
}

static int read_row(struct answer *answer, const struct columns *columns, struct picture *picture)
{
	const struct hdb_value *name = answer_value(answer, columns->name);
	const bool has_name = name->type == HDB_TYPE_TEXT;
	const bool is_rest = number_in(answer, columns->others) > 0;
	const struct picture_part part = {
		.level = number_in(answer, columns->level),
		.name = has_name ? name->text : "?",
		.name_size = has_name ? name->text_size : 1,
		.bytes = number_in(answer, columns->bytes),
		/* for a node that combines other nodes, the number of objects in all of them */
		.count = number_in(answer, is_rest ? columns->count_below : columns->count),
		.is_rest = is_rest,
	};

	return picture_add(picture, &part, answer->err);
}

int render_picture(struct answer *answer, enum picture_kind kind, struct output *out)
{
	const struct hdb_value *heap = answer_fact(answer, "heap_shallow");
	struct picture *picture = NULL;
	struct columns columns;
	int rc;

	TRY(find_columns(answer, &columns));
	TRY(picture_make(&picture, answer->name, answer->err));
	while ((rc = answer_next(answer, out)) == HDB_OK) {
		if ((rc = read_row(answer, &columns, picture)) != HDB_OK)
			break;
	}
	if (rc == HDB_END)
		rc = picture_draw(picture, kind, heap ? heap->u : 0, out, answer->err);
	picture_release(picture);
	return rc;
}
