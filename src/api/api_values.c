/* api/api_values.c - implements values of fields and elements, strings, and collections. */
#include "api/handle.h"

#include "base/scope.h"
#include "heap/collections/collections.h"
#include "heap/known.h"
#include "heap/values/text.h"
#include "analysis/describe.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Number of array elements to read at a time. */
#define CHUNK 512u
/* Size of the first buffer for a string. Only a longer string is read twice. */
#define TEXT_BYTES 2048u

int api_field_value(struct hdb *db, const struct heap_instance *instance,
		    const struct hdb_field *field, struct hdb_basic *out, struct hdb_error *err)
{
	const uint32_t body_size = heap_class(db->heap, instance->class_no)->body_size;
	struct heap_place place = {
		.type = (uint8_t)field->type,
		.size = (uint8_t)hprof_type_size((uint8_t)field->type, db->heap->id_size),
	};
	struct heap_value value;

	/*
	 * Inherited fields come last, so a field is at the same distance from the end in all
	 * subclasses.
	 */
	if (field->from_end > body_size)
		return HDB_NOTFOUND;
	place.at = body_size - field->from_end;
	TRY(heap_place_value(&db->heap->dump.view, instance, place, &value, err));
	if (!value.type)
		return HDB_NOTFOUND;
	hdb_basic_of(field->type, value.bits, out);
	return api_end(db, HDB_OK, err);
}

int hdb_field_value(struct hdb *db, uint32_t ix, const struct hdb_field *field,
		    struct hdb_basic *out, struct hdb_error *err)
{
	API_NEEDS(db && field && out, err);

	struct heap_instance instance;

	TRY(api_check_ix(db, ix, err));
	TRY(heap_instance_open(db->heap, ix, &instance, err));
	return api_field_value(db, &instance, field, out, err);
}

int hdb_path_value(struct hdb *db, uint32_t ix, const char *path, struct hdb_basic *out,
		   struct hdb_error *err)
{
	API_NEEDS(db && path && out, err);

	struct heap_value value;

	TRY(api_check_ix(db, ix, err));
	TRY(heap_path_value(db->heap, ix, path, &value, err));
	hdb_basic_of((enum hdb_basic_type)value.type, value.bits, out);
	return api_end(db, HDB_OK, err);
}

int hdb_elements(struct hdb *db, uint32_t ix, struct hdb_slice *slice, struct hdb_error *err)
{
	API_NEEDS(db && slice && (slice->bits || !slice->room), err);

	struct heap_slice found = { .bits = slice->bits, .room = slice->room };
	struct hdb_slice answer;
	int r;

	API_READ(&answer, slice, err);
	r = api_check_ix(db, ix, err);
	if (r >= 0) /* `slice` contains the elements found even after a failure */
		r = heap_elements(db->heap, ix, slice->from, &found, err);
	answer.type = (enum hdb_basic_type)found.type;
	answer.count = (size_t)found.done;
	API_WRITE(slice, &answer);
	return api_end(db, r, err);
}

/* ---- strings ---- */

int hdb_is_string(struct hdb *db, uint32_t ix)
{
	return db && ix < db->heap->object_count && heap_is_string(db->heap, ix);
}

/* Reads the text of a char[] or byte[]. Returns HDB_NOTFOUND for other arrays. */
static int array_text(struct hdb *db, uint32_t ix, struct heap_utf8 *out, struct hdb_error *err)
{
	struct heap_utf16 to = { .p = out->buf, .end = out->buf + out->size - 1 };
	uint64_t bits[CHUNK];
	struct heap_slice slice = { .bits = bits, .room = CHUNK, .done = CHUNK };
	bool is_text = true;

	for (uint64_t from = 0; !to.is_full && is_text && slice.done == CHUNK; from += CHUNK) {
		TRY(heap_elements(db->heap, ix, from, &slice, err));
		if (slice.type != HPROF_CHAR && slice.type != HPROF_BYTE)
			return HDB_NOTFOUND;
		for (uint64_t i = 0; !to.is_full && is_text && i < slice.done; i++) {
			is_text = slice.type == HPROF_CHAR || (bits[i] >= 0x20 && bits[i] <= 0x7e);
			if (is_text)
				heap_put_utf16(&to, (uint32_t)bits[i]);
		}
	}
	out->is_whole = !to.is_full;
	heap_end_utf16(&to);
	*to.p = '\0';
	out->used = (size_t)(to.p - out->buf);
	return HDB_OK;
}

/* Reads the text of an object as specified for hdb_text. */
static int text_of(struct hdb *db, uint32_t ix, struct heap_utf8 *out, struct hdb_error *err)
{
	const struct session session = api_session(db);
	struct heap_object object;

	assert(out->size > 0);
	out->buf[0] = '\0';
	TRY(heap_object(db->heap, ix, &object, err));
	if (heap_is_string(db->heap, ix))
		return heap_string_text(db->heap, ix, out, err);
	if (object.kind == STORE_PRIMITIVE_ARRAY) {
		out->units = object.length;
		return array_text(db, ix, out, err);
	}
	analysis_describe(&session, ix, out->buf, out->size);
	out->used = heap_drop_broken(out->buf, strlen(out->buf));
	out->buf[out->used] = '\0';
	out->units = 0;
	out->is_whole = true;
	return out->used ? HDB_OK : HDB_NOTFOUND;
}

/* NOLINTNEXTLINE(readability-function-size): buffer and size are one argument, as in snprintf */
int hdb_text(struct hdb *db, uint32_t ix, char *buf, size_t size, uint64_t *units,
	     struct hdb_error *err)
{
	API_NEEDS(db && buf, err);

