/*
 * derive/orphans.c - the `orphans` table: the objects of an incomplete dump that nothing in the
 * dump refers to.
 *
 * In a truncated dump, or a dump without roots, most objects may be referred to only by missing
 * objects. Orphans count as roots, as in Eclipse MAT with "keep unreachable objects", so that the
 * objects below them can be analysed. Of a cycle of objects that is not reachable from outside, one
 * object is chosen.
 */
#include "base/bits.h"
#include "derive/build.h"

#include "graph/reach.h"

static int put_orphans(struct store_writer *writer, const uint64_t *orphans, uint64_t words,
		       struct hdb_error *err)
{
	for (uint64_t at = 0; at < words; at += HEAP_ORPHAN_WORDS) {
		const uint64_t n = words - at < HEAP_ORPHAN_WORDS ? words - at : HEAP_ORPHAN_WORDS;

		TRY(store_put(writer, STORE_ORPHANS,
			      &(struct store_block){ .key = at,
						     .item_count = (uint32_t)n,
						     .data = (const uint8_t *)(orphans + at),
						     .size = n * sizeof(*orphans) },
			      err));
	}
	return HDB_OK;
}

static int build_orphans(struct derive *derive, struct store_writer *writer, struct hdb_error *err)
{
	const uint64_t words = ((uint64_t)derive->heap->object_count + 63) / 64;
	BASE_SCOPED(base_big_free) struct base_big bits = { 0 };
	BASE_SCOPED(graph_rows_release) struct graph_rows rows = { 0 };

	TRY(derive_graph_load(derive, false, &rows, err));
	TRY(base_big_alloc(derive->work, &bits, (words + 1) * sizeof(uint64_t), "a set of objects",
			   err));
	TRY(graph_reach_orphans(&rows, derive->heap->roots.bits, derive->work, bits.data, err));
	/* The graph is no longer needed when the table is written. */
	graph_rows_release(&rows);
	/*
	 * The placeholder of the boot loader is never an orphan, because it is not an object of the
	 * dump.
	 */
	base_bit_drop(bits.data, HEAP_BOOT_LOADER);
	TRY(put_orphans(writer, bits.data, words, err));
	return store_put_table(writer, STORE_ORPHANS, derive->heap->object_count, err);
}

const struct derive_builder derive_build_orphans = {
	.tables = { STORE_ORPHANS },
	.build = build_orphans,
};
