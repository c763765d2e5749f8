/*
 * base/sha1.h - SHA-1 (RFC 3174), only for identifiers that other tools also compute with SHA-1.
 * Not for security.
 */
#ifndef BASE_SHA1_H
#define BASE_SHA1_H

#include <stddef.h>
#include <stdint.h>

#define BASE_SHA1_BYTES 20u
/* Size of the hexadecimal digits and the terminator. */
#define BASE_SHA1_TEXT 41u

struct base_sha1 {
	uint32_t h[5];
	uint64_t size_bytes; /* number of bytes added */
	uint8_t block[64];   /* the last size_bytes % 64 bytes, which have not been processed yet */
};

void base_sha1_init(struct base_sha1 *sha);
void base_sha1_add(struct base_sha1 *sha, const void *data, size_t size_bytes);
/* Returns the digest. *sha cannot be used afterwards. */
void base_sha1_end(struct base_sha1 *sha, uint8_t digest[BASE_SHA1_BYTES]);
/* Computes the digest of one buffer. */
void base_sha1(const void *data, size_t size_bytes, uint8_t digest[BASE_SHA1_BYTES]);
/* Writes a digest in lower-case hex, terminated. */
void base_sha1_text(const uint8_t digest[BASE_SHA1_BYTES], char text[BASE_SHA1_TEXT]);

#endif
