/*
 * fuzz/perfetto.c - traces of arbitrary bytes: a result code, and any dump that is written has no
 * damage.
 */
#include "perfetto/perfetto.h"

#include "fuzz/made_dump.h"
#include "support/fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct made_dump out = { 0 };
	const struct hprof_sink sink = { made_dump_put, &out };
	struct hprof_written result;
	struct perfetto *trace;
	struct base_work work;
	const char *path;

	if (size > SIZE_MAX_FUZZ || !(out.data = malloc(OUT_MAX)))
		return 0;
	path = made_dump_input(data, size);
	base_work_init(&work, 0, 1, NULL);
	if (perfetto_open(path, &work, &trace, NULL) == HDB_OK) {
		for (unsigned i = 1; i <= perfetto_graph_count(trace) && i < 4; i++) {
			out.size = 0;
			if (perfetto_write(trace, i, &sink, &result, NULL) == HDB_OK)
				made_dump_walk(&out, true);
		}
		perfetto_close(trace);
	}
	base_work_release(&work);
	(void)unlink(path);
	free(out.data);
	return 0;
}
