/*
 * store/view.c - begins and ends snapshots, and reads their meta values.
 *
 * Nothing in a snapshot is trusted before it is checked: pages by pages.h, and meta values by their
 * checksums. The seal, which the import writes last, shows that no meta value is missing.
 * Therefore, if a value does not exist, the dump did not have one, and if a table does not exist,
 * it has not been built.
 */
#include "store/view.h"

#include "base/source.h"
#include "store/block.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <xxhash.h>

/*
 * Maximum number of attempts to begin a snapshot while writers commit. An attempt reads only a few
 * bytes.
 */
#define BEGIN_TRIES_MAX 1000
/*
 * The map is twice as long as the file plus this size, so that tables built later are visible in
 * the same map and blocks that were read keep their addresses. Address space costs nothing.
 */
#define MAP_SPARE_BYTES ((uint64_t)256 << 20)
/* Pause after an attempt during which a writer committed. */
#define BEGIN_PAUSE_NS 100000

int store_view_check(const struct store_view *view, struct hdb_error *err)
{
	const uint64_t fault = view->fault ? view->fault : view->env->fault;

	if (!fault)
		return HDB_OK;
	return hdb_fail(err, HDB_EIO,
			"%s: cannot read at offset %" PRIu64 " (the file shrank, or the disk "
			"failed)",
			view->env->path, fault - 1);
}

int store_view_check_size(const struct store_view *view, struct hdb_error *err)
{
	const char *path = view->env->path;
	mdb_filehandle_t fd;
	struct stat st;
	const int r = view->map ? mdb_env_get_fd(view->env->env, &fd) : 0;

	if (!view->map)
		return HDB_OK;
	if (r)
		return store_fail_mdb(err, r, path, "reading");
	if (fstat(fd, &st) < 0)
		return hdb_fail_errno(err, errno, "%s", path);
	if ((uint64_t)st.st_size >= view->map_bytes)
		return HDB_OK;
	return hdb_fail(err, HDB_EIO,
			"%s: cannot read at offset %" PRIu64 " (the file now ends there)", path,
			(uint64_t)st.st_size);
}

/* Moves the current map to the list of old maps. */
static int retire_map(struct store_view *view, struct hdb_error *err)
{
	const struct store_view_map old = { .map = view->map, .bytes = view->map_length };

	if (view->map)
		TRY(base_vec_push(&view->old, &old, sizeof(old), err));
	view->map = NULL;
	view->map_bytes = view->map_length = 0;
	return HDB_OK;
}

static void unmap(const uint8_t *map, uint64_t bytes)
{
	if (!map)
		return;
	base_sigbus_remove(map);
	(void)munmap((void *)(uintptr_t)map, bytes);
}

static int map_file(struct store_view *view, struct hdb_error *err)
{
	const char *path = view->env->path;
	struct stat st;
	uint64_t length;
	void *map;
	mdb_filehandle_t fd;
	int r = mdb_env_get_fd(view->env->env, &fd);

	if (r)
		return store_fail_mdb(err, r, path, "reading");
	if (fstat(fd, &st) < 0)
		return hdb_fail_errno(err, errno, "%s", path);
	/* The start of the file is read before the page size is known. */
	if (st.st_size < 8192)
		return hdb_fail(err, HDB_ECORRUPT, "%s: truncated database: %" PRIu64 " bytes",
				path, (uint64_t)st.st_size);
	if (view->map && (uint64_t)st.st_size <= view->map_length) {
		view->map_bytes = (uint64_t)st.st_size;
		return HDB_OK;
	}
	TRY(retire_map(view, err));
	length = 2 * (uint64_t)st.st_size + MAP_SPARE_BYTES;
	map = mmap(NULL, (size_t)length, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		length = (uint64_t)st.st_size;
		map = mmap(NULL, (size_t)length, PROT_READ, MAP_SHARED, fd, 0);
	}
	if (map == MAP_FAILED)
		return hdb_fail_errno(err, errno, "%s: cannot map %" PRIu64 " bytes", path,
				      (uint64_t)st.st_size);
	r = base_sigbus_add(map, length, &view->fault, err);
	if (r < 0) {
		(void)munmap(map, (size_t)length);
		return r;
	}
	/*
	 * Blocks of other tables surround each block, so the kernel must not read ahead. Callers
	 * prefetch the pages that they need (base_map_prefetch).
	 */
	(void)madvise(map, (size_t)length, MADV_RANDOM);
	view->map = map;
	view->map_bytes = (uint64_t)st.st_size;
	view->map_length = length;
	return HDB_OK;
}

/* Makes one attempt. Returns HDB_END if a writer committed at the same time. */
static int try_begin(struct store_view *view, struct hdb_error *err)
{
	const char *path = view->env->path;
	int r = mdb_txn_begin(view->env->env, NULL, MDB_RDONLY, &view->txn);

	if (r) {
		view->txn = NULL;
		return store_fail_mdb(err, r, path, "reading");
	}
	/*
	 * The map is created after the transaction has begun, so the file has at least the size of
	 * the transaction's state.
	 */
	TRY(map_file(view, err));
	return store_pages_open(&view->pages,
				&(struct pages_file){ view->map, view->map_bytes, path },
				mdb_txn_id(view->txn), err);
}

/* ---- meta values ---- */

uint64_t store_seal_entry(const void *name, uint64_t name_size, const uint8_t *value)
{
	return XXH3_64bits_withSeed(name, name_size, load64(value));
}

static int bad_meta(const struct store_view *view, const char *name, uint64_t size,
		    const char *what, struct hdb_error *err)
{
	return hdb_fail(err, HDB_ECORRUPT,
			"%s: damaged: table meta, value \"%.*s\" (%s); import the dump again",
			view->env->path, (int)size, name, what);
}

