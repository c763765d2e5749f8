/*
 * export/export_bytes.c - bytes that grow, and their compression.
 */
#include "export/export_private.h"

#include <assert.h>
#include <stdlib.h>
#include <zstd.h>

uint8_t *export_bytes_room(struct export_bytes *b, size_t more)
{
	assert(b->size <= b->room);
	if (b->has_failed)
		return NULL;
	if (!b->data || more > b->room - b->size) {
		const size_t need = b->size + more;
		const size_t room = need < b->room * 2 ? b->room * 2 : need + 64;
		uint8_t *grown = need < more ? NULL : realloc(b->data, room);

		if (!grown) {
			b->has_failed = true;
			return NULL;
		}
		b->data = grown;
		b->room = room;
	}
	return b->data + b->size;
}

void export_bytes_put(struct export_bytes *b, const void *data, size_t size)
{
	uint8_t *to = export_bytes_room(b, size);

	if (!to || !size)
		return;
	memcpy(to, data, size);
	b->size += size;
}

void export_bytes_byte(struct export_bytes *b, uint8_t byte)
{
	export_bytes_put(b, &byte, 1);
}

static void put_number(struct export_bytes *b, uint64_t value, size_t size)
{
	uint8_t bytes[8];

	assert(size <= sizeof(bytes));
	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
	export_bytes_put(b, bytes, size);
}

void export_bytes_u32(struct export_bytes *b, uint32_t value)
{
	put_number(b, value, 4);
}

void export_bytes_u64(struct export_bytes *b, uint64_t value)
{
	put_number(b, value, 8);
}

void export_bytes_varint(struct export_bytes *b, uint64_t value)
{
	uint8_t bytes[10];
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[n++] = (uint8_t)(value | 0x80);
	assert(n < sizeof(bytes));
	bytes[n++] = (uint8_t)value;
	export_bytes_put(b, bytes, n);
}

void export_bytes_align(struct export_bytes *b, size_t alignment)
{
	assert(alignment > 0);
	while (b->size % alignment && !b->has_failed)
		export_bytes_byte(b, 0);
}

void export_bytes_release(struct export_bytes *b)
{
	free(b->data);
	*b = (struct export_bytes){ 0 };
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

int export_zstd_put(struct export_zstd *z, const void *data, size_t size, struct export_bytes *to,
		    struct hdb_error *err)
{
	const size_t bound = ZSTD_compressBound(size);
	uint8_t *room = export_bytes_room(to, bound);
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
