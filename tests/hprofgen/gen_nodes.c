/*
 * gen_nodes.c - shapes made of nodes of one class, whose dominators and retained sizes are known
 * by construction: tree, list, ladder, ring, star, tail.
 *
 * A node's number determines which nodes it refers to, which node dominates it, and how many nodes
 * it retains. All nodes have the same size, so the number also determines the address. If shuffled,
 * node i is at position i * step mod n, where step and n are coprime.
 */
#include "gen_shapes.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#define REFS_MAX 3u
#define ANSWERS_MAX 10000u /* maximum number of objects that an answers file lists */
#define NO_NODE UINT64_MAX
#define HOLDER (UINT64_MAX - 1) /* the array that holds the first nodes */

struct nodes {
	uint64_t n;
	uint64_t base; /* address of place 0 */
	uint64_t node_bytes;
	uint64_t step, inverse; /* of the shuffle */
	uint64_t holder_id;     /* array of the `heads` nodes that only it holds; 0: none */
	uint64_t heads;
	uint64_t chain; /* tail: length of each chain; the tail begins at heads * chain */
	uint32_t class_no;
	unsigned ref_count;
};

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		const uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* The inverse of a mod n; both below 2^32 and prime to one another. */
static uint64_t invert(uint64_t a, uint64_t n)
{
	int64_t t = 0, next_t = 1, r = (int64_t)n, next_r = (int64_t)a;

	while (next_r) {
		const int64_t q = r / next_r, t2 = t - q * next_t, r2 = r - q * next_r;

		t = next_t;
		next_t = t2;
		r = next_r;
		next_r = r2;
	}
	return (uint64_t)(t < 0 ? t + (int64_t)n : t);
}

static uint64_t node_id(const struct nodes *s, uint64_t i)
{
	return s->base + (s->step == 1 ? i : i * s->step % s->n) * s->node_bytes;
}

/* ---- the shapes: references, dominator and retained nodes of node i ---- */

static void refs_of(const struct gen_run *run, const struct nodes *s, uint64_t i, uint64_t *out)
{
	const struct gen_shape *shape = run->shape;

	for (unsigned k = 0; k < s->ref_count; k++)
		out[k] = NO_NODE;
	if (shape == &gen_tree) {
		for (unsigned k = 0; k < s->ref_count; k++)
			out[k] = i * s->ref_count + 1 + k;
	} else if (shape == &gen_list) {
		out[0] = i + 1;
	} else if (shape == &gen_ladder) {
		out[0] = i % 3 == 0 ? i + 1 : i / 3 * 3 + 3;
		out[1] = i % 3 == 0 ? i + 2 : NO_NODE;
	} else if (shape == &gen_ring) {
		out[0] = (i + 1) % s->n;
		out[1] = (i + s->n - 1) % s->n;
	} else if (shape == &gen_tail) {
		const uint64_t tail = s->heads * s->chain;

		out[0] = i < tail && i % s->chain == s->chain - 1 ? tail : i + 1;
	}
	for (unsigned k = 0; k < s->ref_count; k++)
		if (out[k] >= s->n)
			out[k] = NO_NODE;
}

static uint64_t dominator_of(const struct gen_run *run, const struct nodes *s, uint64_t i)
{
	const struct gen_shape *shape = run->shape;
	const uint64_t tail = s->heads * s->chain;

	if (shape == &gen_star)
		return HOLDER;
	if (shape == &gen_tail)
		return i == tail || (i < tail && i % s->chain == 0) ? HOLDER : i - 1;
	if (i == 0)
		return NO_NODE;
	if (shape == &gen_tree)
		return (i - 1) / s->ref_count;
	if (shape == &gen_ladder)
		return (i - 1) / 3 * 3;
	if (shape == &gen_ring)
		return 0;
	assert(shape == &gen_list);
	return i - 1;
}

static uint64_t subtree(uint64_t i, uint64_t n, unsigned arity)
{
	uint64_t count = 0;

	for (uint64_t first = i, last = i; first < n;
	     first = first * arity + 1, last = last * arity + arity)
		count += (last < n ? last : n - 1) - first + 1;
	return count;
}

static uint64_t retained_nodes(const struct gen_run *run, const struct nodes *s, uint64_t i)
{
	const struct gen_shape *shape = run->shape;
	const uint64_t tail = s->heads * s->chain;

	if (shape == &gen_tree)
		return subtree(i, s->n, s->ref_count);
	if (shape == &gen_list)
		return s->n - i;
	if (shape == &gen_ladder)
		return i % 3 == 0 ? s->n - i : 1;
	if (shape == &gen_ring)
		return i == 0 ? s->n : 1;
	if (shape == &gen_tail)
		return i < tail ? s->chain - i % s->chain : s->n - i;
	assert(shape == &gen_star);
	return 1;
}

/* ---- making them ---- */

