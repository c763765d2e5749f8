/*
 * store/objects.c - encodes and decodes blocks of the `ids` and `objects` tables.
 *
 * A block of objects consists of the u32 number of dictionary entries, the entries of 12 bytes each
 * (u32 class_no, u8 kind, u8 embedded, 2 zero bytes, u32 body_size), a u64 file offset for each
 * group of 128 objects, and packed columns: dictionary index, length, file offset, and heap
 * (optional). A file offset is stored as its difference from the end of the previous object in the
 * group, so consecutive objects in the dump take no space. Class objects have no file offset here;
 * their offsets are in the table classes.
 */
#include "store/objects.h"

#include "base/bytes.h"
#include "store/schema.h"

#include <assert.h>
#include <string.h>

#define CLASS_ENTRY 12

/*
 * Returns the size of a sub-record before its body, or 0 for class objects and for invalid kinds in
 * a damaged block.
 */
static uint64_t record_head_size(uint8_t kind, unsigned id_size)
{
	switch (kind) {
	case STORE_INSTANCE:
	case STORE_OBJECT_ARRAY:
		return 1 + 2 * (uint64_t)id_size + 8;
	case STORE_PRIMITIVE_ARRAY:
		return 1 + (uint64_t)id_size + 9;
	default:
		return 0;
	}
}

static struct store_record_rule record_rule_of(const struct store_object *o, unsigned id_size)
{
	return (struct store_record_rule){
		.fixed = record_head_size(o->kind, id_size) +
			 (o->kind == STORE_INSTANCE ? o->body_size : 0),
		.unit = o->kind == STORE_INSTANCE ? 0 : o->body_size,
		.is_class = o->kind == STORE_CLASS,
	};
}

/*
 * Returns the end of a record that begins at `offset`. The arithmetic is unsigned, so that absurd
 * lengths wrap harmlessly.
 */
static inline uint64_t record_end(const struct store_record_rule *rule, uint64_t offset,
				  uint64_t length)
{
	return offset + rule->fixed + length * rule->unit;
}

/* ---- the dictionary of an encoder ---- */

static void forget_recent(struct store_objects_dictionary *d)
{
	/* all ones; no class has this key */
	memset(d->recent, 0xff, sizeof(d->recent));
}

void store_objects_dictionary_init(struct store_objects_dictionary *d, unsigned id_size)
{
	assert(id_size == 4 || id_size == 8);
	*d = (struct store_objects_dictionary){ .id_size = id_size };
	forget_recent(d);
}

void store_objects_dictionary_release(struct store_objects_dictionary *d)
{
	base_vec_release(&d->entries);
	base_vec_release(&d->used);
	base_idmap_release(&d->map);
	forget_recent(d);
}

static int add_entry(struct store_objects_dictionary *d, const struct store_object *o, uint64_t key,
		     struct hdb_error *err)
{
	const struct store_objects_entry entry = {
		.class_no = o->class_no,
		.body_size = o->body_size,
		.kind = o->kind,
		.is_embedded = o->is_embedded != 0,
		.number = STORE_NONE,
		.rule = record_rule_of(o, d->id_size),
	};

	TRY(base_idmap_put(&d->map, key, (uint32_t)d->entries.count, err));
	return base_vec_push(&d->entries, &entry, sizeof(entry), err);
}

int store_objects_entry(struct store_objects_dictionary *d, const struct store_object *o,
			uint32_t *entry, struct hdb_error *err)
{
	/*
	 * A class has one body size and nearly always one kind, so class number and kind identify
	 * the entry.
	 */
	const uint64_t key =
		(uint64_t)o->class_no << 3 | (uint64_t)(o->is_embedded != 0) << 2 | o->kind;
	const unsigned place = o->class_no % STORE_RECENT_CLASSES;

	assert(o->kind <= STORE_CLASS);
	if (d->recent[place].key != key) {
		uint32_t no = base_idmap_get(&d->map, key);

		if (no == BASE_IDMAP_NONE) {
			no = (uint32_t)d->entries.count;
			TRY(add_entry(d, o, key, err));
		}
		d->recent[place].key = key;
		d->recent[place].entry = no;
	}
	*entry = d->recent[place].entry;
	return HDB_OK;
}

/* ---- encoding ---- */

/* The parts of a block that follow its dictionary. */
enum { BASES, NUMBERS, LENGTHS, OFFSETS, HEAPS, PARTS };

/* Assigns a number in the current block to a dictionary entry. */
static int use_entry(struct store_objects_dictionary *d, uint32_t entry, struct hdb_error *err)
{
	struct store_objects_entry *e = base_vec_at(&d->entries, struct store_objects_entry, entry);
	const uint32_t number = (uint32_t)d->used.count;

	TRY(base_vec_push(&d->used, &entry, sizeof(entry), err));
	e->number = number;
	return HDB_OK;
}

