/*
 * fuzz/heapprofd.c - native heaps in traces of arbitrary bytes. The sums of all groupings equal the
 * totals of the last dumps.
 */
#include "androidfiles/androidfiles.h"

#include "support/fuzz_target.h"

#include <stdlib.h>

/* The sum of the rows on the top level. */
static struct call_node rows_of(const struct call_tree *tree)
{
	struct call_node sum = { 0 };

	for (size_t i = 0; i + 1 < tree->count; i++)
		if (tree->nodes[tree->order[i]].level == 0)
			call_node_add(&sum, &tree->nodes[tree->order[i]]);
	return sum;
}

/* The last dump of each heap, or of the heap of `dump`. */
static struct call_node dumps_of(const struct android_native *native, unsigned dump)
{
	struct call_node sum = { 0 };

	if (dump)
		return android_dump_at(native, dump - 1)->sums;
	for (size_t i = 0; i < native->dumps.count; i++) {
		size_t later = i + 1;

		while (later < native->dumps.count && android_dump_at(native, later)->heap_no !=
							      android_dump_at(native, i)->heap_no)
			later++;
		if (later == native->dumps.count)
			call_node_add(&sum, &android_dump_at(native, i)->sums);
	}
	return sum;
}

static void group(const uint8_t *data, size_t size, unsigned dump, enum android_allocations_by by)
{
	struct android_native native;
	struct call_tree tree = { 0 };

	if (android_native_read(data, size, &native, NULL) == HDB_OK &&
	    android_native_group(&native, dump, by, &tree, NULL) == HDB_OK) {
		const struct call_node rows = rows_of(&tree), dumps = dumps_of(&native, dump);

		if (rows.count != dumps.count || rows.bytes != dumps.bytes ||
		    rows.all_count != dumps.all_count || rows.all_bytes != dumps.all_bytes ||
		    rows.count > rows.all_count || rows.bytes > rows.all_bytes)
			abort();
	}
	call_tree_release(&tree);
	android_native_release(&native);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (unsigned dump = 0; dump < 3; dump++)
		for (int by = ANDROID_BY_STACK; by <= ANDROID_BY_MODULE; by++)
			group(data, size, dump, (enum android_allocations_by)by);
	return 0;
}
