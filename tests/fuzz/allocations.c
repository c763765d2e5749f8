/*
 * fuzz/allocations.c - records of Android's allocation tracker from arbitrary bytes: all groupings
 * add up to the same.
 */
#include "androidfiles/androidfiles.h"

#include "support/fuzz_target.h"

#include <stdlib.h>

static void group(const uint8_t *data, size_t size, enum android_allocations_by by)
{
	struct android_allocations list;
	uint64_t count = 0, bytes = 0;

	if (android_allocations_read(data, size, &list, NULL) == HDB_OK &&
	    android_allocations_group(&list, by, NULL) == HDB_OK) {
		for (size_t i = 0; i < list.row_count; i++) {
			count += list.rows[i].level ? 0 : list.rows[i].count;
			bytes += list.rows[i].level ? 0 : list.rows[i].bytes;
			if (by != ANDROID_BY_THREAD && !list.rows[i].name)
				abort();
		}
		/* What has no call stack is in no tree. */
		if (by == ANDROID_BY_STACK ? count > list.count || bytes > list.bytes :
					     count != list.count || bytes != list.bytes)
			abort();
	}
	android_allocations_release(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (int by = ANDROID_BY_CLASS; by <= ANDROID_BY_SITE; by++)
		group(data, size, (enum android_allocations_by)by);
	return 0;
}
