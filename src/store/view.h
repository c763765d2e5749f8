/*
 * store/view.h - a snapshot of an LMDB file: its pages, mapped and checked, and its meta values.
 *
 * LMDB's read transaction protects the snapshot's pages from being reused. The bytes are read
 * through a separate map, which the SIGBUS handler watches, so if the file is truncated or cannot
 * be read, the result is an error with an offset.
 */
#ifndef STORE_VIEW_H
#define STORE_VIEW_H

#include "base/vec.h"
#include "store/env.h"
#include "store/pages.h"

/* A meta value with a verified checksum, borrowed from the map. */
struct store_view_meta {
	const char *name; /* not terminated */
	uint64_t name_size;
	const uint8_t *value; /* including its header */
	uint64_t size;
};

struct store_view {
	struct store_env *env; /* borrowed */
	MDB_txn *txn;          /* NULL means no snapshot */
	const uint8_t *map;    /* map of the file, or NULL if none */
	uint64_t map_bytes;    /* size of the file when the snapshot began */
	/* size of the map, which includes space into which the file can grow */
	uint64_t map_length;
	/* struct store_view_map: maps of earlier snapshots, kept for readers that still use them */
	struct base_vec old;
	_Atomic(uint64_t) fault; /* 1 + offset at which reading the map failed; 0 if none failed */
	struct pages pages;
	struct base_vec metas; /* struct store_view_meta, in order of name */
	bool is_private;       /* whether the database has no seal; see FORMAT.md */
	/* whether the database has another format version, so that its values are not checked */
	bool is_other_format;
};

struct store_view_map {
	const uint8_t *map;
	uint64_t bytes;
};

/*
 * Begins a snapshot of the file's newest state. *view must not be moved before store_view_end.
 * Fails with HDB_ECORRUPT if its pages or meta values are invalid; store_view_end must be called in
 * this case, too. Maps remain until store_view_close. Blocks of complete tables do not move, so
 * blocks borrowed earlier can still be read.
 */
int store_view_begin(struct store_view *view, struct hdb_error *err);
void store_view_end(struct store_view *view);
/* Ends the snapshot and unmaps everything. */
void store_view_close(struct store_view *view);

/*
 * Returns HDB_EIO with an offset if the file is shorter than its map. The rest of its last page
 * reads as zeros, without a fault.
 */
int store_view_check_size(const struct store_view *view, struct hdb_error *err);

/* Returns HDB_EIO with an offset if reading the map has failed. */
int store_view_check(const struct store_view *view, struct hdb_error *err);

/* Finds a meta value by name. Returns NULL if there is none. */
const struct store_view_meta *store_view_meta(const struct store_view *view, const char *name);

/* Computes an entry of the seal: a hash of a meta value's name and checksum. */
uint64_t store_seal_entry(const void *name, uint64_t name_size, const uint8_t *value);

#endif
