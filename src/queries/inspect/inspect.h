/*
 * queries/inspect/inspect.h - determines from single objects whether they are leaking, and finds
 * other facts that help to understand a leak.
 *
 * The rules are in a table (inspect.rules), with functions for conditions that cannot be written as
 * expressions (inspect_android.c, inspect_views.c). They are the same as LeakCanary's
 * ObjectInspectors.
 */
#ifndef QUERIES_INSPECT_INSPECT_H
#define QUERIES_INSPECT_INSPECT_H

#include "analysis/session.h"
#include "base/base_text.h"
#include "base/expression.h"
#include "base/vec.h"

/* Kinds of statements: the object is leaking, the object is not leaking, or a label. */
enum inspect_says { INSPECT_GONE, INSPECT_THERE, INSPECT_LABEL, INSPECT_SAYS };

/*
 * Facts about one object. Must be initialised with zeros, and released with inspection_release even
 * after a failure.
 */
struct inspection {
	/* set by the caller: also collect strings and labels */
	bool wants_text;
	/*
	 * whether the object is leaking, and whether it is not; rules may disagree, so both can be
	 * true
	 */
	bool is_gone, is_there;
	struct base_vec texts; /* alternating: a byte (enum inspect_says) and a terminated text */
};

/* An object that a tool (LeakCanary's ObjectWatcher) expected to be collected. */
struct inspect_watched {
	uint32_t ix;        /* the watched object */
	uint32_t reference; /* the watcher's weak reference */
	bool is_retained;   /* whether the object was not collected in time */
};

/* Maximum number of rules, which are bits of a 64-bit word. */
#define INSPECT_RULES_MAX 64u

/* All rules, prepared for a heap. */
struct inspector {
	const struct session *session;
	uint64_t *rules_of_class; /* indexed by class: bits of its rules; owned */
	uint64_t *filters;        /* indexed by class: bits of leak rules; owned */
	struct base_vec nodes;    /* struct base_node of the rules' expressions */
	/* uint32_t: expressions in the texts of rules, in order */
	struct base_vec values;
	struct base_vec sayings;                    /* struct inspect_saying, by rule */
	size_t first_saying[INSPECT_RULES_MAX + 1]; /* indexed by rule: index of its first text */
	uint32_t where[INSPECT_RULES_MAX];          /* indexed by rule: condition or BASE_NO_NODE */
	struct base_vec watched;                    /* struct inspect_watched, ascending */
	struct base_vec services; /* uint32_t: services known to the activity thread, ascending */
	bool knows_services;
	bool has_uptime;
	int64_t uptime_ms; /* time of the dump, on the watchers' clock */
	/* names of resource IDs; HEAP_NONE if the dump does not contain them */
	uint32_t resource_ids, resource_names;
};

/*
 * Prepares the rules for a heap. Makes a pass over the objects if the heap contains a watcher
 * class. The caller must release *inspector, even after a failure.
 */
int inspector_init(struct inspector *inspector, const struct session *session,
		   struct hdb_error *err);
void inspector_release(struct inspector *inspector);

/*
 * Returns whether the heap can contain leaking objects, that is, classes named in rules, or
 * watchers.
 */
bool inspector_has_any(const struct inspector *inspector);

/* Returns whether rules can find leaking instances of a class, even without watchers. */
bool inspector_wants(const struct inspector *inspector, uint32_t class_no);

/*
 * Sets *out to whether the object itself is leaking. For example, only the outermost of nested
 * views counts as leaking. If only_watched is set, an object is leaking only if a watcher expected
 * it to be collected.
 */
int inspect_is_leaking(struct inspector *inspector, uint32_t ix, bool only_watched, bool *out,
		       struct hdb_error *err);

/* Adds everything known about an object to *out. */
int inspect_object(struct inspector *inspector, uint32_t ix, struct inspection *out,
		   struct hdb_error *err);
void inspection_release(struct inspection *inspection);

/* Joins all strings of one kind with `between`, truncated to `size` bytes. */
void inspection_join(const struct inspection *inspection, enum inspect_says says,
		     const char *between, char *buf, size_t size);

/* ---- for rules ---- */

struct inspect_rule;

