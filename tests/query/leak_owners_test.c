/*
 * leak_owners_test.c - owners of leak suspects, compared cell by cell, with a heap for each rule of
 * leak_holders.c. Also checks that the sentence is singular or plural depending on counts, not on
 * names, and that the action lists exactly the objects that the sentence counts.
 */
#include "support/planted.h"
#include "support/query_ask.h"

#include <inttypes.h>

static struct written heap;

#define ATOM "java.util.concurrent.atomic.AtomicReference"
#define SESSIONS "list(200*a.Session{data=bytes(1000)})"
#define THREADS(name) \
	"java.lang.Thread@t{tid=1L, name=" name "}; java.lang.Thread@u{tid=2L, name=\"u\"};"
#define MEMBERS \
	"a.Session@1{data=bytes(50000)}; a.Session@2{data=bytes(50000)};" \
	"a.Session@3{data=bytes(50000)}; a.Session@4{data=bytes(50000)};" \
	"a.Session@5{data=bytes(50000)}; a.Session@6{data=bytes(50000)}"
/* A thread with 50 KB in the ThreadLocal $k. */
#define LOCAL_OF(name) \
	"java.lang.Thread{tid=1L, name=\"" name \
	"\", threadLocals=java.lang.ThreadLocal$ThreadLocalMap{table=" \
	"java.lang.ThreadLocal$ThreadLocalMap$Entry[](" \
	"java.lang.ThreadLocal$ThreadLocalMap$Entry{referent=$k, value=bytes(50000)})}};"
#define LOCAL(name) LOCAL_OF(name)
/* The same for a thread that waits for the lock $l. */
#define WAITER(name) LOCAL_OF(name "\", threadStatus=657, parkBlocker=$l, kind=\"w")

/* A registry of a library, which a thread of the library and a factory refer to. */
#define REGISTRY \
	"org.hibernate.Worker:java.lang.Thread{tid=1L, name=\"w\", registry=$r};" \
	"org.hibernate.Registry@r{items=" SESSIONS "}; org.hibernate.Factory@f{registry=$r};" \
	"a.App{};"

#define BOOK "a.Book{b1=$b, cover=bytes(5000)}"

/*
 * All objects of a class are roots: local variables of thread 1 or 2, or JNI globals if this is 0.
 */
struct root {
	const char *class_name;
	unsigned thread; /* | FIRST: only the first object of the class */
};
#define FIRST 0x100u

