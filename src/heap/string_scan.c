/*
 * heap/string_scan.c - all strings of a heap; see string_scan.h.
 *
 * The value array of a string is found by the stored references of its block, decoded whole, not by
 * its ID: a look-up less for each of millions of strings.
 */
#include "heap/string_scan.h"

#include "base/bytes.h"
#include "heap/text.h"
#include "heap/values.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Longest field name that matters. */
#define FIELD_NAME_MAX 32
#define NO_FIELD UINT32_MAX
/* Units that are looked at at a time. */
#define CHUNK_UNITS 4096u

/* ---- layout ---- */

/* Whether a field's name is `name`. */
static bool is_named(struct heap *heap, const struct store_field *field, const char *name)
{
	char text[FIELD_NAME_MAX];

	return heap_text(heap, field->name_text, text, sizeof(text), NULL) == HDB_OK &&
	       strcmp(text, name) == 0;
}

static void note_field(struct heap *heap, const struct store_field *field, uint32_t at,
		       struct heap_string_layout *out)
{
	const bool is_int = field->type == HPROF_INT;

	if (field->type == HPROF_OBJECT && is_named(heap, field, "value"))
		out->value = at;
	else if (field->type == HPROF_BYTE && is_named(heap, field, "coder"))
		out->coder = at;
	else if (is_int && is_named(heap, field, "offset"))
		out->offset = at;
	else if (is_int && is_named(heap, field, "count"))
		out->count = at;
}

/*
 * Finds the fields of a String class. Those of java.lang.Object (Android has some) come after
 * its own.
 */
static int find_layout(struct heap *heap, uint32_t no, struct heap_string_layout *out,
		       struct hdb_error *err)
{
	const struct store_class *class = heap_class(heap, no);
	unsigned references = 0;
	uint64_t at = 0;

	*out = (struct heap_string_layout){
		.class_no = no, .value = NO_FIELD, .coder = NO_FIELD, .offset = NO_FIELD,
		.count = NO_FIELD,
	};
	for (uint32_t f = 0; f < class->field_count && at < UINT32_MAX / 2; f++) {
		struct store_field field;
		const int r = heap_field(heap, class->first_field + f, &field, err);

		if (r < 0)
			return r;
		note_field(heap, &field, (uint32_t)at, out);
		references += field.type == HPROF_OBJECT;
		at += hprof_type_size(field.type, heap->id_size);
	}
	/* What is inherited could hold references, too; then the list does not tell which is it. */
	out->has_one_reference = references == 1 && out->value != NO_FIELD &&
				 class->body_size == at;
	return HDB_OK;
}

/* An int static of a class, 0 if there is none. */
static uint64_t static_int(struct heap *heap, uint32_t class_no, const char *name)
{
	struct heap_fields fields;

	heap_statics_begin(heap, class_no, &fields);
	while (heap_fields_next(&fields, NULL) == HDB_OK)
		if (fields.field.type == HPROF_INT && is_named(heap, &fields.field, name))
			return fields.value.bits;
	return 0;
}

bool heap_is_big_endian(struct heap *heap)
{
	const uint32_t no = heap_class_by_name(heap, "java.lang.StringUTF16", 0);

	return no != HEAP_NONE && static_int(heap, no, "HI_BYTE_SHIFT") == 8;
}

/* ---- one string ---- */

static const struct heap_string_layout *layout_of(const struct heap_string_scan *s,
						  uint32_t class_no)
{
	for (size_t i = 0; i < s->layouts.count; i++) {
		const struct heap_string_layout *l =
			base_vec_at(&s->layouts, struct heap_string_layout, i);

		if (l->class_no == class_no)
			return l;
	}
	return NULL;
}

/* Reads an object's sub-record; HDB_NOTFOUND if the dump lacks it. */
static int read_sub(struct heap *heap, uint32_t ix, struct hprof_sub *out, struct hdb_error *err)
{
	uint64_t offset;
	const int r = heap_offset(heap, ix, &offset, err);

	if (r < 0 || !offset)
		return r < 0 ? r : HDB_NOTFOUND;
	return hprof_sub_read(&heap->file, &heap->view, offset, heap->source->size, out, err);
}

/* What a String's own fields say of its characters. */
struct string_fields {
	uint64_t value_id;
	bool has_coder, has_offset;
	uint8_t coder;
	int32_t offset, count;
};

static int32_t read_int(const uint8_t *body, uint32_t at)
{
	return at == NO_FIELD ? 0 : (int32_t)be32(body + at);
}

