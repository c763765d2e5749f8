/*
 * query/rows.c - runs a query: checks arguments, opens it, and returns, sorts, limits and counts
 * rows.
 */
#include "query/owned.h"
#include "query/rows.h"

#include "base/scope.h"
#include "heap/heap_database.h"
#include "query/coverage.h"
#include "query/kept_answers.h"
#include "query/object_columns.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Number of rows between two checks of the cancel flag while rows are only counted. */
#define STEP_ROWS 4096
/* Number of rows between two checks of the database file's size. */
#define ROWS_A_CHECK 64

/* ---- opening ---- */

/* Allocates the cells and columns of q->def. */
static int make_cells(struct query *q, struct hdb_error *err)
{
	const size_t count = q->def->spec.column_count;

	assert(q->def->spec.columns);
	free(q->cells);
	free(q->columns);
	TRY(BASE_ALLOC(q->cells, count + 1, "columns", err));
	TRY(BASE_ALLOC(q->columns, count + 1, "columns", err));
	q->column_count = count;
	q->label = query_find_column(q, "label");
	q->label_kind = query_find_column(q, "label_kind");
	q->label_value = query_find_column(q, "label_value");
	for (size_t i = 0; i < count; i++)
		q->columns[i] = i;
	return HDB_OK;
}

/* Allocates the state, and opens the query. */
static int prepare(struct query *q, struct hdb_error *err)
{
	const size_t size = q->def->state_size;

	assert(!q->state);
	q->state = size ? calloc(1, size) : NULL;
	if (size && !q->state)
		return hdb_fail_memory(err, q->def->spec.name, size);
	if (q->def->rows_of)
		q->total = heap_record_count(q->heap, q->def->rows_of);
	return q->def->open ? q->def->open(q, err) : HDB_OK;
}

int query_become(struct query *q, const struct query_def *def, struct hdb_error *err)
{
	query_free_state(q);
	q->def = def;
	q->population = def->population;
	TRY(make_cells(q, err));
	TRY(query_read_population(q, err));
	/* The shared options have already been read. Only the columns must be set again. */
	TRY(query_begin_columns(q, err));
	return prepare(q, err);
}

/* Reports that the column to sort by is not in this answer, so all of its values would be null. */
static int absent_column(const struct query *q, size_t column, struct hdb_error *err)
{
	char list[512] = "";
	size_t used = 0;

	for (size_t i = 0; i < q->column_count && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
					 query_column(q, i)->name);
	return hdb_fail(err, HDB_EUSAGE,
			"this answer has no column \"%s\" to sort by; "
			"available columns: %s",
			q->def->spec.columns[column].name, list);
}

/*
 * Returns whether the user chooses columns before rows are read; if so, columns to sort by are
 * filled in, too.
 */
static bool chooses_columns(const struct query *q)
{
	const struct hdb_option_spec *o = q->def->spec.options;

	while (o->name && strcmp(o->name, "columns") != 0)
		o++;
	return o->name != NULL;
}

static int sort_rows(struct query *q, struct hdb_error *err)
{
	const char *name = q->args.sort;
	const bool is_turned = *name == '-';
	size_t column;
	bool is_text;

	if (is_turned)
		name++;
	column = query_find_column(q, name);
	if (column == SIZE_MAX)
		return query_fail_column(q, name, strlen(name), err);
	if (!query_is_shown(q, column) && !chooses_columns(q))
		return absent_column(q, column, err);
	is_text = query_spec_column(q, column)->type == HDB_TYPE_TEXT;
	return query_sort(q, column, is_text == is_turned, q->args.limit, err);
}

/* Checks that all databases could be read. */
static int check_heaps(const struct query *q, int (*check)(struct heap *, struct hdb_error *),
		       struct hdb_error *err)
{
	int r = check(q->heap, err);

	for (size_t i = 0; i < q->before_count && r >= 0; i++)
		r = check(q->before[i].heap, err);
	return r;
}

/*
 * Checks for read errors, so that none results in a wrong answer. A read error is reported instead
 * of a later error, which may only be a consequence of reading zeros.
 */
static int check_read(const struct query *q, int r, struct hdb_error *err)
{
	/*
	 * Checks the size of the file from time to time, and always at the end, so that an answer
	 * from a damaged file never ends without an error.
	 */
	int (*check)(struct heap *, struct hdb_error *) =
		r == HDB_OK && q->made % ROWS_A_CHECK ? heap_check : heap_check_size;
	struct hdb_error why;

	if (r >= 0 && q->failure)
		r = query_failed(q, err);
	/* Keep the existing message unless a failed read caused the error. */
	if (r == HDB_EINTR || check_heaps(q, check, &why) >= 0)
		return r;
	if (err)
		*err = why;
	return why.code;
}

