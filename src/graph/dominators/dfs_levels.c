/*
 * graph/dominators/dfs_levels.c - more roots, where one search has nearly all nodes.
 *
 * Threads share a graph by its roots. Where one root reaches nearly all nodes, one thread searches
 * while the others wait. Soon then, while little is done, that search is looked at, more roots are
 * found, and all begins anew:
 *
 * - Nodes of it that another root's search has met, too, are dominated by the virtual root alone:
 *   they become roots. An edge from a node's dominator to it changes no dominator.
 * - Where there are none, the root dominates all that only it reaches, and what it refers to are
 *   the roots of the next level: the root is searched last, as a virtual root of its own. When all
 *   other roots' searches have ended, nothing is left that another way leads to; so at each level
 *   the same holds of its roots and its owner as at the first of all roots and the virtual root,
 *   and what is not dominated by a node of its part is dominated by the owner.
 *
 * Owners have numbers of the first part, so that each is below those of what it dominates.
 */
#include "graph/dominators/semi_nca_private.h"

/* All searches that are given up may have met this part of all nodes. */
#define AGAIN_PART 4u

/* Searches are not begun more often than this. */
#define AGAIN_MAX 12u

void dom_levels_init(struct dom_parts *parts)
{
	parts->level_count = 1;
	parts->level[0] = (struct dom_level){ .owner = GRAPH_NONE };
}

void dom_levels_release(struct dom_parts *parts)
{
	for (unsigned i = 0; i < parts->level_count; i++)
		base_vec_release(&parts->level[i].promoted);
	base_vec_release(&parts->found.promoted);
	base_big_free(parts->work, &parts->roots_big);
}

/* ---- a level begins ---- */

static void set_state(struct dom_parts *parts, uint32_t v, enum dom_state state)
{
	parts->part->states[v / DOM_STATES] |= (uint64_t)state << (2 * (v % DOM_STATES));
}

static void add_root(struct dom_parts *parts, uint64_t *roots, uint32_t v)
{
	roots[v / 64] |= (uint64_t)1 << (v % 64);
	set_state(parts, v, DOM_TOP);
}

/* What the owner refers to: a root, or, if it was met, dominated by what is above the owner. */
static void add_target(struct dom_parts *parts, uint64_t *roots, uint32_t v)
{
	if (dom_state(parts->part->states, v) == DOM_NEW)
		add_root(parts, roots, v);
	else
		set_state(parts, v, DOM_TOP);
}

/* Numbers the owner, in the first part; its targets are the level's roots. */
static int take_owner(struct dom_parts *parts, struct dom_level *level, uint64_t *roots,
		      struct hdb_error *err)
{
	struct dom_build *b = parts->part;
	uint32_t target[GRAPH_ROW_MAX];
	struct graph_long_row row;
	unsigned count;
	int rc = dom_order_add(b, level->owner, 0, err);

	if (rc != HDB_OK)
		return rc;
	level->number = b->count;
	set_state(parts, level->owner, DOM_MET);
	count = graph_rows_get(b->rows, level->owner, target, &row);
	b->step_count += 1 + count + (row.end - row.at);
	for (unsigned i = 0; i < count; i++)
		add_target(parts, roots, target[i]);
	for (; row.at < row.end; row.at++)
		add_target(parts, roots, graph_rows_long(b->rows, row.at));
	return HDB_OK;
}

/* Roots that are given: a root's state is settled before anything is searched. */
static void mark_given(struct dom_parts *parts)
{
	const uint64_t n = parts->part->node_count;

	for (uint64_t w = 0; w * 64 < n; w++) {
		for (uint64_t bits = parts->root_bits[w]; bits; bits &= bits - 1) {
			const uint64_t v = 64 * w + (unsigned)__builtin_ctzll(bits);

			if (v < n)
				set_state(parts, (uint32_t)v, DOM_TOP);
		}
	}
}

/* Bits for roots that are not those that are given alone: the same as them at the first level. */
static int init_roots(struct dom_parts *parts, bool is_first, struct hdb_error *err)
{
	const size_t size = ((size_t)parts->part->node_count + 63) / 64 * sizeof(uint64_t);
	const int rc = parts->roots_big.data ? HDB_OK :
					       base_big_alloc_raw(parts->work, &parts->roots_big,
								  size, "roots", err);

	if (rc != HDB_OK)
		return rc;
	if (is_first)
		memcpy(parts->roots_big.data, parts->root_bits, size);
	else
		memset(parts->roots_big.data, 0, size);
	return HDB_OK;
}

