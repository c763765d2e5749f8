/*
 * store/store_private.h - what store.c and writer.c share.
 */
#ifndef STORE_STORE_PRIVATE_H
#define STORE_STORE_PRIVATE_H

#include "base/idmap.h"
#include "store/block.h"
#include "store/env.h"
#include "store/store.h"
#include "store/view.h"

#include <pthread.h>

/* Longest name of a meta value. */
#define META_NAME_MAX 63
#define META_KEY_SIZE (2 + META_NAME_MAX)
/* u32 revision, u32 zero, u64 blocks, items, bytes. */
#define TABLE_INFO_SIZE 32
/*
 * And u64 bytes in the file, if blocks of it are packed, which only those of base tables are; the
 * revision has this bit then.
 */
#define TABLE_INFO_PACKED_SIZE 40
#define TABLE_IS_PACKED 0x80000000u

/* Tables of a database that cannot be written: in a private file, for this handle alone. */
struct store_side {
	struct store_env *env; /* owned */
	struct store_view view;
	bool has[STORE_TABLE_END]; /* tables that are read from here */
};

struct store {
	struct store_env *env;
	struct store_view view;  /* read snapshot */
	struct store_side *side; /* NULL: none; owned */
	/*
	 * Addresses of blocks whose checksum held, in any snapshot, with its lower bits: a place
	 * that was used again has another one.
	 */
	struct base_idmap verified;
	/* Held while a block is looked up: pages and `verified` note what was checked. */
	pthread_mutex_t lock;
	uint64_t generation;
	struct hdb_error failure; /* the first of a reader without an error; under the lock */
};

/* Makes the side and says so, once, by work->progress. */
int store_need_side(struct store *store, struct base_work *work, struct hdb_error *err);

/*
 * The key of a meta value: u16 table, then the name; the value has a block's header. `out` has
 * META_KEY_SIZE bytes, *size is how many of them are the key's. HDB_ELIMIT if the name is too long.
 */
int store_meta_key(uint8_t *out, size_t *size, const char *name, struct hdb_error *err);
/* The name of the meta value that says that a table is whole: "table:NAME". */
void store_table_meta_name(char *buf, size_t size, enum store_table table);

#endif
