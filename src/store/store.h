/*
 * store/store.h - a heap database file: snapshots, blocks with checksums, meta values, and
 * publishing of tables.
 *
 * No other module calls mdb_*. A block is one LMDB value. Its key is (table, key) in big-endian
 * order, so a table is a range of keys in numeric order. FORMAT.md describes the byte layout.
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
 * Opens an existing database. Fails with HDB_EIO if it cannot be read, HDB_EFORMAT if it is not a
 * regular file, HDB_ECORRUPT if it is not a heap database, HDB_EVERSION if its format or the
 * revision of a base table is not supported. The caller must close *out with store_close.
 */
int store_open(const char *path, struct store **out, struct hdb_error *err);
/*
 * Opens a database so that building tables does not wait for the disk. If a process has several
 * handles on a file, the handle that was opened first decides.
 */
int store_open_unsynced(const char *path, struct store **out, struct hdb_error *err);
/*
 * Opens a database only to read meta values, which describe how the dump was imported. Base tables
 * may then have an earlier revision, and must not be read.
 */
int store_open_meta(const char *path, struct store **out, struct hdb_error *err);
void store_close(struct store *store);

/*
 * Opens another handle on the same open file, for another thread, even if the path now names
 * another file. The caller must close *out with store_close.
 */
int store_open_again(struct store *store, struct store **out, struct hdb_error *err);

const char *store_path(const struct store *store);

/*
 * Returns HDB_EIO with an offset if reading the file has failed since the snapshot began (because
 * the file shrank, or the disk failed).
 */
int store_fault(const struct store *store, struct hdb_error *err);

/*
 * Like store_fault, but also checks the size of the file, which requires a system call. Pages
 * beyond a new end of the file read as zeros without a fault.
 */
int store_fault_size(const struct store *store, struct hdb_error *err);

/* Returns whether the file cannot be written, or its disk became full. Tables are then private. */
bool store_is_read_only(const struct store *store);

/* Returns the size of the database file when the snapshot began. */
uint64_t store_file_bytes(const struct store *store);

/*
 * A block. Its bytes are borrowed until store_refresh or store_close. They are not aligned, so use
 * base/bytes.h.
 */
struct store_block {
	uint64_t key;        /* first ID or first index */
	const uint8_t *data; /* payload */
	uint64_t size;       /* size of the payload */
	uint32_t item_count; /* number of entries */
	uint64_t checksum;   /* checksum of the stored bytes and the key */
};

/* Converts a block of the `contents` table to a frame. *out is borrowed like the block. */
static inline void store_block_frame(const struct store_block *block, struct base_frame *out)
{
	out->start = block->key;
	out->size = block->item_count;
	out->packed = block->data;
	out->packed_size = block->size;
}

/*
 * Finds the block with this key. Returns HDB_OK or HDB_NOTFOUND. The checksum is verified the first
 * time this handle reads the block; the message of HDB_ECORRUPT names the table and the block. A
 * block with the same key, data and checksum as in an earlier snapshot is the same block. This
 * function and the two below may be called on several threads at once, as long as none refreshes
 * the handle.
 */
int store_block(struct store *store, enum store_table table, uint64_t key, struct store_block *out,
		struct hdb_error *err);

/* Finds a block that must exist. Returns HDB_ECORRUPT if it does not. */
int store_need_block(struct store *store, enum store_table table, uint64_t key,
		     struct store_block *out, struct hdb_error *err);

/* Finds the block with the greatest key that is not greater than `key`. */
int store_block_before(struct store *store, enum store_table table, uint64_t key,
		       struct store_block *out, struct hdb_error *err);

/*
 * Finds the block with the smallest key that is not less than `key`. Used to read a table in order.
 */
int store_block_after(struct store *store, enum store_table table, uint64_t key,
		      struct store_block *out, struct hdb_error *err);

/*
 * Some readers pass NULL for err and use a default if a value cannot be read, for example for names
 * and labels. The handle keeps the first such failure, because results based on defaults might be
 * stored. This function returns that failure, or a failure of reading the map. It must be called
 * after each step, before results are displayed or stored, while no other thread uses the handle.
 */
int store_failed(const struct store *store, struct hdb_error *err);

/*
 * Reports the failure of a reader through err or, if err is NULL, by keeping it in the handle.
 * Returns its code. Any thread may call it.
 */
int store_fail(struct store *store, const struct hdb_error *why, struct hdb_error *err);
/* Like store_fail, but reports HDB_ENOMEM. */
int store_fail_memory(struct store *store, const char *what, uint64_t bytes, struct hdb_error *err);

/* Like store_fail, but reports that the contents of a block are invalid. `store` may be NULL. */
int store_damaged(struct store *store, enum store_table table, uint64_t key, const char *what,
		  struct hdb_error *err);

/* Moves to the newest snapshot. Borrowed blocks become invalid. */
int store_refresh(struct store *store, struct hdb_error *err);

/*
 * Returns a number that each refresh increments, so that caches of borrowed pointers can detect
 * that they are invalid.
 */
uint64_t store_generation(const struct store *store);

/* Properties of an existing table. */
struct store_table_info {
	uint32_t revision;
	uint64_t block_count;
	uint64_t item_count;
	/* total size of its blocks, including their headers of 16 bytes */
	uint64_t bytes;      /* decompressed */
	uint64_t file_bytes; /* size in the file; smaller if blocks are compressed */
};

