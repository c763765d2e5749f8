/* export/export_bytes.c - appends numbers to growing buffers, and compresses bytes. */
#include "export/export_private.h"

#include <assert.h>

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

int export_zstd_new(const struct export_options *options, ZSTD_CCtx **out, struct hdb_error *err)
{
	const int level = options->level ? options->level : EXPORT_LEVEL;

	*out = ZSTD_createCCtx();
	return *out && !ZSTD_isError(ZSTD_CCtx_setParameter(*out, ZSTD_c_compressionLevel, level)) ?
		       HDB_OK :
		       export_no_memory(err);
}

int export_zstd_put(ZSTD_CCtx *z, const void *data, size_t size, struct bytes *to,
		    struct hdb_error *err)
{
	const size_t bound = ZSTD_compressBound(size);
	uint8_t *room = bytes_room(to, bound);
	size_t done;

	if (!room)
		return export_no_memory(err);
	done = ZSTD_compress2(z, room, bound, data, size);
	if (ZSTD_isError(done))
		return hdb_fail(err, HDB_ENOMEM, "zstd: %s", ZSTD_getErrorName(done));
	assert(done <= bound);
	to->size += done;
	return HDB_OK;
}
