/*
 * import/read_plain.c - the objects of the dump that are plain; see resolve.h.
 *
 * Does of each what read_object.c does, in one loop that calls nothing but look-ups: what is asked
 * of an object there is asked of the whole dump here, or makes it be left to read_object.c. It
 * writes nothing that counts before all is asked.
 */
#include "import/resolve.h"

/* An object that may be plain, and what is known of it. */
struct plain {
	struct hprof_sub sub;
	const uint8_t *body;
	uint64_t distance;      /* to the next object, bytes */
	struct store_object *o; /* result; what take() sets is there */
	uint64_t *raw;          /* where references go; result: behind them */
	size_t room;            /* for so many */
};

static inline __attribute__((always_inline)) bool take_instance(const struct import *im,
								struct maker *m, struct plain *p,
								const unsigned id_size)
{
	const struct maker_class *class = import_class_entry(m, p->sub.class_id);
	const uint32_t count = class->plan_count, class_no = class->no - 1;
	struct import_distance_entry *e =
		import_distances_held(&m->distances, class_no, STORE_INSTANCE);

	if (class->id != p->sub.class_id || !class->no || p->sub.body_size < class->plain_bytes ||
	    count > p->room || !e)
		return false;
	p->o->class_no = class_no;
	p->o->body_size = class->body_size;
	import_distances_note(&m->distances, &e->distance, p->distance, (int64_t)p->distance,
			      (int64_t)p->distance);
	if (count)
		p->raw = import_read_fields(
			p->raw, p->body, base_vec_at(&im->links.plans, uint32_t, class->plan_first),
			count, id_size);
	return true;
}

/* Notes an array of elements of `width` bytes, or of wide_width if references have 8. */
static inline bool note_array(struct maker *m, const struct plain *p, unsigned width,
			      unsigned wide_width)
{
	const struct store_object *o = p->o;
	/* Neither product overflows: a record has the length in 32 bits. */
	const int64_t least = (int64_t)p->distance - (int64_t)(o->length * width);
	const int64_t wide = (int64_t)p->distance - (int64_t)(o->length * wide_width);
	struct import_distance_entry *e =
		import_distances_held(&m->distances, o->class_no, o->kind);
	struct import_count *counted = import_counts_held(&m->counting, o);

	if (!e || !counted)
		return false;
	if (o->kind == STORE_OBJECT_ARRAY)
		m->distances.wide_overlaps += import_distances_overlap(o->length, wide);
	import_distances_note(&m->distances, &e->distance, p->distance, least, wide);
	counted->count++;
	counted->elements += o->length;
	return true;
}

static inline __attribute__((always_inline)) bool take_object_array(struct maker *m,
								    struct plain *p,
								    const unsigned id_size)
{
	const struct maker_class *class = import_class_entry(m, p->sub.class_id);

	if (class->id != p->sub.class_id || !class->no || p->sub.length > STORE_LIST_BIG ||
	    p->sub.length > p->room)
		return false;
	p->o->kind = STORE_OBJECT_ARRAY;
	p->o->class_no = class->no - 1;
	p->o->length = p->sub.length;
	p->o->body_size = id_size;
	if (!note_array(m, p, 4, 8))
		return false;
	p->raw = import_read_elements(p->raw, p->body, p->sub.length, id_size);
	return true;
}

/* zeroed_end: what zeroed.c knows already of arrays of bytes and chars. */
static inline __attribute__((always_inline)) bool take_primitives(const struct import *im,
								  struct maker *m, struct plain *p,
								  uint64_t zeroed_end)
{
	const unsigned type = p->sub.element_type & 15;
	const unsigned width = 1u << hprof_primitive_shift[type] >> 1;

	if ((type == HPROF_BYTE || type == HPROF_CHAR) && p->sub.length > zeroed_end)
		return false;
	p->o->kind = STORE_PRIMITIVE_ARRAY;
	p->o->class_no = im->known.primitive_no[type];
	p->o->length = p->sub.length;
	p->o->body_size = width;
	return note_array(m, p, width, width);
}

static inline __attribute__((always_inline)) bool take(const struct import *im, struct maker *m,
						       struct plain *p, uint64_t zeroed_end,
						       const unsigned id_size)
{
	struct store_object *o = p->o;

	/* Field by field: what is put together elsewhere first is waited for when it is copied. */
	o->file_offset = p->sub.offset;
	o->length = 0;
	o->heap_no = 0;
	o->kind = STORE_INSTANCE;
	o->is_embedded = 0;
	switch (p->sub.tag) {
	case HPROF_INSTANCE_DUMP:
		return take_instance(im, m, p, id_size);
	case HPROF_OBJECT_ARRAY_DUMP:
		return take_object_array(m, p, id_size);
	default:
		return take_primitives(im, m, p, zeroed_end);
	}
}

static inline __attribute__((always_inline)) int take_all(struct import *im, struct maker *m,
							  struct places_reader *reader,
							  const unsigned id_size,
							  struct hdb_error *err)
{
	const uint64_t zeroed_end = __atomic_load_n(&im->evidence.zeroed_end, __ATOMIC_RELAXED);
	/* Its own: nobody moves it meanwhile. */
	const struct base_view view = m->view;
	const uint64_t *const ids = m->ids;
	const uint64_t limit = reader->limit < view.end ? reader->limit : view.end;
	const uint64_t end = reader->end < limit ? reader->end : limit;
	uint32_t i = reader->i;
	uint64_t at = reader->at;
	int r = HDB_OK;

	if (at < view.start)
		return HDB_OK;
	while (at < end && i < m->plain_end) {
		const size_t first = m->raw.count;
		uint64_t *const data = m->raw.data;
		struct plain p;

		p.sub.element_type = 0;
		if (!hprof_quick_sub(&view, (struct hprof_range){ at, limit }, id_size, &p.sub))
			break;
		p.distance = ids[i + 1] - p.sub.id;
		if (p.sub.id != ids[i] || !p.sub.id || m->offsets[i] || p.distance > INT64_MAX)
			break;
		p.o = &m->objects[i];
		p.body = view.data + (p.sub.body_offset - view.start);
		p.raw = data + first;
		p.room = m->raw.capacity - first;
		if (!take(im, m, &p, zeroed_end, id_size))
			break;
		const size_t next = (size_t)(p.raw - data);

		if (next >= NOT_TAKEN)
			break;
		m->offsets[i] = at;
		m->raw_first[i] = (uint32_t)first;
		m->raw_end[i] = (uint32_t)next;
		m->raw.count = next;
		if (next - first > m->longest)
			m->longest = (uint32_t)(next - first);
		at = p.sub.end;
		i++;
		/* Memory has time to bring what is looked up while further objects are read. */
		while (next - m->asked_end >= MAKER_ASK)
			if ((r = import_look_up(im, m, err)) != HDB_OK)
				return r;
	}
	m->taken += i - reader->i;
	reader->i = i;
	reader->at = at;
	return HDB_OK;
}

int import_take_plain(struct import *im, struct maker *m, struct places_reader *reader,
		      struct hdb_error *err)
{
	return im->file.id_size == 8 ? take_all(im, m, reader, 8, err) :
				       take_all(im, m, reader, 4, err);
}
