/*
 * androidfiles/androidfiles.h - files of Android that are no dumps: what `dumpsys meminfo` and
 * /proc say of a process's memory, and what the allocation tracker recorded. Texts and bytes in,
 * tables out; they know nothing of databases.
 *
 * All of it is given from memory, and may be anything: what is wrong is HDB_EFORMAT with the line
 * or the offset, sums end at UINT64_MAX.
 */
#ifndef ANDROIDFILES_ANDROIDFILES_H
#define ANDROIDFILES_ANDROIDFILES_H

#include "heapdb.h"

#include "base/base_text.h"
#include "base/clear_names.h"
#include "base/idmap.h"
#include "common/call_tree.h"

#include <stdbool.h>

/* Files that are read: larger ones are refused. Those of real processes have some megabytes. */
#define ANDROID_FILE_MAX (256u << 20)

/* ---- memory of processes ---- */

/* The figures of a kind of memory, in bytes except COUNT. */
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
	ANDROID_SIZE, /* of a database, an asset; as /proc/meminfo has it */
	ANDROID_COUNT,
	ANDROID_FIGURES
};

/* Parts of the answer. */
enum android_section {
	ANDROID_MEMORY,  /* "Dalvik Heap", ".so mmap", ..., TOTAL */
	ANDROID_DETAILS, /* parts of these: ".LOS", ".LinearAlloc" */
	ANDROID_SUMMARY, /* "Java Heap", "Code", "Graphics", ..., TOTAL */
	ANDROID_OBJECTS, /* counts: Views, Activities */
	ANDROID_PROCESS, /* totals of many processes */
	ANDROID_SQL,     /* what SQLite uses */
	ANDROID_DATABASES,
	ANDROID_ASSETS,
	ANDROID_SYSTEM, /* /proc/meminfo */
	ANDROID_DUMP    /* what a heap dump has; not made here */
};

struct android_memory_row {
	enum android_section section;
	unsigned has;   /* bits: which figures are known */
	uint64_t pid;   /* 0: unknown */
	size_t process; /* in texts; 0: unknown */
	size_t name;    /* in texts */
	uint64_t figures[ANDROID_FIGURES];
};

struct android_memory {
	BASE_VEC_AS(vec, struct android_memory_row, rows, count);
	struct bytes texts; /* each ends with 0; the first is empty */
	const char *form;   /* static: which form was read */
	uint64_t uptime_ms; /* of the device; 0: unknown */
};

/* Reads any of the forms. Release it in any case. */
int android_memory_read(const char *data, size_t size, struct android_memory *out,
			struct hdb_error *err);
void android_memory_release(struct android_memory *memory);

/* A row; the texts are copied. For those who add rows. */
int android_memory_add(struct android_memory *memory, const struct android_memory_row *row,
		       const char *process, const char *name, struct hdb_error *err);

/* The first row of that section and name; NULL: none. */
const struct android_memory_row *android_memory_find(const struct android_memory *memory,
						     enum android_section section,
						     const char *name);

/* ---- allocations ---- */

enum android_allocations_by {
	ANDROID_BY_CLASS,
	ANDROID_BY_THREAD,
	ANDROID_BY_STACK,
	ANDROID_BY_SITE,
	ANDROID_BY_MODULE /* of native heaps only */
};

struct android_allocations {
	uint64_t count, bytes, threads, classes;
	/* private */
	struct android_allocation *list;
	struct android_frame *frames;
	char **names; /* classes, then methods, then files; owned */
	size_t name_counts[3];
	size_t frame_count;
};

/* Reads ddmlib's format. Release it in any case. */
int android_allocations_read(const uint8_t *data, size_t size, struct android_allocations *out,
			     struct hdb_error *err);
/* Adds them up in a tree, which is empty before; of threads the names are numbers of 5 digits. */
int android_allocations_group(const struct android_allocations *allocations,
			      enum android_allocations_by by, struct call_tree *tree,
			      struct hdb_error *err);
void android_allocations_release(struct android_allocations *allocations);

/* ---- native heaps ---- */

/* Of a dump: bits, some by the numbers of fields of ProcessHeapSamples. */
enum {
	ANDROID_DUMP_MISSING = 1 << 0, /* packets are */
	ANDROID_DUMP_DAMAGED = 1 << 2, /* sums decrease */
	ANDROID_DUMP_FROM_STARTUP = 1 << 3,
	ANDROID_DUMP_OPEN = 1 << 5,    /* the last packet is */
	ANDROID_DUMP_COUNTS = 1 << 13, /* counts of the maximum can be believed */
	ANDROID_DUMP_FIELDS = 1 << 3 | 1 << 4 | 1 << 7 | 1 << 8 | 1 << 10 | 1 << 13 | 1 << 14
};

/* What a heap of a process had at a time. */
struct android_native_dump {
	uint64_t pid, interval;     /* bytes between two samples */
	int64_t since_1970;         /* in ns; 0: unknown */
	const char *process, *heap; /* lent; process "?": unknown */
	unsigned flags;             /* ANDROID_DUMP_... */
	struct call_node sums;      /* since profiling began; after android_native_group */
	/* private */
	int64_t time;
	uint32_t heap_no;
};

struct android_native {
	struct base_vec dumps; /* struct android_native_dump, in the order of the trace */
	size_t heaps;          /* of all processes */
	/* private */
	struct proto trace;    /* lent, or the copy */
	struct base_vec copy;  /* of its bytes, if it was compressed */
	struct base_vec names; /* struct clear_name */
	struct base_names texts;
	struct base_vec known;       /* struct known */
	struct base_idmap known_map; /* hash of a key -> number in known */
	struct base_vec sequences;   /* struct android_sequence */
	int64_t clock_offset;        /* to time since 1970 */
};

static inline struct android_native_dump *android_dump_at(const struct android_native *native,
							  size_t i)
{
	return base_vec_at(&native->dumps, struct android_native_dump, i);
}

/*
 * Reads a Perfetto trace, which is lent until the release; HDB_NOTFOUND if it is none. Release it
 * in any case.
 */
int android_native_read(const uint8_t *data, size_t size, struct android_native *out,
			struct hdb_error *err);
/*
 * Adds up what was allocated until dump number `dump`, from 1, of its heap, or of all heaps (0), in
 * a tree, which is empty before. Once. By stack with several heaps these are the outermost frames.
 */
int android_native_group(struct android_native *native, unsigned dump,
			 enum android_allocations_by by, struct call_tree *tree,
			 struct hdb_error *err);
/* Why the dump is incomplete; NULL: it is not. */
const char *android_native_incomplete(const struct android_native_dump *dump);
void android_native_release(struct android_native *native);

/* ---- for the files here ---- */

/* meminfo_smaps.c: sums of /proc/PID/smaps as Android makes them, or that of a rollup. */
int android_smaps_read(const char *data, size_t size, struct android_memory *out,
		       struct hdb_error *err);
/* Whether a line begins a mapping. */
bool android_is_mapping(const char *line, size_t size);

#endif
