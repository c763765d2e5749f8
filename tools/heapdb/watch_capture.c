/*
 * heapdb/watch_capture.c - implements watch_capture.h.
 */
#include "heapdb/watch_capture.h"

#include "heapdb/progress.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THEN_TIMEOUT_MS UINT64_C(600000)
/* Memory budget of an import, and the amount of memory that must be free for it. */
#define IMPORT_MEMORY "128M"
#define FREE_MEMORY_MIN (UINT64_C(256) << 20)
/* Disk space that must be free in addition to the size of the heap. */
#define FREE_DISK_MIN (UINT64_C(64) << 20)
#define PATH_SIZE 2048
/* Time without writes to a dump after which the dump is considered complete. */
#define QUIET_S 5

static const char *const keeps[] = { "database", "graph", "redacted", "dump" };

int watch_keep_named(const char *name, enum watch_keep *out, struct hdb_error *err)
{
	*out = name ? (enum watch_keep)BASE_INDEX(keeps, name) : KEEP_DATABASE;
	return *out < BASE_COUNT(keeps) ?
		       HDB_OK :
		       hdb_fail(err, HDB_EUSAGE,
				"--keep %s: expected database, graph, redacted or dump", name);
}

/* ---- dumps that a JVM writes itself ---- */

/* Copies the value of -XX:HeapDumpPath=. Returns false if the JVM does not write a dump. */
static bool dump_path(const char *vm_args, char *buf, size_t size)
{
	static const char key[] = "-XX:HeapDumpPath=";
	const char *at = strstr(vm_args, key);

	at = at ? at + sizeof(key) - 1 : "";
	snprintf(buf, size, "%.*s", (int)strcspn(at, " "), at);
	return strstr(vm_args, "-XX:+HeapDumpOnOutOfMemoryError") != NULL;
}

/*
 * Finds the dump that the JVM itself has written since its start. Returns false if there is none.
 */
static bool own_dump(const struct capture_meters *jvm, char *path, size_t size, struct stat *st)
{
	char given[512];

	if (!dump_path(jvm->vm_args, given, sizeof(given)))
		return false;
	/* resolve the path relative to the JVM's root and working directory, as the JVM does */
	snprintf(path, size, "/proc/%d/%s/%s", jvm->pid, given[0] == '/' ? "root" : "cwd", given);
	if (!given[0] || (stat(path, st) == 0 && S_ISDIR(st->st_mode)))
		snprintf(path + strlen(path), size - strlen(path), "/java_pid%d.hprof",
			 jvm->inner_pid);
	return stat(path, st) == 0 && S_ISREG(st->st_mode) &&
	       (uint64_t)st->st_mtim.tv_sec + 1 >= (uint64_t)time(NULL) - jvm->age_ms / 1000;
}

uint64_t watch_find_dump(const struct capture_meters *jvm)
{
	char path[PATH_SIZE];
	struct stat st;

	/* the modification time changes while the JVM is writing */
	if (!own_dump(jvm, path, sizeof(path), &st) || time(NULL) - st.st_mtim.tv_sec < QUIET_S)
		return 0;
	return (uint64_t)st.st_mtim.tv_sec * 1000;
}

/* ---- the process that captures ---- */

struct steps {
	const struct watch_action *action;
	const struct watch_capture *what;
	const char *folder;
	char text[512]; /* message of the failure, or first sentence of the report */
	char cost[128]; /* sentence about pauses; "" if the JVM was not paused */
};

/* Returns the path of a file in the directory, which is valid until exec. */
static const char *in_folder(const struct steps *s, const char *name, char buf[PATH_SIZE])
{
	snprintf(buf, PATH_SIZE, "%s/%s", s->folder, name);
	return buf;
}

/* Returns the last line of a program's output, without its line feed. */
static const char *last_line(char *text)
{
	size_t size = strlen(text);
	const char *feed;

	while (size && text[size - 1] == '\n')
		text[--size] = '\0';
	feed = strrchr(text, '\n');
	return feed ? feed + 1 : text;
}

