/*
 * store/store.c - reads a heap database: snapshots, blocks, meta values.
 */
#include "store/store.h"

#include "base/idmap.h"
#include "store/block.h"
#include "store/store_private.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

const uint8_t block_format_key[8] = { 0, STORE_META, 'f', 'o', 'r', 'm', 'a', 't' };

uint64_t store_block_checksum(const uint8_t *key, uint64_t key_size, const uint8_t *value,
			      uint64_t size)
{
	uint64_t seed;

	if (key_size == sizeof(block_format_key) && memcmp(key, block_format_key, key_size) == 0)
		seed = BLOCK_FORMAT_SEED;
	else if (be16(key) == STORE_META || key_size != BLOCK_KEY_SIZE)
		seed = XXH3_64bits(key, key_size);
	else
		seed = ((uint64_t)key[1] << 56) ^ be64(key + 2);
	return XXH3_64bits_withSeed(value + 8, size - 8, seed);
}

const char *store_path(const struct store *store)
{
	return store->env->path;
}

uint64_t store_file_bytes(const struct store *store)
{
	return store->view.map_bytes;
}

uint64_t store_generation(const struct store *store)
{
	return store->generation;
}

/*
 * Begins a snapshot. The private file is refreshed together with the main file, so that both show
 * tables published up to now.
 */
static int begin_snapshot(struct store *store, struct hdb_error *err)
{
	TRY(store_view_begin(&store->view, err));
	return store->side ? store_view_begin(&store->side->view, err) : HDB_OK;
}

static void end_snapshot(struct store *store)
{
	store_view_end(&store->view);
	if (store->side)
		store_view_end(&store->side->view);
	store->generation++;
}

int store_refresh(struct store *store, struct hdb_error *err)
{
	end_snapshot(store);
	return begin_snapshot(store, err);
}

int store_fault(const struct store *store, struct hdb_error *err)
{
	TRY(store_view_check(&store->view, err));
	return store->side ? store_view_check(&store->side->view, err) : HDB_OK;
}

int store_fault_size(const struct store *store, struct hdb_error *err)
{
	TRY(store_fault(store, err));
	return store_view_check_size(&store->view, err);
}

int store_failed(const struct store *store, struct hdb_error *err)
{
	if (!store->failure.code)
		return store_fault(store, err);
	if (err)
		*err = store->failure;
	return store->failure.code;
}

int store_fail(struct store *store, const struct hdb_error *why, struct hdb_error *err)
{
	assert(why->code < 0);
	if (err) {
		*err = *why;
		return why->code;
	}
	(void)pthread_mutex_lock(&store->lock);
	if (!store->failure.code)
		store->failure = *why;
	(void)pthread_mutex_unlock(&store->lock);
	return why->code;
}

int store_fail_memory(struct store *store, const char *what, uint64_t bytes, struct hdb_error *err)
{
	struct hdb_error why;

	hdb_note_memory(&why, what, bytes);
	return store_fail(store, &why, err);
}

static void free_side(struct store_side *side)
{
	if (!side)
		return;
	store_view_close(&side->view);
	store_env_release(side->env);
	free(side);
}

bool store_is_read_only(const struct store *store)
{
	return store->env->is_read_only;
}

int store_need_side(struct store *store, struct base_work *work, struct hdb_error *err)
{
	struct store_side *side;
	char text[HDB_ERROR_SIZE];
	const char *where;
	int r;

	if (store->side)
		return HDB_OK;
	TRY(BASE_ALLOC(side, 1, "private tables", err));
	r = store_env_private(work->tmp_dir, store_file_bytes(store), &side->env, &where, err);
	if (r < 0) {
		free(side);
		return r;
	}
	side->view.env = side->env;
	side->view.is_private = true;
	store->side = side;
	(void)snprintf(text, sizeof(text),
		       "cannot write to %s: tables built for queries are stored in a private "
		       "file in %s for this run only",
		       store->env->path, where);
	base_notice(work, text);
	return HDB_OK;
}

/*
 * Finds a meta value, whose bytes are borrowed like a block. Returns false if no value has this
 * name.
 */
