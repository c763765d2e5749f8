/*
 * import/take_objects.c - the loop over the objects of a block.
 *
 * Most objects are plain: instances and arrays that are complete, next in ID order, of a class in
 * the thread's caches, and without any of the rare properties that read_object.c handles. The loop
 * reads plain objects with few conditions, and makes no calls except lookups of IDs. It leaves all
 * other objects to import_take_next.
 */
#include "import/resolve.h"

#include "base/bits.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* State of the loop. It is a local variable so that the compiler can keep it in registers. */
struct loop {
	struct base_view view; /* not moved during the loop */
	/* offset of the next object, and end of the offsets at which headers may be read */
	uint64_t at, end;
	uint64_t limit; /* objects must not extend beyond this offset */
	/* length below which byte and char arrays are irrelevant for zeroed.c */
	uint64_t known_end;
	uint64_t *raw; /* the contents of m->raw */
	size_t raw_count;
	size_t raw_until; /* limit of raw_count up to which the references of one more object fit */
	uint32_t i;       /* index within the block of the next object */
};

/*
 * Returns the number of objects in the block that may be plain. These are the objects with a usable
 * distance.
 */
static uint32_t plain_end(const struct import *im, const struct block_builder *m)
{
	const uint32_t end = m->id_count - 1 < m->out->count ? m->id_count - 1 : m->out->count;

	if (!m->is_noted || im->flat.has_odd_ids || m->heap_nos || im->file.is_emptied ||
	    m->ids[end] - m->ids[0] > INT64_MAX)
		return 0;
	return end;
}

/* Adds an array to the statistics if they include its class. */
static ALWAYS_INLINE bool note_array(struct block_builder *m, const struct store_object *o,
				     uint64_t distance)
{
	const unsigned width = o->kind == STORE_OBJECT_ARRAY ? 4 : o->body_size;
	struct import_distance *to =
		import_distances_of(&m->distances, o->class_no, (enum store_kind)o->kind);
	struct import_count *count = import_counts_find(&m->counting, o);

	if (!to || !count)
		return false;
	import_distances_note(&m->distances, to,
			      &(struct import_noted){
				      .distance = distance,
				      .least = (int64_t)(distance - o->length * width),
				      .wide = (int64_t)(distance - o->length * o->body_size),
				      .times = 1,
				      .is_filled_array = o->kind == STORE_OBJECT_ARRAY && o->length,
			      });
	count->count++;
	count->elements += o->length;
	return true;
}

/* Starts counting instances with a different distance. */
static bool change_usual(struct block_builder *m, struct builder_class *class, uint64_t distance)
{
	/*
	 * If this call fails, the object is read by import_take_next, which fails with the same
	 * error.
	 */
	if (distance > UINT32_MAX || import_note_usual(m, class, NULL) != HDB_OK)
		return false;
	base_bit_put(m->unnoted, (uint64_t)(class - m->classes));
	class->usual = (uint32_t)distance;
	class->usual_count = 1;
	return true;
}

static ALWAYS_INLINE bool take_instance(struct block_builder *m, struct loop *loop,
					const struct hprof_sub *sub, const unsigned id_size)
{
	struct builder_class *class = import_class_entry(m, sub->class_id);
	const uint64_t distance = m->ids[loop->i + 1] - sub->id;

	if (class->id != sub->class_id || sub->body_size < class->plain_bytes)
		return false;
	if (distance == class->usual)
		class->usual_count++;
	else if (!change_usual(m, class, distance))
		return false;
	m->objects[loop->i] = (struct store_object_put){ .entry = class->instance_entry };
	loop->raw_count +=
		import_read_fields(loop->raw + loop->raw_count,
				   loop->view.data + (sub->body_offset - loop->view.start),
				   class->plan, class->plan_count, id_size);
	return true;
}

static ALWAYS_INLINE bool take_object_array(struct block_builder *m, struct loop *loop,
					    const struct hprof_sub *sub, const unsigned id_size)
{
	const struct builder_class *class = import_class_entry(m, sub->class_id);
	const struct store_object o = { .kind = STORE_OBJECT_ARRAY,
					.class_no = class->no - 1,
					.length = sub->length,
					.body_size = 8 };

	if (class->id != sub->class_id || !class->no || sub->length > STORE_LIST_BIG ||
	    !note_array(m, &o, m->ids[loop->i + 1] - sub->id))
		return false;
	m->objects[loop->i] = (struct store_object_put){ class->array_entry, sub->length };
	loop->raw_count += import_read_elements(
		loop->raw + loop->raw_count,
		loop->view.data + (sub->body_offset - loop->view.start), sub->length, id_size);
	return true;
}

