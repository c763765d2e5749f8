/*
 * gen_batch.h - a few thousand objects planned in memory, so that they can refer to one another
 * in any order, then written in the order of their addresses.
 *
 * Capacity is fixed; the caller knows what it plans and writes before more would not fit
 * (asserted). An object is named by its place in the batch.
 */
#ifndef HPROFGEN_GEN_BATCH_H
#define HPROFGEN_GEN_BATCH_H

#include "gen_world.h"

#define GEN_BATCH_OBJECTS 4096u
#define GEN_BATCH_VALUES 24576u
#define GEN_BATCH_BYTES (160u << 10)

struct gen_planned {
	uint64_t id;
	uint32_t class_no; /* of primitive arrays: GEN_NONE */
	uint32_t first;    /* of its values, or of its bytes if a primitive array */
	uint32_t length;   /* values, or elements */
	uint8_t type;      /* GEN_OBJECT, or the element type of a primitive array */
	bool is_array;
};

struct gen_batch {
	struct gen_world *world; /* lent */
	uint32_t count;          /* objects */
	uint32_t value_count;
	uint32_t byte_count;
	struct gen_planned objects[GEN_BATCH_OBJECTS];
	uint64_t values[GEN_BATCH_VALUES];
	uint8_t bytes[GEN_BATCH_BYTES];
};

/* An empty batch; owned: gen_batch_free. */
struct gen_batch *gen_batch_new(struct gen_world *w);
void gen_batch_free(struct gen_batch *b);

/* Plan an object, all zeros, at the world's next address. */
uint32_t gen_plan_instance(struct gen_batch *b, uint32_t class_no);
uint32_t gen_plan_array(struct gen_batch *b, uint32_t class_no, uint32_t length);
uint32_t gen_plan_primitive(struct gen_batch *b, uint8_t type, uint32_t length);

/* A java.lang.String with its byte[]; one with `length` random letters. */
uint32_t gen_plan_text(struct gen_batch *b, const char *text);
uint32_t gen_plan_letters(struct gen_batch *b, uint32_t length, uint64_t random);

/* An object's identifier. */
static inline uint64_t gen_planned_id(const struct gen_batch *b, uint32_t object)
{
	return b->objects[object].id;
}

/* The place of a field's value (in the file's order) or of an element. */
static inline uint64_t *gen_planned_value(struct gen_batch *b, uint32_t object, uint32_t i)
{
	return &b->values[b->objects[object].first + i];
}

/* Makes a field or element refer to another object of the batch. */
static inline void gen_link(struct gen_batch *b, uint32_t object, uint32_t i, uint32_t target)
{
	*gen_planned_value(b, object, i) = b->objects[target].id;
}

/* Writes all objects; clear empties the batch. */
void gen_batch_write(struct gen_batch *b);
void gen_batch_clear(struct gen_batch *b);

#endif
