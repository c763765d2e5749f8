/*
 * queries/leaks/thread_locals.h - thread-local values, added up over threads.
 *
 * A pool spreads a leak: little in each thread, much in all of them. What an entry of a thread's
 * map retains counts for its ThreadLocal, and for the class of its value, as a ThreadLocal may be
 * made anew for each use.
 */
#ifndef QUERIES_LEAKS_THREAD_LOCALS_H
#define QUERIES_LEAKS_THREAD_LOCALS_H

#include "queries/leaks/leak_parts.h"

/* What one thread keeps by one ThreadLocal. */
struct query_local {
	uint32_t key_ix;      /* the ThreadLocal, HEAP_NONE if it is gone */
	uint32_t value_class; /* HEAP_NONE: null */
	uint32_t entry_ix;
	uint64_t bytes; /* that the entry retains */
};

/* Reads an entry of a thread's map: HDB_NOTFOUND unless one thread has it for itself. */
int query_local_read(struct query *q, uint32_t entry_ix, struct query_local *out,
		     struct hdb_error *err);

/* The values of one ThreadLocal, or of one class. */
struct query_local_run {
	const struct query_local *from, *largest; /* lent by the list */
	uint64_t count, keys, bytes;              /* count 0: there is none */
};

/*
 * Sorts a list of struct query_local and finds the ThreadLocal (else class) whose values retain
 * most.
 */
struct query_local_run query_locals_find(struct base_vec *locals, bool is_by_key);

/* Who has a ThreadLocal (HEAP_NONE: it is gone): "com.acme.Context.CURRENT (static)". */
int query_local_holder(struct query *q, uint32_t key_ix, struct leak_holder *out,
		       struct hdb_error *err);
int query_local_name(struct query *q, uint32_t key_ix, char *buf, size_t size,
		     struct hdb_error *err);

/*
 * Of a suspect that is a group of threads: the ThreadLocal whose values are most of what they
 * retain becomes the owner, of so many threads. Else *owner stays as it is.
 */
int query_locals_explain(struct query *q, const struct analysis_suspect *suspect,
			 struct query_leak_owner *owner, struct hdb_error *err);

#endif
