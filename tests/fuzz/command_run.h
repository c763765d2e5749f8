/*
 * fuzz/command_run.h - runs the command within this process, and checks its output. Include it once
 * per target, because it includes the command's main file.
 */
#ifndef FUZZ_COMMAND_RUN_H
#define FUZZ_COMMAND_RUN_H

int heapdb_main(int argc, char **argv);
#define main heapdb_main
#include "heapdb/main.c"
#undef main

#include "support/json_check.h"

#include <fcntl.h>
#include <sys/mman.h>

/* File for a sanitizer's report while standard error is redirected. */
void __sanitizer_set_report_fd(void *fd) __attribute__((weak));

/*
 * Stops the process if the output contains control characters, is not UTF-8 or, if it should be, is
 * not JSON.
 */
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
	/* Without the name of a query, the output is the help, which is text. */
	if (is_json && text[0] == '{' && code != CLI_SYSTEM && !json_is_valid(text, (size_t)size))
		abort();
	free(text);
}

/*
 * Runs the command and returns its exit code; argv ends with NULL. `is_json`: the output is one
 * JSON text, or help.
 */
static int run_command(int argc, char **argv, bool is_json)
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
	expect_clean(fds[0], is_json, code);
	expect_clean(fds[1], false, code);
	(void)close(fds[0]);
	(void)close(fds[1]);
	return code;
}

#endif
