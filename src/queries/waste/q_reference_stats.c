/*
 * queries/waste/q_reference_stats.c - the reference-stats query: soft, weak, phantom and final
 * references by class: their number, their referents, and the objects that only these references
 * hold.
 */
#include "analysis/reference_list.h"
#include "heap/heap_database.h"
#include "queries/queries.h"

/* Maximum number of bytes in the names of columns. */
#define COLUMNS_MAX_BYTES 256

#include <queries/waste/q_reference_stats.query.h>

enum by { BY_CLASS, BY_REFERENT, BY_STRENGTH };

struct row {
	uint32_t class_no; /* HEAP_NONE means no class */
	uint32_t strength;
	uint64_t count, cleared, referents, only, only_bytes, only_retained;
	uint64_t native, retained_native;
};

struct stats {
	struct analysis_reference_list list;
	/* struct base_sort_key: references sorted by row, then by referent */
	struct base_big keys, spare;
	uint64_t key_count;
	struct base_vec rows; /* struct row */
	/* uint32_t, for the current row: referents that only its references hold */
	struct base_vec members;
	enum by by;
	bool has_retained, has_native;
	uint64_t unreachable;  /* number of references */
	struct base_big idom;  /* uint32_t */
	struct base_big state; /* uint32_t: the last row and state of each object; see cover() */
};

/* ---- retained size: the topmost objects of a set in the dominator tree ---- */

/*
 * State of an object for row number n (from 1): the object only dominates members, it is a member
 * of the row's set, or it is known to be a member or dominated by a member.
 */
enum { CLEAR = 0, MEMBER = 1, COVERED = 2, STATES = 3 };

static uint32_t state_of(uint32_t row, uint32_t state)
{
	return row * STATES + state;
}

/*
 * Sets the state of a member and of all objects that dominate it. Each object gets its state once
 * per row, so the walks of a row take linear time.
 */
static int cover(struct query *q, struct stats *s, uint32_t row, uint32_t ix, struct hdb_error *err)
{
	const uint32_t *idom = s->idom.data;
	uint32_t *state = s->state.data;
	const uint32_t clear = state_of(row, CLEAR), member = state_of(row, MEMBER);
	const uint32_t covered = state_of(row, COVERED);
	uint32_t top = HEAP_NONE, steps = 0, v, given = covered;

	for (v = ix; v != HEAP_NONE && state[v] != clear && state[v] != covered; v = idom[v]) {
		if (state[v] == member)
			top = v;
		if (++steps > q->heap->object_count)
			return heap_damaged(q->heap, STORE_DOMINATORS, ix,
					    "dominators form a circle", err);
	}
	/*
	 * Everything below a covered object is covered too. Otherwise, only the objects from the
	 * topmost member down are covered.
	 */
	if (v != HEAP_NONE && state[v] == covered)
		top = HEAP_NONE;
	for (v = ix; v != HEAP_NONE && state[v] != clear && state[v] != covered; v = idom[v]) {
		state[v] = given;
		if (v == top)
			given = clear;
	}
	return HDB_OK;
}

/* Adds the memory that the members of row number `no` retain. */
static int add_retained(struct query *q, struct stats *s, uint32_t no, struct row *row,
			struct hdb_error *err)
{
	const uint32_t *idom = s->idom.data, *members = s->members.data;
	const size_t count = s->members.count;
	uint32_t *state = s->state.data;

	for (size_t i = 0; i < count; i++)
		state[members[i]] = state_of(no, MEMBER);
	for (size_t i = 0; i < count; i++) {
		const uint32_t above = idom[members[i]];
		uint64_t bytes = 0, native = 0;

		if (above == members[i])
			continue;
		TRY(cover(q, s, no, members[i], err));
		if (above != HEAP_NONE && state[above] == state_of(no, COVERED))
			continue;
		TRY(derive_retained(q->derive, members[i], &bytes, err));
		row->only_retained += bytes;
		if (s->has_native)
			TRY(derive_retained_native(q->derive, members[i], &native, err));
		row->retained_native += native;
	}
	return HDB_OK;
}

static int load_dominators(struct query *q, struct stats *s, struct hdb_error *err)
{
	const uint64_t n = q->heap->object_count;

	TRY(derive_need(q->derive, STORE_RETAINED, err));
	TRY(base_big_alloc(q->work, &s->idom, n * 4 + 4, "dominators", err));
	TRY(base_big_alloc(q->work, &s->state, n * 4 + 4, "a set of objects", err));
	for (uint32_t block = 0; block < heap_block_count(q->heap); block++)
		TRY(derive_dominator_block(
			q->derive, block,
			(uint32_t *)s->idom.data + (uint64_t)block * STORE_BLOCK_OBJECTS, err));
	return HDB_OK;
}

