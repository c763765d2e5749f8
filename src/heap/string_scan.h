/*
 * heap/string_scan.h - all java.lang.String objects of a heap, one after the other, fast: for
 * questions about millions.
 *
 * heap_string (values.h) is for one string; this knows the layout of the class and finds the
 * characters by index.
 */
#ifndef HEAP_STRING_SCAN_H
#define HEAP_STRING_SCAN_H

#include "heap/heap.h"

/* Where the characters of a string lie in the dump. */
struct heap_chars {
	uint64_t offset;     /* of the first */
	uint64_t count;      /* UTF-16 units, or bytes of Latin-1 */
	uint8_t unit_bytes;  /* 2, or 1: Latin-1 */
	bool is_little;      /* two bytes a unit, the low one first */
};

/* Fields of a String class, as places in its instances' records. */
struct heap_string_layout {
	uint32_t class_no;
	/* Bytes from the start of the field values; UINT32_MAX: there is no such field. */
	uint32_t value, coder, offset, count;
	bool has_one_reference; /* `value` is the only field that refers to an object */
};

struct heap_string_scan {
	/* the current string */
	uint32_t ix;
	uint64_t shallow_bytes;
	bool has_chars;          /* false: its characters are not in the dump */
	struct heap_chars chars; /* if has_chars */
	uint32_t array_ix;       /* if has_chars: where they are kept */
	uint64_t array_bytes;    /* if has_chars: shallow size of that */
	/* private */
	struct heap *heap;
	struct base_vec layouts; /* struct heap_string_layout, by class number ascending */
	struct heap_block *objects;
	uint64_t *lengths;       /* of the block's lists */
	struct base_vec entries; /* uint32_t: their entries */
	struct store_lists references;
	uint32_t next_block;
	uint32_t i;              /* next object in the block */
	uint64_t entry;          /* its first entry */
	bool is_big_endian;      /* the VM that wrote the dump was */
};

/* Prepares (opens the dump). Release it in any case. */
int heap_string_scan_begin(struct heap_string_scan *scan, struct heap *heap, struct hdb_error *err);
/* HDB_OK with the next string, in order of index; HDB_END after the last. */
int heap_string_scan_next(struct heap_string_scan *scan, struct hdb_error *err);
/*
 * The characters of string ix, wherever the scan is. HDB_NOTFOUND if ix is no string or the dump
 * lacks them.
 */
int heap_string_scan_one(struct heap_string_scan *scan, uint32_t ix, struct heap_chars *out,
			 struct hdb_error *err);
void heap_string_scan_release(struct heap_string_scan *scan);

/*
 * Writes the characters as UTF-8 to buf (size bytes, terminated, cut at a character); lone
 * surrogates become U+FFFD. *used is the bytes written; *is_whole (may be NULL) says whether that
 * was all.
 */
int heap_chars_utf8(struct heap *heap, const struct heap_chars *chars, char *buf, size_t size,
		    size_t *used, bool *is_whole, struct hdb_error *err);

/* 128 bits of XXH3 of the text, the same for the same text however it is kept. */
struct heap_text_hash {
	uint64_t low, high;
};
int heap_chars_hash(struct heap *heap, const struct heap_chars *chars, struct heap_text_hash *out,
		    struct hdb_error *err);

/*
 * Whether the VM kept byte pairs with the high byte first: java.lang.StringUTF16.HI_BYTE_SHIFT in
 * the dump tells. Classes must be loaded.
 */
bool heap_is_big_endian(struct heap *heap);

#endif
