/*
 * queries/triage/triage_scan.c - measurements that need a pass over all objects and the values of
 * some.
 *
 * The pass reads blocks in order and only collects the objects whose values are needed, because
 * values are read from the dump. Of a class with more than SAMPLES_MAX objects, an even sample of
 * that size represents all.
 */
#include "analysis/collection_fill.h"
#include "analysis/contents.h"
#include "base/base_text.h"
#include "heap/heap_database.h"
#include "heap/known.h"
#include "queries/triage/triage.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Among arrays of at least this length, equally long ones are compared by retained size. There may
 * be millions of shorter ones.
 */
#define LONG_ARRAY 1000u
/* Maximum number of objects whose values are read, for each line of the table: a second. */
#define SAMPLES_MAX 500000u
/* Maximum number of steps up a reach tree, or down to a referent. */
#define CHAIN_MAX 32u
/* A hash map is slow if it has at least this many elements and this share of them shares slots. */
#define COLLIDING_ELEMENTS 1000u
#define COLLIDING_SHARE 0.7
/* Blocks between two checks of the cancel flag. */
#define STEP_BLOCKS 16u
#define STEP_OBJECTS 4096u

/* Which values of a class are examined. */
struct line {
	const char *rule;
	/* examines an object; NULL: triage_locals.c examines all of them */
	int (*look)(struct triage *t, const struct line *line, uint32_t ix, struct hdb_error *err);
	const char *class_name, *field, *other;
	enum triage_measure_no measure;
	bool with_sub;
};

/* Maximum number of lines in values.rules, which are bits of a word. */
#define LINES_MAX 32u

struct collected {
	struct base_vec ixs; /* uint32_t: objects of one line */
	uint64_t seen, whole;
};

struct scan {
	struct triage *t;
	uint32_t *line_bits; /* by class: bits of lines of values.rules */
	struct collected *lines;
	struct triage_fields *fields;
	struct heap_block *block;
	uint8_t reachable[STORE_BLOCK_OBJECTS];
};

/* ---- one object ---- */

/* Keeps the object that retains most. */
static int look_largest(struct triage *t, const struct line *line, uint32_t ix,
			struct hdb_error *err)
{
	struct triage_figure *f = &t->figures[line->measure];
	uint64_t bytes;

	TRY(derive_retained(t->q->derive, ix, &bytes, err));
	if (bytes > f->bytes) {
		f->bytes = bytes;
		f->ix = ix;
		f->count = 1;
	}
	return HDB_OK;
}

static int add_retained(struct triage *t, struct triage_figure *f, uint32_t ix,
			struct hdb_error *err)
{
	uint64_t bytes;

	TRY(derive_retained(t->q->derive, ix, &bytes, err));
	f->count++;
	f->bytes += bytes;
	return HDB_OK;
}

/* Keeps the object with the largest number at the path `field`. */
static int look_longest(struct triage *t, const struct line *line, uint32_t ix,
			struct hdb_error *err)
{
	struct triage_figure *f = &t->figures[line->measure];
	int64_t length;
	const int r = heap_path_number(t->q->heap, ix, line->field, &length, err);

	if (r != HDB_OK || length <= 0 || (uint64_t)length <= f->count)
		return r < 0 ? r : HDB_OK;
	/* A list of n elements has n nodes, so larger numbers are damage. */
	f->count = (uint64_t)length < t->q->heap->object_count ? (uint64_t)length :
								 t->q->heap->object_count;
	f->ix = ix;
	return derive_retained(t->q->derive, ix, &f->bytes, err);
}

/* Counts objects whose field is null, and what they retain. */
static int look_null(struct triage *t, const struct line *line, uint32_t ix, struct hdb_error *err)
{
	struct triage_figure *f = &t->figures[line->measure];
	struct heap_value value;

	TRY_FOUND(heap_path_value(t->q->heap, ix, line->field, &value, err));
	if (value.bits)
		return HDB_OK;
	f->ix = ix;
	return add_retained(t, f, ix, err);
}

