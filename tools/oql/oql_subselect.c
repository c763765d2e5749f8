/*
 * oql/oql_subselect.c - a SELECT inside an expression, as a value or as a set for IN. A SELECT that
 * does not depend on an outer row is evaluated only once. The value of a SELECT without rows is
 * null.
 */
#include "oql/oql_rows.h"

struct oql_in_set {
	struct oql_in_set *next; /* next set of the statement */
	struct oql_keys keys;
};

/*
 * Result of a sub-select: objects as IDs, other single values unchanged, several columns as rows.
 */
struct collected {
	BASE_VEC_AS(vec, struct oql_value, values, count);
	bool are_objects;
	bool is_single; /* whether to keep the value unchanged: SELECT * FROM OBJECTS expression */
};

static int make_room(struct oql_eval *ev, struct collected *c)
{
	if (c->count < c->vec.capacity ||
	    oql_room(&c->vec, sizeof(*c->values), ev->budget.most_bytes - ev->budget.used_bytes))
		return HDB_OK;
	return hdb_fail(ev->err, HDB_ELIMIT,
			"a subquery with more than %zu rows exceeds the memory limit; use a "
			"larger --memory",
			c->count);
}

static int copy_row(struct oql_eval *ev, const struct oql_rows *rows,
		    const struct oql_value *values, struct oql_arena *arena, struct oql_value *out)
{
	const size_t width = rows->width;
	const struct oql_str *names = rows->names;
	struct oql_value *copies;
	struct oql_str *own;

	TRY(oql_make_list(ev, arena, width, &copies, out));
	TRY(OQL_TAKE(own, arena, width + 1, ev->err));
	out->type = OQL_V_ROW;
	((struct oql_list *)(uintptr_t)out->list)->names = own;
	for (size_t i = 0; i < width; i++) {
		own[i].size = names[i].size;
		own[i].data = oql_take_text(arena, names[i].data, names[i].size, ev->err);
		TRY(own[i].data ? oql_copy(ev, arena, &values[i], &copies[i]) : HDB_ELIMIT);
	}
	if (width == 1 && !names[0].size) /* an unnamed column, from AS "" */
		*out = copies[0];
	return HDB_OK;
}

static int collect(struct oql_eval *ev, struct oql_rows *rows, struct oql_arena *arena,
		   struct collected *c)
{
	const struct oql_value *values;
	int r;

	while ((r = oql_rows_next(rows, &values)) == HDB_OK) {
		struct oql_value *to;

		TRY(make_room(ev, c));
		to = &c->values[c->count++];
		if (rows->are_values)
			r = oql_copy(ev, arena, values, to);
		else
			r = copy_row(ev, rows, values, arena, to);
		TRY_ERRORS(r);
		c->are_objects &= to->type == OQL_V_OBJECT;
	}
	return r < 0 ? r : HDB_OK;
}

static int finish(struct oql_eval *ev, const struct collected *c, struct oql_arena *arena,
		  struct oql_value *out)
{
	struct oql_value *values;
	BASE_FREED uint32_t *ixs = NULL;

	*out = (struct oql_value){ 0 };
	if (c->count == 0) /* as in MAT, so that "!= null" tests whether the sub-select has rows */
		return HDB_OK;
	if (c->is_single && c->count == 1 && !c->are_objects && c->values[0].type != OQL_V_ROW) {
		*out = c->values[0];
		return HDB_OK;
	}
	if (!c->are_objects) {
		TRY(oql_make_list(ev, arena, c->count, &values, out));
		memcpy(values, c->values, c->count * sizeof(values[0]));
		return HDB_OK;
	}
	TRY(BASE_ALLOC(ixs, c->count, "objects", ev->err));
	for (size_t i = 0; i < c->count; i++)
		ixs[i] = c->values[i].ix;
	return oql_make_ids(ev, arena, ixs, c->count, out);
}

