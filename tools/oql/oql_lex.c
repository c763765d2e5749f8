/*
 * oql/oql_lex.c - splits a statement into tokens. Identifiers may contain "$" and letters of any
 * script; strings have no escapes; comments are as in Java.
 */
#include "oql/oql_lex.h"

#include "oql/oql.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

/* Maximum length of a number: enough for 1e-300 written with all digits. */
#define NUMBER_MAX 400

struct lexer {
	const char *text;
	size_t size, at;
	struct hdb_error *err;
};

bool oql_is(struct oql_str name, const char *word)
{
	return name.size == strlen(word) && memcmp(name.data, word, name.size) == 0;
}

bool oql_same(struct oql_str a, struct oql_str b)
{
	return a.size == b.size && (!a.size || memcmp(a.data, b.data, a.size) == 0);
}

bool oql_is_word(struct oql_str name, const char *word)
{
	return name.size == strlen(word) && strncasecmp(name.data, word, name.size) == 0;
}

/*
 * Converts an offset to a line and column for messages. Both are counted from 1, and columns are
 * counted in characters.
 */
static void find_place(const char *text, size_t at, size_t *line, size_t *column)
{
	*line = *column = 1;
	for (size_t i = 0; i < at; i++) {
		if (text[i] == '\n') {
			++*line;
			*column = 1;
		} else {
			*column += ((unsigned char)text[i] & 0xc0) != 0x80;
		}
	}
}

int oql_fail_at(const char *text, size_t at, struct hdb_error *err, const char *format, ...)
{
	char message[HDB_ERROR_SIZE - 64];
	size_t line, column;
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	find_place(text, at, &line, &column);
	return hdb_fail(err, HDB_EUSAGE, "line %zu, column %zu: %s", line, column, message);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool starts_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
	       (unsigned char)c >= 0x80;
}

static char peek(const struct lexer *lex, size_t ahead)
{
	return ahead < lex->size - lex->at ? lex->text[lex->at + ahead] : 0;
}

/* Skips blanks and comments. */
static int skip_blanks(struct lexer *lex)
{
	for (;;) {
		const char c = peek(lex, 0);

		if (lex->at < lex->size && (c == ' ' || (c >= '\t' && c <= '\r'))) {
			lex->at++;
		} else if (c == '/' && peek(lex, 1) == '/') {
			while (lex->at < lex->size && lex->text[lex->at] != '\n')
				lex->at++;
		} else if (c == '/' && peek(lex, 1) == '*') {
			const char *end =
				memmem(lex->text + lex->at + 2, lex->size - lex->at - 2, "*/", 2);

			if (!end)
				return oql_fail_at(lex->text, lex->at, lex->err,
						   "expected \"*/\" at the end of this comment");
			lex->at = (size_t)(end - lex->text) + 2;
		} else {
			return HDB_OK;
		}
	}
}

static int lex_hex(struct lexer *lex, struct oql_token *t)
{
	size_t digits = 0;

	t->kind = OQL_T_HEX;
	for (lex->at += 2;; lex->at++, digits++) {
		const char c = peek(lex, 0);
		const int digit = is_digit(c)          ? c - '0' :
				  c >= 'a' && c <= 'f' ? c - 'a' + 10 :
				  c >= 'A' && c <= 'F' ? c - 'A' + 10 :
							 -1;

		if (digit < 0)
			break;
		if (t->i >> 60)
			return oql_fail_at(lex->text, t->at, lex->err,
					   "this address has more than 64 bits");
		t->i = t->i << 4 | (unsigned)digit;
	}
	if (digits == 0)
		return oql_fail_at(lex->text, t->at, lex->err,
				   "expected an address such as "
				   "0x12c4");
	return HDB_OK;
}

static void skip_digits(struct lexer *lex)
{
	while (is_digit(peek(lex, 0)))
		lex->at++;
}

