/*
 * query/contents.h - what all strings or all primitive arrays hold, as 128-bit hashes in sorted
 * order, so that equal ones lie side by side. What is shown must not depend on that order, which is
 * another one in each process.
 *
 * Memory: 24 bytes a string or array, in one big array that goes to a file beyond the budget.
 */
#ifndef QUERY_CONTENTS_H
#define QUERY_CONTENTS_H

#include "query/query.h"

/* What is read. */
enum query_content_kind {
	QUERY_TEXTS,  /* strings, by text */
	QUERY_ARRAYS, /* primitive arrays, by elements */
	QUERY_SPANS   /* strings, by the elements of their array that are theirs */
};

/* A string or an array. */
struct query_content {
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

struct query_contents {
	struct base_big records; /* struct query_content, by hash, then by ix */
	uint64_t count;
	uint64_t without;    /* objects left out because the dump lacks their content */
	uint64_t heap_bytes; /* shallow size of all objects that count, of whatever class */
	uint64_t unreachable_count,
		unreachable_bytes; /* strings or arrays that no root reaches, wanted or not */
};

struct query_contents_options {
	enum query_content_kind kind;
	enum query_population
		population; /* QUERY_OF_NOTHING: reachable ones, as QUERY_OF_REACHABLE */
	/* arrays: by class number, nonzero if it is asked for; NULL: all */
	const uint8_t *is_class;
};

/* Reads them all, on all threads. Release *out in any case. */
int query_contents_read(struct query *q, const struct query_contents_options *options,
			struct query_contents *out, struct hdb_error *err);
void query_contents_release(struct query *q, struct query_contents *contents);

/* End of the run of equal contents that begins at `from`. */
uint64_t query_contents_run(const struct query_contents *contents, uint64_t from);

/* What a run of equal contents takes. */
struct query_copies {
	/* bytes of all copies and of their arrays, each counted once however many share it */
	uint64_t total;
	uint64_t wasted; /* the same without one copy, and without the smallest array */
	uint32_t arrays;
};

/*
 * `nodes` and `spare` have room for an index each of the run; of_arrays: it is one of arrays, not
 * of strings.
 */
int query_copies_measure(struct query *q, const struct query_content *run, uint64_t count,
			 bool of_arrays, uint32_t *nodes, uint32_t *spare, struct query_copies *out,
			 struct hdb_error *err);

/*
 * Hash of a primitive array's elements. `view` is the thread's own, `offset` the array's in the
 * dump. HDB_NOTFOUND if the dump has no elements.
 */
int query_array_hash(struct heap *heap, struct base_view *view, uint64_t offset,
		     struct query_content *out, struct hdb_error *err);

#endif
