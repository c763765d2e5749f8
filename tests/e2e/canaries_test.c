/*
 * canaries_test.c - plants secret texts of every origin in a dump, and searches for them byte by
 * byte in everything made from the dump: the dumps that redact, redact --hash and strip write, the
 * database, Parquet files, HTML report, JSON answers and notes made from each of these dumps, and
 * the database of the dump itself.
 *
 * A canary is "CANARYx" followed by its origin in capitals. The search covers bytes (UTF-8 and
 * Latin-1 are the same here) and UTF-16 of both byte orders. Numbers contain the bytes of a canary
 * in the order of the dump. Wherever "CANARYx" is found, a name that is kept by design must follow.
 *
 * One dump is written by the test itself, and another by a real JVM if one is installed.
 */
#include "support/command.h"
#include "support/hprof_writer.h"
#include "support/temp.h"

#include <setjmp.h>
#include <sys/stat.h>
#include <cmocka.h>

#define PREFIX "CANARYx"
#define PREFIX_SIZE (sizeof(PREFIX) - 1)
/* Maximum number of bytes in a canary: sixteen characters after the prefix, of two bytes each. */
#define SEEN_BYTES (2 * (PREFIX_SIZE + 17))

/*
 * Dumps that are searched, with the command that creates them from x.hprof. NULL: the database of
 * the original dump.
 */
static const char *const ways[][4] = {
	{ "redact" },
	{ "redact", "--hash" },
	{ "strip" },
	{ "strip", "--zero", "primitives" },
};
#define WAY_COUNT (sizeof(ways) / sizeof(ways[0]))

/* Files created from each dump. A FILE that ends in .out receives the standard output. */
static const struct {
	const char *file;
	const char *words[COMMAND_WORDS_MAX];
} outputs[] = {
	{ "objects.parquet",
	  { "export", "objects", "--format", "parquet", "--compress", "none", "--force", "-o",
	    "objects.parquet" } },
	{ "strings.parquet",
	  { "export", "strings", "--format", "parquet", "--compress", "none", "--force", "-o",
	    "strings.parquet" } },
	{ "report.html", { "report", "--html", "report.html" } },
	{ "leaks.out", { "leaks", "--json" } },
	{ "overview.out", { "overview", "--json" } },
	{ "top.out", { "top", "--json" } },
	{ "threads.out", { "threads", "--json" } },
	{ "strings.out", { "strings", "--json" } },
	{ "duplicates.out", { "duplicates", "--json" } },
	{ "properties.out", { "info", "--properties", "--json" } },
	{ "histogram.out", { "histogram", "--json" } },
	{ "y.heapdb.notes", { "notes", "add", "java.lang.String", "looked at" } },
};
#define OUTPUT_COUNT (sizeof(outputs) / sizeof(outputs[0]))

/* ---- searching ---- */

/* Texts that are kept by design: names that describe the graph of the dump. NULL ends a list. */
static const char *const kept_of_writer[] = { "CLASS",  "LATECLASS", "FIELD",     "LATEFIELD",
					      "STATIC", "METHOD",    "SIGNATURE", "SOURCE",
					      "THREAD", "GROUP",     "PARENT",    "HEAP",
					      NULL };
static const char *const kept_of_java[] = { "CLASS", "FIELD", "METHOD", NULL };
/* Kept names that were found somewhere, as bits. They show that the search works. */
static unsigned found_kept;
/* strip keeps primitive fields and constants unless an option sets them to zero. */
static bool keeps_constants;

static bool is_kept(const char *const *kept, const char *text, size_t size)
{
	for (unsigned i = 0; kept[i]; i++)
		if (size >= strlen(kept[i]) && memcmp(text, kept[i], strlen(kept[i])) == 0) {
			found_kept |= 1u << i;
			return true;
		}
	return keeps_constants && text[0] == 'V' && !text[1];
}

