/*
 * store/packed.c - handles blocks that are compressed in the file. See packed.h.
 *
 * Decompressed blocks are written to a file with pwrite and read through a map. If the disk is
 * full, pwrite returns an error instead of causing a bus error, and the block stays in memory.
 */
#include "store/packed.h"

#include "base/bytes.h"
#include "base/outfile.h"

#include <assert.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#define LEVEL 1
/*
 * Minimum size of a block to be compressed. Smaller blocks share a page or fill one, so compressing
 * them would save nothing.
 */
#define PACK_MIN 4096u
/* Compression must reduce the size of a block by at least 1/PACK_SAVES of that size. */
#define PACK_SAVES 8u
/* Amount of address space mapped at a time. A larger block gets a larger window. */
#define WINDOW_BYTES (64ull << 20)
/* Alignment of blocks in the file. */
#define ALIGN_BYTES 64u

struct store_packer {
	ZSTD_CCtx *context;
	uint8_t *buffer;
	size_t capacity; /* size of the buffer */
};

struct unpacked_block {
	const uint8_t *data;
	uint64_t size;
	bool is_heap; /* allocated with malloc */
};

/*
 * A window on `size` bytes of the file, starting at `start`. Its first `used` bytes contain blocks.
 */
struct unpacked_map {
	uint8_t *data;
	uint64_t start, size, used;
};

/* ---- compressing ---- */

int store_packer_new(struct store_packer **out, struct hdb_error *err)
{
	struct store_packer *packer;

	TRY(BASE_ALLOC(packer, 1, "a compressor", err));
	packer->context = ZSTD_createCCtx();
	if (!packer->context ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(packer->context, ZSTD_c_compressionLevel, LEVEL))) {
		store_packer_free(packer);
		return hdb_fail_memory(err, "a compressor", sizeof(*packer));
	}
	*out = packer;
	return HDB_OK;
}

void store_packer_free(struct store_packer *packer)
{
	if (!packer)
		return;
	(void)ZSTD_freeCCtx(packer->context);
	free(packer->buffer);
	free(packer);
}

static int make_room(struct store_packer *packer, size_t size, struct hdb_error *err)
{
	uint8_t *grown;

	if (size <= packer->capacity)
		return HDB_OK;
	grown = realloc(packer->buffer, size);
	if (!grown)
		return hdb_fail_memory(err, "a packed block", size);
	packer->buffer = grown;
	packer->capacity = size;
	return HDB_OK;
}

int store_pack(struct store_packer *packer, const struct store_block *block, const uint8_t **packed,
	       uint64_t *packed_size, struct hdb_error *err)
{
	size_t n;

	assert(block->data || !block->size);
	*packed_size = 0;
	if (block->size < PACK_MIN || block->size > UINT32_MAX)
		return HDB_OK;
	TRY(make_room(packer, ZSTD_compressBound(block->size), err));
	n = ZSTD_compress2(packer->context, packer->buffer, packer->capacity, block->data,
			   block->size);
	if (ZSTD_isError(n))
		return hdb_fail(err, HDB_ENOMEM, "cannot compress %" PRIu64 " bytes: %s",
				block->size, ZSTD_getErrorName(n));
	if (n > block->size - block->size / PACK_SAVES || n < block->size / STORE_PACKED_RATIO + 1)
		return HDB_OK;
	*packed = packer->buffer;
	*packed_size = n;
	return HDB_OK;
}

/* ---- decompressed blocks ---- */

void store_unpacked_init(struct store_unpacked *unpacked)
{
	*unpacked = (struct store_unpacked){ .fd = -1 };
	(void)pthread_mutex_init(&unpacked->lock, NULL);
}

void store_unpacked_release(struct store_unpacked *unpacked)
{
	const struct unpacked_block *blocks = unpacked->blocks.data;
	const struct unpacked_map *maps = unpacked->maps.data;

	for (size_t i = 0; i < unpacked->blocks.count; i++)
		if (blocks[i].is_heap)
			free((void *)(uintptr_t)blocks[i].data);
	for (size_t i = 0; i < unpacked->maps.count; i++)
		(void)munmap(maps[i].data, maps[i].size);
	base_vec_release(&unpacked->blocks);
	base_vec_release(&unpacked->maps);
	base_idmap_release(&unpacked->numbers);
	if (unpacked->fd >= 0)
		(void)close(unpacked->fd);
	(void)pthread_mutex_destroy(&unpacked->lock);
}

/*
 * Creates the file in the directory of the database. Requires the lock, like the functions below.
 */
static bool open_file(struct store_unpacked *unpacked, const char *path)
{
	struct base_work work;
	char *folder;

	if (unpacked->fd >= 0 || unpacked->is_in_memory)
		return !unpacked->is_in_memory;
	folder = strdup(path);
	if (folder) {
		base_work_init(&work, 1, 1, NULL);
		work.scratch_dir = dirname(folder);
		if (base_scratch_file(&work, &unpacked->fd, NULL) < 0)
			unpacked->fd = -1;
		base_work_release(&work);
		free(folder);
	}
	unpacked->is_in_memory = unpacked->fd < 0;
	return !unpacked->is_in_memory;
}

