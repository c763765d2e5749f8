/*
 * rewrite/convert.c - converts dumps for other tools. Android dumps are converted like AOSP's
 * hprof-conv does (platform/art, tools/hprof-conv/HprofConv.c); in other dumps, only the size of
 * IDs can be changed. If neither applies, the dump is copied byte for byte.
 */
#include "base/bytes.h"
#include "rewrite/rewrite.h"
#include "rewrite/rewriter.h"
#include "rewrite/shapes.h"

#include <assert.h>

/*
 * Changes the size of IDs: the IDs that the format defines, and the IDs in reference fields of
 * instances. The classes show where these fields are.
 */

/*
 * Converts one record. The first pass computes the size of the output, which the header of the
 * record needs; the second pass writes it.
 */
struct pipe {
	struct rewriter *w;
	uint64_t at;   /* offset in the dump */
	uint64_t size; /* number of bytes of output so far */
	/* whether this is the second pass */
	bool is_written;
};

static int pass_ids(struct pipe *p, uint64_t count, struct hdb_error *err)
{
	const uint64_t at = p->at;

	p->at += count * p->w->file.id_size;
	p->size += count * p->w->id_size;
	return p->is_written ? rewriter_copy_ids(p->w, at, count, err) : HDB_OK;
}

static int pass_bytes(struct pipe *p, uint64_t size, struct hdb_error *err)
{
	const uint64_t at = p->at;

	p->at += size;
	p->size += size;
	return p->is_written ? rewriter_copy(p->w, at, size, err) : HDB_OK;
}

/* Replaces 4 bytes of the dump with `value`. */
static int pass_u4(struct pipe *p, uint32_t value, struct hdb_error *err)
{
	uint8_t bytes[4];

	p->at += sizeof(bytes);
	p->size += sizeof(bytes);
	put_be32(bytes, value);
	return p->is_written ? rewriter_put(p->w, bytes, sizeof(bytes), err) : HDB_OK;
}

static int pass_value(struct pipe *p, uint8_t type, struct hdb_error *err)
{
	return type == HPROF_OBJECT ? pass_ids(p, 1, err) :
				      pass_bytes(p, hprof_type_size(type, p->w->file.id_size), err);
}

/* ---- classes ---- */

/* rewrite_shapes.selects: selects reference fields. */
static bool widths_selects(void *ctx, uint8_t type, const char *class_name, const char *field_name)
{
	(void)ctx;
	(void)class_name;
	(void)field_name;
	return type == HPROF_OBJECT;
}

/*
 * Returns the output size of values that take `size` bytes in the dump, including `references`
 * bytes of references.
 */
static uint64_t widened(const struct rewriter *w, uint64_t size, uint64_t references)
{
	return size - references + references / w->file.id_size * w->id_size;
}

/*
 * A table in a class record: a 2-byte count, then entries. Each entry has `before` bytes (an ID if
 * has_id), a type, and, if has_value, a value.
 */
struct entries {
	unsigned before;
	bool has_id, has_value;
};

static int pass_entries(struct pipe *p, struct entries kind, struct hdb_error *err)
{
	const unsigned id_size = p->w->file.id_size;
	const uint8_t *b = base_view_at(&p->w->view, p->at, 2, err);
	unsigned count;

	if (!b)
		return HDB_EIO;
	count = be16(b);
	TRY(pass_bytes(p, 2, err));
	for (unsigned i = 0; i < count; i++) {
		uint8_t type;

		b = base_view_at(&p->w->view, p->at + (kind.has_id ? id_size : kind.before), 1,
				 err);
		if (!b)
			return HDB_EIO;
		type = *b;
		TRY(kind.has_id ? pass_ids(p, 1, err) : pass_bytes(p, kind.before, err));
		TRY(pass_bytes(p, 1, err));
		if (kind.has_value)
			TRY(pass_value(p, type, err));
	}
	return HDB_OK;
}

/*
 * Finds out whether instance sizes in class records depend on the size of references. In HotSpot's
 * dumps they do; ART records actual sizes. Requires rewrite_shapes_load.
 */
static int widths_prepare(struct rewrite_shapes *s, struct hdb_error *err)
{
	size_t sums = 0;

	for (size_t i = 0; i < s->classes.count; i++) {
		const uint64_t id = base_vec_at(&s->classes, struct rewrite_class, i)->class_id;
		struct rewrite_class *class;

		TRY(rewrite_shape_of(s, id, &class, err));
		sums += class && class->all_bytes == class->instance_size;
	}
	/* a majority suffices, because some classes may be damaged */
	s->has_sums = sums > s->classes.count / 2;
	return HDB_OK;
}

/*
 * Computes the instance size for the output. A recorded size that equals the sum of the fields is
 * converted; any other size is kept.
 */
static int instance_size(struct rewrite_shapes *s, uint64_t class_id, uint32_t size, uint32_t *out,
			 struct hdb_error *err)
{
	struct rewrite_class *class;

