/*
 * rewrite/shapes.c - classes before instances: a pass that only looks.
 */
#include "rewrite/shapes.h"

#include "base/bytes.h"

#include <stdlib.h>
#include <string.h>

/* Between two looks at progress and the cancel flag. */
#define STEP_EVENTS 8192u

/* ---- gathering ---- */

static int add_text(struct rewrite_shapes *s, const struct hprof_record *rec, struct hdb_error *err)
{
	const unsigned id_size = s->w->file.id_size;
	const uint8_t *p = base_view_at(&s->w->view, rec->body_offset, id_size, err);
	struct rewrite_text text;
	int r;

	if (!p)
		return HDB_EIO;
	if (s->texts.count >= UINT32_MAX - 1)
		return HDB_OK;
	text.offset = rec->body_offset + id_size;
	text.size = (uint32_t)(rec->body_size - id_size);
	r = base_idmap_put(&s->text_map, be_id(p, id_size), (uint32_t)s->texts.count, err);
	return r == HDB_OK ? base_vec_push(&s->texts, &text, sizeof(text), err) : r;
}

static int add_record(struct rewrite_shapes *s, const struct hprof_record *rec,
		      struct hdb_error *err)
{
	struct hprof_load_class load;
	int r;

	if (!s->keeps)
		return HDB_OK;
	if (rec->tag == HPROF_UTF8)
		return add_text(s, rec, err);
	if (rec->tag != HPROF_LOAD_CLASS)
		return HDB_OK;
	r = hprof_read_load_class(&s->w->file, &s->w->view, rec, &load, err);
	if (r == HDB_OK)
		r = base_idmap_put(&s->name_of, load.class_id, (uint32_t)s->names.count, err);
	return r == HDB_OK ? base_vec_push(&s->names, &load.name_string_id, sizeof(uint64_t), err) :
			     r;
}

static int add_class(struct rewrite_shapes *s, const struct hprof_sub *sub, struct hdb_error *err)
{
	struct rewrite_class class = { 0 };
	struct hprof_class dump;
	uint64_t at, bytes = 0;
	int r = hprof_class_read(&s->w->file, &s->w->view, sub, &dump, err);

	if (r < 0)
		return r;
	class.class_id = dump.class_id;
	class.super_id = dump.super_id;
	class.fields_offset = at = dump.fields_offset;
	class.field_count = dump.field_count;
	for (uint32_t f = 0; f < dump.field_count; f++) {
		struct hprof_field field;

		r = hprof_field_next(&s->w->file, &s->w->view, &at, &field, err);
		if (r < 0)
			return r;
		bytes += hprof_type_size(field.type, s->w->file.id_size);
	}
	class.body_bytes = (uint32_t)bytes;
	/* The first of two counts, as in the import. */
	if (base_idmap_get(&s->by_id, class.class_id) != BASE_IDMAP_NONE)
		return HDB_OK;
	r = base_idmap_put(&s->by_id, class.class_id, (uint32_t)s->classes.count, err);
	return r == HDB_OK ? base_vec_push(&s->classes, &class, sizeof(class), err) : r;
}

int rewrite_shapes_load(struct rewrite_shapes *s, struct hdb_error *err)
{
	struct rewriter *w = s->w;
	struct hprof_walk walk;
	enum hprof_event event;
	uint64_t events = 0;
	int r = HDB_OK;

	base_stage(w->work, "reading classes", w->source->size, "bytes");
	hprof_walk_init(&walk, &w->file);
	while (r == HDB_OK) {
		r = hprof_walk_next(&walk, &event, err);
		if (r != HDB_OK)
			break;
		if (event == HPROF_EVENT_RECORD)
			r = add_record(s, &walk.record, err);
		else if (event == HPROF_EVENT_SUB && walk.sub.tag == HPROF_CLASS_DUMP)
			r = add_class(s, &walk.sub, err);
		if (r == HDB_OK && ++events % STEP_EVENTS == 0)
			r = base_step(w->work, walk.position, err);
	}
	hprof_walk_release(&walk);
	return r < 0 ? r : HDB_OK;
}

