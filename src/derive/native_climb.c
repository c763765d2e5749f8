/*
 * derive/native_climb.c - adds up native memory along the dominator tree if few objects own native
 * memory.
 *
 * Starting at each owner, it climbs the tree until it reaches an object that has already been
 * visited. Each ancestor is therefore visited once, no matter how many owners are below it. Sums
 * are then added to dominators, leaves first. On a heap with few owners, the first query takes 10 %
 * less time than with passes over all objects, and later queries take half the time.
 */
#include "derive/native_climb.h"

#include "base/sort.h"
#include "graph/node_map.h"

#include <assert.h>

/*
 * At most 1/LIMIT_PART of the objects are visited. A visit takes about 0.1 us, so giving up at the
 * limit costs only a fraction of the passes over all objects that follow.
 */
#define LIMIT_PART 64u
/* Bounds of this limit. At LIMIT_MAX, the places take 12 MB. */
#define LIMIT_MIN 4096u
#define LIMIT_MAX (1u << 18)
/* Number of blocks between two checks of the cancel flag. */
#define STEP_BLOCKS 16u

/* An object that owns native memory or dominates an owner. */
struct place {
	uint64_t own;   /* bytes */
	uint64_t below; /* total number of bytes of the children added so far */
	uint32_t up;    /* number of the dominator's place, or GRAPH_NONE at the top level */
	/*
	 * number of children that have not been added yet, or GRAPH_NONE if the object itself has
	 * been added to its dominator
	 */
	uint32_t waiting;
};

struct climb {
	struct derive *derive;
	struct graph_node_map map; /* object index to place number */
	struct base_vec places;    /* struct place, indexed by number */
	uint32_t limit;
};

uint32_t derive_climb_limit(uint32_t object_count)
{
	const uint32_t part = object_count / LIMIT_PART;

	return part < LIMIT_MIN ? LIMIT_MIN : part > LIMIT_MAX ? LIMIT_MAX : part;
}

static struct place *place_at(const struct climb *c, uint32_t number)
{
	return base_vec_at(&c->places, struct place, number);
}

/*
 * Adds a place for an object. Returns HDB_OK if a place was added, HDB_END if the object already
 * had one, and HDB_NOTFOUND at the limit.
 */
static int add_place(struct climb *c, uint32_t ix, uint32_t *number, struct hdb_error *err)
{
	const struct place place = { .up = GRAPH_NONE };

	if (c->map.count == c->limit) {
		*number = graph_node_map_find(&c->map, ix);
		return *number == GRAPH_NONE ? HDB_NOTFOUND : HDB_END;
	}
	TRY(graph_node_map_add(&c->map, ix, number, err));
	return base_vec_push(&c->places, &place, sizeof(place), err);
}

/*
 * Adds places for the dominators of a new place, up to the first dominator that already has a
 * place.
 */
static int climb_from(struct climb *c, uint32_t ix, uint32_t number, struct hdb_error *err)
{
	uint32_t dominator, up;
	int r = HDB_OK;

	while (r == HDB_OK) {
		TRY(r = derive_dominator(c->derive, ix, &dominator, err));
		if (dominator == GRAPH_NONE || dominator == ix)
			return HDB_OK;
		r = add_place(c, dominator, &up, err);
		if (r < 0 || r == HDB_NOTFOUND)
			return r;
		place_at(c, number)->up = up;
		place_at(c, up)->waiting++;
		ix = dominator;
		number = up;
	}
	return HDB_OK;
}

static int add_owner(struct climb *c, uint32_t ix, uint64_t bytes, struct hdb_error *err)
{
	uint32_t number;
	const int r = add_place(c, ix, &number, err);

	if (r < 0 || r == HDB_NOTFOUND)
		return r;
	place_at(c, number)->own = bytes;
	return r == HDB_END ? HDB_OK : climb_from(c, ix, number, err);
}

static int add_block(struct climb *c, uint32_t first, uint64_t *values, struct hdb_error *err)
{
	uint32_t count;
	bool has;

	TRY(store_column_has(&c->derive->native, first, &has, err));
	if (!has)
		return HDB_OK;
	TRY(store_column_block(&c->derive->native, first, values, &count, err));
	for (uint32_t i = 0; i < count; i++)
		if (values[i])
			TRY(add_owner(c, first + i, values[i], err));
	return HDB_OK;
}

static int add_owners(struct climb *c, struct hdb_error *err)
{
	const uint32_t blocks = heap_block_count(c->derive->heap);
	BASE_FREED uint64_t *values = NULL;

	TRY(BASE_ALLOC(values, STORE_BLOCK_OBJECTS, "a table's block", err));
	for (uint32_t b = 0; b < blocks; b++) {
		if (b % STEP_BLOCKS == 0)
			TRY(base_step(c->derive->work, (uint64_t)b * STORE_BLOCK_OBJECTS, err));
		TRY(add_block(c, b * STORE_BLOCK_OBJECTS, values, err));
	}
	return HDB_OK;
}

/*
 * Adds a complete place to its dominator. If the dominator is now complete, continues with the
 * dominator. Returns the number of places added.
 */
static uint32_t add_up(const struct climb *c, uint32_t number)
{
	uint32_t done = 0;

	while (number != GRAPH_NONE && place_at(c, number)->waiting == 0) {
		struct place *place = place_at(c, number);

		place->waiting = GRAPH_NONE;
		done++;
		if (place->up != GRAPH_NONE) {
			assert(place_at(c, place->up)->waiting);
			assert(place_at(c, place->up)->waiting != GRAPH_NONE);
			place_at(c, place->up)->below += place->own + place->below;
			place_at(c, place->up)->waiting--;
		}
		number = place->up;
	}
	return done;
}

static int add_all_up(const struct climb *c, struct hdb_error *err)
{
	uint32_t done = 0;

	for (uint32_t number = 0; number < c->map.count; number++)
		done += add_up(c, number);
	/* Places on a cycle never become complete. Cycles exist only in damaged tables. */
	return done == c->map.count ?
		       HDB_OK :
		       store_damaged(c->derive->heap->store,
				     derive_table(c->derive, STORE_DOMINATORS), 0, "no tree", err);
}

static int list_places(const struct climb *c, struct base_vec *out, struct hdb_error *err)
{
	const uint32_t count = c->map.count;
	BASE_FREED struct base_sort_key *keys = NULL;
	struct derive_native *list;
	size_t n = 0;

	TRY(BASE_ALLOC(keys, 2 * (size_t)count, "native memory", err));
	TRY(base_vec_reserve(out, count, sizeof(*list), err));
	for (uint32_t number = 0; number < count; number++)
		if (place_at(c, number)->below)
			keys[n++] = (struct base_sort_key){ c->map.node[number], number };
	base_sort_keys(keys, keys + count, n);
	list = out->data;
	for (size_t i = 0; i < n; i++)
		list[i] = (struct derive_native){ (uint32_t)keys[i].key,
						  place_at(c, keys[i].node)->below };
	out->count = n;
	return HDB_OK;
}

static void release(struct climb *c)
{
	graph_node_map_release(&c->map);
	base_vec_release(&c->places);
}

int derive_native_below(struct derive *derive, uint32_t limit, struct base_vec *out,
			struct hdb_error *err)
{
	BASE_SCOPED(release) struct climb c = { .derive = derive, .limit = limit };

	base_stage(derive->work, "native memory below objects", derive->heap->object_count,
		   "objects");
	TRY(add_owners(&c, err));
	TRY(add_all_up(&c, err));
	return list_places(&c, out, err);
}