static int read_fields(struct heap *heap, const struct heap_string_layout *l, uint32_t ix,
		       struct string_fields *out, struct hdb_error *err)
{
	const unsigned id_size = heap->id_size;
	const uint8_t *body;
	struct hprof_sub sub;
	uint64_t need = (uint64_t)l->value + id_size;
	int r = read_sub(heap, ix, &sub, err);

	if (r != HDB_OK)
		return r;
	if (l->coder != NO_FIELD && need < l->coder + 1ull)
		need = l->coder + 1ull;
	if (l->offset != NO_FIELD && need < l->offset + 4ull)
		need = l->offset + 4ull;
	if (l->count != NO_FIELD && need < l->count + 4ull)
		need = l->count + 4ull;
	if (sub.tag != HPROF_INSTANCE_DUMP || need > sub.body_size)
		return HDB_NOTFOUND; /* a short instance: the import has told */
	body = base_view_at(&heap->view, sub.body_offset, need, err);
	if (!body)
		return HDB_ETRUNC;
	out->value_id = be_id(body + l->value, id_size);
	out->has_coder = l->coder != NO_FIELD;
	out->coder = out->has_coder ? body[l->coder] : 0;
	/* Android's count has a flag in it and no offset beside it; the array's length is right. */
	out->has_offset = l->offset != NO_FIELD && l->count != NO_FIELD;
	out->offset = read_int(body, l->offset);
	out->count = read_int(body, l->count);
	return HDB_OK;
}

/* Whole units of `size` bytes in the array, from a number on. */
static void set_chars(const struct heap_string_scan *s, const struct hprof_sub *array,
		      const struct string_fields *fields, struct heap_chars *out)
{
	uint64_t from = 0, count;

	*out = (struct heap_chars){ .unit_bytes = 1 };
	if (array->element_type == HPROF_CHAR || (fields->has_coder && fields->coder == 1))
		out->unit_bytes = 2;
	out->is_little = array->element_type == HPROF_BYTE && !s->is_big_endian;
	count = array->body_size / out->unit_bytes;
	if (fields->has_offset) {
		from = fields->offset > 0 ? (uint64_t)fields->offset : 0;
		from = from < count ? from : count;
		count -= from;
		if (fields->count < 0)
			count = 0;
		else if ((uint64_t)fields->count < count)
			count = (uint64_t)fields->count;
	}
	out->offset = array->body_offset + from * out->unit_bytes;
	out->count = count;
}

/* Finds the characters of string s->ix; `target` is its value array, HEAP_NONE: look it up. */
static int find_chars(struct heap_string_scan *s, const struct heap_string_layout *l,
		      uint32_t target, struct hdb_error *err)
{
	struct string_fields fields;
	struct heap_object array;
	struct hprof_sub sub;
	int r = l->value == NO_FIELD ? HDB_NOTFOUND :
		read_fields(s->heap, l, s->ix, &fields, err);

	if (r == HDB_OK && target == HEAP_NONE)
		r = fields.value_id ? heap_find(s->heap, fields.value_id, &target, err) :
		    HDB_NOTFOUND;
	if (r == HDB_OK)
		r = heap_object(s->heap, target, &array, err);
	if (r == HDB_OK && array.kind != STORE_PRIMITIVE_ARRAY)
		r = HDB_NOTFOUND;
	if (r == HDB_OK)
		r = read_sub(s->heap, target, &sub, err);
	if (r != HDB_OK)
		return r < 0 ? r : HDB_OK;
	/* Without content it is only the length that the dump tells. */
	if (sub.tag != HPROF_PRIMITIVE_ARRAY_DUMP ||
	    (sub.element_type != HPROF_CHAR && sub.element_type != HPROF_BYTE))
		return HDB_OK;
	set_chars(s, &sub, &fields, &s->chars);
	s->has_chars = true;
	s->array_ix = target;
	s->array_bytes = array.shallow_bytes;
	return HDB_OK;
}

/* ---- all strings ---- */

int heap_string_scan_begin(struct heap_string_scan *s, struct heap *heap, struct hdb_error *err)
{
	int r = heap_load_classes(heap, err);

	memset(s, 0, sizeof(*s));
	s->heap = heap;
	if (r == HDB_OK)
		r = heap_open_dump(heap, err);
	if (r < 0)
		return r;
	heap_references(heap, &s->references);
	s->objects = malloc(sizeof(*s->objects));
	s->lengths = malloc(STORE_BLOCK_OBJECTS * sizeof(*s->lengths));
	if (!s->objects || !s->lengths)
		return hdb_fail_memory(err, "strings", sizeof(*s->objects));
	s->objects->count = 0;
	for (uint32_t no = 0; r == HDB_OK; no++) {
		struct heap_string_layout layout;

		no = heap_class_by_name(heap, "java.lang.String", no);
		if (no == HEAP_NONE)
			break;
		r = find_layout(heap, no, &layout, err);
		if (r == HDB_OK)
			r = base_vec_push(&s->layouts, &layout, sizeof(layout), err);
	}
	s->is_big_endian = heap_is_big_endian(heap);
	return r;
}

