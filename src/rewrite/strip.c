/*
 * rewrite/strip.c - dumps without contents: smaller when they are compressed, with the same graph.
 */
#include "rewrite/android.h"
#include "rewrite/rewrite.h"
#include "rewrite/shapes.h"

struct strip {
	const struct hdb_strip_options *opt;
	struct rewrite_heap heap;
	struct rewrite_shapes shapes;
};

static int take_sub(void *ctx, struct rewriter *w, const struct hprof_sub *sub,
		    struct hdb_error *err)
{
	struct strip *s = ctx;
	const bool has_shapes = s->opt->what == HDB_STRIP_PRIMITIVES;

	if (rewrite_heap_drops(&s->heap, sub, s->opt->app_only != 0)) {
		w->result.dropped_count++;
		return HDB_OK;
	}
	switch (sub->tag) {
	case HPROF_PRIMITIVE_ARRAY_DUMP:
		return rewrite_zero_array(w, sub, err);
	case HPROF_INSTANCE_DUMP:
		return has_shapes ? rewrite_instance(&s->shapes, sub, err) :
				    rewriter_keep(w, sub, err);
	case HPROF_CLASS_DUMP:
		return has_shapes ? rewrite_class_dump(&s->shapes, sub, err) :
				    rewriter_keep(w, sub, err);
	default:
		return rewriter_keep(w, sub, err);
	}
}

static void begin_heap(void *ctx)
{
	struct strip *s = ctx;

	s->heap = (struct rewrite_heap){ 0 };
}

int rewrite_strip(const char *in_path, const char *out_path, const struct hdb_strip_options *opt,
		  struct base_work *work, struct hdb_output_result *out, struct hdb_error *err)
{
	struct rewriter w;
	struct strip s = { .opt = opt, .shapes.w = &w };
	const struct rewrite_policy policy = { .ctx = &s, .sub = take_sub, .heap = begin_heap };
	int r = rewriter_open(&w, in_path, out_path, &opt->output, work, err);

	if (r == HDB_OK && opt->what == HDB_STRIP_PRIMITIVES)
		r = rewrite_shapes_load(&s.shapes, err);
	if (r == HDB_OK)
		r = rewriter_run(&w, &policy, err);
	if (r == HDB_OK)
		r = rewriter_finish(&w, err);
	if (r == HDB_OK && out)
		*out = w.result;
	rewrite_shapes_release(&s.shapes);
	rewriter_close(&w);
	return r;
}
