/*
 * query_leak_sentence_test.c - the first sentence on a leak suspect: owner, number, what, size of
 * each, share; on planted heaps.
 */
#include "support/planted.h"
#include "support/query_ask.h"

static struct written heap;

static const struct {
	const char *heap, *sentence;
} cases[] = {
	/* a collection is stepped over: its owner's field, and its elements */
	{ "a.App{}; static a.App.cache = a.Cache{sessions=map(200*a.Session{data=bytes(1000)})}",
	  "Cache.sessions, in App.cache (static), holds 200 Session (1.2 KiB each)" },
	{ "a.App{}; static a.App.ALL = list(200*a.Session{data=bytes(1000)})",
	  "App.ALL (static) holds 200 Session (" },
	/* entries of a map that are only the platform's */
	{ "a.App{}; static a.App.TEXTS = map(200*\"some text that takes some room in memory\")",
	  "App.TEXTS (static) holds 200 " },
	/* more than a third is something else */
	{ "a.App{}; static a.App.ALL ="
	  "list(200*a.Session{data=bytes(1000)}, 90*a.Other{data=bytes(2000)})",
	  "App.ALL (static) holds 200 Session (1.2 KiB each) and others, " },
	/* one array */
	{ "a.App{}; static a.App.buffer = a.Buffer{room=bytes(200000)}",
	  "Buffer.room, in App.buffer (static), holds one byte[200000] (195.5 KiB), " },
	/* a group: what the members share, and which field owns them */
	{ "a.App{}; a.Other{}; static a.App.all = list($1, $2, $3, $4, $5, $6);"
	  "static a.Other.all = list($1, $2, $3, $4, $5, $6);"
	  "a.Session@1{data=bytes(50000)}; a.Session@2{data=bytes(50000)};"
	  "a.Session@3{data=bytes(50000)}; a.Session@4{data=bytes(50000)};"
	  "a.Session@5{data=bytes(50000)}; a.Session@6{data=bytes(50000)}",
	  "App.all (static) holds 6 Session (49.2 KiB each), " },
};

static void test_sentences(void **state)
{
	const struct ask ask = { .query = "leaks", .options = { "brief", "threshold=20" } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct hdb_value *text;
		struct hdb_rows *rows;
		struct hw w;

		planted_write(&w, cases[i].heap);
		written_open(&heap, &w, "sentence", NULL);
		rows = ask_rows(heap.db, &ask);
		assert_true(next_row(rows));
		text = value_of(rows, "text");
		if (text->text_size < strlen(cases[i].sentence) ||
		    memcmp(text->text, cases[i].sentence, strlen(cases[i].sentence)) != 0)
			fail_msg("\"%.*s\", not \"%s\"", (int)text->text_size, text->text,
				 cases[i].sentence);
		hdb_rows_close(rows);
		written_close(&heap);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sentences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