void heap_string_scan_release(struct heap_string_scan *s)
{
	base_vec_release(&s->layouts);
	base_vec_release(&s->entries);
	free(s->objects);
	free(s->lengths);
	memset(s, 0, sizeof(*s));
}

static int open_block(struct heap_string_scan *s, struct hdb_error *err)
{
	uint32_t lists;
	int r = heap_read_block(s->heap, s->next_block, s->objects, err);

	s->i = 0;
	s->entry = 0;
	s->entries.count = 0;
	if (r == HDB_OK)
		r = store_lists_block(&s->references, s->objects->first_ix, s->lengths,
				      &s->entries, &lists, err);
	if (r == HDB_OK && lists != s->objects->count)
		r = store_damaged(s->heap->store, STORE_REFERENCES, s->objects->first_ix,
				  "impossible size", err);
	s->next_block++;
	return r;
}

int heap_string_scan_next(struct heap_string_scan *s, struct hdb_error *err)
{
	for (;;) {
		const struct heap_string_layout *l;
		uint64_t n, entry;
		uint32_t i, target = HEAP_NONE;

		if (s->i >= s->objects->count) {
			int r;

			if (!s->layouts.count || s->next_block >= heap_block_count(s->heap))
				return HDB_END;
			r = open_block(s, err);
			if (r < 0)
				return r;
			continue;
		}
		i = s->i++;
		n = s->lengths[i];
		entry = s->entry;
		if (!(n & STORE_LIST_IS_BIG))
			s->entry += n;
		if (s->objects->kind[i] != STORE_INSTANCE)
			continue;
		l = layout_of(s, s->objects->class_no[i]);
		if (!l)
			continue;
		if (l->has_one_reference && n == 1)
			target = *base_vec_at(&s->entries, uint32_t, entry);
		s->ix = s->objects->first_ix + i;
		s->shallow_bytes = s->objects->shallow[i];
		s->has_chars = false;
		s->array_ix = HEAP_NONE;
		s->array_bytes = 0;
		return find_chars(s, l, target, err);
	}
}

int heap_string_scan_one(struct heap_string_scan *s, uint32_t ix, struct heap_chars *out,
			 struct hdb_error *err)
{
	const struct heap_string_layout *l;
	struct heap_object object;
	int r = heap_object(s->heap, ix, &object, err);

	if (r < 0)
		return r;
	l = object.kind == STORE_INSTANCE ? layout_of(s, object.class_no) : NULL;
	if (!l)
		return HDB_NOTFOUND;
	s->ix = ix;
	s->has_chars = false;
	r = find_chars(s, l, HEAP_NONE, err);
	if (r < 0)
		return r;
	*out = s->chars;
	return s->has_chars ? HDB_OK : HDB_NOTFOUND;
}

/* ---- characters ---- */

/* Lends units [from, from + n) as they are in the dump. */
static const uint8_t *units_at(struct heap *heap, const struct heap_chars *c, uint64_t from,
			       uint64_t n, struct hdb_error *err)
{
	return base_view_at(&heap->view, c->offset + from * c->unit_bytes, n * c->unit_bytes, err);
}

static uint32_t unit_at(const struct heap_chars *c, const uint8_t *p, uint64_t i)
{
	if (c->unit_bytes == 1)
		return p[i];
	return c->is_little ? load16(p + 2 * i) : be16(p + 2 * i);
}

/* Puts one unit; the first of a pair waits in *high. NULL: no more room. */
static char *put_unit(char *p, const char *end, uint32_t unit, uint32_t *high)
{
	const uint32_t first = *high;

	*high = 0;
	if (first && unit >= 0xdc00 && unit < 0xe000)
		return heap_put_utf8(p, end, 0x10000 + ((first - 0xd800) << 10) + (unit - 0xdc00));
	if (first)
		p = heap_put_utf8(p, end, 0xfffd);
	if (!p)
		return NULL;
	if (unit >= 0xd800 && unit < 0xdc00) {
		*high = unit;
		return p;
	}
	return heap_put_utf8(p, end, unit >= 0xdc00 && unit < 0xe000 ? 0xfffd : unit);
}

