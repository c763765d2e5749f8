/*
 * cli_faults_test.c - makes the n-th call that can fail do so, once or from then on, in the command
 * itself. Each command and format must end with the right answer, or with exit code 4 and a
 * message, without a crash or leak, and must not report a truncated answer as complete. Standard
 * output also fails: by itself, as a full device, and as a pipe that nobody reads.
 *
 * Output files are complete or absent, notes are kept, and no other file is left behind.
 *
 * HEAPDB_HOSTILE=long: every call; otherwise some calls of each command.
 * Slow: ten thousand runs, a minute of processor time.
 *
 * Link with: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free,--wrap=strdup
 * Link with: -Wl,--wrap=strndup
 * Link with: -Wl,--wrap=realpath
 * Link with: -Wl,--wrap=asprintf,--wrap=mmap,--wrap=open,--wrap=fopen,--wrap=fstat,--wrap=stat
 * Link with: -Wl,--wrap=write,--wrap=close,--wrap=opendir,--wrap=linkat,--wrap=read
 * Link with: -Wl,--wrap=pread,--wrap=rename,--wrap=fchmod,--wrap=fcntl,--wrap=posix_fallocate
 * Link with: -Wl,--wrap=mkostemp,--wrap=mkdtemp,--wrap=pthread_create
 * Link with: -Wl,--wrap=mdb_env_create,--wrap=mdb_env_open,--wrap=mdb_env_sync
 * Link with: -Wl,--wrap=mdb_txn_begin,--wrap=mdb_txn_commit,--wrap=mdb_dbi_open
 * Link with: -Wl,--wrap=mdb_cursor_open,--wrap=mdb_cursor_get,--wrap=mdb_cursor_del
 * Link with: -Wl,--wrap=mdb_put,--wrap=mdb_del,--wrap=mdb_env_get_fd,--wrap=mdb_get
 */
#include "support/command.h"
#include "support/faults.h"
#include "support/hostile.h"
#include "support/json_check.h"
#include "support/temp.h"

#include <malloc.h>
#include <setjmp.h>
#include <cmocka.h>
#ifdef HAVE_MCP
#include <jansson.h>
#endif
#ifdef HAVE_SQLITE
#include <sqlite3.h>
#endif

/* Maximum processor time in seconds for one run. */
#define RUN_SECONDS_MAX 20
/* Number of a command's calls that fail in the short form. */
#define CALLS_MAX 120

/*
 * DB, OLD and DUMP stand for the files, and FOLDER for their directory. COPY stands for a database
 * that an import creates. OUT, GZ, PARQUET and HTML stand for other files that a command writes.
 */
