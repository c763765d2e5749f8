/*
 * queries/leaks/leak_findings.h - the findings of the leaks query without their rows: suspects,
 * faults and owners of memory outside the heap, each with its owner and the rule that explains it.
 * The explain query begins with the same findings.
 */
#ifndef QUERIES_LEAKS_LEAK_FINDINGS_H
#define QUERIES_LEAKS_LEAK_FINDINGS_H

#include "analysis/suspects.h"
#include "queries/explain/rules.h"
#include "queries/leaks/leak_parts.h"

#include <assert.h>

/* A suspect to report: a large object or group, or a fault of any size. */
struct leak_finding {
	struct analysis_suspect suspect; /* borrows its members from leak_findings.suspects */
	struct query_leak_path path;
	struct query_leak_owner owner;
	struct explain_answer answer; /* rule is NULL if no rule matches */
	/*
	 * whether a rule found the object of the finding, so that its size may be below the
	 * threshold
	 */
	bool is_fault;
	uint64_t more; /* number of further faults of the same kind */
	/* size of the memory outside the heap, if the finding is about such memory */
	uint64_t outside_bytes;
	bool is_of_library; /* whether a library owns this memory, such as a pool of buffers */
	uint64_t part;      /* number of this finding in the answer */
	/* name or pattern of the threads to inspect, or "" */
	char threads[LEAK_PATTERN_MAX];
};

struct leak_findings {
	struct analysis_suspects suspects;
	struct base_vec list; /* struct leak_finding: suspects in order of size, then faults */
	struct explain_rules rules;
	unsigned percent; /* minimum share of the heap for a suspect */
	bool is_full;     /* whether the heap is nearly full */
};

static inline struct leak_finding *leak_finding_at(const struct leak_findings *l, size_t i)
{
	assert(i < l->list.count);
	return base_vec_at(&l->list, struct leak_finding, i);
}

/*
 * Position of a finding in the answer. Leaks come first because they are certain, whereas a large
 * object may be intended; only a suspect that retains half of the heap precedes them. Objects that
 * are large by design come last.
 */
enum leak_place {
	LEAK_PLACE_FAULTS,
	LEAK_PLACE_LEAKS,
	LEAK_PLACE_OTHERS,
	LEAK_PLACE_LATE_FAULTS,
	LEAK_PLACE_SETTINGS,
	LEAK_PLACE_BY_DESIGN,
	LEAK_PLACES
};

enum leak_place leak_place_of(const struct leak_findings *l, const struct leak_finding *f);

/*
 * Opens the rules, and finds the suspects that retain at least this share of the heap. The caller
 * must release *out, even after a failure.
 */
int leak_findings_open(struct query *q, unsigned percent, struct leak_findings *out,
		       struct hdb_error *err);
/* Finds the owners of the suspects, the rules that explain them, and other faults. */
int leak_findings_find(struct query *q, struct leak_findings *l, struct hdb_error *err);
/*
 * Appends a finding that is not a suspect, with the object, the size and the accumulation point
 * (kept_ix) of its answer, and finds the path to that point. Invalidates earlier pointers to
 * findings; *out is valid until the next call.
 */
int leak_findings_add(struct query *q, struct leak_findings *l, const struct explain_answer *answer,
		      struct leak_finding **out, struct hdb_error *err);
/* Returns a rule of leak_findings.rules, which must exist. */
const struct explain_rule *leak_rule(const char *name);
void leak_findings_release(struct query *q, struct leak_findings *l);

#endif
