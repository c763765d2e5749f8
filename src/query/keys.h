/*
 * query/keys.h - what objects are grouped by: their value or that of a field, as 128 bits and as
 * text.
 *
 * Values are told apart by 128 bits of XXH3: of a string all its characters, of a primitive array
 * its bytes, of others their text (heap/values/value_text.h).
 */
#ifndef QUERY_KEYS_H
#define QUERY_KEYS_H

#include "heap/values/chars.h"
#include "query/query.h"

/* Bytes of a value's text that are shown, and by which values without content are told apart. */
#define QUERY_KEY_TEXT 1024

/* How the objects of a class are read. */
struct query_key_way;

struct query_keys {
	struct query *q;          /* lent */
	const char *path;         /* NULL: the object itself; else as for heap_path_value; lent */
	const uint8_t *is_member; /* by class number: nonzero if its objects are wanted; lent */
	/* private */
	struct query_key_way *ways;     /* by class number */
	struct store_block *references; /* for strings, by block; NULL: there are none to be read */
};

/* The key of one object of a block. */
struct query_key {
	struct heap_text_hash hash;
	uint32_t ix;
	bool is_done; /* else query_key_of tells it */
};

/* Set the first three, zero the rest; loads what is needed. query_keys_release in any case. */
int query_keys_begin(struct query_keys *keys, struct hdb_error *err);
void query_keys_release(struct query_keys *keys);

/*
 * Calls take for each block that has members, in order, on the calling thread, with their keys in
 * ascending order; threads make them. Objects that the dump lacks are left out.
 */
int query_keys_each(struct query_keys *keys, const char *stage,
		    int (*take)(void *ctx, const struct heap_block *objects, struct query_key *keys,
				size_t count, struct hdb_error *err),
		    void *ctx, struct hdb_error *err);

/* The key of object ix; on the calling thread. */
int query_key_of(struct query_keys *keys, uint32_t ix, struct heap_text_hash *out,
		 struct hdb_error *err);

/*
 * The value in words, in text (QUERY_KEY_TEXT bytes); "null", a number, "(none)" without the field.
 */
int query_key_text(struct query_keys *keys, uint32_t ix, char *text, struct hdb_error *err);

#endif
