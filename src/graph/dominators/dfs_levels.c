/*
 * graph/dominators/dfs_levels.c - creates more roots if one root reaches nearly all nodes.
 *
 * Threads share a graph by its roots, so a search from a single root would leave all other threads
 * idle. Before the search, probes of limited length from each root therefore look for two things:
 *
 * - Nodes that two roots reach. The virtual root dominates such a node, so the node becomes a root:
 *   an edge from the dominator of a node to the node does not change any dominator.
 * - A single root with a long probe. This root becomes the owner of the next level. It is searched
 *   after all other roots, and the nodes to which it refers become roots in its place. The owner
 *   dominates everything that only these nodes reach, just as the virtual root dominates everything
 *   at the first level. This is true of any root, so a wrong guess costs time but does not change
 *   the result.
 *
 * An edge from a later level to a node of an earlier level comes from below another root of the
 * earlier level: the root that became the owner of the level after it. Therefore the owner of the
 * node's own level dominates the node, as if two roots of that level reached it.
 */
#include "graph/dominators/semi_nca_private.h"

#include "base/bits.h"

/*
 * Divisors that limit the share of nodes visited by probes: by each probe at first, by each later
 * probe, and by all probes together.
 */
#define PROBE_FIRST 4096u
#define PROBE_LAST 64u
#define PROBES_ALL 64u
/* Factor by which the limit of a probe grows. */
#define PROBE_GROWTH 8u

struct probes {
	struct dom_parts *parts;
	/* uint32_t: roots to be probed, followed by the roots of the next pass */
	struct base_vec todo;
	struct base_vec visited; /* uint32_t: nodes visited by long probes of this pass */
	size_t first;            /* start of the current probe in `visited` */
	/* maximum number of nodes visited by a probe; a probe that reaches it is long */
	uint64_t limit;
	uint64_t first_limit; /* limit of the first pass of each level */
	uint64_t left;        /* number of nodes that may still be visited */
};

static void add_state(struct dom_parts *parts, uint32_t v, enum dom_state state)
{
	parts->part->states[v / DOM_STATES] |= (uint64_t)state << (2 * (v % DOM_STATES));
}

static void add_root(struct dom_parts *parts, uint32_t v)
{
	base_bit_put(parts->roots_big.data, v);
	add_state(parts, v, DOM_TOP);
}

/* Calls take() for each target of v until it returns a code other than HDB_OK. */
static int each_target(const struct graph_rows *rows, uint32_t v, void *ctx,
		       int (*take)(void *ctx, uint32_t target, struct hdb_error *err),
		       struct hdb_error *err)
{
	uint32_t target[GRAPH_ROW_MAX];
	struct graph_long_row row;
	const unsigned count = graph_rows_get(rows, v, target, &row);

	for (unsigned i = 0; i < count; i++)
		TRY(take(ctx, target[i], err));
	for (; row.at < row.end; row.at++)
		TRY(take(ctx, graph_rows_long(rows, row.at), err));
	return HDB_OK;
}

/* ---- a level ---- */

/*
 * Takes a target of the owner. It becomes a root or, if it was visited, can also be reached from
 * another root.
 */
static int take_target(void *ctx, uint32_t v, struct hdb_error *err)
{
	struct dom_parts *parts = ctx;

	(void)err;
	if (dom_state(parts->part->states, v) == DOM_NEW)
		base_bit_put(parts->roots_big.data, v);
	add_state(parts, v, DOM_TOP);
	return HDB_OK;
}

