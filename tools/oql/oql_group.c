/*
 * oql/oql_group.c - GROUP BY: groups rows by the text of their keys and accumulates aggregates.
 */
#include "oql/oql_rows.h"

/* State of an aggregate in a group. */
struct sum {
	uint64_t count;
	bool is_real; /* whether a value was real, or the sum exceeded 64 bits */
	int64_t whole;
	double real;
	struct oql_value best; /* result of min and max so far */
};

struct oql_group {
	struct oql_value current; /* first row of the group */
	struct sum sums[];
};

static int put_keys(struct oql_rows *rows, struct oql_part *p, struct bytes *key)
{
	struct oql_value v;

	for (size_t i = 0; i < p->select->group_count; i++) {
		TRY_ERRORS(oql_evaluate(rows->ev, p->select->groups[i], &p->frame, &v));
		TRY(oql_put_key(rows->ev, &v, key));
	}
	return oql_text_check(key, rows->ev->err);
}

static int add_group(struct oql_rows *rows, struct oql_part *p)
{
	struct oql_eval *ev = rows->ev;
	struct oql_group *group = oql_take(
		&p->kept, 1, sizeof(*group) + p->select->aggregate_count * sizeof(group->sums[0]),
		ev->err);

	if (!group)
		return HDB_ELIMIT;
	if (base_vec_reserve(&p->group_vec, 1, sizeof(*p->groups), NULL) < 0)
		return hdb_fail(ev->err, HDB_ENOMEM,
				"cannot allocate memory for more than %zu "
				"groups",
				p->group_count);
	p->groups[p->group_count++] = group;
	return oql_copy(ev, &p->kept, &p->frame.current, &group->current);
}

static int add_to_best(struct oql_rows *rows, struct oql_part *p, const struct oql_expr *e,
		       struct sum *sum, const struct oql_value *v)
{
	const int order = sum->count ? oql_rank(v, &sum->best) : 0;

	if (sum->count && (e->aggregate == OQL_MIN ? order >= 0 : order <= 0))
		return HDB_OK;
	return oql_copy(rows->ev, &p->kept, v, &sum->best);
}

static int add_to_sum(struct oql_rows *rows, struct oql_part *p, const struct oql_expr *e,
		      struct sum *sum)
{
	struct oql_value v;
	int r = HDB_OK;

	assert(e->kind == OQL_AGGREGATE);
	assert(e->arg_count <= 1);
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

static int add_row(struct oql_rows *rows, struct oql_part *p, struct bytes *key)
{
	bool is_new = p->group_count == 0;
	size_t no = 0;

	key->size = 0;
	if (p->select->group_count) {
		TRY(put_keys(rows, p, key));
		TRY(oql_keys_put(&p->keys, (struct oql_str){ key->data, key->size }, &is_new, &no,
				 rows->ev->err));
	}
	if (is_new)
		TRY(add_group(rows, p));
	assert(no < p->group_count);
	for (size_t i = 0; i < p->select->aggregate_count; i++)
		TRY_ERRORS(add_to_sum(rows, p, p->select->aggregates[i], &p->groups[no]->sums[i]));
	return HDB_OK;
}

static int make_groups(struct oql_rows *rows, struct oql_part *p)
{
	struct bytes key = { .most = rows->ev->budget.most_bytes };
	int r;

	assert(!p->is_grouped);
	p->is_grouped = true;
	TRY(OQL_TAKE(p->aggregates, &p->kept, p->select->aggregate_count + 1, rows->ev->err));
	while ((r = oql_part_current(rows, p)) == HDB_OK)
		if ((r = add_row(rows, p, &key)) < 0)
			break;
	bytes_release(&key);
	TRY_ERRORS(r);
	p->frame.current = (struct oql_value){ 0 };
	/* without GROUP BY, aggregates over zero rows yield one row */
	return p->group_count || p->select->group_count ? HDB_OK : add_group(rows, p);
}

int oql_group_next(struct oql_rows *rows, struct oql_part *p)
{
	const struct oql_select *select = p->select;
	const struct oql_group *group;

	TRY(p->is_grouped ? HDB_OK : make_groups(rows, p));
	if (p->group_at == p->group_count)
		return HDB_END;
	oql_arena_reset(&p->arena);
	group = p->groups[p->group_at++];
	p->frame.current = group->current;
	p->frame.aggregates = p->aggregates;
	for (size_t i = 0; i < select->aggregate_count; i++)
		p->aggregates[i] = result(select->aggregates[i], &group->sums[i]);
	TRY(oql_tick(rows->ev));
	return oql_part_cells(rows, p);
}