static void declare(struct gen_run *run)
{
	static const char *const fields[REFS_MAX + 1][REFS_MAX] = {
		{ NULL }, { "next" }, { "left", "right" }, { "a", "b", "c" }
	};
	struct nodes *s = gen_checked(calloc(1, sizeof(*s)));

	run->state = s;
	if (run->shape == &gen_tree)
		s->ref_count = REFS_MAX;
	else if (run->shape == &gen_ladder || run->shape == &gen_ring)
		s->ref_count = 2;
	else
		s->ref_count = run->shape != &gen_star;
	s->class_no =
		gen_class(&run->world, "hprofgen/Node", fields[s->ref_count], s->ref_count, true);
}

static uint64_t square_root(uint64_t n)
{
	uint64_t r = 1;

	while ((r + 1) * (r + 1) <= n)
		r++;
	return r;
}

static void choose_heads(const struct gen_run *run, struct nodes *s)
{
	if (run->shape == &gen_star) {
		s->heads = s->n;
	} else if (run->shape == &gen_tail) {
		s->heads = s->n < 3 ? s->n : s->n < 16 ? 2 : square_root(s->n / 2);
		s->chain = s->n < 4 ? 1 : s->n / 2 / s->heads;
	}
}

static bool plan(struct gen_run *run)
{
	struct gen_world *w = &run->world;
	struct nodes *s = run->state;

	s->n = run->objects;
	s->node_bytes = gen_instance_bytes(w, s->class_no);
	choose_heads(run, s);
	if (s->heads > gen_array_limit(w)) {
		fprintf(stderr,
			"hprofgen: an array of %" PRIu64 " elements does not fit a record "
			"(at most %" PRIu64 ")\n",
			s->heads, gen_array_limit(w));
		return false;
	}
	s->step = s->inverse = 1;
	if (run->is_shuffled && s->n > 2) {
		s->step = s->n / 1000 * 618 + s->n % 1000 * 618 / 1000 + 1;
		while (gcd(s->step, s->n) != 1)
			s->step++;
		s->inverse = invert(s->step % s->n, s->n);
	}
	if (s->heads)
		s->holder_id = gen_take(w, gen_array_bytes(w, s->heads));
	s->base = gen_take(w, s->n * s->node_bytes);
	gen_root(w, s->heads ? s->holder_id : node_id(s, 0));
	return true;
}

static uint64_t head(void *ctx, uint64_t i)
{
	const struct nodes *s = ctx;

	return node_id(s, s->chain ? i * s->chain : i);
}

static void write_nodes(struct gen_run *run)
{
	struct gen_world *w = &run->world;
	struct nodes *s = run->state;
	uint64_t refs[REFS_MAX];

	if (s->heads)
		gen_object_array(w, s->holder_id,
				 &(struct gen_elements){ (uint32_t)s->heads, head, s });
	for (uint64_t place = 0; place < s->n; place++) {
		const uint64_t i = s->step == 1 ? place : place * s->inverse % s->n;
		uint8_t *p = gen_instance(w, s->class_no, s->base + place * s->node_bytes);

		refs_of(run, s, i, refs);
		for (unsigned k = 0; k < s->ref_count; k++)
			p = gen_id(&w->file, p, refs[k] == NO_NODE ? 0 : node_id(s, refs[k]));
		(void)gen_u4(p, (uint32_t)i);
	}
}

/* Nodes that the answers list, and the k-th of them, 0 <= k < sample_count(). */
static uint64_t sample_count(uint64_t objects)
{
	return objects < ANSWERS_MAX ? objects : ANSWERS_MAX;
}

static uint64_t sample(uint64_t objects, uint64_t k)
{
	const uint64_t count = sample_count(objects);

	return count < 2 ? 0 : k * (objects - 1) / (count - 1);
}

/* One line; dominator 0: none but the roots. */
static void put_answer(FILE *out, uint64_t id, uint64_t retained, uint64_t dominator)
{
	fprintf(out, "0x%" PRIx64 "\t%" PRIu64 "\t0x%" PRIx64 "\n", id, retained, dominator);
}

static void answers(const struct gen_run *run, FILE *out)
{
	const struct nodes *s = run->state;

	if (s->heads)
		put_answer(out, s->holder_id,
			   gen_array_bytes(&run->world, s->heads) + s->n * s->node_bytes, 0);
	for (uint64_t k = 0; k < sample_count(s->n); k++) {
		const uint64_t i = sample(s->n, k);
		const uint64_t above = dominator_of(run, s, i);

		put_answer(out, node_id(s, i), retained_nodes(run, s, i) * s->node_bytes,
			   above == HOLDER  ? s->holder_id :
			   above == NO_NODE ? 0 :
					      node_id(s, above));
	}
}

static void release(struct gen_run *run)
{
	free(run->state);
}

#define NODE_SHAPE(variable, text, description) \
	const struct gen_shape variable = { text,        description, declare, plan, \
					    write_nodes, answers,     release }

NODE_SHAPE(gen_tree, "tree", "complete tree, three children a node");
NODE_SHAPE(gen_list, "list", "one linked list");
NODE_SHAPE(gen_ladder, "ladder", "chain of diamonds");
NODE_SHAPE(gen_ring, "ring", "one ring, linked both ways");
NODE_SHAPE(gen_star, "star", "one array of all");
NODE_SHAPE(gen_tail, "tail", "chains that share a tail as long as all of them");