/* Ends the block: resets the numbers of all entries. */
static void drop_used(struct store_objects_dictionary *d)
{
	for (size_t i = 0; i < d->used.count; i++)
		base_vec_at(&d->entries, struct store_objects_entry,
			    *base_vec_at(&d->used, uint32_t, i))
			->number = STORE_NONE;
	d->used.count = 0;
}

/*
 * Splits a group of objects into columns. The base is the offset of its first record. The other
 * offsets are stored as differences from the end of the previous record.
 */
static int split_group(struct store_objects_dictionary *d, const struct store_objects_put *group,
		       uint64_t values[PARTS][PACK_GROUP], struct hdb_error *err)
{
	const struct store_objects_entry *entries = d->entries.data;
	const struct store_object_put *objects = group->objects;
	const uint64_t *offsets = group->file_offsets;
	const unsigned n = group->count;
	uint64_t expected = 0;
	unsigned first = 0;

	assert(n > 0 && n <= PACK_GROUP);
	while (first < n && entries[objects[first].entry].rule.is_class)
		first++;
	values[BASES][0] = expected = first < n ? offsets[first] : 0;
	for (unsigned i = 0; i < n; i++) {
		const struct store_objects_entry *e = &entries[objects[i].entry];
		const uint64_t length = objects[i].length, offset = offsets[i];

		if (e->number == STORE_NONE)
			TRY(use_entry(d, objects[i].entry, err));
		values[NUMBERS][i] = e->number;
		values[LENGTHS][i] = length;
		if (e->rule.is_class) {
			values[OFFSETS][i] = 0;
			continue;
		}
		values[OFFSETS][i] = zigzag((int64_t)(offset - expected));
		expected = record_end(&e->rule, offset, length);
	}
	return HDB_OK;
}

static int encode_group(struct store_objects_dictionary *d, struct pack_writer columns[PARTS],
			const struct store_objects_put *block, uint32_t from, struct hdb_error *err)
{
	const uint32_t left = block->count - from;
	const struct store_objects_put group = {
		.objects = block->objects + from,
		.file_offsets = block->file_offsets + from,
		.count = left < PACK_GROUP ? left : PACK_GROUP,
	};
	uint64_t values[PARTS][PACK_GROUP];
	uint8_t base[8];

	TRY(split_group(d, &group, values, err));
	store64(base, values[BASES][0]);
	TRY(base_bytes_append(columns[BASES].out, base, sizeof(base), err));
	for (unsigned i = 0; block->heap_nos && i < group.count; i++)
		values[HEAPS][i] = block->heap_nos[from + i];
	for (unsigned c = NUMBERS; c < PARTS; c++)
		if (columns[c].out)
			TRY(base_pack_put_group(&columns[c], values[c], group.count, err));
	return HDB_OK;
}

/* Appends the entries used in the block. */
static int put_dictionary(struct base_vec *out, const struct store_objects_dictionary *d,
			  struct hdb_error *err)
{
	uint8_t *p;

	TRY(base_vec_reserve(out, 4 + d->used.count * CLASS_ENTRY, 1, err));
	p = (uint8_t *)out->data + out->count;
	store32(p, (uint32_t)d->used.count);
	p += 4;
	for (size_t i = 0; i < d->used.count; i++, p += CLASS_ENTRY) {
		const struct store_objects_entry *e =
			base_vec_at(&d->entries, struct store_objects_entry,
				    *base_vec_at(&d->used, uint32_t, i));

		store32(p, e->class_no);
		store32(p + 4, e->kind | (uint32_t)e->is_embedded << 8);
		store32(p + 8, e->body_size);
	}
	out->count += 4 + d->used.count * CLASS_ENTRY;
	return HDB_OK;
}

/* State while a block is encoded. */
struct encoding {
	struct store_objects_dictionary *dictionary; /* borrowed */
	struct base_vec bytes[PARTS];
};

static void end_encoding(struct encoding *e)
{
	drop_used(e->dictionary);
	for (unsigned c = 0; c < PARTS; c++)
		base_vec_release(&e->bytes[c]);
}

