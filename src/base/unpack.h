/*
 * base/unpack.h - reads an input to its end, inflates it if it is compressed, and packs it into
 * frames for base/frames.h, on all threads, in one pass.
 *
 * Memory: a few MB per thread.
 */
#ifndef BASE_UNPACK_H
#define BASE_UNPACK_H

#include "base/frames.h"
#include "base/input.h"
#include "base/work.h"

struct base_unpack {
	struct base_input *input;
	struct base_work *work; /* provides threads and reports progress, in bytes of the input */
	void *ctx;
	/* Examines the first bytes, a few thousand if the input has that many. May be NULL. */
	int (*begin)(void *ctx, const uint8_t *data, uint64_t size, struct hdb_error *err);
	/*
	 * Receives a frame, in order and on the calling thread. Its bytes are borrowed for the
	 * call.
	 */
	int (*put)(void *ctx, const struct base_frame *frame, struct hdb_error *err);
};

/*
 * Inflates the input and sets *size to the number of inflated bytes. Fails with HDB_ELIMIT for a
 * decompression bomb, which inflates to more than any dump. base_input_damage returns the damage
 * found.
 */
int base_unpack_run(const struct base_unpack *unpack, uint64_t *size, struct hdb_error *err);

/*
 * Opens the contents of an input as a source: a plain file is mapped, anything else is unpacked
 * into an unnamed file in work->scratch_dir (not NULL). The caller must close *out with
 * base_source_close.
 */
int base_unpack_open(struct base_input *input, struct base_work *work, struct base_source **out,
		     struct hdb_error *err);

#endif
