/*
 * strings_test.c - texts of strings: counts and sizes compared with a simple count, filters,
 * limits, and texts that differ only after a zero or far beyond the part that is shown.
 */
#include "support/query_world.h"

enum {
	STRING = 0x3000,
	BYTES = 0x3100,
	FIRST = 0x100000,
	TEXTS = 200,
	STRINGS = 3000,
	LONG = 70000,
	MANY = 300000,
	MOST = 5000
};

static struct hw out;
static struct written heap;
static uint64_t next_id;

static void begin(void)
{
	static const struct {
		uint64_t id;
		const char *name;
	} classes[] = {
		{ WORLD_OBJECT, "java/lang/Object" },
		{ WORLD_CLASS, "java/lang/Class" },
		{ STRING, "java/lang/String" },
		{ BYTES, "[B" },
	};
	const struct hprof_field fields[] = { { 1, HPROF_OBJECT }, { 2, HPROF_BYTE } };

	next_id = FIRST;
	hw_init(&out, HPROF_1_0_2, 8, 0);
	hw_utf8(&out, 1, "value");
	hw_utf8(&out, 2, "coder");
	for (uint32_t c = 0; c < 4; c++) {
		hw_utf8(&out, 10 + c, classes[c].name);
		hw_load_class(&out, 10 + c, classes[c].id, 0, 10 + c);
	}
	(void)hw_begin(&out, HPROF_HEAP_DUMP_SEGMENT, 0);
	for (uint32_t c = 0; c < 4; c++) {
		const struct hw_class class = {
			.id = classes[c].id,
			.super_id = c ? (uint64_t)WORLD_OBJECT : 0,
			.fields = fields,
			.field_count = classes[c].id == STRING ? 2 : 0,
		};

		hw_class(&out, &class);
		hw_root(&out, HPROF_ROOT_STICKY_CLASS, class.id, 0, 0);
	}
}

/* Writes a Latin-1 string. Its ID is the ID of its array plus 0x100000000. */
static uint64_t put(const void *text, uint32_t size, bool has_array)
{
	const uint64_t array = next_id, id = next_id + 0x100000000;
	uint8_t body[9] = { 0 };

	next_id += 0x100;
	if (has_array)
		hw_primitive_array(&out, array, HPROF_BYTE, text, size);
	for (unsigned b = 0; b < 8; b++)
		body[b] = (uint8_t)(array >> (56 - 8 * b));
	hw_instance(&out, id, STRING, body, sizeof(body));
	return id;
}

static void finish(uint64_t memory_bytes)
{
	const struct hdb_open_options options = { .memory_bytes = memory_bytes, .threads = 1 };

	written_open(&heap, &out, "strings", &options);
}

static struct hdb_rows *ask(const char *first, const char *second)
{
	const struct ask question = { .query = "strings", .options = { "all", first, second } };

	return ask_rows(heap.db, &question);
}

static uint64_t total_of(struct hdb_rows *rows)
{
	struct hdb_error err = { 0 };
	uint64_t total = 0;

	assert_int_equal(hdb_rows_total(rows, &total, &err), HDB_OK);
	return total;
}

/* Counts the rows of an answer. */
static uint64_t count(const char *first, const char *second)
{
	struct hdb_rows *rows = ask(first, second);
	uint64_t n = 0;

	while (next_row(rows))
		n++;
	assert_int_equal(total_of(rows), n);
	hdb_rows_close(rows);
	return n;
}

/* Text number i: text-i, with a zero inside if i is odd. */
static uint32_t make_text(uint32_t i, char *buf)
{
	const int n = snprintf(buf, 32, i % 2 ? "z_text-%u" : "text-%u", i);

	if (i % 2)
		buf[1] = '\0';
	return (uint32_t)n;
}

