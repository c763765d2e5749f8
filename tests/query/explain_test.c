/*
 * query/explain_test.c - rules that explain objects. Each rule is tested with a heap that it must
 * explain and a heap that it must not explain (explain_heaps.txt). Also tests the language of rules
 * and its error messages.
 */
#include "support/planted.h"
#include "support/query_ask.h"

#define LINE_BYTES 4096
#define RULES_MAX 1000

static struct written heap;

static void plant(const char *text)
{
	struct hw w;

	planted_write(&w, text);
	written_open(&heap, &w, "explain", NULL);
}

/*
 * Fails unless the query returns the same row if the row's object is the target. The text may lack
 * its end, which names the object's keeper.
 */
static void check_target(const struct hdb_rows *rows, const char *rule)
{
	const struct hdb_value *text = value_of(rows, "text");
	char target[32];
	const struct ask ask = { .query = "explain", .target = target };
	struct hdb_rows *own;
	bool is_same = false;

	(void)snprintf(target, sizeof(target), "0x%" PRIx64, value_of(rows, "id")->u);
	own = ask_rows(heap.db, &ask);
	while (next_row(own)) {
		const struct hdb_value *other = value_of(own, "text");

		is_same |= value_is(own, "rule", rule) && other->text_size <= text->text_size &&
			   !memcmp(other->text, text->text, other->text_size);
	}
	hdb_rows_close(own);
	if (!is_same)
		fail_msg("explain %s does not say \"%.*s\" (%s)", target, (int)text->text_size,
			 text->text, rule);
}

/*
 * Whether a rule explains an object of the heap in a sentence that contains these words, or ends
 * with them if a "$" follows.
 */
static bool explains(const char *rule, const char *words)
{
	const size_t size = strlen(words);
	const bool is_end = size && words[size - 1] == '$';
	const size_t wanted = size - is_end;
	const struct ask ask = { .query = "explain", .options = { "threshold=0" } };
	struct hdb_rows *rows = ask_rows(heap.db, &ask);
	bool does = false;

	while (next_row(rows)) {
		const struct hdb_value *text = value_of(rows, "text");
		size_t skipped;

		if (!value_is(rows, "rule", rule))
			continue;
		does = true;
		skipped = is_end && text->text_size > wanted ? text->text_size - wanted : 0;
		if (memchr(text->text, '?', text->text_size) ||
		    !memmem(text->text + skipped, text->text_size - skipped, words, wanted))
			fail_msg("%s says \"%.*s\", without \"%s\"", rule, (int)text->text_size,
				 text->text, words);
		check_target(rows, rule);
	}
	hdb_rows_close(rows);
	return does;
}

/*
 * Lines are "RULE + WORDS | HEAP" or "RULE - | HEAP". # begins a comment. An indented line
 * continues the previous line.
 */
static void test_rules(void **state)
{
	static char line[LINE_BYTES], seen[RULES_MAX][64];
	bool has[RULES_MAX][2] = { { false } };
	FILE *in = fopen("tests/query/explain_heaps.txt", "r");
	unsigned rules = 0, heaps = 0;
	char *next = NULL;
	size_t room = 0;
	bool is_last = false;

	(void)state;
	assert_non_null(in);
	line[0] = '\0';
	while (!is_last) {
		char rule[64], words[256] = "", sign;
		const char *bar;
		unsigned no = 0;

		is_last = getline(&next, &room, in) < 0;
		if (!is_last && (*next == ' ' || *next == '\t')) {
			line[strcspn(line, "\n")] = '\0';
			assert_true(strlen(line) + strlen(next) < sizeof(line));
			strcat(line, next + strspn(next, " \t"));
			continue;
		}
		bar = strchr(line, '|');
		if (line[0] && line[0] != '#' && line[0] != '\n') {
			if (!bar || sscanf(line, "%63s %c %255[^|]", rule, &sign, words) < 2)
				fail_msg("no heap of a rule: %s", line);
			words[strcspn(words, "|")] = '\0';
			while (*words && words[strlen(words) - 1] == ' ')
				words[strlen(words) - 1] = '\0';
			if (sign == '-')
				words[0] = '\0';
			line[strcspn(line, "\n")] = '\0';
			while (no < rules && strcmp(seen[no], rule) != 0)
				no++;
			assert_true(no < RULES_MAX);
			(void)snprintf(seen[no], sizeof(seen[no]), "%s", rule);
			rules += no == rules;
			has[no][sign == '+'] = true;
			plant(bar + 1);
			if (explains(rule, words) != (sign == '+'))
				fail_msg("%s %s: %s", rule, sign == '+' ? "is silent" : "speaks",
					 bar + 1);
			written_close(&heap);
			heaps++;
		}
		(void)snprintf(line, sizeof(line), "%s", is_last ? "" : next);
	}
	(void)fclose(in);
	free(next);
	for (unsigned i = 0; i < rules; i++)
		if (!has[i][0] || !has[i][1])
			fail_msg("%s needs a heap that it explains and one that it does not",
				 seen[i]);
	/* every rule has heaps */
	plant("a.A{}");
	const struct ask ask = { .query = "explain" };
	struct hdb_rows *rows = ask_rows(heap.db, &ask);
	assert_int_equal(fact_of(rows, "rules_tried")->u, rules);
	hdb_rows_close(rows);
	written_close(&heap);
	print_message("%u rules, %u heaps\n", rules, heaps);
}

