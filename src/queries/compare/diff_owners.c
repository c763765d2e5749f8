/*
 * queries/compare/diff_owners.c - diff by owner: finds the fields that hold more or less than
 * before.
 *
 * Nodes of the owner tree (owner_tree.h) with the same name are added up, whatever their paths. A
 * search from the top down finds the nodes that cause a change: those with enough added or removed
 * objects to explain it, or whose own size changed (a table, a buffer). Nodes below such a node
 * changed because of it and are skipped. Its owner becomes a row, with all objects that it holds.
 *
 * If objects kept their IDs, an owner that lost nearly all of its objects to another shares a row
 * with it, because the objects were moved and are not new. Arrays of numbers are no evidence for
 * such a move, because compaction can move an array to the address of another array of the same
 * length.
 */
#include "base/glob.h"
#include "heap/platform_classes.h"
#include "queries/compare/diff.h"
#include "queries/compare/owner_tree.h"
#include "queries/leaks/leak_prose.h"
#include "query/coverage.h"
#include "query/grouping.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Default of --min: 1/MIN_PART of the oldest dump's reachable bytes. */
#define MIN_PART 1000
/* An owner has lost its objects if fewer than 1/LEFT_PART of them remain. */
#define LEFT_PART 10
/* The main cause of a change explains at least 1/MAIN_PART of it. */
#define MAIN_PART 2
#define TEXT_MAX_BYTES 4096

/* A row: an owner, and the change in the memory that it holds. */
struct row {
	uint32_t owner, key; /* indexes of names */
	uint32_t before;     /* the owner in the oldest dump */
	uint32_t node;       /* the largest node with this name in the newest dump */
	int64_t growth;
	/* whether the figures include all objects that the owner holds */
	bool is_whole;
	bool grows;                   /* whether the owner grows in each dump */
	struct diff_figures *figures; /* indexed by dump */
};

/* State of this part of the diff query. */
struct owners {
	struct owner_tree tree;
	struct base_big places[2]; /* node of each object, in the oldest and the newest dump */
	/*
	 * indexed by owner: if the owner has lost its objects, the owner that now has these objects
	 */
	uint32_t *joined;
	/* indexed by name: the name to which the objects of this name are added */
	uint32_t *key;
	struct diff_figures *sums; /* indexed by name and dump */
	uint32_t *row_of;          /* indexed by key: 1 + index of its row, or 0 if none */
	uint32_t *main_of;    /* indexed by owner: 1 + index of the row with the largest change */
	struct base_vec rows; /* struct row */
	/* indexed by row and dump: totals of the row, and of all objects that its owner retains */
	struct diff_figures *figures, *wholes;
	size_t name_count;
};

/* ---- objects that moved from one owner to another ---- */

/* Number of objects that moved from one owner to another. */
struct move {
	uint32_t from, to;
	uint64_t count;
};

struct moves {
	struct owners *o;
	struct query_groups moves; /* struct move, by pair of owners */
};

static uint32_t owner_of_node(const struct owners *o, uint32_t node)
{
	assert(node < o->tree.merged.tree.nodes.count);
	return owner_tree_name(&o->tree, analysis_merged_node(&o->tree.merged, node)->name)->owner;
}

/* Returns whether objects of a node can prove that their owner's objects were moved. */
static bool is_evidence(const struct owners *o, uint32_t node)
{
	const uint32_t name = node == ANALYSIS_MERGED_TOP ?
				      ANALYSIS_MERGED_TOP :
				      analysis_merged_node(&o->tree.merged, node)->name;

	return name != ANALYSIS_MERGED_TOP &&
	       !heap_is_number_array(owner_tree_held(&o->tree, name));
}

