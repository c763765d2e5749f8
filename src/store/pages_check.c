/*
 * store/pages_check.c - checks both trees of a file completely, for `heapdb check` and before LMDB
 * writes to the file.
 */
#include "store/pages_private.h"

#include "base/scope.h"

#include <assert.h>
#include <stdlib.h>

struct check {
	struct pages *pages;
	uint8_t *used;           /* one bit per page: whether it has been visited */
	const uint8_t *last_key; /* key of the previous entry, or NULL if none yet */
	uint64_t last_size;
};

/* Marks a run of pages as visited. Fails with HDB_ECORRUPT if one of them was visited before. */
static int use(struct check *check, uint64_t page_no, uint64_t count, struct hdb_error *err)
{
	assert(check->used);
	if (page_no >= check->pages->page_count || count > check->pages->page_count - page_no)
		return store_pages_damaged(check->pages, page_no, "number out of range", err);
	for (uint64_t p = page_no; p < page_no + count; p++) {
		if (check->used[p / 8] & (1u << p % 8))
			return store_pages_damaged(check->pages, p, "is used twice", err);
		check->used[p / 8] |= (uint8_t)(1u << p % 8);
	}
	return HDB_OK;
}

/* Marks the free pages listed in a value: a count, then page numbers in descending order. */
static int use_free(struct check *check, const struct pages_place *place, struct hdb_error *err)
{
	const uint64_t room = place->value_size / 8;
	uint64_t count, last = check->pages->page_count;

	if (place->key_size != 8 || room < 1)
		return store_pages_damaged(check->pages, 0,
					   "the list of free pages has an impossible "
					   "entry",
					   err);
	count = load64(place->value);
	if (count > room - 1)
		return store_pages_damaged(check->pages, 0,
					   "the list of free pages exceeds its space", err);
	for (uint64_t i = 0; i < count; i++) {
		const uint64_t page_no = load64(place->value + 8 * (i + 1));

		if (page_no < 2 || page_no >= last)
			return store_pages_damaged(check->pages, page_no,
						   "the list of free pages is out of "
						   "order",
						   err);
		TRY(use(check, page_no, 1, err));
		last = page_no;
	}
	return HDB_OK;
}

/* Marks the pages of the path from level `from` down, which the walk has just entered. */
static int use_path(struct check *check, const struct pages_place *place, unsigned from,
		    struct hdb_error *err)
{
	assert(from <= place->tree->depth);
	for (unsigned level = from; level < place->tree->depth; level++)
		TRY(use(check, load64(place->page[level]), 1, err));
	return HDB_OK;
}

/*
 * Checks the keys of branch pages: the previous entry must be less than the key, and the current
 * entry must not be.
 */
static int check_bounds(const struct check *check, const struct pages_place *place, unsigned from,
			struct hdb_error *err)
{
	assert(from <= place->tree->depth);
	for (unsigned level = from ? from - 1 : 0; level + 1 < place->tree->depth; level++) {
		const uint8_t *bound;
		uint64_t size;

		if (!place->at[level])
			continue;
		bound = store_pages_key(place->page[level], place->at[level], &size);
		if (store_pages_compare(place->tree, bound, size, place->key, place->key_size) >
			    0 ||
		    (check->last_key && store_pages_compare(place->tree, check->last_key,
							    check->last_size, bound, size) >= 0))
			return store_pages_damaged(check->pages, load64(place->page[level]),
						   "has a key that does not bound its page", err);
	}
	return HDB_OK;
}

static int check_entry(struct check *check, const struct pages_place *place, unsigned from,
		       bool is_free, struct hdb_error *err)
{
	const unsigned leaf = place->tree->depth - 1;

	TRY(use_path(check, place, from, err));
	if (check->last_key && store_pages_compare(place->tree, check->last_key, check->last_size,
						   place->key, place->key_size) >= 0)
		TRY(store_pages_damaged(check->pages, load64(place->page[leaf]),
					"has keys out of order", err));
	TRY(check_bounds(check, place, from, err));
	/*
	 * A value with its own pages begins after the head of its first page. Other values are
	 * inside their leaf.
	 */
	if (place->value < place->page[leaf] ||
	    place->value >= place->page[leaf] + check->pages->page_size)
		TRY(use(check, load64(place->value - PAGE_HEAD),
			load32(place->value - PAGE_HEAD + PAGE_RUN), err));
	if (is_free)
		TRY(use_free(check, place, err));
	check->last_key = place->key;
	check->last_size = place->key_size;
	return HDB_OK;
}

/* Returns the first level at which two paths differ. */
static unsigned first_change(const struct pages_place *a, const struct pages_place *b)
{
	unsigned level = 0;

	assert(a->tree == b->tree);
	while (level < a->tree->depth && a->page[level] == b->page[level])
		level++;
	assert(level <= a->tree->depth);
	return level;
}

static int check_tree(struct check *check, const struct pages_tree *tree, bool is_free,
		      struct hdb_error *err)
{
	struct pages_place place = { .tree = tree }, before;
	unsigned from = 0;
	int r = store_pages_seek(check->pages, (struct pages_key){ "", 0 }, &place, err);

	check->last_key = NULL;
	while (r == HDB_OK) {
		TRY(check_entry(check, &place, from, is_free, err));
		before = place;
		r = store_pages_next(check->pages, &place, err);
		from = first_change(&before, &place);
	}
	return r < 0 ? r : HDB_OK;
}

static void release(struct check *check)
{
	free(check->used);
}

int store_pages_check_all(struct pages *pages, struct hdb_error *err)
{
	BASE_SCOPED(release) struct check check = { .pages = pages };

	TRY(BASE_ALLOC(check.used, pages->page_count / 8 + 1, "a map of used pages", err));
	check.used[0] = 3; /* the two meta pages */
	TRY(check_tree(&check, &pages->main, false, err));
	return check_tree(&check, &pages->free, true, err);
}
