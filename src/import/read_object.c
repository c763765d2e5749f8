/*
 * import/read_object.c - one object of the dump: its entry in the table of objects, and the IDs that it refers to.
 */
#include "import/resolve.h"

#include "base/bytes.h"

/* Elements of a big array that are resolved at a time. */
#define ELEMENTS 4096

static int push_reference(struct slot *s, uint64_t id, struct hdb_error *err)
{
	return id ? base_vec_push(&s->raw, &id, sizeof(id), err) : HDB_OK;
}

static uint32_t class_no(struct import *im, struct slot *s, uint64_t class_id)
{
	const uint32_t at = (uint32_t)((class_id * 0x9e3779b97f4a7c15ull) >> 32) &
			    (SLOT_CLASSES - 1);

	if (s->class_id[at] != class_id || !s->class_no[at]) {
		s->class_id[at] = class_id;
		s->class_no[at] = base_idmap_get(&im->class_map, class_id) + 1;
	}
	return s->class_no[at] - 1;
}

/* The field "size" of a stack chunk: words of stack behind its fields. Negative in a damaged dump only. */
static uint64_t stack_words(const uint8_t *value)
{
	const uint32_t words = be32(value);

	return words <= INT32_MAX ? words : 0;
}

static int take_instance(struct import *im, struct slot *s, const struct hprof_sub *sub,
			 struct store_object *o, uint32_t ix, struct hdb_error *err)
{
	const struct import_class *class;
	const uint8_t *body;
	uint64_t *raw;
	int r;

	o->kind = STORE_INSTANCE;
	o->class_no = class_no(im, s, sub->class_id);
	if (o->class_no == BASE_IDMAP_NONE)
		return hdb_fail(err, HDB_EBUG, "instance 0x%" PRIx64 " has no class", sub->id);
	class = import_class_at(im, o->class_no);
	o->body_size = class->out.body_size;
	if (sub->body_size < class->out.body_size && s->short_count++ < BLOCK_PROBLEMS_MAX) {
		r = base_vec_push(&s->short_ix, &ix, sizeof(ix), err);
		if (r < 0)
			return r;
	}
	if (!class->plan_count)
		return HDB_OK;
	body = base_view_at(&s->view, sub->body_offset, sub->body_size, err);
	if (!body)
		return HDB_ETRUNC;
	r = base_vec_reserve(&s->raw, class->plan_count, sizeof(uint64_t), err);
	if (r < 0)
		return r;
	raw = (uint64_t *)s->raw.data + s->raw.count;
	if (class->stack_size_at && class->stack_size_at <= sub->body_size)
		o->length = stack_words(body + class->stack_size_at - 4);
	for (uint32_t i = 0; i < class->plan_count; i++) {
		const uint32_t at = *base_vec_at(&im->plans, uint32_t, class->plan_first + i);
		uint64_t id;

		if ((uint64_t)at + im->file.id_size > sub->body_size)
			break;
		id = be_id(body + at, im->file.id_size);
		*raw = id;
		raw += id != 0;
	}
	s->raw.count = (size_t)(raw - (uint64_t *)s->raw.data);
	return HDB_OK;
}

/* Reads n elements of an object array from element `from`; gives the IDs that are not null. */
static int read_elements(struct import *im, struct base_view *view, const struct hprof_sub *sub,
			 uint64_t from, uint64_t n, uint64_t *ids, size_t *count,
			 struct hdb_error *err)
{
	const unsigned size = im->file.id_size;
	const uint8_t *p = base_view_at(view, sub->body_offset + from * size, n * size, err);
	size_t k = 0;

	if (!p)
		return HDB_ETRUNC;
	for (uint64_t i = 0; i < n; i++) {
		ids[k] = be_id(p + i * size, size);
		k += ids[k] != 0;
	}
	*count = k;
	return HDB_OK;
}

