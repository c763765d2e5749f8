/* rewrite/kept.c - finds the arrays that hold the contents of strings and bitmaps. */
#include "rewrite/kept.h"

#include "base/bytes.h"
#include "base/secrets.h"

#include <assert.h>
#include <string.h>
#include <xxhash.h>

/* Number of bytes to hash or compare at a time. */
#define CHUNK_BYTES (256u << 10)
/* Maximum number of superclasses whose fields are examined. */
#define SUPERS_MAX 64u

/* ---- field offsets ---- */

/* Finds a field that the class itself declares. Superclasses are not searched, as in Matrix. */
static int find_field(struct rewrite_shapes *s, const struct rewrite_class *class,
		      const char *wanted, struct rewrite_place *out, struct hdb_error *err)
{
	uint64_t at = class->fields_offset, offset = 0;
	char name[REWRITE_NAME_MAX];

	for (uint32_t f = 0; f < class->field_count && !out->class_id; f++) {
		struct hprof_field field;

		TRY(hprof_field_next(&s->w->file, &s->w->view, &at, &field, err));
		rewrite_text(s, field.name_string_id, name);
		if (strcmp(name, wanted) == 0)
			*out = (struct rewrite_place){ class->class_id, offset };
		offset += hprof_type_size(field.type, s->w->file.id_size);
	}
	return HDB_OK;
}

/*
 * Finds the fields of a class and its superclasses whose values are secret (secrets.rules), or the
 * text of a StringBuilder. In an
 * instance, the fields of superclasses follow.
 */
static int find_keys(struct rewrite_kept *k, size_t no, struct hdb_error *err)
{
	struct rewrite_shapes *s = &k->names;
	const struct rewrite_class *class = base_vec_at(&s->classes, struct rewrite_class, no);
	char class_name[REWRITE_NAME_MAX], name[REWRITE_NAME_MAX];
	struct rewrite_place place = { .class_id = class->class_id };
	const size_t first = k->keys.count;
	unsigned rule;

	/* a limit, because superclasses may form a cycle */
	for (unsigned depth = 0; depth < SUPERS_MAX; depth++) {
		uint64_t at = class->fields_offset;

		rewrite_class_name(s, class->class_id, class_name);
		for (uint32_t f = 0; f < class->field_count; f++) {
			struct hprof_field field;

			TRY(hprof_field_next(&s->w->file, &s->w->view, &at, &field, err));
			rewrite_text(s, field.name_string_id, name);
			if (field.type == HPROF_OBJECT &&
			    (base_secrets_has_field(class_name, name, &rule) ||
			     (strcmp(class_name, "java.lang.AbstractStringBuilder") == 0 &&
			      strcmp(name, "value") == 0)))
				TRY(base_vec_push(&k->keys, &place, sizeof(place), err));
			place.offset += hprof_type_size(field.type, s->w->file.id_size);
		}
		no = base_idmap_get(&s->by_id, class->super_id);
		if (no == BASE_IDMAP_NONE)
			break;
		class = base_vec_at(&s->classes, struct rewrite_class, no);
	}
	if (k->keys.count == first)
		return HDB_OK;
	if (first >= BASE_IDMAP_NONE)
		return hdb_fail(err, HDB_ELIMIT, "too many fields (limit %u)", BASE_IDMAP_NONE);
	return base_idmap_put(&k->first_key, place.class_id, (uint32_t)first, err);
}

static int find_fields(struct rewrite_kept *k, struct hdb_error *err)
{
	struct rewrite_shapes *s = &k->names;
	char name[REWRITE_NAME_MAX];

	for (size_t i = 0; i < s->classes.count; i++) {
		const struct rewrite_class *class =
			base_vec_at(&s->classes, struct rewrite_class, i);

		rewrite_class_name(s, class->class_id, name);
		if (k->has_keys)
			TRY(find_keys(k, i, err));
		if (strcmp(name, "java.lang.String") == 0)
			TRY(find_field(s, class, "value", &k->value, err));
		if (strcmp(name, "android.graphics.Bitmap") != 0)
			continue;
		TRY(find_field(s, class, "mBuffer", &k->buffer, err));
		TRY(find_field(s, class, "mRecycled", &k->recycled, err));
	}
	return HDB_OK;
}

/* An instance whose fields are being read. */
struct instance {
	struct rewriter *w;
	const struct hprof_sub *sub;
	struct hdb_error *err;
	int r; /* the first failure, or HDB_OK */
};

/*
 * Returns the bytes of a field. Returns NULL if the instance does not have the field, or after a
 * failure, which is stored in instance->r.
 */
