/*
 * import/resolve.c - the pass over objects in order of index, on all threads: the blocks of the tables ids, objects and
 * references.
 */
#include "import/resolve.h"

#include "base/pipeline.h"

#include <stdlib.h>

/* Reference lists up to this length are sorted and made distinct. */
#define SORT_MAX 32

struct resolve {
	struct import *im;
	struct slot *slots;
	struct base_view view;      /* of the writing thread */
};

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

/* Room for all that the block refers to: what was read, two a class, and the extra edges. */
static int reserve_targets(struct import *im, struct slot *s, uint32_t first_ix,
			   struct hdb_error *err)
{
	size_t room = s->raw.count + 2 * (size_t)s->count;

	s->extra = import_extras_from(im, first_ix);
	for (size_t e = s->extra; e < im->extras.count; e++, room++)
		if (base_vec_at(&im->extras, struct import_edge, e)->from_ix - first_ix >= s->count)
			break;
	return base_vec_reserve(&s->targets, room, sizeof(uint32_t), err);
}

/* Turns the raw IDs of object i into a list of indices. */
static int resolve_list(struct import *im, struct slot *s, uint32_t i, uint32_t ix,
			const uint32_t *found, struct hdb_error *err)
{
	uint32_t *targets = s->targets.data; /* there is room for all that is found */
	int r = HDB_OK;

	s->first[i] = s->targets.count;
	for (uint64_t k = s->raw_first[i]; k < s->raw_end[i] && r == HDB_OK; k++) {
		if (found[k] != IDSET_NONE)
			targets[s->targets.count++] = found[k];
		else
			r = import_note_missing(s, *base_vec_at(&s->raw, uint64_t, k), ix, err);
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
	r = reserve_targets(im, s, first_ix, err);
	if (r < 0) {
		free(found);
		return r;
	}
	idset_find_many(&im->ids, s->raw.data, s->raw.count, found);
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

/* Class objects' own offsets. */
static void find_classes(struct import *im, struct slot *s, uint32_t first_ix)
{
	uint32_t low = 0, high = (uint32_t)im->classes.count;

	while (low < high) {
		const uint32_t mid = low + (high - low) / 2;

		if (import_class_at(im, mid)->out.ix < first_ix)
			low = mid + 1;
		else
			high = mid;
	}
	memset(s->offsets, 0, s->count * sizeof(*s->offsets));
	for (; low < im->classes.count; low++) {
		const struct import_class *class = import_class_at(im, low);

		if (class->out.ix - first_ix >= s->count)
			break;
		if (class->has_dump)
			s->offsets[class->out.ix - first_ix] = class->out.file_offset;
	}
}

struct taking {
	struct import *im;
	struct slot *s;
	uint32_t first_ix;
};

static int take_object(void *ctx, uint32_t i, const struct hprof_sub *sub, struct hdb_error *err)
{
	const struct taking *t = ctx;

	/* One with ID 0 is dropped: the boot loader's stand-in is there. */
	return sub->id ? import_take_object(t->im, t->s, i, t->first_ix + i, sub, err) : HDB_OK;
}

static int by_index(const void *a, const void *b)
{
	const struct big_list *x = a, *y = b;

	return (x->ix > y->ix) - (x->ix < y->ix);
}

/* Reads the objects of the block, in the order of the dump, then those that it lacks. */
static int read_objects(struct import *im, struct slot *s, uint32_t first_ix, uint32_t with_next,
			struct hdb_error *err)
{
	struct taking taking = { .im = im, .s = s, .first_ix = first_ix };
	const struct places_wanted wanted = {
		.view = &s->view, .ids = s->ids, .count = s->count, .offsets = s->offsets,
		.take = take_object, .ctx = &taking,
	};
	int r;

	find_classes(im, s, first_ix);
	memset(s->raw_first, 0xff, s->count * sizeof(*s->raw_first));
	r = places_block(&im->places, &im->file, first_ix / STORE_BLOCK_OBJECTS, STORE_BLOCK_OBJECTS,
			 &wanted, err);
	for (uint32_t i = 0; i < s->count && r == HDB_OK; i++) {
		if (s->raw_first[i] == NOT_TAKEN)
			r = import_take_rest(im, s, i, first_ix + i, err);
		if (im->is_android && r == HDB_OK)
			import_mark_embedded(im, s, i, first_ix + i);
		if (r == HDB_OK && i + 1 < with_next && s->ids[i])
			r = import_distances_add(&s->distances, &s->objects[i],
						 s->ids[i + 1] - s->ids[i], err);
	}
	if (s->big.count > 1)
		qsort(s->big.data, s->big.count, sizeof(struct big_list), by_index);
	return r == HDB_OK ? import_distances_flush(&s->distances, err) : r;
}

static int produce(void *ctx, unsigned slot_no, uint64_t item, struct hdb_error *err)
{
	struct resolve *v = ctx;
	struct import *im = v->im;
	struct slot *s = &v->slots[slot_no];
	const uint32_t first_ix = (uint32_t)(item * STORE_BLOCK_OBJECTS);
	const uint32_t left = im->object_count - first_ix;
	const uint32_t with_next = left > STORE_BLOCK_OBJECTS ? STORE_BLOCK_OBJECTS + 1 : left;
	int r;

	empty_slot(s);
	s->count = left < STORE_BLOCK_OBJECTS ? left : STORE_BLOCK_OBJECTS;
	idset_scan(&im->ids, first_ix, with_next, s->ids);
	s->first_id = s->ids[0];
	r = read_objects(im, s, first_ix, with_next, err);
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
	struct hprof_sub sub;
	int r;

	p.buffer = malloc(STORE_LIST_PART * sizeof(*p.buffer));
	if (!p.buffer)
		return hdb_fail_memory(err, "a part of a list", STORE_LIST_PART * 4);
	r = hprof_sub_read(&v->im->file, &v->view, big->offset, v->im->source->size, &sub, err);
	if (r == HDB_OK)
		r = import_each_element(v->im, &v->view, &sub, write_elements, &p, err);
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
				   s->offsets[ix - first_ix], 0, id, err,
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
	import_distances_merge(im, &s->distances);
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
		base_vec_release(&s->distances.full);
		free(s->ids);
		free(s->offsets);
		free(s->raw_first);
		free(s->raw_end);
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
		import_distances_init(&s->distances);
		s->ids = malloc(n * sizeof(*s->ids));
		s->offsets = malloc(n * sizeof(*s->offsets));
		s->raw_first = malloc(n * sizeof(*s->raw_first));
		s->raw_end = malloc(n * sizeof(*s->raw_end));
		s->first = malloc(n * sizeof(*s->first));
		s->lengths = malloc(n * sizeof(*s->lengths));
		s->objects = malloc(n * sizeof(*s->objects));
		if (!s->ids || !s->offsets || !s->raw_first || !s->raw_end || !s->first ||
		    !s->lengths || !s->objects)
			return hdb_fail_memory(err, "blocks of objects", n * 80);
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

	r = make_slots(v, pipeline.slot_count, err);
	base_stage(im->work, "resolving references", im->object_count, "objects");
	if (r == HDB_OK)
		r = base_pipeline_run(&pipeline, err);
	free_slots(v, pipeline.slot_count);
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
	int r = places_finish(&im->places, &im->file, &im->ids, STORE_BLOCK_OBJECTS, im->work, err);

	if (r == HDB_OK)
		r = write_blocks(&v, err);
	return r < 0 ? r : im->source->check(im->source, err);
}
