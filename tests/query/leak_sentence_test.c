/*
 * leak_sentence_test.c - the first sentence about a leak suspect, on planted heaps: owner, number
 * and class of objects, size of each, share.
 */
#include "support/planted.h"
#include "support/query_ask.h"

static struct written heap;

/* Classes that hold a third of the heap each. */
#define THREE \
	"a.One{}; static a.One.data = bytes(40000); a.Two{}; static a.Two.data = bytes(41000);" \
	"a.Three{}; static a.Three.data = bytes(39000);"

/* A pool whose connections are all taken. */
#define HIKARI \
	"com.zaxxer.hikari.pool.HikariPool{poolName=\"shop\"," \
	"config=com.zaxxer.hikari.HikariConfig{maxPoolSize=10}," \
	"connectionBag=com.zaxxer.hikari.util.ConcurrentBag{" \
	"sharedList=list(a.PoolEntry@e{}, 9*a.PoolEntry{})," \
	"waiters=java.util.concurrent.atomic.AtomicInteger{value=3}}}"

/* A node of a tree of Scala's, and memory outside the heap by the JDK's own count. */
#define NODE(key, left, right) \
	"scala.collection.immutable.RedBlackTree$Tree{_key=\"" key "\"," \
	"_value=bytes(30000), _left=" left ", _right=" right "}"
#define DIRECT(megabytes) \
	"java.nio.Bits{}; static java.nio.Bits.RESERVED_MEMORY = " \
	"java.util.concurrent.atomic.AtomicLong{value=" megabytes "000000L};" \
	"static a.Two.decoder = a.Decoder{inflight=list(java.nio.DirectByteBuffer{" \
	"capacity=" megabytes "000000, att=null, cleaner=a.Cleaner{}})}"
/* Many buffers: more than 2,000 are not examined. */
#define BUFFERS(count) \
	"java.nio.Bits{}; static java.nio.Bits.RESERVED_MEMORY = " \
	"java.util.concurrent.atomic.AtomicLong{value=200000000L};" \
	"static a.Two.decoder = a.Decoder{inflight=list(" count "*java.nio.DirectByteBuffer{" \
	"capacity=100000, att=null, cleaner=a.Cleaner{}})}"

/* Buffers of the elements of a collection. */
#define BUFFER(capacity) \
	"java.nio.DirectByteBuffer{capacity=" capacity ", att=null, cleaner=a.Cleaner{}}"
#define BITS \
	"java.nio.Bits{}; static java.nio.Bits.RESERVED_MEMORY = " \
	"java.util.concurrent.atomic.AtomicLong{value=200000000L};"
#define NETTY \
	"io.grpc.netty.shaded.io.netty.util.internal.PlatformDependent{}; static " \
	"io.grpc.netty.shaded.io.netty.util.internal.PlatformDependent.DIRECT_MEMORY_COUNTER = " \
	"java.util.concurrent.atomic.AtomicLong{value=300000000L};"
#define CONNECTIONS(fields) \
	BITS "static a.Two.gateway = a.Gateway{connections=list(200*a.Connection{open=false," fields \
	     "})}"

/* Two class loaders, each with a class that has a static field. */
#define LOADERS(is_closed) \
	"java.net.URLClassLoader@one{ucp=a.Paths{closed=" is_closed "}}; " \
	"java.net.URLClassLoader@two{ucp=a.Paths{closed=" is_closed "}}; " \
	"a.Plugin^one{}; static a.Plugin.data = bytes(41600); " \
	"b.Plugin^two{}; static b.Plugin.data = bytes(41500);"

