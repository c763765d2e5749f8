/*
 * oql/oql_memory.c - see oql_memory.h.
 */
#include "oql/oql_memory.h"

#define CHUNK_SIZE 16384
#define ALIGNMENT 16

struct oql_chunk {
	struct oql_chunk *older;
	size_t used, room;
	_Alignas(ALIGNMENT) char data[];
};

struct oql_key {
	uint64_t hash;
	size_t no, size;
	char data[];
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
	assert(budget->used_bytes <= budget->most_bytes);
	if (room > budget->most_bytes - budget->used_bytes) {
		over_budget(budget, err);
		return NULL;
	}
	chunk = malloc(sizeof(*chunk) + room);
	if (!chunk) {
		hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for %zu bytes of a statement",
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

/* FNV-1a with a final mix, since keys are short. */
static uint64_t hash_of(const char *data, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)data[i]) * 0x100000001b3;
	hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 29;
}

static struct oql_key **slot_of(const struct oql_keys *keys, uint64_t hash, const char *data,
				size_t size)
{
	assert(keys->count < keys->slot_count); /* otherwise the loop would not end */
	for (size_t i = (size_t)hash;; i++) {
		struct oql_key **slot = &keys->slots[i & (keys->slot_count - 1)];

		if (!*slot || ((*slot)->hash == hash && (*slot)->size == size &&
			       (size == 0 || memcmp((*slot)->data, data, size) == 0)))
			return slot;
	}
}

static int grow(struct oql_keys *keys, struct hdb_error *err)
{
	struct oql_keys old = *keys;
	const size_t slots = old.slot_count ? old.slot_count * 2 : 64;

	assert((old.slot_count & (old.slot_count - 1)) == 0);
	if (old.count * 2 < old.slot_count)
		return HDB_OK;
	keys->slots = oql_take(&keys->arena, slots, sizeof(keys->slots[0]), err);
	if (!keys->slots) {
		keys->slots = old.slots;
		return HDB_ELIMIT;
	}
	keys->slot_count = slots;
	for (size_t i = 0; i < old.slot_count; i++) {
		struct oql_key *key = old.slots[i];

		if (key)
			*slot_of(keys, key->hash, key->data, key->size) = key;
	}
	return HDB_OK;
}

int oql_keys_put(struct oql_keys *keys, struct oql_str text, bool *is_new, size_t *no,
		 struct hdb_error *err)
{
	const uint64_t hash = hash_of(text.data, text.size);
	struct oql_key **slot, *key;

	TRY(grow(keys, err));
	slot = slot_of(keys, hash, text.data, text.size);
	*is_new = !*slot;
	if (*is_new) {
		key = oql_take(&keys->arena, 1, sizeof(*key) + text.size, err);
		if (!key)
			return HDB_ELIMIT;
		key->hash = hash;
		key->no = keys->count++;
		key->size = text.size;
		if (text.size)
			memcpy(key->data, text.data, text.size);
		*slot = key;
	}
	*no = (*slot)->no;
	return HDB_OK;
}

bool oql_keys_has(const struct oql_keys *keys, const char *data, size_t size)
{
	return keys->count && *slot_of(keys, hash_of(data, size), data, size);
}

void oql_keys_release(struct oql_keys *keys)
{
	oql_arena_release(&keys->arena);
	*keys = (struct oql_keys){ .arena.budget = keys->arena.budget };
}
