/*
 * heap/collections/entries.c - iterates over the contents of a collection; see collections.h.
 *
 * Every walk is bounded by the length of the array or, for linked entries, by the number of objects
 * in the heap, because each entry is an object. A cyclic chain is detected after at most three
 * times its length (Brent, "An improved Monte Carlo factorization algorithm", 1980).
 */
#include "heap/collections/entries_private.h"

#include <assert.h>
#include <stdlib.h>

/* Number of slots and entries between two checks of the cancel flag. */
#define STEP_SLOTS 65536u

static const char WRAPS_UNKNOWN[] = "the wrapped collection is of an unknown kind";
static const char UNKNOWN_LIST[] = "the list of the keys or values has an unknown structure";
static const char ONLY_SIZE[] = "heapdb knows the size of this class but not the structure";

/* ---- beginning ---- */

/* Finds the object at a path of the collection. Sets *out to HEAP_NONE if there is no object. */
static int find_object(struct heap_entries *e, const char *path, uint32_t *out,
		       struct hdb_error *err)
{
	const int r = path ? heap_path_object_as(e->heap, heap_as_inner(&e->from), path, out, err) :
			     HDB_NOTFOUND;

	if (r != HDB_OK)
		*out = HEAP_NONE;
	return heap_soft(r);
}

/* Opens the array at a path. If there is no array at the path, opens an empty array (HEAP_NONE). */
static int find_array(struct heap_entries *e, const char *path, struct heap_chunk *chunk,
		      struct hdb_error *err)
{
	struct heap_object object;
	uint32_t ix;
	int r;

	TRY(find_object(e, path, &ix, err));
	if (ix != HEAP_NONE && e->rule->flags & HEAP_OF_LISTS) {
		uint64_t length;

		r = heap_chunk_open_list(e->heap, chunk, ix, &length, err);
		if (r == HDB_NOTFOUND)
			e->unknown = UNKNOWN_LIST;
		return heap_soft(r);
	}
	if (ix != HEAP_NONE) {
		TRY(heap_object(e->heap, ix, &object, err));
		if (object.kind != STORE_OBJECT_ARRAY && object.kind != STORE_PRIMITIVE_ARRAY)
			ix = HEAP_NONE;
	}
	heap_chunk_open(chunk, ix);
	return HDB_OK;
}

void heap_begin_chain(struct heap_entries *e)
{
	e->tortoise = HEAP_NONE;
	e->chain_steps = 0;
	e->chain_power = 1;
}

/*
 * Detects a cycle by Brent's algorithm: the remembered node moves up to the current node each time
 * the number of steps has doubled. Once the remembered node is inside the cycle, the walk returns
 * to this node within one round. A self-reference is found immediately.
 */
bool heap_is_circle(struct heap_entries *e, uint32_t last, uint32_t node)
{
	if (e->chain_steps++ == e->chain_power) {
		e->tortoise = last;
		e->chain_power *= 2;
		e->chain_steps = 0;
	}
	return node == e->tortoise || node == last;
}

static void begin_chain(struct heap_entries *e, uint32_t node)
{
	e->node = node;
	heap_begin_chain(e);
}

/*
 * Reads the start of a ring buffer, the marker of free slots, and whether the reserved slot of an
 * open table is in use.
 */
static int read_marks(struct heap_entries *e, struct hdb_error *err)
{
	const struct heap_collection_rule *rule = e->rule;
	int64_t number;

	e->slot_start = 0;
	e->has_extra = false;
	if (rule->first) {
		TRY(heap_inner_number(e->heap, &e->from, rule->first, &number, err));
		if (number > 0 && e->slots)
			e->slot_start = (uint64_t)number % e->slots;
	}
	if (rule->free) {
		if (rule->free[0] == '-' || (rule->free[0] >= '0' && rule->free[0] <= '9'))
			e->free_number = strtoll(rule->free, NULL, 10);
		else
			TRY(heap_inner_number(e->heap, &e->from, rule->free, &e->free_number, err));
	}
	if (rule->extra && rule->shape == HEAP_SLOTS) {
		TRY(heap_inner_number(e->heap, &e->from, rule->extra, &number, err));
		e->has_extra = number != 0;
	}
	return HDB_OK;
}

