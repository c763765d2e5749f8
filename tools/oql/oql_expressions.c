/*
 * oql/oql_expressions.c - grammar of expressions: primaries, members, calls, indexes and operators
 * by precedence; also contains the functions for errors and nodes, which the whole grammar uses.
 */
#include "oql/oql_parser.h"

int oql_expected(struct parser *p, const char *what)
{
	const struct oql_token *t = ahead(p, 0);
	int size = (int)(t->text.size < SHOWN_MAX ? t->text.size : SHOWN_MAX);

	if (t->kind == OQL_T_END)
		return oql_fail_at(p->text, t->at, p->err,
				   "expected %s, found the end of the statement", what);
	while (size > 0 && ((unsigned char)t->text.data[size] & 0xc0) == 0x80)
		size--;
	return oql_fail_at(p->text, t->at, p->err, "expected %s, found \"%.*s\"%s", what, size,
			   t->text.data, (size_t)size < t->text.size ? "..." : "");
}

int oql_expect_sign(struct parser *p, char sign, const char *what)
{
	return take_sign(p, sign) ? HDB_OK : oql_expected(p, what);
}

/* ---- nodes ---- */

int oql_too_deep(struct parser *p, size_t at)
{
	oql_fail_at(p->text, at, p->err, "nested too deeply (limit %d levels)", OQL_DEPTH_MAX);
	return p->err ? p->err->code = HDB_ELIMIT : HDB_ELIMIT;
}

int oql_enter(struct parser *p)
{
	return ++p->depth > OQL_DEPTH_MAX ? oql_too_deep(p, ahead(p, 0)->at) : HDB_OK;
}

static int make(struct parser *p, enum oql_kind kind, size_t at, struct oql_expr **out)
{
	assert(at <= p->tokens[p->count - 1].at);
	TRY(OQL_TAKE(*out, p->arena, 1, p->err));
	(*out)->kind = kind;
	(*out)->at = at;
	(*out)->depth = 1;
	return HDB_OK;
}

/* Computes the height of a node whose children are set. */
static int seal(struct parser *p, struct oql_expr *e)
{
	struct oql_expr *const parts[] = { e->a, e->b, e->c };
	size_t deepest = e->select ? e->select->depth : 0;

	for (size_t i = 0; i < 3; i++)
		if (parts[i] && parts[i]->depth > deepest)
			deepest = parts[i]->depth;
	for (size_t i = 0; i < e->arg_count; i++)
		if (e->args[i]->depth > deepest)
			deepest = e->args[i]->depth;
	e->depth = deepest + 1;
	if (e->depth <= OQL_CHAIN_MAX)
		return HDB_OK;
	oql_fail_at(p->text, e->at, p->err, "the expression is too long (limit %d steps)",
		    OQL_CHAIN_MAX);
	return p->err ? p->err->code = HDB_ELIMIT : HDB_ELIMIT;
}

static int join(struct parser *p, enum oql_kind kind, size_t at, struct oql_expr *parts[2],
		struct oql_expr **out)
{
	struct oql_expr *e;

	assert(parts[0]);
	TRY(make(p, kind, at, &e));
	e->a = parts[0];
	e->b = parts[1];
	*out = e;
	return seal(p, e);
}

int oql_list_add(struct parser *p, struct list *list, struct oql_expr *e)
{
	assert(e);
	assert(list->count <= list->room);
	if (list->count == list->room && !OQL_GROW(p->arena, list->items, list->room, p->err))
		return HDB_ELIMIT;
	list->items[list->count++] = e;
	return HDB_OK;
}

int oql_too_many(struct parser *p, const char *what)
{
	oql_fail_at(p->text, ahead(p, 0)->at, p->err, "more than %d %s", OQL_ITEMS_MAX, what);
	return p->err ? p->err->code = HDB_ELIMIT : HDB_ELIMIT;
}

/* ---- primaries and steps ---- */

