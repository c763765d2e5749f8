/*
 * import/read_plain.c - the objects of the dump that are plain; see resolve.h.
 *
 * Does of each what read_object.c does, in one loop that calls nothing but look-ups: what is asked
 * of an object there is asked of the whole dump here, or makes it be left to read_object.c. It
 * writes nothing that counts before all is asked.
 */
#include "import/resolve.h"

/* Of what is compiled for each kind of object and width of identifiers. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

/* What is taken, and what is asked once of all. */
struct taking {
	struct base_view view; /* its own: nobody moves it meanwhile */
	uint64_t limit;        /* of what is read */
	uint64_t zeroed_end;   /* what zeroed.c knows already of arrays of bytes and chars */
	uint64_t *raw;         /* m->raw */
	size_t room;           /* as many as it may have */
	uint64_t at;           /* where the next object is */
	uint32_t i;            /* its number in the block */
};

/* An object that may be plain, and what is known of it. */
struct plain {
	struct hprof_sub sub;
	const uint8_t *body;
	uint64_t distance;      /* to the next object, bytes */
	struct store_object *o; /* result */
	uint64_t *raw;          /* where references go; result: behind them */
	size_t room;            /* for so many */
};

static ALWAYS_INLINE bool take_instance(struct maker *m, struct plain *p, const unsigned id_size)
{
	const struct maker_class *class = import_class_entry(m, p->sub.class_id);
	const int64_t distance = (int64_t)p->distance;

	if (class->id != p->sub.class_id || p->sub.body_size < class->plain_bytes ||
	    class->plan_count > p->room)
		return false;
	const uint32_t class_no = class->no - 1;
	struct import_distance_entry *e = class->distance;

	if (e->key != import_distances_key(class_no, STORE_INSTANCE))
		return false;
	p->o->length = 0;
	p->o->class_no = class_no;
	p->o->body_size = class->body_size;
	import_distances_note(&m->distances, &e->distance, p->distance, distance, distance);
	p->raw = import_read_fields(p->raw, p->body, class->plan, class->plan_count, id_size);
	return true;
}

/* Notes an array of elements of `width` bytes, or of wide_width if references have 8. */
static ALWAYS_INLINE bool note_array(struct maker *m, const struct plain *p, unsigned width,
				     unsigned wide_width)
{
	const struct store_object *o = p->o;
	/* Neither product overflows: a record has the length in 32 bits. */
	const int64_t least = (int64_t)p->distance - (int64_t)(o->length * width);
	const int64_t wide = (int64_t)p->distance - (int64_t)(o->length * wide_width);
	struct import_distance_entry *e = import_distances_place(&m->distances, o->class_no);
	struct import_count *counted = import_counts_held(&m->counting, o);

	if (e->key != import_distances_key(o->class_no, o->kind) || !counted)
		return false;
	if (o->kind == STORE_OBJECT_ARRAY)
		m->distances.wide_overlaps += import_distances_overlap(o->length, wide);
	import_distances_note(&m->distances, &e->distance, p->distance, least, wide);
	counted->count++;
	counted->elements += o->length;
	return true;
}

static ALWAYS_INLINE bool take_object_array(struct maker *m, struct plain *p,
					    const unsigned id_size)
{
	const struct maker_class *class = import_class_entry(m, p->sub.class_id);

	if (class->id != p->sub.class_id || !class->no || p->sub.length > STORE_LIST_BIG ||
	    p->sub.length > p->room)
		return false;
	p->o->class_no = class->no - 1;
	p->o->length = p->sub.length;
	p->o->body_size = id_size;
	if (!note_array(m, p, 4, 8))
		return false;
	p->raw = import_read_elements(p->raw, p->body, p->sub.length, id_size);
	return true;
}

static ALWAYS_INLINE bool take_primitives(const struct import *im, struct maker *m, struct plain *p,
					  uint64_t zeroed_end)
{
	const unsigned type = p->sub.element_type & 15;
	const unsigned width = 1u << hprof_primitive_shift[type] >> 1;

	if ((type == HPROF_BYTE || type == HPROF_CHAR) && p->sub.length > zeroed_end)
		return false;
	p->o->class_no = im->known.primitive_no[type];
	p->o->length = p->sub.length;
	p->o->body_size = width;
	return note_array(m, p, width, width);
}

