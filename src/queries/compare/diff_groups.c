/*
 * queries/compare/diff_groups.c - diff by class, superclass, package or loader: joins the totals of
 * all dumps by name.
 *
 * Groups of one dump with the same name (and the same class of loader) are added up. So if many
 * loaders of one class load the same class, the copies form one row, and so do hidden classes whose
 * names differ only in their address.
 */
#include "analysis/groups.h"
#include "base/glob.h"
#include "base/sort.h"
#include "queries/compare/diff.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The total of a group in one dump. */
struct part {
	/* borrowed from the heap; `loader` is "" if class loaders are not compared */
	const char *name, *loader;
	size_t name_size;
	uint32_t side;
	uint32_t no;
	struct diff_figures figures;
};

/* A group in all dumps: parts [first, end). */
struct row {
	size_t first, end;
	int64_t delta, count_delta;
	const struct part *part;
};

/* State of this part. */
struct groups {
	struct base_vec parts; /* struct part, sorted by compare_parts */
	struct row *rows;
	size_t count;
	struct analysis_cut unchanged;
	struct diff_figures *by_side; /* figures of the current row */
};

/* Returns whether a name belongs to a hidden class and was cut by lasting_size. */
static bool is_hidden(const char *name, size_t size)
{
	return size > 3 && memcmp(name + size - 3, "+0x", 3) == 0;
}

/*
 * Returns the size of a name without the address that the VM appends to hidden classes such as
 * lambdas, which differs in each run: "a.B$$Lambda$1+0x00007f12c8003a40".
 */
static size_t lasting_size(const char *name, size_t size)
{
	size_t end = size;

	while (end && isxdigit((unsigned char)name[end - 1]))
		end--;
	return is_hidden(name, end) ? end : size;
}

static int add_side(struct diff *d, size_t s, struct hdb_error *err)
{
	struct groups *g = d->part;
	const struct session *side = &d->sides[s];
	const bool has_loader = d->group == DERIVE_CLASS || d->group == DERIVE_SUPERCLASS;
	BASE_SCOPED(analysis_groups_release) struct analysis_groups groups = { 0 };

	TRY(analysis_load_groups(side, d->group, &groups, err));
	for (size_t i = 0; i < groups.count; i++) {
		const struct derive_total *total = &groups.totals[i];
		struct part part = {
			.side = (uint32_t)s,
			.no = total->no,
			.loader = "",
			.figures = { total->count, total->shallow_bytes, total->retained_bytes },
		};
		BASE_FREED char *copy = NULL;

		part.name = analysis_group_name(side, d->group, total->no, &part.name_size);
		part.name_size = lasting_size(part.name, part.name_size);
		if (has_loader)
			part.loader =
				heap_loader_name(side->heap, heap_class(side->heap, total->no));
		if (d->only) {
			copy = strndup(part.name, part.name_size);
			if (!copy)
				return hdb_fail_memory(err, "a name", part.name_size);
		}
		if (total->count && (!d->only || base_glob(d->only, copy)))
			TRY(base_vec_push(&g->parts, &part, sizeof(part), err));
	}
	return HDB_OK;
}

/* Compares the keys that join the dumps. */
static int compare_keys(const struct part *a, const struct part *b)
{
	BASE_COMPARED(base_compare_text(a->name, a->name_size, b->name, b->name_size));
	return strcmp(a->loader, b->loader);
}

BASE_ORDER(compare_parts, struct part, BASE_BY(compare_keys(x, y)), BASE_UP(side), BASE_UP(no))

static uint64_t size_of(int64_t delta)
{
	return delta < 0 ? 0 - (uint64_t)delta : (uint64_t)delta;
}

/* Sorts by the size of the change, up or down, largest first. */
static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	BASE_DESCENDING(size_of(x->delta), size_of(y->delta));
	BASE_DESCENDING(size_of(x->count_delta), size_of(y->count_delta));
	return compare_keys(x->part, y->part);
}