static bool find_meta(const struct store_view *view, const char *name, const uint8_t **data,
		      uint64_t *size)
{
	const struct store_view_meta *meta = store_view_meta(view, name);

	if (!meta)
		return false;
	*data = meta->value + BLOCK_HEADER_SIZE;
	*size = meta->size - BLOCK_HEADER_SIZE;
	return true;
}

/* Rejects a file of another format before anything else is read. */
static int check_format(struct store *store, struct hdb_error *err)
{
	const uint8_t *data;
	uint64_t size;
	char text[64];

	if (!find_meta(&store->view, "format", &data, &size) || size != 20 ||
	    memcmp(data, "heapdb", 7) != 0)
		return hdb_fail(err, HDB_ECORRUPT, "%s: not a heap database", store->env->path);
	if (load32(data + 8) != 0x01020304)
		return hdb_fail(err, HDB_EVERSION,
				"%s: written on a machine with the opposite byte order; import the "
				"dump again on this machine",
				store->env->path);
	if (load32(data + 12) != STORE_FORMAT_VERSION) {
		store_meta_text(store, "writer", text, sizeof(text));
		return hdb_fail(err, HDB_EVERSION,
				"%s: format version %" PRIu32 " (%s), but heapdb %s expects "
				"format version %d; %s",
				store->env->path, load32(data + 12), text, HDB_VERSION,
				STORE_FORMAT_VERSION,
				load32(data + 12) > STORE_FORMAT_VERSION ? "use a newer heapdb" :
									   "import the dump again");
	}
	return HDB_OK;
}

/*
 * Rejects base tables of another revision, whose contents would be misread. If is_meta is set,
 * earlier revisions are accepted because only meta values are read.
 */
static int check_revisions(struct store *store, bool is_meta, struct hdb_error *err)
{
	char name[META_NAME_MAX + 1], writer[64];
	const uint8_t *data;
	uint64_t size;

	for (unsigned t = STORE_META + 1; t < STORE_REFERRERS; t++) {
		uint32_t revision;

		if (!store_table_name(t))
			continue;
		store_table_meta_name(name, sizeof(name), t);
		if (!find_meta(&store->view, name, &data, &size) || size < 4)
			continue;
		revision = load32(data) & ~TABLE_IS_PACKED;
		if (revision == store_table_revision(t) ||
		    (is_meta && revision < store_table_revision(t)))
			continue;
		store_meta_text(store, "writer", writer, sizeof(writer));
		return hdb_fail(err, HDB_EVERSION,
				"%s: written by %s: table %s has revision %" PRIu32
				", but heapdb %s expects revision %" PRIu32 "; %s",
				store->env->path, *writer ? writer : "another version",
				store_table_name(t), revision, HDB_VERSION, store_table_revision(t),
				revision > store_table_revision(t) ? "use a newer heapdb" :
								     "import the dump again");
	}
	return HDB_OK;
}

static int new_store(struct store **out, struct hdb_error *err)
{
	TRY(BASE_ALLOC(*out, 1, "a database handle", err));
	(void)pthread_mutex_init(&(*out)->lock, NULL);
	return HDB_OK;
}

/* The purpose for which a handle is opened. */
enum purpose { FOR_TABLES, FOR_UNSYNCED_TABLES, FOR_META };

static int begin_store(struct store *store, const char *path, enum purpose purpose,
		       struct hdb_error *err)
{
	const struct store_view_meta *meta;

	TRY(store_env_open(path, purpose == FOR_UNSYNCED_TABLES, &store->env, err));
	store->view.env = store->env;
	TRY(begin_snapshot(store, err));
	TRY(check_format(store, err));
	TRY(check_revisions(store, purpose == FOR_META, err));
	meta = store_view_meta(&store->view, "format");
	return store_env_watch(
		store->env, store->view.txn,
		(MDB_val){ sizeof(block_format_key), (void *)(uintptr_t)block_format_key },
		(uint64_t)(meta->value - store->view.map), err);
}

/* Returns a new handle, or closes it after a failure. */
static int give_store(struct store *store, int result, struct store **out)
{
	if (result < 0)
		store_close(store);
	else
		*out = store;
	return result;
}

