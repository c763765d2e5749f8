/*
 * capture/vm_dump.c - dumps a HotSpot VM of this machine. The VM writes to a pipe in its own /tmp,
 * inside a directory accessible only to its user.
 *
 * Writing to an existing pipe requires `GC.heap_dump -overwrite`; the VM's help text shows whether
 * it supports the option. If not, the VM writes a regular file there, which is unlinked as soon as
 * it has been opened.
 */
#include "capture/attach.h"
#include "capture/capture_private.h"
#include "capture/identity.h"
#include "capture/janitor.h"
#include "capture/vms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER_NAME_SIZE 40
#define PATH_SIZE 1024

struct vm_capture {
	struct capture base;
	struct capture_options options;
	struct process process;
	struct attach attach;
	struct identity before;
	struct perfdata_summary counters; /* counters before the dump */
	uint64_t began_us;
	struct janitor janitor;
	struct janitor_files files;
	bool has_files;
	char folder[FOLDER_NAME_SIZE];
	char trigger[ATTACH_TRIGGER_SIZE];
	char path[PATH_SIZE]; /* path of `folder` as the VM sees it */
	int tmp_fd, cwd_fd;   /* the VM's /tmp and working directory */
	int place_fd, folder_fd,
		dump_fd; /* the parent of `directory`, `directory` itself, and the dump */
	int socket_fd;   /* socket for the VM's answer */
	bool has_overwrite, has_gz, has_parallel;
};

static void release(struct capture *base)
{
	struct vm_capture *c = (struct vm_capture *)base;

	if (c->has_files) {
		(void)identity_take(&c->process, &c->before, NULL);
		janitor_remove(&c->files);
		identity_give_back(&c->before);
	}
	/* the janitor closes the pipe last, so a VM that is still writing gets an error */
	capture_close_fd(c->dump_fd);
	janitor_dismiss(&c->janitor);
	capture_close_fd(c->socket_fd);
	capture_close_fd(c->folder_fd);
	capture_close_fd(c->place_fd);
	capture_close_fd(c->tmp_fd);
	capture_close_fd(c->cwd_fd);
	process_close(&c->process);
	free(c);
}

/* Finds the process and checks that it is a VM that accepts requests. */
static int find_vm(struct vm_capture *c, int pid, struct hdb_error *err)
{
	char main_class[256];
	const int failure = process_open(pid, &c->process);
	int has;

	if (failure)
		return hdb_fail(err, HDB_EABSENT, "no such process: %d%s", pid,
				access("/proc/self/status", R_OK) < 0 ? "; /proc is not mounted" :
									"");
	has = process_has_hotspot(&c->process);
	if (has < 0 && geteuid() != 0 && c->process.uid != geteuid())
		return identity_take(&c->process, &c->before, err);
	if (has < 0)
		return hdb_fail(err, HDB_EIO, "no permission to inspect process %d: %s", pid,
				strerror(EACCES));
	if (has == 0)
		return hdb_fail(err, HDB_EFORMAT,
				"process %d is not a HotSpot VM: it has not loaded libjvm.so", pid);
	(void)capture_counters(&c->process, &c->counters);
	if (c->counters.cannot_attach)
		return hdb_fail(err, HDB_EIO,
				"process %d was started with -XX:+DisableAttachMechanism", pid);
	capture_main_class(&c->process, c->counters.command, main_class, sizeof(main_class));
	snprintf(c->base.name, sizeof(c->base.name), "JVM %d%s%s%s", pid, main_class[0] ? " (" : "",
		 main_class, main_class[0] ? ")" : "");
	return HDB_OK;
}

