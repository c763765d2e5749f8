/*
 * gen_write.c - the records of a world's names, classes, threads, roots and objects.
 */
#include "gen_world.h"

#include <assert.h>

#define SYMBOLS_WIDE UINT64_C(0x7f3a10000000) /* where names have their IDs */
#define SYMBOLS_NARROW UINT64_C(0xc1000000)
#define FRAMES_WIDE UINT64_C(0x100) /* frames are numbered, as HotSpot does */
#define STREAM_ELEMENTS 8192u
#define SIGNATURE "()V" /* of every method */

static uint64_t name_id(const struct gen_world *w, uint32_t name_no)
{
	return (w->file.id_size == 8 ? SYMBOLS_WIDE : SYMBOLS_NARROW) + (uint64_t)name_no * 32;
}

static void write_name(struct gen_world *w, uint64_t id, const char *text)
{
	const size_t length = strlen(text);
	uint8_t *p = gen_file_record(&w->file, GEN_UTF8, w->file.id_size + length);

	(void)gen_bytes(gen_id(&w->file, p, id), text, length);
}

static void write_load_class(struct gen_world *w, uint32_t class_no)
{
	const struct gen_class *c = &w->classes[class_no];
	uint8_t *p = gen_file_record(&w->file, GEN_LOAD_CLASS, 8 + 2 * w->file.id_size);

	p = gen_u4(p, class_no + 1);
	p = gen_id(&w->file, p, c->id);
	p = gen_u4(p, 1);
	(void)gen_id(&w->file, p, name_id(w, c->name_no));
}

static void write_trace(struct gen_world *w, uint32_t thread, uint32_t first, uint32_t count)
{
	uint8_t *p = gen_file_record(&w->file, GEN_TRACE, 12 + (size_t)count * w->file.id_size);

	p = gen_u4(p, thread + 1);
	p = gen_u4(p, thread);
	p = gen_u4(p, count);
	for (uint32_t i = 0; i < count; i++)
		p = gen_id(&w->file, p, FRAMES_WIDE + first + i);
}

static void write_threads(struct gen_world *w)
{
	const uint32_t signature = gen_name(w, SIGNATURE);

	for (uint32_t i = 0; i < w->frame_count; i++) {
		const struct gen_frame *frame = &w->frames[i];
		uint8_t *p = gen_file_record(&w->file, GEN_FRAME, 8 + 4 * w->file.id_size);

		p = gen_id(&w->file, p, FRAMES_WIDE + i);
		p = gen_id(&w->file, p, name_id(w, frame->method_no));
		p = gen_id(&w->file, p, name_id(w, signature));
		p = gen_id(&w->file, p, name_id(w, frame->source_no));
		p = gen_u4(p, frame->class_no + 1);
		(void)gen_u4(p, frame->line);
	}
	write_trace(w, 0, 0, 0);
	for (uint32_t thread = 1, i = 0; thread <= w->thread_count; thread++) {
		const uint32_t first = i;

		while (i < w->frame_count && w->frames[i].thread == thread)
			i++;
		write_trace(w, thread, first, i - first);
	}
}

static void write_class(struct gen_world *w, const struct gen_class *c)
{
	const struct gen_file *f = &w->file;
	size_t size = 1 + 7 * f->id_size + 4 + 4 + 3 * 2 + c->field_count * (f->id_size + 1);
	uint8_t *p;

	for (unsigned i = c->field_count; i < c->field_count + c->static_count; i++)
		size += f->id_size + 1 + gen_type_size(c->fields[i].type, f->id_size);
	p = gen_file_heap(&w->file, size);
	p = gen_u1(p, GEN_CLASS_DUMP);
	p = gen_id(f, p, c->id);
	p = gen_u4(p, 1);
	p = gen_id(f, p, c->super_no == GEN_NONE ? 0 : w->classes[c->super_no].id);
	p = gen_id(f, p, w->loader_ids[c->loader]);
	for (int unused = 0; unused < 4; unused++)
		p = gen_id(f, p, 0);
	p = gen_u4(p, c->body_bytes);
	p = gen_u2(p, 0);
	p = gen_u2(p, c->static_count);
	for (unsigned i = c->field_count; i < c->field_count + c->static_count; i++) {
		p = gen_id(f, p, name_id(w, c->fields[i].name_no));
		p = gen_u1(p, c->fields[i].type);
		p = gen_value(f, p, c->fields[i].type, c->fields[i].value);
	}
	p = gen_u2(p, c->field_count);
	for (unsigned i = 0; i < c->field_count; i++) {
		p = gen_id(f, p, name_id(w, c->fields[i].name_no));
		p = gen_u1(p, c->fields[i].type);
	}
}