static int open_store(const char *path, enum purpose purpose, struct store **out,
		      struct hdb_error *err)
{
	struct store *store;

	TRY(new_store(&store, err));
	return give_store(store, begin_store(store, path, purpose, err), out);
}

int store_open(const char *path, struct store **out, struct hdb_error *err)
{
	return open_store(path, FOR_TABLES, out, err);
}

int store_open_unsynced(const char *path, struct store **out, struct hdb_error *err)
{
	return open_store(path, FOR_UNSYNCED_TABLES, out, err);
}

int store_open_meta(const char *path, struct store **out, struct hdb_error *err)
{
	return open_store(path, FOR_META, out, err);
}

int store_open_again(struct store *store, struct store **out, struct hdb_error *err)
{
	struct store *again;

	TRY(new_store(&again, err));
	again->env = store_env_share(store->env);
	again->view.env = again->env;
	return give_store(again, begin_snapshot(again, err), out);
}

void store_close(struct store *store)
{
	if (!store)
		return;
	end_snapshot(store);
	base_idmap_release(&store->verified);
	(void)pthread_mutex_destroy(&store->lock);
	store_view_close(&store->view);
	free_side(store->side);
	store_env_release(store->env);
	free(store);
}

int store_damaged(struct store *store, enum store_table table, uint64_t key, const char *what,
		  struct hdb_error *err)
{
	struct hdb_error why;

	/*
	 * If reading the file has failed, the page consists of zeros, which does not mean that the
	 * file is damaged.
	 */
	if (!store || store_fault_size(store, &why) >= 0)
		(void)hdb_fail(
			&why, HDB_ECORRUPT,
			"%s: damaged: table %s, block 0x%" PRIx64 " (%s); import the dump again",
			store ? store->env->path : "database", store_table_name(table), key, what);
	if (store)
		return store_fail(store, &why, err);
	if (err)
		*err = why;
	return why.code;
}

/* Returns the view of the file from which a table is read. */
static struct store_view *view_of(struct store *store, unsigned table)
{
	assert(table < STORE_TABLE_END);
	return store->side && store->side->has[table] ? &store->side->view : &store->view;
}

/* Decompresses a block unless this has been done before. */
static int unpack_block(struct store *store, unsigned table, const struct pages_place *place,
			struct store_block *out, struct hdb_error *err)
{
	const struct store_packed packed = {
		.checksum = load64(place->value),
		.data = out->data,
		.size = out->size,
		.raw_size = load32(place->value + 12),
	};
	int r;

	/*
	 * Only blocks of base tables may be compressed. A derived table may be replaced, and its
	 * address in memory would then belong to another block.
	 */
	if (table >= STORE_REFERRERS)
		return store_damaged(store, table, out->key, "packed", err);
	r = store_unpack(&store->env->unpacked, store->env->path, &packed, &out->data, err);
	if (r == HDB_ECORRUPT)
		return store_damaged(store, table, out->key, "does not unpack", err);
	TRY_ERRORS(r);
	out->size = packed.raw_size;
	return HDB_OK;
}

/* A block, and whether its checksum has been verified before. */
struct found {
	struct pages_place place;
	bool is_verified;
};

/* Returns the value stored in `verified` for a block. */
static uint32_t seal_of(const struct pages_place *place)
{
	return (uint32_t)load64(place->value) & INT32_MAX;
}

static bool is_verified(const struct store *store, const struct pages_place *place)
{
	return place->value_size >= BLOCK_HEADER_SIZE &&
	       base_idmap_get(&store->verified, (uint64_t)(uintptr_t)place->value) ==
		       seal_of(place);
}

/* Verifies the checksum of a value and, if it is valid, records this. */
static int verify(struct store *store, unsigned table, const struct pages_place *place,
		  struct hdb_error *err)
{
	int r;

	base_map_prefetch(place->value, place->value_size);
	if (load64(place->value) !=
	    store_block_checksum(place->key, place->key_size, place->value, place->value_size))
		return store_damaged(store, table, be64(place->key + 2), "checksum mismatch", err);
	(void)pthread_mutex_lock(&store->lock);
	r = base_idmap_put(&store->verified, (uint64_t)(uintptr_t)place->value, seal_of(place),
			   err);
	(void)pthread_mutex_unlock(&store->lock);
	return r < 0 ? r : HDB_OK;
}

