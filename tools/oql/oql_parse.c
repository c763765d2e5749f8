/*
 * oql/oql_parse.c - the grammar: MAT's, with GROUP BY, ORDER BY, LIMIT and aggregates beyond it.
 *
 * Keywords ignore case, and most of them are names where no keyword can stand. Nesting is limited
 * by OQL_DEPTH_MAX, chains of operators and steps by OQL_CHAIN_MAX, so that neither this file nor
 * the evaluator recurses further.
 */
#include "oql/oql.h"
#include "oql/oql_lex.h"
#include "oql/oql_scope.h"

#include <string.h>

struct parser {
	const char *text;
	struct oql_token *tokens;
	size_t count, at; /* tokens; the next one */
	unsigned depth;
	struct oql_arena *arena;
	struct hdb_error *err;
	struct oql_select
		*select; /* the one that aggregates belong to; NULL: none may stand here */
};

static int parse_or(struct parser *p, struct oql_expr **out);
static int parse_additive(struct parser *p, struct oql_expr **out);
static int parse_select(struct parser *p, struct oql_select **out);

/* ---- tokens ---- */

static const struct oql_token *ahead(const struct parser *p, size_t n)
{
	return &p->tokens[n < p->count - p->at ? p->at + n : p->count - 1];
}

static bool is_sign(const struct parser *p, size_t n, char sign)
{
	const struct oql_token *t = ahead(p, n);

	return t->kind == OQL_T_PUNCTUATION && t->sign == sign;
}

static bool is_word(const struct parser *p, size_t n, const char *word)
{
	const struct oql_token *t = ahead(p, n);

	return t->kind == OQL_T_NAME && oql_is_word(t->text, word);
}

static bool take_sign(struct parser *p, char sign)
{
	const bool is_it = is_sign(p, 0, sign);

	p->at += is_it;
	return is_it;
}

static bool take_word(struct parser *p, const char *word)
{
	const bool is_it = is_word(p, 0, word);

	p->at += is_it;
	return is_it;
}

/* How much of a token a message shows. */
#define SHOWN_MAX 40

static int expected(struct parser *p, const char *what)
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

static int expect_sign(struct parser *p, char sign, const char *what)
{
	return take_sign(p, sign) ? HDB_OK : expected(p, what);
}

/* ---- nodes ---- */

static int too_deep(struct parser *p, size_t at)
{
	oql_fail_at(p->text, at, p->err, "nested too deeply: at most %d levels", OQL_DEPTH_MAX);
	return p->err ? p->err->code = HDB_ELIMIT : HDB_ELIMIT;
}

static int enter(struct parser *p)
{
	return ++p->depth > OQL_DEPTH_MAX ? too_deep(p, ahead(p, 0)->at) : HDB_OK;
}

static struct oql_expr *make(struct parser *p, enum oql_kind kind, size_t at)
{
	struct oql_expr *e = oql_take(p->arena, 1, sizeof(*e), p->err);

	if (e) {
		e->kind = kind;
		e->at = at;
		e->depth = 1;
	}
	return e;
}

/* Counts the levels below a node whose parts are set. */
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
	oql_fail_at(p->text, e->at, p->err, "this expression is too long: at most %d steps",
		    OQL_CHAIN_MAX);
	return p->err ? p->err->code = HDB_ELIMIT : HDB_ELIMIT;
}

static int join(struct parser *p, enum oql_kind kind, size_t at, struct oql_expr *parts[2],
		struct oql_expr **out)
{
	struct oql_expr *e = make(p, kind, at);

	if (!e)
		return HDB_ELIMIT;
	e->a = parts[0];
	e->b = parts[1];
	*out = e;
	return seal(p, e);
}

/* A list of expressions that grows; the arena keeps what it leaves behind. */
struct list {
	struct oql_expr **items;
	size_t count, room;
};

static int list_add(struct parser *p, struct list *list, struct oql_expr *e)
{
	if (list->count == list->room) {
		const size_t room = list->room ? list->room * 2 : 4;
		struct oql_expr **items = oql_take(p->arena, room, sizeof(items[0]), p->err);

		if (!items)
			return HDB_ELIMIT;
		if (list->count)
			memcpy(items, list->items, list->count * sizeof(items[0]));
		list->items = items;
		list->room = room;
	}
	list->items[list->count++] = e;
	return HDB_OK;
}

