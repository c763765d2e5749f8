/*
 * androidfiles/androidfiles.h - Android files other than heap dumps: the memory figures of `dumpsys
 * meminfo` and /proc, and the recordings of the allocation tracker. Converts text or bytes in
 * memory to tables. Independent of databases.
 *
 * The input is not trusted. For malformed input, functions fail with HDB_EFORMAT and the line or
 * offset; sums saturate at UINT64_MAX.
 */
#ifndef ANDROIDFILES_ANDROIDFILES_H
#define ANDROIDFILES_ANDROIDFILES_H

#include "heapdb.h"

#include "base/base_text.h"
#include "base/clear_names.h"
#include "base/idmap.h"
#include "common/call_tree.h"

#include <stdbool.h>

/* Maximum size of an input file. Real files have a few megabytes. */
#define ANDROID_FILE_MAX (256u << 20)

/* ---- memory of processes ---- */

/* Columns of a memory category, in bytes except COUNT. */
enum android_figure {
	ANDROID_PSS,
	ANDROID_PSS_CLEAN,
	ANDROID_PRIVATE_DIRTY,
	ANDROID_PRIVATE_CLEAN,
	ANDROID_SHARED_DIRTY,
	ANDROID_SHARED_CLEAN,
	ANDROID_SWAP,
	ANDROID_SWAP_PSS,
	ANDROID_RSS,
	ANDROID_HEAP_SIZE,
	ANDROID_HEAP_ALLOC,
	ANDROID_HEAP_FREE,
	ANDROID_SIZE, /* size of a database or asset, or a value of /proc/meminfo */
	ANDROID_COUNT,
	ANDROID_FIGURES
};

/* Sections of the result. */
enum android_section {
	ANDROID_MEMORY,  /* "Dalvik Heap", ".so mmap", ..., TOTAL */
	ANDROID_DETAILS, /* subdivisions: ".LOS", ".LinearAlloc" */
	ANDROID_SUMMARY, /* "Java Heap", "Code", "Graphics", ..., TOTAL */
	ANDROID_OBJECTS, /* counts: Views, Activities */
	ANDROID_PROCESS, /* totals of all listed processes */
	ANDROID_SQL,     /* memory used by SQLite */
	ANDROID_DATABASES,
	ANDROID_ASSETS,
	ANDROID_SYSTEM, /* /proc/meminfo */
	ANDROID_DUMP    /* figures of the heap dump, which the caller adds */
};

struct android_memory_row {
	enum android_section section;
	unsigned has;   /* bit set of known figures */
	uint64_t pid;   /* 0 means unknown */
	size_t process; /* offset in texts, or 0 if unknown */
	size_t name;    /* offset in texts */
	uint64_t figures[ANDROID_FIGURES];
};

struct android_memory {
	BASE_VEC_AS(vec, struct android_memory_row, rows, count);
	struct bytes texts; /* zero-terminated strings; the first is empty */
	const char *form;   /* static: name of the recognised format */
	uint64_t uptime_ms; /* uptime of the device in ms, or 0 if unknown */
};

/* Reads any supported format. Call the release function even after an error. */
int android_memory_read(const char *data, size_t size, struct android_memory *out,
			struct hdb_error *err);
void android_memory_release(struct android_memory *memory);

/* Appends a row and copies its strings. */
int android_memory_add(struct android_memory *memory, const struct android_memory_row *row,
		       const char *process, const char *name, struct hdb_error *err);

/* Returns the first row with this section and name, or NULL. */
const struct android_memory_row *android_memory_find(const struct android_memory *memory,
						     enum android_section section,
						     const char *name);

/* ---- allocations ---- */

enum android_allocations_by {
	ANDROID_BY_CLASS,
	ANDROID_BY_THREAD,
	ANDROID_BY_STACK,
	ANDROID_BY_SITE,
	ANDROID_BY_MODULE /* native heaps only */
};