static const struct {
	const char *heap, *sentence; /* "|" means that nothing follows */
} cases[] = {
	/* a collection is skipped: the sentence names its owner's field and its elements */
	{ "a.App{}; static a.App.cache = a.Cache{sessions=map(200*a.Session{data=bytes(1000)})}",
	  "Cache.sessions, in App.cache (static), holds 200 Session (1.2 KiB each)" },
	{ "a.App{}; static a.App.ALL = list(200*a.Session{data=bytes(1000)})",
	  "App.ALL (static) holds 200 Session (" },
	/*
	 * lambdas are named by the class that creates them and by captured values, without
	 * addresses
	 */
	{ "a.App{}; static a.App.ALL = list(200*a.App$$Lambda$14/1798286609{arg=bytes(1000)})",
	  "App.ALL (static) holds 200 lambdas of App that capture byte[] (" },
	{ "a.App{}; static a.App.ALL = list(200*a.App$$Lambda+0x00007f12c8003a40{arg=a.Cart{data="
	  "bytes(1000)}, more=\"x\", n=1})",
	  "App.ALL (static) holds 200 lambdas of App that capture Cart and String (" },
	/* a package with this name is a package */
	{ "a.App{}; static a.App.ALL = list(200*a.$$Lambda.b.Thing{arg=bytes(1000)})",
	  "App.ALL (static) holds 200 Thing (" },
	/* entries of a map that consist only of platform objects */
	{ "a.App{}; static a.App.TEXTS = map(200*\"some text that takes some room in memory\")",
	  "App.TEXTS (static) holds 200 " },
	/* the entries of the lists in a map, unless they have several classes */
	{ "a.App{}; static a.App.BUS = a.Bus{topics=map(4*list(50*a.Listener{data=bytes(1000)}))}",
	  "Bus.topics, in App.BUS (static), holds 200 Listener (" },
	{ "a.App{}; static a.App.BUS = a.Bus{topics=map(2*list(50*a.Listener{data=bytes(1000)}), "
	  "2*list(50*a.Other{data=bytes(1000)}))}",
	  "Bus.topics, in App.BUS (static), holds 4 entries (" },
	/* a tree: all nodes, and the holder of the first node */
	{ "a.App{}; static a.App.TREE = a.Tree{below=list(20*a.Tree{below=list(30*a.Tree{data="
	  "bytes(100)})})}",
	  "App.TREE (static) holds 621 Tree (" },
	/* what is in some of the entries of a map: the first number is the size of the map */
	{ "a.App{}; static a.App.ALL ="
	  "map(100*java.util.concurrent.atomic.AtomicReference{value=a.Reader{data=bytes(9000)}},"
	  "300*java.util.concurrent.atomic.AtomicReference{value=$r});"
	  "a.Reader@r{data=bytes(10)}",
	  "App.ALL (static) holds 400 entries (" },
	/* more than a third has other classes */
	{ "a.App{}; static a.App.ALL ="
	  "list(200*a.Session{data=bytes(1000)}, 90*a.Other{data=bytes(2000)})",
	  "App.ALL (static) holds 200 Session (1.2 KiB each) and others, " },
	/* the field holds less than its object retains */
	{ "a.App{}; static a.App.shop = a.Shop{items=list(200*a.Item{data=bytes(1000)}),"
	  "rest=a.Other{data=bytes(90000)}}",
	  "Shop.items, in App.shop (static), holds 200 Item (" },
	/* one array */
	{ "a.App{}; static a.App.buffer = a.Buffer{room=bytes(200000)}",
	  "Buffer.room, in App.buffer (static), holds one byte[200000] (195.5 KiB), " },
	/* a group: the common holder of its members, and the field that owns them */
	{ "a.App{}; a.Other{}; static a.App.all = list($1, $2, $3, $4, $5, $6);"
	  "static a.Other.all = list($1, $2, $3, $4, $5, $6);"
	  "a.Session@1{data=bytes(50000)}; a.Session@2{data=bytes(50000)};"
	  "a.Session@3{data=bytes(50000)}; a.Session@4{data=bytes(50000)};"
	  "a.Session@5{data=bytes(50000)}; a.Session@6{data=bytes(50000)}",
	  "App.all (static) holds 6 Session (49.2 KiB each), " },
	/*
	 * each member is nearest to its own task, so the owner is the object that holds all members
	 */
	{ "a.App{}; a.Other{};"
	  "static a.App.box = a.Box{in=a.Box{all=list($1, $2, $3, $4, $5, $6)}};"
	  "static a.Other.tasks = a.Task[](a.Task{run=$1}, a.Task{run=$2}, a.Task{run=$3},"
	  "a.Task{run=$4}, a.Task{run=$5}, a.Task{run=$6});"
	  "a.Session@1{data=bytes(50000)}; a.Session@2{data=bytes(50000)};"
	  "a.Session@3{data=bytes(50000)}; a.Session@4{data=bytes(50000)};"
	  "a.Session@5{data=bytes(50000)}; a.Session@6{data=bytes(50000)}",
	  "Box.all holds 6 Session (49.2 KiB each), " },
	/* an anonymous collection belongs to the enclosing class */
	{ "a.App{}; static a.App.cache = a.Server{lru=a.Server$1:java.util.HashMap{size=1, table="
	  "java.util.HashMap$Node[](java.util.HashMap$Node{key=\"k\", value=list("
	  "200*a.Session{data=bytes(1000)}), next=null})}}",
	  "Server.lru, in App.cache (static), holds 200 Session (1.2 KiB each)" },
	/*
	 * if no path is strong, the holder of the reference is the owner; a thread does not explain
	 * a class loader
	 */
	{ "java.lang.Thread{contextClassLoader=java.lang.ClassLoader{jar=java.util.jar.JarFile{"
	  "manRef=java.lang.ref.SoftReference:java.lang.ref.Reference{referent="
	  "java.util.jar.Manifest{entries=map(200*java.util.jar.Attributes{map=bytes(900)})}}}}}",
	  "JarFile.manRef holds 200 entries (2.0 KiB each) through a soft reference only, " },
	{ "a.App{}; static a.App.cache = a.Cache{ref=java.lang.ref.WeakReference:java.lang.ref."
	  "Reference{referent=a.Value{all=list(200*a.Session{data=bytes(1000)})}}}",
	  "Value.all, in Cache.ref, holds 200 Session (1.2 KiB each) through a weak reference only, " },
	/* a fault that a rule finds precedes suspects that are only large, however small it is */
	{ THREE "static a.Two.pool =" HIKARI,
	  "All 10 connections of HikariCP's pool shop are in use, and 3 threads wait for one: "
	  "connections are not closed, or are held too long. Kept by Two.pool (static). This is a leak." },
	/* the connections in use are elsewhere */
	{ THREE "static a.Two.pool =" HIKARI ";"
		"static a.One.taken = a.HikariProxyConnection{poolEntry=$e}",
	  "All 10 connections of HikariCP's pool shop are in use, and 3 threads wait for one: "
	  "connections are not closed, or are held too long. Kept by One.taken (static). This is a leak." },
	/* a thread keeps the class loader that it inherited */
	{ THREE "thread java.lang.Thread{name=\"price-refresh\", contextClassLoader="
		"org.apache.felix.framework.BundleWiringImpl$BundleClassLoader{m_wiring=a.Wiring{"
		"m_isDisposed=true}}}",
	  "The class loader of an OSGi bundle that was updated or uninstalled is still reachable, "
	  "one of 1 such loaders. Kept by thread \"price-refresh\". This is a leak." },
	/* nodes of a tree are not what it holds */
	{ "a.App{}; static a.App.ALL = scala.collection.immutable.TreeMap{tree=" NODE(
		  "m", NODE("c", NODE("a", "null", "null"), NODE("d", "null", "null")),
		  NODE("x", "null", "null")) "}",
	  "App.ALL (static) holds 5 entries (30.3 KiB each), " },
	/* memory outside the heap is compared with suspects */
	{ THREE DIRECT("300"), "Decoder.inflight, in Two.decoder (static), holds 286.1 MiB outside "
			       "the heap, in 1 direct buffer." },
	{ THREE BUFFERS("2000"),
	  "Decoder.inflight, in Two.decoder (static), holds 190.7 MiB outside "
	  "the heap, in 2,000 direct buffers." },
	{ THREE BUFFERS("2001"), "Decoder.inflight, in Two.decoder (static), holds at least "
				 "190.7 MiB outside the heap, in at least 2,000 direct buffers." },
	{ THREE CONNECTIONS("inbound=" BUFFER("1000000")),
	  "Gateway.connections, in Two.gateway (static), holds 190.7 MiB outside "
	  "the heap, in 200 direct buffers (Connection.inbound). In all 200 "
	  "elements, Connection.open is false: they are no longer in use but have "
	  "not been removed." },
	/* elements with buffers, in elements of another collection */
	{ THREE BITS "static a.Two.archive = a.Archive{clips=map(50*a.Clip{frames=list(4*a.Frame{"
		     "pixels=" BUFFER("1000000") "})})}",
	  "Archive.clips, in Two.archive (static), holds 190.7 MiB outside the heap, in 200 direct "
	  "buffers (Frame.pixels)." },
	/* Deflaters, of which the ended ones keep nothing */
	{ THREE "static a.Two.links = list(400*a.Link{deflater=java.util.zip.Deflater{"
		"zsRef=a.Ref{address=7L}}}, 100*a.Link{deflater=java.util.zip.Deflater{"
		"zsRef=a.Ref{address=0L}}})",
	  "Two.links (static) holds about 100.0 MiB outside the heap, in 400 Deflaters and "
	  "Inflaters (Link.deflater)." },
	/* the limit applies only to those that have not been ended */
	{ THREE "static a.Two.links = list(10001*a.Link{deflater=java.util.zip.Deflater{"
		"zsRef=a.Ref{address=0L}}}, 400*a.Link{deflater=java.util.zip.Deflater{"
		"zsRef=a.Ref{address=7L}}})",
	  "Two.links (static) holds about 100.0 MiB outside the heap, in 400 Deflaters and "
	  "Inflaters (Link.deflater)." },
	/* more than the limit */
	{ THREE "static a.Two.links = list(10001*a.Link{deflater=java.util.zip.Deflater{"
		"zsRef=a.Ref{address=7L}}})",
	  "Two.links (static) holds at least about 2.4 GiB outside the heap, in at least 10,000 "
	  "Deflaters and Inflaters (Link.deflater)." },
	/* the limit for Deflaters says nothing about buffers */
	{ THREE DIRECT("300") "; static a.Two.links = list(10001*a.Link{deflater="
			      "java.util.zip.Deflater{zsRef=a.Ref{address=7L}}})",
	  "Decoder.inflight, in Two.decoder (static), holds 286.1 MiB outside the heap, in 1 " },
	/* two buffers of each element, in two fields */
	{ THREE CONNECTIONS("inbound=" BUFFER("1000000") ", outbound=" BUFFER("500000")),
	  "Gateway.connections, in Two.gateway (static), holds 286.1 MiB outside "
	  "the heap, in 400 direct buffers. In all 200 elements, Connection.open is false: " },
	/* a removed flag is 0 */
	{ "redacted;" THREE CONNECTIONS("inbound=" BUFFER("1000000")),
	  "Gateway.connections, in Two.gateway (static), holds 190.7 MiB outside "
	  "the heap, in 200 direct buffers (Connection.inbound).|" },
	/* memory that a library's own copy of Netty allocates */
	{ THREE NETTY "static a.Two.decoder = a.Decoder{inflight=list(" BUFFER("300000000") ")}",
	  "Decoder.inflight, in Two.decoder (static), holds 286.1 MiB outside " },
	{ THREE DIRECT("20"), "Decoder.inflight, in Two.decoder (static), holds 19.1 MiB outside "
			      "the heap, in 1 direct buffer." },
	/* class loaders, each with classes that hold little */
	{ THREE LOADERS("true"), "2 closed class loaders (URLClassLoader, at most " },
	{ THREE LOADERS("false"), "Plugin.data (static) holds one byte[" },
	/* less than the heap, or little */
	{ "a.App{}; static a.App.ALL = bytes(9200000);" DIRECT("9"),
	  "App.ALL (static) holds one byte[9200000] " },
	{ THREE DIRECT("7"), "Two.data (static) holds one byte[41000] " },
	/* unless a suspect holds half of the heap */
	{ "a.App{}; static a.App.one = bytes(90000); static a.App.pool =" HIKARI,
	  "App.one (static) holds one byte[90000] " },
};

