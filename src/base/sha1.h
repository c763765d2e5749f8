/*
 * base/sha1.h - SHA-1 (RFC 3174), for names that other tools made with it; no protection against
 * anything.
 */
#ifndef BASE_SHA1_H
#define BASE_SHA1_H

#include <stddef.h>
#include <stdint.h>

#define BASE_SHA1_BYTES 20u
/* Hex digits and the end. */
#define BASE_SHA1_TEXT 41u

struct base_sha1 {
	uint32_t h[5];
	uint64_t size_bytes; /* so far */
	uint8_t block[64];   /* its last size_bytes % 64 bytes wait */
};

void base_sha1_init(struct base_sha1 *sha);
void base_sha1_add(struct base_sha1 *sha, const void *data, size_t size_bytes);
/* The digest; *sha is used up. */
void base_sha1_end(struct base_sha1 *sha, uint8_t digest[BASE_SHA1_BYTES]);
/* The digest of data that is there at once. */
void base_sha1(const void *data, size_t size_bytes, uint8_t digest[BASE_SHA1_BYTES]);
/* A digest as lower-case hex, terminated. */
void base_sha1_text(const uint8_t digest[BASE_SHA1_BYTES], char text[BASE_SHA1_TEXT]);

#endif
