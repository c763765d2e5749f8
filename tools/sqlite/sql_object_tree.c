/*
 * sqlite/sql_object_tree.c - finds the first objects in an order, and objects that retain at least
 * a number of bytes. The search starts at the top of the dominator tree, because no object retains
 * more than its dominator, or reads all objects in one pass.
 */
#include "sqlite/sql_objects.h"

#include "base/sort.h"

struct top {
	/*
	 * retained size; for referrers, the complement of their number, so that the object with the
	 * fewest referrers comes first
	 */
	uint64_t bytes;
	uint32_t ix;
};

static bool is_larger(const struct top *a, const struct top *b)
{
	return a->bytes > b->bytes || (a->bytes == b->bytes && a->ix < b->ix);
}

/* Adds an element to `tops`, a binary heap whose first element is the largest. */
static int push_top(struct base_vec *tops, struct top top, struct hdb_error *err)
{
	size_t at = tops->count;
	struct top *data;

	TRY(base_vec_push(tops, &top, sizeof(top), err));
	data = tops->data;
	while (at > 0 && is_larger(&top, &data[(at - 1) / 2])) {
		data[at] = data[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	data[at] = top;
	return HDB_OK;
}

static struct top pop_top(struct base_vec *t)
{
	struct top *data = t->data;
	const struct top first = data[0], last = data[--t->count];
	size_t at = 0;

	assert(!is_larger(&last, &first));
	for (;;) {
		size_t child = at * 2 + 1;

		if (child >= t->count)
			break;
		if (child + 1 < t->count && is_larger(&data[child + 1], &data[child]))
			child++;
		if (!is_larger(&data[child], &last))
			break;
		data[at] = data[child];
		at = child;
	}
	if (t->count)
		data[at] = last;
	assert(!t->count || !is_larger(&data[0], &first));
	return first;
}

/* ---- the dominator tree ---- */

/* Adds as many children of an object as needed. Children are sorted by descending size. */
static int push_children(struct objects_cursor *c, struct base_vec *t, uint32_t ix, uint64_t wanted,
			 struct hdb_error *err)
{
	uint64_t pushed = 0;
	const uint32_t *ixs;
	size_t count = 0;

	TRY(hdb_list_begin(c->list, ix, NULL, err));
	do {
		TRY(hdb_list_next(c->list, &ixs, &count, err));
		for (size_t i = 0; i < count && pushed < wanted; i++) {
			struct hdb_object_facts facts = { .struct_size = sizeof(facts) };
			struct top top = { .ix = ixs[i] };

			TRY(hdb_object_at(c->db, top.ix, &facts, err));
			TRY(hdb_retained_at(c->db, top.ix, &top.bytes, err));
			if (top.bytes < c->retained_from)
				return HDB_OK;
			TRY(push_top(t, top, err));
			pushed += facts.is_real != 0;
		}
	} while (count && pushed < wanted);
	return HDB_OK;
}

int sql_objects_largest(struct objects_cursor *c, size_t wanted, struct hdb_error *err)
{
	struct base_vec tops = { 0 };
	int r = hdb_list_open(c->db, HDB_DOMINATED, &c->list, err);

	assert(!c->found);
	c->found = calloc(wanted + 1, sizeof(*c->found));
	if (!c->found && r == HDB_OK)
		r = hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for %zu objects", wanted);
	if (r == HDB_OK)
		r = push_children(c, &tops, HDB_NONE, wanted, err);
	while (r == HDB_OK && tops.count && c->list_count < wanted) {
		const struct top top = pop_top(&tops);

		if ((r = sql_object_take(c, top.ix, err)) != HDB_OK)
			break;
		c->found[c->list_count] = top.ix;
		c->list_count += c->facts.is_real != 0;
		r = push_children(c, &tops, top.ix, wanted - c->list_count, err);
		if (base_flag_is_set(c->source->cancel))
			r = hdb_fail(err, HDB_EINTR, "interrupted");
		/* with this many objects, the caller does not use the list */
		if (c->retained_from && c->list_count + tops.count >= wanted)
			c->list_count = wanted;
	}
	c->list_ixs = c->found;
	base_vec_release(&tops);
	return r;
}

int sql_objects_retaining(struct objects_cursor *c, bool is_descending, bool *is_few,
			  struct hdb_error *err)
{
	assert(c->retained_from > 0);
	TRY(sql_objects_largest(c, LARGEST_MAX + 1, err));
	*is_few = c->list_count <= LARGEST_MAX;
	if (*is_few && c->list_count)
		qsort(c->found, c->list_count, sizeof(*c->found), base_compare_u32);
	for (size_t i = 0; *is_few && is_descending && i < c->list_count / 2; i++) {
		const uint32_t other = c->found[i];

		c->found[i] = c->found[c->list_count - 1 - i];
		c->found[c->list_count - 1 - i] = other;
	}
	return HDB_OK;
}

/* ---- numbers of referrers ---- */

/*
 * Reads the objects with the most referrers into a binary heap. Its first element has the fewest
 * referrers so far, and is the next to be replaced.
 */
static int read_referrers(struct base_vec *t, struct hdb_scan *scan, size_t wanted,
			  struct hdb_error *err)
{
	struct hdb_batch batch = { .struct_size = sizeof(batch) };
	int r;

	while ((r = hdb_scan_next(scan, &batch, err)) == HDB_OK)
		for (size_t i = 0; i < batch.count; i++) {
			const struct top top = { ~batch.referrers[i], ~batch.ix[i] };

			if (t->count == wanted && !is_larger(base_vec_at(t, struct top, 0), &top))
				continue;
			if (t->count == wanted)
				(void)pop_top(t);
			TRY(push_top(t, top, err));
		}
	return r < 0 ? r : HDB_OK;
}

int sql_objects_most_referred(struct objects_cursor *c, unsigned columns, size_t wanted,
			      struct hdb_error *err)
{
	const struct hdb_scan_options opt = {
		.struct_size = sizeof(opt),
		.columns = columns | HDB_SCAN_REFERRERS,
		.population = c->population,
	};
	struct base_vec tops = { 0 };
	struct hdb_scan *scan;
	int r;

	TRY(hdb_scan_open(c->db, &opt, &scan, err));
	r = wanted ? read_referrers(&tops, scan, wanted, err) : HDB_OK;
	hdb_scan_close(scan);
	c->list_count = tops.count;
	c->list_ixs = c->found = calloc(tops.count + 1, sizeof(*c->found));
	if (!c->found && r == HDB_OK)
		r = hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for %zu objects", tops.count);
	while (r == HDB_OK && tops.count) {
		const struct top least = pop_top(&tops);

		c->found[tops.count] = ~least.ix;
	}
	base_vec_release(&tops);
	return r;
}
