/* store/pages.c - walks LMDB's B+tree; see pages.h. pages_check.c checks a whole file. */
#include "store/pages_private.h"

#include "base/scope.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int store_pages_damaged(const struct pages *pages, uint64_t page_no, const char *what,
			struct hdb_error *err)
{
	return hdb_fail(err, HDB_ECORRUPT,
			"%s: damaged: page %" PRIu64 " of the B-tree (%s); import the dump again",
			pages->path, page_no, what);
}

/* ---- meta pages ---- */

/* Fields of MDB_meta, as offsets in its page. */
enum {
	META_MAGIC = PAGE_HEAD,
	META_VERSION = PAGE_HEAD + 4,
	META_FREE = PAGE_HEAD + 24,
	META_MAIN = META_FREE + 48,
	META_LAST_PAGE = META_MAIN + 48,
	META_TXN_ID = META_LAST_PAGE + 8,
	META_SIZE = META_TXN_ID + 8
};
/* Fields of MDB_db. */
enum { DB_PAD = 0, DB_FLAGS = 4, DB_DEPTH = 6, DB_ROOT = 40 };
#define MAGIC 0xBEEFC0DEu
#define DATA_VERSION 1
/*
 * Flags of the tree of free pages: integer keys, and the database is a file rather than a
 * directory. The flags of the main tree are 0.
 */
#define FREE_FLAGS 0x4008
/*
 * Maximum number of attempts. A writer may commit while the pages are being read, but many failures
 * in a row indicate damage.
 */
#define META_TRIES_MAX 20

static bool tree_is_sound(const uint8_t *db, uint64_t last_page)
{
	const unsigned depth = load16(db + DB_DEPTH);
	const uint64_t root = load64(db + DB_ROOT);

	if (root == PAGES_NONE)
		return depth == 0;
	return depth >= 1 && depth <= PAGES_DEPTH_MAX && root >= 2 && root <= last_page;
}

/* Returns what is wrong with the header of a meta page, or NULL. */
static const char *head_fault(const uint8_t *meta, uint64_t number, uint32_t page_size)
{
	if (load64(meta) != number || load16(meta + PAGE_FLAGS) != PAGE_META)
		return "is not a meta page";
	if (load32(meta + META_MAGIC) != MAGIC || load32(meta + META_VERSION) != DATA_VERSION)
		return "has no valid mark";
	if (load32(meta + META_FREE + DB_PAD) != page_size)
		return "records a different page size";
	if (load16(meta + META_FREE + DB_FLAGS) != FREE_FLAGS ||
	    load16(meta + META_MAIN + DB_FLAGS))
		return "has unknown flags";
	return NULL;
}

/* Returns what is wrong with the meta page to be used, or NULL. */
static const char *meta_fault(const uint8_t *meta, uint64_t number, uint32_t page_size)
{
	const uint64_t last_page = load64(meta + META_LAST_PAGE);
	const char *fault = head_fault(meta, number, page_size);

	if (fault)
		return fault;
	if (last_page < 1 || last_page > UINT64_MAX / 2 / page_size)
		return "records an impossible number of pages";
	if (!tree_is_sound(meta + META_FREE, last_page) ||
	    !tree_is_sound(meta + META_MAIN, last_page))
		return "has an impossible tree";
	return NULL;
}

/*
 * Returns what is wrong with the meta pages, or NULL. Finds the newer page. Only the header of the
 * older page is checked, because it contains new trees with the old transaction number if a commit
 * has failed in its last step.
 */
static const char *metas_fault(const uint8_t *metas[2], uint32_t page_size, unsigned *newest)
{
	uint64_t id[2];

	for (unsigned i = 0; i < 2; i++) {
		const char *fault = head_fault(metas[i], i, page_size);

		if (fault)
			return fault;
		id[i] = load64(metas[i] + META_TXN_ID);
	}
	/*
	 * Commits alternate between the pages: even transaction numbers are in page 0, odd numbers
	 * in page 1, and the two numbers are consecutive.
	 */
	*newest = id[0] < id[1];
	/*
	 * Commits alternate: even numbers are in page 0, odd numbers in page 1, and the last two
	 * commits are present.
	 */
	if ((id[0] || id[1]) &&
	    (id[0] % 2 != 0 || id[1] % 2 != 1 || id[*newest] - id[!*newest] != 1))
		return "has an impossible transaction number";
	return meta_fault(metas[*newest], *newest, page_size);
}