/* Collects all rows of a select in one value. */
static int list_rows(struct oql_eval *ev, const struct oql_select *select,
		     const struct oql_frame *frame, struct oql_arena *arena, struct oql_value *out)
{
	const struct oql_from *from = &select->from;
	struct collected c = {
		.are_objects = true,
		.is_single = select->is_star && !select->next && from->is_objects &&
			     from->kind == OQL_FROM_VALUE && !from->is_instanceof,
	};
	struct oql_rows *rows = NULL;
	int r;

	ev->nesting++;
	r = oql_rows_open(ev, select, frame, &rows);
	if (r >= 0)
		r = collect(ev, rows, arena, &c);
	if (r >= 0)
		r = finish(ev, &c, arena, out);
	oql_rows_close(rows);
	base_vec_release(&c.vec);
	ev->nesting--;
	return r;
}

int oql_subselect(struct oql_eval *ev, struct oql_expr *e, const struct oql_frame *frame,
		  struct oql_arena *arena, struct oql_value *out)
{
	struct oql_value *kept;
	int r;

	assert(e->kind == OQL_SELECT);
	if (e->cache) {
		assert(e->select->is_free);
		*out = *(struct oql_value *)e->cache;
		return HDB_OK;
	}
	r = list_rows(ev, e->select, frame, e->select->is_free ? &ev->keep : arena, out);
	if (r < 0 || !e->select->is_free)
		return r;
	TRY(OQL_TAKE(kept, &ev->keep, 1, ev->err));
	*kept = *out;
	e->cache = kept;
	return HDB_OK;
}

static int fill_set(struct oql_eval *ev, const struct oql_expr *e, struct oql_rows *rows,
		    struct oql_keys *keys)
{
	BASE_SCOPED(bytes_release) struct bytes key = { .most = ev->budget.most_bytes };
	const struct oql_value *values;
	bool is_new;
	size_t no;
	int r;

	if (rows->width != 1)
		return oql_refuse(ev, e, "IN takes a subquery with one column");
	while ((r = oql_rows_next(rows, &values)) == HDB_OK) {
		key.size = 0;
		TRY(oql_put_key(ev, &values[0], &key));
		TRY(oql_text_check(&key, ev->err));
		TRY(oql_keys_put(keys, (struct oql_str){ key.data, key.size }, &is_new, &no,
				 ev->err));
	}
	return r < 0 ? r : HDB_OK;
}

static int make_set(struct oql_eval *ev, struct oql_expr *e, const struct oql_frame *frame)
{
	struct oql_in_set *set;
	struct oql_rows *rows = NULL;
	int r;

	assert(!e->cache);
	assert(e->select->is_free);
	TRY(OQL_TAKE(set, &ev->keep, 1, ev->err));
	set->keys.budget = &ev->budget;
	set->next = ev->in_sets;
	ev->in_sets = set;
	ev->nesting++;
	r = oql_rows_open(ev, e->select, frame, &rows);
	if (r >= 0)
		r = fill_set(ev, e, rows, &set->keys);
	if (r >= 0)
		e->cache = set;
	oql_rows_close(rows);
	ev->nesting--;
	return r;
}

int oql_in_select(struct oql_eval *ev, struct oql_expr *e, const struct oql_frame *frame,
		  const struct oql_value *v, bool *is_in)
{
	BASE_SCOPED(bytes_release) struct bytes key = { .most = ev->budget.most_bytes };
	const struct oql_in_set *set;

	TRY(e->cache ? HDB_OK : make_set(ev, e, frame));
	set = e->cache;
	*is_in = false;
	TRY(oql_put_key(ev, v, &key));
	TRY(oql_text_check(&key, ev->err));
	*is_in = oql_keys_has(&set->keys, (struct oql_str){ key.data, key.size });
	return HDB_OK;
}

void oql_in_sets_release(struct oql_in_set *sets)
{
	for (; sets; sets = sets->next)
		oql_keys_release(&sets->keys);
}