/*
 * Checks the header of a value and, once per handle, its checksum. Decompresses the value if
 * necessary.
 */
static int take_value(struct store *store, unsigned table, const struct found *found,
		      struct store_block *out, struct hdb_error *err)
{
	const struct pages_place *place = &found->place;

	out->key = be64(place->key + 2);
	if (place->value_size < BLOCK_HEADER_SIZE)
		return store_damaged(store, table, out->key, "block too short", err);
	if (!found->is_verified)
		TRY(verify(store, table, place, err));
	out->checksum = load64(place->value);
	out->data = place->value + BLOCK_HEADER_SIZE;
	out->size = place->value_size - BLOCK_HEADER_SIZE;
	out->item_count = load32(place->value + 8);
	return load32(place->value + 12) ? unpack_block(store, table, place, out, err) : HDB_OK;
}

/*
 * Returns the error of a failed walk. If reading the file has failed, reports that error instead,
 * because it is the cause.
 */
static int walk_failed(struct store *store, int r, struct hdb_error *err)
{
	return store_fault_size(store, err) < 0 ? HDB_EIO : r;
}

static bool is_of_table(const struct pages_place *place, unsigned table)
{
	return place->key_size == BLOCK_KEY_SIZE && be16(place->key) == table;
}

/*
 * The block to find for a key: the one with exactly this key, the first at or after it, or the last
 * at or before it.
 */
enum seek { SEEK_EXACT, SEEK_AFTER, SEEK_BEFORE };

struct wanted {
	enum store_table table;
	uint64_t key;
};

/* Walks to the block. Requires the lock. */
static int find_block(struct store *store, struct wanted wanted, enum seek seek,
		      struct found *found, struct hdb_error *err)
{
	struct store_view *view = view_of(store, wanted.table);
	uint8_t bytes[BLOCK_KEY_SIZE];
	const struct pages_key key = { bytes, sizeof(bytes) };
	struct pages_place *place = &found->place;
	bool is_exact;
	int r;

	block_key(bytes, wanted.table, wanted.key);
	*found = (struct found){ .place.tree = &view->pages.main };
	r = store_pages_seek(&view->pages, key, place, err);
	is_exact = r == HDB_OK && store_pages_key_is(place, key);
	if (seek == SEEK_BEFORE && r >= 0 && !is_exact)
		r = store_pages_previous(&view->pages, place, err);
	if (r < 0)
		return walk_failed(store, r, err);
	if (r == HDB_NOTFOUND || !is_of_table(place, wanted.table) ||
	    (seek == SEEK_EXACT && !is_exact))
		return HDB_NOTFOUND;
	found->is_verified = is_verified(store, place);
	return HDB_OK;
}

static int seek_block(struct store *store, struct wanted wanted, enum seek seek,
		      struct store_block *out, struct hdb_error *err)
{
	struct hdb_error why;
	struct found found;
	int r;

	assert(wanted.table < STORE_TABLE_END);
	(void)pthread_mutex_lock(&store->lock);
	r = find_block(store, wanted, seek, &found, &why);
	(void)pthread_mutex_unlock(&store->lock);
	if (r == HDB_OK)
		r = take_value(store, wanted.table, &found, out, &why);
	return r < 0 ? store_fail(store, &why, err) : r;
}

int store_block(struct store *store, enum store_table table, uint64_t key, struct store_block *out,
		struct hdb_error *err)
{
	return seek_block(store, (struct wanted){ table, key }, SEEK_EXACT, out, err);
}

int store_need_block(struct store *store, enum store_table table, uint64_t key,
		     struct store_block *out, struct hdb_error *err)
{
	const int r = store_block(store, table, key, out, err);

	return r > 0 ? store_damaged(store, table, key, "block missing", err) : r;
}

int store_block_after(struct store *store, enum store_table table, uint64_t key,
		      struct store_block *out, struct hdb_error *err)
{
	return seek_block(store, (struct wanted){ table, key }, SEEK_AFTER, out, err);
}