int store_objects_encode(struct base_vec *out, struct store_objects_dictionary *d,
			 const struct store_objects_put *block, struct hdb_error *err)
{
	const unsigned parts = block->heap_nos ? PARTS : HEAPS;
	BASE_SCOPED(end_encoding) struct encoding e = { .dictionary = d };
	struct pack_writer columns[PARTS] = { { .out = &e.bytes[BASES] } };

	assert(block->count <= STORE_BLOCK_OBJECTS);
	assert(!d->used.count);
	for (unsigned c = NUMBERS; c < parts; c++)
		TRY(base_pack_begin(&columns[c], &e.bytes[c], block->count, err));
	for (uint32_t i = 0; i < block->count; i += PACK_GROUP)
		TRY(encode_group(d, columns, block, i, err));
	TRY(put_dictionary(out, d, err));
	for (unsigned c = 0; c < parts; c++) {
		if (c != BASES)
			TRY(base_pack_end(&columns[c], err));
		TRY(base_bytes_append(out, e.bytes[c].data, e.bytes[c].count, err));
	}
	return HDB_OK;
}

int store_ids_encode(struct base_vec *out, const uint64_t *ids, uint32_t count, uint32_t first_ix,
		     struct hdb_error *err)
{
	const uint32_t groups = (count + PACK_GROUP - 1) / PACK_GROUP;
	struct pack_writer column;
	uint64_t all = 0;
	uint8_t *head;
	unsigned shift;

	assert(count > 0 && count <= STORE_BLOCK_OBJECTS);
	assert(ids[0] <= ids[count - 1]);
	TRY(base_vec_reserve(out, 8 + (size_t)groups * 8, 1, err));
	for (uint32_t i = 1; i < count; i++)
		all |= ids[i] - ids[i - 1];
	shift = all ? (unsigned)__builtin_ctzll(all) : 0;
	head = (uint8_t *)out->data + out->count;
	store32(head, first_ix);
	store32(head + 4, shift);
	for (uint32_t g = 0; g < groups; g++)
		store64(head + 8 + (size_t)g * 8, ids[g * PACK_GROUP]);
	out->count += 8 + (size_t)groups * 8;
	TRY(base_pack_begin(&column, out, count, err));
	for (uint32_t at = 0; at < count; at += PACK_GROUP) {
		const unsigned n = count - at < PACK_GROUP ? count - at : PACK_GROUP;
		uint64_t deltas[PACK_GROUP];

		for (unsigned i = 1; i < n; i++)
			deltas[i] = (ids[at + i] - ids[at + i - 1]) >> shift;
		/*
		 * The first ID of a group is stored in full, so its difference is never read. A
		 * copy of the next difference compresses best.
		 */
		deltas[0] = at + 1 < count ? (ids[at + 1] - ids[at]) >> shift : 0;
		TRY(base_pack_put_group(&column, deltas, n, err));
	}
	return base_pack_end(&column, err);
}

/* ---- objects ---- */

static int open_columns(struct store_objects *out, const uint8_t *p, uint64_t size,
			struct hdb_error *err)
{
	struct pack_column *columns[] = { &out->class_column, &out->length_column,
					  &out->offset_column, &out->heap_column };
	uint64_t group[PACK_GROUP];

	for (unsigned c = 0; c < 4; c++) {
		if (c == 3 && size == 0)
			break;
		TRY(base_pack_open(columns[c], p, size, out->count, err));
		p += columns[c]->size;
		size -= columns[c]->size;
	}
	for (uint32_t g = 0; g * PACK_GROUP < out->count; g++) {
		const unsigned n = base_pack_group(&out->class_column, g, group);

		for (unsigned i = 0; i < n; i++)
			if (group[i] >= out->class_count)
				return hdb_fail(err, HDB_ECORRUPT, "class index out of range");
	}
	return HDB_OK;
}

int store_objects_open(struct store *store, uint32_t first_ix, struct store_objects *out,
		       struct hdb_error *err)
{
	struct store_block block;
	struct hdb_error why;
	uint64_t bases_at, columns_at;

	assert(first_ix % STORE_BLOCK_OBJECTS == 0);
	*out = (struct store_objects){ .first_ix = first_ix,
				       .generation = store_generation(store) };
	TRY(store_need_block(store, STORE_OBJECTS, first_ix, &block, err));
	out->data = block.data;
	out->checksum = block.checksum;
	out->count = block.item_count;
	out->id_size = (unsigned)store_meta_number(store, "dump.id_size", 8);
	if (out->count > STORE_BLOCK_OBJECTS || block.size < 4)
		return store_damaged(store, STORE_OBJECTS, first_ix, "impossible size", err);
	out->class_count = load32(block.data);
	bases_at = 4 + (uint64_t)out->class_count * CLASS_ENTRY;
	columns_at = bases_at + (uint64_t)((out->count + PACK_GROUP - 1) / PACK_GROUP) * 8;
	if (columns_at > block.size)
		return store_damaged(store, STORE_OBJECTS, first_ix, "impossible size", err);
	out->classes = block.data + 4;
	out->size = block.size - 4;
	out->bases = block.data + bases_at;
	if (open_columns(out, block.data + columns_at, block.size - columns_at, &why) < 0)
		return store_damaged(store, STORE_OBJECTS, first_ix, why.message, err);
	return HDB_OK;
}