/*
 * Opens a planted heap and returns the first row of leaks, whose sentence must begin as expected. A
 * "|" at the end stands for the end of the sentence.
 */
static struct hdb_rows *first_suspect(const char *planted, const char *expected)
{
	const struct ask ask = { .query = "leaks", .options = { "brief", "threshold=20" } };
	const size_t size = strcspn(expected, "|");
	const struct hdb_value *text;
	struct hdb_rows *rows;
	struct hw w;

	planted_write(&w, planted);
	written_open(&heap, &w, "sentence", NULL);
	rows = ask_rows(heap.db, &ask);
	assert_true(next_row(rows));
	text = value_of(rows, "text");
	if (text->text_size < size || memcmp(text->text, expected, size) != 0 ||
	    (expected[size] && text->text_size != size))
		fail_msg("\"%.*s\", not \"%s\"", (int)text->text_size, text->text, expected);
	return rows;
}

static void test_sentences(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		hdb_rows_close(first_suspect(cases[i].heap, cases[i].sentence));
		written_close(&heap);
	}
}

/*
 * Suspects that are large by design come last. Collections without a limit come before them if they
 * are at least 1 % of the heap.
 */
static void test_order(void **state)
{
	static const char text[] =
		"java.util.zip.ZipFile$Source{total=9, data=bytes(400000)}; a.App{};"
		"static a.App.one = bytes(300000); static a.App.small = "
		"java.util.concurrent.LinkedBlockingQueue{capacity=2147483647, data=bytes(%u),"
		"count=java.util.concurrent.atomic.AtomicInteger{value=1500}}";
	static const char *const ways[2][3] = {
		{ "App.one (static) holds one byte[300000] ",
		  "A LinkedBlockingQueue without a capacity has 1,500 waiting elements, ",
		  "ZipFile$Source.data holds one byte[400000] " },
		{ "App.one (static) holds one byte[300000] ",
		  "ZipFile$Source.data holds one byte[400000] ", NULL },
	};
	const struct ask ask = { .query = "leaks", .options = { "brief", "threshold=20" } };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		char planted[sizeof(text) + 16];
		struct hdb_rows *rows;
		struct hw w;

		(void)snprintf(planted, sizeof(planted), text, i ? 10u : 20000u);
		planted_write(&w, planted);
		written_open(&heap, &w, "sentence", NULL);
		rows = ask_rows(heap.db, &ask);
		for (unsigned k = 0; k < 3 && ways[i][k]; k++) {
			const struct hdb_value *said;

			assert_true(next_row(rows));
			said = value_of(rows, "text");
			if (said->text_size < strlen(ways[i][k]) ||
			    memcmp(said->text, ways[i][k], strlen(ways[i][k])) != 0)
				fail_msg("%u: \"%.*s\", not \"%s\"", i, (int)said->text_size,
					 said->text, ways[i][k]);
		}
		assert_false(next_row(rows));
		hdb_rows_close(rows);
		written_close(&heap);
	}
}