/* Parses "(a, b)" after its "(". */
static int parse_args(struct parser *p, struct oql_expr *e)
{
	struct list list = { 0 };
	struct oql_expr *arg;

	while (!is_sign(p, 0, ')')) {
		if (list.count)
			TRY(oql_expect_sign(p, ',', "\",\" or \")\""));
		if (list.count == OQL_ITEMS_MAX)
			return oql_too_many(p, "arguments");
		TRY(oql_parse_condition(p, &arg));
		TRY(oql_list_add(p, &list, arg));
	}
	p->at++;
	e->args = list.items;
	e->arg_count = list.count;
	return seal(p, e);
}

static const char *const aggregate_names[] = { "count", "sum", "min", "max", "avg" };
#define AGGREGATE_COUNT BASE_COUNT(aggregate_names)
static_assert(AGGREGATE_COUNT == OQL_AVG + 1, "a name for each aggregate");

static int add_aggregate(struct parser *p, struct oql_select *select, struct oql_expr *e)
{
	struct list list = { select->aggregates, select->aggregate_count, select->aggregate_count };
	const int r = oql_list_add(p, &list, e);

	e->i = (int64_t)select->aggregate_count;
	select->aggregates = list.items;
	select->aggregate_count = list.count;
	select->has_groups = true;
	return r;
}

/*
 * Parses count(*), sum(x) and so on. The name is the token after the next one, and "(" follows the
 * name.
 */
static int parse_aggregate(struct parser *p, enum oql_aggregate which, struct oql_expr **out)
{
	const size_t at = ahead(p, 0)->at;
	struct oql_select *select = p->select;
	struct oql_expr *e;
	int r;

	TRY(make(p, OQL_AGGREGATE, at, &e));
	if (!select)
		return oql_fail_at(p->text, at, p->err,
				   "%s() is allowed only in SELECT and ORDER BY, and not inside "
				   "itself",
				   aggregate_names[which]);
	e->aggregate = which;
	p->at += 2;
	if (which == OQL_COUNT && is_sign(p, 0, '*') && is_sign(p, 1, ')')) {
		p->at += 2;
	} else {
		p->select = NULL;
		r = parse_args(p, e);
		p->select = select;
		TRY(r);
		if (e->arg_count != 1)
			return oql_fail_at(p->text, at, p->err, "%s() takes one argument%s",
					   aggregate_names[which],
					   which == OQL_COUNT ? ", or *" : "");
	}
	*out = e;
	return add_aggregate(p, select, e);
}

static int parse_name(struct parser *p, struct oql_expr **out)
{
	const struct oql_token *t = ahead(p, 0);
	const bool is_call = is_sign(p, 1, '(');
	struct oql_expr *e;

	if (is_word(p, 0, "not"))
		return oql_fail_at(p->text, t->at, p->err,
				   "NOT is allowed only before LIKE and IN; use != or = false");
	if (is_word(p, 0, "implements") || is_word(p, 0, "instanceof") || is_word(p, 0, "and") ||
	    is_word(p, 0, "or"))
		return oql_expected(p, "an expression");
	for (size_t i = 0; is_call && i < AGGREGATE_COUNT; i++)
		if (oql_is_word(t->text, aggregate_names[i]))
			return parse_aggregate(p, (enum oql_aggregate)i, out);
	TRY(make(p, is_call ? OQL_CALL : OQL_NAME, t->at, &e));
	e->name = t->text;
	p->at += is_call ? 2 : 1;
	*out = e;
	return is_call ? parse_args(p, e) : HDB_OK;
}

/*
 * Parses the name after "." or "@": a field or attribute (`kind`), or a method with arguments. The
 * name belongs to `a` or, if `a` is NULL, to the row's object.
 */
static int parse_member(struct parser *p, struct oql_expr *a, enum oql_kind kind,
			struct oql_expr **out)
{
	const struct oql_token *t = ahead(p, 0);
	const bool is_call = is_sign(p, 1, '(');
	struct oql_expr *e;

	if (t->kind != OQL_T_NAME)
		return oql_expected(
			p, kind == OQL_FIELD ?
				   "the name of a field, or \"@\" and the name of an attribute" :
				   "the name of an attribute after \"@\"");
	TRY(make(p, is_call ? OQL_METHOD : kind, t->at, &e));
	e->a = a;
	e->name = t->text;
	p->at += is_call ? 2 : 1;
	*out = e;
	return is_call ? parse_args(p, e) : seal(p, e);
}