bool store_objects_stay(struct store *store, struct store_objects *block)
{
	struct store_block found;

	if (block->generation == store_generation(store))
		return true;
	if (store_block(store, STORE_OBJECTS, block->first_ix, &found, NULL) != HDB_OK ||
	    found.data != block->data || found.checksum != block->checksum)
		return false;
	block->generation = store_generation(store);
	return true;
}

static void get_class(const struct store_objects *block, uint64_t index, struct store_object *out)
{
	const uint8_t *entry = block->classes + index * CLASS_ENTRY;

	out->class_no = load32(entry);
	out->kind = entry[4];
	out->is_embedded = entry[5] != 0;
	out->body_size = load32(entry + 8);
}

uint32_t store_objects_class(const struct store_objects *block, uint32_t i)
{
	assert(i < block->class_count);
	return load32(block->classes + (size_t)i * CLASS_ENTRY);
}

void store_objects_get(const struct store_objects *block, uint32_t i, struct store_object *out)
{
	assert(i < block->count);
	get_class(block, base_pack_get(&block->class_column, i), out);
	out->length = base_pack_get(&block->length_column, i);
	out->heap_no =
		block->heap_column.count ? (uint32_t)base_pack_get(&block->heap_column, i) : 0;
	out->file_offset = 0;
}

/*
 * Maximum number of entries for which the sizes of records are computed once per block. With more
 * entries, they are computed once per object.
 */
#define RULES_MAX 256

static struct store_record_rule rule_of(const struct store_objects *block, uint64_t index)
{
	struct store_object o;

	get_class(block, index, &o);
	return record_rule_of(&o, block->id_size);
}

/* Computes the file offsets of a group. `rules` is indexed by dictionary entry, or NULL. */
static void group_offsets(const struct store_objects *block, const struct store_record_rule *rules,
			  uint32_t g, uint64_t offset[PACK_GROUP])
{
	uint64_t indices[PACK_GROUP], lengths[PACK_GROUP];
	const unsigned n = base_pack_group(&block->class_column, g, indices);
	uint64_t expected = load64(block->bases + (uint64_t)g * 8);

	assert(g < (block->count + PACK_GROUP - 1) / PACK_GROUP);
	(void)base_pack_group(&block->length_column, g, lengths);
	(void)base_pack_group(&block->offset_column, g, offset);
	for (unsigned k = 0; k < n; k++) {
		const struct store_record_rule rule =
			rules ? rules[indices[k]] : rule_of(block, indices[k]);

		if (rule.is_class) {
			offset[k] = 0;
			continue;
		}
		offset[k] = expected + (uint64_t)unzigzag(offset[k]);
		expected = record_end(&rule, offset[k], lengths[k]);
	}
}

void store_objects_group_offsets(const struct store_objects *block, uint32_t g,
				 uint64_t offset[PACK_GROUP])
{
	assert(g < (block->count + PACK_GROUP - 1) / PACK_GROUP);
	group_offsets(block, NULL, g, offset);
}

uint64_t store_objects_offset(const struct store_objects *block, uint32_t i)
{
	uint64_t offset[PACK_GROUP];

	assert(i < block->count);
	store_objects_group_offsets(block, i / PACK_GROUP, offset);
	return offset[i % PACK_GROUP];
}

void store_objects_offsets(const struct store_objects *block, uint64_t *offset)
{
	struct store_record_rule rules[RULES_MAX];
	const bool is_short = block->class_count <= RULES_MAX;
	uint64_t group[PACK_GROUP];

	base_map_prefetch(block->classes, block->size);
	for (uint32_t i = 0; is_short && i < block->class_count; i++)
		rules[i] = rule_of(block, i);
	for (uint32_t g = 0; g * PACK_GROUP < block->count; g++) {
		const uint32_t first = g * PACK_GROUP, left = block->count - first;

		group_offsets(block, is_short ? rules : NULL, g, group);
		memcpy(offset + first, group,
		       (left < PACK_GROUP ? left : PACK_GROUP) * sizeof(*offset));
	}
}

/*
 * Maximum number of entries for which the dictionary is decoded once per block. Most blocks have
 * fewer entries.
 */
#define SCANNED_MAX 1024u