/* ---- a local variable of a thread on the path ---- */

#define REST \
	"java.lang.Thread@t{tid=1L}; a.Other:java.lang.Thread@u{tid=2L};" \
	"a.Box@b{all=list(200*a.Session{data=bytes(1000)})}"

static uint64_t id_of(const char *class)
{
	const struct ask ask = { .query = "instances", .target = class };
	struct hdb_rows *rows = ask_rows(heap.db, &ask);
	uint64_t id;

	assert_true(next_row(rows));
	id = value_of(rows, "id")->u;
	hdb_rows_close(rows);
	return id;
}

/*
 * Writes the box as a local variable of this many threads. Returns whether the path says "reached".
 */
static bool is_passed(const uint64_t ids[3], unsigned threads)
{
	const struct ask ask = { .query = "leaks", .options = { "threshold=20" } };
	struct hdb_rows *rows;
	bool passed = false;
	struct hw w;

	planted_write(&w, "a.App{one=null, two=null, box=null}; " REST);
	for (unsigned i = 0; i < threads; i++) {
		hw_root(&w, HPROF_ROOT_THREAD_OBJECT, ids[i], i + 1, 0);
		hw_root(&w, HPROF_ROOT_JAVA_FRAME, ids[2], i + 1, 0);
	}
	written_open(&heap, &w, "sentence", NULL);
	rows = ask_rows(heap.db, &ask);
	while (next_row(rows)) {
		static const char words[] = "which does not hold it";
		const struct hdb_value *text = value_of(rows, "text");

		passed |= value_is(rows, "kind", "path") && text->type == HDB_TYPE_TEXT &&
			  memmem(text->text, text->text_size, words, sizeof(words) - 1);
		/* A thread that does not hold the suspect is not reported as its thread. */
		if (value_is(rows, "kind", "thread"))
			assert_int_equal(threads, 1);
	}
	hdb_rows_close(rows);
	written_close(&heap);
	return passed;
}

