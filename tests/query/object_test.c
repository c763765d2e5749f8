/*
 * object_test.c - object, references, referrers, class, roots and threads on a small heap with
 * known contents: values, field names, strengths, labels, frames and local variables.
 */
#include "support/query_world.h"

enum {
	STRING = 0x2000,
	CHARS = 0x2100,
	THREAD = 0x2200,
	REFERENCE = 0x2300,
	WEAK = 0x2400,
	BASE = 0x2500,
	HOLDER = 0x2600,
	ARRAYS = 0x2700,
	INTEGER = 0x2800,
	ROW = 0x2900,
	/* objects */
	HELLO_CHARS = 0x8000,
	HELLO,
	NAME_CHARS = 0x8100,
	NAME,
	MAIN = 0x8200,
	ONE = 0x8300,
	NUMBER = 0x8400,
	LIST = 0x8500,
	SOFTLY = 0x8600,
	GARBAGE = 0x8700,
	FIRST_ROW = 0x8800,
	GONE = 0xdead00,
};
/* Texts. */
enum {
	N_VALUE = 1,
	N_NAME,
	N_STATUS,
	N_REFERENT,
	N_FIRST,
	N_SECOND,
	N_COUNT,
	N_SHARED,
	N_METHOD,
	N_SIGNATURE,
	N_SOURCE,
	N_LABEL,
	N_FIELD1,
	N_ID,
	N_CLASS = 40
};

static struct written heap;

static void put_class(struct hw *w, uint64_t id, uint64_t super, const struct hprof_field *fields,
		      unsigned count)
{
	const struct hw_class c = {
		.id = id, .super_id = super, .fields = fields, .field_count = count
	};

	hw_class(w, &c);
	hw_root(w, HPROF_ROOT_STICKY_CLASS, id, 0, 0);
}

static void put_classes(struct hw *w)
{
	const struct hprof_field value = { N_VALUE, HPROF_OBJECT };
	const struct hprof_field number = { N_VALUE, HPROF_INT };
	const struct hprof_field referent = { N_REFERENT, HPROF_OBJECT };
	const struct hprof_field thread[] = { { N_NAME, HPROF_OBJECT }, { N_STATUS, HPROF_INT } };
	const struct hprof_field base = { N_COUNT, HPROF_INT };
	const struct hprof_field holder[] = { { N_FIRST, HPROF_OBJECT },
					      { N_SECOND, HPROF_OBJECT } };
	const struct hprof_field row[] = { { N_LABEL, HPROF_INT },
					   { N_FIELD1, HPROF_INT },
					   { N_ID, HPROF_INT } };
	const struct hw_static shared[] = {
		{ N_SHARED, HPROF_OBJECT, HELLO },
		{ N_COUNT, HPROF_SHORT, 0xfffe },
	};
	const struct hw_class rows = {
		.id = ROW, .super_id = WORLD_OBJECT, .fields = row, .field_count = 3
	};
	const struct hw_class with_statics = {
		.id = HOLDER,
		.super_id = BASE,
		.fields = holder,
		.field_count = 2,
		.statics = shared,
		.static_count = 2,
	};

	put_class(w, WORLD_OBJECT, 0, NULL, 0);
	put_class(w, WORLD_CLASS, WORLD_OBJECT, NULL, 0);
	put_class(w, STRING, WORLD_OBJECT, &value, 1);
	put_class(w, CHARS, WORLD_OBJECT, NULL, 0);
	put_class(w, THREAD, WORLD_OBJECT, thread, 2);
	put_class(w, REFERENCE, WORLD_OBJECT, &referent, 1);
	put_class(w, WEAK, REFERENCE, NULL, 0);
	put_class(w, BASE, WORLD_OBJECT, &base, 1);
	hw_class(w, &with_statics);
	hw_root(w, HPROF_ROOT_STICKY_CLASS, HOLDER, 0, 0);
	put_class(w, ARRAYS, WORLD_OBJECT, NULL, 0);
	put_class(w, INTEGER, WORLD_OBJECT, &number, 1);
	hw_class(w, &rows);
}

/* An instance of 4-byte values. */
static void put(struct hw *w, uint64_t id, uint64_t class_id, const uint32_t *values,
		unsigned count)
{
	uint8_t body[32];

	for (unsigned i = 0; i < count * 4; i++)
		body[i] = (uint8_t)(values[i / 4] >> (24 - 8 * (i % 4)));
	hw_instance(w, id, class_id, body, count * 4);
}

