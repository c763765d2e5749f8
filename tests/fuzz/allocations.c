/*
 * fuzz/allocations.c - records of Android's allocation tracker from arbitrary bytes: all groupings
 * have the same total.
 */
#include "androidfiles/androidfiles.h"

#include "support/fuzz_target.h"

#include <stdlib.h>

static void group(const uint8_t *data, size_t size, enum android_allocations_by by)
{
	struct android_allocations list;
	struct call_tree tree = { 0 };
	uint64_t count = 0, bytes = 0;

	if (android_allocations_read(data, size, &list, NULL) == HDB_OK &&
	    android_allocations_group(&list, by, &tree, NULL) == HDB_OK) {
		for (size_t i = 0; i + 1 < tree.count; i++) {
			const struct call_node *node = &tree.nodes[tree.order[i]];

			count += node->level ? 0 : node->count;
			bytes += node->level ? 0 : node->bytes;
		}
		/* Allocations without a call stack are not in the tree. */
		if (by == ANDROID_BY_STACK ? count > list.count || bytes > list.bytes :
					     count != list.count || bytes != list.bytes)
			abort();
	}
	call_tree_release(&tree);
	android_allocations_release(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (int by = ANDROID_BY_CLASS; by <= ANDROID_BY_SITE; by++)
		group(data, size, (enum android_allocations_by)by);
	return 0;
}
