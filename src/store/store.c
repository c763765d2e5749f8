/*
 * store/store.c - reading a heap database: snapshots, blocks, meta values.
 */
#include "store/store.h"

#include "base/idmap.h"
#include "store/block.h"
#include "store/store_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

uint64_t block_checksum(const uint8_t key[BLOCK_KEY_SIZE], const uint8_t *value, uint64_t size)
{
	const uint64_t seed = ((uint64_t)key[1] << 56) ^ be64(key + 2);

	return XXH3_64bits_withSeed(value + 8, size - 8, seed);
}

const char *store_path(const struct store *store)
{
	return store->env->path;
}

uint64_t store_file_bytes(const struct store *store)
{
	struct stat st;

	return stat(store->env->path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

uint64_t store_generation(const struct store *store)
{
	return store->generation;
}

static int begin_snapshot(struct store *store, struct hdb_error *err)
{
	int r = mdb_txn_begin(store->env->env, NULL, MDB_RDONLY, &store->txn);

	if (r) {
		store->txn = NULL;
		return store_fail_mdb(err, r, store->env->path, "reading");
	}
	r = mdb_cursor_open(store->txn, store->env->dbi, &store->cursor);
	if (r) {
		store->cursor = NULL;
		return store_fail_mdb(err, r, store->env->path, "reading");
	}
	return HDB_OK;
}

static void end_snapshot(struct store *store)
{
	if (store->cursor)
		mdb_cursor_close(store->cursor);
	if (store->txn)
		mdb_txn_abort(store->txn);
	store->cursor = NULL;
	store->txn = NULL;
	base_idmap_release(&store->verified);
	store->generation++;
}

int store_refresh(struct store *store, struct hdb_error *err)
{
	end_snapshot(store);
	return begin_snapshot(store, err);
}

/* Refuses what is not ours before anything else is read. */
static int check_format(struct store *store, struct hdb_error *err)
{
	const char *data;
	uint64_t size;
	char text[64];
	int r = store_meta(store, "format", &data, &size, err);

	if (r < 0)
		return r;
	if (r == HDB_NOTFOUND || size != 20 || memcmp(data, "heapdb", 7) != 0)
		return hdb_fail(err, HDB_ECORRUPT, "%s: not a heap database", store->env->path);
	if (load32(data + 8) != 0x01020304)
		return hdb_fail(err, HDB_EVERSION,
				"%s: written on a machine of the other byte order; import the dump "
				"again here", store->env->path);
	if (load32(data + 12) != STORE_FORMAT_VERSION) {
		store_meta_text(store, "writer", text, sizeof(text));
		return hdb_fail(err, HDB_EVERSION,
				"%s: format version %" PRIu32 " (%s), this is heapdb %s with "
				"format version %d; %s", store->env->path, load32(data + 12), text,
				HDB_VERSION, STORE_FORMAT_VERSION,
				load32(data + 12) > STORE_FORMAT_VERSION ?
				"use a newer heapdb" : "import the dump again");
	}
	return HDB_OK;
}

int store_open(const char *path, struct store **out, struct hdb_error *err)
{
	struct store *store = calloc(1, sizeof(*store));
	int r;

	if (!store)
		return hdb_fail_memory(err, "a database handle", sizeof(*store));
	r = store_env_open(path, &store->env, err);
	if (r == HDB_OK)
		r = begin_snapshot(store, err);
	if (r == HDB_OK)
		r = check_format(store, err);
	if (r < 0) {
		store_close(store);
		return r;
	}
	*out = store;
	return HDB_OK;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	end_snapshot(store);
	store_env_release(store->env);
	free(store);
}

int store_damaged(struct store *store, enum store_table table, uint64_t key, const char *what,
		  struct hdb_error *err)
{
	return hdb_fail(err, HDB_ECORRUPT, "%s: damaged: table %s, block 0x%" PRIx64 ": %s; import "
			"the dump again", store ? store->env->path : "database", store_table_name(table), key, what);
}

/* Checks a value's header and, once a handle, its checksum; fills in *out. */
static int take_value(struct store *store, unsigned table, const MDB_val *k, const MDB_val *v,
		      struct store_block *out, struct hdb_error *err)
{
	const uint8_t *value = v->mv_data;
	const uint64_t address = (uint64_t)(uintptr_t)value;

	out->key = be64((const uint8_t *)k->mv_data + 2);
	if (v->mv_size < BLOCK_HEADER_SIZE)
		return store_damaged(store, table, out->key, "block too short", err);
	if (base_idmap_get(&store->verified, address) == BASE_IDMAP_NONE) {
		int r;

		if (load64(value) != block_checksum(k->mv_data, value, v->mv_size))
			return store_damaged(store, table, out->key, "checksum mismatch", err);
		r = base_idmap_put(&store->verified, address, 1, err);
		if (r < 0)
			return r;
	}
	out->data = value + BLOCK_HEADER_SIZE;
	out->size = v->mv_size - BLOCK_HEADER_SIZE;
	out->item_count = load32(value + 8);
	return HDB_OK;
}

static bool is_of_table(const MDB_val *k, unsigned table)
{
	return k->mv_size == BLOCK_KEY_SIZE && be16(k->mv_data) == table;
}

int store_block(struct store *store, enum store_table table, uint64_t key,
		struct store_block *out, struct hdb_error *err)
{
	uint8_t bytes[BLOCK_KEY_SIZE];
	MDB_val k = { .mv_size = sizeof(bytes), .mv_data = bytes };
	MDB_val v;
	int r;

	block_key(bytes, table, key);
	r = mdb_get(store->txn, store->env->dbi, &k, &v);
	if (r == MDB_NOTFOUND)
		return HDB_NOTFOUND;
	if (r)
		return store_fail_mdb(err, r, store->env->path, "reading a block");
	return take_value(store, table, &k, &v, out, err);
}

int store_block_after(struct store *store, enum store_table table, uint64_t key,
		      struct store_block *out, struct hdb_error *err)
{
	uint8_t bytes[BLOCK_KEY_SIZE];
	MDB_val k = { .mv_size = sizeof(bytes), .mv_data = bytes };
	MDB_val v;
	int r;

	block_key(bytes, table, key);
	r = mdb_cursor_get(store->cursor, &k, &v, MDB_SET_RANGE);
	if (r == MDB_NOTFOUND || (!r && !is_of_table(&k, table)))
		return HDB_NOTFOUND;
	if (r)
		return store_fail_mdb(err, r, store->env->path, "reading a block");
	return take_value(store, table, &k, &v, out, err);
}

int store_block_before(struct store *store, enum store_table table, uint64_t key,
		       struct store_block *out, struct hdb_error *err)
{
	uint8_t bytes[BLOCK_KEY_SIZE];
	MDB_val k = { .mv_size = sizeof(bytes), .mv_data = bytes };
	MDB_val v;
	int r;

	block_key(bytes, table, key);
	r = mdb_cursor_get(store->cursor, &k, &v, MDB_SET_RANGE);
	if (r == MDB_NOTFOUND)
		r = mdb_cursor_get(store->cursor, &k, &v, MDB_LAST);
	else if (!r && (k.mv_size != BLOCK_KEY_SIZE || memcmp(k.mv_data, bytes, sizeof(bytes))))
		r = mdb_cursor_get(store->cursor, &k, &v, MDB_PREV);
	if (r == MDB_NOTFOUND || (!r && !is_of_table(&k, table)))
		return HDB_NOTFOUND;
	if (r)
		return store_fail_mdb(err, r, store->env->path, "reading a block");
	return take_value(store, table, &k, &v, out, err);
}

/* Meta keys: u16 table, then the name. The value has a block's header. */
static int meta_key(uint8_t *out, size_t *size, const char *name, struct hdb_error *err)
{
	const size_t n = strlen(name);

	if (n > META_NAME_MAX)
		return hdb_fail(err, HDB_ELIMIT, "meta name longer than %d: %s", META_NAME_MAX,
				name);
	out[0] = 0;
	out[1] = STORE_META;
	memcpy(out + 2, name, n);
	memset(out + 2 + n, 0, 8); /* the checksum's seed reads 8 bytes */
	*size = n + 2;
	return HDB_OK;
}

int store_meta_key(uint8_t *out, size_t *size, const char *name, struct hdb_error *err)
{
	return meta_key(out, size, name, err);
}

int store_meta(struct store *store, const char *name, const char **data, uint64_t *size,
	       struct hdb_error *err)
{
	uint8_t bytes[META_KEY_SIZE];
	size_t key_size = 0;
	MDB_val k, v;
	int r = meta_key(bytes, &key_size, name, err);

	if (r < 0)
		return r;
	k = (MDB_val){ .mv_size = key_size, .mv_data = bytes };
	r = mdb_get(store->txn, store->env->dbi, &k, &v);
	if (r == MDB_NOTFOUND)
		return HDB_NOTFOUND;
	if (r)
		return store_fail_mdb(err, r, store->env->path, "reading meta values");
	if (v.mv_size < BLOCK_HEADER_SIZE ||
	    load64(v.mv_data) != block_checksum(bytes, v.mv_data, v.mv_size))
		return hdb_fail(err, HDB_ECORRUPT, "%s: damaged: table meta, value %s: checksum "
				"mismatch; import the dump again", store->env->path, name);
	*data = (const char *)v.mv_data + BLOCK_HEADER_SIZE;
	*size = v.mv_size - BLOCK_HEADER_SIZE;
	return HDB_OK;
}

uint64_t store_meta_number(struct store *store, const char *name, uint64_t fallback)
{
	const char *data;
	uint64_t size;

	if (store_meta(store, name, &data, &size, NULL) != HDB_OK || size != 8)
		return fallback;
	return load64(data);
}

void store_meta_text(struct store *store, const char *name, char *buf, size_t size)
{
	const char *data;
	uint64_t have;

	buf[0] = '\0';
	if (store_meta(store, name, &data, &have, NULL) != HDB_OK)
		return;
	if (have >= size)
		have = size - 1;
	memcpy(buf, data, have);
	buf[have] = '\0';
}

void store_table_meta_name(char *buf, size_t size, enum store_table table)
{
	(void)snprintf(buf, size, "table:%s", store_table_name(table));
}

int store_table_info(struct store *store, enum store_table table, struct store_table_info *out,
		     struct hdb_error *err)
{
	char name[META_NAME_MAX + 1];
	const char *data;
	uint64_t size;
	int r;

	store_table_meta_name(name, sizeof(name), table);
	r = store_meta(store, name, &data, &size, err);
	if (r != HDB_OK)
		return r;
	if (size != TABLE_INFO_SIZE)
		return hdb_fail(err, HDB_ECORRUPT, "%s: damaged: meta value %s has %" PRIu64
				" bytes, %d expected", store->env->path, name, size,
				TABLE_INFO_SIZE);
	*out = (struct store_table_info){
		.version = load32(data), .block_count = load64(data + 8),
		.item_count = load64(data + 16), .bytes = load64(data + 24),
	};
	return out->version == store_table_version(table) ? HDB_OK : HDB_NOTFOUND;
}

static int check_table(struct store *store, enum store_table table, struct base_work *work,
		       uint64_t *checked, struct hdb_error *err)
{
	struct store_table_info info;
	struct store_block block;
	uint64_t key = 0, count = 0;
	int r = store_table_info(store, table, &info, err);

	if (r != HDB_OK)
		return r < 0 ? r : HDB_OK;
	while ((r = store_block_after(store, table, key, &block, err)) == HDB_OK) {
		count++;
		r = base_step(work, ++*checked, err);
		if (r < 0)
			return r;
		if (block.key == UINT64_MAX)
			break;
		key = block.key + 1;
	}
	if (r < 0)
		return r;
	if (count != info.block_count)
		return hdb_fail(err, HDB_ECORRUPT, "%s: damaged: table %s has %" PRIu64
				" blocks, %" PRIu64 " expected; import the dump again",
				store->env->path, store_table_name(table), count,
				info.block_count);
	return HDB_OK;
}

int store_check(struct store *store, struct base_work *work, uint64_t *block_count,
		struct hdb_error *err)
{
	*block_count = 0;
	base_stage(work, "checking blocks", 0, "blocks");
	for (unsigned t = STORE_META + 1; t < STORE_TABLE_END; t++) {
		int r;

		if (!store_table_name(t))
			continue;
		r = check_table(store, t, work, block_count, err);
		if (r < 0)
			return r;
	}
	return HDB_OK;
}