static const char *const commands_tried[][COMMAND_WORDS_MAX] = {
	{ "check", "--db", "DB" },
	{ "check", "--json", "--db", "DB" },
	{ "export", "objects", "--db", "DB" },
	{ "export", "objects", "--format", "csv", "--db", "DB" },
	{ "export", "objects", "--format", "jsonl", "--db", "DB", "--dump", "DUMP" },
	{ "export", "strings", "--json", "--db", "DB", "--dump", "DUMP" },
	{ "export", "objects", "--columns", "id,class,retained", "--sort", "retained", "--db",
	  "DB" },
	{ "report", "--db", "DB", "--dump", "DUMP" },
	{ "report", "--json", "DB" },
	{ "diff", "OLD", "DB" },
	{ "diff", "OLD", "DB", "--by", "object", "--json" },
	{ "diff", "OLD", "DB", "--format", "csv" },
	{ "query", "top", "--db", "DB" },
	{ "query", "object", "0x20020", "--db", "DB", "--dump", "DUMP" },
	{ "info", "--table", "--db", "DB" },
	{ "help", "query" },
	{ "version" },
	{ "import", "DUMP", "-o", "COPY", "--force" },
	{ "import", "DUMP", "-o", "COPY", "--force", "--json" },
	{ "import", "tests/corpus/phd/v66408.phd", "-o", "COPY", "--force" },
	{ "import", "tests/corpus/perfetto/packed.pftrace", "-o", "COPY", "--force" },
	{ "export", "dump", "-o", "OUT", "--db", "DB", "--dump", "DUMP" },
	{ "report", "--db", "DB", "--dump", "DUMP", "--html", "HTML", "--quiet" },
	{ "convert", "DUMP", "OUT" },
	{ "convert", "DUMP", "GZ", "--id-size", "4" },
	{ "convert", "tests/corpus/phd/v66408.phd", "OUT" },
	{ "strip", "DUMP", "OUT" },
	{ "redact", "DUMP", "OUT", "--json" },
	{ "oql", "select s, s.@retainedHeapSize from java.lang.Object s", "--db", "DB" },
	{ "oql", "select * from Node", "--db", "DB", "--json" },
	{ "oql", "select c.@numberOfObjects from objects ${snapshot}.getClasses() c", "--db",
	  "DB" },
	{ "meminfo", "tests/corpus/meminfo/dumpsys" },
	{ "meminfo", "tests/corpus/meminfo/smaps", "--json" },
	{ "allocations", "tests/corpus/heapprofd/own.pftrace" },
	{ "jfr", "tests/corpus/jfr/sample", "--json" },
#ifdef HAVE_SQLITE
	{ "sql", "select class, count(*), sum(retained) from objects group by 1", "--db", "DB" },
	{ "sql", "select * from refs", "--db", "DB", "--csv" },
	{ "export", "objects", "-o", "PARQUET", "--db", "DB", "--dump", "DUMP", "--quiet" },
#endif
#ifdef HAVE_MCP
	{ "notes", "add", "0x20020", "new note", "--db", "DB" },
	{ "notes", "remove", "java.lang.Object", "--db", "DB" },
	{ "notes", "list", "--db", "DB" },
	{ "histogram", "--db", "DB", "--json" },
	{ "mcp", "FOLDER" },
#endif
};
#define COMMAND_COUNT (sizeof(commands_tried) / sizeof(commands_tried[0]))

/* Files by their placeholder. */
enum {
	FILE_DB,
	FILE_OLD,
	FILE_DUMP,
	FILE_COPY,
	FILE_OUT, /* from here to FILE_FOLDER: files that a command writes */
	FILE_GZ,
	FILE_PARQUET,
	FILE_HTML,
	FILE_FOLDER,
	FILE_COUNT
};
static const char *const file_names[FILE_COUNT] = { "DB", "OLD",     "DUMP", "COPY",  "OUT",
						    "GZ", "PARQUET", "HTML", "FOLDER" };
static char file_paths[FILE_COUNT][512], notes_path[520];
#define dump_path file_paths[FILE_DUMP]
#define db_path file_paths[FILE_DB]
#define old_path file_paths[FILE_OLD]
#define copy_path file_paths[FILE_COPY]

/* Notes before each command. They are about a class, so a missing note is detected. */
static const char notes_before[] =
	"{\"schema\":1,\"notes\":["
	"{\"target\":\"Node\",\"text\":\"old note\",\"time\":\"t\"},"
	"{\"target\":\"java.lang.Object\",\"text\":\"removed\",\"time\":\"t\"}]}";

/* Requests of an assistant to `mcp`. %s is the name of the database. */
static const char requests[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":"
			       "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},"
			       "\"clientInfo\":{\"name\":\"test\",\"version\":\"1\"}}}\n"
			       "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":"
			       "{\"name\":\"histogram\",\"arguments\":{\"db\":\"%s\"}}}\n";

static void arm(bool begins)
{
	if (begins)
		hostile_seconds(RUN_SECONDS_MAX);
	fault.is_armed = begins;
	if (!begins)
		hostile_seconds(0);
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "wb");

	if (!f || fputs(text, f) < 0 || fclose(f) != 0)
		abort();
}

/* Reads a whole file and appends a zero. Returns NULL if the file does not exist. Owned. */
static char *read_whole(const char *path, size_t *size)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text;

	*size = 0;
	if (fd < 0)
		return NULL;
	text = command_read(fd, size);
	(void)close(fd);
	return text;
}

/* Standard input contains the requests of an assistant. */
static void give_requests(void)
{
	const int fd = memfd_create("input", MFD_CLOEXEC);

	if (fd < 0 || dprintf(fd, requests, strrchr(db_path, '/') + 1) < 0 ||
	    lseek(fd, 0, SEEK_SET) != 0 || dup2(fd, STDIN_FILENO) < 0)
		abort();
	(void)close(fd);
}