static void set_filter(struct query *q, struct heap *heap, uint32_t only_heap, bool is_on)
{
	const bool chooses = q->def->uses & QUERY_CHOOSES_HEAP;

	assert(heap);
	heap->filter.is_on = is_on && !chooses;
	heap->filter.is_choosing = is_on && chooses;
	heap->filter.heap_no = only_heap;
}

static void set_filters(struct query *q, bool is_on)
{
	set_filter(q, q->heap, q->only_heap, is_on);
	for (size_t i = 0; i < q->before_count && q->only_before; i++)
		set_filter(q, q->before[i].heap, q->only_before[i], is_on);
}

/* Calls a function of the query with the heap filter active. */
static int in_heap(struct query *q, int (*call)(struct query *, struct hdb_error *),
		   struct hdb_error *err)
{
	int r;

	assert(call);
	if (!q->is_filtered)
		return call(q, err);
	set_filters(q, true);
	r = call(q, err);
	set_filters(q, false);
	return r;
}

/* Prepares the query, or starts reading a stored answer. */
static int begin(struct query *q, struct hdb_error *err)
{
	int r;

	TRY(query_read_args(q, err));
	TRY(make_cells(q, err));
	TRY(query_read_population(q, err));
	TRY(query_begin_shared(q, err));
	TRY(query_need_tested(q, err));
	r = query_kept_begin(q, err);
	if (r != HDB_NOTFOUND)
		return r < 0 ? r : query_begin_filter(q, err);
	if (query_option(q, "columns"))
		TRY(query_choose_named(q, query_option(q, "columns"), err));
	TRY(in_heap(q, prepare, err));
	q->row_count = q->total;
	if (q->is_filtered && q->extra.is_used && q->def->uses & QUERY_ROWS_ARE_OBJECTS)
		q->total = QUERY_TOTAL_UNKNOWN;
	TRY(query_show_object_columns(q, err));
	query_report_coverage(q);
	return query_begin_filter(q, err);
}

static int start(struct query *q, struct hdb_error *err)
{
	const int r = check_read(q, begin(q, err), err);

	if (r != HDB_OK)
		return r;
	return q->args.sort && *q->args.sort ? sort_rows(q, err) : HDB_OK;
}

BASE_CLOSER(close_at, struct query, query_close)

int query_open(const struct query_def *def, const struct query_sides *sides,
	       const struct hdb_query_args *args, struct query **out, struct hdb_error *err)
{
	BASE_SCOPED(close_at) struct query *q = NULL;

	assert(sides->session->heap && sides->session->derive && sides->session->work);
	assert(!args->before_count || sides->before);
	if (args->before_count && !def->takes_before)
		return hdb_fail(err, HDB_EUSAGE, "%s accepts only one database", def->spec.name);
	TRY(BASE_ALLOC(q, 1, "a query", err));
	q->def = def;
	q->population = def->population;
	q->heap = sides->session->heap;
	q->derive = sides->session->derive;
	q->work = sides->session->work;
	q->session = *sides->session;
	q->args = *args;
	q->before = sides->before;
	q->before_count = args->before_count;
	q->total = QUERY_TOTAL_UNKNOWN;
	TRY(BASE_ALLOC(q->common, QUERY_COMMON_FACTS, "facts", err));
	TRY(query_add_common_facts(q, err));
	TRY(start(q, err));
	*out = q;
	q = NULL;
	return HDB_OK;
}

void query_close(struct query *q)
{
	if (!q)
		return;
	query_free_state(q);
	for (size_t i = 0; q->renamed && i < q->def->spec.column_count; i++)
		free(q->renamed[i].name);
	free(q->renamed);
	free(q->only_before);
	query_kept_write(q);
	query_kept_free(q->kept);
	query_sorted_free(q->sorted);
	query_filter_free(q->filter);
	for (size_t i = 0; i < q->fact_count; i++)
		free(q->facts[i].text);
	free(q->facts);
	for (size_t i = 0; i < q->common_count; i++)
		free(q->common[i].text);
	free(q->common);
	for (size_t i = 0; q->names && i < q->def->spec.column_count; i++) {
		free(q->names[i].texts);
		free(q->names[i].sizes);
	}
	free(q->names);
	free(q->batch.columns);
	free(q->cells);
	free(q->columns);
	free(q->targets);
	free(q->id_texts);
	base_vec_release(&q->row_text);
	base_vec_release(&q->cut_text);
	free(q);
}

/* ---- rows ---- */

/* Returns whether a tested cell is null, so that def->rest may still set it. */
static bool lacks_tested(const struct query *q)
{
	bool lacks = false;

	for (size_t i = 0; i < q->def->spec.column_count && !lacks; i++)
		lacks = q->cells[i].type == HDB_TYPE_NULL && query_is_tested(q, i);
	return lacks;
}

