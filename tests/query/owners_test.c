/*
 * owners_test.c - diff by owner. Objects planted between dumps are named first, by their owner.
 * Objects that come and go with them are not reported again, and moved objects are not new.
 */
#include "support/planted.h"
#include "support/query_ask.h"

#define DUMPS_MAX 3
#define TEXT_BYTES 1024

static struct written dumps[DUMPS_MAX];

/* Other changes: fewer objects of some classes, more of others, and some replaced. */
#define NOISE_1 "static a.App.buffers = list(40*bytes(500)); static a.App.recent = list(9*a.Hit{});"
#define NOISE_2 "static a.App.buffers = list(9*bytes(500)); static a.App.recent = list(11*a.Hit{});"
#define NOISE_3 \
	"static a.App.buffers = list(20*bytes(500)); static a.App.recent = list(12*a.Hit{});"

static const struct {
	const char *heaps[DUMPS_MAX];
	const char *rows[3]; /* beginnings of the first rows' texts, in order; NULL: no such row */
	const char *absent;  /* no row's text begins with this */
} cases[] = {
	/* a map's values, whatever objects they hold */
	{ { "a.App{};" NOISE_1 "static a.App.manager = a.Manager{sessions=map(50*a.Session{"
	    "attributes=map(2*a.Cart{data=bytes(200)})})}",
	    "a.App{};" NOISE_2 "static a.App.manager = a.Manager{sessions=map(90*a.Session{"
	    "attributes=map(2*a.Cart{data=bytes(200)})})}" },
	  { "Manager.sessions: 50 -> 90 Session, holds " },
	  "Session.attributes" },
	/* a list below another list that does not change */
	{ { "a.App{};" NOISE_1 "static a.App.topics = map(4*list(5*a.Listener{data=bytes(300)}))",
	    "a.App{};" NOISE_2
	    "static a.App.topics = map(4*list(50*a.Listener{data=bytes(300)}))" },
	  { "App.topics (static): 20 -> 200 Listener, holds " },
	  "Listener.data" },
	/* one array that grows */
	{ { "a.App{};" NOISE_1 "static a.App.log = java.lang.StringBuilder{value=bytes(5000)}",
	    "a.App{};" NOISE_2 "static a.App.log = java.lang.StringBuilder{value=bytes(90000)}" },
	  { "App.log (static): one StringBuilder, holds " },
	  NULL },
	/* values of thread-locals belong to the owner of the ThreadLocal */
	{ { "java.lang.ThreadLocal$ThreadLocalMap{table=array(java.lang.ThreadLocal$ThreadLocalMap$Entry{"
	    "referent=$k, value=list(9*a.Span{data=bytes(200)})})};" NOISE_1
	    "static a.Trace.CURRENT = $k; java.lang.ThreadLocal@k{}",
	    "java.lang.ThreadLocal$ThreadLocalMap{table=array(java.lang.ThreadLocal$ThreadLocalMap$Entry{"
	    "referent=$k, value=list(200*a.Span{data=bytes(200)})})};" NOISE_2
	    "static a.Trace.CURRENT = $k; java.lang.ThreadLocal@k{}" },
	  { "thread-local Trace.CURRENT (static): 9 -> 200 Span, holds " },
	  NULL },
	/* the same list in another field: it is not new, but has grown */
	{ { "a.App{}; static a.App.one = $l; static a.App.two = null;"
	    "java.util.ArrayList@l{elementData=array(40*a.Row{data=bytes(100)}), size=40}",
	    "a.App{}; static a.App.one = null; static a.App.two = $l;"
	    "java.util.ArrayList@l{elementData=array(90*a.Row{data=bytes(100)}), size=90}" },
	  { "App.two (static): 40 -> 90 Row, holds ", NULL },
	  "App.one" },
	/* it moved without growing */
	{ { "a.App{}; static a.App.one = $l; static a.App.two = null;"
	    "java.util.ArrayList@l{elementData=array(40*a.Row{data=bytes(100)}), size=40}",
	    "a.App{}; static a.App.one = null; static a.App.two = $l;"
	    "java.util.ArrayList@l{elementData=array(40*a.Row{data=bytes(100)}), size=40}" },
	  { NULL },
	  "App." },
	/* arrays at the addresses of other arrays of the same length: nothing moved */
	{ { "a.App{}; static a.App.one = list(40*bytes(100)); static a.App.two = list()",
	    "a.App{}; static a.App.one = list(); static a.App.two = list(40*bytes(100))" },
	  { "App.two (static): 0 -> 40 byte[], holds ",
	    "App.one (static): 40 -> 0 byte[], holds " },
	  NULL },
	/* owners that shrank are listed after it, however much they shrank */
	{ { "a.App{}; static a.App.a = list(300*a.A{data=bytes(100)}); static a.App.b = list(9*a.B{})",
	    "a.App{}; static a.App.a = list(20*a.A{data=bytes(100)}); static a.App.b = list(99*a.B{})" },
	  { "App.b (static): 9 -> 99 B, holds ", "App.a (static): 300 -> 20 A, holds " },
	  NULL },
	/* a chain of the application's own nodes is one owner, and so is a tree */
	{ { "a.App{}; static a.App.root = a.Node{left=a.Node{}, right=a.Node{left=a.Node{}}, data=bytes(9)}",
	    "a.App{}; static a.App.root = a.Node{left=a.Node{right=a.Node{left=a.Node{data=bytes(5000)},"
	    "right=a.Node{data=bytes(5000)}}}, right=a.Node{left=a.Node{}}, data=bytes(9)}" },
	  { "Node.data: 1 -> 3 byte[], holds " },
	  NULL },
	/*
	 * three dumps: the owner that grows each time comes first, although another grew more once
	 */
	{ { "a.App{};" NOISE_1 "static a.App.slow = list(50*a.A{data=bytes(100)});"
	    "static a.App.warm = list(2*a.B{data=bytes(100)})",
	    "a.App{};" NOISE_2 "static a.App.slow = list(70*a.A{data=bytes(100)});"
	    "static a.App.warm = list(500*a.B{data=bytes(100)})",
	    "a.App{};" NOISE_3 "static a.App.slow = list(90*a.A{data=bytes(100)});"
	    "static a.App.warm = list(490*a.B{data=bytes(100)})" },
	  { "App.slow (static): 50 -> 90 A, holds ", "App.recent (static): 9 -> 12 Hit",
	    "App.warm (static): 2 -> 490 B, holds " },
	  NULL },
};

