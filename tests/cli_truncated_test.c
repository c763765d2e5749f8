/*
 * cli_truncated_test.c - the database or the dump is cut while the command writes a long answer: exit code 4 and the
 * offset, what was printed until then is the beginning of the right answer, or all of it where nothing more was read.
 *
 * HEAPDB_HOSTILE=long: a cut at every write.
 *
 * Link with: -Wl,--wrap=write
 */
int heapdb_main(int argc, char **argv);
#define main heapdb_main
#define print_error tell_error /* cmocka has one, too */
#include "heapdb/main.c"
#undef main
#undef print_error

#include "support/hostile.h"
#include "support/json_check.h"
#include "support/temp.h"

#include <fcntl.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <cmocka.h>

enum { ARGUMENTS_MAX = 12, PARTS = 4 };

static const char *const commands_tried[][ARGUMENTS_MAX] = {
	{ "export", "objects", "--db", "DB", "--dump", "DUMP" },
	{ "export", "objects", "--format", "csv", "--db", "DB", "--dump", "DUMP" },
	{ "export", "objects", "--format", "json", "--db", "DB", "--dump", "DUMP" },
	{ "export", "objects", "--sort", "retained", "--format", "jsonl", "--db", "DB", "--dump", "DUMP" },
	{ "query", "dominators", "--limit", "all", "--db", "DB", "--dump", "DUMP" },
	{ "export", "strings", "--format", "jsonl", "--db", "DB", "--dump", "DUMP" },
	{ "export", "strings", "--json", "--db", "DB", "--dump", "DUMP" },
	{ "export", "duplicates", "--db", "DB", "--dump", "DUMP" },
	{ "report", "--json", "--db", "DB", "--dump", "DUMP" },
};
#define COMMAND_COUNT (sizeof(commands_tried) / sizeof(commands_tried[0]))

static char dump_path[512], db_path[512];

/* The cut that the next run has: at the n-th write to standard output. */
static struct {
	const char *path; /* NULL: none */
	off_t size;
	unsigned at, calls;
} cut;

ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size)
{
	if (fd == STDOUT_FILENO && ++cut.calls == cut.at && cut.path && truncate(cut.path, cut.size) != 0)
		abort();
	return __real_write(fd, data, size);
}

struct image {
	char *data;
	size_t size;
};
static struct image db_image, dump_image;

struct run {
	int code;
	struct image out, err;
};

static struct image read_fd(int fd)
{
	struct image image = { .size = (size_t)lseek(fd, 0, SEEK_END) };

	image.data = calloc(1, image.size + 1);
	if (!image.data || pread(fd, image.data, image.size, 0) != (ssize_t)image.size)
		abort();
	return image;
}

static struct image read_path(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct image image;

	assert_true(fd >= 0);
	image = read_fd(fd);
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

/* Columns of a table are as wide as the rows that are printed together: blanks are made one. */
static void squeeze(struct image *image)
{
	size_t to = 0;

	for (size_t i = 0; i < image->size; i++)
		if (image->data[i] != ' ' || !to || image->data[to - 1] != ' ')
			image->data[to++] = image->data[i];
	image->size = to;
}

static struct run run_command(const char *const *words)
{
	static int saved[2] = { -1, -1 };
	char program[] = "heapdb", *argv[ARGUMENTS_MAX + 2] = { program };
	struct run ran;
	int fds[2], argc = 1;

	for (; words[argc - 1]; argc++)
		argv[argc] = (char *)(uintptr_t)(strcmp(words[argc - 1], "DB") == 0 ? db_path :
						 strcmp(words[argc - 1], "DUMP") == 0 ? dump_path :
						 words[argc - 1]);
	for (int i = 0; i < 2; i++) {
		if (saved[i] < 0)
			saved[i] = fcntl(i + 1, F_DUPFD_CLOEXEC, 100);
		fds[i] = memfd_create("output", MFD_CLOEXEC);
		if (fds[i] < 0 || dup2(fds[i], i + 1) < 0)
			abort();
	}
	cut.calls = 0;
	ran.code = heapdb_main(argc, argv);
	(void)fflush(stderr);
	for (int i = 0; i < 2; i++)
		(void)dup2(saved[i], i + 1);
	ran.out = read_fd(fds[0]);
	ran.err = read_fd(fds[1]);
	squeeze(&ran.out);
	(void)close(fds[0]);
	(void)close(fds[1]);
	return ran;
}

static void release(struct run *ran)
{
	free(ran->out.data);
	free(ran->err.data);
}

static bool is_whole_json(const char *const *words)
{
	for (; *words; words++)
		if (strcmp(*words, "--json") == 0 || strcmp(*words, "json") == 0)
			return true;
	return false;
}

/* Why a run is no good, or NULL. Under JSON the error ends what was printed. */
static const char *wrong(const struct run *ran, const struct run *good, const char *const *words)
{
	const bool as_json = is_whole_json(words);
	const struct image *said = as_json ? &ran->out : &ran->err;
	size_t same = 0;

	if (ran->code == 0)
		return ran->out.size == good->out.size &&
		       memcmp(ran->out.data, good->out.data, good->out.size) == 0 ? NULL : "another answer";
	if (ran->code != CLI_SYSTEM)
		return "the exit code";
	if (!memmem(said->data, said->size, "could not be read at offset", 27))
		return "no offset";
	if (as_json && !json_is_valid(ran->out.data, ran->out.size))
		return "the JSON";
	while (same < ran->out.size && same < good->out.size && ran->out.data[same] == good->out.data[same])
		same++;
	if (as_json)
		return memmem(ran->out.data + same, ran->out.size - same, "\n{", 2) ? "a wrong row" : NULL;
	return same == ran->out.size ? NULL : "a wrong row";
}

/* Cuts one file in four places at some of the writes; *told counts the runs that ended in an error. */
static unsigned sweep(const char *const *words, const char *path, const struct image *whole, unsigned *told)
{
	struct run good;
	unsigned writes, failed = 0;

	cut.path = NULL;
	write_path(db_path, &db_image);
	write_path(dump_path, &dump_image);
	good = run_command(words);
	if (good.code != 0)
		fail_msg("%s %s: %s", words[0], words[1], good.err.data);
	writes = cut.calls;
	for (unsigned part = 0; part < PARTS; part++) {
		const unsigned step = hostile_is_long() || writes < 3 ? 1 : (writes + 1) / 2;

		for (unsigned at = 1; at <= writes; at += step) {
			struct run ran;
			const char *why;

			write_path(path, whole);
			cut.path = path;
			cut.size = (off_t)(whole->size / PARTS * part / 4096 * 4096) + (part == 2 ? 100 : 0);
			cut.at = at;
			ran = run_command(words);
			cut.path = NULL;
			why = wrong(&ran, &good, words);
			*told += ran.code != 0;
			failed += why != NULL;
			if (why)
				print_message("FAILED %s %s %s: %s cut to %lld at write %u of %u: %s; exit %d, "
					      "%zu bytes of %zu\n%.300s\n", words[0], words[1], words[2],
					      path == db_path ? "database" : "dump", (long long)cut.size, at,
					      writes, why, ran.code, ran.out.size, good.out.size, ran.err.data);
			release(&ran);
		}
	}
	release(&good);
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
	print_message("told: %u cuts of the database, %u of the dump\n", told[0], told[1]);
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
	/* Tables are built here, so that commands have only to read. */
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		struct run ran = run_command(commands_tried[i]);

		release(&ran);
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
