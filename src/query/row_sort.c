/*
 * query/row_sort.c - sorts rows by a column. Without a limit, all rows are kept, within the memory
 * budget. With a limit, only the best rows are kept, in a heap with the worst at its root, so
 * memory depends only on the limit.
 *
 * Rows connected by their column "level" (enum query_order) stay together: they are sorted among
 * those with the same parent, then arranged in preorder. In this case all rows are kept, regardless
 * of the limit.
 */
#include "base/bytes.h"
#include "base/scope.h"
#include "base/search.h"
#include "base/sort.h"
#include "query/object_columns.h"
#include "query/rows.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Number of rows between two checks of the cancel flag. */
#define STEP_ROWS 4096
/* Overhead of a malloc allocation, in bytes. */
#define MALLOC_OVERHEAD 16

/* A stored row: column_count numbers of 8 bytes, as many types of one byte, and the strings. */
struct kept_row {
	uint64_t order; /* row number, which breaks ties between equal keys */
	/* for rows with levels, 1 + `order` of the parent, or 0 if none */
	uint64_t parent;
	uint32_t size_bytes; /* size of the whole structure */
	uint8_t bytes[];
};

/* Maximum size of a row. A string is stored as offset << 32 | size. */
#define ROW_TEXT_MAX UINT32_MAX

/* State of sorting. */
struct query_sorted {
	/* struct kept_row *: a heap while rows are being read, sorted afterwards */
	struct base_vec rows;
	size_t key; /* the column to sort by */
	size_t column_count;
	bool descending;
	bool is_tree; /* whether rows have parents */
	/* whether the rows are sorted; before that, they form a heap if there is a limit */
	bool is_ordered;
	bool only_heads; /* whether rows with a parent stay in their original order */
	bool is_early;   /* whether a row can be dropped as soon as its key is set */
	uint64_t limit;  /* number of rows to keep, or 0 for all */
	uint64_t left;   /* number of rows dropped early */
	struct base_stage stage;
	uint64_t used_bytes;
};

/* ---- keys ---- */

struct key {
	struct hdb_value value;
	uint64_t order, parent;
};

static int compare_values(const struct hdb_value *a, const struct hdb_value *b)
{
	switch (a->type) {
	case HDB_TYPE_TEXT:
		return base_compare_text(a->text, a->text_size, b->text, b->text_size);
	case HDB_TYPE_INT:
		return (a->i > b->i) - (a->i < b->i);
	case HDB_TYPE_DOUBLE:
	case HDB_TYPE_PERCENT:
		/* NaN is greater than all other numbers, as in Java. */
		if (isnan(a->d) || isnan(b->d))
			return (isnan(a->d) != 0) - (isnan(b->d) != 0);
		return (a->d > b->d) - (a->d < b->d);
	default:
		return (a->u > b->u) - (a->u < b->u);
	}
}

/*
 * Returns a negative value if `a` comes before `b`. Rows without a value come last in either order.
 */