/*
 * A single thread dominates the object in its local variable. If two threads refer to it, neither
 * dominates it.
 */
static void test_locals(void **state)
{
	uint64_t ids[3];
	struct hw w;

	(void)state;
	planted_write(&w, "a.App{one=$t, two=$u, box=$b}; " REST);
	written_open(&heap, &w, "sentence", NULL);
	ids[0] = id_of("java.lang.Thread");
	ids[1] = id_of("a.Other");
	ids[2] = id_of("a.Box");
	written_close(&heap);
	assert_false(is_passed(ids, 1));
	assert_true(is_passed(ids, 2));
}

/* Eleven static fields of 10,000 bytes each. */
#define STATIC(name) "static a.W." name " = bytes(10000);"
#define STATICS \
	"a.W{};" STATIC("a") STATIC("b") STATIC("c") STATIC("d") STATIC("e") STATIC("f") \
		STATIC("g") STATIC("h") STATIC("i") STATIC("j") STATIC("k")
/* An entry of a map; a long key is larger than its String object, a short one is not. */
#define ENTRY(key) "java.util.HashMap$Node{key=\"" key "\", value=a.Item{}, next=null}"

/* The static fields of a class are suspects one by one, each with its own size and signature. */
static void test_statics(void **state)
{
	static const struct {
		const char *heap, *sentence, *signature;
		double most_percent; /* upper bound of the first suspect's share */
		unsigned suspects;
	} statics[] = {
		{ "a.W{}; static a.W.A = list(300*a.Item{data=bytes(1000)});"
		  "static a.W.B = list(250*a.Item{data=bytes(1000)})",
		  "W.A (static) holds 300 Item (", "a.W#static A > java.util.ArrayList", 55, 2 },
		/* a small rest does not count, even if the static field's object has no children */
		{ "a.W{}; static a.W.A = bytes(100000); static a.W.B = bytes(15000)",
		  "W.A (static) holds one byte[100000] ", "a.W#static A > byte[]", 88, 1 },
		/* the class above an application object belongs to the signature */
		{ "a.W{}; static a.W.A = a.Cache{data=bytes(100000)};"
		  "static a.W.B = a.Cache{data=bytes(90000)}",
		  "Cache.data, in W.A (static), holds one byte[100000] ",
		  "a.W#static A > a.Cache#data > byte[]", 54, 2 },
		/* no static field is large enough, so the suspect is the class */
		{ STATICS, "W.a (static), W.b (static), W.c (static) and 8 more hold 11 byte[] ",
		  "a.W", 100, 1 },
		/* the rest is large enough */
		{ STATICS "static a.W.A = bytes(100000)",
		  "W.a (static), W.b (static), W.c (static) and 8 more hold 11 byte[] ", "a.W", 54,
		  2 },
	};
	const struct ask ask = { .query = "leaks", .options = { "brief", "threshold=20" } };

	(void)state;
	for (size_t i = 0; i < sizeof(statics) / sizeof(statics[0]); i++) {
		struct hdb_rows *rows;
		unsigned suspects = 1;
		struct hw w;

		planted_write(&w, statics[i].heap);
		written_open(&heap, &w, "statics", NULL);
		rows = ask_rows(heap.db, &ask);
		assert_true(next_row(rows));
		assert_memory_equal(value_of(rows, "text")->text, statics[i].sentence,
				    strlen(statics[i].sentence));
		assert_int_equal(value_of(rows, "signature_text")->text_size,
				 strlen(statics[i].signature));
		assert_memory_equal(value_of(rows, "signature_text")->text, statics[i].signature,
				    strlen(statics[i].signature));
		assert_true(value_of(rows, "percent")->d < statics[i].most_percent);
		while (next_row(rows))
			suspects++;
		assert_int_equal(suspects, statics[i].suspects);
		hdb_rows_close(rows);
		written_close(&heap);
	}
}