/* Reads a signed number, 0 if it is negative. */
static uint64_t as_size(const struct heap_value *value)
{
	const int64_t n =
		value->type == HPROF_INT ? (int32_t)(uint32_t)value->bits : (int64_t)value->bits;

	return n > 0 ? (uint64_t)n : 0;
}

/* Adds up the field. */
static int look_sum(struct triage *t, const struct line *line, uint32_t ix, struct hdb_error *err)
{
	struct triage_figure *f = &t->figures[line->measure];
	struct heap_value value;
	uint64_t sum;

	f->is_outside = true;
	TRY_FOUND(heap_path_value(t->q->heap, ix, line->field, &value, err));
	f->count++;
	if (__builtin_add_overflow(f->bytes, as_size(&value), &sum))
		sum = UINT64_MAX;
	f->bytes = sum;
	if (f->ix == HEAP_NONE)
		f->ix = ix;
	return HDB_OK;
}

/* Adds a large hash map whose elements share slots far more often than by chance. */
static int look_collisions(struct triage *t, const struct heap_object *object,
			   struct hdb_error *err)
{
	struct triage_figure *f = &t->figures[TRIAGE_COLLISIONS];
	struct analysis_measuring how;
	struct analysis_measure m;

	analysis_measuring_init(&t->q->session, false, true, &how);
	TRY_FOUND(analysis_measure(&t->q->session, &how, object, &m, err));
	if (!m.has_used || analysis_measure_collisions(&m) < COLLIDING_SHARE)
		return HDB_OK;
	if (m.size > f->class_count) {
		f->class_count = m.size;
		f->ix = object->ix;
		(void)snprintf(f->detail, sizeof(f->detail), "%s elements in %s slot%s",
			       base_number(m.size).text, base_number(m.used).text,
			       m.used == 1 ? "" : "s");
	}
	return add_retained(t, f, object->ix, err);
}

/*
 * Compares the number of elements in `field` with the length of the array in `other`: unused room
 * of collections that are at most half full. Empty ones are counted separately.
 */
static int look_fill(struct triage *t, const struct line *line, uint32_t ix, struct hdb_error *err)
{
	struct heap *heap = t->q->heap;
	struct heap_object object, array = { .length = 0 };
	struct heap_value value;
	struct triage_figure *f;
	uint64_t bytes;
	uint32_t array_ix;
	int found;

	TRY_FOUND(heap_path_value(heap, ix, line->field, &value, err));
	found = heap_path_object(heap, ix, line->other, &array_ix, err);
	TRY_ERRORS(found);
	TRY(heap_object(heap, ix, &object, err));
	if (found == HDB_OK)
		TRY(heap_object(heap, array_ix, &array, err));
	if (as_size(&value) >= COLLIDING_ELEMENTS)
		TRY(look_collisions(t, &object, err));
	if (!as_size(&value)) {
		uint32_t dominator = HEAP_NONE;

		/* The shared empty array of ArrayList belongs to nobody. */
		if (found == HDB_OK)
			TRY_ERRORS(derive_dominator(t->q->derive, array_ix, &dominator, err));
		bytes = object.shallow_bytes + (dominator == ix ? array.shallow_bytes : 0);
		f = &t->figures[TRIAGE_EMPTY];
	} else if (found == HDB_OK && as_size(&value) <= array.length / 2) {
		bytes = (array.length - as_size(&value)) * heap->layout.reference_bytes;
		f = &t->figures[TRIAGE_SPARSE];
	} else {
		return HDB_OK;
	}
	f->count++;
	f->bytes += bytes;
	if (f->class_no == HEAP_NONE)
		f->class_no = object.class_no;
	return HDB_OK;
}

/*
 * Checks whether the reference itself is on the strong path from a root to its referent, in
 * `field`; `other` is what retains.
 */
