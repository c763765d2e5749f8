/*
 * rewrite/named.h - which strings of a dump are names, i.e. are referred to by a class, field,
 * method, signature, source file, thread, thread group or heap.
 *
 * HotSpot writes its whole symbol table, which includes every string literal of the program. Such
 * strings may be secret, so strip and redact write only the names.
 */
#ifndef REWRITE_NAMED_H
#define REWRITE_NAMED_H

#include "base/idmap.h"
#include "rewrite/rewriter.h"

/* Zero-initialise and set w. */
struct rewrite_named {
	struct rewriter *w;    /* lent */
	struct base_idmap ids; /* string ID -> 0: a set */
};

/*
 * Notes the names that an event of rewriter_survey refers to; `ctx` is a struct rewrite_named. A
 * string may come before or after the record that refers to it, so complete the survey before
 * writing any record.
 */
int rewrite_named_take(void *ctx, const struct hprof_walk *walk, enum hprof_event event,
		       struct hdb_error *err);
void rewrite_named_release(struct rewrite_named *named);

/*
 * *out is false if the record is to be dropped: a string that is neither a name nor one of heapdb's
 * own markers, or a record with an unknown tag.
 */
int rewrite_named_stays(const struct rewrite_named *named, const struct hprof_record *rec,
			bool *out, struct hdb_error *err);

#endif
