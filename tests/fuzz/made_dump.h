/*
 * fuzz/made_dump.h - shared by the fuzz targets that convert other formats to dumps: the file that
 * holds an input, memory for the dump, and a walk over the dump.
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

/* Larger inputs find no more problems than smaller inputs. */
#define SIZE_MAX_FUZZ 65536
/* Maximum size of the dump. The converter allows more growth than fuzzing has time for. */
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
 * Walks the dump. A complete dump must not be damaged. A dump that was cut lacks its end, which
 * does not count as damage.
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

/* Writes the input to a file, in memory if possible, always with the same name. */
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
