/*
 * store/packed.h - blocks that are compressed in the file: packing them, and where they are kept
 * when they are read, so that they can be borrowed like any other block. Private to the store.
 */
#ifndef STORE_PACKED_H
#define STORE_PACKED_H

#include "base/idmap.h"
#include "base/vec.h"
#include "store/store.h"

#include <pthread.h>

/* A block unpacks to at most so many times its size, which bounds what a damaged file claims. */
#define STORE_PACKED_RATIO 256u

/* Packs blocks, one after the other. */
struct store_packer;

/* *out is owned: store_packer_free. HDB_ENOMEM. */
int store_packer_new(struct store_packer **out, struct hdb_error *err);
void store_packer_free(struct store_packer *packer);

/*
 * Packs size bytes, lent. *packed is lent by the packer until the next call; *packed_size is 0 if
 * that would save too little to be worth it.
 */
int store_pack(struct store_packer *packer, const struct store_block *block, const uint8_t **packed,
	       uint64_t *packed_size, struct hdb_error *err);

/*
 * Blocks that were unpacked, by their checksums; shared by all handles on a file, on any thread.
 * They are in a file without a name beside the database (or in TMPDIR, or in memory if neither can
 * be written), which the kernel may write back, until the last handle is closed.
 */
struct store_unpacked {
	pthread_mutex_t lock;
	struct base_idmap numbers; /* of blocks, by checksum */
	struct base_vec blocks;    /* struct unpacked_block */
	struct base_vec maps;      /* struct unpacked_map: windows on the file */
	uint64_t file_end;         /* bytes of the file that windows were made for */
	int fd;                    /* -1: there is no file yet */
	bool is_in_memory;         /* the file could not be made, or is full */
};

void store_unpacked_init(struct store_unpacked *unpacked);
void store_unpacked_release(struct store_unpacked *unpacked);

/* A packed block, lent: its checksum, verified, and what it claims to be unpacked. */
struct store_packed {
	uint64_t checksum;
	const uint8_t *data;
	uint64_t size;     /* bytes */
	uint64_t raw_size; /* bytes, unpacked; not 0 */
};

/*
 * Unpacks a block that is not there yet. *out is borrowed until store_unpacked_release, raw_size
 * bytes. HDB_ECORRUPT, without a message, if it does not unpack to raw_size; HDB_ENOMEM.
 */
int store_unpack(struct store_unpacked *unpacked, const char *path,
		 const struct store_packed *packed, const uint8_t **out, struct hdb_error *err);

#endif