/* Marks the roots of a level, after all levels above it have been searched. */
static int mark_roots(struct dom_parts *parts, const struct dom_level *level, struct hdb_error *err)
{
	const uint64_t n = parts->part->node_count;
	uint64_t *roots = parts->roots_big.data;

	memset(roots, 0, base_bit_words(n) * sizeof *roots);
	if (level != parts->level)
		TRY(each_target(parts->part->rows, level->owner, parts, take_target, err));
	for (uint64_t v = 0; level == parts->level && base_bit_next(parts->root_bits, n, &v); v++)
		add_root(parts, (uint32_t)v);
	for (size_t i = 0; i < level->found.count; i++) {
		const uint32_t v = *base_vec_at(&level->found, uint32_t, i);

		if (dom_state(parts->part->states, v) == DOM_NEW)
			add_root(parts, v);
	}
	return HDB_OK;
}

int dom_level_begin(struct dom_parts *parts, unsigned no, struct hdb_error *err)
{
	struct dom_level *level = &parts->level[no];

	if (no > 0) {
		/*
		 * The first probe was too short, so only now is it known that another root of an
		 * earlier level also reaches the owner.
		 */
		if (dom_state(parts->part->states, level->owner) & DOM_MET) {
			parts->level_count = no;
			return HDB_END;
		}
		TRY(dom_order_add(parts->part, level->owner, 0, err));
		level->number = parts->part->count;
		add_state(parts, level->owner, DOM_MET);
	}
	TRY(mark_roots(parts, level, err));
	for (unsigned i = 0; i < parts->count; i++)
		parts->part[i].from[no] = parts->part[i].count + 1;
	if (no + 1 < parts->level_count)
		base_bit_drop(parts->roots_big.data, parts->level[no + 1].owner);
	atomic_store(&parts->next_word, 0);
	return HDB_OK;
}

void dom_levels_place(const struct dom_parts *parts, const struct dom_build *b, uint32_t *dominator)
{
	for (unsigned no = 0; no < parts->level_count; no++) {
		const uint32_t end = no + 1 < parts->level_count ? b->from[no + 1] : b->count + 1;

		for (uint32_t w = b->from[no]; (no || b->before) && w < end; w++)
			dominator[w] =
				dominator[w] ? dominator[w] + b->before : parts->level[no].number;
	}
}

/* ---- probes ---- */

static int probe_target(void *ctx, uint32_t v, struct hdb_error *err)
{
	struct probes *p = ctx;
	struct dom_build *b = p->parts->part;
	const unsigned state = dom_state(b->states, v);

	if (state == DOM_NEW) {
		add_state(p->parts, v, DOM_MET);
		base_bit_put(b->mine, v);
		TRY(base_vec_push(&p->visited, &v, sizeof v, err));
		return p->visited.count - p->first > p->limit ? HDB_END : HDB_OK;
	}
	if (state == DOM_MET && !base_bit_has(b->mine, v))
		add_state(p->parts, v, DOM_TOP);
	return HDB_OK;
}

/*
 * Visits nodes near a root, breadth first. Returns HDB_END if the probe is long. The nodes visited
 * by a shorter probe keep their state, because the root reaches them.
 */
static int probe(struct probes *p, uint32_t root, struct hdb_error *err)
{
	struct dom_build *b = p->parts->part;
	size_t i = p->first = p->visited.count;
	int rc = HDB_OK;

	add_state(p->parts, root, DOM_MET);
	TRY(base_vec_push(&p->visited, &root, sizeof root, err));
	for (; rc == HDB_OK && i < p->visited.count; i++)
		rc = each_target(b->rows, *base_vec_at(&p->visited, uint32_t, i), p, probe_target,
				 err);
	for (i = p->first; i < p->visited.count; i++)
		base_bit_drop(b->mine, *base_vec_at(&p->visited, uint32_t, i));
	p->left -= p->left < p->visited.count - p->first ? p->left : p->visited.count - p->first;
	if (rc == HDB_OK)
		p->visited.count = p->first;
	return rc;
}

