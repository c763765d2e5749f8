/*
 * export/export_flat.c - FlatBuffers builder, working from the end.
 */
#include "export/export_flat.h"

#include <assert.h>
#include <stdlib.h>

void flat_release(struct flat *f)
{
	free(f->data);
	*f = (struct flat){ 0 };
}

void flat_begin(struct flat *f)
{
	f->size = 0;
	f->has_failed = false;
}

static bool make_room(struct flat *f, size_t more)
{
	const size_t room = 2 * f->room > f->size + more ? 2 * f->room : f->size + more + 512;
	uint8_t *grown;

	if (f->has_failed || more <= f->room - f->size)
		return !f->has_failed;
	grown = room < (1u << 31) ? malloc(room) : NULL;
	if (!grown) {
		f->has_failed = true;
		return false;
	}
	if (f->size)
		memcpy(grown + room - f->size, f->data + f->room - f->size, f->size);
	free(f->data);
	f->data = grown;
	f->room = room;
	return true;
}

static void put(struct flat *f, const void *data, size_t size)
{
	if (!make_room(f, size))
		return;
	f->size += size;
	if (size)
		memcpy(f->data + f->room - f->size, data, size);
}

static void put_number(struct flat *f, uint64_t value, size_t size)
{
	uint8_t bytes[8];

	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
	put(f, bytes, size);
}

/* Pads so that after `more` further bytes the position is a multiple of `alignment`. */
static void align(struct flat *f, size_t alignment, size_t more)
{
	while ((f->size + more) % alignment && !f->has_failed)
		put_number(f, 0, 1);
}

/* An offset is relative to its own position. */
static void put_ref(struct flat *f, flat_ref ref)
{
	align(f, 4, 0);
	put_number(f, (uint32_t)f->size + 4 - ref, 4);
}

flat_ref flat_text(struct flat *f, const char *text)
{
	const size_t size = strlen(text);

	align(f, 4, size + 1);
	put_number(f, 0, 1);
	put(f, text, size);
	put_number(f, size, 4);
	return (flat_ref)f->size;
}

flat_ref flat_refs(struct flat *f, const flat_ref *refs, size_t count)
{
	align(f, 4, 0);
	for (size_t i = count; i > 0; i--)
		put_ref(f, refs[i - 1]);
	put_number(f, count, 4);
	return (flat_ref)f->size;
}

flat_ref flat_words(struct flat *f, const uint64_t *words, size_t count, size_t words_each)
{
	align(f, 8, 0);
	for (size_t i = count * words_each; i > 0; i--)
		put_number(f, words[i - 1], 8);
	put_number(f, count, 4);
	return (flat_ref)f->size;
}

void flat_table(struct flat *f)
{
	memset(f->fields, 0, sizeof(f->fields));
	f->table_from = (uint32_t)f->size;
}

void flat_number(struct flat *f, int field, uint64_t value, size_t size)
{
	assert(field < FLAT_FIELDS);
	align(f, size, 0);
	put_number(f, value, size);
	f->fields[field] = (uint32_t)f->size;
}

void flat_field(struct flat *f, int field, flat_ref ref)
{
	assert(field < FLAT_FIELDS);
	put_ref(f, ref);
	f->fields[field] = (uint32_t)f->size;
}

flat_ref flat_table_end(struct flat *f)
{
	int count = FLAT_FIELDS;
	uint32_t table;

	while (count > 0 && !f->fields[count - 1])
		count--;
	/* A table begins with the distance to its vtable, which precedes it. */
	align(f, 4, 0);
	put_number(f, 4 + 2 * (uint64_t)count, 4);
	table = (uint32_t)f->size;
	for (int i = count; i > 0; i--)
		put_number(f, f->fields[i - 1] ? table - f->fields[i - 1] : 0, 2);
	put_number(f, table - f->table_from, 2);
	put_number(f, 4 + 2 * (uint64_t)count, 2);
	return table;
}

void flat_finish(struct flat *f, flat_ref root)
{
	align(f, 8, 4);
	put_ref(f, root);
}
