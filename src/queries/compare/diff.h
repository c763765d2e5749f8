/*
 * queries/compare/diff.h - what the parts of the query diff share. Private to them.
 */
#ifndef QUERIES_COMPARE_DIFF_H
#define QUERIES_COMPARE_DIFF_H

#include "analysis/merged.h"
#include "query/query.h"

/* Columns, in the order of the spec. */
enum diff_column {
	DIFF_LEVEL,
	DIFF_STATUS,
	DIFF_ID,
	DIFF_NAME,
	DIFF_LOADER,
	DIFF_COUNT_BEFORE,
	DIFF_COUNT,
	DIFF_COUNT_DELTA,
	DIFF_SHALLOW_BEFORE,
	DIFF_SHALLOW,
	DIFF_SHALLOW_DELTA,
	DIFF_RETAINED_BEFORE,
	DIFF_RETAINED,
	DIFF_RETAINED_DELTA,
	DIFF_PERCENT,
	DIFF_GROWS,
	DIFF_STEPS,
	DIFF_POINT,
	DIFF_POINT_OF,
	DIFF_POINT_ID,
	DIFF_POINT_DELTA,
	DIFF_OTHERS,
	DIFF_COUNTS,
	DIFF_ALONE,
	DIFF_HELD,
	DIFF_OWNER_BEFORE,
	DIFF_TEXT
};

enum diff_by {
	DIFF_BY_GROUP,
	DIFF_BY_OBJECT,
	DIFF_BY_PATH,
	DIFF_BY_DOMINATOR,
	DIFF_BY_SUSPECT,
	DIFF_BY_GROWTH,
	DIFF_BY_OWNER
};

/* Columns by path and by dominator. */
#define DIFF_TREE_COLUMNS \
	"level,status,name,objects_before,objects,objects_delta,retained_before,retained," \
	"retained_delta,percent,id"

/* A dump's figures of one row. */
struct diff_figures {
	uint64_t count, shallow_bytes, retained_bytes;
};

struct diff_groups;
struct diff_objects;
struct diff_tree;
struct diff_growth;
struct diff_owners;

/* Who is handed what both dumps have, by index in the oldest and in the newest. */
struct diff_pairs {
	int (*take)(void *ctx, uint32_t before_ix, uint32_t ix, struct hdb_error *err);
	void *ctx;
};

struct diff {
	struct session *sides; /* one a dump, oldest first; to read by, never to make rows with */
	size_t side_count;
	uint64_t *whole_bytes; /* by side: reachable bytes */
	enum diff_by by;
	enum derive_group group;
	const char *only; /* pattern of names, or NULL */
	struct diff_groups *groups;
	struct diff_objects *objects;
	struct diff_tree *tree;
	struct diff_growth *growth;
	struct diff_owners *owners;
};

/* Sets the columns of count, shallow and retained, deltas, percent, grows, steps and status. */
int diff_set_figures(struct query *q, const struct diff *d, const struct diff_figures *by_side,
		     struct hdb_error *err);

/*
 * Each part: opens (rows counted, or QUERY_TOTAL_UNKNOWN, with which rows of objects alone come one
 * by one until HDB_END), fills in a row, frees what it has, if anything.
 */
int diff_groups_open(struct query *q, struct diff *d, struct hdb_error *err);
int diff_groups_row(struct query *q, struct diff *d, size_t no, struct hdb_error *err);
void diff_groups_close(struct diff *d);

int diff_objects_open(struct query *q, struct diff *d, struct hdb_error *err);
int diff_objects_row(struct query *q, struct diff *d, size_t no, struct hdb_error *err);
void diff_objects_close(struct diff *d);

/*
 * Hands on what is reachable in the oldest dump and in the newest, with one ID, class and length;
 * *match: whether groups of objects can be matched so, which is known only at the end. Sets the
 * facts.
 */
int diff_match_ids(struct query *q, struct diff *d, const struct diff_pairs *pairs, bool *match,
		   struct hdb_error *err);

int diff_tree_open(struct query *q, struct diff *d, struct hdb_error *err);
int diff_tree_row(struct query *q, struct diff *d, size_t no, struct hdb_error *err);
void diff_tree_close(struct diff *d);

int diff_growth_open(struct query *q, struct diff *d, struct hdb_error *err);
int diff_growth_row(struct query *q, struct diff *d, size_t no, struct hdb_error *err);
void diff_growth_close(struct diff *d);

int diff_owners_open(struct query *q, struct diff *d, struct hdb_error *err);
int diff_owners_row(struct query *q, struct diff *d, size_t no, struct hdb_error *err);
void diff_owners_close(struct diff *d);

/* Counts new suspects, whatever the rows are. */
int diff_count_suspects(struct query *q, uint64_t *count, struct hdb_error *err);

#endif