/* Counts the files of this test that are not listed above. */
static unsigned count_others(void)
{
	DIR *dir = opendir(file_paths[FILE_FOLDER]);
	const struct dirent *entry;
	unsigned count = 0;
	char prefix[64];

	if (!dir)
		abort();
	(void)snprintf(prefix, sizeof(prefix), "hdbhostile%d_", (int)getpid());
	while ((entry = readdir(dir)) != NULL) {
		bool is_known = strncmp(entry->d_name, prefix, strlen(prefix)) != 0 ||
				strcmp(entry->d_name, strrchr(notes_path, '/') + 1) == 0;

		for (size_t i = 0; i < FILE_FOLDER; i++) {
			const char *name = strrchr(file_paths[i], '/') + 1;

			is_known |= strncmp(entry->d_name, name, strlen(name)) == 0 &&
				    (!entry->d_name[strlen(name)] ||
				     strcmp(entry->d_name + strlen(name), "-lock") == 0);
		}
		count += !is_known;
		if (!is_known)
			print_message("left behind: %s\n", entry->d_name);
	}
	(void)closedir(dir);
	return count;
}

/* Runs a command with `out_fd` as standard output (-1: its output is captured). */
static struct command_run run_files(const char *const *words, unsigned long at, bool is_sticky,
				    int out_fd)
{
	const char *files[FILE_COUNT], *with_files[COMMAND_WORDS_MAX + 1];
	struct command_run ran;

	for (size_t i = 0; i < FILE_COUNT; i++)
		files[i] = file_paths[i];
	for (size_t i = FILE_OUT; i < FILE_FOLDER; i++)
		(void)unlink(file_paths[i]);
	write_file(notes_path, notes_before);
	give_requests();
	command_words(words, file_names, files, FILE_COUNT, with_files);
	fault.at = at;
	fault.is_sticky = is_sticky;
	fault.count = 0;
	fault.live = 0;
	fault.failed = "nothing";
	ran = command_run(with_files, out_fd, arm);
	fault.live -= 2; /* captured output */
	return ran;
}

static bool has_word(const char *const *words, const char *word)
{
	while (*words && strcmp(*words, word) != 0)
		words++;
	return *words != NULL;
}

static bool is_import(const char *const *words)
{
	return strcmp(words[0], "import") == 0;
}

/* The name of a command in failure messages. */
static const char *name_of(const char *const *words)
{
	static char name[600];

	name[0] = '\0';
	for (size_t used = 0; *words; words++)
		used += (size_t)snprintf(name + used, used < sizeof(name) ? sizeof(name) - used : 0,
					 " %.60s", *words);
	return name;
}

/*
 * Results of a run without faults: the contents of the file that it wrote, the file's number (0: no
 * file), and its notes.
 */
struct written {
	size_t file, size;
	char *text;
};

/*
 * Whether the file is a complete Parquet file. Without memory for a column's dictionary, values are
 * written without it, which gives a different file with the same rows.
 */
static bool is_other_parquet(size_t file, const char *text, size_t size)
{
	return file == FILE_PARQUET && size > 12 && memcmp(text, "PAR1", 4) == 0 &&
	       memcmp(text + size - 4, "PAR1", 4) == 0;
}

/* Returns why the files after a run are wrong, or NULL if they are right. */
static const char *wrong_files(const struct command_run *ran, const char *const *words,
			       const struct written *good)
{
	static const char time_of[] = "\"time\": \"2";
	const bool is_change = strcmp(words[0], "notes") == 0 && strcmp(words[1], "list") != 0;
	size_t size;
	char *text = read_whole(notes_path, &size);
	const bool is_old = text && strcmp(text, notes_before) == 0;
	const char *why = NULL;

	if (!text ||
	    (!is_old && (!is_change || !json_is_valid(text, size) || !strstr(text, "old note"))))
		why = "notes are lost";
	else if (is_change && ran->code == 0 &&
		 (is_old || (strcmp(words[1], "add") == 0) != (strstr(text, time_of) != NULL)))
		why = "the note is not saved";
	free(text);
	if (!why && good->file) {
		text = read_whole(file_paths[good->file], &size);
		if (text ? (size != good->size || memcmp(text, good->text, size) != 0) &&
				    !is_other_parquet(good->file, text, size) :
			   ran->code == 0)
			why = text ? "a file that is not whole" : "the file is not there";
		free(text);
	}
	return why ? why : count_others() > 0 ? "a file is left behind" : NULL;
}

