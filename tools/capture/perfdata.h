/*
 * capture/perfdata.h - the counters that a HotSpot VM keeps in a mapped file, hsperfdata_USER/PID.
 *
 * The file is another program's and may hold anything: lengths and offsets are checked, nothing is
 * read outside, and a walk ends whatever it says. Format 2.0, of Java 5 and later.
 */
#ifndef CAPTURE_PERFDATA_H
#define CAPTURE_PERFDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a file that are looked at; a VM's own default is 32 KiB. */
#define PERFDATA_MAX ((size_t)1 << 20)

struct perfdata {
	const uint8_t *data; /* lent */
	size_t size;
	bool is_big_endian;
	size_t next;   /* offset of the next entry */
	uint32_t left; /* entries that may still come */
};

/* An entry: a number or a text; borrowed from the file's bytes. */
struct perfdata_entry {
	const char *name;
	size_t name_size;
	bool is_text;
	int64_t number;
	const char *text; /* up to its zero */
	size_t text_size;
};

/* Begins to read; false if that is no such file. `data` is lent. */
bool perfdata_begin(struct perfdata *p, const void *data, size_t size);

/* The next entry that is whole and of a known type; false at the end. */
bool perfdata_next(struct perfdata *p, struct perfdata_entry *entry);

/* What is read of them. Texts are cut to fit, and end with a zero. */
struct perfdata_summary {
	char command[1024]; /* sun.rt.javaCommand: main class and arguments */
	char version[96];   /* java.property.java.version, or the VM's */
	bool cannot_attach; /* the VM has attaching disabled */
	bool has_heap;
	uint64_t heap_used, heap_committed; /* sums over the spaces, bytes */
};

/* Reads all entries; false if that is no such file. */
bool perfdata_summarize(const void *data, size_t size, struct perfdata_summary *out);

#endif
