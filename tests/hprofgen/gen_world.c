/*
 * gen_world.c - declaring classes and roots, and the layout of objects; see gen_world.h.
 * gen_write.c writes them.
 */
#include "gen_world.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define ALIGN 8u
#define REFERENCE_BYTES 4u /* in the heap, not in the file */
#define NUMBER_BYTES 4u
#define BASE_WIDE UINT64_C(0x600000000)
#define BASE_NARROW UINT64_C(0x10000000)
#define LIMIT_NARROW UINT64_C(0xc0000000) /* HotSpot's own data lies above */
#define LIMIT_WIDE (UINT64_C(1) << 46)
#define MIRROR_BYTES 128u /* from one class object to the next */

void *gen_checked(void *p)
{
	if (p)
		return p;
	fputs("hprofgen: no memory\n", stderr);
	exit(4);
}

int gen_world_open(struct gen_world *w, const char *path, unsigned id_size, uint64_t seed)
{
	*w = (struct gen_world){
		.seed = seed,
		.header_bytes = id_size == 8 ? 12 : 8,
		.next = id_size == 8 ? BASE_WIDE : BASE_NARROW,
		.limit = id_size == 8 ? LIMIT_WIDE : LIMIT_NARROW,
	};
	(void)gen_class(w, "java/lang/Object", NULL, 0, false);
	(void)gen_class(w, "java/lang/Class", NULL, 0, false);
	(void)gen_class(w, "[Ljava/lang/Object;", NULL, 0, false);
	assert(w->class_count == GEN_FIRST_OWN_CLASS);
	return gen_file_open(&w->file, path, id_size);
}

int gen_world_close(struct gen_world *w)
{
	(void)gen_file_record(&w->file, GEN_HEAP_END, 0);
	return gen_file_close(&w->file);
}

unsigned gen_class(struct gen_world *w, const char *name, const char *const *references,
		   unsigned reference_count, bool has_number)
{
	struct gen_class *c = &w->classes[w->class_count];

	assert(!w->is_sealed && w->class_count < GEN_CLASSES_MAX);
	assert(reference_count <= GEN_FIELDS_MAX);
	c->id = w->next + (uint64_t)w->class_count * MIRROR_BYTES;
	(void)snprintf(c->name, sizeof(c->name), "%s", name);
	for (unsigned i = 0; i < reference_count; i++)
		c->references[i] = references[i];
	c->reference_count = reference_count;
	c->has_number = has_number;
	return w->class_count++;
}

/* ---- addresses ---- */

void gen_world_seal(struct gen_world *w)
{
	assert(!w->is_sealed);
	w->next += (uint64_t)w->class_count * MIRROR_BYTES;
	w->is_sealed = true;
	for (unsigned i = 0; i < GEN_ARRAYS; i++)
		w->arrays[i] = gen_take(w, gen_array_bytes(w, GEN_ARRAY_LENGTH));
	w->arrays[GEN_ARRAYS] = gen_take(w, gen_array_bytes(w, GEN_ARRAYS));
	gen_root(w, w->arrays[GEN_ARRAYS]);
}

uint64_t gen_take(struct gen_world *w, uint64_t size)
{
	const uint64_t at = w->next;

	assert(w->is_sealed && size % ALIGN == 0);
	if (size > w->limit - at)
		w->next = w->limit;
	else
		w->next += size;
	return at;
}

bool gen_world_fits(const struct gen_world *w)
{
	return w->next < w->limit;
}

static uint64_t align(uint64_t size)
{
	return (size + ALIGN - 1) / ALIGN * ALIGN;
}

uint64_t gen_instance_bytes(const struct gen_world *w, unsigned class_no)
{
	const struct gen_class *c = &w->classes[class_no];

	return align(w->header_bytes + c->reference_count * REFERENCE_BYTES +
		     (c->has_number ? NUMBER_BYTES : 0));
}

uint64_t gen_array_bytes(const struct gen_world *w, uint64_t length)
{
	return align(w->header_bytes + 4 + length * REFERENCE_BYTES);
}

void gen_root(struct gen_world *w, uint64_t id)
{
	assert(w->root_count < GEN_ROOTS_MAX);
	w->roots[w->root_count++] = id;
}