/* Whether each line that differs from the right answer is a protocol error. */
static bool is_refused(const struct command_run *ran)
{
	const char *end;

	for (const char *line = ran->out; *line; line = end + 1) {
		end = strchr(line, '\n');
		if (!end)
			return false;
		if (memmem(line, (size_t)(end - line), "rror\":", 6))
			return true;
	}
	return false;
}

/*
 * Returns why the result of a run whose n-th call failed is wrong, or NULL. The output of an import
 * contains times.
 */
static const char *wrong(const struct command_run *ran, const struct command_run *good,
			 const char *const *words)
{
	const bool as_json = has_word(words, "--json");

	if (fault.live != 0)
		return "memory leaks";
	if (ran->code == good->code)
		return is_import(words) ||
				       (ran->out_size == good->out_size &&
					memcmp(ran->out, good->out, good->out_size) == 0) ||
				       (strcmp(words[0], "mcp") == 0 && is_refused(ran)) ?
			       NULL :
			       "another answer";
	/* LMDB's MDB_MAP_FULL is reported as a limit, which counts as a problem of the input. */
	if (ran->code != CLI_SYSTEM &&
	    !(ran->code == CLI_INPUT && strcmp(fault.failed, "mdb_put") == 0))
		return "the exit code";
	if (strstr(ran->err, "heapdb: ") && strlen(strchr(ran->err, ':')) > 20)
		return NULL;
	if (!as_json)
		return "no message";
	if (!json_is_valid(ran->out, ran->out_size))
		return "the JSON";
	return strstr(ran->out, "\"error\"") ? NULL : "no error in the JSON";
}

static unsigned sweep(const char *const *words, unsigned long *runs, unsigned long *errors)
{
	struct command_run good = run_files(words, 0, false, -1);
	const unsigned long calls = fault.count;
	struct written written = { 0 };
	const unsigned long step = hostile_is_long() || calls < CALLS_MAX ? 1 : calls / CALLS_MAX;
	unsigned failed = 0;

	if (good.code != 0 || fault.live != 0)
		fail_msg("%s: exit %d, %ld blocks leak: %s", name_of(words), good.code, fault.live,
			 good.err);
	for (size_t i = FILE_OUT; i < FILE_FOLDER; i++)
		if (has_word(words, file_names[i]))
			written.file = i;
	if (written.file)
		written.text = read_whole(file_paths[written.file], &written.size);
	for (unsigned long i = 0; i < 2 * (calls / step) && failed < 5; i++) {
		const unsigned long at = i / 2 * step + 1 + (i / 2) % step;
		const bool is_sticky = i % 2 != 0;
		struct command_run ran = run_files(words, at, is_sticky, -1);
		const char *why = wrong(&ran, &good, words);

		why = why ? why : wrong_files(&ran, words, &written);
		if (why) {
			failed++;
			print_message(
				"FAILED%s: call %lu of %lu (%s) fails %s: %s; exit %d, %ld blocks\n"
				"%s%.300s\n",
				name_of(words), at, calls, fault.failed,
				is_sticky ? "from then on" : "once", why, ran.code, fault.live,
				ran.err, ran.out);
		}
		*runs += 1;
		*errors += ran.code != good.code;
		command_release(&ran);
	}
	print_message("%5lu calls:%s\n", calls, name_of(words));
	command_release(&good);
	free(written.text);
	return failed;
}

static void test_calls(void **state)
{
	unsigned long runs = 0, errors = 0;
	unsigned failed = 0;

	(void)state;
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		failed += sweep(commands_tried[i], &runs, &errors);
	print_message("%lu runs, %lu ended in an error\n", runs, errors);
	assert_int_equal(failed, 0);
	assert_true(errors > runs / 4);
}

/*
 * Maximum number of attempts over all calls, starting with the call in the row and moving outwards,
 * alternating between one fault and permanent faults. The order of calls depends on threads and
 * caches.
 */