static int take_meta(struct store_view *view, const struct pages_place *place,
		     struct hdb_error *err)
{
	const struct store_view_meta meta = {
		.name = (const char *)place->key + 2,
		.name_size = place->key_size - 2,
		.value = place->value,
		.size = place->value_size,
	};

	if (meta.name_size > 63)
		return bad_meta(view, "?", 1, "name too long", err);
	if (meta.size < BLOCK_HEADER_SIZE)
		return bad_meta(view, meta.name, meta.name_size, "too short", err);
	if (!view->is_other_format &&
	    load64(meta.value) !=
		    store_block_checksum(place->key, place->key_size, meta.value, meta.size))
		return bad_meta(view, meta.name, meta.name_size, "checksum mismatch", err);
	return base_vec_push(&view->metas, &meta, sizeof(meta), err);
}

/* Reads the version first, because the encoding of the other values depends on it. */
static int check_version(struct store_view *view, struct hdb_error *err)
{
	struct pages_place place = { .tree = &view->pages.main };
	int r = store_pages_seek(&view->pages,
				 (struct pages_key){ block_format_key, sizeof(block_format_key) },
				 &place, err);

	view->is_other_format =
		r == HDB_OK && place.value_size == BLOCK_HEADER_SIZE + 20 &&
		store_pages_key_is(
			&place, (struct pages_key){ block_format_key, sizeof(block_format_key) }) &&
		load64(place.value) == store_block_checksum(place.key, place.key_size, place.value,
							    place.value_size) &&
		load32(place.value + BLOCK_HEADER_SIZE + 12) != STORE_FORMAT_VERSION;
	return r < 0 ? r : HDB_OK;
}

static int read_metas(struct store_view *view, struct hdb_error *err)
{
	static const uint8_t first[2] = { 0, STORE_META };
	struct pages_place place = { .tree = &view->pages.main };
	int r = store_pages_seek(&view->pages, (struct pages_key){ first, sizeof(first) }, &place,
				 err);

	view->metas.count = 0;
	while (r == HDB_OK && place.key_size >= 2 && be16(place.key) == STORE_META) {
		TRY(take_meta(view, &place, err));
		r = store_pages_next(&view->pages, &place, err);
	}
	return r < 0 ? r : HDB_OK;
}

const struct store_view_meta *store_view_meta(const struct store_view *view, const char *name)
{
	const uint64_t size = strlen(name);

	for (size_t i = 0; i < view->metas.count; i++) {
		const struct store_view_meta *meta =
			base_vec_at(&view->metas, struct store_view_meta, i);

		if (meta->name_size == size && memcmp(meta->name, name, size) == 0)
			return meta;
	}
	return NULL;
}

/*
 * Checks that every meta value written by the import still exists. The seal contains their hashes
 * in order of name.
 */
static int check_seal(const struct store_view *view, struct hdb_error *err)
{
	const struct store_view_meta *seal = store_view_meta(view, "seal");
	uint64_t count, next = 0;

	/* Callers reject files that are not heap databases, or have another format. */
	if (view->is_private || view->is_other_format || !store_view_meta(view, "format"))
		return HDB_OK;
	if (!seal || (seal->size - BLOCK_HEADER_SIZE) % 8 != 0)
		return bad_meta(view, "seal", 4, "missing", err);
	count = (seal->size - BLOCK_HEADER_SIZE) / 8;
	for (size_t i = 0; i < view->metas.count && next < count; i++) {
		const struct store_view_meta *meta =
			base_vec_at(&view->metas, struct store_view_meta, i);

		next += load64(seal->value + BLOCK_HEADER_SIZE + 8 * next) ==
			store_seal_entry(meta->name, meta->name_size, meta->value);
	}
	return next == count ?
		       HDB_OK :
		       bad_meta(view, "seal", 4, "a value that the import wrote is missing", err);
}

static int begin(struct store_view *view, struct hdb_error *err)
{
	const struct timespec pause = { .tv_nsec = BEGIN_PAUSE_NS };
	int r = HDB_END;

	for (unsigned i = 0; i < BEGIN_TRIES_MAX && r == HDB_END; i++) {
		if (i)
			(void)nanosleep(&pause, NULL);
		store_view_end(view);
		r = try_begin(view, err);
	}
	if (r == HDB_END)
		return hdb_fail(err, HDB_ECORRUPT,
				"%s: damaged: no meta page for transaction %" PRIu64
				"; import the dump again",
				view->env->path, (uint64_t)mdb_txn_id(view->txn));
	TRY(r);
	TRY(check_version(view, err));
	TRY(read_metas(view, err));
	return check_seal(view, err);
}

int store_view_begin(struct store_view *view, struct hdb_error *err)
{
	const int r = begin(view, err);

	/*
	 * If reading the file has failed, zeros were read, which does not mean that the file is
	 * damaged.
	 */
	return view->fault ? store_view_check(view, err) : r;
}

void store_view_end(struct store_view *view)
{
	store_pages_close(&view->pages);
	if (view->txn)
		mdb_txn_abort(view->txn);
	view->txn = NULL;
	base_vec_release(&view->metas);
}

void store_view_close(struct store_view *view)
{
	store_view_end(view);
	for (size_t i = 0; i < view->old.count; i++) {
		const struct store_view_map *old =
			base_vec_at(&view->old, struct store_view_map, i);

		unmap(old->map, old->bytes);
	}
	base_vec_release(&view->old);
	unmap(view->map, view->map_length);
	view->map = NULL;
	view->map_bytes = 0;
}
