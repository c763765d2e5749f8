/*
 * queries/triage/triage.h - the rules of the triage query, and the measurements that they apply to.
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
	/* a class, or HEAP_NONE; if there are several classes, the class with the most objects */
	uint32_t class_no;
	uint64_t class_count; /* number of its objects */
	/*
	 * 0 if all objects were counted; otherwise, the size of the sample from which these figures
	 * were estimated
	 */
	uint64_t sampled;
	bool is_outside;   /* whether the bytes are outside the heap */
	bool has_no_bytes; /* whether the measure is a count without a size */
	char detail[2060]; /* details for the message */
};

/* All measurements, and the totals that they are compared with. */
struct triage {
	struct query *q;
	struct analysis_groups classes; /* counts by class, of the objects that rows show */
	uint64_t whole_bytes;           /* shallow size of all reachable objects */
	/* retained size of all roots, which is 100 % of the reachable heap */
	uint64_t retained_bytes;
	uint64_t all_bytes; /* shallow size of all objects, including garbage */
	struct analysis_verdict verdict;
	bool is_outside_listed; /* whether the overview already lists the owner of direct memory */
	struct analysis_limit limit;
	struct triage_figure figures[TRIAGE_MEASURES];
};

/* Rows of the leaks query that make a finding redundant in an overview: `leaks` in triage.rules. */
enum triage_in_leaks {
	TRIAGE_NOT_IN_LEAKS,
	TRIAGE_IS_SUSPECT,
	TRIAGE_IS_LEAKING,
	TRIAGE_IS_OUTSIDE, /* the owner of direct memory */
	TRIAGE_IS_HOLDER,  /* a suspect of about the same size that holds the example */
	TRIAGE_IS_LOADERS  /* closed class loaders, or a suspect as above */
};

/* Returns which rows of leaks report the same thing as this row of triage. */
enum triage_in_leaks triage_in_leaks(const struct query *row);

/* Returns the number in a column of another query's row, or 0 if the cell is null. */
uint64_t triage_number(const struct query *row, const char *column);

/*
 * Adds a row of the leaks query to a verdict; NULL after the last row. `current` is the suspect
 * that the row belongs to.
 */
void triage_take_verdict(struct analysis_verdict *best, struct analysis_verdict *current,
			 const struct query *row);
/* Runs the leaks query for its verdict. */
int triage_read_leaks(struct query *q, struct analysis_verdict *out, struct hdb_error *err);

/* Take measurements, and build the tables that they need. */
int triage_take_totals(struct triage *t, struct hdb_error *err);
/*
 * Sets *out to whether rows depend on the size of a measure with a known count, assuming that the
 * size is at most bytes_max.
 */
int triage_wants_bytes(struct triage *t, enum triage_measure_no measure, uint64_t bytes_max,
		       bool *out, struct hdb_error *err);
/* Sets *out to whether a rule may depend on the measure weak-only. */
int triage_counts_weak(struct triage *t, bool *out, struct hdb_error *err);
int triage_take_scan(struct triage *t, struct hdb_error *err);
int triage_take_strings(struct triage *t, struct hdb_error *err);
int triage_take_loaders(struct triage *t, struct hdb_error *err);
/*
 * Names the owner of the most buffer memory, as added up by owner in triage_take_scan, which must
 * be called first.
 */
int triage_take_buffers(struct triage *t, struct hdb_error *err);
/* Measures threads. Requires triage_take_totals, which counts them. */
int triage_take_threads(struct triage *t, struct hdb_error *err);
/*
 * Describes the objects that are held by the thread that retains the most. Requires
 * triage_take_scan, which finds the thread.
 */
int triage_explain_pin(struct triage *t, struct hdb_error *err);

/* Measures thread-local values from their entries `ixs` (uint32_t). */
int triage_take_locals(struct triage *t, const struct base_vec *ixs, struct hdb_error *err);

/*
 * Measures fields by name. Must be opened before the pass over all objects, which adds reachable
 * instances. After the pass, triage_fields_look examines these instances. The caller must close
 * *out, even after a failure.
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
