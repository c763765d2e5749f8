/*
 * analysis/properties.h - what the heap holds of the VM that it was: system properties,
 * environment, arguments, build, collector; and how large its heap could become.
 */
#ifndef ANALYSIS_PROPERTIES_H
#define ANALYSIS_PROPERTIES_H

#include "analysis/session.h"
#include "heap/collections/collections.h"

/* Bytes of a value that are kept. */
#define ANALYSIS_PROPERTY_MAX 4096

/* Walks all of them, source by source. Zero-initialise. The struct has some 25 KB: allocate it. */
struct analysis_properties {
	/* the current one */
	const char *section; /* "property", "environment", ...; static */
	char name[512];
	char value[ANALYSIS_PROPERTY_MAX];
	uint32_t value_ix; /* HEAP_NONE: no object */
	/* private */
	size_t source;
	bool is_open;
	struct heap_collection collection;
	struct heap_entries entries;
};

/* HDB_OK with the next one, HDB_END after the last. Opens the dump. */
int analysis_properties_next(const struct session *session, struct analysis_properties *p,
			     struct hdb_error *err);

/* One thing that is known of the VM. */
struct analysis_vm_fact {
	const char *key, *help;            /* static */
	char value[ANALYSIS_PROPERTY_MAX]; /* "": not known, or a number */
	uint64_t number;                   /* 0: not known, or a text */
};
/*
 * Fills in what the properties and the management classes tell: *facts is owned (free()), *count
 * of them. An open dump is needed; without one nothing is known, which is no failure.
 */
int analysis_vm_facts(const struct session *session, struct analysis_vm_fact **facts, size_t *count,
		      struct hdb_error *err);

#define ANALYSIS_FRAME_MAX_BYTES 512

struct analysis_limit {
	uint64_t bytes;        /* what the VM lets the heap grow to; 0: not known */
	bool is_out_of_memory; /* a thread had just been given an OutOfMemoryError */
	uint32_t thread_ix;    /* that thread, or HEAP_NONE */
	/* where: its first frame of a class that is not the platform's, else the first; or "" */
	char frame[ANALYSIS_FRAME_MAX_BYTES];
};

/*
 * HotSpot keeps the limit in a static field of its class library: direct buffers may by default
 * take as much as the heap (jdk.internal.misc.VM, before JDK 9 sun.misc.VM); unless the property
 * that sets their limit says otherwise. A dump made on an OutOfMemoryError has the constructor of
 * that class on the stack of the thread that got it. Without the dump nothing is known, which is no
 * failure. Classes must be loaded.
 */
int analysis_limit_find(const struct session *session, struct analysis_limit *out,
			struct hdb_error *err);

/* Share of the limit that so many bytes are, in percent; 0 if the limit is not known. */
double analysis_limit_percent(const struct analysis_limit *limit, uint64_t bytes);

#endif
