/*
 * query/collection_path.h - paths through collections as map["key"], list[3]: the entries, tables
 * and inner maps between a collection and its element are one step.
 */
#ifndef QUERY_COLLECTION_PATH_H
#define QUERY_COLLECTION_PATH_H

#include "heap/collections/collections.h"
#include "query/query.h"

/* How a collection holds an object. */
enum query_fold_kind { QUERY_FOLD_INDEX, QUERY_FOLD_VALUE, QUERY_FOLD_KEY, QUERY_FOLD_ELEMENT };

/* Steps outer - 1 to inner + 1 of a path, which belong to the collection at step `outer`. */
struct query_fold {
	uint64_t outer, inner;
	enum query_fold_kind kind;
	uint64_t index;        /* QUERY_FOLD_INDEX; UINT64_MAX: not known */
	struct heap_value key; /* QUERY_FOLD_VALUE and _KEY */
};

/*
 * Finds the folds of a path: nodes[i] is held by nodes[i + 1], the last one is a root. They are
 * appended to `out` (struct query_fold), from the root's end to the object's.
 */
int query_fold_path(struct query *q, const uint32_t *nodes, size_t count, struct base_vec *out,
		    struct hdb_error *err);

/* What stands for a fold: ["key"], [3], key ["key"], element. */
void query_fold_text(struct query *q, const struct query_fold *fold, char *buf, size_t size);

#endif
