/*
 * oql/oql_memory.h - memory of statements: arenas under a budget that they share, and
 * sets of keys.
 */
#ifndef OQL_OQL_MEMORY_H
#define OQL_OQL_MEMORY_H

#include "oql/oql.h"

#include "base/vec.h"
#include "common/escape.h"
#include "base/error.h"
#include "base/scope.h"

#include <stdbool.h>

/* What arenas of a statement may take together. */
struct oql_budget {
	uint64_t most_bytes, used_bytes;
};

struct oql_chunk;

/* Memory that is given back all at once. Zeroed but for `budget` it is empty. */
struct oql_arena {
	struct oql_budget *budget; /* lent */
	struct oql_chunk *chunks;  /* the newest first; owned */
};

/*
 * What ends a statement whose arena failed, HDB_ELIMIT, or HDB_ENOMEM if the error says that memory
 * was short and not the budget. Other results as they are.
 */
int oql_result(int r, const struct hdb_error *err);

/* Zeroed memory, aligned for anything; NULL with a message. Borrowed until the arena is reset. */
void *oql_take(struct oql_arena *arena, size_t count, size_t size, struct hdb_error *err);
/* Points at `count` such elements: HDB_OK or HDB_ELIMIT. */
#define OQL_TAKE(pointer, arena, count, err) \
	(((pointer) = oql_take((arena), (count), sizeof(*(pointer)), (err))) ? HDB_OK : HDB_ELIMIT)
/* A terminated copy; NULL with a message. */
char *oql_take_text(struct oql_arena *arena, const char *text, size_t size, struct hdb_error *err);
/*
 * Doubles the room of an array in the arena, which keeps what the array leaves behind. False, with
 * a message: there is no room.
 */
#define OQL_GROW(arena, items, room, err) \
	oql_grow(arena, (void *)&(items), &(room), sizeof(*(items)), err)
bool oql_grow(struct oql_arena *arena, void *items, size_t *room, size_t size,
	      struct hdb_error *err);
/* Gives all back but one small chunk. */
void oql_arena_reset(struct oql_arena *arena);
void oql_arena_release(struct oql_arena *arena);

/* Room for one more element in an array of most_bytes at most; false: there is none. */
bool oql_room(struct base_vec *vec, size_t element_size, uint64_t most_bytes);

/* HDB_ENOMEM if memory was short. */
int oql_text_check(const struct bytes *text, struct hdb_error *err);

/* A set of byte strings, numbered from 0 in the order in which they came. */
struct oql_keys {
	struct oql_arena arena; /* the caller sets its budget */
	struct oql_key **slots; /* owned by the arena */
	size_t slot_count, count;
};
/* *is_new: it was not there; *no: its number. */
int oql_keys_put(struct oql_keys *keys, struct oql_str text, bool *is_new, size_t *no,
		 struct hdb_error *err);
bool oql_keys_has(const struct oql_keys *keys, const char *data, size_t size);
void oql_keys_release(struct oql_keys *keys);

/* Fills in `err` and returns `code`. */

#endif