	*out = size;
	TRY(rewrite_shape_of(s, class_id, &class, err));
	if (s->has_sums && class && class->all_bytes == size)
		*out = (uint32_t)widened(s->w, size, class->run_bytes);
	return HDB_OK;
}

static int pass_class(struct rewrite_shapes *s, struct pipe *p, const struct hprof_sub *sub,
		      struct hdb_error *err)
{
	uint32_t size;

	assert(sub->tag == HPROF_CLASS_DUMP);
	TRY(instance_size(s, sub->id, sub->length, &size, err));
	TRY(pass_ids(p, 1, err));
	TRY(pass_bytes(p, 4, err));
	TRY(pass_ids(p, 6, err));
	TRY(pass_u4(p, size, err));
	TRY(pass_entries(p, (struct entries){ .before = 2, .has_value = true }, err));
	TRY(pass_entries(p, (struct entries){ .has_id = true, .has_value = true }, err));
	return pass_entries(p, (struct entries){ .has_id = true }, err);
}

/* ---- instances and other sub-records ---- */

static int pass_values(struct rewrite_shapes *s, struct pipe *p, const struct hprof_sub *sub,
		       const struct rewrite_class *class, struct hdb_error *err)
{
	const uint64_t start = sub->body_offset;

	if (!p->is_written) {
		p->size += widened(p->w, sub->body_size, class->run_bytes);
		return HDB_OK;
	}
	for (size_t i = 0; i < class->run_count; i++) {
		const struct rewrite_run *run =
			base_vec_at(&s->runs, struct rewrite_run, class->first_run + i);

		TRY(pass_bytes(p, start + run->offset - p->at, err));
		TRY(pass_ids(p, run->size / p->w->file.id_size, err));
	}
	return pass_bytes(p, sub->end - p->at, err);
}

static int pass_instance(struct rewrite_shapes *s, struct pipe *p, const struct hprof_sub *sub,
			 struct hdb_error *err)
{
	struct rewrite_class *class;

	assert(sub->tag == HPROF_INSTANCE_DUMP);
	TRY(rewrite_shape_of(s, sub->class_id, &class, err));
	if (class && class->all_bytes != sub->body_size)
		class = NULL;
	TRY(pass_ids(p, 1, err));
	TRY(pass_bytes(p, 4, err));
	TRY(pass_ids(p, 1, err));
	if (!class) {
		p->w->result.problem_count += p->is_written;
		return pass_bytes(p, 4 + sub->body_size, err);
	}
	TRY(pass_u4(p, (uint32_t)widened(p->w, sub->body_size, class->run_bytes), err));
	return pass_values(s, p, sub, class, err);
}

static int pass_sub(struct rewrite_shapes *s, struct pipe *p, const struct hprof_sub *sub,
		    struct hdb_error *err)
{
	assert(p->w->id_size == 4 || p->w->id_size == 8);
	TRY(pass_bytes(p, 1, err));
	switch (sub->tag) {
	case HPROF_CLASS_DUMP:
		return pass_class(s, p, sub, err);
	case HPROF_INSTANCE_DUMP:
		return pass_instance(s, p, sub, err);
	case HPROF_OBJECT_ARRAY_DUMP:
		TRY(pass_ids(p, 1, err));
		TRY(pass_bytes(p, 8, err));
		return pass_ids(p, 1 + (uint64_t)sub->length, err);
	case HPROF_HEAP_DUMP_INFO:
		TRY(pass_bytes(p, 4, err));
		return pass_ids(p, 1, err);
	case HPROF_ROOT_JNI_GLOBAL:
		return pass_ids(p, 2, err);
	default: /* other roots and primitive arrays: an ID, followed by bytes without IDs */
		TRY(pass_ids(p, 1, err));
		return pass_bytes(p, sub->end - p->at, err);
	}
}

/*
 * Writes a sub-record with IDs of w->id_size bytes. Fails with HDB_ELIMIT if an ID does not fit. An
 * instance that does not match its class is copied unchanged and counted as a problem.
 */
static int widths_sub(struct rewrite_shapes *s, const struct hprof_sub *sub, struct hdb_error *err)
{
	struct pipe p = { .w = s->w, .at = sub->offset };

	TRY(pass_sub(s, &p, sub, err));
	TRY(rewriter_begin(s->w, p.size, err));
	p = (struct pipe){ .w = s->w, .at = sub->offset, .is_written = true };
	return pass_sub(s, &p, sub, err);
}

/* ---- records ---- */

/*
 * Returns the layout of a record as a pattern, in which i is an ID and 4 is four other bytes. Only
 * a trace has IDs after the pattern: its frames.
 */
static const char *pattern_of(uint8_t tag)
{
	switch (tag) {
	case HPROF_UTF8:
		return "i";
	case HPROF_LOAD_CLASS:
		return "4i4i";
	case HPROF_FRAME:
		return "iiii44";
	case HPROF_START_THREAD:
		return "4i4iii";
	case HPROF_TRACE:
		return "444";
	default:
		return "";
	}
}

