/*
 * oql/oql_parse.c - grammar of statements: MAT's, extended by GROUP BY, ORDER BY, LIMIT and
 * aggregates. Expressions are in oql_expressions.c. Keywords are case-insensitive, and most of them
 * can be used as names where no keyword is possible. OQL_DEPTH_MAX limits nesting and OQL_CHAIN_MAX
 * chains of operators and members, which bounds the recursion of grammar and evaluator.
 */
#include "oql/oql_ast.h"
#include "oql/oql_parser.h"

/* Finds sub-selects that depend on enclosing rows. */

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

/* Returns whether an expression after FROM uses values from enclosing rows. */
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

/* Sets is_free in all selects of a statement. */
static void oql_find_free(struct oql_select *select)
{
	visit_select(select, NULL);
}

static size_t deeper(size_t depth, const struct oql_expr *e)
{
	return e && e->depth > depth ? e->depth : depth;
}

/* Returns the height of a select, computed from the heights of its expressions. */
static size_t oql_select_depth(const struct oql_select *select)
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

/* Returns whether the word is a modifier here, and not the first selected name. */
static bool is_modifier(const struct parser *p, const char *word)
{
	return is_word(p, 0, word) && !is_word(p, 1, "from") && !is_sign(p, 1, ',') &&
	       !is_sign(p, 1, '.') && !is_sign(p, 1, '[') && ahead(p, 1)->kind != OQL_T_END &&
	       (!is_word(p, 1, "as") || is_word(p, 2, "retained"));
}

static int parse_item(struct parser *p, struct oql_item *item)
{
	const struct oql_token *t;
	int r = oql_parse_additive(p, &item->expr);

	if (r < 0 || !take_word(p, "as"))
		return r;
	t = ahead(p, 0);
	if (t->kind != OQL_T_NAME && t->kind != OQL_T_STRING)
		return oql_expected(p, "a name or a \"string\" after AS");
	item->alias = t->text;
	p->at++;
	return HDB_OK;
}

static int parse_items(struct parser *p, struct oql_select *select)
{
	size_t room = 0;

	assert(select->item_count == 0);
	do {
		if (select->item_count == OQL_ITEMS_MAX)
			return oql_too_many(p, "columns");
		if (select->item_count == room && !OQL_GROW(p->arena, select->items, room, p->err))
			return HDB_ELIMIT;
		TRY(parse_item(p, &select->items[select->item_count++]));
	} while (take_sign(p, ','));
	return HDB_OK;
}

static int parse_numbers(struct parser *p, struct oql_from *from)
{
	const enum oql_token_kind kind = ahead(p, 0)->kind;
	size_t room = 0;

	from->kind = kind == OQL_T_HEX ? OQL_FROM_ADDRESSES : OQL_FROM_IDS;
	do {
		if (ahead(p, 0)->kind != kind)
			return oql_expected(p, kind == OQL_T_HEX ? "an address" :
								   "an object's number");
		if (from->number_count == room && !OQL_GROW(p->arena, from->numbers, room, p->err))
			return HDB_ELIMIT;
		from->numbers[from->number_count++] = ahead(p, 0)->i;
		p->at++;
	} while (take_sign(p, ','));
	return HDB_OK;
}

static int parse_from_parentheses(struct parser *p, struct oql_from *from)
{
	const bool is_select = is_word(p, 0, "select");

	from->kind = is_select ? OQL_FROM_SELECT : OQL_FROM_VALUE;
	TRY(is_select ? oql_parse_select(p, &from->select) : oql_parse_condition(p, &from->expr));
	return oql_expect_sign(p, ')', "\")\"");
}

static int parse_source(struct parser *p, struct oql_from *from)
{
	const struct oql_token *t = ahead(p, 0);

	switch (t->kind) {
	case OQL_T_STRING:
		from->kind = OQL_FROM_PATTERN;
		from->name = t->text;
		p->at++;
		return HDB_OK;
	case OQL_T_HEX:
	case OQL_T_INT:
		return parse_numbers(p, from);
	case OQL_T_SNAPSHOT:
	case OQL_T_OUTER:
		from->kind = OQL_FROM_VALUE;
		return oql_parse_steps(p, &from->expr);
	case OQL_T_NAME:
		from->kind = OQL_FROM_CLASS;
		return oql_parse_class_name(p, &from->name);
	default:
		if (take_sign(p, '('))
			return parse_from_parentheses(p, from);
		return oql_expected(p, "a class, \"a pattern\", an address, an object's number, "
				       "${snapshot} or \"(\" after FROM");
	}
}