#define ROUNDS 6

/* Whether the text contains the message, in which % stands for a number. */
static bool says(const char *text, const char *message)
{
	const size_t size = strcspn(message, "%");

	for (; (text = strstr(text, "cannot allocate memory")) != NULL; text++)
		if (strncmp(text, message, size) == 0 &&
		    (!message[size] || strstr(text, message + size + 1)))
			return true;
	return false;
}

static bool says_at(const char *const *words, unsigned long call, bool is_sticky,
		    const char *message)
{
	struct command_run ran = run_files(words, call, is_sticky, -1);
	const bool is_found = says(ran.err, message);

	command_release(&ran);
	return is_found;
}

static bool is_said(const char *const *words, unsigned long at, bool is_sticky, const char *message)
{
	struct command_run good = run_files(words, 0, false, -1);
	const unsigned long calls = fault.count;

	command_release(&good);
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned long i = 0; i <= 2 * calls; i++) {
			/* Below 1, the number wraps around and exceeds the number of calls. */
			const unsigned long call = i % 2 ? at + (i + 1) / 2 : at - i / 2;

			if (call == 0 || call > calls)
				continue;
			if (says_at(words, call, is_sticky ^ (round % 2), message))
				return true;
		}
	}
	return false;
}

/* Each failed allocation has its own message. */
static void test_messages(void **state)
{
	FILE *f = fopen("tests/data/memory_messages.txt", "r");
	unsigned rows = 0, failed = 0;
	char line[512];

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		char *name, *message;
		unsigned long at, is_sticky;
		size_t i = 0;

		if (line[0] == '#')
			continue;
		line[strcspn(line, "\n")] = '\0';
		at = strtoul(line, &name, 10);
		is_sticky = strtoul(name + 1, &name, 10);
		message = strrchr(name, '|');
		assert_true(at > 0 && message > name);
		*message++ = '\0';
		while (i < COMMAND_COUNT && strcmp(name_of(commands_tried[i]), name + 1) != 0)
			i++;
		if (i == COMMAND_COUNT) /* of what is not built */
			continue;
		rows++;
		if (is_said(commands_tried[i], at, is_sticky != 0, message))
			continue;
		print_message("nothing says \"%s\":%s\n", message, name + 1);
		failed++;
	}
	(void)fclose(f);
	print_message("%u messages\n", rows);
	assert_int_equal(failed, 0);
}

static bool prints_nothing(const char *const *words)
{
	return has_word(words, "--quiet") ||
	       (strcmp(words[0], "export") == 0 && has_word(words, "-o")) ||
	       (strcmp(words[0], "notes") == 0 && strcmp(words[1], "list") != 0);
}

/*
 * A full device gives exit code 4 and a message. It is not a failure if a reader closes the pipe.
 */
static void test_output_fails(void **state)
{
	unsigned failed = 0;

	(void)state;
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		const char *const *words = commands_tried[i];
		int ends[2], full = open("/dev/full", O_WRONLY | O_CLOEXEC);
		struct command_run ran[2];

		if (prints_nothing(words)) {
			(void)close(full);
			continue;
		}
		assert_true(full >= 0);
		assert_int_equal(pipe(ends), 0);
		(void)close(ends[0]);
		ran[0] = run_files(words, 0, false, full);
		failed += fault.live != 0;
		ran[1] = run_files(words, 0, false, ends[1]);
		failed += fault.live != 0;
		for (unsigned k = 0; k < 2; k++) {
			const bool is_told =
				strstr(ran[k].err, "standard output: No space left") != NULL;

			if (has_word(words, "OUT") && (access(file_paths[FILE_OUT], F_OK) != 0 ||
						       !strstr(ran[k].err, "is complete"))) {
				failed++;
				print_message("FAILED%s: the file and what is said of it: %s\n",
					      name_of(words), ran[k].err);
			}
			if (ran[k].code != (k == 0 ? CLI_SYSTEM : 0) || is_told != (k == 0)) {
				failed++;
				print_message("FAILED%s: %s: exit %d: %s\n", name_of(words),
					      k ? "a pipe that nobody reads" : "a full device",
					      ran[k].code, ran[k].err);
			}
			command_release(&ran[k]);
		}
		(void)close(full);
		(void)close(ends[1]);
	}
	assert_int_equal(failed, 0);
}

