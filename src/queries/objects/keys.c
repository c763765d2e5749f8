/*
 * queries/objects/keys.c - values as hashes and texts; see keys.h. Threads read values whose place
 * in the dump follows from the class: numbers in boxes and in fields, the characters of strings,
 * the elements of primitive arrays. The rest is left to the calling thread.
 */
#include "queries/objects/keys.h"

#include "analysis/contents.h"
#include "analysis/describe.h"
#include "base/idmap.h"
#include "derive/blocks.h"
#include "heap/known.h"
#include "heap/values/string_scan.h"
#include "heap/values/value_text.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Added to the seed for texts, so that their hashes differ from those of contents. */
#define TEXT_KIND 2u
/*
 * Number of members from which a block's part of the dump is read as a whole: at least one in every
 * other page.
 */
#define WANT_MEMBERS 128u
/* Buffer size for a number as text. */
#define NUMBER_TEXT 64

struct analysis_key_way {
	enum { BY_LOOKING, BY_NUMBER, BY_FIELD, BY_CHARS, BY_ELEMENTS } way;
	struct heap_place place; /* of the field */
};

/* The seed differs in each process, so no dump can be made whose values collide. */
static struct heap_text_hash hash_bytes(const void *bytes, size_t size, uint64_t kind)
{
	const XXH128_hash_t hash = XXH3_128bits_withSeed(bytes, size, base_hash_seed() + kind);

	return (struct heap_text_hash){ .low = hash.low64, .high = hash.high64 };
}

static struct heap_text_hash hash_text(const char *text)
{
	return hash_bytes(text, strlen(text), TEXT_KIND);
}

static struct heap_text_hash hash_number(const struct heap_value *value)
{
	int64_t number;

	if (!heap_value_number(value, &number))
		number = (int64_t)value->bits;
	return hash_bytes(&number, sizeof(number), value->type);
}

static struct heap_text_hash hash_basic(const struct heap_value *value)
{
	char text[NUMBER_TEXT];

	heap_basic_text(value, text, sizeof(text));
	return hash_text(text);
}

/* A primitive array in the dump. */
struct array {
	uint64_t offset;
	uint32_t class_no;
	uint64_t length;
};

/* Arrays without content are distinguished by their length; `view` is the thread's own. */
static int hash_array(struct heap *heap, struct base_view *view, const struct array *a,
		      struct heap_text_hash *out, struct hdb_error *err)
{
	struct analysis_content content;
	const int r = a->length ? analysis_array_hash(heap, view, a->offset, &content, err) :
				  HDB_NOTFOUND;

	if (r == HDB_NOTFOUND)
		*out = hash_bytes(&a->length, sizeof(a->length), a->class_no);
	else if (r == HDB_OK)
		*out = (struct heap_text_hash){ content.low, content.high ^ a->class_no };
	return r < 0 ? r : HDB_OK;
}

/* ---- one object ---- */

/*
 * Finds the value that an object is grouped by: the object itself, or its field. HDB_NOTFOUND if it
 * has no such field. *of is the object that the value refers to; HEAP_NONE for numbers, null and
 * objects that the dump lacks.
 */
static int value_of(const struct analysis_keys *k, uint32_t ix, struct heap_value *out,
		    uint32_t *of, struct hdb_error *err)
{
	struct heap *heap = k->session->heap;
	struct heap_object object;
	int r;

	*of = ix;
	*out = (struct heap_value){ .type = HPROF_OBJECT };
	if (!k->path)
		return HDB_OK;
	*of = HEAP_NONE;
	TRY(heap_object(heap, ix, &object, err));
	if (object.kind != STORE_INSTANCE)
		return HDB_NOTFOUND;
	r = heap_path_value(heap, ix, k->path, out, err);
	if (r != HDB_OK || out->type != HPROF_OBJECT || !out->bits)
		return r;
	TRY_ERRORS(heap_find(heap, out->bits, of, err));
	return HDB_OK;
}

/* Writes an object's value as text. */
static int text_of_object(const struct session *session, uint32_t of, char *text,
			  struct hdb_error *err)
{
	struct heap_object object;
	uint64_t id;
	int r = heap_object(session->heap, of, &object, err);

	if (r < 0 || heap_string(session->heap, of, text, ANALYSIS_KEY_TEXT, NULL) == HDB_OK)
		return r;
	analysis_describe(session, of, text, ANALYSIS_KEY_TEXT);
	if (!text[0] && object.kind == STORE_PRIMITIVE_ARRAY)
		(void)snprintf(text, ANALYSIS_KEY_TEXT, "%s of %" PRIu64 " elements",
			       heap_class_name(session->heap, object.class_no), object.length);
	else if (!text[0] && heap_id(session->heap, of, &id, NULL) == HDB_OK)
		(void)snprintf(text, ANALYSIS_KEY_TEXT, "0x%" PRIx64, id);
	return HDB_OK;
}