static int look_self(struct triage *t, const struct line *line, uint32_t ix, struct hdb_error *err)
{
	struct triage_figure *f = &t->figures[line->measure];
	uint32_t at, parent, value;

	TRY_FOUND(heap_path_object(t->q->heap, ix, line->field, &at, err));
	/* The entry itself may retain other entries of its bucket. */
	TRY_FOUND(heap_path_object(t->q->heap, ix, line->other, &value, err));
	for (unsigned steps = 0; steps < CHAIN_MAX && at != GRAPH_NONE; steps++) {
		if (at == ix) {
			f->ix = ix;
			return add_retained(t, f, value, err);
		}
		TRY(derive_reach(t->q->derive, true, at, &parent, err));
		if (parent == at)
			return HDB_OK;
		at = parent;
	}
	return HDB_OK;
}

#define RULE_rule(word, text, nth) .rule = text
#define RULE_measure(word, text, nth) .measure = TRIAGE_##word
#define RULE_class(word, text, nth) .with_sub = true, .class_name = text
#define RULE_only(word, text, nth) .class_name = text
#define RULE_look(word, text, nth) .look = look_##word
#define RULE_field(word, text, nth) .field = text
#define RULE_other(word, text, nth) .other = text
#define look_locals NULL

static const struct line values[] = {
#include <queries/triage/values.rules.h>
};
#define LINES (sizeof(values) / sizeof(values[0]))
_Static_assert(LINES <= LINES_MAX, "lines are bits of a word");

/* ---- the pass ---- */

static int look_at_array(struct scan *s, uint32_t i, struct hdb_error *err)
{
	struct heap_block *b = s->block;
	const bool is_primitive = b->kind[i] == STORE_PRIMITIVE_ARRAY;
	struct triage_figure *f =
		&s->t->figures[is_primitive ? TRIAGE_BIG_PRIMITIVE : TRIAGE_BIG_ARRAY];

	if (is_primitive && b->shallow[i] > f->bytes) {
		f->count = 1;
		f->bytes = b->shallow[i];
		f->ix = b->first_ix + i;
	} else if (!is_primitive && (b->length[i] > f->count ||
				     (b->length[i] == f->count && f->count >= LONG_ARRAY))) {
		uint64_t bytes;
		const int r = derive_retained(s->t->q->derive, b->first_ix + i, &bytes, err);

		if (r != HDB_OK || (b->length[i] == f->count && bytes <= f->bytes))
			return r;
		f->count = b->length[i];
		f->bytes = bytes;
		f->ix = b->first_ix + i;
	}
	return HDB_OK;
}

/* Whether all objects of a line are examined, however many there are. */
static bool takes_all(const struct line *line)
{
	return !line->look || line->look == look_largest || line->look == look_longest;
}

static int collect(struct scan *s, uint32_t ix, uint32_t lines, struct hdb_error *err)
{
	for (; lines; lines &= lines - 1) {
		struct collected *c = &s->lines[__builtin_ctz(lines)];
		const uint64_t at = c->seen++;

		if (c->whole > SAMPLES_MAX && !takes_all(&values[c - s->lines]) &&
		    at * SAMPLES_MAX / c->whole == (at + 1) * SAMPLES_MAX / c->whole)
			continue;
		TRY_ERRORS(base_vec_push(&c->ixs, &ix, sizeof(ix), err));
	}
	return HDB_OK;
}

