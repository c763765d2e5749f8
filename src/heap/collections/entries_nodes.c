/*
 * heap/collections/entries_nodes.c - iterates over tries, trees and lists whose nodes are objects
 * with their own rows. The parts of a row describe the contents of a node, in order.
 *
 * The walk keeps a stack of unfinished nodes and arrays. If the last part of a node is another
 * node, that node replaces it on the stack, so a list does not need a deep stack. Each step
 * decrements e->steps, which starts at the number of objects plus the size of the dump. So the walk
 * ends even if a node contains itself or nodes share exponentially many subtrees.
 */
#include "heap/collections/entries_private.h"

#include <assert.h>
#include <string.h>

/* Number of stack entries to compare with a new node to detect cycles. Tries have fewer levels. */
#define ANCESTORS_SEEN 64u
/* Arrays of ropes have 32 slots. */
#define ROPE_BITS 5u
/* Maximum number of levels. The number of elements in a deeper rope would not fit in 64 bits. */
#define ROPE_LEVELS 12
/* Number of bits in a bit set container. */
#define CONTAINER_BITS 65536u

static const char UNKNOWN_NODE[] = "the other entries are in an object of unknown structure";

/* ---- parts ---- */

/*
 * Returns part number `no` of a node. The shape of lists, arrays and wrappers implies their parts.
 */
static struct heap_part part_at(const struct heap_collection_rule *rule, unsigned no)
{
	const struct heap_part none = { 0 };

	switch (rule->shape) {
	case HEAP_NODES:
		return rule->parts[no];
	case HEAP_LINKED:
		if (no > 1)
			return none;
		if (no == 0)
			return (struct heap_part){ HEAP_PART_ITEM, rule->value, rule->key, NULL };
		return (struct heap_part){ HEAP_PART_NODE, rule->next, NULL, NULL };
	case HEAP_ARRAY:
		return no ? none :
			    (struct heap_part){ HEAP_PART_ITEMS, rule->store, rule->size, NULL };
	case HEAP_WRAP:
		return no ? none : (struct heap_part){ HEAP_PART_NODE, rule->store, NULL, NULL };
	default:
		return none;
	}
}

/*
 * Returns the current part of a node. In a reversed node, the last two parts, element and rest,
 * change places.
 */
static struct heap_part part_of(const struct heap_frame *f)
{
	unsigned no = f->part;

	if (f->is_reversed) {
		if (no && part_at(f->rule, no).kind != HEAP_PART_END &&
		    part_at(f->rule, no + 1).kind == HEAP_PART_END)
			no--;
		else if (part_at(f->rule, no).kind != HEAP_PART_END &&
			 part_at(f->rule, no + 1).kind != HEAP_PART_END &&
			 part_at(f->rule, no + 2).kind == HEAP_PART_END)
			no++;
	}
	return part_at(f->rule, no);
}

static struct heap_frame *top_of(struct heap_entries *e)
{
	assert(e->frames.count);
	return base_vec_at(&e->frames, struct heap_frame, e->frames.count - 1);
}

static struct heap_as as_of(const struct heap_frame *f)
{
	return (struct heap_as){ f->ix, f->class_no };
}

/*
 * Reads the number at a path. Sets *out to 0 if there is no number or the number is negative.
 * Without a path, leaves *out unchanged.
 */
static int number_at(struct heap_entries *e, const struct heap_frame *f, const char *path,
		     uint64_t *out, struct hdb_error *err)
{
	int64_t number = 0;
	int r;

	if (!path)
		return HDB_OK;
	r = heap_path_number_as(e->heap, as_of(f), path, &number, err);
	*out = number > 0 ? (uint64_t)number : 0;
	return heap_soft(r);
}

/* ---- the stack ---- */

/* Ends the walk because the structure is damaged. */
static int cut(struct heap_entries *e)
{
	e->is_cut = true;
	e->frames.count = 0;
	return HDB_END;
}

/*
 * Pushes a frame. Detects a node that contains itself, but only among the first ANCESTORS_SEEN
 * frames: checking a deep stack would take quadratic time for lists. A longer cycle ends when no
 * steps remain.
 */
