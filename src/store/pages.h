/*
 * store/pages.h - reading LMDB's pages with every number checked before it is used.
 *
 * LMDB believes the file: a changed byte in one of its own pages makes it read outside the map,
 * stop the process or turn in circles. So reading does not go through mdb_get and cursors but
 * through this walk over the B+tree, which takes a page only if its number, kind, bounds, nodes and
 * order of keys hold. LMDB still says which snapshot is read (mdb_txn_id) and keeps its pages from
 * being used again.
 *
 * Source: the structures MDB_meta, MDB_db, MDB_page and MDB_node of LMDB 0.9 (data version 1) on a
 * 64-bit machine; FORMAT.md, "LMDB's pages", has them. A page is checked once a snapshot, when the
 * walk first meets it.
 */
#ifndef STORE_PAGES_H
#define STORE_PAGES_H

#include "base/error.h"

#include <stdbool.h>

/* Most levels of a tree: as many as LMDB's own cursors can walk (CURSOR_STACK). */
#define PAGES_DEPTH_MAX 32

/* One of the two trees of a file. */
struct pages_tree {
	uint64_t root;        /* page number; PAGES_NONE: the tree is empty */
	unsigned depth;       /* levels, 0 if it is empty */
	bool has_number_keys; /* keys are native u64, as in the tree of free pages */
};
#define PAGES_NONE UINT64_MAX

/* A snapshot of a file: borrowed bytes and what its meta page says. Zero-initialise. */
struct pages {
	const uint8_t *map; /* lent */
	uint32_t page_size;
	uint64_t page_count; /* pages that the snapshot may speak of, all of them in the map */
	struct pages_tree main, free;
	uint8_t *checked; /* a bit a page: its structure holds; owned */
	const char *path; /* for messages; lent */
};

/*
 * Looks at both meta pages of an open file before LMDB does. HDB_ECORRUPT if it is no database, is
 * cut or its meta pages do not hold; HDB_EVERSION for another byte order or data version.
 * *wanted_bytes is what its newest state needs.
 */
int store_pages_check_file(int fd, const char *path, uint64_t *wanted_bytes, struct hdb_error *err);

/* A file as it is mapped; both are lent. */
struct pages_file {
	const uint8_t *map;
	uint64_t map_bytes; /* of the file that are mapped */
	const char *path;
};

/*
 * Opens the snapshot that a read transaction of number `txn_id` stands for. HDB_END if a writer has
 * overtaken the transaction: begin another one. Afterwards: pages_close.
 */
int store_pages_open(struct pages *pages, const struct pages_file *file, uint64_t txn_id,
		     struct hdb_error *err);
void store_pages_close(struct pages *pages);

/* A place in a tree: the path to an entry. */
struct pages_place {
	const struct pages_tree *tree; /* set by the caller */
	const uint8_t *page[PAGES_DEPTH_MAX];
	unsigned at[PAGES_DEPTH_MAX];
	const uint8_t *key; /* borrowed from the map */
	uint64_t key_size;
	const uint8_t *value;
	uint64_t value_size;
};

/* The bytes of a key, which are lent. */
struct pages_key {
	const void *data;
	uint64_t size;
};

/*
 * Goes to the first entry of place->tree whose key is at least `key` (size 0: the first one).
 * HDB_NOTFOUND if there is none.
 */
int store_pages_seek(struct pages *pages, struct pages_key key, struct pages_place *place,
		     struct hdb_error *err);
/*
 * To the entry after or before; after HDB_NOTFOUND the place is at none, but pages_previous from
 * the end works.
 */
int store_pages_next(struct pages *pages, struct pages_place *place, struct hdb_error *err);
int store_pages_previous(struct pages *pages, struct pages_place *place, struct hdb_error *err);

/* Whether a place's key is this one, by its bytes. */
bool store_pages_key_is(const struct pages_place *place, struct pages_key key);

/*
 * Checks both trees whole: every page once, keys ascending across pages, no page used twice or both
 * used and free. After it LMDB can be let loose on the file to write.
 */
int store_pages_check_all(struct pages *pages, struct hdb_error *err);

#endif
