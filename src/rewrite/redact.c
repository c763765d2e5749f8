/*
 * rewrite/redact.c - dumps without secrets: no contents of arrays, no primitive values, but for
 * those of a table, without which sizes and states of the platform's own classes are lost.
 */
#include "rewrite/rewrite.h"
#include "rewrite/shapes.h"

#include "base/glob.h"

#include <stdio.h>
#include <string.h>

/*
 * Fields that keep their values in every redacted dump: how many entries a collection has, how a
 * text is coded, what state a thread or an Android object is in. None is written from what a
 * program was given; hash codes are, and are not among them.
 */
static const struct {
	const char *class_name; /* pattern */
	const char *fields;     /* with | between */
} kept[] = {
	{ "java.util.*",
	  "size|count|elementCount|head|tail|takeIndex|putIndex|capacity|baseCount|threshold" },
	{ "java.lang.String", "coder|offset|count" },
	{ "java.lang.AbstractStringBuilder", "coder|count" },
	{ "java.lang.Thread*", "threadStatus|daemon|priority|tid" },
	{ "java.nio.*", "capacity|limit|position" },
	{ "android.*",
	  "mDestroyed|mFinished|mWindowAttachCount|mWidth|mHeight|mRemoved|mDetached" },
	{ "androidx.*", "mDestroyed|mRemoved|mDetached|mCleared|isCleared" },
};

struct redact {
	const struct hdb_redact_options *opt;
	struct rewrite_shapes shapes;
};

/* Whether "CLASS" or "CLASS:FIELD" is meant; field_name NULL: the class as a whole. */
static bool is_meant(const char *wanted, const char *class_name, const char *field_name)
{
	const char *colon = strrchr(wanted, ':');
	char pattern[REWRITE_NAME_MAX];
	const size_t n = colon ? (size_t)(colon - wanted) : strlen(wanted);

	if (n >= sizeof(pattern))
		return false;
	memcpy(pattern, wanted, n);
	pattern[n] = '\0';
	if (!base_glob(pattern, class_name))
		return false;
	return !colon || (field_name && base_glob(colon + 1, field_name));
}

static bool is_wanted(const struct redact *d, const char *class_name, const char *field_name)
{
	for (const char *const *k = d->opt->keep; k && *k; k++)
		if (is_meant(*k, class_name, field_name))
			return true;
	return false;
}

static bool keeps(void *ctx, const char *class_name, const char *field_name)
{
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (base_glob(kept[i].class_name, class_name) &&
		    base_is_among(kept[i].fields, field_name))
			return true;
	return is_wanted(ctx, class_name, field_name);
}

static int take_array(const struct redact *d, struct rewriter *w, const struct hprof_sub *sub,
		      struct hdb_error *err)
{
	const char *type = hprof_type_name(sub->element_type);
	char name[32] = "";

	if (type)
		(void)snprintf(name, sizeof(name), "%s[]", type);
	return is_wanted(d, name, NULL) ? rewriter_keep(w, sub, err) :
					  rewrite_zero_array(w, sub, err);
}

static int take_sub(void *ctx, struct rewriter *w, const struct hprof_sub *sub,
		    struct hdb_error *err)
{
	struct redact *d = ctx;

	switch (sub->tag) {
	case HPROF_PRIMITIVE_ARRAY_DUMP:
		return take_array(d, w, sub, err);
	case HPROF_INSTANCE_DUMP:
		return rewrite_instance(&d->shapes, sub, err);
	case HPROF_CLASS_DUMP:
		return rewrite_class_dump(&d->shapes, sub, err);
	default:
		return rewriter_keep(w, sub, err);
	}
}

int rewrite_redact(const char *in_path, const char *out_path, const struct hdb_redact_options *opt,
		   struct base_work *work, struct hdb_output_result *out, struct hdb_error *err)
{
	struct rewriter w;
	struct redact d = {
		.opt = opt,
		.shapes = { .w = &w, .keeps = keeps, .ctx = &d },
	};
	const struct rewrite_policy policy = {
		.ctx = &d,
		.sub = take_sub,
		.marker = HPROF_REDACTED,
	};
	int r = rewriter_open(&w, in_path, out_path, &opt->output, work, err);

	if (r != HDB_OK)
		goto out;
	if ((r = rewrite_shapes_load(&d.shapes, err)) != HDB_OK)
		goto out;
	if ((r = rewriter_run(&w, &policy, err)) != HDB_OK)
		goto out;
	if ((r = rewriter_finish(&w, err)) != HDB_OK)
		goto out;
	if (out)
		*out = w.result;
out:
	rewrite_shapes_release(&d.shapes);
	rewriter_close(&w);
	return r;
}
