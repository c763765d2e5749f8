/*
 * store/writer.c - writes a new database, or derived tables into an existing one.
 *
 * In both cases, blocks are written in transactions of limited size, because LMDB keeps the pages
 * of an open transaction in anonymous memory. They stay invisible until store_publish, because
 * until then a new file does not have its name, and a derived table does not have its "table:"
 * value. Blocks of a table without that value are the remains of an interrupted build; the next
 * build of the table removes them, under the build lock.
 */
#include "store/store.h"

#include "base/outfile.h"
#include "store/block.h"
#include "store/env.h"
#include "store/own_file.h"
#include "store/store_private.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

/*
 * Maximum size of pages kept in memory before they are written. The maximum is small enough that
 * pages are still in the caches when they are written.
 */
#define PENDING_BYTES_MAX (4u << 20)
/*
 * Size of a chunk that is allocated and freed once. This makes glibc keep up to twice as much freed
 * memory, instead of 128 KB by default.
 */
#define RETAINED_BYTES (2 * (size_t)PENDING_BYTES_MAX)
/* If less than this many bytes are free after a failed write, the disk is taken to be full. */
#define FULL_SLACK_BYTES (1u << 20)
/* Pause between attempts to take a build lock that another process has. */
#define LOCK_POLL_NS 5000000

struct table_count {
	uint64_t blocks;
	uint64_t bytes;      /* decompressed */
	uint64_t file_bytes; /* as written */
};

struct store_writer {
	bool is_full;         /* a write failed because the disk is full */
	pthread_mutex_t lock; /* protects the transaction of env, for store_put_find */
	/* for a build, the store on which it was begun; NULL for a new database */
	struct store *store;
	MDB_env *env;
	MDB_dbi dbi;
	MDB_txn *txn;
	uint64_t pending_bytes;
	int lock_fd; /* holds the build lock or the import lock */
	bool is_new;
	bool is_force;
	bool is_unsynced; /* only for new databases; see store_unsynced */
	/* whether everything is written in one transaction (store_env_private) */
	bool is_whole;
	struct store_packer *packer; /* NULL means blocks are not compressed */
	char *path;                  /* final name, or description of a private file */
	char *temp_path;             /* new databases only */
	struct table_count tables[STORE_TABLE_END];
	bool has_table[STORE_TABLE_END]; /* declared complete */
};

static void free_writer(struct store_writer *writer)
{
	if (writer->lock_fd >= 0)
		(void)close(writer->lock_fd);
	(void)pthread_mutex_destroy(&writer->lock);
	store_packer_free(writer->packer);
	free(writer->path);
	free(writer->temp_path);
	free(writer);
}

BASE_CLOSER(abort_at, struct store_writer, store_abort)

/*
 * Returns the writer to the caller. If this is not called, the writer is aborted at the end of its
 * scope.
 */
static int give_writer(struct store_writer **writer, struct store_writer **out)
{
	*out = *writer;
	*writer = NULL;
	return HDB_OK;
}

/* Creates a writer. *out is owned by the caller even after a failure. */
static int new_writer(const char *path, struct store_writer **out, struct hdb_error *err)
{
	struct store_writer *writer;

	TRY(BASE_ALLOC(writer, 1, "a database writer", err));
	(void)pthread_mutex_init(&writer->lock, NULL);
	writer->lock_fd = -1;
	*out = writer;
	return BASE_COPY(writer->path, path, "a database writer", err);
}

/*
 * Reports that writing `bytes` bytes failed. LMDB reports EIO even if the disk became full during a
 * write, so the free space determines the error.
 */
static int fail_write(struct store_writer *writer, int mdb_result, uint64_t bytes,
		      struct hdb_error *err)
{
	mdb_filehandle_t fd;
	struct statvfs fs;
	struct stat st;
	uint64_t free_bytes;

	if ((mdb_result != EIO && mdb_result != ENOSPC && mdb_result != EDQUOT) ||
	    mdb_env_get_fd(writer->env, &fd) || fstatvfs(fd, &fs) < 0 || fstat(fd, &st) < 0)
		return store_fail_mdb(err, mdb_result, writer->path, "writing");
	free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (mdb_result == EIO && free_bytes > bytes + FULL_SLACK_BYTES)
		return store_fail_mdb(err, mdb_result, writer->path, "writing");
	writer->is_full = true;
	if (writer->store)
		writer->store->env->is_read_only = true; /* further tables are private */
	return hdb_fail(err, HDB_EIO,
			"%s: no space left on the disk: %" PRIu64 " MB written, %" PRIu64 " MB "
			"more needed, %" PRIu64 " MB free%s",
			writer->path, (uint64_t)st.st_blocks * 512 / 1000000,
			(bytes + 999999) / 1000000, free_bytes / 1000000,
			writer->is_new ? "" : "; --tmp DIR names a directory on another disk");
}