static bool run(struct steps *s, const char *const *argv, uint64_t timeout_ms)
{
	const struct capture_options options = { .cancel = progress_callbacks().cancel };
	struct hdb_error err;
	struct child_output out = { .code = 0 };
	const int rc = child_run(argv, &options, timeout_ms, &out, &err);

	if (rc == HDB_OK && out.code == 0) {
		const char *cost = strstr(out.text, "The JVM was paused ");

		if (cost)
			snprintf(s->cost, sizeof(s->cost), " %.*s", (int)strcspn(cost, "\n") - 1,
				 cost);
		return true;
	}
	if (rc != HDB_OK)
		snprintf(s->text, sizeof(s->text), "%.500s", err.message);
	else
		snprintf(s->text, sizeof(s->text), "exit code %d: %.400s", out.code,
			 last_line(out.text));
	return false;
}

/* Runs this program with a command and its arguments, which end with NULL. */
static bool heapdb(struct steps *s, const char *const *arguments)
{
	const char *argv[16] = { "/proc/self/exe" };
	size_t count = 1;

	while (*arguments && count + 2 < BASE_COUNT(argv))
		argv[count++] = *arguments++;
	return run(s, argv, 0);
}
#define HEAPDB(s, ...) heapdb(s, (const char *const[]){ __VA_ARGS__, NULL })

static bool make_database(struct steps *s, const char *db)
{
	struct capture_meters jvm;
	struct hdb_error err;
	struct stat st;
	char pid[16], dump[PATH_SIZE];

	snprintf(pid, sizeof(pid), "%d", s->what->pid);
	if (!s->what->is_oom)
		return HEAPDB(s, "capture", pid, "-o", db, "--memory", IMPORT_MEMORY, "--quiet");
	if (capture_measure(s->what->pid, &jvm, &err) == HDB_OK &&
	    own_dump(&jvm, dump, sizeof(dump), &st))
		return HEAPDB(s, "import", dump, "-o", db, "--contents", "keep", "--memory",
			      IMPORT_MEMORY, "--quiet");
	snprintf(s->text, sizeof(s->text), "the dump of the JVM was removed");
	return false;
}

static void remove_file(const char *path)
{
	char lock[PATH_SIZE + 8];

	(void)unlink(path);
	snprintf(lock, sizeof(lock), "%s-lock", path);
	(void)unlink(lock);
}

/*
 * Writes the dump that the database contains to `dump`, compressed. If --keep asks for a redacted
 * dump, `dump` is redacted and also replaces the dump in the database.
 */
static bool write_dump(struct steps *s, const char *db, const char *dump)
{
	const enum watch_keep keep = s->action->keep;
	char full[PATH_SIZE];
	bool is_good;

	in_folder(s, "full.hprof", full);
	is_good = HEAPDB(s, "export", "dump", "--db", db, "-o", full, "--quiet");
	if (keep != KEEP_DUMP)
		remove_file(db);
	is_good = is_good &&
		  (keep == KEEP_DUMP  ? HEAPDB(s, "convert", full, dump, "--quiet") :
		   keep == KEEP_GRAPH ? HEAPDB(s, "redact", full, dump, "--hash", "--quiet") :
					HEAPDB(s, "redact", full, dump, "--quiet"));
	(void)unlink(full);
	return is_good &&
	       (keep == KEEP_DUMP || HEAPDB(s, "import", dump, "-o", db, "--contents", "keep",
					    "--memory", IMPORT_MEMORY, "--quiet"));
}

/* Finds the first sentence of the report: the line after headings and quotes. */
static void take_headline(struct steps *s, const char *path)
{
	FILE *file = fopen(path, "re");
	char line[sizeof(s->text)];

	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (!line[0] || line[0] == '#' || line[0] == '>')
			continue;
		/* the sentence is bold in Markdown */
		snprintf(s->text, sizeof(s->text), "%s",
			 line + (strncmp(line, "**", 2) == 0 ? 2 : 0));
		if (strlen(s->text) > 2 && strcmp(s->text + strlen(s->text) - 2, "**") == 0)
			s->text[strlen(s->text) - 2] = '\0';
		/* Markdown needs backslashes before punctuation, as in "byte\\[\\]". */
		for (char *at = s->text; (at = strchr(at, '\\')) != NULL; at++)
			memmove(at, at + 1, strlen(at));
		break;
	}
	if (file)
		fclose(file);
}

