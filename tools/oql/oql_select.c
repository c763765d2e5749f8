/*
 * oql/oql_select.c - the rows of a SELECT and of its UNION: FROM, WHERE, columns, then what needs
 * all rows or remembers some: retained sets, GROUP BY, DISTINCT, ORDER BY.
 */
#include "oql/oql_eval.h"

#include <stdlib.h>
#include <string.h>

/* Rows beyond those that a LIMIT needs are dropped once there are so many more. */
#define SORT_SLACK 4096

/* What an aggregate has seen of a group. */
struct sum {
	uint64_t count;
	bool is_real; /* a float or a double was among them, or the sum left 64 bits */
	int64_t whole;
	double real;
	struct oql_value best; /* min, max */
};

struct group {
	struct oql_value current; /* of its first row */
	struct sum sums[];
};

/* One SELECT of a union. */
struct part {
	const struct oql_select *select;
	struct oql_source *source; /* owned */
	struct oql_frame frame;    /* of its row */
	struct oql_arena arena;    /* of its row */
	uint64_t *retained;        /* bits by object; owned; NULL: no AS RETAINED SET */
	uint64_t next_ix;          /* in it */
	struct oql_value pending;  /* of SELECT OBJECTS: a list that is being taken apart */
	size_t pending_at, item;   /* in it; the item that comes next */
	bool has_row;              /* frame.current is a row whose items are not all taken */
	struct oql_keys keys;      /* of DISTINCT, or of GROUP BY */
	struct group **groups;     /* owned array of what is in `kept` */
	size_t group_count, group_room, group_at;
	bool is_grouped;
	struct oql_value *aggregates; /* in `kept` */
	struct oql_arena kept;        /* as long as the part */
	uint64_t rows;                /* that were made */
};

/* How rows are ordered. */
struct order {
	const struct oql_expr *expr; /* NULL: */
	size_t column;
	bool is_descending;
	bool is_natural; /* numbers descending, texts ascending; is_descending turns it */
};

struct sorted {
	uint64_t no; /* in the order in which they came */
	struct oql_value *keys, *values;
};

struct oql_rows {
	struct oql_eval *ev;
	const struct oql_frame *outer;
	const struct oql_select *first;
	struct part part;              /* the one that is being read */
	const struct oql_select *next; /* the part after it */
	size_t width;
	bool are_values;
	struct oql_str *names;
	struct oql_value *values; /* of the row */
	struct order *orders;
	size_t order_count;
	struct oql_value *keys;        /* of the row */
	uint64_t limit, offset, taken; /* limit: as the statement has it; UINT64_MAX: none */
	uint64_t wanted;               /* rows that are needed, offset included; 0: all */
	struct oql_arena arena;        /* as long as the rows */
	/* ORDER BY */
	struct sorted *sorted; /* owned */
	size_t sorted_count, sorted_room, sorted_at;
	struct oql_arena sorted_arena;
	bool is_sorted;
};

/* ---- rows of FROM ---- */