static const struct {
	const char *heap;
	struct root roots[3];
	const char *rule, *kind, *owner;
	uint64_t owners, held;
	const char *action, *sentence;
} cases[] = {
	/* the object to blame is on every path; the sentence counts a collection of 200 */
	{ "a.App{}; static a.App.ALL =" SESSIONS,
	  { { 0 } },
	  "path",
	  "static field",
	  "a.App",
	  1,
	  200,
	  "instances",
	  "App.ALL (static) holds 200 Session (" },
	/* the sentence is plural because of two threads, not because of thread names */
	{ THREADS("\"fetch and parse\"") ATOM "@b{value=" SESSIONS "}",
	  { { ATOM, 1 } },
	  "path",
	  "local variable",
	  "\"fetch and parse\"",
	  1,
	  200,
	  "instances",
	  "A local variable of thread \"fetch and parse\" holds 200 Session (" },
	{ THREADS("\"fetch, parse\"") ATOM "@b{value=" SESSIONS "}",
	  { { ATOM, 1 } },
	  "path",
	  "local variable",
	  "\"fetch, parse\"",
	  1,
	  200,
	  "instances",
	  "A local variable of thread \"fetch, parse\" holds 200 Session (" },
	{ THREADS("\"fetch, in parts\"") ATOM "@b{value=" SESSIONS "}",
	  { { ATOM, 1 }, { ATOM, 2 } },
	  "local variable",
	  "field",
	  ATOM,
	  2,
	  200,
	  "instances",
	  "AtomicReference.value, in a local variable of thread \"fetch, in parts\" and a local "
	  "variable of thread \"u\", hold 200 Session (" },
	/* two static fields of the application */
	{ "a.App{}; a.Other{}; static a.App.ALL = $b; static a.Other.ALL = $b;" ATOM
	  "@b{value=" SESSIONS "}",
	  { { 0 } },
	  "application field",
	  "static field",
	  "a.App",
	  2,
	  200,
	  "instances",
	  "App.ALL (static) and Other.ALL (static) hold 200 Session (" },
	/* preferred to a path that ends with a method, which is preferred to a local variable */
	{ THREADS("\"t\"") "a.Task{it=$b}; a.App{}; static a.App.ALL = $b;" ATOM
			   "@b{value=" SESSIONS "}",
	  { { "a.Task", 1 } },
	  "application field",
	  "static field",
	  "a.App",
	  2,
	  200,
	  "instances",
	  "App.ALL (static) and Task.it hold 200 Session (" },
	{ THREADS("\"t\"") "a.Task{it=$b};" ATOM "@b{value=" SESSIONS "}",
	  { { "a.Task", 1 }, { ATOM, 2 } },
	  "application field below a local variable",
	  "field",
	  "a.Task",
	  2,
	  200,
	  "instances",
	  "Task.it and a local variable of thread \"u\" hold 200 Session (" },
	/* a static field of the platform before a local variable */
	{ THREADS("\"t\"") "java.util.Keeper{}; static java.util.Keeper.kept = $b;" ATOM
			   "@b{value=" SESSIONS "}",
	  { { ATOM, 1 } },
	  "static field of the platform",
	  "field",
	  ATOM,
	  2,
	  200,
	  "instances",
	  "AtomicReference.value, in Keeper.kept (static) and a local variable of thread \"t\", "
	  "hold 200 Session (" },
	/* the same for any long-lived object of the platform */
	{ THREADS("\"t\"") "java.util.Optional{value=$b};" ATOM "@b{value=" SESSIONS "}",
	  { { "java.util.Optional", 0 }, { ATOM, 1 } },
	  "platform",
	  "field",
	  ATOM,
	  2,
	  200,
	  "instances",
	  "AtomicReference.value, in Optional.value and a local variable of thread \"t\", hold 200 "
	  "Session (" },
	/* a pool that its own threads hold, and above it a static field of the application */
	{ THREADS("\"t\"") "java.util.Optional{value=$o}; java.util.Pool@o{queue=$b}; a.App{};"
			   "static a.App.box = a.Box{in=a.Box{in=a.Box{in=$o}}};" ATOM
			   "@b{value=" SESSIONS "}",
	  { { "java.util.Optional", 0 }, { ATOM, 1 } },
	  "application field above",
	  "field",
	  "a.Box",
	  2,
	  200,
	  "instances",
	  "Box.in and a local variable of thread \"t\" hold 200 Session (" },
	/* a static field holds a pool; the pool's own thread, which comes last, does not own it */
	{ "java.util.Keeper{}; static java.util.Keeper.kept = $b; java.util.Worker@w{this$0=$b};"
	  "java.lang.Thread@t{tid=1L, name=\"t\", target=$w}; java.util.Pool@b{queue=" SESSIONS "}",
	  { { "java.util.Pool", 1 } },
	  "static field of the platform",
	  "field",
	  "java.util.Pool",
	  1,
	  200,
	  "instances",
	  "Pool.queue, in Keeper.kept (static), holds 200 Session (" },
	/* a group: the owner of most members */
	{ "a.App{}; a.Other{}; static a.App.all = list($1, $2, $3, $4, $5, $6);"
	  "static a.Other.all = list($1, $2, $3, $4, $5, $6);" MEMBERS,
	  { { 0 } },
	  "owner of most members",
	  "static field",
	  "a.App",
	  1,
	  6,
	  "instances",
	  "App.all (static) holds 6 Session (49.2 KiB each), " },
	/* each member has its own task, so the owner is the object that holds all members */
	{ "a.App{}; a.Other{};"
	  "static a.App.box = a.Box{in=a.Box{all=list($1, $2, $3, $4, $5, $6)}};"
	  "static a.Other.tasks = a.Task[](a.Task{run=$1}, a.Task{run=$2}, a.Task{run=$3},"
	  "a.Task{run=$4}, a.Task{run=$5}, a.Task{run=$6});" MEMBERS,
	  { { 0 } },
	  "shared owner of members",
	  "field",
	  "a.Box",
	  1,
	  6,
	  "instances",
	  "Box.all holds 6 Session (49.2 KiB each), " },
	/* if more instances exist outside the group, only its members are listed */
	{ "a.App{}; a.Other{}; static a.App.all = list($1, $2, $3, $4, $5, $6);"
	  "static a.Other.all = list($1, $2, $3, $4, $5, $6);"
	  "static a.Other.one = a.Session{data=a.Session{data=bytes(1)}};" MEMBERS,
	  { { 0 } },
	  "owner of most members",
	  "static field",
	  "a.App",
	  1,
	  6,
	  "sql",
	  "App.all (static) holds 6 Session (49.2 KiB each), " },
	/* threads without an owner: the ThreadLocal whose values they hold */
	{ "a.App{}; static a.App.CONTEXT = $k; java.lang.ThreadLocal@k{};" LOCAL("a") LOCAL("b")
		  LOCAL("c") LOCAL("d") LOCAL("e"),
	  { { "java.lang.Thread", 0 } },
	  "thread-local of members",
	  "thread-local",
	  "a.App",
	  1,
	  5,
	  "instances",
	  "5 threads such as \"a\" (" },
	/* threads of one kind that wait for a lock of another thread */
	{ "a.App{}; static a.App.CONTEXT = $k; java.lang.ThreadLocal@k{};"
	  "java.lang.Thread@m{tid=9L, name=\"main\", parkBlocker=bytes(16)};"
	  "java.util.concurrent.locks.ReentrantLock$NonfairSync@l{exclusiveOwnerThread=$m};" WAITER(
		  "w-1") WAITER("w-2") WAITER("w-3") WAITER("w-4") WAITER("w-5"),
	  { { "java.lang.Thread", 0 } },
	  "thread-local of members",
	  "thread-local",
	  "a.App",
	  1,
	  5,
	  "threads",
	  "5 threads \"w-*\" (51.0 KiB each), waiting for the ReentrantLock that thread \"main\" "
	  "holds, hold " },
	/* a pattern that matches the names of these threads and of no other thread */
	{ "a.App{}; static a.App.CONTEXT = $k; java.lang.ThreadLocal@k{};" LOCAL("pool-1-t-1")
		  LOCAL("pool-1-t-2") LOCAL("pool-1-t-13") LOCAL("pool-2-t-1") LOCAL("pool-2-t-2")
			  LOCAL("pool-2-t-3"),
	  { { "java.lang.Thread", 0 } },
	  "thread-local of members",
	  "thread-local",
	  "a.App",
	  1,
	  6,
	  "threads",
	  "6 threads \"pool-*-t-*\" (" },
	/* a local variable of an application object, but not through an object of a library */
	{ THREADS("\"t\"") "a.Import{session=$s};"
			   "org.hibernate.Session@s{entities=" SESSIONS "}",
	  { { "a.Import", 1 }, { "org.hibernate.Session", 1 } },
	  "path",
	  "field",
	  "org.hibernate.Session",
	  1,
	  200,
	  "instances",
	  "Session.entities, in Import.session, holds 200 Session (" },
	{ THREADS("\"t\"") "a.Customer@c{orders=$p}; org.hibernate.Bag@p{session=$s};"
			   "org.hibernate.Session@s{entities=" SESSIONS ", first=$c}",
	  { { "a.Customer", 1 }, { "org.hibernate.Bag", 1 }, { "org.hibernate.Session", 1 } },
	  "path",
	  "field",
	  "org.hibernate.Session",
	  1,
	  200,
	  "instances",
	  "Session.entities holds 200 Session (" },
	/* the only object of the application that refers to a library's object, directly or not */
	{ REGISTRY "static a.App.box = a.Box{in=a.Box{in=a.Orders{factory=$f}}}",
	  { { 0 } },
	  "path",
	  "field",
	  "org.hibernate.Registry",
	  1,
	  200,
	  "instances",
	  "Registry.items, in Orders.factory, holds 200 Session (" },
	/* two of them, at different distances */
	{ REGISTRY "static a.App.box = a.Box{in=a.Box{in=a.Orders{factory=$f}}};"
		   "static a.App.more = a.Box{in=a.Box{in=a.Stats{registry=$r}}}",
	  { { 0 } },
	  "path",
	  "field",
	  "org.hibernate.Registry",
	  1,
	  200,
	  "instances",
	  "Registry.items holds 200 Session (" },
	/* a graph of books that refer to each other: the local variable that leads to the graph */
	{ THREADS("\"t\"") "a.Book@b{b1=" BOOK ", b2=" BOOK ", b3=" BOOK ", b4=" BOOK ", b5=" BOOK
			   ", b6=" BOOK ", b7=" BOOK ", b8=" BOOK ", b9=" BOOK "}",
	  { { "a.Book", 1 | FIRST } },
	  "path",
	  "local variable",
	  "\"t\"",
	  1,
	  9,
	  "",
	  "A local variable of thread \"t\" holds 9 Book (" },
	/* two suspects with the same sentence: test_overview */
	{ "a.Box{data=bytes(50000)}; a.Box{data=bytes(50000)}",
	  { { "a.Box", 0 } },
	  "path",
	  "field",
	  "a.Box",
	  1,
	  1,
	  "",
	  "Box.data holds one byte[50000] (49.0 KiB), " },
};

