/*
 * queries/leaks/leak_parts.h - finds the facts that the leaks query reports about a suspect: the
 * path to it, its owner, the objects that accumulate in it, and the thread that holds it.
 *
 * q_leaks.c processes a suspect in this order: query_leak_blame chooses the path and the owner;
 * then rows are appended (path, members, children, elements, contents, thread); then leak_held_find
 * reads these rows to describe the held objects in one sentence. Sentences are built only in
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
 * Number of steps shown at each end of a path. A path through a linked list has millions of steps,
 * so the middle is omitted.
 */
#define LEAK_PATH_ENDS 24u

/* A shortest path, from the GC root, without the middle of a long path. */
struct query_leak_path {
	uint32_t nodes[2 * LEAK_PATH_ENDS];
	size_t count; /* number of nodes */
	/* index of the node after the omitted steps; meaningless if gap is 0 */
	size_t gap_at;
	uint64_t gap; /* number of omitted steps */
	/* whether the path has only strong references */
	bool is_strong;
	/* set by the caller if the end is a victim of the leak and must not be blamed */
	bool is_end_kept;
	/* whether the path starts at a local variable of a thread that does not dominate the end */
	bool is_passing;
	/* split_bytes and retained_bytes of a suspect that is the rest of a class; otherwise 0 */
	uint64_t split_bytes, rest_bytes;
};

/*
 * Finds the path to ix in the reach tree, through strong references only if there is such a path.
 * Sets count to 0 if ix is unreachable.
 */
int query_leak_path_find(struct query *q, uint32_t ix, struct query_leak_path *out,
			 struct hdb_error *err);

/*
 * Finds the references through which step `i` holds the next step. Sets out->count to 0 for the
 * last step, for a step that omitted steps follow, and if the dump, which has the field names, is
 * not available.
 */
int query_leak_link(struct query *q, const struct query_leak_path *path, size_t i,
		    struct analysis_link *out, struct hdb_error *err);
/*
 * Writes the references through which step `i` holds the next step, such as "entries" or "[12]", or
 * "" if there are none.
 */
int query_leak_path_holds(struct query *q, const struct query_leak_path *path, size_t i,
			  struct base_text to, struct hdb_error *err);

/* Appends a row of kind "path" for each step, and one of kind "gap" for omitted steps. */
int query_leak_path_rows(struct query *q, struct leak_rows *rows,
			 const struct query_leak_path *path, struct hdb_error *err);

/*
 * Writes the root kinds of an object, such as "thread object, JNI global", and, if names_threads is
 * set, the name of the thread. Writes "" if the object is not a root, HEAP_ORPHAN_NAME if it is one
 * only because the dump is incomplete, and HEAP_STAYS_NAME for a class that is never unloaded.
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
	/* a root only because the incomplete dump lacks its holder */
	LEAK_HOLDER_NOTHING,
	/*
	 * a thread-local whose ThreadLocal was collected, or is referenced only by entries of
	 * thread maps (LEAK_HOLDER_ENTRIES)
	 */
	LEAK_HOLDER_GONE,
	LEAK_HOLDER_ENTRIES
};

/* Maximum size of the name of a field or thread. */
#define LEAK_NAME_MAX_BYTES 512

/* Number of threads if there are more than were counted. */
#define LEAK_THREADS_MANY UINT64_MAX

/* The holder of an object: a reference, and the object and class that contain the reference. */
struct leak_holder {
	enum leak_holder_kind kind;
	unsigned count;         /* number of fields named in `field` */
	uint32_t ix;            /* the holding object, or HEAP_NONE */
	const char *class_name; /* borrowed from the heap */
	/* name of the field or other reference, or the kinds of a GC root */
	char field[LEAK_NAME_MAX_BYTES];
	/*
	 * name of the thread with the local variable or thread-local value; if is_thread_local is
	 * set, all other members describe the holder of the ThreadLocal
	 */
	char thread[LEAK_NAME_MAX_BYTES];
	/*
	 * object and method of a local variable; the method is "" if unknown or in a platform class
	 */
	uint32_t local_ix;
	char frame[LEAK_NAME_MAX_BYTES];
	bool is_thread_local;
	uint32_t key_ix; /* of a thread-local: the ThreadLocal */
	/*
	 * for a thread-local, the number of threads with a value, or 0 if only `thread` has one;
	 * for local variables of several threads, their number, and `thread` is the pattern of
	 * their names
	 */
	uint64_t threads;
};