static int too_many(struct parser *p, const char *what)
{
	oql_fail_at(p->text, ahead(p, 0)->at, p->err, "more than %d %s", OQL_ITEMS_MAX, what);
	return p->err ? p->err->code = HDB_ELIMIT : HDB_ELIMIT;
}

/* ---- primaries and steps ---- */

/* "(a, b)", after its "(". */
static int parse_args(struct parser *p, struct oql_expr *e)
{
	struct list list = { 0 };
	struct oql_expr *arg;
	int r = HDB_OK;

	while (r == HDB_OK && !is_sign(p, 0, ')')) {
		if (list.count && (r = expect_sign(p, ',', "\",\" or \")\"")) < 0)
			break;
		if (list.count == OQL_ITEMS_MAX)
			return too_many(p, "arguments");
		r = parse_or(p, &arg);
		if (r == HDB_OK)
			r = list_add(p, &list, arg);
	}
	if (r < 0)
		return r;
	p->at++;
	e->args = list.items;
	e->arg_count = list.count;
	return seal(p, e);
}

static const char *const aggregate_names[] = { "count", "sum", "min", "max", "avg" };
#define AGGREGATE_COUNT (sizeof(aggregate_names) / sizeof(aggregate_names[0]))

static int add_aggregate(struct parser *p, struct oql_select *select, struct oql_expr *e)
{
	struct list list = { select->aggregates, select->aggregate_count, select->aggregate_count };
	const int r = list_add(p, &list, e);

	e->i = (int64_t)select->aggregate_count;
	select->aggregates = list.items;
	select->aggregate_count = list.count;
	select->has_groups = true;
	return r;
}

/* count(*), sum(x) and so on: the name is the next token but one, "(" follows it. */
static int parse_aggregate(struct parser *p, enum oql_aggregate which, struct oql_expr **out)
{
	const size_t at = ahead(p, 0)->at;
	struct oql_select *select = p->select;
	struct oql_expr *e = make(p, OQL_AGGREGATE, at);
	int r;

	if (!e)
		return HDB_ELIMIT;
	if (!select)
		return oql_fail_at(p->text, at, p->err,
				   "%s() stands only in SELECT and ORDER BY, and not in itself",
				   aggregate_names[which]);
	e->aggregate = which;
	p->at += 2;
	if (which == OQL_COUNT && is_sign(p, 0, '*') && is_sign(p, 1, ')')) {
		p->at += 2;
	} else {
		p->select = NULL;
		r = parse_args(p, e);
		p->select = select;
		if (r < 0)
			return r;
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
				   "NOT stands only before LIKE and IN; write != or = false");
	if (is_word(p, 0, "implements") || is_word(p, 0, "instanceof") || is_word(p, 0, "and") ||
	    is_word(p, 0, "or"))
		return expected(p, "an expression");
	for (size_t i = 0; is_call && i < AGGREGATE_COUNT; i++)
		if (oql_is_word(t->text, aggregate_names[i]))
			return parse_aggregate(p, (enum oql_aggregate)i, out);
	e = make(p, is_call ? OQL_CALL : OQL_NAME, t->at);
	if (!e)
		return HDB_ELIMIT;
	e->name = t->text;
	p->at += is_call ? 2 : 1;
	*out = e;
	return is_call ? parse_args(p, e) : HDB_OK;
}

