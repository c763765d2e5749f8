/*
 * cli_truncated_test.c - cuts the database or the dump while the command writes a long answer. The
 * command must end with exit code 4 and the offset, and the output must be the beginning of the
 * right answer. If no more data is read, the answer is complete.
 *
 * HEAPDB_HOSTILE=long: a cut at every write.
 *
 * Link with: -Wl,--wrap=write
 */
#include "support/command.h"
#include "support/hostile.h"
#include "support/json_check.h"
#include "support/temp.h"

#include <setjmp.h>
#include <sys/stat.h>
#include <cmocka.h>

/* Number of positions at which a file is cut. */
#define PARTS 4

static const char *const commands_tried[][COMMAND_WORDS_MAX] = {
	{ "export", "objects", "--db", "DB", "--dump", "DUMP" },
	{ "export", "objects", "--format", "csv", "--db", "DB", "--dump", "DUMP" },
	{ "export", "objects", "--format", "json", "--db", "DB", "--dump", "DUMP" },
	{ "export", "objects", "--sort", "retained", "--format", "jsonl", "--db", "DB", "--dump",
	  "DUMP" },
	{ "query", "dominators", "--limit", "all", "--db", "DB", "--dump", "DUMP" },
	{ "export", "strings", "--format", "jsonl", "--db", "DB", "--dump", "DUMP" },
	{ "export", "strings", "--json", "--db", "DB", "--dump", "DUMP" },
	{ "export", "duplicates", "--db", "DB", "--dump", "DUMP" },
	{ "report", "--json", "--db", "DB", "--dump", "DUMP" },
};
#define COMMAND_COUNT (sizeof(commands_tried) / sizeof(commands_tried[0]))

static char dump_path[512], db_path[512];

/* The cut in the next run, at the n-th write to standard output. */
static struct {
	const char *path; /* NULL: none */
	off_t size;
	unsigned at, calls;
	unsigned count; /* number of all runs */
} cut;

ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size)
{
	if (fd == STDOUT_FILENO && ++cut.calls == cut.at && cut.path &&
	    truncate(cut.path, cut.size) != 0)
		abort();
	return __real_write(fd, data, size);
}

struct image {
	char *data;
	size_t size;
};
static struct image db_image, dump_image;

static struct image read_path(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct image image;

	assert_true(fd >= 0);
	image.data = command_read(fd, &image.size);
	(void)close(fd);
	return image;
}

static void write_path(const char *path, const struct image *image)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(__real_write(fd, image->data, image->size), image->size);
	(void)close(fd);
}

/*
 * The width of a table's columns depends on the rows that are printed together, so consecutive
 * blanks are merged.
 */
static void squeeze(char *text, size_t *size)
{
	size_t to = 0;

	for (size_t i = 0; i < *size; i++)
		if (text[i] != ' ' || !to || text[to - 1] != ' ')
			text[to++] = text[i];
	*size = to;
}

static struct command_run run_files(const char *const *words)
{
	static const char *const names[] = { "DB", "DUMP" };
	const char *const files[] = { db_path, dump_path };
	const char *with_files[COMMAND_WORDS_MAX + 1];
	struct command_run ran;

	command_words(words, names, files, 2, with_files);
	cut.calls = 0;
	ran = command_run(with_files, -1, NULL);
	squeeze(ran.out, &ran.out_size);
	return ran;
}

static bool is_whole_json(const char *const *words)
{
	for (; *words; words++)
		if (strcmp(*words, "--json") == 0 || strcmp(*words, "json") == 0)
			return true;
	return false;
}

