/*
 * gen_batch.c - see gen_batch.h.
 */
#include "gen_batch.h"
#include "gen_base.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

struct gen_batch *gen_batch_new(struct gen_world *w)
{
	struct gen_batch *b = gen_checked(malloc(sizeof(*b)));

	b->world = w;
	gen_batch_clear(b);
	return b;
}

void gen_batch_free(struct gen_batch *b)
{
	free(b);
}

void gen_batch_clear(struct gen_batch *b)
{
	b->count = b->value_count = b->byte_count = 0;
}

static uint32_t plan(struct gen_batch *b, const struct gen_planned *object)
{
	assert(b->count < GEN_BATCH_OBJECTS);
	b->objects[b->count] = *object;
	return b->count++;
}

static uint32_t plan_values(struct gen_batch *b, uint32_t count)
{
	assert(count <= GEN_BATCH_VALUES - b->value_count);
	memset(&b->values[b->value_count], 0, count * sizeof(*b->values));
	b->value_count += count;
	return b->value_count - count;
}

uint32_t gen_plan_instance(struct gen_batch *b, uint32_t class_no)
{
	const uint32_t count = b->world->classes[class_no].value_count;

	return plan(b, &(struct gen_planned){
			       .id = gen_take(b->world, gen_instance_bytes(b->world, class_no)),
			       .class_no = class_no,
			       .first = plan_values(b, count),
			       .length = count,
			       .type = GEN_OBJECT,
		       });
}

uint32_t gen_plan_array(struct gen_batch *b, uint32_t class_no, uint32_t length)
{
	return plan(b,
		    &(struct gen_planned){
			    .id = gen_take(b->world, gen_array_bytes(b->world, GEN_OBJECT, length)),
			    .class_no = class_no,
			    .first = plan_values(b, length),
			    .length = length,
			    .type = GEN_OBJECT,
			    .is_array = true,
		    });
}

uint32_t gen_plan_primitive(struct gen_batch *b, uint8_t type, uint32_t length)
{
	const uint32_t size = length * gen_type_size(type, b->world->file.id_size);

	assert(size <= GEN_BATCH_BYTES - b->byte_count);
	memset(&b->bytes[b->byte_count], 0, size);
	b->byte_count += size;
	return plan(b, &(struct gen_planned){
			       .id = gen_take(b->world, gen_array_bytes(b->world, type, length)),
			       .class_no = GEN_NONE,
			       .first = b->byte_count - size,
			       .length = length,
			       .type = type,
			       .is_array = true,
		       });
}

static uint32_t plan_string(struct gen_batch *b, uint32_t length, uint8_t **bytes)
{
	const uint32_t string = gen_plan_instance(b, GEN_STRING);
	const uint32_t value = gen_plan_primitive(b, GEN_BYTE, length);

	gen_link(b, string, GEN_STRING_VALUE, value);
	*bytes = &b->bytes[b->objects[value].first];
	return string;
}

uint32_t gen_plan_text(struct gen_batch *b, const char *text)
{
	const size_t length = strlen(text);
	uint8_t *bytes;
	const uint32_t string = plan_string(b, (uint32_t)length, &bytes);

	(void)gen_bytes(bytes, text, length);
	return string;
}

uint32_t gen_plan_letters(struct gen_batch *b, uint32_t length, uint64_t random)
{
	static const char letters[] = "etaoinshrdlucmfwypvbgkjqxz_-./01";
	uint8_t *bytes;
	const uint32_t string = plan_string(b, length, &bytes);

	static_assert(sizeof(letters) == 33, "five bits choose a letter");
	for (uint32_t i = 0; i < length; i++) {
		if (i % 12 == 0)
			random = gen_hash(random, i);
		bytes[i] = (uint8_t)letters[random & 31];
		random >>= 5;
	}
	*gen_planned_value(b, string, GEN_STRING_HASH) = random & 0x7fffffff;
	return string;
}

/* ---- writing ---- */

static void write_primitive(struct gen_batch *b, const struct gen_planned *o)
{
	uint8_t *p = gen_primitive_array(b->world, o->type, o->id, o->length);

	memcpy(p, &b->bytes[o->first], o->length * gen_type_size(o->type, b->world->file.id_size));
}

struct elements {
	const uint64_t *values;
};

static uint64_t element(void *ctx, uint64_t i)
{
	const struct elements *e = ctx;

	return e->values[i];
}

static void write_instance(struct gen_batch *b, const struct gen_planned *o)
{
	const struct gen_class *c = &b->world->classes[o->class_no];
	uint8_t *p = gen_instance(b->world, o->class_no, o->id);

	for (uint32_t i = 0; i < o->length; i++)
		p = gen_value(&b->world->file, p, c->value_types[i], b->values[o->first + i]);
}

void gen_batch_write(struct gen_batch *b)
{
	for (uint32_t i = 0; i < b->count; i++) {
		const struct gen_planned *o = &b->objects[i];

		if (o->type != GEN_OBJECT)
			write_primitive(b, o);
		else if (o->is_array)
			gen_object_array(b->world, o->class_no, o->id,
					 &(struct gen_elements){
						 o->length, element,
						 &(struct elements){ &b->values[o->first] } });
		else
			write_instance(b, o);
	}
}
