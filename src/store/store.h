/*
 * store/store.h - one heap database file: snapshots, blocks with checksums, meta values, publishing
 * tables.
 *
 * The only room that calls mdb_*. A block is one LMDB value, keyed by (table, key) in big-endian
 * order, so that a table is a range of keys in numeric order. FORMAT.md has the bytes.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/frames.h"
#include "base/work.h"
#include "store/tables.h"

#include <stdbool.h>

/* An open database: one snapshot of the file. */
struct store;

/*
 * Opens an existing database. HDB_EIO if it cannot be read, HDB_EFORMAT if it is no regular file,
 * HDB_ECORRUPT if it is no heap database, HDB_EVERSION if it is of another format or if a base
 * table is of another revision. *out is owned: store_close.
 */
int store_open(const char *path, struct store **out, struct hdb_error *err);
/*
 * The same, and tables that are built do not wait for the disk; of handles on one file in this
 * process the first that is open decides for all.
 */
int store_open_unsynced(const char *path, struct store **out, struct hdb_error *err);
/*
 * The same for meta values alone, which say how the dump was imported: base tables of an earlier
 * revision are no failure, and are not to be read.
 */
int store_open_meta(const char *path, struct store **out, struct hdb_error *err);
void store_close(struct store *store);

/*
 * Another handle on the same open file, for another thread, even if the path names another file
 * now. *out is owned: store_close.
 */
int store_open_again(struct store *store, struct store **out, struct hdb_error *err);

const char *store_path(const struct store *store);

/*
 * HDB_EIO with an offset if reading the file failed since the snapshot began (it shrank, the disk
 * failed).
 */
int store_fault(const struct store *store, struct hdb_error *err);

/*
 * The same, with a look at the file's size: a system call. Zeros past a new end are no fault of a
 * map's.
 */
int store_fault_size(const struct store *store, struct hdb_error *err);

/* Bytes of the database file when the snapshot began. */
uint64_t store_file_bytes(const struct store *store);

/* A block as read: borrowed until store_refresh or store_close. Not aligned: use base/bytes.h. */
struct store_block {
	uint64_t key;        /* first ID or first ix */
	const uint8_t *data; /* payload */
	uint64_t size;       /* bytes of payload */
	uint32_t item_count; /* entries in it */
	uint64_t checksum;   /* of what is stored, with its key */
};

/* A block of contents as the frame that it is; *out is borrowed as the block is. */
static inline void store_block_frame(const struct store_block *block, struct base_frame *out)
{
	out->start = block->key;
	out->size = block->item_count;
	out->packed = block->data;
	out->packed_size = block->size;
}

/*
 * Finds the block with this key: HDB_OK or HDB_NOTFOUND. Its checksum is verified the first time
 * that this handle meets it; HDB_ECORRUPT names table and block. Where key, data and checksum are
 * those of an earlier snapshot, it is the same block still. It and the two below may be called on
 * several threads at once, as long as none refreshes the handle.
 */
int store_block(struct store *store, enum store_table table, uint64_t key, struct store_block *out,
		struct hdb_error *err);

/* A block that must be there: HDB_ECORRUPT if it is not. */
int store_need_block(struct store *store, enum store_table table, uint64_t key,
		     struct store_block *out, struct hdb_error *err);

/* The block with the greatest key that is at most `key`. */
int store_block_before(struct store *store, enum store_table table, uint64_t key,
		       struct store_block *out, struct hdb_error *err);

/* The block with the least key that is at least `key`: for walking a table in order. */
int store_block_after(struct store *store, enum store_table table, uint64_t key,
		      struct store_block *out, struct hdb_error *err);

/*
 * Readers that pass NULL for err use a default if a value cannot be read, as for names and labels.
 * The handle keeps the first such failure, because results made from defaults may be stored. This
 * returns it, or a fault of the map. Call it after each step, before results are shown or stored,
 * while no other thread uses the handle.
 */
int store_failed(const struct store *store, struct hdb_error *err);

/* The end of a reader that fails: err gets it, or the handle keeps it. Its code. On any thread. */
int store_fail(struct store *store, const struct hdb_error *why, struct hdb_error *err);
/* Such a failure: HDB_ENOMEM. */
int store_fail_memory(struct store *store, const char *what, uint64_t bytes, struct hdb_error *err);

/*
 * Such a failure of a decoder: a block whose content does not hold. store may be NULL.
 */
int store_damaged(struct store *store, enum store_table table, uint64_t key, const char *what,
		  struct hdb_error *err);

/* Moves to the newest snapshot; borrowed blocks die. */
int store_refresh(struct store *store, struct hdb_error *err);

/* Grows by one with each refresh, so that caches of borrowed pointers know when to drop them. */
uint64_t store_generation(const struct store *store);

