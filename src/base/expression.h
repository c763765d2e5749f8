/*
 * base/expression.h - the expressions of rules and conditions: one parser for all of them.
 *
 * expression  all { "or" all } all         comparison { "and" comparison } comparison  sum [ SIGN
 * sum ]                SIGN: >= <= == != > < ~ sum         product { ("+" | "-") product } product
 * factor { ("*" | "/") factor } factor      NUMBER | 'text' | path | call [ "." path ] | "("
 * expression ")" [ "." path ] call        NAME "(" expression [ "," 'text' ] ")" NUMBER      [ "-"
 * ] digits [ "." digits ] [ "%" | unit ]
 *
 * A unit is K, M, G or T, a power of 1,024; "iB" or "B" may follow. A path consists of names
 * separated by "." or "|". The caller decides what paths and functions mean; this file knows
 * nothing about heaps.
 *
 * An expression is parsed once, into nodes that point into its text, and evaluated as often as
 * needed. A value that does not exist (a field of another version, a null) is "nothing": arithmetic
 * with nothing gives nothing, and comparisons with it are false.
 */
#ifndef BASE_EXPRESSION_H
#define BASE_EXPRESSION_H

#include "base/vec.h"

#include <stdbool.h>
#include <string.h>

/* Maximum number of bytes in a string value. Longer strings are truncated. */
#define BASE_VALUE_MAX 512
/* Maximum number of bytes in a string or path in an expression. */
#define BASE_WORD_MAX 200
/* Maximum number of nodes of an expression, which bounds the depth of its evaluation. */
#define BASE_EXPRESSION_NODES_MAX 128u

/* BASE_REMOVED is a value that exists but is unknown. It compares like BASE_NOTHING. */
enum base_value_kind { BASE_NOTHING, BASE_REMOVED, BASE_NUMBER, BASE_STRING, BASE_OBJECT };

/* A value returned by an expression, path or function. */
struct base_value {
	enum base_value_kind kind;
	double number;
	uint32_t object; /* the caller's number for an object */
	char text[BASE_VALUE_MAX];
};

void base_value_set_number(struct base_value *out, double number);
void base_value_set_text(struct base_value *out, const char *text);

/* Returns whether a value is a number other than 0. Comparisons return 1 or 0. */
static inline bool base_value_is_true(const struct base_value *value)
{
	return value->kind == BASE_NUMBER && value->number != 0;
}

/* A part of an expression's text. It is not zero-terminated. */
struct base_word {
	const char *text;
	size_t size;
};

static inline bool base_is_word(struct base_word word, const char *name)
{
	return strlen(name) == word.size && memcmp(name, word.text, word.size) == 0;
}

/* Arguments of a function. */
enum base_takes {
	BASE_TAKES_VALUE,
	BASE_TAKES_TEXT,       /* a value and a string */
	BASE_TAKES_EXPRESSION, /* a value, and an expression about other objects */
	BASE_TAKES_RAW         /* the characters up to the next ")", unparsed */
};

/* A function that expressions can call. */
struct base_function {
	const char *name;
	enum base_takes takes;
};

/* The names and functions that one caller allows in its expressions. */
struct base_grammar {
	const struct base_function *functions;
	size_t function_count;
	/* for error messages: description of what may appear at the start and after a sign */
	const char *first, *operand;
	/* whether an expression is a single comparison, in which numbers can be percentages */
	bool is_condition;
	bool has_percent; /* whether numbers can be percentages in other expressions too */
};

enum base_sign {
	BASE_AT_LEAST,
	BASE_AT_MOST,
	BASE_EQUAL,
	BASE_UNEQUAL,
	BASE_ABOVE,
	BASE_BELOW,
	BASE_LIKE, /* a string matches one of several patterns separated by commas */
	BASE_OR,
	BASE_AND,
	BASE_PLUS,
	BASE_MINUS,
	BASE_TIMES,
	BASE_DIVIDED
};

/* Compares two numbers. */
bool base_number_holds(double left, enum base_sign sign, double right);

enum base_node_kind {
	BASE_NODE_NUMBER,
	BASE_NODE_TEXT,
	BASE_NODE_PATH,
	BASE_NODE_CALL,
	BASE_NODE_SIGN
};

/*
 * A node of a parsed expression. Nodes refer to each other by their index in the vector of nodes.
 */
struct base_node {
	uint8_t kind;      /* enum base_node_kind */
	uint8_t sign;      /* enum base_sign */
	uint16_t function; /* call: index of the function in the grammar */
	bool is_percent;   /* whether the number is a percentage */
	/*
	 * for a path, the object at which it starts, or BASE_NO_NODE; for a call, its first
	 * argument
	 */
	uint32_t left;
	uint32_t right;        /* call: its second argument, parsed as an expression */
	struct base_word word; /* a string, a path, or the string or raw characters of a call */
	double number;
};
#define BASE_NO_NODE UINT32_MAX

static inline struct base_word base_word(const char *text)
{
	return (struct base_word){ text, strlen(text) };
}

/*
 * Parses an expression. Its text must outlive the nodes, which are appended to `nodes` (struct
 * base_node). Sets *out to the index of the outermost node. Returns HDB_EUSAGE with a message that
 * states what was expected, and where.
 */
int base_expression_parse(const struct base_grammar *grammar, struct base_word text,
			  struct base_vec *nodes, uint32_t *out, struct hdb_error *err);

/* The arguments of a call. */
struct base_arguments {
	const struct base_value *value;
	const char *text;    /* the second argument, or "" */
	uint32_t expression; /* the second argument as an expression, or BASE_NO_NODE */
};

/*
 * Functions that evaluate paths and calls. When one of these functions is called, *out is
 * BASE_NOTHING.
 */
struct base_evaluator {
	const struct base_vec *nodes;
	/*
	 * Reads the value of a path, which is zero-terminated. The path starts at the object `from`
	 * or, if `from` is NULL, at the object to which the expression applies.
	 */
	int (*path)(void *ctx, const struct base_value *from, const char *path,
		    struct base_value *out, struct hdb_error *err);
	/* Calls a function, given by its index in the grammar. */
	int (*call)(void *ctx, unsigned function, const struct base_arguments *arguments,
		    struct base_value *out, struct hdb_error *err);
	void *ctx;
};

int base_expression_evaluate(const struct base_evaluator *evaluator, uint32_t expression,
			     struct base_value *out, struct hdb_error *err);

#endif
