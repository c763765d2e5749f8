/*
 * fuzz/command.c - the command itself, with any arguments, on a small database with hostile names: it ends with one of
 * its exit codes, its JSON is JSON, and nothing that it prints is a control character or no UTF-8.
 *
 * Input: u8 which command, then arguments, each ended by a line end. Importing is another target's.
 */
int heapdb_main(int argc, char **argv);
#define main heapdb_main
#include "heapdb/main.c"
#undef main

#include "support/fuzz_world.h"
#include "support/json_check.h"

#include <fcntl.h>
#include <sys/mman.h>

/* Arguments that are passed on. */
#define ARGUMENTS_MAX 16
#define INPUT_MAX 512

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* Where a sanitizer's report goes while standard error is ours. */
void __sanitizer_set_report_fd(void *fd) __attribute__((weak));

static void expect_clean(int fd, bool is_json, int code)
{
	const off_t size = lseek(fd, 0, SEEK_END);
	char *text;

	if (size <= 0)
		return;
	text = malloc((size_t)size);
	if (!text || pread(fd, text, (size_t)size, 0) != size)
		abort();
	if (!text_is_clean(text, (size_t)size))
		abort();
	/* Without a query's name the answer is the help, which is text. */
	if (is_json && text[0] == '{' && code != CLI_SYSTEM && !json_is_valid(text, (size_t)size))
		abort();
	free(text);
}

/* Whether the answer is one JSON object: the help is text all the same. */
static bool wants_json(int argc, char **argv)
{
	bool yes = false;

	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], "--h", 3) == 0 || strchr(argv[i], 'h') == argv[i] + 1 ||
		    strncmp(argv[i], "--f", 3) == 0 || strncmp(argv[i], "--c", 3) == 0 ||
		    strcmp(argv[i], "--") == 0)
			return false;
		yes |= strcmp(argv[i], "--json") == 0;
	}
	return yes;
}

static int run_command(int argc, char **argv)
{
	static int saved[2] = { -1, -1 };
	int fds[2], code;

	for (int i = 0; i < 2; i++) {
		if (saved[i] < 0)
			saved[i] = fcntl(i + 1, F_DUPFD_CLOEXEC, 100);
		fds[i] = memfd_create("output", MFD_CLOEXEC);
		if (fds[i] < 0 || dup2(fds[i], i + 1) < 0)
			abort();
	}
	if (__sanitizer_set_report_fd)
		__sanitizer_set_report_fd((void *)(intptr_t)saved[1]);
	code = heapdb_main(argc, argv);
	(void)fflush(stderr);
	for (int i = 0; i < 2; i++)
		(void)dup2(saved[i], i + 1);
	if (code < CLI_DONE || code > CLI_SYSTEM)
		abort();
	expect_clean(fds[0], argc > 2 && wants_json(argc, argv) && strcmp(argv[1], "help") != 0, code);
	expect_clean(fds[1], false, code);
	(void)close(fds[0]);
	(void)close(fds[1]);
	return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "query", "export", "info", "check", "help", "version",
					     "query", "query" };
	const struct fuzz_world *world = fuzz_world();
	char text[INPUT_MAX + 1], name[16], db[300], *argv[ARGUMENTS_MAX + 4];
	char program[] = "heapdb";
	int argc = 0;

	if (!size || size > INPUT_MAX)
		return 0;
	(void)snprintf(name, sizeof(name), "%s", names[data[0] % 8]);
	(void)snprintf(db, sizeof(db), "--db=%s", world->db_path);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	argv[argc++] = program;
	argv[argc++] = name;
	for (char *p = strtok(text, "\n"); p && argc < ARGUMENTS_MAX; p = strtok(NULL, "\n"))
		if (strncmp(p, "--t", 3) != 0) /* folders and threads */
			argv[argc++] = p;
	if (strcmp(name, "help") != 0 && strcmp(name, "version") != 0)
		argv[argc++] = db;
	argv[argc] = NULL;
	(void)run_command(argc, argv);
	return 0;
}
