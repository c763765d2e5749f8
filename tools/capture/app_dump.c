/*
 * capture/app_dump.c - the dump of an app on an Android device: `am dumpheap` by way of adb, into a
 * file on the device, which is read as a stream and removed.
 */
#include "capture/capture_private.h"
#include "capture/child.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Folder of the device that the shell may write and `am` can give to any app. */
#define DEVICE_FOLDER "/data/local/tmp/"

/*
 * Old versions of `am` return while the dump is written: it is whole when it has not grown so
 * long.
 */
#define GROWTH_MS 500
/* Words before those of a command: adb -s SERIAL shell. */
#define WORDS_MAX 16

struct app_capture {
	struct capture base;
	struct capture_options options;
	char file[80]; /* on the device */
	bool has_file; /* it may be there */
	uint64_t size; /* of it, bytes */
	pid_t cat;     /* what reads it; 0: nothing */
	int dump_fd;
};

/* "adb [-s SERIAL] WORDS...": as many as fit. */
static void adb(const struct app_capture *c, const char **argv, const char *const *words)
{
	size_t n = 0;

	argv[n++] = "adb";
	if (c->options.serial) {
		argv[n++] = "-s";
		argv[n++] = c->options.serial;
	}
	while (*words && n + 1 < WORDS_MAX)
		argv[n++] = *words++;
	argv[n] = NULL;
}

static int run(struct app_capture *c, const char *const *words, uint64_t timeout_ms,
	       struct child_output *out, struct hdb_error *err)
{
	const char *argv[WORDS_MAX];

	adb(c, argv, words);
	return child_run(argv, &c->options, timeout_ms, out, err);
}

static void release(struct capture *base)
{
	struct app_capture *c = (struct app_capture *)base;
	const char *const words[] = { "shell", "rm", "-f", c->file, NULL };
	const char *argv[WORDS_MAX];
	struct child_output out;

	if (c->cat)
		child_kill(c->cat);
	capture_close_fd(c->dump_fd);
	/* After an interruption, too: the file is large, and nothing else would remove it. */
	if (c->has_file) {
		adb(c, argv, words);
		(void)child_run(argv, NULL, capture_timeout_ms(&c->options), &out, NULL);
	}
	free(c);
}

/* The line that says most: the one that names an error, else the last. */
static void telling_line(const char *text, char *out, size_t size)
{
	static const char *const words[] = { "xception", "rror", "nknown", "not " };

	out[0] = '\0';
	for (const char *line = text; *line; line += strspn(line, "\r\n")) {
		const size_t n = strcspn(line, "\r\n");

		snprintf(out, size, "%.*s", (int)n, line);
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
			if (strstr(out, words[i]))
				return;
		}
		line += n;
	}
}

/* The failure of a command, in its words. */
static int failed(const char *what, const struct child_output *out, struct hdb_error *err)
{
	char line[512];

	telling_line(out->text, line, sizeof(line));
	return door_fail(err, HDB_EIO, "%s: %s", what, line[0] ? line : "failed");
}

/* A process name goes to the device's shell: only what needs no quotes there. */
static int check_name(const char *process, struct hdb_error *err)
{
	const size_t size = strlen(process);

	for (size_t i = 0; i < size; i++) {
		if (!isalnum((unsigned char)process[i]) && !strchr("._:-", process[i]))
			return door_fail(err, HDB_EUSAGE, "\"%s\" is not a process name", process);
	}
	return size > 0 && process[0] != '-' && size < 256 ?
		       HDB_OK :
		       door_fail(err, HDB_EUSAGE, "\"%s\" is not a process name", process);
}

static int dump_once(struct app_capture *c, const char *process, const char *flag,
		     struct child_output *out, struct hdb_error *err)
{
	const char *words[] = { "shell",
				"am",
				"dumpheap",
				flag ? flag : process,
				flag ? process : c->file,
				flag ? c->file : NULL,
				NULL };

	c->has_file = true;
	return run(c, words, 0, out, err);
}

/* Whether `am` does not know -g, which came with Android 11. */
static bool is_flag_unknown(const struct child_output *out)
{
	return strstr(out->text, "nknown option") || strstr(out->text, "Unknown flag");
}

