/*
 * memory/memory.h - an account of a HotSpot process's memory, whose parts add up to its RSS.
 *
 * /proc/PID/smaps contains the addresses. Each mapping, or range of a mapping, belongs to one part.
 * The ranges that the VM or a heap dump reports determine the part, or otherwise the mapping's name
 * and adjacent mappings. The remaining anonymous memory contains malloc's blocks, whose addresses
 * are not reported. It is divided according to the amounts that the VM has allocated there, and
 * these figures are marked as estimates.
 *
 * struct memory receives texts and numbers. struct memory_answer, below, obtains them from
 * processes and databases. The input is not trusted.
 */
#ifndef MEMORY_MEMORY_H
#define MEMORY_MEMORY_H

#include "heapdb.h"

#include "common/own_answer.h"

#include "base/flag.h"
#include "base/scope.h"
#include "base/vec.h"

#include <stdbool.h>

/* Maximum size of a text. A process with 100,000 mappings has 70 MB of smaps. */
#define MEMORY_TEXT_MAX (256u << 20)

/* Texts from /proc or from `jcmd PID COMMAND`, with or without jcmd's first line. */
enum memory_kind {
	MEMORY_UNKNOWN,
	MEMORY_SMAPS,
	MEMORY_NMT,     /* VM.native_memory summary or detail */
	MEMORY_VM_INFO, /* VM.info, or a fatal error log (hs_err_pidN.log) */
	MEMORY_MAP,     /* System.map (JDK 24) */
	MEMORY_MALLOC   /* System.native_heap_info, the output of malloc_info(3) */
};

/* Determines the kind of a text from the first bytes of the text. */
enum memory_kind memory_kind_of(const char *head, size_t size);

enum memory_part {
	MEMORY_HEAP,
	MEMORY_DIRECT,
	MEMORY_METASPACE,
	MEMORY_STACKS,
	MEMORY_CODE,
	MEMORY_GC,
	MEMORY_VM,
	MEMORY_CDS,
	MEMORY_LIBRARIES,
	MEMORY_FILES,
	MEMORY_USED_MALLOC,
	MEMORY_FREE_MALLOC,
	MEMORY_REST,
	MEMORY_PARTS
};

/* Use of memory. */
struct memory_use {
	enum memory_part part;
	const char *detail; /* borrowed; NULL or "": the whole part */
};
static inline struct memory_use memory_for(enum memory_part part, const char *detail)
{
	return (struct memory_use){ part, detail };
}

/* Native Memory Tracking. */
enum memory_nmt { MEMORY_NMT_UNKNOWN, MEMORY_NMT_OFF, MEMORY_NMT_SUMMARY, MEMORY_NMT_DETAIL };

/* A part, or a detail of a part. Figures are sums of bytes. */
struct memory_row {
	enum memory_part part;
	char detail[64];    /* empty: the part */
	uint64_t resident;  /* resident bytes; the values of all parts add up to RSS */
	uint64_t estimated; /* bytes of `resident` that are estimated from allocated amounts */
	uint64_t shared, swap;
	uint64_t committed; /* accessible bytes: mapped with access rights, or allocated */
	uint64_t used;      /* 0 means unknown */
	uint64_t count;     /* number of classes, threads, buffers or files, or 0 if unknown */
};

/*
 * Figures that hsperfdata also contains, or 0 if unknown. Figures in the texts of the VM take
 * precedence.
 */
struct memory_figures {
	uint64_t heap_used, heap_reserved, metaspace_used, metaspace_committed, code_used, classes;
	/*
	 * Chunks of Netty's allocators outside the heap, and the buffers in them, according to the
	 * dump.
	 */
	uint64_t netty, netty_pinned;
};