static void put_objects(struct hw *w)
{
	const uint32_t hello = HELLO_CHARS, name = NAME_CHARS, main_thread[] = { NAME, 0x4 | 0x1 };
	const uint32_t one[] = { HELLO, HELLO, 7 }, number = (uint32_t)-42, softly = ONE;
	const uint32_t garbage[] = { ONE, GONE, 1 }, row[] = { 10, 11, 12 };
	const uint64_t list[] = { 0, HELLO, ONE, HELLO, GONE };

	hw_primitive_array(w, HELLO_CHARS, HPROF_CHAR, "\0h\0\xe9\0l\0l\0o", 5);
	put(w, HELLO, STRING, &hello, 1);
	hw_primitive_array(w, NAME_CHARS, HPROF_CHAR, "\0m\0a\0i\0n", 4);
	put(w, NAME, STRING, &name, 1);
	put(w, MAIN, THREAD, main_thread, 2);
	put(w, ONE, HOLDER, one, 3);
	put(w, NUMBER, INTEGER, &number, 1);
	hw_object_array(w, LIST, ARRAYS, list, 5);
	put(w, SOFTLY, WEAK, &softly, 1);
	put(w, GARBAGE, HOLDER, garbage, 3);
	put(w, FIRST_ROW, ROW, row, 3);
	hw_root(w, HPROF_ROOT_THREAD_OBJECT, MAIN, 1, 5);
	hw_root(w, HPROF_ROOT_JAVA_FRAME, NUMBER, 1, 1);
	hw_root(w, HPROF_ROOT_JNI_GLOBAL, LIST, 99, 0);
	hw_root(w, HPROF_ROOT_JNI_GLOBAL, SOFTLY, 98, 0);
	hw_root(w, HPROF_ROOT_MONITOR_USED, LIST, 0, 0);
}

static int start(void **state)
{
	static const char *const texts[] = { "value",  "name",   "threadStatus", "referent",
					     "first",  "second", "count",        "shared",
					     "run",    "()V",    "Main.java",    "Label",
					     "field1", "id" };
	static const struct {
		uint64_t id;
		const char *name;
	} classes[] = {
		{ WORLD_OBJECT, "java/lang/Object" },
		{ WORLD_CLASS, "java/lang/Class" },
		{ STRING, "java/lang/String" },
		{ CHARS, "[C" },
		{ THREAD, "java/lang/Thread" },
		{ REFERENCE, "java/lang/ref/Reference" },
		{ WEAK, "java/lang/ref/WeakReference" },
		{ BASE, "test/Base" },
		{ HOLDER, "test/Holder" },
		{ ARRAYS, "[Ljava/lang/Object;" },
		{ INTEGER, "java/lang/Integer" },
		{ ROW, "app/Row" },
	};
	const struct hprof_frame frames[] = {
		{ .frame_id = 1,
		  .method_string_id = N_METHOD,
		  .signature_string_id = N_SIGNATURE,
		  .source_string_id = N_SOURCE,
		  .class_serial = 9,
		  .line = -3 },
		{ .frame_id = 2,
		  .method_string_id = N_METHOD,
		  .signature_string_id = N_SIGNATURE,
		  .source_string_id = N_SOURCE,
		  .class_serial = 9,
		  .line = 12 },
	};
	const uint64_t trace[] = { 1, 2 };
	struct hw w;

	(void)state;
	hw_init(&w, HPROF_1_0_2, 4, 0);
	for (uint32_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		hw_utf8(&w, N_VALUE + i, texts[i]);
	for (uint32_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		hw_utf8(&w, N_CLASS + i, classes[i].name);
		hw_load_class(&w, i + 1, classes[i].id, 0, N_CLASS + i);
	}
	hw_frame(&w, &frames[0]);
	hw_frame(&w, &frames[1]);
	hw_trace(&w, 5, 1, trace, 2);
	(void)hw_begin(&w, HPROF_HEAP_DUMP_SEGMENT, 0);
	put_classes(&w);
	put_objects(&w);
	written_open(&heap, &w, "object", NULL);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	written_close(&heap);
	return 0;
}

/* ---- asking ---- */

static void put_value(char *buf, size_t size, const struct hdb_value *v)
{
	const size_t used = strlen(buf);

	switch (v->type) {
	case HDB_TYPE_NULL:
		(void)snprintf(buf + used, size - used, "-");
		break;
	case HDB_TYPE_TEXT:
		(void)snprintf(buf + used, size - used, "%.*s", (int)v->text_size, v->text);
		break;
	case HDB_TYPE_ID:
		(void)snprintf(buf + used, size - used, "0x%" PRIx64, v->u);
		break;
	case HDB_TYPE_INT:
		(void)snprintf(buf + used, size - used, "%" PRId64, v->i);
		break;
	default:
		(void)snprintf(buf + used, size - used, "%" PRIu64, v->u);
		break;
	}
}

/* Returns the rows of an answer as text: a line per row, with these columns separated by '|'. */
static void expect(const struct ask *question, const char *columns, const char *want)
{
	struct hdb_rows *rows = ask_rows(heap.db, question);
	char got[4096] = "";

	while (next_row(rows)) {
		char name[64];

		for (const char *p = columns; *p;) {
			const size_t size = strcspn(p, ",");

			(void)snprintf(name, sizeof(name), "%.*s", (int)size, p);
			put_value(got, sizeof(got), value_of(rows, name));
			(void)snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s",
				       p[size] ? "|" : "\n");
			p += size + (p[size] == ',');
		}
	}
	hdb_rows_close(rows);
	assert_string_equal(got, want);
}

