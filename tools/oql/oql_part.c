/*
 * oql/oql_part.c - runs the SELECTs of a UNION in turn: FROM and WHERE, SELECT OBJECTS, AS RETAINED
 * SET, columns, DISTINCT.
 */
#include "oql/oql_rows.h"

/* ---- rows of FROM ---- */

static int next_retained(struct oql_rows *rows, struct oql_part *p)
{
	const uint64_t end = hdb_object_count(rows->ev->db);

	assert(p->retained);
	while (p->next_ix < end) {
		const uint64_t ix = p->next_ix++;

		if (p->retained[ix / 64] == 0) {
			p->next_ix = (ix / 64 + 1) * 64;
			continue;
		}
		if (p->retained[ix / 64] >> (ix % 64) & 1) {
			p->frame.current = oql_object((uint32_t)ix);
			return oql_tick(rows->ev);
		}
	}
	return HDB_END;
}

/* Advances to the next row that satisfies WHERE. */
int oql_part_current(struct oql_rows *rows, struct oql_part *p)
{
	bool is_wanted;

	do {
		oql_arena_reset(&p->arena);
		if (p->retained)
			return next_retained(rows, p);
		TRY(oql_source_next(p->source, &p->frame.current));
		is_wanted = true;
		if (p->select->where)
			TRY_ERRORS(
				oql_condition(rows->ev, p->select->where, &p->frame, &is_wanted));
	} while (!is_wanted);
	return HDB_OK;
}

/* ---- SELECT OBJECTS ---- */

static int refuse_object(struct oql_rows *rows, struct oql_part *p, const struct oql_value *v)
{
	assert(p->item > 0);
	assert(p->item <= p->select->item_count);
	return oql_refuse(rows->ev, p->select->items[p->item - 1].expr,
			  "SELECT OBJECTS takes objects, object numbers, addresses, or lists of "
			  "these, not %s",
			  oql_type_name(rows->ev, v));
}

/* Returns the object of a value; HDB_NOTFOUND for null. */
static int take_object(struct oql_rows *rows, struct oql_part *p, const struct oql_value *v,
		       struct oql_value *out)
{
	uint32_t ix;
	int r;

	if (v->type != OQL_V_OBJECT && v->type != OQL_V_INT && v->type != OQL_V_LONG &&
	    v->type != OQL_V_REFERENCE && v->type != OQL_V_NULL)
		return refuse_object(rows, p, v);
	r = oql_object_meant(rows->ev, v, &ix);
	if (r < 0 || ix == HDB_NONE)
		return r < 0 ? r : HDB_NOTFOUND;
	*out = oql_object(ix);
	return HDB_OK;
}

/* Returns the next object of the pending list; HDB_END after the last. */
static int next_pending(struct oql_rows *rows, struct oql_part *p, struct oql_value *out)
{
	struct oql_value element;
	int r;

	do {
		if (p->pending.type != OQL_V_LIST || p->pending_at == p->pending.list->count)
			return HDB_END;
		assert(p->pending_at < p->pending.list->count);
		if (p->pending.list->kind == OQL_L_IDS) {
			*out = oql_object(p->pending.list->ixs[p->pending_at++]);
			return HDB_OK;
		}
		TRY(oql_element(rows->ev, p->pending.list, p->pending_at++, &element));
		r = take_object(rows, p, &element, out);
	} while (r == HDB_NOTFOUND);
	return r;
}

static int next_object(struct oql_rows *rows, struct oql_part *p, struct oql_value *out)
{
	int r;

	for (;;) {
		r = next_pending(rows, p, out);
		if (r != HDB_END)
			return r;
		p->pending.type = OQL_V_NULL;
		if (!p->has_row || p->item == p->select->item_count) {
			TRY(oql_part_current(rows, p));
			p->has_row = true;
			p->item = 0;
		}
		TRY_ERRORS(oql_evaluate(rows->ev, p->select->items[p->item++].expr, &p->frame,
					&p->pending));
		p->pending_at = 0;
		if (p->pending.type == OQL_V_LIST)
			continue;
		r = take_object(rows, p, &p->pending, out);
		p->pending.type = OQL_V_NULL;
		if (r != HDB_NOTFOUND)
			return r;
	}
}

/* ---- columns ---- */

/*
 * Computes a cell. If the first row has a cell that cannot be computed, the statement fails, so
 * that users notice a misspelt name. In later rows, such a cell is left empty.
 */
static int cell(struct oql_rows *rows, struct oql_part *p, const struct oql_expr *e,
		struct oql_value *out)
{
	struct oql_eval *ev = rows->ev;
	int r = oql_evaluate(ev, e, &p->frame, out);

	if (r != HDB_EUSAGE || p->rows == 0)
		return r;
	*out = (struct oql_value){ 0 };
	if (ev->empty_cells++ == 0 && ev->err)
		memcpy(ev->first_empty, ev->err->message, sizeof(ev->first_empty));
	return HDB_OK;
}

