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
	struct base_view view; /* by hprof_quick_view: nobody moves it meanwhile */
	uint64_t limit;        /* of what is read */
	uint64_t zeroed_end;   /* what zeroed.c knows already of arrays of bytes and chars */
	uint64_t *raw;         /* m->raw */
	size_t raw_count;      /* in the place of m->raw.count */
	size_t until;          /* there is room for so many, and those of one object */
	uint64_t at;           /* where the next object is */
	size_t i;              /* its number in the block */
};

/* An object that may be plain, and what is known of it. */
struct plain {
	struct hprof_sub sub;
	const uint8_t *body;
	uint64_t distance;            /* to the next object, bytes */
	struct store_object_put made; /* result */
	uint64_t *raw;                /* where references go */
	size_t count;                 /* result: of those */
};

static ALWAYS_INLINE bool take_instance(struct maker *m, struct plain *p, const unsigned id_size)
{
	struct maker_class *class = import_class_entry(m, p->sub.class_id);

	/* Some compilers would rather compute it anew for each member than keep it. */
	__asm__("" : "+r"(class));
	if (class->id != p->sub.class_id || p->sub.body_size < class->plain_bytes)
		return false;
	/* What fails is tried again by whoever takes what is not plain. */
	if (p->distance == class->usual)
		class->usual_count++;
	else if (import_note_instance(m, class, p->distance, NULL) != HDB_OK)
		return false;
	p->made = (struct store_object_put){ .entry = class->instance_entry };
	p->count = import_read_fields(p->raw, p->body, class->plan, class->plan_count, id_size);
	return true;
}

/* Notes an array of elements of `width` bytes, or of wide_width if references have 8. */
static ALWAYS_INLINE bool note_array(struct maker *m, const struct store_object *o,
				     uint64_t distance, unsigned width, unsigned wide_width)
{
	/* Neither product overflows: a record has the length in 32 bits. */
	const int64_t least = (int64_t)distance - (int64_t)(o->length * width);
	const int64_t wide = (int64_t)distance - (int64_t)(o->length * wide_width);
	struct import_distance_entry *e = import_distances_place(&m->distances, o->class_no);
	struct import_count *counted = import_counts_held(&m->counting, o);

	if (e->key != import_distances_key(o->class_no, o->kind) || !counted)
		return false;
	if (o->kind == STORE_OBJECT_ARRAY)
		m->distances.wide_overlaps += import_distances_overlap(o->length, wide);
	import_distances_note(&m->distances, &e->distance,
			      (struct import_noted){ distance, least, wide, 1 });
	counted->count++;
	counted->elements += o->length;
	return true;
}

static ALWAYS_INLINE bool take_object_array(struct maker *m, struct plain *p,
					    const unsigned id_size)
{
	const struct maker_class *class = import_class_entry(m, p->sub.class_id);

	if (class->id != p->sub.class_id || !class->no || p->sub.length > STORE_LIST_BIG)
		return false;
	if (!note_array(m,
			&(struct store_object){ .kind = STORE_OBJECT_ARRAY,
						.class_no = class->no - 1,
						.length = p->sub.length,
						.body_size = id_size },
			p->distance, 4, 8))
		return false;
	p->made = (struct store_object_put){ class->array_entry, (uint32_t)p->sub.length };
	p->count = import_read_elements(p->raw, p->body, p->sub.length, id_size);
	return true;
}

static ALWAYS_INLINE bool take_primitives(const struct import *im, struct maker *m, struct plain *p,
					  uint64_t zeroed_end)
{
	const unsigned type = p->sub.element_type & 15;
	const unsigned width = 1u << hprof_primitive_shift[type] >> 1;

	if ((type == HPROF_BYTE || type == HPROF_CHAR) && p->sub.length > zeroed_end)
		return false;
	p->count = 0;
	p->made = (struct store_object_put){ m->primitive_entry[type], (uint32_t)p->sub.length };
	return p->made.entry != STORE_NONE &&
	       note_array(m,
			  &(struct store_object){ .kind = STORE_PRIMITIVE_ARRAY,
						  .class_no = im->known.primitive_no[type],
						  .length = p->sub.length,
						  .body_size = width },
			  p->distance, width, width);
}

