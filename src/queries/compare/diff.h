/*
 * queries/compare/diff.h - shared by the parts of the diff query, and private to them.
 *
 * Each part implements one kind of comparison (--by), or several along one tree. A "side" is one of
 * the dumps, sorted from oldest to newest.
 */
#ifndef QUERIES_COMPARE_DIFF_H
#define QUERIES_COMPARE_DIFF_H

#include "analysis/merged.h"
#include "query/conditions.h"
#include "query/coverage.h"
#include "query/query.h"

/* defines the columns (DIFF_LEVEL, ...) and the rest of the query */
#include <queries/compare/q_diff.query.h>

/*
 * Kinds of comparison, in the order of the values of --by. DIFF_BY_GROUP covers class, superclass,
 * package and loader.
 */
enum diff_by {
	DIFF_BY_GROUP,
	DIFF_BY_OBJECT,
	DIFF_BY_PATH,
	DIFF_BY_DOMINATOR,
	DIFF_BY_SUSPECT,
	DIFF_BY_GROWTH,
	DIFF_BY_OWNER
};

/* Columns of comparisons by path and by dominator. */
#define DIFF_TREE_COLUMNS \
	"level,status,name,objects_before,objects,objects_delta,retained_before,retained," \
	"retained_delta,percent,id"

/* The figures of one dump in a row. */
struct diff_figures {
	uint64_t count, shallow_bytes, retained_bytes;
};

/*
 * Receives the objects that both dumps contain, as pairs of indexes in the oldest and the newest
 * dump.
 */
struct diff_pairs {
	int (*take)(void *ctx, uint32_t before_ix, uint32_t ix, struct hdb_error *err);
	void *ctx;
};

/* State of the query. */
struct diff {
	/* one per dump, oldest first; only for reading, because rows belong to the query */
	struct session *sides;
	size_t side_count;
	uint64_t *whole_bytes; /* indexed by side: size of the reachable objects */
	enum diff_by by;
	enum derive_group group;
	const char *only; /* pattern of names, or NULL */
	void *part;       /* state of the part; owned */
};

/* A part of the query. */
struct diff_part {
	size_t state_size; /* size of diff.part, which is zeroed before `open` */
	/*
	 * Sets q->total to the number of rows. If the number is unknown, sets QUERY_TOTAL_UNKNOWN,
	 * and rows are read one by one until HDB_END.
	 */
	int (*open)(struct query *q, struct diff *d, struct hdb_error *err);
	int (*row)(struct query *q, struct diff *d, size_t no, struct hdb_error *err);
	/* Frees the contents of the state, even after a failure of `open`. May be NULL. */
	void (*close)(struct diff *d);
};

extern const struct diff_part diff_groups, diff_objects, diff_tree, diff_growth, diff_owners;

/*
 * Sets a column to the retained size in each dump, or the number of objects for DIFF_COUNTS: "1200
 * 1340 1500".
 */
int diff_set_steps(struct query *q, const struct diff *d, const struct diff_figures *by_side,
		   size_t column, struct hdb_error *err);
/*
 * Sets the count, shallow and retained columns, their differences, and the percent, grows, steps
 * and status columns.
 */
int diff_set_figures(struct query *q, const struct diff *d, const struct diff_figures *by_side,
		     struct hdb_error *err);

/*
 * Passes on the objects that are reachable in both the oldest and the newest dump with the same ID,
 * class and length. At the end, sets *match to whether IDs are reliable enough to match groups of
 * objects. Sets the facts about IDs.
 */
int diff_match_ids(struct query *q, const struct diff_pairs *pairs, bool *match,
		   struct hdb_error *err);

/* Counts new suspects for --fail-if, whatever the kind of comparison. */
int diff_count_suspects(struct query *q, uint64_t *count, struct hdb_error *err);

#endif
