/*
 * heap/collections/collections.c - recognises known collections, and computes sizes and capacities.
 * See collections.h.
 */
#include "heap/collections/entries_private.h"

#include <assert.h>
#include <string.h>

/* Maximum number of nested wrappers. In a damaged dump a wrapper may wrap itself. */
#define WRAPPERS_MAX 16
/*
 * Maximum number of cells in a striped counter. Real counters have at most one cell per processor.
 */
#define CELLS_MAX 1024u
/*
 * Maximum number of parts whose sizes are added up. Real maps have only a few parts per processor.
 */
#define PARTS_MAX 4096u
/* Class of the arrays that form some queues. */
#define LINKED_ARRAY "java.util.concurrent.atomic.AtomicReferenceArray"

const char *heap_collection_kind_name(enum heap_collection_kind kind)
{
	static const char *const names[] = { "list", "set", "map", "queue", "bits" };

	return names[kind];
}

/* ---- rows ---- */

static const char *row_name(uint32_t row)
{
	size_t count;
	const struct heap_collection_rule *rules = heap_collection_rules(&count);

	return row < count ? rules[row].class_name : NULL;
}

/*
 * Returns whether the class has the fields named in the row. For a list of field names, only the
 * first field is checked.
 */
static bool fits(struct heap *heap, uint32_t row, uint32_t class_no)
{
	size_t count;
	const struct heap_collection_rule *rule = &heap_collection_rules(&count)[row];
	const bool own_values = rule->shape == HEAP_FIELDS;
	const char *paths[] = {
		rule->size,
		rule->store,
		rule->first,
		rule->last,
		rule->extra,
		rule->shape == HEAP_SLOTS ? rule->key : NULL,
		rule->parts ? rule->parts->field : NULL,
	};

	assert(class_no < heap->class_count);
	for (size_t i = 0; i < BASE_COUNT(paths); i++)
		if (paths[i] && !heap_has_path(heap, class_no, class_no, paths[i]))
			return false;
	if (own_values) {
		char name[64];
		const size_t size = strcspn(rule->value, ",");

		if (size >= sizeof(name))
			return false;
		memcpy(name, rule->value, size);
		name[size] = '\0';
		return heap_has_path(heap, class_no, class_no, name);
	}
	return true;
}

static const struct heap_known_rows collection_rows = { HEAP_KNOWN_COLLECTIONS, row_name, fits };

/*
 * Returns the row for a class. Rows for the same class describe its versions; the first whose
 * fields exist (fits) is used.
 */
const struct heap_collection_rule *heap_collection_row(struct heap *heap, uint32_t class_no,
						       uint32_t *row_class)
{
	struct heap_known_row row;
	size_t count;

	if (!heap_known_row(heap, &collection_rows, class_no, &row))
		return NULL;
	*row_class = row.class_no;
	return &heap_collection_rules(&count)[row.row];
}

const struct heap_collection_rule *heap_collection_rule(struct heap *heap, uint32_t class_no)
{
	uint32_t row_class;

	return heap_collection_row(heap, class_no, &row_class);
}

/* ---- sizes ---- */

/* Adds up the cells of a striped counter. */
static int add_cells(struct heap *heap, const struct heap_collection *c, int64_t *sum,
		     struct hdb_error *err)
{
	struct heap_object object;
	struct heap_walk walk;
	uint32_t cells, cell;
	int r = heap_path_object_as(heap, heap_as_inner(c), c->inner->cells, &cells, err);

	if (r != HDB_OK)
		return heap_soft(r);
	TRY(heap_object(heap, cells, &object, err));
	if (object.kind != STORE_OBJECT_ARRAY)
		return HDB_OK;
	heap_walk_begin(&walk, cells, 0, CELLS_MAX);
	while ((r = heap_walk_target_next(heap, &walk, &cell, err)) == HDB_OK) {
		int64_t value;

		TRY_ERRORS(r = heap_path_number(heap, cell, "value", &value, err));
		if (r == HDB_OK && __builtin_add_overflow(*sum, value, sum))
			return HDB_OK;
	}
	return r < 0 ? r : HDB_OK;
}

/* Sets the size as read from the dump, which may be wrong. A size above `most` becomes `most`. */
static void set_size(struct heap_collection *c, int64_t size, uint64_t most)
{
	c->has_size = true;
	c->has_lied = size < 0 || (uint64_t)size > most;
	c->size = size < 0 ? 0 : (uint64_t)size > most ? most : (uint64_t)size;
	assert(c->size <= most);
}

