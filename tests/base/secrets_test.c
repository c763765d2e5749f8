/*
 * secrets_test.c - each rule finds its own text of tests/data/secrets.txt, and no other rule does,
 * in bytes, in chars, and across the parts of a long text. Also tests names, and that searching
 * hostile texts takes linear time.
 */
#include "base/base_text.h"
#include "base/secrets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#define LINES_MAX 512u

static struct base_secrets *secrets;
static struct base_secret_search *search;

/* Secrets found in one text. */
struct found {
	unsigned count, rule;
	size_t size;
};

static int take(void *ctx, const struct base_secret_hit *hit, struct hdb_error *err)
{
	struct found *found = ctx;

	(void)err;
	found->count++;
	found->rule = hit->rule;
	found->size = hit->size;
	return HDB_OK;
}

/* Replaces "{A20}" with digits. */
static void expand(struct bytes *out, const char *text)
{
	static const struct {
		char word;
		const char *digits;
	} alphabets[] = {
		{ 'A', "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" },
		{ 'a', "abcdefghijklmnopqrstuvwxyz0123456789" },
		{ 'l', "abcdefghijklmnopqrstuvwxyz" },
		{ 'U', "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789" },
		{ 'B', "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567" },
		{ 'h', "0123456789abcdef" },
		{ 'd', "0123456789" },
		{ 'X', "ACDEFGHJKLMNPQRSTUVWXYZ023456789" },
		{ 'Z', "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz" },
	};

	for (; *text; text++) {
		unsigned n = 0;
		char word = 0;
		int used = 0;

		if (strncmp(text, "{}", 2) == 0) {
			text++;
			continue;
		}
		if (sscanf(text, "{%c%u}%n", &word, &n, &used) != 2 || !used) {
			bytes_add(out, text, 1);
			continue;
		}
		for (size_t a = 0; a < sizeof(alphabets) / sizeof(alphabets[0]); a++) {
			const char *digits = alphabets[a].digits;

			for (unsigned i = 0; word == alphabets[a].word && i < n; i++)
				bytes_add(out, &digits[(i * 7 + i / 5 * 3 + 1) % strlen(digits)],
					  1);
		}
		text += used - 1;
	}
}

/* Searches a text after `before` line feeds, as chars or as bytes. */
static struct found search_in(const struct bytes *text, size_t before, bool is_chars)
{
	struct base_source *source;
	struct base_secret_text in = { .is_chars = is_chars };
	struct found found = { 0 };
	struct bytes whole = { 0 };
	struct hdb_error err = { 0 };

	for (size_t i = 0; i < before + text->size; i++) {
		if (is_chars)
			bytes_add(&whole, "", 1);
		bytes_add(&whole, i < before ? "\n" : &text->data[i - before], 1);
	}
	in.size = whole.size;
	assert_int_equal(base_memory_open(whole.data, whole.size, &source, &err), HDB_OK);
	{
		struct base_view view = { .src = source };

		in.view = &view;
		assert_int_equal(base_secrets_find(search, &in, take, &found, &err), HDB_OK);
		base_view_release(&view);
	}
	base_source_close(source);
	bytes_release(&whole);
	return found;
}

static void test_rules(void **state)
{
	size_t count, failed = 0;
	const struct base_secret_rule *rules = base_secret_rules(&count);
	bool seen[LINES_MAX] = { false };
	char path[4096], line[1024];
	FILE *f;

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/tests/data/secrets.txt", getenv("HDB_ROOT"));
	f = fopen(path, "r");
	assert_non_null(f);
	assert_in_range(count, 150, LINES_MAX);
	while (fgets(line, sizeof(line), f)) {
		/* Mail addresses are whole texts, so they are not searched after other text. */
		static const size_t before[] = { 0, 0, 65536 - 512 - 20, 65536 - 10 };
		char *tab = strchr(line, '\t');
		struct bytes text = { 0 };

		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '#')
			continue;
		assert_non_null(tab);
		*tab = '\0';
		expand(&text, tab + 1);
		for (size_t i = 0; i < (strcmp(line, "mail-address") == 0 ? 2 : 4); i++) {
			const struct found found = search_in(&text, before[i], i % 2);
			const bool is_none = strcmp(line, "-") == 0;

			if (found.count != !is_none ||
			    (!is_none && strcmp(rules[found.rule].name, line) != 0)) {
				failed++;
				print_error("%s, form %zu: %u found, %s: %.*s\n", line, i,
					    found.count, found.count ? rules[found.rule].name : "-",
					    (int)text.size, text.data);
			}
			if (found.count)
				seen[found.rule] = true;
		}
		bytes_release(&text);
	}
	(void)fclose(f);
	assert_int_equal(failed, 0);
	for (size_t i = 0; i < count; i++) {
		if (!seen[i] && !rules[i].fields)
			fail_msg("tests/data/secrets.txt has no text for %s", rules[i].name);
		assert_non_null(rules[i].doc);
		assert_non_null(rules[i].what);
	}
}

