/*
 * queries/leaks/leak_parts.h - the facts that the leaks query reports about one suspect: the path
 * to it, its owner, the objects that accumulate in it, and the thread that holds it.
 *
 * q_leaks.c processes a suspect in this order: query_leak_blame chooses path and owner, then the
 * rows are appended (path, members, children, elements, contents, thread), and leak_held_find reads
 * these rows to describe the held objects in one sentence. Sentences are built only in
 * leak_prose.c.
 *
 * Unless stated otherwise, functions return HDB_OK or a failure, and strings that do not fit are
 * truncated.
 */
#ifndef QUERIES_LEAKS_LEAK_PARTS_H
#define QUERIES_LEAKS_LEAK_PARTS_H

#include "analysis/describe.h"
#include "heap/platform_classes.h"
#include "analysis/suspects.h"
#include "base/base_text.h"
#include "queries/leaks/leak_incident.h"
#include "queries/leaks/leak_rows.h"
#include "queries/leaks/leak_sums.h"
#include "queries/traces/leak_traces.h"

/*
 * Number of steps shown at each end of a path. Paths through linked lists have millions of steps,
 * so the middle of a longer path is omitted.
 */
#define LEAK_PATH_ENDS 24u

/* A shortest path, GC root first. The middle of a long path is omitted. */
struct query_leak_path {
	uint32_t nodes[2 * LEAK_PATH_ENDS];
	size_t count; /* number of nodes */
	/* position of the omitted steps, before nodes[gap_at]; only used if gap is not 0 */
	size_t gap_at;
	uint64_t gap; /* number of omitted steps */
	/* false if the path passes a referent of a weak, soft, phantom or final reference */
	bool is_strong;
	bool is_end_kept; /* set by the caller: the end is only a victim and never to blame */
	/* whether it starts at a local variable of a thread that does not dominate the end */
	bool is_passing;
};

/*
 * Finds the path to ix in the reach tree: of strong references if there is one, otherwise of all
 * references. count is 0 if ix is not reachable.
 */
int query_leak_path_find(struct query *q, uint32_t ix, struct query_leak_path *out,
			 struct hdb_error *err);

/*
 * Finds the references by which step `i` holds the next step. Sets out->count to 0 for the last
 * step, before omitted steps, and if the dump, which has the field names, is not available.
 */
int query_leak_link(struct query *q, const struct query_leak_path *path, size_t i,
		    struct analysis_link *out, struct hdb_error *err);
/*
 * Writes these references as a string such as "entries" or "[12]". The string is empty if there are
 * none.
 */
int query_leak_path_holds(struct query *q, const struct query_leak_path *path, size_t i,
			  struct base_text to, struct hdb_error *err);

/* Appends a row of kind "path" for each step, and one of kind "gap" for omitted steps. */
int query_leak_path_rows(struct query *q, struct leak_rows *rows,
			 const struct query_leak_path *path, struct hdb_error *err);

/*
 * Writes the root kinds of an object, such as "thread object, JNI global", and the name of the
 * thread if names_threads is set. The text is empty if the object is not a root, HEAP_ORPHAN_NAME
 * if it is a root only because the dump is incomplete, and HEAP_STAYS_NAME if it is a class that is
 * never unloaded.
 */
void query_roots_text(struct query *q, uint32_t ix, bool names_threads, struct base_text to);

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
	/* a root only because the dump is incomplete and does not contain its holder */
	LEAK_HOLDER_NOTHING,
	/*
	 * of a thread-local: the ThreadLocal was collected, or only entries of thread maps refer to
	 * it
	 */
	LEAK_HOLDER_GONE,
	LEAK_HOLDER_ENTRIES
};

/* Maximum number of bytes in the name of a field or thread. */
#define LEAK_NAME_MAX_BYTES 512

