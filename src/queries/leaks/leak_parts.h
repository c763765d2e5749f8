/*
 * queries/leaks/leak_parts.h - what is told about a leak suspect: the path, who holds it, what
 * accumulates, the thread.
 */
#ifndef QUERIES_LEAKS_LEAK_PARTS_H
#define QUERIES_LEAKS_LEAK_PARTS_H

#include "analysis/describe.h"
#include "heap/platform_classes.h"
#include "analysis/suspects.h"
#include "base/base_text.h"
#include "queries/leaks/leak_rows.h"
#include "queries/leaks/leak_sums.h"

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

/* How step `i` of a path holds the next one; count 0: last step, gap, no dump. */
int query_leak_link(struct query *q, const struct query_leak_path *path, size_t i,
		    struct analysis_link *out, struct hdb_error *err);
/* The same as a text, or "". */
int query_leak_path_holds(struct query *q, const struct query_leak_path *path, size_t i,
			  struct base_text to, struct hdb_error *err);

/* Appends its rows, of kind "path". */
int query_leak_path_rows(struct query *q, struct leak_rows *rows,
			 const struct query_leak_path *path, struct hdb_error *err);

/* The root kinds of an object, "thread object, JNI global". */
void query_leak_roots(struct query *q, uint32_t ix, char *buf, size_t size);

/* ---- who holds ---- */

enum leak_holder_kind {
	LEAK_HOLDER_NONE,
	LEAK_HOLDER_STATIC,
	LEAK_HOLDER_FIELD,
	LEAK_HOLDER_LOCAL, /* a local variable of a thread */
	LEAK_HOLDER_THREAD,
	LEAK_HOLDER_CLASS,
	LEAK_HOLDER_OBJECT,
	LEAK_HOLDER_ROOT,
	LEAK_HOLDER_NOTHING, /* an incomplete dump lacks it */
	/* a ThreadLocal is gone, or only entries of threads' maps refer to it */
	LEAK_HOLDER_GONE,
	LEAK_HOLDER_ENTRIES
};

/* Bytes of a field's name, of a thread's. */
#define LEAK_NAME_MAX_BYTES 512

struct leak_holder {
	enum leak_holder_kind kind;
	unsigned count;                  /* fields that `field` names */
	uint32_t ix;                     /* the object; HEAP_NONE */
	const char *class_name;          /* lent by the heap */
	char field[LEAK_NAME_MAX_BYTES]; /* or other reference, kinds of root */
	/* a local variable's thread; of a thread-local: this is who holds the ThreadLocal */
	char thread[LEAK_NAME_MAX_BYTES];
	bool is_thread_local;
	uint64_t threads; /* of a thread-local: of so many; 0: of `thread` */
};

/* Owners of one suspect that are named. */
#define LEAK_OWNERS 3u

/* Who owns a suspect: all is facts; leak_prose.c names them. */
struct query_leak_owner {
	/* what it is in: "top, in list"; the field of the topmost object, or of the last one */
	struct leak_holder top;
	struct leak_holder list[LEAK_OWNERS];
	size_t named;       /* of the list; 0: nobody is found */
	uint64_t more;      /* that are not named */
	bool has_others;    /* not all were looked at */
	bool is_own_fields; /* the list is fields of the end of the path */
	const char *rule;   /* that chose them, and its reason (leak_holders.c); static */
	const char *why;
	uint64_t count; /* of a group: members that it owns; 0: most of them */
	/* the objects that are named, of a group the only one; HEAP_NONE */
	uint32_t ix[LEAK_OWNERS];
	bool is_of_members; /* by what the members hold: a thread-local of theirs */
};

/*
 * Who is to blame on a path: of its objects the last one of a class that is not the platform's and
 * holds the next, and the field by which it does; else the ThreadLocal whose value is on the path,
 * the platform's class that holds it in a static field, or the thread. If `suspect_ix` is further
 * up on the path and not the platform's, the field is in that; HEAP_NONE: nothing is added. If the
 * end of the path is to blame itself, its fields that keep most are named; if it is all of the path
 * and has none, the kind of root that it is.
 */
int leak_culprit_find(struct query *q, const struct query_leak_path *path, uint32_t suspect_ix,
		      struct query_leak_owner *out, struct hdb_error *err);

/* The same as a text: "com.acme.Cache.entries, in com.acme.App.CACHE (static)". */
int query_leak_culprit(struct query *q, const struct query_leak_path *path, uint32_t suspect_ix,
		       struct base_text to, struct hdb_error *err);

/*
 * The path to a suspect and who is to blame for it. Where several hold it, all are named, static
 * fields before local variables, and the path is the first one's. It ends where memory accumulates,
 * or at the suspect. Of a group the owner is the commonest among the nearest owners of its members,
 * if it is that of most; the path is what their paths have in common.
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
	/* of a group: members retain this at most, as larger ones are suspects of their own; 0 */
	uint64_t most_bytes;
};

/* What is held: so many objects of a class, which retain so much together. */
struct leak_held {
	uint64_t count, bytes;
	uint32_t class_no;      /* HEAP_NONE: of many classes */
	uint64_t length;        /* of an array that is all; 0: it is none */
	bool is_entries;        /* of a collection, whatever their class is */
	uint32_t collection_ix; /* whose entries they are; HEAP_NONE */
	const char *text;       /* what a rule calls all of them; NULL: nothing */
};

/* What a suspect holds, whose other rows are there. */
int leak_held_find(struct query *q, const struct leak_rows *rows,
		   const struct query_leak_suspect *about, struct leak_held *out,
		   struct hdb_error *err);

/*
 * Sets the cells "action" and "target": the query that lists exactly the objects that are held;
 * none if no query does.
 */
int leak_held_action(struct query *q, struct leak_rows *rows, struct leak_row *row,
		     const struct query_leak_suspect *about, const struct leak_held *held,
		     struct hdb_error *err);

/*
 * Kind "child": what the accumulation point dominates immediately, by class. Kind "content": all
 * that the suspect retains, by class. Exact; classes that are not listed have one row together,
 * with no class.
 */
int query_leak_children(struct leak_rows *rows, const struct query_leak_suspect *about,
			struct hdb_error *err);
int query_leak_contents(struct leak_rows *rows, const struct query_leak_suspect *about,
			struct hdb_error *err);

/*
 * Kind "element": by class, what these children hold in the end. A child that is the platform's,
 * like an entry of a map, stands for the few objects that it dominates if they keep most of it, and
 * so on. Of very many such children some are chosen by chance and stand for all, which the rows
 * say, with the error that this may make.
 */
int query_leak_elements(struct query *q, struct leak_rows *rows,
			const struct query_leak_suspect *about, struct hdb_error *err);

/*
 * Kinds "thread", "frame" and "local": if the path begins at a thread, that thread, its stack and
 * the locals that matter, those on the path or else those that it dominates with more than a tenth
 * of the suspect's retained size.
 */
int query_leak_thread(struct query *q, struct leak_rows *rows,
		      const struct query_leak_suspect *about, struct hdb_error *err);

#endif
