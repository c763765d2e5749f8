/*
 * queries/leaks/leak_prose.h - builds the sentences about leaks for all clients: terminal,
 * Markdown, page, MCP and JSON.
 *
 * Each leak_say_* function takes facts, and sets both the text cells of a row and the cells for
 * programs, so that no program has to parse a sentence. The functions return HDB_OK, or a failure
 * if memory runs out or the database cannot be read.
 */
#ifndef QUERIES_LEAKS_LEAK_PROSE_H
#define QUERIES_LEAKS_LEAK_PROSE_H

#include "queries/explain/rules.h"
#include "queries/leaks/leak_parts.h"

/* Maximum size of a sentence. Longer ones are truncated. */
#define LEAK_TEXT_MAX_BYTES 4096

/* Appends a string without the packages of class names. Quoted parts stay unchanged. */
void query_leak_add_short(struct base_text to, const char *text);

/*
 * Appends the name of a holder: "com.acme.Cache.entries (static)", "a local variable of thread
 * "main"", ...
 */
void leak_holder_text(const struct leak_holder *holder, struct base_text to);

/* Writes all owners: "a.A.x (static), a.B.y and 2 more", or "" if there are none. */
void leak_owner_text(const struct query_leak_owner *owner, struct base_text to);
/* Returns whether a sentence that begins with this text needs a plural verb. */
bool leak_owner_is_several(const struct query_leak_owner *owner);

/*
 * Writes the first sentence about a suspect: owner, field, number of objects, class, average size
 * and share of the heap. Also sets the columns for the owner and the held objects.
 */
int leak_say_suspect(struct query *q, struct leak_rows *rows,
		     const struct query_leak_suspect *about, const struct leak_held *held,
		     struct hdb_error *err);

/*
 * Returns whether two short sentences about suspects are equal apart from numbers in thread names
 * and average sizes: 'of thread "pool-1-thread-7" holds 800 Order (91 B each)'.
 */
bool leak_is_same(const char *a, const char *b);

/*
 * Writes the text and the verdict of a rule. `more` is the number of other objects with the same
 * fault.
 */
int leak_say_verdict(struct leak_rows *rows, struct leak_row *row,
		     const struct explain_answer *answer, uint64_t more, struct hdb_error *err);

/*
 * Appends " Kept by Registry.loaders." to the text of a rule, or " Kept by thread "t", a timer that
 * was not cancelled." if there is a hint.
 */
void leak_say_keeper(struct explain_answer *answer, const struct query_leak_owner *keeper,
		     const char *hint);

/*
 * Writes the root kinds of the first step of a path. is_passing states that the path starts at a
 * local variable that does not hold the suspect.
 */
int leak_say_root(struct leak_rows *rows, struct leak_row *row, const char *roots, bool is_passing,
		  struct hdb_error *err);

/* Writes how a step holds the next step: the reference, with its name and kind. */
int leak_say_link(struct leak_rows *rows, struct leak_row *row, const struct analysis_link *link,
		  struct hdb_error *err);

/* Writes one step of a leak trace in LeakCanary's terms. */
int leak_say_step(struct leak_rows *rows, struct leak_row *row, const struct leak_steps *steps,
		  const struct leak_step *step, struct hdb_error *err);

struct leak_leaking {
	const char *reason;  /* why the object is leaking */
	const char *library; /* the library at fault, or "" */
	uint64_t objects;    /* number of objects that it retains */
};

/* Writes the sentences about a leaking object. */
int leak_say_leaking(struct leak_rows *rows, struct leak_row *row,
		     const struct leak_leaking *leaking, struct hdb_error *err);

/* Writes that the suspects with these numbers may have the same cause. */
int leak_say_common(struct leak_rows *rows, struct leak_row *row, const uint64_t *parts,
		    size_t count, struct hdb_error *err);

#endif
