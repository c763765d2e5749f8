/*
 * queries/triage/triage.h - the rules of the triage query, and the measurements to which they
 * apply.
 *
 * The rules (triage.rules) and the measured items (the other .rules files) are data. The C files
 * measure.
 */
#ifndef QUERIES_LEAKS_TRIAGE_H
#define QUERIES_LEAKS_TRIAGE_H

#include "analysis/groups.h"
#include "analysis/properties.h"
#include "analysis/suspects.h"
#include "query/query.h"

/* The measures. */
#define MEASURE(name, one, many) TRIAGE_##name
enum triage_measure_no {
#include <queries/triage/measures.rows.h>
	TRIAGE_MEASURES
};
#undef MEASURE

/* One measurement. */
struct triage_figure {
	uint64_t count, bytes;
	uint32_t ix; /* an example object, or HEAP_NONE */
	/* a class, or HEAP_NONE; if several, the class with the most objects */
	uint32_t class_no;
	uint64_t class_count; /* number of its objects */
	/* 0 if all were counted; otherwise the numbers are estimates from this many objects */
	uint64_t sampled;
	bool is_outside;   /* whether the bytes are outside the heap */
	bool has_no_bytes; /* whether the measure is a count without a size */
	char detail[2060]; /* details for the message */
};

/* All measurements, and the totals with which they are compared. */
struct triage {
	struct query *q;
	struct analysis_groups classes; /* counts by class of the objects that rows are about */
	uint64_t whole_bytes;           /* shallow size of all reachable objects */
	/* retained size of all roots, which is 100 % of the reachable heap */
	uint64_t retained_bytes;
	uint64_t all_bytes; /* shallow size of all objects, of which garbage is a part */
	struct analysis_verdict verdict;
	bool is_outside_listed; /* whether the overview already has the owner of direct memory */
	struct analysis_limit limit;
	struct triage_figure figures[TRIAGE_MEASURES];
};

/* Rows of the leaks query that replace a finding in an overview: `leaks` in triage.rules. */
enum triage_in_leaks {
	TRIAGE_NOT_IN_LEAKS,
	TRIAGE_IS_SUSPECT,
	TRIAGE_IS_LEAKING,
	TRIAGE_IS_OUTSIDE, /* the owner of direct memory */
	TRIAGE_IS_HOLDER,  /* a suspect about as large that holds the example */
	TRIAGE_IS_LOADERS  /* closed class loaders, or such a holder */
};

/* Returns the rows of leaks that report the same thing as the rule of this row of triage. */
enum triage_in_leaks triage_in_leaks(const struct query *row);

/* Returns the number in a column of another query's row, or 0 if the cell is null. */
uint64_t triage_number(const struct query *row, const char *column);

/*
 * Adds a row of the leaks query to a verdict. `row` is NULL after the last row. `current` is the
 * suspect to which the rows belong.
 */
void triage_take_verdict(struct analysis_verdict *best, struct analysis_verdict *current,
			 const struct query *row);
/* Runs the leaks query for its verdict. */
int triage_read_leaks(struct query *q, struct analysis_verdict *out, struct hdb_error *err);

/* Take the measurements, and build the tables they need. */
int triage_take_totals(struct triage *t, struct hdb_error *err);
/*
 * Determines whether rows depend on the bytes of a measure whose count is known, if there are at
 * most bytes_max.
 */
int triage_wants_bytes(struct triage *t, enum triage_measure_no measure, uint64_t bytes_max,
		       bool *out, struct hdb_error *err);
/* Determines whether the measure weak-only must be taken, because a rule may depend on it. */
int triage_counts_weak(struct triage *t, bool *out, struct hdb_error *err);
int triage_take_scan(struct triage *t, struct hdb_error *err);
int triage_take_strings(struct triage *t, struct hdb_error *err);
int triage_take_loaders(struct triage *t, struct hdb_error *err);
/*
 * Names the owner of most buffer memory. Must be called after triage_take_scan, which adds up the
 * memory by owner.
 */
int triage_take_buffers(struct triage *t, struct hdb_error *err);
/* Measures threads. Must be called after triage_take_totals, which counts all threads. */
int triage_take_threads(struct triage *t, struct hdb_error *err);
/*
 * Describes the objects held by the thread that retains the most. Must be called after
 * triage_take_scan, which finds this thread.
 */
int triage_explain_pin(struct triage *t, struct hdb_error *err);

/* Measures thread-local values. `ixs` contains their entries (uint32_t). */
int triage_take_locals(struct triage *t, const struct base_vec *ixs, struct hdb_error *err);

/*
 * Measurements of fields by name. They must be opened before the pass over all objects, which adds
 * reachable instances and then examines each of them. The caller must close *out, even after a
 * failure.
 */
struct triage_fields;
int triage_fields_open(struct triage *t, struct triage_fields **out, struct hdb_error *err);
/* Returns whether instances of a class have such fields. May be called on any thread. */
bool triage_fields_has(const struct triage_fields *fields, uint32_t class_no);
int triage_fields_add(struct triage_fields *fields, uint32_t ix, uint32_t class_no,
		      struct hdb_error *err);
int triage_fields_look(struct triage *t, struct triage_fields *fields, struct hdb_error *err);
void triage_fields_close(struct triage_fields *fields);

#endif