int oql_part_cells(struct oql_rows *rows, struct oql_part *p)
{
	for (size_t i = 0; i < rows->width; i++)
		TRY(cell(rows, p, p->select->items[i].expr, &rows->values[i]));
	return HDB_OK;
}

/* ---- one SELECT ---- */

static int make_row(struct oql_rows *rows, struct oql_part *p)
{
	if (p->select->has_groups)
		return oql_group_next(rows, p);
	if (p->select->is_objects && !p->retained)
		return next_object(rows, p, &rows->values[0]);
	TRY(oql_part_current(rows, p));
	if (!rows->are_values && p->select->is_star) { /* SELECT * from the rows of a sub-select */
		const struct oql_list *row = p->frame.current.list;

		for (size_t i = 0; i < rows->width; i++)
			rows->values[i] =
				row && i < row->count ? row->values[i] : (struct oql_value){ 0 };
		return HDB_OK;
	}
	if (rows->are_values) {
		rows->values[0] = p->frame.current;
		return HDB_OK;
	}
	return oql_part_cells(rows, p);
}

static int is_new_row(struct oql_rows *rows, struct oql_part *p, bool *is_new)
{
	BASE_SCOPED(bytes_release) struct bytes key = { .most = rows->ev->budget.most_bytes };
	size_t no;

	for (size_t i = 0; i < rows->width; i++)
		TRY(oql_put_key(rows->ev, &rows->values[i], &key));
	TRY(oql_text_check(&key, rows->ev->err));
	return oql_keys_put(&p->keys, (struct oql_str){ key.data, key.size }, is_new, &no,
			    rows->ev->err);
}

static int next_of_part(struct oql_rows *rows, struct oql_part *p)
{
	bool is_new = true;

	do {
		TRY(make_row(rows, p));
		if (p->select->is_distinct && !p->select->has_groups)
			TRY(is_new_row(rows, p, &is_new));
	} while (!is_new);
	p->rows++;
	return HDB_OK;
}

/* ---- AS RETAINED SET ---- */

static int add_member(struct oql_rows *rows, struct oql_numbers *m, const struct oql_value *v)
{
	struct oql_eval *ev = rows->ev;
	const struct oql_expr place = { .at = rows->part.select->from.at };
	uint32_t ix;

	TRY(oql_object_meant(ev, v, &ix));
	if (ix == HDB_NONE && v->type == OQL_V_INT)
		return oql_refuse(ev, &place, "object number out of range: %" PRId64, v->i);
	return ix == HDB_NONE ? HDB_OK : oql_add_number(ev, m, ix);
}

static int find_members(struct oql_rows *rows, struct oql_part *p, struct oql_numbers *m)
{
	const bool is_objects = p->select->is_objects;
	struct oql_value object = { 0 };

	for (;;) {
		TRY_FOUND(is_objects ? next_object(rows, p, &object) : oql_part_current(rows, p));
		TRY(add_member(rows, m, is_objects ? &object : &p->frame.current));
	}
}

static int find_retained(struct oql_rows *rows, struct oql_part *p)
{
	struct oql_eval *ev = rows->ev;
	const size_t words = (size_t)hdb_object_count(ev->db) / 64 + 1;
	BASE_SCOPED(oql_numbers_release) struct oql_numbers m = { 0 };

	assert(!p->retained); /* with AS RETAINED SET, the rows would be the members of the set */
	TRY(find_members(rows, p, &m));
	TRY(BASE_ALLOC(p->retained, words, "a set of objects", ev->err));
	return m.count ? hdb_retained_marks(ev->db,
					    &(struct hdb_set){ .ixs = m.ixs, .count = m.count },
					    p->retained, ev->err) :
			 HDB_OK;
}

/* ---- opening and closing ---- */

int oql_part_open(struct oql_rows *rows, const struct oql_select *select)
{
	struct oql_eval *ev = rows->ev;
	struct oql_part *p = &rows->part;

	*p = (struct oql_part){
		.select = select,
		.arena.budget = &ev->budget,
		.kept.budget = &ev->budget,
		.keys.budget = &ev->budget,
		.frame = { .outer = rows->outer, .alias = select->from.alias },
	};
	p->frame.arena = &p->arena;
	rows->next = select->next;
	TRY(oql_source_open(ev, select, rows->outer, &p->source));
	return select->is_retained ? find_retained(rows, p) : HDB_OK;
}

void oql_part_close(struct oql_part *p)
{
	oql_source_close(p->source);
	free(p->retained);
	base_vec_release(&p->group_vec);
	oql_keys_release(&p->keys);
	oql_arena_release(&p->arena);
	oql_arena_release(&p->kept);
	*p = (struct oql_part){ 0 };
}

/* ---- all of a union ---- */

/* Advances to the next row. Runs one SELECT after the other; closing a part frees its rows. */
int oql_parts_next(struct oql_rows *rows)
{
	int r;

	for (;;) {
		r = next_of_part(rows, &rows->part);
		if (r != HDB_END || !rows->next)
			return r;
		oql_part_close(&rows->part);
		TRY(oql_part_open(rows, rows->next));
	}
}
