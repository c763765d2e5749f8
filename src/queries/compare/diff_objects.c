/*
 * queries/compare/diff_objects.c - diff by object: what is new in the newest dump, what is gone of
 * the oldest.
 *
 * HPROF's identifiers are addresses: they tell objects apart only while no garbage collection moved
 * them. That is found out first: an ID that is in both dumps should be of the same class and
 * length. Both dumps are read once, side by side, in order of ID; memory does not grow with them.
 */
#include "analysis/groups.h"
#include "base/glob.h"
#include "heap/heap_database.h"
#include "queries/compare/diff.h"
#include "query/coverage.h"

#include <stdlib.h>
#include <string.h>

/*
 * IDs are stable if of those in both dumps at most STABLE_OTHER percent are another object, and at
 * least STABLE_SHARED percent of the smaller dump's are in both. Compacting collectors leave some
 * objects where they were, at the start of a region, so a few same ones prove nothing.
 */
#define STABLE_OTHER 2
#define STABLE_SHARED 50
/*
 * Whole groups of objects can be matched by ID where one in so many is another object: that as many
 * of a group fall on IDs of one other group, of the same class and length each, is no accident. A
 * collection that compacts leaves what is old where it is.
 */
#define MATCHED_OTHERS 5

/* Blocks between two looks at the cancel flag. */
#define STEP_BLOCKS 16

/* One dump's objects in order of ID. */
struct cursor {
	const struct session *side;
	struct heap_block block;
	uint64_t ids[STORE_BLOCK_OBJECTS];
	uint8_t reachable[STORE_BLOCK_OBJECTS];
	uint32_t block_no, at, count;
	bool has_ended;
};

struct counts {
	uint64_t same, other;          /* IDs in both */
	uint64_t objects[2];           /* real ones, by side */
	uint64_t changed[2], bytes[2]; /* reachable: gone, new */
};

struct diff_objects {
	struct cursor sides[2]; /* the oldest, the newest */
	int pending;            /* side whose object is to be given before reading on */
};

/* ---- reading ---- */

static int load_block(struct cursor *c, struct hdb_error *err)
{
	const struct session *side = c->side;

	TRY(heap_read_block(side->heap, c->block_no, &c->block, err));
	TRY(heap_read_ids(side->heap, c->block_no, c->ids, &c->count, err));
	TRY(derive_reachable_block(side->derive, c->block_no, c->reachable, err));
	if (c->count != c->block.count)
		return hdb_fail(err, HDB_ECORRUPT,
				"%s: damaged: a block of objects has another number of "
				"IDs; import the dump again",
				heap_path(side->heap));
	if (c->block_no % STEP_BLOCKS == 0)
		TRY(base_step(side->work, c->block.first_ix, err));
	c->block_no++;
	c->at = 0;
	return HDB_OK;
}

static bool is_real(const struct cursor *c)
{
	const struct heap_block *block = &c->block;

	/* A flat value's ID is a number that the next dump gives to another one. */
	if (block->kind[c->at] == STORE_INSTANCE && block->embedded[c->at])
		return false;
	return heap_is_counted(c->side->heap, block, c->at);
}

/* Makes `at` a real object, the one there or a later one. */
static int settle(struct cursor *c, struct hdb_error *err)
{
	while (!c->has_ended) {
		if (c->at < c->count) {
			if (is_real(c))
				return HDB_OK;
			c->at++;
		} else if (c->block_no < heap_block_count(c->side->heap)) {
			TRY_ERRORS(load_block(c, err));
		} else {
			c->has_ended = true;
		}
	}
	return HDB_OK;
}

static int rewind_cursor(struct cursor *c, struct hdb_error *err)
{
	c->block_no = c->at = c->count = 0;
	c->has_ended = false;
	return settle(c, err);
}

static int open_cursor(struct cursor *c, const struct session *side, struct hdb_error *err)
{
	c->side = side;
	return rewind_cursor(c, err);
}