/* Returns a window with room for `size` bytes, or NULL if it cannot be mapped. */
static struct unpacked_map *find_window(struct store_unpacked *unpacked, uint64_t size)
{
	struct unpacked_map *last;
	struct unpacked_map map = {
		.start = unpacked->file_end,
		.size = size > WINDOW_BYTES ? round_up(size, 1u << 20) : WINDOW_BYTES,
	};

	assert(size > 0);
	if (unpacked->maps.count) {
		last = (struct unpacked_map *)unpacked->maps.data + unpacked->maps.count - 1;
		if (size <= last->size - last->used)
			return last;
	}
	map.data = mmap(NULL, map.size, PROT_READ, MAP_SHARED, unpacked->fd, (off_t)map.start);
	if (map.data == MAP_FAILED)
		return NULL;
	if (base_vec_push(&unpacked->maps, &map, sizeof(map), NULL) < 0) {
		(void)munmap(map.data, map.size);
		return NULL;
	}
	unpacked->file_end += map.size;
	return (struct unpacked_map *)unpacked->maps.data + unpacked->maps.count - 1;
}

/* Moves a block to the file. Returns NULL if that is not possible. */
static const uint8_t *move_to_file(struct store_unpacked *unpacked, const char *path,
				   const uint8_t *data, uint64_t size)
{
	struct unpacked_map *map;
	const uint8_t *there;

	if (!open_file(unpacked, path))
		return NULL;
	map = find_window(unpacked, size);
	if (!map || !base_write_at(unpacked->fd, data, size, map->start + map->used)) {
		unpacked->is_in_memory = true;
		return NULL;
	}
	there = map->data + map->used;
	map->used += round_up(size, ALIGN_BYTES);
	if (map->used > map->size)
		map->used = map->size;
	return there;
}

/* Adds a block. Takes ownership of `raw`. Requires the lock. */
static int add_block(struct store_unpacked *unpacked, const char *path,
		     const struct store_packed *packed, uint8_t *raw, struct hdb_error *err)
{
	struct unpacked_block block = { .data = move_to_file(unpacked, path, raw, packed->raw_size),
					.size = packed->raw_size };
	int r;

	assert(packed->raw_size > 0);
	block.is_heap = !block.data;
	if (block.is_heap)
		block.data = raw;
	r = base_vec_push(&unpacked->blocks, &block, sizeof(block), err);
	if (r < 0 || !block.is_heap)
		free(raw);
	TRY(r);
	/*
	 * If the map has no room for the block, the block is decompressed again the next time. The
	 * block is freed eventually in either case.
	 */
	return base_idmap_put(&unpacked->numbers, packed->checksum,
			      (uint32_t)unpacked->blocks.count - 1, err);
}

/* Decompresses a block. The caller must free() *out. Fails with HDB_ECORRUPT without a message. */
static int inflate(const struct store_packed *packed, uint8_t **out, struct hdb_error *err)
{
	uint8_t *raw;

	if (packed->raw_size / STORE_PACKED_RATIO > packed->size)
		return HDB_ECORRUPT;
	raw = malloc(packed->raw_size);
	if (!raw)
		return hdb_fail_memory(err, "an unpacked block", packed->raw_size);
	if (ZSTD_decompress(raw, packed->raw_size, packed->data, packed->size) !=
	    packed->raw_size) {
		free(raw);
		return HDB_ECORRUPT;
	}
	*out = raw;
	return HDB_OK;
}

/*
 * Returns HDB_OK with the block if it has already been decompressed, and otherwise HDB_END. Returns
 * HDB_ECORRUPT if its size differs. Requires the lock.
 */
static int take_block(const struct store_unpacked *unpacked, const struct store_packed *packed,
		      const uint8_t **out)
{
	const struct unpacked_block *block;
	const uint32_t number = base_idmap_get(&unpacked->numbers, packed->checksum);

	if (number == BASE_IDMAP_NONE)
		return HDB_END;
	block = (const struct unpacked_block *)unpacked->blocks.data + number;
	*out = block->data;
	/* Two blocks can have the same checksum only if somebody has constructed them. */
	return block->size == packed->raw_size ? HDB_OK : HDB_ECORRUPT;
}

int store_unpack(struct store_unpacked *unpacked, const char *path,
		 const struct store_packed *packed, const uint8_t **out, struct hdb_error *err)
{
	uint8_t *raw;
	int r;

	(void)pthread_mutex_lock(&unpacked->lock);
	r = take_block(unpacked, packed, out);
	(void)pthread_mutex_unlock(&unpacked->lock);
	if (r != HDB_END)
		return r;
	TRY(inflate(packed, &raw, err));
	(void)pthread_mutex_lock(&unpacked->lock);
	r = take_block(unpacked, packed, out);
	if (r != HDB_END)
		free(raw); /* another thread was faster */
	else if ((r = add_block(unpacked, path, packed, raw, err)) == HDB_OK)
		r = take_block(unpacked, packed, out);
	(void)pthread_mutex_unlock(&unpacked->lock);
	return r;
}
