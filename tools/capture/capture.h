/*
 * capture/capture.h - heap dumps of running programs: which Java VMs there are on this machine,
 * and a stream of the dump of one of them, or of an app on an Android device.
 *
 * A VM is asked by its own attach protocol; no JDK is needed. Nothing here knows what a dump is:
 * what comes is bytes, to be read from a descriptor, and at the end whether they were all.
 */
#ifndef CAPTURE_CAPTURE_H
#define CAPTURE_CAPTURE_H

#include "heapdb.h"

#include "base/base_text.h"

#include <stdbool.h>

/* Seconds that a VM or a device has to answer, if nothing else is said. */
#define CAPTURE_TIMEOUT_DEFAULT 10

/* A Java VM of this machine. Texts are the program's: any bytes, cut where they are too long. */
struct capture_vm {
	int pid;
	char user[64];        /* name, or number if it has none */
	char main_class[256]; /* or the file of -jar; empty: not known */
	char container[72];   /* identifier of its container, or that it is in another namespace */
	char version[96];     /* of Java; empty: not known */
	bool has_heap;
	uint64_t heap_used;      /* bytes, as of its last garbage collection */
	uint64_t heap_committed; /* bytes that the heap has now */
};

/*
 * The Java VMs that can be seen from here, by PID. *vms is owned: free(). *hidden of them belong to
 * others and are not listed. HDB_EIO: there is no /proc.
 */
int capture_list(struct capture_vm **vms, size_t *count, size_t *hidden, struct hdb_error *err);

struct capture_options {
	bool all;                   /* unreachable objects, too: no garbage collection before */
	unsigned parallel;          /* threads of the VM that dump; 0: one */
	unsigned gz;                /* level, 1 to 9, that the VM compresses with; 0: it does not */
	unsigned timeout_s;         /* for an answer; 0: CAPTURE_TIMEOUT_DEFAULT */
	const char *tmp;            /* folder for the pipe, as the VM sees it; NULL: /tmp; lent */
	const char *serial;         /* which Android device; NULL: the only one; lent */
	const volatile int *cancel; /* becomes nonzero to stop; NULL: never; lent */
	void (*notice)(void *ctx, const char *text); /* one line for the user; NULL: silent */
	void *ctx;                                   /* passed to notice */
};

struct capture;

/*
 * Has the VM with this PID dump its heap. `options` is lent until capture_end. *out is owned:
 * capture_end. HDB_EABSENT if there is no such process, HDB_EFORMAT if it is no HotSpot VM, HDB_EIO
 * if it may not be asked, ends, does not answer in time or cannot dump, HDB_EINTR if cancelled.
 * Nothing is left behind.
 */
int capture_vm_start(int pid, const struct capture_options *options, struct capture **out,
		     struct hdb_error *err);

/* What a running VM can be asked for beside a dump. */
enum capture_question {
	CAPTURE_HISTOGRAM, /* objects and bytes by class, as `jmap -histo` prints them */
	CAPTURE_STACKS     /* the stacks of all threads, as jstack prints them */
};

/*
 * Asks the VM with this PID: *text is owned, free(). Of `options` the members all, timeout_s and
 * cancel count. Errors as of capture_vm_start.
 */
int capture_vm_ask(int pid, enum capture_question question, const struct capture_options *options,
		   char **text, struct hdb_error *err);

/*
 * Starts the dump of an app, by its process name or PID on an Android device, with `adb`, which
 * must be installed.
 */
int capture_app_start(const char *process, const struct capture_options *options,
		      struct capture **out, struct hdb_error *err);

/* What the dump is read from: a pipe. Borrowed until capture_end. */
int capture_input(const struct capture *capture);

/*
 * Whose dump it is, as one would name it: "JVM 4711 (com.example.Main)". Borrowed until
 * capture_end.
 */
const char *capture_name(const struct capture *capture);

/*
 * Becomes nonzero before the input ends early, so that a part is not taken for the whole dump, and
 * when options->cancel does. Borrowed until capture_end.
 */
const volatile int *capture_stop(const struct capture *capture);

/*
 * Closes the input, which ends a dump that is not all read, removes what was made, and frees it.
 * HDB_OK if the dump came whole, HDB_END if it was not read to its end, else a failure: the VM
 * died, had no space, was stopped (HDB_EIO), HDB_EINTR.
 */
int capture_end(struct capture *capture, struct hdb_error *err);

#endif
