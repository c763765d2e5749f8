/*
 * sqlite/sql_object_tree.c - the objects that retain a number of bytes or more: the top of the
 * dominator tree, for nothing retains more than what dominates it.
 */
#include "sqlite/sql_objects.h"

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
	if (f->count == f->room) {
		const size_t room = f->room ? f->room * 2 : 256;
		uint32_t *ixs = realloc(f->ixs, room * sizeof(*ixs));

		if (!ixs)
			return sql_fail(err, HDB_ENOMEM, "no memory for %zu objects", room);
		f->ixs = ixs;
		f->room = room;
	}
	f->ixs[f->count++] = ix;
	return HDB_OK;
}

/* Adds what an object dominates and retains as much. */
static int add_children(struct objects_cursor *c, uint32_t ix, struct found *f,
			struct hdb_error *err)
{
	bool is_low = false;
	int r = hdb_list_begin(c->list, ix, NULL, err);

	while (r == HDB_OK && !is_low && !f->is_over) {
		const uint32_t *ixs;
		size_t count = 0;

		r = hdb_list_next(c->list, &ixs, &count, err);
		if (r != HDB_OK || !count)
			return r;
		/* The largest come first. */
		for (size_t i = 0; i < count && r == HDB_OK && !is_low && !f->is_over; i++) {
			uint64_t retained = 0;

			r = hdb_retained_at(c->db, ixs[i], &retained, err);
			is_low = retained < f->bound;
			if (r == HDB_OK && !is_low)
				r = add(f, ixs[i], err);
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
	struct found f = { .bound = bound };
	int r = hdb_list_open(c->db, HDB_DOMINATED, &c->list, err);

	*is_few = false;
	if (r == HDB_OK)
		r = add_children(c, HDB_NONE, &f, err);
	for (size_t i = 0; i < f.count && r == HDB_OK && !f.is_over; i++) {
		r = add_children(c, f.ixs[i], &f, err);
		if (r == HDB_OK && c->source->cancel && *c->source->cancel)
			r = sql_fail(err, HDB_EINTR, "interrupted");
	}
	if (r == HDB_OK && !f.is_over)
		r = keep_members(c, &f, is_descending, err);
	if (r != HDB_OK || f.is_over) {
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