static void write_root(struct gen_world *w, const struct gen_root *root)
{
	const unsigned id_size = w->file.id_size;
	const bool has_numbers = root->tag == GEN_ROOT_JNI_LOCAL ||
				 root->tag == GEN_ROOT_JAVA_FRAME || root->tag == GEN_ROOT_THREAD;
	const bool is_global = root->tag == GEN_ROOT_JNI_GLOBAL;
	uint8_t *p = gen_file_heap(&w->file, 1 + id_size +
						     (is_global   ? id_size :
						      has_numbers ? 8 :
								    0));

	p = gen_id(&w->file, gen_u1(p, root->tag), root->id);
	if (is_global)
		(void)gen_id(&w->file, p, root->a);
	else if (has_numbers)
		(void)gen_u4(gen_u4(p, (uint32_t)root->a), root->b);
}

void gen_world_write(struct gen_world *w)
{
	(void)gen_name(w, SIGNATURE);
	for (uint32_t i = 0; i < w->name_count; i++)
		write_name(w, name_id(w, i), w->names[i]);
	for (uint32_t i = 0; i < w->class_count; i++)
		write_load_class(w, i);
	write_threads(w);
	for (uint32_t i = 0; i < w->class_count; i++)
		write_class(w, &w->classes[i]);
	for (uint32_t i = 0; i < w->class_count; i++)
		if (w->classes[i].loader == GEN_BOOT)
			write_root(w, &(struct gen_root){ .tag = GEN_ROOT_STICKY,
							  .id = w->classes[i].id });
	for (uint32_t i = 0; i < w->root_count; i++)
		write_root(w, &w->roots[i]);
}

/* ---- objects ---- */

uint8_t *gen_instance(struct gen_world *w, uint32_t class_no, uint64_t id)
{
	const struct gen_class *c = &w->classes[class_no];
	uint8_t *p = gen_file_heap(&w->file, 1 + 2 * w->file.id_size + 8 + c->body_bytes);

	p = gen_id(&w->file, gen_u1(p, GEN_INSTANCE), id);
	p = gen_u4(p, 1);
	p = gen_id(&w->file, p, c->id);
	return gen_u4(p, c->body_bytes);
}

uint64_t gen_array_limit(const struct gen_world *w)
{
	return (UINT32_MAX - 64) / w->file.id_size;
}

void gen_object_array(struct gen_world *w, uint32_t class_no, uint64_t id,
		      const struct gen_elements *elements)
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
	p = gen_id(f, p, w->classes[class_no].id);
	for (uint64_t i = 0; i < length; i++) {
		if (!is_small && i % STREAM_ELEMENTS == 0) {
			const uint64_t left = length - i;

			p = gen_file_reserve(f, (left < STREAM_ELEMENTS ? left : STREAM_ELEMENTS) *
							f->id_size);
		}
		p = gen_id(f, p, elements->element(elements->ctx, i));
	}
}

uint8_t *gen_primitive_array(struct gen_world *w, uint8_t type, uint64_t id, uint32_t length)
{
	struct gen_file *f = &w->file;
	uint8_t *p = gen_file_heap(f, 1 + f->id_size + 9 +
					      (size_t)length * gen_type_size(type, f->id_size));

	p = gen_id(f, gen_u1(p, GEN_PRIMITIVE_ARRAY), id);
	p = gen_u4(gen_u4(p, 1), length);
	return gen_u1(p, type);
}
