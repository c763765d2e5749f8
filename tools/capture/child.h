/*
 * capture/child.h - runs other programs (adb) by name, without a shell.
 */
#ifndef CAPTURE_CHILD_H
#define CAPTURE_CHILD_H

#include "capture/common.h"

#include <sys/types.h>

/*
 * Starts argv[0], which is looked up in PATH. The program's output, including its errors if `both`
 * is set, can be read from *out_fd, which the caller must close.
 */
int child_start(const char *const *argv, bool both, pid_t *pid, int *out_fd, struct hdb_error *err);

/* Waits for the program. Returns its exit code, or 128 plus the signal that ended it. */
int child_wait(pid_t pid);

/* Kills the program and the programs that it started. */
void child_kill(pid_t pid);

#endif
