/*
 * memory/memory_private.h - the data that the readers of texts store for the account.
 */
#ifndef MEMORY_MEMORY_PRIVATE_H
#define MEMORY_MEMORY_PRIVATE_H

#include "memory/memory.h"

#include "common/smaps.h"

#include "capture/capture.h"

struct mapping {
	uint64_t start, end, rss, shared, swap;
	enum memory_part part; /* part according to the name and the adjacent mappings */
	bool is_accessible;
	bool is_anonymous;
	bool is_arena; /* whether the mapping is an arena of malloc */
	/* whether the mapping is small and inaccessible, such as the guard page below a stack */
	bool is_guard;
	bool is_file; /* whether the mapping is the first one of its file */
};

/* A range that has a single use. */
struct range {
	uint64_t start, end;
	enum memory_part part;
	char detail[64];
	bool is_mapping; /* whether the range is a whole mapping; see drop_merged */
};

/* A category of Native Memory Tracking. Sizes are in bytes. */
struct category {
	char name[48];
	uint64_t malloc; /* including arenas of the VM, which are allocated with malloc */
	uint64_t mapped; /* committed memory of mmap, stacks included */
};

#define ADVICE_MAX 3

/* An account and its sources. All bytes are zero at first. */
struct memory_answer {
	struct memory memory;
	struct capture_memory *process; /* NULL means saved files */
	char name[320];                 /* name of the process; "": unknown */
	uint64_t buffers;               /* memory owned by objects in a dump */
	uint64_t limit;                 /* memory limit of the cgroup, or 0 if none, or unknown */
	size_t next;                    /* next row to return */
	struct hdb_value cells[ACCOUNT_COLUMNS];
	char missing[256];
	char advice[ADVICE_MAX][256];
	struct own_answer answer;
};

/* Adds a range unless it is empty. The detail is copied. */
int memory_add_range(struct memory *memory, struct memory_use use, uint64_t start, uint64_t end,
		     struct hdb_error *err);

/* Reads smaps into memory->mappings. Does not change the text. */
int memory_read_smaps(struct memory *memory, const char *text, size_t size, struct hdb_error *err);

/*
 * Return the part to which a category's mappings belong, and the part to which its malloc blocks
 * belong.
 */
enum memory_part memory_part_of_mapped(const char *category);
enum memory_part memory_part_of_blocks(const char *category);

#endif