/* Writes the report in the format `form`. Adds the series if it can be read. */
static bool write_report(struct steps *s, const char *db, const char *name, const char *form,
			 char *path)
{
	const char *series = s->action->series;

	in_folder(s, name, path);
	return HEAPDB(s, "report", db, "--quiet", "--with", series, form, path) ||
	       HEAPDB(s, "report", db, "--quiet", form, path);
}

static bool report(struct steps *s, const char *db)
{
	char path[PATH_SIZE];

	if (!HEAPDB(s, "report", db, "--json", "-o", in_folder(s, "report.json", path),
		    "--quiet") ||
	    !write_report(s, db, "report.html", "--html", path) ||
	    !write_report(s, db, "report.md", "-o", path))
		return false;
	take_headline(s, path);
	return true;
}

/* Creates the files to keep, in reduced form if requested. */
static bool make_all(struct steps *s)
{
	const enum watch_keep keep = s->action->keep;
	char db[PATH_SIZE], dump[PATH_SIZE];

	in_folder(s, "heap.heapdb", db);
	in_folder(s, "heap.hprof.zst", dump);
	if (!make_database(s, db))
		return false;
	if ((keep == KEEP_GRAPH || keep == KEEP_REDACTED) && !write_dump(s, db, dump))
		return false;
	if (!report(s, db))
		return false;
	if (keep == KEEP_DUMP && !write_dump(s, db, dump))
		return false;
	if (keep == KEEP_GRAPH)
		(void)unlink(dump);
	if (keep == KEEP_REDACTED || keep == KEEP_DUMP)
		remove_file(db);
	return true;
}

/* Runs the user's command, with {} replaced by the quoted directory. */
static void run_then(struct steps *s)
{
	const char *argv[] = { "/bin/sh", "-c", NULL, NULL };
	struct bytes command = { 0 };
	char headline[sizeof(s->text)];

	for (const char *at = s->action->then; *at; at++) {
		if (at[0] != '{' || at[1] != '}') {
			bytes_add(&command, at, 1);
			continue;
		}
		bytes_string(&command, "'");
		for (const char *c = s->folder; *c; c++)
			bytes_format(&command, *c == '\'' ? "'\\%c'" : "%c", *c);
		bytes_string(&command, "'");
		at++;
	}
	bytes_add(&command, "", 1);
	if (command.failed)
		return;
	argv[2] = command.data;
	memcpy(headline, s->text, sizeof(headline));
	if (run(s, argv, THEN_TIMEOUT_MS / s->action->lapse))
		memcpy(s->text, headline, sizeof(s->text));
	else
		snprintf(s->text, sizeof(s->text), "%.300s (--then failed: %.150s)", headline,
			 last_line(memcpy(headline, s->text, sizeof(headline))));
	bytes_release(&command);
}

static void remove_folder(const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' || strlen(entry->d_name) > 2)
			(void)unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	(void)rmdir(folder);
}

/* Runs in the capturing process. Writes the result as text: "+" or "-", followed by a sentence. */
static void capture_and_exit(struct steps *s, int result_fd)
{
	const bool is_good = make_all(s);

	if (is_good && s->action->then)
		run_then(s);
	if (!is_good)
		remove_folder(s->folder);
	dprintf(result_fd, "%c%s%s", is_good ? '+' : '-', s->text, is_good ? s->cost : "");
	_exit(is_good ? 0 : 1);
}

/* ---- the process that watches ---- */

static uint64_t free_memory(void)
{
	static const char key[] = "MemAvailable:";
	FILE *file = fopen("/proc/meminfo", "re");
	uint64_t kib = UINT64_MAX >> 10;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, key, sizeof(key) - 1) == 0)
			kib = strtoull(line + sizeof(key) - 1, NULL, 10);
	if (file)
		fclose(file);
	return kib << 10;
}

static int check_room(const struct watch_action *action, const struct watch_capture *what,
		      struct hdb_error *err)
{
	const struct series_record *r = what->sample;
	const uint64_t heap = r->has >> SERIES_COMMITTED & 1 ? r->figures[SERIES_COMMITTED] :
							       r->figures[SERIES_RSS];
	struct statvfs disk;

