/*
 * phd/javacore.c - threads and their stacks in the javacore that the VM writes beside a dump: a
 * text whose lines begin with what they are.
 */
#include "phd/phd_private.h"

#include "base/try.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LINE_BYTES 4096
#define THREAD_LINE "3XMTHREADINFO "
#define FRAME_LINE "4XESTACKTRACE"
#define HEAP_NAME "heapdump."
#define CORE_NAME "javacore."
/* HPROF's number of a line in native code. */
#define NATIVE_LINE (-3)
#define THREADS_MAX 1000000u
#define FRAMES_MAX 10000000u

/* "main" J9VMThread:0x..., j9thread_t:0x..., java/lang/Thread:0x00000000E0001234, state:R */
static int take_thread(struct phd *phd, const char *line, struct hdb_error *err)
{
	static const char object[] = "java/lang/Thread:0x";
	const char *name = strchr(line, '"');
	const char *end = name ? strstr(name, "\" J9VMThread:") : NULL;
	const char *at = end ? strstr(end, object) : NULL;
	struct phd_thread thread = { .first_frame = (uint32_t)phd->frames.count };

	thread.id = at ? strtoull(at + sizeof(object) - 1, NULL, 16) : 0;
	if (end) {
		thread.name_size = (uint32_t)(end - name - 1);
		TRY(phd_name_put(phd, name + 1, thread.name_size, &thread.name_at, err));
	}
	/* Without an object it is the VM's: its frames, if any, are of no thread of the program. */
	return phd->threads.count < THREADS_MAX ?
		       base_vec_push(&phd->threads, &thread, sizeof(thread), err) :
		       HDB_OK;
}

/* at java/lang/Thread.run(Thread.java:809(Compiled Code)) */
static int take_frame(struct phd *phd, const char *line, struct hdb_error *err)
{
	const char *class = strstr(line, " at ");
	const char *open = class ? strchr(class, '(') : NULL;
	const char *method = open ? memrchr(class, '.', (size_t)(open - class)) : NULL;
	struct phd_frame frame = { .line = -1 };
	const char *colon;
	struct phd_thread *thread;

	if (!method || !phd->threads.count || phd->frames.count >= FRAMES_MAX)
		return HDB_OK;
	class += strlen(" at ");
	if (method < class)
		return HDB_OK;
	frame.class_size = (uint32_t)(method - class);
	frame.method_size = (uint32_t)(open - method - 1);
	TRY(phd_name_put(phd, class, frame.class_size, &frame.class_at, err));
	TRY(phd_name_put(phd, method + 1, frame.method_size, &frame.method_at, err));
	colon = strchr(open, ':');
	if (colon) {
		frame.source_size = (uint32_t)(colon - open - 1);
		frame.line = (int32_t)strtol(colon + 1, NULL, 10);
		TRY(phd_name_put(phd, open + 1, frame.source_size, &frame.source_at, err));
	} else if (strncmp(open, "(Native", 7) == 0) {
		frame.line = NATIVE_LINE;
	}
	TRY(base_vec_push(&phd->frames, &frame, sizeof(frame), err));
	thread = base_vec_at(&phd->threads, struct phd_thread, phd->threads.count - 1);
	thread->frame_count++;
	return HDB_OK;
}

/* What the names of a dump and its javacore share: "20130429.083110.14261." */
static size_t stamp_size(const char *name)
{
	unsigned dots = 0;
	size_t size = 0;

	while (dots < 3 && name[size])
		dots += name[size++] == '.';
	return dots == 3 ? size : 0;
}

/* The first javacore of the same moment and process in the dump's folder; "" if there is none. */
static void find_javacore(const char *path, char *out, size_t size)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *stamp = name + strlen(HEAP_NAME);
	char folder[PATH_MAX], best[NAME_MAX + 1] = "";
	const struct dirent *entry;
	DIR *dir;

	out[0] = '\0';
	if (strncmp(name, HEAP_NAME, strlen(HEAP_NAME)) != 0 || !stamp_size(stamp))
		return;
	(void)snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path + 1) : 1,
		       slash ? path : ".");
	dir = opendir(folder);
	while (dir && (entry = readdir(dir)) != NULL) {
		const size_t core = strlen(CORE_NAME);

		if (strncmp(entry->d_name, CORE_NAME, core) != 0 ||
		    strncmp(entry->d_name + core, stamp, stamp_size(stamp)) != 0 ||
		    (best[0] && strcmp(entry->d_name, best) >= 0))
			continue;
		(void)snprintf(best, sizeof(best), "%s", entry->d_name);
	}
	if (dir)
		(void)closedir(dir);
	if (best[0])
		(void)snprintf(out, size, "%.*s%s", slash ? (int)(slash - path + 1) : 0, path,
			       best);
}

int phd_javacore_read(struct phd *phd, struct hdb_error *err)
{
	char path[PATH_MAX + NAME_MAX], line[LINE_BYTES];
	int r = HDB_OK;
	FILE *f;

	find_javacore(phd->path, path, sizeof(path));
	f = path[0] ? fopen(path, "re") : NULL;
	while (r == HDB_OK && f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, THREAD_LINE, strlen(THREAD_LINE)) == 0)
			r = take_thread(phd, line, err);
		else if (strncmp(line, FRAME_LINE, strlen(FRAME_LINE)) == 0)
			r = take_frame(phd, line, err);
	}
	if (f)
		(void)fclose(f);
	return r;
}

uint64_t phd_time_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	struct tm tm = { 0 };

	if (strncmp(name, HEAP_NAME, strlen(HEAP_NAME)) != 0 ||
	    !strptime(name + strlen(HEAP_NAME), "%Y%m%d.%H%M%S", &tm) || tm.tm_year < 70)
		return 0;
	return (uint64_t)timegm(&tm) * 1000;
}
