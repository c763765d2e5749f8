/*
 * store/store_private.h - what store.c and writer.c share.
 */
#ifndef STORE_STORE_PRIVATE_H
#define STORE_STORE_PRIVATE_H

#include "base/idmap.h"
#include "store/block.h"
#include "store/env.h"
#include "store/store.h"

/* Longest name of a meta value. */
#define META_NAME_MAX 63
#define META_KEY_SIZE (2 + META_NAME_MAX + 8)
/* u32 version, u32 zero, u64 blocks, items, bytes. */
#define TABLE_INFO_SIZE 32

struct store {
	struct store_env *env;
	MDB_txn *txn;       /* read snapshot; NULL only while refreshing fails */
	MDB_cursor *cursor; /* in txn */
	struct base_idmap verified; /* addresses of blocks whose checksum held */
	uint64_t generation;
};

int store_meta_key(uint8_t *out, size_t *size, const char *name, struct hdb_error *err);
void store_table_meta_name(char *buf, size_t size, enum store_table table);

#endif
