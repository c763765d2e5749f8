/*
 * heapdb/pager.c - implements pager.h.
 */
#include "heapdb/pager.h"

#include "heapdb/progress.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
	pid_t pid;          /* process ID of the pager; 0 means not running */
	struct output *out; /* NULL if no output was held back */
	int errors;         /* copy of standard error, or -1 if standard error is not redirected */
} pager;

/* Returns the pager's command, or NULL if output is not paged. */
static const char *pager_command(void)
{
	const char *command = getenv("PAGER");

	if (!command)
		return "less";
	return *command && strcmp(command, "cat") != 0 ? command : NULL;
}

void pager_want(struct output *out)
{
	out->is_held = out->is_terminal && pager_command() != NULL;
	pager.out = out->is_held ? out : NULL;
}

/* Returns whether the text exceeds the screen, leaving one line for the prompt. */
static bool is_long(const char *text, size_t size)
{
	struct winsize window = { .ws_row = 24, .ws_col = 80 };
	size_t lines = 1;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || !window.ws_row || !window.ws_col)
		window = (struct winsize){ .ws_row = 24, .ws_col = 80 };
	for (size_t i = 0, column = 0; i < size; i++) {
		const bool is_end = text[i] == '\n', is_rest = (text[i] & 0xc0) == 0x80;
		const bool wraps = !is_end && !is_rest && column == window.ws_col;

		lines += is_end || wraps;
		column = is_end || wraps ? !is_end : column + !is_rest;
	}
	return lines > window.ws_row;
}

/*
 * Starts the pager. A command of several words is run by the shell. Signals that are ignored in
 * this process get their default action in the pager.
 */
static int spawn_pager(const char *command, int from)
{
	char *const words[] = { (char *)(uintptr_t)command, NULL };
	char *const line[] = { "sh", "-c", (char *)(uintptr_t)command, NULL };
	const bool is_word = strcspn(command, "|&;<>()$`\\\"' \t\n*?[#~=%") == strlen(command);
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t signals;
	int failed;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGPIPE);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	posix_spawn_file_actions_adddup2(&actions, from, STDIN_FILENO);
	posix_spawnattr_setsigdefault(&attributes, &signals);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	(void)setenv("LESS", "FRX", 0);
	(void)setenv("LV", "-c", 0);
	failed = posix_spawnp(&pager.pid, is_word ? command : "/bin/sh", &actions, &attributes,
			      is_word ? words : line, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return failed;
}

/* Starts the pager. If that fails, output goes to the terminal. */
static void start(struct output *out)
{
	const char *command = pager_command();
	struct sigaction action;
	int ends[2];

	assert(!pager.pid);
	if (!command || pipe2(ends, O_CLOEXEC) != 0)
		return;
	if (spawn_pager(command, ends[0]) != 0) {
		pager.pid = 0;
		close(ends[1]);
		close(ends[0]);
		return;
	}
	close(ends[0]);
	pager.errors = -1;
	out->fd = ends[1];
	if (isatty(STDERR_FILENO) == 1) {
		progress_no_more();
		pager.errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		if (pager.errors >= 0)
			(void)dup2(ends[1], STDERR_FILENO);
	}
	/*
	 * Ctrl-C is meant for the pager, so a command without its own handler ignores the signal
	 * and keeps waiting
	 */
	if (sigaction(SIGINT, NULL, &action) == 0 && action.sa_handler == SIG_DFL)
		(void)signal(SIGINT, SIG_IGN);
}

void pager_before_write(struct output *out)
{
	progress_hide();
	if (out->is_held && is_long(out->buffer, out->used))
		start(out);
	out->is_held = false;
}

void pager_flush(void)
{
	if (!pager.out || pager.out->used == 0)
		return;
	pager_before_write(pager.out);
	output_flush(pager.out);
}

void pager_wait(void)
{
	if (!pager.pid)
		return;
	(void)signal(SIGINT, SIG_IGN);
	if (pager.errors >= 0) {
		(void)dup2(pager.errors, STDERR_FILENO);
		close(pager.errors);
	}
	while (waitpid(pager.pid, NULL, 0) < 0 && errno == EINTR)
		;
	pager.pid = 0;
}
