/*
 * capture/cgroup.h - the memory limit of a process, read from cgroup v1, cgroup v2, or both.
 */
#ifndef CAPTURE_CGROUP_H
#define CAPTURE_CGROUP_H

#include "capture/process.h"

struct cgroup_memory {
	/* 1 or 2; 0 means the process is not in a memory cgroup that is visible here */
	int version;
	bool has_limit; /* whether some group up to the root has a limit */
	uint64_t limit; /* the smallest limit, in bytes */
	/* bytes used by the group with that limit, otherwise by the process's own group */
	uint64_t usage;
	uint64_t oom_kills; /* processes of that group that the kernel killed */
};

/*
 * Reads the limits of the group that `text` names (contents of /proc/PID/cgroup) and of its parents
 * below `fs_fd` (/sys/fs/cgroup, or a copy). A container may see only the end of the path, so names
 * at its beginning that do not exist are dropped. If there is no such group, returns false and sets
 * *out to zeros.
 */
bool cgroup_memory_read(int fs_fd, const char *text, struct cgroup_memory *out);

/*
 * Reads the limits of a process's group from heapdb's own /sys/fs/cgroup, or otherwise from the
 * process's /sys/fs/cgroup.
 */
bool cgroup_memory_of(const struct process *process, struct cgroup_memory *out);

#endif
