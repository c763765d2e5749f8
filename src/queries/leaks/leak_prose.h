/*
 * queries/leaks/leak_prose.h - the sentences on leaks, for all doors: the terminal, Markdown, the
 * page, MCP and JSON. Each function takes facts and fills in the texts of a row, beside the cells
 * that programs read; nobody has to read a sentence again.
 */
#ifndef QUERIES_LEAKS_LEAK_PROSE_H
#define QUERIES_LEAKS_LEAK_PROSE_H

#include "queries/explain/rules.h"
#include "queries/leaks/leak_parts.h"
#include "queries/traces/leak_traces.h"

/* A sentence of a leak. */
#define LEAK_TEXT_MAX_BYTES 4096

/* Appends a text with the names of classes in it without their packages; not those in quotes. */
void query_leak_add_short(struct base_text to, const char *text);

/* Appends a holder: "com.acme.Cache.entries (static)", "a local variable of thread "main"", ... */
void leak_holder_text(const struct leak_holder *holder, struct base_text to);

/* Writes all owners: "a.A.x (static), a.B.y and 2 more"; "" if there are none. */
void leak_owner_text(const struct query_leak_owner *owner, struct base_text to);

/* The first sentence on a suspect: owner, field, number, what, size of each, share. */
int leak_say_suspect(struct query *q, struct leak_rows *rows, struct leak_row *row,
		     const struct query_leak_suspect *about, const struct leak_held *held,
		     struct hdb_error *err);

/* What a rule says and how bad that is; `more` others are like it. */
int leak_say_verdict(struct leak_rows *rows, struct leak_row *row,
		     const struct explain_answer *answer, uint64_t more, struct hdb_error *err);

/* Appends to what a rule says " Kept by Registry.loaders." */
void leak_say_keeper(struct explain_answer *answer, const struct leak_holder *keeper);

/* The first step of a path: the kinds of root that it is. */
int leak_say_root(struct leak_rows *rows, struct leak_row *row, const char *roots, bool is_passing,
		  struct hdb_error *err);

/* How a step holds the next one, as cells. */
int leak_say_link(struct leak_rows *rows, struct leak_row *row, const struct analysis_link *link,
		  struct hdb_error *err);

/* A step of a trace, in LeakCanary's words. */
int leak_say_step(struct leak_rows *rows, struct leak_row *row, const struct leak_steps *steps,
		  const struct leak_step *step, struct hdb_error *err);

/* A leaking object: why, which library is at fault ("": none), what it retains. */
int leak_say_leaking(struct leak_rows *rows, struct leak_row *row, const char *reason,
		     const char *library, uint64_t objects, struct hdb_error *err);

/* The suspects of these numbers may be one leak. */
int leak_say_common(struct leak_rows *rows, struct leak_row *row, const uint64_t *parts,
		    size_t count, struct hdb_error *err);

#endif