/* Reads the index of a ring buffer's first element, or of the slot after its last element. */
static int ring_index(struct heap *heap, const struct heap_collection *c, const char *path,
		      uint64_t *out, struct hdb_error *err)
{
	int64_t index;

	assert(c->inner);
	TRY(heap_inner_number(heap, c, path, &index, err));
	*out = index > 0 && c->array_length ? (uint64_t)index % c->array_length : 0;
	return HDB_OK;
}

/*
 * Computes the size of a ring buffer. If the end is before the start, the elements wrap around; if
 * both are equal, the buffer is empty.
 */
static int size_of_ring(struct heap *heap, struct heap_collection *c, struct hdb_error *err)
{
	uint64_t first, last = 0;

	assert(c->inner->first && c->inner->last);
	TRY(ring_index(heap, c, c->inner->first, &first, err));
	TRY(ring_index(heap, c, c->inner->last, &last, err));
	set_size(c, (int64_t)(last >= first ? last - first : last + c->array_length - first),
		 c->array_length);
	return HDB_OK;
}

/*
 * Counts the set bits of a single word. The bits of arrays are counted only on request
 * (heap_collection_count).
 */
static int size_of_word(struct heap *heap, struct heap_collection *c, struct hdb_error *err)
{
	struct heap_value value;
	int r = heap_path_value_as(heap, heap_as_inner(c), c->inner->store, &value, err);

	assert(c->inner->shape == HEAP_WORDS);
	if (r != HDB_OK)
		return heap_soft(r);
	if (value.type == HPROF_LONG) {
		set_size(c, __builtin_popcountll(value.bits), 64);
		c->capacity = 64;
		c->has_capacity = true;
	}
	return heap_soft(r);
}

/*
 * Counts the set bits of an array. Checks the budget, in words, before reading, so that a hostile
 * length costs nothing.
 */
static int count_bits(struct heap *heap, struct heap_collection *c, uint64_t *budget,
		      struct hdb_error *err)
{
	struct heap_walk walk;
	uint64_t bits, sum = 0;
	int r;

	assert(c->inner->shape == HEAP_WORDS);
	if (c->array_ix == HEAP_NONE || c->array_length > *budget)
		return HDB_NOTFOUND;
	*budget -= c->array_length;
	heap_walk_begin(&walk, c->array_ix, 0, c->array_length);
	while ((r = heap_walk_next(heap, &walk, &bits, err)) == HDB_OK)
		sum += (uint64_t)__builtin_popcountll(bits);
	TRY_ERRORS(r);
	if (walk.at < c->array_length)
		return HDB_NOTFOUND;
	set_size(c, (int64_t)sum, UINT64_MAX / 2);
	return HDB_OK;
}

/* Returns the number of names in a comma-separated list. */
static uint64_t count_names(const char *names)
{
	uint64_t n = 1;

	for (; *names; names++)
		n += *names == ',';
	return n;
}

/*
 * Finds the array that determines the capacity. For a list in place of an array (HEAP_OF_LISTS),
 * finds only the length.
 */
static int find_array(struct heap *heap, struct heap_collection *c, struct hdb_error *err)
{
	const struct heap_collection_rule *rule = c->inner;
	const bool is_array =
		heap_is_in_slots(rule) || rule->shape == HEAP_WORDS || rule->shape == HEAP_PARTS;
	const char *path = rule->array ? rule->array : is_array ? rule->store : NULL;
	struct heap_object object = { 0 };
	uint32_t ix;
	int r;

	assert(rule->shape != HEAP_WRAP);
	if (!path)
		return HDB_OK;
	if ((r = heap_path_object_as(heap, heap_as_inner(c), path, &ix, err)) != HDB_OK)
		return heap_soft(r);
	if (rule->flags & HEAP_OF_LISTS) {
		struct heap_chunk chunk;

		return heap_soft(heap_chunk_open_list(heap, &chunk, ix, &c->array_length, err));
	}
	TRY(heap_object(heap, ix, &object, err));
	if (object.kind == STORE_OBJECT_ARRAY || object.kind == STORE_PRIMITIVE_ARRAY) {
		c->array_ix = ix;
		c->array_length = object.length;
	}
	return HDB_OK;
}