bool store_is_full(const struct store_writer *writer)
{
	return writer->is_full;
}

static int begin_txn(struct store_writer *writer, struct hdb_error *err)
{
	int r;

	assert(!writer->txn);
	r = mdb_txn_begin(writer->env, NULL, 0, &writer->txn);
	if (r) {
		writer->txn = NULL;
		return store_fail_mdb(err, r, writer->path, "beginning to write");
	}
	r = mdb_dbi_open(writer->txn, NULL, 0, &writer->dbi);
	return r ? store_fail_mdb(err, r, writer->path, "beginning to write") : HDB_OK;
}

static int commit_txn(struct store_writer *writer, struct hdb_error *err)
{
	const uint64_t bytes = writer->pending_bytes;
	MDB_txn *txn = writer->txn;
	int r;

	assert(writer->txn);
	writer->txn = NULL; /* freed even if the commit fails */
	writer->pending_bytes = 0;
	r = mdb_txn_commit(txn);
	if (r)
		return fail_write(writer, r, bytes, err);
	if (writer->is_new && !writer->is_unsynced)
		store_env_write_out(writer->env);
	return store_env_extend(writer->env, writer->is_new ? writer->temp_path : writer->path,
				err);
}

/* A value to be written. */
struct value {
	const uint8_t *data; /* payload */
	uint64_t size;       /* size of the payload */
	uint64_t raw_size;   /* size of the decompressed payload; 0 means not compressed */
	uint32_t item_count;
};

/*
 * Writes a value in place (MDB_RESERVE), which saves a copy of every block, and commits when enough
 * pages are pending. Requires the lock.
 */
static int put_locked(struct store_writer *writer, MDB_val *k, const struct value *put,
		      struct hdb_error *err)
{
	const uint64_t size = put->size;
	MDB_val v = { .mv_size = size + BLOCK_HEADER_SIZE };
	uint8_t *value;
	int r;

	assert(put->size <= put->raw_size || !put->raw_size);
	if (v.mv_size > UINT32_MAX)
		return hdb_fail(err, HDB_ELIMIT,
				"block too large for LMDB: %" PRIu64 " bytes (limit 4 GiB)", size);
	if (!writer->txn)
		TRY(begin_txn(writer, err));
	r = mdb_put(writer->txn, writer->dbi, k, &v, MDB_RESERVE);
	if (r)
		return fail_write(writer, r, writer->pending_bytes, err);
	value = v.mv_data;
	store32(value + 8, put->item_count);
	store32(value + 12, (uint32_t)put->raw_size);
	if (size)
		memcpy(value + BLOCK_HEADER_SIZE, put->data, size);
	store64(value,
		store_block_checksum(k->mv_data, k->mv_size, value, size + BLOCK_HEADER_SIZE));
	writer->pending_bytes += size + 4096;
	if (writer->pending_bytes < PENDING_BYTES_MAX || writer->is_whole)
		return HDB_OK;
	return commit_txn(writer, err);
}

static int put_value(struct store_writer *writer, MDB_val *k, const struct value *put,
		     struct hdb_error *err)
{
	int r;

	(void)pthread_mutex_lock(&writer->lock);
	r = put_locked(writer, k, put, err);
	(void)pthread_mutex_unlock(&writer->lock);
	return r;
}

static int put_meta(struct store_writer *writer, const char *name, const void *data, uint64_t size,
		    struct hdb_error *err)
{
	uint8_t bytes[META_KEY_SIZE];
	size_t key_size;
	MDB_val k;

	TRY(store_meta_key(bytes, &key_size, name, err));
	k = (MDB_val){ .mv_size = key_size, .mv_data = bytes };
	return put_value(writer, &k, &(struct value){ .data = data, .size = size }, err);
}

/* ---- a new database ---- */

static int put_format(struct store_writer *writer, struct hdb_error *err)
{
	uint8_t format[20] = "heapdb";

	store32(format + 8, 0x01020304);
	store32(format + 12, STORE_FORMAT_VERSION);
	TRY(put_meta(writer, "format", format, sizeof(format), err));
	return store_put_meta_text(writer, "writer", "heapdb " HDB_VERSION, err);
}