int import_note_missing(struct slot *s, uint64_t id, uint32_t ix, struct hdb_error *err)
{
	const struct missing m = { .id = id, .from_ix = ix };

	s->missing_count++;
	/* Kept one by one up to the limit of the whole list; a block needs no more. */
	if (s->missing.count >= IMPORT_DANGLING_MAX)
		return HDB_OK;
	return base_vec_push(&s->missing, &m, sizeof(m), err);
}

/* Reads a long array piece by piece and hands the found and the missing on. */
int import_each_element(struct import *im, struct base_view *view, const struct hprof_sub *sub,
			int (*take)(void *ctx, const uint64_t *ids, const uint32_t *found,
				    size_t count, struct hdb_error *err),
			void *ctx, struct hdb_error *err)
{
	uint64_t ids[ELEMENTS];
	uint32_t found[ELEMENTS];
	int r = HDB_OK;

	for (uint64_t from = 0; from < sub->length && r == HDB_OK; from += ELEMENTS) {
		const uint64_t n = sub->length - from < ELEMENTS ? sub->length - from : ELEMENTS;
		size_t count;

		r = read_elements(im, view, sub, from, n, ids, &count, err);
		if (r < 0)
			return r;
		idset_find_many(&im->ids, ids, count, found);
		r = take(ctx, ids, found, count, err);
	}
	return r;
}

static int count_found(void *ctx, const uint64_t *ids, const uint32_t *found, size_t count,
		       struct hdb_error *err)
{
	uint64_t *total = ctx;

	(void)ids;
	(void)err;
	for (size_t i = 0; i < count; i++)
		*total += found[i] != IDSET_NONE;
	return HDB_OK;
}

struct few {
	struct slot *s;
	uint32_t ix;
};

/* A long array with few references: they are kept like a short one's. */
static int keep_found(void *ctx, const uint64_t *ids, const uint32_t *found, size_t count,
		      struct hdb_error *err)
{
	struct few *few = ctx;
	int r = HDB_OK;

	for (size_t i = 0; i < count && r == HDB_OK; i++)
		r = found[i] == IDSET_NONE ? import_note_missing(few->s, ids[i], few->ix, err) :
		    base_vec_push(&few->s->raw, &ids[i], sizeof(ids[i]), err);
	return r;
}

static int take_long_array(struct import *im, struct slot *s, const struct hprof_sub *sub,
			   uint32_t ix, struct hdb_error *err)
{
	struct big_list big = { .ix = ix, .start = NOT_HELD, .offset = sub->offset };
	struct few few = { .s = s, .ix = ix };
	int r = import_each_element(im, &s->view, sub, count_found, &big.length, err);

	if (r < 0)
		return r;
	if (big.length <= STORE_LIST_BIG)
		return import_each_element(im, &s->view, sub, keep_found, &few, err);
	return base_vec_push(&s->big, &big, sizeof(big), err);
}

static int take_object_array(struct import *im, struct slot *s, const struct hprof_sub *sub,
			     struct store_object *o, uint32_t ix, struct hdb_error *err)
{
	size_t count;
	int r;

	o->kind = STORE_OBJECT_ARRAY;
	o->class_no = class_no(im, s, sub->class_id);
	o->length = sub->length;
	o->body_size = im->file.id_size;
	if (o->class_no == BASE_IDMAP_NONE)
		return hdb_fail(err, HDB_EBUG, "array 0x%" PRIx64 " has no class", sub->id);
	if (sub->length > STORE_LIST_BIG)
		return take_long_array(im, s, sub, ix, err);
	r = base_vec_reserve(&s->raw, sub->length, sizeof(uint64_t), err);
	if (r < 0)
		return r;
	r = read_elements(im, &s->view, sub, 0, sub->length,
			  (uint64_t *)s->raw.data + s->raw.count, &count, err);
	if (r == HDB_OK)
		s->raw.count += count;
	return r;
}

static int take_class(struct import *im, struct slot *s, struct store_object *o, uint64_t id,
		      struct hdb_error *err)
{
	const uint32_t no = base_idmap_get(&im->class_map, id);
	const struct import_class *class;
	uint64_t offset;
	int r = HDB_OK;