/* "@name" or "@name(args)", of `a`, or of the row's object (NULL); after its "@". */
static int parse_attribute(struct parser *p, struct oql_expr *a, struct oql_expr **out)
{
	const struct oql_token *t = ahead(p, 0);
	const bool is_call = is_sign(p, 1, '(');
	struct oql_expr *e;

	if (t->kind != OQL_T_NAME)
		return expected(p, "the name of an attribute after \"@\"");
	e = make(p, is_call ? OQL_METHOD : OQL_ATTRIBUTE, t->at);
	if (!e)
		return HDB_ELIMIT;
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
	struct oql_expr *e = make(p, kind, t->at);

	if (!e)
		return HDB_ELIMIT;
	if (t->is_wide && !(is_negative && t->i == 1ULL << 31))
		return oql_fail_at(
			p->text, t->at, p->err, "%.*s does not fit 32 bits; write %.*sL for a long",
			(int)(t->text.size < SHOWN_MAX ? t->text.size : SHOWN_MAX), t->text.data,
			(int)(t->text.size < SHOWN_MAX ? t->text.size : SHOWN_MAX), t->text.data);
	e->i = is_negative ? -(int64_t)t->i : (int64_t)t->i;
	e->d = is_negative ? -t->d : t->d;
	p->at++;
	*out = e;
	return HDB_OK;
}

static int parse_literal(struct parser *p, enum oql_kind kind, struct oql_expr **out)
{
	const struct oql_token *t = ahead(p, 0);
	struct oql_expr *e = make(p, kind, t->at);

	if (!e)
		return HDB_ELIMIT;
	e->name = t->text;
	e->i = kind == OQL_BOOL ? oql_is_word(t->text, "true") : (int64_t)t->i;
	p->at++;
	*out = e;
	return HDB_OK;
}

/* A sub-select or an expression, after its "(". */
static int parse_parentheses(struct parser *p, struct oql_expr **out)
{
	const size_t at = ahead(p, 0)->at;
	struct oql_select *outer = p->select;
	struct oql_expr *e;
	int r;

	if (!is_word(p, 0, "select")) {
		r = parse_or(p, out);
		return r < 0 ? r : expect_sign(p, ')', "\")\"");
	}
	e = make(p, OQL_SELECT, at);
	if (!e)
		return HDB_ELIMIT;
	p->select = NULL;
	r = parse_select(p, &e->select);
	p->select = outer;
	if (r < 0)
		return r;
	*out = e;
	r = expect_sign(p, ')', "\")\" after the sub-select");
	return r < 0 ? r : seal(p, e);
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
	case OQL_T_INT:
	case OQL_T_LONG:
	case OQL_T_FLOAT:
	case OQL_T_DOUBLE:
		return parse_number(p, false, out);
	case OQL_T_HEX:
		return oql_fail_at(p->text, t->at, p->err,
				   "addresses stand only after FROM; compare "
				   "toHex(o.@objectAddress) with the text \"%.*s\"",
				   (int)(t->text.size < SHOWN_MAX ? t->text.size : SHOWN_MAX),
				   t->text.data);
	default:
		break;
	}
	if (take_sign(p, '('))
		return parse_parentheses(p, out);
	if (take_sign(p, '@'))
		return parse_attribute(p, NULL, out);
	return expected(p, "an expression");
}

/* ".name", ".name(args)", ".@name" after `a`; after the ".". */
static int parse_dot(struct parser *p, struct oql_expr *a, struct oql_expr **out)
{
	const struct oql_token *t = ahead(p, 0);
	const bool is_call = is_sign(p, 1, '(');
	struct oql_expr *e;

	if (take_sign(p, '@'))
		return parse_attribute(p, a, out);
	if (t->kind != OQL_T_NAME)
		return expected(p, "the name of a field, or \"@\" and that of an attribute");
	e = make(p, is_call ? OQL_METHOD : OQL_FIELD, t->at);
	if (!e)
		return HDB_ELIMIT;
	e->a = a;
	e->name = t->text;
	p->at += is_call ? 2 : 1;
	*out = e;
	return is_call ? parse_args(p, e) : seal(p, e);
}

/* "[i]" or "[i:j]", after its "[". */
static int parse_index(struct parser *p, struct oql_expr *a, struct oql_expr **out)
{
	struct oql_expr *e = make(p, OQL_INDEX, ahead(p, 0)->at);
	int r;

	if (!e)
		return HDB_ELIMIT;
	e->a = a;
	r = parse_additive(p, &e->b);
	if (r == HDB_OK && take_sign(p, ':')) {
		e->kind = OQL_SLICE;
		r = parse_additive(p, &e->c);
	}
	if (r == HDB_OK)
		r = expect_sign(p, ']', e->kind == OQL_SLICE ? "\"]\"" : "\"]\" or \":\"");
	*out = e;
	return r < 0 ? r : seal(p, e);
}