static struct hdb_rows *diff(size_t count, const char *how)
{
	static struct hdb_option by = { .name = "by" };
	static struct hdb *olds[DUMPS_MAX];
	static struct hdb_query_args args;
	struct hdb_error err = { 0 };
	struct hdb_rows *rows = NULL;

	by.value = how;
	for (size_t i = 0; i + 1 < count; i++)
		olds[i] = dumps[i].db;
	args = (struct hdb_query_args){
		.options = &by, .option_count = 1, .before = olds, .before_count = count - 1
	};
	if (hdb_query(dumps[count - 1].db, "diff", &args, &rows, &err) != HDB_OK)
		fail_msg("%s", err.message);
	return rows;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static void check(size_t no, struct hdb_rows *rows)
{
	char text[TEXT_BYTES];
	size_t at = 0;

	for (; next_row(rows); at++) {
		const struct hdb_value *value = value_of(rows, "text");

		(void)snprintf(text, sizeof(text), "%.*s", (int)value->text_size, value->text);
		if (at < 3 && cases[no].rows[at] && !begins(text, cases[no].rows[at]))
			fail_msg("case %zu, row %zu: \"%s\", not \"%s\"", no, at, text,
				 cases[no].rows[at]);
		if (cases[no].absent && begins(text, cases[no].absent))
			fail_msg("case %zu, row %zu: \"%s\"", no, at, text);
	}
	if (at < 3 && cases[no].rows[at])
		fail_msg("case %zu: no row \"%s\"", no, cases[no].rows[at]);
}

static size_t write_dumps(const char *const *heaps, size_t most)
{
	size_t count = 0;

	for (; count < most && heaps[count]; count++) {
		char name[16];
		struct hw w;

		(void)snprintf(name, sizeof(name), "owners%zu", count);
		planted_write(&w, heaps[count]);
		written_open(&dumps[count], &w, name, NULL);
	}
	return count;
}

/* The status in the row with this name, or "" if there is no such row. */
static void find_status(const char *by, const char *name, char *out, size_t size)
{
	struct hdb_rows *rows = diff(2, by);

	out[0] = '\0';
	while (next_row(rows)) {
		const struct hdb_value *status = value_of(rows, "status");

		if (value_is(rows, "name", name) && !out[0])
			(void)snprintf(out, size, "%.*s", (int)status->text_size, status->text);
	}
	hdb_rows_close(rows);
}

/* A box that one class held is later held by two classes, so it is on the top level. */
#define ROWS(n) "a.Box@b{rows=list(" n "*a.Row{data=bytes(100)})}"

static void test_moved(void **state)
{
	static const char *const moved[] = {
		"a.One{}; a.Two{}; static a.One.box = $b; static a.Two.box = null;" ROWS("400"),
		"a.One{}; a.Two{}; static a.One.box = $b; static a.Two.box = $b;" ROWS("400"),
	};
	static const char *const new[] = {
		"a.One{}; a.Two{}; static a.One.box = null; static a.Two.box = null;" ROWS("1"),
		"a.One{}; a.Two{}; static a.One.box = $b; static a.Two.box = $b;" ROWS("400"),
	};
	static const char *const by[] = { "dominator", "suspect" };
	char status[32];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		size_t count = write_dumps(moved, 2);

		find_status(by[i], "a.Box", status, sizeof(status));
		assert_string_equal(status, "moved");
		while (count-- > 0)
			written_close(&dumps[count]);
		count = write_dumps(new, 2);
		find_status(by[i], "a.Box", status, sizeof(status));
		assert_string_equal(status, "new");
		while (count-- > 0)
			written_close(&dumps[count]);
	}
}

static void test_planted(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t count = write_dumps(cases[i].heaps, DUMPS_MAX);
		struct hdb_rows *rows = diff(count, "owner");

		check(i, rows);
		hdb_rows_close(rows);
		while (count-- > 0)
			written_close(&dumps[count]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_planted),
		cmocka_unit_test(test_moved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
