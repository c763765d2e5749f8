/*
 * queries/traces/leak_traces.h - leaking objects of applications with the paths that keep them, as
 * LeakCanary shows them.
 *
 * Up to the last step of a path that is rightly there none is to blame; from the first leaking
 * object after it on, all only hang on it; the references between the two are suspect. Objects
 * with the same suspect references are one leak, whose signature is the SHA-1 of the classes and
 * names of these: the same that LeakCanary's Shark gives it. An object whose path passes another
 * leaking object is not shown by itself.
 */
#ifndef QUERIES_TRACES_LEAK_TRACES_H
#define QUERIES_TRACES_LEAK_TRACES_H

#include "base/sha1.h"
#include "queries/inspect/inspect.h"
#include "queries/traces/trace_search.h"

/* Not computed. */
#define LEAK_NO_SIZE UINT64_MAX
/* Steps of a path that are shown from either end: those between are only counted. */
#define LEAK_STEPS_ENDS 200u

enum leak_status { LEAK_UNKNOWN, LEAK_THERE, LEAK_GONE };

/* One leaking object with a path. */
struct leak_trace {
	const struct library_rule *rule; /* the first on the path; NULL: the application's */
	uint64_t bytes, objects;         /* retained by the first leaking object of the path */
	uint32_t ix;
	uint32_t node; /* private */
	uint8_t signature[BASE_SHA1_BYTES];
};

/* All that the same references keep. */
struct leak_group {
	const struct library_rule *rule; /* NULL: a leak of the application */
	size_t first, count;             /* its traces */
	uint64_t bytes, objects;         /* the sums */
	uint8_t signature[BASE_SHA1_BYTES];
};

struct leak_traces {
	const struct session *session;
	struct trace_graph graph;
	struct trace_search search;
	struct inspector inspector;
	/* the application's first, then what retains most */
	struct base_vec groups;      /* struct leak_group */
	struct base_vec traces;      /* struct leak_trace, in the order of their groups */
	struct base_vec unreachable; /* uint32_t: leaking objects that nothing keeps */
	uint64_t found;              /* leaking objects, all together */
	uint64_t hanging;            /* of those, how many another one of them keeps */
	uint64_t untraced;           /* left out: their paths together are too long */
	struct base_vec nodes;       /* private */
};

/*
 * Finds them. `only_watched`: those that a watcher of the program waits for in vain, else all that
 * rules name. Where the heap is_choosing: those that it does not pass over; all others count for
 * what hangs on them. `session` is lent. Release it in any case.
 */
int leak_traces_find(struct leak_traces *traces, const struct session *session, bool only_watched,
		     struct hdb_error *err);
void leak_traces_release(struct leak_traces *traces);

/* A step of a path, from the root on. */
struct leak_step {
	uint64_t place;          /* 0: the root */
	uint64_t bytes, objects; /* retained; LEAK_NO_SIZE where it is rightly there */
	const struct trace_reference *reference; /* to the next; NULL at the end, before a gap */
	uint32_t ix;
	enum leak_status status;
	bool is_suspect;      /* that reference */
	size_t reason;        /* in texts: why it has this status; "" */
	size_t labels;        /* what else is known, with "; " between */
	size_t name, generic; /* of the reference */
};

struct leak_steps {
	struct base_vec list;  /* struct leak_step */
	struct base_vec texts; /* bytes, each text terminated */
	uint64_t gap;          /* steps that are left out after the first LEAK_STEPS_ENDS */
	uint8_t root_kind;     /* HPROF's; 0: none is known */
};

/* The path of trace number `no`. Owned: leak_steps_release, also after a failure. */
int leak_steps_get(struct leak_traces *traces, size_t no, struct leak_steps *out,
		   struct hdb_error *err);
/* What is known of one object that nothing keeps: one step. */
int leak_steps_unreachable(struct leak_traces *traces, size_t no, struct leak_steps *out,
			   struct hdb_error *err);
void leak_steps_release(struct leak_steps *steps);

static inline const char *leak_steps_text(const struct leak_steps *steps, size_t place)
{
	return (const char *)steps->texts.data + place;
}

/* The first suspect reference: "com.acme.Bus.listeners (static)"; "" if there is none. */
void leak_steps_suspect(struct leak_traces *traces, const struct leak_steps *steps, char *buf,
			size_t size);

/* ---- leak_steps.c, private ---- */

/* A node of the tree of all paths. */
struct leak_node {
	struct trace_reference reference;      /* by which the one above holds it */
	const struct library_rule *first_rule; /* of the path from the root to it */
	uint32_t ix;
	uint32_t parent; /* number of a node, GRAPH_NONE: a root */
	bool is_gone, is_there;
	bool is_named; /* the reference is known */
	bool has_first_rule;
};

#endif