/* Writes the heap with its roots. Objects have the same addresses as without roots. */
static void open_heap(const char *text, const struct root *roots)
{
	static struct {
		uint64_t id;
		unsigned thread;
		bool is_thread;
	} found[64];
	size_t count = 0;
	struct hw w;

	planted_write(&w, text);
	written_open(&heap, &w, "owners", NULL);
	/* Threads come first, because a local variable must belong to a known thread. */
	for (unsigned i = 0; i < 4; i++) {
		const char *name = i ? roots[i - 1].class_name : "java.lang.Thread";
		struct ask ask = { .query = "instances", .target = name, .options = { "all" } };
		struct hdb_error err;
		struct hdb_rows *rows;

		if (!name || ask_open(heap.db, &ask, &rows, &err) != HDB_OK)
			continue;
		for (bool is_last = false; !is_last && next_row(rows); count++) {
			assert_true(count < 64);
			is_last = i && roots[i - 1].thread & FIRST;
			found[count].id = value_of(rows, "id")->u;
			found[count].is_thread = i == 0;
			found[count].thread =
				i ? roots[i - 1].thread & ~FIRST : (unsigned)count + 1;
		}
		hdb_rows_close(rows);
	}
	written_close(&heap);
	planted_write(&w, text);
	for (size_t i = 0; i < count && roots[0].class_name; i++)
		hw_root(&w,
			found[i].is_thread ? HPROF_ROOT_THREAD_OBJECT :
			found[i].thread    ? HPROF_ROOT_JAVA_FRAME :
					     HPROF_ROOT_JNI_GLOBAL,
			found[i].id, found[i].thread, 0);
	written_open(&heap, &w, "owners", NULL);
}

