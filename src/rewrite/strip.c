/*
 * rewrite/strip.c - writes dumps without contents. Primitive arrays, and with HDB_STRIP_PRIMITIVES
 * all primitive values, become zeros, which compress well. With opt->keep, most primitive arrays
 * are dropped instead. References between objects do not change.
 */
#include "rewrite/blank.h"
#include "rewrite/kept.h"
#include "rewrite/rewrite.h"

struct strip {
	const struct hdb_strip_options *opt;
	struct rewrite_shapes shapes; /* shapes for HDB_STRIP_PRIMITIVES */
	struct rewrite_kept kept;     /* arrays for opt->keep */
	struct rewrite_named named;
};

static int take_array(struct strip *s, struct rewriter *w, const struct hprof_sub *sub,
		      struct hdb_error *err)
{
	if (!s->opt->keep)
		return rewrite_blank_array(w, sub, err);
	if (rewrite_kept_has(&s->kept, sub->id))
		return rewriter_keep(w, sub, err);
	w->result.dropped_count++;
	return HDB_OK;
}

static int take_sub(void *ctx, struct rewriter *w, const struct hprof_sub *sub,
		    struct hdb_error *err)
{
	struct strip *s = ctx;
	const bool has_shapes = s->opt->what == HDB_STRIP_PRIMITIVES;

	switch (sub->tag) {
	case HPROF_PRIMITIVE_ARRAY_DUMP:
	case HPROF_PRIMITIVE_ARRAY_NODATA:
		if (sub->tag == HPROF_PRIMITIVE_ARRAY_DUMP || s->opt->keep)
			return take_array(s, w, sub, err);
		return rewriter_keep(w, sub, err);
	case HPROF_INSTANCE_DUMP:
		return has_shapes   ? rewrite_blank_instance(&s->shapes, sub, err) :
		       s->opt->keep ? rewrite_kept_instance(&s->kept, sub, err) :
				      rewriter_keep(w, sub, err);
	case HPROF_CLASS_DUMP:
		return has_shapes ? rewrite_blank_class(&s->shapes, sub, err) :
				    rewriter_keep(w, sub, err);
	default:
		return rewriter_keep(w, sub, err);
	}
}

static int take_record(void *ctx, struct rewriter *w, const struct hprof_record *rec,
		       struct hdb_error *err)
{
	const struct strip *s = ctx;
	struct hprof_record kept = *rec;
	bool stays;

	TRY(rewrite_named_stays(&s->named, &kept, &stays, err));
	return stays ? rewriter_keep_record(w, &kept, err) : HDB_OK;
}

static bool selects(void *ctx, uint8_t type, const char *class_name, const char *field_name)
{
	(void)ctx;
	return type != HPROF_OBJECT && !rewrite_blank_spares(class_name, field_name);
}

static int strip(struct strip *s, struct rewriter *w, struct hdb_error *err)
{
	const struct rewrite_policy policy = {
		.ctx = s,
		.sub = take_sub,
		.record = take_record,
		.marker = HPROF_STRIPPED,
		.app_only = s->opt->app_only != 0,
	};

	if (s->opt->keep)
		TRY(rewrite_kept_load(&s->kept, err));
	else if (s->opt->what == HDB_STRIP_PRIMITIVES)
		TRY(rewrite_shapes_load(&s->shapes, err));
	else
		TRY(rewriter_survey(w, "reading names", rewrite_named_take, &s->named, err));
	return rewriter_run(w, &policy, err);
}

static void release(struct strip *s)
{
	rewrite_kept_release(&s->kept);
	rewrite_named_release(&s->named);
	rewrite_shapes_release(&s->shapes);
}

int rewrite_strip(struct rewrite_paths paths, const struct hdb_strip_options *opt,
		  struct base_work *work, struct hdb_output_result *out, struct hdb_error *err)
{
	BASE_SCOPED(rewriter_close) struct rewriter w = { 0 };
	BASE_SCOPED(release)
	struct strip s = {
		.opt = opt,
		.shapes = { .w = &w, .selects = selects, .has_names = true, .named = &s.named },
		.kept = { .w = &w, .what = opt->keep, .names.named = &s.named },
		.named.w = &w
	};

	if (opt->keep && opt->what == HDB_STRIP_PRIMITIVES)
		return hdb_fail(err, HDB_EUSAGE,
				"cannot keep strings and bitmaps if all primitive values become "
				"zeros");
	TRY(rewriter_open(&w, paths, opt->output, work, err));
	TRY(strip(&s, &w, err));
	return rewriter_finish(&w, out, err);
}
