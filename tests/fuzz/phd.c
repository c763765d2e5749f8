/*
 * fuzz/phd.c - portable heap dumps of arbitrary bytes: a result code, and any dump that is written
 * has no damage.
 */
#include "phd/phd.h"

#include "fuzz/made_dump.h"
#include "support/fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct made_dump out = { 0 };
	const struct hprof_sink sink = { made_dump_put, &out };
	struct hprof_written result;
	struct base_input *input = NULL;
	struct base_work work;
	const char *path;
	struct phd *phd;

	if (size > SIZE_MAX_FUZZ || !(out.data = malloc(OUT_MAX)))
		return 0;
	path = made_dump_input(data, size);
	base_work_init(&work, 0, 1, NULL);
	work.scratch_dir = "/tmp";
	if (base_input_open(path, NULL, &input, NULL) == HDB_OK &&
	    phd_open(input, (struct phd_files){ path, NULL }, &work, &phd, NULL) == HDB_OK) {
		if (phd_write(phd, &sink, &result, NULL) == HDB_OK)
			made_dump_walk(&out, result.problem_count == 0);
		phd_close(phd);
	}
	base_input_close(input);
	base_work_release(&work);
	(void)unlink(path);
	free(out.data);
	return 0;
}