static void open_case(size_t no)
{
	open_heap(cases[no].heap, cases[no].roots);
}

static void check_text(size_t no, struct hdb_rows *rows, const char *column, const char *expected,
		       bool is_beginning)
{
	const struct hdb_value *v = value_of(rows, column);
	const size_t size = strlen(expected);

	if (v->type != HDB_TYPE_TEXT || v->text_size < size ||
	    (!is_beginning && v->text_size != size) || memcmp(v->text, expected, size) != 0)
		fail_msg("heap %zu: %s is \"%.*s\", not \"%s\"", no, column,
			 v->type == HDB_TYPE_TEXT ? (int)v->text_size : 0, v->text, expected);
}

static void test_owners(void **state)
{
	const struct ask ask = { .query = "leaks", .options = { "brief", "threshold=20" } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hdb_rows *rows;

		open_case(i);
		rows = ask_rows(heap.db, &ask);
		assert_true(next_row(rows));
		check_text(i, rows, "text", cases[i].sentence, true);
		check_text(i, rows, "owner_rule", cases[i].rule, false);
		check_text(i, rows, "owner_kind", cases[i].kind, false);
		check_text(i, rows, "owner", cases[i].owner, false);
		if (cases[i].action[0])
			check_text(i, rows, "action", cases[i].action, false);
		assert_int_equal(value_of(rows, "owners")->u, cases[i].owners);
		assert_int_equal(value_of(rows, "held")->u, cases[i].held);
		hdb_rows_close(rows);
		written_close(&heap);
	}
}

