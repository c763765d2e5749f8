/*
 * capture/capture.h - captures heap dumps of running programs: lists the Java VMs of this machine,
 * and streams the dump of one of them or of an app on an Android device. Uses HotSpot's attach
 * protocol, so no JDK is required.
 *
 * This directory does not interpret dumps. It delivers bytes through a descriptor and reports at
 * the end whether they are complete.
 */
#ifndef CAPTURE_CAPTURE_H
#define CAPTURE_CAPTURE_H

#include "heapdb.h"

#include "base/base_text.h"
#include "base/flag.h"

#include <stdbool.h>

/* Default timeout in seconds for an answer of a VM or device. */
#define CAPTURE_TIMEOUT_DEFAULT 10

/*
 * A Java VM on this machine. Strings come from the program: they may contain any bytes, and are
 * truncated to fit.
 */
struct capture_vm {
	int pid;
	char user[64];        /* name of the user, or user ID if the user has no name */
	char main_class[256]; /* main class, or the file of -jar; "" if unknown */
	char container[72];   /* container ID, or a note that the VM is in another namespace */
	char version[96];     /* Java version; empty: unknown */
	bool has_heap;
	uint64_t heap_used;      /* in bytes, after the last garbage collection */
	uint64_t heap_committed; /* current size of the heap in bytes */
};

/*
 * Lists the visible Java VMs by PID. The caller must free() *vms. Sets *hidden to the number of VMs
 * of other users, which are not listed. Fails with HDB_EIO if /proc is not mounted.
 */
int capture_list(struct capture_vm **vms, size_t *count, size_t *hidden, struct hdb_error *err);

/* Measurements of a running VM. 0 and "" mean unknown. */
struct capture_meters {
	int pid, inner_pid;   /* PID in the namespace of this process, and in the VM's own */
	uint64_t start_ticks; /* start time, which identifies the process together with the PID */
	uint64_t age_ms;      /* time since the process started; unaffected by clock changes */
	char main_class[256], version[96];
	char vm_args[2048]; /* options of the VM, truncated to fit */
	bool has_counters;  /* whether the VM publishes hsperfdata */
	bool cannot_attach; /* whether the VM was started with -XX:+DisableAttachMechanism */
	bool has_heap;
	uint64_t heap_used; /* in bytes, after the last garbage collection */
	uint64_t heap_committed, heap_max;
	uint64_t gc_count, gc_us; /* number and total time of collections since the start */
	uint64_t metaspace, classes, threads;
	uint64_t rss, anonymous, swap; /* in bytes */
	/* whether its cgroup, or a parent of it, has a memory limit */
	bool has_limit;
	uint64_t limit, limit_usage;
	uint64_t oom_kills; /* number of the cgroup's processes that the kernel killed */
};

/*
 * Reads the measurements of the VM with this PID from hsperfdata and /proc, without pausing the VM.
 * Fails with HDB_EABSENT if there is no such process, HDB_EFORMAT if the process is not a HotSpot
 * VM, and HDB_EIO if access is denied.
 */
int capture_measure(int pid, struct capture_meters *out, struct hdb_error *err);

struct capture_options {
	/* whether to include unreachable objects: no garbage collection first */
	bool all;
	unsigned parallel;  /* VM threads that write the dump; 0 means one */
	unsigned gz;        /* compression level of the VM, 1 to 9, or 0 if none */
	unsigned timeout_s; /* timeout for an answer in seconds; 0 means CAPTURE_TIMEOUT_DEFAULT */
	const char *tmp;    /* directory for the pipe, as the VM sees it; NULL means /tmp;
			     * borrowed */
	const char *serial; /* serial number of the Android device; NULL means the only connected
			 * device; borrowed */
	const base_flag *cancel; /* stops the capture if nonzero; set by the caller; may be NULL;
				  * borrowed */
	void (*notice)(void *ctx, const char *text); /* one line for the user; NULL means silent */
	void *ctx;                                   /* passed to notice */
};

struct capture;

/*
 * Makes the VM with this PID dump its heap. `options` is borrowed until capture_end. The caller
 * must pass *out to capture_end. Fails with HDB_EABSENT if there is no such process, HDB_EFORMAT if
 * it is not a HotSpot VM, HDB_EIO if access is denied, or the VM exits, does not answer in time or
 * cannot dump, HDB_EINTR if cancelled. A failure leaves no files behind.
 */
int capture_vm_start(int pid, const struct capture_options *options, struct capture **out,
		     struct hdb_error *err);

/* Output of a program. */
struct child_output {
	char text[8192]; /* zero-terminated; longer output is truncated */
	size_t size;
	int code; /* exit code of the program, or 128 plus the signal that ended the program */
};