/* Finds the first entry of a linked list, the root of a tree, or a map's additional entry. */
static int find_first(struct heap_entries *e, struct hdb_error *err)
{
	const struct heap_collection_rule *rule = e->rule;
	const char *path = rule->shape == HEAP_CHAINS ? rule->extra : rule->store;
	uint32_t node = HEAP_NONE, first;
	int r;

	e->end_node = HEAP_NONE;
	if (rule->shape == HEAP_CHAINS || rule->shape == HEAP_LINKED || rule->shape == HEAP_TREE)
		TRY(find_object(e, path, &node, err));
	if (rule->flags & HEAP_CIRCULAR && node != HEAP_NONE) {
		e->end_node = node;
		TRY_ERRORS(r = heap_path_object(e->heap, node, rule->next, &first, err));
		node = r == HDB_OK ? first : HEAP_NONE;
	}
	begin_chain(e, node);
	return HDB_OK;
}

/* Returns the maximum number of elements, slots, pairs or bits to read. */
static uint64_t count_left(const struct heap_entries *e)
{
	const bool is_dense = e->rule->flags & HEAP_DENSE;

	switch (e->rule->shape) {
	case HEAP_ARRAY:
		return e->from.size;
	case HEAP_PAIRS:
		return is_dense ? e->from.size : e->slots / 2;
	case HEAP_NODES:
		return is_dense && e->from.has_size ? e->from.size : UINT64_MAX;
	case HEAP_FIELDS:
		return HEAP_ENTRY_FIELDS_MAX;
	case HEAP_WORDS:
		return (e->store.array_ix == HEAP_NONE ? 1 : e->slots) * 64;
	default:
		return is_dense ? e->from.size : e->slots;
	}
}

/* Starts reading e->from. */
static int begin(struct heap_entries *e, struct hdb_error *err)
{
	const struct heap_collection_rule *rule = e->rule = e->from.inner;

	e->at = 0;
	e->depth = 0;
	begin_chain(e, HEAP_NONE);
	heap_chunk_open(&e->store, HEAP_NONE);
	heap_chunk_open(&e->keys, HEAP_NONE);
	e->slots = e->from.array_length;
	if (!rule) {
		e->unknown = e->from.wraps_null ? NULL : WRAPS_UNKNOWN;
		return HDB_OK;
	}
	if (rule->shape == HEAP_HIDDEN)
		e->unknown = ONLY_SIZE;
	if (rule->shape == HEAP_NODES)
		TRY_ERRORS(heap_begin_nodes(e, err));
	if (rule->flags & HEAP_BOUNDED)
		TRY(heap_begin_bounds(e, err));
	if (heap_is_in_slots(rule) || rule->shape == HEAP_WORDS)
		TRY(find_array(e, rule->store, &e->store, err));
	if (rule->shape == HEAP_SLOTS || rule->shape == HEAP_WORDS)
		TRY(find_array(e, rule->key, &e->keys, err));
	TRY(read_marks(e, err));
	TRY(find_first(e, err));
	e->left = count_left(e);
	return HDB_OK;
}

/*
 * Initialises what heap_entries_end and heap_entries_next read, but not the large buffers, because
 * many collections are empty.
 */
int heap_entries_begin(struct heap *heap, const struct heap_collection *collection,
		       struct heap_entries *e, struct hdb_error *err)
{
	int r = heap_open_dump(heap, err);

	e->no = UINT64_MAX; /* incremented to 0 by the first element */
	e->entry_ix = HEAP_NONE;
	e->has_key = e->is_cut = false;
	e->heap = heap;
	e->from = *collection;
	e->takes = collection->takes;
	e->steps = (uint64_t)heap->object_count;
	e->absent_ix = HEAP_NONE;
	e->parts_ix = HEAP_NONE;
	e->part_at = e->part_count = e->looked = 0;
	e->looks_max = UINT64_MAX;
	e->unknown = NULL;
	e->frames = (struct base_vec){ 0 };
	e->rule = NULL;
	/* A partitioned collection may have no readable part. */
	e->depth = 0;
	begin_chain(e, HEAP_NONE);
	heap_chunk_open(&e->store, HEAP_NONE);
	heap_chunk_open(&e->keys, HEAP_NONE);
	TRY(r);
	if (collection->inner && collection->inner->absent)
		TRY(heap_soft(
			heap_static_object(heap, collection->inner->absent, &e->absent_ix, err)));
	if (collection->inner && collection->inner->shape == HEAP_PARTS) {
		e->parts_ix = collection->array_ix;
		e->part_count = collection->array_ix == HEAP_NONE ? 0 : collection->array_length;
		return HDB_OK;
	}
	r = begin(e, err);
	if (e->unknown)
		e->rule = NULL;
	return r;
}

