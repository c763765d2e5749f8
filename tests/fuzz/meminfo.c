/*
 * fuzz/meminfo.c - the output of dumpsys meminfo and /proc, from arbitrary bytes: every row has a
 * name, and no figures except the figures that it declares.
 */
#include "androidfiles/androidfiles.h"

#include "support/fuzz_target.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct android_memory memory;

	if (android_memory_read((const char *)data, size, &memory, NULL) == HDB_OK && !memory.count)
		abort(); /* an empty result is a failure with a message */
	for (size_t i = 0; i < memory.count; i++) {
		const struct android_memory_row *row = &memory.rows[i];

		if (row->name >= memory.texts.size || row->process >= memory.texts.size ||
		    !memory.texts.data[row->name])
			abort();
		for (int k = 0; k < ANDROID_FIGURES; k++)
			if (!(row->has >> k & 1) && row->figures[k])
				abort();
	}
	android_memory_release(&memory);
	return 0;
}
