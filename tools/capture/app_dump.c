/*
 * capture/app_dump.c - dumps an app on an Android device: runs `am dumpheap` through adb, which
 * writes a file on the device, then streams the file and removes it.
 */
#include "capture/adb.h"
#include "capture/capture_private.h"

#include <ctype.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Directory on the device to which the shell can write, and whose files `am` can pass to any app.
 */
#define DEVICE_FOLDER "/data/local/tmp/"

/*
 * Time without growth after which the file is complete. When `am` returns, the file may be
 * incomplete, because old versions of `am` do not wait.
 */
#define GROWTH_MS 500

struct app_capture {
	struct capture base;
	struct capture_options options;
	char file[80]; /* path on the device */
	bool has_file; /* whether the file may exist on the device */
	uint64_t size; /* size of the file in bytes */
	pid_t cat;     /* process that reads the file, or 0 if none */
	int dump_fd;
};

static void release(struct capture *base)
{
	struct app_capture *c = (struct app_capture *)base;
	const char *const words[] = { "shell", "rm", "-f", c->file, NULL };
	struct child_output out;

	if (c->cat)
		child_kill(c->cat);
	capture_close_fd(c->dump_fd);
	/* remove the file even after cancellation: it is large, and nothing else removes it */
	c->options.cancel = NULL;
	if (c->has_file)
		(void)adb_run(&c->options, words, capture_timeout_ms(&c->options), &out, NULL);
	free(c);
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
	return adb_run(&c->options, words, 0, out, err);
}

/* Returns whether `am` rejected the option -g, which exists since Android 11. */
static bool is_flag_unknown(const struct child_output *out)
{
	return strstr(out->text, "nknown option") || strstr(out->text, "Unknown flag");
}

static int dump(struct app_capture *c, const char *process, struct hdb_error *err)
{
	struct child_output out;

	TRY(dump_once(c, process, c->options.all ? NULL : "-g", &out, err));
	if (!c->options.all && is_flag_unknown(&out)) {
		capture_notice(&c->options, "this version of Android does not collect garbage "
					    "before a dump, so the dump may contain unreachable "
					    "objects");
		TRY(dump_once(c, process, NULL, &out, err));
	}
	if (strstr(out.text, "Unknown process") || strstr(out.text, "nable to find process"))
		return hdb_fail(err, HDB_EABSENT, "no such process on the device: %s", process);
	if (out.code != 0 || strstr(out.text, "Exception") || strstr(out.text, "Error:") ||
	    strstr(out.text, "not debuggable"))
		return adb_failed("am dumpheap", &out, err);
	return HDB_OK;
}

/* Reads the file's size on the device. Sets *size to 0 if the file does not exist yet. */
static int look_at_size(struct app_capture *c, uint64_t *size, struct hdb_error *err)
{
	const char *const words[] = { "shell", "wc", "-c", c->file, NULL };
	struct child_output out;
	const char *text;

	*size = 0;
	TRY(adb_run(&c->options, words, capture_timeout_ms(&c->options), &out, err));
	text = out.text + strspn(out.text, " \t");
	if (isdigit((unsigned char)*text))
		*size = strtoull(text, NULL, 10);
	return HDB_OK;
}

/* Waits until the file stops growing. */
static int wait_for_file(struct app_capture *c, struct hdb_error *err)
{
	const uint64_t timeout = capture_timeout_ms(&c->options);
	uint64_t since = base_now_ms(), before = 0, now = 0;

	for (;;) {
		TRY(look_at_size(c, &now, err));
		if (now && now == before)
			break;
		if (now != before)
			since = base_now_ms();
		else if (base_now_ms() - since > timeout)
			return hdb_fail(err, HDB_EIO, "the device wrote no dump within %llu s",
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
	return hdb_fail(err, HDB_EIO,
			"adb returned %llu of %llu bytes of the dump (exit code %d): was the "
			"device disconnected?",
			(unsigned long long)bytes, (unsigned long long)c->size, code);
}

static int start(struct app_capture *c, const char *process, struct hdb_error *err)
{
	const char *const cat[] = { "exec-out", "cat", c->file, NULL };
	const char *argv[ADB_WORDS_MAX];
	char name[40];

	TRY(adb_begin(&c->options, process, err));
	capture_random_name("heapdb-", name, sizeof(name));
	snprintf(c->file, sizeof(c->file), DEVICE_FOLDER "%s.hprof", name);
	TRY(dump(c, process, err));
	TRY(wait_for_file(c, err));
	adb_words(&c->options, cat, argv);
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
		return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for a capture");
	c->base.release = release;
	c->base.stream.read_fd = c->base.stream.write_fd = -1;
	c->options = *options;
	c->dump_fd = -1;
	snprintf(c->base.name, sizeof(c->base.name), "app %s%s%s", process,
		 options->serial ? " on " : "", options->serial ? options->serial : "");
	if ((rc = start(c, process, err)) != HDB_OK) {
		(void)capture_end(&c->base, NULL, NULL);
		return rc;
	}
	*out = &c->base;
	return HDB_OK;
}