static int take_pair(void *ctx, uint32_t before_ix, uint32_t ix, struct hdb_error *err)
{
	struct moves *m = ctx;
	const uint32_t a = ((const uint32_t *)m->o->places[0].data)[before_ix];
	const uint32_t b = ((const uint32_t *)m->o->places[1].data)[ix];
	struct move move = { .count = 0 };
	void *sum;

	if (a == ANALYSIS_MERGED_TOP || b == ANALYSIS_MERGED_TOP)
		return HDB_OK;
	move.from = owner_of_node(m->o, a);
	move.to = owner_of_node(m->o, b);
	/* Most objects were not moved, so the cheap checks that exclude them come first. */
	if (move.from == move.to || !is_evidence(m->o, a) || !is_evidence(m->o, b))
		return HDB_OK;
	TRY(query_group_of(&m->moves, (uint64_t)move.from << 32 | move.to, &move, &sum, err));
	((struct move *)sum)->count++;
	return HDB_OK;
}

/* Counts each owner's objects that count as evidence. */
static int count_evidence(const struct diff *d, unsigned side, uint64_t **out,
			  struct hdb_error *err)
{
	const struct owners *o = d->part;
	const struct analysis_merged *tree = &o->tree.merged;

	TRY(BASE_ALLOC(*out, o->name_count + 1, "owners", err));
	for (uint32_t v = 0; v < tree->tree.nodes.count; v++)
		if (is_evidence(o, v))
			(*out)[owner_of_node(o, v)] +=
				analysis_merged_sum(tree, v, side ? (unsigned)d->side_count - 1 : 0)
					->count;
	return HDB_OK;
}

/* Returns the owner that now has an owner's objects. */
static uint32_t joined_to(const struct owners *o, uint32_t owner)
{
	assert(owner < o->name_count);
	while (o->joined[owner] != owner)
		owner = o->joined[owner];
	return owner;
}

/* Joins each owner that lost its objects with the owner that now has most of these objects. */
static int join(const struct diff *d, struct moves *m, struct hdb_error *err)
{
	struct owners *o = m->o;
	BASE_FREED uint64_t *had = NULL, *has = NULL;

	TRY(count_evidence(d, 0, &had, err));
	TRY(count_evidence(d, 1, &has, err));
	for (size_t i = 0; i < m->moves.list.count; i++) {
		const struct move *move = base_vec_at(&m->moves.list, struct move, i);
		const uint32_t to = joined_to(o, move->to);

		assert(move->from != move->to && move->count > 0);
		if (move->count > had[move->from] / MAIN_PART &&
		    has[move->from] <= had[move->from] / LEFT_PART && to != move->from &&
		    o->joined[move->from] == move->from)
			o->joined[move->from] = to;
	}
	return HDB_OK;
}

static int find_moves(struct query *q, struct diff *d, struct hdb_error *err)
{
	struct owners *o = d->part;
	struct moves m = { .o = o, .moves.size = sizeof(struct move) };
	const struct diff_pairs pairs = { take_pair, &m };
	bool is_matched = false;
	int r;

	o->name_count = o->tree.parts.count;
	TRY(BASE_ALLOC(o->joined, o->name_count + 1, "owners", err));
	for (uint32_t i = 0; i < o->name_count; i++)
		o->joined[i] = i;
	r = diff_match_ids(q, &pairs, &is_matched, err);
	if (r == HDB_OK && is_matched)
		r = join(d, &m, err);
	query_fact_text(q, "matched_by", is_matched ? "ID" : "owner");
	query_groups_release(&m.moves);
	return r;
}

/* ---- sums by name ---- */

/*
 * Finds the name to which each name is added: the name with the same class and the present owner,
 * or else the name itself.
 */
static int find_keys(struct owners *o, struct hdb_error *err)
{
	char text[TEXT_MAX_BYTES];

	TRY(BASE_ALLOC(o->key, o->name_count + 1, "owners", err));
	for (uint32_t i = 0; i < o->name_count; i++) {
		const struct owner_name *name = owner_tree_name(&o->tree, i);
		const uint32_t owner = joined_to(o, name->owner);
		const char *from = owner_tree_owner(&o->tree, i);
		uint32_t to;

		o->key[i] = i;
		if (owner == name->owner || !name->held_from)
			continue;
		(void)snprintf(text, sizeof(text), "%s%s", owner_tree_owner(&o->tree, owner),
			       base_vec_at(&o->tree.merged.names.list, struct base_name, i)->text +
				       strlen(from));
		TRY(analysis_merged_text(&o->tree.merged, text, &to, err));
		if (to < o->name_count)
			o->key[i] = to;
	}
	return HDB_OK;
}

