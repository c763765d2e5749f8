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
	  "by path and dominator: 0 for the top level, roots; what is below follows") \
	X(DIFF_STATUS, TEXT, "status", "status", \
	  "new: not in the oldest dump; gone: not in the newest; moved: by path, dominator and " \
	  "suspect, new there, but others of the same owner or class have lost as many; grown, " \
	  "shrunk or same: by retained bytes, or, if they are the same, by objects") \
	X(DIFF_ID, ID, "id", "id", \
	  "by object the object, a gone one's in the oldest dump; by path, dominator and " \
	  "suspect the object of the newest dump that retains most of those in the row") \
	X(DIFF_NAME, TEXT, "name", "name", \
	  "class, package, loader or object; \"class X\" is the class object of X, which holds " \
	  "its static fields") \
	X(DIFF_LOADER, TEXT, "loader", "loader", \
	  "class of the class's loader; by class and superclass") \
	X(DIFF_COUNT_BEFORE, COUNT, "objects_before", "objects before", \
	  "reachable objects in the oldest dump") \
	X(DIFF_COUNT, COUNT, "objects", "objects", "in the newest") \
	X(DIFF_COUNT_DELTA, INT, "objects_delta", "+ objects", "how many more") \
	X(DIFF_SHALLOW_BEFORE, BYTES, "shallow_before", "shallow before", \
	  "bytes of these objects themselves in the oldest dump") \
	X(DIFF_SHALLOW, BYTES, "shallow", "shallow", "in the newest") \
	X(DIFF_SHALLOW_DELTA, INT, "shallow_delta", "+ shallow", "how many more") \
	X(DIFF_RETAINED_BEFORE, BYTES, "retained_before", "retained before", \
	  "in the oldest dump: of groups the lower bound (as in histogram); by path the bytes " \
	  "of the objects on the path's end and below it, each counted on the path that path " \
	  "shows, none that only weak, soft, phantom or final references hold; by owner the " \
	  "same of all that it holds; by dominator and suspect what they retain; by growth what " \
	  "would be freed if nothing that grows were there, what several rows reach divided " \
	  "among them, bytes as the dump records them") \
	X(DIFF_RETAINED, BYTES, "retained", "retained", "in the newest") \
	X(DIFF_RETAINED_DELTA, INT, "retained_delta", "+ retained", "how many more") \
	X(DIFF_PERCENT, PERCENT, "percent", "%", \
	  "retained_delta as a share of the oldest dump's reachable bytes") \
	X(DIFF_GROWS, BOOL, "grows", "grows", \
	  "whether retained rose from each dump to the next; of more than two dumps") \
	X(DIFF_STEPS, TEXT, "steps", "retained by dump", \
	  "retained bytes in each dump, oldest first; of more than two dumps") \
	X(DIFF_POINT, TEXT, "point", "grows in", \
	  "by suspect: names down the dominator tree to where the growth accumulates") \
	X(DIFF_POINT_OF, TEXT, "point_of", "by", \
	  "by suspect: what accumulates there, names further down as long as one has most of " \
	  "the growth") \
	X(DIFF_POINT_ID, ID, "point_id", "in object", \
	  "by suspect: the object of the newest dump that retains most of those where the " \
	  "growth is") \
	X(DIFF_POINT_DELTA, INT, "point_delta", "+ there", "by suspect: growth of retained there") \
	X(DIFF_OTHERS, COUNT, "others", "others", \
	  "by path and dominator, of a row that stands for nodes that are not shown: how many, " \
	  "count being all their objects; null for a node") \
	X(DIFF_COUNTS, TEXT, "counts", "objects by dump", \
	  "by growth: objects in each dump, oldest first") \
	X(DIFF_ALONE, BYTES, "retained_alone", "retained alone", \
	  "by growth: the part of retained that no other row reaches") \
	X(DIFF_HELD, TEXT, "held", "what", \
	  "by owner: the class of what changed most there, whose objects are counted") \
	X(DIFF_OWNER_BEFORE, TEXT, "owner_before", "owner before", \
	  "by owner: who owned most of the same objects in the oldest dump, if it was another") \
	X(DIFF_TEXT, TEXT, "text", "summary", "by owner: the row as a sentence")
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