static int compare_keys(const struct query_sorted *s, const struct key *a, const struct key *b)
{
	const bool a_null = a->value.type == HDB_TYPE_NULL, b_null = b->value.type == HDB_TYPE_NULL;
	int c;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	if (a->parent && s->only_heads)
		return a->order < b->order ? -1 : a->order > b->order;
	if (a_null != b_null)
		return a_null ? 1 : -1;
	c = a_null ? 0 : compare_values(&a->value, &b->value);
	if (c)
		return s->descending ? -c : c;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* ---- packing ---- */

static uint64_t number_of(const struct hdb_value *value)
{
	uint64_t bits = value->u;

	if (value->type == HDB_TYPE_INT)
		memcpy(&bits, &value->i, 8);
	else if (value->type == HDB_TYPE_DOUBLE || value->type == HDB_TYPE_PERCENT)
		memcpy(&bits, &value->d, 8);
	return bits;
}

static void unpack_value(const struct query_sorted *s, const struct kept_row *row, size_t column,
			 struct hdb_value *out)
{
	const uint64_t bits = load64(row->bytes + column * 8);

	assert(column < s->column_count);
	out->type = (enum hdb_type)row->bytes[s->column_count * 8 + column];
	out->u = bits;
	if (out->type == HDB_TYPE_INT)
		memcpy(&out->i, &bits, 8);
	else if (out->type == HDB_TYPE_DOUBLE || out->type == HDB_TYPE_PERCENT)
		memcpy(&out->d, &bits, 8);
	else if (out->type == HDB_TYPE_TEXT) {
		out->text = (const char *)row->bytes + (bits >> 32);
		out->text_size = (uint32_t)bits;
	}
}

static void key_of(const struct query_sorted *s, const struct kept_row *row, struct key *out)
{
	assert(s->key < s->column_count);
	unpack_value(s, row, s->key, &out->value);
	out->order = row->order;
	out->parent = row->parent;
}

/* Returns the packed size of the current row. */
static uint64_t packed_size(const struct query *q)
{
	uint64_t size = sizeof(struct kept_row) + q->def->spec.column_count * 9;

	for (size_t i = 0; i < q->def->spec.column_count; i++)
		if (q->cells[i].type == HDB_TYPE_TEXT)
			size += q->cells[i].text_size;
	return size;
}

static void pack_row(const struct query *q, struct kept_row *row)
{
	const size_t count = q->def->spec.column_count;
	uint64_t at = count * 9;

	for (size_t i = 0; i < count; i++) {
		const struct hdb_value *value = &q->cells[i];

		row->bytes[count * 8 + i] = (uint8_t)value->type;
		if (value->type != HDB_TYPE_TEXT) {
			store64(row->bytes + i * 8, value->type ? number_of(value) : 0);
			continue;
		}
		store64(row->bytes + i * 8, at << 32 | (uint32_t)value->text_size);
		memcpy(row->bytes + at, value->text, value->text_size);
		at += value->text_size;
	}
}

/* ---- kept rows ---- */

static bool is_before(const struct query_sorted *s, const struct kept_row *a,
		      const struct kept_row *b)
{
	struct key x, y;

	key_of(s, a, &x);
	key_of(s, b, &y);
	return compare_keys(s, &x, &y) < 0;
}

/* Moves the row at `at` down the heap until it sorts after all rows below it. */
static void sift_down(const struct query_sorted *s, size_t at, size_t count)
{
	struct kept_row **rows = s->rows.data;

	assert(at < count);
	assert(count <= s->rows.count);
	for (;;) {
		size_t worst = at;

		for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++)
			if (is_before(s, rows[worst], rows[child]))
				worst = child;
		if (worst == at)
			return;
		struct kept_row *swapped = rows[at];
		rows[at] = rows[worst];
		rows[worst] = swapped;
		at = worst;
	}
}

static void make_heap(const struct query_sorted *s)
{
	for (size_t i = s->rows.count / 2; i-- > 0;)
		sift_down(s, i, s->rows.count);
}

/* Returns whether the current row should replace the worst row of a full heap. */
static bool beats_root(const struct query *q, const struct query_sorted *s, uint64_t order)
{
	struct key fresh = { .value = q->cells[s->key], .order = order }, root;

	key_of(s, *base_vec_at(&s->rows, struct kept_row *, 0), &root);
	return compare_keys(s, &fresh, &root) < 0;
}

/*
 * Reports progress in the stage of the sort, because reading a row may have started another stage.
 */
static int step(struct query *q, const struct query_sorted *s, struct hdb_error *err)
{
	const int r = base_step_of(q->work, &s->stage, q->made + s->left, err);

	base_stage_aside(q->work);
	return r;
}

bool query_sort_looks_at(const struct query *q, size_t column)
{
	return q->sorted && q->sorted->is_early && q->sorted->key == column;
}

int query_sort_test(struct query *q, bool *wanted, struct hdb_error *err)
{
	struct query_sorted *s = q->sorted;

	*wanted = true;
	if (!s || !s->is_early || s->rows.count < s->limit)
		return HDB_OK;
	query_place_texts(q);
	*wanted = beats_root(q, s, q->made);
	query_unplace_texts(q);
	return !*wanted && ++s->left % STEP_ROWS == 0 ? step(q, s, err) : HDB_OK;
}