/*
 * Makes malloc retain freed memory. When a transaction commits, LMDB frees the memory of its pages.
 * If malloc returned this memory to the kernel, the kernel would have to find and clear new pages
 * for the next transaction, which takes a tenth of an import's time.
 */
static void retain_freed(void)
{
	/* the variable is volatile because compilers would otherwise remove both calls */
	void *volatile chunk = malloc(RETAINED_BYTES);

	free(chunk);
}

int store_create(const char *path, bool force, uint64_t size_hint, struct store_writer **out,
		 struct hdb_error *err)
{
	BASE_SCOPED(abort_at) struct store_writer *writer = NULL;
	struct stat st;

	TRY(new_writer(path, &writer, err));
	retain_freed();
	writer->is_new = true;
	writer->is_force = force;
	if (!force && access(path, F_OK) == 0)
		return hdb_fail(err, HDB_EEXIST, "%s already exists", path);
	/* The rename at the end would replace a device such as /dev/null. */
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return hdb_fail(err, HDB_EUSAGE, "%s: not a regular file", path);
	TRY(base_check_folder(path, err));
	if (asprintf(&writer->temp_path, "%s.importing", path) < 0) {
		writer->temp_path = NULL;
		return hdb_fail_memory(err, "a file name", strlen(path));
	}
	TRY(store_temp_open(writer->temp_path, &writer->lock_fd, err));
	TRY(store_env_create(writer->temp_path, size_hint, &writer->env, err));
	TRY(store_temp_same(writer->env, writer->lock_fd, writer->temp_path, err));
	TRY(begin_txn(writer, err));
	TRY(put_format(writer, err));
	return give_writer(&writer, out);
}

void store_unsynced(struct store_writer *writer)
{
	assert(writer->is_new);
	writer->is_unsynced = true;
}

/* ---- tables in an existing database ---- */

/* Waits for the build lock. */
static int wait_for_lock(struct store_writer *writer, struct base_work *work, struct hdb_error *err)
{
	const struct timespec pause = { .tv_nsec = LOCK_POLL_NS };
	bool has_waited = false;

	for (;;) {
		int r = store_lock_file(writer->lock_fd, STORE_LOCK_BUILD, STORE_LOCK_ALONE,
					writer->path, err);

		if (r != HDB_END || !work)
			return r;
		if (!has_waited)
			base_stage(work, "waiting for tables that are being built", 0, "");
		has_waited = true;
		TRY(base_step(work, 0, err));
		(void)nanosleep(&pause, NULL);
	}
}

/* Removes the blocks and the state of a table. */
static int drop_table(struct store_writer *writer, enum store_table table, struct hdb_error *err)
{
	uint8_t bytes[META_KEY_SIZE];
	char name[META_NAME_MAX + 1];
	MDB_cursor *cursor;
	MDB_val k = { .mv_size = BLOCK_KEY_SIZE, .mv_data = bytes };
	MDB_val v;
	size_t size;
	int r = mdb_cursor_open(writer->txn, writer->dbi, &cursor);

	assert(table < STORE_TABLE_END);
	assert(writer->txn);
	if (r)
		return store_fail_mdb(err, r, writer->path, "removing a table");
	block_key(bytes, table, 0);
	r = mdb_cursor_get(cursor, &k, &v, MDB_SET_RANGE);
	while (!r && k.mv_size == BLOCK_KEY_SIZE && be16(k.mv_data) == table) {
		r = mdb_cursor_del(cursor, 0);
		if (!r)
			r = mdb_cursor_get(cursor, &k, &v, MDB_GET_CURRENT);
	}
	mdb_cursor_close(cursor);
	/* After the last entry is deleted, MDB_GET_CURRENT fails with EINVAL. */
	if (r && r != MDB_NOTFOUND && r != EINVAL)
		return store_fail_mdb(err, r, writer->path, "removing a table");
	store_table_meta_name(name, sizeof(name), table);
	TRY(store_meta_key(bytes, &size, name, err));
	k = (MDB_val){ .mv_size = size, .mv_data = bytes };
	r = mdb_del(writer->txn, writer->dbi, &k, NULL);
	if (r && r != MDB_NOTFOUND)
		return store_fail_mdb(err, r, writer->path, "removing a table");
	return HDB_OK;
}