static int parse_number(struct parser *p, bool is_negative, struct oql_expr **out)
{
	const struct oql_token *t = ahead(p, 0);
	const enum oql_kind kind = t->kind == OQL_T_INT   ? OQL_INT :
				   t->kind == OQL_T_LONG  ? OQL_LONG :
				   t->kind == OQL_T_FLOAT ? OQL_FLOAT :
							    OQL_DOUBLE;
	struct oql_expr *e;

	TRY(make(p, kind, t->at, &e));
	if (t->is_wide && !(is_negative && t->i == 1ULL << (kind == OQL_LONG ? 63 : 31)))
		return oql_fail_at(p->text, t->at, p->err,
				   kind == OQL_LONG ? "this number does not fit into 64 bits" :
						      "%.*s does not fit into 32 bits; add L for a "
						      "long",
				   (int)(t->text.size < SHOWN_MAX ? t->text.size : SHOWN_MAX),
				   t->text.data);
	e->i = (int64_t)(is_negative ? 0 - t->i : t->i);
	e->d = is_negative ? -t->d : t->d;
	p->at++;
	*out = e;
	return HDB_OK;
}

static int parse_literal(struct parser *p, enum oql_kind kind, struct oql_expr **out)
{
	const struct oql_token *t = ahead(p, 0);
	struct oql_expr *e;

	TRY(make(p, kind, t->at, &e));
	e->name = t->text;
	e->i = kind == OQL_BOOL ? oql_is_word(t->text, "true") : (int64_t)t->i;
	p->at++;
	*out = e;
	return HDB_OK;
}

/* Parses a sub-select or expression after its "(". */
static int parse_parentheses(struct parser *p, struct oql_expr **out)
{
	const size_t at = ahead(p, 0)->at;
	struct oql_select *outer = p->select;
	struct oql_expr *e;
	int r;

	if (!is_word(p, 0, "select")) {
		TRY(oql_parse_condition(p, out));
		return oql_expect_sign(p, ')', "\")\"");
	}
	TRY(make(p, OQL_SELECT, at, &e));
	p->select = NULL;
	r = oql_parse_select(p, &e->select);
	p->select = outer;
	TRY(r);
	*out = e;
	TRY(oql_expect_sign(p, ')', "\")\" after the subquery"));
	return seal(p, e);
}

static int parse_primary(struct parser *p, struct oql_expr **out)
{
	const struct oql_token *t = ahead(p, 0);

	switch (t->kind) {
	case OQL_T_NAME:
		if (is_sign(p, 1, '('))
			return parse_name(p, out);
		if (oql_is_word(t->text, "null"))
			return parse_literal(p, OQL_NULL, out);
		if (oql_is_word(t->text, "true") || oql_is_word(t->text, "false"))
			return parse_literal(p, OQL_BOOL, out);
		return parse_name(p, out);
	case OQL_T_STRING:
		return parse_literal(p, OQL_STRING, out);
	case OQL_T_CHAR:
		return parse_literal(p, OQL_CHAR, out);
	case OQL_T_SNAPSHOT:
		return parse_literal(p, OQL_SNAPSHOT, out);
	case OQL_T_OUTER:
		return parse_literal(p, OQL_NAME, out);
	case OQL_T_INT:
	case OQL_T_LONG:
	case OQL_T_FLOAT:
	case OQL_T_DOUBLE:
		return parse_number(p, false, out);
	case OQL_T_HEX:
		return oql_fail_at(p->text, t->at, p->err,
				   "addresses are allowed only after FROM; compare "
				   "toHex(o.@objectAddress) with the string \"%.*s\"",
				   (int)(t->text.size < SHOWN_MAX ? t->text.size : SHOWN_MAX),
				   t->text.data);
	default:
		break;
	}
	if (take_sign(p, '('))
		return parse_parentheses(p, out);
	if (take_sign(p, '@'))
		return parse_member(p, NULL, OQL_ATTRIBUTE, out);
	return oql_expected(p, "an expression");
}