/* ---- user() ---- */

#define PARTS "package.name.of.the.application.with.many.parts."
#define LONG_NAME "a." PARTS PARTS PARTS PARTS PARTS PARTS

/* A thread that is not in the dump is skipped. Of a long method, the end is shown. */
static void test_user(void **state)
{
	static const char *const texts[] = { LONG_NAME "Report", "write", "Report.java" };
	const uint64_t frame = 0x7001, sheet = 0x101000, thread = 0x102000; /* as planted */
	struct hw w;

	(void)state;
	planted_write(&w, "org.apache.poi.xssf.usermodel.XSSFSheet@s{"
			  "_rows=map(1500*a.Row{_cells=map(2*a.Cell{data=bytes(500)})})};"
			  "java.lang.Thread@t{name=\"main\"}");
	for (unsigned serial = 1; serial <= 2; serial++) {
		hw_root(&w, HPROF_ROOT_THREAD_OBJECT, thread, serial, 3);
		hw_root(&w, HPROF_ROOT_JAVA_FRAME, sheet, serial, 0);
	}
	hw_root(&w, HPROF_ROOT_THREAD_OBJECT, 0x7fff000000, 1, 0);
	hw_end(&w);
	for (unsigned i = 0; i < 3; i++)
		hw_utf8(&w, 0x7101 + i, texts[i]);
	hw_load_class(&w, 900, 0x7200, 0, 0x7101);
	hw_frame(&w, &(struct hprof_frame){ .frame_id = frame,
					    .method_string_id = 0x7102,
					    .source_string_id = 0x7103,
					    .class_serial = 900,
					    .line = 1234 });
	hw_trace(&w, 3, 2, &frame, 1);
	(void)hw_begin(&w, HPROF_HEAP_DUMP_SEGMENT, 0);
	written_open(&heap, &w, "explain", NULL);
	assert_true(explains("poi-sheet",
			     "by thread main in ...n.with.many.parts." PARTS PARTS PARTS PARTS
			     "Report.write(Report.java:1234)."));
	written_close(&heap);
}

/* ---- the language ---- */

static void write_rules(const char *text)
{
	FILE *out = fopen(temp_path("ours.rules"), "w");

	assert_non_null(out);
	assert_true(fputs(text, out) >= 0);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(setenv("HEAPDB_RULES", temp_path("ours.rules"), 1), 0);
}

#define RULE(lines) "rule ours\nclass a.A\n" lines "do nothing\nsource test\n"