int heap_chars_utf8(struct heap *heap, const struct heap_chars *c, char *buf, size_t size,
		    size_t *used, bool *is_whole, struct hdb_error *err)
{
	const char *end = buf + size - 1;
	char *p = buf, *next = buf;
	uint32_t high = 0;

	buf[0] = '\0';
	*used = 0;
	for (uint64_t at = 0; at < c->count && next; at += CHUNK_UNITS) {
		const uint64_t left = c->count - at;
		const uint64_t n = left < CHUNK_UNITS ? left : CHUNK_UNITS;
		const uint8_t *units = units_at(heap, c, at, n, err);

		if (!units)
			return HDB_ETRUNC;
		for (uint64_t i = 0; i < n && next; i++) {
			next = put_unit(p, end, unit_at(c, units, i), &high);
			p = next ? next : p;
		}
	}
	if (high && next) {
		next = heap_put_utf8(p, end, 0xfffd);
		p = next ? next : p;
	}
	*p = '\0';
	*used = (size_t)(p - buf);
	if (is_whole)
		*is_whole = next != NULL;
	return HDB_OK;
}

/* Whether all units are Latin-1. */
static int is_latin1(struct heap *heap, const struct heap_chars *c, bool *out,
		     struct hdb_error *err)
{
	*out = true;
	for (uint64_t at = 0; at < c->count && *out && c->unit_bytes == 2; at += CHUNK_UNITS) {
		const uint64_t left = c->count - at;
		const uint64_t n = left < CHUNK_UNITS ? left : CHUNK_UNITS;
		const uint8_t *units = units_at(heap, c, at, n, err);
		uint32_t all = 0;

		if (!units)
			return HDB_ETRUNC;
		for (uint64_t i = 0; i < n; i++)
			all |= load16(units + 2 * i);
		*out = !(all & (c->is_little ? 0xff00 : 0x00ff));
	}
	return HDB_OK;
}

/* Units as they are hashed: bytes if all are Latin-1, else two bytes each, the low one first. */
struct hash_chunk {
	uint16_t wide[CHUNK_UNITS];
	uint8_t narrow[CHUNK_UNITS];
};

/* Points at the bytes of units [from, from + n) as they are hashed. */
static const uint8_t *hash_bytes(struct heap *heap, const struct heap_chars *c, uint64_t from,
				 size_t n, bool latin1, struct hash_chunk *chunk,
				 struct hdb_error *err)
{
	const uint8_t *units = units_at(heap, c, from, n, err);

	if (!units || c->unit_bytes == 1 || (c->is_little && !latin1))
		return units;
	for (size_t i = 0; i < n; i++) {
		const uint32_t unit = unit_at(c, units, i);

		chunk->wide[i] = (uint16_t)unit;
		chunk->narrow[i] = (uint8_t)unit;
	}
	return latin1 ? chunk->narrow : (const uint8_t *)chunk->wide;
}

int heap_chars_hash(struct heap *heap, const struct heap_chars *c, struct heap_text_hash *out,
		    struct hdb_error *err)
{
	struct hash_chunk chunk;
	const uint8_t *bytes;
	XXH3_state_t state;
	XXH128_hash_t hash;
	bool latin1;
	int r = is_latin1(heap, c, &latin1, err);

	if (r < 0)
		return r;
	if (c->count <= CHUNK_UNITS) {
		const size_t n = (size_t)c->count;

		bytes = hash_bytes(heap, c, 0, n, latin1, &chunk, err);
		if (!bytes)
			return HDB_ETRUNC;
		hash = XXH3_128bits_withSeed(bytes, latin1 ? n : n * 2, latin1 ? 0 : 1);
		*out = (struct heap_text_hash){ .low = hash.low64, .high = hash.high64 };
		return HDB_OK;
	}
	(void)XXH3_128bits_reset_withSeed(&state, latin1 ? 0 : 1);
	for (uint64_t at = 0; at < c->count; at += CHUNK_UNITS) {
		const uint64_t left = c->count - at;
		const size_t n = (size_t)(left < CHUNK_UNITS ? left : CHUNK_UNITS);

		bytes = hash_bytes(heap, c, at, n, latin1, &chunk, err);
		if (!bytes)
			return HDB_ETRUNC;
		(void)XXH3_128bits_update(&state, bytes, latin1 ? n : n * 2);
	}
	hash = XXH3_128bits_digest(&state);
	*out = (struct heap_text_hash){ .low = hash.low64, .high = hash.high64 };
	return HDB_OK;
}
