/*
 * fuzz/walk.c - the HPROF reader on arbitrary bytes. It ends after a bounded number of steps, and
 * every step moves forward.
 */
#include "hprof/emptied.h"
#include "hprof/walk.h"

#include "support/fuzz_target.h"

#include <stdlib.h>

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	return fuzz_mutate_dump(data, size, max_size, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct base_source *source;
	struct hprof_file file;
	struct hprof_walk walk;
	enum hprof_event event;
	uint64_t events = 0;
	int r;

	if (base_memory_open(data, size, &source, NULL) != HDB_OK)
		return 0;
	if (hprof_open(source, &file, NULL) == HDB_OK &&
	    hprof_find_emptied(&file, NULL) == HDB_OK) {
		hprof_walk_init(&walk, &file);
		while ((r = hprof_walk_next(&walk, &event, NULL)) == HDB_OK) {
			/* A record or a problem takes at least a byte, whatever the bytes are. */
			if (++events > 16 * (uint64_t)size + 1000)
				abort();
			if (event == HPROF_EVENT_SUB && walk.sub.end > size)
				abort();
		}
		hprof_walk_release(&walk);
	}
	base_source_close(source);
	return 0;
}
