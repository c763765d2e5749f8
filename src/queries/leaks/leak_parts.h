/*
 * queries/leaks/leak_parts.h - what is told about a leak suspect: the path, who holds it, what
 * accumulates, the thread.
 */
#ifndef QUERIES_LEAKS_LEAK_PARTS_H
#define QUERIES_LEAKS_LEAK_PARTS_H

#include "analysis/leak_sums.h"
#include "heap/platform_classes.h"
#include "analysis/suspects.h"
#include "base/base_text.h"
#include "query/report_rows.h"

/* Steps of a path that are shown, half at each end; lists make paths of millions. */
#define LEAK_PATH_ENDS 24u

/* A shortest path, root first; the middle of a long one is left out. */
struct query_leak_path {
	uint32_t nodes[2 * LEAK_PATH_ENDS];
	size_t count;     /* of them */
	size_t gap_at;    /* before this one some are left out, if any are */
	uint64_t gap;     /* how many */
	bool is_strong;   /* false: through referents of weak, soft, phantom or final references */
	bool is_end_kept; /* the caller sets it: the end is what is kept, never who is to blame */
	bool is_passing;  /* it begins at a local of a thread, which does not hold the end */
};

/* The path to ix, off the reach tree: count 0 if no root reaches it. */
int query_leak_path_find(struct query *q, uint32_t ix, struct query_leak_path *out,
			 struct hdb_error *err);

/* The field by which step `i` of a path holds the next one, or "" (last step, gap, no dump). */
int query_leak_path_holds(struct query *q, const struct query_leak_path *path, size_t i,
			  struct base_text to, struct hdb_error *err);

/* Appends its rows, of kind "path". */
int query_leak_path_rows(struct query *q, struct query_report *report,
			 const struct query_leak_path *path, struct hdb_error *err);

/* The root kinds of an object, "thread object, JNI global". */
void query_leak_roots(struct query *q, uint32_t ix, char *buf, size_t size);

/*
 * Who is to blame, in a few words: of the path's objects the last one of a class that is not the
 * platform's and holds the next, and the field by which it does: "com.acme.Cache.entries (static)";
 * else the ThreadLocal whose value is on the path, the platform's class that holds it in a static
 * field, or the thread. If `suspect_ix` is further up on the path and not the platform's:
 * "com.acme.Cache.entries, in com.acme.App.CACHE (static)". HEAP_NONE: nothing is added. If the end
 * of the path is to blame itself, its fields that keep most are named; if it is all of the path and
 * has none, the kind of root that it is.
 */
int query_leak_culprit(struct query *q, const struct query_leak_path *path, uint32_t suspect_ix,
		       struct base_text to, struct hdb_error *err);

/* Owners of one suspect that are named. */
#define LEAK_OWNERS 3u

/* Who owns a suspect. */
struct query_leak_owner {
	char name[4096]; /* "com.acme.Cache.entries (static)"; "": nobody is found */
	uint64_t count;  /* of a group: members that it owns; 0: most of them */
	/* the objects that are named, of a group the only one; HEAP_NONE */
	uint32_t ix[LEAK_OWNERS];
	bool is_of_members; /* by what the members hold: a thread-local of theirs */
};

/*
 * The path to a suspect and who is to blame for it. Where several hold it, all are named, static
 * fields before local variables ("com.acme.App.CACHE (static) and a local variable of thread
 * "main""), and the path is the first one's. It ends where memory accumulates, or at the suspect.
 * Of a group the owner is the commonest among the nearest owners of its members, if it is that of
 * most; the path is what their paths have in common.
 */
int query_leak_blame(struct query *q, const struct analysis_suspect *suspect,
		     struct query_leak_path *path, struct query_leak_owner *owner,
		     struct hdb_error *err);

/* A suspect, and what is known of it; all is lent. */
struct query_leak_suspect {
	const struct analysis_suspect *suspect;
	const struct query_leak_path *path;    /* that leads to it */
	const struct analysis_leak_sums *sums; /* of all suspects */
	size_t no;                             /* its place in them */
	uint64_t whole_bytes;                  /* 100 % */
	size_t first_row;                      /* of the report: where its rows begin */
	const struct query_leak_owner *owner;
	const char *holds; /* what a rule says that it holds, "12,000 rows"; NULL: none does */
	uint64_t held;     /* how many */
};

/*
 * The first sentence on a suspect whose other rows are there: owner, field, number, what, size of
 * each, share.
 */
int query_leak_sentence(struct query *q, const struct query_report *report,
			const struct query_leak_suspect *about, struct base_text to,
			struct hdb_error *err);

/* Appends a text with the names of classes in it without their packages; not those in quotes. */
void query_leak_add_short(struct base_text to, const char *text);

/*
 * Kind "child": what the accumulation point dominates immediately, by class. Kind "content": all
 * that the suspect retains, by class. Exact; classes that are not listed have one row together,
 * with no class.
 */
int query_leak_children(struct query_report *report, const struct query_leak_suspect *about,
			struct hdb_error *err);
int query_leak_contents(struct query_report *report, const struct query_leak_suspect *about,
			struct hdb_error *err);

/*
 * Kind "element": by class, what these children hold in the end. A child that is the platform's,
 * like an entry of a map, stands for the few objects that it dominates if they keep most of it, and
 * so on. Of very many such children some are chosen by chance and stand for all, which the rows
 * say, with the error that this may make.
 */
int query_leak_elements(struct query *q, struct query_report *report,
			const struct query_leak_suspect *about, struct hdb_error *err);

/*
 * Kinds "thread", "frame" and "local": if the path begins at a thread, that thread, its stack and
 * the locals that matter, those on the path or else those that it dominates with more than a tenth
 * of the suspect's retained size.
 */
int query_leak_thread(struct query *q, struct query_report *report,
		      const struct query_leak_suspect *about, struct hdb_error *err);

#endif