/* Parses "[i]" or "[i:j]" after its "[". */
static int parse_index(struct parser *p, struct oql_expr *a, struct oql_expr **out)
{
	struct oql_expr *e;

	TRY(make(p, OQL_INDEX, ahead(p, 0)->at, &e));
	e->a = a;
	TRY(oql_parse_additive(p, &e->b));
	if (take_sign(p, ':')) {
		e->kind = OQL_SLICE;
		TRY(oql_parse_additive(p, &e->c));
	}
	TRY(oql_expect_sign(p, ']', e->kind == OQL_SLICE ? "\"]\"" : "\"]\" or \":\""));
	*out = e;
	return seal(p, e);
}

int oql_parse_steps(struct parser *p, struct oql_expr **out)
{
	int r;

	TRY(parse_primary(p, out));
	for (;;) {
		if (take_sign(p, '.'))
			r = parse_member(p, *out, take_sign(p, '@') ? OQL_ATTRIBUTE : OQL_FIELD,
					 out);
		else if (take_sign(p, '['))
			r = parse_index(p, *out, out);
		else
			return HDB_OK;
		TRY(r);
	}
}

/* ---- operators ---- */

static bool is_number(const struct oql_token *t)
{
	return t->kind == OQL_T_INT || t->kind == OQL_T_LONG || t->kind == OQL_T_FLOAT ||
	       t->kind == OQL_T_DOUBLE;
}

static int parse_unary(struct parser *p, struct oql_expr **out);

/* Parses "-a" after its "-", which is at `at`. */
static int parse_negated(struct parser *p, size_t at, struct oql_expr **out)
{
	struct oql_expr *parts[2] = { NULL, NULL };
	const int r = parse_unary(p, &parts[0]);

	return r < 0 ? r : join(p, OQL_NEGATE, at, parts, out);
}

static int parse_unary(struct parser *p, struct oql_expr **out)
{
	const size_t at = ahead(p, 0)->at;
	int r;

	TRY(oql_enter(p));
	if (is_sign(p, 0, '-') && is_number(ahead(p, 1))) {
		p->at++;
		r = parse_number(p, true, out);
	} else if (take_sign(p, '-')) {
		r = parse_negated(p, at, out);
	} else if (take_sign(p, '+')) {
		r = parse_unary(p, out);
	} else {
		r = oql_parse_steps(p, out);
	}
	assert(p->depth > 0);
	p->depth--;
	return r;
}

typedef int parse_fn(struct parser *p, struct oql_expr **out);

/* Parses a left-associative chain of two operators between operands of `parse`. */
static int parse_signs(struct parser *p, parse_fn *parse, const char signs[2],
		       const enum oql_kind kinds[2], struct oql_expr **out)
{
	TRY_ERRORS(parse(p, out));
	while (is_sign(p, 0, signs[0]) || is_sign(p, 0, signs[1])) {
		const enum oql_kind kind = kinds[is_sign(p, 0, signs[1])];
		const size_t at = ahead(p, 0)->at;
		struct oql_expr *parts[2] = { *out, NULL };

		p->at++;
		TRY_ERRORS(parse(p, &parts[1]));
		TRY(join(p, kind, at, parts, out));
	}
	return HDB_OK;
}

static int parse_multiplicative(struct parser *p, struct oql_expr **out)
{
	static const enum oql_kind kinds[2] = { OQL_MULTIPLY, OQL_DIVIDE };

	return parse_signs(p, parse_unary, "*/", kinds, out);
}

int oql_parse_additive(struct parser *p, struct oql_expr **out)
{
	static const enum oql_kind kinds[2] = { OQL_ADD, OQL_SUBTRACT };

	return parse_signs(p, parse_multiplicative, "+-", kinds, out);
}

