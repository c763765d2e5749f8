/*
 * gen_random.c - a random graph: nodes of 16 classes with three references each to any other
 * node, about one in six of them null; 16 roots. 49 bytes and 2.5 references per node in the file.
 */
#include "gen_shapes.h"

#define CLASSES 16u
#define ROOTS 16u
#define REFS 3u
#define NULL_LIMIT 11337u /* of 65,536: 17.3 % */

static void declare(struct gen_run *run)
{
	static const char *const fields[REFS] = { "next", "left", "right" };

	for (unsigned k = 0; k < CLASSES; k++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "hprofgen/Vertex%u", k);
		(void)gen_class(&run->world, name, fields, REFS, false);
	}
}

static uint64_t node_bytes(const struct gen_run *run)
{
	return gen_instance_bytes(&run->world, GEN_FIRST_OWN_CLASS);
}

static bool plan(struct gen_run *run)
{
	struct gen_world *w = &run->world;
	const uint64_t base = gen_take(w, run->objects * node_bytes(run));

	for (uint64_t k = 0; k < ROOTS; k++)
		gen_root(w, base + gen_below(gen_hash(w->seed, k), run->objects) * node_bytes(run));
	return true;
}

static void write_nodes(struct gen_run *run)
{
	struct gen_world *w = &run->world;
	const uint64_t bytes = node_bytes(run);
	const uint64_t base = w->next - run->objects * bytes;

	for (uint64_t i = 0; i < run->objects; i++) {
		const uint64_t random = gen_hash(w->seed ^ 0x52414e44, i);
		uint8_t *p = gen_instance(w, GEN_FIRST_OWN_CLASS + (random & (CLASSES - 1)),
					  base + i * bytes);

		for (unsigned k = 0; k < REFS; k++) {
			const bool is_null = (random >> (16 * k + 8) & 0xffff) < NULL_LIMIT;
			const uint64_t to = gen_below(gen_hash(random, k), run->objects);

			p = gen_id(&w->file, p, is_null ? 0 : base + to * bytes);
		}
	}
}

const struct gen_shape gen_random = {
	"random",    "random graph, three references a node, 16 roots",
	declare,     plan,
	write_nodes, NULL,
	NULL,
};