/* The roots that are not given: what the owner refers to, and those that were found. */
static int find_roots(struct dom_parts *parts, unsigned no, struct hdb_error *err)
{
	struct dom_level *level = &parts->level[no];
	int rc = init_roots(parts, no == 0, err);
	uint64_t *roots = parts->roots_big.data;

	if (rc == HDB_OK && no > 0)
		rc = take_owner(parts, level, roots, err);
	for (size_t i = 0; i < level->promoted.count && rc == HDB_OK; i++) {
		const uint32_t v = *base_vec_at(&level->promoted, uint32_t, i);

		if (dom_state(parts->part->states, v) == DOM_NEW)
			add_root(parts, roots, v);
	}
	parts->roots = roots;
	return rc;
}

int dom_level_begin(struct dom_parts *parts, unsigned no, struct hdb_error *err)
{
	int rc = HDB_OK;

	if (no == 0) {
		mark_given(parts);
		parts->roots = parts->root_bits;
	}
	if ((no > 0 || parts->level[no].promoted.count) &&
	    (rc = find_roots(parts, no, err)) != HDB_OK)
		return rc;
	for (unsigned i = 0; i < parts->count; i++)
		parts->part[i].from[no] = parts->part[i].count + 1;
	parts->level_no = no;
	parts->later = no + 1 < parts->level_count ? parts->level[no + 1].owner : GRAPH_NONE;
	atomic_store(&parts->next_word, 0);
	atomic_store(&parts->idle, 0);
	return HDB_OK;
}

/* ---- a search that others wait for ---- */

/* Notes the nodes of the search from this root that another root's has met. */
static int find_promoted(struct dom_parts *parts, const struct dom_build *b, uint32_t root,
			 struct hdb_error *err)
{
	const uint64_t words = (uint64_t)b->node_count / 64 + 1;
	int rc = HDB_OK;

	for (uint64_t w = 0; w < words; w++) {
		for (uint64_t bits = b->mine[w]; bits && rc == HDB_OK; bits &= bits - 1) {
			const uint32_t v = (uint32_t)(64 * w) + (unsigned)__builtin_ctzll(bits);

			if (v != root && dom_state(b->states, v) & DOM_TOP)
				rc = base_vec_push(&parts->found.promoted, &v, sizeof v, err);
		}
	}
	return rc;
}

int dom_split(struct dom_parts *parts, const struct dom_build *b, uint32_t root, uint64_t met,
	      struct hdb_error *err)
{
	int rc;

	if (!parts->is_eager && met > b->node_count / AGAIN_PART)
		return HDB_OK;
	/* One of them at a time. */
	if (parts->again_count >= AGAIN_MAX || atomic_exchange(&parts->is_looking, true))
		return HDB_OK;
	if ((rc = find_promoted(parts, b, root, err)) != HDB_OK)
		return rc;
	if (!parts->found.promoted.count && parts->later == GRAPH_NONE &&
	    parts->level_count < DOM_LEVELS_MAX)
		parts->found.owner = root;
	if (parts->found.promoted.count || parts->found.owner != GRAPH_NONE) {
		atomic_store(&parts->is_again, true);
		return HDB_END;
	}
	atomic_store(&parts->is_looking, false);
	return HDB_OK;
}

int dom_split_take(struct dom_parts *parts, struct hdb_error *err)
{
	struct dom_level *level = &parts->level[parts->level_no];
	const struct base_vec *promoted = &parts->found.promoted;
	int rc = HDB_OK;

	if (parts->found.owner != GRAPH_NONE)
		parts->level[parts->level_count++] =
			(struct dom_level){ .owner = parts->found.owner };
	for (size_t i = 0; i < promoted->count && rc == HDB_OK; i++)
		rc = base_vec_push(&level->promoted, base_vec_at(promoted, uint32_t, i),
				   sizeof(uint32_t), err);
	parts->found.promoted.count = 0;
	parts->found.owner = GRAPH_NONE;
	parts->again_count++;
	atomic_store(&parts->is_again, false);
	atomic_store(&parts->is_looking, false);
	return rc;
}

/* ---- at last ---- */

void dom_levels_place(const struct dom_parts *parts, const struct dom_build *b, uint32_t *dominator)
{
	for (unsigned no = 0; no < parts->level_count; no++) {
		const uint32_t end = no + 1 < parts->level_count ? b->from[no + 1] : b->count + 1;
		const uint32_t owner = parts->level[no].number;

		for (uint32_t w = b->from[no]; (no || b->before) && w < end; w++)
			dominator[w] = dominator[w] ? dominator[w] + b->before : owner;
	}
}