/* ---- rows ---- */

/* Returns the sort key of rows: the class, then the strength. */
static int row_key(struct query *q, const struct stats *s, const struct analysis_reference *ref,
		   uint64_t *out, struct hdb_error *err)
{
	uint32_t class_no = ref->class_no;
	struct heap_object object;

	if (s->by == BY_STRENGTH || (s->by == BY_REFERENT && ref->referent == HEAP_NONE)) {
		class_no = HEAP_NONE;
	} else if (s->by == BY_REFERENT) {
		TRY(heap_object(q->heap, ref->referent, &object, err));
		class_no = object.class_no;
	}
	*out = (uint64_t)class_no << 3 | ref->strength;
	return HDB_OK;
}

/* Sorts the counted references by row, then by referent. */
static int sort_refs(struct query *q, struct stats *s, struct hdb_error *err)
{
	const struct analysis_reference *refs = s->list.refs.data;
	const uint64_t bytes = (s->list.count + 1) * sizeof(struct base_sort_key);
	struct base_sort_key *keys;

	TRY(base_big_alloc(q->work, &s->keys, bytes, "references", err));
	TRY(base_big_alloc(q->work, &s->spare, bytes, "references", err));
	keys = s->keys.data;
	for (uint64_t i = 0; i < s->list.count; i++) {
		struct heap_object object;
		bool is_reachable;

		if (q->heap->filter.is_on) {
			TRY(heap_object(q->heap, refs[i].ix, &object, err));
			if (heap_leaves_out(q->heap, object.heap_no))
				continue;
		}
		is_reachable = analysis_reached_of(&s->list, refs[i].ix) != ANALYSIS_UNREACHABLE;
		s->unreachable += !is_reachable;
		if (query_counts(q, is_reachable))
			keys[s->key_count++] =
				(struct base_sort_key){ refs[i].referent, (uint32_t)i };
	}
	base_sort_keys(keys, s->spare.data, s->key_count);
	for (uint64_t i = 0; i < s->key_count; i++)
		TRY(row_key(q, s, &refs[keys[i].node], &keys[i].key, err));
	base_sort_keys(keys, s->spare.data, s->key_count);
	return HDB_OK;
}

/* Builds one row from keys [from, to). */
static int make_row(struct query *q, struct stats *s, uint64_t from, uint64_t to,
		    struct hdb_error *err)
{
	const struct analysis_reference *refs = s->list.refs.data;
	const struct base_sort_key *keys = s->keys.data;
	struct row row = {
		.class_no = (uint32_t)(keys[from].key >> 3),
		.strength = keys[from].key & 7,
		.count = to - from,
	};
	uint32_t last = HEAP_NONE;

	s->members.count = 0;
	for (uint64_t i = from; i < to; i++) {
		const uint32_t ix = refs[keys[i].node].referent;
		struct heap_object object;
		uint64_t native = 0;

		row.cleared += ix == HEAP_NONE;
		if (ix == HEAP_NONE || ix == last)
			continue;
		last = ix;
		row.referents++;
		/* an unreachable object does not have a holder */
		if (analysis_reached_of(&s->list, ix) < analysis_reached_by(row.strength) ||
		    analysis_reached_of(&s->list, ix) == ANALYSIS_UNREACHABLE)
			continue;
		TRY(heap_object(q->heap, ix, &object, err));
		row.only++;
		row.only_bytes += object.shallow_bytes;
		if (s->has_native)
			TRY(derive_native_of(q->derive, ix, &native, err));
		row.native += native;
		TRY(base_vec_push(&s->members, &ix, sizeof(ix), err));
	}
	if (s->has_retained)
		TRY(add_retained(q, s, (uint32_t)s->rows.count + 1, &row, err));
	return base_vec_push(&s->rows, &row, sizeof(row), err);
}

/* Sorts by held bytes and number of references, largest first, then by class. */
BASE_ORDER(compare_rows, struct row, BASE_DOWN(only_retained), BASE_DOWN(only_bytes),
	   BASE_DOWN(count), BASE_UP(class_no), BASE_UP(strength))

static int make_rows(struct query *q, struct stats *s, struct hdb_error *err)
{
	const struct base_sort_key *keys = s->keys.data;

	for (uint64_t from = 0, to; from < s->key_count; from = to) {
		for (to = from + 1; to < s->key_count && keys[to].key == keys[from].key; to++)
			;
		TRY(make_row(q, s, from, to, err));
		TRY(base_step(q->work, to, err));
	}
	base_vec_sort(&s->rows, sizeof(struct row), compare_rows);
	q->total = s->rows.count;
	return HDB_OK;
}

