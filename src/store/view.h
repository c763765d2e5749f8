/*
 * store/view.h - a snapshot of one LMDB file: its pages, mapped and checked, and its meta values.
 *
 * LMDB's read transaction keeps the snapshot's pages from being used again; what is read comes from
 * a map of our own, which the SIGBUS handler watches: a file that is cut or cannot be read is a
 * failure with an offset.
 */
#ifndef STORE_VIEW_H
#define STORE_VIEW_H

#include "base/vec.h"
#include "store/env.h"
#include "store/pages.h"

/* A meta value: checksum verified. Borrowed from the map. */
struct store_view_meta {
	const char *name; /* not terminated */
	uint64_t name_size;
	const uint8_t *value; /* with its header */
	uint64_t size;
};

struct store_view {
	struct store_env *env; /* lent */
	MDB_txn *txn;          /* NULL: no snapshot */
	const uint8_t *map;    /* of the file; NULL: none */
	uint64_t map_bytes;    /* of the file as long as it was when the snapshot began */
	uint64_t map_length;   /* of the map, which a file that grows grows into */
	/* struct store_view_map: of earlier snapshots, kept for who still reads there */
	struct base_vec old;
	volatile uint64_t fault; /* 1 + offset at which reading the map failed */
	struct pages pages;
	struct base_vec metas; /* struct store_view_meta, in order of name */
	bool is_private;       /* has no seal, see FORMAT.md */
	bool is_other_format;  /* of another version, so that its values are not checked */
};

struct store_view_map {
	const uint8_t *map;
	uint64_t bytes;
};

/*
 * Begins a snapshot of the file's newest state. *view must not be moved before store_view_end.
 * HDB_ECORRUPT if its pages or meta values do not hold; what was begun is ended by store_view_end
 * then, too. Maps live on until store_view_close: blocks of tables that are whole do not move, so
 * what was borrowed from them before can be read on.
 */
int store_view_begin(struct store_view *view, struct hdb_error *err);
void store_view_end(struct store_view *view);
/* Ends the snapshot and gives all maps back. */
void store_view_close(struct store_view *view);

/*
 * HDB_EIO with an offset if the file is shorter than its map: the rest of its last page reads as
 * zeros.
 */
int store_view_check_size(const struct store_view *view, struct hdb_error *err);

/* HDB_EIO with an offset if reading the map failed. */
int store_view_check(const struct store_view *view, struct hdb_error *err);

/* A meta value by name; NULL if there is none. */
const struct store_view_meta *store_view_meta(const struct store_view *view, const char *name);

/* One entry of the seal: a hash of a meta value's name and checksum. */
uint64_t store_seal_entry(const void *name, uint64_t name_size, const uint8_t *value);

#endif