/* Starts the next part. Returns HDB_END after the last part. */
static int begin_part(struct heap_entries *e, struct hdb_error *err)
{
	assert(e->part_at <= e->part_count);
	while (e->part_at < e->part_count) {
		uint64_t bits;
		struct heap_slice slice = { .bits = &bits, .room = 1 };
		uint32_t ix;
		int r = heap_elements(e->heap, e->parts_ix, e->part_at, &slice, err);

		e->part_at++;
		TRY_ERRORS(r);
		if (e->steps-- == 0) {
			e->steps = 0;
			e->is_cut = true;
			return HDB_END;
		}
		if (r != HDB_OK || !slice.done || slice.type != HPROF_OBJECT || !bits)
			continue;
		TRY_ERRORS(r = heap_find(e->heap, bits, &ix, err));
		if (r == HDB_OK && (r = heap_collection_open(e->heap, ix, &e->from, err)) < 0)
			return r;
		/* Parts of known classes have no parts themselves, so nesting is not supported. */
		if (r == HDB_OK && e->from.inner && e->from.inner->shape != HEAP_PARTS)
			return begin(e, err);
	}
	return HDB_END;
}

/* ---- entry objects ---- */

/* Reads an entry object. Sets *is_element to false if it contains no element. */
static int read_node(struct heap_entries *e, uint32_t node, bool *is_element, struct hdb_error *err)
{
	const struct heap_collection_rule *rule = e->rule;
	const struct heap_as as = { node, HEAP_NONE };
	uint64_t id;
	int r = heap_id(e->heap, node, &id, err);

	assert(node != HEAP_NONE);
	e->entry_ix = node;
	e->has_key = rule->key != NULL;
	*is_element = true;
	if (r == HDB_OK && rule->key)
		r = heap_value_or_null(e->heap, as, rule->key, &e->key, err);
	if (r == HDB_OK)
		r = heap_value_or_null(e->heap, as, rule->value, &e->value, err);
	/* A sentinel, or a node that is being removed, refers to itself. */
	if (rule->flags & HEAP_SKIPS_NULL)
		*is_element = e->value.bits && e->value.bits != id && (!rule->key || e->key.bits);
	return r;
}

/* Advances e->node along a chain; HEAP_NONE means the end. */
static int step_chain(struct heap_entries *e, struct hdb_error *err)
{
	const uint32_t node = e->node;
	uint32_t next = HEAP_NONE;
	int r = e->rule->next ? heap_path_object(e->heap, node, e->rule->next, &next, err) :
				HDB_NOTFOUND;

	assert(node != HEAP_NONE);
	if (r != HDB_OK || next == e->end_node) {
		e->node = HEAP_NONE;
		return heap_soft(r);
	}
	if (heap_is_circle(e, node, next) || !e->steps) {
		e->is_cut = e->is_cut || next != node || !(e->rule->flags & HEAP_SKIPS_NULL);
		next = HEAP_NONE;
	}
	e->node = next;
	return HDB_OK;
}

/* Finds the entry in a slot, which may contain another object that refers to it. */
static int slot_entry(struct heap_entries *e, uint64_t id, uint32_t *node, struct hdb_error *err)
{
	struct heap_object object;

	TRY(heap_find(e->heap, id, node, err));
	TRY(heap_object(e->heap, *node, &object, err));
	if (object.kind != STORE_INSTANCE)
		return HDB_NOTFOUND;
	if (e->rule->via && heap_has_path(e->heap, object.class_no, HEAP_NONE, e->rule->via))
		return heap_path_object(e->heap, *node, e->rule->via, node, err);
	/*
	 * While a map is being resized, it uses an object without a key as a marker. Such an object
	 * is not an entry.
	 */
	if (e->rule->key && !heap_has_path(e->heap, object.class_no, HEAP_NONE, e->rule->key))
		return HDB_NOTFOUND;
	return HDB_OK;
}

/*
 * Sets *out to whether a node is an entry. An object with neither key nor value, such as Scala's
 * Nil, ends a list.
 */
static int is_entry(struct heap_entries *e, uint32_t node, bool *out, struct hdb_error *err)
{
	const char *path = e->rule->key ? e->rule->key : e->rule->value;
	struct heap_instance instance;
	const int r = heap_instance_open(e->heap, node, &instance, err);

	*out = r == HDB_OK && heap_has_path(e->heap, instance.class_no, HEAP_NONE, path);
	return heap_soft(r);
}

/*
 * Finds the next entry. Returns HDB_OK with an entry, HDB_NOTFOUND to be called again, or HDB_END
 * after the last entry.
 */