/*
 * Writes the outermost frame with an object in a local variable: "com.acme.App.main(App.java:31)",
 * or "" if the dump does not record it.
 */
int query_leak_frame(struct heap *heap, uint32_t thread_ix, uint32_t ix, struct base_text to,
		     struct hdb_error *err);

/* Maximum number of owners named for one suspect. */
#define LEAK_OWNERS 3u

/* The owners of a suspect: the facts from which leak_prose.c builds the sentence. */
struct query_leak_owner {
	/*
	 * If kind is set, the sentence begins with "TOP, in LIST". `top` is the field of the object
	 * above which several paths exist, or of the last application step; the owners in the list
	 * contain that object.
	 */
	struct leak_holder top;
	struct leak_holder list[LEAK_OWNERS];
	size_t named;    /* number of entries in the list; 0 means that no owner was found */
	uint64_t more;   /* number of further owners */
	bool has_others; /* whether there may be more owners, because the search stopped early */
	/* rule that chose the owners, and its reason; static strings in leak_holders.c */
	const char *rule;
	const char *why;
	/*
	 * number of group members that the first owner owns; 1 for a single suspect; 0 for most
	 * members, if the exact number is unknown
	 */
	uint64_t count;
	/*
	 * Objects that own the suspect, in the order of the list. For a group, HEAP_NONE unless the
	 * object is the only owner of the members.
	 */
	uint32_t ix[LEAK_OWNERS];
	/* whether the owner is a ThreadLocal whose values the members hold */
	bool is_of_members;
	/*
	 * strength of the reference to the suspect (STORE_SOFT, STORE_WEAK, ...) if no path is
	 * strong
	 */
	uint8_t strength;
};

/*
 * Finds the step to blame on a path: the last object of an application class, and the field through
 * which it holds the next step. If no step has such an object, the step is the ThreadLocal whose
 * value is on the path, a platform class that holds the next step in a static field, or the thread.
 *
 * If the object at the end is itself to blame, names its fields that retain the most. If no field
 * retains anything and the path has only this object, names the root kinds. If suspect_ix is an
 * application object further up the path, the owner becomes "field, in field of suspect"; HEAP_NONE
 * prevents this.
 */
int leak_culprit_find(struct query *q, const struct query_leak_path *path, uint32_t suspect_ix,
		      struct query_leak_owner *out, struct hdb_error *err);

/*
 * If the only owner is a field, and its object is reached from a static field of another
 * application class, names that static field too: "Cache.entries, in App.CACHE (static)". If the
 * owner is a field of a library, any field of the application above it is named.
 */
int leak_add_static(struct query *q, const struct query_leak_path *path,
		    struct query_leak_owner *out, struct hdb_error *err);

/*
 * If the owner is a field of a library and exactly one object of the application refers to it or
 * to the library's objects above it, names the field of that object. Takes passes over all
 * references.
 */
int leak_add_user(struct query *q, struct query_leak_owner *out, struct hdb_error *err);

/*
 * Like leak_culprit_find, but if the step to blame is an element of a collection, the owner is the
 * holder of the collection, and *element_ix is the element; otherwise *element_ix is HEAP_NONE.
 * Also names the static field.
 */
int leak_collection_owner(struct query *q, const struct query_leak_path *path,
			  struct query_leak_owner *out, uint32_t *element_ix,
			  struct hdb_error *err);

/* Writes the owner as a string such as "com.acme.Cache.entries, in com.acme.App.CACHE (static)". */
int query_leak_culprit(struct query *q, const struct query_leak_path *path, uint32_t suspect_ix,
		       struct base_text to, struct hdb_error *err);

/* Announces that query_leak_blame will be called for the suspect. */
int query_leak_expect(struct query *q, const struct analysis_suspect *suspect,
		      struct hdb_error *err);

/*
 * Finds the path to a suspect and its owners. The path ends at the accumulation point, or at the
 * suspect if it has none. If several objects hold the suspect, the rules in leak_holders.c rank
 * them; up to LEAK_OWNERS of them are named, and the path leads through the first.
 *
 * The owner of a group is the most frequent of the nearest owners of the members, if it owns more
 * than half of those examined; the path is then the common part of the paths to the members. The
 * caller must zero *path, which does not change if there is no path.
 */
