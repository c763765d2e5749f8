/*
 * store/pages.h - reads LMDB's pages and checks every number before using it.
 *
 * LMDB trusts the file: one changed byte in its own pages can make it read outside the map, abort
 * the process or loop forever. heapdb therefore does not read with mdb_get and cursors. It uses
 * this walk over the B+tree, which accepts a page only if its number, kind, bounds, nodes and key
 * order are valid. LMDB still selects the snapshot (mdb_txn_id) and protects its pages from being
 * reused.
 *
 * Source: the structures MDB_meta, MDB_db, MDB_page and MDB_node of LMDB 0.9 (data version 1) on a
 * 64-bit machine; see FORMAT.md, "LMDB's pages". A page is checked once per snapshot, when the walk
 * first reaches it.
 */
#ifndef STORE_PAGES_H
#define STORE_PAGES_H

#include "base/error.h"

#include <stdbool.h>

/* Maximum depth of a tree, which is the maximum of LMDB's own cursors (CURSOR_STACK). */
#define PAGES_DEPTH_MAX 32

/* One of the two trees of a file. */
struct pages_tree {
	uint64_t root;        /* page number; PAGES_NONE: empty tree */
	unsigned depth;       /* number of levels; 0 means empty tree */
	bool has_number_keys; /* keys are native u64, as in the tree of free pages */
};
#define PAGES_NONE UINT64_MAX

/*
 * A snapshot of a file: borrowed bytes and the contents of its meta page. Must be zero-initialised.
 */
struct pages {
	const uint8_t *map; /* borrowed */
	uint32_t page_size;
	uint64_t page_count; /* number of pages in the snapshot; all are within the map */
	struct pages_tree main, free;
	uint8_t *checked; /* bitmap by page: whether its structure has been checked; owned */
	const char *path; /* for messages; borrowed */
};

/*
 * Checks both meta pages of an open file before LMDB reads them. Fails with HDB_ECORRUPT if the
 * file is not a database, is truncated, or its meta pages are invalid. Fails with HDB_EVERSION for
 * another byte order or data version. Sets *wanted_bytes to the file size that the newest state
 * requires.
 */
int store_pages_check_file(int fd, const char *path, uint64_t *wanted_bytes, struct hdb_error *err);

/* A mapped file. Both pointers are borrowed. */
struct pages_file {
	const uint8_t *map;
	uint64_t map_bytes; /* size of the mapped part of the file */
	const char *path;
};

/*
 * Opens the snapshot of the read transaction `txn_id`. Returns HDB_END if a writer has overtaken
 * the transaction; the caller must then begin a new one. The caller must close *pages with
 * store_pages_close.
 */
int store_pages_open(struct pages *pages, const struct pages_file *file, uint64_t txn_id,
		     struct hdb_error *err);
void store_pages_close(struct pages *pages);

/* A position in a tree: the path to an entry. */
struct pages_place {
	const struct pages_tree *tree; /* set by the caller */
	const uint8_t *page[PAGES_DEPTH_MAX];
	unsigned at[PAGES_DEPTH_MAX];
	const uint8_t *key; /* borrowed from the map */
	uint64_t key_size;
	const uint8_t *value;
	uint64_t value_size;
};

/* A key; its bytes are borrowed. */
struct pages_key {
	const void *data;
	uint64_t size;
};

/*
 * Moves to the first entry of place->tree whose key is not less than `key` (size 0 means the first
 * entry of all). Returns HDB_NOTFOUND if there is none.
 */
int store_pages_seek(struct pages *pages, struct pages_key key, struct pages_place *place,
		     struct hdb_error *err);
/*
 * Move to the next or the previous entry. After HDB_NOTFOUND the position is invalid, but
 * store_pages_previous still works from the end.
 */
int store_pages_next(struct pages *pages, struct pages_place *place, struct hdb_error *err);
int store_pages_previous(struct pages *pages, struct pages_place *place, struct hdb_error *err);

/* Returns whether the key at a position equals `key`, byte by byte. */
bool store_pages_key_is(const struct pages_place *place, struct pages_key key);

/*
 * Checks both trees completely: every page is visited once, keys ascend across pages, and no page
 * is used twice, or both used and free. If the check succeeds, LMDB can safely write to the file.
 */
int store_pages_check_all(struct pages *pages, struct hdb_error *err);

#endif