static const uint8_t *field_of(struct instance *instance, const struct rewrite_place *place,
			       unsigned size)
{
	const struct hprof_sub *sub = instance->sub;
	const uint8_t *p;

	assert(size <= 8);
	if (!place->class_id || sub->class_id != place->class_id ||
	    sub->body_size < place->offset + size)
		return NULL;
	p = base_view_at(&instance->w->view, sub->body_offset + place->offset, size, instance->err);
	if (!p)
		instance->r = HDB_EIO;
	return p;
}

static uint64_t reference_of(struct instance *instance, const struct rewrite_place *place)
{
	const unsigned id_size = instance->w->file.id_size;
	const uint8_t *p = field_of(instance, place, id_size);

	return p ? be_id(p, id_size) : 0;
}

/* ---- collecting the arrays ---- */

static int add_instance(struct rewrite_kept *k, const struct hprof_sub *sub, struct hdb_error *err)
{
	struct instance instance = { .w = k->w, .sub = sub, .err = err };
	const uint64_t text = reference_of(&instance, &k->value);
	const uint64_t buffer = reference_of(&instance, &k->buffer);
	const uint8_t *p = field_of(&instance, &k->recycled, 1);
	const struct rewrite_buffer fresh = { .id = buffer, .same_id = buffer };

	assert(sub->tag == HPROF_INSTANCE_DUMP);
	for (size_t i = base_idmap_get(&k->first_key, sub->class_id); i < k->keys.count; i++) {
		const struct rewrite_place *place = base_vec_at(&k->keys, struct rewrite_place, i);
		const uint64_t key = reference_of(&instance, place);

		if (place->class_id != sub->class_id)
			break;
		if (key)
			TRY(rewrite_id_bits_add(&k->texts, key, err));
	}
	TRY(instance.r);
	if (text && k->what & HDB_KEEP_STRINGS)
		return rewrite_id_bits_add(&k->texts, text, err);
	if (!buffer || !(k->what & HDB_KEEP_BITMAPS) || (p && *p) ||
	    base_idmap_get(&k->bitmaps, buffer) != BASE_IDMAP_NONE)
		return HDB_OK;
	if (k->buffers.count >= UINT32_MAX - 1)
		return hdb_fail(err, HDB_ELIMIT, "too many bitmaps (limit %u)", UINT32_MAX - 1);
	TRY(base_idmap_put(&k->bitmaps, buffer, (uint32_t)k->buffers.count, err));
	return base_vec_push(&k->buffers, &fresh, sizeof(fresh), err);
}

static int add_array(struct rewrite_kept *k, const struct hprof_sub *sub, struct hdb_error *err)
{
	const uint32_t no = base_idmap_get(&k->bitmaps, sub->id);
	struct rewrite_buffer *buffer;

	assert(sub->tag == HPROF_PRIMITIVE_ARRAY_DUMP);
	(void)err;
	if (no == BASE_IDMAP_NONE)
		return HDB_OK;
	buffer = base_vec_at(&k->buffers, struct rewrite_buffer, no);
	/* If two arrays have the same ID, the first one wins, as in an import. */
	if (!buffer->offset) {
		buffer->offset = sub->body_offset;
		buffer->size = sub->body_size;
		buffer->type = sub->element_type;
	}
	return HDB_OK;
}

/* Calls a function for each sub-record with a certain tag. */
struct each {
	struct rewrite_kept *kept;
	uint8_t tag;
	int (*take)(struct rewrite_kept *kept, const struct hprof_sub *sub, struct hdb_error *err);
};

static int take_event(void *ctx, const struct hprof_walk *walk, enum hprof_event event,
		      struct hdb_error *err)
{
	const struct each *each = ctx;

	return event == HPROF_EVENT_SUB && walk->sub.tag == each->tag ?
		       each->take(each->kept, &walk->sub, err) :
		       HDB_OK;
}

static int for_each(struct each each, struct hdb_error *err)
{
	return rewriter_survey(each.kept->w, "reading strings and bitmaps", take_event, &each, err);
}

/* ---- equal bitmaps ---- */

static int hash_buffer(struct rewrite_kept *k, const struct rewrite_buffer *b, uint64_t *out,
		       struct hdb_error *err)
{
	*out = b->size * 31 + b->type;
	for (uint64_t at = 0; at < b->size; at += CHUNK_BYTES) {
		const uint64_t n = b->size - at < CHUNK_BYTES ? b->size - at : CHUNK_BYTES;
		const uint8_t *p = base_view_at(&k->w->view, b->offset + at, n, err);

		if (!p)
			return HDB_EIO;
		*out = XXH3_64bits_withSeed(p, n, *out);
	}
	return HDB_OK;
}

