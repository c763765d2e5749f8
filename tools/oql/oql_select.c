/*
 * oql/oql_select.c - rows of a SELECT and its UNION: columns, LIMIT and OFFSET; see oql_rows.h.
 */
#include "oql/oql_rows.h"

int oql_rows_next(struct oql_rows *rows, const struct oql_value **values)
{
	do {
		if (rows->limit != UINT64_MAX && rows->taken >= rows->limit + rows->offset)
			return HDB_END;
		*values = rows->values;
		TRY(rows->order_count ? oql_order_next(rows, values) : oql_parts_next(rows));
		rows->taken++;
	} while (rows->taken <= rows->offset);
	return HDB_OK;
}

/* ---- opening ---- */

static int refuse_select(struct oql_rows *rows, const struct oql_select *select, const char *why)
{
	const struct oql_expr place = { .at = select->at };

	return oql_refuse(rows->ev, &place, "%s", why);
}

static bool has_values(const struct oql_select *select)
{
	return select->is_star || select->is_objects;
}

/* Returns the sub-select whose columns SELECT * shows, or NULL if there is no such sub-select. */
static const struct oql_select *shown_select(const struct oql_select *select)
{
	while (select->is_star && select->from.kind == OQL_FROM_SELECT && select->from.is_objects &&
	       !select->from.is_instanceof)
		select = select->from.select;
	return has_values(select) ? NULL : select;
}

static int check_union(struct oql_rows *rows)
{
	for (const struct oql_select *s = rows->first->next; s; s = s->next) {
		const struct oql_select *shown = shown_select(s);

		if (!shown != rows->are_values)
			return refuse_select(rows, s,
					     rows->are_values ?
						     "the first SELECT of this UNION returns "
						     "objects, this one columns" :
						     "the first SELECT of this UNION returns "
						     "columns, this one objects");
		if (shown && shown->item_count != rows->width)
			return refuse_select(rows, s,
					     "this SELECT has a different number of columns than "
					     "the first one of the UNION");
	}
	return HDB_OK;
}

static int name_columns(struct oql_rows *rows, const struct oql_select *shown)
{
	BASE_SCOPED(bytes_release) struct bytes text = { .most = rows->ev->budget.most_bytes };
	struct oql_value v;

	assert(!shown || shown->item_count > 0);
	rows->width = shown ? shown->item_count : 1;
	rows->are_values = !shown;
	TRY(OQL_TAKE(rows->names, &rows->arena, rows->width, rows->ev->err));
	TRY(OQL_TAKE(rows->values, &rows->arena, rows->width, rows->ev->err));
	if (!shown)
		rows->names[0] = (struct oql_str){ "value", 5 };
	for (size_t i = 0; shown && i < rows->width; i++) {
		rows->names[i] = shown->items[i].alias;
		if (rows->names[i].data)
			continue;
		text.size = 0;
		oql_unparse(shown->items[i].expr, &text);
		TRY(oql_string(rows->ev, &rows->arena, &text, &v));
		rows->names[i] = v.text;
	}
	return HDB_OK;
}

/* If the statement has a limit, sets the number of rows that are needed. */
static void limit_rows(struct oql_rows *rows)
{
	if (rows->limit == UINT64_MAX ||
	    __builtin_add_overflow(rows->limit, rows->offset, &rows->wanted))
		rows->wanted = 0;
	if (rows->limit == 0)
		rows->wanted = rows->offset + 1; /* add 1, because 0 would mean all rows */
	if (rows->limit != UINT64_MAX && rows->limit > UINT64_MAX - rows->offset)
		rows->limit = UINT64_MAX;
}

int oql_rows_open(struct oql_eval *ev, const struct oql_select *select,
		  const struct oql_frame *outer, struct oql_rows **out)
{
	struct oql_rows *rows;

	TRY(BASE_ALLOC(rows, 1, "rows", ev->err));
	*out = rows;
	rows->ev = ev;
	rows->outer = outer;
	rows->first = select;
	rows->arena.budget = rows->sorted_arena.budget = &ev->budget;
	rows->limit = select->has_limit ? select->limit : UINT64_MAX;
	rows->offset = select->offset;
	TRY(name_columns(rows, shown_select(select)));
	TRY(check_union(rows));
	TRY(oql_order_resolve(rows));
	if (select->has_limit)
		limit_rows(rows);
	return oql_part_open(rows, select);
}

int oql_rows_sort(struct oql_rows *rows, struct oql_str column, bool is_turned)
{
	struct oql_order_key order = { .is_natural = true, .is_descending = is_turned };

	if (!oql_rows_column(rows, column, &order.column))
		return hdb_fail(rows->ev->err, HDB_EUSAGE, "no such column: \"%.*s\"",
				(int)(column.size < 100 ? column.size : 100), column.data);
	assert(rows->orders);
	assert(!rows->is_sorted);
	rows->orders[0] = order;
	rows->order_count = 1;
	return HDB_OK;
}

void oql_rows_close(struct oql_rows *rows)
{
	if (!rows)
		return;
	oql_part_close(&rows->part);
	base_vec_release(&rows->sorted_vec);
	oql_arena_release(&rows->sorted_arena);
	oql_arena_release(&rows->arena);
	free(rows);
}