static int push(struct heap_entries *e, const struct heap_frame *frame, struct hdb_error *err)
{
	const struct heap_frame *frames = e->frames.data;

	for (uint32_t i = 0; i < e->frames.count && i < ANCESTORS_SEEN; i++)
		if (frames[i].ix == frame->ix && !frames[i].is_array)
			return cut(e);
	return e->frames.count == HEAP_NODE_LEVELS ?
		       cut(e) :
		       base_vec_push(&e->frames, frame, sizeof(*frame), err);
}

/*
 * Pushes a node. Returns HDB_NOTFOUND if the object is not a node or, if is_mixed is set, not a
 * HEAP_INNER node.
 */
static int push_node(struct heap_entries *e, uint32_t ix, bool is_mixed, struct heap_frame *frame,
		     struct hdb_error *err)
{
	struct heap_object object;

	TRY(heap_object(e->heap, ix, &object, err));
	if (object.kind != STORE_INSTANCE)
		return HDB_NOTFOUND;
	frame->ix = ix;
	frame->rule = heap_collection_row(e->heap, object.class_no, &frame->class_no);
	if (!frame->rule || (is_mixed && !(frame->rule->flags & HEAP_INNER)))
		return HDB_NOTFOUND;
	switch (frame->rule->shape) {
	case HEAP_EMPTY:
		return HDB_OK;
	case HEAP_LINKED:
		if (*frame->rule->store)
			return HDB_NOTFOUND;
		break;
	case HEAP_ARRAY:
		if (frame->rule->first)
			return HDB_NOTFOUND;
		break;
	case HEAP_NODES:
	case HEAP_WRAP:
		break;
	default:
		return HDB_NOTFOUND;
	}
	return push(e, frame, err);
}

/* Enters node ix. If is_mixed is set, an object that is not a node is an element. */
static int enter_node(struct heap_entries *e, uint32_t ix, bool is_mixed, struct heap_frame *node,
		      struct hdb_error *err)
{
	const int r = push_node(e, ix, is_mixed, node, err);

	if (r == HDB_OK)
		return HDB_NOTFOUND;
	if (r == HDB_NOTFOUND && is_mixed)
		return HDB_OK;
	if (r == HDB_NOTFOUND)
		e->unknown = UNKNOWN_NODE;
	return r;
}

/* Enters an array. */
static int enter_array(struct heap_entries *e, const struct heap_frame *array,
		       struct hdb_error *err)
{
	const int r = push(e, array, err);

	return r == HDB_OK ? HDB_NOTFOUND : r;
}

/* Initialises *frame to iterate over array `ix`, which belongs to the node or array `f`. */
static int array_frame(struct heap_entries *e, const struct heap_frame *f, uint32_t ix,
		       struct heap_frame *frame, struct hdb_error *err)
{
	struct heap_object object;

	TRY(heap_object(e->heap, ix, &object, err));
	if (object.kind != STORE_OBJECT_ARRAY && object.kind != STORE_PRIMITIVE_ARRAY)
		return HDB_NOTFOUND;
	*frame = (struct heap_frame){ .rule = f->rule,
				      .end = object.length,
				      .base = f->base,
				      .ix = ix,
				      .part = f->part,
				      .is_array = true };
	return HDB_OK;
}

/* ---- parts of nodes ---- */

/* Sets the depth of a rope and the number of elements to skip. */
static int start_rope(struct heap_entries *e, const struct heap_frame *f,
		      const struct heap_part *part, struct heap_frame *array, struct hdb_error *err)
{
	uint64_t levels = 0;

	if (*part->with >= '0' && *part->with <= '9') {
		levels = (uint64_t)(*part->with - '0');
	} else {
		TRY(number_at(e, f, part->with, &levels, err));
		levels /= ROPE_BITS;
	}
	if (levels > ROPE_LEVELS)
		return cut(e);
	/* An array that is still being built has an extra slot for its owner. */
	if (array->end > 1u << ROPE_BITS && *part->with > '9')
		array->end = 1u << ROPE_BITS;
	array->level = (uint8_t)levels;
	array->base = 0;
	return number_at(e, f, part->from, &array->base, err);
}