/* The class by which an object is known: for a class object the one it stands for. */
static uint32_t class_no_of(const struct cursor *c)
{
	return c->block.kind[c->at] == STORE_CLASS ? (uint32_t)c->block.length[c->at] :
						     c->block.class_no[c->at];
}

/* Whether the objects at both cursors, which have one ID, are the same by all that can be seen. */
static bool is_same(const struct cursor *a, const struct cursor *b)
{
	const uint8_t kind = a->block.kind[a->at];

	if (kind != b->block.kind[b->at] ||
	    (kind != STORE_CLASS && a->block.length[a->at] != b->block.length[b->at]))
		return false;
	return strcmp(heap_class_name(a->side->heap, class_no_of(a)),
		      heap_class_name(b->side->heap, class_no_of(b))) == 0;
}

/* What the next step of the walk over both finds. */
struct step {
	/* an object of that side that the other lacks, or both have another at the ID */
	bool has[2];
	bool is_same; /* the same object in both */
};

static bool look(const struct diff_objects *o, struct step *step)
{
	const struct cursor *a = &o->sides[0], *b = &o->sides[1];

	*step = (struct step){ 0 };
	if (a->has_ended && b->has_ended)
		return false;
	step->has[0] = !a->has_ended && (b->has_ended || a->ids[a->at] <= b->ids[b->at]);
	step->has[1] = !b->has_ended && (a->has_ended || b->ids[b->at] <= a->ids[a->at]);
	step->is_same = step->has[0] && step->has[1] && is_same(a, b);
	return true;
}

static int advance(struct diff_objects *o, const struct step *step, struct hdb_error *err)
{
	for (unsigned s = 0; s < 2; s++) {
		if (!step->has[s])
			continue;
		o->sides[s].at++;
		TRY(settle(&o->sides[s], err));
	}
	return HDB_OK;
}

/* ---- counting ---- */

static bool is_reachable(const struct diff_objects *o, unsigned s)
{
	return o->sides[s].reachable[o->sides[s].at];
}

/* A same object that became reachable, or unreachable, is new or gone as well. */
static bool is_changed(const struct diff_objects *o, const struct step *step, unsigned s)
{
	return step->has[s] && is_reachable(o, s) && !(step->is_same && is_reachable(o, 1 - s));
}

static uint32_t ix_of(const struct cursor *c)
{
	return c->block.first_ix + c->at;
}

static int count_all(struct query *q, struct diff_objects *o, const struct diff_pairs *pairs,
		     struct counts *n, struct hdb_error *err)
{
	struct step step;

	*n = (struct counts){ 0 };
	base_stage(q->work, "comparing objects", q->heap->object_count, "objects");
	while (look(o, &step)) {
		n->same += step.is_same;
		n->other += step.has[0] && step.has[1] && !step.is_same;
		for (unsigned s = 0; s < 2; s++) {
			const struct cursor *c = &o->sides[s];

			n->objects[s] += step.has[s];
			if (!is_changed(o, &step, s))
				continue;
			n->changed[s]++;
			n->bytes[s] += c->block.shallow[c->at];
		}
		if (pairs && step.is_same && is_reachable(o, 0) && is_reachable(o, 1))
			TRY(pairs->take(pairs->ctx, ix_of(&o->sides[0]), ix_of(&o->sides[1]), err));
		TRY(advance(o, &step, err));
	}
	return HDB_OK;
}

static bool are_stable(const struct counts *n)
{
	const uint64_t both = n->same + n->other;
	const uint64_t least = n->objects[0] < n->objects[1] ? n->objects[0] : n->objects[1];

	return n->other <= both / 100 * STABLE_OTHER + both % 100 * STABLE_OTHER / 100 &&
	       both >= least / 100 * STABLE_SHARED;
}

/* Counts what both dumps have, and says whether IDs are stable. */
static int compare_ids(struct query *q, struct diff *d, const struct diff_pairs *pairs,
		       struct counts *n, struct hdb_error *err)
{
	struct diff_objects *o = d->objects;

