/* base/expression.c - parses expressions into nodes, and evaluates nodes. */
#include "base/expression.h"

#include "base/error.h"
#include "base/glob.h"
#include "base/try.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>

/* Maximum depth of nested parentheses and functions. */
#define DEPTH_MAX 16
/* Maximum number of digits before the decimal point. */
#define DIGITS_MAX 18

static const char *const signs[] = {
	[BASE_AT_LEAST] = ">=", [BASE_AT_MOST] = "<=", [BASE_EQUAL] = "==", [BASE_UNEQUAL] = "!=",
	[BASE_ABOVE] = ">",     [BASE_BELOW] = "<",    [BASE_LIKE] = "~",   [BASE_OR] = "or ",
	[BASE_AND] = "and ",    [BASE_PLUS] = "+",     [BASE_MINUS] = "-",  [BASE_TIMES] = "*",
	[BASE_DIVIDED] = "/",
};

/* ---- parsing ---- */

struct parse {
	const struct base_grammar *grammar;
	const char *at, *end;
	struct base_vec *nodes;
	size_t nodes_max; /* limit for nodes->count */
	unsigned depth;
	bool has_begun; /* whether a part of the expression has been parsed */
	bool is_within; /* whether the text is an argument of a function */
	struct hdb_error *err;
};

static int expression(struct parse *p, uint32_t *out);

static int expected(const struct parse *p, const char *wanted)
{
	const size_t left = (size_t)(p->end - p->at);

	return hdb_fail(p->err, HDB_EUSAGE, "expected %s at \"%.*s\"", wanted,
			(int)(left < 40 ? left : 40), p->at);
}

