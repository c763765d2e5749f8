/*
 * fuzz/perfetto.c - traces of arbitrary bytes: a result code, and what is written is a dump in
 * which the walk finds no damage.
 */
#include "base/source.h"
#include "hprof/walk.h"
#include "perfetto/perfetto.h"

#include "support/fuzz_target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Larger inputs find nothing that smaller ones do not. */
#define SIZE_MAX_FUZZ 65536
/* What one input may become: the growth that is allowed is more than fuzzing has time for. */
#define OUT_MAX (4u << 20)

struct out {
	char *data;
	size_t size;
};

static int put(void *ctx, const void *data, size_t size, struct hdb_error *err)
{
	struct out *out = ctx;

	if (size > OUT_MAX - out->size)
		return hdb_fail(err, HDB_ELIMIT, "enough");
	memcpy(out->data + out->size, data, size);
	out->size += size;
	return HDB_OK;
}

static void look(const struct out *out, bool is_whole)
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char path[64];
	struct out out = { 0 };
	const struct hprof_sink sink = { put, &out };
	struct hprof_written result;
	struct perfetto *trace;
	struct base_work work;
	FILE *f;

	if (size > SIZE_MAX_FUZZ)
		return 0;
	if (!path[0])
		(void)snprintf(path, sizeof(path), "%s/hdbfuzz%d.pftrace",
			       access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (int)getpid());
	f = fopen(path, "wb");
	out.data = malloc(OUT_MAX);
	if (!f || !out.data)
		return 0;
	(void)fwrite(data, 1, size, f);
	(void)fclose(f);
	base_work_init(&work, 0, 1, NULL);
	if (perfetto_open(path, &work, &trace, NULL) == HDB_OK) {
		for (unsigned i = 1; i <= perfetto_graph_count(trace) && i < 4; i++) {
			out.size = 0;
			if (perfetto_write(trace, i, &sink, &result, NULL) == HDB_OK)
				look(&out, true);
		}
		perfetto_close(trace);
	}
	base_work_release(&work);
	(void)unlink(path);
	free(out.data);
	return 0;
}
