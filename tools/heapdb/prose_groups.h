/*
 * heapdb/prose_groups.h - groups rows of an answer into table rows: threads with the same stack,
 * objects of a class held in the same way.
 */
#ifndef HEAPDB_PROSE_GROUPS_H
#define HEAPDB_PROSE_GROUPS_H

#include "base/vec.h"
#include "heapdb/render.h"

#define PROSE_TEXTS 4

/* Rows with the same key, combined in a group. */
struct prose_group {
	uint64_t key;
	uint64_t count;                 /* number of rows; 0 means a new group */
	uint64_t shallow, retained, id; /* sums over the rows, and the ID of the first object */
	bool has_retained;              /* whether the retained size is known */
	struct bytes text[PROSE_TEXTS]; /* owned */
};

/*
 * Source of a column: a text, such as text[0], or a number. PROSE_ID is only set for groups of one
 * object.
 */
enum prose_source { PROSE_TEXT, PROSE_SHALLOW = PROSE_TEXTS, PROSE_RETAINED, PROSE_ID };

struct prose_column {
	struct hdb_column column;
	unsigned source;
};

struct prose_groups {
	BASE_VEC_AS(vec, struct prose_group, items, count);
	const struct prose_column *columns; /* borrowed */
	size_t column_count;
};

/* Adds text to a hash, whose initial value is 0. */
uint64_t prose_hash(uint64_t key, const struct hdb_value *text);

/* Replaces a string. A null value leaves it unchanged. */
void prose_set(struct bytes *to, const struct hdb_value *value);

/* Finds or adds the group of a key. Returns NULL if memory is exhausted. */
struct prose_group *prose_groups_find(struct prose_groups *groups, uint64_t key);

/*
 * Prints groups by descending retained size, at most style->parts, as a table with the facts of the
 * answer. The answer must have been read to its end.
 */
int prose_groups_table(const struct answer *answer, struct prose_groups *groups,
		       const struct render_style *style, struct output *out);
void prose_groups_release(struct prose_groups *groups, struct output *out);

#endif