/*
 * Reads the properties of a table. Returns HDB_NOTFOUND if the table does not exist, is unfinished,
 * or has another revision, which *out then contains.
 */
int store_table_info(struct store *store, enum store_table table, struct store_table_info *out,
		     struct hdb_error *err);

/* Returns a meta value that is a number, or `fallback` if it does not exist. */
uint64_t store_meta_number(struct store *store, const char *name, uint64_t fallback);
/*
 * Copies a meta value that is a string to buf (`size` bytes), terminated. Truncates longer strings.
 * Writes "" if the value does not exist.
 */
void store_meta_text(struct store *store, const char *name, char *buf, size_t size);

/* Verifies each block of each existing table, in order. Calls base_step. */
int store_check(struct store *store, struct base_work *work, uint64_t *block_count,
		struct hdb_error *err);

/* ---- writing ---- */

struct store_writer;

/*
 * Begins a new database `path` under a temporary name in the same directory. Fails with HDB_EEXIST
 * if `path` exists and `force` is not set. Returns HDB_END if another import is writing the same
 * database. `size_hint` (bytes) determines the address space to reserve, not the file size. The
 * caller must end *out with store_publish or store_abort.
 */
int store_create(const char *path, bool force, uint64_t size_hint, struct store_writer **out,
		 struct hdb_error *err);
/* Returns whether a write has failed because the disk is full. */
bool store_is_full(const struct store_writer *writer);

/* Makes store_publish return without waiting for the disk, for a new temporary database. */
void store_unsynced(struct store_writer *writer);

/*
 * Makes the writer compress the blocks that it writes from now on, if this saves space, except
 * blocks of the table contents, whose frames are already compressed. This is for a new database
 * that contains its dump. Fails with HDB_ENOMEM if memory is exhausted.
 */
int store_pack_tables(struct store_writer *writer, struct hdb_error *err);

/*
 * Begins building derived tables. They are written to the database or, if it is not writable, to a
 * private file that exists as long as the handle (in work->tmp_dir; reported through
 * work->progress.notice). Waits while another process is building (calls base_step). If `work` is
 * NULL, does neither and returns HDB_END instead. On HDB_OK, *out is owned. HDB_END means that
 * another process has built the first table, and the store has been refreshed. Removes the remains
 * of an interrupted build of the tables first.
 */
struct store_tables {
	const enum store_table *table; /* borrowed */
	size_t count;                  /* at least 1 */
};
int store_build(struct store *store, struct store_tables tables, struct base_work *work,
		struct store_writer **out, struct hdb_error *err);

/*
 * Stores an answer: a block of a table, published immediately through a separate handle, so that
 * the snapshot of this handle does not change. A table of STORE_ANSWERS_MAX blocks is emptied
 * first. Returns HDB_END if the table already has a block with this key, if another process is
 * writing, or if the database is not writable.
 */
#define STORE_ANSWERS_MAX 64u
int store_keep(struct store *store, enum store_table table, const struct store_block *block,
	       struct hdb_error *err);

/*
 * Writes one block. The data is copied. Keys of a table may be in any order, but ascending order is
 * fastest.
 */
int store_put(struct store_writer *writer, enum store_table table, const struct store_block *block,
	      struct hdb_error *err);

/*
 * Commits the data written so far, so that store_put_find can find it. For tables that get no more
 * blocks.
 */
int store_put_settle(struct store_writer *writer, struct hdb_error *err);

/*
 * While a database is being written, finds the block of a settled table with the greatest key that
 * is not greater than `key`. Returns HDB_OK or HDB_NOTFOUND. May be called on any thread, even
 * while another thread writes blocks of other tables. The bytes are borrowed until the writer ends.
 * Blocks of up to copy_size bytes are copied because LMDB moves small values. Checksums are not
 * verified because this process has written them.
 */
#define STORE_INLINE_MAX 32768u
struct store_found {
	struct store_block block;
	uint8_t *copy;    /* the caller's buffer for a small block */
	size_t copy_size; /* at least STORE_INLINE_MAX */
};
int store_put_find(struct store_writer *writer, enum store_table table, uint64_t key,
		   struct store_found *out, struct hdb_error *err);

/* Write a meta value that is a number or a string. The name has at most 63 bytes. */
int store_put_meta_number(struct store_writer *writer, const char *name, uint64_t value,
			  struct hdb_error *err);
int store_put_meta_text(struct store_writer *writer, const char *name, const char *text,
			struct hdb_error *err);

/* Declares a table complete. Must be called for every table written, before store_publish. */
int store_put_table(struct store_writer *writer, enum store_table table, uint64_t item_count,
		    struct hdb_error *err);

/*
 * Makes everything visible at once. Frees the writer. Gives a new database file its final name,
 * after its data is on the disk unless it is unsynced. After a build, refreshes the store on which
 * it was begun; a power failure may undo the build, but does not damage the database. After a
 * failure, nothing is visible.
 */
int store_publish(struct store_writer *writer, uint64_t *file_bytes, struct hdb_error *err);

/* Discards everything and frees the writer, which may be NULL. */
void store_abort(struct store_writer *writer);

#endif
