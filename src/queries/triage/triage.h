/*
 * queries/triage/triage.h - the rules of query triage: what is measured in a heap, and from which
 * values on it is reported.
 *
 * Rules (triage.rules) and what they measure (the other .rules files) are data; the C files do the
 * measuring.
 */
#ifndef QUERIES_LEAKS_TRIAGE_H
#define QUERIES_LEAKS_TRIAGE_H

#include "analysis/properties.h"
#include "query/query.h"

/*
 * What is measured: a number of things and their bytes. Name, what it counts, of one thing and of
 * others.
 */
#define TRIAGE_MEASURE_LIST(X) \
	/* triage_totals.c: from totals, roots and the dominator tree */ \
	/* the largest leak suspect and what it retains */ \
	X(SUSPECT, "leak suspect", "leak suspects") \
	/* unreachable objects, without what may be fillers */ \
	X(GARBAGE, "object", "objects") \
	/* everything reachable */ \
	X(HEAP, "heap", "heaps") \
	/* the dump was made when a thread ran out of memory */ \
	X(OUT_OF_MEMORY, "thread that ran out of memory", "threads that ran out of memory") \
	X(CLASSES, "class", "classes") \
	/* objects whose life cycle is over; bytes: what those reported by leaks retain */ \
	X(SHOULD_BE_GONE, "leaking object", "leaking objects") \
	/* objects that JNI holds, and what these retain */ \
	X(JNI_GLOBALS, "object", "objects") \
	/* arrays that the collector leaves in gaps */ \
	X(FILLERS, "array", "arrays") \
	/* the class with most small objects */ \
	X(MANY_SMALL, "object", "objects") \
	/* by names of classes: classes.rules */ \
	X(BOXED, "object", "objects") \
	X(FINALIZERS, "object", "objects") \
	X(SESSIONS, "session", "sessions") \
	X(LISTENERS, "listener", "listeners") \
	X(CONNECTIONS, "connection", "connections") \
	X(REFLECTION, "object", "objects") \
	X(LOADERS, "class loader", "class loaders") \
	X(THREADS, "thread", "threads") \
	X(STATEMENTS, "statement", "statements") \
	X(ZIP, "object", "objects") \
	X(EXCEPTIONS, "exception", "exceptions") \
	/* triage_scan.c: from a pass over all objects, and the values of some */ \
	/* objects that only weak, soft, phantom or final references keep */ \
	X(WEAK_ONLY, "object", "objects") \
	/* the largest primitive array */ \
	X(BIG_PRIMITIVE, "array", "arrays") \
	/* the thread that retains most */ \
	X(THREAD_PIN, "thread", "threads") \
	/* the map of thread-local values that retains most */ \
	X(THREAD_LOCALS, "thread", "threads") \
	/* thread-local values whose key is gone */ \
	X(STALE_LOCALS, "value", "values") \
	/* hash maps whose keys share slots; bytes: what these retain */ \
	X(COLLISIONS, "hash map", "hash maps") \
	/* weak references whose value keeps their own key */ \
	X(WEAK_LEAK, "entry", "entries") \
	/* memory outside the heap that cleaners of buffers will free */ \
	X(DIRECT_BUFFERS, "buffer", "buffers") \
	/* the same of mapped files */ \
	X(MAPPED, "mapped file", "mapped files") \
	/* collections at most half full, bytes of free slots */ \
	X(SPARSE, "collection", "collections") \
	/* collections without elements, their bytes */ \
	X(EMPTY, "collection", "collections") \
	/* strings of which there is an equal one, their bytes */ \
	X(DUPLICATE_STRINGS, "string", "strings") \
	/* triage_locals.c; count: threads, values */ \
	/* the ThreadLocal whose values retain most, over all threads */ \
	X(LOCALS_OF_ONE, "thread", "threads") \
	/* the class whose objects retain most as thread-local values */ \
	X(LOCALS_OF_CLASS, "value", "values") \
	/* triage_threads.c: threads that wait for each other; threads that were never started */ \
	X(DEADLOCK, "thread", "threads") \
	X(NEW_THREADS, "thread", "threads") \
	/* triage_fields.c: the collection that matters, its elements, what it retains */ \
	X(HELD_LISTENERS, "listener", "listeners") \
	X(TASKS, "task", "tasks") \
	X(DELETE_ON_EXIT, "file name", "file names") \
	/* triage_loaders.c */ \
	/* class loaders that were closed and are still there */ \
	X(CLOSED_LOADER, "class loader", "class loaders") \
	/* most class loaders that have a class of the same name */ \
	X(TWIN_LOADERS, "class loader", "class loaders")

#define TRIAGE_MEASURE_NAME(name, one, many) TRIAGE_##name,
enum triage_measure_no { TRIAGE_MEASURE_LIST(TRIAGE_MEASURE_NAME) TRIAGE_MEASURES };

/* One measurement. */
struct triage_figure {
	uint64_t count, bytes;
	uint32_t ix;          /* an object as an example, or HEAP_NONE */
	uint32_t class_no;    /* a class, or HEAP_NONE; of several, the one with most objects */
	uint64_t class_count; /* number of its objects */
	uint64_t sampled;     /* 0: counted; otherwise estimated from this many objects */
	bool is_outside;      /* bytes are not part of the heap */
	bool has_no_bytes;    /* only a number of things */
	char detail[1024];    /* details for the message */
};

/* All measurements, and the totals they are compared with. */
struct triage {
	struct query *q;
	uint64_t whole_bytes;    /* shallow size of all reachable objects */
	uint64_t retained_bytes; /* retained size of all roots: 100 % of what is reachable */
	uint64_t all_bytes;      /* reachable or not: 100 % of garbage */
	uint64_t suspect_count;  /* number of suspects of query leaks */
	struct analysis_limit limit;
	struct triage_figure figures[TRIAGE_MEASURES];
};

/* Take the measurements, and build the tables they need. */
int triage_take_totals(struct triage *t, struct hdb_error *err);
int triage_take_scan(struct triage *t, struct hdb_error *err);
int triage_take_strings(struct triage *t, struct hdb_error *err);
int triage_take_loaders(struct triage *t, struct hdb_error *err);
/* Names who owns most memory of buffers. Call it after triage_take_scan, which adds it up. */
int triage_take_buffers(struct triage *t, struct hdb_error *err);
/* Call it after triage_take_totals, which counts all threads. */
int triage_take_threads(struct triage *t, struct hdb_error *err);
/*
 * Describes what the thread that retains most holds. Call it after triage_take_scan, which finds
 * that thread.
 */
int triage_explain_pin(struct triage *t, struct hdb_error *err);

/* Measures thread-local values, given their entries (uint32_t). */
int triage_take_locals(struct triage *t, const struct base_vec *ixs, struct hdb_error *err);

/*
 * Measurements of fields by name. Open before the pass over all objects, which adds reachable
 * instances; then each of them is examined. The caller closes *out, also after a failure.
 */
struct triage_fields;
int triage_fields_open(struct triage *t, struct triage_fields **out, struct hdb_error *err);
/* Whether instances of a class have such fields; on any thread. */
bool triage_fields_has(const struct triage_fields *fields, uint32_t class_no);
int triage_fields_add(struct triage_fields *fields, uint32_t ix, uint32_t class_no,
		      struct hdb_error *err);
int triage_fields_look(struct triage *t, struct triage_fields *fields, struct hdb_error *err);
void triage_fields_close(struct triage_fields *fields);

#endif