/* Sets the range of slots, for parts that do not use the whole array. */
static int limit_array(struct heap_entries *e, const struct heap_frame *f,
		       const struct heap_part *part, struct heap_frame *array,
		       struct hdb_error *err)
{
	const uint64_t length = array->end;
	uint64_t from = 0, to = length, data, nodes;
	int r = HDB_OK;

	switch (part->kind) {
	case HEAP_PART_ITEMS:
		if ((r = number_at(e, f, part->with, &to, err)) == HDB_OK)
			r = number_at(e, f, part->from, &from, err);
		break;
	case HEAP_PART_CONTAINERS:
		r = number_at(e, f, part->from, &to, err);
		break;
	case HEAP_PART_SHORTS:
	case HEAP_PART_RUNS:
		r = number_at(e, f, part->with, &to, err);
		break;
	case HEAP_PART_PAIRS:
		to = length / 2;
		break;
	case HEAP_PART_BITS:
		to = length < CONTAINER_BITS / 64 ? length * 64 : CONTAINER_BITS;
		array->end = to;
		return HDB_OK;
	case HEAP_PART_BUCKETS:
		array->level = 1;
		break;
	case HEAP_PART_ROPE:
		return start_rope(e, f, part, array, err);
	case HEAP_PART_CHAMP: {
		const unsigned width = f->rule->kind == HEAP_MAP ? 2 : 1;
		int64_t data_map = 0, node_map = 0;

		r = heap_soft(heap_path_number_as(e->heap, as_of(f), part->with, &data_map, err));
		if (r == HDB_OK)
			r = heap_soft(
				heap_path_number_as(e->heap, as_of(f), part->from, &node_map, err));
		data = (uint64_t)__builtin_popcount((uint32_t)data_map);
		nodes = (uint64_t)__builtin_popcount((uint32_t)node_map);
		if (!data && !nodes)
			data = length / width;
		if (data * width + nodes > length)
			return r < 0 ? r : cut(e);
		array->base = data;
		to = data + nodes;
		break;
	}
	default:
		break;
	}
	array->at = from < length ? from : length;
	array->end = to < length ? to : length;
	return r;
}

/*
 * Finds the object that a value refers to. Returns HDB_NOTFOUND if the value is null or the object
 * is not in the dump.
 */
static int target_of(struct heap_entries *e, const struct heap_value *value, uint32_t *ix,
		     struct hdb_error *err)
{
	if (value->type != HPROF_OBJECT || !value->bits)
		return HDB_NOTFOUND;
	return heap_find(e->heap, value->bits, ix, err);
}

/* Processes a part with one reference: to a node or, for HEAP_PART_EITHER, to an element. */
static int next_reference(struct heap_entries *e, const struct heap_part *part, bool is_last,
			  struct hdb_error *err)
{
	const struct heap_frame f = *top_of(e);
	struct heap_frame node = { .base = f.base,
				   .is_reversed =
					   part->kind == HEAP_PART_REVERSED || f.is_reversed };
	const bool is_tail = is_last && part->kind != HEAP_PART_EITHER;
	uint32_t ix;

	TRY(heap_path_value_as(e->heap, as_of(&f), part->field, &e->value, err));
	TRY(target_of(e, &e->value, &ix, err));
	if (is_tail) {
		e->frames.count--;
		if (heap_is_circle(e, f.ix, ix))
			return cut(e);
	} else {
		heap_begin_chain(e);
	}
	return enter_node(e, ix, part->kind == HEAP_PART_EITHER, &node, err);
}

/*
 * Enters an array of a node. If the array is the last part of the node, it replaces the node, so
 * that chains of nodes do not deepen the stack.
 */
static int next_array(struct heap_entries *e, const struct heap_part *part, bool is_last,
		      struct hdb_error *err)
{
	struct heap_frame f = *top_of(e), array;
	uint32_t ix;