/* Keys are counted as strings, whatever their length. */
static void test_keys(void **state)
{
	const struct ask ask = { .query = "leaks" };
	uint64_t strings = 0;
	struct hdb_rows *rows;
	struct hw w;

	(void)state;
	planted_write(&w, "a.App{}; static a.App.all = java.util.HashMap{size=400, table="
			  "java.util.HashMap$Node[](200*" ENTRY("k") ", 200*" ENTRY(
				  "a key that is longer than the object of its string") ")}");
	written_open(&heap, &w, "keys", NULL);
	rows = ask_rows(heap.db, &ask);
	while (next_row(rows)) {
		if (strcmp(value_of(rows, "kind")->text, "element") != 0)
			continue;
		assert_string_not_equal(value_of(rows, "class")->text, "byte[]");
		if (strcmp(value_of(rows, "class")->text, "java.lang.String") == 0)
			strings += value_of(rows, "objects")->u;
	}
	assert_int_equal(strings, 400);
	hdb_rows_close(rows);
	written_close(&heap);
}

/*
 * The overview leaves out a finding about listeners only if a suspect that is explained holds them,
 * not if an unrelated suspect has nearly the same size.
 */
static void test_listeners(void **state)
{
#define METERS "map(1100*a.Meter{count=1, data=bytes(1000)})"
	static const struct {
		const char *heap;
		bool is_found;
	} listeners[] = {
		{ THREE "static a.One.all = a.Meters{all=" METERS "};"
			"static a.Two.other = bytes(17750000); a.Hub{}; static a.Hub.bus = a.Bus{"
			"listeners=list(1640*a.View{data=bytes(1000)})}",
		  true },
		{ THREE "static a.One.all = a.Bus{listeners=" METERS "}", false },
	};
	const struct ask ask = { .query = "overview" };

	(void)state;
	for (size_t i = 0; i < sizeof(listeners) / sizeof(listeners[0]); i++) {
		bool is_explained = false, is_found = false;
		struct hdb_rows *rows;
		struct hw w;

		planted_write(&w, listeners[i].heap);
		written_open(&heap, &w, "listeners", NULL);
		rows = ask_rows(heap.db, &ask);
		while (next_row(rows)) {
			const struct hdb_value *text = value_of(rows, "text");

			is_explained |= value_of(rows, "explanation")->type == HDB_TYPE_TEXT;
			is_found |= memmem(text->text, text->text_size, "of listeners", 12) != NULL;
		}
		assert_true(is_explained);
		assert_true(is_found == listeners[i].is_found);
		hdb_rows_close(rows);
		written_close(&heap);
	}
}

