/*
 * sqlite/sql_object_tree.c - the objects that retain a number of bytes or more: the top of the
 * dominator tree, for nothing retains more than what dominates it.
 */
#include "sqlite/sql_objects.h"

#include "base/scope.h"
#include "common/grow.h"

#include <assert.h>
#include <stdlib.h>

struct found {
	uint64_t bound;
	uint32_t *ixs; /* owned */
	size_t count, room;
	bool is_over; /* there are too many */
};

static int add(struct found *f, uint32_t ix, struct hdb_error *err)
{
	f->is_over = f->count == LARGEST_MAX;
	if (f->is_over)
		return HDB_OK;
	assert(f->count <= f->room);
	if (f->count == f->room && !GROW(f->ixs, f->room))
		return sql_fail(err, HDB_ENOMEM, "no memory for more than %zu objects", f->count);
	f->ixs[f->count++] = ix;
	return HDB_OK;
}

/* Adds what an object dominates and retains as much. */
static int add_children(struct objects_cursor *c, uint32_t ix, struct found *f,
			struct hdb_error *err)
{
	const uint32_t *ixs;
	uint64_t retained;
	size_t count = 0;
	int r = hdb_list_begin(c->list, ix, NULL, err);

	if (r < 0)
		return r;
	while (!f->is_over) {
		r = hdb_list_next(c->list, &ixs, &count, err);
		if (r != HDB_OK || !count)
			return r;
		for (size_t i = 0; i < count && !f->is_over; i++) {
			TRY(hdb_retained_at(c->db, ixs[i], &retained, err));
			if (retained < f->bound) /* the largest come first */
				return HDB_OK;
			TRY_ERRORS(add(f, ixs[i], err));
		}
	}
	return HDB_OK;
}

static int compare(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Keeps the members of the table, in the order of a scan. */
static int keep_members(struct objects_cursor *c, struct found *f, bool is_descending,
			struct hdb_error *err)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->count; i++) {
		TRY(sql_object_take(c, f->ixs[i], err));
		if (sql_object_is_member(c))
			f->ixs[kept++] = f->ixs[i];
	}
	assert(kept <= f->count);
	f->count = kept;
	if (kept)
		qsort(f->ixs, kept, sizeof(*f->ixs), compare);
	for (size_t i = 0; is_descending && i < kept / 2; i++) {
		const uint32_t other = f->ixs[i];

		f->ixs[i] = f->ixs[kept - 1 - i];
		f->ixs[kept - 1 - i] = other;
	}
	return HDB_OK;
}

static void release_found(struct found *f)
{
	free(f->ixs);
}

/* Stops with f->is_over where there are too many. */
static int find_members(struct objects_cursor *c, struct found *f, bool is_descending,
			struct hdb_error *err)
{
	TRY(add_children(c, HDB_NONE, f, err));
	for (size_t i = 0; i < f->count && !f->is_over; i++) {
		TRY(add_children(c, f->ixs[i], f, err));
		if (c->source->cancel && *c->source->cancel)
			return sql_fail(err, HDB_EINTR, "interrupted");
	}
	return f->is_over ? HDB_OK : keep_members(c, f, is_descending, err);
}

int sql_objects_retaining(struct objects_cursor *c, uint64_t bound, bool is_descending,
			  bool *is_few, struct hdb_error *err)
{
	BASE_SCOPED(release_found) struct found f = { .bound = bound };
	int r = hdb_list_open(c->db, HDB_DOMINATED, &c->list, err);

	assert(bound > 0);
	assert(!c->found);
	if (r == HDB_OK)
		r = find_members(c, &f, is_descending, err);
	*is_few = r == HDB_OK && !f.is_over;
	if (*is_few) {
		c->list_ixs = c->found = f.ixs;
		c->list_count = f.count;
		c->list_at = 0;
		f.ixs = NULL;
	} else {
		hdb_list_close(c->list);
		c->list = NULL;
	}
	return r;
}