/*
 * Runs a program, which is searched for in PATH, to its end. Its error output is part of the
 * output. After timeout_ms (0 means no limit), or when cancelled, kills the program and the
 * programs that it started. Returns HDB_OK regardless of the exit code.
 */
int child_run(const char *const *argv, const struct capture_options *options, uint64_t timeout_ms,
	      struct child_output *out, struct hdb_error *err);

/* Information that a running VM can report. Members after CAPTURE_STACKS are jcmd commands. */
enum capture_question {
	CAPTURE_HISTOGRAM, /* objects and bytes by class, as `jmap -histo` prints them */
	CAPTURE_STACKS,    /* the stacks of all threads, as jstack prints them */
	CAPTURE_NMT_DETAIL,
	CAPTURE_NMT_SUMMARY,
	CAPTURE_VM_INFO,
	CAPTURE_SYSTEM_MAP,       /* JDK 24 and later */
	CAPTURE_NATIVE_HEAP_INFO, /* JDK 18 and later */
	CAPTURE_HEAP_INFO         /* the collector's own figures; the VM is not paused */
};

/* Cost of a capture or a request for the program. */
struct capture_cost {
	uint64_t bytes;  /* size of the dump, as written by the program */
	uint64_t pauses; /* number of pauses of the program, from the VM's counters; 0 if unknown */
	/* Total pause in microseconds, or 0 if unknown. An upper bound if `pauses` is 0. */
	uint64_t pause_us;
};

/* Reply of a VM to a request, and its cost. */
struct capture_text {
	char *text; /* owned: free(); NULL if the VM did not reply */
	struct capture_cost cost;
};

/*
 * Queries the VM with this PID and fills *out. Sets the cost even if the VM does not reply. Uses
 * the options all, timeout_s and cancel. Fails like capture_vm_start.
 */
int capture_vm_ask(int pid, enum capture_question question, const struct capture_options *options,
		   struct capture_text *out, struct hdb_error *err);

/*
 * Fills heap_used, heap_committed and heap_max of a VM without hsperfdata by attaching to it. Here
 * heap_used includes garbage. Fails like capture_vm_start.
 */
int capture_heap_info(const struct capture_options *options, struct capture_meters *out,
		      struct hdb_error *err);
/* Parses the VM's answer for capture_heap_info. Returns false if no line has a known form. */
bool capture_parse_heap_info(const char *text, struct capture_meters *out);

/* Mappings and pages of a process. */
struct capture_memory;

/*
 * Opens the process with this PID. The caller must close *out with capture_memory_close. Fails with
 * HDB_EABSENT or HDB_EIO.
 */
int capture_memory_open(int pid, struct capture_memory **out, struct hdb_error *err);
void capture_memory_close(struct capture_memory *memory);

/*
 * Reads /proc/PID/smaps into *text, which a zero byte follows. The caller must release *text with
 * bytes_release. Fails with HDB_EIO if access is denied or the process has ended.
 */
int capture_memory_smaps(struct capture_memory *memory, size_t size_max, struct bytes *text,
			 struct hdb_error *err);

/*
 * Counts the bytes of the pages in [start, end) that are in memory, including untouched pages of
 * zeros. Returns false if the number is unknown. `ctx` is a struct capture_memory.
 */
bool capture_memory_pages(void *ctx, uint64_t start, uint64_t end, uint64_t *bytes);
/*
 * Reads up to `size` bytes from an address. Returns the number of bytes read, or 0 if the address
 * cannot be read. `ctx` is a struct capture_memory.
 */
size_t capture_memory_read(void *ctx, uint64_t at, void *out, size_t size);

/* Dumps an app on an Android device, named by process name or PID. Requires `adb`. */
int capture_app_start(const char *process, const struct capture_options *options,
		      struct capture **out, struct hdb_error *err);

/*
 * Closes the input, which aborts a dump that is not fully read, removes temporary files and frees
 * the capture. Returns HDB_OK if the dump is complete, HDB_END if it was not read to its end,
 * HDB_EIO if the VM exited, was stopped or ran out of space, HDB_EINTR if cancelled. `cost` may be
 * NULL.
 */
int capture_end(struct capture *capture, struct capture_cost *cost, struct hdb_error *err);

/* A captured dump: the result of the import, and the cost of the capture for the program. */
struct captured {
	struct hdb_import_result result;
	struct capture_cost cost;
};

/*
 * Imports the stream of a capture and ends it. If the dump fails, reports this failure instead of
 * that of the import, and leaves no database. Sets the name and the cancel flag of the options.
 */
int capture_import(struct capture *capture, const char *db_path, struct hdb_import_options *options,
		   struct captured *out, struct hdb_error *err);

#endif
