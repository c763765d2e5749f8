/*
 * capture/janitor.h - a small process that removes a capture's temporary files (the pipe, its
 * directory, the trigger file) if the capture is killed.
 *
 * It also keeps the pipe open for reading until the pipe is removed. Opening a pipe that nobody
 * reads would block the VM and all its threads forever, so there must be a reader at every moment.
 */
#ifndef CAPTURE_JANITOR_H
#define CAPTURE_JANITOR_H

#include "capture/common.h"

#include <sys/types.h>

/* Files in a capture's directory. */
#define CAPTURE_PIPE "dump"
#define CAPTURE_FILE "dump.hprof"

struct janitor {
	pid_t pid;   /* 0 means none */
	int pipe_fd; /* closed when the parent exits, which wakes the janitor; -1 means none */
};

/* Files to remove. The caller owns the descriptors. */
struct janitor_files {
	int tmp_fd;         /* parent directory of `folder` */
	int folder_fd;      /* the directory `folder` */
	int cwd_fd;         /* another directory that may contain the trigger file; -1 means none */
	const char *folder; /* name of the directory; borrowed */
	const char *trigger; /* name of the trigger file; borrowed */
};

/*
 * Removes the directory and its files, including partial dumps written by the VM. Must run as the
 * owner of the files.
 */
void janitor_remove(const struct janitor_files *files);

/*
 * Starts the janitor. Must be called as the owner of the files, and before any thread exists,
 * because it forks.
 */
int janitor_start(const struct janitor_files *files, struct janitor *janitor,
		  struct hdb_error *err);

/* Ends the janitor after all files were removed. */
void janitor_dismiss(struct janitor *janitor);

#endif