/* Undoes the visits of long probes. Nodes visited from two roots become roots. */
static int take_back(struct probes *p, struct dom_level *level, struct hdb_error *err)
{
	struct dom_parts *parts = p->parts;

	for (size_t i = 0; i < p->visited.count; i++) {
		const uint32_t v = *base_vec_at(&p->visited, uint32_t, i);

		parts->part->states[v / DOM_STATES] &=
			~((uint64_t)DOM_MET << (2 * (v % DOM_STATES)));
		if (dom_state(parts->part->states, v) != DOM_TOP ||
		    base_bit_has(parts->roots_big.data, v))
			continue;
		base_bit_put(parts->roots_big.data, v);
		TRY(base_vec_push(&level->found, &v, sizeof v, err));
		TRY(base_vec_push(&p->todo, &v, sizeof v, err));
	}
	return HDB_OK;
}

/*
 * Probes from the roots of a level until few new roots are found and only one root has a long
 * probe. Sets *owner to this root, or returns HDB_END if there is no such root.
 */
static int find_owner(struct probes *p, struct dom_level *level, uint32_t *owner,
		      struct hdb_error *err)
{
	const uint64_t n = p->parts->part->node_count;

	for (p->limit = p->first_limit; p->left;) {
		const size_t before = level->found.count;
		size_t kept = 0;

		p->visited.count = 0;
		for (size_t i = 0; i < p->todo.count && p->left; i++) {
			const uint32_t root = *base_vec_at(&p->todo, uint32_t, i);
			const int rc = probe(p, root, err);

			if (rc < 0)
				return rc;
			if (rc == HDB_END)
				*base_vec_at(&p->todo, uint32_t, kept++) = root;
		}
		p->todo.count = kept;
		TRY(take_back(p, level, err));
		if (level->found.count - before > kept)
			continue;
		if (kept == 1 && p->left) {
			*owner = *base_vec_at(&p->todo, uint32_t, 0);
			return HDB_OK;
		}
		p->limit *= PROBE_GROWTH;
		if (!kept || p->limit > n / PROBE_LAST)
			break;
	}
	return HDB_END;
}

static int plan(struct probes *p, struct hdb_error *err)
{
	struct dom_parts *parts = p->parts;
	const uint64_t n = parts->part->node_count;

	while (parts->level_count < DOM_LEVELS_MAX) {
		struct dom_level *level = &parts->level[parts->level_count - 1];

		/* If there are more roots than this, there are enough roots for all threads. */
		const uint64_t most = parts->level_count > 1 ? p->first_limit : p->left;

		TRY(mark_roots(parts, level, err));
		p->todo.count = 0;
		for (uint64_t v = 0; base_bit_next(parts->roots_big.data, n, &v); v++) {
			if (p->todo.count > most)
				return HDB_OK;
			TRY(base_vec_push(&p->todo, &(uint32_t){ (uint32_t)v }, sizeof(uint32_t),
					  err));
		}
		TRY(find_owner(p, level, &level[1].owner, err));
		parts->level_count++;
	}
	return HDB_OK;
}

int dom_levels_plan(struct dom_parts *parts, struct hdb_error *err)
{
	const uint64_t n = parts->part->node_count;
	/* A small graph is divided into parts only in tests. Probes then visit the whole graph. */
	const bool is_small = n < DOM_PART_NODES;
	struct probes p = { .parts = parts,
			    .first_limit = is_small ? n / 8 : n / PROBE_FIRST,
			    .left = is_small ? 8 * n : n / PROBES_ALL };
	int rc = HDB_OK;

	TRY(base_big_alloc_raw(parts->work, &parts->roots_big, base_bit_words(n) * sizeof(uint64_t),
			       "roots", err));
	parts->level_count = 1;
	if (parts->count > 1) {
		rc = plan(&p, err);
		memset(parts->states_big.data, 0, n / 4 + 8);
	}
	base_vec_release(&p.todo);
	base_vec_release(&p.visited);
	return rc < 0 ? rc : HDB_OK;
}

void dom_levels_release(struct dom_parts *parts)
{
	for (unsigned i = 0; i < parts->level_count; i++)
		base_vec_release(&parts->level[i].found);
	base_big_free(&parts->roots_big);
}
