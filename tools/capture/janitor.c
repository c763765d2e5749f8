/*
 * capture/janitor.c - implements janitor.h.
 */
#include "capture/janitor.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Number of attempts to empty a directory that another process may still write to. */
#define REMOVE_TRIES 3

/* Removes all files in a directory. */
static void remove_files(int folder_fd)
{
	const int fd = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!dir) {
		capture_close_fd(fd);
		return;
	}
	while ((entry = readdir(dir)))
		(void)unlinkat(folder_fd, entry->d_name, 0);
	closedir(dir);
}

void janitor_remove(const struct janitor_files *l)
{
	char away[64];

	/*
	 * rename the directory first, so that a VM that opens the path late does not find it and
	 * cannot create a file
	 */
	snprintf(away, sizeof(away), "%s-", l->folder);
	if (renameat(l->tmp_fd, l->folder, l->tmp_fd, away) < 0)
		return;
	/* a VM that has just created a file there will finish soon */
	for (unsigned i = 0; i < REMOVE_TRIES; i++) {
		remove_files(l->folder_fd);
		if (unlinkat(l->tmp_fd, away, AT_REMOVEDIR) == 0 || errno != ENOTEMPTY)
			return;
	}
}

/*
 * Drops root permanently, including the saved IDs. Does nothing if the process does not run as
 * root.
 */
static void give_up_rights(void)
{
	const uid_t uid = geteuid();
	const gid_t gid = getegid();

	(void)!seteuid(getuid());
	(void)!setgroups(1, &gid);
	if (setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		(void)!seteuid(uid);
}

static _Noreturn void keep_watch(const struct janitor_files *l, int fd)
{
	const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP };
	char byte;
	ssize_t n;

	for (size_t i = 0; i < BASE_COUNT(ignored); i++)
		(void)signal(ignored[i], SIG_IGN);
	give_up_rights();
	do
		n = read(fd, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n == 0) {
		if (l->cwd_fd >= 0)
			(void)unlinkat(l->cwd_fd, l->trigger, 0);
		(void)unlinkat(l->tmp_fd, l->trigger, 0);
		janitor_remove(l);
	}
	_exit(0);
}

int janitor_start(const struct janitor_files *files, struct janitor *janitor, struct hdb_error *err)
{
	int ends[2];

	assert(files->tmp_fd >= 0);
	assert(files->folder_fd >= 0);
	*janitor = (struct janitor){ .pipe_fd = -1 };
	if (pipe2(ends, O_CLOEXEC) < 0)
		return hdb_fail(err, HDB_EIO, "pipe: %s", strerror(errno));
	janitor->pid = fork();
	if (janitor->pid == 0) {
		close(ends[1]);
		keep_watch(files, ends[0]);
	}
	close(ends[0]);
	if (janitor->pid < 0) {
		janitor->pid = 0;
		close(ends[1]);
		return hdb_fail(err, HDB_EIO, "fork: %s", strerror(errno));
	}
	janitor->pipe_fd = ends[1];
	return HDB_OK;
}

void janitor_dismiss(struct janitor *janitor)
{
	if (!janitor->pid)
		return;
	assert(janitor->pid > 0);
	assert(janitor->pipe_fd >= 0);
	(void)!write(janitor->pipe_fd, "", 1);
	close(janitor->pipe_fd);
	while (waitpid(janitor->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*janitor = (struct janitor){ .pipe_fd = -1 };
}