/* Sets the capacity from the array. */
static void set_capacity(struct heap_collection *c)
{
	const struct heap_collection_rule *rule = c->inner;

	assert(rule->shape != HEAP_WRAP);
	if (rule->shape == HEAP_PARTS || rule->flags & HEAP_LENT)
		return;
	c->has_capacity =
		heap_is_in_slots(rule) || rule->flags & HEAP_HASHED || c->array_ix != HEAP_NONE;
	c->capacity = rule->shape == HEAP_PAIRS ? c->array_length / 2 :
		      rule->shape == HEAP_WORDS ? c->array_length * 64 :
						  c->array_length;
	/* fastutil allocates an extra slot for the key that also marks free slots. */
	if (rule->extra && rule->shape == HEAP_SLOTS && c->capacity)
		c->capacity--;
}

/*
 * Finds the size of a collection that stores its size in a field; `most` is the largest possible
 * size.
 */
static int size_of_field(struct heap *heap, struct heap_collection *c, uint64_t most,
			 struct hdb_error *err)
{
	const struct heap_collection_rule *rule = c->inner;
	int64_t size = 0, extra, first;

	TRY_FOUND(heap_path_number_as(heap, heap_as_inner(c), rule->size, &size, err));
	if (rule->cells)
		TRY(add_cells(heap, c, &size, err));
	if (rule->flags & HEAP_APART) {
		TRY(heap_inner_number(heap, c, rule->extra, &extra, err));
		size += extra != 0 && size < INT64_MAX;
		most++;
	}
	if (rule->shape == HEAP_HIDDEN && rule->first) {
		TRY(heap_inner_number(heap, c, rule->first, &first, err));
		size -= first > 0 && first <= size ? first : 0;
	}
	set_size(c, size, most);
	return HDB_OK;
}

/* Returns a safe upper bound for impossible sizes in a damaged or hostile dump. */
static uint64_t size_limit(const struct heap *heap, const struct heap_collection *c)
{
	switch (c->inner->shape) {
	case HEAP_ARRAY:
	case HEAP_SLOTS:
		return c->array_length;
	case HEAP_PAIRS:
		return c->array_length / 2;
	/* Elements of these shapes need not be objects. */
	case HEAP_HIDDEN:
	case HEAP_NODES:
		return INT32_MAX;
	default:
		return heap->object_count;
	}
}

/*
 * Reads or derives the number of elements. If the elements must be counted, has_size remains false.
 */
static int find_size(struct heap *heap, struct heap_collection *c, struct hdb_error *err)
{
	const struct heap_collection_rule *rule = c->inner;
	const uint64_t most = size_limit(heap, c);
	int r = HDB_OK;

	assert(rule->shape != HEAP_WRAP);
	if (rule->shape == HEAP_WORDS && !rule->size)
		return c->array_ix == HEAP_NONE ? size_of_word(heap, c, err) : HDB_OK;
	if (rule->size) {
		r = size_of_field(heap, c, most, err);
	} else if (rule->shape == HEAP_ARRAY && rule->last) {
		r = size_of_ring(heap, c, err);
	} else if (rule->shape == HEAP_ARRAY || rule->flags & HEAP_OF_LISTS) {
		set_size(c, (int64_t)c->array_length, most);
	} else if (rule->shape == HEAP_PAIRS && rule->flags & HEAP_DENSE) {
		set_size(c, (int64_t)(c->array_length / 2), most);
	} else if (rule->shape == HEAP_EMPTY) {
		set_size(c, 0, 0);
	} else if (rule->shape == HEAP_FIELDS && !rule->absent) {
		set_size(c, (int64_t)count_names(rule->value), UINT32_MAX);
	}
	return heap_soft(r);
}

/*
 * Follows wrappers to the inner collection. Sets `inner` to NULL if the wrapped object is not a
 * known collection.
 */
static int unwrap(struct heap *heap, struct heap_collection *c, struct hdb_error *err)
{
	for (unsigned n = 0; c->inner && c->inner->shape == HEAP_WRAP; n++) {
		const struct heap_collection_rule *wrapper = c->inner;
		struct heap_object object;
		uint32_t ix;
		int r;

		if (c->takes == HEAP_TAKES_ALL)
			c->takes = wrapper->takes;
		c->inner = NULL;
		if (n == WRAPPERS_MAX)
			return HDB_OK;
		r = heap_path_object_as(heap, heap_as_inner(c), wrapper->store, &ix, err);
		if (r != HDB_OK) {
			c->wraps_null = r == HDB_NOTFOUND;
			return heap_soft(r);
		}
		TRY(heap_object(heap, ix, &object, err));
		if (object.kind != STORE_INSTANCE)
			return HDB_OK;
		c->inner_ix = ix;
		c->inner = heap_collection_row(heap, object.class_no, &c->inner_class);
	}
	if (c->inner && c->takes == HEAP_TAKES_ALL)
		c->takes = c->inner->takes;
	return HDB_OK;
}