void rewrite_shapes_release(struct rewrite_shapes *s)
{
	base_vec_release(&s->classes);
	base_vec_release(&s->names);
	base_vec_release(&s->texts);
	base_vec_release(&s->runs);
	base_idmap_release(&s->by_id);
	base_idmap_release(&s->name_of);
	base_idmap_release(&s->text_map);
}

/* ---- names ---- */

static void text_of(struct rewrite_shapes *s, uint64_t string_id, char out[REWRITE_NAME_MAX])
{
	const uint32_t no = base_idmap_get(&s->text_map, string_id);
	const struct rewrite_text *text;
	const uint8_t *p;
	size_t n;

	out[0] = '\0';
	if (no == BASE_IDMAP_NONE)
		return;
	text = base_vec_at(&s->texts, struct rewrite_text, no);
	n = text->size < REWRITE_NAME_MAX - 1 ? text->size : REWRITE_NAME_MAX - 1;
	p = base_view_at(&s->w->view, text->offset, n, NULL);
	if (!p)
		return;
	memcpy(out, p, n);
	out[n] = '\0';
}

void rewrite_class_name(struct rewrite_shapes *s, uint64_t class_id, char out[REWRITE_NAME_MAX])
{
	const uint32_t no = base_idmap_get(&s->name_of, class_id);

	out[0] = '\0';
	if (no == BASE_IDMAP_NONE)
		return;
	text_of(s, *base_vec_at(&s->names, uint64_t, no), out);
	for (char *p = out; *p; p++)
		*p = *p == '/' ? '.' : *p;
}

/* ---- instances ---- */

static int add_run(struct rewrite_shapes *s, struct rewrite_class *class, uint64_t offset,
		   unsigned size, struct hdb_error *err)
{
	struct rewrite_run run = { .offset = (uint32_t)offset, .size = size };
	struct rewrite_run *last =
		class->run_count ? base_vec_at(&s->runs, struct rewrite_run, s->runs.count - 1) :
				   NULL;

	if (last && last->offset + last->size == run.offset) {
		last->size += size;
		return HDB_OK;
	}
	class->run_count++;
	return base_vec_push(&s->runs, &run, sizeof(run), err);
}

/* Adds what is zeroed of the fields that `from` declares; *at is where they begin. */
static int add_fields(struct rewrite_shapes *s, struct rewrite_class *class,
		      const struct rewrite_class *from, uint64_t *at, struct hdb_error *err)
{
	char class_name[REWRITE_NAME_MAX] = "", name[REWRITE_NAME_MAX];
	uint64_t offset = from->fields_offset;
	int r = HDB_OK;

	if (s->keeps)
		rewrite_class_name(s, from->class_id, class_name);
	for (uint32_t f = 0; f < from->field_count && r == HDB_OK; f++) {
		struct hprof_field field;
		unsigned size;

		r = hprof_field_next(&s->w->file, &s->w->view, &offset, &field, err);
		if (r < 0)
			return r;
		size = hprof_type_size(field.type, s->w->file.id_size);
		if (field.type != HPROF_OBJECT && size) {
			if (s->keeps)
				text_of(s, field.name_string_id, name);
			if (!s->keeps || !s->keeps(s->ctx, class_name, name))
				r = add_run(s, class, *at, size, err);
		}
		*at += size;
	}
	return r;
}

/* The longest chain of super classes that is followed; damage may have made it a circle. */
#define SUPERS_MAX 1000u

static int find_runs(struct rewrite_shapes *s, uint32_t no, struct hdb_error *err)
{
	struct rewrite_class *class = base_vec_at(&s->classes, struct rewrite_class, no);
	uint32_t from = no;
	uint64_t at = 0;
	int r = HDB_OK;

	class->first_run = s->runs.count;
	for (unsigned i = 0; i < SUPERS_MAX && from != BASE_IDMAP_NONE && r == HDB_OK; i++) {
		const struct rewrite_class *one =
			base_vec_at(&s->classes, struct rewrite_class, from);

		if (at + one->body_bytes > UINT32_MAX)
			break;
		r = add_fields(s, class, one, &at, err);
		from = one->super_id ? base_idmap_get(&s->by_id, one->super_id) : BASE_IDMAP_NONE;
	}
	class->all_bytes = at;
	class->has_runs = r == HDB_OK;
	return r;
}

