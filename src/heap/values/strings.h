/*
 * heap/values/strings.h - finds the characters of java.lang.String objects in all kinds of dumps.
 *
 * heap_string (values.h) returns the text of one string; string_scan.h iterates over all strings.
 */
#ifndef HEAP_VALUES_STRINGS_H
#define HEAP_VALUES_STRINGS_H

#include "heap/values/chars.h"
#include "heap/heap.h"

/* Positions of the fields of String instances, for one String class. */
struct heap_string_layout {
	uint32_t class_no;
	/* Offset in the field values, or UINT32_MAX if the class has no such field. */
	uint32_t value, coder, offset, count;
	bool has_one_reference; /* whether `value` is the only reference field */
};

/* Finds the layouts of String classes, and the byte order. Must be called once per heap. */
int heap_load_strings(struct heap *heap, struct hdb_error *err);

/*
 * Returns the layout of a String class, or NULL for other classes. Borrowed until the heap is
 * closed. heap_load_strings must have been called.
 */
const struct heap_string_layout *heap_string_layout(const struct heap *heap, uint32_t class_no);

/* The characters of a string, and the array that contains the characters. */
struct heap_string {
	/* whether the characters are in the dump; if not, the other members are undefined */
	bool has_chars;
	struct heap_chars chars;
	uint32_t array_ix;    /* array that contains the characters */
	uint64_t array_bytes; /* shallow size of the array */
	uint64_t array_units; /* capacity of the array in units */
	uint64_t first_unit;  /* index of the string's first unit in the array */
};

/*
 * State that a thread needs to read objects. Both members are borrowed, and no other thread uses
 * them.
 */
struct heap_reader {
	struct base_view *view;
	struct heap_offsets **groups; /* cache for heap_offset_by */
};

/* A string to be read. */
struct heap_string_at {
	uint32_t ix;
	uint32_t target; /* value array, or HEAP_NONE if unknown */
	const struct heap_string_layout *layout;
};

/*
 * Determines whether object `ix` is a string, using only the database. Returns HDB_NOTFOUND if the
 * object is not a string.
 */
int heap_string_at(struct heap *heap, uint32_t ix, struct heap_string_at *out,
		   struct hdb_error *err);

/*
 * Finds the characters of a string. If the target is unknown, looks up its ID, which only one
 * thread may do. The dump must be open.
 */
int heap_string_find(struct heap *heap, const struct heap_reader *reader,
		     const struct heap_string_at *at, struct heap_string *out,
		     struct hdb_error *err);

/*
 * Returns whether the VM stored two-byte characters with the high byte first, according to
 * java.lang.StringUTF16.HI_BYTE_SHIFT in the dump. Classes must be loaded.
 */
bool heap_is_big_endian(struct heap *heap);

#endif
