/*
 * capture/child.c - implements child.h.
 */
#include "capture/child.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/*
 * Starts a program with posix_spawnp. The program gets the writing end of the pipe, no input, and
 * default signal handlers.
 */
static int spawn(const char *const *argv, bool both, int write_fd, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t defaults;
	char *words[32];
	size_t count = 0;
	int failure;

	if (!argv[0])
		return EINVAL;
	/* posix_spawnp does not modify the words, although its parameter is not const */
	while (argv[count] && count + 1 < BASE_COUNT(words)) {
		memcpy(&words[count], &argv[count], sizeof(words[0]));
		count++;
	}
	words[count] = NULL;
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	/* Ctrl-C must reach only this process, which itself ends the commands of adb */
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, write_fd, STDOUT_FILENO);
	if (both)
		posix_spawn_file_actions_adddup2(&actions, write_fd, STDERR_FILENO);
	else
		posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	failure = posix_spawnp(pid, words[0], &actions, &attributes, words, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return failure;
}

int child_start(const char *const *argv, bool both, pid_t *pid, int *out_fd, struct hdb_error *err)
{
	int ends[2], failure;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return hdb_fail(err, HDB_EIO, "pipe: %s", strerror(errno));
	failure = spawn(argv, both, ends[1], pid);
	close(ends[1]);
	if (failure) {
		close(ends[0]);
		*pid = 0;
		return hdb_fail(err, HDB_EIO, "%s: %s", argv[0],
				failure == ENOENT ? "is not installed, or not on PATH" :
						    strerror(failure));
	}
	*out_fd = ends[0];
	return HDB_OK;
}

int child_wait(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return 127;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void child_kill(pid_t pid)
{
	/* the program leads its own process group */
	(void)kill(-pid, SIGKILL);
	(void)kill(pid, SIGKILL);
	(void)child_wait(pid);
}

/* Reads the program's output until its end. */
static int read_output(int fd, const struct capture_options *options, uint64_t timeout_ms,
		       struct child_output *out, struct hdb_error *err)
{
	const uint64_t end = timeout_ms ? base_now_ms() + timeout_ms : UINT64_MAX;
	char dropped[4096] = { 0 };

	for (;;) {
		const size_t room = sizeof(out->text) - 1 - out->size;
		const int rc = capture_wait(options, fd, POLLIN, end, err);
		ssize_t n;

		if (rc == HDB_END)
			return hdb_fail(err, HDB_EIO, "no answer within %llu s",
					(unsigned long long)timeout_ms / 1000);
		TRY(rc);
		n = read(fd, room ? out->text + out->size : dropped, room ? room : sizeof(dropped));
		if (n == 0 || (n < 0 && errno != EINTR))
			return HDB_OK;
		out->size += n > 0 && room ? (size_t)n : 0;
	}
}

int child_run(const char *const *argv, const struct capture_options *options, uint64_t timeout_ms,
	      struct child_output *out, struct hdb_error *err)
{
	struct hdb_error why;
	int fd = -1;
	pid_t pid;
	int rc;

	out->size = 0;
	out->code = 127;
	TRY(child_start(argv, true, &pid, &fd, err));
	rc = read_output(fd, options, timeout_ms, out, &why);
	assert(out->size < sizeof(out->text));
	out->text[out->size] = '\0';
	close(fd);
	if (rc != HDB_OK) {
		child_kill(pid);
		return hdb_fail(err, rc, "%s: %s", argv[0], why.message);
	}
	out->code = child_wait(pid);
	return HDB_OK;
}
