/*
 * capture/process.h - a process of this machine, by way of /proc.
 *
 * It is held by a descriptor of its folder there, so that another process that gets the same PID
 * later is never taken for it. What is in its own file system is looked up from its root folder
 * and never leads out of it, whatever links somebody there has made.
 */
#ifndef CAPTURE_PROCESS_H
#define CAPTURE_PROCESS_H

#include "capture/common.h"

#include <sys/types.h>

struct process {
	pid_t pid;       /* as seen from here */
	pid_t inner_pid; /* as it sees itself: in the innermost PID namespace */
	int proc_fd;     /* its folder in /proc */
	uid_t uid;       /* effective */
	gid_t gid;
	char state;        /* as in `ps`: R, S, D, T, Z */
	bool catches_quit; /* it has a handler of SIGQUIT */
};

/* 0, or an errno: ENOENT if there is no such process. process_close in either case. */
int process_open(pid_t pid, struct process *process);
void process_close(struct process *process);

/* Whether it has ended. */
bool process_is_gone(struct process *process);

/* The same of one that has hung up, whose end may be seen a little later: waits up to a second. */
bool process_is_ending(struct process *process);

/* 1: it has loaded HotSpot's library, 0: it has not, or -1: that may not be seen. */
int process_has_hotspot(const struct process *process);

/*
 * A folder of the process's own file system, by an absolute path: a descriptor, owned, or -1 with
 * errno. No link leads out of its root.
 */
int process_folder(const struct process *process, const char *path);

/* "0123456789ab" of its container, "another namespace", or "". */
void process_container(const struct process *process, char *buf, size_t size);

/* "0123456789ab" if a text of /proc/PID/cgroup names a container, else "". */
void process_parse_cgroup(const char *text, char *buf, size_t size);

#endif