static void counts(void **state)
{
	uint32_t want[TEXTS] = { 0 }, texts = 0, frequent = 0, odd = 0;
	uint64_t seed = world_seed(), before = UINT64_MAX, sum = 0;
	struct hdb_rows *rows;
	char text[32];

	(void)state;
	begin();
	for (uint32_t i = 0; i < STRINGS; i++) {
		const uint32_t t =
			(uint32_t)(test_random(&seed) % (1 + test_random(&seed) % TEXTS));

		(void)put(text, make_text(t, text), true);
		want[t]++;
	}
	(void)put("", 0, false);
	(void)put("\xe9t\xe9", 3, true);
	finish(0);
	for (uint32_t t = 0; t < TEXTS; t++) {
		texts += want[t] > 0;
		frequent += want[t] >= 20;
		odd += t % 2 && want[t] > 0;
	}
	rows = ask(NULL, NULL);
	assert_int_equal(fact_of(rows, "objects")->u, STRINGS + 2);
	assert_int_equal(fact_of(rows, "texts")->u, texts + 1);
	assert_int_equal(fact_of(rows, "without_text")->u, 1);
	assert_int_equal(total_of(rows), texts + 1);
	while (next_row(rows)) {
		const struct hdb_value *value = value_of(rows, "text");
		const uint64_t copies = value_of(rows, "objects")->u;
		char copy[32] = { 0 };
		uint32_t t;

		if (value_is(rows, "text", "\xc3\xa9t\xc3\xa9"))
			continue;
		assert_true(value->text_size < sizeof(copy));
		memcpy(copy, value->text, value->text_size);
		t = (uint32_t)strtoul(strchr(copy + 2, '-') + 1, NULL, 10);
		assert_true(t < TEXTS);
		assert_int_equal(make_text(t, text), value->text_size);
		assert_memory_equal(text, value->text, value->text_size);
		assert_int_equal(copies, want[t]);
		assert_int_equal(value_of(rows, "length")->u, value->text_size);
		assert_true(copies <= before);
		assert_int_equal(value_of(rows, "total_shallow")->u,
				 value_of(rows, "shallow")->u + value_of(rows, "array_shallow")->u);
		assert_int_equal(value_of(rows, "shallow")->u % copies, 0);
		before = copies;
		sum += copies;
	}
	assert_int_equal(sum, STRINGS);
	hdb_rows_close(rows);
	assert_int_equal(count("min-count=20", NULL), frequent);
	assert_int_equal(count("match=^text-\\d+$", NULL), texts - odd);
	assert_int_equal(count("match=^z\\x00text", NULL), odd);
	assert_int_equal(count("equals=text-0", NULL), 1);
	assert_int_equal(count("equals=text-", NULL), 0);
	assert_int_equal(count("equals=\xc3\xa9t\xc3\xa9", NULL), 1);
	assert_int_equal(count("equals=z", NULL), 0);
	assert_int_equal(count("objects", NULL), STRINGS + 1);
	assert_int_equal(count("objects", "equals=text-0"), want[0]);
	assert_int_equal(count("equals=text-0", "match=^z"), 0);
	written_close(&heap);
}

/*
 * Long texts that differ only in their last character are two texts, although the parts shown are
 * the same.
 */
static void long_texts(void **state)
{
	static char text[LONG];
	struct hdb_rows *rows;
	uint64_t ids[3];
	int n = 0;

	(void)state;
	memset(text, 'a', sizeof(text));
	begin();
	ids[0] = put(text, LONG, true);
	(void)put(text, LONG, true);
	text[LONG - 1] = 'b';
	ids[1] = put(text, LONG, true);
	ids[2] = put(text, LONG - 1, true);
	finish(0);
	rows = ask(NULL, NULL);
	for (; next_row(rows); n++) {
		assert_true(n < 3);
		assert_int_equal(value_of(rows, "id")->u, ids[n]);
		assert_int_equal(value_of(rows, "objects")->u, n == 0 ? 2 : 1);
		assert_int_equal(value_of(rows, "length")->u, n == 2 ? LONG - 1 : LONG);
		assert_true(value_of(rows, "text")->text_size >= 60000);
	}
	assert_int_equal(n, 3);
	hdb_rows_close(rows);
	rows = ask_rows(heap.db, &(struct ask){ .query = "duplicates", .options = { "all" } });
	assert_true(next_row(rows));
	assert_int_equal(value_of(rows, "length")->u, LONG);
	assert_int_equal(value_of(rows, "text")->text_size, LONG);
	hdb_rows_close(rows);
	written_close(&heap);
}