static bool starts_clause(const struct parser *p)
{
	return is_word(p, 0, "where") || (is_word(p, 0, "union") && is_sign(p, 1, '(')) ||
	       ((is_word(p, 0, "group") || is_word(p, 0, "order")) && is_word(p, 1, "by")) ||
	       (is_word(p, 0, "limit") && ahead(p, 1)->kind != OQL_T_END);
}

static int parse_from(struct parser *p, struct oql_from *from)
{
	struct oql_select *outer = p->select;
	int r;

	if (is_word(p, 0, "objects") && !is_sign(p, 1, '.')) {
		from->is_objects = true;
		p->at++;
	}
	from->is_instanceof = take_word(p, "instanceof");
	from->at = ahead(p, 0)->at;
	p->select = NULL;
	r = parse_source(p, from);
	p->select = outer;
	TRY(r);
	if (from->kind == OQL_FROM_CLASS && is_sign(p, 0, '('))
		return oql_fail_at(p->text, from->at, p->err,
				   "an expression after FROM must be in parentheses: ( %.*s(...) )",
				   (int)(from->name.size < SHOWN_MAX ? from->name.size : SHOWN_MAX),
				   from->name.data);
	if (is_word(p, 0, "as"))
		p->at++;
	else if (ahead(p, 0)->kind != OQL_T_NAME || starts_clause(p))
		return HDB_OK;
	if (ahead(p, 0)->kind != OQL_T_NAME)
		return oql_expected(p, "a name for the row's object");
	from->alias = ahead(p, 0)->text;
	p->at++;
	return HDB_OK;
}

static int parse_groups(struct parser *p, struct oql_select *select)
{
	struct list list = { 0 };
	struct oql_expr *e;

	assert(p->select == select);
	p->select = NULL;
	do {
		if (list.count == OQL_ITEMS_MAX)
			return oql_too_many(p, "keys of GROUP BY");
		TRY(oql_parse_additive(p, &e));
		TRY(oql_list_add(p, &list, e));
	} while (take_sign(p, ','));
	p->select = select;
	select->groups = list.items;
	select->group_count = list.count;
	select->has_groups = true;
	return HDB_OK;
}

static int parse_orders(struct parser *p, struct oql_select *select)
{
	size_t room = 0;

	do {
		struct oql_order *order;

		if (select->order_count == OQL_ITEMS_MAX)
			return oql_too_many(p, "keys of ORDER BY");
		if (select->order_count == room &&
		    !OQL_GROW(p->arena, select->orders, room, p->err))
			return HDB_ELIMIT;
		order = &select->orders[select->order_count++];
		TRY(oql_parse_additive(p, &order->expr));
		order->is_descending = take_word(p, "desc");
		if (!order->is_descending)
			take_word(p, "asc");
	} while (take_sign(p, ','));
	return HDB_OK;
}

static int parse_count(struct parser *p, const char *what, uint64_t *out)
{
	if (ahead(p, 0)->kind != OQL_T_INT && ahead(p, 0)->kind != OQL_T_LONG)
		return oql_expected(p, what);
	*out = ahead(p, 0)->i;
	p->at++;
	return HDB_OK;
}

/* Parses "UNION ( SELECT ... )" into *out. */
static int parse_union(struct parser *p, struct oql_select *first, struct oql_select **out)
{
	const size_t at = ahead(p, 0)->at;
	int r;

	p->at++;
	TRY(oql_expect_sign(p, '(', "\"(\" and a SELECT after UNION"));
	if (!is_word(p, 0, "select"))
		return oql_expected(p, "SELECT");
	p->select = NULL;
	r = oql_parse_select(p, out);
	p->select = first;
	TRY(r);
	TRY(oql_expect_sign(p, ')', "\")\" at the end of the SELECT"));
	if ((*out)->order_count || (*out)->has_limit)
		return oql_fail_at(p->text, at, p->err,
				   "ORDER BY and LIMIT must follow the last SELECT of a UNION");
	return HDB_OK;
}