static int lex_decimal(struct lexer *lex, struct oql_token *t, bool is_real)
{
	char buf[NUMBER_MAX + 1], suffix;
	const size_t size = lex->at - t->at;

	if (size > NUMBER_MAX)
		return oql_fail_at(lex->text, t->at, lex->err, "this number is too long");
	memcpy(buf, lex->text + t->at, size);
	buf[size] = 0;
	suffix = peek(lex, 0);
	t->kind = is_real ? OQL_T_FLOAT : OQL_T_INT;
	if (suffix == 'd' || suffix == 'D')
		t->kind = OQL_T_DOUBLE;
	else if (suffix == 'f' || suffix == 'F')
		t->kind = OQL_T_FLOAT;
	else if ((suffix == 'l' || suffix == 'L') && !is_real)
		t->kind = OQL_T_LONG;
	else
		suffix = 0;
	lex->at += suffix != 0;
	errno = 0;
	if (t->kind == OQL_T_FLOAT)
		t->d = (double)strtof(buf, NULL);
	else if (t->kind == OQL_T_DOUBLE)
		t->d = strtod(buf, NULL);
	else
		t->i = strtoull(buf, NULL, 10);
	t->is_wide = (t->kind == OQL_T_INT && t->i > INT32_MAX) ||
		     (t->kind == OQL_T_LONG && t->i > INT64_MAX);
	if ((t->kind == OQL_T_LONG || t->kind == OQL_T_INT) &&
	    (errno != 0 || t->i > (t->kind == OQL_T_LONG ? 1ULL << 63 : INT64_MAX)))
		return oql_fail_at(lex->text, t->at, lex->err,
				   "this number does not fit into 64 "
				   "bits");
	return HDB_OK;
}

static int lex_number(struct lexer *lex, struct oql_token *t)
{
	bool is_real = false;

	if (peek(lex, 0) == '0' && (peek(lex, 1) == 'x' || peek(lex, 1) == 'X'))
		return lex_hex(lex, t);
	skip_digits(lex);
	if (peek(lex, 0) == '.' && is_digit(peek(lex, 1))) {
		is_real = true;
		lex->at++;
		skip_digits(lex);
	}
	if (peek(lex, 0) == 'e' || peek(lex, 0) == 'E') {
		const size_t sign = peek(lex, 1) == '+' || peek(lex, 1) == '-';

		if (is_digit(peek(lex, 1 + sign))) {
			is_real = true;
			lex->at += 1 + sign;
			skip_digits(lex);
		}
	}
	return lex_decimal(lex, t, is_real);
}

static int lex_string(struct lexer *lex, struct oql_token *t)
{
	const char *start = lex->text + lex->at + 1;
	const char *end = memchr(start, '"', lex->size - lex->at - 1);

	if (!end)
		return oql_fail_at(lex->text, t->at, lex->err,
				   "expected a quote (\") at the end of this string");
	t->kind = OQL_T_STRING;
	t->text = (struct oql_str){ start, (size_t)(end - start) };
	lex->at += t->text.size + 2;
	return HDB_OK;
}

/* Reads a character in single quotes, from the basic multilingual plane. */
static int lex_char(struct lexer *lex, struct oql_token *t)
{
	const unsigned char c = (unsigned char)peek(lex, 1);
	const size_t size = c < 0x80 ? 1 : c < 0xe0 ? 2 : 3;

	if (c == 0 || c == '\'' || c >= 0xf0 || peek(lex, 1 + size) != '\'')
		return oql_fail_at(lex->text, t->at, lex->err,
				   "expected one character between single quotes; strings are "
				   "between double quotes");
	t->kind = OQL_T_CHAR;
	t->i = c;
	if (size > 1)
		t->i = (c & (0xffu >> (size + 1))) << 6 | ((unsigned char)peek(lex, 2) & 63);
	if (size > 2)
		t->i = t->i << 6 | ((unsigned char)peek(lex, 3) & 63);
	lex->at += size + 2;
	return HDB_OK;
}