/* Takes an object that has the tag; false, and nothing that counts is changed: it is not plain. */
static ALWAYS_INLINE bool take_one(const struct import *im, struct maker *m, struct taking *t,
				   const unsigned id_size, const uint8_t tag)
{
	const uint32_t i = t->i;
	const size_t first = m->raw.count;
	struct plain p;
	bool is_plain;

	if (!hprof_quick_of(&t->view, (struct hprof_range){ t->at, t->limit }, id_size, tag,
			    &p.sub) ||
	    p.sub.id != m->ids[i] || m->offsets[i])
		return false;
	p.distance = m->ids[i + 1] - p.sub.id;
	p.o = &m->objects[i];
	p.body = t->view.data + (p.sub.body_offset - t->view.start);
	p.raw = t->raw + first;
	p.room = t->room - first;
	/* Field by field: what is put together elsewhere first is waited for when it is copied. */
	p.o->file_offset = t->at;
	p.o->heap_no = 0;
	p.o->is_embedded = 0;
	if (tag == HPROF_INSTANCE_DUMP) {
		p.o->kind = STORE_INSTANCE;
		is_plain = take_instance(m, &p, id_size);
	} else if (tag == HPROF_OBJECT_ARRAY_DUMP) {
		p.o->kind = STORE_OBJECT_ARRAY;
		is_plain = take_object_array(m, &p, id_size);
	} else {
		p.o->kind = STORE_PRIMITIVE_ARRAY;
		is_plain = take_primitives(im, m, &p, t->zeroed_end);
	}
	if (!is_plain)
		return false;
	m->raw.count = (size_t)(p.raw - t->raw);
	m->offsets[i] = t->at;
	m->raw_first[i] = (uint32_t)first;
	m->raw_end[i] = (uint32_t)m->raw.count;
	t->at = p.sub.end;
	t->i = i + 1;
	return true;
}

static ALWAYS_INLINE int take_all(struct import *im, struct maker *m, struct places_reader *reader,
				  const unsigned id_size, struct hdb_error *err)
{
	struct taking t = {
		.view = m->view,
		.zeroed_end = __atomic_load_n(&im->evidence.zeroed_end, __ATOMIC_RELAXED),
		.raw = m->raw.data,
		.room = m->raw.capacity < NOT_TAKEN ? m->raw.capacity : NOT_TAKEN - 1,
		.at = reader->at,
		.i = reader->i,
	};
	uint64_t end;
	bool is_plain = true;
	int r = HDB_OK;

	t.limit = reader->limit < t.view.end ? reader->limit : t.view.end;
	end = reader->end < t.limit ? reader->end : t.limit;
	/* One with ID 0 is dropped, and no distance is beyond INT64_MAX. */
	if (t.at < t.view.start || t.i >= m->plain_end || !m->ids[t.i] ||
	    m->ids[m->plain_end] - m->ids[t.i] > INT64_MAX || m->raw.count > t.room)
		return HDB_OK;
	while (is_plain && t.at < end && t.i < m->plain_end) {
		switch (t.view.data[t.at - t.view.start]) {
		case HPROF_INSTANCE_DUMP:
			is_plain = take_one(im, m, &t, id_size, HPROF_INSTANCE_DUMP);
			break;
		case HPROF_OBJECT_ARRAY_DUMP:
			is_plain = take_one(im, m, &t, id_size, HPROF_OBJECT_ARRAY_DUMP);
			break;
		case HPROF_PRIMITIVE_ARRAY_DUMP:
			is_plain = take_one(im, m, &t, id_size, HPROF_PRIMITIVE_ARRAY_DUMP);
			break;
		default:
			is_plain = false;
			break;
		}
		/* Memory has time to bring what is looked up while further objects are read. */
		while (m->raw.count - m->asked_end >= MAKER_ASK)
			if ((r = import_look_up(im, m, err)) != HDB_OK)
				return r;
	}
	m->taken += t.i - reader->i;
	reader->i = t.i;
	reader->at = t.at;
	return HDB_OK;
}

int import_take_plain(struct import *im, struct maker *m, struct places_reader *reader,
		      struct hdb_error *err)
{
	return im->file.id_size == 8 ? take_all(im, m, reader, 8, err) :
				       take_all(im, m, reader, 4, err);
}