/* Writes `size` bytes from `from` on, with zeros in the runs. */
static int put_runs(struct rewrite_shapes *s, const struct rewrite_class *class,
		    const struct hprof_sub *sub, struct hdb_error *err)
{
	struct rewriter *w = s->w;
	uint64_t at = 0;
	int r = HDB_OK;

	for (size_t i = 0; i < class->run_count && r == HDB_OK; i++) {
		const struct rewrite_run *run =
			base_vec_at(&s->runs, struct rewrite_run, class->first_run + i);

		r = rewriter_copy(w, sub->body_offset + at, run->offset - at, err);
		if (r == HDB_OK)
			r = rewriter_zeros(w, run->size, err);
		at = (uint64_t)run->offset + run->size;
		w->result.changed_bytes += run->size;
	}
	return r == HDB_OK ? rewriter_copy(w, sub->body_offset + at, sub->body_size - at, err) : r;
}

int rewrite_instance(struct rewrite_shapes *s, const struct hprof_sub *sub, struct hdb_error *err)
{
	const uint32_t no = base_idmap_get(&s->by_id, sub->class_id);
	struct rewrite_class *class = NULL;
	int r = HDB_OK;

	if (no != BASE_IDMAP_NONE) {
		class = base_vec_at(&s->classes, struct rewrite_class, no);
		if (!class->has_runs)
			r = find_runs(s, no, err);
	}
	if (r == HDB_OK)
		r = rewriter_begin(s->w, sub->end - sub->offset, err);
	if (r == HDB_OK)
		r = rewriter_copy(s->w, sub->offset, sub->body_offset - sub->offset, err);
	if (r < 0)
		return r;
	if (class && class->all_bytes == sub->body_size) {
		s->w->result.changed_count += class->run_count != 0;
		return put_runs(s, class, sub, err);
	}
	s->w->result.changed_count++;
	s->w->result.changed_bytes += sub->body_size;
	return rewriter_zeros(s->w, sub->body_size, err);
}

int rewrite_class_dump(struct rewrite_shapes *s, const struct hprof_sub *sub, struct hdb_error *err)
{
	char class_name[REWRITE_NAME_MAX] = "", name[REWRITE_NAME_MAX];
	struct rewriter *w = s->w;
	const unsigned id_size = w->file.id_size;
	struct hprof_class dump;
	uint64_t at, from;
	int r = hprof_class_read(&w->file, &w->view, sub, &dump, err);

	if (r == HDB_OK)
		r = rewriter_begin(w, sub->end - sub->offset, err);
	if (r < 0)
		return r;
	if (s->keeps)
		rewrite_class_name(s, dump.class_id, class_name);
	from = at = dump.statics_offset;
	r = rewriter_copy(w, sub->offset, at - sub->offset, err);
	for (uint32_t i = 0; i < dump.static_count && r == HDB_OK; i++) {
		struct hprof_static field;
		uint64_t value_at;

		r = hprof_static_next(&w->file, &w->view, &at, &field, err);
		if (r < 0)
			return r;
		value_at = from + id_size + 1;
		if (s->keeps)
			text_of(s, field.name_string_id, name);
		if (field.type == HPROF_OBJECT ||
		    (s->keeps && s->keeps(s->ctx, class_name, name))) {
			r = rewriter_copy(w, from, at - from, err);
		} else {
			r = rewriter_copy(w, from, value_at - from, err);
			if (r == HDB_OK)
				r = rewriter_zeros(w, at - value_at, err);
			w->result.changed_bytes += at - value_at;
		}
		from = at;
	}
	return r == HDB_OK ? rewriter_copy(w, from, sub->end - from, err) : r;
}

int rewrite_zero_array(struct rewriter *w, const struct hprof_sub *sub, struct hdb_error *err)
{
	int r = rewriter_begin(w, sub->end - sub->offset, err);

	if (r == HDB_OK)
		r = rewriter_copy(w, sub->offset, sub->body_offset - sub->offset, err);
	w->result.changed_count++;
	w->result.changed_bytes += sub->body_size;
	return r == HDB_OK ? rewriter_zeros(w, sub->body_size, err) : r;
}
