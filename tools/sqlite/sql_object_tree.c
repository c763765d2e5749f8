/*
 * sqlite/sql_object_tree.c - the objects that retain a number of bytes or more: the top of the
 * dominator tree, for nothing retains more than what dominates it.
 */
#include "sqlite/sql_objects.h"

#include <stdlib.h>

struct found {
	uint32_t *ixs;
	size_t count, room;
};

/* False: there are too many. */
static bool add(struct found *f, uint32_t ix, struct hdb_error *err, int *r)
{
	if (f->count == LARGEST_MAX)
		return false;
	if (f->count == f->room) {
		const size_t room = f->room ? f->room * 2 : 256;
		uint32_t *ixs = realloc(f->ixs, room * sizeof(*ixs));

		if (!ixs) {
			*r = sql_fail(err, HDB_ENOMEM, "no memory for %zu objects", room);
			return false;
		}
		f->ixs = ixs;
		f->room = room;
	}
	f->ixs[f->count++] = ix;
	return true;
}

/* Adds what an object dominates and retains as much; *is_over: there are too many. */
static int add_children(struct objects_cursor *c, uint32_t ix, uint64_t bound, struct found *f,
			bool *is_over, struct hdb_error *err)
{
	bool is_low = false;
	int r = hdb_list_begin(c->list, ix, NULL, err);

	while (r == HDB_OK && !is_low && !*is_over) {
		const uint32_t *ixs;
		size_t count = 0;

		r = hdb_list_next(c->list, &ixs, &count, err);
		if (r != HDB_OK || !count)
			return r;
		/* The largest come first. */
		for (size_t i = 0; i < count && r == HDB_OK && !is_low && !*is_over; i++) {
			uint64_t retained = 0;

			r = hdb_retained_at(c->db, ixs[i], &retained, err);
			is_low = retained < bound;
			if (r == HDB_OK && !is_low)
				*is_over = !add(f, ixs[i], err, &r);
		}
	}
	return r;
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
	int r = HDB_OK;

	for (size_t i = 0; i < f->count && r == HDB_OK; i++) {
		r = sql_object_take(c, f->ixs[i], err);
		if (r == HDB_OK && sql_object_is_member(c))
			f->ixs[kept++] = f->ixs[i];
	}
	f->count = kept;
	if (kept)
		qsort(f->ixs, kept, sizeof(*f->ixs), compare);
	for (size_t i = 0; is_descending && i < kept / 2; i++) {
		const uint32_t other = f->ixs[i];

		f->ixs[i] = f->ixs[kept - 1 - i];
		f->ixs[kept - 1 - i] = other;
	}
	return r;
}

int sql_objects_retaining(struct objects_cursor *c, uint64_t bound, bool is_descending,
			  bool *is_few, struct hdb_error *err)
{
	struct found f = { 0 };
	bool is_over = false;
	int r = hdb_list_open(c->db, HDB_DOMINATED, &c->list, err);

	*is_few = false;
	if (r == HDB_OK)
		r = add_children(c, HDB_NONE, bound, &f, &is_over, err);
	for (size_t i = 0; i < f.count && r == HDB_OK && !is_over; i++) {
		r = add_children(c, f.ixs[i], bound, &f, &is_over, err);
		if (r == HDB_OK && c->source->cancel && *c->source->cancel)
			r = sql_fail(err, HDB_EINTR, "interrupted");
	}
	if (r == HDB_OK && !is_over)
		r = keep_members(c, &f, is_descending, err);
	if (r != HDB_OK || is_over) {
		hdb_list_close(c->list);
		c->list = NULL;
		free(f.ixs);
		return r;
	}
	*is_few = true;
	c->found = f.ixs;
	c->list_ixs = f.ixs;
	c->list_count = f.count;
	c->list_at = 0;
	return r;
}
