/* import/counts.c - the `class.counts` table; see counts.h. */
#include "import/counts.h"

#include "base/sort.h"
#include "import/context.h"
#include "layout/layout.h"

#include <stdlib.h>

static uint32_t least_common_multiple(uint32_t a, uint32_t b)
{
	return layout_array_period(a, b) * b;
}

int import_counts_begin(struct import *im, struct hdb_error *err)
{
	struct import_counts *counts = &im->evidence.counts_by_class;
	unsigned fixed;

	TRY(import_fixed_alignment(im, &fixed, err));
	/*
	 * Eclipse MAT's alignment is a multiple of every other alignment that heapdb may choose,
	 * except an alignment specified by the user: MAT's is 8 or a power of two up to 256 that
	 * divides all distances, and recorded alignments are 1 or 8.
	 */
	counts->modulus = least_common_multiple(im->evidence.mat_align_bytes, fixed ? fixed : 1);
	for (unsigned width = 1; width < 16; width++)
		counts->period[width] = layout_array_period(counts->modulus, width);
	counts->period[0] = layout_stack_chunk_period(counts->modulus);
	/* Elements that are flat values may have any width. */
	counts->reference_bytes = im->flat.last ? 1 : 4;
	return HDB_OK;
}

int import_counts_add(struct import_counting *c, const struct store_object *o,
		      struct hdb_error *err)
{
	const uint64_t key = import_counts_key(c, o);
	struct import_count *entry = import_counts_place(c, key);

	if (entry->key != key && entry->count)
		TRY(base_vec_push(c->counted, entry, sizeof(*entry), err));
	if (entry->key != key || !entry->count)
		*entry = (struct import_count){ .key = key };
	entry->count++;
	entry->elements += o->length;
	return HDB_OK;
}

int import_counts_flush(struct import_counting *c, struct hdb_error *err)
{
	int r;

	for (unsigned i = 0; i < IMPORT_COUNT_CACHE; i++) {
		if (!c->cache[i].count)
			continue;
		r = base_vec_push(c->counted, &c->cache[i], sizeof(c->cache[i]), err);
		c->cache[i].count = 0;
		TRY(r);
	}
	return HDB_OK;
}

/*
 * Adds the counts of one thread to the total. Threads count the same kinds of objects in different
 * orders, but the sums do not depend on the order.
 */
static int merge(struct import_counts *to, const struct import_count *from, struct hdb_error *err)
{
	const uint32_t no = base_idmap_get(&to->map, from->key);
	struct import_count *row;

	if (no != BASE_IDMAP_NONE) {
		row = base_vec_at(&to->rows, struct import_count, no);
		row->count += from->count;
		row->elements += from->elements;
		return HDB_OK;
	}
	TRY(base_idmap_put(&to->map, from->key, (uint32_t)to->rows.count, err));
	return base_vec_push(&to->rows, from, sizeof(*from), err);
}

/*
 * Adds the counts of a block to the totals. A hostile dump may have more rows than
 * IMPORT_COUNTS_MAX. In that case the table, which is only an optimisation, is not written.
 */
int import_counts_merge(struct import *im, struct base_vec *counted, struct hdb_error *err)
{
	struct import_counts *to = &im->evidence.counts_by_class;
	int r = HDB_OK;

	for (size_t i = 0; i < counted->count && !to->is_given_up; i++) {
		r = merge(to, base_vec_at(counted, struct import_count, i), err);
		if (r != HDB_OK)
			break;
	}
	counted->count = 0;
	if (to->rows.count > IMPORT_COUNTS_MAX) {
		import_counts_release(to);
		to->is_given_up = true;
	}
	return r;
}

void import_counts_release(struct import_counts *counts)
{
	base_idmap_release(&counts->map);
	base_vec_release(&counts->rows);
}

/* ---- writing ---- */

static struct store_class_count stored(const struct import_count *row)
{
	return (struct store_class_count){
		.count = row->count,
		.elements = row->elements,
		.class_no = (uint32_t)(row->key >> 32),
		.kind = row->key >> 30 & 3,
		.is_embedded = row->key >> 29 & 1,
		.length = (uint32_t)row->key & ((1u << 29) - 1),
	};
}

/*
 * Adds a row for the instances of each class, and sorts the rows. Instances with a length already
 * have separate rows and are subtracted first.
 */
static int add_instances(struct import *im, struct import_counts *counts, struct hdb_error *err)
{
	const size_t rows = counts->rows.count;

	for (size_t i = 0; i < rows; i++) {
		const struct import_count *row = base_vec_at(&counts->rows, struct import_count, i);
		struct import_class *class = import_class_at(im, (uint32_t)(row->key >> 32));

		if ((row->key >> 30 & 3) == STORE_INSTANCE)
			class->instance_count -= row->count;
	}
	for (uint32_t no = 0; no < im->classes.count; no++) {
		const struct import_count row = {
			.key = (uint64_t)no << 32,
			.count = import_class_at(im, no)->instance_count,
		};

		if (row.count)
			TRY(merge(counts, &row, err));
	}
	if (counts->rows.count)
		qsort(counts->rows.data, counts->rows.count, sizeof(struct import_count),
		      base_compare_u64);
	return HDB_OK;
}

/*
 * Writes the table. If the chosen alignment does not divide the modulus, sums computed from the
 * table would be wrong, so no table is written.
 */
int import_write_class_counts(struct import *im, struct hdb_error *err)
{
	struct import_counts *counts = &im->evidence.counts_by_class;
	BASE_SCOPED(store_records_release)
	struct store_records_writer w = { .writer = im->writer, .table = STORE_CLASS_COUNTS };

	if (counts->is_given_up || counts->modulus % im->evidence.align_bytes)
		return HDB_OK;
	TRY(add_instances(im, counts, err));
	for (size_t i = 0; i < counts->rows.count; i++) {
		const struct store_class_count row =
			stored(base_vec_at(&counts->rows, struct import_count, i));

		TRY(store_records_put(&w, &row, err));
	}
	TRY(store_records_end(&w, err));
	return store_put_meta_number(im->writer, "counts.modulus", counts->modulus, err);
}
