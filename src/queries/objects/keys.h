/*
 * queries/objects/keys.h - what objects are grouped by: their value or that of a field, as 128 bits
 * and as text.
 *
 * Values are distinguished by 128 bits of XXH3: of a string all its characters, of a primitive
 * array its bytes, of others their text (heap/values/value_text.h).
 */
#ifndef QUERIES_OBJECTS_KEYS_H
#define QUERIES_OBJECTS_KEYS_H

#include "analysis/session.h"
#include "heap/values/chars.h"

/* Bytes of a value's text that are shown, and by which values without content are distinguished. */
#define ANALYSIS_KEY_TEXT 1024

/* How the objects of a class are read. */
struct analysis_key_way;

struct analysis_keys {
	const struct session *session; /* lent */
	const char *path;         /* NULL: the object itself; else as for heap_path_value; lent */
	const uint8_t *is_member; /* by class number: nonzero if its objects are asked for; lent */
	/* private */
	struct analysis_key_way *ways;  /* by class number */
	struct store_block *references; /* for strings, by block; NULL: there are none to be read */
};

/* The key of one object of a block. */
struct analysis_key {
	struct heap_text_hash hash;
	uint32_t ix;
	bool is_done; /* else analysis_key_of tells it */
};

/* Set the first three, zero the rest; loads what is needed. analysis_keys_release in any case. */
int analysis_keys_begin(struct analysis_keys *keys, struct hdb_error *err);
void analysis_keys_release(struct analysis_keys *keys);

/*
 * Calls take for each block that has members, in order, on the calling thread, with their keys in
 * ascending order; threads make them. Objects that the dump lacks are left out.
 */
int analysis_keys_each(struct analysis_keys *keys, const char *stage,
		       int (*take)(void *ctx, const struct heap_block *objects,
				   struct analysis_key *keys, size_t count, struct hdb_error *err),
		       void *ctx, struct hdb_error *err);

/* The key of object ix; on the calling thread. */
int analysis_key_of(struct analysis_keys *keys, uint32_t ix, struct heap_text_hash *out,
		    struct hdb_error *err);

/*
 * The value in words, in text (ANALYSIS_KEY_TEXT bytes); "null", a number, "(none)" without the
 * field.
 */
int analysis_key_text(struct analysis_keys *keys, uint32_t ix, char *text, struct hdb_error *err);

#endif
