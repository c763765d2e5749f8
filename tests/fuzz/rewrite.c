/*
 * fuzz/rewrite.c - rewrites dumps of arbitrary bytes. The result is a result code, and the walk
 * finds no damage in a written dump.
 */
#include "heapdb.h"
#include "hprof/walk.h"

#include "support/fuzz_target.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Larger inputs find no more problems than smaller inputs. */
#define SIZE_MAX_FUZZ 65536

static char in[64], out[64], report[64];

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	return fuzz_mutate_dump(data, size, max_size, seed);
}

static int convert(unsigned how)
{
	const struct hdb_output_options output = { .force = 1, .threads = 1 };
	const struct hdb_convert_options opt = {
		.output = &output,
		.app_only = how & 1,
		.segments = 1,
		.id_size = how & 2 ? 8 :
			   how & 4 ? 4 :
				     0,
	};

	return hdb_convert(in, out, &opt, NULL, NULL);
}

static int strip(unsigned how)
{
	const struct hdb_output_options output = { .force = 1, .threads = 1 };
	const struct hdb_strip_options opt = {
		.output = &output,
		.what = how & 4 ? HDB_STRIP_PRIMITIVES : HDB_STRIP_ARRAYS,
		.keep = how & 4 ? 0 : how & 3,
		.app_only = how & 1,
	};

	return hdb_strip(in, out, &opt, NULL, NULL);
}

static int redact(unsigned how)
{
	const struct hdb_output_options output = { .force = 1, .threads = 1 };
	const struct hdb_redact_options opt = {
		.output = &output,
		.arrays = (enum hdb_redact_arrays)(how % 3),
		.hash = how & 4,
		.report_path = how & 2 ? report : NULL,
	};

	return hdb_redact(in, out, &opt, NULL, NULL);
}

/* Damaged parts of the input may be copied unchanged, but records must have their right lengths. */
static void look(void)
{
	struct base_source *source;
	struct hprof_file file;
	struct hprof_walk walk;
	enum hprof_event event;

	if (base_map_open(out, BASE_SEQUENTIAL, &source, NULL) != HDB_OK)
		abort();
	if (hprof_open(source, &file, NULL) != HDB_OK)
		abort();
	hprof_walk_init(&walk, &file);
	while (hprof_walk_next(&walk, &event, NULL) == HDB_OK)
		if (event == HPROF_EVENT_PROBLEM && (walk.problem.kind == HPROF_PROBLEM_TRUNCATED))
			abort();
	hprof_walk_release(&walk);
	base_source_close(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const unsigned how = size ? data[size - 1] : 0;
	FILE *f;
	int r;

	if (size > SIZE_MAX_FUZZ)
		return 0;
	if (!in[0]) {
		const char *dir = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";

		(void)snprintf(in, sizeof(in), "%s/hdbfuzz%d.in", dir, (int)getpid());
		(void)snprintf(out, sizeof(out), "%s/hdbfuzz%d.out", dir, (int)getpid());
		(void)snprintf(report, sizeof(report), "%s/hdbfuzz%d.tsv", dir, (int)getpid());
	}
	f = fopen(in, "wb");
	if (!f)
		return 0;
	(void)fwrite(data, 1, size, f);
	(void)fclose(f);
	r = how >> 3 & 1 ? convert(how & 7) : how >> 4 & 1 ? strip(how & 7) : redact(how & 7);
	if (r == HDB_OK)
		look();
	(void)unlink(in);
	(void)unlink(out);
	(void)unlink(report);
	return 0;
}
