/*
 * api/api_rewrite.c - dumps to dumps: convert, strip, redact.
 */
#include "api/handle.h"
#include "api/trace.h"

#include "base/source.h"
#include "base/work.h"
#include "rewrite/rewrite.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>

/* Budget that nobody asked for: what streams needs little. */
#define MEMORY_DEFAULT (32ull << 20)

/* A dump that is written from another one. */
struct rewriting {
	struct rewrite_paths paths;
	struct base_work work;
	char *folder; /* of the output, for scratch files; owned */
};

static int begin(struct rewriting *w, struct rewrite_paths paths,
		 const struct hdb_output_options *opt, struct hdb_error *err)
{
	w->paths = paths;
	w->folder = strdup(paths.out);
	if (!w->folder)
		return hdb_fail_memory(err, "a file name", strlen(paths.out));
	base_sigbus_install();
	base_work_init(&w->work, opt->memory_bytes ? opt->memory_bytes : MEMORY_DEFAULT,
		       opt->threads, &opt->progress);
	w->work.scratch_dir = dirname(w->folder);
	return HDB_OK;
}

/* Ends what begin began; returns what came of it. */
static int end(struct rewriting *w, int result)
{
	base_work_release(&w->work);
	free(w->folder);
	return result;
}

int hdb_convert(const char *in_path, const char *out_path, const struct hdb_convert_options *opt,
		struct hdb_output_result *out, struct hdb_error *err)
{
	API_NEEDS(in_path && out_path, err);

	static const struct hdb_convert_options defaults;
	const struct hdb_convert_options *o = opt ? opt : &defaults;
	const struct phd_files files = { o->dump_name ? o->dump_name : in_path, o->javacore_path };
	struct api_trace trace = { 0 };
	struct rewriting w;
	int r;

	if (o->id_size && o->id_size != 4 && o->id_size != 8)
		return hdb_fail(err, HDB_EUSAGE, "identifiers of %u bytes; 4 or 8 expected",
				o->id_size);
	TRY_ERRORS(begin(&w, (struct rewrite_paths){ in_path, out_path, NULL }, &o->output, err));
	r = base_input_open(in_path, &w.paths.input, err);
	if (r == HDB_OK)
		r = api_trace_open(&trace, w.paths.input, files, &w.work, err);
	if (r == HDB_OK)
		r = api_convert_trace(&trace, out_path, o, out, err);
	else if (r == HDB_NOTFOUND)
		r = rewrite_convert(w.paths, o, &w.work, out, err);
	api_trace_close(&trace);
	base_input_close(w.paths.input);
	return end(&w, r);
}

int hdb_strip(const char *in_path, const char *out_path, const struct hdb_strip_options *opt,
	      struct hdb_output_result *out, struct hdb_error *err)
{
	API_NEEDS(in_path && out_path, err);

	static const struct hdb_strip_options defaults;
	const struct hdb_strip_options *o = opt ? opt : &defaults;
	struct rewriting w;
	int r = begin(&w, (struct rewrite_paths){ in_path, out_path, NULL }, &o->output, err);

	return r < 0 ? r : end(&w, rewrite_strip(w.paths, o, &w.work, out, err));
}

int hdb_redact(const char *in_path, const char *out_path, const struct hdb_redact_options *opt,
	       struct hdb_output_result *out, struct hdb_error *err)
{
	API_NEEDS(in_path && out_path, err);

	static const struct hdb_redact_options defaults;
	const struct hdb_redact_options *o = opt ? opt : &defaults;
	struct rewriting w;
	int r = begin(&w, (struct rewrite_paths){ in_path, out_path, NULL }, &o->output, err);

	return r < 0 ? r : end(&w, rewrite_redact(w.paths, o, &w.work, out, err));
}
