/*
 * queries/compare/diff.h - declarations shared by the parts of query diff. Private to them.
 *
 * Each part compares in one way (--by) and has three functions: _open counts the rows, _row fills
 * in one of them, _close frees what the part has, and accepts a part that was never opened. A
 * "side" is one of the dumps, oldest first.
 */
#ifndef QUERIES_COMPARE_DIFF_H
#define QUERIES_COMPARE_DIFF_H

#include "analysis/merged.h"
#include "query/query.h"

/* Number, type, name, title and meaning of each column. */
#define DIFF_COLUMNS(X) \
	X(DIFF_LEVEL, COUNT, "level", "level", \
	  "Level in the tree. 0 is the top. Only with --by path or dominator.") \
	X(DIFF_STATUS, TEXT, "status", "status", \
	  "Change since the oldest dump: new, gone, moved, grown, shrunk or same") \
	X(DIFF_ID, ID, "id", "id", \
	  "ID of the object or of the largest object. For gone objects, the ID in the oldest " \
	  "dump.") \
	X(DIFF_NAME, TEXT, "name", "name", \
	  "Name of the class, package, loader or object. \"class X\" is a class object (static " \
	  "fields).") \
	X(DIFF_LOADER, TEXT, "loader", "loader", \
	  "Class loader of the class. Only with --by class or superclass.") \
	X(DIFF_COUNT_BEFORE, COUNT, "objects_before", "objects before", \
	  "Number of reachable objects in the oldest dump") \
	X(DIFF_COUNT, COUNT, "objects", "objects", \
	  "Number of reachable objects in the newest " \
	  "dump") \
	X(DIFF_COUNT_DELTA, INT, "objects_delta", "+ objects", \
	  "Increase in the number of objects") \
	X(DIFF_SHALLOW_BEFORE, BYTES, "shallow_before", "shallow before", \
	  "Shallow size of the objects in the oldest dump") \
	X(DIFF_SHALLOW, BYTES, "shallow", "shallow", \
	  "Shallow size of the objects in the newest dump") \
	X(DIFF_SHALLOW_DELTA, INT, "shallow_delta", "+ shallow", "Increase in shallow size") \
	X(DIFF_RETAINED_BEFORE, BYTES, "retained_before", "retained before", \
	  "Retained size in the oldest dump. The meaning depends on --by: see heapdb-queries(1).") \
	X(DIFF_RETAINED, BYTES, "retained", "retained", "Retained size in the newest dump") \
	X(DIFF_RETAINED_DELTA, INT, "retained_delta", "+ retained", "Increase in retained size") \
	X(DIFF_PERCENT, PERCENT, "percent", "%", \
	  "Increase in retained size as a share of the oldest dump's reachable heap") \
	X(DIFF_GROWS, BOOL, "grows", "grows", \
	  "Whether the retained size rose from each dump to the next. Only with more than two " \
	  "dumps.") \
	X(DIFF_STEPS, TEXT, "steps", "retained by dump", \
	  "Retained size in each dump, oldest first. Only with more than two dumps.") \
	X(DIFF_POINT, TEXT, "point", "grows in", \
	  "Path down the dominator tree to the accumulation point. Only with --by suspect.") \
	X(DIFF_POINT_OF, TEXT, "point_of", "by", \
	  "Path from the accumulation point to the node where the growth divides. Only with " \
	  "--by suspect.") \
	X(DIFF_POINT_ID, ID, "point_id", "in object", \
	  "ID of the largest object at the accumulation point, in the newest dump. Only with " \
	  "--by suspect.") \
	X(DIFF_POINT_DELTA, INT, "point_delta", "+ there", \
	  "Increase in retained size at the accumulation point. Only with --by suspect.") \
	X(DIFF_OTHERS, COUNT, "others", "others", \
	  "Number of small nodes combined in this row. Only with --by path or dominator.") \
	X(DIFF_COUNTS, TEXT, "counts", "objects by dump", \
	  "Number of objects in each dump, oldest first. Only with --by growth.") \
	X(DIFF_ALONE, BYTES, "retained_alone", "retained alone", \
	  "Retained size not reached from other rows. Only with --by growth.") \
	X(DIFF_HELD, TEXT, "held", "what", \
	  "Class that changed most in the owner. Only with --by owner.") \
	X(DIFF_OWNER_BEFORE, TEXT, "owner_before", "owner before", \
	  "Owner of most of the row's objects in the oldest dump, if different. Only with --by " \
	  "owner.") \
	X(DIFF_TEXT, TEXT, "text", "summary", \
	  "Sentence that describes the row. Only with --by owner.")
enum diff_column { DIFF_COLUMNS(QUERY_NUMBER) };

/* What to compare by; the values of option "by" after the groups, in the same order. */
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

/* The numbers of one dump in one row. */
struct diff_figures {
	uint64_t count, shallow_bytes, retained_bytes;
};

struct diff_groups;
struct diff_objects;
struct diff_tree;
struct diff_growth;
struct diff_owners;

/* Receives the objects that both dumps have: index in the oldest and in the newest. */
struct diff_pairs {
	int (*take)(void *ctx, uint32_t before_ix, uint32_t ix, struct hdb_error *err);
	void *ctx;
};

/* State of the query. */
struct diff {
	/* one per dump, oldest first; for reading only, rows belong to the query */
	struct session *sides;
	size_t side_count;
	uint64_t *whole_bytes; /* by side: size of the reachable objects */
	enum diff_by by;
	enum derive_group group;
	const char *only; /* pattern of names, or NULL */
	struct diff_groups *groups;
	struct diff_objects *objects;
	struct diff_tree *tree;
	struct diff_growth *growth;
	struct diff_owners *owners;
};

/*
 * Sets a column to the retained size in each dump, or for DIFF_COUNTS to the number of objects:
 * "1200 1340 1500".
 */
int diff_set_steps(struct query *q, const struct diff *d, const struct diff_figures *by_side,
		   size_t column, struct hdb_error *err);
/*
 * Sets the columns count, shallow, retained, their differences, percent, grows, steps and status.
 */
int diff_set_figures(struct query *q, const struct diff *d, const struct diff_figures *by_side,
		     struct hdb_error *err);

/*
 * The parts. q->total is the number of rows, or QUERY_TOTAL_UNKNOWN: then (only for objects) rows
 * are read one by one until HDB_END.
 */
int diff_groups_open(struct query *q, struct diff *d, struct hdb_error *err);
int diff_groups_row(struct query *q, struct diff *d, size_t no, struct hdb_error *err);
void diff_groups_close(struct diff *d);

int diff_objects_open(struct query *q, struct diff *d, struct hdb_error *err);
int diff_objects_row(struct query *q, struct diff *d, size_t no, struct hdb_error *err);
void diff_objects_close(struct diff *d);

/*
 * Passes on all objects that are reachable in the oldest and in the newest dump and have the same
 * ID, class and length in both. *match is whether IDs are reliable enough to match groups of
 * objects; it is known only at the end. Sets facts about IDs.
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

/* Counts suspects that are new, for --fail-if. Works for every kind of comparison. */
int diff_count_suspects(struct query *q, uint64_t *count, struct hdb_error *err);

#endif
