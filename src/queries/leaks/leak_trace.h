/*
 * queries/leaks/leak_trace.h - the path that keeps an object which should be gone, and which of its
 * references are suspect.
 */
#ifndef QUERIES_LEAKS_LEAK_TRACE_H
#define QUERIES_LEAKS_LEAK_TRACE_H

#include "queries/leaks/leak_parts.h"
#include "queries/leaks/library_leaks.h"
#include "queries/leaks/object_rules.h"

#define LEAK_SUSPECT_BYTES 256

struct query_leak_trace {
	struct query_leak_path path;
	const char *reason; /* why it should be gone; static */
	const char *reasons
		[2 *
		 LEAK_PATH_ENDS]; /* by step: why it is there, or should be gone; static, NULL */
	size_t there_count;       /* so many steps are rightly there */
	size_t first_gone;        /* from this one on all should be gone */
	size_t first_suspect;     /* references from here to first_gone are suspect */
	char suspect
		[LEAK_SUSPECT_BYTES]; /* the first of them, "com.acme.Bus.listeners"; "": none */
	uint64_t signature; /* XXH3 of the suspect references' names, or of the library's */
	const struct library_rule *library; /* whose fault it is known to be; NULL */
	bool is_other_path;                 /* the shortest one goes through what is known */
	bool is_hanging;                    /* another one that should be gone keeps it */
};

struct query_leak_tracer {
	struct object_judge *judge;
	struct library_leaks library;
	/*
	 * the heap without what libraries are known to leak, without what is ignored; made when
	 * first needed
	 */
	struct base_big trees[2];
};

/* Prepares; the judge is lent. Release it in any case, also if it is only zeros. */
int query_leak_tracer_init(struct query_leak_tracer *tracer, struct object_judge *judge,
			   struct hdb_error *err);
void query_leak_tracer_release(struct query_leak_tracer *tracer);

/* Traces one: HDB_OK, HDB_NOTFOUND if only ignored references lead to it, or a failure. */
int query_leak_trace(struct query_leak_tracer *tracer, uint32_t ix, const char *reason,
		     struct query_leak_trace *out, struct hdb_error *err);

#endif
