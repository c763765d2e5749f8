/*
 * fuzz/blocks.c - every decoder of database blocks on arbitrary bytes. Checksums give no protection
 * here: each decoder must check its input itself.
 */
#include "base/pack.h"
#include "store/lists.h"
#include "support/fuzz_target.h"

#include <stdlib.h>
#include <string.h>

static void fuzz_pack(const uint8_t *data, size_t size)
{
	struct pack_column column;
	uint64_t group[PACK_GROUP];
	const uint32_t count = size ? data[0] * 5u : 0;

	if (!size || base_pack_open(&column, data + 1, size - 1, count, NULL) != HDB_OK)
		return;
	if (column.size > size - 1)
		abort();
	for (uint32_t i = 0; i < count; i++)
		(void)base_pack_get(&column, i);
	for (uint32_t g = 0; g * PACK_GROUP < count; g++)
		if (base_pack_group(&column, g, group) > PACK_GROUP)
			abort();
}

static void fuzz_lists(const uint8_t *data, size_t size)
{
	static uint64_t lengths[STORE_BLOCK_OBJECTS];
	struct base_vec target = { 0 };
	struct store_block block = { .data = data + 2, .size = size - 2 };
	const uint32_t limit = 1000;
	const struct store_lists_of of = { .table = STORE_REFERENCES, .ix_count = limit };
	struct store_lists_out out = { .lengths = lengths, .target = &target };

	if (size < 2)
		return;
	block.item_count = ((uint32_t)data[0] | (uint32_t)data[1] << 8) % 2048;
	if (store_lists_decode(&of, &block, &out, NULL) == HDB_OK)
		for (size_t i = 0; i < target.count; i++)
			if (*base_vec_at(&target, uint32_t, i) >= limit)
				abort();
	base_vec_release(&target);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Copied to its exact size, so that the sanitizer sees every byte past the end. */
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		return 0;
	if (size)
		memcpy(copy, data, size);
	if (size && copy[size - 1] & 1)
		fuzz_pack(copy, size);
	else
		fuzz_lists(copy, size);
	free(copy);
	return 0;
}