	f.part--;
	TRY(heap_path_object_as(e->heap, as_of(&f), part->field, &ix, err));
	TRY(array_frame(e, &f, ix, &array, err));
	TRY(limit_array(e, &f, part, &array, err));
	/* Containers need the node later, because it refers to the array of keys. */
	if (is_last && part->kind != HEAP_PART_CONTAINERS)
		e->frames.count--;
	return enter_array(e, &array, err);
}

/* Reads an element of a node. The node is the entry object, unless it is the collection itself. */
static int read_item(struct heap_entries *e, const struct heap_frame *f,
		     const struct heap_part *part, struct hdb_error *err)
{
	e->entry_ix = f->ix == e->from.inner_ix ? HEAP_NONE : f->ix;
	TRY(heap_value_or_null(e->heap, as_of(f), part->field, &e->value, err));
	if (!part->with)
		return HDB_OK;
	e->has_key = true;
	return heap_value_or_null(e->heap, as_of(f), part->with, &e->key, err);
}

/*
 * Processes the next part of the top node. Returns HDB_OK if the part is an element, and otherwise
 * HDB_NOTFOUND.
 */
static int next_part(struct heap_entries *e, struct hdb_error *err)
{
	struct heap_frame *f = top_of(e);
	const struct heap_part part = part_of(f);
	bool is_last;
	struct heap_value value = { 0 };
	uint64_t skip = 0;
	int64_t number;
	int r;

	if (part.kind == HEAP_PART_END) {
		e->frames.count--;
		return HDB_NOTFOUND;
	}
	f->part++;
	is_last = part_of(f).kind == HEAP_PART_END;
	switch (part.kind) {
	case HEAP_PART_IF:
		r = heap_path_value_as(e->heap, as_of(f), part.field, &value, err);
		if (r >= 0 && !value.bits)
			e->frames.count--;
		return r < 0 ? r : HDB_NOTFOUND;
	case HEAP_PART_SKIP:
		TRY(number_at(e, f, part.field, &skip, err));
		e->skip += skip;
		return HDB_NOTFOUND;
	case HEAP_PART_SUM:
		r = heap_path_number_as(e->heap, as_of(f), part.field, &number, err);
		f->base += r == HDB_OK ? (uint64_t)number : 0;
		return r < 0 ? r : HDB_NOTFOUND;
	case HEAP_PART_NUMBERED:
		e->has_key = true;
		e->key = (struct heap_value){ .type = HPROF_LONG, .bits = f->base };
		return read_item(e, f, &part, err);
	case HEAP_PART_ITEM:
		return read_item(e, f, &part, err);
	case HEAP_PART_NODE:
	case HEAP_PART_EITHER:
	case HEAP_PART_REVERSED:
		return next_reference(e, &part, is_last, err);
	case HEAP_PART_REPEAT:
		TRY(number_at(e, f, part.with, &f->end, err));
		f->part--;
		f->is_array = f->at < f->end;
		f->part += !f->is_array;
		return HDB_NOTFOUND;
	default:
		return next_array(e, &part, is_last, err);
	}
}

/* ---- slots of arrays ---- */

/*
 * Reads a slot of the top array. Two buffers are used in turn by depth, so that adjacent arrays on
 * the stack do not evict each other.
 */
static int get_slot(struct heap_entries *e, uint32_t array_ix, uint64_t at, struct heap_value *out,
		    struct hdb_error *err)
{
	struct heap_chunk *chunk = e->frames.count % 2 ? &e->store : &e->keys;

	if (chunk->array_ix != array_ix)
		heap_chunk_open(chunk, array_ix);
	return heap_chunk_get(e->heap, chunk, at, out, err);
}

/* Enters the node in a slot. If is_mixed is set, a value that is not a node is an element. */
static int enter_slot(struct heap_entries *e, struct heap_value value, bool is_mixed,
		      struct hdb_error *err)
{
	struct heap_frame node = { .base = top_of(e)->base };
	uint32_t ix;
	int r = target_of(e, &value, &ix, err);

