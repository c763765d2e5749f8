/*
 * analysis/properties.h - collects facts about the VM that the heap contains: system properties,
 * environment, arguments, build, garbage collector, and maximum heap size.
 */
#ifndef ANALYSIS_PROPERTIES_H
#define ANALYSIS_PROPERTIES_H

#include "analysis/session.h"
#include "heap/collections/collections.h"

/* Maximum number of bytes in a value. Longer values are truncated. */
#define ANALYSIS_PROPERTY_MAX 4096

/*
 * State of an iteration over all properties, source by source. It must be zero-initialised.
 * Allocate it on the heap, because it has about 25 KB.
 */
struct analysis_properties {
	/* the current property */
	const char *section; /* "property", "environment", ...; static */
	char name[512];
	char value[ANALYSIS_PROPERTY_MAX];
	uint32_t value_ix; /* object of the value, or HEAP_NONE */
	/* private */
	size_t source;
	bool is_open;
	struct heap_collection collection;
	struct heap_entries entries;
};

/*
 * Returns the next property. The result is HDB_OK, or HDB_END after the last property. Opens the
 * dump.
 */
int analysis_properties_next(const struct session *session, struct analysis_properties *p,
			     struct hdb_error *err);

/* One fact about the VM. */
struct analysis_vm_fact {
	const char *key, *help;            /* static */
	char value[ANALYSIS_PROPERTY_MAX]; /* empty if unknown, or if the fact is a number */
	uint64_t number;                   /* 0 if unknown, or if the fact is a string */
};
/*
 * Collects the facts from properties and management classes. The caller frees *facts, an array of
 * *count. If the dump is missing, *count is 0, which is not a failure.
 */
int analysis_vm_facts(const struct session *session, struct analysis_vm_fact **facts, size_t *count,
		      struct hdb_error *err);

/* Maximum number of bytes in a stack frame as text. */
#define ANALYSIS_FRAME_MAX_BYTES 512

/* The maximum heap size, and whether it was reached. */
struct analysis_limit {
	uint64_t bytes;        /* maximum size of the Java heap; 0 if unknown */
	bool is_out_of_memory; /* whether a thread was throwing an OutOfMemoryError */
	uint32_t thread_ix;    /* that thread, or HEAP_NONE */
	/*
	 * place where memory ran out: the first frame outside the platform or, if there is none,
	 * the first frame below the constructor; may be empty
	 */
	char frame[ANALYSIS_FRAME_MAX_BYTES];
};

/*
 * Finds the maximum heap size and the OutOfMemoryError, if any.
 *
 * HotSpot keeps the limit of direct buffers in a static field of its class library
 * (jdk.internal.misc.VM, before JDK 9 sun.misc.VM). By default, this limit equals the maximum heap
 * size, unless a property sets it. In a dump made on an OutOfMemoryError, the constructor of this
 * error is on top of the stack of the thread that caused the error. If the dump is missing, the
 * limit is unknown, which is not a failure. Classes must be loaded.
 */
int analysis_limit_find(const struct session *session, struct analysis_limit *out,
			struct hdb_error *err);

/* Returns `bytes` as a percentage of the limit, or 0 if the limit is unknown. */
double analysis_limit_percent(const struct analysis_limit *limit, uint64_t bytes);

#endif
