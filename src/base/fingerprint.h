/*
 * base/fingerprint.h - tells whether a dump is the one that was imported, without reading all of
 * it.
 */
#ifndef BASE_FINGERPRINT_H
#define BASE_FINGERPRINT_H

#include "base/source.h"

/* XXH3 of the source's size, its first and last 64 KiB and 64 blocks of 4 KiB spread evenly. */
int base_fingerprint(struct base_source *source, uint64_t *out, struct hdb_error *err);

/*
 * The same of an open file of `size` bytes. Reads and does not map it: a twentieth of a millisecond
 * where it is in memory, a sixth of what its pages take to be mapped.
 */
int base_fingerprint_fd(int fd, uint64_t size, uint64_t *out, struct hdb_error *err);

#endif
