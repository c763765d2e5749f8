/*
 * store/block.h - the bytes around every block: key and sealed header. Private to the store.
 */
#ifndef STORE_BLOCK_H
#define STORE_BLOCK_H

#include "base/bytes.h"
#include "store/tables.h"

/* Key: u16 table, u64 key, big-endian, so that LMDB's memcmp order is numeric order. */
#define BLOCK_KEY_SIZE 10

/*
 * Header of a value: u64 XXH3 of key and all that follows, u32 item count, u32 bytes of the payload
 * unpacked if it is a zstd frame, else 0.
 */
#define BLOCK_HEADER_SIZE 16

static inline void block_key(uint8_t out[BLOCK_KEY_SIZE], unsigned table, uint64_t key)
{
	out[0] = (uint8_t)(table >> 8);
	out[1] = (uint8_t)table;
	put_be64(out + 2, key);
}

/* Key of the meta value that says the format's version, and its seed: the same in every version. */
extern const uint8_t block_format_key[8];
#define BLOCK_FORMAT_SEED 0x676f726d61740000ull

/*
 * XXH3 of a value's bytes behind the checksum, seeded with its key, so that a block in a wrong
 * place shows: table and number of a block, a hash of the whole key of a meta value.
 */
uint64_t store_block_checksum(const uint8_t *key, uint64_t key_size, const uint8_t *value,
			      uint64_t size);

#endif
