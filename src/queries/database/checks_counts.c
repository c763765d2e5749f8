/* queries/database/checks_counts.c - checks the import's counts against the objects. */
#include "queries/database/checks.h"

#include <stdlib.h>

/* Number and size of the objects of a class. */
struct sum {
	uint64_t count, bytes;
};

static int add_counted(void *ctx, const struct heap_count *count, struct hdb_error *err)
{
	struct sum *sum = (struct sum *)ctx + count->class_no;

	(void)err;
	sum->count += count->count;
	sum->bytes += count->shallow_bytes;
	return HDB_OK;
}

/* Subtracts the objects of a block from the counts. */
static int take_block(void *ctx, const struct heap_block *block, struct hdb_error *err)
{
	struct sum *sums = ctx;

	(void)err;
	for (uint32_t i = 0; i < block->count; i++) {
		if (block->first_ix + i == HEAP_BOOT_LOADER)
			continue;
		sums[block->class_no[i]].count--;
		sums[block->class_no[i]].bytes -= block->shallow[i];
	}
	return HDB_OK;
}

int query_check_class_counts(struct query *q, struct query_check_found *found,
			     struct hdb_error *err)
{
	const size_t n = (size_t)q->heap->class_count + 1;
	BASE_FREED struct sum *sums = calloc(n, sizeof(*sums));

	TRY(sums ? heap_each_count(q->heap, add_counted, sums, err) :
		   hdb_fail_memory(err, "counts by class", n * sizeof(*sums)));
	TRY(heap_each_block(q->heap, q->work, take_block, sums, err));
	for (uint32_t no = 0; no < q->heap->class_count && found->ok; no++) {
		if (!sums[no].count && !sums[no].bytes)
			continue;
		FAIL(found,
		     "class 0x%" PRIx64 ": %" PRId64 " objects and %" PRId64 " bytes too many "
		     "are counted",
		     heap_class(q->heap, no)->class_id, (int64_t)sums[no].count,
		     (int64_t)sums[no].bytes);
	}
	if (found->ok)
		SAY(found, "objects and bytes of %" PRIu32 " classes", q->heap->class_count);
	return HDB_OK;
}
