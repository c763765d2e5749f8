/*
 * export/export_encode.c - Parquet's integer encodings: RLE / bit-packed hybrid and
 * DELTA_BINARY_PACKED. See https://parquet.apache.org/docs/file-format/data-pages/encodings
 */
#include "export/export_private.h"

#include <assert.h>

/* Minimum length of a run. Shorter runs are smaller if they are bit-packed. */
#define RUN_MIN 8
/* DELTA_BINARY_PACKED: number of values in a block and in a miniblock. */
#define BLOCK 128
#define PART 32
#define PARTS (BLOCK / PART)

/* Packs `count` values of `bits` bits each, lowest bit first. The last byte is padded. */
static void put_bits(struct bytes *to, const uint64_t *values, size_t count, unsigned bits)
{
	const size_t bytes = (count * bits + 7) / 8;
	uint8_t *out = bytes_room(to, bytes + 16);
	unsigned __int128 waiting = 0;
	unsigned used = 0;

	assert(bits <= 64);
	if (!out || !bits)
		return;
	for (size_t i = 0; i < count; i++) {
		assert(used < 64);
		waiting |= (unsigned __int128)values[i] << used;
		used += bits;
		while (used >= 64) {
			const uint64_t low = (uint64_t)waiting;

			for (unsigned b = 0; b < 8; b++)
				out[b] = (uint8_t)(low >> 8 * b);
			out += 8;
			waiting >>= 64;
			used -= 64;
		}
	}
	for (; used > 0; used = used > 8 ? used - 8 : 0) {
		*out++ = (uint8_t)waiting;
		waiting >>= 8;
	}
	to->size += bytes;
}

static size_t run_length(const uint32_t *values, size_t count)
{
	size_t n = 1;

	assert(count > 0);
	while (n < count && values[n] == values[0])
		n++;
	return n;
}

/* Writes bit-packed groups of eight. `count` is a multiple of eight, except at the end. */
static void put_groups(struct bytes *to, const uint32_t *values, size_t count, unsigned bits)
{
	const size_t groups = (count + 7) / 8;
	uint64_t wide[64];

	export_bytes_varint(to, groups << 1 | 1);
	for (size_t at = 0; at < groups * 8; at += 64) {
		const size_t n = groups * 8 - at < 64 ? groups * 8 - at : 64;

		for (size_t i = 0; i < n; i++)
			wide[i] = at + i < count ? values[at + i] : 0;
		put_bits(to, wide, n, bits);
	}
}

void export_encode_rle(struct bytes *to, const uint32_t *values, size_t count, unsigned bits)
{
	size_t at = 0;

	assert(bits <= 32);
	while (at < count) {
		const size_t start = at;
		size_t run = 0;

		/*
		 * extend the bit-packed part to the next run that is worth encoding; it begins at a
		 * group boundary
		 */
		while (at < count && (run = run_length(values + at, count - at)) < RUN_MIN)
			at += (at - start) % 8 + run <= 8 ? run : 8 - (at - start) % 8;
		if (at < count && (at - start) % 8) {
			const size_t rest = 8 - (at - start) % 8;

			at += rest;
			run -= rest;
		}
		if (at > count)
			at = count;
		if (at > start)
			put_groups(to, values + start, at - start, bits);
		if (at == count || run < RUN_MIN)
			continue;
		export_bytes_varint(to, (uint64_t)run << 1);
		for (unsigned b = 0; b < (bits + 7) / 8; b++)
			export_bytes_byte(to, (uint8_t)(values[at] >> 8 * b));
		at += run;
	}
}

void export_encode_levels(struct bytes *to, const uint8_t *bitmap, size_t from, size_t count)
{
	const size_t at = to->size, bytes = (count + 7) / 8;
	size_t size;

	export_bytes_u32(to, 0);
	if (!bitmap) {
		export_bytes_varint(to, (uint64_t)count << 1);
		export_bytes_byte(to, 1);
	} else {
		uint8_t *out;

		export_bytes_varint(to, (uint64_t)bytes << 1 | 1);
		out = bytes_room(to, bytes);
		if (!out)
			return;
		memset(out, 0, bytes);
		for (size_t i = 0; i < count; i++)
			out[i / 8] |=
				(uint8_t)((bitmap[(from + i) / 8] >> (from + i) % 8 & 1) << i % 8);
		to->size += bytes;
	}
	if (to->failed)
		return;
	size = to->size - at - 4;
	for (unsigned b = 0; b < 4; b++)
		to->data[at + b] = (char)(size >> 8 * b);
}

static uint64_t zigzag(uint64_t value)
{
	return value << 1 ^ (uint64_t)((int64_t)value >> 63);
}

static void put_block(struct bytes *to, const uint64_t *values, size_t count)
{
	uint64_t deltas[BLOCK] = { 0 };
	int64_t least = INT64_MAX;
	unsigned bits[PARTS] = { 0 };

	assert(count <= BLOCK);
	/* differences wrap around, as the format requires */
	for (size_t i = 0; i < count; i++) {
		deltas[i] = values[i + 1] - values[i];
		if ((int64_t)deltas[i] < least)
			least = (int64_t)deltas[i];
	}
	for (size_t i = 0; i < count; i++) {
		deltas[i] -= (uint64_t)least;
		if (deltas[i]) {
			const unsigned need = 64 - (unsigned)__builtin_clzll(deltas[i]);

			if (need > bits[i / PART])
				bits[i / PART] = need;
		}
	}
	export_bytes_varint(to, zigzag((uint64_t)least));
	for (size_t p = 0; p < PARTS; p++)
		export_bytes_byte(to, (uint8_t)bits[p]);
	for (size_t p = 0; p < PARTS && p * PART < count; p++)
		put_bits(to, deltas + p * PART, PART, bits[p]);
}

void export_encode_delta(struct bytes *to, const uint64_t *values, size_t count)
{
	export_bytes_varint(to, BLOCK);
	export_bytes_varint(to, PARTS);
	export_bytes_varint(to, count);
	export_bytes_varint(to, count ? zigzag(values[0]) : 0);
	for (size_t at = 0; at + 1 < count; at += BLOCK)
		put_block(to, values + at, count - 1 - at < BLOCK ? count - 1 - at : BLOCK);
}
