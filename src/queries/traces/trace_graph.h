/*
 * queries/traces/trace_graph.h - the references that leak traces follow, object by object, in a
 * fixed order.
 *
 * This graph differs from the graph of the heap. It omits weak, soft, phantom and final references,
 * and references from an object to its class, from a class to its superclass and class loader, from
 * a string to its characters, from an array of boxes to the boxes, and references that belong to
 * tools. Known collections also refer directly to their elements (trace_virtual.c). Fields are
 * sorted by name, so that every dump gives the same one of several shortest paths. The order is
 * that of LeakCanary's Shark, so that both compute the same signatures.
 */
#ifndef QUERIES_TRACES_TRACE_GRAPH_H
#define QUERIES_TRACES_TRACE_GRAPH_H

#include "analysis/session.h"
#include "queries/traces/library_leaks.h"

/*
 * A table in memory for looking up objects by ID, for passes that look up every reference of a
 * heap. IDs are addresses, and most heaps occupy one range of them. For each page of 256 addresses,
 * the table stores the index of its first object; for each object, the lowest byte of its ID. This
 * takes about two bytes per object.
 */
struct trace_ids {
	struct heap *heap;      /* borrowed, as is `work` */
	struct base_work *work; /* borrowed */
	/*
	 * lowest ID, rounded down, and number of pages; page_count is 0 if the IDs are too far
	 * apart, so that heap_find is used
	 */
	uint64_t first, page_count;
	/* indexed by page of 256 IDs: index of its first object; page_count + 1 entries */
	uint32_t *pages;
	uint8_t *low; /* indexed by object: lowest byte of its ID */
	struct base_big pages_big, low_big;
};

/* Like heap_find. Returns HDB_OK or HDB_NOTFOUND. Thread-safe unless page_count is 0. */
static inline int trace_ids_find(struct trace_ids *ids, uint64_t id, uint32_t *ix,
				 struct hdb_error *err)
{
	const uint64_t page = (id - ids->first) >> 8;

	if (!ids->page_count)
		return heap_find(ids->heap, id, ix, err);
	if (id < ids->first || page >= ids->page_count)
		return HDB_NOTFOUND;
	for (uint32_t i = ids->pages[page]; i < ids->pages[page + 1]; i++)
		if (ids->low[i] == (uint8_t)id) {
			*ix = i;
			return HDB_OK;
		}
	return HDB_NOTFOUND;
}

/* Kinds of references, as leak traces show them. */
enum trace_kind { TRACE_FIELD, TRACE_STATIC, TRACE_LOCAL, TRACE_ENTRY };

/* How a reference is named. */
enum trace_name {
	TRACE_NAME_FIELD,   /* named by the text `name_text` */
	TRACE_NAME_INDEX,   /* named by the number `value` */
	TRACE_NAME_KEY,     /* no name is needed: the target is a key of a map */
	TRACE_NAME_ELEMENT, /* no name is needed: the target is an element of a set */
	TRACE_NAME_OF_KEY,  /* named by its key in a map, which is the object with ID `value` */
	TRACE_NAME_NONE     /* a local variable */
};

/* A reference from the object being read. */
struct trace_reference {
	uint64_t value;
	const struct library_rule *rule; /* the library at fault, or NULL */
	uint32_t to;
	uint32_t owner_no;  /* class that declares the field, or class of the array or collection */
	uint32_t name_text; /* index of a string */
	uint8_t kind;       /* enum trace_kind */
	uint8_t name;       /* enum trace_name */
	bool is_late;       /* whether the reference is followed after all others */
};

/* A reference field of a class's instances. */
struct trace_field {
	const struct library_rule *rule;
	char *name;  /* owned until the plan is finished */
	uint32_t at; /* offset in the field values, in bytes */
	uint32_t declaring_no;
	uint32_t name_text;
	bool is_ignored;
};

/* The reference fields of a class, in the order in which they are followed. */
struct trace_plan {
	size_t count;
	struct trace_field fields[];
};

/* State for reading references. Not thread-safe, except as described in trace_search.c. */
struct trace_graph {
	const struct session *session;
	enum library_use use;
	struct library_leaks library;
	struct trace_ids ids;
	struct trace_plan **plans; /* indexed by class; owned; NULL until first use */
	/*
	 * indexed by class: 1 + index of the rule in trace_virtual.c, or 0 if the class is not a
	 * known collection
	 */
	uint8_t *shapes;
	struct base_vec locals; /* struct store_root: local variables, sorted by thread */
	/*
	 * number of steps left inside collections; limits the work on chains that many objects
	 * share
	 */
	uint64_t steps_left;
	uint32_t new_activities_ix; /* first of ActivityThread's new activities, or HEAP_NONE */
};

/* Receives one reference. Any result except HDB_OK ends the reading. */
typedef int (*trace_take)(void *ctx, const struct trace_reference *reference,
			  struct hdb_error *err);

/* A function and its first argument. */
struct trace_taker {
	trace_take take;
	void *ctx;
};

/*
 * Loads classes and roots, and prepares for reading. `session` is borrowed. The caller must release
 * *graph, even after a failure.
 */
int trace_graph_init(struct trace_graph *graph, const struct session *session, enum library_use use,
		     struct hdb_error *err);
void trace_graph_release(struct trace_graph *graph);

/* Restores the number of steps before another pass over all objects. */
void trace_graph_rewind(struct trace_graph *graph);

/* Builds the plan of a class, unless it exists. */
int trace_graph_plan(struct trace_graph *graph, uint32_t class_no, struct hdb_error *err);

/* Returns the first index in `locals` for thread `ix` or a later one, or locals.count. */
size_t trace_graph_locals(const struct trace_graph *graph, uint32_t ix);

/*
 * Returns whether arrays of a class contain boxed numbers, which leak traces treat as part of the
 * array.
 */
bool trace_is_boxes(struct heap *heap, uint32_t class_no);

/* Passes the references of an object to `sink`, in order. */
int trace_graph_read(struct trace_graph *graph, uint32_t ix, trace_take take, void *ctx,
		     struct hdb_error *err);

/* Writes the name for people, without brackets: "listeners", "12", "key()", "\"a string\"". */
int trace_reference_name(struct trace_graph *graph, const struct trace_reference *reference,
			 char *buf, size_t size, struct hdb_error *err);

/* Writes the name with "[x]" for every index, for signatures, which must not depend on indexes. */
int trace_reference_generic(struct trace_graph *graph, const struct trace_reference *reference,
			    char *buf, size_t size, struct hdb_error *err);

/*
 * Finds the library rule for a JNI global root. Sets *out to NULL if there is no such rule, or if
 * the object is also another kind of root.
 */
int trace_root_rule(struct trace_graph *graph, uint32_t ix, const struct library_rule **out,
		    struct hdb_error *err);

/* ---- trace_virtual.c ---- */

/*
 * Returns the rule for reading the elements of a class's instances, or 0 if it is not a known
 * collection.
 */
uint8_t trace_shape_of(struct heap *heap, uint32_t class_no);

/* Passes the elements of a collection to `sink`. */
int trace_virtual_read(struct trace_graph *graph, uint32_t ix, uint32_t class_no,
		       const struct trace_taker *taker, struct hdb_error *err);

/* Finds the object in which Android's ActivityThread keeps new activities, or HEAP_NONE. */
int trace_find_new_activities(struct heap *heap, uint32_t *out, struct hdb_error *err);

#endif