static int check_mark(const uint8_t *head, const char *path, struct hdb_error *err)
{
	const uint32_t magic = load32(head + META_MAGIC);

	if (magic == __builtin_bswap32(MAGIC))
		return hdb_fail(err, HDB_EVERSION,
				"%s: written on a machine with the opposite byte order; import the "
				"dump again on this machine",
				path);
	if (magic == MAGIC && load32(head + META_VERSION) != DATA_VERSION &&
	    load32(head + META_VERSION) < 1000)
		return hdb_fail(err, HDB_EVERSION, "%s: written by another version of LMDB", path);
	return HDB_OK;
}

static int read_meta(int fd, uint8_t *meta, uint64_t offset, const char *path,
		     struct hdb_error *err)
{
	const ssize_t n = pread(fd, meta, META_SIZE, (off_t)offset);

	if (n < 0)
		return hdb_fail_errno(err, errno, "%s: cannot read at offset %" PRIu64, path,
				      offset);
	if (n < META_SIZE)
		return hdb_fail(err, HDB_ECORRUPT,
				"%s: truncated database: %" PRIu64 " bytes are "
				"missing at its start",
				path, (uint64_t)(META_SIZE - n));
	return HDB_OK;
}

/* Reads the meta pages once. Sets *fault to what is wrong with them, or to NULL. */
static int look_at_metas(int fd, const char *path, const char **fault, uint64_t *wanted_bytes,
			 struct hdb_error *err)
{
	uint8_t first[META_SIZE], second[META_SIZE];
	const uint8_t *metas[2] = { first, second };
	uint32_t page_size;
	unsigned newest = 0;

	TRY(read_meta(fd, first, 0, path, err));
	TRY(check_mark(first, path, err));
	page_size = load32(first + META_FREE + DB_PAD);
	*fault = "records an impossible page size";
	if (load32(first + META_MAGIC) != MAGIC)
		return hdb_fail(err, HDB_ECORRUPT, "%s: not a heap database", path);
	if (page_size < 512 || page_size > 32768 || (page_size & (page_size - 1)))
		return HDB_OK;
	TRY(read_meta(fd, second, page_size, path, err));
	*fault = metas_fault(metas, page_size, &newest);
	*wanted_bytes = (load64(metas[newest] + META_LAST_PAGE) + 1) * page_size;
	return HDB_OK;
}

int store_pages_check_file(int fd, const char *path, uint64_t *wanted_bytes, struct hdb_error *err)
{
	const char *fault = NULL;

	for (unsigned i = 0; i < META_TRIES_MAX; i++) {
		struct stat st;

		TRY(look_at_metas(fd, path, &fault, wanted_bytes, err));
		if (fault)
			continue;
		if (fstat(fd, &st) < 0)
			return hdb_fail_errno(err, errno, "%s", path);
		if ((uint64_t)st.st_size >= *wanted_bytes)
			return HDB_OK;
		return hdb_fail(err, HDB_ECORRUPT,
				"%s: truncated database: %" PRIu64 " bytes, %" PRIu64 " expected",
				path, (uint64_t)st.st_size, *wanted_bytes);
	}
	return hdb_fail(err, HDB_ECORRUPT, "%s: damaged: a meta page %s; import the dump again",
			path, fault);
}

static void read_tree(const uint8_t *db, struct pages_tree *out)
{
	*out = (struct pages_tree){
		.root = load64(db + DB_ROOT),
		.depth = load16(db + DB_DEPTH),
	};
}

int store_pages_open(struct pages *pages, const struct pages_file *file, uint64_t txn_id,
		     struct hdb_error *err)
{
	const uint64_t page_no = txn_id & 1, map_bytes = file->map_bytes;
	const uint8_t *map = file->map;
	uint8_t meta[META_SIZE];
	const char *fault;

