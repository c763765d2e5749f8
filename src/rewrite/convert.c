/*
 * rewrite/convert.c - dumps to what other tools read: Android's as AOSP's hprof-conv does
 * (platform/art, tools/hprof-conv/HprofConv.c), IDs of another size, any other byte for byte.
 */
#include "rewrite/android.h"
#include "rewrite/rewrite.h"
#include "rewrite/widths.h"

struct convert {
	const struct hdb_convert_options *opt;
	struct rewrite_heap heap;
	struct rewrite_shapes shapes;
};

static int take_sub(void *ctx, struct rewriter *w, const struct hprof_sub *sub,
		    struct hdb_error *err)
{
	struct convert *c = ctx;

	if (rewrite_heap_drops(&c->heap, sub, c->opt->app_only != 0)) {
		w->result.dropped_count++;
		return HDB_OK;
	}
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

static void begin_heap(void *ctx)
{
	struct convert *c = ctx;

	c->heap = (struct rewrite_heap){ 0 };
}

static int convert(struct convert *c, struct rewriter *w, struct hdb_error *err)
{
	const struct rewrite_policy policy = {
		.ctx = c,
		.sub = take_sub,
		.heap = begin_heap,
		.record = take_record,
	};
	int r;

	if (c->opt->id_size)
		w->id_size = c->opt->id_size;
	if (w->id_size == w->file.id_size && w->file.version != HPROF_1_0_3 && !c->opt->app_only &&
	    !c->opt->segments)
		return rewriter_copy_all(w, err);
	if (w->version == HPROF_1_0_3)
		w->version = HPROF_1_0_2;
	if (w->id_size != w->file.id_size && ((r = rewrite_shapes_load(&c->shapes, err)) < 0 ||
					      (r = rewrite_widths_prepare(&c->shapes, err)) < 0))
		return r;
	return rewriter_run(w, &policy, err);
}

int rewrite_convert(struct rewrite_paths paths, const struct hdb_convert_options *opt,
		    struct base_work *work, struct hdb_output_result *out, struct hdb_error *err)
{
	struct rewriter w;
	struct convert c = { .opt = opt, .shapes = { .w = &w, .selects = rewrite_widths_selects } };
	int r;

	if ((r = rewriter_open(&w, paths, &opt->output, work, err)) < 0 ||
	    (r = convert(&c, &w, err)) < 0 || (r = rewriter_finish(&w, err)) < 0)
		goto out;
	if (out)
		*out = w.result;
out:
	rewrite_shapes_release(&c.shapes);
	rewriter_close(&w);
	return r;
}
