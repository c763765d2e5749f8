/*
 * base/spill.h - a scratch file that is written and read in pieces, for data that does not fit in
 * the memory budget.
 *
 * It suits data that is written and read sequentially: unlike the mapped files of base/work.h, it
 * causes no page faults. The file has no name, so it disappears when its descriptor is closed.
 */
#ifndef BASE_SPILL_H
#define BASE_SPILL_H

#include "base/work.h"

/*
 * All members except `work` must be initialised with zeros. base_spill_close accepts a file that
 * was never written.
 */
struct base_spill {
	const struct base_work *work; /* borrowed; determines where the file is created */
	int fd;
	bool is_open;
};

/*
 * Writes all `size` bytes at `offset`. The first call creates the file (base_scratch_file). Fails
 * with HDB_EIO, for example if the disk is full.
 */
int base_spill_write(struct base_spill *spill, uint64_t offset, const void *data, size_t size,
		     struct hdb_error *err);

/* Reads `size` bytes that were written at `offset`. Thread-safe. */
int base_spill_read(const struct base_spill *spill, uint64_t offset, void *data, size_t size,
		    struct hdb_error *err);

/* Announces that these bytes will be read soon. Takes a system call. */
void base_spill_prefetch(const struct base_spill *spill, uint64_t offset, uint64_t size);

/* Discards the file. The next write creates a new one. */
void base_spill_close(struct base_spill *spill);

#endif
