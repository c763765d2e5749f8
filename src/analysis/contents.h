/*
 * analysis/contents.h - what all strings or all primitive arrays hold, as 128-bit hashes in sorted
 * order, so that equal ones lie side by side. What is shown must not depend on that order, which is
 * another one in each process.
 *
 * Memory: 24 bytes a string or array, in one big array that goes to a file beyond the budget.
 */
#ifndef ANALYSIS_CONTENTS_H
#define ANALYSIS_CONTENTS_H

#include "analysis/population.h"
#include "analysis/session.h"

/* What is read. */
enum analysis_content_kind {
	ANALYSIS_TEXTS,  /* strings, by text */
	ANALYSIS_ARRAYS, /* primitive arrays, by elements */
	ANALYSIS_SPANS   /* strings, by the elements of their array that are theirs */
};

/* A string or an array. */
struct analysis_content {
	/*
	 * 128 bits of XXH3, in this process alone (base_hash_seed): of the text; of the elements'
	 * bytes with the type in the seed. Spans: the array's index, and first element << 32 |
	 * elements.
	 */
	uint64_t low, high;
	uint32_t ix;
	/* texts: the array if all of it is the text, else HEAP_NONE; spans, arrays: the array */
	uint32_t array_ix;
};

struct analysis_contents {
	struct base_big records; /* struct analysis_content, by hash, then by ix */
	uint64_t count;
	uint64_t without;    /* objects left out because the dump lacks their content */
	uint64_t heap_bytes; /* shallow size of all objects that count, of whatever class */
	uint64_t unreachable_count,
		unreachable_bytes; /* strings or arrays that no root reaches, wanted or not */
};

struct analysis_contents_options {
	enum analysis_content_kind kind;
	enum analysis_population
		population; /* ANALYSIS_OF_NOTHING: reachable ones, as ANALYSIS_OF_REACHABLE */
	/* arrays: by class number, nonzero if it is asked for; NULL: all */
	const uint8_t *is_class;
};

/* Reads them all, on all threads. Release *out in any case. */
int analysis_contents_read(const struct session *session,
			   const struct analysis_contents_options *options,
			   struct analysis_contents *out, struct hdb_error *err);
void analysis_contents_release(struct analysis_contents *contents);

/* End of the run of equal contents that begins at `from`. */
uint64_t analysis_contents_run(const struct analysis_contents *contents, uint64_t from);

/* A run of equal contents. */
struct analysis_run {
	const struct analysis_content *first;
	uint64_t count;
	bool of_arrays;          /* it is one of arrays, not of strings */
	uint32_t *nodes, *spare; /* scratch: room for an index each of the run */
};

/* What a run of equal contents takes. */
struct analysis_copies {
	/* bytes of all copies and of their arrays, each counted once however many share it */
	uint64_t total;
	uint64_t wasted; /* the same without one copy, and without the smallest array */
	uint32_t arrays;
};

int analysis_copies_measure(const struct session *session, const struct analysis_run *run,
			    struct analysis_copies *out, struct hdb_error *err);

/*
 * Hash of a primitive array's elements. `view` is the thread's own, `offset` the array's in the
 * dump. HDB_NOTFOUND if the dump has no elements.
 */
int analysis_array_hash(struct heap *heap, struct base_view *view, uint64_t offset,
			struct analysis_content *out, struct hdb_error *err);

#endif
