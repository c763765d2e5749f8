/*
 * heap/values/strings.h - where the characters of java.lang.String objects are, whatever wrote the
 * dump.
 *
 * heap_string (values.h) gives the text of one string; string_scan.h all strings, fast.
 */
#ifndef HEAP_VALUES_STRINGS_H
#define HEAP_VALUES_STRINGS_H

#include "heap/values/chars.h"
#include "heap/heap.h"

/* Fields of a String class, as places in its instances' records. */
struct heap_string_layout {
	uint32_t class_no;
	/* Bytes from the start of the field values; UINT32_MAX: there is no such field. */
	uint32_t value, coder, offset, count;
	bool has_one_reference; /* `value` is the only field that refers to an object */
};

/* Finds the String classes' layouts and the byte order, once a heap. */
int heap_load_strings(struct heap *heap, struct hdb_error *err);

/*
 * Layout of a String class, NULL for any other class; lent until the heap is closed. Strings must
 * be loaded.
 */
const struct heap_string_layout *heap_string_layout(const struct heap *heap, uint32_t class_no);

/* A string's characters and what keeps them. */
struct heap_string {
	bool has_chars; /* false: they are not in the dump; what follows means nothing then */
	struct heap_chars chars;
	uint32_t array_ix;    /* the array that keeps them */
	uint64_t array_bytes; /* its shallow size */
	uint64_t array_units; /* units that it has room for */
	uint64_t first_unit;  /* of them, the string's first */
};

/* What a thread reads objects with: its own; both lent. */
struct heap_reader {
	struct base_view *view;
	struct heap_offsets **groups; /* as heap_offset_by wants it */
};

/* A string whose characters are read. */
struct heap_string_at {
	uint32_t ix;
	uint32_t target; /* its value array; HEAP_NONE: not known */
	const struct heap_string_layout *layout;
};

/*
 * What is known of object `ix` as a string, from the database alone. HDB_NOTFOUND if it is none.
 */
int heap_string_at(struct heap *heap, uint32_t ix, struct heap_string_at *out,
		   struct hdb_error *err);

/*
 * Finds the characters of a string. Without the target its ID is looked up, which one thread alone
 * may do. The dump must be open.
 */
int heap_string_find(struct heap *heap, const struct heap_reader *reader,
		     const struct heap_string_at *at, struct heap_string *out,
		     struct hdb_error *err);

/*
 * Whether the VM kept byte pairs with the high byte first: java.lang.StringUTF16.HI_BYTE_SHIFT in
 * the dump tells. Classes must be loaded.
 */
bool heap_is_big_endian(struct heap *heap);

#endif