	TRY(open_cursor(&o->sides[0], &d->sides[0], err));
	TRY(open_cursor(&o->sides[1], &d->sides[d->side_count - 1], err));
	TRY(count_all(q, o, pairs, n, err));
	query_fact(q, "ids_stable", are_stable(n));
	query_fact(q, "ids_same", n->same);
	query_fact(q, "ids_other", n->other);
	return HDB_OK;
}

int diff_match_ids(struct query *q, struct diff *d, const struct diff_pairs *pairs, bool *match,
		   struct hdb_error *err)
{
	struct counts n = { 0 };

	TRY(BASE_ALLOC(d->objects, 1, "a comparison", err));
	TRY(compare_ids(q, d, pairs, &n, err));
	*match = n.same / MATCHED_OTHERS >= n.other && n.same > 0;
	return HDB_OK;
}

int diff_objects_open(struct query *q, struct diff *d, struct hdb_error *err)
{
	struct diff_objects *o;
	struct counts n = { 0 };

	TRY(BASE_ALLOC(d->objects, 1, "a comparison", err));
	o = d->objects;
	TRY(compare_ids(q, d, NULL, &n, err));
	for (unsigned s = 0; s < 2; s++)
		TRY(rewind_cursor(&o->sides[s], err));
	o->pending = -1;
	if (!are_stable(&n) && !query_option(q, "trust-ids")) {
		q->total = 0;
		query_cut(q, NULL,
			  "all objects: their IDs do not look stable, so that IDs do not tell "
			  "which are new or gone (--trust-ids lists them as if they did)");
		return HDB_OK;
	}

	if (!d->only)
		q->total = n.changed[0] + n.changed[1];
	query_fact(q, "new_objects", n.changed[1]);
	query_fact(q, "new_shallow", n.bytes[1]);
	query_fact(q, "gone_objects", n.changed[0]);
	query_fact(q, "gone_shallow", n.bytes[0]);
	return HDB_OK;
}

/* ---- rows ---- */

static bool is_wanted(const struct diff *d, unsigned s)
{
	const struct cursor *c = &d->objects->sides[s];

	return !d->only || base_glob(d->only, heap_class_name(c->side->heap, class_no_of(c)));
}

static int object_row(struct query *q, struct diff *d, unsigned s, struct hdb_error *err)
{
	const struct cursor *c = &d->objects->sides[s];
	const char *name = heap_class_name(c->side->heap, class_no_of(c));
	uint64_t retained;

	query_set(q, DIFF_ID, c->ids[c->at]);
	query_set(q, DIFF_SHALLOW, c->block.shallow[c->at]);
	query_lend_text(q, DIFF_STATUS, s ? "new" : "gone");
	TRY(derive_retained(c->side->derive, c->block.first_ix + c->at, &retained, err));
	query_set(q, DIFF_RETAINED, retained);
	if (c->block.kind[c->at] == STORE_CLASS) {
		query_format(q, DIFF_NAME, "class %s", name);
		return HDB_OK;
	}
	query_lend_text(q, DIFF_NAME, name);
	return HDB_OK;
}

int diff_objects_row(struct query *q, struct diff *d, size_t no, struct hdb_error *err)
{
	struct diff_objects *o = d->objects;
	struct step step;

	(void)no;
	while (look(o, &step)) {
		/* The gone object of an ID first, then the new one that has it now. */
		const int side = o->pending == 1 ? -1 :
				 is_changed(o, &step, 0) && is_wanted(d, 0) && o->pending != 0 ? 0 :
				 is_changed(o, &step, 1) && is_wanted(d, 1)                    ? 1 :
												 -1;

		if (side >= 0) {
			o->pending = side;
			return object_row(q, d, (unsigned)side, err);
		}
		o->pending = -1;
		TRY(advance(o, &step, err));
	}
	return HDB_END;
}

void diff_objects_close(struct diff *d)
{
	free(d->objects);
}
