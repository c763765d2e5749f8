/*
 * oql/oql_memory.c - implements oql_memory.h.
 */
#include "oql/oql_memory.h"

#define CHUNK_SIZE 16384
#define ALIGNMENT 16

struct oql_chunk {
	struct oql_chunk *older;
	size_t used, room;
	_Alignas(ALIGNMENT) char data[];
};

static int over_budget(const struct oql_budget *budget, struct hdb_error *err)
{
	return hdb_fail(err, HDB_ELIMIT,
			"the statement needs more than %" PRIu64 " MiB of memory; use a larger "
			"--memory",
			budget->most_bytes >> 20);
}

int oql_result(int r, const struct hdb_error *err)
{
	return r == HDB_ELIMIT && err && err->code == HDB_ENOMEM ? HDB_ENOMEM : r;
}

static struct oql_chunk *add_chunk(struct oql_arena *arena, size_t need, struct hdb_error *err)
{
	const size_t room = need > CHUNK_SIZE / 4 ? need : CHUNK_SIZE;
	struct oql_budget *budget = arena->budget;
	struct oql_chunk *chunk;

	assert(budget);
	if (budget->used_bytes > budget->most_bytes ||
	    room > budget->most_bytes - budget->used_bytes) {
		over_budget(budget, err);
		return NULL;
	}
	chunk = malloc(sizeof(*chunk) + room);
	if (!chunk) {
		hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for a statement (%zu bytes)",
			 room);
		return NULL;
	}
	budget->used_bytes += room;
	*chunk = (struct oql_chunk){ .older = arena->chunks, .room = room };
	arena->chunks = chunk;
	return chunk;
}

void *oql_take(struct oql_arena *arena, size_t count, size_t size, struct hdb_error *err)
{
	struct oql_chunk *chunk = arena->chunks;
	size_t need;
	char *data;

	if (__builtin_mul_overflow(count, size, &need) || need > SIZE_MAX / 2) {
		over_budget(arena->budget, err);
		return NULL;
	}
	need = (need + ALIGNMENT) & ~(size_t)(ALIGNMENT - 1);
	if (!chunk || need > chunk->room - chunk->used)
		chunk = add_chunk(arena, need, err);
	if (!chunk)
		return NULL;
	assert(chunk->used + need <= chunk->room);
	data = chunk->data + chunk->used;
	chunk->used += need;
	return memset(data, 0, need);
}

char *oql_take_text(struct oql_arena *arena, const char *text, size_t size, struct hdb_error *err)
{
	char *copy = oql_take(arena, size + 1, 1, err);

	if (copy && size)
		memcpy(copy, text, size);
	return copy;
}

static void drop_chunk(struct oql_arena *arena)
{
	struct oql_chunk *chunk = arena->chunks;

	assert(arena->budget->used_bytes >= chunk->room);
	arena->chunks = chunk->older;
	arena->budget->used_bytes -= chunk->room;
	free(chunk);
}

bool oql_grow(struct oql_arena *arena, void *items, size_t *room, size_t size,
	      struct hdb_error *err)
{
	const size_t more = *room ? *room * 2 : 8;
	void *old, *grown = oql_take(arena, more, size, err);

	if (!grown)
		return false;
	memcpy(&old, items, sizeof(old));
	if (*room)
		memcpy(grown, old, *room * size);
	memcpy(items, &grown, sizeof(grown));
	*room = more;
	return true;
}

bool oql_room(struct base_vec *vec, size_t element_size, uint64_t most_bytes)
{
	return vec->count < most_bytes / element_size &&
	       base_vec_reserve(vec, 1, element_size, NULL) == HDB_OK;
}

void oql_arena_reset(struct oql_arena *arena)
{
	while (arena->chunks && (arena->chunks->older || arena->chunks->room > CHUNK_SIZE))
		drop_chunk(arena);
	if (arena->chunks)
		arena->chunks->used = 0;
}

void oql_arena_release(struct oql_arena *arena)
{
	while (arena->chunks)
		drop_chunk(arena);
}

int oql_text_check(const struct bytes *text, struct hdb_error *err)
{
	if (text->failed)
		return hdb_fail(err, HDB_ENOMEM,
				"cannot allocate memory for a string of %zu "
				"bytes",
				text->size);
	return HDB_OK;
}

/* ---- sets of keys ---- */

/*
 * Memory of a key in addition to its bytes: its entries in the vectors and the map, and malloc's
 * overhead.
 */
#define KEY_BYTES 80

static struct base_name name_of(struct oql_str text)
{
	return (struct base_name){ .text = text.data ? text.data : "", .size = text.size };
}

int oql_keys_put(struct oql_keys *keys, struct oql_str text, bool *is_new, size_t *no,
		 struct hdb_error *err)
{
	const struct base_name name = name_of(text);
	const size_t before = keys->names.list.count;
	uint32_t number = 0;

	TRY(base_names_add(&keys->names, &name, false, &number, err));
	*no = number;
	*is_new = number == before;
	if (!*is_new)
		return HDB_OK;
	keys->bytes += text.size + KEY_BYTES;
	keys->budget->used_bytes += text.size + KEY_BYTES;
	return keys->budget->used_bytes <= keys->budget->most_bytes ?
		       HDB_OK :
		       over_budget(keys->budget, err);
}

bool oql_keys_has(const struct oql_keys *keys, struct oql_str text)
{
	const struct base_name name = name_of(text);

	return base_names_has(&keys->names, &name);
}

void oql_keys_release(struct oql_keys *keys)
{
	base_names_release(&keys->names);
	if (keys->bytes)
		keys->budget->used_bytes -= keys->bytes;
	*keys = (struct oql_keys){ .budget = keys->budget };
}
