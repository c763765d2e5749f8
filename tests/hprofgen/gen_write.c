/*
 * gen_write.c - the records of a world's names, classes, roots and objects.
 */
#include "gen_world.h"

#include <assert.h>

#define SYMBOLS_WIDE UINT64_C(0x7f3a10000000) /* where names have their IDs */
#define SYMBOLS_NARROW UINT64_C(0xc1000000)
#define SYMBOL_BYTES 32u
#define JNI_REFERENCES 0x1000u /* where references of JNI lie, 8 bytes each */
#define STREAM_ELEMENTS 8192u
#define NUMBER "value"

/* Of class number `class_no` and its fields: its own name, then theirs, then the number's. */
static uint64_t name_id(const struct gen_world *w, unsigned class_no, unsigned no)
{
	return (w->file.id_size == 8 ? SYMBOLS_WIDE : SYMBOLS_NARROW) +
	       (uint64_t)(class_no * (GEN_FIELDS_MAX + 2) + no) * SYMBOL_BYTES;
}

static void write_name(struct gen_world *w, uint64_t id, const char *text)
{
	const size_t length = strlen(text);
	uint8_t *p = gen_file_record(&w->file, GEN_UTF8, w->file.id_size + length);

	(void)gen_bytes(gen_id(&w->file, p, id), text, length);
}

static void write_names(struct gen_world *w, unsigned class_no)
{
	const struct gen_class *c = &w->classes[class_no];

	write_name(w, name_id(w, class_no, 0), c->name);
	for (unsigned i = 0; i < c->reference_count; i++)
		write_name(w, name_id(w, class_no, 1 + i), c->references[i]);
	if (c->has_number)
		write_name(w, name_id(w, class_no, 1 + c->reference_count), NUMBER);
}

static void write_load_class(struct gen_world *w, unsigned class_no)
{
	uint8_t *p = gen_file_record(&w->file, GEN_LOAD_CLASS, 8 + 2 * w->file.id_size);

	p = gen_u4(p, class_no + 1);
	p = gen_id(&w->file, p, w->classes[class_no].id);
	p = gen_u4(p, 1);
	(void)gen_id(&w->file, p, name_id(w, class_no, 0));
}

/* HotSpot's trace without frames, which all objects name. */
static void write_trace(struct gen_world *w)
{
	uint8_t *p = gen_file_record(&w->file, GEN_TRACE, 12);

	(void)gen_u4(gen_u4(gen_u4(p, 1), 0), 0);
}

static unsigned body_bytes(const struct gen_world *w, const struct gen_class *c)
{
	return c->reference_count * w->file.id_size + (c->has_number ? 4 : 0);
}

static void write_class(struct gen_world *w, unsigned class_no)
{
	const struct gen_file *f = &w->file;
	const struct gen_class *c = &w->classes[class_no];
	const unsigned field_count = c->reference_count + c->has_number;
	uint8_t *p = gen_file_heap(&w->file, 1 + 7 * f->id_size + 4 + 4 + 3 * 2 +
						     (size_t)field_count * (f->id_size + 1));

	p = gen_u1(p, GEN_CLASS_DUMP);
	p = gen_id(f, p, c->id);
	p = gen_u4(p, 1);
	p = gen_id(f, p, class_no == GEN_OBJECT_CLASS ? 0 : w->classes[GEN_OBJECT_CLASS].id);
	for (int unused = 0; unused < 5; unused++)
		p = gen_id(f, p, 0);
	p = gen_u4(p, body_bytes(w, c));
	p = gen_u2(gen_u2(p, 0), 0);
	p = gen_u2(p, field_count);
	for (unsigned i = 0; i < field_count; i++) {
		p = gen_id(f, p, name_id(w, class_no, 1 + i));
		p = gen_u1(p, i < c->reference_count ? GEN_OBJECT : GEN_INT);
	}
}

static void write_roots(struct gen_world *w)
{
	const struct gen_file *f = &w->file;

	for (unsigned i = 0; i < w->class_count; i++)
		(void)gen_id(f, gen_u1(gen_file_heap(&w->file, 1 + f->id_size), GEN_ROOT_STICKY),
			     w->classes[i].id);
	for (unsigned i = 0; i < w->root_count; i++) {
		uint8_t *p = gen_file_heap(&w->file, 1 + 2 * f->id_size);

		p = gen_id(f, gen_u1(p, GEN_ROOT_JNI_GLOBAL), w->roots[i]);
		(void)gen_id(f, p, JNI_REFERENCES + 8 * i);
	}
}

static uint64_t class_id(void *ctx, uint64_t i)
{
	const struct gen_world *w = ctx;

	return w->classes[i % w->class_count].id;
}

static uint64_t array_id(void *ctx, uint64_t i)
{
	const struct gen_world *w = ctx;

	return w->arrays[i];
}

void gen_world_write(struct gen_world *w)
{
	for (unsigned i = 0; i < w->class_count; i++)
		write_names(w, i);
	for (unsigned i = 0; i < w->class_count; i++)
		write_load_class(w, i);
	write_trace(w);
	for (unsigned i = 0; i < w->class_count; i++)
		write_class(w, i);
	write_roots(w);
	for (unsigned i = 0; i < GEN_ARRAYS; i++)
		gen_object_array(w, w->arrays[i],
				 &(struct gen_elements){ GEN_ARRAY_LENGTH, class_id, w });
	gen_object_array(w, w->arrays[GEN_ARRAYS],
			 &(struct gen_elements){ GEN_ARRAYS, array_id, w });
}

/* ---- objects ---- */

uint8_t *gen_instance(struct gen_world *w, unsigned class_no, uint64_t id)
{
	const struct gen_class *c = &w->classes[class_no];
	const unsigned size = body_bytes(w, c);
	uint8_t *p = gen_file_heap(&w->file, 1 + 2 * w->file.id_size + 8 + size);

	p = gen_id(&w->file, gen_u1(p, GEN_INSTANCE), id);
	p = gen_u4(p, 1);
	p = gen_id(&w->file, p, c->id);
	return gen_u4(p, size);
}

uint64_t gen_array_limit(const struct gen_world *w)
{
	return (UINT32_MAX - 64) / w->file.id_size;
}

void gen_object_array(struct gen_world *w, uint64_t id, const struct gen_elements *elements)
{
	struct gen_file *f = &w->file;
	const uint32_t head = 1 + 2 * f->id_size + 8;
	const uint32_t length = elements->length;
	const bool is_small = length <= STREAM_ELEMENTS;
	uint8_t *p;

	assert(length <= gen_array_limit(w));
	if (is_small) {
		p = gen_file_heap(f, head + (size_t)length * f->id_size);
	} else {
		gen_file_heap_stream(f, head + length * f->id_size);
		p = gen_file_reserve(f, head);
	}
	p = gen_id(f, gen_u1(p, GEN_OBJECT_ARRAY), id);
	p = gen_u4(gen_u4(p, 1), length);
	p = gen_id(f, p, w->classes[GEN_OBJECT_ARRAY_CLASS].id);
	for (uint64_t i = 0; i < length; i++) {
		if (!is_small && i % STREAM_ELEMENTS == 0) {
			const uint64_t left = length - i;

			p = gen_file_reserve(f, (left < STREAM_ELEMENTS ? left : STREAM_ELEMENTS) *
							f->id_size);
		}
		p = gen_id(f, p, elements->element(elements->ctx, i));
	}
}
