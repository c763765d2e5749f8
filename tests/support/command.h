/*
 * support/command.h - runs the command within this process and reads its output. Include it once
 * per test program, because it includes the command's main file, whose main is then heapdb_main.
 */
#ifndef SUPPORT_COMMAND_H
#define SUPPORT_COMMAND_H

int heapdb_main(int argc, char **argv);
#define main heapdb_main
#define print_error command_print_error /* cmocka defines this macro, too */
#include "heapdb/main.c"
#undef main
#undef print_error

#include <fcntl.h>
#include <sys/mman.h>

/* Maximum number of arguments of a command, not counting its name. */
#define COMMAND_WORDS_MAX 14

/* File for a sanitizer's report while standard error is redirected. */
void __sanitizer_set_report_fd(void *fd) __attribute__((weak));

/* Result of a command. Release it with command_release. */
struct command_run {
	int code;
	char *out, *err; /* zero-terminated; owned */
	size_t out_size, err_size;
};

static char *command_read(int fd, size_t *size)
{
	const off_t end = lseek(fd, 0, SEEK_END);
	char *text = calloc(1, end > 0 ? (size_t)end + 1 : 1);

	if (!text || (end > 0 && pread(fd, text, (size_t)end, 0) != end))
		abort();
	*size = end > 0 ? (size_t)end : 0;
	return text;
}

/*
 * Runs the command with the arguments `words`, which end with NULL. Writes standard output to
 * out_fd, or captures it if out_fd is -1. If `around` is not NULL, calls it with true right before
 * the command and with false right after it.
 */
static struct command_run command_run(const char *const *words, int out_fd,
				      void (*around)(bool begins))
{
	static int saved[2] = { -1, -1 };
	char program[] = "heapdb", *argv[COMMAND_WORDS_MAX + 2] = { program };
	struct command_run ran = { 0 };
	int fds[2], argc = 1;

	for (; words[argc - 1] && argc <= COMMAND_WORDS_MAX; argc++)
		argv[argc] = (char *)(uintptr_t)words[argc - 1];
	for (int i = 0; i < 2; i++) {
		if (saved[i] < 0)
			saved[i] = fcntl(i + 1, F_DUPFD_CLOEXEC, 100);
		fds[i] = memfd_create("output", MFD_CLOEXEC);
		if (fds[i] < 0 || dup2(!i && out_fd >= 0 ? out_fd : fds[i], i + 1) < 0)
			abort();
	}
	if (__sanitizer_set_report_fd)
		__sanitizer_set_report_fd((void *)(intptr_t)saved[1]);
	if (around)
		around(true);
	ran.code = heapdb_main(argc, argv);
	if (around)
		around(false);
	(void)fflush(stderr);
	for (int i = 0; i < 2; i++)
		(void)dup2(saved[i], i + 1);
	ran.out = command_read(fds[0], &ran.out_size);
	ran.err = command_read(fds[1], &ran.err_size);
	(void)close(fds[0]);
	(void)close(fds[1]);
	return ran;
}

static void command_release(struct command_run *ran)
{
	free(ran->out);
	free(ran->err);
}

/*
 * Copies `words`, and replaces each word that equals names[i] with values[i]. `to` has room for
 * COMMAND_WORDS_MAX words and NULL.
 */
static inline void command_words(const char *const *words, const char *const *names,
				 const char *const *values, size_t count, const char **to)
{
	size_t at = 0;

	for (; words[at] && at < COMMAND_WORDS_MAX; at++) {
		to[at] = words[at];
		for (size_t i = 0; i < count; i++)
			if (strcmp(words[at], names[i]) == 0)
				to[at] = values[i];
	}
	to[at] = NULL;
}

#endif
