/* rewrite/blank.c - replaces values with zeros. */
#include "rewrite/blank.h"

#include <assert.h>
#include <string.h>

bool rewrite_blank_spares(const char *class_name, const char *field_name)
{
	return strcmp(class_name, "jdk.internal.vm.StackChunk") == 0 &&
	       strcmp(field_name, "size") == 0;
}

/* Writes the values of an instance, with the selected fields zeroed. */
static int put_values(struct rewrite_shapes *s, const struct rewrite_class *class,
		      const struct hprof_sub *sub, struct hdb_error *err)
{
	struct rewriter *w = s->w;
	uint64_t at = 0;

	for (size_t i = 0; i < class->run_count; i++) {
		const struct rewrite_run *run =
			base_vec_at(&s->runs, struct rewrite_run, class->first_run + i);

		TRY(rewriter_copy(w, sub->body_offset + at, run->offset - at, err));
		TRY(rewriter_zeros(w, run->size, err));
		at = (uint64_t)run->offset + run->size;
	}
	w->result.changed_count += class->run_count != 0;
	w->result.changed_bytes += class->run_bytes;
	return rewriter_copy(w, sub->body_offset + at, sub->body_size - at, err);
}

int rewrite_blank_instance(struct rewrite_shapes *s, const struct hprof_sub *sub,
			   struct hdb_error *err)
{
	struct rewriter *w = s->w;
	struct rewrite_class *class;

	assert(sub->tag == HPROF_INSTANCE_DUMP);
	TRY(rewrite_shape_of(s, sub->class_id, &class, err));
	if (class && class->all_bytes == sub->body_size && !class->run_count)
		return rewriter_keep(w, sub, err);
	TRY(rewriter_begin(w, sub->end - sub->offset, err));
	TRY(rewriter_copy(w, sub->offset, sub->body_offset - sub->offset, err));
	if (class && class->all_bytes == sub->body_size)
		return put_values(s, class, sub, err);
	w->result.changed_count++;
	w->result.changed_bytes += sub->body_size;
	return rewriter_zeros(w, sub->body_size, err);
}

/* Writes the static fields. *at is their offset; it is advanced past them. */
static int put_statics(struct rewrite_shapes *s, const struct hprof_class *dump, uint64_t *at,
		       struct hdb_error *err)
{
	char class_name[REWRITE_NAME_MAX] = "", name[REWRITE_NAME_MAX] = "";
	struct rewriter *w = s->w;

	if (s->has_names)
		rewrite_class_name(s, dump->class_id, class_name);
	for (uint32_t i = 0; i < dump->static_count; i++) {
		const uint64_t from = *at, head = w->file.id_size + 1u;
		struct hprof_static field;
		uint64_t size;

		TRY(hprof_static_next(&w->file, &w->view, at, &field, err));
		TRY(rewriter_copy(w, from, head, err));
		size = *at - from - head;
		if (s->has_names)
			rewrite_text(s, field.name_string_id, name);
		if (s->selects(s->ctx, field.type, class_name, name)) {
			w->result.changed_bytes += size;
			TRY(rewriter_zeros(w, size, err));
		} else {
			TRY(rewriter_copy(w, from + head, size, err));
		}
	}
	return HDB_OK;
}

/* Writes the constant pool: references unchanged, other values as zeros. */
static int put_constants(struct rewrite_shapes *s, const struct hprof_class *dump, uint64_t *at,
			 struct hdb_error *err)
{
	struct rewriter *w = s->w;

	for (uint32_t i = 0; i < dump->constant_count; i++) {
		const uint8_t *head = base_view_at(&w->view, *at, 3, err);
		unsigned size;
		uint8_t type;

		if (!head)
			return HDB_EIO;
		type = head[2];
		size = hprof_type_size(type, w->file.id_size);
		TRY(rewriter_copy(w, *at, 3, err));
		TRY(type == HPROF_OBJECT ? rewriter_copy(w, *at + 3, size, err) :
					   rewriter_zeros(w, size, err));
		*at += 3 + size;
	}
	return HDB_OK;
}

int rewrite_blank_class(struct rewrite_shapes *s, const struct hprof_sub *sub,
			struct hdb_error *err)
{
	struct rewriter *w = s->w;
	struct hprof_class dump;
	uint64_t at;

	assert(sub->tag == HPROF_CLASS_DUMP);
	TRY_ERRORS(hprof_class_read(&w->file, &w->view, sub, &dump, err));
	TRY(rewriter_begin(w, sub->end - sub->offset, err));
	at = dump.constants_offset;
	TRY(rewriter_copy(w, sub->offset, at - sub->offset, err));
	TRY(put_constants(s, &dump, &at, err));
	TRY(rewriter_copy(w, at, dump.statics_offset - at, err));
	at = dump.statics_offset;
	TRY(put_statics(s, &dump, &at, err));
	return rewriter_copy(w, at, sub->end - at, err);
}

int rewrite_blank_array(struct rewriter *w, const struct hprof_sub *sub, struct hdb_error *err)
{
	assert(sub->tag == HPROF_PRIMITIVE_ARRAY_DUMP);
	TRY(rewriter_begin(w, sub->end - sub->offset, err));
	TRY(rewriter_copy(w, sub->offset, sub->body_offset - sub->offset, err));
	w->result.changed_count++;
	w->result.changed_bytes += sub->body_size;
	return rewriter_zeros(w, sub->body_size, err);
}
