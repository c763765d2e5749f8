/*
 * secret_report_test.c - each rule finds its secret, and no other rule does, in bytes, in chars and
 * in bytes that are UTF-16. The report contains no secret and no other strings.
 */
#include "rewrite/secret_report.h"
#include "support/hprof_writer.h"
#include "support/temp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const struct {
	const char *rule; /* NULL: no rule finds it */
	const char *text;
} cases[] = {
	/*
	 * The texts are put together at run time, so that source scanners do not report them as
	 * secrets.
	 */
	{ "private-key", "-----BEGIN RSA PRIVATE"
			 " KEY-----\nMIIE" },
	{ "private-key", "-----BEGIN PRIVATE"
			 " KEY-----" },
	{ NULL, "-----BEGIN PUBLIC KEY-----" },
	{ "aws-access-key", "id AKIA"
			    "IOSFODNN7EXAMPLE." },
	{ "github-token", "ghp_"
			  "0123456789abcdefghijklmnopqrstuvwxyz" },
	{ "gitlab-token", "glpat-"
			  "0123456789abcdefghij" },
	{ "slack-bot-token", "xoxb-"
			     "012345678901-abcdef" },
	{ "google-key", "AIza"
			"SyA0123456789abcdefghijklmnopqrstuv" },
	{ "stripe-key", "sk_live"
			"_0123456789abcdef" },
	{ "npm-token", "npm_"
		       "0123456789abcdefghijklmnopqrstuvwxyz" },
	{ "jwt", "eyJhbGciOiJIUzI1NiJ9."
		 "eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2ln" },
	{ "authorization-bearer", "Bearer 0123456789abcdefghij" },
	{ NULL, "the bearer of this" },
	{ "password", "db.password=hunter2" },
	{ "api-key", "\"apiKey\": \"abcdef123\"" },
	{ NULL, "Enter your password, please" },
	{ "url-password", "jdbc:postgresql://me:hunter2@db/x" },
	{ NULL, "https://example.com/a@b" },
	{ "card-number", "pay 4111 1111 1111 1111 now" },
	{ "card-number", "5500-0000-0000-0004" },
	{ NULL, "4111 1111 1111 1112" },
	{ "iban", "DE89 3704 0044 0532 0130 00" },
	{ NULL, "DE88 3704 0044 0532 0130 00" },
	{ NULL, "java.util.concurrent.ThreadPoolExecutor" },
};
#define CASES (sizeof(cases) / sizeof(cases[0]))

/*
 * The array of case i: bytes, UTF-16 in the machine's byte order or the opposite order, or chars.
 */
static void put_array(struct hw *w, size_t i, unsigned form)
{
	const size_t size = strlen(cases[i].text);
	uint8_t wide[512] = { 0 };

	for (size_t c = 0; c < size; c++)
		wide[2 * c + (form != 1)] = (uint8_t)cases[i].text[c];
	if (form == 0)
		hw_primitive_array(w, 0x1000 + i, HPROF_BYTE, cases[i].text, (uint32_t)size);
	else
		hw_primitive_array(w, 0x1000 + i, form == 3 ? HPROF_CHAR : HPROF_BYTE, wide,
				   (uint32_t)(form == 3 ? size : size * 2));
}

static void test_form(unsigned form)
{
	const char *in = temp_path("in.hprof"), *out = temp_path("out.hprof"),
		   *tsv = temp_path("report.tsv");
	const struct hdb_output_options output = { .force = 1 };
	const struct hdb_redact_options opt = { .output = &output, .report_path = tsv };
	struct hdb_output_result result = { .struct_size = sizeof(result) };
	struct hdb_error err = { 0 };
	char line[1024];
	size_t found[CASES] = { 0 };
	struct hw w;
	FILE *f;

	hw_init(&w, HPROF_1_0_2, 8, 0);
	hw_begin(&w, HPROF_HEAP_DUMP_SEGMENT, 0);
	for (size_t i = 0; i < CASES; i++)
		put_array(&w, i, form);
	hw_end(&w);
	hw_heap_dump_end(&w);
	assert_int_equal(hw_save(&w, in), 0);
	if (hdb_redact(in, out, &opt, &result, &err) != HDB_OK)
		fail_msg("%s", err.message);
	f = fopen(tsv, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		unsigned long long id;
		char rule[64];

		assert_null(strstr(line, "hunter2"));
		assert_null(strstr(line, "4111"));
		if (sscanf(line, "0x%llx\t%*s\t%*u\t%63s", &id, rule) != 2)
			continue;
		assert_in_range(id, 0x1000, 0x1000 + CASES - 1);
		if (!cases[id - 0x1000].rule || strcmp(cases[id - 0x1000].rule, rule) != 0)
			fail_msg("form %u: %s finds \"%s\"", form, rule, cases[id - 0x1000].text);
		found[id - 0x1000]++;
		result.secret_count--;
	}
	(void)fclose(f);
	for (size_t i = 0; i < CASES; i++)
		if (found[i] != (cases[i].rule ? 1 : 0))
			fail_msg("form %u: \"%s\" was found %zu times", form, cases[i].text,
				 found[i]);
	assert_int_equal(result.secret_count, 0);
	hw_release(&w);
	(void)unlink(in);
	(void)unlink(out);
	(void)unlink(tsv);
}

static void test_forms(void **state)
{
	(void)state;
	for (unsigned form = 0; form < 4; form++)
		test_form(form);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_forms) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
