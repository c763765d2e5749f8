/*
 * common/big_endian.h - numbers in files and packets of the JDK and Android, highest byte first.
 */
#ifndef COMMON_BIG_ENDIAN_H
#define COMMON_BIG_ENDIAN_H

#include <stdint.h>

/* The number of so many bytes at p, 8 at most. */
static inline uint64_t big_endian(const void *p, unsigned bytes)
{
	const uint8_t *at = p;
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value = value << 8 | at[i];
	return value;
}

static inline uint16_t big_endian_u2(const void *p)
{
	return (uint16_t)big_endian(p, 2);
}

static inline uint32_t big_endian_u4(const void *p)
{
	return (uint32_t)big_endian(p, 4);
}

#endif