/*
 * Opens a list that a known trie uses in place of an array: empty, with a single field, or backed
 * by an array.
 */
int heap_chunk_open_list(struct heap *heap, struct heap_chunk *chunk, uint32_t ix, uint64_t *length,
			 struct hdb_error *err)
{
	struct heap_collection c = { .ix = ix, .inner_ix = ix, .array_ix = HEAP_NONE };
	struct heap_object object;
	struct heap_value value;
	int r = heap_object(heap, ix, &object, err);

	heap_chunk_open(chunk, HEAP_NONE);
	*length = 0;
	if (r < 0 || object.kind != STORE_INSTANCE)
		return r < 0 ? r : HDB_NOTFOUND;
	c.inner = heap_collection_row(heap, object.class_no, &c.inner_class);
	TRY(unwrap(heap, &c, err));
	if (c.inner && c.inner->shape == HEAP_EMPTY)
		return HDB_OK;
	if (c.inner && c.inner->shape == HEAP_FIELDS && !strchr(c.inner->value, ',')) {
		r = heap_path_value_as(heap, heap_as_inner(&c), c.inner->value, &value, err);
		chunk->array_ix = c.inner_ix;
		chunk->is_whole = true;
		*length = chunk->count = r == HDB_OK;
		chunk->type = value.type;
		chunk->bits[0] = value.bits;
		return r;
	}
	if (!c.inner || c.inner->shape != HEAP_ARRAY || c.inner->last)
		return HDB_NOTFOUND;
	TRY(find_array(heap, &c, err));
	TRY(find_size(heap, &c, err));
	heap_chunk_open(chunk, c.array_ix);
	*length = c.size;
	return c.inner->first ? ring_index(heap, &c, c.inner->first, &chunk->first, err) : HDB_OK;
}

/* Reads everything except totals over parts. */
static int open_plain(struct heap *heap, uint32_t ix, struct heap_collection *c,
		      struct hdb_error *err)
{
	struct heap_object object;
	int r = heap_object(heap, ix, &object, err);

	*c = (struct heap_collection){ .ix = ix, .inner_ix = ix, .array_ix = HEAP_NONE };
	TRY(r);
	if (object.kind != STORE_INSTANCE || ix == HEAP_BOOT_LOADER)
		return HDB_NOTFOUND;
	c->rule = heap_collection_row(heap, object.class_no, &c->inner_class);
	if (!c->rule)
		return HDB_NOTFOUND;
	c->inner = c->rule;
	TRY(heap_open_dump(heap, err));
	if ((r = unwrap(heap, c, err)) < 0 || !c->inner)
		return r;
	TRY(find_array(heap, c, err));
	set_capacity(c);
	return find_size(heap, c, err);
}

/* Opens part number `no`, or returns HDB_NOTFOUND if the slot is empty. */
static int open_part(struct heap *heap, const struct heap_collection *c, uint64_t no,
		     struct heap_collection *part, struct hdb_error *err)
{
	uint64_t bits;
	struct heap_slice slice = { .bits = &bits, .room = 1 };
	uint32_t ix;

	assert(no < c->array_length);
	TRY(heap_elements(heap, c->array_ix, no, &slice, err));
	TRY(slice.done && slice.type == HPROF_OBJECT && bits ? heap_find(heap, bits, &ix, err) :
							       HDB_NOTFOUND);
	TRY(open_plain(heap, ix, part, err));
	return !part->inner ? HDB_NOTFOUND : HDB_OK;
}

/* Adds up the sizes and capacities of the parts. */
static int add_parts(struct heap *heap, struct heap_collection *c, struct hdb_error *err)
{
	struct heap_collection part;
	int64_t size = 0;

	assert(c->inner->shape == HEAP_PARTS);
	if (c->array_ix == HEAP_NONE || c->array_length > PARTS_MAX)
		return HDB_OK;
	for (uint64_t no = 0; no < c->array_length; no++) {
		const int r = open_part(heap, c, no, &part, err);

		TRY_ERRORS(r);
		if (r == HDB_OK) {
			/*
			 * Each size is at most the number of objects in the heap, so the sum is
			 * below 2^44.
			 */
			size += (int64_t)part.size;
			c->capacity += part.capacity;
		}
	}
	c->has_capacity = true;
	set_size(c, size, heap->object_count);
	return HDB_OK;
}

