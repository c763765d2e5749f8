/*
 * capture/process.h - a process of this machine, accessed through /proc.
 *
 * A descriptor of its /proc directory identifies the process, so that another process with the same
 * PID is never mistaken for it. Paths in its file system are resolved below its root directory; no
 * symbolic link leads out of it.
 */
#ifndef CAPTURE_PROCESS_H
#define CAPTURE_PROCESS_H

#include "capture/common.h"

#include <sys/types.h>

struct process {
	pid_t pid;       /* PID in the namespace of this process */
	pid_t inner_pid; /* PID in the innermost namespace of the other process */
	int proc_fd;     /* directory of the process in /proc */
	uid_t uid;       /* effective user ID */
	gid_t gid;
	char state;        /* as in `ps`: R, S, D, T, Z */
	bool catches_quit; /* whether the process has a handler for SIGQUIT */
};

/*
 * Opens a process. Returns 0 or an errno: ENOENT if there is no such process. Call process_close in
 * either case.
 */
int process_open(pid_t pid, struct process *process);
void process_close(struct process *process);

/* Returns whether the process has ended. */
bool process_is_gone(struct process *process);

/*
 * Like process_is_gone, but waits up to a second: a process closes its connections before it exits.
 */
bool process_is_ending(struct process *process);

/* Returns 1 if the process has loaded HotSpot's library, 0 if not, -1 if unknown. */
int process_has_hotspot(const struct process *process);

/*
 * Opens an absolute path in the process's file system. Returns a descriptor, which the caller must
 * close, or -1 with errno. No symbolic link leads out of its root.
 */
int process_folder(const struct process *process, const char *path);

/* Writes the container's short ID ("0123456789ab"), "another namespace" or "". */
void process_container(const struct process *process, char *buf, size_t size);

/* Writes the short container ID found in the text of /proc/PID/cgroup, or "". */
void process_parse_cgroup(const char *text, char *buf, size_t size);

#endif