static int next_in_chains(struct heap_entries *e, struct hdb_error *err)
{
	struct heap_value slot;
	uint32_t node;
	bool is_element;
	int r;

	assert(e->rule->shape == HEAP_CHAINS || e->rule->shape == HEAP_LINKED);
	if (e->node != HEAP_NONE) {
		if (!e->steps--) {
			e->steps = 0;
			e->is_cut = true;
			return HDB_END;
		}
		TRY(is_entry(e, e->node, &is_element, err));
		if (!is_element) {
			e->node = HEAP_NONE;
			return HDB_NOTFOUND;
		}
		TRY(read_node(e, e->node, &is_element, err));
		TRY(step_chain(e, err));
		return is_element ? HDB_OK : HDB_NOTFOUND;
	}
	if (e->rule->shape != HEAP_CHAINS || e->at >= e->slots)
		return HDB_END;
	r = heap_chunk_get(e->heap, &e->store, e->at++, &slot, err);
	if (r != HDB_OK)
		return r < 0 ? r : HDB_END;
	if (slot.type != HPROF_OBJECT)
		return HDB_END;
	if (!slot.bits)
		return HDB_NOTFOUND;
	if ((r = slot_entry(e, slot.bits, &node, err)) != HDB_OK)
		return r < 0 ? r : HDB_NOTFOUND;
	begin_chain(e, node);
	return HDB_NOTFOUND;
}

/* Visits a tree in order. The stack holds the nodes whose left subtree is being visited. */
static int next_in_tree(struct heap_entries *e, struct hdb_error *err)
{
	uint32_t node = e->node, child;
	bool is_element;
	int r;

	assert(e->depth <= HEAP_TREE_LEVELS);
	while (node != HEAP_NONE) {
		if (e->depth == HEAP_TREE_LEVELS || !e->steps) {
			e->is_cut = true;
			return HDB_END;
		}
		e->steps--;
		e->stack[e->depth++] = node;
		r = heap_path_object(e->heap, node, e->rule->left, &child, err);
		TRY_ERRORS(r);
		node = r == HDB_OK ? child : HEAP_NONE;
	}
	e->node = HEAP_NONE;
	if (!e->depth)
		return HDB_END;
	node = e->stack[--e->depth];
	TRY_ERRORS(r = heap_path_object(e->heap, node, e->rule->next, &child, err));
	if (r == HDB_OK)
		e->node = child;
	return read_node(e, node, &is_element, err);
}

/* ---- all shapes ---- */

/*
 * Reads the next slot. Returns HDB_NOTFOUND for a slot without an element, so that the caller can
 * check the cancel flag.
 */
static int next_of_shape(struct heap_entries *e, struct hdb_error *err)
{
	e->entry_ix = HEAP_NONE;
	switch (e->rule ? e->rule->shape : HEAP_EMPTY) {
	case HEAP_ARRAY:
		return heap_next_in_array(e, err);
	case HEAP_SLOTS:
		return heap_next_in_slots(e, err);
	case HEAP_PAIRS:
		return heap_next_pair(e, err);
	case HEAP_CHAINS:
	case HEAP_LINKED:
		return next_in_chains(e, err);
	case HEAP_TREE:
		return next_in_tree(e, err);
	case HEAP_FIELDS:
		return heap_next_field(e, err);
	case HEAP_WORDS:
		return heap_next_bit(e, err);
	case HEAP_NODES:
		return heap_next_in_nodes(e, err);
	default:
		return HDB_END;
	}
}

/*
 * Finds the next element. Skips free slots and entries outside a view's bounds, and continues with
 * the next part of a partitioned collection. A damaged part ends the iteration, because its number
 * of elements is unknown.
 */
int heap_entries_next(struct heap_entries *e, struct hdb_error *err)
{
	int r;

	do {
		if (e->looked >= e->looks_max) {
			e->is_cut = true;
			r = HDB_END;
			break;
		}
		if (++e->looked % STEP_SLOTS == 0)
			TRY(base_check_cancelled(e->heap->work, err));
		r = next_of_shape(e, err);
		if (r == HDB_OK && e->rule->flags & HEAP_BOUNDED) {
			bool is_inside = true;

			if ((r = heap_is_inside(e, &is_inside, err)) == HDB_OK && !is_inside)
				r = HDB_NOTFOUND;
		}
		if (r == HDB_END && e->part_at < e->part_count && !e->is_cut) {
			r = begin_part(e, err);
			if (r == HDB_OK)
				r = HDB_NOTFOUND;
		}
	} while (r == HDB_NOTFOUND);
	TRY_ERRORS(r);
	e->no++;
	if (r == HDB_END) {
		heap_entries_end(e);
		return r;
	}
	if (e->takes == HEAP_TAKES_KEYS && e->has_key)
		e->value = e->key;
	e->has_key = e->has_key && e->takes == HEAP_TAKES_ALL;
	return HDB_OK;
}

void heap_entries_end(struct heap_entries *e)
{
	base_vec_release(&e->frames);
}
