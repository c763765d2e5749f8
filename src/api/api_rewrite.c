/* api/api_rewrite.c - implements hdb_convert, hdb_strip and hdb_redact. */
#include "api/handle.h"
#include "api/trace.h"

#include "base/plain_locale.h"
#include "base/source.h"
#include "base/work.h"
#include "rewrite/rewrite.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>

/* Default memory budget. Streaming needs little. */
#define MEMORY_DEFAULT (32ull << 20)

/* The state of one call. */
struct rewriting {
	struct rewrite_paths paths;
	struct hdb_output_options output;
	struct hdb_output_result result;
	struct base_work work;
	char *folder; /* directory of the output, which is also used for scratch files; owned */
};

static int begin(struct rewriting *w, struct rewrite_paths paths,
		 const struct hdb_output_options *opt, struct hdb_error *err)
{
	API_READ(&w->output, opt, err);
	w->result = (struct hdb_output_result){ 0 };
	w->paths = paths;
	TRY(BASE_COPY(w->folder, paths.out, "a file name", err));
	base_sigbus_install();
	base_work_init(&w->work, w->output.memory_bytes ? w->output.memory_bytes : MEMORY_DEFAULT,
		       w->output.threads, &w->output.progress);
	w->work.scratch_dir = dirname(w->folder);
	return HDB_OK;
}

/*
 * Releases what begin() allocated, and returns `result`. Copies the statistics to `out`, even after
 * a failure.
 */
static int end(struct rewriting *w, int result, struct hdb_output_result *out)
{
	base_work_release(&w->work);
	free(w->folder);
	API_WRITE(out, &w->result);
	return result;
}

int hdb_convert(const char *in_path, const char *out_path, const struct hdb_convert_options *opt,
		struct hdb_output_result *out, struct hdb_error *err)
{
	API_NEEDS(in_path && out_path, err);

	struct hdb_convert_options o;
	struct api_trace trace = { 0 };
	struct phd_files files;
	struct rewriting w;
	int r;

	API_CHECK(out, err);
	API_READ(&o, opt, err);
	if (o.id_size && o.id_size != 4 && o.id_size != 8)
		return hdb_fail(err, HDB_EUSAGE, "identifier size is %u bytes; expected 4 or 8",
				o.id_size);
	TRY(begin(&w, (struct rewrite_paths){ in_path, out_path, NULL }, o.output, err));
	o.output = &w.output;
	files = (struct phd_files){ o.dump_name ? o.dump_name : in_path, o.javacore_path };
	r = base_input_open(in_path, w.output.progress.cancel, &w.paths.input, err);
	if (r == HDB_OK)
		r = api_trace_open(&trace, w.paths.input, files, &w.work, err);
	if (r == HDB_OK)
		r = api_convert_trace(&trace, out_path, &o, &w.result, err);
	else if (r == HDB_NOTFOUND)
		r = rewrite_convert(w.paths, &o, &w.work, &w.result, err);
	api_trace_close(&trace);
	base_input_close(w.paths.input);
	return end(&w, r, out);
}

int hdb_strip(const char *in_path, const char *out_path, const struct hdb_strip_options *opt,
	      struct hdb_output_result *out, struct hdb_error *err)
{
	API_NEEDS(in_path && out_path, err);
	BASE_PLAIN_LOCALE;

	struct hdb_strip_options o;
	struct rewriting w;

	API_CHECK(out, err);
	API_READ(&o, opt, err);
	TRY(begin(&w, (struct rewrite_paths){ in_path, out_path, NULL }, o.output, err));
	o.output = &w.output;
	return end(&w, rewrite_strip(w.paths, &o, &w.work, &w.result, err), out);
}

int hdb_redact(const char *in_path, const char *out_path, const struct hdb_redact_options *opt,
	       struct hdb_output_result *out, struct hdb_error *err)
{
	API_NEEDS(in_path && out_path, err);
	BASE_PLAIN_LOCALE;

	struct hdb_redact_options o;
	struct rewriting w;

	API_CHECK(out, err);
	API_READ(&o, opt, err);
	TRY(begin(&w, (struct rewrite_paths){ in_path, out_path, NULL }, o.output, err));
	o.output = &w.output;
	return end(&w, rewrite_redact(w.paths, &o, &w.work, &w.result, err), out);
}
