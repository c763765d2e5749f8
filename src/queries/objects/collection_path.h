/*
 * queries/objects/collection_path.h - shortens paths through collections to map["key"] or list[3]:
 * the entries, tables and inner maps between a collection and its element count as one step.
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

/*
 * The steps from outer - 1 to inner + 1 of a path, which are inside the collection at step `outer`.
 */
struct analysis_fold {
	uint64_t outer, inner;
	enum analysis_fold_kind kind;
	uint64_t index;        /* index for ANALYSIS_FOLD_INDEX, or UINT64_MAX if unknown */
	struct heap_value key; /* key for ANALYSIS_FOLD_VALUE and _KEY */
};

/*
 * Finds the collections on a path: nodes[i] is held by nodes[i + 1], and the last node is a root.
 * Appends them to `out` (struct analysis_fold), starting from the root.
 */
int analysis_fold_path(const struct session *session, const uint32_t *nodes, size_t count,
		       struct base_vec *out, struct hdb_error *err);

/* Writes how an element is held: ["key"], [3], key ["key"], or element. */
void analysis_fold_text(const struct session *session, const struct analysis_fold *fold, char *buf,
			size_t size);

#endif
