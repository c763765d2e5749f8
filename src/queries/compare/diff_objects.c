/*
 * queries/compare/diff_objects.c - diff by object: objects that are new in the newest dump, and
 * objects of the oldest dump that are gone.
 *
 * IDs in HPROF files are addresses, which identify objects only until a garbage collection moves
 * them. So the query first checks that the IDs in both dumps belong to objects of the same class
 * and length. It reads both dumps in parallel in order of ID, which requires no memory per object.
 */
#include "analysis/groups.h"
#include "base/glob.h"
#include "heap/heap_database.h"
#include "queries/compare/diff.h"
#include "query/coverage.h"

#include <assert.h>
#include <string.h>

/*
 * IDs are stable if at most STABLE_OTHER percent of the IDs in both dumps belong to different
 * objects, and at least STABLE_SHARED percent of the smaller dump's IDs are in both. A few equal
 * objects prove nothing, because compacting collectors leave some objects at the start of a region
 * in place.
 */
#define STABLE_OTHER 2
#define STABLE_SHARED 50
/*
 * IDs are reliable enough to match groups of objects if there are this many equal objects for each
 * different one. Compaction leaves old objects in place, but it is no coincidence if many objects
 * of one group have the IDs, classes and lengths of objects of another.
 */
#define MATCHED_OTHERS 5

/* Number of blocks between two checks of the cancel flag. */
#define STEP_BLOCKS 16

/* The objects of one dump in order of ID. */
struct cursor {
	const struct session *side;
	struct heap_block block;
	uint64_t ids[STORE_BLOCK_OBJECTS];
	uint8_t reachable[STORE_BLOCK_OBJECTS];
	uint32_t block_no, at, count;
	bool has_ended;
};

struct counts {
	/* number of IDs in both dumps with the same object, and with different objects */
	uint64_t same, other;
	uint64_t objects[2]; /* indexed by side: number of objects compared */
	/* number and size of the reachable objects that are gone (side 0) or new (side 1) */
	uint64_t changed[2], bytes[2];
};

/* State of this part. */
struct objects {
	struct cursor sides[2]; /* the oldest and the newest dump */
	/* side of the last row, if the cursor of this side must still be advanced; otherwise -1 */
	int pending;
};

/* ---- reading ---- */