/* Characters have `width` bytes. Byte `low` contains the ASCII code, and the others are zero. */
static unsigned search_as(const char *what, const char *data, size_t size, unsigned width,
			  unsigned low, const char *const *kept)
{
	unsigned bad = 0;

	for (size_t at = 0; at < size; at++) {
		char text[PREFIX_SIZE + 17] = "";
		bool is_wide = true;

		if (data[at + low] != PREFIX[0])
			continue;
		for (unsigned i = 0; i < PREFIX_SIZE + 16; i++)
			text[i] = data[at + i * width + low];
		for (unsigned i = 0; i < PREFIX_SIZE && width == 2; i++)
			is_wide = is_wide && !data[at + i * width + !low];
		if (!is_wide || memcmp(text, PREFIX, PREFIX_SIZE) != 0 ||
		    is_kept(kept, text + PREFIX_SIZE, 16))
			continue;
		for (unsigned i = 0; i < PREFIX_SIZE + 16; i++)
			text[i] = text[i] > ' ' && text[i] < 0x7f ? text[i] : '.';
		print_message("%s has %s at %zu, %u bytes a character\n", what, text, at, width);
		bad++;
	}
	return bad;
}

static unsigned search_file(const char *what, const char *path, const char *const *kept)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	unsigned bad;
	size_t size;
	char *data;

	assert_true(fd >= 0);
	data = command_read(fd, &size);
	(void)close(fd);
	assert_true(size > 0);
	/* The search reads this far after each byte. */
	data = realloc(data, size + SEEN_BYTES);
	assert_non_null(data);
	memset(data + size, 0, SEEN_BYTES);
	bad = search_as(what, data, size, 1, 0, kept) + search_as(what, data, size, 2, 0, kept) +
	      search_as(what, data, size, 2, 1, kept);
	free(data);
	return bad;
}

/* ---- running ---- */

