/*
 * queries/objects/keys.h - what objects are grouped by: their value or that of a field, as a
 * 128-bit hash and as text.
 *
 * The hash is XXH3: for strings of all characters, for primitive arrays of their bytes, for other
 * objects of their text (heap/values/value_text.h).
 */
#ifndef QUERIES_OBJECTS_KEYS_H
#define QUERIES_OBJECTS_KEYS_H

#include "analysis/session.h"
#include "heap/values/chars.h"

/* Maximum bytes of a value's text. Values without contents are distinguished by that text. */
#define ANALYSIS_KEY_TEXT 1024

/* How objects of a class are read; private. */
struct analysis_key_way;

/* A set of objects and what they are grouped by. */
struct analysis_keys {
	const struct session *session; /* borrowed */
	/* NULL: the object itself; otherwise as for heap_path_value; borrowed */
	const char *path;
	/* by class number: nonzero if its objects are members; borrowed */
	const uint8_t *is_member;
	/* private */
	struct analysis_key_way *ways;  /* by class number */
	struct store_block *references; /* by block, for strings; NULL if there are none to read */
};

/* The key of one object in a block. */
struct analysis_key {
	struct heap_text_hash hash;
	uint32_t ix;
	bool is_done; /* if not, analysis_key_of must be called */
};

/*
 * Set the first three members, zero the rest; loads what is needed. Call analysis_keys_release in
 * any case.
 */
int analysis_keys_begin(struct analysis_keys *keys, struct hdb_error *err);
void analysis_keys_release(struct analysis_keys *keys);

/*
 * Calls `take` for each block with members, in order, on the calling thread. Keys are made on all
 * threads and in ascending order. Objects that the dump does not contain are left out.
 */
int analysis_keys_each(struct analysis_keys *keys, const char *stage,
		       int (*take)(void *ctx, const struct heap_block *objects,
				   struct analysis_key *keys, size_t count, struct hdb_error *err),
		       void *ctx, struct hdb_error *err);

/* Computes the key of object ix. Only on the calling thread. */
int analysis_key_of(struct analysis_keys *keys, uint32_t ix, struct heap_text_hash *out,
		    struct hdb_error *err);

/*
 * Writes the value as text (ANALYSIS_KEY_TEXT bytes): "null", a number, "(none)" if it has no such
 * field.
 */
int analysis_key_text(struct analysis_keys *keys, uint32_t ix, char *text, struct hdb_error *err);

#endif
