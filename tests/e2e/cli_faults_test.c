/*
 * cli_faults_test.c - the n-th call that can fail does fail, once or from then on, in the command
 * itself: each of its commands and formats ends with the right answer, or with exit code 4 and a
 * message; no crash, no leak, no cut answer that is called good. Standard output that fails, by
 * itself or as a full device and as a pipe that nobody reads.
 *
 * HEAPDB_HOSTILE=long: every call; else some of each command.
 *
 * Link with: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free,--wrap=strdup
 * Link with: -Wl,--wrap=realpath
 * Link with: -Wl,--wrap=asprintf,--wrap=mmap,--wrap=open,--wrap=fopen,--wrap=fstat,--wrap=stat
 * Link with: -Wl,--wrap=write,--wrap=close,--wrap=opendir
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

#include <setjmp.h>
#include <cmocka.h>

/* One run may take this long, seconds of processor time. */
#define RUN_SECONDS_MAX 20
/* Calls of a command that are tried in the short form. */
#define CALLS_MAX 120

/* DB, OLD and DUMP stand for the files; COPY for a database that an import makes. */
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
};
#define COMMAND_COUNT (sizeof(commands_tried) / sizeof(commands_tried[0]))

static char dump_path[512], db_path[512], old_path[512], copy_path[512];

static void arm(bool begins)
{
	if (begins)
		hostile_seconds(RUN_SECONDS_MAX);
	fault.is_armed = begins;
	if (!begins)
		hostile_seconds(0);
}

/* Runs a command with `out_fd` as standard output (-1: what it prints is read). */
static struct command_run run_files(const char *const *words, unsigned long at, bool is_sticky,
				    int out_fd)
{
	static const char *const names[] = { "DB", "OLD", "DUMP", "COPY" };
	const char *const files[] = { db_path, old_path, dump_path, copy_path };
	const char *with_files[COMMAND_WORDS_MAX + 1];
	struct command_run ran;

	command_words(words, names, files, 4, with_files);
	fault.at = at;
	fault.is_sticky = is_sticky;
	fault.count = 0;
	fault.live = 0;
	fault.failed = "nothing";
	ran = command_run(with_files, out_fd, arm);
	fault.live -= 2; /* what was read of what it printed */
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

/* How a command is named where it fails. */
static const char *name_of(const char *const *words)
{
	static char name[600];

	name[0] = '\0';
	for (size_t used = 0; *words; words++)
		used += (size_t)snprintf(name + used, used < sizeof(name) ? sizeof(name) - used : 0,
					 " %.60s", *words);
	return name;
}

/* Why a run whose n-th call failed is no good, or NULL. What an import says has times in it. */
static const char *wrong(const struct command_run *ran, const struct command_run *good,
			 const char *const *words)
{
	const bool as_json = has_word(words, "--json");

	if (fault.live != 0)
		return "memory leaks";
	if (ran->code == good->code)
		return is_import(words) || (ran->out_size == good->out_size &&
					    memcmp(ran->out, good->out, good->out_size) == 0) ?
			       NULL :
			       "another answer";
	/* LMDB's MDB_MAP_FULL is a limit, which is a fault of the input. */
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
	const unsigned long step = hostile_is_long() || calls < CALLS_MAX ? 1 : calls / CALLS_MAX;
	unsigned failed = 0;

	if (good.code != 0 || fault.live != 0)
		fail_msg("%s: exit %d, %ld blocks leak: %s", name_of(words), good.code, fault.live,
			 good.err);
	for (unsigned long i = 0; i < 2 * (calls / step) && failed < 5; i++) {
		const unsigned long at = i / 2 * step + 1 + (i / 2) % step;
		const bool is_sticky = i % 2 != 0;
		struct command_run ran = run_files(words, at, is_sticky, -1);
		const char *why = wrong(&ran, &good, words);

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

/* Nobody takes what is printed: exit code 4, and a message but where a reader has had enough. */
static void test_output_fails(void **state)
{
	unsigned failed = 0;

	(void)state;
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		const char *const *words = commands_tried[i];
		int ends[2], full = open("/dev/full", O_WRONLY | O_CLOEXEC);
		struct command_run ran[2];

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

			if (ran[k].code != CLI_SYSTEM || is_told != (k == 0)) {
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

/* Each write takes a few bytes: nothing is lost. */
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
	/* All tables are built, so that commands have only to read. */
	return r == HDB_OK ? hostile_answers(path, dump_path, &hash, &err) : r;
}

static int setup(void **state)
{
	(void)state;
	hostile_path(dump_path, sizeof(dump_path), "cli.hprof");
	hostile_path(db_path, sizeof(db_path), "cli.heapdb");
	hostile_path(old_path, sizeof(old_path), "cliold.heapdb");
	hostile_path(copy_path, sizeof(copy_path), "clicopy.heapdb");
	(void)unsetenv("HEAPDB");
	if (import_one(HOSTILE_JAVA8, 20, old_path) != HDB_OK)
		return -1;
	return import_one(HOSTILE_JAVA8, 40, db_path) == HDB_OK ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	temp_remove_db(db_path);
	temp_remove_db(old_path);
	temp_remove_db(copy_path);
	(void)unlink(dump_path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_output_fails),
		cmocka_unit_test(test_short_writes),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