struct android_allocations {
	uint64_t count, bytes, threads, classes;
	/* private */
	struct android_allocation *list;
	struct android_frame *frames;
	char **names; /* classes, methods and files, in this order; owned */
	size_t name_counts[3];
	size_t frame_count;
};

/* Reads ddmlib's format. Call the release function even after an error. */
int android_allocations_read(const uint8_t *data, size_t size, struct android_allocations *out,
			     struct hdb_error *err);
/*
 * Sums allocations into an empty tree. Threads are named by numbers with 5 digits, so that they are
 * sorted correctly.
 */
int android_allocations_group(const struct android_allocations *allocations,
			      enum android_allocations_by by, struct call_tree *tree,
			      struct hdb_error *err);
void android_allocations_release(struct android_allocations *allocations);

/* ---- native heaps ---- */

/* Flags of a dump. Some are equal to field numbers of ProcessHeapSamples. */
enum {
	ANDROID_DUMP_MISSING = 1 << 0, /* packets are missing */
	ANDROID_DUMP_DAMAGED = 1 << 2, /* sums decrease between dumps */
	ANDROID_DUMP_FROM_STARTUP = 1 << 3,
	ANDROID_DUMP_OPEN = 1 << 5,    /* the last packet is missing */
	ANDROID_DUMP_COUNTS = 1 << 13, /* the counts for the maximum are reliable */
	ANDROID_DUMP_FIELDS = 1 << 3 | 1 << 4 | 1 << 7 | 1 << 8 | 1 << 10 | 1 << 13 | 1 << 14
};

/* One dump of one heap of a process. */
struct android_native_dump {
	uint64_t pid, interval;     /* bytes between samples */
	int64_t since_1970;         /* time in ns since 1970, or 0 if unknown */
	const char *process, *heap; /* borrowed; process "?" if unknown */
	unsigned flags;             /* ANDROID_DUMP_... */
	struct call_node sums;      /* sums since profiling began; set by android_native_group */
	/* private */
	int64_t time;
	uint32_t heap_no;
};

struct android_native {
	struct base_vec dumps; /* struct android_native_dump, in trace order */
	size_t heaps;          /* number of heaps of all processes */
	/* private */
	struct proto trace;    /* input: borrowed from the caller, or `copy` */
	struct base_vec copy;  /* the decompressed input, if the input was compressed */
	struct base_vec names; /* struct clear_name */
	struct base_names texts;
	struct base_vec known;       /* struct known */
	struct base_idmap known_map; /* hash of a key to its index in known */
	struct base_vec sequences;   /* struct android_sequence */
	int64_t clock_offset;        /* added to a trace time to get time since 1970 */
};

static inline struct android_native_dump *android_dump_at(const struct android_native *native,
							  size_t i)
{
	return base_vec_at(&native->dumps, struct android_native_dump, i);
}

/*
 * Reads a Perfetto trace. The bytes must stay valid until *out is released, which is necessary even
 * after an error. Returns HDB_NOTFOUND if the input is not a trace.
 */
int android_native_read(const uint8_t *data, size_t size, struct android_native *out,
			struct hdb_error *err);
/*
 * Sums allocations into an empty tree: the allocations of one heap up to dump number `dump`
 * (starting at 1), or of all heaps if `dump` is 0. May be called only once. For several heaps
 * grouped by stack, the heaps are the outermost frames.
 */
int android_native_group(struct android_native *native, unsigned dump,
			 enum android_allocations_by by, struct call_tree *tree,
			 struct hdb_error *err);
/* Returns the reason why the dump is incomplete, or NULL if it is complete. */
const char *android_native_incomplete(const struct android_native_dump *dump);
void android_native_release(struct android_native *native);

/* ---- private to this directory ---- */

/* Sums /proc/PID/smaps by Android's memory categories, or reads smaps_rollup; meminfo_smaps.c. */
int android_smaps_read(const char *data, size_t size, struct android_memory *out,
		       struct hdb_error *err);

#endif
