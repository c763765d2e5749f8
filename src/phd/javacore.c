/*
 * phd/javacore.c - reads threads and their stacks from the javacore that the VM writes next to a
 * dump. A javacore is a text file in which each line begins with a tag for its content.
 */
#include "phd/phd_private.h"

#include "base/scope.h"
#include "base/try.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LINE_BYTES 4096
#define PATH_BYTES 4096
#define THREAD_LINE "3XMTHREADINFO "
#define FRAME_LINE "4XESTACKTRACE"
#define HEAP_NAME "heapdump."
/* Line number that marks native code in HPROF. */
#define NATIVE_LINE (-3)
#define THREADS_MAX 1000000u

struct threads {
	struct phd_writer *w;
	uint64_t name_id, none_id; /* string IDs of the thread's name and of "" */
	/* number of frames written so far, which is also the ID of the last one */
	uint32_t frame_count;
	uint32_t first_frame; /* first frame of the current thread */
};

/* Writes the current thread. Thread and stack trace have the same serial number. */
static int end_thread(struct threads *t)
{
	struct hprof_writer *out = &t->w->out;
	const uint32_t serial = (uint32_t)t->w->thread_ids.count;
	const uint64_t id = serial ? *base_vec_at(&t->w->thread_ids, uint64_t, serial - 1) : 0;

	assert(t->first_frame <= t->frame_count);
	assert(serial <= THREADS_MAX);
	/* VM-internal threads have no Java object. */
	if (!id)
		return HDB_OK;
	hprof_put_u4(out, serial);
	hprof_put_u4(out, serial);
	hprof_put_u4(out, t->frame_count - t->first_frame);
	for (uint32_t i = t->first_frame; i < t->frame_count; i++)
		hprof_put_id(out, i + 1);
	TRY(hprof_end_record(out, HPROF_TRACE));
	hprof_put_u4(out, serial);
	hprof_put_id(out, id);
	hprof_put_u4(out, serial);
	hprof_put_id(out, t->name_id);
	hprof_put_id(out, t->none_id);
	hprof_put_id(out, t->none_id);
	return hprof_end_record(out, HPROF_START_THREAD);
}

/*
 * Parses a line such as: "main" J9VMThread:0x..., j9thread_t:0x...,
 * java/lang/Thread:0x00000000E0001234, state:R
 */
static int take_thread(struct threads *t, const char *line)
{
	static const char object[] = "java/lang/Thread:0x";
	const char *name = strchr(line, '"');
	const char *end = name ? strstr(name, "\" J9VMThread:") : NULL;
	const char *at = end ? strstr(end, object) : NULL;
	const uint64_t id = at ? strtoull(at + sizeof(object) - 1, NULL, 16) : 0;

	if (t->w->thread_ids.count >= THREADS_MAX)
		return HDB_OK;
	TRY(end_thread(t));
	t->first_frame = t->frame_count;
	TRY(base_vec_push(&t->w->thread_ids, &id, sizeof(id), t->w->out.err));
	if (!id)
		return HDB_OK;
	TRY(base_idmap_put(&t->w->loaders, id, PHD_NONE - 1, t->w->out.err));
	return phd_write_text(t->w, name + 1, (size_t)(end - name - 1), &t->name_id);
}