/*
 * For queries, the number of rows must equal the number in the sentence. This program does not have
 * SQL, so SQL actions are not run.
 */
static void test_actions(void **state)
{
	const struct ask ask = { .query = "leaks", .options = { "brief", "threshold=20" } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char action[64], target[512];
		struct hdb_rows *rows, *listed;
		uint64_t count = 0;

		if (!cases[i].action[0])
			continue;
		open_case(i);
		rows = ask_rows(heap.db, &ask);
		assert_true(next_row(rows));
		(void)snprintf(action, sizeof(action), "%.*s",
			       (int)value_of(rows, "action")->text_size,
			       value_of(rows, "action")->text);
		(void)snprintf(target, sizeof(target), "%.*s",
			       (int)value_of(rows, "target")->text_size,
			       value_of(rows, "target")->text);
		if (strcmp(action, "sql") == 0) {
			assert_string_equal(target,
					    "SELECT * FROM \"a.Session\" WHERE dominator IS NULL");
		} else {
			const bool are_threads = strcmp(action, "threads") == 0;
			const struct ask list = { .query = action,
						  .target = target,
						  .options = { are_threads ? "no-stack" : NULL } };

			if (are_threads && strcmp(target, "w-*") != 0)
				assert_string_equal(target, "pool-*-t-*");
			listed = ask_rows(heap.db, &list);
			while (next_row(listed))
				count++;
			hdb_rows_close(listed);
			assert_int_equal(count, cases[i].held);
		}
		hdb_rows_close(rows);
		written_close(&heap);
	}
}

/* Suspects with the same sentence form one row. */
static void test_overview(void **state)
{
	const struct ask ask = { .query = "overview" }, leaks = { .query = "leaks" };
	struct hdb_rows *rows;
	uint64_t same = 0;

	(void)state;
	open_case(sizeof(cases) / sizeof(cases[0]) - 1);
	rows = ask_rows(heap.db, &leaks);
	while (next_row(rows))
		if (value_of(rows, "same_as")->type != HDB_TYPE_NULL) {
			assert_int_equal(value_of(rows, "same_as")->u, 1);
			assert_int_equal(value_of(rows, "suspect")->u, 2);
			same++;
		}
	assert_int_equal(same, 1);
	hdb_rows_close(rows);
	rows = ask_rows(heap.db, &ask);
	assert_true(next_row(rows));
	check_text(0, rows, "short_text",
		   "Box.data holds one byte[50000] (49.0 KiB), and 1 more like it", false);
	assert_true(value_of(rows, "percent")->d > 90);
	check_text(0, rows, "action", "path", false);
	assert_false(next_row(rows));
	hdb_rows_close(rows);
	written_close(&heap);
}

