/*
 * glob_test.c - patterns of class names.
 */
#include "base/glob.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static void patterns(void **state)
{
	static const struct {
		const char *pattern, *text;
		bool matches;
	} rows[] = {
		{ "", "", true },
		{ "", "a", false },
		{ "a", "", false },
		{ "*", "", true },
		{ "*", "java.util.HashMap", true },
		{ "java.util.HashMap", "java.util.HashMap", true },
		{ "java.util.HashMap", "java.util.HashMap$Node", false },
		{ "java.util.*", "java.util.HashMap", true },
		{ "java.util.*", "java.utilities", false },
		{ "java.util.*", "java.util.", true },
		{ "*Map", "java.util.HashMap", true },
		{ "*Map", "java.util.HashMap$Node", false },
		{ "*a*b*", "xxaxxbxx", true },
		{ "*a*b*", "xxbxxaxx", false },
		{ "*aab", "aaaaaab", true },
		{ "*ab*ab", "ababab", true },
		{ "a**b", "ab", true },
		{ "char[]", "char[]", true },
		{ "char[]", "charx", false },
		{ "*[]", "java.lang.String[]", true },
		{ "[ab]", "a", false },
		{ "?", "a", true },
		{ "?", "", false },
		{ "a?c", "abc", true },
		{ "a?c", "ac", false },
		{ "x?y", "x\xc3\xa4y", true },
		{ "x?y", "x\xf0\x9f\x98\x80y", true },
		{ "x??y", "x\xc3\xa4y", false },
		{ "*?z", "z", false },
		{ "*?z", "xz", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (base_glob(rows[i].pattern, rows[i].text) != rows[i].matches)
			fail_msg("%s on %s", rows[i].pattern, rows[i].text);
	assert_true(base_glob_list("a.*, b.*", "b.C"));
	assert_false(base_glob_list("a.*, b.*", "c.B"));
}

/* A pattern with many stars and a long text that nearly matches must not take exponential time. */
static void no_blowup(void **state)
{
	static char text[20001], pattern[202];

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	for (size_t i = 0; i < 100; i++)
		memcpy(pattern + 2 * i, "*a", 2);
	pattern[200] = 'b';
	assert_false(base_glob(pattern, text));
	pattern[200] = 'a';
	assert_true(base_glob(pattern, text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns),
		cmocka_unit_test(no_blowup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
