/*
 * rewrite/kept.h - finds primitive arrays to keep when all others are dropped: the texts of strings
 * and the buffers of bitmaps. If several bitmaps have equal pixels, only one buffer is kept, as in
 * Matrix's HprofBufferShrinker.
 */
#ifndef REWRITE_KEPT_H
#define REWRITE_KEPT_H

#include "rewrite/id_bits.h"
#include "rewrite/shapes.h"

/* The position of a field in the instances of a class. */
struct rewrite_place {
	uint64_t class_id; /* 0 means that the class or field was not found */
	uint64_t offset;   /* offset in the values of the instance */
};

struct rewrite_kept {
	struct rewriter *w;          /* borrowed */
	unsigned what;               /* enum hdb_keep */
	bool has_keys;               /* whether the bytes of cryptographic keys count as texts */
	struct rewrite_shapes names; /* classes */
	struct rewrite_place value;  /* String.value */
	struct rewrite_place buffer, recycled;
	/* struct rewrite_place: fields that refer to keys, grouped by class */
	struct base_vec keys;
	struct base_idmap first_key; /* class ID to index of its first field in keys */
	struct rewrite_id_bits texts;
	struct base_idmap bitmaps; /* buffer ID to number in buffers */
	struct base_vec buffers;   /* struct rewrite_buffer */
};

struct rewrite_buffer {
	uint64_t id, same_id; /* same_id is the first buffer with the same content */
	uint64_t offset;      /* offset of the contents in the dump; 0 until found */
	uint64_t size;
	uint8_t type;
};

/*
 * Finds the arrays in two passes over the dump, or three if it has bitmaps. The caller first sets w
 * and what, and names.named if it needs the names.
 */
int rewrite_kept_load(struct rewrite_kept *kept, struct hdb_error *err);
void rewrite_kept_release(struct rewrite_kept *kept);

/* Returns whether a primitive array is kept. */
bool rewrite_kept_has(const struct rewrite_kept *kept, uint64_t id);
/*
 * Writes an instance. A bitmap whose own buffer is dropped refers to the kept buffer with the same
 * pixels; anything else is written unchanged.
 */
int rewrite_kept_instance(struct rewrite_kept *kept, const struct hprof_sub *sub,
			  struct hdb_error *err);

#endif