static int pass_record(struct pipe *p, const struct hprof_record *rec, struct hdb_error *err)
{
	const uint64_t end = rec->body_offset + rec->body_size;

	for (const char *c = pattern_of(rec->tag); *c; c++)
		TRY(*c == 'i' ? pass_ids(p, 1, err) : pass_bytes(p, 4, err));
	if (rec->tag == HPROF_TRACE) {
		struct hprof_trace trace;

		TRY(hprof_read_trace(&p->w->file, &p->w->view, rec, &trace, err));
		TRY(pass_ids(p, trace.frame_count, err));
	}
	return pass_bytes(p, end - p->at, err);
}

static int widths_record(struct rewriter *w, const struct hprof_record *rec, struct hdb_error *err)
{
	struct pipe p = { .w = w, .at = rec->body_offset };

	TRY(pass_record(&p, rec, err));
	TRY(rewriter_record(w, rec, p.size, err));
	p = (struct pipe){ .w = w, .at = rec->body_offset, .is_written = true };
	return pass_record(&p, rec, err);
}

/* Converts Android-specific sub-records, which other tools do not support. */

/* Returns whether this sub-record is missing from HPROF 1.0.2. */
static bool android_is(uint8_t tag)
{
	switch (tag) {
	case HPROF_ROOT_INTERNED_STRING:
	case HPROF_ROOT_FINALIZING:
	case HPROF_ROOT_DEBUGGER:
	case HPROF_ROOT_REFERENCE_CLEANUP:
	case HPROF_ROOT_VM_INTERNAL:
	case HPROF_ROOT_JNI_MONITOR:
	case HPROF_ROOT_UNREACHABLE:
	case HPROF_PRIMITIVE_ARRAY_NODATA:
	case HPROF_HEAP_DUMP_INFO:
		return true;
	default:
		return false;
	}
}

/* Writes an empty array instead of an array whose elements are missing from the dump. */
static int put_empty_array(struct rewriter *w, const struct hprof_sub *sub, struct hdb_error *err)
{
	const uint8_t zeros[4] = { 0 };
	const uint8_t tag = HPROF_PRIMITIVE_ARRAY_DUMP;

	TRY(rewriter_begin(w, 1 + w->id_size + 9, err));
	TRY(rewriter_put(w, &tag, 1, err));
	TRY(rewriter_copy_ids(w, sub->offset + 1, 1, err));
	TRY(rewriter_copy(w, sub->offset + 1 + w->file.id_size, 4, err));
	TRY(rewriter_put(w, zeros, 4, err));
	return rewriter_put(w, &sub->element_type, 1, err);
}

/* Writes the closest sub-record of HPROF 1.0.2, or nothing if there is none. */
static int android_sub(struct rewriter *w, const struct hprof_sub *sub, struct hdb_error *err)
{
	const uint8_t tag = HPROF_ROOT_UNKNOWN;

	assert(android_is(sub->tag));
	/*
	 * These sub-records are not roots. Replacing them with a root would make garbage reachable.
	 */
	if (sub->tag == HPROF_HEAP_DUMP_INFO || sub->tag == HPROF_ROOT_UNREACHABLE)
		return HDB_OK;
	if (sub->tag == HPROF_PRIMITIVE_ARRAY_NODATA)
		return put_empty_array(w, sub, err);
	/*
	 * Android's roots become ROOT UNKNOWN and lose their kind and, for a monitor, thread and
	 * depth.
	 */
	TRY(rewriter_begin(w, 1 + w->id_size, err));
	TRY(rewriter_put(w, &tag, 1, err));
	return rewriter_copy_ids(w, sub->offset + 1, 1, err);
}

struct convert {
	const struct hdb_convert_options *opt;
	struct rewrite_shapes shapes;
};

static int take_sub(void *ctx, struct rewriter *w, const struct hprof_sub *sub,
		    struct hdb_error *err)
{
	struct convert *c = ctx;

	if (android_is(sub->tag))
		return android_sub(w, sub, err);
	return w->id_size == w->file.id_size ? rewriter_keep(w, sub, err) :
					       widths_sub(&c->shapes, sub, err);
}

static int take_record(void *ctx, struct rewriter *w, const struct hprof_record *rec,
		       struct hdb_error *err)
{
	(void)ctx;
	return w->id_size == w->file.id_size ? rewriter_keep_record(w, rec, err) :
					       widths_record(w, rec, err);
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
		TRY(widths_prepare(&c->shapes, err));
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
	struct convert c = { .opt = opt, .shapes = { .w = &w, .selects = widths_selects } };

	TRY(rewriter_open(&w, paths, opt->output, work, err));
	TRY(convert(&c, &w, err));
	return rewriter_finish(&w, out, err);
}
