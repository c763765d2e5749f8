/* base/siphash.c - SipHash-2-4-128, following its authors' reference implementation. */
#include "base/siphash.h"

#include "base/bytes.h"

#include <string.h>

static inline uint64_t rotate(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

static inline void round_of(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[0] = rotate(v[0], 32);
	v[2] += v[3];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[2] = rotate(v[2], 32);
}

static inline void take(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	round_of(v);
	round_of(v);
	v[0] ^= word;
}

/* Reads a word, little-endian on every machine. */
static inline uint64_t word_of(const uint8_t *p)
{
	return __builtin_bswap64(be64(p));
}

void base_siphash_init(struct base_siphash *sip, const uint8_t key[BASE_SIPHASH_KEY_BYTES])
{
	const uint64_t k0 = word_of(key), k1 = word_of(key + 8);

	memset(sip, 0, sizeof(*sip));
	sip->v[0] = 0x736f6d6570736575ull ^ k0;
	sip->v[1] = 0x646f72616e646f6dull ^ k1 ^ 0xee;
	sip->v[2] = 0x6c7967656e657261ull ^ k0;
	sip->v[3] = 0x7465646279746573ull ^ k1;
}

void base_siphash_add(struct base_siphash *sip, const void *data, size_t size_bytes)
{
	const uint8_t *p = data;
	size_t waits = sip->size_bytes & 7;
	uint64_t v[4];

	sip->size_bytes += size_bytes;
	memcpy(v, sip->v, sizeof(v));
	if (waits) {
		while (waits < 8 && size_bytes) {
			sip->rest[waits++] = *p++;
			size_bytes--;
		}
		if (waits < 8)
			return;
		take(v, word_of(sip->rest));
	}
	for (; size_bytes >= 8; p += 8, size_bytes -= 8)
		take(v, word_of(p));
	if (size_bytes)
		memcpy(sip->rest, p, size_bytes);
	memcpy(sip->v, v, sizeof(v));
}

void base_siphash_end(struct base_siphash *sip, uint64_t out[2])
{
	uint64_t *v = sip->v;
	uint8_t last[8] = { 0 };

	memcpy(last, sip->rest, sip->size_bytes & 7);
	last[7] = (uint8_t)sip->size_bytes;
	take(v, word_of(last));
	for (unsigned half = 0; half < 2; half++) {
		if (half)
			v[1] ^= 0xdd;
		else
			v[2] ^= 0xee;
		for (unsigned i = 0; i < 4; i++)
			round_of(v);
		out[half] = v[0] ^ v[1] ^ v[2] ^ v[3];
	}
}