static int lock_for_build(struct store_writer *writer, struct base_work *work,
			  struct hdb_error *err)
{
	writer->lock_fd = open(writer->path, O_RDWR | O_CLOEXEC);
	if (writer->lock_fd < 0)
		return hdb_fail_errno(err, errno, "%s", writer->path);
	return wait_for_lock(writer, work, err);
}

/* Chooses the file to write to. LMDB trusts all pages of such a file, so they are checked first. */
static int choose_env(struct store_writer *writer, struct hdb_error *err)
{
	struct store *store = writer->store;
	const struct store_env *env = store->side ? store->side->env : store->env;

	assert(!writer->env);
	writer->env = env->env;
	writer->dbi = env->dbi;
	writer->is_whole = env->is_memory;
	if (store->side) {
		/* Messages name the file that is written. */
		free(writer->path);
		writer->path = strdup(env->path);
		if (!writer->path)
			return hdb_fail_memory(err, "a database writer", strlen(env->path));
	}
	return store_pages_check_all(store->side ? &store->side->view.pages : &store->view.pages,
				     err);
}

/* Prepares a writer for a store, with the build lock, and refreshes the store. */
static int begin_build(struct store *store, struct base_work *work, struct store_writer **out,
		       struct hdb_error *err)
{
	BASE_SCOPED(abort_at) struct store_writer *writer = NULL;

	TRY(new_writer(store->env->path, &writer, err));
	writer->store = store;
	if (!store->env->is_read_only)
		TRY(lock_for_build(writer, work, err));
	else if (work)
		TRY(store_need_side(store, work, err));
	else
		return HDB_END;
	TRY(store_refresh(store, err));
	return give_writer(&writer, out);
}

int store_build(struct store *store, struct store_tables tables, struct base_work *work,
		struct store_writer **out, struct hdb_error *err)
{
	BASE_SCOPED(abort_at) struct store_writer *writer = NULL;
	struct store_table_info info;
	int r;

	assert(tables.count > 0);
	TRY(begin_build(store, work, &writer, err));
	r = store_table_info(store, tables.table[0], &info, err);
	if (r != HDB_NOTFOUND)
		return r < 0 ? r : HDB_END;
	TRY(choose_env(writer, err));
	TRY(begin_txn(writer, err));
	for (size_t i = 0; i < tables.count; i++)
		TRY(drop_table(writer, tables.table[i], err));
	/*
	 * The transaction is committed now, so that the writer lock is not held while the table is
	 * computed.
	 */
	TRY(commit_txn(writer, err));
	return give_writer(&writer, out);
}

BASE_CLOSER(close_at, struct store, store_close)

int store_keep(struct store *store, enum store_table table, const struct store_block *block,
	       struct hdb_error *err)
{
	BASE_SCOPED(close_at) struct store *again = NULL;
	BASE_SCOPED(abort_at) struct store_writer *writer = NULL;
	struct store_table_info info = { 0 };
	struct store_writer *whole;
	struct store_block old;
	int r;

	TRY(store_open_again(store, &again, err));
	TRY(begin_build(again, NULL, &writer, err));
	TRY_ERRORS(r = store_table_info(again, table, &info, err));
	if (r == HDB_OK) {
		TRY_ERRORS(r = store_block(again, table, block->key, &old, err));
		if (r == HDB_OK)
			return HDB_END;
	}
	TRY(choose_env(writer, err));
	TRY(begin_txn(writer, err));
	if (info.revision != store_table_revision(table) || info.block_count >= STORE_ANSWERS_MAX) {
		info = (struct store_table_info){ 0 };
		TRY(drop_table(writer, table, err));
	}
	writer->tables[table] =
		(struct table_count){ info.block_count, info.bytes, info.file_bytes };
	TRY(store_put(writer, table, block, err));
	TRY(store_put_table(writer, table, info.item_count + block->item_count, err));
	(void)give_writer(&writer, &whole);
	return store_publish(whole, NULL, err);
}

/* ---- writing ---- */

int store_put(struct store_writer *writer, enum store_table table, const struct store_block *block,
	      struct hdb_error *err)
{
	uint8_t bytes[BLOCK_KEY_SIZE];
	struct table_count *count = &writer->tables[table];
	MDB_val k = { .mv_size = sizeof(bytes), .mv_data = bytes };
	struct value put = { .data = block->data,
			     .size = block->size,
			     .item_count = block->item_count };