	o->kind = STORE_CLASS;
	o->class_no = im->class_class_no;
	o->length = no;
	o->file_offset = 0;
	if (no == BASE_IDMAP_NONE)
		return hdb_fail(err, HDB_EBUG, "class 0x%" PRIx64 " has no number", id);
	class = import_class_at(im, no);
	offset = class->statics_offset;
	for (uint32_t f = 0; f < class->out.static_count && r == HDB_OK; f++) {
		struct hprof_static field;

		r = hprof_static_next(&im->file, &s->view, &offset, &field, err);
		if (r == HDB_OK && field.type == HPROF_OBJECT)
			r = push_reference(s, field.value, err);
	}
	return r;
}

static uint32_t heap_of(const struct import *im, uint64_t offset)
{
	size_t low = 0, high = im->heap_switches.count;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (base_vec_at(&im->heap_switches, struct import_heap_switch, mid)->offset <=
		    offset)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? base_vec_at(&im->heap_switches, struct import_heap_switch, low - 1)->heap_no
		   : 0;
}

/* An object that the dump lacks: the boot loader's stand-in, an invented class. */
static int take_invented(struct import *im, struct slot *s, struct store_object *o, uint64_t id,
			 struct hdb_error *err)
{
	if (id != 0)
		return take_class(im, s, o, id, err);
	o->kind = STORE_INSTANCE;
	o->class_no = im->loader_class_no;
	o->body_size = import_class_at(im, o->class_no)->out.body_size;
	return HDB_OK;
}

static int take_sub(struct import *im, struct slot *s, const struct hprof_sub *sub,
		    struct store_object *o, uint32_t ix, struct hdb_error *err)
{
	switch (sub->tag) {
	case HPROF_INSTANCE_DUMP:
		return take_instance(im, s, sub, o, ix, err);
	case HPROF_OBJECT_ARRAY_DUMP:
		return take_object_array(im, s, sub, o, ix, err);
	case HPROF_CLASS_DUMP:
		return take_class(im, s, o, sub->id, err);
	case HPROF_PRIMITIVE_ARRAY_DUMP:
	case HPROF_PRIMITIVE_ARRAY_NODATA:
		o->kind = STORE_PRIMITIVE_ARRAY;
		o->length = sub->length;
		o->class_no = im->primitive_class_no[sub->element_type & 15];
		o->body_size = hprof_type_size(sub->element_type, im->file.id_size);
		return HDB_OK;
	default:
		return hdb_fail(err, HDB_EBUG, "no object at offset %" PRIu64, sub->offset);
	}
}

int import_take_object(struct import *im, struct slot *s, uint32_t i, uint32_t ix,
		       const struct hprof_sub *sub, struct hdb_error *err)
{
	struct store_object *o = &s->objects[i];
	int r;

	*o = (struct store_object){ .file_offset = sub->offset };
	if (im->heap_switches.count)
		o->heap_no = heap_of(im, sub->offset);
	s->raw_first[i] = s->raw.count;
	r = take_sub(im, s, sub, o, ix, err);
	s->raw_end[i] = s->raw.count;
	return r;
}

int import_take_rest(struct import *im, struct slot *s, uint32_t i, uint32_t ix,
		     struct hdb_error *err)
{
	const uint64_t id = s->ids[i];
	struct hprof_sub sub;
	int r;

	/* An object of the dump with ID 0 was dropped; index 0 is the boot loader's stand-in. */
	if (s->offsets[i] && id) {
		r = hprof_sub_read(&im->file, &s->view, s->offsets[i], im->source->size, &sub, err);
		return r == HDB_OK ? import_take_object(im, s, i, ix, &sub, err) : r;
	}
	s->objects[i] = (struct store_object){ 0 };
	s->raw_first[i] = s->raw.count;
	r = take_invented(im, s, &s->objects[i], id, err);
	s->raw_end[i] = s->raw.count;
	return r;
}

