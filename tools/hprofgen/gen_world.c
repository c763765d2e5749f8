/*
 * gen_world.c - declaring names, classes, threads and roots, and the layout of objects; see
 * gen_world.h. Writing them is gen_write.c's.
 */
#include "gen_world.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define ALIGN 8u
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

/* Grows an array to hold one more; *room is how many it has room for. */
static void *grow(void *array, uint32_t count, uint32_t *room, size_t entry_size)
{
	if (count < *room)
		return array;
	*room = *room ? *room * 2 : 64;
	return gen_checked(realloc(array, *room * entry_size));
}

int gen_world_open(struct gen_world *w, const char *path, unsigned id_size, uint64_t seed)
{
	*w = (struct gen_world){
		.seed = seed,
		.header_bytes = id_size == 8 ? 12 : 8,
		.reference_bytes = 4,
		.next = id_size == 8 ? BASE_WIDE : BASE_NARROW,
		.limit = id_size == 8 ? LIMIT_WIDE : LIMIT_NARROW,
	};
	return gen_file_open(&w->file, path, id_size);
}

int gen_world_close(struct gen_world *w)
{
	(void)gen_file_record(&w->file, GEN_HEAP_END, 0);
	for (uint32_t i = 0; i < w->name_count; i++)
		free(w->names[i]);
	for (uint32_t i = 0; i < w->class_count; i++) {
		free(w->classes[i].fields);
		free(w->classes[i].value_types);
	}
	free(w->names);
	free(w->classes);
	free(w->roots);
	free(w->frames);
	return gen_file_close(&w->file);
}

/* ---- names ---- */

uint32_t gen_name(struct gen_world *w, const char *text)
{
	/* there are few */
	for (uint32_t i = 0; i < w->name_count; i++)
		if (strcmp(w->names[i], text) == 0)
			return i;
	w->names = grow(w->names, w->name_count, &w->name_room, sizeof(*w->names));
	w->names[w->name_count] = gen_checked(strdup(text));
	return w->name_count++;
}

/* ---- classes ---- */

static uint8_t type_of(char letter)
{
	static const char letters[] = "ZCFDBSIJ";
	const char *found = strchr(letters, letter);

	assert(found || letter == 'L');
	return found ? (uint8_t)(GEN_BOOLEAN + (found - letters)) : GEN_OBJECT;
}

static unsigned parse_fields(struct gen_world *w, const char *spec, struct gen_field *out)
{
	unsigned count = 0;

	while (*spec) {
		const size_t length = strcspn(spec, " ");
		char name[64];

		assert(length > 1 && length < sizeof(name) && count < GEN_FIELDS_MAX);
		memcpy(name, spec + 1, length - 1);
		name[length - 1] = 0;
		out[count++] =
			(struct gen_field){ .name_no = gen_name(w, name), .type = type_of(*spec) };
		spec += length;
		spec += strspn(spec, " ");
	}
	return count;
}

static void lay_out(struct gen_world *w, struct gen_class *c)
{
	const struct gen_class *super = c->super_no == GEN_NONE ? NULL : &w->classes[c->super_no];
	unsigned own = 0;

	c->value_count = c->field_count + (super ? super->value_count : 0);
	c->value_types = gen_checked(malloc(c->value_count + 1));
	for (unsigned i = 0; i < c->field_count; i++) {
		const uint8_t type = c->fields[i].type;

		c->value_types[i] = type;
		c->body_bytes += gen_type_size(type, w->file.id_size);
		own += gen_type_size(type, w->reference_bytes);
	}
	c->packed_bytes = w->header_bytes;
	if (!super)
		return;
	if (super->value_count)
		memcpy(c->value_types + c->field_count, super->value_types, super->value_count);
	c->body_bytes += super->body_bytes;
	c->packed_bytes = (own + super->packed_bytes + w->reference_bytes - 1) /
			  w->reference_bytes * w->reference_bytes;
}

uint32_t gen_class(struct gen_world *w, const struct gen_declaration *d)
{
	struct gen_field found[2 * GEN_FIELDS_MAX];
	struct gen_class *c;

	assert(!w->is_sealed && d->loader < GEN_LOADERS_MAX);
	assert(d->super_no == GEN_NONE || d->super_no < w->class_count);
	w->classes = grow(w->classes, w->class_count, &w->class_room, sizeof(*w->classes));
	c = &w->classes[w->class_count];
	*c = (struct gen_class){
		.id = w->next + (uint64_t)w->class_count * MIRROR_BYTES,
		.name_no = gen_name(w, d->name),
		.super_no = d->super_no,
		.loader = d->loader,
	};
	c->field_count = parse_fields(w, d->fields, found);
	c->static_count = parse_fields(w, d->statics, found + c->field_count);
	c->fields = gen_checked(calloc(c->field_count + c->static_count + 1, sizeof(*c->fields)));
	memcpy(c->fields, found, (c->field_count + c->static_count) * sizeof(*found));
	lay_out(w, c);
	return w->class_count++;
}

void gen_class_static(struct gen_world *w, uint32_t class_no, const char *name, uint64_t value)
{
	struct gen_class *c = &w->classes[class_no];
	const uint32_t name_no = gen_name(w, name);

	for (unsigned i = c->field_count; i < c->field_count + c->static_count; i++)
		if (c->fields[i].name_no == name_no)
			c->fields[i].value = value;
}

void gen_classes(struct gen_world *w, const struct gen_declaration *declared, size_t count)
{
	for (size_t i = 0; i < count; i++)
		(void)gen_class(w, &declared[i]);
}

/* ---- addresses ---- */

void gen_world_seal(struct gen_world *w)
{
	assert(!w->is_sealed);
	w->next += (uint64_t)w->class_count * MIRROR_BYTES;
	w->is_sealed = true;
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

uint64_t gen_instance_bytes(const struct gen_world *w, uint32_t class_no)
{
	return align(w->classes[class_no].packed_bytes);
}

uint64_t gen_array_bytes(const struct gen_world *w, uint8_t type, uint64_t length)
{
	return align(w->header_bytes + 4 + length * gen_type_size(type, w->reference_bytes));
}

/* ---- roots and threads ---- */

void gen_root(struct gen_world *w, uint8_t tag, uint64_t id, uint64_t a, uint32_t b)
{
	w->roots = grow(w->roots, w->root_count, &w->root_room, sizeof(*w->roots));
	w->roots[w->root_count++] = (struct gen_root){ .tag = tag, .id = id, .a = a, .b = b };
}

uint32_t gen_thread(struct gen_world *w, uint64_t thread_id)
{
	const uint32_t serial = ++w->thread_count;

	gen_root(w, GEN_ROOT_THREAD, thread_id, serial, serial + 1);
	return serial;
}

void gen_thread_frame(struct gen_world *w, uint32_t thread, uint32_t class_no, const char *method,
		      uint32_t line)
{
	const char *class_name = w->names[w->classes[class_no].name_no];
	const char *slash = strrchr(class_name, '/');
	char source[96];

	class_name = slash ? slash + 1 : class_name;
	(void)snprintf(source, sizeof(source), "%.*s.java", (int)strcspn(class_name, "$"),
		       class_name);
	w->frames = grow(w->frames, w->frame_count, &w->frame_room, sizeof(*w->frames));
	w->frames[w->frame_count++] = (struct gen_frame){
		.method_no = gen_name(w, method),
		.source_no = gen_name(w, source),
		.class_no = class_no,
		.line = line,
		.thread = thread,
	};
}
