/*
 * query/filter.c - drops rows that the caller does not want (struct hdb_row_filter) and, when
 * sorting with a limit, rows that cannot be among the first. A row is tested as soon as the query
 * has set the tested columns, or at the latest when it is complete.
 */
#include "query/object_columns.h"
#include "base/scope.h"
#include "query/kept_answers.h"
#include "query/rows.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Number of rows between two checks of the cancel flag. */
#define STEP_ROWS 4096

struct query_filter {
	const struct hdb_column **columns; /* the shown columns; owned */
	const struct hdb_value **values;   /* their cells; owned */
	/* indexed by column of the spec: whether the column is tested; owned */
	bool *uses;
	uint64_t tested;
	bool uses_shared; /* whether any column of object_columns.h is tested */
	bool is_done;     /* whether the current row has been tested */
};

void query_filter_free(struct query_filter *f)
{
	if (!f)
		return;
	free(f->columns);
	free(f->values);
	free(f->uses);
	free(f);
}

static bool looks_at(const struct query *q, size_t column)
{
	return column != SIZE_MAX &&
	       ((q->filter && q->filter->uses[column]) || query_sort_looks_at(q, column));
}

bool query_is_tested(const struct query *q, size_t column)
{
	/* Labels and their parts are filled in together. */
	if (column == q->label && column != SIZE_MAX &&
	    (looks_at(q, q->label_kind) || looks_at(q, q->label_value)))
		return true;
	return looks_at(q, column);
}

static bool tests_shared(const struct query *q)
{
	const struct query_object_places *at = &q->extra;
	const size_t columns[] = { at->native, at->retained_native, at->heap, at->depth };
	bool uses = false;

	for (size_t i = 0; i < BASE_COUNT(columns); i++)
		uses |= columns[i] != SIZE_MAX && query_is_tested(q, columns[i]);
	for (unsigned i = 0; i < at->heap_count; i++)
		uses |= at->heaps[i] != SIZE_MAX && query_is_tested(q, at->heaps[i]);
	return uses;
}

/* Some queries show retained sizes only if their table exists when the query is opened. */
static const char retained[] = "retained";

static bool is_of_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Returns whether an SQL expression contains the word `retained`, in any case. */
static bool has_retained(const char *text)
{
	const size_t size = strlen(retained);

	for (const char *p = text; (p = strcasestr(p, retained)) != NULL; p += size)
		if ((p == text || !is_of_word(p[-1])) && !is_of_word(p[size]))
			return true;
	return false;
}

int query_need_tested(struct query *q, struct hdb_error *err)
{
	const char *sort = q->args.sort, *condition = q->args.filter ? q->args.filter->text : NULL;
	const bool is_tested = (sort && strcmp(sort + (*sort == '-'), retained) == 0) ||
			       (condition && has_retained(condition));

	return is_tested && query_find_column(q, retained) != SIZE_MAX ?
		       derive_need(q->derive, STORE_RETAINED, err) :
		       HDB_OK;
}

int query_begin_filter(struct query *q, struct hdb_error *err)
{
	const struct hdb_row_filter *filter = q->args.filter;
	const size_t count = q->column_count;
	struct query_filter *f;

	assert(!q->filter);
	if (!filter)
		return HDB_OK;
	if (q->def->order != QUERY_ORDER_FLAT)
		return hdb_fail(
			err, HDB_EUSAGE,
			"cannot filter the rows of %s because each row depends on the rows around "
			"it",
			q->def->spec.name);
	f = q->filter = calloc(1, sizeof(*f));
	if (!f)
		return hdb_fail_memory(err, "a filter", sizeof(*f));
	TRY(BASE_ALLOC(f->columns, count + 1, "columns", err));
	TRY(BASE_ALLOC(f->values, count + 1, "columns", err));
	TRY(BASE_ALLOC(f->uses, q->def->spec.column_count + 1, "columns", err));
	for (size_t i = 0; i < count; i++) {
		f->columns[i] = query_column(q, i);
		f->values[i] = query_value(q, i);
	}
	TRY_ERRORS(filter->begin(filter->ctx, f->columns, count, err));
	for (size_t i = 0; i < count; i++) {
		f->uses[q->columns[i]] = filter->uses(filter->ctx, i) != 0;
		/*
		 * Some queries choose the tables to build before the condition is known, so build
		 * the table that the condition needs.
		 */
		if (f->uses[q->columns[i]] && strcmp(f->columns[i]->name, retained) == 0)
			TRY(derive_need(q->derive, STORE_RETAINED, err));
	}
	f->uses_shared = q->extra.is_used && tests_shared(q);
	q->wanted_total = QUERY_TOTAL_UNKNOWN;
	return HDB_OK;
}

/* Applies the caller's filter. */
static int test_filter(struct query *q, bool *wanted, struct hdb_error *err)
{
	struct query_filter *f = q->filter;
	int is_wanted = 0, r;

	assert(q->filter);
	f->is_done = true;
	if (f->uses_shared)
		TRY(query_fill_object_columns(q, err));
	query_place_texts(q);
	r = q->args.filter->test(q->args.filter->ctx, f->values, &is_wanted, err);
	query_unplace_texts(q);
	*wanted = is_wanted != 0;
	if (r != HDB_OK)
		return r < 0 ? r : HDB_OK;
	return ++f->tested % STEP_ROWS == 0 ? base_step(q->work, f->tested, err) : HDB_OK;
}

int query_test(struct query *q, bool *wanted, struct hdb_error *err)
{
	int r = HDB_OK;

	*wanted = true;
	if (q->filter)
		r = test_filter(q, wanted, err);
	if (r == HDB_OK && *wanted)
		r = query_sort_test(q, wanted, err);
	if (!*wanted)
		query_kept_drop(q);
	return r;
}

int query_test_row(struct query *q, bool *wanted, struct hdb_error *err)
{
	int r = HDB_OK;

	*wanted = true;
	if (!q->filter)
		return HDB_OK;
	if (!q->filter->is_done)
		r = test_filter(q, wanted, err);
	q->filter->is_done = false;
	return r;
}

void query_reset(struct query *q)
{
	query_clear_cells(q);
}
