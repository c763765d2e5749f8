/*
 * rewrite/hashes.h - texts that stand for contents: the same for the same content under the same
 * key, of the same length.
 */
#ifndef REWRITE_HASHES_H
#define REWRITE_HASHES_H

#include "base/siphash.h"
#include "rewrite/rewriter.h"

struct rewrite_hashes {
	uint8_t key[BASE_SIPHASH_KEY_BYTES];
};

/*
 * Takes the key from the file, which has 16 bytes at least, or from the system if `path` is NULL:
 * then it is new, and gone afterwards.
 */
int rewrite_hashes_open(struct rewrite_hashes *hashes, const char *path, struct hdb_error *err);

/*
 * Writes a primitive array with letters instead of its contents: 20 that are its hash, again
 * and again; of short ones so many as there is room for. Zeros stay zeros.
 */
int rewrite_hashes_array(const struct rewrite_hashes *hashes, struct rewriter *w,
			 const struct hprof_sub *sub, struct hdb_error *err);

#endif
