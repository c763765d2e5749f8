/*
 * heap/heap_counts.c - number and total size of objects by class and kind, as counted by the
 * import. The figures come from the `class.counts` table, plus one row per class object.
 */
#include "heap/heap.h"
#include "layout/layout.h"

#include <assert.h>

/* Returns the total size of the elements beyond the row's length, over all objects of the row. */
static uint64_t bytes_beyond(const struct heap *heap, const struct heap_count *c, uint32_t modulus)
{
	const uint64_t elements = c->elements - c->count * c->length;
	const uint32_t period = layout_stack_chunk_period(modulus);
	const struct store_class *class = heap_class(heap, c->class_no);

	if (c->kind == STORE_OBJECT_ARRAY)
		return elements *
		       (class->element_bytes ? class->element_bytes : heap->layout.reference_bytes);
	if (c->kind == STORE_PRIMITIVE_ARRAY)
		return elements * hprof_type_size(class->element_type, heap->id_size);
	return elements / period * heap_tail_bytes(heap, period);
}

/* Checks a row from the file. Inconsistent counts could overflow sums. */
static bool is_sound(const struct heap *heap, const struct store_class_count *row)
{
	uint64_t least;

	return row->class_no < heap->class_count && row->kind < STORE_CLASS &&
	       row->count <= heap->object_count &&
	       !__builtin_mul_overflow(row->count, (uint64_t)row->length, &least) &&
	       row->elements >= least;
}

/* Reports class objects, including those that the dump does not contain. */
static int each_class(struct heap *heap,
		      int (*take)(void *ctx, const struct heap_count *count, struct hdb_error *err),
		      void *ctx, struct hdb_error *err)
{
	assert(heap->classes.records);
	assert(heap->class_class_no < heap->class_count);
	for (uint32_t no = 0; no < heap->class_count; no++) {
		const struct store_class *class = heap_class(heap, no);
		const struct heap_count count = {
			.class_no = heap->class_class_no,
			.kind = STORE_CLASS,
			.length = no,
			.count = 1,
			.shallow_bytes = class->class_bytes,
			.is_invented = class->flags & STORE_CLASS_INVENTED,
		};

		TRY(take(ctx, &count, err));
	}
	return HDB_OK;
}

/*
 * Reports the counts. All objects of a row have the same padding, so the total size is exact: the
 * size of an object with the row's length times the number of objects, plus the size of the
 * elements beyond that length.
 */
int heap_each_count(struct heap *heap,
		    int (*take)(void *ctx, const struct heap_count *count, struct hdb_error *err),
		    void *ctx, struct hdb_error *err)
{
	const uint64_t modulus = store_meta_number(heap->store, "counts.modulus", 0);
	struct store_table_info info;
	int r;

	assert(take);
	/* The import counted all heaps together. */
	if (heap->filter.is_on)
		return HDB_NOTFOUND;
	TRY(store_table_info(heap->store, STORE_CLASS_COUNTS, &info, err));
	TRY(heap_load_classes(heap, err));
	if (!modulus || modulus > UINT16_MAX || heap->class_class_no >= heap->class_count)
		return store_damaged(heap->store, STORE_CLASS_COUNTS, 0, "impossible modulus", err);
	for (uint64_t i = 0; i < info.item_count; i++) {
		struct store_class_count row;
		struct heap_count c;

		r = store_record(heap->store, STORE_CLASS_COUNTS, i, &row, err);
		if (r == HDB_NOTFOUND || (r == HDB_OK && !is_sound(heap, &row)))
			r = store_damaged(heap->store, STORE_CLASS_COUNTS, i, "impossible count",
					  err);
		TRY_ERRORS(r);
		c = (struct heap_count){
			.class_no = row.class_no,
			.kind = row.kind,
			.length = row.length,
			.embedded = row.is_embedded ? STORE_KIND_EMBEDDED : 0,
			.count = row.count,
			.elements = row.elements,
		};
		c.shallow_bytes =
			c.count * heap_shallow(heap, c.class_no, c.kind | c.embedded, c.length) +
			bytes_beyond(heap, &c, (uint32_t)modulus);
		TRY(take(ctx, &c, err));
	}
	return each_class(heap, take, ctx, err);
}

/* Receives counts while blocks are read. */
struct taker {
	struct heap *heap;
	int (*take)(void *ctx, const struct heap_count *count, struct hdb_error *err);
	void *ctx;
};

/* Reports each object separately, if the database has no counts or a filter selects one heap. */
static int give_block(void *ctx, const struct heap_block *block, struct hdb_error *err)
{
	const struct taker *to = ctx;

	for (uint32_t i = 0; i < block->count; i++) {
		const uint64_t length = block->length[i];
		const struct heap_count one = {
			.class_no = block->class_no[i],
			.kind = block->kind[i],
			.length = length,
			.embedded = block->embedded[i],
			.count = 1,
			.elements = length,
			.shallow_bytes = block->shallow[i],
			.is_invented = block->kind[i] == STORE_CLASS &&
				       heap_class(to->heap, (uint32_t)length)->flags &
					       STORE_CLASS_INVENTED,
		};

		if (block->first_ix + i != HEAP_BOOT_LOADER && block->kind[i] != HEAP_LEFT_OUT)
			TRY(to->take(to->ctx, &one, err));
	}
	return HDB_OK;
}

int heap_count_all(struct heap *heap, struct base_work *work,
		   int (*take)(void *ctx, const struct heap_count *count, struct hdb_error *err),
		   void *ctx, struct hdb_error *err)
{
	struct taker to = { heap, take, ctx };
	const int r = heap_each_count(heap, take, ctx, err);

	return r > 0 ? heap_each_block(heap, work, give_block, &to, err) : r;
}