/*
 * Returns whether a row can be dropped once its key is known, without computing its other columns.
 * The answer is no if the key is filled in last, or if rows of other heaps are dropped later.
 */
static bool is_early(const struct query *q, const struct query_sorted *s)
{
	return s->limit && !q->is_filtered && !query_is_object_column(q, s->key);
}

static int keep_row(struct query *q, struct query_sorted *s, uint64_t order, struct hdb_error *err)
{
	const bool is_full = s->limit && s->rows.count == s->limit;
	const uint64_t size = packed_size(q);
	struct kept_row *row, **root;
	int r = HDB_OK;

	assert(!s->limit || s->rows.count <= s->limit);
	if (is_full && !beats_root(q, s, order))
		return HDB_OK;
	s->used_bytes += size + MALLOC_OVERHEAD + sizeof(row);
	if (size > ROW_TEXT_MAX || s->used_bytes > q->work->memory_bytes)
		return hdb_fail(err, HDB_ELIMIT,
				"sorting %s needs more than the memory budget of %" PRIu64 " MiB%s",
				q->def->spec.name, q->work->memory_bytes >> 20,
				s->is_tree ? "" : "; use --limit");
	row = malloc(size);
	if (!row)
		return hdb_fail_memory(err, "rows to sort", size);
	row->order = order;
	row->parent = 0;
	row->size_bytes = (uint32_t)size;
	pack_row(q, row);
	if (is_full) {
		root = base_vec_at(&s->rows, struct kept_row *, 0);
		s->used_bytes -= (*root)->size_bytes + MALLOC_OVERHEAD + sizeof(row);
		free(*root);
		*root = row;
		sift_down(s, 0, s->rows.count);
		return HDB_OK;
	}
	r = base_vec_push(&s->rows, &row, sizeof(row), err);
	if (r < 0)
		free(row);
	else if (s->limit && s->rows.count == s->limit)
		make_heap(s);
	return r;
}

/* Sorts the rows with heap sort, which needs no extra memory and never takes quadratic time. */
static void order_rows(struct query_sorted *s)
{
	struct kept_row **rows = s->rows.data;

	assert(!s->limit || s->rows.count <= s->limit);
	make_heap(s);
	for (size_t left = s->rows.count; left > 1; left--) {
		struct kept_row *worst = rows[0];

		rows[0] = rows[left - 1];
		rows[left - 1] = worst;
		sift_down(s, 0, left - 1);
	}
	s->is_ordered = true;
}

/* ---- rows with levels ---- */

/* A row whose children are being collected or written. */
struct open_row {
	uint64_t level;
	size_t at;       /* index of the row, or of its next child to write */
	uint64_t parent; /* the children's `parent` */
};

static uint64_t level_of(const struct query_sorted *s, const struct kept_row *row, size_t column)
{
	struct hdb_value value = { 0 };

	unpack_value(s, row, column, &value);
	return value.type == HDB_TYPE_NULL ? 0 : value.u;
}

/* Finds the parent of each row: the last previous row at a lower level. */
static int find_parents(const struct query_sorted *s, size_t column, struct base_vec *stack,
			struct hdb_error *err)
{
	assert(s->is_tree);
	for (size_t i = 0; i < s->rows.count; i++) {
		struct kept_row *row = *base_vec_at(&s->rows, struct kept_row *, i);
		const struct open_row open = { .level = level_of(s, row, column),
					       .parent = row->order + 1 };

		while (stack->count &&
		       base_vec_at(stack, struct open_row, stack->count - 1)->level >= open.level)
			stack->count--;
		if (stack->count)
			row->parent = base_vec_at(stack, struct open_row, stack->count - 1)->parent;
		if (base_vec_push(stack, &open, sizeof(open), err) < 0)
			return HDB_ENOMEM;
	}
	stack->count = 0;
	return HDB_OK;
}