static struct diff_figures *sums_of(const struct diff *d, uint32_t name)
{
	const struct owners *o = d->part;

	assert(name < o->name_count && o->key[name] < o->name_count);
	return &o->sums[(size_t)o->key[name] * d->side_count];
}

static int add_sums(struct diff *d, struct hdb_error *err)
{
	struct owners *o = d->part;
	const struct analysis_merged *m = &o->tree.merged;

	TRY(BASE_ALLOC(o->sums, o->name_count * d->side_count + 1, "owners", err));
	TRY(BASE_ALLOC(o->row_of, o->name_count + 1, "owners", err));
	TRY(BASE_ALLOC(o->main_of, o->name_count + 1, "owners", err));
	for (uint32_t v = 0; v < m->tree.nodes.count; v++) {
		struct diff_figures *sums = sums_of(d, analysis_merged_node(m, v)->name);

		for (unsigned s = 0; s < d->side_count; s++) {
			const struct analysis_merged_sum *sum = analysis_merged_sum(m, v, s);

			sums[s].count += sum->count;
			sums[s].shallow_bytes += sum->shallow_bytes;
			sums[s].retained_bytes += sum->total_bytes;
		}
	}
	return HDB_OK;
}

/* ---- the owners of changes ---- */

static int64_t growth_of(const struct diff *d, const struct diff_figures *sums)
{
	return (int64_t)(sums[d->side_count - 1].retained_bytes - sums[0].retained_bytes);
}

static double each(const struct diff_figures *sum)
{
	return sum->count ? (double)sum->retained_bytes / (double)sum->count : 0;
}

static double size_of(double change)
{
	return change < 0 ? -change : change;
}

/*
 * Returns whether a change is mostly due to objects with this name that were added or removed, or
 * to a change of their own size. Each object counts with its average size before or after,
 * whichever is smaller.
 */
static bool is_made_here(const struct diff *d, const struct diff_figures *sums)
{
	const struct diff_figures *first = &sums[0], *last = &sums[d->side_count - 1];
	const double growth = (double)growth_of(d, sums);
	const double objects = (double)last->count - (double)first->count;
	const double own = (double)last->shallow_bytes - (double)first->shallow_bytes;
	const double a = each(first), b = each(last);
	const double size = !first->count ? b : !last->count ? a : a < b ? a : b;

	return (objects * growth > 0 && size_of(objects) * size * MAIN_PART >= size_of(growth)) ||
	       (own * growth > 0 && size_of(own) * MAIN_PART >= size_of(growth));
}

/* Adds a row for a name unless the name already has a row. */
static int keep(struct diff *d, uint32_t name, int64_t growth, struct hdb_error *err)
{
	struct owners *o = d->part;
	const uint32_t owner = joined_to(o, owner_tree_name(&o->tree, name)->owner);
	const struct row row = {
		.owner = owner,
		.key = o->key[name],
		.before = owner,
		.node = ANALYSIS_MERGED_TOP,
		.growth = growth,
	};
	uint32_t *of_owner = &o->main_of[owner];

	if (o->row_of[row.key])
		return HDB_OK;
	TRY(base_vec_push(&o->rows, &row, sizeof(row), err));
	o->row_of[row.key] = (uint32_t)o->rows.count;
	if (!*of_owner ||
	    size_of((double)growth) >
		    size_of((double)base_vec_at(&o->rows, struct row, *of_owner - 1)->growth))
		*of_owner = (uint32_t)o->rows.count;
	return HDB_OK;
}

/*
 * Finds the nodes that cause changes. Parents have lower numbers than children, so they come first.
 */
