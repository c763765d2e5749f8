/*
 * capture/perfdata.h - reads the counters that a HotSpot VM keeps in a mapped file,
 * hsperfdata_USER/PID (format 2.0, Java 5 and later).
 *
 * The file belongs to another program and is not trusted: lengths and offsets are checked, and
 * reading ends regardless of the file's contents.
 */
#ifndef CAPTURE_PERFDATA_H
#define CAPTURE_PERFDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum number of bytes read; the VM's default size is 32 KiB. */
#define PERFDATA_MAX ((size_t)1 << 20)

struct perfdata {
	const uint8_t *data; /* borrowed */
	size_t size;
	bool is_big_endian;
	size_t next;   /* offset of the next entry */
	uint32_t left; /* remaining entries */
};

/* An entry: a number or a string, borrowed from the file's bytes. */
struct perfdata_entry {
	const char *name;
	size_t name_size;
	bool is_text;
	int64_t number;
	const char *text; /* zero-terminated */
	size_t text_size;
};

/* Starts reading. Returns false if the data is not in this format. `data` is borrowed. */
bool perfdata_begin(struct perfdata *p, const void *data, size_t size);

/* Returns the next complete entry of a known type; false at the end. */
bool perfdata_next(struct perfdata *p, struct perfdata_entry *entry);

/* Values extracted from the counters. Strings are truncated to fit and zero-terminated. */
struct perfdata_summary {
	char command[1024]; /* sun.rt.javaCommand: main class and arguments */
	char version[96];   /* java.property.java.version, or the VM's */
	bool cannot_attach; /* whether attaching is disabled in the VM */
	bool has_heap;
	uint64_t heap_used, heap_committed; /* sums over all spaces, in bytes */
	/* In bytes; 0 before the first garbage collection. */
	uint64_t metaspace_used, metaspace_committed;
	uint64_t threads;                          /* live Java threads */
	uint64_t classes_loaded, classes_unloaded; /* classes loaded and unloaded since the start */
	uint64_t heap_max;                         /* maximum size in bytes, or 0 if unknown */
	/* number of collections, and total time of the collections in microseconds */
	uint64_t gc_count, gc_us;
	/* number of safepoints, and total time of the safepoints in microseconds */
	uint64_t pauses, pause_us;
	char vm_args[2048]; /* java.rt.vmArgs: options of the VM */
};

/* Reads all entries. Returns false if the data is not in this format. */
bool perfdata_summarize(const void *data, size_t size, struct perfdata_summary *out);

#endif
