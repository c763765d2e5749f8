/* store/block.h - the key and the header of a block. Private to the store. */
#ifndef STORE_BLOCK_H
#define STORE_BLOCK_H

#include "base/bytes.h"
#include "store/tables.h"

/* Key: u16 table, u64 key, both big-endian, so that the order of LMDB's memcmp is numeric. */
#define BLOCK_KEY_SIZE 10

/*
 * Header of a value: u64 XXH3 of the key and everything after the checksum, u32 item count, and u32
 * size of the decompressed payload if the payload is a zstd frame, otherwise 0.
 */
#define BLOCK_HEADER_SIZE 16

static inline void block_key(uint8_t out[BLOCK_KEY_SIZE], unsigned table, uint64_t key)
{
	out[0] = (uint8_t)(table >> 8);
	out[1] = (uint8_t)table;
	put_be64(out + 2, key);
}

/*
 * Key of the meta value that contains the format version, and the seed of its checksum. Neither may
 * ever change, because a reader of any version must be able to check the version.
 */
extern const uint8_t block_format_key[8];
#define BLOCK_FORMAT_SEED 0x676f726d61740000ull

/*
 * Computes the XXH3 of the bytes that follow the checksum in a value. The seed is made of the key,
 * so that a block stored under the wrong key is detected: the table and the block number or, for a
 * meta value, a hash of the key.
 */
uint64_t store_block_checksum(const uint8_t *key, uint64_t key_size, const uint8_t *value,
			      uint64_t size);

#endif