static int next_row(struct query *q, struct hdb_error *err)
{
	if (!q->def->row || q->row_count == QUERY_TOTAL_UNKNOWN)
		return q->def->next(q, err);
	while (q->row_no < q->row_count) {
		const size_t no = (size_t)q->row_no++;
		bool is_wanted = true;

		TRY(q->def->row(q, no, err));
		if (!q->def->rest || q->is_counting)
			return HDB_OK;
		if (!lacks_tested(q))
			TRY(query_test(q, &is_wanted, err));
		if (is_wanted)
			return q->def->rest(q, no, err);
		query_reset(q);
	}
	return HDB_END;
}

/* Produces the next row. Sets *is_shown to whether it passed all tests. */
static int make_one(struct query *q, bool *is_shown, struct hdb_error *err)
{
	bool is_elsewhere = false, is_wanted = true;

	assert(!q->has_ended);
	query_clear_cells(q);
	*is_shown = false;
	TRY(query_is_replayed(q) ? query_kept_next(q, err) : in_heap(q, next_row, err));
	if (q->is_filtered && q->extra.is_used)
		TRY(query_is_elsewhere(q, &is_elsewhere, err));
	if (q->extra.is_used && !is_elsewhere)
		TRY(query_fill_object_columns(q, err));
	TRY(query_test_row(q, &is_wanted, err));
	*is_shown = is_wanted && !is_elsewhere;
	return HDB_OK;
}

int query_make(struct query *q, struct hdb_error *err)
{
	bool is_shown = false;
	int r;

	assert(q->def->next || q->def->row);
	if (q->has_ended)
		return HDB_END;
	do
		r = check_read(q, make_one(q, &is_shown, err), err);
	while (r == HDB_OK && !is_shown);
	if (r != HDB_OK) {
		if (r == HDB_END)
			query_kept_end(q);
		/*
		 * This is set even after a failure, because the query is then in an undefined
		 * state.
		 */
		q->has_ended = true;
		return r;
	}
	query_place_texts(q);
	q->made++;
	query_kept_add(q);
	return HDB_OK;
}

int query_next(struct query *q, struct hdb_error *err)
{
	int r;

	if (q->args.limit && q->taken >= q->args.limit)
		return HDB_END;
	if (q->sorted)
		r = query_sorted_row(q, q->taken) ? HDB_OK : HDB_END;
	else
		r = query_make(q, err);
	if (r == HDB_END && !q->taken)
		query_report_no_rows(q);
	if (r != HDB_OK)
		return r;
	q->taken++;
	return r;
}

/* ---- column by column ---- */

bool query_has_batches(const struct query *q)
{
	bool has = q->def->batch && !query_is_replayed(q) && !q->sorted && !q->filter &&
		   !q->is_filtered;

	for (size_t i = 0; has && i < q->column_count; i++)
		has = q->columns[i] < q->def->batch_columns &&
		      (q->def->spec.columns[q->columns[i]].type != HDB_TYPE_TEXT ||
		       query_names_of(q, i));
	return has;
}

const struct query_names *query_names_of(const struct query *q, size_t column)
{
	const struct query_names *names = q->names ? &q->names[q->columns[column]] : NULL;

	assert(column < q->column_count);
	return names && names->texts ? names : NULL;
}

size_t query_spec_no(const struct query *q, size_t column)
{
	assert(column < q->column_count);
	return q->columns[column];
}

int query_next_batch(struct query *q, struct query_batch *out, struct hdb_error *err)
{
	const uint64_t room = q->args.limit ? q->args.limit - q->taken : UINT64_MAX;
	const size_t columns = q->def->spec.column_count;
	int r;

	assert(query_has_batches(q));
	if (q->has_ended || !room)
		return HDB_END;
	if (!q->batch.columns)
		TRY(BASE_ALLOC(q->batch.columns, columns + 1, "columns", err));
	q->batch.count = 0;
	r = q->def->batch(q, &q->batch, err);
	/* A batch has many rows, so check the size of the file every time. */
	q->made += r == HDB_OK ? q->batch.count : 0;
	r = check_read(q, r, err);
	if (r != HDB_OK) {
		q->has_ended = true;
		return r;
	}
	if (q->batch.count > room)
		q->batch.count = (size_t)room;
	q->taken += q->batch.count;
	*out = q->batch;
	return HDB_OK;
}

int query_total(struct query *q, uint64_t *total, struct hdb_error *err)
{
	uint64_t *known = q->filter ? &q->wanted_total : &q->total;
	int r = HDB_OK;

	/* A filter needs the cells of every row, so batches are not used. */
	q->is_counting = *known == QUERY_TOTAL_UNKNOWN && !q->filter;
	while (*known == QUERY_TOTAL_UNKNOWN && (r = query_make(q, err)) == HDB_OK)
		if (q->made % STEP_ROWS == 0 && (r = base_step(q->work, q->made, err)) < 0)
			break;
	if (r == HDB_END)
		*known = q->made;
	*total = *known;
	return r < 0 ? r : HDB_OK;
}