/* A truncated text is shown with its beginning and its length. */
static void huge_texts(void **state)
{
	static const char *const queries[] = { "strings", "duplicates" };
	static const size_t most[] = { 64u << 10, 1u << 20 };
	const char *const mark = "... (2097152 characters)";
	const uint32_t size = 2u << 20;
	char *text = malloc(size);
	uint64_t body;

	(void)state;
	assert_non_null(text);
	memset(text, 'a', size);
	begin();
	for (int i = 0; i < 2; i++)
		(void)put(text, size, true);
	finish(0);
	free(text);
	for (unsigned i = 0; i < 2; i++) {
		const struct ask question = { .query = queries[i], .options = { "all" } };
		struct hdb_rows *rows = ask_rows(heap.db, &question);
		const struct hdb_value *value;

		assert_true(next_row(rows));
		value = value_of(rows, "text");
		assert_in_range(value->text_size, most[i], most[i] + 64);
		body = value->text_size - strlen(mark);
		assert_memory_equal(value->text + body, mark, strlen(mark));
		hdb_rows_close(rows);
	}
	written_close(&heap);
}

/*
 * Returns the number of copies of text i. Most texts occur once, and one occurs more often than the
 * counter's narrow field can hold.
 */
static uint32_t copies_of(uint32_t i)
{
	return i == MANY / 2 ? MOST : i % 1000 == 7 ? 2 + i % 3 : 1;
}

/* Rows are sorted by frequency, highest first, then by the ID of the first object. */
static void check_order(const char *query, const char *target, const char *column)
{
	const struct ask question = { .query = query, .target = target, .options = { "all" } };
	struct hdb_rows *rows = ask_rows(heap.db, &question);
	uint64_t sum = 0, distinct = 0, before = UINT64_MAX, id = 0;

	for (; next_row(rows); distinct++) {
		const uint64_t count = value_of(rows, "objects")->u;
		const struct hdb_value *value = value_of(rows, column);
		char text[16] = "";
		uint32_t i;

		assert_true(value->text_size < sizeof(text));
		memcpy(text, value->text, value->text_size);
		i = (uint32_t)strtoul(text, NULL, 10);
		assert_true(count <= before);
		assert_true(count < before || value_of(rows, "id")->u > id);
		assert_int_equal(count, copies_of(i));
		assert_int_equal(value_of(rows, "shallow")->u % count, 0);
		before = count;
		id = value_of(rows, "id")->u;
		sum += count;
	}
	assert_int_equal(distinct, MANY);
	assert_int_equal(total_of(rows), MANY);
	hdb_rows_close(rows);
	id = 0;
	for (uint32_t i = 0; i < MANY; i++)
		id += copies_of(i);
	assert_int_equal(sum, id);
}

/* More distinct texts than fit in the smallest budget, 16 MiB. The rest goes to a file. */
static void more_than_memory(void **state)
{
	char text[16];

	(void)state;
	begin();
	for (uint32_t i = 0; i < MANY; i++)
		for (uint32_t c = 0; c < copies_of(i); c++)
			(void)put(text, (uint32_t)snprintf(text, sizeof(text), "%u", i), true);
	finish(1);
	check_order("strings", NULL, "text");
	check_order("group-by-value", "java.lang.String", "value");
	written_close(&heap);
}

static void wrong_questions(void **state)
{
	static const struct refusal cases[] = {
		{ { .query = "strings", .options = { "match=(" } }, HDB_EUSAGE, "parenthesis" },
		{ { .query = "strings", .options = { "all", "match=^(a+)+$" } },
		  HDB_ELIMIT,
		  "too long" },
		{ { .query = "strings", .options = { "min-count=0" } }, HDB_EUSAGE, "--min-count" },
		{ { .query = "strings", .target = "x" }, HDB_EUSAGE, "no arguments" },
	};
	char text[64];

	(void)state;
	begin();
	memset(text, 'a', sizeof(text));
	text[40] = '!';
	(void)put(text, 41, true);
	for (uint32_t i = 0; i < 100000; i++)
		(void)put(text, (uint32_t)snprintf(text, sizeof(text), "%u", i), true);
	finish(0);
	expect_refusals(heap.db, cases, sizeof(cases) / sizeof(cases[0]));
	/* Texts that do not match the filter need no memory. */
	assert_int_equal(count("match=^19\\d\\d$", NULL), 100);
	written_close(&heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts),          cmocka_unit_test(long_texts),
		cmocka_unit_test(huge_texts),      cmocka_unit_test(more_than_memory),
		cmocka_unit_test(wrong_questions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