static void test_language(void **state)
{
	static const struct {
		const char *condition;
		bool holds;
	} cases[] = {
		{ "n == 12", true },
		{ "n > 12", false },
		{ "n * 2 - 4 >= 20 / 1", true },
		{ "(n + 1) * 2 == 26", true },
		{ "big == 5000000000", true },
		{ "ratio > 1.4", true },
		{ "on", true },
		{ "off", false },
		{ "off or on", true },
		{ "off and on or on", true },
		{ "on and off", false },
		{ "(next).next.n == 12", true },
		{ "null(nothing)", true },
		{ "null(list) == 0", true },
		{ "null(missing) == 0", false },
		{ "string(name) == 'pool-1'", true },
		{ "exists(string(list))", false },
		{ "reference(nothing) == 'null'", true },
		{ "-1 < n", true },
		{ "is(this, 'a.A')", true },
		{ "is(next, 'a.A')", false },
		{ "simple(next) == 'C'", true },
		{ "text(name) == 'pool-1'", true },
		{ "text(name) ~ 'main,pool-*'", true },
		{ "name ~ 'pool-*'", false },
		{ "count(list) == 7", true },
		{ "count(map) == 3", true },
		{ "count(set) == 2", true },
		{ "count(array) == 5", true },
		{ "kind(list) == 'Item'", true },
		{ "class(first(list)) == 'b.Item'", true },
		{ "first(list).weight == 9", true },
		{ "first(map).weight == 4", true },
		{ "other.n|n == 12", true },
		{ "next.next.n == 12", true },
		{ "next.next == this", true },
		{ "next != this", true },
		{ "missing == 1", false },
		{ "missing != 1", false },
		{ "missing + 1 == 1", false },
		{ "exists(missing)", false },
		{ "exists(nothing)", false },
		{ "exists(list)", true },
		{ "n / 0 == 0", false },
		{ "count(n) == 1", false },
		{ "static('a.Limits.MOST') == 64K", true },
		{ "static('a.Limits.ONE').weight == 2", true },
		{ "retained(this) > shallow(this)", true },
		{ "share(this) > 1", true },
		{ "share(this) <= 100", true },
		{ "sum(list, 'weight') == 63", true },
		{ "sum(map, 'weight * 2') == 24", true },
		{ "sum(array, 'weight + 1') == 10", true },
		{ "sum(list, 'missing') == 0", true },
		{ "sum(missing, 'weight') == 0", false },
		{ "instances('b.Item', '1') == 18", true },
		{ "instances('*.Item', 'weight == 9') == 7", true },
		{ "instances('b.None', '1') == 0", true },
		{ "referrer(next, 'a.A') == this", true },
		{ "referrer(list, 'x.Y,*.B').n == 12", true },
		{ "exists(referrer(next, 'x.Y'))", false },
		/* more instances than the limit for reading them individually */
		{ "referrer(this, 'b.Many').nth == 1", true },
		{ "exists(referrer(next, 'b.Many'))", false },
		{ "exists(loader(this))", false },
		/* more entries than are examined */
		{ "exists(most_count(many, 'kind(of.many)'))", false },
		{ "exists(sum(many, 'count(of.many)'))", true },
	};
	char text[512];

	(void)state;
	plant("a.B:a.A@a{n=12, big=5000000000L, ratio=1.5, on=true, off=false, name=\"pool-1\","
	      "list=list(7*b.Item{weight=9}), map=map(3*b.Item{weight=4}), nothing=null,"
	      "set=set(2*b.Item{weight=1}), array=array(5*b.Item{weight=1}),"
	      "many=array(50001*b.Many{nth=1, of=$a}), next=c.C{next=$a}};"
	      "static a.Limits.MOST = 65536; static a.Limits.ONE = b.Item{weight=2}");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		(void)snprintf(text, sizeof(text), RULE("where %s\nsays yes\n"),
			       cases[i].condition);
		write_rules(text);
		hdb_close(heap.db);
		assert_int_equal(hdb_open(heap.db_path, NULL, &heap.db, NULL), HDB_OK);
		if (explains("ours", "yes") != cases[i].holds)
			fail_msg("%s", cases[i].condition);
	}
	/* Sentences, conditions that must all be true, and the first matching rule. */
	write_rules(RULE("where n == 12\nwhere n == 13\nsays never\n") RULE(
		"read n = n\nread lost = missing\nread bytes = 1536\nread half = 12.5\n"
		"read huge = big * big\n"
		"says {n} of\n  {half:percent}[ and {lost}][ in {bytes:bytes}]; {class}; "
		"{huge}, {huge:bytes}\n") RULE("says later\n"));
	hdb_close(heap.db);
	assert_int_equal(hdb_open(heap.db_path, NULL, &heap.db, NULL), HDB_OK);
	assert_true(explains("ours", "12 of 12.5 % in 1.5 KiB; a.B; "
				     "2.5e+19, more than 888.2 PiB"));
	written_close(&heap);
}

#define TEN "abcdefghij"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

static void test_refusals(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "class a.A\n", "line 1: expected \"rule NAME\" at the start" },
		{ "rule x\nclass a.A\nsays y\ndo z\n", "line 1: the rule lacks a line: source" },
		{ "rule x\nclass a.A\nsays y\ndo look at {run}\nsource s\n",
		  "line 1: the rule lacks a line: run" },
		{ "rule x\nclass a.A\nwhere n ==\n", "line 3: expected a field" },
		{ "rule x\nwhere (n\n", "line 2: expected \")\"" },
		{ "rule x\nwhere size(n) > 1\n", "unknown function \"size\"" },
		{ "rule x\nwhere n > 1 2\n", "expected the end" },
		{ "rule x\nwhere 'a\n", "expected a string" },
		{ "rule x\nread n\n", "expected \"read NAME = EXPRESSION\"" },
		{ "rule x\nverdict bad\n", "the verdict must be" },
		{ "rule x\nwhen 1\n", "unknown line in a rule: when" },
		{ "rule\n", "nothing follows rule" },
		{ "rule x\nwhere sum(n, 'n ==')\n", "expected a field" },
		{ "rule x\nwhere sum(n, 5) > 1\n", "expected a string and" },
		{ "rule x\nwhere size(n, 'n') > 1\n",
		  "unknown function \"size\" with two arguments" },
		{ "rule x\nwhere " HUNDRED HUNDRED "\n", "a shorter path" },
		{ "rule x\nwhere null(" HUNDRED HUNDRED ")\n", "a shorter path" },
		{ "rule x\nwhere '" HUNDRED HUNDRED "'\n", "a string of at most 199" },
		{ "rule x\nwhere 1234567890123456789 > 1\n", "at most 18 digits" },
		{ "rule x\nwhere ((((((((((((((((((1))))))))))))))))))\n", "fewer parentheses" },
	};

	(void)state;
	plant("a.A{n=1}");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct refusal refusal = { { .query = "explain" },
						 HDB_EUSAGE,
						 cases[i].says };

		write_rules(cases[i].text);
		hdb_close(heap.db);
		assert_int_equal(hdb_open(heap.db_path, NULL, &heap.db, NULL), HDB_OK);
		expect_refusals(heap.db, &refusal, 1);
	}
	assert_int_equal(unsetenv("HEAPDB_RULES"), 0);
	written_close(&heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_user),
		cmocka_unit_test(test_language),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