	e->value = value;
	if (r == HDB_NOTFOUND && is_mixed && value.bits)
		return HDB_OK;
	TRY(r);
	heap_begin_chain(e);
	return enter_node(e, ix, is_mixed, &node, err);
}

/* Opens an array in a slot that the same part describes. The caller adapts *frame and pushes it. */
static int nested_array(struct heap_entries *e, const struct heap_value *value,
			struct heap_frame *frame, struct hdb_error *err)
{
	const struct heap_frame f = *top_of(e);
	uint32_t ix;

	TRY(target_of(e, value, &ix, err));
	if (f.rule->via)
		TRY(heap_path_object(e->heap, ix, f.rule->via, &ix, err));
	return array_frame(e, &f, ix, frame, err);
}

/*
 * Reads the next pair. If the key is null, the value is a node (Clojure's hash maps). If the key is
 * the object at `absent`, the value is an array of further pairs with equal hashes.
 */
static int next_pair(struct heap_entries *e, const struct heap_frame *f, uint64_t at,
		     struct hdb_error *err)
{
	struct heap_frame more;
	uint32_t key_ix;
	int r;

	TRY(get_slot(e, f->ix, at * 2, &e->key, err));
	TRY(get_slot(e, f->ix, at * 2 + 1, &e->value, err));
	if (!e->key.bits)
		return enter_slot(e, e->value, false, err);
	e->has_key = true;
	if (e->absent_ix == HEAP_NONE)
		return HDB_OK;
	r = heap_find(e->heap, e->key.bits, &key_ix, err);
	if (r < 0 || r == HDB_NOTFOUND || key_ix != e->absent_ix)
		return r < 0 ? r : HDB_OK;
	e->has_key = false;
	TRY(nested_array(e, &e->value, &more, err));
	more.end /= 2;
	return enter_array(e, &more, err);
}

/*
 * Reads the next slot of a CHAMP trie (Steindorfer and Vinju, "Optimizing Hash-Array Mapped Tries",
 * OOPSLA 2015). One array stores elements from the front and child nodes from the back.
 */
static int next_of_champ(struct heap_entries *e, const struct heap_frame *f, uint64_t at,
			 struct hdb_error *err)
{
	const unsigned width = f->rule->kind == HEAP_MAP ? 2 : 1;
	struct heap_object array;
	struct heap_value value;

	if (at < f->base) {
		e->has_key = width == 2;
		if (e->has_key)
			TRY(get_slot(e, f->ix, at * 2, &e->key, err));
		return get_slot(e, f->ix, at * width + width - 1, &e->value, err);
	}
	TRY(heap_object(e->heap, f->ix, &array, err));
	assert(at - f->base < array.length);
	TRY(get_slot(e, f->ix, array.length - 1 - (at - f->base), &value, err));
	return enter_slot(e, value, false, err);
}

/* Descends one level of a rope. Level 0 are the arrays that contain the elements. */
static int next_of_rope(struct heap_entries *e, struct heap_frame *f, uint64_t at,
			struct hdb_error *err)
{
	const unsigned shift = f->level * ROPE_BITS;
	struct heap_frame below;
	uint64_t skip;
	int r;

	/* Neither the first `base` elements nor arrays of only such elements exist. */
	skip = f->base;
	if (skip >> shift) {
		f->base = skip - (1ull << shift);
		return HDB_NOTFOUND;
	}
	f->base = 0;
	if ((r = get_slot(e, f->ix, at, &e->value, err)) != HDB_OK || !f->level)
		return r;
	TRY(nested_array(e, &e->value, &below, err));
	if (below.end > 1u << ROPE_BITS)
		below.end = 1u << ROPE_BITS;
	below.level = (uint8_t)(f->level - 1);
	below.base = skip;
	return enter_array(e, &below, err);
}

/*
 * Reads a slot of a bucket array: an array of a key, a value and optionally another such array. The
 * slots at level 1 begin these lists.
 */
static int next_of_buckets(struct heap_entries *e, struct heap_frame *f, uint64_t at,
			   struct hdb_error *err)
{
	struct heap_frame bucket;