	struct heap_utf8 text = { .buf = buf, .size = size };

	if (units)
		*units = 0;
	TRY(api_check_ix(db, ix, err));
	if (!size)
		return hdb_fail(err, HDB_EUSAGE, "buffer too small for the string");
	TRY(text_of(db, ix, &text, err));
	if (units)
		*units = text.units;
	return api_end(db, HDB_OK, err);
}

int hdb_read_text(struct hdb *db, uint32_t ix, uint64_t most, struct hdb_text *out,
		  struct hdb_error *err)
{
	API_NEEDS(db && out, err);

	char small[TEXT_BYTES];
	struct heap_utf8 text = { .buf = small,
				  .size = most < TEXT_BYTES ? (size_t)most + 1 : TEXT_BYTES };
	struct hdb_text read = { 0 };
	char *buf;
	int r;

	API_CHECK(out, err);
	API_WRITE(out, &read);
	TRY(api_check_ix(db, ix, err));
	TRY(text_of(db, ix, &text, err));
	if (!text.is_whole && most >= text.size) {
		/* A UTF-16 unit takes at most three bytes in UTF-8. */
		text.size = (size_t)(text.units < most / 3 ? 3 * text.units : most) + 1;
		buf = text.buf = malloc(text.size);
		r = buf ? text_of(db, ix, &text, err) : HDB_OK;
	} else {
		r = HDB_OK;
		buf = malloc(text.used + 1);
		if (buf)
			memcpy(buf, small, text.used + 1);
	}
	if (!buf)
		return hdb_fail_memory(err, "a string", text.size);
	if ((r = api_end(db, r, err)) != HDB_OK) {
		free(buf);
		return r;
	}
	read.text = buf;
	read.size = text.used;
	read.units = text.units;
	read.is_whole = text.is_whole;
	API_WRITE(out, &read);
	return HDB_OK;
}

/* ---- collections ---- */

struct hdb_entries {
	struct hdb *db;
	struct heap_collection collection;
	struct heap_entries entries;
};

int hdb_collection_at(struct hdb *db, uint32_t ix, struct hdb_collection *out,
		      struct hdb_error *err)
{
	API_NEEDS(db && out, err);

	struct heap_collection c;
	struct hdb_collection facts;

	API_CHECK(out, err);
	TRY(api_check_ix(db, ix, err));
	TRY(heap_collection_open(db->heap, ix, &c, err));
	facts = (struct hdb_collection){
		.known_as = c.rule->class_name,
		.kind = heap_collection_kind_name(c.rule->kind),
		.has_size = c.has_size,
		.has_capacity = c.has_capacity,
		.size = c.has_size ? c.size : 0,
		.capacity = c.has_capacity ? c.capacity : 0,
	};
	API_WRITE(out, &facts);
	return api_end(db, HDB_OK, err);
}

/* Fails with HDB_EUSAGE, because an incomplete list would look like a complete one. */
static int fail_unknown(struct hdb_entries *e, struct hdb_error *err)
{
	const struct heap_collection *c = &e->collection;
	char size[48] = "";
	uint64_t id;

	TRY(heap_id(e->db->heap, c->ix, &id, err));
	if (c->has_size)
		(void)snprintf(size, sizeof(size), "; its size is %" PRIu64, c->size);
	return hdb_fail(err, HDB_EUSAGE, "cannot list the entries of 0x%" PRIx64 " (%s): %s%s", id,
			c->rule->class_name, e->entries.unknown, size);
}

int hdb_entries_open(struct hdb *db, uint32_t ix, struct hdb_entries **out, struct hdb_error *err)
{
	API_NEEDS(db && out, err);

	BASE_FREED struct hdb_entries *e = NULL;
	int r;

	TRY(api_check_ix(db, ix, err));
	e = malloc(sizeof(*e));
	if (!e)
		return hdb_fail_memory(err, "entries", sizeof(*e));
	e->db = db;
	TRY(heap_collection_open(db->heap, ix, &e->collection, err));
	r = heap_entries_begin(db->heap, &e->collection, &e->entries, err);
	if (r >= 0 && e->entries.unknown)
		r = fail_unknown(e, err);
	if (r < 0) {
		heap_entries_end(&e->entries);
		return r;
	}
	*out = e;
	e = NULL;
	return r;
}

int hdb_entries_next(struct hdb_entries *e, struct hdb_entry *out, struct hdb_error *err)
{
	API_NEEDS(e && out, err);

	struct hdb_entry entry;
	int r;

	API_CHECK(out, err);
	r = heap_entries_next(&e->entries, err);
	if (r == HDB_END && e->entries.unknown)
		return fail_unknown(e, err);
	TRY(r);
	entry = (struct hdb_entry){
		.no = e->entries.no,
		.entry_ix = e->entries.entry_ix == HEAP_NONE ? HDB_NONE : e->entries.entry_ix,
		.has_key = e->entries.has_key,
	};
	if (entry.has_key)
		hdb_basic_of((enum hdb_basic_type)e->entries.key.type, e->entries.key.bits,
			     &entry.key);
	hdb_basic_of((enum hdb_basic_type)e->entries.value.type, e->entries.value.bits,
		     &entry.value);
	API_WRITE(out, &entry);
	return api_end(e->db, HDB_OK, err);
}

void hdb_entries_close(struct hdb_entries *e)
{
	if (e)
		heap_entries_end(&e->entries);
	free(e);
}
