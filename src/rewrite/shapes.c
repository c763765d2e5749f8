/*
 * rewrite/shapes.c - collects classes in a separate pass, because an instance may precede its class
 * in the dump.
 */
#include "rewrite/shapes.h"

#include "base/bytes.h"

#include <assert.h>
#include <string.h>

/* ---- collecting ---- */

static int add_text(struct rewrite_shapes *s, const struct hprof_record *rec, struct hdb_error *err)
{
	const unsigned id_size = s->w->file.id_size;
	const uint8_t *p = base_view_at(&s->w->view, rec->body_offset, id_size, err);
	struct rewrite_text text;

	if (!p)
		return HDB_EIO;
	if (s->texts.count >= UINT32_MAX - 1)
		return HDB_OK;
	text.offset = rec->body_offset + id_size;
	text.size = (uint32_t)(rec->body_size - id_size);
	TRY(base_idmap_put(&s->text_map, be_id(p, id_size), (uint32_t)s->texts.count, err));
	return base_vec_push(&s->texts, &text, sizeof(text), err);
}

static int add_record(struct rewrite_shapes *s, const struct hprof_record *rec,
		      struct hdb_error *err)
{
	struct hprof_load_class load;

	if (!s->has_names)
		return HDB_OK;
	if (rec->tag == HPROF_UTF8)
		return add_text(s, rec, err);
	if (rec->tag != HPROF_LOAD_CLASS)
		return HDB_OK;
	TRY(hprof_read_load_class(&s->w->file, &s->w->view, rec, &load, err));
	TRY(base_idmap_put(&s->name_of, load.class_id, (uint32_t)s->names.count, err));
	return base_vec_push(&s->names, &load.name_string_id, sizeof(uint64_t), err);
}

static int add_class(struct rewrite_shapes *s, const struct hprof_sub *sub, struct hdb_error *err)
{
	struct rewrite_class class = { 0 };
	struct hprof_class dump;
	uint64_t at, bytes = 0;

	TRY_ERRORS(hprof_class_read(&s->w->file, &s->w->view, sub, &dump, err));
	class.class_id = dump.class_id;
	class.super_id = dump.super_id;
	class.fields_offset = at = dump.fields_offset;
	class.field_count = dump.field_count;
	class.instance_size = dump.instance_size;
	for (uint32_t f = 0; f < dump.field_count; f++) {
		struct hprof_field field;

		TRY(hprof_field_next(&s->w->file, &s->w->view, &at, &field, err));
		bytes += hprof_type_size(field.type, s->w->file.id_size);
	}
	class.body_bytes = (uint32_t)bytes;
	/* If two classes have the same ID, the first one wins, as in an import. */
	if (base_idmap_get(&s->by_id, class.class_id) != BASE_IDMAP_NONE)
		return HDB_OK;
	TRY(base_idmap_put(&s->by_id, class.class_id, (uint32_t)s->classes.count, err));
	return base_vec_push(&s->classes, &class, sizeof(class), err);
}

static int take(void *ctx, const struct hprof_walk *walk, enum hprof_event event,
		struct hdb_error *err)
{
	struct rewrite_shapes *s = ctx;

	if (s->named)
		TRY(rewrite_named_take(s->named, walk, event, err));
	if (event == HPROF_EVENT_RECORD)
		return add_record(s, &walk->record, err);
	if (event != HPROF_EVENT_SUB)
		return HDB_OK;
	if (walk->sub.tag == HPROF_CLASS_DUMP)
		return add_class(s, &walk->sub, err);
	s->id_bits |= walk->sub.id;
	return HDB_OK;
}

int rewrite_shapes_load(struct rewrite_shapes *s, struct hdb_error *err)
{
	return rewriter_survey(s->w, "reading classes", take, s, err);
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

void rewrite_text(struct rewrite_shapes *s, uint64_t string_id, char out[REWRITE_NAME_MAX])
{
	const uint32_t no = base_idmap_get(&s->text_map, string_id);
	const struct rewrite_text *text;
	const uint8_t *p;
	size_t n;

	assert(s->has_names);
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
	rewrite_text(s, *base_vec_at(&s->names, uint64_t, no), out);
	for (char *p = out; *p; p++)
		*p = *p == '/' ? '.' : *p;
}

/* ---- instances ---- */

/* Adds a range of selected bytes to a class, merging it with the previous range if possible. */
static int add_run(struct rewrite_shapes *s, struct rewrite_class *class, uint64_t offset,
		   unsigned size, struct hdb_error *err)
{
	struct rewrite_run run = { .offset = (uint32_t)offset, .size = size };
	struct rewrite_run *last =
		class->run_count ? base_vec_at(&s->runs, struct rewrite_run, s->runs.count - 1) :
				   NULL;

	assert(size > 0);
	class->run_bytes += size;
	if (last && last->offset + last->size == run.offset) {
		last->size += size;
		return HDB_OK;
	}
	class->run_count++;
	return base_vec_push(&s->runs, &run, sizeof(run), err);
}

/*
 * Adds the selected fields that `from` declares. *at is the offset of the first field of `from`; it
 * is advanced past the last field.
 */
static int add_fields(struct rewrite_shapes *s, struct rewrite_class *class,
		      const struct rewrite_class *from, uint64_t *at, struct hdb_error *err)
{
	char class_name[REWRITE_NAME_MAX] = "", name[REWRITE_NAME_MAX] = "";
	uint64_t offset = from->fields_offset;

	if (s->has_names)
		rewrite_class_name(s, from->class_id, class_name);
	for (uint32_t f = 0; f < from->field_count; f++) {
		struct hprof_field field;
		unsigned size;

		TRY(hprof_field_next(&s->w->file, &s->w->view, &offset, &field, err));
		size = hprof_type_size(field.type, s->w->file.id_size);
		if (s->has_names)
			rewrite_text(s, field.name_string_id, name);
		if (size && s->selects(s->ctx, field.type, class_name, name))
			TRY(add_run(s, class, *at, size, err));
		*at += size;
	}
	return HDB_OK;
}

/* Maximum length of a superclass chain, which may be a cycle in a damaged dump. */
#define SUPERS_MAX 1000u

static int find_runs(struct rewrite_shapes *s, uint32_t no, struct hdb_error *err)
{
	struct rewrite_class *class = base_vec_at(&s->classes, struct rewrite_class, no);
	uint32_t from = no;
	uint64_t at = 0;

	assert(no < s->classes.count);
	class->first_run = s->runs.count;
	for (unsigned i = 0; i < SUPERS_MAX && from != BASE_IDMAP_NONE; i++) {
		const struct rewrite_class *one =
			base_vec_at(&s->classes, struct rewrite_class, from);

		if (at + one->body_bytes > UINT32_MAX)
			break;
		TRY(add_fields(s, class, one, &at, err));
		from = one->super_id ? base_idmap_get(&s->by_id, one->super_id) : BASE_IDMAP_NONE;
	}
	class->all_bytes = at;
	class->has_runs = true;
	return HDB_OK;
}

int rewrite_shape_of(struct rewrite_shapes *s, uint64_t class_id, struct rewrite_class **out,
		     struct hdb_error *err)
{
	const uint32_t no = base_idmap_get(&s->by_id, class_id);

	assert(no == BASE_IDMAP_NONE || no < s->classes.count);
	*out = NULL;
	if (no == BASE_IDMAP_NONE)
		return HDB_OK;
	*out = base_vec_at(&s->classes, struct rewrite_class, no);
	return (*out)->has_runs ? HDB_OK : find_runs(s, no, err);
}
