/*
 * rewrite/convert.c - dumps to what other tools read: Android's as AOSP's hprof-conv does
 * (platform/art, tools/hprof-conv/HprofConv.c), any other byte for byte.
 */
#include "rewrite/android.h"
#include "rewrite/rewrite.h"
#include "rewrite/rewriter.h"

struct convert {
	const struct hdb_convert_options *opt;
	struct rewrite_heap heap;
};

static int take_sub(void *ctx, struct rewriter *w, const struct hprof_sub *sub,
		    struct hdb_error *err)
{
	struct convert *c = ctx;

	if (rewrite_heap_drops(&c->heap, sub, c->opt->app_only != 0)) {
		w->result.dropped_count++;
		return HDB_OK;
	}
	return rewrite_android_is(sub->tag) ? rewrite_android_sub(w, sub, err) :
					      rewriter_keep(w, sub, err);
}

static void begin_heap(void *ctx)
{
	struct convert *c = ctx;

	c->heap = (struct rewrite_heap){ 0 };
}

int rewrite_convert(const char *in_path, const char *out_path,
		    const struct hdb_convert_options *opt, struct base_work *work,
		    struct hdb_output_result *out, struct hdb_error *err)
{
	struct convert c = { .opt = opt };
	const struct rewrite_policy policy = { .ctx = &c, .sub = take_sub, .heap = begin_heap };
	struct rewriter w;
	int r = rewriter_open(&w, in_path, out_path, &opt->output, work, err);

	if (r == HDB_OK && w.file.version != HPROF_1_0_3 && !opt->app_only && !opt->segments) {
		r = rewriter_copy_all(&w, err);
	} else if (r == HDB_OK) {
		if (w.version == HPROF_1_0_3)
			w.version = HPROF_1_0_2;
		r = rewriter_run(&w, &policy, err);
	}
	if (r == HDB_OK)
		r = rewriter_finish(&w, err);
	if (r == HDB_OK && out)
		*out = w.result;
	rewriter_close(&w);
	return r;
}
