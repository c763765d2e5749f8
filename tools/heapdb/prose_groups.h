/*
 * heapdb/prose_groups.h - rows of an answer put together for a table: threads with one stack,
 * objects of one class that are held alike.
 */
#ifndef HEAPDB_PROSE_GROUPS_H
#define HEAPDB_PROSE_GROUPS_H

#include "base/vec.h"
#include "heapdb/render.h"

#define PROSE_TEXTS 4

/* What has one key. */
struct prose_group {
	uint64_t key;
	uint64_t count;                 /* 0: it is new */
	uint64_t shallow, retained, id; /* sums; the first one's identifier */
	bool has_retained;              /* else it is not known */
	struct bytes text[PROSE_TEXTS]; /* owned */
};

/* Where a column's values come from: text[0] and so on, or numbers; the ID of what is single. */
enum prose_source { PROSE_TEXT, PROSE_SHALLOW = PROSE_TEXTS, PROSE_RETAINED, PROSE_ID };

struct prose_column {
	struct hdb_column column;
	unsigned source;
};

struct prose_groups {
	BASE_VEC_AS(vec, struct prose_group, items, count);
	const struct prose_column *columns; /* lent */
	size_t column_count;
};

/* Goes on with a key, which begins as 0. */
uint64_t prose_hash(uint64_t key, const struct hdb_value *text);

/* Replaces a text; nothing where there is no value. */
void prose_set(struct bytes *to, const struct hdb_value *value);

/* The group of the key, a new one if there is none; NULL where memory is short. */
struct prose_group *prose_groups_find(struct prose_groups *groups, uint64_t key);

/*
 * Prints groups, largest retained size first and style->parts at most, as a table with the facts of
 * the answer, which has ended.
 */
int prose_groups_table(const struct answer *answer, struct prose_groups *groups,
		       const struct render_style *style, struct output *out);
void prose_groups_release(struct prose_groups *groups, struct output *out);

#endif