static int scan_block(struct scan *s, uint32_t block_no, struct hdb_error *err)
{
	struct triage_figure *weak = &s->t->figures[TRIAGE_WEAK_ONLY];
	const struct heap_block *b = s->block;

	TRY(heap_read_block(s->t->q->heap, block_no, s->block, err));
	TRY(derive_reachable_block(s->t->q->derive, block_no, s->reachable, err));
	for (uint32_t i = 0; i < b->count; i++) {
		const uint32_t lines = s->line_bits[b->class_no[i]];
		const uint32_t ix = b->first_ix + i;
		uint32_t parent;

		if (!s->reachable[i] || ix == HEAP_BOOT_LOADER || b->kind[i] == HEAP_LEFT_OUT)
			continue;
		TRY(derive_reach(s->t->q->derive, true, ix, &parent, err));
		if (parent == ix) {
			weak->count++;
			weak->bytes += b->shallow[i];
		}
		if (b->kind[i] == STORE_OBJECT_ARRAY || b->kind[i] == STORE_PRIMITIVE_ARRAY)
			TRY(look_at_array(s, i, err));
		if (lines && b->kind[i] == STORE_INSTANCE)
			TRY(collect(s, ix, lines, err));
		if (b->kind[i] == STORE_INSTANCE)
			TRY(triage_fields_add(s->fields, ix, b->class_no[i], err));
	}
	return HDB_OK;
}

/* Decides which lines examine which classes, and counts the objects of these. */
static int choose_classes(struct scan *s, struct hdb_error *err)
{
	struct heap *heap = s->t->q->heap;
	BASE_FREED struct derive_total *totals = NULL;
	size_t count;

	TRY(derive_totals(s->t->q->derive, DERIVE_CLASS, &totals, &count, err));
	for (size_t i = 0; i < count; i++) {
		const uint32_t no = totals[i].no;

		if (heap_class(heap, no)->flags & STORE_CLASS_ARRAY)
			continue;
		for (size_t line = 0; line < LINES; line++) {
			const struct line *v = &values[line];
			const bool is_it =
				v->with_sub ? heap_has_superclass(heap, no, v->class_name) :
					      strcmp(heap_class_name(heap, no), v->class_name) == 0;

			if (!is_it)
				continue;
			s->line_bits[no] |= 1u << line;
			s->lines[line].whole += totals[i].count;
		}
	}
	return HDB_OK;
}

/* Scales what was added to a measurement since `before` by `weight`. */
static uint64_t scaled(uint64_t before, uint64_t now, double weight)
{
	const double more = (double)(now - before) * weight;

	return more < 1e18 ? before + (uint64_t)(more + 0.5) : UINT64_MAX;
}

static int look_at_line(struct scan *s, size_t line, struct hdb_error *err)
{
	const struct collected *c = &s->lines[line];
	struct triage_figure *figures = s->t->figures;
	uint64_t counts[TRIAGE_MEASURES], bytes[TRIAGE_MEASURES];

	if (!values[line].look)
		return triage_take_locals(s->t, &c->ixs, err);
	for (size_t m = 0; m < TRIAGE_MEASURES; m++) {
		counts[m] = figures[m].count;
		bytes[m] = figures[m].bytes;
	}
	for (size_t i = 0; i < c->ixs.count; i++) {
		TRY(values[line].look(s->t, &values[line], *base_vec_at(&c->ixs, uint32_t, i),
				      err));
		if (i % STEP_OBJECTS == 0)
			TRY(base_step(s->t->q->work, i, err));
	}
	for (size_t m = 0; m < TRIAGE_MEASURES && c->ixs.count < c->seen; m++) {
		const double weight = (double)c->seen / (double)c->ixs.count;

		if (figures[m].count == counts[m])
			continue;
		figures[m].count = scaled(counts[m], figures[m].count, weight);
		figures[m].bytes = scaled(bytes[m], figures[m].bytes, weight);
		figures[m].sampled += c->ixs.count;
	}
	return HDB_OK;
}

static void release_scan(struct scan *s)
{
	triage_fields_close(s->fields);
	for (size_t i = 0; s->lines && i < LINES; i++)
		base_vec_release(&s->lines[i].ixs);
	free(s->lines);
	free(s->line_bits);
	free(s->block);
}

