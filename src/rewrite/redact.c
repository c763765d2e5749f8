/*
 * rewrite/redact.c - dumps without secrets: the contents of arrays and primitive values are
 * removed, except for a table of fields that are needed for the sizes and states of the platform's
 * own classes.
 */
#include "rewrite/blank.h"
#include "rewrite/hashes.h"
#include "rewrite/kept.h"
#include "rewrite/renames.h"
#include "rewrite/rewrite.h"
#include "rewrite/secret_report.h"

#include "base/glob.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/*
 * Fields that always keep their values: number of entries of a collection, encoding of a string,
 * state of a thread or of an Android object. None of them is derived from data that a program was
 * given. Hash codes are, so they are not listed.
 */
static const struct {
	const char *class_name; /* glob pattern */
	const char *fields;     /* separated by | */
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
	struct rewrite_kept strings;    /* of HDB_REDACT_TEXTS */
	struct rewrite_hashes hashes;   /* of opt->hash */
	struct rewrite_renames renames; /* of opt->names_path */
	struct rewrite_named named;
	struct rewrite_secrets *secrets; /* of opt->report_path; NULL: no report */
};

/*
 * Whether `wanted` matches: "CLASS" means all of its fields, "CLASS:FIELD" one. field_name NULL:
 * the class as a whole.
 */
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

/* Selects the fields whose values are removed. */
static bool selects(void *ctx, uint8_t type, const char *class_name, const char *field_name)
{
	if (type == HPROF_OBJECT || rewrite_blank_spares(class_name, field_name))
		return false;
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (base_glob(kept[i].class_name, class_name) &&
		    base_is_among(kept[i].fields, field_name))
			return false;
	return !is_wanted(ctx, class_name, field_name);
}

/* ---- arrays ---- */

/* This many printable characters in a row are a text. */
#define TEXT_UNITS 4u
/* Bytes that are examined at a time. */
#define CHUNK_BYTES (64u << 10)

static bool is_printable(uint8_t c)
{
	return (c >= 0x20 && c < 0x7f) || c == '\t' || c == '\n' || c == '\r';
}

/*
 * Whether the bytes contain a text: printable bytes in a row, or printable bytes with a zero byte
 * after each, as in UTF-16. run[] counts the bytes of both kinds so far; keep it between the parts
 * of an array.
 */
static bool has_text(const uint8_t *p, uint64_t size, unsigned run[2])
{
	for (uint64_t i = 0; i < size; i++) {
		const bool is_one = is_printable(p[i]);

		run[0] = is_one ? run[0] + 1 : 0;
		/* A zero byte does not end a text in UTF-16, nor does it count. */
		run[1] = is_one ? run[1] + 1 : p[i] == 0 ? run[1] : 0;
		if (run[0] >= TEXT_UNITS || run[1] >= TEXT_UNITS)
			return true;
	}
	return false;
}

/*
 * Whether an array holds text: arrays of chars and those of strings always do, other byte arrays if
 * their contents look like it.
 */
static int holds_text(const struct redact *d, struct rewriter *w, const struct hprof_sub *sub,
		      bool *out, struct hdb_error *err)
{
	unsigned run[2] = { 0, 0 };

	*out = sub->element_type == HPROF_CHAR || rewrite_kept_has(&d->strings, sub->id);
	if (*out || sub->element_type != HPROF_BYTE)
		return HDB_OK;
	for (uint64_t at = 0; at < sub->body_size && !*out; at += CHUNK_BYTES) {
		const uint64_t left = sub->body_size - at;
		const uint64_t n = left < CHUNK_BYTES ? left : CHUNK_BYTES;
		const uint8_t *p = base_view_at(&w->view, sub->body_offset + at, n, err);

		if (!p)
			return HDB_EIO;
		*out = has_text(p, n, run);
	}
	return HDB_OK;
}

/* *out: whether the contents of the array are removed. */
static int goes(struct redact *d, struct rewriter *w, const struct hprof_sub *sub, bool *out,
		struct hdb_error *err)
{
	const char *type = hprof_type_name(sub->element_type);
	char name[32] = "";

