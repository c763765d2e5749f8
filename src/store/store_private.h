/*
 * store/store_private.h - shared by store.c and writer.c.
 */
#ifndef STORE_STORE_PRIVATE_H
#define STORE_STORE_PRIVATE_H

#include "base/idmap.h"
#include "store/block.h"
#include "store/env.h"
#include "store/store.h"
#include "store/view.h"

#include <pthread.h>

/* Maximum length of the name of a meta value. */
#define META_NAME_MAX 63
#define META_KEY_SIZE (2 + META_NAME_MAX)
/*
 * Information about a table: u32 revision, u32 zero, u64 number of blocks, u64 number of items, u64
 * bytes.
 */
#define TABLE_INFO_SIZE 32
/*
 * If blocks of the table are compressed, which is possible only for base tables, the u64 number of
 * bytes in the file follows. The revision then has the bit TABLE_IS_PACKED.
 */
#define TABLE_INFO_PACKED_SIZE 40
#define TABLE_IS_PACKED 0x80000000u

/* The tables of a database that is not writable, in a private file of this handle. */
struct store_side {
	struct store_env *env; /* owned */
	struct store_view view;
	bool has[STORE_TABLE_END]; /* tables that are read from this file */
};

struct store {
	struct store_env *env;
	struct store_view view;  /* snapshot being read */
	struct store_side *side; /* NULL means none; owned */
	/*
	 * Addresses of blocks whose checksum was valid in some snapshot, with bits of the checksum.
	 * If an address is reused for another block, these bits differ.
	 */
	struct base_idmap verified;
	/* Protects lookups of blocks, because pages and `verified` record what has been checked. */
	pthread_mutex_t lock;
	uint64_t generation;
	/* first failure of a reader without `err`; protected by the lock */
	struct hdb_error failure;
};

/* Creates the private file, and reports this once through work->progress. */
int store_need_side(struct store *store, struct base_work *work, struct hdb_error *err);

/*
 * Writes the key of a meta value: u16 table, then the name. The value has a block's header. `out`
 * has META_KEY_SIZE bytes. Sets *size to the size of the key. Fails with HDB_ELIMIT if the name is
 * too long.
 */
int store_meta_key(uint8_t *out, size_t *size, const char *name, struct hdb_error *err);
/* Writes the name of the meta value that marks a table as complete: "table:NAME". */
void store_table_meta_name(char *buf, size_t size, enum store_table table);

#endif