/* A rule being applied to an object. */
struct inspect_look {
	struct inspector *inspector;
	struct heap *heap;
	const struct inspect_rule *rule;
	uint32_t ix, class_no;
	uint32_t start_no;  /* the class that the rule names: the object's class or a superclass */
	const char *prefix; /* prefix of strings, such as "Editor#mTextView: "; may be empty */
	struct inspection *out;
};

/* A function of a rule. It either reports facts by calling inspect_say, or does nothing. */
typedef int (*inspect_function)(struct inspect_look *look, struct hdb_error *err);

/* Maximum number of lines of one kind in a rule. */
#define INSPECT_LINES_MAX 20u

/* A rule as in inspect.rules. */
struct inspect_rule {
	const char *name;
	const char *class_name; /* applies to subclasses too; NULL means all instances */
	const char *where;      /* a condition; NULL means that it is always true */
	const char *lines[INSPECT_SAYS][INSPECT_LINES_MAX];
	inspect_function function; /* or NULL */
	/* a function that only adds labels and is not called for anything else; or NULL */
	inspect_function labels;
	int line;       /* line in inspect.rules */
	bool is_filter; /* whether the rule finds leaking objects */
	/* if not NULL, the rule finds only objects for which this function returns true */
	inspect_function filter;
};

/* A line of a rule: the text to add if a condition is true. */
struct inspect_saying {
	enum inspect_says says;
	uint32_t condition; /* BASE_NO_NODE: always */
	size_t first_value; /* index of the first value in the text */
	const char *text;
};

/*
 * Adds a string to the inspection, with the rule's prefix, unless the same string has been added
 * before.
 */
int inspect_say(struct inspect_look *look, enum inspect_says says, struct hdb_error *err,
		const char *format, ...) HDB_PRINTF(4, 5);

/* Returns whether an object is an instance of a class or of one of its subclasses. */
bool inspect_is_a(struct heap *heap, uint32_t ix, const char *class_name);
/*
 * Return "View" for "android.view.View", and the class of an object (for a class object, the class
 * that it represents).
 */
const char *inspect_simple_name(const char *class_name);
const char *inspect_class_of(struct heap *heap, uint32_t ix);

/* Reads a boolean field of the rule's class. Returns HDB_NOTFOUND if there is no such field. */
int inspect_bool(struct inspect_look *look, const char *path, bool *out, struct hdb_error *err);
/*
 * Reads a reference. Sets *target to HEAP_NONE if the reference is null. Returns HDB_NOTFOUND if
 * there is no such field.
 */
int inspect_reference(struct inspect_look *look, const char *path, uint32_t *target,
		      struct hdb_error *err);

/* ---- inspect_android.c, inspect_views.c: functions of rules ---- */

int inspect_anonymous(struct inspect_look *look, struct hdb_error *err);
int inspect_service(struct inspect_look *look, struct hdb_error *err);
int inspect_context_fields(struct inspect_look *look, struct hdb_error *err);
int inspect_loaded_apk(struct inspect_look *look, struct hdb_error *err);
int inspect_animator(struct inspect_look *look, struct hdb_error *err);
int inspect_view(struct inspect_look *look, struct hdb_error *err);
int inspect_view_filter(struct inspect_look *look, struct hdb_error *err);
int inspect_editor(struct inspect_look *look, struct hdb_error *err);
int inspect_editor_filter(struct inspect_look *look, struct hdb_error *err);

/*
 * Finds the activity, application or service that a context is or wraps. Sets *out to HEAP_NONE if
 * it is unknown.
 */
int inspect_component(struct heap *heap, uint32_t context, uint32_t *out, struct hdb_error *err);
/* Sets *out to whether the object is a destroyed activity. */
int inspect_is_destroyed(struct heap *heap, uint32_t context, bool *out, struct hdb_error *err);
/* Writes the name of a resource ID. Returns false if the dump does not contain it. */
bool inspect_resource_name(struct inspector *inspector, int64_t id, char *buf, size_t size);
/* Describes the target of a reference: "instance @12 of X" or "null". */
int inspect_describe(struct heap *heap, uint32_t ix, char *buf, size_t size, struct hdb_error *err);

#endif