/* The holder of an object: a reference, and the object and class to which it belongs. */
struct leak_holder {
	enum leak_holder_kind kind;
	unsigned count;                  /* number of fields named in `field` */
	uint32_t ix;                     /* the holding object, or HEAP_NONE */
	const char *class_name;          /* borrowed from the heap */
	char field[LEAK_NAME_MAX_BYTES]; /* field or other reference; for a root, its kinds */
	/*
	 * Name of the thread that has the local variable or the thread-local value. If
	 * is_thread_local is set, the other members describe the holder of the ThreadLocal.
	 */
	char thread[LEAK_NAME_MAX_BYTES];
	/* of a local variable: its object, and its method; "" if unknown or a platform method */
	uint32_t local_ix;
	char frame[LEAK_NAME_MAX_BYTES];
	bool is_thread_local;
	/*
	 * For a thread-local, number of threads with a value; 0 means only the thread in `thread`.
	 * For local variables of several threads, number of threads; `thread` is then the pattern
	 * of their names.
	 */
	uint64_t threads;
};

/*
 * Writes the outermost frame in which a thread has an object as local variable:
 * "com.acme.App.main(App.java:31)". Writes "" if the dump does not record it.
 */
int query_leak_frame(struct heap *heap, uint32_t thread_ix, uint32_t ix, struct base_text to,
		     struct hdb_error *err);

/* Maximum number of owners named for one suspect. */
#define LEAK_OWNERS 3u

/* The owners of a suspect, as facts. leak_prose.c builds the sentence. */
struct query_leak_owner {
	/*
	 * If kind is set, the sentence is "TOP, in LIST": `top` is the field of the object above
	 * which paths differ, or of the last application step, and the listed owners contain it.
	 */
	struct leak_holder top;
	struct leak_holder list[LEAK_OWNERS];
	size_t named;       /* number of entries in the list; 0 means that no owner was found */
	uint64_t more;      /* number of further owners, which are not named */
	bool has_others;    /* whether there may be more owners, because the search stopped early */
	bool is_own_fields; /* the list contains fields of the object at the end of the path */
	/* name of the rule that chose the owners, and its reason; static (leak_holders.c) */
	const char *rule;
	const char *why;
	/*
	 * number of members that it owns in a group, 1 for a single suspect; 0: most members, exact
	 * number unknown
	 */
	uint64_t count;
	/*
	 * Objects that own the suspect, in the order of the list. For a group, set only if a single
	 * object owns its members. Otherwise HEAP_NONE.
	 */
	uint32_t ix[LEAK_OWNERS];
	/* the owner was found through the thread-local value that the members hold */
	bool is_of_members;
	/*
	 * strength of the reference to the suspect if no path is strong: STORE_SOFT, STORE_WEAK,
	 * ...
	 */
	uint8_t strength;
};

/*
 * Finds the step to blame on one path: the last object of an application class, and the field by
 * which it holds the next step. If there is none, uses the ThreadLocal whose value is on the path,
 * a platform class that holds it in a static field, or the thread.
 *
 * If the object at the end is itself to blame, names its fields that retain the most. If it has
 * none and is the whole path, names its root kinds. If suspect_ix is an application object further
 * up the path, the owner becomes "field, in field of suspect"; pass HEAP_NONE to prevent this.
 */
int leak_culprit_find(struct query *q, const struct query_leak_path *path, uint32_t suspect_ix,
		      struct query_leak_owner *out, struct hdb_error *err);

/* Writes the owner as a string such as "com.acme.Cache.entries, in com.acme.App.CACHE (static)". */
int query_leak_culprit(struct query *q, const struct query_leak_path *path, uint32_t suspect_ix,
		       struct base_text to, struct hdb_error *err);

/*
 * Finds the path to a suspect and its owners. The path ends at the accumulation point, or at the
 * suspect if it has none. If several objects hold the suspect, they are ranked by the rules in
 * leak_holders.c, up to LEAK_OWNERS of them are named, and the path leads through the first.
 *
 * For a group, the owner is the most frequent among the nearest owners of its members, if it owns
 * more than half of those examined, and the path is the part that the members' paths share. The
 * caller must zero *path. It does not change if there is no path.
 */
