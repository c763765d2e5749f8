/*
 * export/export_flat.h - FlatBuffers, as much of them as Arrow's messages need: built from the
 * end, as the format wants it, so that what is referred to comes first.
 */
#ifndef EXPORT_FLAT_H
#define EXPORT_FLAT_H

#include "export/export_private.h"

/* Fields of a table: more than any of Arrow's has. */
#define FLAT_FIELDS 8

struct flat {
	uint8_t *data; /* owned; what is built are its last `size` bytes */
	size_t size, room;
	bool has_failed;
	/* the table that is being built: where its fields are, 0: none; from the end */
	uint32_t fields[FLAT_FIELDS];
	uint32_t table_from;
};

/* A thing that was built: its place, from the end. */
typedef uint32_t flat_ref;

void flat_release(struct flat *f);
/* Empties it. */
void flat_begin(struct flat *f);

flat_ref flat_text(struct flat *f, const char *text);
/* A vector of what was built. */
flat_ref flat_refs(struct flat *f, const flat_ref *refs, size_t count);
/* A vector of structures of 8-byte words. */
flat_ref flat_words(struct flat *f, const uint64_t *words, size_t count, size_t words_each);

void flat_table(struct flat *f);
/* Fields in any order; a number of `size` bytes. */
void flat_number(struct flat *f, int field, uint64_t value, size_t size);
void flat_field(struct flat *f, int field, flat_ref ref);
flat_ref flat_table_end(struct flat *f);

/* The root; the bytes are f->data + f->room - f->size, f->size of them, a multiple of 8. */
void flat_finish(struct flat *f, flat_ref root);

#endif