	if (free_memory() < FREE_MEMORY_MIN)
		return hdb_fail(err, HDB_ELIMIT, "only %s of memory is free, but %s is required",
				base_size(free_memory()).text, base_size(FREE_MEMORY_MIN).text);
	if (statvfs(action->dir, &disk) < 0)
		return hdb_fail_errno(err, errno, "%s", action->dir);
	if (disk.f_bavail * disk.f_frsize < heap + FREE_DISK_MIN)
		return hdb_fail(err, HDB_ELIMIT, "%s: only %s is free, but %s is required",
				action->dir, base_size(disk.f_bavail * disk.f_frsize).text,
				base_size(heap + FREE_DISK_MIN).text);
	return HDB_OK;
}

/* Makes the directory "com.acme.Shop-4711-20260101T031500". */
static int make_folder(const struct watch_action *action, const struct watch_capture *what,
		       struct watch_running *running, struct hdb_error *err)
{
	const time_t seconds = time(NULL);
	char name[128], stamp[32];
	struct tm parts;

	snprintf(name, sizeof(name), "%.100s",
		 what->sample->main_class[0] ? what->sample->main_class : "java");
	for (char *c = name; *c; c++)
		*c = isalnum((unsigned char)*c) || (*c == '.' && c > name) ? *c : '_';
	if (!localtime_r(&seconds, &parts) ||
	    !strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%S", &parts))
		return hdb_fail(err, HDB_EIO, "cannot get the local time to name a directory");
	if (snprintf(running->folder, sizeof(running->folder), "%s/%s-%d-%s", action->dir, name,
		     what->pid, stamp) >= (int)sizeof(running->folder))
		return hdb_fail(err, HDB_ELIMIT, "%s: the name is too long", action->dir);
	return mkdir(running->folder, 0700) == 0 ?
		       HDB_OK :
		       hdb_fail_errno(err, errno, "%s", running->folder);
}

int watch_start(const struct watch_action *action, const struct watch_capture *what,
		struct watch_running *running, struct hdb_error *err)
{
	struct steps steps = { .action = action, .what = what, .folder = running->folder };
	int ends[2];

	if (running->pid)
		return hdb_fail(err, HDB_ELIMIT, "another capture is running");
	TRY(check_room(action, what, err));
	TRY(make_folder(action, what, running, err));
	if (pipe2(ends, O_CLOEXEC) < 0)
		return hdb_fail_errno(err, errno, "pipe");
	running->pid = fork();
	if (running->pid == 0) {
		/* the lock of the series must not outlive the watching process */
		(void)dup2(ends[1], 3);
		for (int fd = 4; fd < 1024; fd++)
			(void)close(fd);
		(void)fcntl(3, F_SETFD, FD_CLOEXEC);
		capture_and_exit(&steps, 3);
	}
	close(ends[1]);
	if (running->pid < 0) {
		running->pid = 0;
		close(ends[0]);
		(void)rmdir(running->folder);
		return hdb_fail_errno(err, errno, "fork");
	}
	running->result_fd = ends[0];
	running->has_ended = false;
	memcpy(running->jvm, what->sample->jvm, sizeof(running->jvm));
	return HDB_OK;
}

bool watch_has_ended(struct watch_running *r)
{
	int status;

	if (r->pid && !r->has_ended && waitpid(r->pid, &status, WNOHANG) == r->pid) {
		r->has_ended = true;
		r->is_good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	}
	return r->pid && r->has_ended;
}

void watch_take(struct watch_running *r, struct watch_captured *out)
{
	char text[sizeof(out->text) + 1] = "";
	const ssize_t size = read(r->result_fd, text, sizeof(text) - 1);

	*out = (struct watch_captured){ .is_good = r->is_good };
	memcpy(out->jvm, r->jvm, sizeof(out->jvm));
	if (r->is_good)
		snprintf(out->path, sizeof(out->path), "%s", r->folder);
	snprintf(out->text, sizeof(out->text), "%s", size > 1 ? text + 1 : "it was killed");
	close(r->result_fd);
	r->pid = 0;
}

void watch_stop(struct watch_running *r)
{
	if (!r->pid)
		return;
	if (!r->has_ended) {
		(void)kill(r->pid, SIGTERM);
		while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR)
			continue;
	}
	close(r->result_fd);
	r->pid = 0;
}