static int next_retained(struct oql_rows *rows, struct part *p)
{
	const uint64_t end = hdb_object_count(rows->ev->db);

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

/* The next row that WHERE lets through. */
static int next_current(struct oql_rows *rows, struct part *p)
{
	bool is_wanted = false;
	int r = HDB_OK;

	while (r == HDB_OK && !is_wanted) {
		oql_arena_reset(&p->arena);
		if (p->retained)
			return next_retained(rows, p);
		r = oql_source_next(p->source, &p->frame.current);
		is_wanted = true;
		if (r == HDB_OK && p->select->where)
			r = oql_condition(rows->ev, p->select->where, &p->frame, &is_wanted);
	}
	return r;
}

/* ---- SELECT OBJECTS ---- */

static int refuse_object(struct oql_rows *rows, struct part *p, const struct oql_value *v)
{
	return oql_refuse(rows->ev, p->select->items[p->item - 1].expr,
			  "SELECT OBJECTS takes objects, their numbers and addresses, and lists of "
			  "these, not %s",
			  oql_type_name(rows->ev, v));
}

/* The object that a value means; HDB_NOTFOUND: null. */
static int take_object(struct oql_rows *rows, struct part *p, const struct oql_value *v,
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

/* The next object of the list that is being taken apart; HDB_END after the last. */
static int next_pending(struct oql_rows *rows, struct part *p, struct oql_value *out)
{
	struct oql_value element;
	int r = HDB_NOTFOUND;

	while (r == HDB_NOTFOUND) {
		if (p->pending.type != OQL_V_LIST || p->pending_at == p->pending.list->count)
			return HDB_END;
		if (p->pending.list->kind == OQL_L_IDS) {
			*out = oql_object(p->pending.list->ixs[p->pending_at++]);
			return HDB_OK;
		}
		r = oql_element(rows->ev, p->pending.list, p->pending_at++, &element);
		if (r == HDB_OK)
			r = take_object(rows, p, &element, out);
	}
	return r;
}

static int next_object(struct oql_rows *rows, struct part *p, struct oql_value *out)
{
	int r;

	for (;;) {
		r = next_pending(rows, p, out);
		if (r != HDB_END)
			return r;
		p->pending.type = OQL_V_NULL;
		if (!p->has_row || p->item == p->select->item_count) {
			r = next_current(rows, p);
			if (r != HDB_OK)
				return r;
			p->has_row = true;
			p->item = 0;
		}
		r = oql_evaluate(rows->ev, p->select->items[p->item++].expr, &p->frame,
				 &p->pending);
		if (r < 0)
			return r;
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

/* Cells of the first row fail the query, lest a misspelt name goes unnoticed; others are empty. */
static int cell(struct oql_rows *rows, struct part *p, const struct oql_expr *e,
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

static int make_cells(struct oql_rows *rows, struct part *p)
{
	int r = HDB_OK;

	for (size_t i = 0; i < rows->width; i++)
		if ((r = cell(rows, p, p->select->items[i].expr, &rows->values[i])) != HDB_OK)
			return r;
	return r;
}

/* ---- GROUP BY ---- */

static int put_keys(struct oql_rows *rows, struct part *p, struct oql_text *key)
{
	struct oql_value v;
	int r = HDB_OK;

	for (size_t i = 0; r == HDB_OK && i < p->select->group_count; i++) {
		r = oql_evaluate(rows->ev, p->select->groups[i], &p->frame, &v);
		if (r == HDB_OK)
			r = oql_put_key(rows->ev, &v, key);
	}
	return r < 0 ? r : oql_text_check(key, rows->ev->err);
}

static int add_group(struct oql_rows *rows, struct part *p)
{
	struct oql_eval *ev = rows->ev;
	struct group *group = oql_take(
		&p->kept, 1, sizeof(*group) + p->select->aggregate_count * sizeof(group->sums[0]),
		ev->err);

	if (!group)
		return HDB_ELIMIT;
	if (p->group_count == p->group_room) {
		const size_t room = p->group_room ? p->group_room * 2 : 64;
		struct group **grown = realloc(p->groups, room * sizeof(grown[0]));

		if (!grown)
			return oql_fail(ev->err, HDB_ENOMEM, "no memory for %zu groups", room);
		p->groups = grown;
		p->group_room = room;
	}
	p->groups[p->group_count++] = group;
	return oql_copy(ev, &p->kept, &p->frame.current, &group->current);
}

static int add_to_best(struct oql_rows *rows, struct part *p, const struct oql_expr *e,
		       struct sum *sum, const struct oql_value *v)
{
	const int order = sum->count ? oql_rank(v, &sum->best) : 0;

	if (sum->count && (e->aggregate == OQL_MIN ? order >= 0 : order <= 0))
		return HDB_OK;
	return oql_copy(rows->ev, &p->kept, v, &sum->best);
}

static int add_to_sum(struct oql_rows *rows, struct part *p, const struct oql_expr *e,
		      struct sum *sum)
{
	struct oql_value v;
	int r = HDB_OK;

	if (e->arg_count == 0) {
		sum->count++;
		return HDB_OK;
	}
	r = oql_evaluate(rows->ev, e->args[0], &p->frame, &v);
	if (r < 0 || v.type == OQL_V_NULL)
		return r;
	if (e->aggregate == OQL_MIN || e->aggregate == OQL_MAX) {
		r = add_to_best(rows, p, e, sum, &v);
	} else if (e->aggregate != OQL_COUNT) {
		if (!oql_is_number(&v))
			return oql_refuse(rows->ev, e, "sum() and avg() take numbers, not %s",
					  oql_type_name(rows->ev, &v));
		sum->real += oql_double_of(&v);
		sum->is_real |=
			!oql_is_whole(&v) || __builtin_add_overflow(sum->whole, v.i, &sum->whole);
	}
	sum->count++;
	return r;
}

static struct oql_value result(const struct oql_expr *e, const struct sum *sum)
{
	struct oql_value v = { 0 };

	if (e->aggregate == OQL_COUNT)
		return oql_long((int64_t)sum->count);
	if (sum->count == 0)
		return v;
	if (e->aggregate == OQL_MIN || e->aggregate == OQL_MAX)
		return sum->best;
	if (e->aggregate == OQL_SUM && !sum->is_real)
		return oql_long(sum->whole);
	v.type = OQL_V_DOUBLE;
	v.d = e->aggregate == OQL_SUM ? sum->real : sum->real / (double)sum->count;
	return v;
}

static int add_row(struct oql_rows *rows, struct part *p, struct oql_text *key)
{
	bool is_new = p->group_count == 0;
	size_t no = 0;
	int r = HDB_OK;

	key->size = 0;
	if (p->select->group_count) {
		r = put_keys(rows, p, key);
		if (r == HDB_OK)
			r = oql_keys_put(&p->keys, (struct oql_str){ key->data, key->size },
					 &is_new, &no, rows->ev->err);
	}
	if (r != HDB_OK)
		return r;
	if (is_new && (r = add_group(rows, p)) != HDB_OK)
		return r;
	for (size_t i = 0; i < p->select->aggregate_count; i++) {
		r = add_to_sum(rows, p, p->select->aggregates[i], &p->groups[no]->sums[i]);
		if (r != HDB_OK)
			return r;
	}
	return r;
}

static int make_groups(struct oql_rows *rows, struct part *p)
{
	struct oql_text key = { .budget = &rows->ev->budget };
	int r;

	p->is_grouped = true;
	p->aggregates = oql_take(&p->kept, p->select->aggregate_count + 1, sizeof(p->aggregates[0]),
				 rows->ev->err);
	if (!p->aggregates)
		return HDB_ELIMIT;
	while ((r = next_current(rows, p)) == HDB_OK)
		if ((r = add_row(rows, p, &key)) < 0)
			break;
	oql_text_release(&key);
	if (r < 0)
		return r;
	p->frame.current = (struct oql_value){ 0 };
	/* aggregates of no rows at all are a row */
	return p->group_count || p->select->group_count ? HDB_OK : add_group(rows, p);
}

static int next_group(struct oql_rows *rows, struct part *p)
{
	const struct oql_select *select = p->select;
	const struct group *group;
	int r = p->is_grouped ? HDB_OK : make_groups(rows, p);

	if (r < 0)
		return r;
	if (p->group_at == p->group_count)
		return HDB_END;
	oql_arena_reset(&p->arena);
	group = p->groups[p->group_at++];
	p->frame.current = group->current;
	p->frame.aggregates = p->aggregates;
	for (size_t i = 0; i < select->aggregate_count; i++)
		p->aggregates[i] = result(select->aggregates[i], &group->sums[i]);
	r = oql_tick(rows->ev);
	return r < 0 ? r : make_cells(rows, p);
}

/* ---- one SELECT ---- */

static int make_row(struct oql_rows *rows, struct part *p)
{
	int r;

	if (p->select->has_groups)
		return next_group(rows, p);
	if (p->select->is_objects && !p->retained)
		return next_object(rows, p, &rows->values[0]);
	r = next_current(rows, p);
	if (r != HDB_OK)
		return r;
	if (!rows->are_values && p->select->is_star) { /* of a sub-select's rows */
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
	return make_cells(rows, p);
}

static int is_new_row(struct oql_rows *rows, struct part *p, bool *is_new)
{
	struct oql_text key = { .budget = &rows->ev->budget };
	size_t no;
	int r = HDB_OK;

	for (size_t i = 0; i < rows->width; i++)
		if ((r = oql_put_key(rows->ev, &rows->values[i], &key)) != HDB_OK)
			goto out;
	if ((r = oql_text_check(&key, rows->ev->err)) != HDB_OK)
		goto out;
	r = oql_keys_put(&p->keys, (struct oql_str){ key.data, key.size }, is_new, &no,
			 rows->ev->err);
out:
	oql_text_release(&key);
	return r;
}

static int next_of_part(struct oql_rows *rows, struct part *p)
{
	bool is_new = true;
	int r;

	do {
		r = make_row(rows, p);
		if (r == HDB_OK && p->select->is_distinct && !p->select->has_groups)
			r = is_new_row(rows, p, &is_new);
	} while (r == HDB_OK && !is_new);
	p->rows += r == HDB_OK;
	return r;
}

static void close_part(struct part *p)
{
	oql_source_close(p->source);
	free(p->retained);
	free(p->groups);
	oql_keys_release(&p->keys);
	oql_arena_release(&p->arena);
	oql_arena_release(&p->kept);
	*p = (struct part){ 0 };
}

/* ---- AS RETAINED SET ---- */

struct members {
	uint32_t *ixs; /* owned */
	size_t count, room;
};

static int add_member(struct oql_rows *rows, struct members *m, const struct oql_value *v)
{
	struct oql_eval *ev = rows->ev;

	if (v->type != OQL_V_OBJECT)
		return HDB_OK;
	if (m->count == m->room) {
		const size_t room = m->room ? m->room * 2 : 1024;
		uint32_t *grown = room * sizeof(*grown) > ev->budget.most_bytes ?
					  NULL :
					  realloc(m->ixs, room * sizeof(*grown));

		if (!grown)
			return oql_fail(ev->err, HDB_ELIMIT, "no memory for a set of %zu objects",
					room);
		m->ixs = grown;
		m->room = room;
	}
	m->ixs[m->count++] = v->ix;
	return HDB_OK;
}

static int find_retained(struct oql_rows *rows, struct part *p)
{
	struct oql_eval *ev = rows->ev;
	const size_t words = (size_t)hdb_object_count(ev->db) / 64 + 1;
	struct members m = { 0 };
	struct hdb_set set = { 0 };
	uint64_t *bits;
	int r = HDB_OK;

	while (r == HDB_OK) {
		struct oql_value object = { 0 };

		r = p->select->is_objects ? next_object(rows, p, &object) : next_current(rows, p);
		if (r == HDB_OK)
			r = add_member(rows, &m,
				       p->select->is_objects ? &object : &p->frame.current);
	}
	bits = r < 0 ? NULL : calloc(words, sizeof(bits[0]));
	if (r == HDB_END)
		r = bits ? HDB_OK : oql_fail(ev->err, HDB_ENOMEM, "no memory for a set of objects");
	set.ixs = m.ixs;
	set.count = m.count;
	if (r == HDB_OK && m.count)
		r = hdb_retained_marks(ev->db, &set, bits, ev->err);
	free(m.ixs);
	p->retained = bits;
	return r;
}

static int open_part(struct oql_rows *rows, const struct oql_select *select)
{
	struct oql_eval *ev = rows->ev;
	struct part *p = &rows->part;
	int r;

	*p = (struct part){
		.select = select,
		.arena.budget = &ev->budget,
		.kept.budget = &ev->budget,
		.keys.arena.budget = &ev->budget,
		.frame = { .outer = rows->outer, .alias = select->from.alias },
	};
	p->frame.arena = &p->arena;
	rows->next = select->next;
	if ((r = oql_source_open(ev, select, rows->outer, &p->source)) != HDB_OK)
		return r;
	if (select->is_retained)
		r = find_retained(rows, p);
	return r;
}

/* ---- all of a union ---- */

/* Rows of one SELECT after the other; those of a closed part are gone. */
static int next_unsorted(struct oql_rows *rows)
{
	int r;

	for (;;) {
		r = next_of_part(rows, &rows->part);
		if (r != HDB_END || !rows->next)
			return r;
		close_part(&rows->part);
		r = open_part(rows, rows->next);
		if (r < 0)
			return r;
	}
}

/* ---- ORDER BY ---- */

static int compare_keys(const struct order *order, const struct oql_value *a,
			const struct oql_value *b)
{
	bool is_descending = order->is_descending;
	int result;

	if (a->type == OQL_V_NULL || b->type == OQL_V_NULL) /* last in either direction */
		return (a->type == OQL_V_NULL) - (b->type == OQL_V_NULL);
	if (order->is_natural && oql_is_number(a) && oql_is_number(b))
		is_descending = !is_descending;
	result = oql_rank(a, b);
	return is_descending ? -(result > 0) + (result < 0) : result;
}

static int compare_rows(const void *a, const void *b, void *ctx)
{
	const struct oql_rows *rows = ctx;
	const struct sorted *x = a, *y = b;

	for (size_t i = 0; i < rows->order_count; i++) {
		const int order = compare_keys(&rows->orders[i], &x->keys[i], &y->keys[i]);

		if (order)
			return order;
	}
	return x->no < y->no ? -1 : 1;
}

static int copy_sorted(struct oql_rows *rows, struct oql_arena *arena, const struct sorted *from,
		       struct sorted *to)
{
	struct oql_eval *ev = rows->ev;
	int r = HDB_OK;

	to->no = from->no;
	to->keys = oql_take(arena, rows->order_count, sizeof(to->keys[0]), ev->err);
	to->values = oql_take(arena, rows->width, sizeof(to->values[0]), ev->err);
	if (!to->keys || !to->values)
		return HDB_ELIMIT;
	for (size_t i = 0; i < rows->order_count; i++)
		if ((r = oql_copy(ev, arena, &from->keys[i], &to->keys[i])) != HDB_OK)
			return r;
	for (size_t i = 0; i < rows->width; i++)
		if ((r = oql_copy(ev, arena, &from->values[i], &to->values[i])) != HDB_OK)
			return r;
	return r;
}

/* Sorts, and drops rows that nobody will ask for, with their memory. */
static int drop_rows(struct oql_rows *rows)
{
	struct oql_arena arena = { .budget = &rows->ev->budget };
	int r = HDB_OK;

	if (rows->sorted_count)
		qsort_r(rows->sorted, rows->sorted_count, sizeof(rows->sorted[0]), compare_rows,
			rows);
	if (!rows->wanted || rows->sorted_count <= rows->wanted)
		return HDB_OK;
	rows->sorted_count = (size_t)rows->wanted;
	for (size_t i = 0; r == HDB_OK && i < rows->sorted_count; i++) {
		struct sorted copy;

		r = copy_sorted(rows, &arena, &rows->sorted[i], &copy);
		if (r == HDB_OK)
			rows->sorted[i] = copy;
	}
	oql_arena_release(&rows->sorted_arena);
	rows->sorted_arena = arena;
	return r;
}

static int make_keys(struct oql_rows *rows)
{
	int r = HDB_OK;

	for (size_t i = 0; r == HDB_OK && i < rows->order_count; i++) {
		const struct order *order = &rows->orders[i];

		if (order->expr)
			r = oql_evaluate(rows->ev, order->expr, &rows->part.frame, &rows->keys[i]);
		else
			rows->keys[i] = rows->values[order->column];
	}
	return r;
}

static int keep_row(struct oql_rows *rows, uint64_t no)
{
	const struct sorted row = { .no = no, .keys = rows->keys, .values = rows->values };

	if (rows->sorted_count == rows->sorted_room) {
		const size_t room = rows->sorted_room ? rows->sorted_room * 2 : 256;
		struct sorted *grown = room * sizeof(*grown) > rows->ev->budget.most_bytes ?
					       NULL :
					       realloc(rows->sorted, room * sizeof(*grown));

		if (!grown)
			return oql_fail(rows->ev->err, HDB_ELIMIT, "no memory to sort %zu rows",
					room);
		rows->sorted = grown;
		rows->sorted_room = room;
	}
	return copy_sorted(rows, &rows->sorted_arena, &row, &rows->sorted[rows->sorted_count++]);
}

static int sort_rows(struct oql_rows *rows)
{
	int r;

	rows->is_sorted = true;
	for (uint64_t no = 0; (r = next_unsorted(rows)) == HDB_OK; no++) {
		r = make_keys(rows);
		if (r == HDB_OK)
			r = keep_row(rows, no);
		if (r == HDB_OK && rows->wanted && rows->wanted < SIZE_MAX / 4 &&
		    rows->sorted_count >= 2 * rows->wanted + SORT_SLACK)
			r = drop_rows(rows);
		if (r < 0)
			return r;
	}
	return r < 0 ? r : drop_rows(rows);
}

static int next_sorted(struct oql_rows *rows, const struct oql_value **values)
{
	const int r = rows->is_sorted ? HDB_OK : sort_rows(rows);

	if (r < 0)
		return r;
	if (rows->sorted_at == rows->sorted_count)
		return HDB_END;
	*values = rows->sorted[rows->sorted_at++].values;
	return HDB_OK;
}

int oql_rows_next(struct oql_rows *rows, const struct oql_value **values)
{
	int r;

	do {
		if (rows->limit != UINT64_MAX && rows->taken >= rows->limit + rows->offset)
			return HDB_END;
		*values = rows->values;
		r = rows->order_count ? next_sorted(rows, values) : next_unsorted(rows);
		rows->taken += r == HDB_OK;
	} while (r == HDB_OK && rows->taken <= rows->offset);
	return r;
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

/* The sub-select whose columns SELECT * shows; NULL: there is none. */
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
						     "the first SELECT of this UNION yields "
						     "objects, this one columns" :
						     "the first SELECT of this UNION yields "
						     "columns, this one objects");
		if (shown && shown->item_count != rows->width)
			return refuse_select(rows, s,
					     "this SELECT has not as many columns as the first "
					     "one of the UNION");
	}
	return HDB_OK;
}

static int name_columns(struct oql_rows *rows, const struct oql_select *shown)
{
	struct oql_text text = { .budget = &rows->ev->budget };
	struct oql_value v;
	int r = HDB_OK;

	rows->width = shown ? shown->item_count : 1;
	rows->are_values = !shown;
	rows->names = oql_take(&rows->arena, rows->width, sizeof(rows->names[0]), rows->ev->err);
	rows->values = oql_take(&rows->arena, rows->width, sizeof(rows->values[0]), rows->ev->err);
	if (!rows->names || !rows->values)
		return HDB_ELIMIT;
	if (!shown)
		rows->names[0] = (struct oql_str){ "value", 5 };
	for (size_t i = 0; shown && r == HDB_OK && i < rows->width; i++) {
		rows->names[i] = shown->items[i].alias;
		if (rows->names[i].data)
			continue;
		text.size = 0;
		oql_unparse(shown->items[i].expr, &text);
		r = oql_string(rows->ev, &rows->arena, &text, &v);
		rows->names[i] = v.text;
	}
	oql_text_release(&text);
	return r;
}

static bool find_column(const struct oql_rows *rows, struct oql_str name, size_t *column)
{
	for (size_t i = 0; i < rows->width; i++)
		if (rows->names[i].size == name.size &&
		    (!name.size || memcmp(rows->names[i].data, name.data, name.size) == 0)) {
			*column = i;
			return true;
		}
	return false;
}

/* A key is a column by name or number, else an expression over the row. */
static int resolve_order(struct oql_rows *rows, const struct oql_order *from, struct order *to)
{
	const struct oql_expr *e = from->expr;

	*to = (struct order){ .is_descending = from->is_descending };
	if ((e->kind == OQL_NAME || e->kind == OQL_STRING) &&
	    find_column(rows, e->name, &to->column))
		return HDB_OK;
	if (e->kind == OQL_INT) {
		if (e->i < 1 || (uint64_t)e->i > rows->width)
			return oql_refuse(rows->ev, e, "there are columns 1 to %zu", rows->width);
		to->column = (size_t)e->i - 1;
		return HDB_OK;
	}
	if (rows->first->next)
		return oql_refuse(rows->ev, e,
				  "after a UNION columns are named: by the first SELECT's names, "
				  "or by their numbers");
	if (e->kind == OQL_STRING)
		return oql_refuse(rows->ev, e, "there is no column of this name");
	to->expr = e;
	return HDB_OK;
}

static int resolve_orders(struct oql_rows *rows)
{
	const struct oql_select *first = rows->first;
	int r = HDB_OK;

	rows->orders = oql_take(&rows->arena, first->order_count + 1, sizeof(rows->orders[0]),
				rows->ev->err);
	rows->keys = oql_take(&rows->arena, first->order_count + 1, sizeof(rows->keys[0]),
			      rows->ev->err);
	if (!rows->orders || !rows->keys)
		return HDB_ELIMIT;
	for (size_t i = 0; r == HDB_OK && i < first->order_count; i++)
		r = resolve_order(rows, &first->orders[i], &rows->orders[i]);
	rows->order_count = first->order_count;
	return r;
}

int oql_rows_open(struct oql_eval *ev, const struct oql_select *select,
		  const struct oql_frame *outer, struct oql_rows **out)
{
	struct oql_rows *rows = calloc(1, sizeof(*rows));
	int r;

	if (!rows)
		return oql_fail(ev->err, HDB_ENOMEM, "no memory for rows");
	*out = rows;
	rows->ev = ev;
	rows->outer = outer;
	rows->first = select;
	rows->arena.budget = rows->sorted_arena.budget = &ev->budget;
	rows->limit = select->has_limit ? select->limit : UINT64_MAX;
	rows->offset = select->offset;
	if ((r = name_columns(rows, shown_select(select))) != HDB_OK)
		goto out;
	if ((r = check_union(rows)) != HDB_OK)
		goto out;
	if ((r = resolve_orders(rows)) != HDB_OK)
		goto out;
	if (select->has_limit)
		oql_rows_limit(rows, UINT64_MAX);
out:
	return r < 0 ? r : open_part(rows, select);
}

int oql_rows_sort(struct oql_rows *rows, struct oql_str column, bool is_turned)
{
	struct order order = { .is_natural = true, .is_descending = is_turned };

	if (!find_column(rows, column, &order.column))
		return oql_fail(rows->ev->err, HDB_EUSAGE, "there is no column \"%.*s\"",
				(int)(column.size < 100 ? column.size : 100), column.data);
	rows->orders[0] = order;
	rows->order_count = 1;
	return HDB_OK;
}

void oql_rows_limit(struct oql_rows *rows, uint64_t limit)
{
	const uint64_t most = limit < rows->limit ? limit : rows->limit;

	if (most == UINT64_MAX || __builtin_add_overflow(most, rows->offset, &rows->wanted))
		rows->wanted = 0;
	if (most == 0)
		rows->wanted = rows->offset + 1; /* 0 would be all */
	if (rows->limit != UINT64_MAX && rows->limit > UINT64_MAX - rows->offset)
		rows->limit = UINT64_MAX;
}

size_t oql_rows_width(const struct oql_rows *rows)
{
	return rows->width;
}

const struct oql_str *oql_rows_names(const struct oql_rows *rows)
{
	return rows->names;
}

bool oql_rows_are_values(const struct oql_rows *rows)
{
	return rows->are_values;
}

void oql_rows_close(struct oql_rows *rows)
{
	if (!rows)
		return;
	close_part(&rows->part);
	free(rows->sorted);
	oql_arena_release(&rows->sorted_arena);
	oql_arena_release(&rows->arena);
	free(rows);
}
