/*
 * base/unpack.h - reads an input to its end, inflated if it is compressed, and packs it into frames
 * for base/frames.h: on all threads, in one pass over the input.
 *
 * Memory: a few MB a thread.
 */
#ifndef BASE_UNPACK_H
#define BASE_UNPACK_H

#include "base/frames.h"
#include "base/input.h"
#include "base/work.h"

struct base_unpack {
	struct base_input *input;
	struct base_work *work; /* its threads, its progress in bytes of the input */
	void *ctx;
	/* Looks at the first bytes, some thousands if there are so many. NULL: nobody does. */
	int (*begin)(void *ctx, const uint8_t *data, uint64_t size, struct hdb_error *err);
	/*
	 * Takes a frame. In order, on the calling thread; its bytes are borrowed until this
	 * returns.
	 */
	int (*put)(void *ctx, const struct base_frame *frame, struct hdb_error *err);
};

/*
 * Runs it; *size is how many bytes there were. HDB_ELIMIT for a bomb, which inflates to more than
 * any dump does. What was damaged, base_input_damage says.
 */
int base_unpack_run(const struct base_unpack *unpack, uint64_t *size, struct hdb_error *err);

/*
 * Opens what an input has as a source: a plain file is mapped, anything else unpacked into a file
 * without a name in work->scratch_dir (not NULL). *out is owned: base_source_close.
 */
int base_unpack_open(struct base_input *input, struct base_work *work, struct base_source **out,
		     struct hdb_error *err);

#endif