/* A finding says what it counts: objects of one class, or of several with the most frequent one. */
static void test_counted(void **state)
{
	static const struct {
		const char *heap, *text;
	} heaps[] = {
		{ "a.App{}; static a.App.ALL = array(1100*a.Connection{})",
		  "very many connections or sockets: 1,100 a.Connection. Are they closed?" },
		{ "a.App{}; static a.App.ALL = array(1100*a.First:java.lang.ClassLoader{}, "
		  "400*a.Second:java.lang.ClassLoader{})",
		  "very many class loaders: 1,500 class loaders, 1,100 of them a.First" },
	};
	static const struct root none[3];
	const struct ask ask = { .query = "overview" };

	(void)state;
	for (size_t h = 0; h < sizeof(heaps) / sizeof(heaps[0]); h++) {
		struct hdb_rows *rows;
		bool is_found = false;

		open_heap(heaps[h].heap, none);
		rows = ask_rows(heap.db, &ask);
		while (!is_found && next_row(rows))
			is_found = value_is(rows, "text", heaps[h].text);
		assert_true(is_found);
		hdb_rows_close(rows);
		written_close(&heap);
	}
}

/* All elements of long chains of entries are counted, as in the lowest level of a skip list. */
static void test_chains(void **state)
{
	static const char node[] = "java.util.concurrent.ConcurrentSkipListMap$Node{value="
				   "a.Session{data=bytes(1000)}, next=";
	static const struct root none[3];
	static char text[100000];
	const struct ask ask = { .query = "leaks" };
	struct hdb_rows *rows;
	size_t used = (size_t)snprintf(text, sizeof(text),
				       "a.App{}; static a.App.ALL = java.lang.Object[](");
	uint64_t count = 0;

	(void)state;
	for (unsigned chain = 0; chain < 3; chain++) {
		for (unsigned i = 0; i < 45; i++)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s", node);
		used += (size_t)snprintf(text + used, sizeof(text) - used, "null");
		for (unsigned i = 0; i < 45; i++)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "}");
		used += (size_t)snprintf(text + used, sizeof(text) - used, chain < 2 ? ", " : ")");
	}
	open_heap(text, none);
	rows = ask_rows(heap.db, &ask);
	while (count != 135 && next_row(rows))
		if (value_is(rows, "kind", "element") && value_is(rows, "class", "a.Session"))
			count = value_of(rows, "objects")->u;
	assert_int_equal(count, 135);
	hdb_rows_close(rows);
	written_close(&heap);
}

/* The command for a suspect without a list of its objects: the thread of the local variable. */
static void test_next(void **state)
{
	const struct ask ask = { .query = "overview" };
	struct hdb_rows *rows;

	(void)state;
	open_case(sizeof(cases) / sizeof(cases[0]) - 2);
	rows = ask_rows(heap.db, &ask);
	assert_true(next_row(rows));
	check_text(0, rows, "action", "threads", false);
	check_text(0, rows, "target", "t", false);
	hdb_rows_close(rows);
	written_close(&heap);
}

/* Triage describes what the largest suspect is about once, with the sentence of leaks. */
static void test_said_once(void **state)
{
	static const struct {
		const char *heap, *rule;
		struct root roots[3];
	} said[] = {
		/* the suspect is the thread */
		{ THREADS("\"t\"") "a.Box@b{data=bytes(20000000)}",
		  "thread-pin",
		  { { "a.Box", 1 } } },
		/* the explanation is about the sessions */
		{ "a.App{}; static a.App.m = org.apache.catalina.session.StandardManager:"
		  "org.apache.catalina.session.ManagerBase{sessions=map(6000*"
		  "org.apache.catalina.session.StandardSession{data=bytes(3000)})}",
		  "sessions",
		  { { 0 } } },
	};
	const struct ask ask = { .query = "triage" };

	(void)state;
	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		struct hdb_rows *rows;
		unsigned found = 0;

		open_heap(said[i].heap, said[i].roots);
		rows = ask_rows(heap.db, &ask);
		while (next_row(rows)) {
			assert_false(value_is(rows, "rule", said[i].rule));
			found += value_is(rows, "rule", "leak-suspect");
		}
		assert_int_equal(found, 1);
		hdb_rows_close(rows);
		written_close(&heap);
	}
}