int analysis_key_text(struct analysis_keys *k, uint32_t ix, char *text, struct hdb_error *err)
{
	struct heap_value value;
	uint32_t of;
	int r = value_of(k, ix, &value, &of, err);

	if (r == HDB_NOTFOUND)
		(void)snprintf(text, ANALYSIS_KEY_TEXT, "(none)");
	TRY_FOUND(r);
	if (of != HEAP_NONE)
		return text_of_object(k->session, of, text, err);
	heap_basic_text(&value, text, ANALYSIS_KEY_TEXT);
	return HDB_OK;
}

/* Hashes the contents of an object. HDB_NOTFOUND if it has none: then its text is the key. */
static int hash_content(const struct session *session, const struct heap_object *object,
			struct heap_text_hash *out, struct hdb_error *err)
{
	struct heap *heap = session->heap;
	struct heap_string string;
	struct heap_value value;

	if (object->kind == STORE_PRIMITIVE_ARRAY) {
		struct array array = { .class_no = object->class_no, .length = object->length };

		TRY(heap_open_dump(heap, err));
		TRY(heap_offset(heap, object->ix, &array.offset, err));
		return hash_array(heap, &heap->dump.view, &array, out, err);
	}
	if (object->kind == STORE_INSTANCE && heap_is_string(heap, object->ix)) {
		TRY(heap_string_one(heap, object->ix, &string, err));
		return heap_chars_hash(&heap->dump.view, &string.chars, out, err);
	}
	/* Most such objects are boxed numbers, which are hashed without making their text. */
	if (!heap_value_is_number(heap, object->class_no))
		return HDB_NOTFOUND;
	TRY(heap_path_value(heap, object->ix, "value", &value, err));
	*out = hash_number(&value);
	return HDB_OK;
}

int analysis_key_of(struct analysis_keys *k, uint32_t ix, struct heap_text_hash *out,
		    struct hdb_error *err)
{
	struct heap_object object;
	struct heap_value value;
	char text[ANALYSIS_KEY_TEXT] = "(none)";
	uint32_t of;
	int r = value_of(k, ix, &value, &of, err);

	TRY_ERRORS(r);
	if (r == HDB_OK && of != HEAP_NONE) {
		TRY(heap_object(k->session->heap, of, &object, err));
		if ((r = hash_content(k->session, &object, out, err)) <= HDB_OK)
			return r;
		text[0] = '\0';
		if ((r = text_of_object(k->session, of, text, err)) < 0)
			return r;
	} else if (r == HDB_OK) {
		heap_basic_text(&value, text, NUMBER_TEXT);
	}
	*out = hash_text(text);
	return HDB_OK;
}

/* ---- all of them ---- */

/* Chooses how to read the objects of a class. */
static int find_way(struct analysis_keys *k, uint32_t no, struct analysis_key_way *out,
		    struct hdb_error *err)
{
	struct heap *heap = k->session->heap;

	assert(no < heap->class_count);
	out->way = BY_LOOKING;
	if (!k->path && heap_string_layout(heap, no)) {
		out->way = BY_CHARS;
		return HDB_OK;
	}
	if (!k->path && heap_class(heap, no)->element_type) {
		out->way = BY_ELEMENTS;
		return HDB_OK;
	}
	if (!k->path && !heap_value_is_number(heap, no))
		return HDB_OK;
	TRY_FOUND(heap_path_place(heap, no, k->path ? k->path : "value", &out->place, err));
	out->way = k->path ? BY_FIELD : BY_NUMBER;
	return HDB_OK;
}

int analysis_keys_begin(struct analysis_keys *k, struct hdb_error *err)
{
	struct heap *heap = k->session->heap;
	unsigned threads_max = 1;
	bool has_strings = false;

	k->ways = NULL;
	TRY(heap_load_strings(heap, err));
	TRY(heap_open_dump(heap, err));
	TRY(BASE_ALLOC(k->ways, (size_t)heap->class_count + 1, "classes", err));
	for (uint32_t no = 0; no < heap->class_count; no++) {
		if (k->is_member[no])
			TRY(find_way(k, no, &k->ways[no], err));
		has_strings = has_strings || k->ways[no].way == BY_CHARS;
	}
	if (has_strings)
		TRY(heap_string_blocks(heap, &k->references, &threads_max, err));
	/* Strings of unusual layout are found by ID, which only the calling thread may do. */
	if (threads_max == 1) {
		free(k->references);
		k->references = NULL;
	}
	return HDB_OK;
}

void analysis_keys_release(struct analysis_keys *k)
{
	free(k->ways);
	free(k->references);
	k->ways = NULL;
	k->references = NULL;
}

struct each_key {
	struct analysis_keys *keys;
	int (*take)(void *ctx, const struct heap_block *objects, struct analysis_key *keys,
		    size_t count, struct hdb_error *err);
	void *ctx;
};

/* State of a thread that reads a block. */
struct reading {
	struct analysis_keys *keys;
	struct derive_block *block;
	struct base_view view;
	struct heap_offsets *groups;
	size_t at; /* number of keys before the current string */
};

