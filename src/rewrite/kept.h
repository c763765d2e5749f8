/*
 * rewrite/kept.h - which primitive arrays are the texts of strings and the buffers of bitmaps, as
 * Matrix's HprofBufferShrinker keeps them: all others are left out, and of bitmaps with the same
 * pixels one buffer stays.
 */
#ifndef REWRITE_KEPT_H
#define REWRITE_KEPT_H

#include "rewrite/id_bits.h"
#include "rewrite/shapes.h"

/* Where a field lies in the instances of a class. */
struct rewrite_place {
	uint64_t class_id; /* 0: there is no such class or field */
	uint64_t offset;   /* in the instance's values */
};

struct rewrite_kept {
	struct rewriter *w;          /* lent */
	unsigned what;               /* enum hdb_keep */
	struct rewrite_shapes names; /* classes */
	struct rewrite_place value;  /* String.value */
	struct rewrite_place buffer, recycled;
	struct rewrite_id_bits texts;
	struct base_idmap bitmaps; /* buffer ID -> number in buffers */
	struct base_vec buffers;   /* struct rewrite_buffer */
};

struct rewrite_buffer {
	uint64_t id, same_id; /* the first that has the same content */
	uint64_t offset;      /* of its content in the dump; 0: not met */
	uint64_t size;
	uint8_t type;
};

/*
 * Finds them: two passes over the dump, three if it has bitmaps. `kept` has w and what set, and
 * names.named where the caller wants that.
 */
int rewrite_kept_load(struct rewrite_kept *kept, struct hdb_error *err);
void rewrite_kept_release(struct rewrite_kept *kept);

/* Whether a primitive array stays. */
bool rewrite_kept_has(const struct rewrite_kept *kept, uint64_t id);
/* Writes an instance as it was, but a bitmap with the buffer that stays of those like its own. */
int rewrite_kept_instance(struct rewrite_kept *kept, const struct hprof_sub *sub,
			  struct hdb_error *err);

#endif