/* Skips blanks, and then `text` if it follows. */
static bool take(struct parse *p, const char *text)
{
	const size_t size = strlen(text);

	while (p->at < p->end && isspace((unsigned char)*p->at))
		p->at++;
	if ((size_t)(p->end - p->at) < size || memcmp(p->at, text, size) != 0)
		return false;
	p->at += size;
	return true;
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static char next_char(const struct parse *p)
{
	return p->at < p->end ? *p->at : '\0';
}

static int add(struct parse *p, struct base_node node, uint32_t *out)
{
	if (p->nodes->count >= p->nodes_max)
		return expected(p, "a shorter expression");
	*out = (uint32_t)p->nodes->count;
	return base_vec_push(p->nodes, &node, sizeof(node), p->err);
}

/* Parses a unit. Returns its power of 1,024, or 1 if no unit follows. */
static double unit(struct parse *p)
{
	static const char units[] = "KMGT";
	const char *found = next_char(p) ? strchr(units, toupper((unsigned char)*p->at)) : NULL;
	double factor = 1;

	for (const char *u = units; found && u <= found; u++)
		factor *= 1024;
	if (found) {
		p->at++;
		if (next_char(p) == 'i')
			p->at++;
	}
	if (next_char(p) == 'B')
		p->at++;
	return factor;
}

static int number(struct parse *p, bool is_negative, uint32_t *out)
{
	struct base_node node = { .kind = BASE_NODE_NUMBER };
	const char *start = p->at;
	double scale = 1;

	while (isdigit((unsigned char)next_char(p)))
		node.number = node.number * 10 + (*p->at++ - '0');
	if (p->at == start)
		return expected(p, "a number");
	if (p->at - start > DIGITS_MAX) {
		p->at = start;
		return expected(p, "a number of at most 18 digits");
	}
	if (p->end - p->at > 1 && *p->at == '.' && isdigit((unsigned char)p->at[1]))
		for (p->at++; isdigit((unsigned char)next_char(p)); p->at++)
			node.number += (*p->at - '0') * (scale /= 10);
	if (is_negative)
		node.number = -node.number;
	node.is_percent = (p->grammar->is_condition || p->grammar->has_percent) && take(p, "%");
	if (!node.is_percent)
		node.number *= unit(p);
	return add(p, node, out);
}

/* Parses a string whose opening quote has been read. */
static int quoted(struct parse *p, struct base_word *out)
{
	const char *end = memchr(p->at, '\'', (size_t)(p->end - p->at));

	if (!end || end - p->at >= BASE_WORD_MAX)
		return expected(p, "a string of at most 199 bytes, ending in \"'\"");
	*out = (struct base_word){ p->at, (size_t)(end - p->at) };
	p->at = end + 1;
	return HDB_OK;
}

/* Parses names separated by "." and "|". The result is empty if no name follows. */
static int path(struct parse *p, struct base_word *out)
{
	*out = (struct base_word){ p->at, 0 };
	while (is_name_char(next_char(p)) ||
	       (p->at > out->text && (next_char(p) == '.' || next_char(p) == '|')))
		p->at++;
	out->size = (size_t)(p->at - out->text);
	return out->size < BASE_WORD_MAX ? HDB_OK : expected(p, "a shorter path");
}

static const struct base_function *find_function(const struct parse *p, struct base_word name,
						 bool has_text)
{
	for (size_t i = 0; i < p->grammar->function_count; i++) {
		const struct base_function *f = &p->grammar->functions[i];

		if (base_is_word(name, f->name) &&
		    has_text == (f->takes == BASE_TAKES_TEXT || f->takes == BASE_TAKES_EXPRESSION))
			return f;
	}
	return NULL;
}

static int characters(struct parse *p, struct base_word *out)
{
	const char *end;

	(void)take(p, "");
	end = memchr(p->at, ')', (size_t)(p->end - p->at));
	if (!end)
		return expected(p, "\")\"");
	*out = (struct base_word){ p->at, (size_t)(end - p->at) };
	while (out->size && isspace((unsigned char)out->text[out->size - 1]))
		out->size--;
	p->at = end;
	/* Conditions contain class names as characters, which are not evaluated. */
	return p->grammar->is_condition || out->size < BASE_WORD_MAX ?
		       HDB_OK :
		       expected(p, "a shorter path before");
}

/* Parses the second argument, after the comma. */
static int second(struct parse *p, const struct base_function *f, struct base_node *call)
{
	struct parse inner = *p;

	if (!take(p, "'"))
		return expected(p, "a string and \")\"");
	TRY(quoted(p, &call->word));
	if (p->is_within)
		return expected(p, "a function with one argument inside another function");
	if (f->takes != BASE_TAKES_EXPRESSION)
		return HDB_OK;
	inner.at = call->word.text;
	inner.end = inner.at + call->word.size;
	inner.is_within = true;
	TRY(expression(&inner, &call->right));
	(void)take(&inner, "");
	return inner.at == inner.end ? HDB_OK : expected(&inner, "the end of the expression");
}

/* Parses fields after a function or a parenthesis: ".name.other". */
static int suffix(struct parse *p, uint32_t *out)
{
	struct base_node node = { .kind = BASE_NODE_PATH, .left = *out };

	if (p->end - p->at < 2 || *p->at != '.' || !is_name_char(p->at[1]))
		return HDB_OK;
	p->at++;
	TRY(path(p, &node.word));
	return add(p, node, out);
}

/* Parses the rest of NAME(...) after the opening parenthesis, and the fields that follow it. */
static int call(struct parse *p, struct base_word name, uint32_t *out)
{
	struct base_node node = { .kind = BASE_NODE_CALL,
				  .left = BASE_NO_NODE,
				  .right = BASE_NO_NODE };
	const struct base_function *f = find_function(p, name, false);

	if (f && f->takes == BASE_TAKES_RAW)
		TRY(characters(p, &node.word));
	else
		TRY(expression(p, &node.left));
	if (take(p, ",")) {
		f = find_function(p, name, true);
		if (!f)
			return hdb_fail(p->err, HDB_EUSAGE,
					"unknown function \"%.*s\" with two arguments",
					(int)name.size, name.text);
		TRY(second(p, f, &node));
	}
	if (!take(p, ")"))
		return expected(p, "\")\"");
	if (!f)
		return hdb_fail(p->err, HDB_EUSAGE, "unknown function \"%.*s\"", (int)name.size,
				name.text);
	node.function = (uint16_t)(f - p->grammar->functions);
	TRY(add(p, node, out));
	return suffix(p, out);
}

static int factor(struct parse *p, uint32_t *out)
{
	const char *wanted = p->has_begun ? p->grammar->operand : p->grammar->first;
	struct base_node node = { .kind = BASE_NODE_PATH, .left = BASE_NO_NODE };
	const char *before;

	p->has_begun = true;
	if (take(p, "(")) {
		TRY(expression(p, out));
		return take(p, ")") ? suffix(p, out) : expected(p, "\")\"");
	}
	if (take(p, "'")) {
		node.kind = BASE_NODE_TEXT;
		TRY(quoted(p, &node.word));
		return add(p, node, out);
	}
	if (isdigit((unsigned char)next_char(p)))
		return number(p, false, out);
	before = p->at;
	if (take(p, "-")) {
		(void)take(p, "");
		if (isdigit((unsigned char)next_char(p)))
			return number(p, true, out);
		p->at = before;
	}
	TRY(path(p, &node.word));
	if (!node.word.size)
		return expected(p, wanted);
	if (p->grammar->is_condition && !find_function(p, node.word, false)) {
		p->at = before;
		return expected(p, wanted);
	}
	before = p->at;
	if (take(p, "("))
		return call(p, node.word, out);
	p->at = before;
	return p->grammar->is_condition ? expected(p, "\"(\"") : add(p, node, out);
}

/* Parses an operand and joins it to *out with a sign. */
static int connect_next(struct parse *p, enum base_sign sign,
			int (*part)(struct parse *p, uint32_t *out), uint32_t *out)
{
	struct base_node node = { .kind = BASE_NODE_SIGN, .sign = (uint8_t)sign, .left = *out };

	TRY(part(p, &node.right));
	return add(p, node, out);
}

/* Parses a left-associative sequence of operands joined by either of two signs. */
static int connect_all(struct parse *p, enum base_sign one, enum base_sign other,
		       int (*part)(struct parse *p, uint32_t *out), uint32_t *out)
{
	TRY(part(p, out));
	for (;;) {
		if (take(p, signs[one]))
			TRY(connect_next(p, one, part, out));
		else if (take(p, signs[other]))
			TRY(connect_next(p, other, part, out));
		else
			return HDB_OK;
	}
}

static int product(struct parse *p, uint32_t *out)
{
	return connect_all(p, BASE_TIMES, BASE_DIVIDED, factor, out);
}

static int sum(struct parse *p, uint32_t *out)
{
	return connect_all(p, BASE_PLUS, BASE_MINUS, product, out);
}

static int comparison(struct parse *p, uint32_t *out)
{
	TRY(sum(p, out));
	for (unsigned sign = BASE_AT_LEAST; sign <= BASE_LIKE; sign++)
		if (take(p, signs[sign]))
			return connect_next(p, (enum base_sign)sign, sum, out);
	return HDB_OK;
}

static int all(struct parse *p, uint32_t *out)
{
	return connect_all(p, BASE_AND, BASE_AND, comparison, out);
}

static int expression(struct parse *p, uint32_t *out)
{
	if (++p->depth > DEPTH_MAX)
		return expected(p, "fewer parentheses");
	TRY(connect_all(p, BASE_OR, BASE_OR, all, out));
	p->depth--;
	return HDB_OK;
}

int base_expression_parse(const struct base_grammar *grammar, struct base_word text,
			  struct base_vec *nodes, uint32_t *out, struct hdb_error *err)
{
	struct parse p = { .grammar = grammar,
			   .at = text.text,
			   .end = text.text + text.size,
			   .nodes = nodes,
			   .nodes_max = nodes->count + BASE_EXPRESSION_NODES_MAX,
			   .err = err };
	const struct base_node *root;

	TRY(expression(&p, out));
	(void)take(&p, "");
	root = base_vec_at(nodes, struct base_node, *out);
	if (grammar->is_condition && (root->kind != BASE_NODE_SIGN || root->sign >= BASE_LIKE))
		return expected(&p, "one of > >= < <= == !=");
	return p.at == p.end ? HDB_OK : expected(&p, "the end of the expression");
}

/* ---- values ---- */

void base_value_set_number(struct base_value *out, double value)
{
	out->kind = BASE_NUMBER;
	out->number = value;
}

void base_value_set_text(struct base_value *out, const char *text)
{
	out->kind = BASE_STRING;
	(void)snprintf(out->text, sizeof(out->text), "%s", text);
}

/* Replaces *left with the result of left SIGN right, which is "nothing" unless both are numbers. */
static void combine(struct base_value *left, enum base_sign sign, const struct base_value *right)
{
	if (left->kind != BASE_NUMBER || right->kind != BASE_NUMBER ||
	    (sign == BASE_DIVIDED && right->number == 0)) {
		left->kind = BASE_NOTHING;
		return;
	}
	left->number = sign == BASE_PLUS  ? left->number + right->number :
		       sign == BASE_MINUS ? left->number - right->number :
		       sign == BASE_TIMES ? left->number * right->number :
					    left->number / right->number;
}

bool base_number_holds(double left, enum base_sign sign, double right)
{
	return sign == BASE_AT_LEAST ? left >= right :
	       sign == BASE_AT_MOST  ? left <= right :
	       sign == BASE_EQUAL    ? left == right :
	       sign == BASE_UNEQUAL  ? left != right :
	       sign == BASE_ABOVE    ? left > right :
				       left < right;
}

static bool holds(const struct base_value *left, enum base_sign sign,
		  const struct base_value *right)
{
	double order;

	if (left->kind != right->kind || left->kind < BASE_NUMBER)
		return false;
	if (sign == BASE_LIKE)
		return left->kind == BASE_STRING && base_glob_list(right->text, left->text);
	order = left->kind == BASE_STRING ? (double)strcmp(left->text, right->text) :
		left->kind == BASE_OBJECT ? (double)left->object - (double)right->object :
					    left->number - right->number;
	return base_number_holds(order, sign, 0);
}

static int evaluate_sign(const struct base_evaluator *e, const struct base_node *node,
			 struct base_value *out, struct hdb_error *err)
{
	const enum base_sign sign = (enum base_sign)node->sign;
	struct base_value right;
	bool is_true;

	TRY(base_expression_evaluate(e, node->left, out, err));
	is_true = base_value_is_true(out);
	if ((sign == BASE_OR && is_true) || (sign == BASE_AND && !is_true)) {
		base_value_set_number(out, is_true);
		return HDB_OK;
	}
	TRY(base_expression_evaluate(e, node->right, &right, err));
	if (sign == BASE_OR || sign == BASE_AND)
		base_value_set_number(out, base_value_is_true(&right));
	else if (sign <= BASE_LIKE)
		base_value_set_number(out, holds(out, sign, &right));
	else
		combine(out, sign, &right);
	return HDB_OK;
}

int base_expression_evaluate(const struct base_evaluator *e, uint32_t expression_no,
			     struct base_value *out, struct hdb_error *err)
{
	const struct base_node *node = base_vec_at(e->nodes, struct base_node, expression_no);
	struct base_value value; /* not initialised, because it contains a large buffer */
	char text[BASE_WORD_MAX];

	assert(expression_no < e->nodes->count && node->word.size < BASE_WORD_MAX);
	out->kind = value.kind = BASE_NOTHING;
	if (node->kind == BASE_NODE_NUMBER) {
		base_value_set_number(out, node->number);
		return HDB_OK;
	}
	if (node->kind == BASE_NODE_SIGN)
		return evaluate_sign(e, node, out, err);
	memcpy(text, node->word.text ? node->word.text : "", node->word.size);
	text[node->word.size] = '\0';
	if (node->kind == BASE_NODE_TEXT) {
		base_value_set_text(out, text);
		return HDB_OK;
	}
	if (node->left != BASE_NO_NODE)
		TRY(base_expression_evaluate(e, node->left, &value, err));
	if (node->kind == BASE_NODE_CALL)
		return e->call(e->ctx, node->function,
			       &(struct base_arguments){ &value, text, node->right }, out, err);
	if (node->left != BASE_NO_NODE && value.kind != BASE_OBJECT)
		return HDB_OK;
	return e->path(e->ctx, node->left == BASE_NO_NODE ? NULL : &value, text, out, err);
}
