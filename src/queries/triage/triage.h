/*
 * queries/triage/triage.h - the rules of the triage query: what is measured in a heap, and the
 * values from which it is reported.
 *
 * Rules (triage.rules) and the measured items (the other .rules files) are data; the C files
 * measure.
 */
#ifndef QUERIES_LEAKS_TRIAGE_H
#define QUERIES_LEAKS_TRIAGE_H

#include "analysis/properties.h"
#include "query/query.h"

/* What is measured. */
#define MEASURE(name, one, many) TRIAGE_##name
enum triage_measure_no {
#include <queries/triage/measures.rows.h>
	TRIAGE_MEASURES
};
#undef MEASURE

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
	uint64_t whole_bytes; /* shallow size of all reachable objects */
	/* retained size of all roots, which is 100 % of the reachable heap */
	uint64_t retained_bytes;
	uint64_t all_bytes;     /* reachable or not: 100 % of garbage */
	uint64_t suspect_count; /* number of suspects of the leaks query */
	struct analysis_limit limit;
	struct triage_figure figures[TRIAGE_MEASURES];
};

/* Take the measurements, and build the tables they need. */
int triage_take_totals(struct triage *t, struct hdb_error *err);
int triage_take_scan(struct triage *t, struct hdb_error *err);
int triage_take_strings(struct triage *t, struct hdb_error *err);
int triage_take_loaders(struct triage *t, struct hdb_error *err);
/*
 * Names the owner of most buffer memory. Call it after triage_take_scan, which sums the memory by
 * owner.
 */
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
 * Measurements of fields by name. Must be opened before the pass over all objects, which adds
 * reachable instances and then examines each of them. The caller must close *out, even after a
 * failure.
 */
struct triage_fields;
int triage_fields_open(struct triage *t, struct triage_fields **out, struct hdb_error *err);
/* Returns whether instances of a class have such fields; on any thread. */
bool triage_fields_has(const struct triage_fields *fields, uint32_t class_no);
int triage_fields_add(struct triage_fields *fields, uint32_t ix, uint32_t class_no,
		      struct hdb_error *err);
int triage_fields_look(struct triage *t, struct triage_fields *fields, struct hdb_error *err);
void triage_fields_close(struct triage_fields *fields);

#endif
