/*
 * capture/vms.c - lists the Java VMs of this machine: processes that have loaded HotSpot's library,
 * with data from their hsperfdata.
 */
#include "base/sort.h"
#include "capture/perfdata.h"
#include "base/scope.h"
#include "base/vec.h"
#include "capture/process.h"
#include "capture/vms.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER_PREFIX "hsperfdata_"
/* Maximum number of files examined in a /tmp, which may hold millions. */
#define TMP_ENTRIES_MAX 100000
#define COMMAND_LINE_SIZE 65536
#define USER_BUFFER_SIZE 16384

/* Reads the counter file `name` in `dir_fd` if the file and the process have the same owner. */
static bool read_counters(int dir_fd, const char *name, uid_t owner, struct perfdata_summary *out)
{
	BASE_CLOSED const int fd =
		openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	BASE_FREED uint8_t *data = NULL;
	struct stat st;
	long size;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != owner ||
	    st.st_size <= 0)
		return false;
	size = (uint64_t)st.st_size < PERFDATA_MAX ? (long)st.st_size : (long)PERFDATA_MAX;
	data = malloc((size_t)size);
	size = data ? capture_read(fd, data, (size_t)size) : -1;
	return size >= 0 && perfdata_summarize(data, (size_t)size, out);
}

/*
 * Reads the options from the command line, for a VM without counters. The command line does not
 * contain options from JAVA_TOOL_OPTIONS.
 */
static void read_command_line(const struct process *p, struct perfdata_summary *out)
{
	const long size =
		capture_read_file(p->proc_fd, "cmdline", out->vm_args, sizeof(out->vm_args));

	for (long i = 0; i < size; i++)
		out->vm_args[i] = out->vm_args[i] ? out->vm_args[i] : ' ';
	out->cannot_attach = strstr(out->vm_args, "-XX:+DisableAttachMechanism") != NULL;
}

