/*
 * sqlite/sql_words.c - splits a statement into words, for code that examines it before SQLite does.
 */
#include "sqlite/sql_private.h"

#include <ctype.h>

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static char closing(char quote)
{
	return quote == '[' ? ']' : quote;
}

/*
 * Returns the end of a quoted word, after the closing quote. A doubled quote does not end the word.
 */
static const char *end_of_quotes(const char *at)
{
	const char close = closing(*at);

	for (at++; *at; at++) {
		if (*at != close)
			continue;
		if (close == ']' || at[1] != close)
			return at + 1;
		at++;
	}
	return at;
}

/* Returns the end of a comment, or NULL if no comment begins at `at`. */
static const char *end_of_comment(const char *at)
{
	const char *close;

	if (at[0] == '-' && at[1] == '-')
		return at + strcspn(at, "\n");
	if (at[0] != '/' || at[1] != '*')
		return NULL;
	close = strstr(at + 2, "*/");
	return close ? close + 2 : at + strlen(at);
}

bool sql_next_word(const char *at, struct sql_word *out)
{
	const char *end;
	char kind;

	at += strspn(at, " \t\n\v\f\r");
	kind = *at;
	if ((end = end_of_comment(at)) != NULL) {
		kind = SQL_COMMENT;
	} else if (kind && strchr("'\"`[", kind)) {
		kind = kind == '\'' ? SQL_LITERAL : SQL_QUOTED;
		end = end_of_quotes(at);
	} else if (is_word_char(kind)) {
		kind = isdigit((unsigned char)kind) ? SQL_LITERAL : SQL_WORD;
		for (end = at; is_word_char(*end) || (kind == SQL_LITERAL && *end == '.');)
			end++;
	} else {
		end = at + (kind != '\0');
	}
	*out = (struct sql_word){ at, (size_t)(end - at), kind };
	return out->size > 0;
}

bool sql_is(const struct sql_word *word, const char *text)
{
	const size_t size = strlen(text);
	const size_t quotes = word->kind == SQL_QUOTED;

	if (word->kind != SQL_WORD && word->kind != SQL_QUOTED)
		return word->size == 1 && size == 1 && *word->at == *text;
	return word->size == size + 2 * quotes &&
	       sqlite3_strnicmp(word->at + quotes, text, (int)size) == 0;
}

void sql_word_text(const struct sql_word *word, char *out, size_t size)
{
	const char *at = word->at, *end = at + word->size;
	const bool is_quoted = word->kind == SQL_QUOTED || *at == '\'';
	const char close = closing(*at);

	for (at += is_quoted; at < end && size > 1; at++, size--) {
		if (is_quoted && *at == close) {
			if (close == ']' || at[1] != close)
				break;
			at++;
		}
		*out++ = *at;
	}
	*out = '\0';
}