int store_block_before(struct store *store, enum store_table table, uint64_t key,
		       struct store_block *out, struct hdb_error *err)
{
	return seek_block(store, (struct wanted){ table, key }, SEEK_BEFORE, out, err);
}

int store_meta_key(uint8_t *out, size_t *size, const char *name, struct hdb_error *err)
{
	const size_t n = strlen(name);

	if (n > META_NAME_MAX)
		return hdb_fail(err, HDB_ELIMIT, "meta name longer than %d bytes: %s",
				META_NAME_MAX, name);
	out[0] = 0;
	out[1] = STORE_META;
	memcpy(out + 2, name, n);
	*size = n + 2;
	return HDB_OK;
}

uint64_t store_meta_number(struct store *store, const char *name, uint64_t fallback)
{
	const uint8_t *data;
	uint64_t size;

	if (!find_meta(&store->view, name, &data, &size) || size != 8)
		return fallback;
	return load64(data);
}

void store_meta_text(struct store *store, const char *name, char *buf, size_t size)
{
	const uint8_t *data;
	uint64_t have;

	assert(size > 0);
	buf[0] = '\0';
	if (!find_meta(&store->view, name, &data, &have))
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
	const struct store_view *view = view_of(store, table);
	char name[META_NAME_MAX + 1];
	const uint8_t *data;
	uint64_t size, expected;
	bool is_packed;

	assert(table < STORE_TABLE_END);
	store_table_meta_name(name, sizeof(name), table);
	if (!find_meta(view, name, &data, &size))
		return HDB_NOTFOUND;
	is_packed = table < STORE_REFERRERS && size >= 4 && load32(data) & TABLE_IS_PACKED;
	expected = is_packed ? TABLE_INFO_PACKED_SIZE : TABLE_INFO_SIZE;
	if (size != expected)
		return store_damaged(store, table, 0, "impossible size of its meta value", err);
	*out = (struct store_table_info){
		.revision = load32(data) & ~(is_packed ? TABLE_IS_PACKED : 0),
		.block_count = load64(data + 8),
		.item_count = load64(data + 16),
		.bytes = load64(data + 24),
		.file_bytes = load64(data + (is_packed ? 32 : 24)),
	};
	/* impossible sizes are rejected, because callers allocate memory for the items */
	if (out->file_bytes > view->map_bytes ||
	    out->block_count > out->file_bytes / BLOCK_HEADER_SIZE ||
	    out->bytes / STORE_PACKED_RATIO > out->file_bytes)
		return store_damaged(store, table, 0, "impossible size", err);
	return out->revision == store_table_revision(table) ? HDB_OK : HDB_NOTFOUND;
}

static int check_table(struct store *store, enum store_table table, struct base_work *work,
		       uint64_t *checked, struct hdb_error *err)
{
	struct store_table_info info;
	struct store_block block;
	uint64_t key = 0, count = 0;
	int r;

	TRY_FOUND(store_table_info(store, table, &info, err));
	while ((r = store_block_after(store, table, key, &block, err)) == HDB_OK) {
		count++;
		TRY(base_step(work, ++*checked, err));
		if (block.key == UINT64_MAX)
			break;
		key = block.key + 1;
	}
	TRY_ERRORS(r);
	if (count != info.block_count)
		return hdb_fail(err, HDB_ECORRUPT,
				"%s: damaged: table %s has %" PRIu64 " blocks (%" PRIu64
				" expected); import the dump again",
				store->env->path, store_table_name(table), count, info.block_count);
	return HDB_OK;
}

int store_check(struct store *store, struct base_work *work, uint64_t *block_count,
		struct hdb_error *err)
{
	int r;

	*block_count = 0;
	base_stage(work, "checking blocks", 0, "blocks");
	r = store_pages_check_all(&store->view.pages, err);
	if (r < 0)
		return walk_failed(store, r, err);
	for (unsigned t = STORE_META + 1; t < STORE_TABLE_END; t++) {
		if (!store_table_name(t))
			continue;
		TRY(check_table(store, t, work, block_count, err));
	}
	return HDB_OK;
}