	assert(table < STORE_TABLE_END);
	assert(block->data || !block->size);
	if (writer->packer && table != STORE_CONTENTS) {
		const uint8_t *packed;
		uint64_t packed_size;

		TRY(store_pack(writer->packer, block, &packed, &packed_size, err));
		if (packed_size) {
			put.data = packed;
			put.size = packed_size;
			put.raw_size = block->size;
		}
	}
	block_key(bytes, table, block->key);
	count->blocks++;
	count->bytes += block->size + BLOCK_HEADER_SIZE;
	count->file_bytes += put.size + BLOCK_HEADER_SIZE;
	return put_value(writer, &k, &put, err);
}

int store_pack_tables(struct store_writer *writer, struct hdb_error *err)
{
	assert(writer->is_new);
	return writer->packer ? HDB_OK : store_packer_new(&writer->packer, err);
}

int store_put_settle(struct store_writer *writer, struct hdb_error *err)
{
	int r = HDB_OK;

	(void)pthread_mutex_lock(&writer->lock);
	if (writer->txn)
		r = commit_txn(writer, err);
	(void)pthread_mutex_unlock(&writer->lock);
	return r;
}

/*
 * Moves the cursor to the last entry whose key is not greater than the key of k. Returns
 * MDB_NOTFOUND if there is no such entry.
 */
static int seek_before(MDB_cursor *cursor, const uint8_t *key, MDB_val *k, MDB_val *v)
{
	int r = mdb_cursor_get(cursor, k, v, MDB_SET_RANGE);

	if (!r && k->mv_size == BLOCK_KEY_SIZE && memcmp(k->mv_data, key, BLOCK_KEY_SIZE) == 0)
		return 0;
	return mdb_cursor_get(cursor, k, v, r == MDB_NOTFOUND ? MDB_LAST : MDB_PREV);
}

static int find_locked(struct store_writer *writer, enum store_table table, uint64_t key,
		       struct store_found *out, struct hdb_error *err)
{
	uint8_t bytes[BLOCK_KEY_SIZE];
	MDB_val k = { .mv_size = sizeof(bytes), .mv_data = bytes }, v;
	MDB_cursor *cursor;
	int r;

	TRY(writer->txn ? HDB_OK : begin_txn(writer, err));
	block_key(bytes, table, key);
	r = mdb_cursor_open(writer->txn, writer->dbi, &cursor);
	if (!r) {
		r = seek_before(cursor, bytes, &k, &v);
		mdb_cursor_close(cursor);
	}
	if (r && r != MDB_NOTFOUND)
		return store_fail_mdb(err, r, writer->path, "reading");
	if (r || k.mv_size != BLOCK_KEY_SIZE || be16(k.mv_data) != table)
		return HDB_NOTFOUND;
	out->block = (struct store_block){
		.key = be64((const uint8_t *)k.mv_data + 2),
		.data = (const uint8_t *)v.mv_data + BLOCK_HEADER_SIZE,
		.size = v.mv_size - BLOCK_HEADER_SIZE,
		.item_count = load32((const uint8_t *)v.mv_data + 8),
	};
	if (out->block.size <= out->copy_size) {
		memcpy(out->copy, out->block.data, out->block.size);
		out->block.data = out->copy;
	}
	return HDB_OK;
}

int store_put_find(struct store_writer *writer, enum store_table table, uint64_t key,
		   struct store_found *out, struct hdb_error *err)
{
	int r;

	assert(table < STORE_TABLE_END);
	(void)pthread_mutex_lock(&writer->lock);
	r = find_locked(writer, table, key, out, err);
	(void)pthread_mutex_unlock(&writer->lock);
	return r;
}

int store_put_meta_number(struct store_writer *writer, const char *name, uint64_t value,
			  struct hdb_error *err)
{
	uint8_t bytes[8];

	store64(bytes, value);
	return put_meta(writer, name, bytes, sizeof(bytes), err);
}

int store_put_meta_text(struct store_writer *writer, const char *name, const char *text,
			struct hdb_error *err)
{
	return put_meta(writer, name, text, strlen(text), err);
}

int store_put_table(struct store_writer *writer, enum store_table table, uint64_t item_count,
		    struct hdb_error *err)
{
	char name[META_NAME_MAX + 1];
	uint8_t info[TABLE_INFO_PACKED_SIZE] = { 0 };
	const struct table_count *count = &writer->tables[table];
	const bool is_packed = count->file_bytes != count->bytes;

