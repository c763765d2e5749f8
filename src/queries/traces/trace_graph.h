/*
 * queries/traces/trace_graph.h - the references that leak traces follow, object by object and in a
 * fixed order.
 *
 * Not all references of the heap: those of weak, soft, phantom and final ones, of an object to its
 * class, of a class to its superclass and loader, of strings to their characters, of arrays of
 * boxed numbers to these, and what tools hold are left out. Known collections refer to their
 * elements at once (trace_virtual.c) and to their parts, too. Fields come by name, so that of
 * several shortest paths the same one is found in every dump; the order is that of LeakCanary's
 * Shark, so that its signatures hold here.
 */
#ifndef QUERIES_TRACES_TRACE_GRAPH_H
#define QUERIES_TRACES_TRACE_GRAPH_H

#include "analysis/session.h"
#include "queries/traces/library_leaks.h"
#include "queries/traces/trace_ids.h"

enum trace_kind { TRACE_FIELD, TRACE_STATIC, TRACE_LOCAL, TRACE_ENTRY };

/* How a reference is called. */
enum trace_name {
	TRACE_NAME_FIELD,   /* as the text `name_text` */
	TRACE_NAME_INDEX,   /* as the number `value` */
	TRACE_NAME_KEY,     /* it is a key of the map */
	TRACE_NAME_ELEMENT, /* it is in the set */
	TRACE_NAME_OF_KEY,  /* as the key with identifier `value`, whose value it is */
	TRACE_NAME_NONE     /* a local variable */
};

struct trace_reference {
	uint64_t value;
	const struct library_rule *rule; /* whose fault it is; NULL */
	uint32_t to;
	uint32_t owner_no;  /* class that declares the field; of the array or the collection */
	uint32_t name_text; /* number of a text */
	uint8_t kind;       /* enum trace_kind */
	uint8_t name;       /* enum trace_name */
	bool is_late;       /* followed only when nothing else is left */
};

/* A reference field of instances of a class. */
struct trace_field {
	const struct library_rule *rule;
	char *name;  /* owned, until the plan is made */
	uint32_t at; /* bytes from the start of the field values */
	uint32_t declaring_no;
	uint32_t name_text;
	bool is_ignored;
};

/* Where a class has its references, in the order in which they are followed. */
struct trace_plan {
	size_t count;
	struct trace_field fields[];
};

struct trace_graph {
	const struct session *session;
	enum library_use use;
	struct library_leaks library;
	struct trace_ids ids;
	struct trace_plan **plans; /* by class, NULL: not needed yet; owned */
	uint8_t *shapes;           /* by class: enum trace_shape + 1 of trace_virtual.c, 0: none */
	struct base_vec locals;    /* struct store_root: Java frames by thread, ascending */
	/*
	 * steps through collections that are left to take: chains that many share are not followed
	 * for ever
	 */
	uint64_t steps_left;
	uint32_t new_activities_ix; /* the first of ActivityThread's; HEAP_NONE */
};

/* What is done with each reference; not HDB_OK ends it. */
typedef int (*trace_take)(void *ctx, const struct trace_reference *reference,
			  struct hdb_error *err);

/* Who is handed references. */
struct trace_taker {
	trace_take take;
	void *ctx;
};

/* Prepares; loads classes and roots. `session` is lent. Release it in any case. */
int trace_graph_init(struct trace_graph *graph, const struct session *session, enum library_use use,
		     struct hdb_error *err);
void trace_graph_release(struct trace_graph *graph);

/* Before another pass over all objects: it may take as many steps again. */
void trace_graph_rewind(struct trace_graph *graph);

/* Makes the plan of a class, if there is none yet. */
int trace_graph_plan(struct trace_graph *graph, uint32_t class_no, struct hdb_error *err);

/*
 * The place of the first of the locals that belongs to thread `ix` or a later object; locals.count
 * if none does.
 */
size_t trace_graph_locals(const struct trace_graph *graph, uint32_t ix);

/* Whether an array holds boxed numbers, which count as its own. */
bool trace_is_boxes(struct heap *heap, uint32_t class_no);

/* Hands on the references of an object, in order. */
int trace_graph_read(struct trace_graph *graph, uint32_t ix, trace_take take, void *ctx,
		     struct hdb_error *err);

/* The name for people, without brackets: "listeners", "12", "key()", "\"a text\"". */
int trace_reference_name(struct trace_graph *graph, const struct trace_reference *reference,
			 char *buf, size_t size, struct hdb_error *err);

/* "[x]" for elements, whichever it is; else as trace_reference_name. */
int trace_reference_generic(struct trace_graph *graph, const struct trace_reference *reference,
			    char *buf, size_t size, struct hdb_error *err);

/*
 * The rule of a library for a root that native code holds: NULL if there is none, or if it is a
 * root for another reason as well.
 */
int trace_root_rule(struct trace_graph *graph, uint32_t ix, const struct library_rule **out,
		    struct hdb_error *err);

/* ---- trace_virtual.c ---- */

/* Which way to read the elements of instances of a class; 0: it is no known collection. */
uint8_t trace_shape_of(struct heap *heap, uint32_t class_no);

/* Hands on the elements of a collection. */
int trace_virtual_read(struct trace_graph *graph, uint32_t ix, uint32_t class_no,
		       const struct trace_taker *taker, struct hdb_error *err);

/* The thing that Android's activity thread has new activities in. */
int trace_find_new_activities(struct heap *heap, uint32_t *out, struct hdb_error *err);

#endif