static void test_names(void **state)
{
	static const char *const names[] = { "password",
					     "spring.datasource.password",
					     "DB_PASSWORD",
					     "clientSecret",
					     "X-Auth-Token",
					     "aws.secretAccessKey",
					     "DATADOG_API_KEY",
					     "pw",
					     "db.pw",
					     "DB_PW",
					     "userPw",
					     "--db-password",
					     "pass",
					     "db.pass",
					     "DB_PASS",
					     "adminPass" };
	static const char *const others[] = { "",    "passwordLength", "tokenizer", "keys",
					      "cpw", "NOPW",           "p",         "pwLength",
					      "w",   "bypass",         "COMPASS",   "passes" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!base_secrets_has_name(secrets, names[i], strlen(names[i])))
			fail_msg("%s", names[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (base_secrets_has_name(secrets, others[i], strlen(others[i])))
			fail_msg("%s", others[i]);
}

/* A passphrase may have blanks; a text for people, in a string, is none. */
static void test_blanks(void **state)
{
	static const struct {
		const char *value;
		bool is_array, is_secret;
	} values[] = {
		{ "correct horse battery", false, true },
		{ "Correct Horse Battery", false, true },
		{ "Correct horse 7 battery", false, true },
		{ "Must not be empty", false, false },
		{ "Must not be empty", true, true },
		{ "at least one token", false, false },
		{ "two  blanks", false, false },
		{ "blank after ", false, false },
		{ "${a b}", true, false },
		{ "    ", true, false },
		{ "line\nline", true, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		const struct base_secret_named named = {
			.name = (const uint8_t *)"db.pass",
			.name_size = 7,
			.value = (const uint8_t *)values[i].value,
			.value_size = strlen(values[i].value),
			.is_array = values[i].is_array,
		};
		unsigned rule;

		if (base_secrets_is_value(search, &named, &rule) != values[i].is_secret)
			fail_msg("\"%s\"", values[i].value);
	}
}

static void test_fields(void **state)
{
	static const char session[] = "org.apache.catalina.session.StandardSession";
	const struct base_secret_rule *rules;
	unsigned rule;
	size_t count;

	(void)state;
	rules = base_secret_rules(&count);
	assert_true(base_secrets_has_field("javax.crypto.spec.SecretKeySpec", "key", &rule));
	assert_string_equal(rules[rule].name, "secret-key");
	assert_true(base_secrets_has_field("org.eclipse.jetty.session.SessionData", "_id", &rule));
	assert_true(base_secrets_has_field(session, "id", &rule));
	assert_string_equal(rules[rule].name, "session-id");
	assert_false(base_secrets_has_field(session, "ids", &rule));
	assert_false(base_secrets_has_field(session, "i", &rule));
	assert_false(base_secrets_has_field("StandardSession", "id", &rule));
}

/* A part must be searched in a time that is linear in its size. */
static void test_hostile(void **state)
{
	static const char *const parts[] = { "xoxb-",  "eyJ",        "password=",
					     "://a:b", "a@b.",       "1-",
					     "4111 ",  "DE89 3704 ", "$argon2id$m=1,t=1," };

	(void)state;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct bytes text = { 0 };
		const clock_t from = clock();
		double seconds;

		while (text.size < 1u << 18)
			bytes_string(&text, parts[i]);
		(void)search_in(&text, 0, false);
		seconds = (double)(clock() - from) / CLOCKS_PER_SEC;
		if (seconds > 5)
			fail_msg("\"%s\": %.1f s", parts[i], seconds);
		bytes_release(&text);
	}
}

static int make(void **state)
{
	(void)state;
	return base_secrets_new(&secrets, NULL) < 0 ||
	       base_secret_search_new(secrets, &search, NULL) < 0;
}

static int release(void **state)
{
	(void)state;
	base_secret_search_free(search);
	base_secrets_free(secrets);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),   cmocka_unit_test(test_names),
		cmocka_unit_test(test_blanks),  cmocka_unit_test(test_fields),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, make, release);
}