/*
 * Returns HDB_NOTFOUND for an array whose last slot refers to the next array of the same class:
 * such an array is a part of a queue.
 */
static int check_part(struct heap *heap, const struct heap_collection *c, struct hdb_error *err)
{
	struct heap_slice last = { .room = 1 };
	uint64_t bits = 0;
	uint32_t next;

	last.bits = &bits;
	TRY(heap_elements(heap, c->array_ix, c->array_length - 1, &last, err));
	TRY_FOUND(last.type == HPROF_OBJECT && bits ? heap_find(heap, bits, &next, err) :
						      HDB_NOTFOUND);
	return heap_class_name_of(heap, next) == heap_class_name_of(heap, c->ix) ? HDB_NOTFOUND :
										   HDB_OK;
}

int heap_collection_open(struct heap *heap, uint32_t ix, struct heap_collection *c,
			 struct hdb_error *err)
{
	TRY(open_plain(heap, ix, c, err));
	if (c->array_length && c->rule->shape == HEAP_ARRAY && !c->rule->size &&
	    strcmp(c->rule->class_name, LINKED_ARRAY) == 0)
		TRY(check_part(heap, c, err));
	return c->inner && c->inner->shape == HEAP_PARTS ? add_parts(heap, c, err) : HDB_OK;
}

/* ---- functions that read the contents ---- */

/* Counters for slots that are not null. */
struct used {
	uint64_t step;    /* only every step-th slot counts */
	uint64_t *budget; /* number of slots that may still be read */
	uint64_t slots;
};

/* Counts slots that are not null. In an array of pairs, `step` skips the values. */
static int add_used(struct heap *heap, uint32_t array_ix, uint64_t length, struct used *used,
		    struct hdb_error *err)
{
	struct heap_walk walk;
	uint64_t count;

	if (array_ix == HEAP_NONE || length > *used->budget)
		return HDB_NOTFOUND;
	*used->budget -= length;
	heap_walk_begin(&walk, array_ix, 0, length);
	TRY(heap_walk_count(heap, &walk, used->step, &count, err));
	used->slots += count;
	return HDB_OK;
}

/*
 * Counts the used slots. For a partitioned map, adds up its parts; a part that cannot be opened
 * counts as empty.
 */
int heap_collection_used(struct heap *heap, const struct heap_collection *c, uint64_t *budget,
			 uint64_t *slots, struct hdb_error *err)
{
	struct used used = { .step = c->inner && c->inner->shape == HEAP_PAIRS ? 2 : 1,
			     .budget = budget };
	struct heap_collection part;
	int r = HDB_OK;

	*slots = 0;
	if (!c->inner || c->inner->shape != HEAP_PARTS) {
		r = add_used(heap, c->array_ix, c->array_length, &used, err);
		*slots = used.slots;
		return r;
	}
	for (uint64_t no = 0; no < c->array_length && no < PARTS_MAX; no++) {
		r = open_part(heap, c, no, &part, err);
		if (r == HDB_OK && part.array_ix != HEAP_NONE)
			r = add_used(heap, part.array_ix, part.array_length, &used, err);
		*slots = used.slots;
		TRY_ERRORS(r);
	}
	return HDB_OK;
}

/*
 * Counts the elements in at most *budget steps, which it subtracts from *budget. If the budget is
 * too small, sets no size, because a partial count would look exact.
 */
int heap_collection_count(struct heap *heap, struct heap_collection *c, uint64_t *budget,
			  struct hdb_error *err)
{
	struct heap_entries entries;
	uint64_t most;
	int r;

	if (c->has_size)
		return HDB_OK;
	if (!c->inner || c->inner->shape == HEAP_HIDDEN)
		return HDB_NOTFOUND;
	if (c->inner->shape == HEAP_WORDS)
		return count_bits(heap, c, budget, err);
	r = heap_entries_begin(heap, c, &entries, err);
	if (entries.steps > *budget)
		entries.steps = *budget;
	most = entries.steps;
	while (r == HDB_OK)
		r = heap_entries_next(&entries, err);
	assert(entries.steps <= most);
	*budget -= most - entries.steps;
	if (r >= 0) {
		c->size = entries.no;
		c->has_size = !entries.is_cut && !entries.unknown;
		r = c->has_size ? HDB_OK : HDB_NOTFOUND;
	}
	heap_entries_end(&entries);
	return r;
}