static int parse_steps(struct parser *p, struct oql_expr **out)
{
	int r = parse_primary(p, out);

	while (r == HDB_OK) {
		if (take_sign(p, '.'))
			r = parse_dot(p, *out, out);
		else if (take_sign(p, '['))
			r = parse_index(p, *out, out);
		else
			break;
	}
	return r;
}

/* ---- operators ---- */

static bool is_number(const struct oql_token *t)
{
	return t->kind == OQL_T_INT || t->kind == OQL_T_LONG || t->kind == OQL_T_FLOAT ||
	       t->kind == OQL_T_DOUBLE;
}

static int parse_unary(struct parser *p, struct oql_expr **out)
{
	const size_t at = ahead(p, 0)->at;
	struct oql_expr *parts[2] = { NULL, NULL };
	int r = enter(p);

	if (r < 0)
		return r;
	if (is_sign(p, 0, '-') && is_number(ahead(p, 1))) {
		p->at++;
		r = parse_number(p, true, out);
	} else if (take_sign(p, '-')) {
		r = parse_unary(p, &parts[0]);
		if (r == HDB_OK)
			r = join(p, OQL_NEGATE, at, parts, out);
	} else if (take_sign(p, '+')) {
		r = parse_unary(p, out);
	} else {
		r = parse_steps(p, out);
	}
	p->depth--;
	return r;
}

static int parse_multiplicative(struct parser *p, struct oql_expr **out)
{
	int r = parse_unary(p, out);

	while (r == HDB_OK && (is_sign(p, 0, '*') || is_sign(p, 0, '/'))) {
		const enum oql_kind kind = is_sign(p, 0, '*') ? OQL_MULTIPLY : OQL_DIVIDE;
		const size_t at = ahead(p, 0)->at;
		struct oql_expr *parts[2] = { *out, NULL };

		p->at++;
		r = parse_unary(p, &parts[1]);
		if (r == HDB_OK)
			r = join(p, kind, at, parts, out);
	}
	return r;
}

static int parse_additive(struct parser *p, struct oql_expr **out)
{
	int r = parse_multiplicative(p, out);

	while (r == HDB_OK && (is_sign(p, 0, '+') || is_sign(p, 0, '-'))) {
		const enum oql_kind kind = is_sign(p, 0, '+') ? OQL_ADD : OQL_SUBTRACT;
		const size_t at = ahead(p, 0)->at;
		struct oql_expr *parts[2] = { *out, NULL };

		p->at++;
		r = parse_multiplicative(p, &parts[1]);
		if (r == HDB_OK)
			r = join(p, kind, at, parts, out);
	}
	return r;
}

/* "java.lang.String[]", after whatever stands before it. */
static int parse_class_name(struct parser *p, struct oql_str *name)
{
	const struct oql_token *first = ahead(p, 0), *last = first;
	char *copy;

	if (first->kind != OQL_T_NAME)
		return expected(p, "the name of a class");
	p->at++;
	while (is_sign(p, 0, '.') && ahead(p, 1)->kind == OQL_T_NAME) {
		last = ahead(p, 1);
		p->at += 2;
	}
	while (is_sign(p, 0, '[') && is_sign(p, 1, ']')) {
		last = ahead(p, 1);
		p->at += 2;
	}
	/* without the blanks and comments that may stand between */
	copy = oql_take(p->arena, last->at + last->text.size - first->at + 1, 1, p->err);
	if (!copy)
		return HDB_ELIMIT;
	name->data = copy;
	name->size = 0;
	for (const struct oql_token *t = first; t <= last; t++) {
		memcpy(copy + name->size, t->text.data, t->text.size);
		name->size += t->text.size;
	}
	return HDB_OK;
}