/* ---- advice: an action and a target ---- */

/* Whether a query accepts the option in "NAME=VALUE". */
static bool takes(const struct hdb_query_spec *spec, const struct hdb_value *option)
{
	for (const struct hdb_option_spec *o = spec->options; o->name; o++)
		if (strncmp(o->name, option->text, strlen(o->name)) == 0 &&
		    option->text[strlen(o->name)] == '=')
			return true;
	return false;
}

/*
 * The queries and options in the advice of all triage rules exist, whether or not the rules match.
 */
static void test_advice_of_triage(void **state)
{
	const struct ask ask = { .query = "triage", .options = { "all" } };
	struct hdb_rows *rows;
	uint64_t actions = 0, options = 0;
	struct hw w;

	(void)state;
	planted_write(&w, "a.App{}; static a.App.ALL =" SESSIONS);
	written_open(&heap, &w, "owners", NULL);
	rows = ask_rows(heap.db, &ask);
	while (next_row(rows)) {
		const struct hdb_value *words = value_of(rows, "advice_words");
		const struct hdb_value *action = value_of(rows, "action");
		const struct hdb_value *option = value_of(rows, "action_option");
		const struct hdb_query_spec *spec;
		char name[64];

		assert_null(memmem(words->text, words->text_size, "heapdb ", 7));
		if (action->type != HDB_TYPE_TEXT)
			continue;
		(void)snprintf(name, sizeof(name), "%.*s", (int)action->text_size, action->text);
		spec = hdb_query_named(name);
		assert_non_null(spec);
		assert_non_null(memmem(words->text, words->text_size, "{run}", 5));
		actions++;
		if (option->type != HDB_TYPE_TEXT)
			continue;
		assert_true(takes(spec, option));
		options++;
		if (value_is(rows, "action_option", "kind=JNI global"))
			assert_true(value_is(rows, "advice", "heapdb roots --kind \"JNI global\""));
	}
	assert_true(actions >= 10 && options >= 5);
	hdb_rows_close(rows);
	written_close(&heap);
}

static void test_advice_of_leaks(void **state)
{
	const struct ask ask = { .query = "leaks" };
	struct hdb_rows *rows;
	bool is_said = false;
	struct hw w;

	(void)state;
	planted_write(&w,
		      "a.A{}; static a.A.list = list(1200*java.lang.VirtualThread{state=5,"
		      "carrierThread=null, data=null}); static a.A.one = java.lang.VirtualThread"
		      "{state=5, carrierThread=null, data=bytes(3000000)}");
	written_open(&heap, &w, "owners", NULL);
	rows = ask_rows(heap.db, &ask);
	while (next_row(rows)) {
		if (!value_is(rows, "kind", "advice"))
			continue;
		is_said = true;
		check_text(0, rows, "text", "Check where most wait (heapdb threads), ", true);
		check_text(0, rows, "short_text", "Check where most wait ({run}), ", true);
		check_text(0, rows, "action", "threads", false);
	}
	assert_true(is_said);
	hdb_rows_close(rows);
	written_close(&heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_owners),           cmocka_unit_test(test_actions),
		cmocka_unit_test(test_overview),         cmocka_unit_test(test_counted),
		cmocka_unit_test(test_advice_of_triage), cmocka_unit_test(test_advice_of_leaks),
		cmocka_unit_test(test_said_once),        cmocka_unit_test(test_next),
		cmocka_unit_test(test_chains),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
