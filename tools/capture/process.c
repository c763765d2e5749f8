/*
 * capture/process.c - implements process.h.
 */
#include "capture/process.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Buffer size for /proc/PID/status, which has about 1.5 KB, or more with many groups. */
#define STATUS_SIZE 16384
#define CGROUP_SIZE 16384
/* Maximum time between the moment when a process closes its files and its exit. */
#define ENDING_MS 1000
/* Number of hexadecimal digits in a container ID, and number of digits shown. */
#define CONTAINER_DIGITS 64
#define CONTAINER_SHOWN 12

/* Returns the rest of the line that begins with `key`, or NULL. */
static const char *field(const char *text, const char *key)
{
	const size_t size = strlen(key);

	while (text) {
		if (strncmp(text, key, size) == 0)
			return text + size;
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return NULL;
}

/* Returns number `n` of a line, counting from 0, or the last number if n is negative. */
static unsigned long number_in(const char *line, int n, unsigned long none)
{
	unsigned long value = none;

	for (int i = 0; line && (n < 0 || i <= n); i++) {
		char *end;
		unsigned long next;

		line += strspn(line, " \t");
		if (!isdigit((unsigned char)*line))
			return n < 0 ? value : none;
		next = strtoul(line, &end, 10);
		value = next;
		line = end;
	}
	return value;
}

/*
 * Reads the state and owner of the process and other properties. Returns 0, or an errno if the
 * process has ended.
 */
static int look(struct process *p)
{
	char text[STATUS_SIZE];
	const char *line;
	uint64_t caught;

	if (capture_read_file(p->proc_fd, "status", text, sizeof(text)) <= 0)
		return errno ? errno : ESRCH;
	line = field(text, "State:");
	p->state = line ? line[strspn(line, " \t")] : '?';
	/* fields: real, effective, saved, file system */
	p->uid = (uid_t)number_in(field(text, "Uid:"), 1, (unsigned long)-1);
	p->gid = (gid_t)number_in(field(text, "Gid:"), 1, (unsigned long)-1);
	/* absent before Linux 4.1 */
	p->inner_pid = (pid_t)number_in(field(text, "NSpid:"), -1, (unsigned long)p->pid);
	line = field(text, "SigCgt:");
	caught = line ? strtoull(line + strspn(line, " \t"), NULL, 16) : 0;
	p->catches_quit = caught >> (SIGQUIT - 1) & 1;
	return 0;
}

int process_open(pid_t pid, struct process *p)
{
	char name[32];

	*p = (struct process){ .pid = pid, .inner_pid = pid };
	snprintf(name, sizeof(name), "/proc/%ld", (long)pid);
	p->proc_fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return p->proc_fd < 0 ? errno : look(p);
}

void process_close(struct process *p)
{
	capture_close_fd(p->proc_fd);
	p->proc_fd = -1;
}

bool process_is_gone(struct process *p)
{
	return look(p) != 0 || p->state == 'Z' || p->state == 'X';
}

bool process_is_ending(struct process *p)
{
	const uint64_t end = base_now_ms() + ENDING_MS;

	while (!process_is_gone(p)) {
		if (base_now_ms() > end)
			return false;
		(void)poll(NULL, 0, 10);
	}
	return true;
}

int process_has_hotspot(const struct process *p)
{
	static const char library[] = "/libjvm.so";
	const size_t keep = sizeof(library) - 1;
	const int fd = openat(p->proc_fd, "maps", O_RDONLY | O_CLOEXEC);
	char buf[65536];
	size_t used = 0;
	ssize_t n;
	int found = 0;

	if (fd < 0)
		return -1;
	while (!found && (n = read(fd, buf + used, sizeof(buf) - used)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			found = -1;
			break;
		}
		used += (size_t)n;
		found = memmem(buf, used, library, keep) != NULL;
		/*
		 * a name may be incomplete at the end of the chunk, so keep it for the next chunk
		 */
		if (used > keep) {
			memmove(buf, buf + used - keep, keep);
			used = keep;
		}
	}
	close(fd);
	return found;
}

/* Opens `path` below `root_fd` as if `root_fd` were the root directory. */
static int open_below(int root_fd, const char *path)
{
	struct open_how how = {
		.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	const long fd = syscall(SYS_openat2, root_fd, path, &how, sizeof(how));

	if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
		return (int)fd;
	/* on Linux before 5.6, or under a seccomp filter without openat2, do not follow links */
	path += strspn(path, "/");
	if (strchr(path, '/')) {
		errno = ENOSYS;
		return -1;
	}
	return openat(root_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

int process_folder(const struct process *p, const char *path)
{
	const int root_fd = openat(p->proc_fd, "root", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd, failure;

	if (root_fd < 0) {
		/*
		 * access was denied, but a process in our PID namespace most likely has our file
		 * system
		 */
		if (errno != EACCES || p->inner_pid != p->pid)
			return -1;
		return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	fd = open_below(root_fd, path);
	failure = errno;
	close(root_fd);
	errno = failure;
	return fd;
}

void process_parse_cgroup(const char *text, char *buf, size_t size)
{
	size_t run = 0;

	buf[0] = '\0';
	for (const char *c = text;; c++) {
		if (isdigit((unsigned char)*c) || (*c >= 'a' && *c <= 'f')) {
			run++;
			continue;
		}
		if (run == CONTAINER_DIGITS) {
			snprintf(buf, size, "%.*s", CONTAINER_SHOWN, c - run);
			return;
		}
		run = 0;
		if (!*c)
			return;
	}
}

/* Returns whether a namespace of the process differs from ours. */
static bool is_elsewhere(const struct process *p, const char *name)
{
	char ours[64], path[64];
	struct stat a, b;

	snprintf(ours, sizeof(ours), "/proc/self/ns/%s", name);
	snprintf(path, sizeof(path), "ns/%s", name);
	return stat(ours, &a) == 0 && fstatat(p->proc_fd, path, &b, 0) == 0 &&
	       (a.st_ino != b.st_ino || a.st_dev != b.st_dev);
}

void process_container(const struct process *p, char *buf, size_t size)
{
	char text[CGROUP_SIZE];

	buf[0] = '\0';
	if (!is_elsewhere(p, "pid") && !is_elsewhere(p, "mnt"))
		return;
	if (capture_read_file(p->proc_fd, "cgroup", text, sizeof(text)) > 0)
		process_parse_cgroup(text, buf, size);
	if (!buf[0])
		snprintf(buf, size, "another namespace");
}