/* ---- facts ---- */

/* Number and size of objects by the strength of the references that reach them. */
struct levels {
	const struct heap *heap;
	const struct analysis_reference_list *list;
	uint64_t count[ANALYSIS_LEVELS], bytes[ANALYSIS_LEVELS];
};

static int add_levels(void *ctx, const struct heap_block *block, struct hdb_error *err)
{
	struct levels *l = ctx;

	(void)err;
	for (uint32_t i = 0; i < block->count; i++) {
		const enum analysis_reached level =
			analysis_reached_of(l->list, block->first_ix + i);

		/* Objects that the dump does not contain are not counted. */
		if (!heap_is_counted(l->heap, block, i))
			continue;
		l->count[level]++;
		l->bytes[level] += block->shallow[i];
	}
	return HDB_OK;
}

static int set_facts(struct query *q, const struct stats *s, struct hdb_error *err)
{
	static const struct {
		const char *objects, *shallow;
	} names[] = {
		[ANALYSIS_STRONGLY] = { "strong_objects", "strong_shallow" },
		[ANALYSIS_SOFTLY] = { "soft_objects", "soft_shallow" },
		[ANALYSIS_WEAKLY] = { "weak_objects", "weak_shallow" },
		[ANALYSIS_FINALLY] = { "finalizer_objects", "finalizer_shallow" },
		[ANALYSIS_PHANTOMLY] = { "phantom_objects", "phantom_shallow" },
	};
	struct levels levels = { .heap = q->heap, .list = &s->list };

	TRY(heap_each_block(q->heap, NULL, add_levels, &levels, err));
	query_report_unreachable(q, levels.count[ANALYSIS_UNREACHABLE],
				 levels.bytes[ANALYSIS_UNREACHABLE]);
	query_fact(q, "references", s->key_count);
	query_fact(q, "unreachable_references", s->unreachable);
	for (unsigned i = 0; i < BASE_COUNT(names); i++) {
		query_fact(q, names[i].objects, levels.count[i]);
		query_fact(q, names[i].shallow, levels.bytes[i]);
	}
	return HDB_OK;
}

/* ---- the query ---- */

static int read_options(struct query *q, struct stats *s, struct hdb_error *err)
{
	char text[COLUMNS_MAX_BYTES];

	s->has_retained = !query_option(q, "no-retained");
	s->by = (enum by)query_choice(q, "by");
	TRY(derive_has_native(q->derive, &s->has_native, err));
	(void)snprintf(text, sizeof(text),
		       "%sstrength,objects,cleared,referents,only,only_shallow%s%s%s",
		       s->by == BY_STRENGTH ? "" : "name,", s->has_retained ? ",only_retained" : "",
		       s->has_native ? ",only_native" : "",
		       s->has_native && s->has_retained ? ",only_retained_native" : "");
	query_choose(q, text);
	return HDB_OK;
}

static int open_stats(struct query *q, struct hdb_error *err)
{
	struct stats *s = q->state;

	TRY(read_options(q, s, err));
	TRY(analysis_references_read(&q->session, &s->list, err));
	TRY(analysis_references_levels(&q->session, &s->list, NULL, err));
	TRY(sort_refs(q, s, err));
	if (s->has_retained)
		TRY(load_dominators(q, s, err));
	TRY(set_facts(q, s, err));
	return make_rows(q, s, err);
}

static int stat_row(struct query *q, size_t no, struct hdb_error *err)
{
	struct stats *s = q->state;
	const struct row *row = base_vec_at(&s->rows, struct row, no);
	const char *name = "<none>";

	(void)err;
	if (row->class_no < q->heap->class_count)
		name = heap_class_name(q->heap, row->class_no);
	query_lend_text(q, NAME, name);
	query_set(q, COUNT, row->count);
	query_set_text(q, STRENGTH, analysis_strength_name((uint8_t)row->strength));
	/* Portable heap dumps do not record which reference is the referent. */
	if (q->heap->is_phd)
		return HDB_OK;
	query_set(q, CLEARED, row->cleared);
	query_set(q, REFERENTS, row->referents);
	query_set(q, ONLY, row->only);
	query_set(q, ONLY_SHALLOW, row->only_bytes);
	query_set(q, ONLY_RETAINED, row->only_retained);
	query_set(q, NATIVE, row->native);
	query_set(q, RETAINED_NATIVE, row->retained_native);
	return HDB_OK;
}

QUERY_DEFINE(reference_stats,
	     QUERY_STATE(struct stats, list, keys, spare, idom, state, rows, members),
	     .open = open_stats, .row = stat_row);