int oql_parse_class_name(struct parser *p, struct oql_str *name)
{
	const struct oql_token *first = ahead(p, 0), *last = first;
	char *copy;

	if (first->kind != OQL_T_NAME)
		return oql_expected(p, "the name of a class");
	p->at++;
	while (is_sign(p, 0, '.') && ahead(p, 1)->kind == OQL_T_NAME) {
		last = ahead(p, 1);
		p->at += 2;
	}
	while (is_sign(p, 0, '[') && is_sign(p, 1, ']')) {
		last = ahead(p, 1);
		p->at += 2;
	}
	/* drops blanks and comments between the tokens */
	TRY(OQL_TAKE(copy, p->arena, last->at + last->text.size - first->at + 1, p->err));
	name->data = copy;
	name->size = 0;
	for (const struct oql_token *t = first; t <= last; t++) {
		memcpy(copy + name->size, t->text.data, t->text.size);
		name->size += t->text.size;
	}
	return HDB_OK;
}

/* Consumes a relational operator. Returns false if the next token is not a relational operator. */
static bool take_relation(struct parser *p, enum oql_kind *kind)
{
	const struct oql_token *t = ahead(p, 0);
	const bool is_not = is_word(p, 0, "not");

	if (is_word(p, is_not ? 1 : 0, "like"))
		*kind = is_not ? OQL_NOT_LIKE : OQL_LIKE;
	else if (is_word(p, is_not ? 1 : 0, "in"))
		*kind = is_not ? OQL_NOT_IN : OQL_IN;
	else if (is_word(p, 0, "implements") || is_word(p, 0, "instanceof"))
		*kind = OQL_IMPLEMENTS;
	else if (t->kind == OQL_T_LE)
		*kind = OQL_LESS_EQUAL;
	else if (t->kind == OQL_T_GE)
		*kind = OQL_GREATER_EQUAL;
	else if (is_sign(p, 0, '<'))
		*kind = OQL_LESS;
	else if (is_sign(p, 0, '>'))
		*kind = OQL_GREATER;
	else
		return false;
	p->at += *kind == OQL_NOT_LIKE || *kind == OQL_NOT_IN ? 2 : 1;
	return true;
}

static int parse_relation(struct parser *p, struct oql_expr **out)
{
	enum oql_kind kind;
	int r;

	TRY(oql_parse_additive(p, out));
	for (;;) {
		const size_t at = ahead(p, 0)->at;
		struct oql_expr *parts[2] = { *out, NULL };
		struct oql_str name = { 0 };

		if (!take_relation(p, &kind))
			return HDB_OK;
		if (kind == OQL_IMPLEMENTS)
			r = oql_parse_class_name(p, &name);
		else
			r = oql_parse_additive(p, &parts[1]);
		TRY(r);
		TRY(join(p, kind, at, parts, out));
		(*out)->name = name;
	}
}

static int parse_equality(struct parser *p, struct oql_expr **out)
{
	TRY(parse_relation(p, out));
	while (is_sign(p, 0, '=') || ahead(p, 0)->kind == OQL_T_NE) {
		const enum oql_kind kind = is_sign(p, 0, '=') ? OQL_EQUAL : OQL_NOT_EQUAL;
		const size_t at = ahead(p, 0)->at;
		struct oql_expr *parts[2] = { *out, NULL };

		p->at++;
		TRY(parse_relation(p, &parts[1]));
		TRY(join(p, kind, at, parts, out));
	}
	return HDB_OK;
}

/* Parses "a AND b AND c" into a single node, so that long chains do not nest. */
static int parse_all(struct parser *p, const char *word, struct oql_expr **out)
{
	const bool is_and = word[0] == 'a';
	const size_t at = ahead(p, 0)->at;
	struct list list = { 0 };
	struct oql_expr *e;

	do {
		TRY(is_and ? parse_equality(p, &e) : parse_all(p, "and", &e));
		TRY(oql_list_add(p, &list, e));
	} while (take_word(p, word));
	*out = e;
	if (list.count == 1)
		return HDB_OK;
	TRY(make(p, is_and ? OQL_AND : OQL_OR, at, &e));
	e->args = list.items;
	e->arg_count = list.count;
	*out = e;
	return seal(p, e);
}

int oql_parse_condition(struct parser *p, struct oql_expr **out)
{
	int r = oql_enter(p);

	if (r >= 0)
		r = parse_all(p, "or", out);
	assert(p->depth > 0);
	p->depth--;
	return r;
}
