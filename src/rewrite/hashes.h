/*
 * rewrite/hashes.h - letters in place of contents, as many as before. With the same key, equal
 * contents give equal letters, so copies can still be found.
 */
#ifndef REWRITE_HASHES_H
#define REWRITE_HASHES_H

#include "base/siphash.h"
#include "rewrite/rewriter.h"

struct rewrite_hashes {
	uint8_t key[BASE_SIPHASH_KEY_BYTES];
};

/*
 * Reads the key from a file of at least 16 bytes, or takes a random one if `path` is NULL. Nobody
 * can repeat the hashes of a random key.
 */
int rewrite_hashes_open(struct rewrite_hashes *hashes, const char *path, struct hdb_error *err);

/*
 * Writes a primitive array whose elements are the 20 letters of its hash, repeated to its length,
 * or cut to it. An array of zeros is written unchanged.
 */
int rewrite_hashes_array(const struct rewrite_hashes *hashes, struct rewriter *w,
			 const struct hprof_sub *sub, struct hdb_error *err);

#endif
