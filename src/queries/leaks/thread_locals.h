/*
 * queries/leaks/thread_locals.h - thread-local values, added up over all threads.
 *
 * A pool distributes a leak over its threads: each thread holds little, but all of them together
 * hold much. The retained size of each entry of a thread's map is added up by ThreadLocal, and also
 * by class of the value, because a program may create a new ThreadLocal for each use.
 */
#ifndef QUERIES_LEAKS_THREAD_LOCALS_H
#define QUERIES_LEAKS_THREAD_LOCALS_H

#include "queries/leaks/leak_parts.h"

/* One entry of a thread's map of thread-local values. */
struct query_local {
	uint32_t key_ix;      /* the ThreadLocal, or HEAP_NONE if it was collected */
	uint32_t value_class; /* class of the value, or HEAP_NONE if the value is null */
	uint32_t entry_ix;
	uint64_t bytes; /* retained size of the entry */
};

/*
 * Reads an entry. Returns HDB_NOTFOUND if the object is not an entry that exactly one thread
 * retains, because a shared entry, or one inside the value of another entry, would be counted
 * twice.
 */
int query_local_read(struct query *q, uint32_t entry_ix, struct query_local *out,
		     struct hdb_error *err);

/* Entries with the same ThreadLocal or the same class of value. */
struct query_local_run {
	/* borrowed from the list; `from` is the first entry in sorted order */
	const struct query_local *from, *largest;
	/* count is 0 if there are no such entries; keys is the number of different ThreadLocals */
	uint64_t count, keys, bytes;
};

/*
 * Sorts a list of struct query_local, and returns the entries of the ThreadLocal (or, if is_by_key
 * is false, of the class of values) that retain the most in total. The result points into the list.
 */
struct query_local_run query_locals_find(struct base_vec *locals, bool is_by_key);

/*
 * Finds the holder of a ThreadLocal, such as "com.acme.Context.CURRENT (static)". Sets kind to
 * LEAK_HOLDER_GONE if key_ix is HEAP_NONE, and to LEAK_HOLDER_ENTRIES if no strong path leads to
 * the ThreadLocal. The second function writes the holder as a string.
 */
int query_local_holder(struct query *q, uint32_t key_ix, struct leak_holder *out,
		       struct hdb_error *err);
int query_local_name(struct query *q, uint32_t key_ix, char *buf, size_t size,
		     struct hdb_error *err);

/*
 * If a suspect is a group of threads, and most of what they retain is values of one ThreadLocal,
 * that ThreadLocal becomes the owner. Otherwise, or if the dump is not available, *owner does not
 * change.
 */
int query_locals_explain(struct query *q, const struct analysis_suspect *suspect,
			 struct query_leak_owner *owner, struct hdb_error *err);

#endif
