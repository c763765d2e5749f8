/*
 * queries/explain/held_private.h - the walk over the objects that a suspect holds, shared by the
 * files that examine each object: held_arrays.c and held_objects.c. suspect_facts.c performs the
 * walk.
 */
#ifndef QUERIES_EXPLAIN_HELD_PRIVATE_H
#define QUERIES_EXPLAIN_HELD_PRIVATE_H

#include "base/vec.h"
#include "queries/explain/suspect_facts.h"

/*
 * Maximum number of dominators tried above the accumulation point, and the share of a dominator's
 * size that the object below it must retain.
 */
#define FACTS_CLIMBS 8u
#define FACTS_TOP_CLIMBS 32u
#define FACTS_CLIMB_PART 0.8
/* Maximum number of classes that are counted separately in a tally. */
#define HELD_CLASSES 16u

/* Kinds of objects for which a class's figures are counted. */
enum held_kind {
	HELD_UNKNOWN,
	HELD_OTHER,
	HELD_COLLECTION,
	HELD_NODE, /* an entry or node of a java.util collection */
	HELD_STRING,
	/* a string builder or stream with an array, of which `count` elements are used */
	HELD_BUILDER,
	HELD_BOX,
	HELD_ERROR,
	HELD_FUTURE,
	HELD_SUSPENDED, /* what resumes a coroutine */
	HELD_TASK,
	HELD_TIMER_TASK,
	HELD_REFERENCE,
	HELD_VIEW,
	HELD_BUFFER,
	HELD_LOADER
};

/* Totals of objects of one kind, by class. */
struct held_tally {
	struct {
		uint32_t class_no;
		double count, places, used, bytes;
		double first_places; /* places of the first object of the class */
		bool is_varied;      /* whether another object has other places */
	} list[HELD_CLASSES];
	unsigned classes;
	double count, bytes; /* sums over all classes */
};

/* An amount that is added to a tally. */
struct held_addend {
	uint32_t class_no;
	double weight, places, used, bytes; /* figures of one object */
};

/* An object visited by the walk. */
struct held_node {
	uint32_t ix;
	uint32_t parent; /* the node that dominates it, or HEAP_NONE at the top */
	uint32_t class_no;
	/* whether the object represents only itself, not others, if the walk ends early */
	bool is_big;
	uint64_t bytes; /* retained size, if the walk visits only some objects of each level */
	double weight;
};

struct held_walk {
	const struct session *session;
	struct base_vec nodes;    /* struct held_node, in the order of the walk */
	struct base_vec contents; /* private to held_arrays.c */
	struct store_lists children;
	uint8_t *kinds;    /* indexed by class number: enum held_kind */
	uint64_t elements; /* number of elements read so far */
	/* sizes of the contents of small and of large arrays in `contents` */
	uint64_t content_bytes, large_bytes;
	uint64_t contents_part; /* only 1/contents_part of the small contents is read */
	uint64_t enqueued_bits; /* ID of ReferenceQueue.ENQUEUED, or 0 if not found */
	uint32_t reference_no;  /* java.lang.ref.Reference */
	/*
	 * retained size of the object at which the walk starts, or 0 if it starts at several
	 * objects
	 */
	uint64_t top_bytes;
	uint64_t split_bytes; /* of the suspect; see analysis/suspects.h */
	double whole;         /* size of everything that the suspect retains */
	/*
	 * if a level has too many nodes: the first node of the level, the maximum number of nodes,
	 * and the minimum retained size that each node represents
	 */
	uint64_t level, level_max;
	double level_bytes;
	uint64_t random;
	/* the innermost collection that retains half of top_bytes */
	uint32_t most_ix;
	uint32_t largest_ix; /* the first collection with many entries */
	/* the first collection with a moderate number of entries, if none has many */
	uint32_t larger_ix;
	struct held_tally all, slack, rooms, small, near, direct, empties, boxes, errors,
		references, views, futures, tasks, scheduled, overdue, filled, suspended, self_kept;
	uint64_t now_ms;        /* time of the dump, or 0 if unknown */
	uint64_t due_ms;        /* time of the first TimerTask in `scheduled` and `overdue`, or 0 */
	double timers;          /* number of TimerTasks in `scheduled` */
	struct held_addend big; /* the container with the most unused bytes */
	double open_futures, waited, cancelled, enqueued, cleared, soft_bytes, suppressed;
	double loaders; /* number of closed class loaders */
	double periodic, dependents, done, queued;
	/*
	 * number of objects that are held by another object of the same class, and number of
	 * objects that hold several objects of their own class
	 */
	double chained, branches;
	const struct held_node *chain_last; /* the last object counted in `chained` */
	double waited_bytes; /* size retained by incomplete futures with waiting actions */
	double plumbing;     /* size of collections, with their tables and nodes */
	double locals;       /* number of bytes that values of thread-locals retain */
	/*
	 * the last number array and the last reference array, because copies are adjacent in the
	 * walk
	 */
	uint32_t last_array[2];
	uint32_t loader_ix;
	uint32_t big_array; /* the largest array of numbers */
	uint64_t big_bytes;
	uint64_t children_max;
	uint64_t objects_max;
	/* whether the visited objects also represent objects that were not visited */
	bool is_about;
	bool is_count;    /* whether a walk cut short yields no result */
	bool is_by_level; /* whether the walk visits only some objects of each level */
	bool is_cut;      /* whether the walk ended early because it visited too many objects */
};

/* ---- suspect_facts.c ---- */

void held_add(struct held_tally *tally, const struct held_addend *a);
/* Adds the free slots of a container. */
void held_add_room(struct held_walk *w, const struct held_addend *a);

enum held_kind held_kind_of(const struct held_walk *w, uint32_t class_no);
/* Reads a field as a number or as bits. Sets *out to 0 if the field does not exist. */
int held_field(const struct held_walk *w, uint32_t ix, const char *path, uint64_t *out,
	       struct hdb_error *err);
/* Returns the node that dominates `node`, or NULL at the top of the walk. */
const struct held_node *held_parent(const struct held_walk *w, const struct held_node *node);

/* Sets a figure, unless the number is 0. */
void held_set(struct explain_facts *out, enum explain_fact no, double number, bool is_about);
/*
 * Sets a figure to a percentage of the size of all objects in the walk. Retained sizes overlap, so
 * the percentages may add up to more than 100.
 */
void held_set_percent(const struct held_walk *w, struct explain_facts *out, enum explain_fact no,
		      double bytes);

/* ---- held_arrays.c ---- */

int held_count_array(struct held_walk *w, const struct held_node *node,
		     const struct heap_object *object, struct hdb_error *err);
/* Reads the content of a string, whose array may be shared with other strings. */
int held_count_string(struct held_walk *w, const struct held_node *node,
		      const struct heap_object *object, struct hdb_error *err);
/* Set the figures about equal contents and about the largest array of numbers. */
int held_find_equals(struct held_walk *w, struct explain_facts *out, struct hdb_error *err);
int held_set_nonzero(const struct held_walk *w, struct explain_facts *out, struct hdb_error *err);

/* ---- held_objects.c ---- */

int held_count_instance(struct held_walk *w, const struct held_node *node,
			const struct heap_object *object, struct hdb_error *err);
/* Counts a class loader if it has been closed. */
int held_count_loader(struct held_walk *w, uint32_t ix, double weight, struct hdb_error *err);

#endif
