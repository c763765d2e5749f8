/*
 * common/shorten.c - implements shorten.h. By Java's conventions, packages begin with a lowercase
 * letter and classes with a capital one. Names that do not follow these conventions are not
 * shortened.
 */
#include "common/shorten.h"

#include <stdbool.h>

static bool is_small(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_capital(char c)
{
	return c >= 'A' && c <= 'Z';
}

/*
 * Returns whether the byte can be part of a name. Non-ASCII bytes count as letters, so that a name
 * is never split inside a character.
 */
static bool is_part(char c)
{
	return is_small(c) || is_capital(c) || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
	       (c & 0x80);
}

/*
 * Returns the length of a package component at `text`: a lowercase letter followed by ASCII, so
 * that one byte is one column.
 */
static size_t package_size(const char *text, size_t size)
{
	size_t n = 0;

	if (size == 0 || !is_small(text[0]))
		return 0;
	while (n < size && is_part(text[n]) && !(text[n] & 0x80))
		n++;
	return n < size && text[n] == '.' ? n : 0;
}

/* Returns the length of "java.util." before a class at `text`, or 0 if no class follows. */
static size_t packages_size(const char *text, size_t size)
{
	size_t n = 0, one;

	while ((one = package_size(text + n, size - n)) > 0)
		n += one + 1;
	return n < size && is_capital(text[n]) ? n : 0;
}

/*
 * Appends the text, keeping `letters` letters of each package component. If `letters` is 0, the
 * dots are dropped as well.
 */
static size_t shorten(struct bytes *out, const char *text, size_t size, size_t letters)
{
	size_t done = 0, left_out = 0, i = 0;

	while (i < size && text[i] != '"') {
		size_t end;

		if (text[i] == '\033') {
			while (i < size && text[i++] != 'm')
				;
			continue;
		}
		if (!is_part(text[i])) {
			i++;
			continue;
		}
		for (end = i + packages_size(text + i, size - i); i < end;) {
			const size_t one = package_size(text + i, end - i);

			bytes_add(out, text + done, i + letters - done);
			done = i + one + !letters;
			left_out += done - i - letters;
			i += one + 1;
		}
		while (i < size && (is_part(text[i]) || text[i] == '.'))
			i++;
	}
	bytes_add(out, text + done, size - done);
	return left_out;
}

size_t shorten_names(struct bytes *out, const char *text, size_t size)
{
	return shorten(out, text, size, 1);
}

size_t shorten_packages(struct bytes *out, const char *text, size_t size)
{
	return shorten(out, text, size, 0);
}