/* Six objects of 50,000 bytes that two objects hold, so that they are a group. */
#define SHARED "list($1, $2, $3, $4, $5, $6)"
#define MEMBERS \
	"a.Session@1{data=bytes(50000)}; a.Session@2{data=bytes(50000)};" \
	"a.Session@3{data=bytes(50000)}; a.Session@4{data=bytes(50000)};" \
	"a.Session@5{data=bytes(50000)}; a.Session@6{data=bytes(50000)};"
#define WEBAPP(state, more) \
	"org.apache.catalina.loader.ParallelWebappClassLoader:" \
	"org.apache.catalina.loader.WebappClassLoaderBase{state=a.State{name=\"" state "\"}," more \
	"}"
#define POOL(name, more, waiting) \
	"com.zaxxer.hikari.pool.HikariPool{poolName=\"" name "\"," more "," \
	"config=com.zaxxer.hikari.HikariConfig{maxPoolSize=10}," \
	"connectionBag=com.zaxxer.hikari.util.ConcurrentBag{sharedList=list(10*a.PoolEntry{})," \
	"waiters=java.util.concurrent.atomic.AtomicInteger{value=" waiting "}}}"
#define WORKER(gateway) \
	"thread a.Worker:java.lang.Thread{data=list(250*a.Item{data=bytes(2000)}), gateway=" gateway \
	"};"