/* Parses a line such as: at java/lang/Thread.run(Thread.java:809(Compiled Code)) */
static int take_frame(struct threads *t, const char *line)
{
	struct hprof_writer *out = &t->w->out;
	const char *class = strstr(line, " at ");
	const char *open = class ? strchr(class + 4, '(') : NULL;
	const char *dot = open ? memrchr(class + 4, '.', (size_t)(open - class - 4)) : NULL;
	const char *colon = open ? strchr(open, ':') : NULL;
	uint64_t method_id, source_id = 0;
	uint32_t class_no;
	long number = -1;

	if (!dot || !t->w->thread_ids.count)
		return HDB_OK;
	class_no = phd_class_named(t->w->phd, class + 4, (size_t)(dot - class - 4));
	TRY(phd_write_text(t->w, dot + 1, (size_t)(open - dot - 1), &method_id));
	if (colon) {
		number = strtol(colon + 1, NULL, 10);
		TRY(phd_write_text(t->w, open + 1, (size_t)(colon - open - 1), &source_id));
	} else if (strncmp(open, "(Native", 7) == 0) {
		number = NATIVE_LINE;
	}
	hprof_put_id(out, ++t->frame_count);
	hprof_put_id(out, method_id);
	hprof_put_id(out, t->none_id);
	hprof_put_id(out, source_id);
	hprof_put_u4(out, class_no == BASE_IDMAP_NONE ? 0 : class_no + 1);
	hprof_put_u4(out, (uint32_t)number);
	return hprof_end_record(out, HPROF_FRAME);
}

static const char *name_of(const char *path)
{
	const char *name = path;

	/* the path may be ARCHIVE!FILE */
	for (const char *p = path; *p; p++)
		name = *p == '/' || *p == '!' ? p + 1 : name;
	return name;
}

/*
 * Finds the first javacore with the same time and process ID in the directory of the dump: for
 * heapdump.20130429.083110.14261.0001.phd, javacore.20130429.083110.14261.*.txt. Returns its path
 * (owned by the caller), or NULL.
 */
static char *find_javacore(const char *path)
{
	const char *name = name_of(path);
	char pattern[PATH_BYTES];
	unsigned date, time, pid;
	glob_t found = { 0 };
	char *javacore = NULL;

	if (sscanf(name, HEAP_NAME "%8u.%6u.%9u.", &date, &time, &pid) != 3)
		return NULL;
	(void)snprintf(pattern, sizeof(pattern), "%.*sjavacore.%08u.%06u.%u.*.txt",
		       (int)(name - path), path, date, time, pid);
	if (glob(pattern, 0, NULL, &found) == 0)
		javacore = strdup(found.gl_pathv[0]);
	globfree(&found);
	return javacore;
}

static int read_threads(struct threads *t, FILE *f)
{
	char line[LINE_BYTES];

	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, THREAD_LINE, strlen(THREAD_LINE)) == 0)
			TRY(take_thread(t, line));
		else if (strncmp(line, FRAME_LINE, strlen(FRAME_LINE)) == 0)
			TRY(take_frame(t, line));
	}
	return end_thread(t);
}

int phd_write_threads(struct phd_writer *w)
{
	const char *named = w->phd->files.javacore;
	BASE_FREED char *found = named ? NULL : find_javacore(w->phd->files.dump);
	struct threads t = { .w = w };
	struct stat st;
	FILE *f;
	int fd, r;

	if (!named && !found)
		return HDB_OK;
	/* Without O_NONBLOCK, opening a named pipe would block. */
	fd = open(named ? named : found, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && named)
		return hdb_fail_open(w->out.err, errno, named);
	f = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? fdopen(fd, "r") : NULL;
	if (!f) {
		if (fd >= 0)
			(void)close(fd);
		return named ? hdb_fail(w->out.err, HDB_EFORMAT, "%s: not a regular file", named) :
			       HDB_OK;
	}
	r = phd_write_text(w, "", 0, &t.none_id);
	if (r == HDB_OK)
		r = read_threads(&t, f);
	(void)fclose(f);
	if (r == HDB_OK && named && !w->thread_ids.count)
		r = hdb_fail(w->out.err, HDB_EFORMAT,
			     "%s: not a javacore: no line begins with \"" THREAD_LINE "\"", named);
	return r;
}

uint64_t phd_time_of(const char *path)
{
	const char *name = name_of(path);
	struct tm tm = { 0 };

	if (strncmp(name, HEAP_NAME, strlen(HEAP_NAME)) != 0 ||
	    !strptime(name + strlen(HEAP_NAME), "%Y%m%d.%H%M%S", &tm) || tm.tm_year < 70)
		return 0;
	return (uint64_t)timegm(&tm) * 1000;
}