/* Returns why the result of a run is wrong, or NULL. With JSON, the output ends with the error. */
static const char *wrong(const struct command_run *ran, const struct command_run *good,
			 const char *const *words)
{
	const bool as_json = is_whole_json(words);
	const char *said = as_json ? ran->out : ran->err;
	const size_t said_size = as_json ? ran->out_size : ran->err_size;
	size_t same = 0;

	if (ran->code == 0)
		return ran->out_size == good->out_size &&
				       memcmp(ran->out, good->out, good->out_size) == 0 ?
			       NULL :
			       "another answer";
	if (ran->code != CLI_SYSTEM)
		return "the exit code";
	if (!memmem(said, said_size, "cannot read at offset", 21))
		return "no offset";
	if (as_json && !json_is_valid(ran->out, ran->out_size))
		return "the JSON";
	while (same < ran->out_size && same < good->out_size && ran->out[same] == good->out[same])
		same++;
	if (as_json)
		return memmem(ran->out + same, ran->out_size - same, "\n{", 2) ? "a wrong row" :
										 NULL;
	return same == ran->out_size ? NULL : "a wrong row";
}

/*
 * Cuts one file at four positions during some of the writes. *told is the number of runs that ended
 * in an error.
 */
static unsigned sweep(const char *const *words, const char *path, const struct image *whole,
		      unsigned *told)
{
	struct command_run good;
	unsigned writes, failed = 0;

	cut.path = NULL;
	write_path(db_path, &db_image);
	write_path(dump_path, &dump_image);
	good = run_files(words);
	if (good.code != 0)
		fail_msg("%s %s: %s", words[0], words[1], good.err);
	writes = cut.calls;
	for (unsigned part = 0; part < PARTS; part++) {
		const unsigned step = hostile_is_long() || writes < 3 ? 1 : (writes + 1) / 2;

		for (unsigned at = 1; at <= writes; at += step) {
			struct command_run ran;
			const char *why;

			write_path(path, whole);
			cut.path = path;
			cut.size = (off_t)(whole->size / PARTS * part / 4096 * 4096) +
				   (part == 2 ? 100 : 0);
			cut.at = at;
			cut.count++;
			ran = run_files(words);
			cut.path = NULL;
			why = wrong(&ran, &good, words);
			*told += ran.code != 0;
			failed += why != NULL;
			if (why)
				print_message(
					"FAILED %s %s %s: %s cut to %lld at write %u of %u: %s; exit %d, "
					"%zu bytes of %zu\n%.300s\n",
					words[0], words[1], words[2],
					path == db_path ? "database" : "dump", (long long)cut.size,
					at, writes, why, ran.code, ran.out_size, good.out_size,
					ran.err);
			command_release(&ran);
		}
	}
	command_release(&good);
	return failed;
}

static void test_cut(void **state)
{
	unsigned failed = 0, told[2] = { 0, 0 };

	(void)state;
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		failed += sweep(commands_tried[i], db_path, &db_image, &told[0]);
		failed += sweep(commands_tried[i], dump_path, &dump_image, &told[1]);
	}
	print_message("%u cuts, told: %u of the database, %u of the dump\n", cut.count, told[0],
		      told[1]);
	assert_int_equal(failed, 0);
	assert_true(told[0] > COMMAND_COUNT && told[1] > 0);
}

static int setup(void **state)
{
	const struct hdb_import_options opt = { .force = 1, .threads = 1 };
	const char *sample = getenv("DUMP");
	struct hdb_error err = { 0 };

	(void)state;
	if (!sample)
		return -1;
	hostile_path(dump_path, sizeof(dump_path), "stream.hprof");
	hostile_path(db_path, sizeof(db_path), "stream.heapdb");
	dump_image = read_path(sample);
	write_path(dump_path, &dump_image);
	if (hdb_import(dump_path, db_path, &opt, NULL, &err) != HDB_OK)
		return -1;
	/* Tables are built here, so commands only need to read. */
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		struct command_run ran = run_files(commands_tried[i]);

		command_release(&ran);
	}
	db_image = read_path(db_path);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(db_image.data);
	free(dump_image.data);
	temp_remove_db(db_path);
	(void)unlink(dump_path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_cut) };

	return cmocka_run_group_tests(tests, setup, teardown);
}