static int find_changes(struct diff *d, uint64_t least, struct hdb_error *err)
{
	struct owners *o = d->part;
	const struct analysis_merged *m = &o->tree.merged;
	const unsigned last = (unsigned)d->side_count - 1;
	BASE_FREED uint8_t *is_explained = NULL;

	TRY(BASE_ALLOC(is_explained, (size_t)m->tree.nodes.count + 1, "owners", err));
	for (uint32_t v = 0; v < m->tree.nodes.count; v++) {
		const struct base_tree_node *node = analysis_merged_node(m, v);
		const struct diff_figures *sums = sums_of(d, node->name);
		const int64_t growth = growth_of(d, sums);
		const double here = (double)analysis_merged_sum(m, v, last)->total_bytes -
				    (double)analysis_merged_sum(m, v, 0)->total_bytes;

		if (node->parent != ANALYSIS_MERGED_TOP && is_explained[node->parent]) {
			is_explained[v] = 1;
		} else if (growth && size_of((double)growth) >= (double)least &&
			   here * (double)growth > 0 && size_of(here) >= (double)least &&
			   is_made_here(d, sums)) {
			is_explained[v] = 1;
			TRY(keep(d, node->name, growth, err));
		}
	}
	return HDB_OK;
}

/* ---- rows ---- */

static struct row *row_at(const struct owners *o, uint32_t at)
{
	assert(at <= o->rows.count);
	return at ? base_vec_at(&o->rows, struct row, at - 1) : NULL;
}

/* Returns whether an ancestor has the same owner, so that its figures include the node. */
static bool is_below_own(const struct owners *o, uint32_t node, uint32_t owner)
{
	const struct analysis_merged *m = &o->tree.merged;
	uint32_t up = analysis_merged_node(m, node)->parent;

	while (up != ANALYSIS_MERGED_TOP && joined_to(o, owner_of_node(o, up)) != owner)
		up = analysis_merged_node(m, up)->parent;
	return up != ANALYSIS_MERGED_TOP;
}

/* Adds up the objects that the owners of rows hold, and finds the largest node of each row. */
static void add_nodes(struct diff *d)
{
	struct owners *o = d->part;
	const struct analysis_merged *m = &o->tree.merged;
	const unsigned last = (unsigned)d->side_count - 1;

	for (uint32_t v = 0; v < m->tree.nodes.count; v++) {
		const uint32_t own = owner_of_node(o, v), owner = joined_to(o, own);
		struct row *row = row_at(o, o->row_of[o->key[analysis_merged_node(m, v)->name]]);
		struct row *main = row_at(o, o->main_of[owner]);

		if (row && (row->node == ANALYSIS_MERGED_TOP ||
			    analysis_merged_sum(m, v, last)->total_bytes >
				    analysis_merged_sum(m, row->node, last)->total_bytes))
			row->node = v;
		if (row && own != owner)
			row->before = own;
		if (!main || is_below_own(o, v, owner))
			continue;
		for (unsigned s = 0; s < d->side_count; s++)
			o->wholes[(o->main_of[owner] - 1) * d->side_count + s].retained_bytes +=
				analysis_merged_sum(m, v, s)->total_bytes;
	}
}

/*
 * Makes the row with the largest change represent everything that the owner holds, including tables
 * and keys, unless that total changed differently.
 */
