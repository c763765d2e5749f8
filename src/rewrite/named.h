/*
 * rewrite/named.h - finds the strings of a dump that are names of classes, fields, methods,
 * signatures, source files, threads, thread groups or heaps.
 *
 * HotSpot writes its whole symbol table, which includes every string literal of the program. Such
 * strings may be secret, so strip and redact write only the names.
 */
#ifndef REWRITE_NAMED_H
#define REWRITE_NAMED_H

#include "base/idmap.h"
#include "rewrite/rewriter.h"

/* The names of a dump. The caller must zero-initialise the structure and set w. */
struct rewrite_named {
	struct rewriter *w;    /* borrowed */
	struct base_idmap ids; /* a set: string ID to 0 */
};

/*
 * Collects the names to which an event of rewriter_survey refers. `ctx` is a struct rewrite_named.
 * A string may come before or after the record that refers to it, so the survey must be complete
 * before any record is written.
 */
int rewrite_named_take(void *ctx, const struct hprof_walk *walk, enum hprof_event event,
		       struct hdb_error *err);
void rewrite_named_release(struct rewrite_named *named);

/*
 * Sets *out to false if the record is to be dropped, because it is a string that is neither a name
 * nor one of heapdb's own markers, or because it has an unknown tag.
 */
int rewrite_named_stays(const struct rewrite_named *named, const struct hprof_record *rec,
			bool *out, struct hdb_error *err);

#endif
