/* oql/oql_memory.h - memory of statements: arenas with a shared budget, and sets of keys. */
#ifndef OQL_OQL_MEMORY_H
#define OQL_OQL_MEMORY_H

#include "oql/oql.h"

#include "base/name_tree.h"
#include "base/vec.h"
#include "common/escape.h"
#include "base/error.h"
#include "base/scope.h"

#include <stdbool.h>
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Limit that all arenas of a statement share. */
struct oql_budget {
	uint64_t most_bytes, used_bytes;
};

struct oql_chunk;

/*
 * Memory that is freed all at once. An arena with all members except `budget` set to zero is empty.
 */
struct oql_arena {
	struct oql_budget *budget; /* borrowed */
	struct oql_chunk *chunks;  /* newest first; owned */
};

/*
 * Converts the result of a statement. If an arena failed, returns HDB_ELIMIT, or HDB_ENOMEM if
 * memory rather than the budget was exhausted. Other results are returned unchanged.
 */
int oql_result(int r, const struct hdb_error *err);

/*
 * Allocates zeroed memory, aligned for any type and borrowed until the arena is reset. On failure,
 * returns NULL and sets the message.
 */
void *oql_take(struct oql_arena *arena, size_t count, size_t size, struct hdb_error *err);
/* Allocates `count` elements. Returns HDB_OK or HDB_ELIMIT. */
#define OQL_TAKE(pointer, arena, count, err) \
	(((pointer) = oql_take((arena), (count), sizeof(*(pointer)), (err))) ? HDB_OK : HDB_ELIMIT)
/* Makes a zero-terminated copy. On failure, returns NULL and sets the message. */
char *oql_take_text(struct oql_arena *arena, const char *text, size_t size, struct hdb_error *err);
/*
 * Doubles an array in the arena. The old array stays allocated. On failure, returns false and sets
 * the message.
 */
#define OQL_GROW(arena, items, room, err) \
	oql_grow(arena, (void *)&(items), &(room), sizeof(*(items)), err)
bool oql_grow(struct oql_arena *arena, void *items, size_t *room, size_t size,
	      struct hdb_error *err);
/* Frees everything except one small chunk. */
void oql_arena_reset(struct oql_arena *arena);
void oql_arena_release(struct oql_arena *arena);

/*
 * Makes room for one more element in an array of at most most_bytes. Returns false if the array is
 * full.
 */
bool oql_room(struct base_vec *vec, size_t element_size, uint64_t most_bytes);

/* Fails with HDB_ENOMEM if memory was exhausted while the text was built. */
int oql_text_check(const struct bytes *text, struct hdb_error *err);

/* A set of byte strings, numbered from 0 in insertion order. */
struct oql_keys {
	struct oql_budget *budget; /* borrowed; set by the caller */
	struct base_names names;
	uint64_t bytes; /* number of bytes taken from the budget */
};
/* Adds a string. Sets *is_new to whether it was inserted, and *no to its number. */
int oql_keys_put(struct oql_keys *keys, struct oql_str text, bool *is_new, size_t *no,
		 struct hdb_error *err);
bool oql_keys_has(const struct oql_keys *keys, struct oql_str text);
void oql_keys_release(struct oql_keys *keys);

#endif
