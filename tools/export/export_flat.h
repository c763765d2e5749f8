/*
 * export/export_flat.h - FlatBuffers builder, limited to what Arrow messages need. Builds from the
 * end, because the format requires referenced objects to be complete first.
 */
#ifndef EXPORT_FLAT_H
#define EXPORT_FLAT_H

#include "export/export_private.h"

/* Maximum number of fields in a table. Arrow's tables have fewer. */
#define FLAT_FIELDS 8

struct flat {
	uint8_t *data; /* owned; the result is in its last `size` bytes */
	size_t size, room;
	bool has_failed;
	/* offsets of the current table's fields, from the end; 0: absent */
	uint32_t fields[FLAT_FIELDS];
	uint32_t table_from;
};

/* Position of a finished object, from the end. */
typedef uint32_t flat_ref;

void flat_release(struct flat *f);
/* Resets the builder, keeping its memory. */
void flat_begin(struct flat *f);

flat_ref flat_text(struct flat *f, const char *text);
/* Writes a vector of offsets. */
flat_ref flat_refs(struct flat *f, const flat_ref *refs, size_t count);
/* Writes a vector of structures made of 8-byte words. */
flat_ref flat_words(struct flat *f, const uint64_t *words, size_t count, size_t words_each);

void flat_table(struct flat *f);
/* Adds a number of `size` bytes. Fields may come in any order. */
void flat_number(struct flat *f, int field, uint64_t value, size_t size);
void flat_field(struct flat *f, int field, flat_ref ref);
flat_ref flat_table_end(struct flat *f);

/*
 * Finishes with the root table. The result is f->size bytes, a multiple of 8, at f->data + f->room
 * - f->size.
 */
void flat_finish(struct flat *f, flat_ref root);

#endif