static void expect_fact(const char *query, const char *target, const char *fact, const char *want)
{
	const struct ask question = { .query = query, .target = target };
	struct hdb_rows *rows = ask_rows(heap.db, &question);
	const struct hdb_value *value = fact_of(rows, fact);
	char got[256] = "";

	if (value)
		put_value(got, sizeof(got), value);
	hdb_rows_close(rows);
	if (strcmp(got, want) != 0)
		fail_msg("%s %s: %s is \"%s\", not \"%s\"", query, target, fact, got, want);
}

#define ASK(name, what, ...) \
	(&(const struct ask){ .query = name, .target = what, .options = { __VA_ARGS__ } })

/* ---- tests ---- */

static void objects(void **state)
{
	(void)state;
	expect(ASK("object", "0x8300", NULL), "class,name,type,value,ref,label",
	       "test.Holder|first|object|0x8001|0x8001|java.lang.String \"h\xc3\xa9llo\"\n"
	       "test.Holder|second|object|0x8001|0x8001|java.lang.String \"h\xc3\xa9llo\"\n"
	       "test.Base|count|int|7|-|-\n");
	expect(ASK("object", "0x8700", NULL), "name,value,ref",
	       "first|0x8300|0x8300\nsecond|0xdead00|-\ncount|1|-\n");
	expect(ASK("object", "0x8500", NULL), "name,value,ref",
	       "[0]|null|-\n[1]|0x8001|0x8001\n[2]|0x8300|0x8300\n[3]|0x8001|0x8001\n"
	       "[4]|0xdead00|-\n");
	expect(ASK("object", "0x8000", "from=3"), "name,value", "[3]|'l'\n[4]|'o'\n");
	expect(ASK("object", "0x2600", NULL), "name,type,value",
	       "static shared|object|0x8001\nstatic count|short|-2\n");
	expect_fact("object", "0x8001", "value", "h\xc3\xa9llo");
	expect_fact("object", "0x8400", "value", "-42");
	expect_fact("object", "0x8200", "roots", "thread object");
	expect_fact("object", "0x8500", "length", "5");
	expect_fact("object", "0x8500", "roots", "JNI global, monitor used");
	expect_fact("object", "0x8500", "kind", "object array");
	expect_fact("object", "0x8700", "reachable", "0");
	expect_fact("object", "0x8700", "retained", "0");
	expect_fact("object", "0x8300", "reachable", "1");
}

static void references(void **state)
{
	(void)state;
	expect(ASK("references", "0x8600", NULL), "name,id,strength",
	       "<class>|0x2400|strong\nreferent|0x8300|weak\n");
	expect(ASK("references", "0x8200", NULL), "name,id,label",
	       "<class>|0x2200|class java.lang.Thread\n"
	       "name|0x8101|java.lang.String \"main\"\n"
	       "<local variable>|0x8400|java.lang.Integer -42\n");
	expect_fact("references", "0x8300", "references", "2");
}

static void referrers(void **state)
{
	(void)state;
	expect(ASK("referrers", "0x8001", NULL), "id,name,strength,reachable",
	       "0x2600|static shared|strong|1\n0x8300|first, second|strong|1\n"
	       "0x8500|[1]|strong|1\n");
	expect(ASK("referrers", "0x8300", NULL), "id,name,strength,reachable",
	       "0x8500|[2]|strong|1\n0x8600|referent|weak|1\n");
	expect(ASK("referrers", "0x8300", "all"), "id,name,strength,reachable",
	       "0x8500|[2]|strong|1\n0x8600|referent|weak|1\n0x8700|first|strong|0\n");
	expect(ASK("referrers", "0x8300", "unreachable"), "id,name", "0x8700|first\n");
	expect_fact("referrers", "0x8300", "unreachable_objects", "1");
	expect_fact("referrers", "0x8300", "counted", "reachable");
	expect(ASK("referrers", "0x8400", NULL), "id,name,label",
	       "0x8200|<local variable>|java.lang.Thread \"main\"\n");
	expect_fact("referrers", "0x2600", "instances", "2");
	expect(ASK("referrers", "0x2600", "instances"), "id,name", "0x8300|<class>\n");
	expect(ASK("referrers", "0x2600", "instances", "all"), "id,name",
	       "0x8300|<class>\n0x8700|<class>\n");
	expect(ASK("referrers", "0x2500", NULL), "id,name", "0x2600|<super>\n");
}

