/*
 * query/explain_sizes_test.c - the rules about a suspect's contents, with heaps of different sizes:
 * all objects are visited, all are counted when a rule reports them, or only some are visited.
 */
#include "support/planted.h"
#include "support/query_ask.h"

static struct written heap;

/* Returns the percentage in a rule's sentence. */
static int share_of(const char *rule)
{
	const struct ask ask = { .query = "explain" };
	struct hdb_rows *rows = ask_rows(heap.db, &ask);
	int share = -1;

	while (share < 0 && next_row(rows)) {
		const struct hdb_value *text = value_of(rows, "text");
		const char *sign = memmem(text->text, text->text_size, " %", 2);

		if (!value_is(rows, "rule", rule))
			continue;
		assert_non_null(sign);
		while (sign > text->text && sign[-1] != ' ')
			sign--;
		share = atoi(sign);
	}
	hdb_rows_close(rows);
	return share;
}

/* A share does not depend on the number of objects, whether all or only some are visited. */
static void test_sizes(void **state)
{
	static const struct {
		const char *rule, *item;
		unsigned sizes[3];
	} cases[] = {
		/* More than 400,000 objects are not counted individually. */
		{ "equal-contents",
		  "a.Booking{id=#,plan=\"Business Premium\"}",
		  { 120, 500, 1700 } },
		{ "many-sparse", "array(2*$c, 60*null)", { 120, 300, 500 } },
	};
	char text[512];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const unsigned *sizes = cases[i].sizes;
		int first = 0;

		for (size_t j = 0; j < 3; j++) {
			struct hw w;
			int share;

			(void)snprintf(text, sizeof(text),
				       "a.All{name=\"kept by this\",list=list(80*"
				       "a.Part{list=list(%u*%s)})}; a.Cell@c{}",
				       sizes[j], cases[i].item);
			planted_write(&w, text);
			written_open(&heap, &w, "explain_sizes", NULL);
			share = share_of(cases[i].rule);
			first = j ? first : share;
			if (share < 33 || abs(share - first) > 4)
				fail_msg("%s: %d %% of 80 * %u, %d %% of 80 * %u", cases[i].rule,
					 share, sizes[j], first, sizes[0]);
			written_close(&heap);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
