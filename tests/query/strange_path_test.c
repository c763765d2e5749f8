/*
 * strange_path_test.c - cheapest paths: for each row of the table of strange references, the path
 * avoids such a reference by a longer way, but with --shortest it does not.
 */
#include "derive/strangeness.h"
#include "support/planted.h"
#include "support/query_ask.h"

#define TEXT_BYTES 1024

static struct written heap;

/* Whether the path to the object of class a.Target passes an object of this class. */
static bool passes(const char *class, bool is_shortest)
{
	const struct ask list = { .query = "instances", .target = "a.Target" };
	struct ask ask = { .query = "path", .options = { is_shortest ? "shortest" : NULL } };
	struct hdb_rows *rows = ask_rows(heap.db, &list);
	static char id[32];
	bool found = false;

	assert_true(next_row(rows));
	(void)snprintf(id, sizeof(id), "0x%llx", (unsigned long long)value_of(rows, "id")->u);
	hdb_rows_close(rows);
	ask.target = id;
	rows = ask_rows(heap.db, &ask);
	while (next_row(rows))
		found |= value_is(rows, "class", class);
	hdb_rows_close(rows);
	return found;
}

static void plant(const char *format, const char *class)
{
	char text[TEXT_BYTES];
	struct hw w;

	(void)snprintf(text, sizeof(text), format, class);
	planted_write(&w, text);
	written_open(&heap, &w, "strange", NULL);
}

static void test_rows(void **state)
{
	size_t count;
	const struct derive_strange *rows = derive_strange_rows(&count);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		const char *name = rows[i].name;
		const size_t size = strlen(name);
		char class[256];

		assert_true(rows[i].reason[0]);
		assert_in_range(rows[i].cost, 4, GRAPH_COST_MAX);
		if (name[0] == '*')
			(void)snprintf(class, sizeof(class), "a.My%s", name + 1);
		else if (name[size - 1] == '*')
			(void)snprintf(class, sizeof(class), "%.*sThing", (int)size - 1, name);
		else
			(void)snprintf(class, sizeof(class), "%s", name);
		plant("a.Root{s=%s{value=$t}, l=a.One{two=a.Two{three=$t}}}; a.Target@t{}", class);
		if (passes(class, false) || !passes("a.One", false) || !passes(class, true))
			fail_msg("%s explains a path", class);
		written_close(&heap);
	}
	/* References that are not in the table have no extra cost. */
	plant("a.Root{s=%s{value=$t}, l=a.One{two=a.Two{three=$t}}}; a.Target@t{}", "a.Plain");
	assert_true(passes("a.Plain", false));
	written_close(&heap);
	/*
	 * A collection's entry may itself be a java.lang.ref reference. Its key and value as an
	 * entry are not strange.
	 */
	plant("a.Root{s=%s:java.lang.ref.Reference{value=$t}, l=a.One{two=a.Two{three=$t}}};"
	      "a.Target@t{}",
	      "java.util.WeakHashMap$Entry");
	assert_true(passes("java.util.WeakHashMap$Entry", false));
	written_close(&heap);
	plant("a.Root{s=%s:java.lang.ref.Reference{value=$t}, l=a.One{two=a.Two{three=$t}}};"
	      "a.Target@t{}",
	      "java.lang.ref.SoftReference");
	assert_false(passes("java.lang.ref.SoftReference", false));
	written_close(&heap);
}

/* A field of a thread's own class explains a path. Fields of java.lang.Thread do not. */
static void test_own(void **state)
{
	(void)state;
	plant("a.Root{s=%s:java.lang.Thread{queue=$t}, l=a.One{two=a.Two{three=$t}}}; a.Target@t{}",
	      "a.Worker");
	assert_true(passes("a.Worker", false));
	written_close(&heap);
	plant("a.Root{s=a.Reader{of=$t}, l=a.One{two=a.Two{three=$t}}}; %s@t{}", "a.Target");
	assert_true(passes("a.Reader", false));
	written_close(&heap);
}

/*
 * If paths have the same length, a field of the application is better than a field of the platform.
 */
static void test_platform(void **state)
{
	(void)state;
	plant("a.Root{s=java.net.%s{next=$t}, l=a.One{two=$t}}; a.Target@t{}", "Platform");
	assert_true(passes("a.One", false));
	written_close(&heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_platform),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