#define WORKERS WORKER("null") WORKER("null") WORKER("null") WORKER("null")

/* A fault explains a group of objects only if it is above them, or if most of them have one. */
static void test_merged(void **state)
{
	static const struct {
		const char *heap, *texts[2]; /* beginnings of the texts of two findings */
	} merged[] = {
		/* another loader of the class is closed; this one holds the objects */
		{ WEBAPP("STARTED", "all=" SHARED) "; a.App{}; static a.App.box = a.Box{in=a.Box{"
						   "all=" SHARED "}}; static a.App.old = " WEBAPP(
							   "STOPPED", "all=null") ";" MEMBERS,
		  { "ParallelWebappClassLoader.all holds 6 Session (",
		    "The class loader of a stopped web application" } },
		/* the same for a pool */
		{ POOL("shop", "all=" SHARED,
		       "0") "; a.App{}; static a.App.box = a.Box{in=a.Box{all=" SHARED
			    "}}; static a.App.pool = " HIKARI ";" MEMBERS,
		  { "HikariPool.all holds 6 Session (",
		    "All 10 connections of HikariCP's pool shop are in use, and 3 threads wait" } },
		/* a finding about memory outside the heap, with its size */
		{ "a.Two{};" WORKER("$g") WORKERS WORKERS
		  "a.Gateway@g{connections=list(200*a.Connection{open=false, inbound=" BUFFER(
			  "1000000") "})};" BITS,
		  { "Gateway.connections holds 190.7 MiB outside the heap", "9 threads (" } },
	};
	const struct ask ask = { .query = "leaks", .options = { "brief", "threshold=20" } };

	(void)state;
	for (size_t i = 0; i < sizeof(merged) / sizeof(merged[0]); i++) {
		struct hdb_rows *rows;
		struct hw w;

		planted_write(&w, merged[i].heap);
		written_open(&heap, &w, "merged", NULL);
		rows = ask_rows(heap.db, &ask);
		for (unsigned k = 0; k < 2; k++) {
			const struct hdb_value *text;
			const char *expected = merged[i].texts[k];

			assert_true(next_row(rows));
			text = value_of(rows, "text");
			if (text->text_size < strlen(expected) ||
			    memcmp(text->text, expected, strlen(expected)) != 0)
				fail_msg("%zu: \"%.*s\", not \"%s\"", i, (int)text->text_size,
					 text->text, expected);
		}
		hdb_rows_close(rows);
		written_close(&heap);
	}
}

/* The owner of most objects with one text is named; the finding is about the largest of them. */
static void test_keepers(void **state)
{
#define POOLS(ones, twos, name) \
	THREE "static a.One.pools = list(" ones \
	      "*" POOL(name, "all=bytes(5000)", "3") ");" \
						     "static a.Two.pools = list(" twos \
						     "*" POOL(name, "all=null", "3") ")"
#define TAKEN(name) \
	"All 10 connections of HikariCP's pool " name " are in use, and 3 threads wait for one: " \
	"connections are not closed, or are held too long."
	static const struct {
		const char *heap, *text;
	} keepers[] = {
		{ POOLS("3", "7", "shop"), TAKEN("shop") " Kept by Two.pools (static). This" },
		{ POOLS("7", "3", "shop"), TAKEN("shop") " Kept by One.pools (static). This" },
		{ POOLS("5", "5", "shop"), TAKEN("shop") " This is a leak." },
		/* a name that contains the words before the owner */
		{ POOLS("5", "5", "a Kept by b"), TAKEN("a Kept by b") " This is a leak." },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(keepers) / sizeof(keepers[0]); i++) {
		struct hdb_rows *rows = first_suspect(keepers[i].heap, keepers[i].text);

		assert_true(value_of(rows, "retained")->u > 5000);
		hdb_rows_close(rows);
		written_close(&heap);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sentences), cmocka_unit_test(test_listeners),
		cmocka_unit_test(test_statics),   cmocka_unit_test(test_keys),
		cmocka_unit_test(test_order),     cmocka_unit_test(test_locals),
		cmocka_unit_test(test_merged),    cmocka_unit_test(test_keepers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