int query_leak_blame(struct query *q, const struct analysis_suspect *suspect,
		     struct query_leak_path *path, struct query_leak_owner *owner,
		     struct hdb_error *err);

/* A suspect and the facts about it. All pointers are borrowed. */
struct query_leak_suspect {
	const struct analysis_suspect *suspect;
	const struct query_leak_path *path;    /* the path to it */
	const struct analysis_leak_sums *sums; /* sums of all suspects */
	size_t no;                             /* index of this suspect in `sums` */
	uint64_t whole_bytes;                  /* size of the heap that counts as 100 % */
	size_t first_row;                      /* index of this suspect's first row in the report */
	const struct query_leak_owner *owner;
	/*
	 * number and kind of the held objects in the words of a rule, such as "12,000 rows"; NULL
	 * if no rule provides them
	 */
	const char *holds;
	uint64_t held; /* the number in `holds` */
	/*
	 * For a group, upper bound of a member's retained size, because larger objects of the class
	 * are suspects themselves. 0 means no bound.
	 */
	uint64_t most_bytes;
	const struct leak_incident *incident; /* incident of a group of threads; otherwise NULL */
};

/* The objects that a suspect holds: their number and total retained size. */
struct leak_held {
	uint64_t count, bytes;
	uint32_t class_no; /* HEAP_NONE: objects of several classes */
	/* length of the array if the suspect holds a single array, otherwise 0 */
	uint64_t length;
	bool is_entries;        /* whether these are entries of a collection, of any class */
	uint32_t collection_ix; /* the collection that contains them, or HEAP_NONE */
	/* words of a rule that describe all of them; NULL if there are none */
	const char *text;
};

/*
 * Determines the objects that a suspect holds. Reads the suspect's other rows, so they must have
 * been added before.
 */
int leak_held_find(struct query *q, const struct leak_rows *rows,
		   const struct query_leak_suspect *about, struct leak_held *out,
		   struct hdb_error *err);

/*
 * Sets the cells "action" and "target" to the query that lists exactly the held objects. Leaves the
 * cells empty if there is no such query, so that the number in the sentence and the rows of the
 * query always agree.
 */
int leak_held_action(struct query *q, struct leak_rows *rows,
		     const struct query_leak_suspect *about, const struct leak_held *held,
		     struct hdb_error *err);

/*
 * Appends rows of kind "child" (what the accumulation point immediately dominates, by class) and of
 * kind "content" (everything the suspect retains, by class). Numbers are exact. Classes beyond the
 * largest few share one row without a class.
 */
int query_leak_children(struct leak_rows *rows, const struct query_leak_suspect *about,
			struct hdb_error *err);
int query_leak_contents(struct leak_rows *rows, const struct query_leak_suspect *about,
			struct hdb_error *err);

/*
 * Appends rows of kind "element": the objects that the children contain, by class. A platform
 * object such as a map entry is replaced with the few objects it dominates if they retain most of
 * its size, repeatedly. If there are very many children, a sample represents all of them, and the
 * rows state this and the error.
 */
int query_leak_elements(struct query *q, struct leak_rows *rows,
			const struct query_leak_suspect *about, struct hdb_error *err);

/*
 * Appends rows of kinds "thread", "frame" and "local" if the path begins at a thread: the thread,
 * its stack, and the relevant local variables. These are the variable on the path or, if there is
 * none, the variables that the thread dominates and that retain more than a tenth of the suspect.
 */
int query_leak_thread(struct query *q, struct leak_rows *rows,
		      const struct query_leak_suspect *about, struct hdb_error *err);

/*
 * Appends one row per group of leaking objects, beginning with the one that retains the most: kind
 * "leaking" and, unless the rows are brief, its path as rows of kind "trace". If is_library is set,
 * appends groups that are a library's fault instead (kind "library"), and unreachable leaking
 * objects (kind "unreachable"). The number of each group is rows->part, which is then incremented.
 */
int query_leaking_rows(struct leak_traces *traces, struct leak_rows *rows, bool is_library,
		       struct hdb_error *err);

#endif