	assert(table < STORE_TABLE_END);
	assert(!writer->has_table[table]);
	writer->has_table[table] = true;
	store_table_meta_name(name, sizeof(name), table);
	store32(info, store_table_revision(table) | (is_packed ? TABLE_IS_PACKED : 0));
	store64(info + 8, count->blocks);
	store64(info + 16, item_count);
	store64(info + 24, count->bytes);
	store64(info + 32, count->file_bytes);
	return put_meta(writer, name, info, is_packed ? TABLE_INFO_PACKED_SIZE : TABLE_INFO_SIZE,
			err);
}

/* ---- publishing ---- */

static int publish_new(struct store_writer *writer, uint64_t *file_bytes, struct hdb_error *err)
{
	struct stat st;
	int r = writer->is_unsynced ? 0 : mdb_env_sync(writer->env, 1);

	assert(writer->is_new && !writer->txn);
	if (r)
		return fail_write(writer, r, 0, err);
	mdb_env_close(writer->env);
	writer->env = NULL;
	TRY_ERRORS(store_temp_rename(writer->temp_path, writer->path, writer->is_force, err));
	free(writer->temp_path);
	writer->temp_path = NULL;
	if (file_bytes)
		*file_bytes = stat(writer->path, &st) == 0 ? (uint64_t)st.st_size : 0;
	return writer->is_unsynced ? HDB_OK : base_sync_folder(writer->path, err);
}

static int publish_build(struct store_writer *writer, struct hdb_error *err)
{
	struct store_side *side;

	assert(writer->store && !writer->is_new);
	side = writer->store->side;
	for (unsigned t = 0; side && t < STORE_TABLE_END; t++)
		side->has[t] |= writer->has_table[t];
	return store_refresh(writer->store, err);
}

/* Appends the hash of every meta value to `seal`, in order of name. */
static int hash_metas(const struct store_writer *writer, MDB_cursor *cursor, struct base_vec *seal,
		      struct hdb_error *err)
{
	static uint8_t first[2] = { 0, STORE_META };
	MDB_val k = { .mv_size = sizeof(first), .mv_data = first }, v;
	int m = mdb_cursor_get(cursor, &k, &v, MDB_SET_RANGE);

	while (!m && k.mv_size > 2 && be16(k.mv_data) == STORE_META) {
		const uint64_t entry =
			store_seal_entry((const char *)k.mv_data + 2, k.mv_size - 2, v.mv_data);

		TRY(base_bytes_append(seal, &entry, sizeof(entry), err));
		m = mdb_cursor_get(cursor, &k, &v, MDB_NEXT);
	}
	return m && m != MDB_NOTFOUND ? store_fail_mdb(err, m, writer->path, "sealing") : HDB_OK;
}

/*
 * Writes the hashes of all meta values, in order of name, which show a reader that no value is
 * missing.
 */
static int put_seal(struct store_writer *writer, struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec seal = { 0 };
	MDB_cursor *cursor;
	int r, m;

	assert(writer->is_new);
	if (!writer->txn)
		TRY(begin_txn(writer, err));
	m = mdb_cursor_open(writer->txn, writer->dbi, &cursor);
	if (m)
		return store_fail_mdb(err, m, writer->path, "sealing");
	r = hash_metas(writer, cursor, &seal, err);
	mdb_cursor_close(cursor);
	return r < 0 ? r : put_meta(writer, "seal", seal.data, seal.count, err);
}

static int publish(struct store_writer *writer, uint64_t *file_bytes, struct hdb_error *err)
{
	assert(!writer->is_new || !writer->store);
	if (writer->is_new)
		TRY(put_seal(writer, err));
	if (writer->txn)
		TRY(commit_txn(writer, err));
	return writer->is_new ? publish_new(writer, file_bytes, err) : publish_build(writer, err);
}

int store_publish(struct store_writer *writer, uint64_t *file_bytes, struct hdb_error *err)
{
	const int r = publish(writer, file_bytes, err);

	if (r < 0)
		store_abort(writer);
	else
		free_writer(writer);
	return r;
}

void store_abort(struct store_writer *writer)
{
	if (!writer)
		return;
	if (writer->txn)
		mdb_txn_abort(writer->txn);
	if (writer->is_new) {
		if (writer->env)
			mdb_env_close(writer->env);
		/*
		 * Only our own file is removed. Without the lock, the file belongs to another
		 * import.
		 */
		if (writer->temp_path && writer->lock_fd >= 0)
			(void)unlink(writer->temp_path);
	}
	free_writer(writer);
}
