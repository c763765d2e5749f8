/* heap/values/chars.c - reads the characters of strings; see chars.h. */
#include "heap/values/chars.h"

#include "base/bytes.h"
#include "base/idmap.h"
#include "heap/values/text.h"

#define XXH_INLINE_ALL
#include <assert.h>
#include <xxhash.h>

/* Number of units processed at a time. */
#define CHUNK_UNITS 4096u

/* Returns units [from, from + n) of the dump without copying; valid until the next call. */
static const uint8_t *units_at(struct base_view *view, const struct heap_chars *c, uint64_t from,
			       uint64_t n, struct hdb_error *err)
{
	assert(from <= c->count);
	assert(n <= c->count - from);
	assert(c->unit_bytes == 1 || c->unit_bytes == 2);
	return base_view_at(view, c->offset + from * c->unit_bytes, n * c->unit_bytes, err);
}

static uint32_t unit_at(const struct heap_chars *c, const uint8_t *p, uint64_t i)
{
	if (c->unit_bytes == 1)
		return p[i];
	return c->is_little ? load16(p + 2 * i) : be16(p + 2 * i);
}

int heap_chars_utf8(struct base_view *view, const struct heap_chars *c, struct heap_utf8 *out,
		    struct hdb_error *err)
{
	struct heap_utf16 to = { .p = out->buf, .end = out->buf + out->size - 1 };

	assert(out->size > 0);
	*out->buf = '\0';
	out->used = 0;
	out->units = c->count;
	out->is_whole = false;
	for (uint64_t at = 0; at < c->count && !to.is_full; at += CHUNK_UNITS) {
		const uint64_t left = c->count - at;
		const uint64_t n = left < CHUNK_UNITS ? left : CHUNK_UNITS;
		const uint8_t *units = units_at(view, c, at, n, err);

		if (!units)
			return HDB_ETRUNC;
		for (uint64_t i = 0; i < n && !to.is_full; i++) {
			const uint32_t unit = unit_at(c, units, i);

			heap_put_utf16(&to, unit || !out->is_c_text ? unit : HEAP_C_ZERO);
		}
	}
	heap_end_utf16(&to);
	*to.p = '\0';
	out->used = (size_t)(to.p - out->buf);
	out->is_whole = !to.is_full;
	return HDB_OK;
}

int heap_chars_are_latin1(struct base_view *view, const struct heap_chars *c, bool *out,
			  struct hdb_error *err)
{
	*out = true;
	for (uint64_t at = 0; at < c->count && *out && c->unit_bytes == 2; at += CHUNK_UNITS) {
		const uint64_t left = c->count - at;
		const uint64_t n = left < CHUNK_UNITS ? left : CHUNK_UNITS;
		const uint8_t *units = units_at(view, c, at, n, err);
		uint32_t all = 0;

		if (!units)
			return HDB_ETRUNC;
		for (uint64_t i = 0; i < n; i++)
			all |= load16(units + 2 * i);
		*out = !(all & (c->is_little ? 0xff00 : 0x00ff));
	}
	return HDB_OK;
}

/*
 * Buffers for hashing. Each unit takes one byte if all are Latin-1, and otherwise two, low byte
 * first, so equal strings give equal bytes however they are stored.
 */
struct hashed {
	struct base_view *view;
	const struct heap_chars *chars;
	bool is_latin1;
	uint16_t wide[CHUNK_UNITS];
	uint8_t narrow[CHUNK_UNITS];
};

/* Returns the bytes to hash for units [from, from + n). */
static const uint8_t *hash_bytes(struct hashed *hashed, uint64_t from, size_t n,
				 struct hdb_error *err)
{
	const struct heap_chars *c = hashed->chars;
	const uint8_t *units = units_at(hashed->view, c, from, n, err);

	if (!units || c->unit_bytes == 1 || (c->is_little && !hashed->is_latin1))
		return units;
	for (size_t i = 0; i < n; i++) {
		const uint32_t unit = unit_at(c, units, i);

		hashed->wide[i] = (uint16_t)unit;
		hashed->narrow[i] = (uint8_t)unit;
	}
	return hashed->is_latin1 ? hashed->narrow : (const uint8_t *)hashed->wide;
}

int heap_chars_hash(struct base_view *view, const struct heap_chars *c, struct heap_text_hash *out,
		    struct hdb_error *err)
{
	struct hashed hashed;
	const uint8_t *bytes;
	XXH3_state_t state;
	XXH128_hash_t hash;
	uint64_t seed = base_hash_seed();
	bool latin1;

	TRY(heap_chars_are_latin1(view, c, &latin1, err));
	hashed.view = view;
	hashed.chars = c;
	hashed.is_latin1 = latin1;
	seed += !latin1;
	if (c->count <= CHUNK_UNITS) {
		const size_t n = (size_t)c->count;

		bytes = hash_bytes(&hashed, 0, n, err);
		if (!bytes)
			return HDB_ETRUNC;
		hash = XXH3_128bits_withSeed(bytes, latin1 ? n : n * 2, seed);
		*out = (struct heap_text_hash){ .low = hash.low64, .high = hash.high64 };
		return HDB_OK;
	}
	XXH3_INITSTATE(&state);
	(void)XXH3_128bits_reset_withSeed(&state, seed);
	for (uint64_t at = 0; at < c->count; at += CHUNK_UNITS) {
		const uint64_t left = c->count - at;
		const size_t n = (size_t)(left < CHUNK_UNITS ? left : CHUNK_UNITS);

		bytes = hash_bytes(&hashed, at, n, err);
		if (!bytes)
			return HDB_ETRUNC;
		(void)XXH3_128bits_update(&state, bytes, latin1 ? n : n * 2);
	}
	hash = XXH3_128bits_digest(&state);
	*out = (struct heap_text_hash){ .low = hash.low64, .high = hash.high64 };
	return HDB_OK;
}