static int dump(struct app_capture *c, const char *process, struct hdb_error *err)
{
	struct child_output out;

	TRY(dump_once(c, process, c->options.all ? NULL : "-g", &out, err));
	if (!c->options.all && is_flag_unknown(&out)) {
		capture_notice(&c->options, "this Android has no garbage collection before a dump: "
					    "unreachable objects may be in it");
		TRY(dump_once(c, process, NULL, &out, err));
	}
	if (strstr(out.text, "Unknown process") || strstr(out.text, "nable to find process"))
		return door_fail(err, HDB_EABSENT, "there is no process %s on the device", process);
	if (out.code != 0 || strstr(out.text, "Exception") || strstr(out.text, "Error:") ||
	    strstr(out.text, "not debuggable"))
		return failed("am dumpheap", &out, err);
	return HDB_OK;
}

/* The file's size on the device; *size 0 if there is none yet. */
static int look_at_size(struct app_capture *c, uint64_t *size, struct hdb_error *err)
{
	const char *const words[] = { "shell", "wc", "-c", c->file, NULL };
	struct child_output out;
	const char *text;

	*size = 0;
	TRY(run(c, words, capture_timeout_ms(&c->options), &out, err));
	text = out.text + strspn(out.text, " \t");
	if (isdigit((unsigned char)*text))
		*size = strtoull(text, NULL, 10);
	return HDB_OK;
}

/* Waits until the file grows no more. */
static int wait_for_file(struct app_capture *c, struct hdb_error *err)
{
	const uint64_t timeout = capture_timeout_ms(&c->options);
	uint64_t since = clock_ms(), before = 0, now = 0;

	for (;;) {
		TRY(look_at_size(c, &now, err));
		if (now && now == before)
			break;
		if (now != before)
			since = clock_ms();
		else if (clock_ms() - since > timeout)
			return door_fail(err, HDB_EIO, "the device wrote no dump within %llu s",
					 (unsigned long long)timeout / 1000);
		before = now;
		(void)poll(NULL, 0, GROWTH_MS);
		if (capture_is_cancelled(&c->options))
			return capture_interrupted(err);
	}
	c->size = now;
	return HDB_OK;
}

static int finish(void *ctx, uint64_t bytes, struct hdb_error *err)
{
	struct app_capture *c = ctx;
	const int code = child_wait(c->cat);

	c->cat = 0;
	if (bytes == c->size && code == 0)
		return HDB_OK;
	return door_fail(err, HDB_EIO,
			 "adb gave %llu of %llu bytes of the dump (exit code %d): was the device "
			 "disconnected?",
			 (unsigned long long)bytes, (unsigned long long)c->size, code);
}

static int start(struct app_capture *c, const char *process, struct hdb_error *err)
{
	const char *const state[] = { "get-state", NULL };
	const char *const cat[] = { "exec-out", "cat", c->file, NULL };
	const char *argv[WORDS_MAX];
	char name[40];
	struct child_output out;

	TRY(check_name(process, err));
	TRY(run(c, state, capture_timeout_ms(&c->options), &out, err));
	if (out.code != 0)
		return failed("adb", &out, err);
	capture_random_name("heapdb-", name, sizeof(name));
	snprintf(c->file, sizeof(c->file), DEVICE_FOLDER "%s.hprof", name);
	TRY(dump(c, process, err));
	TRY(wait_for_file(c, err));
	adb(c, argv, cat);
	TRY(child_start(argv, false, &c->cat, &c->dump_fd, err));
	c->base.stream.from_fd = c->dump_fd;
	c->base.stream.watch_fd = -1;
	c->base.stream.options = &c->options;
	c->base.stream.finish = finish;
	c->base.stream.ctx = c;
	return stream_start(&c->base.stream, err);
}

int capture_app_start(const char *process, const struct capture_options *options,
		      struct capture **out, struct hdb_error *err)
{
	struct app_capture *c = calloc(1, sizeof(*c));
	int rc;

	if (!c)
		return door_fail(err, HDB_ENOMEM, "no memory for a capture");
	c->base.release = release;
	c->base.stream.read_fd = c->base.stream.write_fd = -1;
	c->options = *options;
	c->dump_fd = -1;
	snprintf(c->base.name, sizeof(c->base.name), "app %s%s%s", process,
		 options->serial ? " on " : "", options->serial ? options->serial : "");
	if ((rc = start(c, process, err)) != HDB_OK) {
		(void)capture_end(&c->base, NULL);
		return rc;
	}
	*out = &c->base;
	return HDB_OK;
}