	*pages = (struct pages){ .map = map, .path = file->path };
	pages->page_size = load32(map + META_FREE + DB_PAD);
	if (pages->page_size < 512 || pages->page_size > 32768 ||
	    (page_no + 1) * pages->page_size > map_bytes)
		return store_pages_damaged(pages, 0, "records an impossible page size", err);
	memcpy(meta, map + page_no * pages->page_size, META_SIZE);
	if (load64(meta + META_TXN_ID) != txn_id)
		return HDB_END;
	fault = meta_fault(meta, page_no, pages->page_size);
	if (fault)
		return store_pages_damaged(pages, page_no, fault, err);
	pages->page_count = load64(meta + META_LAST_PAGE) + 1;
	if (pages->page_count > map_bytes / pages->page_size)
		return hdb_fail(err, HDB_ECORRUPT,
				"%s: truncated database: %" PRIu64 " bytes, %" PRIu64 " expected",
				file->path, map_bytes, pages->page_count * pages->page_size);
	read_tree(meta + META_MAIN, &pages->main);
	read_tree(meta + META_FREE, &pages->free);
	pages->free.has_number_keys = true;
	TRY(BASE_ALLOC(pages->checked, pages->page_count / 8 + 1, "a map of checked pages", err));
	/*
	 * A commit may have begun while the page was copied. The copy is consistent only if the
	 * transaction number is the same before and after.
	 */
	if (load64(map + page_no * pages->page_size + META_TXN_ID) != txn_id) {
		store_pages_close(pages);
		return HDB_END;
	}
	return HDB_OK;
}

void store_pages_close(struct pages *pages)
{
	free(pages->checked);
	*pages = (struct pages){ 0 };
}

/* ---- pages and nodes ---- */

/* Returns the number of entries of a checked page. */
static unsigned node_count(const uint8_t *page)
{
	const unsigned lower = load16(page + PAGE_LOWER);

	/*
	 * A checked page has entries, unless a later read failed and the page now consists of
	 * zeros.
	 */
	return lower > PAGE_HEAD ? (lower - PAGE_HEAD) / 2 : 0;
}

static const uint8_t *node(const uint8_t *page, unsigned i)
{
	return page + load16(page + PAGE_HEAD + 2 * (size_t)i);
}

static uint32_t node_low(const uint8_t *n)
{
	return (uint32_t)load16(n) | (uint32_t)load16(n + 2) << 16;
}

/* Returns the number of the child page of entry i of a branch page. */
static uint64_t child_page(const uint8_t *page, unsigned i)
{
	const uint8_t *n = node(page, i);

	return node_low(n) | (uint64_t)load16(n + NODE_FLAGS) << 32;
}

const uint8_t *store_pages_key(const uint8_t *page, unsigned i, uint64_t *size)
{
	const uint8_t *n = node(page, i);

	*size = load16(n + NODE_KEY_SIZE);
	return n + NODE_HEAD;
}

int store_pages_compare(const struct pages_tree *tree, const void *a, uint64_t a_size,
			const void *b, uint64_t b_size)
{
	const uint64_t n = a_size < b_size ? a_size : b_size;
	int r;

	if (tree->has_number_keys && a_size == 8 && b_size == 8)
		return (load64(a) > load64(b)) - (load64(a) < load64(b));
	r = n ? memcmp(a, b, n) : 0;
	return r ? r : (a_size > b_size) - (a_size < b_size);
}

/* Returns whether a node, at offset `at`, is within its page `p`. */
static bool node_is_sound(const struct pages *pages, const uint8_t *p, uint64_t at, bool is_leaf)
{
	const uint64_t room = pages->page_size;
	uint64_t need;

	if (at < load16(p + PAGE_UPPER) || at + NODE_HEAD > room)
		return false;
	need = at + NODE_HEAD + load16(p + at + NODE_KEY_SIZE);
	if (is_leaf) {
		const unsigned flags = load16(p + at + NODE_FLAGS);

		if (flags & ~(unsigned)NODE_BIG_DATA)
			return false;
		need += flags & NODE_BIG_DATA ? 8 : node_low(p + at);
	}
	return need <= room;
}

