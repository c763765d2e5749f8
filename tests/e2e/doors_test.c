/*
 * e2e/doors_test.c - the command without the libraries that only some commands need: help lists the
 * available commands and names the others; a missing command reports which library it needs.
 */
#undef HAVE_SERVE
#undef HAVE_SQLITE
#undef HAVE_YAML
#undef HAVE_MCP
#undef HAVE_PNG
#include "support/command.h"

#include <setjmp.h>
#include <cmocka.h>

static struct command_run ask(const char *first, const char *second)
{
	const char *const words[] = { first, second, NULL };

	return command_run(words, -1, NULL);
}

static void test_help_names_what_is_missing(void **state)
{
	struct command_run ran = ask("help", NULL);

	(void)state;
	assert_int_equal(ran.code, CLI_DONE);
	assert_non_null(
		strstr(ran.out,
		       "\nNot in this build: serve (libmicrohttpd), sql (SQLite), gate (libyaml), "
		       "mcp (libjansson), PNG images (libpng)\n"));
	assert_non_null(strstr(ran.out, "\n  import "));
	assert_null(strstr(ran.out, "\n  serve "));
	assert_null(strstr(ran.out, "\n  sql "));
	command_release(&ran);
	ran = ask("help", "--names");
	assert_non_null(strstr(ran.out, "command\t-\timport\t"));
	assert_null(strstr(ran.out, "command\t-\tserve\t"));
	command_release(&ran);
}

static void test_missing_command_names_library(void **state)
{
	static const char *const words[][2] = { { "serve", NULL }, { "help", "serve" } };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct command_run ran = ask(words[i][0], words[i][1]);

		assert_int_equal(ran.code, CLI_USAGE);
		assert_non_null(strstr(ran.err,
				       "this heapdb was built without libmicrohttpd, which "
				       "serve requires"));
		command_release(&ran);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_help_names_what_is_missing),
		cmocka_unit_test(test_missing_command_names_library),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
