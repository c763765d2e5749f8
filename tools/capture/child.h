/*
 * capture/child.h - other programs (adb): started by name, never through a shell.
 */
#ifndef CAPTURE_CHILD_H
#define CAPTURE_CHILD_H

#include "capture/common.h"

#include <sys/types.h>

/*
 * Starts argv[0], found on PATH; *out_fd, owned, gives what it prints (and its errors, if `both`).
 */
int child_start(const char *const *argv, bool both, pid_t *pid, int *out_fd, struct hdb_error *err);

/* Waits for its end: its exit code, or 128 and the number of the signal that ended it. */
int child_wait(pid_t pid);

/* Ends it. */
void child_kill(pid_t pid);

/* What a program printed. */
struct child_output {
	char text[8192]; /* its beginning; ends with a zero */
	size_t size;
	int code; /* as of child_wait */
};

/*
 * Runs it to its end, at most timeout_ms (0: as long as it takes), or until it is cancelled.
 * HDB_OK whatever its exit code is.
 */
int child_run(const char *const *argv, const struct capture_options *options, uint64_t timeout_ms,
	      struct child_output *out, struct hdb_error *err);

#endif