/* Runs the command with the options that all commands accept. It must succeed. */
static void ask(const char *const *words, const char *const *more, const char *out)
{
	const char *all[COMMAND_WORDS_MAX + 1] = { NULL };
	struct command_run ran;
	size_t n = 0;

	for (; words[n]; n++)
		all[n] = words[n];
	for (; *more; more++)
		all[n++] = *more;
	assert_true(n < COMMAND_WORDS_MAX);
	all[n] = "--quiet";
	ran = command_run(all, -1, NULL);
	if (ran.code != CLI_DONE && ran.code != CLI_NO)
		fail_msg("%s: exit %d: %s%s", words[0], ran.code, ran.out, ran.err);
	if (out) {
		FILE *f = fopen(out, "we");

		assert_non_null(f);
		assert_int_equal(fwrite(ran.out, 1, ran.out_size, f), ran.out_size);
		(void)fprintf(f, "\n"); /* so that the notes are not empty */
		assert_int_equal(fclose(f), 0);
	}
	command_release(&ran);
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static unsigned search_way(const char *const *way, const char *const *kept)
{
	char what[256];
	unsigned bad = 0;

	ask(way, WORDS("x.hprof", "y.hprof", "--force"), NULL);
	keeps_constants = strcmp(way[0], "strip") == 0 && !way[1];
	(void)snprintf(what, sizeof(what), "%s %s: dump", way[0], way[1] ? way[1] : "");
	found_kept = 0;
	bad += search_file(what, "y.hprof", kept);
	for (unsigned i = 0; kept[i]; i++)
		if (!(found_kept & 1u << i))
			fail_msg("%s: the name %s%s is lost", what, PREFIX, kept[i]);
	ask(WORDS("import"), WORDS("y.hprof", "-o", "y.heapdb", "--force"), NULL);
	for (size_t i = 0; i < OUTPUT_COUNT; i++) {
		const bool is_out = strstr(outputs[i].file, ".out") != NULL;

		ask(outputs[i].words, WORDS("--db", "y.heapdb"), is_out ? outputs[i].file : NULL);
		(void)snprintf(what, sizeof(what), "%s %s: %s", way[0], way[1] ? way[1] : "",
			       outputs[i].file);
		bad += search_file(what, outputs[i].file, kept);
	}
	(void)snprintf(what, sizeof(what), "%s %s: database", way[0], way[1] ? way[1] : "");
	bad += search_file(what, "y.heapdb", kept);
	return bad;
}

/* Creates and searches all files for the dump x.hprof. */
static void search_all(const char *const *kept)
{
	unsigned bad = 0;

	for (size_t i = 0; i < WAY_COUNT; i++)
		bad += search_way(ways[i], kept);
	keeps_constants = false;
	ask(WORDS("import"), WORDS("x.hprof", "-o", "x.heapdb", "--force"), NULL);
	found_kept = 0;
	bad += search_file("the plain dump: database", "x.heapdb", kept);
	for (unsigned i = 0; kept[i]; i++)
		if (!(found_kept & 1u << i))
			fail_msg("the database lacks the name %s%s", PREFIX, kept[i]);
	ask(WORDS("leaks"), WORDS("--db", "x.heapdb"), NULL);
	ask(WORDS("threads"), WORDS("--db", "x.heapdb"), NULL);
	ask(WORDS("strings"), WORDS("--db", "x.heapdb"), NULL);
	bad += search_file("the plain dump: database after questions", "x.heapdb", kept);
	assert_int_equal(bad, 0);
}

/* ---- a dump from the test's writer ---- */

enum {
	OBJECT = 0x1000,
	CLASS_CLASS = 0x1040,
	STRING = 0x1080,
	OWN = 0x10c0,
	LATE = 0x1100,
	THREAD = 0x1140,
	BYTES = 0x2000,
	STRINGS = 0x4000,
	OWNED = 0x6000,
	THREADED = 0x6040
};

/* Canaries in primitive arrays. */
static const struct {
	const char *text;
	uint8_t type;
	unsigned width; /* size of an element in bytes */
} arrays[] = {
	{ "CANARYxVALUE", HPROF_BYTE, 1 },       { "CANARYxPROPERTY", HPROF_BYTE, 1 },
	{ "CANARYxKEY", HPROF_BYTE, 1 },         { "CANARYxTHREADNAME", HPROF_BYTE, 1 },
	{ "/tmp/CANARYxPATH/x", HPROF_BYTE, 1 }, { "CANARYxBYTES", HPROF_BYTE, 1 },
	{ "CANARYxSHORTS.", HPROF_SHORT, 2 },    { "CANARYxINTS.", HPROF_INT, 4 },
	{ "CANARYxLONGS....", HPROF_LONG, 8 },   { "CANARYxFLOATS...", HPROF_FLOAT, 4 },
};
#define ARRAY_COUNT (sizeof(arrays) / sizeof(arrays[0]))
#define TEXT_COUNT 5 /* this many arrays, the first ones, belong to strings */

/* Arrays, including char arrays and byte arrays with UTF-16, and strings. */
static void put_arrays(struct hw *w)
{
	static const char wide[] = "CANARYxCHARS";
	uint8_t chars[2 * sizeof(wide)] = { 0 };

	for (unsigned i = 0; i < ARRAY_COUNT; i++) {
		uint8_t values[16] = { 0 };

		hw_primitive_array(w, BYTES + i * 64, arrays[i].type, arrays[i].text,
				   (uint32_t)(strlen(arrays[i].text) / arrays[i].width));
		values[w->id_size - 2] = (uint8_t)((BYTES + i * 64) >> 8);
		values[w->id_size - 1] = (uint8_t)(BYTES + i * 64);
		if (i < TEXT_COUNT)
			hw_instance(w, STRINGS + i * 64, STRING, values, w->id_size + 5);
	}
	for (unsigned i = 0; i < sizeof(wide) - 1; i++)
		chars[2 * i + 1] = (uint8_t)wide[i];
	hw_primitive_array(w, BYTES + 0x1000, HPROF_CHAR, chars, sizeof(wide) - 1);
	hw_primitive_array(w, BYTES + 0x1080, HPROF_BYTE, chars, sizeof(chars));
	hw_primitive_array(w, BYTES + 0x1100, HPROF_BYTE, chars + 1, sizeof(chars) - 1);
}

static void put_classes(struct hw *w)
{
	static const struct hprof_field text[] = { { 20, HPROF_OBJECT },
						   { 21, HPROF_INT },
						   { 22, HPROF_BYTE } };
	static const struct hprof_field own[] = { { 23, HPROF_OBJECT }, { 24, HPROF_OBJECT } };
	static const struct hprof_field name[] = { { 26, HPROF_OBJECT } };
	const struct hw_static statics[] = { { 25, HPROF_OBJECT, OWNED } };
	/* "CANARYxV" */
	static const struct hw_constant constants[] = {
		{ 1, HPROF_LONG, UINT64_C(0x43414e4152597856) }, { 2, HPROF_OBJECT, OWNED }
	};

	hw_class(w, &(struct hw_class){ .id = OBJECT });
	hw_class(w, &(struct hw_class){ .id = CLASS_CLASS, .super_id = OBJECT });
	hw_class(w, &(struct hw_class){ .id = STRING,
					.super_id = OBJECT,
					.instance_size = w->id_size + 5,
					.fields = text,
					.field_count = 3 });
	hw_class(w, &(struct hw_class){ .id = OWN,
					.super_id = OBJECT,
					.instance_size = 2 * w->id_size,
					.constants = constants,
					.constant_count = 2,
					.statics = statics,
					.static_count = 1,
					.fields = own,
					.field_count = 2 });
	hw_class(w, &(struct hw_class){ .id = LATE, .super_id = OBJECT });
	hw_class(w, &(struct hw_class){ .id = THREAD,
					.super_id = OBJECT,
					.instance_size = w->id_size,
					.fields = name,
					.field_count = 1 });
}

static void put_heap(struct hw *w)
{
	uint8_t values[16] = { 0 };

	hw_begin(w, HPROF_HEAP_DUMP_SEGMENT, 0);
	hw_heap_info(w, 1, 40);
	put_classes(w);
	for (unsigned id = OBJECT; id <= THREAD; id += 0x40)
		hw_root(w, HPROF_ROOT_STICKY_CLASS, id, 0, 0);
	hw_root(w, HPROF_ROOT_THREAD_OBJECT, THREADED, 7, 1);
	put_arrays(w);
	for (unsigned i = 0; i < TEXT_COUNT; i++)
		hw_root(w, HPROF_ROOT_JNI_GLOBAL, STRINGS + i * 64, 0x7f10 + i, 0);
	hw_instance(w, OWNED, OWN, values, 2 * w->id_size);
	values[w->id_size - 2] = (uint8_t)((STRINGS + 3 * 64) >> 8);
	values[w->id_size - 1] = (uint8_t)(STRINGS + 3 * 64);
	hw_instance(w, THREADED, THREAD, values, w->id_size);
	hw_end(w);
}

static void put_dump(struct hw *w, unsigned id_size)
{
	static const struct {
		unsigned id;
		const char *text;
	} texts[] = {
		{ 10, "java/lang/Object" },
		{ 11, "java/lang/Class" },
		{ 12, "java/lang/String" },
		{ 13, "CANARYxCLASS" },
		{ 15, "java/lang/Thread" },
		{ 20, "value" },
		{ 21, "hash" },
		{ 22, "coder" },
		{ 23, "CANARYxFIELD" },
		{ 25, "CANARYxSTATIC" },
		{ 26, "name" },
		{ 30, "CANARYxMETHOD" },
		{ 31, "(LCANARYxSIGNATURE;)V" },
		{ 32, "CANARYxSOURCE.java" },
		{ 33, "CANARYxTHREAD" },
		{ 34, "CANARYxGROUP" },
		{ 35, "CANARYxPARENT" },
		{ 40, "CANARYxHEAP" },
		{ 90, "CANARYxLITERAL" },
		{ 91, "http://user:CANARYxURL@host/" },
		{ 92, "CANARYxL\xc3\xa4TIN" },
		{ 93, "CANARYxL\xe4TIN" },
		{ 94, "password=CANARYxPASSWORD" },
	};
	/* Records that end with bytes that nothing defines. */
	static const struct {
		uint8_t tag;
		unsigned size, ids;
	} tails[] = {
		{ HPROF_UNLOAD_CLASS, 4, 0 }, { HPROF_TRACE, 12, 0 },
		{ HPROF_ALLOC_SITES, 34, 0 }, { HPROF_HEAP_SUMMARY, 24, 0 },
		{ HPROF_END_THREAD, 4, 0 },   { HPROF_CPU_SAMPLES, 8, 0 },
		{ HPROF_FRAME, 8, 4 },        { HPROF_CONTROL_SETTINGS, 6, 0 },
		{ HPROF_START_THREAD, 8, 4 }, { HPROF_HEAP_DUMP_END, 0, 0 },
	};
	static const char zeros[64];
	static const uint64_t frames[] = { 50 };
	static const unsigned loads[][2] = { { OBJECT, 10 }, { CLASS_CLASS, 11 }, { STRING, 12 },
					     { OWN, 13 },    { LATE, 14 },        { THREAD, 15 } };

	hw_init(w, HPROF_1_0_3, id_size, 1000);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		hw_utf8(w, texts[i].id, texts[i].text);
	for (unsigned i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
		hw_load_class(w, i + 1, loads[i][0], 1, loads[i][1]);
	hw_frame(w, &(struct hprof_frame){ 50, 30, 31, 32, 4, 10 });
	hw_trace(w, 1, 7, frames, 1);
	hw_start_thread(w, &(struct hprof_start_thread){ 7, THREADED, 1, 33, 34, 35 });
	put_heap(w);
	/* Names may follow the records that refer to them, and so may literals. */
	hw_utf8(w, 14, "CANARYxLATECLASS");
	hw_utf8(w, 24, "CANARYxLATEFIELD");
	hw_utf8(w, 95, "CANARYxAFTERWARDS");
	hw_begin(w, 0x77, 0);
	hw_bytes(w, "CANARYxUNKNOWN", 14);
	hw_end(w);
	for (unsigned i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		hw_begin(w, tails[i].tag, 0);
		hw_bytes(w, zeros, tails[i].size + tails[i].ids * w->id_size);
		hw_bytes(w, "CANARYxTAIL", 11);
		hw_end(w);
	}
	hw_heap_dump_end(w);
	assert_int_equal(hw_save(w, "x.hprof"), 0);
}

static void test_writer(void **state)
{
	(void)state;
	for (unsigned id_size = 4; id_size <= 8; id_size += 4) {
		struct hw w;

		put_dump(&w, id_size);
		hw_release(&w);
		search_all(kept_of_writer);
	}
}

/* The report of possible secrets states that a literal is removed. */
static void test_secrets(void **state)
{
	char *data, *line;
	struct hw w;
	size_t size;
	int fd;

	(void)state;
	put_dump(&w, 8);
	hw_release(&w);
	ask(WORDS("redact"), WORDS("x.hprof", "y.hprof", "--force", "--secrets", "secrets.tsv"),
	    NULL);
	fd = open("secrets.tsv", O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	data = command_read(fd, &size);
	(void)close(fd);
	line = strstr(data, "0x5b\tname\t");
	assert_non_null(line);
	assert_null(strstr(data, "\tyes\n"));
	free(data);
}

/* ---- a dump from a JVM ---- */

static void test_java(void **state)
{
	static const char make[] =
		"for java in /usr/lib/jvm/*/bin/java; do"
		" [ -x \"$java\" ] && [ -x \"${java%java}javac\" ] || continue;"
		" rm -f x.hprof;"
		" \"$java\" -Xmx64m \"$CANARIES\" x.hprof CANARYxARGUMENT >java.log 2>&1 && exit 0;"
		" cat java.log; exit 1; "
		"done; exit 77";
	char program[512];
	int status;

	(void)state;
	(void)snprintf(program, sizeof(program), "%s/tests/java/Canaries.java",
		       getenv("HDB_ROOT") ? getenv("HDB_ROOT") : ".");
	assert_int_equal(setenv("CANARIES", program, 1), 0);
	status = system(make); /* NOLINT(cert-env33-c): a fixed text */
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		print_message("no JDK in /usr/lib/jvm: the dump of a JVM is not tried\n");
		skip();
	}
	assert_int_equal(status, 0);
	search_all(kept_of_java);
}

/* A directory that only this test uses. */
static int enter_folder(void **state)
{
	char folder[512];

	(void)state;
	(void)snprintf(folder, sizeof(folder), "%s", temp_path("canariesXXXXXX"));
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_writer),
		cmocka_unit_test(test_secrets),
		cmocka_unit_test(test_java),
	};

	return cmocka_run_group_tests(tests, enter_folder, NULL);
}
