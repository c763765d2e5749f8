/*
 * queries/triage/triage.h - rules of first aid: what is measured of a heap, and from which figures
 * on it is worth a word.
 *
 * Rules and what they measure are tables (triage_rules.c); the other files take the measures. A
 * rule fires if all its thresholds are reached; the ones on bytes keep small heaps quiet, where
 * every share is large. What is normal in one program is a leak in another: that much is held by
 * one object is critical only where the heap has no room left.
 */
#ifndef QUERIES_LEAKS_TRIAGE_H
#define QUERIES_LEAKS_TRIAGE_H

#include "analysis/properties.h"
#include "query/query.h"

enum triage_severity { TRIAGE_CRITICAL, TRIAGE_WARNING, TRIAGE_INFO };

/* What is measured: a number of things and their bytes. */
enum triage_measure_no {
	/* triage_totals.c: from totals, roots and the dominator tree */
	TRIAGE_SUSPECT,       /* the largest leak suspect and what it retains */
	TRIAGE_GARBAGE,       /* unreachable objects, without what may be fillers */
	TRIAGE_HEAP,          /* all that is reachable */
	TRIAGE_OUT_OF_MEMORY, /* the dump was made when a thread ran out of memory */
	TRIAGE_CLASSES,       /* classes */
	/* objects whose life cycle is over; bytes: what those that leaks tells retain */
	TRIAGE_SHOULD_BE_GONE,
	TRIAGE_JNI_GLOBALS, /* objects that JNI holds, and what these retain */
	TRIAGE_FILLERS,     /* arrays that the collector leaves in gaps */
	TRIAGE_MANY_SMALL,  /* the class with most small objects */
	TRIAGE_BOXED,
	TRIAGE_FINALIZERS,
	TRIAGE_SESSIONS,
	TRIAGE_LISTENERS,
	TRIAGE_CONNECTIONS,
	TRIAGE_REFLECTION,
	TRIAGE_LOADERS,
	TRIAGE_THREADS,
	TRIAGE_STATEMENTS,
	TRIAGE_ZIP,
	TRIAGE_EXCEPTIONS, /* by names of classes: triage_sets */
	/* triage_scan.c: from a pass over all objects, and the values of some */
	TRIAGE_WEAK_ONLY, /* objects that only weak, soft, phantom or final references keep */
	/* the longest array of references or list, its elements, what it retains */
	TRIAGE_BIG_ARRAY,
	TRIAGE_BIG_PRIMITIVE,     /* the largest primitive array */
	TRIAGE_THREAD_PIN,        /* the thread that retains most */
	TRIAGE_THREAD_LOCALS,     /* the map of thread-local values that retains most */
	TRIAGE_STALE_LOCALS,      /* thread-local values whose key is gone */
	TRIAGE_COLLISIONS,        /* hash maps whose keys share slots; bytes: what these retain */
	TRIAGE_WEAK_LEAK,         /* weak references whose value keeps their own key */
	TRIAGE_DIRECT_BUFFERS,    /* memory outside the heap that cleaners of buffers will free */
	TRIAGE_MAPPED,            /* the same of mapped files */
	TRIAGE_SPARSE,            /* collections at most half full, bytes of free slots */
	TRIAGE_EMPTY,             /* collections without elements, their bytes */
	TRIAGE_DUPLICATE_STRINGS, /* strings of which there is an equal one, their bytes */
	/* triage_locals.c; count: threads, values */
	TRIAGE_LOCALS_OF_ONE,   /* the ThreadLocal whose values retain most, over all threads */
	TRIAGE_LOCALS_OF_CLASS, /* the class whose objects retain most as thread-local values */
	/* triage_fields.c: the collection that matters, its elements, what it retains */
	TRIAGE_HELD_LISTENERS,
	TRIAGE_TASKS,
	TRIAGE_DELETE_ON_EXIT,
	/* triage_loaders.c */
	TRIAGE_CLOSED_LOADER, /* class loaders that were closed and are still there */
	TRIAGE_TWIN_LOADERS,  /* most class loaders that have a class of the same name */
	TRIAGE_MEASURES
};

/* What a measure counts, as "session" of one and "sessions" of others; static. */
const char *triage_unit(enum triage_measure_no measure, uint64_t count);