static int open_folders(struct vm_capture *c, struct hdb_error *err)
{
	const char *place = c->options.tmp ? c->options.tmp : "/tmp";
	const size_t size = strcspn(place, " \t\r\n\"'%");

	if (place[0] != '/' || place[size])
		return hdb_fail(
			err, HDB_EUSAGE,
			"%s: expected the absolute path of a directory, without spaces, quotes or "
			"percent signs",
			place);
	c->cwd_fd = openat(c->process.proc_fd, "cwd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	c->tmp_fd = process_folder(&c->process, "/tmp");
	if (c->tmp_fd < 0)
		return hdb_fail(err, HDB_EIO, "/tmp of process %d: %s", c->process.pid,
				strerror(errno));
	c->place_fd = process_folder(&c->process, place);
	if (c->place_fd < 0)
		return hdb_fail(err, HDB_EIO, "%s of process %d: %s", place, c->process.pid,
				strerror(errno));
	capture_random_name(".heapdb-", c->folder, sizeof(c->folder));
	if ((size_t)snprintf(c->path, sizeof(c->path), "%s%s%s", place,
			     place[strlen(place) - 1] == '/' ? "" : "/",
			     c->folder) >= sizeof(c->path))
		return hdb_fail(err, HDB_EUSAGE, "%s: the name is too long", place);
	return HDB_OK;
}

/* Creates the directory and the pipe in it, and starts the janitor. */
static int make_pipe(struct vm_capture *c, struct hdb_error *err)
{
	struct stat st;

	if (mkdirat(c->place_fd, c->folder, 0700) < 0)
		return hdb_fail(err, HDB_EIO, "cannot create a directory in %s of process %d: %s",
				c->options.tmp ? c->options.tmp : "/tmp", c->process.pid,
				strerror(errno));
	c->has_files = true;
	c->folder_fd =
		openat(c->place_fd, c->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	attach_trigger_name(&c->process, c->trigger);
	c->files = (struct janitor_files){
		.tmp_fd = c->place_fd,
		.folder_fd = c->folder_fd,
		.cwd_fd = c->cwd_fd,
		.folder = c->folder,
		.trigger = c->trigger,
	};
	if (c->folder_fd >= 0 && mkfifoat(c->folder_fd, CAPTURE_PIPE, 0600) == 0)
		c->dump_fd = openat(c->folder_fd, CAPTURE_PIPE,
				    O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (c->dump_fd < 0 || fstat(c->dump_fd, &st) < 0 || !S_ISFIFO(st.st_mode))
		return hdb_fail(err, HDB_EIO, "cannot create a pipe in %s of process %d: %s",
				c->path, c->process.pid, strerror(errno));
	return janitor_start(&c->files, &c->janitor, err);
}

/* Reads the VM's help for GC.heap_dump, which is empty if the VM has no such command. */
static int ask_options(struct vm_capture *c, struct hdb_error *err)
{
	const char *const words[] = { "help GC.heap_dump", NULL };
	BASE_SCOPED(reply_release) struct reply reply = { 0 };

	TRY(attach_ask(&c->attach, "jcmd", words, &reply, err));
	if (reply.code == 0) {
		c->has_overwrite = strstr(reply.text, "-overwrite ") != NULL;
		c->has_gz = strstr(reply.text, "-gz ") != NULL;
		c->has_parallel = strstr(reply.text, "-parallel ") != NULL;
	}
	if (c->options.gz && !c->has_gz)
		capture_notice(&c->options, "--gz has no effect: this VM cannot compress dumps");
	if (c->options.parallel > 1 && !c->has_parallel)
		capture_notice(&c->options, "--parallel has no effect: this VM has no such option");
	return HDB_OK;
}

/* Checks that the answer reports success; otherwise fails with the VM's message. */
static int check_answer(const struct vm_capture *c, const struct reply *reply, const char *good,
			const char *what, struct hdb_error *err)
{
	char line[512];

	if (reply->code == 0 && strstr(reply->text, good))
		return HDB_OK;
	attach_last_line(reply, line, sizeof(line));
	return hdb_fail(err, HDB_EIO, "process %d could not %s: %s%s", c->process.pid, what,
			line[0] ? line : "no reason given",
			strstr(line, "No space left") ?
				"; use --tmp DIR for another directory, as seen by the VM" :
				"");
}

/*
 * Sends a command that pauses the VM. The counters are read as late as possible, so that earlier
 * pauses are not counted.
 */
static int send_pausing(struct vm_capture *c, const char *command, const char *const *words,
			struct hdb_error *err)
{
	(void)capture_counters(&c->process, &c->counters);
	c->began_us = base_now_ns() / 1000;
	return attach_send(&c->attach, command, words, &c->socket_fd, err);
}

/*
 * Sets the number and time of pauses since the request. The VM counts a pause before it answers. If
 * there are no counters, the pause was at most as long as the time until the answer.
 */
static void measure_pause(struct vm_capture *c)
{
	struct capture_cost *cost = &c->base.cost;
	struct perfdata_summary now;

	cost->pause_us = base_now_ns() / 1000 - c->began_us;
	if (!capture_counters(&c->process, &now) || now.pauses <= c->counters.pauses ||
	    now.pause_us < c->counters.pause_us)
		return;
	cost->pauses = now.pauses - c->counters.pauses;
	cost->pause_us = now.pause_us - c->counters.pause_us;
}

static int receive_answer(struct vm_capture *c, struct hdb_error *err)
{
	BASE_SCOPED(reply_release) struct reply reply = { 0 };
	const int rc = attach_receive(&c->attach, c->socket_fd, true, &reply, err);

	measure_pause(c);
	return rc != HDB_OK ?
		       rc :
		       check_answer(c, &reply, "Heap dump file created", "dump its heap", err);
}

/* Called at the end of the stream: reads the VM's answer. */
static int finish_pipe(void *ctx, uint64_t bytes, struct hdb_error *err)
{
	struct vm_capture *c = ctx;
	int rc = receive_answer(c, err);

	/* part of the answer may have arrived before the VM ended */
	if (rc == HDB_EIO && process_is_ending(&c->process))
		rc = hdb_fail(err, HDB_EIO,
			      "process %d ended while dumping its heap, after %llu bytes",
			      c->process.pid, (unsigned long long)bytes);
	return rc;
}

static int is_late(void *ctx, struct hdb_error *err)
{
	struct vm_capture *c = ctx;

	return attach_check_life(&c->attach, err);
}

/* Requests a dump into the pipe without waiting for it. */
static int dump_into_pipe(struct vm_capture *c, struct hdb_error *err)
{
	char command[PATH_SIZE + 128], gz[24] = "", parallel[32] = "";
	const char *const words[] = { command, NULL };

	if (c->options.gz && c->has_gz)
		snprintf(gz, sizeof(gz), " -gz=%u", c->options.gz);
	if (c->options.parallel && c->has_parallel)
		snprintf(parallel, sizeof(parallel), " -parallel=%u", c->options.parallel);
	snprintf(command, sizeof(command), "GC.heap_dump -overwrite%s%s%s %s/%s",
		 c->options.all ? " -all" : "", gz, parallel, c->path, CAPTURE_PIPE);
	c->base.stream.finish = finish_pipe;
	c->base.stream.is_late = is_late;
	return send_pausing(c, "jcmd", words, err);
}

/* Dumps into a file, which is unlinked once it is open, and waits until the dump is complete. */
static int dump_into_file(struct vm_capture *c, struct hdb_error *err)
{
	char path[PATH_SIZE + 32], gz[24] = "";
	const char *const words[] = { path, c->options.all ? "-all" : "-live", gz, NULL };
	struct stat st;

	capture_notice(
		&c->options,
		"this VM cannot dump into a pipe, so it writes %s/%s; heapdb removes this file "
		"afterwards",
		c->path, CAPTURE_FILE);
	if (c->options.gz && c->has_gz)
		snprintf(gz, sizeof(gz), "%u", c->options.gz);
	snprintf(path, sizeof(path), "%s/%s", c->path, CAPTURE_FILE);
	TRY(send_pausing(c, "dumpheap", words, err));
	TRY(receive_answer(c, err));
	capture_close_fd(c->dump_fd);
	c->dump_fd =
		openat(c->folder_fd, CAPTURE_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (c->dump_fd < 0 || fstat(c->dump_fd, &st) < 0 || !S_ISREG(st.st_mode))
		return hdb_fail(err, HDB_EIO, "%s of process %d: %s", path, c->process.pid,
				c->dump_fd < 0 ? strerror(errno) : "is not a file");
	janitor_remove(&c->files);
	capture_close_fd(c->socket_fd);
	c->socket_fd = -1;
	return HDB_OK;
}

/* Requests the dump. All steps that need the rights of the process's owner are here. */
static int ask_for_dump(struct vm_capture *c, struct hdb_error *err)
{
	TRY(make_pipe(c, err));
	TRY(attach_begin(&c->attach, err));
	TRY(ask_options(c, err));
	return c->has_overwrite ? dump_into_pipe(c, err) : dump_into_file(c, err);
}

/* Opens the process and switches to the user and group of its owner. */
static int approach(struct vm_capture *c, int pid, struct hdb_error *err)
{
	TRY(find_vm(c, pid, err));
	TRY(open_folders(c, err));
	TRY(identity_take(&c->process, &c->before, err));
	c->attach = (struct attach){
		.process = &c->process,
		.options = &c->options,
		.tmp_fd = c->tmp_fd,
		.cwd_fd = c->cwd_fd,
	};
	return HDB_OK;
}

static int start(struct vm_capture *c, int pid, struct hdb_error *err)
{
	int rc;

	TRY(approach(c, pid, err));
	rc = ask_for_dump(c, err);
	identity_give_back(&c->before);
	if (rc != HDB_OK)
		return rc;
	c->base.stream.from_fd = c->dump_fd;
	c->base.stream.watch_fd = c->socket_fd;
	c->base.stream.options = &c->options;
	c->base.stream.ctx = c;
	return stream_start(&c->base.stream, err);
}

static struct vm_capture *new_capture(const struct capture_options *options, struct hdb_error *err)
{
	struct vm_capture *c = calloc(1, sizeof(*c));

	if (!c) {
		(void)hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for a capture");
		return NULL;
	}
	c->base.release = release;
	c->base.stream.read_fd = c->base.stream.write_fd = -1;
	c->options = *options;
	c->process.proc_fd = c->tmp_fd = c->cwd_fd = c->place_fd = c->folder_fd = -1;
	c->dump_fd = c->socket_fd = c->janitor.pipe_fd = -1;
	return c;
}

int capture_vm_start(int pid, const struct capture_options *options, struct capture **out,
		     struct hdb_error *err)
{
	struct vm_capture *c = new_capture(options, err);
	int rc;

	if (!c)
		return HDB_ENOMEM;
	if ((rc = start(c, pid, err)) != HDB_OK) {
		(void)capture_end(&c->base, NULL, NULL);
		return rc;
	}
	*out = &c->base;
	return HDB_OK;
}

/* Sends one of HotSpot's attach operations that return text (attachListener.cpp). */
static int ask_for_text(struct vm_capture *c, enum capture_question question, char **text,
			struct hdb_error *err)
{
	const struct {
		const char *command, *argument;
	} operations[] = {
		[CAPTURE_HISTOGRAM] = { "inspectheap", c->options.all ? "-all" : "-live" },
		[CAPTURE_STACKS] = { "threaddump", "-l" },
		[CAPTURE_NMT_DETAIL] = { "jcmd", "VM.native_memory detail scale=b" },
		[CAPTURE_NMT_SUMMARY] = { "jcmd", "VM.native_memory summary scale=b" },
		[CAPTURE_VM_INFO] = { "jcmd", "VM.info" },
		[CAPTURE_SYSTEM_MAP] = { "jcmd", "System.map" },
		[CAPTURE_NATIVE_HEAP_INFO] = { "jcmd", "System.native_heap_info" },
		[CAPTURE_HEAP_INFO] = { "jcmd", "GC.heap_info" },
	};
	const char *const arguments[] = { operations[question].argument, NULL };
	BASE_SCOPED(reply_release) struct reply reply = { 0 };

	TRY(attach_begin(&c->attach, err));
	TRY(send_pausing(c, operations[question].command, arguments, err));
	TRY(attach_receive(&c->attach, c->socket_fd, true, &reply, err));
	measure_pause(c);
	TRY(check_answer(c, &reply, "", "answer", err));
	return BASE_COPY(*text, reply.text, "the answer", err);
}

int capture_vm_ask(int pid, enum capture_question question, const struct capture_options *options,
		   struct capture_text *out, struct hdb_error *err)
{
	struct vm_capture *c = new_capture(options, err);
	int rc;

	*out = (struct capture_text){ .text = NULL };
	if (!c)
		return HDB_ENOMEM;
	if ((rc = approach(c, pid, err)) == HDB_OK) {
		rc = ask_for_text(c, question, &out->text, err);
		identity_give_back(&c->before);
	}
	out->cost = c->base.cost;
	release(&c->base);
	return rc;
}