static void add_up(const struct diff *d, const struct row *row, struct diff_figures *by_side)
{
	const struct groups *g = d->part;

	memset(by_side, 0, d->side_count * sizeof(*by_side));
	for (size_t i = row->first; i < row->end; i++) {
		const struct part *part = base_vec_at(&g->parts, struct part, i);

		by_side[part->side].count += part->figures.count;
		by_side[part->side].shallow_bytes += part->figures.shallow_bytes;
		by_side[part->side].retained_bytes += part->figures.retained_bytes;
	}
}

/* Returns whether the figures are the same in all dumps. */
static bool is_unchanged(const struct diff *d, const struct diff_figures *by_side)
{
	for (size_t s = 1; s < d->side_count; s++)
		if (by_side[s].count != by_side->count ||
		    by_side[s].shallow_bytes != by_side->shallow_bytes ||
		    by_side[s].retained_bytes != by_side->retained_bytes)
			return false;
	return true;
}

static int make_rows(struct diff *d, struct hdb_error *err)
{
	struct groups *g = d->part;
	const size_t n = g->parts.count;
	size_t unchanged = 0;

	TRY(BASE_ALLOC(g->rows, n + 1, "a comparison", err));
	TRY(BASE_ALLOC(g->by_side, d->side_count + 1, "a comparison", err));
	base_vec_sort(&g->parts, sizeof(struct part), compare_parts);
	for (size_t i = 0; i < n; i++) {
		const struct part *part = base_vec_at(&g->parts, struct part, i);

		if (i == 0 || compare_keys(part, part - 1) != 0)
			g->rows[g->count++] = (struct row){ .first = i, .part = part };
		g->rows[g->count - 1].end = i + 1;
	}
	for (size_t i = 0; i < g->count; i++) {
		const struct diff_figures *last = &g->by_side[d->side_count - 1];
		struct row *row = &g->rows[i - unchanged];

		*row = g->rows[i];
		add_up(d, row, g->by_side);
		row->delta = (int64_t)(last->retained_bytes - g->by_side->retained_bytes);
		row->count_delta = (int64_t)(last->count - g->by_side->count);
		unchanged += !d->only && is_unchanged(d, g->by_side);
	}
	g->count -= unchanged;
	/*
	 * with --by superclass, sums over rows are meaningless, because several rows count the same
	 * object
	 */
	g->unchanged =
		(struct analysis_cut){ unchanged, ANALYSIS_NOT_COUNTED, ANALYSIS_NOT_COUNTED };
	if (g->count)
		qsort(g->rows, g->count, sizeof(*g->rows), compare_rows);
	return HDB_OK;
}

static int open_groups(struct query *q, struct diff *d, struct hdb_error *err)
{
	const struct groups *g = d->part;

	for (size_t s = 0; s < d->side_count; s++)
		TRY(add_side(d, s, err));
	TRY(make_rows(d, err));
	if (d->only && !g->parts.count)
		return hdb_fail(err, HDB_NOTFOUND, "no name in any of the dumps matches %s",
				d->only);
	q->total = g->count;
	query_cut(q, &g->unchanged, "unchanged");
	return HDB_OK;
}

static int group_row(struct query *q, struct diff *d, size_t no, struct hdb_error *err)
{
	struct groups *g = d->part;
	const struct row *row = &g->rows[no];

	assert(no < g->count);
	add_up(d, row, g->by_side);
	/* The name of hidden classes is a pattern that other queries accept. */
	if (is_hidden(row->part->name, row->part->name_size))
		query_format(q, DIFF_NAME, "%.*s*", (int)row->part->name_size, row->part->name);
	else
		query_lend_text_n(q, DIFF_NAME, row->part->name, row->part->name_size);
	query_lend_text(q, DIFF_LOADER, row->part->loader);
	return diff_set_figures(q, d, g->by_side, err);
}

static void close_groups(struct diff *d)
{
	struct groups *g = d->part;

	base_vec_release(&g->parts);
	free(g->rows);
	free(g->by_side);
}

const struct diff_part diff_groups = { sizeof(struct groups), open_groups, group_row,
				       close_groups };