	if (!f->level && at == 0 && f->end >= 2) {
		f->at = 2;
		e->has_key = true;
		TRY(get_slot(e, f->ix, 0, &e->key, err));
		return get_slot(e, f->ix, 1, &e->value, err);
	}
	TRY(get_slot(e, f->ix, at, &e->value, err));
	TRY(nested_array(e, &e->value, &bucket, err));
	if (!f->level)
		e->frames.count--;
	return enter_array(e, &bucket, err);
}

/*
 * Reads a slot of an array whose last slot refers to the next array. A plain Object in a slot tells
 * a consumer to continue in the next array; it is not an element.
 */
static int next_of_onward(struct heap_entries *e, const struct heap_frame *f, uint64_t at,
			  struct hdb_error *err)
{
	const bool is_last = at + 1 == f->end;
	struct heap_frame next;
	uint32_t ix;

	TRY(get_slot(e, f->ix, at, &e->value, err));
	TRY(target_of(e, &e->value, &ix, err));
	if (!is_last)
		return strcmp(heap_class_name_of(e->heap, ix), "java.lang.Object") == 0 ?
			       HDB_NOTFOUND :
			       HDB_OK;
	TRY(nested_array(e, &e->value, &next, err));
	e->frames.count--;
	return enter_array(e, &next, err);
}

/* ---- numbers in bit sets ---- */

static int set_number(struct heap_entries *e, uint64_t base, uint64_t low)
{
	e->value = (struct heap_value){ .type = HPROF_LONG, .bits = base + low };
	return HDB_OK;
}

/*
 * Enters the next container. A parallel array of the node contains the high bits of the container's
 * numbers.
 */
static int next_container(struct heap_entries *e, const struct heap_frame *f,
			  const struct heap_part *part, uint64_t at, struct hdb_error *err)
{
	/* The node that has both arrays is below the array on the stack. */
	const struct heap_frame node =
		e->frames.count > 1 ?
			*base_vec_at(&e->frames, struct heap_frame, e->frames.count - 2) :
			*f;
	struct heap_slice key = { .room = 1 };
	struct heap_value value;
	uint64_t bits = 0;
	uint32_t keys;
	int r;

	TRY(heap_path_object_as(e->heap, as_of(&node), part->with, &keys, err));
	key.bits = &bits;
	if ((r = heap_elements(e->heap, keys, at, &key, err)) < 0 || !key.done)
		return r < 0 ? r : HDB_NOTFOUND;
	TRY(get_slot(e, f->ix, at, &value, err));
	top_of(e)->base = (bits & 0xffff) << 16;
	return enter_slot(e, value, false, err);
}

/* Finds the next set bit, one word at a time. */
static int next_of_bits(struct heap_entries *e, struct heap_frame *f, uint64_t bit,
			struct hdb_error *err)
{
	struct heap_value word;

	TRY(get_slot(e, f->ix, bit / 64, &word, err));
	word.bits &= ~0ull << (bit % 64);
	f->at = word.bits ? (bit & ~63ull) + (unsigned)__builtin_ctzll(word.bits) + 1 :
			    (bit | 63) + 1;
	return word.bits ? set_number(e, f->base, f->at - 1) : HDB_NOTFOUND;
}

/*
 * Returns the next number of a run. A run is stored as its first number and the count of the
 * numbers after it, so length 0 means one number.
 */
static int next_of_runs(struct heap_entries *e, struct heap_frame *f, uint64_t at,
			struct hdb_error *err)
{
	struct heap_value first, length;
	const uint32_t done = f->run_done;

	TRY(get_slot(e, f->ix, at * 2, &first, err));
	TRY(get_slot(e, f->ix, at * 2 + 1, &length, err));
	f->run_done = done < (length.bits & 0xffff) ? done + 1 : 0;
	if (f->run_done)
		f->at = at;
	return set_number(e, f->base, (first.bits & 0xffff) + done);
}