static void classes(void **state)
{
	(void)state;
	expect(ASK("class", "test.Holder", NULL), "declared_in,field,type,static,offset,value",
	       "test.Holder|shared|object|1|-|0x8001\ntest.Holder|count|short|1|-|-2\n"
	       "test.Holder|first|object|0|0|-\ntest.Holder|second|object|0|4|-\n"
	       "test.Base|count|int|0|8|-\n");
	expect_fact("class", "test.Holder", "instances", "1");
	expect_fact("class", "test.Holder", "unreachable_objects", "1");
	expect_fact("class", "test.Holder", "superclasses", "test.Base, java.lang.Object");
	expect_fact("class", "0x2500", "subclasses", "1");
	expect(ASK("class", "test.*", NULL), "class,instances", "test.Base|0\ntest.Holder|1\n");
	expect(ASK("class", "test.*", "all"), "class,instances", "test.Base|0\ntest.Holder|2\n");
}

/* Fields with the names of other columns. */
static void instances(void **state)
{
	(void)state;
	expect(ASK("instances", "app.Row", "unreachable"), "id,Row.Label,field1,Row.id",
	       "0x8800|10|11|12\n");
	expect(ASK("instances", "*", "unreachable", "fields=field1,id"), "id,field1,field.id",
	       "0x2900|-|-\n0x8700|-|-\n0x8800|11|12\n");
	expect(ASK("instances", "test.Holder", NULL), "id,second,count", "0x8300|h\xc3\xa9llo|7\n");
}

static void roots(void **state)
{
	(void)state;
	expect(ASK("roots", NULL, "kind=JNI global"), "id,class",
	       "0x8500|java.lang.Object[]\n0x8600|java.lang.ref.WeakReference\n");
	expect_fact("roots", NULL, "records", "16");
}

static void threads(void **state)
{
	(void)state;
	expect(ASK("threads", NULL, NULL), "level,kind,thread,text,signature,id,state,depth,locals",
	       "0|thread|main|java.lang.Thread|-|0x8200|RUNNABLE|2|1\n"
	       "1|frame|main|test.Holder.run(Native Method)|()V|-|-|0|-\n"
	       "1|frame|main|test.Holder.run(Main.java:12)|()V|-|-|1|-\n"
	       "2|local|main|java.lang.Integer -42|-|0x8400|-|1|-\n");
	expect(ASK("threads", "ma*", "no-stack"), "thread,serial,locals", "main|1|1\n");
	expect(ASK("threads", "0x8200", "no-locals"), "level,depth", "0|2\n1|0\n1|1\n");
}

static void absent(void **state)
{
	/* The message does not matter. */
	static const struct refusal cases[] = {
		{ { .query = "object", .target = "0x77" }, HDB_NOTFOUND, "" },
		{ { .query = "object", .target = "12" }, HDB_EUSAGE, "" },
		{ { .query = "object" }, HDB_EUSAGE, "" },
		{ { .query = "references", .target = "0x77" }, HDB_NOTFOUND, "" },
		{ { .query = "referrers", .target = "0x77" }, HDB_NOTFOUND, "" },
		{ { .query = "class", .target = "no.Such" }, HDB_NOTFOUND, "" },
		{ { .query = "class", .target = "0x8001" }, HDB_NOTFOUND, "" },
		{ { .query = "threads", .target = "nobody" }, HDB_NOTFOUND, "" },
		{ { .query = "roots", .options = { "kind=nonsense" } }, HDB_NOTFOUND, "" },
	};

	(void)state;
	expect_refusals(heap.db, cases, sizeof(cases) / sizeof(cases[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects),   cmocka_unit_test(references),
		cmocka_unit_test(referrers), cmocka_unit_test(classes),
		cmocka_unit_test(instances), cmocka_unit_test(roots),
		cmocka_unit_test(threads),   cmocka_unit_test(absent),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
