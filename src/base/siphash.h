/*
 * base/siphash.h - SipHash-2-4 with 128 bits of result (Aumasson and Bernstein, "SipHash: a fast
 * short-input PRF"): a keyed hash. Who has not the key can neither make a content with a hash nor
 * try contents until one has it, which an unkeyed hash allows.
 */
#ifndef BASE_SIPHASH_H
#define BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

#define BASE_SIPHASH_KEY_BYTES 16u

/* A hash that is made in parts. */
struct base_siphash {
	uint64_t v[4];
	uint64_t size_bytes; /* so far */
	uint8_t rest[8];     /* its last size_bytes % 8 bytes wait */
};

void base_siphash_init(struct base_siphash *sip, const uint8_t key[BASE_SIPHASH_KEY_BYTES]);
void base_siphash_add(struct base_siphash *sip, const void *data, size_t size_bytes);
/* The hash; *sip is used up. */
void base_siphash_end(struct base_siphash *sip, uint64_t out[2]);

#endif
