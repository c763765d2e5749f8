/*
 * import/resolve.c - the passes over objects: where each one is in the file, then, in order of index and on all
 * threads, the blocks of the tables ids, objects and references.
 */
#include "import/state.h"

#include "base/bytes.h"
#include "base/pipeline.h"
#include "store/lists.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Sub-records between two reports of progress. */
#define STEP_RECORDS 65536
/* Reference lists up to this length are sorted and made distinct. */
#define SORT_MAX 32
/* Elements of a big array that are resolved at a time. */
#define ELEMENTS 4096
/* Problems that one block may report; more are counted only. */
#define BLOCK_PROBLEMS_MAX 16

struct missing {
	uint64_t id;
	uint32_t from_ix;
};

/* A list too long for its block: written in parts by the thread that writes. */
struct big_list {
	uint32_t ix;
	uint64_t length;
	uint64_t start;      /* in targets, or NOT_HELD: an array, read again from the dump */
};
#define NOT_HELD UINT64_MAX

/* What making one block needs and gives. */
struct slot {
	struct base_vec ids_bytes, objects_bytes, lists_bytes;
	struct base_vec raw;        /* uint64_t: IDs referred to */
	struct base_vec targets;    /* uint32_t */
	struct base_vec missing;    /* struct missing */
	struct base_vec big;        /* struct big_list */
	struct base_vec short_ix;   /* uint32_t: instances with too few bytes */
	uint64_t *ids;              /* one more than a block: the next block's first */
	uint64_t *raw_first; /* by object: its first in raw */
	uint64_t *first;     /* by object: its first in targets */
	uint64_t *lengths;   /* by object: entries in its list */
	struct store_object *objects;
	struct base_view view;
	uint64_t first_id;
	uint32_t count;
	uint64_t missing_count, short_count, reference_count;
	size_t extra;               /* number of the next extra edge */
	uint64_t last_class_id;
	uint32_t last_class_no;
};

struct resolve {
	struct import *im;
	struct slot *slots;
	_Atomic(uint32_t) *min_gap; /* by class */
	_Atomic(uint64_t) contradictions;
	struct base_view view;      /* of the writing thread */
};

/* ---- where objects are ---- */

static int find_offsets(struct import *im, struct hdb_error *err)
{
	uint64_t *offsets = im->offsets.data;
	struct hprof_walk walk;
	enum hprof_event event;
	uint64_t events = 0;
	int r = HDB_OK;

	for (uint32_t no = 0; no < im->classes.count; no++) {
		const struct import_class *class = import_class_at(im, no);

		if (class->has_dump)
			offsets[class->out.ix] = class->out.file_offset;
	}
	base_stage(im->work, "locating objects", im->source->size, "bytes");
	hprof_walk_init(&walk, &im->file);
	while ((r = hprof_walk_next(&walk, &event, err)) == HDB_OK) {
		uint32_t ix;

		if (++events % STEP_RECORDS == 0) {
			r = base_step(im->work, walk.position, err);
			if (r < 0)
				break;
		}
		if (event != HPROF_EVENT_SUB || walk.snapshot != im->snapshot)
			continue;
		switch (walk.sub.tag) {
		case HPROF_INSTANCE_DUMP:
		case HPROF_OBJECT_ARRAY_DUMP:
		case HPROF_PRIMITIVE_ARRAY_DUMP:
		case HPROF_PRIMITIVE_ARRAY_NODATA:
			ix = idset_find(&im->ids, walk.sub.id);
			if (ix != IDSET_NONE && !offsets[ix])
				offsets[ix] = walk.sub.offset;
			break;
		default:
			break;
		}
	}
	hprof_walk_release(&walk);
	return r < 0 ? r : HDB_OK;
}

/* ---- one object ---- */

static int push_reference(struct slot *s, uint64_t id, struct hdb_error *err)
{
	return id ? base_vec_push(&s->raw, &id, sizeof(id), err) : HDB_OK;
}