static ALWAYS_INLINE bool take_primitives(const struct import *im, struct block_builder *m,
					  const struct loop *loop, const struct hprof_sub *sub)
{
	const unsigned type = sub->element_type & 15;
	const struct store_object o = { .kind = STORE_PRIMITIVE_ARRAY,
					.class_no = im->known.primitive_no[type],
					.length = sub->length,
					.body_size = 1u << hprof_primitive_shift[type] >> 1 };

	if (((type == HPROF_BYTE || type == HPROF_CHAR) && sub->length >= loop->known_end) ||
	    m->primitive_entry[type] == STORE_NONE ||
	    !note_array(m, &o, m->ids[loop->i + 1] - sub->id))
		return false;
	m->objects[loop->i] = (struct store_object_put){ m->primitive_entry[type], sub->length };
	return true;
}

/* Takes the object at loop->at if it is plain. Otherwise, returns false and changes nothing. */
static ALWAYS_INLINE bool take_plain(const struct import *im, struct block_builder *m,
				     struct loop *loop, const unsigned id_size)
{
	const size_t first = loop->raw_count;
	const uint32_t i = loop->i;
	struct hprof_sub sub;
	bool is_plain;

	if (!hprof_quick_sub(&loop->view, (struct hprof_range){ loop->at, loop->limit }, id_size,
			     &sub) ||
	    sub.id != m->ids[i] || m->offsets[i])
		return false;
	if (sub.tag == HPROF_INSTANCE_DUMP)
		is_plain = take_instance(m, loop, &sub, id_size);
	else if (sub.tag == HPROF_OBJECT_ARRAY_DUMP)
		is_plain = take_object_array(m, loop, &sub, id_size);
	else
		is_plain = take_primitives(im, m, loop, &sub);
	if (!is_plain)
		return false;
	m->offsets[i] = loop->at;
	m->raw_first[i] = (uint32_t)first;
	m->raw_end[i] = (uint32_t)loop->raw_count;
	loop->at = sub.end;
	loop->i = i + 1;
	return true;
}

/*
 * Completes lookups, so that prefetched words arrive while further objects are read, and makes room
 * for the references of one more object. Returns HDB_END if the block might exceed the maximum
 * number of references.
 */
static int make_room(struct import *im, struct block_builder *m, struct loop *loop,
		     struct hdb_error *err)
{
	m->raw.count = loop->raw_count;
	while (m->raw.count - m->lookup_end >= BUILDER_LOOKUP_IDS)
		TRY(import_look_up(im, m, err));
	if (m->raw.count >= NOT_TAKEN - BUILDER_LOOKUP_IDS - STORE_LIST_BIG)
		return HDB_END;
	TRY(base_vec_reserve(&m->raw, BUILDER_LOOKUP_IDS + STORE_LIST_BIG, sizeof(uint64_t), err));
	loop->raw = m->raw.data;
	loop->raw_until = m->lookup_end + BUILDER_LOOKUP_IDS;
	return HDB_OK;
}

/* Takes plain objects, up to the first object that is not plain. */
static ALWAYS_INLINE int take_run(struct import *im, struct block_builder *m,
				  struct import_piece_reader *reader, const unsigned id_size,
				  struct hdb_error *err)
{
	struct loop loop = {
		.view = m->view, .at = reader->at, .i = reader->i, .raw_count = m->raw.count
	};
	const uint32_t last = plain_end(im, m);
	int r = HDB_OK;

	loop.limit = reader->limit < loop.view.end ? reader->limit : loop.view.end;
	loop.end = reader->end < loop.view.end ? reader->end : loop.view.end;
	if (__atomic_load_n(&im->evidence.fill, __ATOMIC_RELAXED) == IMPORT_FILL_VARIES)
		loop.known_end = __atomic_load_n(&im->evidence.zeroed_end, __ATOMIC_RELAXED) + 1;
	if (loop.at < loop.view.start || (loop.i < last && !m->ids[loop.i]))
		return HDB_OK;
	while (loop.at < loop.end && loop.i < last) {
		if (loop.raw_count >= loop.raw_until &&
		    (r = make_room(im, m, &loop, err)) != HDB_OK)
			break;
		if (!take_plain(im, m, &loop, id_size))
			break;
	}
	m->raw.count = loop.raw_count;
	m->taken += loop.i - reader->i;
	reader->i = loop.i;
	reader->at = loop.at;
	return r < 0 ? r : HDB_OK;
}

int import_take_objects(struct import *im, struct block_builder *m, struct hdb_error *err)
{
	const struct import_wanted wanted = {
		.view = &m->view,
		.ids = m->ids,
		.count = m->out->count,
		.offsets = m->offsets,
	};
	struct import_piece_reader reader;
	int r;

	import_locator_begin(&reader, &im->locator, m->first_ix, &wanted);
	do {
		TRY(im->file.id_size == 8 ? take_run(im, m, &reader, 8, err) :
					    take_run(im, m, &reader, 4, err));
		r = import_take_next(im, m, &reader, err);
	} while (r == HDB_OK);
	for (uint64_t no = 0; r >= 0 && base_bit_next(m->unnoted, BUILDER_CLASSES, &no); no++)
		r = import_note_usual(m, &m->classes[no], err);
	memset(m->unnoted, 0, sizeof(m->unnoted));
	return r < 0 ? r : HDB_OK;
}
