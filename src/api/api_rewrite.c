/*
 * api/api_rewrite.c - dumps to dumps: convert, strip, redact.
 */
#include "heapdb.h"

#include "base/source.h"
#include "base/work.h"
#include "rewrite/rewrite.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>

/* Budget that nobody asked for: what streams needs little. */
#define MEMORY_DEFAULT (32ull << 20)

/* Prepares the work: scratch files go beside the output. *folder is owned: end() frees it. */
static int begin(struct base_work *work, struct rewrite_paths paths,
		 const struct hdb_output_options *opt, char **folder, struct hdb_error *err)
{
	if (!paths.in || !paths.out)
		return hdb_fail(err, HDB_EUSAGE, "a dump to read and one to write must be named");
	*folder = strdup(paths.out);
	if (!*folder)
		return hdb_fail_memory(err, "a file name", strlen(paths.out));
	base_sigbus_install();
	base_work_init(work, opt->memory_bytes ? opt->memory_bytes : MEMORY_DEFAULT, opt->threads,
		       &opt->progress);
	work->scratch_dir = dirname(*folder);
	return HDB_OK;
}

static void end(struct base_work *work, char *folder)
{
	base_work_release(work);
	free(folder);
}

int hdb_convert(const char *in_path, const char *out_path, const struct hdb_convert_options *opt,
		struct hdb_output_result *out, struct hdb_error *err)
{
	static const struct hdb_convert_options defaults;
	const struct hdb_convert_options *o = opt ? opt : &defaults;
	const struct rewrite_paths paths = { in_path, out_path };
	struct base_work work;
	char *folder;
	int r = begin(&work, paths, &o->output, &folder, err);

	if (r < 0)
		return r;
	r = rewrite_convert(paths, o, &work, out, err);
	end(&work, folder);
	return r;
}

int hdb_strip(const char *in_path, const char *out_path, const struct hdb_strip_options *opt,
	      struct hdb_output_result *out, struct hdb_error *err)
{
	static const struct hdb_strip_options defaults;
	const struct hdb_strip_options *o = opt ? opt : &defaults;
	const struct rewrite_paths paths = { in_path, out_path };
	struct base_work work;
	char *folder;
	int r = begin(&work, paths, &o->output, &folder, err);

	if (r < 0)
		return r;
	r = rewrite_strip(paths, o, &work, out, err);
	end(&work, folder);
	return r;
}

int hdb_redact(const char *in_path, const char *out_path, const struct hdb_redact_options *opt,
	       struct hdb_output_result *out, struct hdb_error *err)
{
	static const struct hdb_redact_options defaults;
	const struct hdb_redact_options *o = opt ? opt : &defaults;
	const struct rewrite_paths paths = { in_path, out_path };
	struct base_work work;
	char *folder;
	int r = begin(&work, paths, &o->output, &folder, err);

	if (r < 0)
		return r;
	r = rewrite_redact(paths, o, &work, out, err);
	end(&work, folder);
	return r;
}