/* Compares contents, because equal hashes do not prove equality. */
static int compare(struct rewrite_kept *k, const struct rewrite_buffer *a,
		   const struct rewrite_buffer *b, bool *same, struct hdb_error *err)
{
	BASE_VIEW(other, k->w->source);

	*same = a->size == b->size && a->type == b->type;
	for (uint64_t at = 0; at < a->size && *same; at += CHUNK_BYTES) {
		const uint64_t n = a->size - at < CHUNK_BYTES ? a->size - at : CHUNK_BYTES;
		const uint8_t *p = base_view_at(&k->w->view, a->offset + at, n, err);
		const uint8_t *q = base_view_at(&other, b->offset + at, n, err);

		if (!p || !q)
			return HDB_EIO;
		*same = memcmp(p, q, n) == 0;
	}
	return HDB_OK;
}

static int merge_buffers(struct rewrite_kept *k, struct hdb_error *err)
{
	BASE_SCOPED(base_idmap_release) struct base_idmap firsts = { 0 };

	for (size_t i = 0; i < k->buffers.count; i++) {
		struct rewrite_buffer *b = base_vec_at(&k->buffers, struct rewrite_buffer, i);
		uint64_t hash;
		uint32_t first;
		bool same;

		if (!b->offset)
			continue;
		TRY(hash_buffer(k, b, &hash, err));
		first = base_idmap_get(&firsts, hash);
		if (first == BASE_IDMAP_NONE) {
			TRY(base_idmap_put(&firsts, hash, (uint32_t)i, err));
			continue;
		}
		TRY(compare(k, base_vec_at(&k->buffers, struct rewrite_buffer, first), b, &same,
			    err));
		if (same)
			b->same_id = base_vec_at(&k->buffers, struct rewrite_buffer, first)->id;
	}
	return HDB_OK;
}

static bool selects(void *ctx, uint8_t type, const char *class_name, const char *field_name)
{
	(void)ctx;
	(void)type;
	(void)class_name;
	(void)field_name;
	return false;
}

int rewrite_kept_load(struct rewrite_kept *k, struct hdb_error *err)
{
	k->names.w = k->w;
	k->names.selects = selects;
	k->names.has_names = true;
	k->texts.work = k->w->work;
	TRY(rewrite_shapes_load(&k->names, err));
	TRY(find_fields(k, err));
	k->texts.shift = rewrite_id_shift(k->names.id_bits);
	TRY(for_each((struct each){ k, HPROF_INSTANCE_DUMP, add_instance }, err));
	if (!k->buffers.count)
		return HDB_OK;
	TRY(for_each((struct each){ k, HPROF_PRIMITIVE_ARRAY_DUMP, add_array }, err));
	return merge_buffers(k, err);
}

void rewrite_kept_release(struct rewrite_kept *k)
{
	if (k->texts.work)
		rewrite_id_bits_release(&k->texts);
	rewrite_shapes_release(&k->names);
	base_idmap_release(&k->bitmaps);
	base_vec_release(&k->buffers);
	base_vec_release(&k->keys);
	base_idmap_release(&k->first_key);
}

/* ---- used while the dump is written ---- */

bool rewrite_kept_has(const struct rewrite_kept *k, uint64_t id)
{
	const uint32_t no = base_idmap_get(&k->bitmaps, id);

	return rewrite_id_bits_has(&k->texts, id) ||
	       (no != BASE_IDMAP_NONE &&
		base_vec_at(&k->buffers, struct rewrite_buffer, no)->same_id == id);
}

int rewrite_kept_instance(struct rewrite_kept *k, const struct hprof_sub *sub,
			  struct hdb_error *err)
{
	const uint64_t at = sub->body_offset + k->buffer.offset;
	struct instance instance = { .w = k->w, .sub = sub, .err = err };
	const uint64_t buffer = reference_of(&instance, &k->buffer);
	const uint32_t no = buffer ? base_idmap_get(&k->bitmaps, buffer) : BASE_IDMAP_NONE;
	struct rewriter *w = k->w;
	uint64_t same;

	assert(sub->tag == HPROF_INSTANCE_DUMP);
	TRY(instance.r);
	if (no == BASE_IDMAP_NONE)
		return rewriter_keep(w, sub, err);
	same = base_vec_at(&k->buffers, struct rewrite_buffer, no)->same_id;
	/*
	 * If this buffer is also the text of a string, it is kept anyway, so the bitmap can keep
	 * its reference.
	 */
	if (same == buffer || rewrite_id_bits_has(&k->texts, buffer))
		return rewriter_keep(w, sub, err);
	w->result.changed_count++;
	TRY(rewriter_begin(w, sub->end - sub->offset, err));
	TRY(rewriter_copy(w, sub->offset, at - sub->offset, err));
	TRY(rewriter_put_id(w, same, err));
	return rewriter_copy(w, at + w->file.id_size, sub->end - at - w->file.id_size, err);
}