/* Puts the members of a block into bytes[0], without their hashes. */
static int list_members(const struct analysis_keys *k, struct derive_block *block,
			bool *has_strings, struct hdb_error *err)
{
	const struct heap *heap = k->session->heap;
	const struct heap_block *objects = block->objects;

	assert(k->ways);
	for (uint32_t i = 0; i < objects->count; i++) {
		const struct analysis_key key = { .ix = objects->first_ix + i };
		const uint32_t no = objects->class_no[i];

		if (!k->is_member[no] || key.ix == HEAP_BOOT_LOADER ||
		    (objects->kind[i] == STORE_CLASS &&
		     heap_class(heap, (uint32_t)objects->length[i])->flags & STORE_CLASS_INVENTED))
			continue;
		*has_strings = *has_strings || k->ways[no].way == BY_CHARS;
		TRY(base_vec_push(&block->bytes[0], &key, sizeof(key), err));
	}
	return HDB_OK;
}

/* Reads a number, boxed or in a field, at its known place in the instance. */
static int read_number(struct reading *m, const struct analysis_key_way *way, uint64_t offset,
		       struct analysis_key *key, struct hdb_error *err)
{
	struct heap *heap = m->keys->session->heap;
	struct heap_instance instance = { 0 };
	struct heap_value value;

	if (!offset)
		return HDB_OK;
	TRY(heap_instance_read(heap, &m->view, offset, &instance, err));
	TRY(heap_place_value(&m->view, &instance, way->place, &value, err));
	/* Other objects must be looked up. */
	if (!value.type || (value.type == HPROF_OBJECT && value.bits))
		return HDB_OK;
	key->hash = way->way == BY_NUMBER ? hash_number(&value) : hash_basic(&value);
	key->is_done = true;
	return HDB_OK;
}

static int read_members(struct reading *m, struct hdb_error *err)
{
	struct heap *heap = m->keys->session->heap;
	const struct heap_block *objects = m->block->objects;
	struct analysis_key *keys = m->block->bytes[0].data;
	uint64_t *offsets = m->block->values;

	TRY(heap_read_offsets(heap, m->block->block_no, offsets, err));
	for (size_t at = 0; at < m->block->bytes[0].count; at++) {
		const uint32_t i = keys[at].ix - objects->first_ix;
		const struct analysis_key_way *way = &m->keys->ways[objects->class_no[i]];

		if (objects->kind[i] == STORE_PRIMITIVE_ARRAY && way->way == BY_ELEMENTS) {
			const struct array array = { offsets[i], objects->class_no[i],
						     objects->length[i] };

			TRY(hash_array(heap, &m->view, &array, &keys[at].hash, err));
			keys[at].is_done = true;
		} else if (objects->kind[i] == STORE_INSTANCE &&
			   (way->way == BY_NUMBER || way->way == BY_FIELD))
			TRY(read_number(m, way, offsets[i], &keys[at], err));
	}
	return HDB_OK;
}

static int take_string(void *ctx, uint32_t i, const struct heap_string *string,
		       struct hdb_error *err)
{
	struct reading *m = ctx;
	struct analysis_key *keys = m->block->bytes[0].data;
	const uint32_t ix = m->block->objects->first_ix + i;

	while (m->at < m->block->bytes[0].count && keys[m->at].ix < ix)
		m->at++;
	if (m->at == m->block->bytes[0].count || keys[m->at].ix != ix || !string->has_chars)
		return HDB_OK;
	keys[m->at].is_done = true;
	return heap_chars_hash(&m->view, &string->chars, &keys[m->at].hash, err);
}

static void release_reading(struct reading *m)
{
	base_view_release(&m->view);
	free(m->groups);
}

static int make_keys(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct analysis_keys *k = ((struct each_key *)ctx)->keys;
	BASE_SCOPED(release_reading)
	struct reading m = { .keys = k,
			     .block = block,
			     .view = { .src = k->session->heap->dump.source } };
	bool has_strings = false;

	TRY(list_members(k, block, &has_strings, err));
	if (block->bytes[0].count > WANT_MEMBERS)
		heap_prefetch_block(k->session->heap, block->block_no);
	if (block->bytes[0].count)
		TRY(read_members(&m, err));
	if (!has_strings || !k->references)
		return HDB_OK;
	return heap_string_block(
		&(struct heap_string_block){
			.heap = k->session->heap,
			.objects = block->objects,
			.references = &k->references[block->block_no],
			.reader = { .view = &m.view, .groups = &m.groups },
			.lengths = block->values,
			.entries = &block->bytes[1],
		},
		take_string, &m, err);
}

static int take_keys(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct each_key *each = ctx;

	return block->bytes[0].count ? each->take(each->ctx, block->objects, block->bytes[0].data,
						  block->bytes[0].count, err) :
				       HDB_OK;
}

int analysis_keys_each(struct analysis_keys *keys, const char *stage,
		       int (*take)(void *ctx, const struct heap_block *objects,
				   struct analysis_key *keys, size_t count, struct hdb_error *err),
		       void *ctx, struct hdb_error *err)
{
	struct each_key each = { .keys = keys, .take = take, .ctx = ctx };

	return derive_each_block(keys->session->derive,
				 &(struct derive_pass){ .stage = stage,
							.reads_objects = true,
							.make = make_keys,
							.take = take_keys,
							.ctx = &each },
				 err);
}
