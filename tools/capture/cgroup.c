/*
 * capture/cgroup.c - implements cgroup.h.
 */
#include "capture/cgroup.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_SIZE 16384
#define PATH_SIZE 4096
/* cgroup v1 reports "no limit" as the largest multiple of the page size. */
#define NO_LIMIT (UINT64_C(1) << 60)

/* Names of the files, which differ between cgroup versions. */
struct files {
	const char *limit, *usage, *events;
};
static const struct files files_of[] = {
	[1] = { "memory.limit_in_bytes", "memory.usage_in_bytes", "memory.oom_control" },
	[2] = { "memory.max", "memory.current", "memory.events" },
};

/* Returns whether a list such as "cpu,memory" contains the memory controller. */
static bool has_memory(const char *list, size_t size)
{
	static const char name[] = "memory";

	for (size_t at = 0; at <= size;) {
		const char *comma = memchr(list + at, ',', size - at);
		const size_t n = comma ? (size_t)(comma - list) - at : size - at;

		if (n == sizeof(name) - 1 && memcmp(list + at, name, n) == 0)
			return true;
		at += n + 1;
	}
	return false;
}

/*
 * Copies the path of the group from the line "ID:CONTROLLERS:PATH" of this cgroup version. Returns
 * false if there is no such line.
 */
static bool find_path(const char *text, int version, char *path, size_t size)
{
	for (const char *line = text; *line; line += *line == '\n') {
		const size_t length = strcspn(line, "\n");
		const char *first = memchr(line, ':', length), *second;

		second = first ? memchr(first + 1, ':', length - (size_t)(first + 1 - line)) : NULL;
		line += length;
		if (!second)
			continue;
		if (version == 2 ? second != first + 1 :
				   !has_memory(first + 1, (size_t)(second - first - 1)))
			continue;
		if (second[1] != '/' || (size_t)(line - second) > size)
			return false;
		snprintf(path, size, "%.*s", (int)(line - second - 1), second + 1);
		return true;
	}
	return false;
}

/* Opens the longest suffix of `path` that exists below the mount. *at is set to its start. */
static int open_group(int mount_fd, const char *path, const char **at)
{
	for (const char *p = path; p; p = strchr(p + 1, '/')) {
		const char *name = p + strspn(p, "/");
		int fd;

		/*
		 * the path of a process in another cgroup namespace contains "/../NAME", which
		 * leads outside
		 */
		if (strncmp(name, "..", 2) == 0 || strstr(name, "/.."))
			continue;
		fd = openat(mount_fd, *name ? name : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		*at = name;
		if (fd >= 0)
			return fd;
	}
	*at = "";
	return openat(mount_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool read_number(int dir_fd, const char *name, uint64_t *out)
{
	char text[64], *end;

	if (capture_read_file(dir_fd, name, text, sizeof(text)) <= 0)
		return false;
	*out = strtoull(text, &end, 10);
	return end != text && *out < NO_LIMIT;
}

static uint64_t read_kills(int dir_fd, const char *name)
{
	static const char key[] = "oom_kill ";
	char text[1024];
	const char *line = text;

	if (capture_read_file(dir_fd, name, text, sizeof(text)) <= 0)
		return 0;
	while (line && strncmp(line, key, sizeof(key) - 1) != 0) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return line ? strtoull(line + sizeof(key) - 1, NULL, 10) : 0;
}

/* Stores the figures of the group if the group is the first one or has a lower limit. */
static void take_group(int dir_fd, int version, bool is_first, struct cgroup_memory *out)
{
	const struct files *files = &files_of[version];
	uint64_t limit = 0;
	const bool has = read_number(dir_fd, files->limit, &limit);

	if (!is_first && (!has || (out->has_limit && out->limit <= limit)))
		return;
	out->has_limit = has;
	out->limit = has ? limit : 0;
	out->usage = 0;
	(void)read_number(dir_fd, files->usage, &out->usage);
	out->oom_kills = read_kills(dir_fd, files->events);
}

static bool read_version(int fs_fd, const char *text, int version, struct cgroup_memory *out)
{
	static const char *const mounts[3][3] = { [1] = { "memory" }, [2] = { ".", "unified" } };
	char path[PATH_SIZE], left[PATH_SIZE];
	BASE_CLOSED int mount_fd = -1;
	const char *at;
	bool is_first = true;

	if (!find_path(text, version, path, sizeof(path)))
		return false;
	for (int i = 0; mount_fd < 0 && mounts[version][i]; i++) {
		mount_fd = openat(fs_fd, mounts[version][i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (mount_fd >= 0 && version == 2 &&
		    faccessat(mount_fd, "cgroup.controllers", F_OK, 0) < 0) {
			capture_close_fd(mount_fd);
			mount_fd = -1;
		}
	}
	if (mount_fd < 0)
		return false;
	capture_close_fd(open_group(mount_fd, path, &at));
	snprintf(left, sizeof(left), "%s", at);
	for (;;) {
		BASE_CLOSED const int fd =
			openat(mount_fd, left[0] ? left : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		char *slash = strrchr(left, '/');

		if (fd >= 0)
			take_group(fd, version, is_first, out);
		is_first = false;
		if (!left[0])
			break;
		*(slash ? slash : left) = '\0';
	}
	out->version = version;
	return version == 1 || out->has_limit || out->usage;
}

bool cgroup_memory_read(int fs_fd, const char *text, struct cgroup_memory *out)
{
	/* in a hybrid system, version 2 exists without the memory controller */
	for (int version = 1; version <= 2; version++) {
		memset(out, 0, sizeof(*out));
		if (read_version(fs_fd, text, version, out))
			return true;
	}
	memset(out, 0, sizeof(*out));
	return false;
}

bool cgroup_memory_of(const struct process *process, struct cgroup_memory *out)
{
	BASE_CLOSED const int ours = open("/sys/fs/cgroup", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	BASE_CLOSED int theirs = -1;
	char text[TEXT_SIZE];

	memset(out, 0, sizeof(*out));
	if (capture_read_file(process->proc_fd, "cgroup", text, sizeof(text)) <= 0)
		return false;
	if (ours >= 0 && cgroup_memory_read(ours, text, out))
		return true;
	theirs = process_folder(process, "/sys/fs/cgroup");
	return theirs >= 0 && cgroup_memory_read(theirs, text, out);
}