static int load_block(struct cursor *c, struct hdb_error *err)
{
	const struct session *side = c->side;

	TRY(heap_read_block(side->heap, c->block_no, &c->block, err));
	TRY(heap_read_ids(side->heap, c->block_no, c->ids, &c->count, err));
	TRY(derive_reachable_block(side->derive, c->block_no, c->reachable, err));
	if (c->count != c->block.count)
		return hdb_fail(
			err, HDB_ECORRUPT,
			"%s: damaged: the number of IDs in a block differs from its number of "
			"objects; import the dump again",
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

	/* The ID of a flat value is synthetic; in the next dump it may belong to another value. */
	if (block->kind[c->at] == STORE_INSTANCE && block->embedded[c->at])
		return false;
	return heap_is_counted(c->side->heap, block, c->at);
}

/*
 * Advances the cursor to the next object to compare, unless the cursor is already at such an
 * object.
 */
static int settle(struct cursor *c, struct hdb_error *err)
{
	while (!c->has_ended) {
		if (c->at < c->count) {
			if (is_real(c))
				return HDB_OK;
			c->at++;
		} else if (c->block_no < heap_block_count(c->side->heap)) {
			TRY(load_block(c, err));
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

/* Returns the class of an object; for a class object, the class that it represents. */
static uint32_t class_no_of(const struct cursor *c)
{
	return c->block.kind[c->at] == STORE_CLASS ? (uint32_t)c->block.length[c->at] :
						     c->block.class_no[c->at];
}

/* Returns whether the objects at both cursors, with equal IDs, seem to be the same. */
static bool is_same(const struct cursor *a, const struct cursor *b)
{
	const uint8_t kind = a->block.kind[a->at];

	assert(a->ids[a->at] == b->ids[b->at]);
	if (kind != b->block.kind[b->at] ||
	    (kind != STORE_CLASS && a->block.length[a->at] != b->block.length[b->at]))
		return false;
	return strcmp(heap_class_name(a->side->heap, class_no_of(a)),
		      heap_class_name(b->side->heap, class_no_of(b))) == 0;
}

/* One step of the walk over both dumps. */
struct step {
	/* indexed by side: whether this dump has an object with this ID */
	bool has[2];
	bool is_same; /* whether both dumps have the same object */
};

static bool look(const struct objects *o, struct step *step)
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

static int advance(struct objects *o, const struct step *step, struct hdb_error *err)
{
	for (unsigned s = 0; s < 2; s++) {
		if (!step->has[s])
			continue;
		assert(!o->sides[s].has_ended);
		o->sides[s].at++;
		TRY(settle(&o->sides[s], err));
	}
	return HDB_OK;
}

/* ---- counting ---- */

static bool is_reachable(const struct objects *o, unsigned s)
{
	const struct cursor *c = &o->sides[s];

	assert(!c->has_ended && c->at < c->count);
	return c->reachable[c->at];
}

/*
 * Returns whether an object is listed. An object that became reachable counts as new, and an object
 * that became unreachable counts as gone.
 */
static bool is_changed(const struct objects *o, const struct step *step, unsigned s)
{
	return step->has[s] && is_reachable(o, s) && !(step->is_same && is_reachable(o, 1 - s));
}

static uint32_t ix_of(const struct cursor *c)
{
	return c->block.first_ix + c->at;
}

static int count_all(struct query *q, struct objects *o, const struct diff_pairs *pairs,
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

/* Reads both dumps, counts the IDs that they share, and sets the facts about IDs. */
static int compare_ids(struct query *q, struct objects *o, const struct diff_pairs *pairs,
		       struct counts *n, struct hdb_error *err)
{
	const struct diff *d = q->state;

	TRY(open_cursor(&o->sides[0], &d->sides[0], err));
	TRY(open_cursor(&o->sides[1], &d->sides[d->side_count - 1], err));
	TRY(count_all(q, o, pairs, n, err));
	query_fact(q, "ids_stable", are_stable(n));
	query_fact(q, "ids_same", n->same);
	query_fact(q, "ids_other", n->other);
	return HDB_OK;
}

int diff_match_ids(struct query *q, const struct diff_pairs *pairs, bool *match,
		   struct hdb_error *err)
{
	BASE_FREED struct objects *o = NULL;
	struct counts n = { 0 };

	TRY(BASE_ALLOC(o, 1, "a comparison", err));
	TRY(compare_ids(q, o, pairs, &n, err));
	*match = n.same / MATCHED_OTHERS >= n.other && n.same > 0;
	return HDB_OK;
}

static int open_objects(struct query *q, struct diff *d, struct hdb_error *err)
{
	struct objects *o = d->part;
	struct counts n = { 0 };

	TRY(compare_ids(q, o, NULL, &n, err));
	for (unsigned s = 0; s < 2; s++)
		TRY(rewind_cursor(&o->sides[s], err));
	o->pending = -1;
	if (!are_stable(&n) && !query_option(q, "trust-ids")) {
		q->total = 0;
		query_cut(q, NULL,
			  "all objects, because object IDs do not appear to be stable; use "
			  "--trust-ids to list new and missing objects anyway");
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
	const struct cursor *c = &((const struct objects *)d->part)->sides[s];

	return !d->only || base_glob(d->only, heap_class_name(c->side->heap, class_no_of(c)));
}

static int object_row(struct query *q, struct diff *d, unsigned s, struct hdb_error *err)
{
	const struct cursor *c = &((const struct objects *)d->part)->sides[s];
	const char *name = heap_class_name(c->side->heap, class_no_of(c));
	uint64_t retained;

	assert(!c->has_ended && c->at < c->count);
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

static int next_row(struct query *q, struct diff *d, size_t no, struct hdb_error *err)
{
	struct objects *o = d->part;
	struct step step;

	(void)no;
	while (look(o, &step)) {
		/* If both dumps have an object with this ID, the gone object comes first. */
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

const struct diff_part diff_objects = { sizeof(struct objects), open_objects, next_row, NULL };