static void take_wholes(struct diff *d)
{
	struct owners *o = d->part;

	for (size_t i = 0; i < o->rows.count; i++) {
		struct row *row = base_vec_at(&o->rows, struct row, i);
		const struct diff_figures *whole = &o->wholes[i * d->side_count];
		const double key = (double)row->growth, all = (double)growth_of(d, whole);

		row->figures = &o->figures[i * d->side_count];
		row->is_whole = o->main_of[row->owner] == i + 1 && all * key > 0 &&
				size_of(all) <= MAIN_PART * size_of(key);
		for (unsigned s = 0; s < d->side_count; s++) {
			row->figures[s] = o->sums[(size_t)row->key * d->side_count + s];
			if (row->is_whole)
				row->figures[s].retained_bytes = whole[s].retained_bytes;
		}
	}
	/*
	 * The row for a whole owner includes objects of the same class in the owner's other
	 * collections.
	 */
	for (uint32_t i = 0; i < o->name_count; i++) {
		const uint32_t owner = joined_to(o, owner_tree_name(&o->tree, i)->owner);
		const struct row *row = row_at(o, o->main_of[owner]);

		if (!row || !row->is_whole || i == row->key ||
		    strcmp(owner_tree_held(&o->tree, i), owner_tree_held(&o->tree, row->key)) != 0)
			continue;
		for (unsigned s = 0; s < d->side_count; s++) {
			const struct diff_figures *more = &o->sums[(size_t)i * d->side_count + s];

			row->figures[s].count += more->count;
			row->figures[s].shallow_bytes += more->shallow_bytes;
		}
	}
}

static int fill_rows(struct diff *d, struct hdb_error *err)
{
	struct owners *o = d->part;
	const size_t count = o->rows.count * d->side_count;

	TRY(BASE_ALLOC(o->figures, count + 1, "owners", err));
	TRY(BASE_ALLOC(o->wholes, count + 1, "owners", err));
	add_nodes(d);
	take_wholes(d);
	return HDB_OK;
}

/*
 * Returns whether the owner holds more in each dump than in the dump before. Buffers and tables
 * grow in steps, so without added objects it suffices that they never shrink.
 */
static bool grows_steadily(const struct diff *d, const struct diff_figures *by_side)
{
	bool is_strict = true, is_even = true;

	for (size_t s = 1; s < d->side_count; s++) {
		is_strict &= by_side[s].retained_bytes > by_side[s - 1].retained_bytes;
		is_even &= by_side[s].retained_bytes >= by_side[s - 1].retained_bytes &&
			   by_side[s].count == by_side[s - 1].count;
	}
	return is_strict || is_even;
}

/*
 * Sorts steady growth first, then other growth, then shrinkage; within these, the largest change
 * first.
 */
static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if ((x->growth > 0) != (y->growth > 0))
		return x->growth > 0 ? -1 : 1;
	if (x->growth > 0 && x->grows != y->grows)
		return x->grows ? -1 : 1;
	if (x->growth != y->growth)
		return (x->growth > y->growth) == (x->growth > 0) ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

/*
 * Returns whether to keep a row. The owner must match --only and hold a different amount than
 * before, and no row for the whole owner may include this row.
 */
static bool is_wanted(const struct diff *d, const struct row *row, uint64_t least)
{
	const struct owners *o = d->part;
	const struct row *main = row_at(o, o->main_of[row->owner]);

	return row->growth && size_of((double)row->growth) >= (double)least &&
	       (row->is_whole || !main->is_whole) &&
	       (!d->only || base_glob(d->only, owner_tree_owner(&o->tree, row->owner)));
}

static int choose_rows(struct query *q, struct diff *d, uint64_t least, struct hdb_error *err)
{
	struct owners *o = d->part;
	struct base_vec kept = { 0 };
	int r = HDB_OK;

	for (size_t i = 0; r == HDB_OK && i < o->rows.count; i++) {
		struct row *row = base_vec_at(&o->rows, struct row, i);

		row->growth = growth_of(d, row->figures);
		row->grows = grows_steadily(d, row->figures);
		if (is_wanted(d, row, least))
			r = base_vec_push(&kept, row, sizeof(*row), err);
	}
	base_vec_release(&o->rows);
	o->rows = kept;
	q->total = kept.count;
	base_vec_sort(&o->rows, sizeof(struct row), compare_rows);
	return r;
}

