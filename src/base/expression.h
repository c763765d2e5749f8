/*
 * base/expression.h - the expressions of rules and conditions: one parser for all of them.
 *
 *	expression  all { "or" all }
 *	all         comparison { "and" comparison }
 *	comparison  sum [ SIGN sum ]                SIGN: >= <= == != > < ~
 *	sum         product { ("+" | "-") product }
 *	product     factor { ("*" | "/") factor }
 *	factor      NUMBER | 'text' | path | call [ "." path ] | "(" expression ")" [ "." path ]
 *	call        NAME "(" expression [ "," 'text' ] ")"
 *	NUMBER      [ "-" ] digits [ "." digits ] [ "%" | unit ]
 *
 * A unit is K, M, G or T, powers of 1,024; "iB" or "B" may follow. A path is names with "." or "|"
 * between. What paths and functions mean is the caller's business: base/ knows no heaps.
 *
 * A text is parsed once, into nodes that point into it, and evaluated as often as needed. Values
 * that do not exist (a field of another version, a null) are "nothing": arithmetic with nothing is
 * nothing, and comparisons with it do not hold.
 */
#ifndef BASE_EXPRESSION_H
#define BASE_EXPRESSION_H

#include "base/vec.h"

#include <stdbool.h>
#include <string.h>

/* Bytes of a text that is a value; longer ones are cut. */
#define BASE_VALUE_MAX 512
/* Bytes of a text or a path that is written in an expression. */
#define BASE_WORD_MAX 200
/* Nodes of one expression: evaluating nests no deeper. */
#define BASE_EXPRESSION_NODES_MAX 128u

enum base_value_kind { BASE_NOTHING, BASE_NUMBER, BASE_STRING, BASE_OBJECT };

struct base_value {
	enum base_value_kind kind;
	double number;
	uint32_t object; /* whatever number the caller gives objects */
	char text[BASE_VALUE_MAX];
};

void base_value_set_number(struct base_value *out, double number);
void base_value_set_text(struct base_value *out, const char *text);

/* Whether a value is a number other than 0: conditions are 1 or 0. */
static inline bool base_value_is_true(const struct base_value *value)
{
	return value->kind == BASE_NUMBER && value->number != 0;
}

/* A name within a text: not terminated. */
struct base_word {
	const char *text;
	size_t size;
};

static inline bool base_is_word(struct base_word word, const char *name)
{
	return strlen(name) == word.size && memcmp(name, word.text, word.size) == 0;
}

/* What stands in the parentheses of a function. */
enum base_takes {
	BASE_TAKES_VALUE,
	BASE_TAKES_TEXT,       /* a value and a text */
	BASE_TAKES_EXPRESSION, /* a value and a text that is an expression, about other objects */
	BASE_TAKES_RAW         /* characters up to the next ")", as they are */
};

struct base_function {
	const char *name;
	enum base_takes takes;
};

/* What a user of expressions understands. */
struct base_grammar {
	const struct base_function *functions;
	size_t function_count;
	const char *first, *operand; /* for messages: what is expected first, and after a sign */
	/* an expression is a comparison, and numbers may be percentages */
	bool is_condition;
};

enum base_sign {
	BASE_AT_LEAST,
	BASE_AT_MOST,
	BASE_EQUAL,
	BASE_UNEQUAL,
	BASE_ABOVE,
	BASE_BELOW,
	BASE_LIKE, /* a text matches patterns with commas between */
	BASE_OR,
	BASE_AND,
	BASE_PLUS,
	BASE_MINUS,
	BASE_TIMES,
	BASE_DIVIDED
};

/* Whether a comparison of numbers holds. */
bool base_number_holds(double left, enum base_sign sign, double right);

enum base_node_kind {
	BASE_NODE_NUMBER,
	BASE_NODE_TEXT,
	BASE_NODE_PATH,
	BASE_NODE_CALL,
	BASE_NODE_SIGN
};

/* A part of an expression; others are named by their place in the vector of nodes. */
struct base_node {
	uint8_t kind;          /* enum base_node_kind */
	uint8_t sign;          /* enum base_sign */
	uint16_t function;     /* of a call: its place in the grammar */
	bool is_percent;       /* of a number */
	uint32_t left;         /* of a path: the object it begins at; of a call: its value */
	uint32_t right;        /* of a call: the expression that its text is */
	struct base_word word; /* a text, a path, a call's text or characters */
	double number;
};
#define BASE_NO_NODE UINT32_MAX

static inline struct base_word base_word(const char *text)
{
	return (struct base_word){ text, strlen(text) };
}

/*
 * Parses a text, which the nodes lend: adds to `nodes` (struct base_node) and sets *out to the
 * expression's place there. HDB_EUSAGE with what was expected and where.
 */
int base_expression_parse(const struct base_grammar *grammar, struct base_word text,
			  struct base_vec *nodes, uint32_t *out, struct hdb_error *err);

/* What a function is called with. */
struct base_arguments {
	const struct base_value *value;
	const char *text;    /* the second argument; "" */
	uint32_t expression; /* what that text is, BASE_NO_NODE */
};

/* What paths and functions of an evaluation are; values are BASE_NOTHING when they are called. */
struct base_evaluator {
	const struct base_vec *nodes;
	/* the value of a path, terminated; from an object, or NULL: what the expression is about */
	int (*path)(void *ctx, const struct base_value *from, const char *path,
		    struct base_value *out, struct hdb_error *err);
	/* what a function of the grammar, by its place there, returns */
	int (*call)(void *ctx, unsigned function, const struct base_arguments *arguments,
		    struct base_value *out, struct hdb_error *err);
	void *ctx;
};

int base_expression_evaluate(const struct base_evaluator *evaluator, uint32_t expression,
			     struct base_value *out, struct hdb_error *err);

#endif
