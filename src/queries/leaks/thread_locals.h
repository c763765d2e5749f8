/*
 * queries/leaks/thread_locals.h - adds up thread-local values over all threads.
 *
 * If a thread pool leaks through a thread-local, each thread holds little memory, but all together
 * hold much. The retained sizes of the entries in all threads' maps are added up by ThreadLocal,
 * and also by class of the value, because a program may create a new ThreadLocal for each use.
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
 * retains. A shared entry, or one inside the value of another, would be counted twice.
 */
int query_local_read(struct query *q, uint32_t entry_ix, struct query_local *out,
		     struct hdb_error *err);

/* Entries with the same ThreadLocal, or with values of the same class. */
struct query_local_run {
	/* first and largest of the entries, in the sorted list */
	const struct query_local *from, *largest;
	/* number of entries, 0 if there are none; number of distinct ThreadLocals */
	uint64_t count, keys, bytes;
};

/*
 * Sorts a list of struct query_local, and finds the ThreadLocal or, if is_by_key is false, the
 * class of values whose entries retain the most. The result points into the list.
 */
struct query_local_run query_locals_find(struct base_vec *locals, bool is_by_key);

/* Writes the holder of a ThreadLocal as a string, such as "com.acme.Context.CURRENT (static)". */
int query_local_name(struct query *q, uint32_t key_ix, char *buf, size_t size,
		     struct hdb_error *err);

/*
 * If a suspect is a group of threads, and the values of one ThreadLocal account for most of the
 * retained size of the threads, that ThreadLocal becomes the owner. Otherwise, or if the dump is
 * not available, *owner does not change.
 */
int query_locals_explain(struct query *q, const struct analysis_suspect *suspect,
			 struct query_leak_owner *owner, struct hdb_error *err);

#endif
