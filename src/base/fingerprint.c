/*
 * base/fingerprint.c - a sampled hash of a source.
 */
#include "base/fingerprint.h"

#include "base/bytes.h"

#include <xxhash.h>

#define ENDS_BYTES 65536u
#define SAMPLES 64u
#define SAMPLE_BYTES 4096u

static int hash_part(struct base_view *view, uint64_t offset, uint64_t size, uint64_t *hash,
		     struct hdb_error *err)
{
	const uint8_t *p = base_view_at(view, offset, size, err);

	if (!p)
		return HDB_ETRUNC;
	*hash = XXH3_64bits_withSeed(p, size, *hash);
	return HDB_OK;
}

int base_fingerprint(struct base_source *source, uint64_t *out, struct hdb_error *err)
{
	struct base_view view = { .src = source };
	const uint64_t size = source->size;
	uint64_t hash = XXH3_64bits(&size, sizeof(size));
	int r;

	if (size <= 2 * ENDS_BYTES + SAMPLES * SAMPLE_BYTES) {
		r = hash_part(&view, 0, size, &hash, err);
	} else {
		const uint64_t step = (size - SAMPLE_BYTES) / SAMPLES;

		r = hash_part(&view, 0, ENDS_BYTES, &hash, err);
		for (unsigned i = 1; i < SAMPLES && r == HDB_OK; i++)
			r = hash_part(&view, i * step, SAMPLE_BYTES, &hash, err);
		if (r == HDB_OK)
			r = hash_part(&view, size - ENDS_BYTES, ENDS_BYTES, &hash, err);
	}
	*out = hash;
	return r;
}
