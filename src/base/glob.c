/*
 * base/glob.c - matches names with patterns of * and ?.
 *
 * Brackets match themselves, because the names of array classes contain them. In the worst case the
 * time is proportional to pattern size times text size, because matching never backtracks beyond
 * the last *.
 */
#include "base/glob.h"

#include <string.h>

/*
 * Maximum size of a pattern in a list. A longer pattern matches nothing, because no class name is
 * that long.
 */
#define PATTERN_MAX 4096

/* Skips one character, which may have several bytes. */
static const char *skip_character(const char *text)
{
	text++;
	while (((unsigned char)*text & 0xc0) == 0x80)
		text++;
	return text;
}

bool base_glob(const char *pattern, const char *text)
{
	const char *star = NULL; /* the pattern after the last * */
	/* position in the text at which the match of that * currently ends */
	const char *resume = NULL;

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

bool base_glob_list(const char *patterns, const char *text)
{
	char pattern[PATTERN_MAX];

	for (const char *p = patterns; *p;) {
		const size_t size = strcspn(p, ",");

		if (size < sizeof(pattern)) {
			memcpy(pattern, p, size);
			pattern[size] = '\0';
			if (base_glob(pattern, text))
				return true;
		}
		p += size + (p[size] == ',');
		while (*p == ' ')
			p++;
	}
	return false;
}

bool base_is_among(const char *names, const char *name)
{
	const size_t size = strlen(name);

	for (const char *p = names; *p; p += *p == '|') {
		const size_t n = strcspn(p, "|");

		if (n == size && memcmp(p, name, n) == 0)
			return true;
		p += n;
	}
	return false;
}