struct triage_rule {
	const char *id;
	enum triage_severity severity;
	enum triage_measure_no measure;
	/* all of these must be reached */
	uint64_t least_count;
	uint64_t least_bytes;
	unsigned least_percent; /* bytes, as a share of all reachable bytes */
	/* all reachable bytes, as a share of the maximum heap size, in percent */
	unsigned least_full;
	const char *text;   /* what it means */
	const char *advice; /* what to look at */
};

/* Of rules with the same id the first that fires is told. */
extern const struct triage_rule triage_rules[];
extern const size_t triage_rule_count;

/* Classes that make a measure, by patterns of names. */
struct triage_set {
	enum triage_measure_no measure;
	bool is_largest_only; /* the class that has most counts, not all together */
	bool is_retained;     /* bytes: retained, else shallow */
	const char *patterns; /* as base_glob_list has them */
	const char *super;    /* or: this class and its subclasses */
	const char *but;      /* but not this class and its subclasses; NULL: all */
};
extern const struct triage_set triage_sets[];
extern const size_t triage_set_count;

/* What values of some classes are looked at. */
enum triage_look {
	TRIAGE_LOOK_LARGEST, /* the object that retains most */
	TRIAGE_LOOK_LONGEST, /* the object with the largest number in the path `field` */
	TRIAGE_LOOK_LOCALS,  /* entries of thread-local values: triage_locals.c */
	TRIAGE_LOOK_NULL,    /* objects whose field is null, what they retain */
	TRIAGE_LOOK_SUM,     /* the sum of the field, where `other` is null */
	TRIAGE_LOOK_FILL,    /* elements in `field`, of the array that is in `other` */
	TRIAGE_LOOK_SELF /* the referent in `field` depends on the one in `other`, which retains */
};
struct triage_value {
	enum triage_measure_no measure;
	enum triage_look look;
	const char *class_name;
	bool with_sub;
	const char *field, *other;
};
extern const struct triage_value triage_values[];
extern const size_t triage_value_count;

/* Fields whose collection is measured, by name. */
struct triage_field {
	enum triage_measure_no measure;
	const char *class_name; /* that declares it; NULL: any */
	const char *names;      /* patterns, as base_glob_list has them */
};
extern const struct triage_field triage_field_names[];
extern const size_t triage_field_count;

/* So many elements are many: of collections with as many the one that retains most matters. */
#define TRIAGE_FIELD_MANY 1000u

/* What keeps a class loader, told by what is on the path to it. */
struct triage_hint {
	const char *class_pattern; /* of an object or class on the path; NULL: any */
	const char *field;         /* that holds the next; NULL: any */
	const char *text;
};
extern const struct triage_hint triage_hints[];
extern const size_t triage_hint_count;

/* One measure. */
struct triage_figure {
	uint64_t count, bytes;
	uint32_t ix;          /* an object to look at, HEAP_NONE */
	uint32_t class_no;    /* or a class, HEAP_NONE; of several the one with most objects */
	uint64_t class_count; /* its objects */
	uint64_t sampled;     /* 0: counted; else estimated from so many objects */
	bool is_outside;      /* bytes are not of the heap */
	bool has_no_bytes;    /* only a number of things */
	char detail[1024];    /* what is special here */
};

struct triage {
	struct query *q;
	uint64_t whole_bytes;   /* reachable bytes */
	uint64_t suspect_count; /* that the query leaks has */
	struct analysis_limit limit;
	struct triage_figure figures[TRIAGE_MEASURES];
};

/* Take their measures; build what tables they need. */
int triage_take_totals(struct triage *t, struct hdb_error *err);
int triage_take_scan(struct triage *t, struct hdb_error *err);
int triage_take_strings(struct triage *t, struct hdb_error *err);
int triage_take_loaders(struct triage *t, struct hdb_error *err);
/* By what the thread that retains most holds it; after triage_take_scan, which finds the thread. */
int triage_explain_pin(struct triage *t, struct hdb_error *err);

/* Takes the thread-local values whose entries are given, uint32_t. */
int triage_take_locals(struct triage *t, const struct base_vec *ixs, struct hdb_error *err);

/*
 * Fields by name: made for the pass over all objects, which adds reachable instances; then each is
 * looked at. Close *out in any case.
 */
struct triage_fields;
int triage_fields_open(struct triage *t, struct triage_fields **out, struct hdb_error *err);
int triage_fields_add(struct triage_fields *fields, uint32_t ix, uint32_t class_no,
		      struct hdb_error *err);
int triage_fields_look(struct triage *t, struct triage_fields *fields, struct hdb_error *err);
void triage_fields_close(struct triage_fields *fields);

#endif
