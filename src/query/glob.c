/*
 * query/glob.c - matching names with patterns of * and ?.
 *
 * Brackets are themselves, since class names of arrays have them. Takes time of the pattern's size
 * times the text's at worst: only the last * is ever gone back to.
 */
#include "query/query.h"

/* The text after its first character, which may be of several bytes. */
static const char *skip_character(const char *text)
{
	text++;
	while (((unsigned char)*text & 0xc0) == 0x80)
		text++;
	return text;
}

bool query_glob(const char *pattern, const char *text)
{
	const char *star = NULL;  /* the pattern after the last * */
	const char *resume = NULL; /* where in the text that * ends for now */

	while (*text) {
		if (*pattern == '*') {
			star = ++pattern;
			resume = text;
		} else if (*pattern == '?') {
			pattern++;
			text = skip_character(text);
		} else if (*pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star;
			text = ++resume;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}
