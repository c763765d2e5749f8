/*
 * oql/oql_check.c - what holds of statements that were parsed, and of values, frames and
 * evaluators, as assertions. Nothing here looks at the heap or at what a statement says.
 */
#include "oql/oql.h"
#include "oql/oql_eval.h"

#include <assert.h>

/* ---- statements ---- */

/* Which parts a node of its kind has. */
static void check_parts(const struct oql_expr *e)
{
	switch (e->kind) {
	case OQL_SELECT:
		assert(e->select);
		break;
	case OQL_FIELD:
		assert(e->a);
		assert(e->name.size > 0);
		break;
	case OQL_ATTRIBUTE:
	case OQL_METHOD:
	case OQL_NAME:
	case OQL_CALL:
		assert(e->name.size > 0);
		break;
	case OQL_AGGREGATE:
		assert(e->arg_count <= 1);
		assert(e->arg_count == 1 || e->aggregate == OQL_COUNT);
		break;
	case OQL_NEGATE:
		assert(e->a);
		assert(!e->b);
		break;
	case OQL_SLICE:
		assert(e->a);
		assert(e->b);
		assert(e->c);
		break;
	case OQL_IMPLEMENTS:
		assert(e->a);
		assert(e->name.size > 0);
		break;
	case OQL_AND:
	case OQL_OR:
		assert(e->arg_count > 1);
		break;
	default: /* literals have no parts, operators two */
		assert(!e->a == !e->b);
		assert(!e->a == (e->kind < OQL_SELECT));
		assert(!e->c);
	}
}

static void check_below(const struct oql_expr *e, const struct oql_expr *part);

static void check_expr(const struct oql_expr *e)
{
	assert(e->kind <= OQL_OR);
	assert(e->depth > 0);
	assert(e->depth <= OQL_CHAIN_MAX);
	check_parts(e);
	check_below(e, e->a);
	check_below(e, e->b);
	check_below(e, e->c);
	for (size_t i = 0; i < e->arg_count; i++)
		check_below(e, e->args[i]);
	if (e->select) {
		assert(e->select->depth < e->depth);
		oql_select_check(e->select);
	}
}

static void check_below(const struct oql_expr *e, const struct oql_expr *part)
{
	if (!part)
		return;
	assert(part->depth < e->depth);
	check_expr(part);
}

static void check_from(const struct oql_from *from)
{
	switch (from->kind) {
	case OQL_FROM_CLASS:
	case OQL_FROM_PATTERN:
		assert(from->name.data);
		break;
	case OQL_FROM_ADDRESSES:
	case OQL_FROM_IDS:
		assert(from->number_count > 0);
		break;
	case OQL_FROM_VALUE:
		assert(from->expr);
		check_expr(from->expr);
		break;
	case OQL_FROM_SELECT:
		assert(from->select);
		oql_select_check(from->select);
		break;
	}
}

/* Columns, keys and aggregates of one SELECT. */
static void check_items(const struct oql_select *select)
{
	assert(select->item_count <= OQL_ITEMS_MAX);
	assert(select->is_star == (select->item_count == 0));
	for (size_t i = 0; i < select->item_count; i++)
		check_expr(select->items[i].expr);
	for (size_t i = 0; i < select->group_count; i++)
		check_expr(select->groups[i]);
	for (size_t i = 0; i < select->order_count; i++)
		check_expr(select->orders[i].expr);
	for (size_t i = 0; i < select->aggregate_count; i++) {
		assert(select->aggregates[i]->kind == OQL_AGGREGATE);
		assert(select->aggregates[i]->i == (int64_t)i);
	}
	assert(select->has_groups == (select->group_count || select->aggregate_count));
}

void oql_select_check(const struct oql_select *select)
{
	for (const struct oql_select *s = select; s; s = s->next) {
		assert(s->depth > 0);
		assert(s->depth <= OQL_CHAIN_MAX);
		check_items(s);
		check_from(&s->from);
		if (s->where)
			check_expr(s->where);
	}
}

/* ---- values ---- */

static void check_list(const struct oql_list *list)
{
	assert(list->kind != OQL_L_VALUES || list->values || !list->count);
	assert(list->kind != OQL_L_IDS || list->ixs || !list->count);
}

void oql_value_check(const struct oql_value *v)
{
	assert(v->type <= OQL_V_FRAME);
	switch (v->type) {
	case OQL_V_STRING:
	case OQL_V_JAVA_CLASS:
		assert(v->text.data || !v->text.size);
		break;
	case OQL_V_ROOT:
		assert(v->text.data);
		break;
	case OQL_V_LIST:
		assert(v->list);
		check_list(v->list);
		break;
	case OQL_V_ROW:
		assert(v->list);
		assert(v->list->names);
		assert(v->list->kind == OQL_L_VALUES);
		check_list(v->list);
		break;
	case OQL_V_FIELD:
		assert(v->list);
		assert(v->list->count == 1);
		assert(v->list->kind == OQL_L_VALUES);
		break;
	default:
		break;
	}
}

void oql_frame_check(const struct oql_frame *frame)
{
	assert(frame->arena);
	assert(frame->arena->budget);
	assert(frame->outer != frame);
	oql_value_check(&frame->current);
}

void oql_eval_check(const struct oql_eval *ev)
{
	assert(ev->db);
	assert(ev->err);
	assert(!ev->reachable == !ev->ranks);
	assert(!ev->reachable == !ev->class_sizes);
	assert(ev->threads || !ev->thread_count);
	assert(ev->budget.used_bytes <= ev->budget.most_bytes);
	oql_arena_check(&ev->keep);
}
