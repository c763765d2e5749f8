/*
 * queries/leaks/object_rules.h - rules on single leaking objects: Android's life cycles.
 *
 * The conditions are those of LeakCanary's inspectors (shark-android, AndroidObjectInspectors);
 * here they are a table of classes, fields and kinds of conditions. A rule can say of an object
 * that it should be gone, or that it is rightly there, which tells the steps of a path to a leaking
 * object apart.
 */
#ifndef QUERIES_LEAKS_OBJECT_RULES_H
#define QUERIES_LEAKS_OBJECT_RULES_H

#include "query/report_rows.h"

enum object_condition {
	OBJECT_ALWAYS,          /* rightly there, always */
	OBJECT_FIELD_TRUE,      /* gone if the boolean is true, there if it is false */
	OBJECT_FIELD_NULL,      /* gone if the reference is null, there if not */
	OBJECT_FIELD_NULL_ONLY, /* gone if the reference is null, else nothing is known */
	/* gone if the context in the field (none: the object) is of a destroyed activity */
	OBJECT_CONTEXT_DESTROYED,
	OBJECT_OUTER_DESTROYED, /* the same of an activity that the field refers to at once */
	OBJECT_VIEW_DETACHED,   /* a root view that was attached once and is no more */
	/* there while it and the topmost view of its window are attached, else gone */
	OBJECT_VIEW_PART,
	OBJECT_SERVICE,         /* gone unless the activity thread knows it */
	OBJECT_LIFECYCLE,       /* the state of its life cycle registry */
	OBJECT_LIFECYCLE_STATE, /* there unless its own state is DESTROYED */
	OBJECT_TOAST,           /* gone once it was shown and hidden again */
	OBJECT_MAIN_THREAD,     /* there if its name is "main" */
};

struct object_rule {
	const char *class_name; /* subclasses too */
	enum object_condition condition;
	bool is_filter; /* leaking objects are looked for by this rule */
	const char *field;
	const char *gone, *there; /* reasons; NULL: that verdict is not given */
};

extern const struct object_rule object_rules[];
extern const size_t object_rule_count;
/* Most rules: each is a bit of a word. */
#define OBJECT_RULES_MAX 32u

enum object_verdict { OBJECT_UNKNOWN, OBJECT_THERE, OBJECT_GONE };

/* What is needed to try rules. */
struct object_judge {
	struct query *q;
	uint32_t *rules_of_class; /* by class number: which rules are about it; owned */
	struct base_vec watched;  /* uint32_t: what tools wait for in vain, ascending */
	struct base_vec services; /* uint32_t: those that the activity thread knows, ascending */
	bool knows_services;
};

/* Prepares. *any: whether the heap has a class that a filter is about. Release it in any case. */
int object_judge_init(struct object_judge *judge, struct query *q, bool *any,
		      struct hdb_error *err);
void object_judge_release(struct object_judge *judge);

/*
 * Tries the rules on an object; `filters_only`: only those that objects are looked for by. If rules
 * contradict one another, it is rightly there. *reason is static, NULL for OBJECT_UNKNOWN.
 */
int object_judge_look(struct object_judge *judge, uint32_t ix, bool filters_only,
		      enum object_verdict *verdict, const char **reason, struct hdb_error *err);

/*
 * The objects that watchers wait for in vain, ascending, as uint32_t; a pass over the objects if
 * the heap has a class of watchers. Owned: release the vec.
 */
int object_watched_load(struct heap *heap, struct base_vec *watched, struct hdb_error *err);
bool object_is_watched(const struct base_vec *watched, uint32_t ix);

/* For lists of object indexes, uint32_t, ascending: as qsort and bsearch want it. */
int object_compare_ix(const void *a, const void *b);

/* Whether the filters may say anything on objects of a class. */
bool object_judge_wants(const struct object_judge *judge, uint32_t class_no);

struct query_leaking_counts {
	uint64_t objects;        /* that should be gone and are strongly reachable */
	uint64_t hanging;        /* of those, kept by another one of them */
	uint64_t leaks;          /* the others, by what keeps them */
	uint64_t library_leaks;  /* of those, known to be the fault of a library */
	uint64_t traced;         /* objects whose paths were looked at: all, or the first ones */
	uint64_t told;           /* leaks, of whichever fault, that have rows of their own */
	uint64_t retained_bytes; /* of all leaks, the sum */
};

/* Objects that should be gone and are strongly reachable, by what keeps them. */
struct query_leaking;

/* Finds them; *out is owned: query_leaking_release, also after a failure. */
int query_leaking_find(struct query *q, struct query_leaking **out,
		       struct query_leaking_counts *counts, struct hdb_error *err);
void query_leaking_release(struct query_leaking *leaking);

/*
 * Kinds "leaking" and "trace": one for all that the same references keep, with its path (unless
 * is_brief), the one that retains most first; numbered from `part` on, which counts->told goes up
 * by. is_library: kind "library" instead, those that are known to be the fault of a library.
 */
int query_leaking_tell(struct query_leaking *leaking, struct query_story *story, uint64_t part,
		       bool is_library, bool is_brief, struct query_leaking_counts *counts,
		       struct hdb_error *err);

#endif
