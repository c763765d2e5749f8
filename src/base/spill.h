/*
 * base/spill.h - a scratch file that is written and read in pieces, for what does not fit the
 * budget.
 *
 * Unlike the mapped files of base/work.h it costs no page faults, and what is read is read in one
 * piece: for data that is written and read in order. It has no name and goes with its descriptor.
 */
#ifndef BASE_SPILL_H
#define BASE_SPILL_H

#include "base/work.h"

/* Zero-initialise but for `work`; base_spill_close takes one that was never written, too. */
struct base_spill {
	const struct base_work *work; /* lent; says where the file is made */
	int fd;
	bool is_open;
};

/*
 * Writes `size` bytes at `offset`, all of them: HDB_EIO, for instance if the disk is full. The
 * first call makes the file, by base_scratch_file.
 */
int base_spill_write(struct base_spill *spill, uint64_t offset, const void *data, size_t size,
		     struct hdb_error *err);

/* Reads what was written there, all of it. May be called on any thread. */
int base_spill_read(const struct base_spill *spill, uint64_t offset, void *data, size_t size,
		    struct hdb_error *err);

/* Says that these bytes will be read soon; costs a system call. */
void base_spill_soon(const struct base_spill *spill, uint64_t offset, uint64_t size);

/* Drops what was written; the next write makes a file anew. */
void base_spill_close(struct base_spill *spill);

#endif