int triage_take_scan(struct triage *t, struct hdb_error *err)
{
	struct heap *heap = t->q->heap;
	BASE_SCOPED(release_scan) struct scan s = { .t = t };

	TRY(BASE_ALLOC(s.block, 1, "a scan", err));
	TRY(BASE_ALLOC(s.line_bits, (size_t)heap->class_count + 1, "a scan", err));
	TRY(BASE_ALLOC(s.lines, LINES, "a scan", err));
	TRY(derive_need(t->q->derive, STORE_REACH_STRONG, err));
	TRY(choose_classes(&s, err));
	TRY(triage_fields_open(t, &s.fields, err));
	base_stage(t->q->work, "looking at objects", heap->object_count, "objects");
	for (uint32_t b = 0; b < heap_block_count(heap); b++) {
		TRY(scan_block(&s, b, err));
		if (b % STEP_BLOCKS == 0)
			TRY(base_step(t->q->work, s.block->first_ix, err));
	}
	base_stage(t->q->work, "looking at values", 0, "objects");
	for (size_t line = 0; line < LINES; line++)
		TRY(look_at_line(&s, line, err));
	return triage_fields_look(t, s.fields, err);
}

/* ---- strings ---- */

/* Measures the copies of one text, as query duplicates does. */
static int count_run(struct triage *t, const struct analysis_content *run, uint64_t count,
		     struct base_big *nodes, struct hdb_error *err)
{
	struct triage_figure *f = &t->figures[TRIAGE_DUPLICATE_STRINGS];
	const uint64_t zeroed = heap_meta_number(t->q->heap, "zeroed.texts", 0);
	struct analysis_copies copies;
	struct heap_object object;

	/* Texts that the VM cut off may continue differently. */
	if (zeroed && run[0].array_ix != HEAP_NONE) {
		TRY(heap_object(t->q->heap, run[0].array_ix, &object, err));
		if (object.length > zeroed)
			return HDB_OK;
	}
	TRY(analysis_copies_measure(&t->q->session,
				    &(struct analysis_run){ .first = run,
							    .count = count,
							    .of_arrays = false,
							    .nodes = nodes[0].data,
							    .spare = nodes[1].data },
				    &copies, err));
	f->count += count - 1;
	f->bytes += copies.wasted;
	/*
	 * Keeps the text with most copies, of several the first by ID, because the order of runs
	 * differs between processes.
	 */
	if (count > f->class_count || (count == f->class_count && run[0].ix < f->ix)) {
		f->class_count = count;
		f->ix = run[0].ix;
	}
	return HDB_OK;
}

static int compare_strings(struct triage *t, const struct analysis_contents *contents,
			   struct base_big nodes[2], struct hdb_error *err)
{
	const struct analysis_content *records = contents->records.data;
	uint64_t longest = 0;

	for (uint64_t i = 0, to; i < contents->count; i = to) {
		to = analysis_contents_run(contents, i);
		assert(to > i);
		longest = to - i > longest ? to - i : longest;
	}
	for (unsigned i = 0; i < 2; i++)
		TRY(base_big_alloc(t->q->work, &nodes[i], (longest + 1) * sizeof(uint32_t),
				   "strings", err));
	base_stage(t->q->work, "comparing strings", contents->count, "strings");
	for (uint64_t i = 0, to, looked = 0; i < contents->count; i = to) {
		to = analysis_contents_run(contents, i);
		if (to - i < 2)
			continue;
		TRY(count_run(t, records + i, to - i, nodes, err));
		looked += to - i;
		if (looked >= STEP_OBJECTS) {
			looked = 0;
			TRY(base_step(t->q->work, to, err));
		}
	}
	return HDB_OK;
}

int triage_take_strings(struct triage *t, struct hdb_error *err)
{
	const struct analysis_contents_options options = { .kind = ANALYSIS_TEXTS };
	BASE_SCOPED(analysis_contents_release) struct analysis_contents contents = { .count = 0 };
	struct base_big nodes[2] = { { 0 }, { 0 } };
	int r;

	TRY(analysis_contents_read(&t->q->session, &options, &contents, err));
	r = compare_strings(t, &contents, nodes, err);
	base_big_free(&nodes[0]);
	base_big_free(&nodes[1]);
	return r;
}
