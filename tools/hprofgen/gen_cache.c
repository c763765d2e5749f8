/*
 * gen_cache.c - a cache: one table of primitive arrays of 1 to 64 KB, most of them short (the
 * chance to be longer than x goes with 1 / x; 4.2 KB on average), filled with noise.
 *
 * Sizes are computed from the seed whenever they are needed, so nothing is stored.
 */
#include "gen_shapes.h"

#include <inttypes.h>

#define SMALLEST 1024.0
#define SPREAD (1.0 - 1.0 / 64.0)

static const uint8_t types[] = { GEN_BYTE, GEN_BYTE, GEN_BYTE, GEN_BYTE,
				 GEN_CHAR, GEN_INT,  GEN_LONG, GEN_DOUBLE };

struct walk {
	const struct gen_run *run;
	uint64_t next; /* address of array i, if asked for in order */
};

static uint32_t array_at(const struct gen_run *run, uint64_t i, uint8_t *type)
{
	const uint64_t random = gen_hash(run->world.seed ^ 0x4341, i);
	const double u = (double)(random >> 11) / (double)(UINT64_C(1) << 53);

	*type = types[random & (sizeof(types) - 1)];
	return (uint32_t)(SMALLEST / (1.0 - u * SPREAD)) / gen_type_size(*type, 8);
}

static uint64_t bytes_at(const struct gen_run *run, uint64_t i)
{
	uint8_t type;
	const uint32_t length = array_at(run, i, &type);

	return gen_array_bytes(&run->world, type, length);
}

static void declare(struct gen_run *run)
{
	(void)gen_class(&run->world, &(struct gen_declaration){ "hprofgen/Cache", GEN_OBJECT_CLASS,
								GEN_BOOT, "", "Ltable" });
}

static bool plan(struct gen_run *run)
{
	struct gen_world *w = &run->world;
	uint64_t table;

	if (run->objects > gen_array_limit(w)) {
		fprintf(stderr, "hprofgen: a table of %" PRIu64 " elements does not fit a record\n",
			run->objects);
		return false;
	}
	table = gen_take(w, gen_array_bytes(w, GEN_OBJECT, run->objects));
	gen_class_static(w, GEN_FIRST_OWN_CLASS, "table", table);
	return true;
}

static uint64_t element(void *ctx, uint64_t i)
{
	struct walk *walk = ctx;
	const uint64_t id = walk->next;

	walk->next += bytes_at(walk->run, i);
	return id;
}

static void write_arrays(struct gen_run *run)
{
	struct gen_world *w = &run->world;
	const uint64_t table = w->next - gen_array_bytes(w, GEN_OBJECT, run->objects);
	struct walk walk = { .run = run, .next = w->next };

	gen_object_array(w, GEN_OBJECT_ARRAY_CLASS, table,
			 &(struct gen_elements){ (uint32_t)run->objects, element, &walk });
	for (uint64_t i = 0; i < run->objects; i++) {
		uint8_t type;
		const uint32_t length = array_at(run, i, &type);
		const uint64_t id = gen_take(w, gen_array_bytes(w, type, length));

		if (!gen_world_fits(w))
			return;
		gen_noise(gen_primitive_array(w, type, id, length),
			  (size_t)length * gen_type_size(type, 8), gen_hash(w->seed, i));
	}
}

static void answers(const struct gen_run *run, FILE *out)
{
	const struct gen_world *w = &run->world;
	const uint64_t table = w->classes[GEN_FIRST_OWN_CLASS].fields[0].value;
	const uint64_t count = gen_sample_count(run->objects);
	uint64_t id = table + gen_array_bytes(w, GEN_OBJECT, run->objects);

	gen_answer(out, table, w->next - table, w->classes[GEN_FIRST_OWN_CLASS].id);
	for (uint64_t i = 0, k = 0; i < run->objects && k < count; i++) {
		const uint64_t size = bytes_at(run, i);

		if (gen_sample(run->objects, k) == i) {
			gen_answer(out, id, size, table);
			k++;
		}
		id += size;
	}
}

const struct gen_shape gen_cache = {
	"cache",      "one table of primitive arrays of 1 to 64 KB",
	declare,      plan,
	write_arrays, answers,
	NULL,
};
