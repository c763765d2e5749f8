/*
 * queries/traces/leak_traces.h - finds leaking objects of Android applications and the paths that
 * keep them alive, as LeakCanary shows them.
 *
 * A path has three parts. The first ends at the last object that is known not to leak; no reference
 * in it is the cause. The last begins at the next leaking object, which alone holds all objects
 * after it. The references in between are suspect: one of them is the leak. Objects with the same
 * suspect references form a group. Its signature is the SHA-1 of the classes and names of these
 * references, as in LeakCanary's Shark. An object whose path passes another leaking object is not
 * listed.
 *
 * leak_traces_find finds and groups all leaking objects. leak_steps_get then describes one path at
 * a time.
 */
#ifndef QUERIES_TRACES_LEAK_TRACES_H
#define QUERIES_TRACES_LEAK_TRACES_H

#include "base/sha1.h"
#include "queries/inspect/inspect.h"
#include "queries/traces/trace_search.h"

/* Value of a size that was not computed. */
#define LEAK_NO_SIZE UINT64_MAX
/* Number of steps shown at each end of a path. Steps in between are only counted. */
#define LEAK_STEPS_ENDS 200u

/* Status of an object on a path: unknown, known not to leak, leaking. */
enum leak_status { LEAK_UNKNOWN, LEAK_THERE, LEAK_GONE };

/* A leaking object and its path. */
struct leak_trace {
	/* first rule that matches the path; NULL if no library is at fault */
	const struct library_rule *rule;
	uint64_t bytes, objects; /* sizes retained by the first leaking object on the path */
	uint32_t ix;
	uint32_t node; /* index in leak_traces.nodes; private */
	uint8_t signature[BASE_SHA1_BYTES];
};

/* All leaking objects held by the same references. */
struct leak_group {
	const struct library_rule *rule; /* NULL means a leak of the application */
	size_t first, count;             /* its traces: traces[first, first + count) */
	uint64_t bytes, objects;         /* totals of the traces */
	uint8_t signature[BASE_SHA1_BYTES];
};

/* The result of leak_traces_find. */
struct leak_traces {
	const struct session *session;
	struct trace_graph graph;
	struct trace_search search;
	struct inspector inspector;
	/*
	 * groups of the application's leaks, then groups of library leaks; both parts sorted by
	 * retained size
	 */
	struct base_vec groups;      /* struct leak_group */
	struct base_vec traces;      /* struct leak_trace, sorted by group */
	struct base_vec unreachable; /* uint32_t: unreachable leaking objects */
	uint64_t found;              /* number of leaking objects */
	/* number of groups that are a library's fault; total size of all groups */
	uint64_t library_groups, bytes;
	/* number of leaking objects retained by another leaking object */
	uint64_t held_by_other;
	/* number of traces omitted because all paths together are too long */
	uint64_t untraced;
	struct base_vec nodes; /* private: struct leak_node, parents before children */
};

/*
 * Finds leaking objects, their paths and their groups: only objects that the program itself
 * (ObjectWatcher) expected to be collected if only_watched is set, otherwise all objects that the
 * rules recognise. If the heap is filtered, only objects in the shown heaps are listed, but
 * retained sizes include all heaps. `session` is borrowed. The caller must release *traces, even
 * after a failure.
 */
int leak_traces_find(struct leak_traces *traces, const struct session *session, bool only_watched,
		     struct hdb_error *err);
void leak_traces_release(struct leak_traces *traces);

/* A step of a path. */
struct leak_step {
	uint64_t place; /* number of the step; 0 for the root */
	/* retained size and objects; LEAK_NO_SIZE for objects that do not leak */
	uint64_t bytes, objects;
	/* reference to the next step; NULL for the last step and before omitted steps */
	const struct trace_reference *reference;
	uint32_t ix;
	enum leak_status status;
	bool is_suspect; /* whether that reference is suspect */
	size_t reason;   /* offset in texts of the reason for the status, which may be "" */
	size_t labels;   /* offset in texts of other facts, separated by "; " */
	/* offsets in texts of the name of the reference, with and without indexes */
	size_t name, generic;
};

/* The description of a path. */
struct leak_steps {
	struct base_vec list;  /* struct leak_step */
	struct base_vec texts; /* terminated strings, one after another */
	uint64_t gap;          /* number of steps omitted after the first LEAK_STEPS_ENDS */
	uint8_t root_kind;     /* as in HPROF; 0 if unknown */
};

/* Describes the path of a trace. The caller must call leak_steps_release, even after a failure. */
int leak_steps_get(struct leak_traces *traces, size_t no, struct leak_steps *out,
		   struct hdb_error *err);
/* Describes an unreachable leaking object, as a single step. */
int leak_steps_unreachable(struct leak_traces *traces, size_t no, struct leak_steps *out,
			   struct hdb_error *err);
void leak_steps_release(struct leak_steps *steps);

/* Returns the text at an offset, borrowed until the steps are released. */
static inline const char *leak_steps_text(const struct leak_steps *steps, size_t place)
{
	return (const char *)steps->texts.data + place;
}

/* Writes the first suspect reference, "com.acme.Bus.listeners (static)", or "" if there is none. */
void leak_steps_suspect(struct leak_traces *traces, const struct leak_steps *steps, char *buf,
			size_t size);

/* ---- leak_steps.c, private ---- */

/* A node of the tree of all paths. */
struct leak_node {
	struct trace_reference reference; /* reference through which the parent holds the node */
	/* first rule that matches the path from the root */
	const struct library_rule *first_rule;
	uint32_t ix;
	uint32_t parent; /* index of the parent, or GRAPH_NONE for a root */
	bool is_gone, is_there;
	bool is_named; /* whether `reference` has been found */
};

#endif
