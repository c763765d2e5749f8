/*
 * capture/janitor.h - a small process that removes what a capture has made in a VM's files if the
 * capture is killed: the pipe, its folder, the trigger file.
 *
 * It also keeps the pipe open for reading until it is removed. A VM that opens a pipe which nobody
 * reads waits for ever, and all its threads with it; so at no moment may that be possible.
 */
#ifndef CAPTURE_JANITOR_H
#define CAPTURE_JANITOR_H

#include "capture/common.h"

#include <sys/types.h>

/* Files in the folder of a capture. */
#define CAPTURE_PIPE "dump"
#define CAPTURE_FILE "dump.hprof"

struct janitor {
	pid_t pid;   /* 0: none */
	int pipe_fd; /* closed when we exit, which the janitor notices; -1: none */
};

/* What it removes. Descriptors are lent. */
struct litter {
	int tmp_fd;          /* the folder that `folder` is in */
	int folder_fd;       /* `folder` */
	int cwd_fd;          /* where the trigger file may be, too; -1: nowhere */
	const char *folder;  /* its name; lent */
	const char *trigger; /* name of the trigger file; lent */
};

/*
 * Removes the folder and all files in it: ours, and parts of a dump that the VM has made. As
 * whoever made them.
 */
void litter_remove(const struct litter *litter);

/* Starts it. As the owner of the files; before there are threads. */
int janitor_start(const struct litter *litter, struct janitor *janitor, struct hdb_error *err);

/* All is removed: lets it go. */
void janitor_dismiss(struct janitor *janitor);

#endif