struct memory {
	/* The rows of the account. */
	BASE_VEC_AS(row_vec, struct memory_row, rows, row_count); /* parts before their details */
	uint64_t rss, swap;
	uint64_t buffer_count; /* number of buffers whose memory is in their own mappings */
	uint64_t hugetlb;      /* pages of hugetlbfs, which RSS does not include */
	/* Information from the texts. */
	enum memory_nmt nmt;
	struct memory_figures figures;
	bool has_vm_info, has_map, has_malloc;
	uint64_t malloc_arenas, malloc_free, malloc_mapped; /* bytes, by malloc_info(3) */
	/* private */
	struct base_vec mappings, ranges, categories, buffers;
};

void memory_release(struct memory *memory);

/*
 * Reads a text, which is modified and must be followed by a zero byte. Fails with HDB_EFORMAT if
 * the text has no lines of this kind.
 */
int memory_add(struct memory *memory, enum memory_kind kind, char *text, size_t size,
	       struct hdb_error *err);

/* Adds native memory owned by an object in the heap. The detail is copied. */
int memory_add_buffer(struct memory *memory, struct memory_use use, uint64_t address,
		      uint64_t bytes, struct hdb_error *err);

/*
 * Counts the bytes of pages of [start, end) that are in memory. Returns false if the number is
 * unknown.
 */
typedef bool (*memory_pages)(void *ctx, uint64_t start, uint64_t end, uint64_t *bytes);

/*
 * Creates the rows, the largest part first. Fails with HDB_EUSAGE if there are no smaps. `pages`
 * may be NULL. In a mapping with several uses, blocks are then assumed to be resident, and the rest
 * is assigned to the VM's tables.
 */
int memory_account(struct memory *memory, memory_pages pages, void *ctx, struct hdb_error *err);

/* Reads memory of the process. Returns the number of bytes read, or 0 on failure. */
typedef size_t (*memory_read)(void *ctx, uint64_t at, void *out, size_t size);

/* Sums malloc's blocks in the mappings of a process with glibc, as malloc_info(3) would. */
int memory_add_arenas(struct memory *memory, memory_read read, void *ctx, struct hdb_error *err);

/* Returns the name of a part, a static string. */
const char *memory_part_name(enum memory_part part);

/* ---- the account of a process as an answer ---- */

/* account_columns, and their numbers. */
#include <memory/memory_answer.query.h>

struct memory_answer;

/* Makes an empty answer. The caller must release *out with memory_answer_free. */
int memory_answer_new(struct memory_answer **out, struct hdb_error *err);
void memory_answer_free(struct memory_answer *account); /* NULL is allowed */
BASE_CLOSER(memory_answer_free_at, struct memory_answer, memory_answer_free)

/* Like memory_add, for a text of any kind. Fails with HDB_EFORMAT if the kind is unknown. */
int memory_answer_add_text(struct memory_answer *account, char *text, size_t size,
			   struct hdb_error *err);

/* Adds the buffers outside the heap that a dump of the process records. */
int memory_answer_add_dump(struct memory_answer *account, struct hdb *db, struct hdb_error *err);

/*
 * Adds a running JVM: its answers within the timeout (0 means the default), its smaps and its
 * cgroup's limit. Fails like capture_measure. `cancel` may be NULL.
 */
int memory_answer_add_process(struct memory_answer *account, int pid, unsigned timeout_s,
			      const base_flag *cancel, struct hdb_error *err);

/*
 * Computes the answer, once. *out is borrowed until memory_answer_free. Fails with HDB_EUSAGE if
 * there are no smaps.
 */
int memory_answer_make(struct memory_answer *account, const struct own_answer **out,
		       struct hdb_error *err);

/* The sources of an account. All members are borrowed. */
struct memory_sources {
	int pid; /* 0 means none */
	const char *const *files;
	size_t file_count;
	struct hdb *db;          /* a dump of the process, or NULL if none */
	const base_flag *cancel; /* may be NULL */
};

/* Sets *text to the answer as JSON; see own_answer_json. The caller must free() *text. */
int memory_json(const struct memory_sources *sources, bool is_sparse, char **text,
		struct hdb_error *err);

/* Returns the account, with the rows of the answer and the RSS. */
const struct memory *memory_answer_of(const struct memory_answer *account);

#endif