	if (type)
		(void)snprintf(name, sizeof(name), "%s[]", type);
	*out = !is_wanted(d, name, NULL);
	if (!*out || d->opt->arrays == HDB_REDACT_ARRAYS)
		return HDB_OK;
	if (d->opt->arrays == HDB_REDACT_TEXTS)
		return holds_text(d, w, sub, out, err);
	*out = sub->element_type == HPROF_CHAR || sub->element_type == HPROF_BYTE;
	return HDB_OK;
}

static int take_array(struct redact *d, struct rewriter *w, const struct hprof_sub *sub,
		      struct hdb_error *err)
{
	bool is_gone;

	assert(sub->tag == HPROF_PRIMITIVE_ARRAY_DUMP);
	TRY(goes(d, w, sub, &is_gone, err));
	if (d->secrets)
		TRY(rewrite_secrets_array(d->secrets, w, sub, !is_gone, err));
	if (!is_gone)
		return rewriter_keep(w, sub, err);
	if (d->opt->hash && (sub->element_type == HPROF_CHAR || sub->element_type == HPROF_BYTE))
		return rewrite_hashes_array(&d->hashes, w, sub, err);
	return rewrite_blank_array(w, sub, err);
}

/* ---- the whole dump ---- */

static int take_sub(void *ctx, struct rewriter *w, const struct hprof_sub *sub,
		    struct hdb_error *err)
{
	struct redact *d = ctx;

	switch (sub->tag) {
	case HPROF_PRIMITIVE_ARRAY_DUMP:
		return take_array(d, w, sub, err);
	case HPROF_INSTANCE_DUMP:
		return rewrite_blank_instance(&d->shapes, sub, err);
	case HPROF_CLASS_DUMP:
		return rewrite_blank_class(&d->shapes, sub, err);
	default:
		return rewriter_keep(w, sub, err);
	}
}

static int take_record(void *ctx, struct rewriter *w, const struct hprof_record *rec,
		       struct hdb_error *err)
{
	struct redact *d = ctx;
	bool stays;

	TRY(rewrite_named_stays(&d->named, rec, &stays, err));
	if (d->secrets)
		TRY(rewrite_secrets_record(d->secrets, w, rec, stays, err));
	if (!stays)
		return HDB_OK;
	return rewrite_renames_record(&d->renames, w, rec, &w->result.renamed_count, err);
}

static int redact(struct redact *d, struct rewriter *w, struct hdb_error *err)
{
	const struct hdb_redact_options *opt = d->opt;
	const struct rewrite_policy policy = {
		.ctx = d,
		.sub = take_sub,
		.record = take_record,
		.marker = opt->hash ? HPROF_HASHED : HPROF_REDACTED,
	};

	if (opt->hash)
		TRY(rewrite_hashes_open(&d->hashes, opt->key_path, err));
	if (opt->names_path)
		TRY(rewrite_renames_read(&d->renames, opt->names_path, err));
	if (opt->report_path)
		TRY(rewrite_secrets_open(opt->report_path, opt->output->force != 0, &d->secrets,
					 err));
	if (opt->arrays == HDB_REDACT_TEXTS)
		TRY(rewrite_kept_load(&d->strings, err));
	TRY(rewrite_shapes_load(&d->shapes, err));
	TRY(rewriter_run(w, &policy, err));
	return d->secrets ? rewrite_secrets_finish(d->secrets, &w->result.secret_count, err) :
			    HDB_OK;
}

static void release(struct redact *d)
{
	explicit_bzero(&d->hashes, sizeof(d->hashes));
	rewrite_kept_release(&d->strings);
	rewrite_secrets_close(d->secrets);
	rewrite_renames_release(&d->renames);
	rewrite_named_release(&d->named);
	rewrite_shapes_release(&d->shapes);
}

int rewrite_redact(struct rewrite_paths paths, const struct hdb_redact_options *opt,
		   struct base_work *work, struct hdb_output_result *out, struct hdb_error *err)
{
	BASE_SCOPED(rewriter_close) struct rewriter w = { 0 };
	BASE_SCOPED(release)
	struct redact d = {
		.opt = opt,
		.shapes = { .w = &w,
			    .selects = selects,
			    .ctx = &d,
			    .has_names = true,
			    .named = &d.named },
		.named = { .w = &w },
		.strings = { .w = &w, .what = HDB_KEEP_STRINGS },
	};

	TRY(rewriter_open(&w, paths, opt->output, work, err));
	TRY(redact(&d, &w, err));
	return rewriter_finish(&w, out, err);
}
