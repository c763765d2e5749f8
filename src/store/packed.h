/*
 * store/packed.h - compresses blocks, and keeps decompressed copies of blocks so that they can be
 * borrowed like other blocks. Private to the store.
 */
#ifndef STORE_PACKED_H
#define STORE_PACKED_H

#include "base/idmap.h"
#include "base/vec.h"
#include "store/store.h"

#include <pthread.h>

/*
 * Maximum compression ratio of a block. It limits the amount of memory that a damaged file can
 * request.
 */
#define STORE_PACKED_RATIO 256u

/* Compresses blocks, one at a time. */
struct store_packer;

/*
 * Creates a packer. The caller must free *out with store_packer_free. Fails with HDB_ENOMEM if
 * memory is exhausted.
 */
int store_packer_new(struct store_packer **out, struct hdb_error *err);
void store_packer_free(struct store_packer *packer);

/*
 * Compresses a block. *packed is valid until the next call. Sets *packed_size to 0 if compression
 * would save too little.
 */
int store_pack(struct store_packer *packer, const struct store_block *block, const uint8_t **packed,
	       uint64_t *packed_size, struct hdb_error *err);

/*
 * Decompressed blocks, by checksum, which all handles on a file and all threads share. They are in
 * an unnamed file in the directory of the database (or in TMPDIR, or in memory if neither is
 * writable), so that the kernel can write them back under memory pressure. They are kept until the
 * last handle is closed.
 */
struct store_unpacked {
	pthread_mutex_t lock;
	struct base_idmap numbers; /* checksum to index in blocks */
	struct base_vec blocks;    /* struct unpacked_block */
	struct base_vec maps;      /* struct unpacked_map: windows on the file */
	uint64_t file_end;         /* bytes of the file covered by windows */
	int fd;                    /* -1 means no file yet */
	bool is_in_memory;         /* whether the file could not be created, or the disk is full */
};

void store_unpacked_init(struct store_unpacked *unpacked);
void store_unpacked_release(struct store_unpacked *unpacked);

/*
 * A compressed block with a verified checksum. Borrowed. raw_size is the size recorded in the
 * block.
 */
struct store_packed {
	uint64_t checksum;
	const uint8_t *data;
	uint64_t size;     /* bytes */
	uint64_t raw_size; /* size of the decompressed block; not 0 */
};

/*
 * Decompresses a block unless it has already been decompressed. *out has raw_size bytes and is
 * borrowed until store_unpacked_release. Returns HDB_ECORRUPT, without a message, if the block does
 * not decompress to raw_size bytes, or HDB_ENOMEM.
 */
int store_unpack(struct store_unpacked *unpacked, const char *path,
		 const struct store_packed *packed, const uint8_t **out, struct hdb_error *err);

#endif
