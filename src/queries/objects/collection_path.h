/*
 * queries/objects/collection_path.h - paths through collections as map["key"], list[3]: the
 * entries, tables and inner maps between a collection and its element are one step.
 */
#ifndef QUERIES_OBJECTS_COLLECTION_PATH_H
#define QUERIES_OBJECTS_COLLECTION_PATH_H

#include "analysis/session.h"
#include "heap/collections/collections.h"

/* How a collection holds an object. */
enum analysis_fold_kind {
	ANALYSIS_FOLD_INDEX,
	ANALYSIS_FOLD_VALUE,
	ANALYSIS_FOLD_KEY,
	ANALYSIS_FOLD_ELEMENT
};

/* Steps outer - 1 to inner + 1 of a path, which belong to the collection at step `outer`. */
struct analysis_fold {
	uint64_t outer, inner;
	enum analysis_fold_kind kind;
	uint64_t index;        /* ANALYSIS_FOLD_INDEX; UINT64_MAX: not known */
	struct heap_value key; /* ANALYSIS_FOLD_VALUE and _KEY */
};

/*
 * Finds the folds of a path: nodes[i] is held by nodes[i + 1], the last one is a root. They are
 * appended to `out` (struct analysis_fold), from the root's end to the object's.
 */
int analysis_fold_path(const struct session *session, const uint32_t *nodes, size_t count,
		       struct base_vec *out, struct hdb_error *err);

/* What stands for a fold: ["key"], [3], key ["key"], element. */
void analysis_fold_text(const struct session *session, const struct analysis_fold *fold, char *buf,
			size_t size);

#endif
