/* base/sha1.c - SHA-1. */
#include "base/sha1.h"

#include "base/bytes.h"

#include <string.h>

static uint32_t rotate(uint32_t v, unsigned by)
{
	return v << by | v >> (32 - by);
}

static void take_block(uint32_t h[5], const uint8_t *block)
{
	static const uint32_t constants[4] = { 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6 };
	uint32_t w[80], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];

	for (unsigned i = 0; i < 16; i++)
		w[i] = be32(block + 4 * i);
	for (unsigned i = 16; i < 80; i++)
		w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	for (unsigned i = 0; i < 80; i++) {
		const uint32_t mix = i < 20            ? (b & c) | (~b & d) :
				     i >= 40 && i < 60 ? (b & c) | (b & d) | (c & d) :
							 b ^ c ^ d;
		const uint32_t next = rotate(a, 5) + mix + e + constants[i / 20] + w[i];

		e = d;
		d = c;
		c = rotate(b, 30);
		b = a;
		a = next;
	}
	h[0] += a;
	h[1] += b;
	h[2] += c;
	h[3] += d;
	h[4] += e;
}

void base_sha1_init(struct base_sha1 *sha)
{
	*sha = (struct base_sha1){
		.h = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 },
	};
}

void base_sha1_add(struct base_sha1 *sha, const void *data, size_t size_bytes)
{
	const uint8_t *p = data;

	for (size_t left = size_bytes; left;) {
		const size_t at = sha->size_bytes % sizeof(sha->block);
		const size_t room = sizeof(sha->block) - at, n = left < room ? left : room;

		memcpy(sha->block + at, p, n);
		sha->size_bytes += n;
		p += n;
		left -= n;
		if (n == room)
			take_block(sha->h, sha->block);
	}
}

void base_sha1_end(struct base_sha1 *sha, uint8_t digest[BASE_SHA1_BYTES])
{
	static const uint8_t pad[64] = { 0x80 };
	const uint64_t bits = sha->size_bytes * 8;
	const size_t at = sha->size_bytes % 64;
	uint8_t size[8];

	base_sha1_add(sha, pad, (at < 56 ? 56 : 120) - at);
	put_be64(size, bits);
	base_sha1_add(sha, size, sizeof(size));
	for (unsigned i = 0; i < BASE_SHA1_BYTES; i++)
		digest[i] = (uint8_t)(sha->h[i / 4] >> (24 - 8 * (i % 4)));
}

void base_sha1(const void *data, size_t size_bytes, uint8_t digest[BASE_SHA1_BYTES])
{
	struct base_sha1 sha;

	base_sha1_init(&sha);
	base_sha1_add(&sha, data, size_bytes);
	base_sha1_end(&sha, digest);
}

void base_sha1_text(const uint8_t digest[BASE_SHA1_BYTES], char text[BASE_SHA1_TEXT])
{
	static const char digits[] = "0123456789abcdef";

	for (unsigned i = 0; i < BASE_SHA1_BYTES; i++) {
		text[2 * i] = digits[digest[i] >> 4];
		text[2 * i + 1] = digits[digest[i] & 15];
	}
	text[BASE_SHA1_TEXT - 1] = '\0';
}
