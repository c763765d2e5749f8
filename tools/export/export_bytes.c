/*
 * export/export_bytes.c - bytes that grow, and their compression.
 */
#include "export/export_private.h"

#include <assert.h>
#include <stdlib.h>
#include <zstd.h>

void export_bytes_byte(struct bytes *b, uint8_t byte)
{
	bytes_add(b, &byte, 1);
}

static void put_number(struct bytes *b, uint64_t value, size_t size)
{
	uint8_t bytes[8];

	assert(size <= sizeof(bytes));
	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
	bytes_add(b, bytes, size);
}

void export_bytes_u32(struct bytes *b, uint32_t value)
{
	put_number(b, value, 4);
}

void export_bytes_u64(struct bytes *b, uint64_t value)
{
	put_number(b, value, 8);
}

void export_bytes_varint(struct bytes *b, uint64_t value)
{
	uint8_t bytes[10];
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[n++] = (uint8_t)(value | 0x80);
	assert(n < sizeof(bytes));
	bytes[n++] = (uint8_t)value;
	bytes_add(b, bytes, n);
}

void export_bytes_align(struct bytes *b, size_t alignment)
{
	assert(alignment > 0);
	while (b->size % alignment && !b->failed)
		export_bytes_byte(b, 0);
}

/* ---- zstd ---- */

struct export_zstd {
	ZSTD_CCtx *ctx;
};

int export_zstd_new(int level, struct export_zstd **out, struct hdb_error *err)
{
	struct export_zstd *z = calloc(1, sizeof(*z));

	if (z)
		z->ctx = ZSTD_createCCtx();
	if (!z || !z->ctx ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(z->ctx, ZSTD_c_compressionLevel, level))) {
		export_zstd_free(z);
		return export_no_memory(err);
	}
	*out = z;
	return HDB_OK;
}

int export_zstd_put(struct export_zstd *z, const void *data, size_t size, struct bytes *to,
		    struct hdb_error *err)
{
	const size_t bound = ZSTD_compressBound(size);
	uint8_t *room = bytes_room(to, bound);
	size_t done;

	if (!room)
		return export_no_memory(err);
	done = ZSTD_compress2(z->ctx, room, bound, data, size);
	if (ZSTD_isError(done))
		return door_fail(err, HDB_ENOMEM, "zstd: %s", ZSTD_getErrorName(done));
	assert(done <= bound);
	to->size += done;
	return HDB_OK;
}

void export_zstd_free(struct export_zstd *z)
{
	if (!z)
		return;
	ZSTD_freeCCtx(z->ctx);
	free(z);
}
