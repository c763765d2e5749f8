/*
 * support/death.h - checks that an assertion fails, by running deliberately broken code in a
 * separate process.
 */
#ifndef SUPPORT_DEATH_H
#define SUPPORT_DEATH_H

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whether run(ctx) aborts. It runs in a child process, so its changes are not visible here. */
static inline bool dies(void (*run)(void *ctx), void *ctx)
{
	int status = 0;
	const pid_t pid = fork();

	if (pid == 0) {
		const struct rlimit none = { 0 };
		const int quiet = open("/dev/null", O_WRONLY);

		(void)setrlimit(RLIMIT_CORE, &none);
		(void)signal(SIGABRT, SIG_DFL);
		(void)dup2(quiet, STDERR_FILENO);
		run(ctx);
		_exit(0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
	       WTERMSIG(status) == SIGABRT;
}

#endif
