/*
 * fuzz/made_dump.h - what fuzz targets share that turn files of other formats into dumps: the file
 * that holds an input, memory that takes the dump, and a walk over it.
 */
#ifndef FUZZ_MADE_DUMP_H
#define FUZZ_MADE_DUMP_H

#include "base/source.h"
#include "hprof/dump_writer.h"
#include "hprof/walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Larger inputs find nothing that smaller ones do not. */
#define SIZE_MAX_FUZZ 65536
/* What one input may become: the growth that is allowed is more than fuzzing has time for. */
#define OUT_MAX (4u << 20)

struct made_dump {
	char *data; /* room for OUT_MAX; owned */
	size_t size;
};

static inline int made_dump_put(void *ctx, const void *data, size_t size, struct hdb_error *err)
{
	struct made_dump *out = ctx;

	if (size > OUT_MAX - out->size)
		return hdb_fail(err, HDB_ELIMIT, "enough");
	memcpy(out->data + out->size, data, size);
	out->size += size;
	return HDB_OK;
}

/*
 * Walks it: it must have no damage, if it is whole. A dump that was cut becomes one without an end,
 * which is no damage in itself.
 */
static inline void made_dump_walk(const struct made_dump *out, bool is_whole)
{
	struct base_source *source;
	struct hprof_file file;
	struct hprof_walk walk;
	enum hprof_event event;

	if (base_memory_open(out->data, out->size, &source, NULL) != HDB_OK ||
	    hprof_open(source, &file, NULL) != HDB_OK)
		abort();
	hprof_walk_init(&walk, &file);
	while (hprof_walk_next(&walk, &event, NULL) == HDB_OK)
		if (event == HPROF_EVENT_PROBLEM && is_whole)
			abort();
	hprof_walk_release(&walk);
	base_source_close(source);
}

/* A file with the input's bytes, in memory where that is possible; the same name each time. */
static inline const char *made_dump_input(const uint8_t *data, size_t size)
{
	static char path[64];
	FILE *f;

	if (!path[0])
		(void)snprintf(path, sizeof(path), "%s/hdbfuzz%d",
			       access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (int)getpid());
	f = fopen(path, "wb");
	if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0)
		abort();
	return path;
}

#endif