/* Takes the relation that comes next; false: there is none. */
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
	int r = parse_additive(p, out);

	while (r == HDB_OK) {
		const size_t at = ahead(p, 0)->at;
		struct oql_expr *parts[2] = { *out, NULL };
		struct oql_str name = { 0 };

		if (!take_relation(p, &kind))
			break;
		if (kind == OQL_IMPLEMENTS)
			r = parse_class_name(p, &name);
		else
			r = parse_additive(p, &parts[1]);
		if (r == HDB_OK)
			r = join(p, kind, at, parts, out);
		if (r == HDB_OK)
			(*out)->name = name;
	}
	return r;
}

static int parse_equality(struct parser *p, struct oql_expr **out)
{
	int r = parse_relation(p, out);

	while (r == HDB_OK && (is_sign(p, 0, '=') || ahead(p, 0)->kind == OQL_T_NE)) {
		const enum oql_kind kind = is_sign(p, 0, '=') ? OQL_EQUAL : OQL_NOT_EQUAL;
		const size_t at = ahead(p, 0)->at;
		struct oql_expr *parts[2] = { *out, NULL };

		p->at++;
		r = parse_relation(p, &parts[1]);
		if (r == HDB_OK)
			r = join(p, kind, at, parts, out);
	}
	return r;
}

/* "a AND b AND c" as one node, however many there are. */
static int parse_all(struct parser *p, const char *word, struct oql_expr **out)
{
	const bool is_and = word[0] == 'a';
	const size_t at = ahead(p, 0)->at;
	struct list list = { 0 };
	struct oql_expr *e;
	int r;

	do {
		r = is_and ? parse_equality(p, &e) : parse_all(p, "and", &e);
		if (r == HDB_OK)
			r = list_add(p, &list, e);
	} while (r == HDB_OK && take_word(p, word));
	if (r < 0)
		return r;
	*out = e;
	if (list.count == 1)
		return HDB_OK;
	e = make(p, is_and ? OQL_AND : OQL_OR, at);
	if (!e)
		return HDB_ELIMIT;
	e->args = list.items;
	e->arg_count = list.count;
	*out = e;
	return seal(p, e);
}

static int parse_or(struct parser *p, struct oql_expr **out)
{
	int r = enter(p);

	if (r == HDB_OK)
		r = parse_all(p, "or", out);
	p->depth--;
	return r;
}

/* ---- SELECT ---- */

/* Whether the word is a modifier here, and not the first name of what is selected. */
static bool is_modifier(const struct parser *p, const char *word)
{
	return is_word(p, 0, word) && !is_word(p, 1, "from") && !is_sign(p, 1, ',') &&
	       !is_sign(p, 1, '.') && !is_sign(p, 1, '[') && ahead(p, 1)->kind != OQL_T_END &&
	       (!is_word(p, 1, "as") || is_word(p, 2, "retained"));
}

static int parse_item(struct parser *p, struct oql_item *item)
{
	const struct oql_token *t;
	int r = parse_additive(p, &item->expr);

	if (r < 0 || !take_word(p, "as"))
		return r;
	t = ahead(p, 0);
	if (t->kind != OQL_T_NAME && t->kind != OQL_T_STRING)
		return expected(p, "a name or a \"string\" after AS");
	item->alias = t->text;
	p->at++;
	return HDB_OK;
}

static int parse_items(struct parser *p, struct oql_select *select)
{
	size_t room = 0;
	int r = HDB_OK;

	do {
		if (select->item_count == OQL_ITEMS_MAX)
			return too_many(p, "columns");
		if (select->item_count == room) {
			struct oql_item *items;

			room = room ? room * 2 : 8;
			items = oql_take(p->arena, room, sizeof(items[0]), p->err);
			if (!items)
				return HDB_ELIMIT;
			if (select->item_count)
				memcpy(items, select->items, select->item_count * sizeof(items[0]));
			select->items = items;
		}
		r = parse_item(p, &select->items[select->item_count++]);
	} while (r == HDB_OK && take_sign(p, ','));
	return r;
}