/* Checks the structure of a page. Returns a description of the fault, or NULL. */
static const char *page_fault(const struct pages *pages, const struct pages_tree *tree,
			      uint64_t page_no, bool is_leaf)
{
	const uint8_t *p = pages->map + page_no * pages->page_size;
	const unsigned lower = load16(p + PAGE_LOWER), upper = load16(p + PAGE_UPPER);
	uint64_t size, last_size;
	unsigned n;

	if (load64(p) != page_no)
		return "has a different number";
	if (load16(p + PAGE_FLAGS) != (is_leaf ? PAGE_LEAF : PAGE_BRANCH))
		return "is of a different kind";
	if (lower < PAGE_HEAD + 2 || lower % 2 || lower > upper || upper > pages->page_size)
		return "has impossible bounds";
	n = node_count(p);
	for (unsigned i = 0; i < n; i++)
		if (!node_is_sound(pages, p, load16(p + PAGE_HEAD + 2 * (size_t)i), is_leaf))
			return "has an entry outside its bounds";
	/* The first key of a branch page is not used, because it stands for everything smaller. */
	for (unsigned i = is_leaf ? 1 : 2; i < n; i++) {
		const uint8_t *last = store_pages_key(p, i - 1, &last_size);
		const uint8_t *key = store_pages_key(p, i, &size);

		if (store_pages_compare(tree, last, last_size, key, size) >= 0)
			return "has keys out of order";
	}
	return NULL;
}

/* Reads the page of one level of the path. A page is checked once per snapshot. */
static int get_page(struct pages *pages, struct pages_place *place, unsigned level,
		    uint64_t page_no, struct hdb_error *err)
{
	const bool is_leaf = level + 1 == place->tree->depth;
	const uint8_t **out = &place->page[level];
	const char *fault;

	assert(level < PAGES_DEPTH_MAX);
	if (page_no < 2 || page_no >= pages->page_count)
		return store_pages_damaged(pages, page_no, "number out of range", err);
	*out = pages->map + page_no * pages->page_size;
	if (pages->checked[page_no / 8] & (1u << page_no % 8) &&
	    load16(*out + PAGE_FLAGS) == (is_leaf ? PAGE_LEAF : PAGE_BRANCH))
		return HDB_OK;
	fault = page_fault(pages, place->tree, page_no, is_leaf);
	if (fault)
		return store_pages_damaged(pages, page_no, fault, err);
	pages->checked[page_no / 8] |= (uint8_t)(1u << page_no % 8);
	return HDB_OK;
}

/* Reads a value that is stored on pages of its own. */
static int big_value(struct pages *pages, struct pages_place *place, const uint8_t *n,
		     struct hdb_error *err)
{
	const uint64_t page_no = load64(place->key + place->key_size);
	const uint64_t size = node_low(n);
	const uint64_t need = (PAGE_HEAD - 1 + size) / pages->page_size + 1;
	const uint8_t *p;

	if (page_no < 2 || page_no >= pages->page_count || need > pages->page_count - page_no)
		return store_pages_damaged(pages, page_no, "number out of range", err);
	p = pages->map + page_no * pages->page_size;
	if (load64(p) != page_no || load16(p + PAGE_FLAGS) != PAGE_OVERFLOW ||
	    load32(p + PAGE_RUN) != need)
		return store_pages_damaged(pages, page_no,
					   "is not the start of the value that belongs "
					   "there",
					   err);
	place->value = p + PAGE_HEAD;
	place->value_size = size;
	return HDB_OK;
}