/* Each write accepts only a few bytes. No output is lost. */
static void test_short_writes(void **state)
{
	(void)state;
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		struct command_run good = run_files(commands_tried[i], 0, false, -1), ran;

		fault.is_short_write = true;
		ran = run_files(commands_tried[i], 0, false, -1);
		fault.is_short_write = false;
		if (ran.code != good.code || (!is_import(commands_tried[i]) &&
					      (ran.out_size != good.out_size ||
					       memcmp(ran.out, good.out, good.out_size) != 0)))
			fail_msg("%s: exit %d, %zu bytes of %zu", name_of(commands_tried[i]),
				 ran.code, ran.out_size, good.out_size);
		command_release(&good);
		command_release(&ran);
	}
}

static int import_one(enum hostile_dump kind, unsigned extra, const char *path)
{
	const struct hdb_import_options opt = { .force = 1, .threads = 1 };
	struct hdb_error err;
	uint64_t hash;
	struct hw w;
	int r;

	hostile_dump(&w, kind, extra);
	if (hw_save(&w, dump_path) != 0)
		return -1;
	hw_release(&w);
	r = hdb_import(dump_path, path, &opt, NULL, &err);
	/* All tables are built, so commands only need to read. */
	return r == HDB_OK ? hostile_answers(path, dump_path, &hash, &err) : r;
}

#ifdef HAVE_SQLITE
static void *sql_malloc(int size)
{
	return malloc((size_t)size);
}

static void *sql_realloc(void *p, int size)
{
	return realloc(p, (size_t)size);
}

static int sql_size(void *p)
{
	return p ? (int)malloc_usable_size(p) : 0;
}

static int sql_round(int size)
{
	return (size + 7) & ~7;
}

static int sql_begin(void *ctx)
{
	(void)ctx;
	return SQLITE_OK;
}

static void sql_end(void *ctx)
{
	(void)ctx;
}
#endif

/* Libraries of the servers allocate memory through the functions that fail. */
static void use_our_memory(void)
{
#ifdef HAVE_MCP
	json_set_alloc_funcs(malloc, free);
#endif
#ifdef HAVE_SQLITE
	static const struct sqlite3_mem_methods memory = { sql_malloc, free,      sql_realloc,
							   sql_size,   sql_round, sql_begin,
							   sql_end,    NULL };

	assert_int_equal(sqlite3_config(SQLITE_CONFIG_MALLOC, &memory), SQLITE_OK);
	assert_int_equal(sqlite3_initialize(), SQLITE_OK);
#endif
}

static int setup(void **state)
{
	(void)state;
	static const char *const names[FILE_COUNT] = {
		"cli.heapdb",     "cliold.heapdb", "cli.hprof",
		"clicopy.heapdb", "cliout.hprof",  "cliout.hprof.gz",
		"cliout.parquet", "cliout.html",   ""
	};
	static const char *const referrers[] = {
		"query", "referrers", "0x20020", "--db", "DB", NULL
	};
	struct command_run ran;

	for (size_t i = 0; i < FILE_COUNT; i++)
		hostile_path(file_paths[i], sizeof(file_paths[i]), names[i]);
	*strrchr(file_paths[FILE_FOLDER], '/') = '\0';
	(void)snprintf(notes_path, sizeof(notes_path), "%s.notes", db_path);
	use_our_memory();
	(void)unsetenv("HEAPDB");
	if (import_one(HOSTILE_JAVA8, 20, old_path) != HDB_OK)
		return -1;
	if (import_one(HOSTILE_JAVA8, 40, db_path) != HDB_OK)
		return -1;
	/* a table that `check` checks */
	ran = run_files(referrers, 0, false, -1);
	command_release(&ran);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	temp_remove_db(db_path);
	temp_remove_db(old_path);
	temp_remove_db(copy_path);
	(void)unlink(notes_path);
	for (size_t i = FILE_OUT; i < FILE_FOLDER; i++)
		(void)unlink(file_paths[i]);
	(void)unlink(dump_path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_output_fails),
		cmocka_unit_test(test_short_writes),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