static void lex_name(struct lexer *lex, struct oql_token *t)
{
	t->kind = OQL_T_NAME;
	while (starts_name(peek(lex, 0)) || is_digit(peek(lex, 0)))
		lex->at++;
}

/* Reads "${snapshot}" or "${alias}". MAT's reports also write "$${alias}". */
static int lex_variable(struct lexer *lex, struct oql_token *t)
{
	lex->at += peek(lex, 1) == '{' ? 2 : 3;
	t->text = (struct oql_str){ lex->text + lex->at, lex->at };
	while (starts_name(peek(lex, 0)) || is_digit(peek(lex, 0)))
		lex->at++;
	t->text.size = lex->at - t->text.size;
	if (!t->text.size || peek(lex, 0) != '}')
		return oql_fail_at(lex->text, t->at, lex->err,
				   "expected ${snapshot}, or ${h} for an alias h");
	lex->at++;
	t->kind = oql_is(t->text, "snapshot") ? OQL_T_SNAPSHOT : OQL_T_OUTER;
	if (t->kind == OQL_T_SNAPSHOT)
		t->text = (struct oql_str){ "${snapshot}", strlen("${snapshot}") };
	return HDB_OK;
}

static int lex_sign(struct lexer *lex, struct oql_token *t)
{
	const char c = peek(lex, 0), next = peek(lex, 1);

	t->kind = OQL_T_PUNCTUATION;
	t->sign = c;
	if (next == '=' && (c == '!' || c == '<' || c == '>'))
		t->kind = c == '!' ? OQL_T_NE : c == '<' ? OQL_T_LE : OQL_T_GE;
	else if (c == '=' && next == '=')
		return oql_fail_at(lex->text, lex->at, lex->err, "\"==\" is written \"=\" in OQL");
	else if (c == '<' && next == '>')
		return oql_fail_at(lex->text, lex->at, lex->err, "\"<>\" is written \"!=\" in OQL");
	else if (!strchr("().,@[]:*+-/=<>", c) || c == 0)
		return oql_fail_at(lex->text, lex->at, lex->err,
				   c > ' ' && c < 0x7f ? "\"%c\" has no meaning in OQL" :
							 "unexpected byte 0x%02x",
				   (unsigned char)c);
	lex->at += t->kind == OQL_T_PUNCTUATION ? 1 : 2;
	return HDB_OK;
}

static int lex_token(struct lexer *lex, struct oql_token *t)
{
	const char c = peek(lex, 0);
	int r = HDB_OK;

	if (lex->at == lex->size)
		t->kind = OQL_T_END;
	else if (c == '$' && peek(lex, peek(lex, 1) == '$' ? 2 : 1) == '{')
		return lex_variable(lex, t);
	else if (starts_name(c)) {
		lex_name(lex, t);
	} else if (is_digit(c) || (c == '.' && is_digit(peek(lex, 1)))) {
		r = lex_number(lex, t);
	} else if (c == '"') {
		return lex_string(lex, t);
	} else if (c == '\'') {
		r = lex_char(lex, t);
	} else {
		r = lex_sign(lex, t);
	}
	t->text = (struct oql_str){ lex->text + t->at, lex->at - t->at };
	return r;
}

int oql_lex(struct oql_str text, struct oql_arena *arena, struct oql_token **out, size_t *count,
	    struct hdb_error *err)
{
	struct lexer lex = { .text = text.data, .size = text.size, .err = err };
	struct oql_token *tokens;

	if (text.size > OQL_TEXT_MAX)
		return hdb_fail(err, HDB_ELIMIT, "statement too long (limit %u bytes)",
				OQL_TEXT_MAX);
	/* every token except the final one has at least one byte */
	TRY(OQL_TAKE(tokens, arena, text.size + 1, err));
	for (*count = 0;;) {
		struct oql_token *t = &tokens[*count];

		TRY(skip_blanks(&lex));
		t->at = lex.at;
		TRY(lex_token(&lex, t));
		++*count;
		if (t->kind == OQL_T_END)
			break;
	}
	*out = tokens;
	return HDB_OK;
}
