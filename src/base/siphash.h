/*
 * base/siphash.h - SipHash-2-4 with a 128-bit result (Aumasson and Bernstein, "SipHash: a fast
 * short-input PRF"), a keyed hash. Without the key, nobody can construct contents with a given
 * hash, or find the contents of a hash by trying candidates. Both are possible with an unkeyed
 * hash.
 */
#ifndef BASE_SIPHASH_H
#define BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

#define BASE_SIPHASH_KEY_BYTES 16u

/* State of a hash that is computed in parts. */
struct base_siphash {
	uint64_t v[4];
	uint64_t size_bytes; /* number of bytes added */
	uint8_t rest[8];     /* the last size_bytes % 8 bytes, which have not been processed yet */
};

void base_siphash_init(struct base_siphash *sip, const uint8_t key[BASE_SIPHASH_KEY_BYTES]);
void base_siphash_add(struct base_siphash *sip, const void *data, size_t size_bytes);
/* Returns the hash. *sip cannot be used afterwards. */
void base_siphash_end(struct base_siphash *sip, uint64_t out[2]);

#endif