/* Returns where the children of a row begin. */
static size_t find_children(const struct query_sorted *s, uint64_t parent)
{
	struct kept_row *const *rows = s->rows.data;
	struct base_search search = base_search_in(s->rows.count);

	while (base_search_next(&search))
		base_search_step(&search, rows[search.mid]->parent < parent);
	return search.low;
}

/* Arranges rows that are sorted by parent in preorder. */
static int put_preorder(struct query_sorted *s, struct base_vec *stack, struct hdb_error *err)
{
	struct open_row top = { .at = 0 };
	BASE_SCOPED(base_vec_release) struct base_vec rows = { 0 };

	TRY(base_vec_push(stack, &top, sizeof(top), err));
	while (stack->count) {
		struct open_row *open = base_vec_at(stack, struct open_row, stack->count - 1);
		struct kept_row *row = open->at < s->rows.count ?
					       *base_vec_at(&s->rows, struct kept_row *, open->at) :
					       NULL;
		struct open_row below;

		if (!row || row->parent != open->parent) {
			stack->count--;
			continue;
		}
		open->at++;
		below = (struct open_row){
			.at = find_children(s, row->order + 1),
			.parent = row->order + 1,
		};
		TRY(base_vec_push(&rows, &row, sizeof(row), err));
		TRY(base_vec_push(stack, &below, sizeof(below), err));
	}
	assert(rows.count == s->rows.count);
	base_vec_release(&s->rows);
	s->rows = rows;
	rows = (struct base_vec){ 0 };
	return HDB_OK;
}

static int order_tree(struct query_sorted *s, size_t level_column, struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec stack = { 0 };

	assert(s->is_tree);
	TRY(find_parents(s, level_column, &stack, err));
	order_rows(s);
	return put_preorder(s, &stack, err);
}

int query_sort(struct query *q, size_t column, bool descending, uint64_t limit,
	       struct hdb_error *err)
{
	const size_t level_column =
		q->def->order == QUERY_ORDER_FLAT ? SIZE_MAX : query_find_column(q, "level");
	struct query_sorted *s;
	int r = HDB_OK;

	assert(!q->sorted);
	assert(column < q->def->spec.column_count);
	TRY(BASE_ALLOC(s, 1, "sorted rows", err));
	s->key = column;
	s->column_count = q->def->spec.column_count;
	s->descending = descending;
	s->is_tree = level_column != SIZE_MAX;
	s->only_heads = q->def->order == QUERY_ORDER_HEADS;
	s->limit = s->is_tree ? 0 : limit;
	s->is_early = is_early(q, s);
	q->sorted = s;
	base_stage(q->work, "sorting", q->total == QUERY_TOTAL_UNKNOWN ? 0 : q->total, "rows");
	s->stage = q->work->stage;
	base_stage_aside(q->work);
	while ((r = query_make(q, err)) == HDB_OK) {
		TRY(keep_row(q, s, q->made - 1, err));
		if (q->made % STEP_ROWS == 0 && (r = step(q, s, err)) < 0)
			return r;
	}
	if (r < 0)
		return r;
	if (q->filter)
		q->wanted_total = q->made + s->left;
	else
		q->total = q->made + s->left;
	if (s->is_tree)
		return order_tree(s, level_column, err);
	order_rows(s);
	return HDB_OK;
}

bool query_sorted_row(struct query *q, uint64_t no)
{
	const struct query_sorted *s = q->sorted;
	const struct kept_row *row;

	assert(q->sorted);
	if (no >= s->rows.count)
		return false;
	row = *base_vec_at(&s->rows, struct kept_row *, no);
	for (size_t i = 0; i < s->column_count; i++)
		unpack_value(s, row, i, &q->cells[i]);
	return true;
}

void query_sorted_free(struct query_sorted *sorted)
{
	if (!sorted)
		return;
	for (size_t i = 0; i < sorted->rows.count; i++)
		free(*base_vec_at(&sorted->rows, struct kept_row *, i));
	base_vec_release(&sorted->rows);
	free(sorted);
}