/* What is known of a table that is there. */
struct store_table_info {
	uint32_t revision;
	uint64_t block_count;
	uint64_t item_count;
	/* of its blocks, their headers of 16 bytes included */
	uint64_t bytes;      /* as they are read */
	uint64_t file_bytes; /* as they are in the file: fewer where they are packed */
};

/* HDB_NOTFOUND if the table is absent, unfinished or of another revision; *out has the latter. */
int store_table_info(struct store *store, enum store_table table, struct store_table_info *out,
		     struct hdb_error *err);

/* A meta value that is a number; `fallback` if it is absent. */
uint64_t store_meta_number(struct store *store, const char *name, uint64_t fallback);
/*
 * One that is a text, copied and terminated, into buf of `size` bytes; what is longer is cut; "" if
 * it is absent.
 */
void store_meta_text(struct store *store, const char *name, char *buf, size_t size);

/* Verifies every block of every table that is there, in order; calls base_step. */
int store_check(struct store *store, struct base_work *work, uint64_t *block_count,
		struct hdb_error *err);

/* ---- writing ---- */

struct store_writer;

/*
 * Begins a new database `path` under a temporary name in the same folder. HDB_EEXIST if `path`
 * exists and `force` is not set; HDB_END if another import is at work on the same name. `size_hint`
 * in bytes bounds the address space that is set aside, not the file. *out is owned: store_publish
 * or store_abort.
 */
int store_create(const char *path, bool force, uint64_t size_hint, struct store_writer **out,
		 struct hdb_error *err);
/* Whether a write has failed for want of space on the disk. */
bool store_is_full(const struct store_writer *writer);

/* Has store_publish not wait for the disk: for a new database that will be thrown away. */
void store_unsynced(struct store_writer *writer);

/*
 * From now on blocks of all tables but contents, which are packed in their own way, are written
 * compressed where that saves something: for a new database that keeps its dump. HDB_ENOMEM.
 */
int store_pack_tables(struct store_writer *writer, struct hdb_error *err);

/*
 * Begins building derived tables, in the database or, if that cannot be written, in a private file
 * that ends with the handle (in work->tmp_dir; said by work->progress.notice). Waits while another
 * process builds (calls base_step); `work` NULL: does neither, HDB_END then. HDB_OK: *out is owned;
 * HDB_END: another process has built the first table meanwhile (the store was refreshed). What an
 * interrupted build left of the tables is removed first.
 */
struct store_tables {
	const enum store_table *table; /* lent */
	size_t count;                  /* at least 1 */
};
int store_build(struct store *store, struct store_tables tables, struct base_work *work,
		struct store_writer **out, struct hdb_error *err);

/*
 * Stores an answer: a table of one block, published at once through a handle of its own, so that
 * the snapshot of this one does not change. HDB_END if the table exists already, if another process
 * writes, or if the database cannot be written.
 */
int store_keep(struct store *store, enum store_table table, const struct store_block *block,
	       struct hdb_error *err);

/* Writes one block; data is copied. Keys of a table may come in any order, ascending is best. */
int store_put(struct store_writer *writer, enum store_table table, const struct store_block *block,
	      struct hdb_error *err);

/*
 * Writes out what was put, so that store_put_find finds it: blocks of a table that gets no more.
 */
int store_put_settle(struct store_writer *writer, struct hdb_error *err);

/*
 * Finds, while a database is being written, the block of a settled table with the greatest key that
 * is at most `key`: HDB_OK or HDB_NOTFOUND. On any thread, also while another one puts blocks of
 * other tables. Its bytes are borrowed until the writer ends, or copied if they are no more than
 * copy_size: small ones LMDB moves. Checksums are not looked at: this process has written them.
 */
#define STORE_INLINE_MAX 32768u
struct store_found {
	struct store_block block;
	uint8_t *copy;    /* lent by the caller: where a small block goes */
	size_t copy_size; /* at least STORE_INLINE_MAX */
};
int store_put_find(struct store_writer *writer, enum store_table table, uint64_t key,
		   struct store_found *out, struct hdb_error *err);

/* Writes a meta value: a number, a text. Its name is at most 63 bytes long. */
int store_put_meta_number(struct store_writer *writer, const char *name, uint64_t value,
			  struct hdb_error *err);
int store_put_meta_text(struct store_writer *writer, const char *name, const char *text,
			struct hdb_error *err);

/* Declares a table whole; call it for every table written, before store_publish. */
int store_put_table(struct store_writer *writer, enum store_table table, uint64_t item_count,
		    struct hdb_error *err);

/*
 * Makes all of it visible at once and, unless it is unsynced, durable, and frees the writer. For a
 * new database: the file gets its name. For a build: the store that it was begun on is refreshed.
 * On failure nothing is visible.
 */
int store_publish(struct store_writer *writer, uint64_t *file_bytes, struct hdb_error *err);

/* Drops everything and frees the writer; NULL is fine. */
void store_abort(struct store_writer *writer);

#endif