/* Takes an object that has the tag; false, and nothing that counts is changed: it is not plain. */
static ALWAYS_INLINE bool take_one(const struct import *im, struct maker *m, struct taking *t,
				   const unsigned id_size, const uint8_t tag)
{
	const size_t i = t->i, first = t->raw_count;
	struct plain p = { .raw = t->raw + first };
	bool is_plain;

	if (!hprof_quick_of(&t->view, (struct hprof_range){ t->at, t->limit }, id_size, tag,
			    &p.sub) ||
	    p.sub.id != m->ids[i] || m->offsets[i])
		return false;
	p.distance = m->ids[i + 1] - p.sub.id;
	p.body = t->view.data + p.sub.body_offset;
	if (tag == HPROF_INSTANCE_DUMP)
		is_plain = take_instance(m, &p, id_size);
	else if (tag == HPROF_OBJECT_ARRAY_DUMP)
		is_plain = take_object_array(m, &p, id_size);
	else
		is_plain = take_primitives(im, m, &p, t->zeroed_end);
	if (!is_plain)
		return false;
	t->raw_count = first + p.count;
	m->objects[i] = p.made;
	m->offsets[i] = t->at;
	m->raw_first[i] = (uint32_t)first;
	m->raw_end[i] = (uint32_t)t->raw_count;
	t->at = p.sub.end;
	t->i = i + 1;
	return true;
}

/*
 * Looks up what can be, and makes room for what a plain object refers to. HDB_END: there can be no
 * more of it. Sets t->until to where it is to be called again.
 */
static int make_ready(struct import *im, struct maker *m, struct taking *t, struct hdb_error *err)
{
	int r;

	m->raw.count = t->raw_count;
	while (t->raw_count - m->asked_end >= MAKER_ASK)
		TRY(import_look_up(im, m, err));
	if (t->raw_count >= NOT_TAKEN - STORE_LIST_BIG - MAKER_ASK)
		return HDB_END;
	t->until = m->asked_end + MAKER_ASK;
	r = base_vec_reserve(&m->raw, t->until - t->raw_count + STORE_LIST_BIG, sizeof(uint64_t),
			     err);
	t->raw = m->raw.data;
	return r;
}

static ALWAYS_INLINE int take_all(struct import *im, struct maker *m,
				  struct import_piece_reader *reader, const unsigned id_size,
				  struct hdb_error *err)
{
	struct taking t = {
		.view = hprof_quick_view(&m->view),
		.zeroed_end = __atomic_load_n(&im->evidence.zeroed_end, __ATOMIC_RELAXED),
		.raw = m->raw.data,
		.raw_count = m->raw.count,
		.at = reader->at,
		.i = reader->i,
	};
	const size_t plain_end = m->plain_end;
	uint64_t end;
	int r = HDB_OK;

	t.limit = reader->limit < t.view.end ? reader->limit : t.view.end;
	end = hprof_quick_end(&m->view, id_size);
	end = reader->end < end ? reader->end : end;
	/* One with ID 0 is dropped, and no distance is beyond INT64_MAX. */
	if (t.at < m->view.start || t.i >= plain_end || !m->ids[t.i] ||
	    m->ids[plain_end] - m->ids[t.i] > INT64_MAX)
		return HDB_OK;
	while (t.at < end && t.i < plain_end) {
		const uint8_t tag = t.view.data[t.at];

		/* Memory has time to bring what is looked up while further objects are read. */
		if (t.raw_count >= t.until && (r = make_ready(im, m, &t, err)) != HDB_OK)
			break;
		if (tag == HPROF_INSTANCE_DUMP) {
			if (!take_one(im, m, &t, id_size, HPROF_INSTANCE_DUMP))
				break;
		} else if (tag == HPROF_OBJECT_ARRAY_DUMP) {
			if (!take_one(im, m, &t, id_size, HPROF_OBJECT_ARRAY_DUMP))
				break;
		} else if (tag != HPROF_PRIMITIVE_ARRAY_DUMP ||
			   !take_one(im, m, &t, id_size, HPROF_PRIMITIVE_ARRAY_DUMP)) {
			break;
		}
	}
	m->raw.count = t.raw_count;
	m->taken += (uint32_t)t.i - reader->i;
	reader->i = (uint32_t)t.i;
	reader->at = t.at;
	return r == HDB_END ? HDB_OK : r;
}

int import_take_plain(struct import *im, struct maker *m, struct import_piece_reader *reader,
		      struct hdb_error *err)
{
	return im->file.id_size == 8 ? take_all(im, m, reader, 8, err) :
				       take_all(im, m, reader, 4, err);
}
