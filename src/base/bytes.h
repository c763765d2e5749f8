/*
 * base/bytes.h - unaligned loads and stores: big-endian (HPROF, LMDB keys) and little-endian
 * (blocks); varints and zigzag.
 *
 * These functions do not check bounds. Callers must.
 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "heapdb runs on little-endian processors alone: loads below, and blocks of databases, expect one"
#endif

static inline uint16_t be16(const void *p)
{
	uint16_t v;
	memcpy(&v, p, 2);
	return __builtin_bswap16(v);
}

static inline uint32_t be32(const void *p)
{
	uint32_t v;
	memcpy(&v, p, 4);
	return __builtin_bswap32(v);
}

static inline uint64_t be64(const void *p)
{
	uint64_t v;
	memcpy(&v, p, 8);
	return __builtin_bswap64(v);
}

/* Reads an HPROF identifier of 4 or 8 bytes. */
static inline uint64_t be_id(const void *p, unsigned id_size)
{
	return id_size == 8 ? be64(p) : be32(p);
}

/* Reads an unsigned big-endian number of 1, 2, 4 or 8 bytes. */
static inline uint64_t be_bits(const void *p, unsigned size)
{
	switch (size) {
	case 1:
		return *(const uint8_t *)p;
	case 2:
		return be16(p);
	case 4:
		return be32(p);
	default:
		return be64(p);
	}
}

static inline void put_be32(void *p, uint32_t v)
{
	v = __builtin_bswap32(v);
	memcpy(p, &v, 4);
}

static inline void put_be64(void *p, uint64_t v)
{
	v = __builtin_bswap64(v);
	memcpy(p, &v, 8);
}

static inline uint16_t load16(const void *p)
{
	uint16_t v;
	memcpy(&v, p, 2);
	return v;
}

static inline uint32_t load32(const void *p)
{
	uint32_t v;
	memcpy(&v, p, 4);
	return v;
}

static inline uint64_t load64(const void *p)
{
	uint64_t v;
	memcpy(&v, p, 8);
	return v;
}

static inline void store16(void *p, uint16_t v)
{
	memcpy(p, &v, 2);
}

static inline void store32(void *p, uint32_t v)
{
	memcpy(p, &v, 4);
}

static inline void store64(void *p, uint64_t v)
{
	memcpy(p, &v, 8);
}

/* Maps small signed numbers to small unsigned ones: 0, -1, 1, -2, ... to 0, 1, 2, 3, ... */
static inline uint64_t zigzag(int64_t v)
{
	return ((uint64_t)v << 1) ^ (0 - ((uint64_t)v >> 63));
}

static inline int64_t unzigzag(uint64_t v)
{
	return (int64_t)((v >> 1) ^ (0 - (v & 1)));
}

/*
 * Counts the bits that are set in v. Without a processor instruction for counting bits, the
 * compiler would call a function.
 */
static inline uint32_t count_bits(uint64_t v)
{
	v -= v >> 1 & 0x5555555555555555u;
	v = (v & 0x3333333333333333u) + (v >> 2 & 0x3333333333333333u);
	v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0fu;
	return (uint32_t)(v * 0x0101010101010101u >> 56);
}

/* Maximum size of a varint: a 64-bit number in groups of 7 bits. */
#define VARINT_MAX 10

/*
 * Writes v in groups of 7 bits, lowest first, with the high bit set if more follow. Returns the end
 * of the output.
 */
static inline uint8_t *put_varint(uint8_t *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

/*
 * Reads a varint from [p, end). Returns the address after it, or NULL if it continues beyond `end`
 * or has more than 64 bits.
 */
static inline const uint8_t *get_varint(const uint8_t *p, const uint8_t *end, uint64_t *v)
{
	uint64_t r = 0;
	unsigned shift = 0;

	if (p < end && *p < 0x80) {
		*v = *p;
		return p + 1;
	}
	while (p < end && shift < 64) {
		const uint64_t b = *p++;
		r |= (b & 0x7f) << shift;
		if (b < 0x80) {
			*v = r;
			return p;
		}
		shift += 7;
	}
	return NULL;
}

/* Returns the smallest multiple of `unit` (not 0) that is at least v. */
static inline uint64_t round_up(uint64_t v, uint64_t unit)
{
	return (v + unit - 1) / unit * unit;
}

#endif