static uint32_t class_no(struct import *im, struct slot *s, uint64_t class_id)
{
	if (class_id != s->last_class_id || !s->last_class_no) {
		s->last_class_id = class_id;
		s->last_class_no = base_idmap_get(&im->class_map, class_id);
	}
	return s->last_class_no;
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

static int note_missing(struct slot *s, uint64_t id, uint32_t ix, struct hdb_error *err)
{
	const struct missing m = { .id = id, .from_ix = ix };

	s->missing_count++;
	/* Kept one by one up to the limit of the whole list; a block needs no more. */
	if (s->missing.count >= IMPORT_DANGLING_MAX)
		return HDB_OK;
	return base_vec_push(&s->missing, &m, sizeof(m), err);
}

/* Reads a long array piece by piece and hands the found and the missing on. */
static int each_element(struct import *im, struct base_view *view, const struct hprof_sub *sub,
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
		r = found[i] == IDSET_NONE ? note_missing(few->s, ids[i], few->ix, err) :
		    base_vec_push(&few->s->raw, &ids[i], sizeof(ids[i]), err);
	return r;
}

static int take_long_array(struct import *im, struct slot *s, const struct hprof_sub *sub,
			   uint32_t ix, struct hdb_error *err)
{
	struct big_list big = { .ix = ix, .start = NOT_HELD };
	struct few few = { .s = s, .ix = ix };
	int r = each_element(im, &s->view, sub, count_found, &big.length, err);

	if (r < 0)
		return r;
	if (big.length <= STORE_LIST_BIG)
		return each_element(im, &s->view, sub, keep_found, &few, err);
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

/* Edges of a class object that are no static fields: index known already. */
static int class_targets(struct import *im, struct slot *s, uint32_t no, struct hdb_error *err)
{
	const struct import_class *class = import_class_at(im, no);
	int r = base_vec_push(&s->targets, &class->out.loader_ix, sizeof(uint32_t), err);

	if (r == HDB_OK && class->out.super_no != STORE_NONE)
		r = base_vec_push(&s->targets, &import_class_at(im, class->out.super_no)->out.ix,
				  sizeof(uint32_t), err);
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

/* Reads object ix: its entry, and the IDs that it refers to. */
static int take_object(struct import *im, struct slot *s, uint32_t ix, uint64_t id,
		       struct store_object *o, struct hdb_error *err)
{
	const uint64_t offset = ((const uint64_t *)im->offsets.data)[ix];
	struct hprof_sub sub;
	int r;

	*o = (struct store_object){ .file_offset = offset };
	/* An object of the dump with ID 0 was dropped; index 0 is the boot loader's stand-in. */
	if (!offset || !id) {
		o->file_offset = 0;
		return take_invented(im, s, o, id, err);
	}
	r = hprof_sub_read(&im->file, &s->view, offset, im->source->size, &sub, err);
	if (r < 0)
		return r;
	if (im->heap_switches.count)
		o->heap_no = heap_of(im, offset);
	switch (sub.tag) {
	case HPROF_INSTANCE_DUMP:
		return take_instance(im, s, &sub, o, ix, err);
	case HPROF_OBJECT_ARRAY_DUMP:
		return take_object_array(im, s, &sub, o, ix, err);
	case HPROF_CLASS_DUMP:
		return take_class(im, s, o, id, err);
	case HPROF_PRIMITIVE_ARRAY_DUMP:
	case HPROF_PRIMITIVE_ARRAY_NODATA:
		o->kind = STORE_PRIMITIVE_ARRAY;
		o->length = sub.length;
		o->class_no = im->primitive_class_no[sub.element_type & 15];
		o->body_size = hprof_type_size(sub.element_type, im->file.id_size);
		return HDB_OK;
	default:
		return hdb_fail(err, HDB_EBUG, "no object at offset %" PRIu64, offset);
	}
}

/* ---- evidence for sizes ---- */

static void watch_gap(struct resolve *v, const struct store_object *o, uint64_t gap)
{
	uint32_t seen;

	if (o->kind == STORE_OBJECT_ARRAY && o->length && gap < 12 + 8 * o->length)
		atomic_fetch_add_explicit(&v->contradictions, 1, memory_order_relaxed);
	if (o->kind != STORE_INSTANCE || gap >= UINT32_MAX)
		return;
	seen = atomic_load_explicit(&v->min_gap[o->class_no], memory_order_relaxed);
	while (gap < seen &&
	       !atomic_compare_exchange_weak_explicit(&v->min_gap[o->class_no], &seen,
						      (uint32_t)gap, memory_order_relaxed,
						      memory_order_relaxed))
		;
}

/* ---- a block ---- */

static void sort_few(uint32_t *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		const uint32_t x = v[i];
		size_t k = i;

		for (; k && v[k - 1] > x; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

/* Makes the list that starts at `start` of the targets distinct: sorted if short, else only neighbours. */
static void tidy_list(struct slot *s, size_t start)
{
	const size_t n = s->targets.count - start;
	uint32_t *v;
	size_t kept = 0;

	if (n < 2)
		return;
	v = (uint32_t *)s->targets.data + start;
	if (n <= SORT_MAX)
		sort_few(v, n);
	for (size_t i = 0; i < n; i++)
		if (!kept || v[i] != v[kept - 1])
			v[kept++] = v[i];
	s->targets.count = start + kept;
}

/* Turns the raw IDs of object i into a list of indices. */
static int resolve_list(struct import *im, struct slot *s, uint32_t i, uint32_t ix,
			const uint32_t *found, struct hdb_error *err)
{
	int r = HDB_OK;

	s->first[i] = s->targets.count;
	for (uint64_t k = s->raw_first[i]; k < s->raw_first[i + 1] && r == HDB_OK; k++) {
		if (found[k] != IDSET_NONE)
			r = base_vec_push(&s->targets, &found[k], sizeof(found[k]), err);
		else
			r = note_missing(s, *base_vec_at(&s->raw, uint64_t, k), ix, err);
	}
	if (r == HDB_OK && s->objects[i].kind == STORE_CLASS)
		r = class_targets(im, s, (uint32_t)s->objects[i].length, err);
	for (; s->extra < im->extras.count && r == HDB_OK; s->extra++) {
		const struct import_edge *edge =
			base_vec_at(&im->extras, struct import_edge, s->extra);

		if (edge->from_ix > ix)
			break;
		/* A long array has none in its list; only damage makes an array a thread. */
		if (edge->from_ix < ix)
			continue;
		r = base_vec_push(&s->targets, &edge->to_ix, sizeof(uint32_t), err);
	}
	if (r < 0)
		return r;
	tidy_list(s, s->first[i]);
	s->lengths[i] = s->targets.count - s->first[i];
	return HDB_OK;
}

static int resolve_lists(struct import *im, struct slot *s, uint32_t first_ix,
			 struct hdb_error *err)
{
	uint32_t *found = malloc((s->raw.count + 1) * sizeof(*found));
	const size_t arrays = s->big.count; /* long arrays come in order of index */
	size_t big = 0;
	int r = HDB_OK;

	if (!found)
		return hdb_fail_memory(err, "references of a block", s->raw.count * 4);
	idset_find_many(&im->ids, s->raw.data, s->raw.count, found);
	s->extra = import_extras_from(im, first_ix);
	for (uint32_t i = 0; i < s->count && r == HDB_OK; i++) {
		const uint32_t ix = first_ix + i;

		if (big < arrays && base_vec_at(&s->big, struct big_list, big)->ix == ix) {
			s->first[i] = s->targets.count;
			s->lengths[i] = base_vec_at(&s->big, struct big_list, big++)->length;
		} else {
			r = resolve_list(im, s, i, ix, found, err);
			if (r == HDB_OK && s->lengths[i] > STORE_LIST_BIG) {
				const struct big_list held = {
					.ix = ix, .length = s->lengths[i], .start = s->first[i],
				};

				r = base_vec_push(&s->big, &held, sizeof(held), err);
			}
		}
		s->reference_count += s->lengths[i];
	}
	free(found);
	return r;
}

static void empty_slot(struct slot *s)
{
	s->ids_bytes.count = s->objects_bytes.count = s->lists_bytes.count = 0;
	s->raw.count = s->targets.count = s->missing.count = s->big.count = 0;
	s->short_ix.count = 0;
	s->missing_count = s->short_count = s->reference_count = 0;
}

static int produce(void *ctx, unsigned slot_no, uint64_t item, struct hdb_error *err)
{
	struct resolve *v = ctx;
	struct import *im = v->im;
	struct slot *s = &v->slots[slot_no];
	const uint32_t first_ix = (uint32_t)(item * STORE_BLOCK_OBJECTS);
	const uint32_t left = im->object_count - first_ix;
	const uint32_t with_next = left > STORE_BLOCK_OBJECTS ? STORE_BLOCK_OBJECTS + 1 : left;
	int r = HDB_OK;

	empty_slot(s);
	s->count = left < STORE_BLOCK_OBJECTS ? left : STORE_BLOCK_OBJECTS;
	idset_scan(&im->ids, first_ix, with_next, s->ids);
	s->first_id = s->ids[0];
	for (uint32_t i = 0; i < s->count && r == HDB_OK; i++) {
		s->raw_first[i] = s->raw.count;
		r = take_object(im, s, first_ix + i, s->ids[i], &s->objects[i], err);
		if (i + 1 < with_next && s->ids[i])
			watch_gap(v, &s->objects[i], s->ids[i + 1] - s->ids[i]);
	}
	s->raw_first[s->count] = s->raw.count;
	if (r == HDB_OK)
		r = resolve_lists(im, s, first_ix, err);
	if (r == HDB_OK)
		r = store_ids_encode(&s->ids_bytes, s->ids, s->count, first_ix, err);
	if (r == HDB_OK)
		r = store_objects_encode(&s->objects_bytes, s->objects, s->count,
					 im->file.id_size, im->heaps.count != 0, err);
	if (r == HDB_OK)
		r = store_lists_encode(&s->lists_bytes, first_ix, s->count, s->first,
				       s->targets.data, s->lengths, err);
	return r;
}

/* ---- writing ---- */

static int merge_missing(struct import *im, uint64_t id, uint32_t ix, struct hdb_error *err)
{
	uint32_t no = base_idmap_get(&im->dangling_map, id);
	int r;

	if (no != BASE_IDMAP_NONE) {
		base_vec_at(&im->dangling, struct store_dangling, no)->reference_count++;
		return HDB_OK;
	}
	if (im->dangling.count >= IMPORT_DANGLING_MAX)
		return HDB_OK;
	const struct store_dangling fresh = {
		.object_id = id, .reference_count = 1, .example_ix = ix
	};
	no = (uint32_t)im->dangling.count;
	r = base_vec_push(&im->dangling, &fresh, sizeof(fresh), err);
	return r == HDB_OK ? base_idmap_put(&im->dangling_map, id, no, err) : r;
}

struct parts {
	struct resolve *v;
	uint32_t ix;
	uint32_t part;
	uint32_t count;
	uint32_t *buffer; /* STORE_LIST_PART */
};

static int write_elements(void *ctx, const uint64_t *ids, const uint32_t *found, size_t count,
			  struct hdb_error *err)
{
	struct parts *p = ctx;
	struct import *im = p->v->im;
	int r = HDB_OK;

	for (size_t i = 0; i < count && r == HDB_OK; i++) {
		if (found[i] == IDSET_NONE) {
			im->dangling_count++;
			r = merge_missing(im, ids[i], p->ix, err);
			continue;
		}
		p->buffer[p->count++] = found[i];
		if (p->count == STORE_LIST_PART) {
			r = store_lists_put_part(im->writer, STORE_REFERENCES_BIG, p->ix, p->part++,
						 p->buffer, p->count, err);
			p->count = 0;
		}
	}
	return r;
}

/* Writes a long array's references, read again from the dump so that they never are in memory at once. */
static int write_array(struct resolve *v, const struct big_list *big, struct hdb_error *err)
{
	struct parts p = { .v = v, .ix = big->ix };
	const uint64_t offset = ((const uint64_t *)v->im->offsets.data)[big->ix];
	struct hprof_sub sub;
	int r;

	p.buffer = malloc(STORE_LIST_PART * sizeof(*p.buffer));
	if (!p.buffer)
		return hdb_fail_memory(err, "a part of a list", STORE_LIST_PART * 4);
	r = hprof_sub_read(&v->im->file, &v->view, offset, v->im->source->size, &sub, err);
	if (r == HDB_OK)
		r = each_element(v->im, &v->view, &sub, write_elements, &p, err);
	if (r == HDB_OK && p.count)
		r = store_lists_put_part(v->im->writer, STORE_REFERENCES_BIG, big->ix, p.part,
					 p.buffer, p.count, err);
	free(p.buffer);
	return r;
}

static int report_short(struct import *im, const struct slot *s, uint32_t first_ix,
			struct hdb_error *err)
{
	int r = HDB_OK;

	for (size_t i = 0; i < s->short_ix.count && r == HDB_OK; i++) {
		const uint32_t ix = *base_vec_at(&s->short_ix, uint32_t, i);
		const uint64_t id = s->ids[ix - first_ix];

		r = import_problem(im, STORE_PROBLEM_SHORT_INSTANCE,
				   ((const uint64_t *)im->offsets.data)[ix], 0, id, err,
				   "instance 0x%" PRIx64 " has fewer bytes than its class has fields",
				   id);
	}
	im->problem_count += s->short_count - s->short_ix.count;
	return r;
}

static int consume(void *ctx, unsigned slot_no, uint64_t item, struct hdb_error *err)
{
	struct resolve *v = ctx;
	struct import *im = v->im;
	struct slot *s = &v->slots[slot_no];
	const uint64_t first_ix = item * STORE_BLOCK_OBJECTS;
	int r = base_step(im->work, first_ix, err);

	if (r == HDB_OK)
		r = base_vec_push(&im->id_directory, &s->first_id, sizeof(s->first_id), err);
	if (r == HDB_OK)
		r = store_put(im->writer, STORE_IDS, s->first_id, s->count, s->ids_bytes.data,
			      s->ids_bytes.count, err);
	if (r == HDB_OK)
		r = store_put(im->writer, STORE_OBJECTS, first_ix, s->count,
			      s->objects_bytes.data, s->objects_bytes.count, err);
	if (r == HDB_OK)
		r = store_put(im->writer, STORE_REFERENCES, first_ix, s->count,
			      s->lists_bytes.data, s->lists_bytes.count, err);
	for (size_t i = 0; i < s->big.count && r == HDB_OK; i++) {
		const struct big_list *big = base_vec_at(&s->big, struct big_list, i);

		r = big->start == NOT_HELD ? write_array(v, big, err) :
		    store_lists_put_big(im->writer, STORE_REFERENCES_BIG, big->ix,
					base_vec_at(&s->targets, uint32_t, big->start),
					big->length, err);
	}
	for (size_t i = 0; i < s->missing.count && r == HDB_OK; i++) {
		const struct missing *m = base_vec_at(&s->missing, struct missing, i);

		r = merge_missing(im, m->id, m->from_ix, err);
	}
	im->dangling_count += s->missing_count;
	im->reference_count += s->reference_count;
	return r == HDB_OK ? report_short(im, s, (uint32_t)first_ix, err) : r;
}

/* ---- the pass ---- */

static void free_slots(struct resolve *v, unsigned count)
{
	for (unsigned i = 0; v->slots && i < count; i++) {
		struct slot *s = &v->slots[i];

		base_vec_release(&s->ids_bytes);
		base_vec_release(&s->objects_bytes);
		base_vec_release(&s->lists_bytes);
		base_vec_release(&s->raw);
		base_vec_release(&s->targets);
		base_vec_release(&s->missing);
		base_vec_release(&s->big);
		base_vec_release(&s->short_ix);
		free(s->ids);
		free(s->raw_first);
		free(s->first);
		free(s->lengths);
		free(s->objects);
	}
	free(v->slots);
}

static int make_slots(struct resolve *v, unsigned count, struct hdb_error *err)
{
	const size_t n = STORE_BLOCK_OBJECTS + 1;

	v->slots = calloc(count, sizeof(*v->slots));
	for (unsigned i = 0; v->slots && i < count; i++) {
		struct slot *s = &v->slots[i];

		s->view.src = v->im->source;
		s->ids = malloc(n * sizeof(*s->ids));
		s->raw_first = malloc(n * sizeof(*s->raw_first));
		s->first = malloc(n * sizeof(*s->first));
		s->lengths = malloc(n * sizeof(*s->lengths));
		s->objects = malloc(n * sizeof(*s->objects));
		if (!s->ids || !s->raw_first || !s->first || !s->lengths || !s->objects)
			return hdb_fail_memory(err, "blocks of objects", n * 72);
	}
	return v->slots ? HDB_OK : hdb_fail_memory(err, "blocks of objects", count * sizeof(struct slot));
}

static int write_blocks(struct resolve *v, struct hdb_error *err)
{
	struct import *im = v->im;
	const uint64_t blocks = ((uint64_t)im->object_count + STORE_BLOCK_OBJECTS - 1) /
				STORE_BLOCK_OBJECTS;
	const struct base_pipeline pipeline = {
		.item_count = blocks, .threads = im->work->threads,
		.slot_count = 3 * im->work->threads, .ctx = v,
		.produce = produce, .consume = consume,
	};
	int r;

	v->min_gap = malloc((im->classes.count + 1) * sizeof(*v->min_gap));
	if (!v->min_gap)
		return hdb_fail_memory(err, "evidence for sizes", im->classes.count * 4);
	for (uint32_t no = 0; no < im->classes.count; no++)
		atomic_init(&v->min_gap[no], STORE_NONE);
	r = make_slots(v, pipeline.slot_count, err);
	base_stage(im->work, "resolving references", im->object_count, "objects");
	if (r == HDB_OK)
		r = base_pipeline_run(&pipeline, err);
	for (uint32_t no = 0; no < im->classes.count; no++)
		import_class_at(im, no)->min_gap = atomic_load(&v->min_gap[no]);
	im->array_contradictions = atomic_load(&v->contradictions);
	free_slots(v, pipeline.slot_count);
	free(v->min_gap);
	if (r == HDB_OK)
		r = store_put_table(im->writer, STORE_IDS, im->object_count, err);
	if (r == HDB_OK)
		r = store_put_table(im->writer, STORE_OBJECTS, im->object_count, err);
	if (r == HDB_OK)
		r = store_put_table(im->writer, STORE_REFERENCES, im->reference_count, err);
	if (r == HDB_OK)
		r = store_put_table(im->writer, STORE_REFERENCES_BIG, 0, err);
	return r;
}

int import_resolve(struct import *im, struct hdb_error *err)
{
	struct resolve v = { .im = im, .view = { .src = im->source } };
	int r = base_big_alloc(im->work, &im->offsets, (uint64_t)im->object_count * 8,
			       "object offsets", err);

	if (r == HDB_OK)
		r = find_offsets(im, err);
	if (r == HDB_OK)
		r = write_blocks(&v, err);
	base_big_free(im->work, &im->offsets);
	return r < 0 ? r : im->source->check(im->source, err);
}