static int open_owners(struct query *q, struct diff *d, struct hdb_error *err)
{
	const uint64_t least = query_number(q, "min", d->whole_bytes[0] / MIN_PART);
	struct owners *o = d->part;

	owner_tree_init(&o->tree, (unsigned)d->side_count);
	for (size_t s = 0; s < d->side_count; s++) {
		struct base_big *place = s == 0                ? &o->places[0] :
					 s + 1 < d->side_count ? NULL :
								 &o->places[1];

		TRY(owner_tree_add(&d->sides[s], &o->tree, (unsigned)s, place, err));
		base_work_release(d->sides[s].work);
	}
	analysis_merged_finish(&o->tree.merged);
	TRY(find_moves(q, d, err));
	TRY(find_keys(o, err));
	TRY(add_sums(d, err));
	TRY(find_changes(d, least, err));
	TRY(fill_rows(d, err));
	TRY(choose_rows(q, d, least, err));
	query_fact(q, "min", least);
	query_fact(q, "folded", o->tree.merged.folded);
	query_cut(q, NULL, "owners that changed by less than %" PRIu64 " bytes (--min)", least);
	return HDB_OK;
}

/*
 * Writes "Cache.entries: 700 -> 1,500 Session, holds 368.2 KiB -> 778.4 KiB (+410.2 KiB, 4.1 %
 * ...)".
 */
static void set_sentence(struct query *q, const struct diff *d, const struct row *row)
{
	const struct owner_tree *tree = &((const struct owners *)d->part)->tree;
	const struct diff_figures *first = &row->figures[0];
	const struct diff_figures *last = &row->figures[d->side_count - 1];
	const double change = size_of((double)row->growth);
	const double whole = (double)d->whole_bytes[0];
	char buf[TEXT_MAX_BYTES] = "", objects[64], bytes[160];
	const struct base_text text = BASE_TEXT(buf);

	if (first->count != last->count)
		(void)snprintf(objects, sizeof(objects), ": %s -> %s ",
			       base_number(first->count).text, base_number(last->count).text);
	else
		(void)snprintf(objects, sizeof(objects), ": %s ",
			       last->count == 1 ? "one" : base_number(last->count).text);
	(void)snprintf(bytes, sizeof(bytes), ", holds %s -> %s (%s%s, %.1f %% of the heap before)",
		       base_size(first->retained_bytes).text, base_size(last->retained_bytes).text,
		       row->growth < 0 ? "-" : "+", base_size((uint64_t)change).text,
		       whole > 0 ? 100 * change / whole : 0);
	query_leak_add_short(text, owner_tree_owner(tree, row->owner));
	query_leak_add_short(text, objects);
	query_leak_add_short(text, owner_tree_held(tree, row->key));
	query_leak_add_short(text, bytes);
	if (row->before != row->owner) {
		query_leak_add_short(text, "; before in ");
		query_leak_add_short(text, owner_tree_owner(tree, row->before));
	}
	query_set_text(q, DIFF_TEXT, buf);
}

static int owner_row(struct query *q, struct diff *d, size_t no, struct hdb_error *err)
{
	struct owners *o = d->part;
	const struct row *row = base_vec_at(&o->rows, struct row, no);

	assert(no < o->rows.count && row->figures);
	query_set_text(q, DIFF_NAME, owner_tree_owner(&o->tree, row->owner));
	query_set_text(q, DIFF_HELD, owner_tree_held(&o->tree, row->key));
	if (row->before != row->owner)
		query_set_text(q, DIFF_OWNER_BEFORE, owner_tree_owner(&o->tree, row->before));
	if (row->node != ANALYSIS_MERGED_TOP)
		query_set_id(
			q, DIFF_ID,
			analysis_merged_sum(&o->tree.merged, row->node, (unsigned)d->side_count - 1)
				->example_ix);
	set_sentence(q, d, row);
	return diff_set_figures(q, d, row->figures, err);
}

static void close_owners(struct diff *d)
{
	struct owners *o = d->part;

	base_big_free(&o->places[0]);
	base_big_free(&o->places[1]);
	owner_tree_release(&o->tree);
	base_vec_release(&o->rows);
	free(o->joined);
	free(o->key);
	free(o->sums);
	free(o->row_of);
	free(o->main_of);
	free(o->figures);
	free(o->wholes);
}

const struct diff_part diff_owners = { sizeof(struct owners), open_owners, owner_row,
				       close_owners };
