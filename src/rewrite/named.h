/*
 * rewrite/named.h - which texts of a dump are names: a class, field, method, signature, source
 * file, thread, thread group or heap refers to them.
 *
 * HotSpot writes its whole symbol table, with every string literal of the program. What strip and
 * redact write has only the texts that something in it refers to.
 */
#ifndef REWRITE_NAMED_H
#define REWRITE_NAMED_H

#include "base/idmap.h"
#include "rewrite/rewriter.h"

/* Zero-initialise and set w. */
struct rewrite_named {
	struct rewriter *w;    /* lent */
	struct base_idmap ids; /* string IDs; each has 0 */
};

/*
 * Notes what an event of a survey (rewriter_survey) refers to; `ctx` is a struct rewrite_named. A
 * text may come before or after what refers to it, so the survey must have ended before any
 * record is written.
 */
int rewrite_named_take(void *ctx, const struct hprof_walk *walk, enum hprof_event event,
		       struct hdb_error *err);
void rewrite_named_release(struct rewrite_named *named);

/*
 * *out is false if the record is left out of the output: a text that is no name and none of
 * heapdb's own markers, or a record of unknown tag.
 */
int rewrite_named_stays(const struct rewrite_named *named, const struct hprof_record *rec,
			bool *out, struct hdb_error *err);

#endif