static int parse_unions(struct parser *p, struct oql_select *first)
{
	struct oql_select *last = first;

	while (is_word(p, 0, "union")) {
		assert(!last->next);
		TRY(parse_union(p, first, &last->next));
		while (last->next)
			last = last->next;
	}
	return HDB_OK;
}

/* Parses the clauses after FROM. */
static int parse_clauses(struct parser *p, struct oql_select *select)
{
	int r = HDB_OK;

	if (take_word(p, "where")) {
		p->select = NULL;
		r = oql_parse_condition(p, &select->where);
		p->select = select;
	}
	TRY(r);
	if (is_word(p, 0, "group") && is_word(p, 1, "by")) {
		p->at += 2;
		TRY(parse_groups(p, select));
	}
	TRY(parse_unions(p, select));
	if (is_word(p, 0, "order") && is_word(p, 1, "by")) {
		p->at += 2;
		TRY(parse_orders(p, select));
	}
	if (take_word(p, "limit")) {
		select->has_limit = true;
		TRY(parse_count(p, "a number of rows after LIMIT", &select->limit));
		if (take_word(p, "offset"))
			TRY(parse_count(p, "a number of rows after OFFSET", &select->offset));
	}
	return HDB_OK;
}

static int parse_head(struct parser *p, struct oql_select *select)
{
	select->at = ahead(p, 0)->at;
	if (!take_word(p, "select"))
		return oql_expected(p, "SELECT");
	if (is_modifier(p, "distinct")) {
		select->is_distinct = true;
		p->at++;
	}
	if (is_word(p, 0, "as") && is_word(p, 1, "retained") && is_word(p, 2, "set")) {
		select->is_retained = true;
		p->at += 3;
	}
	if (take_sign(p, '*')) {
		select->is_star = true;
		return HDB_OK;
	}
	if (is_modifier(p, "objects")) {
		select->is_objects = true;
		p->at++;
	}
	return parse_items(p, select);
}

static int check_select(struct parser *p, struct oql_select *select)
{
	select->depth = oql_select_depth(select);
	if (select->depth > OQL_CHAIN_MAX)
		return oql_too_deep(p, select->at);
	if (select->has_groups && (select->is_star || select->is_objects))
		return oql_fail_at(p->text, select->at, p->err,
				   "GROUP BY needs columns in SELECT, not * or OBJECTS");
	if (select->has_groups && (select->is_distinct || select->is_retained))
		return oql_fail_at(p->text, select->at, p->err,
				   "GROUP BY cannot be combined with DISTINCT or AS RETAINED SET");
	return HDB_OK;
}

static int parse_parts(struct parser *p, struct oql_select *select)
{
	TRY(parse_head(p, select));
	if (!take_word(p, "from"))
		return oql_expected(p, "FROM");
	TRY(parse_from(p, &select->from));
	TRY(parse_clauses(p, select));
	return check_select(p, select);
}

int oql_parse_select(struct parser *p, struct oql_select **out)
{
	struct oql_select *outer = p->select;
	int r;

	TRY(oql_enter(p));
	*out = p->select = oql_take(p->arena, 1, sizeof(**out), p->err);
	r = *out ? parse_parts(p, *out) : HDB_ELIMIT;
	assert(p->depth > 0);
	p->select = outer;
	p->depth--;
	return r;
}

int oql_parse(struct oql_str text, struct oql_arena *arena, struct oql_select **out,
	      struct hdb_error *err)
{
	struct parser p = { .text = text.data, .arena = arena, .err = err };

	TRY(oql_lex(text, arena, &p.tokens, &p.count, err));
	assert(p.tokens[p.count - 1].kind == OQL_T_END);
	TRY(oql_parse_select(&p, out));
	assert(p.depth == 0);
	assert(!p.select);
	if (ahead(&p, 0)->kind != OQL_T_END)
		return oql_expected(&p, "the end of the statement");
	(*out)->is_alone = !(*out)->next;
	oql_find_free(*out);
	return HDB_OK;
}
