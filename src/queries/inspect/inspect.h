/*
 * queries/inspect/inspect.h - what single objects tell by themselves: that they are leaking, that
 * they are rightly there, and what else helps to understand a leak.
 *
 * What is known is a table of rules (inspect.rules), with functions for what expressions cannot say
 * (inspect_android.c, inspect_views.c).
 */
#ifndef QUERIES_INSPECT_INSPECT_H
#define QUERIES_INSPECT_INSPECT_H

#include "analysis/session.h"
#include "base/base_text.h"
#include "base/expression.h"
#include "base/vec.h"

/* What an object says of itself. */
enum inspect_says { INSPECT_GONE, INSPECT_THERE, INSPECT_LABEL, INSPECT_SAYS };

/* What was found out on one object. Zero-initialise; inspection_release in any case. */
struct inspection {
	bool wants_text;        /* set before: texts and labels, else only the two below */
	bool is_gone, is_there; /* it is leaking; it is rightly there; may be both */
	struct base_vec
		texts; /* bytes: a byte enum inspect_says, and a terminated text, by turns */
};

struct inspect_watched {
	uint32_t ix;        /* what is watched */
	uint32_t reference; /* by which */
	bool is_retained;   /* in vain */
};

/* Rules are bits of a word. */
#define INSPECT_RULES_MAX 64u

struct inspector {
	const struct session *session;
	uint64_t *rules_of_class; /* by class: bits of rules; owned */
	uint64_t *filters;        /* by class: of those that look for leaking objects; owned */
	struct base_vec nodes;    /* struct base_node: of the rules' expressions */
	struct base_vec values;  /* uint32_t: expressions in the texts of sayings, in their order */
	struct base_vec sayings; /* struct inspect_saying, in the order of rules */
	size_t first_saying[INSPECT_RULES_MAX + 1]; /* by rule */
	uint32_t where[INSPECT_RULES_MAX];          /* by rule: a condition, or BASE_NO_NODE */
	struct base_vec watched;                    /* struct inspect_watched, ascending */
	struct base_vec services; /* uint32_t: those that the activity thread knows, ascending */
	bool knows_services;
	bool has_uptime;
	int64_t uptime_ms; /* when the dump was made */
	/* names of ids of resources; HEAP_NONE: not in the dump */
	uint32_t resource_ids, resource_names;
};

/* Prepares; a pass over the objects if the heap has a class of watchers. Release in any case. */
int inspector_init(struct inspector *inspector, const struct session *session,
		   struct hdb_error *err);
void inspector_release(struct inspector *inspector);

/* Whether any object may be found leaking: the heap has such classes, or watchers. */
bool inspector_has_any(const struct inspector *inspector);

/* Whether instances of a class may be found leaking, unless they are watched. */
bool inspector_wants(const struct inspector *inspector, uint32_t class_no);

/*
 * Whether the object is leaking, as far as anyone looks for it by itself: views inside others
 * are not, for example. `only_watched`: only if a watcher waits for it in vain.
 */
int inspect_is_leaking(struct inspector *inspector, uint32_t ix, bool only_watched, bool *out,
		       struct hdb_error *err);

/* Adds to *out what is known of an object. */
int inspect_object(struct inspector *inspector, uint32_t ix, struct inspection *out,
		   struct hdb_error *err);
void inspection_release(struct inspection *inspection);

/* Texts of one kind with `between` in between; cut to size. */
void inspection_join(const struct inspection *inspection, enum inspect_says says,
		     const char *between, char *buf, size_t size);

/* ---- for rules ---- */

struct inspect_rule;

/* A rule that looks at an object. */
struct inspect_look {
	struct inspector *inspector;
	struct heap *heap;
	const struct inspect_rule *rule;
	uint32_t ix, class_no;
	uint32_t start_no;  /* the class that the rule names, which the object's is or is below */
	const char *prefix; /* of what is said: "Editor#mTextView: "; "" */
	struct inspection *out;
};

typedef int (*inspect_function)(struct inspect_look *look, struct hdb_error *err);

/* Lines of one kind of a rule. */
#define INSPECT_LINES_MAX 20u

struct inspect_rule {
	const char *name;
	const char *class_name; /* subclasses too; NULL: all instances */
	const char *where;      /* NULL: always */
	const char *lines[INSPECT_SAYS][INSPECT_LINES_MAX];
	inspect_function function; /* NULL */
	inspect_function labels;   /* one that only adds labels, and is called for them; NULL */
	int line;                  /* of inspect.rules */
	bool is_filter;            /* leaking objects are looked for by this rule */
	inspect_function filter;   /* by this function instead; NULL */
};

/* A line of a rule: what is said if a condition holds. */
struct inspect_saying {
	enum inspect_says says;
	uint32_t condition; /* BASE_NO_NODE: always */
	size_t first_value; /* of those that the text names */
	const char *text;
};

int inspect_say(struct inspect_look *look, enum inspect_says says, struct hdb_error *err,
		const char *format, ...) HDB_PRINTF(4, 5);

/* Instances of a class that is called so, or of one below it. */
bool inspect_is_a(struct heap *heap, uint32_t ix, const char *class_name);
/* "View" of "android.view.View"; of the class of an object. */
const char *inspect_simple_name(const char *class_name);
const char *inspect_class_of(struct heap *heap, uint32_t ix);

/* A boolean of the class that the rule names: HDB_NOTFOUND if there is no such field. */
int inspect_bool(struct inspect_look *look, const char *path, bool *out, struct hdb_error *err);
/* A reference: *target HEAP_NONE if it is null; HDB_NOTFOUND if there is no such field. */
int inspect_reference(struct inspect_look *look, const char *path, uint32_t *target,
		      struct hdb_error *err);
/* A text of an object, "" if it is null or not there: HDB_OK in any case but failures. */
int inspect_text_of(struct heap *heap, uint32_t ix, const char *path, struct base_text to,
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
 * The activity, application or service that a context is or wraps: HEAP_NONE if there is none that
 * is known.
 */
int inspect_component(struct heap *heap, uint32_t context, uint32_t *out, struct hdb_error *err);
/* Whether that is a destroyed activity. */
int inspect_is_destroyed(struct heap *heap, uint32_t context, bool *out, struct hdb_error *err);
/* Activity.mDestroyed: HDB_NOTFOUND if there is none. */
int inspect_destroyed(struct heap *heap, uint32_t activity, bool *out, struct hdb_error *err);
/* The name of an id of a resource: false if the dump does not tell. */
bool inspect_resource_name(struct inspector *inspector, int64_t id, char *buf, size_t size);
/* "instance @12 of X", "null": what a reference leads to, in words. */
int inspect_describe(struct heap *heap, uint32_t ix, char *buf, size_t size, struct hdb_error *err);

#endif