int query_leak_blame(struct query *q, const struct analysis_suspect *suspect,
		     struct query_leak_path *path, struct query_leak_owner *owner,
		     struct hdb_error *err);

/* A suspect and the facts found about it. All pointers are borrowed. */
struct query_leak_suspect {
	const struct analysis_suspect *suspect;
	const struct query_leak_path *path;    /* the path to it */
	const struct analysis_leak_sums *sums; /* sums of all suspects */
	size_t no;                             /* index of this suspect in `sums` */
	uint64_t whole_bytes;                  /* size of the heap, for percentages */
	size_t first_row;                      /* index of this suspect's first row in the report */
	const struct query_leak_owner *owner;
	/*
	 * number and kind of the held objects, such as "12,000 rows", if a rule provides this;
	 * otherwise NULL
	 */
	const char *holds;
	uint64_t held; /* the number in `holds` */
	/*
	 * For a group, upper bound of a member's retained size, because larger objects of the class
	 * are separate suspects. 0 means no bound.
	 */
	uint64_t most_bytes;
	const struct leak_incident *incident; /* for a group of threads, otherwise NULL */
};

/* The objects that a suspect holds: number, total retained size, and kind. */
struct leak_held {
	uint64_t count, bytes;
	uint32_t class_no; /* HEAP_NONE if the objects have several classes */
	/* length of the array if the suspect holds a single one, otherwise 0 */
	uint64_t length;
	/* whether the held objects are entries of a collection, of any class */
	bool is_entries;
	uint32_t collection_ix; /* the collection that contains the held objects, or HEAP_NONE */
	/* a rule's description of all objects that the suspect holds, or NULL */
	const char *text;
	bool is_nested; /* whether this collection is inside another collection that holds more */
};

/*
 * Finds which objects a suspect holds. Reads the other rows of the suspect, so these must be added
 * first.
 */
int leak_held_find(struct query *q, const struct leak_rows *rows,
		   const struct query_leak_suspect *about, struct leak_held *out,
		   struct hdb_error *err);

/*
 * Sets the cells "action" and "target" to the query that lists exactly the held objects. Leaves
 * them empty if there is none, because the number in the sentence must equal the number of rows of
 * that query.
 */
int leak_held_action(struct query *q, struct leak_rows *rows,
		     const struct query_leak_suspect *about, const struct leak_held *held,
		     struct hdb_error *err);

/*
 * Append rows of kind "child" (the objects immediately dominated by the accumulation point, by
 * class) and of kind "content" (all objects retained by the suspect, by class). The numbers are
 * exact. All but the largest classes share one row without a class.
 */
int query_leak_children(struct leak_rows *rows, const struct query_leak_suspect *about,
			struct hdb_error *err);
int query_leak_contents(struct leak_rows *rows, const struct query_leak_suspect *about,
			struct hdb_error *err);

/*
 * Appends rows of kind "element": the objects stored in the children. A platform object such as a
 * map entry is replaced, repeatedly, with the few objects that it dominates, if they retain most of
 * its size. If there are too many children, only a sample is examined, and the rows state its size
 * and the error.
 */
int query_leak_elements(struct query *q, struct leak_rows *rows,
			const struct query_leak_suspect *about, struct hdb_error *err);

/*
 * If the path begins at a thread, appends rows of kinds "thread", "frame" and "local": the thread,
 * its stack, and the relevant local variables. Relevant is the variable on the path or, if the path
 * contains none, each variable that the thread dominates and that retains more than a tenth of the
 * suspect.
 */
int query_leak_thread(struct query *q, struct leak_rows *rows,
		      const struct query_leak_suspect *about, struct hdb_error *err);

/*
 * Appends one row of kind "leaking" per group of leaking objects, largest retained size first, and,
 * unless the rows are brief, the path of each group as rows of kind "trace". If is_library is set,
 * appends the groups that are a library's fault (kind "library") and the unreachable leaking
 * objects (kind "unreachable") instead. Numbers the groups with rows->part, which is incremented
 * for each group.
 */
int query_leaking_rows(struct leak_traces *traces, struct leak_rows *rows, bool is_library,
		       struct hdb_error *err);

#endif