/* A decoded dictionary entry. */
struct scanned_class {
	uint32_t class_no;
	uint8_t kind; /* may include STORE_KIND_EMBEDDED */
};

static struct scanned_class scanned_class_of(const struct store_objects *block, uint64_t i)
{
	const uint8_t *entry = block->classes + i * CLASS_ENTRY;

	return (struct scanned_class){
		.class_no = load32(entry),
		.kind = (uint8_t)(entry[4] | (entry[5] ? STORE_KIND_EMBEDDED : 0)),
	};
}

/* Decodes the block's dictionary into `room`. Returns NULL if it is too large. */
static const struct scanned_class *list_classes(const struct store_objects *block,
						struct scanned_class *room)
{
	if (block->class_count > SCANNED_MAX)
		return NULL;
	for (uint32_t i = 0; i < block->class_count; i++)
		room[i] = scanned_class_of(block, i);
	return room;
}

void store_objects_scan(const struct store_objects *block, uint32_t *class_no, uint8_t *kind,
			uint64_t *length)
{
	struct scanned_class room[SCANNED_MAX];
	const struct scanned_class *table;
	uint64_t group[PACK_GROUP];

	assert(block->count <= STORE_BLOCK_OBJECTS);
	/* The pages may have been evicted since the block was opened. */
	base_map_prefetch(block->classes, block->size);
	table = list_classes(block, room);
	for (uint32_t g = 0; g * PACK_GROUP < block->count; g++) {
		const unsigned n = base_pack_group(&block->class_column, g, group);
		uint32_t *class_out = class_no + g * PACK_GROUP;
		uint8_t *kind_out = kind + g * PACK_GROUP;

		for (unsigned i = 0; i < n; i++) {
			const struct scanned_class class =
				table ? table[group[i]] : scanned_class_of(block, group[i]);

			class_out[i] = class.class_no;
			kind_out[i] = class.kind;
		}
		if (length)
			(void)base_pack_group(&block->length_column, g, length + g * PACK_GROUP);
	}
}

/* ---- ids ---- */

int store_ids_parse(struct store *store, const struct store_block *block, struct store_ids *out,
		    struct hdb_error *err)
{
	struct hdb_error why;
	uint64_t columns_at;

	*out = (struct store_ids){ .count = block->item_count };
	columns_at = 8 + ((uint64_t)out->count + PACK_GROUP - 1) / PACK_GROUP * 8;
	if (out->count > STORE_BLOCK_OBJECTS || !out->count || columns_at > block->size)
		return store_damaged(store, STORE_IDS, block->key, "impossible size", err);
	out->first_ix = load32(block->data);
	out->shift = block->data[4] & 63;
	out->firsts = block->data + 8;
	if (base_pack_open(&out->deltas, block->data + columns_at, block->size - columns_at,
			   out->count, &why) < 0)
		return store_damaged(store, STORE_IDS, block->key, why.message, err);
	return HDB_OK;
}

static void scan_group(const struct store_ids *block, uint32_t g, uint64_t *ids)
{
	const unsigned n = base_pack_group(&block->deltas, g, ids);

	assert(g < (block->count + PACK_GROUP - 1) / PACK_GROUP);
	ids[0] = load64(block->firsts + (uint64_t)g * 8);
	for (unsigned i = 1; i < n; i++)
		ids[i] = ids[i - 1] + (ids[i] << block->shift);
}

uint32_t store_ids_find(const struct store_ids *block, uint64_t id)
{
	uint32_t low = 0, high = (block->count + PACK_GROUP - 1) / PACK_GROUP;
	uint64_t ids[PACK_GROUP];
	unsigned n;

	/* Finds the last group whose first ID is not greater than id. */
	while (high - low > 1) {
		const uint32_t mid = low + (high - low) / 2;

		if (load64(block->firsts + (uint64_t)mid * 8) <= id)
			low = mid;
		else
			high = mid;
	}
	scan_group(block, low, ids);
	n = block->count - low * PACK_GROUP;
	if (n > PACK_GROUP)
		n = PACK_GROUP;
	for (unsigned i = 0; i < n; i++)
		if (ids[i] == id)
			return low * PACK_GROUP + i;
	return UINT32_MAX;
}

uint64_t store_ids_get(const struct store_ids *block, uint32_t i)
{
	uint64_t ids[PACK_GROUP];

	assert(i < block->count);
	scan_group(block, i / PACK_GROUP, ids);
	return ids[i % PACK_GROUP];
}

void store_ids_scan(const struct store_ids *block, uint64_t *ids)
{
	for (uint32_t g = 0; g * PACK_GROUP < block->count; g++)
		scan_group(block, g, ids + g * PACK_GROUP);
}
