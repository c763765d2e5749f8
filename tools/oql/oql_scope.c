/*
 * oql/oql_scope.c - name resolution: a name is an alias of the nearest SELECT that defines it,
 * otherwise a field of the nearest SELECT's row. A sub-select that uses no outer name has a single
 * result, which is cached.
 */
#include "oql/oql_scope.h"

struct scope {
	struct oql_select *select;
	struct scope *outer;
};

static void visit_select(struct oql_select *select, struct scope *outer);

static void tie(struct scope *from, const struct scope *to)
{
	for (struct scope *s = from; s && s != to; s = s->outer)
		s->select->is_free = false;
}

static void visit_name(struct oql_str name, struct scope *scope)
{
	for (struct scope *s = scope; s; s = s->outer) {
		const struct oql_str alias = s->select->from.alias;

		if (alias.data && oql_same(alias, name)) {
			tie(scope, s);
			return;
		}
	}
}

static void visit(struct oql_expr *e, struct scope *scope)
{
	if (!e)
		return;
	if (e->kind == OQL_NAME)
		visit_name(e->name, scope);
	if (e->kind == OQL_SELECT)
		visit_select(e->select, scope);
	visit(e->a, scope);
	visit(e->b, scope);
	visit(e->c, scope);
	for (size_t i = 0; i < e->arg_count; i++)
		visit(e->args[i], scope);
}

/* Whether an expression after FROM uses anything from enclosing rows. */
static bool takes_row(const struct oql_expr *e)
{
	if (!e || e->kind == OQL_SELECT)
		return false;
	if (e->kind == OQL_NAME || (e->kind == OQL_ATTRIBUTE && !e->a))
		return true;
	for (size_t i = 0; i < e->arg_count; i++)
		if (takes_row(e->args[i]))
			return true;
	return takes_row(e->a) || takes_row(e->b) || takes_row(e->c);
}

static void visit_select(struct oql_select *first, struct scope *outer)
{
	for (struct oql_select *s = first; s; s = s->next) {
		struct scope scope = { .select = s, .outer = outer };

		s->is_free = true;
		/* a union is free if all its SELECTs are */
		for (size_t i = 0; i < s->item_count; i++)
			visit(s->items[i].expr, &scope);
		visit(s->where, &scope);
		for (size_t i = 0; i < s->group_count; i++)
			visit(s->groups[i], &scope);
		for (size_t i = 0; i < s->order_count; i++)
			visit(s->orders[i].expr, &scope);
		visit(s->from.expr, outer);
		if (s->from.select)
			visit_select(s->from.select, outer);
		if (outer && ((s->from.expr && takes_row(s->from.expr)) ||
			      (s->from.select && !s->from.select->is_free)))
			s->is_free = false;
	}
	for (const struct oql_select *s = first->next; s; s = s->next)
		first->is_free &= s->is_free;
}

void oql_find_free(struct oql_select *select)
{
	visit_select(select, NULL);
}

static size_t deeper(size_t depth, const struct oql_expr *e)
{
	return e && e->depth > depth ? e->depth : depth;
}

size_t oql_select_depth(const struct oql_select *select)
{
	size_t depth = 0;

	for (const struct oql_select *s = select; s; s = s->next) {
		for (size_t i = 0; i < s->item_count; i++)
			depth = deeper(depth, s->items[i].expr);
		for (size_t i = 0; i < s->group_count; i++)
			depth = deeper(depth, s->groups[i]);
		for (size_t i = 0; i < s->order_count; i++)
			depth = deeper(depth, s->orders[i].expr);
		depth = deeper(deeper(depth, s->where), s->from.expr);
		if (s->from.select && s->from.select->depth > depth)
			depth = s->from.select->depth;
		if (s->next && s->next->depth > depth)
			depth = s->next->depth;
	}
	return depth + 1;
}
