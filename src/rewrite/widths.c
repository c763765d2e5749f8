/*
 * rewrite/widths.c - changes the size of IDs from 4 bytes to 8, or back.
 *
 * One function per kind of record goes through it twice: first it computes the size of the output,
 * which must be written before the contents, then it writes.
 */
#include "rewrite/widths.h"

#include "base/bytes.h"

#include <assert.h>

/* A position in a record that is read. */
struct pipe {
	struct rewriter *w;
	uint64_t at;     /* offset in the dump */
	uint64_t size;   /* bytes of output so far */
	bool is_written; /* the second pass; false: only the size is computed */
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

/* Writes `value` in place of the 4 bytes in the dump. */
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

bool rewrite_widths_selects(void *ctx, uint8_t type, const char *class_name, const char *field_name)
{
	(void)ctx;
	(void)class_name;
	(void)field_name;
	return type == HPROF_OBJECT;
}

/*
 * Size in the output of values that take `size` bytes in the dump, `references` bytes of them being
 * references.
 */
static uint64_t widened(const struct rewriter *w, uint64_t size, uint64_t references)
{
	return size - references + references / w->file.id_size * w->id_size;
}

/*
 * A table of a class: a 2-byte count and entries of `before` bytes (an ID if has_id), a type, and a
 * value if has_value.
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

int rewrite_widths_prepare(struct rewrite_shapes *s, struct hdb_error *err)
{
	size_t sums = 0;

	for (size_t i = 0; i < s->classes.count; i++) {
		const uint64_t id = base_vec_at(&s->classes, struct rewrite_class, i)->class_id;
		struct rewrite_class *class;

		TRY(rewrite_shape_of(s, id, &class, err));
		sums += class && class->all_bytes == class->instance_size;
	}
	/* Most classes must agree, not all: a damaged dump may have changed some. */
	s->has_sums = sums > s->classes.count / 2;
	return HDB_OK;
}

/*
 * The instance size of a class in the output: converted if it is the sum of the fields, else
 * unchanged.
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
	default: /* other roots and primitive arrays: an ID first, then bytes without IDs */
		TRY(pass_ids(p, 1, err));
		return pass_bytes(p, sub->end - p->at, err);
	}
}

int rewrite_widths_sub(struct rewrite_shapes *s, const struct hprof_sub *sub, struct hdb_error *err)
{
	struct pipe p = { .w = s->w, .at = sub->offset };

	TRY(pass_sub(s, &p, sub, err));
	TRY(rewriter_begin(s->w, p.size, err));
	p = (struct pipe){ .w = s->w, .at = sub->offset, .is_written = true };
	return pass_sub(s, &p, sub, err);
}

/* ---- records ---- */

/*
 * The IDs of a record: i is an ID, 4 four bytes of something else. The rest of the record has no
 * IDs, except for the frames of a trace.
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

int rewrite_widths_record(struct rewriter *w, const struct hprof_record *rec, struct hdb_error *err)
{
	struct pipe p = { .w = w, .at = rec->body_offset };

	TRY(pass_record(&p, rec, err));
	TRY(rewriter_record(w, rec, p.size, err));
	p = (struct pipe){ .w = w, .at = rec->body_offset, .is_written = true };
	return pass_record(&p, rec, err);
}
