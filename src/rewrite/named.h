/*
 * rewrite/named.h - finds the strings of a dump that are names of classes, fields, methods,
 * signatures, source files, threads, thread groups or heaps.
 *
 * HotSpot writes its whole symbol table, including every string literal of the program. Literals
 * may be secret, so strip and redact write only names.
 */
#ifndef REWRITE_NAMED_H
#define REWRITE_NAMED_H

#include "base/idmap.h"
#include "rewrite/rewriter.h"

/* Zero-initialise, then set w. */
struct rewrite_named {
	struct rewriter *w;    /* borrowed */
	struct base_idmap ids; /* a set: string ID to 0 */
};

/*
 * Collects the names that an event of rewriter_survey uses. `ctx` is a struct rewrite_named. The
 * survey must finish before any record is written, because a string may precede the record that
 * refers to it.
 */
int rewrite_named_take(void *ctx, const struct hprof_walk *walk, enum hprof_event event,
		       struct hdb_error *err);
void rewrite_named_release(struct rewrite_named *named);

/*
 * Sets *out to whether to keep the record. Dropped are records with unknown tags, and strings that
 * are neither names nor heapdb's own markers. Shortens *rec if bytes follow the fields of its tag,
 * because these bytes may be anything.
 */
int rewrite_named_stays(const struct rewrite_named *named, struct hprof_record *rec, bool *out,
			struct hdb_error *err);

#endif
