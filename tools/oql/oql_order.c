/*
 * oql/oql_order.c - ORDER BY: sorts rows by columns and expressions within the budget. With LIMIT,
 * keeps only the rows needed.
 */
#include "oql/oql_rows.h"

/* With a LIMIT, surplus rows are dropped once their number reaches this value. */
#define SORT_SLACK 4096

/* ---- keys of ORDER BY ---- */

bool oql_rows_column(const struct oql_rows *rows, struct oql_str name, size_t *column)
{
	for (size_t i = 0; i < rows->width; i++)
		if (oql_same(rows->names[i], name)) {
			*column = i;
			return true;
		}
	return false;
}

/* Resolves a key, which is the name or number of a column, or an expression over the row. */
static int resolve_order(struct oql_rows *rows, const struct oql_order *from,
			 struct oql_order_key *to)
{
	const struct oql_expr *e = from->expr;

	*to = (struct oql_order_key){ .is_descending = from->is_descending };
	if ((e->kind == OQL_NAME || e->kind == OQL_STRING) &&
	    oql_rows_column(rows, e->name, &to->column))
		return HDB_OK;
	if (e->kind == OQL_INT) {
		if (e->i < 1 || (uint64_t)e->i > rows->width)
			return oql_refuse(rows->ev, e, "column number out of range (1 to %zu)",
					  rows->width);
		to->column = (size_t)e->i - 1;
		return HDB_OK;
	}
	if (rows->first->next)
		return oql_refuse(rows->ev, e,
				  "after a UNION, refer to columns by the names of the first "
				  "SELECT or by number");
	if (e->kind == OQL_STRING)
		return oql_refuse(rows->ev, e, "no such column: \"%.*s\"",
				  (int)(e->name.size < 100 ? e->name.size : 100), e->name.data);
	to->expr = e;
	return HDB_OK;
}

int oql_order_resolve(struct oql_rows *rows)
{
	const struct oql_select *first = rows->first;

	assert(!rows->order_count);
	TRY(OQL_TAKE(rows->orders, &rows->arena, first->order_count + 1, rows->ev->err));
	TRY(OQL_TAKE(rows->keys, &rows->arena, first->order_count + 1, rows->ev->err));
	for (size_t i = 0; i < first->order_count; i++)
		TRY(resolve_order(rows, &first->orders[i], &rows->orders[i]));
	rows->order_count = first->order_count;
	return HDB_OK;
}

/* ---- sorting ---- */

static int compare_keys(const struct oql_order_key *order, const struct oql_value *a,
			const struct oql_value *b)
{
	bool is_descending = order->is_descending;
	int result;

	if (a->type == OQL_V_NULL || b->type == OQL_V_NULL) /* nulls come last in either
							     * direction */
		return (a->type == OQL_V_NULL) - (b->type == OQL_V_NULL);
	if (order->is_natural && oql_is_number(a) && oql_is_number(b))
		is_descending = !is_descending;
	result = oql_rank(a, b);
	return is_descending ? -(result > 0) + (result < 0) : result;
}

static int compare_rows(const void *a, const void *b, void *ctx)
{
	const struct oql_rows *rows = ctx;
	const struct oql_sorted_row *x = a, *y = b;

	for (size_t i = 0; i < rows->order_count; i++) {
		const int order = compare_keys(&rows->orders[i], &x->keys[i], &y->keys[i]);

		if (order)
			return order;
	}
	return x->no < y->no ? -1 : 1;
}

static int copy_sorted(struct oql_rows *rows, struct oql_arena *arena,
		       const struct oql_sorted_row *from, struct oql_sorted_row *to)
{
	struct oql_eval *ev = rows->ev;

	to->no = from->no;
	TRY(OQL_TAKE(to->keys, arena, rows->order_count, ev->err));
	TRY(OQL_TAKE(to->values, arena, rows->width, ev->err));
	for (size_t i = 0; i < rows->order_count; i++)
		TRY(oql_copy(ev, arena, &from->keys[i], &to->keys[i]));
	for (size_t i = 0; i < rows->width; i++)
		TRY(oql_copy(ev, arena, &from->values[i], &to->values[i]));
	return HDB_OK;
}

/* Sorts and frees the rows beyond the limit. */
static int drop_rows(struct oql_rows *rows)
{
	struct oql_arena arena = { .budget = &rows->ev->budget };
	struct oql_sorted_row copy;
	int r = HDB_OK;

	if (rows->sorted_count)
		qsort_r(rows->sorted, rows->sorted_count, sizeof(rows->sorted[0]), compare_rows,
			rows);
	if (!rows->wanted || rows->sorted_count <= rows->wanted)
		return HDB_OK;
	rows->sorted_count = (size_t)rows->wanted;
	for (size_t i = 0; i < rows->sorted_count && r >= 0; i++)
		if ((r = copy_sorted(rows, &arena, &rows->sorted[i], &copy)) >= 0)
			rows->sorted[i] = copy;
	/* after a failure, no further row is requested */
	oql_arena_release(&rows->sorted_arena);
	rows->sorted_arena = arena;
	return r;
}

static int make_keys(struct oql_rows *rows)
{
	for (size_t i = 0; i < rows->order_count; i++) {
		const struct oql_order_key *order = &rows->orders[i];

		if (!order->expr) {
			assert(order->column < rows->width);
			rows->keys[i] = rows->values[order->column];
			continue;
		}
		TRY_ERRORS(oql_evaluate(rows->ev, order->expr, &rows->part.frame, &rows->keys[i]));
	}
	return HDB_OK;
}

static int keep_row(struct oql_rows *rows, uint64_t no)
{
	const struct oql_sorted_row row = { .no = no, .keys = rows->keys, .values = rows->values };

	if (!oql_room(&rows->sorted_vec, sizeof(row), rows->ev->budget.most_bytes))
		return hdb_fail(rows->ev->err, HDB_ELIMIT,
				"cannot allocate memory to sort more than %zu rows",
				rows->sorted_count);
	return copy_sorted(rows, &rows->sorted_arena, &row, &rows->sorted[rows->sorted_count++]);
}

/* Returns whether there are so many surplus rows that sorting, which frees them, pays off. */
static bool has_slack(const struct oql_rows *rows)
{
	return rows->wanted && rows->wanted < SIZE_MAX / 4 &&
	       rows->sorted_count >= 2 * rows->wanted + SORT_SLACK;
}

static int sort_rows(struct oql_rows *rows)
{
	int r;

	assert(!rows->is_sorted);
	rows->is_sorted = true;
	for (uint64_t no = 0; (r = oql_parts_next(rows)) == HDB_OK; no++) {
		TRY(make_keys(rows));
		TRY(keep_row(rows, no));
		if (has_slack(rows) && (r = drop_rows(rows)) < 0)
			return r;
	}
	return r < 0 ? r : drop_rows(rows);
}

int oql_order_next(struct oql_rows *rows, const struct oql_value **values)
{
	TRY_ERRORS(rows->is_sorted ? HDB_OK : sort_rows(rows));
	assert(rows->sorted_at <= rows->sorted_count);
	if (rows->sorted_at == rows->sorted_count)
		return HDB_END;
	*values = rows->sorted[rows->sorted_at++].values;
	return HDB_OK;
}
