/*
 * rewrite/convert.c - dumps for other tools: Android's are converted as AOSP's hprof-conv does
 * (platform/art, tools/hprof-conv/HprofConv.c), or the size of IDs is changed. Any other dump is
 * copied byte for byte.
 */
#include "rewrite/android.h"
#include "rewrite/rewrite.h"
#include "rewrite/widths.h"

struct convert {
	const struct hdb_convert_options *opt;
	struct rewrite_shapes shapes;
};

static int take_sub(void *ctx, struct rewriter *w, const struct hprof_sub *sub,
		    struct hdb_error *err)
{
	struct convert *c = ctx;

	if (rewrite_android_is(sub->tag))
		return rewrite_android_sub(w, sub, err);
	return w->id_size == w->file.id_size ? rewriter_keep(w, sub, err) :
					       rewrite_widths_sub(&c->shapes, sub, err);
}

static int take_record(void *ctx, struct rewriter *w, const struct hprof_record *rec,
		       struct hdb_error *err)
{
	(void)ctx;
	return w->id_size == w->file.id_size ? rewriter_keep_record(w, rec, err) :
					       rewrite_widths_record(w, rec, err);
}

static int convert(struct convert *c, struct rewriter *w, struct hdb_error *err)
{
	const struct rewrite_policy policy = {
		.ctx = c,
		.sub = take_sub,
		.record = take_record,
		.app_only = c->opt->app_only != 0,
	};

	if (c->opt->id_size)
		w->id_size = c->opt->id_size;
	if (w->id_size == w->file.id_size && w->file.version != HPROF_1_0_3 && !c->opt->app_only &&
	    !c->opt->segments)
		return rewriter_copy_all(w, err);
	if (w->version == HPROF_1_0_3)
		w->version = HPROF_1_0_2;
	if (w->id_size != w->file.id_size) {
		TRY(rewrite_shapes_load(&c->shapes, err));
		TRY(rewrite_widths_prepare(&c->shapes, err));
	}
	return rewriter_run(w, &policy, err);
}

static void release(struct convert *c)
{
	rewrite_shapes_release(&c->shapes);
}

int rewrite_convert(struct rewrite_paths paths, const struct hdb_convert_options *opt,
		    struct base_work *work, struct hdb_output_result *out, struct hdb_error *err)
{
	BASE_SCOPED(rewriter_close) struct rewriter w = { 0 };
	BASE_SCOPED(release)
	struct convert c = { .opt = opt, .shapes = { .w = &w, .selects = rewrite_widths_selects } };

	TRY(rewriter_open(&w, paths, opt->output, work, err));
	TRY(convert(&c, &w, err));
	return rewriter_finish(&w, out, err);
}