static int parse_numbers(struct parser *p, struct oql_from *from)
{
	const enum oql_token_kind kind = ahead(p, 0)->kind;
	size_t room = 0;

	from->kind = kind == OQL_T_HEX ? OQL_FROM_ADDRESSES : OQL_FROM_IDS;
	do {
		if (ahead(p, 0)->kind != kind)
			return expected(p, kind == OQL_T_HEX ? "an address" : "an object's number");
		if (from->number_count == room) {
			uint64_t *numbers;

			room = room ? room * 2 : 8;
			numbers = oql_take(p->arena, room, sizeof(numbers[0]), p->err);
			if (!numbers)
				return HDB_ELIMIT;
			if (from->number_count)
				memcpy(numbers, from->numbers,
				       from->number_count * sizeof(numbers[0]));
			from->numbers = numbers;
		}
		from->numbers[from->number_count++] = ahead(p, 0)->i;
		p->at++;
	} while (take_sign(p, ','));
	return HDB_OK;
}

static int parse_from_parentheses(struct parser *p, struct oql_from *from)
{
	const bool is_select = is_word(p, 0, "select");
	int r;

	from->kind = is_select ? OQL_FROM_SELECT : OQL_FROM_VALUE;
	r = is_select ? parse_select(p, &from->select) : parse_or(p, &from->expr);
	return r < 0 ? r : expect_sign(p, ')', "\")\"");
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
		from->kind = OQL_FROM_VALUE;
		return parse_steps(p, &from->expr);
	case OQL_T_NAME:
		from->kind = OQL_FROM_CLASS;
		return parse_class_name(p, &from->name);
	default:
		if (take_sign(p, '('))
			return parse_from_parentheses(p, from);
		return expected(p, "a class, \"a pattern\", an address, an object's number, "
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
	if (r < 0)
		return r;
	if (from->kind == OQL_FROM_CLASS && is_sign(p, 0, '('))
		return oql_fail_at(p->text, from->at, p->err,
				   "an expression after FROM stands in parentheses: ( %.*s(...) )",
				   (int)(from->name.size < SHOWN_MAX ? from->name.size : SHOWN_MAX),
				   from->name.data);
	if (is_word(p, 0, "as"))
		p->at++;
	else if (ahead(p, 0)->kind != OQL_T_NAME || starts_clause(p))
		return HDB_OK;
	if (ahead(p, 0)->kind != OQL_T_NAME)
		return expected(p, "a name for the row's object");
	from->alias = ahead(p, 0)->text;
	p->at++;
	return HDB_OK;
}

static int parse_groups(struct parser *p, struct oql_select *select)
{
	struct list list = { 0 };
	struct oql_expr *e;
	int r;

	p->select = NULL;
	do {
		if (list.count == OQL_ITEMS_MAX)
			return too_many(p, "keys of GROUP BY");
		r = parse_additive(p, &e);
		if (r == HDB_OK)
			r = list_add(p, &list, e);
	} while (r == HDB_OK && take_sign(p, ','));
	p->select = select;
	select->groups = list.items;
	select->group_count = list.count;
	select->has_groups = true;
	return r;
}

static int parse_orders(struct parser *p, struct oql_select *select)
{
	size_t room = 0;
	int r = HDB_OK;

	do {
		struct oql_order *order;

		if (select->order_count == OQL_ITEMS_MAX)
			return too_many(p, "keys of ORDER BY");
		if (select->order_count == room) {
			struct oql_order *orders;

			room = room ? room * 2 : 4;
			orders = oql_take(p->arena, room, sizeof(orders[0]), p->err);
			if (!orders)
				return HDB_ELIMIT;
			if (select->order_count)
				memcpy(orders, select->orders,
				       select->order_count * sizeof(orders[0]));
			select->orders = orders;
		}
		order = &select->orders[select->order_count++];
		r = parse_additive(p, &order->expr);
		if (r == HDB_OK && take_word(p, "desc"))
			order->is_descending = true;
		else if (r == HDB_OK)
			take_word(p, "asc");
	} while (r == HDB_OK && take_sign(p, ','));
	return r;
}

static int parse_count(struct parser *p, const char *what, uint64_t *out)
{
	if (ahead(p, 0)->kind != OQL_T_INT && ahead(p, 0)->kind != OQL_T_LONG)
		return expected(p, what);
	*out = ahead(p, 0)->i;
	p->at++;
	return HDB_OK;
}

static int parse_unions(struct parser *p, struct oql_select *first)
{
	struct oql_select *last = first;
	int r = HDB_OK;

	while (r == HDB_OK && is_word(p, 0, "union")) {
		const size_t at = ahead(p, 0)->at;

		p->at++;
		r = expect_sign(p, '(', "\"(\" and a SELECT after UNION");
		if (r == HDB_OK && !is_word(p, 0, "select"))
			r = expected(p, "SELECT");
		p->select = NULL;
		if (r == HDB_OK)
			r = parse_select(p, &last->next);
		p->select = first;
		if (r == HDB_OK)
			r = expect_sign(p, ')', "\")\" at the end of the SELECT");
		if (r == HDB_OK && (last->next->order_count || last->next->has_limit))
			r = oql_fail_at(p->text, at, p->err,
					"ORDER BY and LIMIT stand behind the last SELECT of a "
					"UNION");
		while (r == HDB_OK && last->next)
			last = last->next;
	}
	return r;
}

/* What follows FROM. */
static int parse_clauses(struct parser *p, struct oql_select *select)
{
	int r = HDB_OK;

	if (take_word(p, "where")) {
		p->select = NULL;
		r = parse_or(p, &select->where);
		p->select = select;
	}
	if (r == HDB_OK && is_word(p, 0, "group") && is_word(p, 1, "by")) {
		p->at += 2;
		r = parse_groups(p, select);
	}
	if (r == HDB_OK)
		r = parse_unions(p, select);
	if (r == HDB_OK && is_word(p, 0, "order") && is_word(p, 1, "by")) {
		p->at += 2;
		r = parse_orders(p, select);
	}
	if (r == HDB_OK && take_word(p, "limit")) {
		select->has_limit = true;
		r = parse_count(p, "a number of rows after LIMIT", &select->limit);
		if (r == HDB_OK && take_word(p, "offset"))
			r = parse_count(p, "a number of rows after OFFSET", &select->offset);
	}
	return r;
}

static int parse_head(struct parser *p, struct oql_select *select)
{
	select->at = ahead(p, 0)->at;
	if (!take_word(p, "select"))
		return expected(p, "SELECT");
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
		return too_deep(p, select->at);
	if (select->has_groups && (select->is_star || select->is_objects))
		return oql_fail_at(p->text, select->at, p->err,
				   "with GROUP BY columns are selected, not * or OBJECTS");
	if (select->has_groups && (select->is_distinct || select->is_retained))
		return oql_fail_at(p->text, select->at, p->err,
				   "groups are neither DISTINCT nor AS RETAINED SET");
	return HDB_OK;
}

static int parse_select(struct parser *p, struct oql_select **out)
{
	struct oql_select *outer = p->select, *select;
	int r = enter(p);

	if (r < 0)
		return r;
	select = oql_take(p->arena, 1, sizeof(*select), p->err);
	if (!select)
		return HDB_ELIMIT;
	*out = p->select = select;
	r = parse_head(p, select);
	if (r == HDB_OK && !take_word(p, "from"))
		r = expected(p, "FROM");
	if (r == HDB_OK)
		r = parse_from(p, &select->from);
	if (r == HDB_OK)
		r = parse_clauses(p, select);
	if (r == HDB_OK)
		r = check_select(p, select);
	p->select = outer;
	p->depth--;
	return r;
}

int oql_parse(const char *text, size_t size, struct oql_arena *arena, struct oql_select **out,
	      struct hdb_error *err)
{
	struct parser p = { .text = text, .arena = arena, .err = err };
	int r = oql_lex(text, size, arena, &p.tokens, &p.count, err);

	if (r == HDB_OK)
		r = parse_select(&p, out);
	if (r == HDB_OK && ahead(&p, 0)->kind != OQL_T_END)
		r = expected(&p, "the end of the statement");
	if (r == HDB_OK)
		oql_find_free(*out);
	return r;
}