/* Processes the next slot of the top array. */
static int next_slot(struct heap_entries *e, struct hdb_error *err)
{
	struct heap_frame *f = top_of(e);
	const struct heap_part part = part_at(f->rule, f->part);
	const uint64_t at = f->at;
	int r;

	if (at >= f->end) {
		e->frames.count--;
		return HDB_NOTFOUND;
	}
	f->at++;
	switch (part.kind) {
	case HEAP_PART_ITEMS:
		return get_slot(e, f->ix, at, &e->value, err);
	case HEAP_PART_PAIRS:
		return next_pair(e, f, at, err);
	case HEAP_PART_NODES:
	case HEAP_PART_MIXED:
		r = get_slot(e, f->ix, at, &e->value, err);
		if (r != HDB_OK || (part.kind == HEAP_PART_MIXED && part.with && !e->value.bits))
			return r;
		return enter_slot(e, e->value, part.kind == HEAP_PART_MIXED, err);
	case HEAP_PART_CHAMP:
		return next_of_champ(e, f, at, err);
	case HEAP_PART_ROPE:
		return next_of_rope(e, f, at, err);
	case HEAP_PART_BUCKETS:
		return next_of_buckets(e, f, at, err);
	case HEAP_PART_ONWARD:
		return next_of_onward(e, f, at, err);
	case HEAP_PART_CONTAINERS:
		return next_container(e, f, &part, at, err);
	case HEAP_PART_SHORTS:
		TRY(get_slot(e, f->ix, at, &e->value, err));
		return set_number(e, f->base, e->value.bits & 0xffff);
	case HEAP_PART_BITS:
		return next_of_bits(e, f, at, err);
	case HEAP_PART_RUNS:
		return next_of_runs(e, f, at, err);
	case HEAP_PART_REPEAT:
		return heap_path_value_as(e->heap, as_of(f), part.field, &e->value, err);
	default:
		return HDB_NOTFOUND;
	}
}

/* ---- reading an entry ---- */

/*
 * Reads an entry. In a map, an element may be an object with a key and a value; or the value may be
 * an object that contains the actual value.
 */
static int read_entry(struct heap_entries *e, struct hdb_error *err)
{
	const char *key = e->rule->key, *value = e->rule->value;
	struct heap_as as = { HEAP_NONE, HEAP_NONE };
	int r;

	if (e->rule->flags & HEAP_NESTED && e->has_key) {
		e->has_key = false;
		return enter_slot(e, e->value, false, err);
	}
	if (e->rule->kind != HEAP_MAP || !value || e->has_key == (key != NULL))
		return HDB_OK;
	if ((r = target_of(e, &e->value, &as.ix, err)) != HDB_OK)
		return heap_soft(r);
	if (key) {
		e->entry_ix = as.ix;
		e->has_key = true;
		TRY(heap_value_or_null(e->heap, as, key, &e->key, err));
	}
	return heap_value_or_null(e->heap, as, value, &e->value, err);
}

int heap_begin_nodes(struct heap_entries *e, struct hdb_error *err)
{
	const struct heap_frame frame = { .rule = e->rule,
					  .ix = e->from.inner_ix,
					  .class_no = e->from.inner_class };

	/*
	 * A tree has at most as many nodes as the heap has objects, and as many slots as the dump
	 * has bytes.
	 */
	e->steps += e->heap->dump.source ? e->heap->dump.source->size : 0;
	e->frames.count = 0;
	e->skip = 0;
	return push(e, &frame, err);
}

/*
 * Performs one step of the walk. Returns HDB_OK with an element, HDB_NOTFOUND without one, or
 * HDB_END.
 */
int heap_next_in_nodes(struct heap_entries *e, struct hdb_error *err)
{
	assert(e->rule->shape == HEAP_NODES);
	if (!e->frames.count || !e->left)
		return HDB_END;
	if (!e->steps)
		return cut(e);
	e->steps--;
	e->has_key = false;
	TRY(top_of(e)->is_array ? next_slot(e, err) : next_part(e, err));
	if (e->skip) {
		e->skip--;
		return HDB_NOTFOUND;
	}
	if (e->rule->flags & HEAP_DENSE)
		e->left--;
	return read_entry(e, err);
}