bool capture_counters(const struct process *p, struct perfdata_summary *out)
{
	const int tmp_fd = process_folder(p, "/tmp");
	DIR *dir = tmp_fd < 0 ? NULL : fdopendir(tmp_fd);
	const struct dirent *entry;
	bool found = false;
	char name[32];

	memset(out, 0, sizeof(*out));
	if (!dir) {
		capture_close_fd(tmp_fd);
		return false;
	}
	snprintf(name, sizeof(name), "%ld", (long)p->inner_pid);
	for (unsigned i = 0; !found && i < TMP_ENTRIES_MAX && (entry = readdir(dir)); i++) {
		int fd;

		if (strncmp(entry->d_name, FOLDER_PREFIX, sizeof(FOLDER_PREFIX) - 1) != 0)
			continue;
		fd = openat(tmp_fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			continue;
		found = read_counters(fd, name, p->uid, out);
		close(fd);
	}
	closedir(dir);
	if (!found)
		read_command_line(p, out);
	return found;
}

/* Returns the word at offset `at` of a command line of `size` bytes, or NULL at the end. */
static const char *word_at(const char *words, size_t size, size_t at)
{
	return at < size ? words + at : NULL;
}

/* Returns whether this option of `java` takes the next word as its value. */
static bool takes_word(const char *option)
{
	static const char *const names[] = {
		"-cp",           "-classpath",
		"--class-path",  "-p",
		"--module-path", "--upgrade-module-path",
		"--add-modules", "--limit-modules",
		"--add-reads",   "--add-exports",
		"--add-opens",   "--patch-module",
		"--source",      "--enable-native-access",
	};

	return BASE_HAS(names, option);
}

/* Finds the main class, module or jar in a command line of `java`. */
static const char *main_of(const char *words, size_t size)
{
	size_t at = strlen(words) + 1;
	const char *word;

	while ((word = word_at(words, size, at))) {
		at += strlen(word) + 1;
		if (strcmp(word, "-jar") == 0 || strcmp(word, "-m") == 0 ||
		    strcmp(word, "--module") == 0)
			return word_at(words, size, at);
		if (*word != '-' && *word != '@')
			return word;
		if (takes_word(word) && word_at(words, size, at))
			at += strlen(words + at) + 1;
	}
	return NULL;
}

void capture_main_class(const struct process *p, const char *command, char *buf, size_t size)
{
	char *words;
	long n;

	/* sun.rt.javaCommand starts with the main class; a file name is cut at its first blank */
	snprintf(buf, size, "%.*s", (int)strcspn(command, " "), command);
	words = buf[0] ? NULL : malloc(COMMAND_LINE_SIZE);
	n = words ? capture_read_file(p->proc_fd, "cmdline", words, COMMAND_LINE_SIZE) : 0;
	if (n > 0) {
		const char *name = main_of(words, (size_t)n);

		snprintf(buf, size, "%s", name ? name : "");
	}
	free(words);
}

static void user_name(uid_t uid, char *buf, size_t size)
{
	char room[USER_BUFFER_SIZE];
	struct passwd entry, *found = NULL;

	if (getpwuid_r(uid, &entry, room, sizeof(room), &found) == 0 && found)
		snprintf(buf, size, "%s", found->pw_name);
	else
		snprintf(buf, size, "%lu", (unsigned long)uid);
}

static void describe(const struct process *p, struct capture_vm *vm)
{
	struct perfdata_summary counters;
	const bool has_counters = capture_counters(p, &counters);

	*vm = (struct capture_vm){ .pid = (int)p->pid };
	user_name(p->uid, vm->user, sizeof(vm->user));
	process_container(p, vm->container, sizeof(vm->container));
	capture_main_class(p, counters.command, vm->main_class, sizeof(vm->main_class));
	if (!has_counters)
		return;
	snprintf(vm->version, sizeof(vm->version), "%s", counters.version);
	vm->has_heap = counters.has_heap;
	vm->heap_used = counters.heap_used;
	vm->heap_committed = counters.heap_committed;
}

/* Returns whether an inaccessible process is named java. */
static bool is_called_java(const struct process *p)
{
	char name[32];

	return capture_read_file(p->proc_fd, "comm", name, sizeof(name)) > 0 &&
	       strcmp(name, "java\n") == 0;
}

BASE_ORDER(compare, struct capture_vm, BASE_UP(pid))

struct list {
	struct base_vec vms; /* struct capture_vm */
	size_t hidden;
};

/* Adds the process if it is a VM. Returns false if memory is exhausted. */
static bool add(struct list *list, const struct process *p)
{
	const int has = p->state == 'Z' ? 0 : process_has_hotspot(p);

	if (has <= 0) {
		list->hidden += has < 0 && is_called_java(p);
		return true;
	}
	if (base_vec_reserve(&list->vms, 1, sizeof(struct capture_vm), NULL) < 0)
		return false;
	describe(p, base_vec_at(&list->vms, struct capture_vm, list->vms.count++));
	return true;
}

int capture_list(struct capture_vm **vms, size_t *count, size_t *hidden, struct hdb_error *err)
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;
	struct list list = { 0 };
	bool is_good = true;

	if (!dir || faccessat(dirfd(dir), "self/status", R_OK, 0) < 0) {
		if (dir)
			closedir(dir);
		return hdb_fail(err, HDB_EIO, "cannot list processes: /proc is not mounted");
	}
	while (is_good && (entry = readdir(dir))) {
		struct process process;
		const long pid = isdigit((unsigned char)entry->d_name[0]) ?
					 strtol(entry->d_name, NULL, 10) :
					 0;

		if (pid <= 0)
			continue;
		/* kernel threads and processes that have ended have no maps */
		if (process_open((pid_t)pid, &process) == 0)
			is_good = add(&list, &process);
		process_close(&process);
	}
	closedir(dir);
	if (!is_good) {
		base_vec_release(&list.vms);
		return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for a list of processes");
	}
	base_vec_sort(&list.vms, sizeof(**vms), compare);
	*vms = list.vms.data;
	*count = list.vms.count;
	*hidden = list.hidden;
	return HDB_OK;
}