/* Sets key and value of the entry at the end of the path. */
static int take_entry(struct pages *pages, struct pages_place *place, struct hdb_error *err)
{
	const unsigned leaf = place->tree->depth - 1;
	const uint8_t *n = node(place->page[leaf], place->at[leaf]);

	assert(place->tree->depth > 0);
	assert(place->tree->depth <= PAGES_DEPTH_MAX);
	place->key = n + NODE_HEAD;
	place->key_size = load16(n + NODE_KEY_SIZE);
	if (load16(n + NODE_FLAGS) & NODE_BIG_DATA)
		return big_value(pages, place, n, err);
	place->value = place->key + place->key_size;
	place->value_size = node_low(n);
	return HDB_OK;
}

/* Reads the page of level `level`, which is the child of the current entry of the level above. */
static int descend(struct pages *pages, struct pages_place *place, unsigned level,
		   struct hdb_error *err)
{
	const uint64_t page_no = level ? child_page(place->page[level - 1], place->at[level - 1]) :
					 place->tree->root;

	assert(level < place->tree->depth);
	return get_page(pages, place, level, page_no, err);
}

/*
 * Returns the first entry whose key is not less than `key` or, in a branch page, the entry whose
 * child contains that key.
 */
static unsigned search(const struct pages_tree *tree, const uint8_t *page, bool is_leaf,
		       struct pages_key key)
{
	unsigned low = is_leaf ? 0 : 1, high = node_count(page);

	while (low < high) {
		const unsigned mid = low + (high - low) / 2;
		uint64_t size;
		const uint8_t *k = store_pages_key(page, mid, &size);
		const int c = store_pages_compare(tree, k, size, key.data, key.size);

		if (c < 0 || (!is_leaf && c == 0))
			low = mid + 1;
		else
			high = mid;
	}
	return is_leaf ? low : low - 1;
}

int store_pages_seek(struct pages *pages, struct pages_key key, struct pages_place *place,
		     struct hdb_error *err)
{
	const struct pages_tree *tree = place->tree;

	if (!tree->depth)
		return HDB_NOTFOUND;
	for (unsigned level = 0; level < tree->depth; level++) {
		const bool is_leaf = level + 1 == tree->depth;

		TRY(descend(pages, place, level, err));
		place->at[level] = search(tree, place->page[level], is_leaf, key);
	}
	if (place->at[tree->depth - 1] < node_count(place->page[tree->depth - 1]))
		return take_entry(pages, place, err);
	/* All keys of this leaf are less, so the result is the first entry of the next leaf. */
	if (place->at[tree->depth - 1])
		place->at[tree->depth - 1]--;
	return store_pages_next(pages, place, err);
}

/* Completes the path from `level` down, along first or last entries. */
static int go_down(struct pages *pages, struct pages_place *place, unsigned level, bool is_last,
		   struct hdb_error *err)
{
	assert(level <= place->tree->depth);
	for (; level < place->tree->depth; level++) {
		const int r = descend(pages, place, level, err);
		unsigned n;

		TRY(r);
		n = node_count(place->page[level]);
		place->at[level] = is_last && n ? n - 1 : 0;
	}
	return take_entry(pages, place, err);
}

int store_pages_next(struct pages *pages, struct pages_place *place, struct hdb_error *err)
{
	unsigned level = place->tree->depth;

	assert(place->tree->depth <= PAGES_DEPTH_MAX);
	while (level-- > 0) {
		if (place->at[level] + 1 < node_count(place->page[level])) {
			place->at[level]++;
			return go_down(pages, place, level + 1, false, err);
		}
	}
	/* Move the position past the end, so that store_pages_previous finds the last entry. */
	if (place->tree->depth)
		place->at[place->tree->depth - 1]++;
	return HDB_NOTFOUND;
}

int store_pages_previous(struct pages *pages, struct pages_place *place, struct hdb_error *err)
{
	unsigned level = place->tree->depth;

	assert(place->tree->depth <= PAGES_DEPTH_MAX);
	while (level-- > 0) {
		if (place->at[level] > 0) {
			place->at[level]--;
			return go_down(pages, place, level + 1, true, err);
		}
	}
	return HDB_NOTFOUND;
}

bool store_pages_key_is(const struct pages_place *place, struct pages_key key)
{
	return place->key_size == key.size && memcmp(place->key, key.data, key.size) == 0;
}
