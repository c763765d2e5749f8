/*
 * queries/triage/triage_scan.c - takes measurements that need a pass over all objects and fields of
 * some of them.
 *
 * The pass reads blocks on all threads, but only collects objects whose fields are needed, in
 * order. Their fields are then read from the dump on all threads, and examined in order. If a class
 * has more than SAMPLES_MAX objects, an evenly spaced sample of that size represents them.
 */
#include "analysis/collection_fill.h"
#include "analysis/contents.h"
#include "base/base_text.h"
#include "base/pipeline.h"
#include "derive/blocks.h"
#include "derive/build.h"
#include "heap/heap_database.h"
#include "heap/known.h"
#include "queries/triage/triage.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Maximum number of objects whose fields are read for a line of the table, which takes about a
 * second.
 */
#define SAMPLES_MAX 500000u
/*
 * Maximum number of lists whose fields are read. Fewer objects suffice here, because the estimates
 * for lists only decide whether q_triage.c counts all collections.
 */
#define LISTS_MAX 50000u
/*
 * A hash map is slow if it has this many elements, and at least this fraction of them share slots.
 */
#define COLLIDING_ELEMENTS 1000u
#define COLLIDING_SHARE 0.7
/* Number of strings between two checks of the cancel flag. */
#define STEP_OBJECTS 4096u
/* Number of objects whose fields a thread reads at a time. */
#define BATCH 1024u
#define BATCHES_PER_THREAD 3u

/* An object with its fields `field` and `other`. Type 0 means that it has no such field. */
struct looked {
	uint32_t ix;
	struct heap_value field, other;
	struct heap_object object;
};

/* What to examine in the objects of a class. */
struct line {
	const char *rule;
	/* examines an object; NULL leaves all objects to triage_locals.c */
	int (*look)(struct triage *t, const struct line *line, const struct looked *at,
		    struct hdb_error *err);
	const char *class_name, *field, *other;
	enum triage_measure_no measure;
	bool with_sub;
};

/* Maximum number of lines in values.rules, because each line takes one bit of a word. */
#define LINES_MAX 32u

struct collected {
	struct base_vec ixs; /* uint32_t: objects of one line */
	uint64_t seen, whole;
};

struct scan {
	struct triage *t;
	uint32_t *line_bits; /* indexed by class: bits of lines of values.rules */
	struct collected *lines;
	struct triage_fields *fields;
	bool counts_weak; /* whether objects without strong references are counted */
	/* for the line being examined: positions of its fields, by class */
	struct heap_place (*places)[2];
	struct batch *batches; /* indexed by slot */
	const struct collected *now;
};

/* ---- one object ---- */

/* Records the object that retains the most. */
static int look_largest(struct triage *t, const struct line *line, const struct looked *at,
			struct hdb_error *err)
{
	struct triage_figure *f = &t->figures[line->measure];
	uint64_t bytes;

	TRY(derive_retained(t->q->derive, at->ix, &bytes, err));
	if (bytes > f->bytes) {
		f->bytes = bytes;
		f->ix = at->ix;
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

/* Counts objects whose field is null, and adds up their retained sizes. */
static int look_null(struct triage *t, const struct line *line, const struct looked *at,
		     struct hdb_error *err)
{
	struct triage_figure *f = &t->figures[line->measure];

	if (!at->field.type || at->field.bits)
		return HDB_OK;
	f->ix = at->ix;
	return add_retained(t, f, at->ix, err);
}

/* Reads a signed number. Returns 0 if it is negative. */
static uint64_t as_size(const struct heap_value *value)
{
	const int64_t n =
		value->type == HPROF_INT ? (int32_t)(uint32_t)value->bits : (int64_t)value->bits;

	return n > 0 ? (uint64_t)n : 0;
}

/* Adds up the field. */
static int look_sum(struct triage *t, const struct line *line, const struct looked *at,
		    struct hdb_error *err)
{
	struct triage_figure *f = &t->figures[line->measure];
	uint64_t sum;

	(void)err;
	f->is_outside = true;
	if (!at->field.type)
		return HDB_OK;
	f->count++;
	if (__builtin_add_overflow(f->bytes, as_size(&at->field), &sum))
		sum = UINT64_MAX;
	f->bytes = sum;
	if (f->ix == HEAP_NONE)
		f->ix = at->ix;
	return HDB_OK;
}

/* Adds a large hash map whose elements share slots far more often than chance would explain. */
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

static int find_object(struct heap *heap, const struct heap_value *value, uint32_t *ix,
		       struct hdb_error *err)
{
	return value->type == HPROF_OBJECT && value->bits ? heap_find(heap, value->bits, ix, err) :
							    HDB_NOTFOUND;
}

/*
 * Compares the number of elements in `field` with the length of the array in `other`, and adds up
 * the unused slots of collections that are at most half full. Counts empty collections separately.
 */
static int look_list(struct triage *t, const struct line *line, const struct looked *at,
		     struct hdb_error *err)
{
	struct heap *heap = t->q->heap;
	const uint64_t size = as_size(&at->field);
	struct heap_object array = { .ix = HEAP_NONE };
	struct triage_figure *f;
	uint32_t array_ix;
	uint64_t bytes;
	int r;

	(void)line;
	if (!at->field.type)
		return HDB_OK;
	/* IDs are looked up here, on the calling thread, and not in read_fields. */
	TRY_ERRORS(r = find_object(heap, &at->other, &array_ix, err));
	if (r == HDB_OK)
		TRY(heap_object(heap, array_ix, &array, err));
	if (!size) {
		uint32_t dominator = HEAP_NONE;

		/* ArrayList's shared empty array belongs to no list. */
		if (array.ix != HEAP_NONE)
			TRY(derive_dominator(t->q->derive, array.ix, &dominator, err));
		bytes = at->object.shallow_bytes + (dominator == at->ix ? array.shallow_bytes : 0);
		f = &t->figures[TRIAGE_EMPTY];
	} else if (array.ix != HEAP_NONE && size <= array.length / 2) {
		bytes = (array.length - size) * heap->layout.reference_bytes;
		f = &t->figures[TRIAGE_SPARSE];
	} else {
		return HDB_OK;
	}
	f->count++;
	f->bytes += bytes;
	return HDB_OK;
}

/* Compares sizes like the function above, and also measures collisions of large maps. */
static int look_fill(struct triage *t, const struct line *line, const struct looked *at,
		     struct hdb_error *err)
{
	if (at->field.type && as_size(&at->field) >= COLLIDING_ELEMENTS)
		TRY(look_collisions(t, &at->object, err));
	return look_list(t, line, at, err);
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
#define LINES BASE_COUNT(values)
_Static_assert(LINES <= LINES_MAX, "each line must be a bit of a word");

/* ---- the pass ---- */

/* Returns the maximum number of objects of a line to examine. */
static uint64_t samples_of(const struct line *line)
{
	return !line->look || line->look == look_largest ? UINT64_MAX :
	       line->look == look_list                   ? LISTS_MAX :
							   SAMPLES_MAX;
}

static int collect(struct scan *s, uint32_t ix, uint32_t lines, struct hdb_error *err)
{
	for (; lines; lines &= lines - 1) {
		struct collected *c = &s->lines[__builtin_ctz(lines)];
		const uint64_t at = c->seen++, most = samples_of(&values[c - s->lines]);

		if (c->whole > most && at * most / c->whole == (at + 1) * most / c->whole)
			continue;
		TRY(base_vec_push(&c->ixs, &ix, sizeof(ix), err));
	}
	return HDB_OK;
}

/*
 * Results of scan_make for a block. bytes[0] of the block contains the objects to examine
 * (uint32_t).
 */
struct found {
	uint32_t dominator[STORE_BLOCK_OBJECTS];
	uint32_t strong[STORE_BLOCK_OBJECTS]; /* parents in the tree of strong references */
	uint64_t weak_count, weak_bytes;
};

/* Returns whether values of object i are examined. */
static bool is_taken(const struct scan *s, const struct heap_block *b, uint32_t i)
{
	return b->kind[i] == STORE_INSTANCE &&
	       (s->line_bits[b->class_no[i]] || triage_fields_has(s->fields, b->class_no[i]));
}

static int scan_make(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct scan *s = ctx;
	const struct heap_block *b = block->objects;
	struct found *found = block->room;

	found->weak_count = found->weak_bytes = 0;
	TRY(derive_tree_dominators(s->t->q->derive, block, found->dominator, err));
	if (s->counts_weak)
		TRY(derive_tree_strong(s->t->q->derive, block, found->strong, err));
	for (uint32_t i = 0; i < b->count; i++) {
		const uint32_t ix = b->first_ix + i;

		if (found->dominator[i] == ix || ix == HEAP_BOOT_LOADER ||
		    b->kind[i] == HEAP_LEFT_OUT)
			continue;
		if (s->counts_weak && found->strong[i] == ix) {
			found->weak_count++;
			found->weak_bytes += b->shallow[i];
		}
		if (is_taken(s, b, i))
			TRY(base_vec_push(&block->bytes[0], &i, sizeof(i), err));
	}
	return HDB_OK;
}

static int scan_take(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct scan *s = ctx;
	const struct heap_block *b = block->objects;
	const struct found *found = block->room;
	struct triage_figure *weak = &s->t->figures[TRIAGE_WEAK_ONLY];

	weak->count += found->weak_count;
	weak->bytes += found->weak_bytes;
	for (size_t k = 0; k < block->bytes[0].count; k++) {
		const uint32_t i = *base_vec_at(&block->bytes[0], uint32_t, k);

		assert(i < b->count);
		TRY(collect(s, b->first_ix + i, s->line_bits[b->class_no[i]], err));
		TRY(triage_fields_add(s->fields, b->first_ix + i, b->class_no[i], err));
	}
	return HDB_OK;
}

static int scan_all(struct scan *s, struct hdb_error *err)
{
	struct derive *derive = s->t->q->derive;

	TRY(triage_counts_weak(s->t, &s->counts_weak, err));
	/*
	 * Building a table closes other tables' columns, so prepare the columns after building
	 * tables.
	 */
	if (s->counts_weak)
		TRY(derive_need(derive, STORE_REACH_STRONG, err));
	TRY(derive_tree_prepare(derive, err));
	if (s->counts_weak)
		TRY(derive_strong_prepare(derive, err));
	return derive_each_block(derive,
				 &(struct derive_pass){ .stage = "examining objects",
							.reads_objects = true,
							.make = scan_make,
							.take = scan_take,
							.ctx = s,
							.room_bytes = sizeof(struct found) },
				 err);
}

/* Finds which lines examine which classes, and counts the objects of these classes. */
static void choose_classes(struct scan *s)
{
	struct heap *heap = s->t->q->heap;
	const struct derive_total *totals = s->t->classes.totals;

	for (size_t i = 0; i < s->t->classes.count; i++) {
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
}

/* Returns a measurement with the amount added since `before` multiplied by `weight`. */
static uint64_t scaled(uint64_t before, uint64_t now, double weight)
{
	const double more = (double)(now - before) * weight;

	assert(now >= before && weight >= 1);
	return more < 1e18 ? before + (uint64_t)(more + 0.5) : UINT64_MAX;
}

/* ---- the values ---- */

struct batch {
	struct looked at[BATCH];
	struct base_view view;
	struct heap_offsets *groups;
	BASE_NO_SHARING;
};

static int read_fields(struct scan *s, struct batch *batch, struct looked *at,
		       struct hdb_error *err)
{
	struct heap *heap = s->t->q->heap;
	const struct heap_place *places;
	struct heap_instance instance = { .ix = at->ix };
	uint64_t offset;

	at->field.type = at->other.type = 0;
	TRY(heap_object(heap, at->ix, &at->object, err));
	places = s->places[at->object.class_no];
	if (!places[0].type && !places[1].type)
		return HDB_OK;
	TRY(heap_offset_by(heap, &batch->groups, at->ix, &offset, err));
	if (!offset)
		return HDB_OK;
	TRY(heap_instance_read(heap, &batch->view, offset, &instance, err));
	TRY(heap_place_value(&batch->view, &instance, places[0], &at->field, err));
	return heap_place_value(&batch->view, &instance, places[1], &at->other, err);
}

static uint32_t batch_size(const struct collected *c, uint64_t no)
{
	const uint64_t left = c->ixs.count - no * BATCH;

	assert(no * BATCH < c->ixs.count);
	return left < BATCH ? (uint32_t)left : BATCH;
}

static int read_batch(void *ctx, unsigned slot, uint64_t no, struct hdb_error *err)
{
	struct scan *s = ctx;
	struct batch *batch = &s->batches[slot];

	for (uint32_t i = 0; i < batch_size(s->now, no); i++) {
		batch->at[i].ix = *base_vec_at(&s->now->ixs, uint32_t, no * BATCH + i);
		TRY(read_fields(s, batch, &batch->at[i], err));
	}
	return HDB_OK;
}

static int look_at_batch(void *ctx, unsigned slot, uint64_t no, struct hdb_error *err)
{
	struct scan *s = ctx;
	const struct line *line = &values[s->now - s->lines];

	assert(line->look);
	for (uint32_t i = 0; i < batch_size(s->now, no); i++)
		TRY(line->look(s->t, line, &s->batches[slot].at[i], err));
	return base_step(s->t->q->work, no * BATCH, err);
}

/*
 * Finds the positions of a line's fields. A path that follows references has no position, so `look`
 * reads it.
 */
static int find_places(struct scan *s, size_t no, struct hdb_error *err)
{
	struct heap *heap = s->t->q->heap;
	const char *paths[2] = { values[no].field, values[no].other };

	for (uint32_t class_no = 0; class_no < heap->class_count; class_no++)
		for (unsigned i = 0; i < 2 && s->line_bits[class_no] & 1u << no; i++) {
			struct heap_place *place = &s->places[class_no][i];

			*place = (struct heap_place){ 0 };
			if (paths[i])
				TRY_ERRORS(heap_path_place(heap, class_no, paths[i], place, err));
		}
	return HDB_OK;
}

static int look_at_all(struct scan *s, size_t no, struct hdb_error *err)
{
	const unsigned threads = s->t->q->work->threads;
	const struct base_pipeline pipeline = {
		.item_count = (s->lines[no].ixs.count + BATCH - 1) / BATCH,
		.threads = threads,
		.slot_count = BATCHES_PER_THREAD * threads,
		.ctx = s,
		.produce = read_batch,
		.consume = look_at_batch,
	};

	s->now = &s->lines[no];
	if (!pipeline.item_count)
		return HDB_OK;
	TRY(find_places(s, no, err));
	if (values[no].field)
		TRY(heap_open_dump(s->t->q->heap, err));
	/* Earlier lines may have built tables, which closes the columns. */
	TRY(heap_prepare_blocks(s->t->q->heap, threads, err));
	for (unsigned i = 0; i < pipeline.slot_count; i++)
		s->batches[i].view.src = s->t->q->heap->dump.source;
	return base_pipeline_run(&pipeline, err);
}

static int look_at_line(struct scan *s, size_t line, struct hdb_error *err)
{
	const struct collected *c = &s->lines[line];
	struct triage_figure *figures = s->t->figures;
	uint64_t counts[TRIAGE_MEASURES], bytes[TRIAGE_MEASURES];

	assert(line < LINES && c->ixs.count <= c->seen);
	if (!values[line].look)
		return triage_take_locals(s->t, &c->ixs, err);
	for (size_t m = 0; m < TRIAGE_MEASURES; m++) {
		counts[m] = figures[m].count;
		bytes[m] = figures[m].bytes;
	}
	TRY(look_at_all(s, line, err));
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
	const unsigned slots = BATCHES_PER_THREAD * s->t->q->work->threads;

	triage_fields_close(s->fields);
	for (size_t i = 0; s->lines && i < LINES; i++)
		base_vec_release(&s->lines[i].ixs);
	for (unsigned i = 0; s->batches && i < slots; i++) {
		base_view_release(&s->batches[i].view);
		free(s->batches[i].groups);
	}
	free(s->batches);
	free(s->lines);
	free(s->line_bits);
	free(s->places);
}

int triage_take_scan(struct triage *t, struct hdb_error *err)
{
	struct heap *heap = t->q->heap;
	const size_t classes = (size_t)heap->class_count + 1;
	BASE_SCOPED(release_scan) struct scan s = { .t = t };

	TRY(BASE_ALLOC(s.line_bits, classes, "a scan", err));
	TRY(BASE_ALLOC(s.places, classes, "a scan", err));
	TRY(BASE_ALLOC(s.lines, LINES, "a scan", err));
	TRY(BASE_ALLOC(s.batches, (size_t)BATCHES_PER_THREAD * t->q->work->threads, "a scan", err));
	choose_classes(&s);
	TRY(triage_fields_open(t, &s.fields, err));
	TRY(scan_all(&s, err));
	base_stage(t->q->work, "examining values", 0, "objects");
	for (size_t line = 0; line < LINES; line++)
		TRY(look_at_line(&s, line, err));
	return triage_fields_look(t, s.fields, err);
}

/* ---- strings ---- */

/* Measures the copies of one string, like the duplicates query. */
static int count_run(struct triage *t, const struct analysis_content *run, uint64_t count,
		     struct base_big *keys, struct hdb_error *err)
{
	struct triage_figure *f = &t->figures[TRIAGE_DUPLICATE_STRINGS];
	const uint64_t zeroed = heap_meta_number(t->q->heap, "zeroed.texts", 0);
	struct analysis_copies copies;
	struct heap_object object;

	assert(count > 1);
	/* Strings that the VM truncated may really differ. */
	if (zeroed && run[0].array_ix != HEAP_NONE) {
		TRY(heap_object(t->q->heap, run[0].array_ix, &object, err));
		if (object.length > zeroed)
			return HDB_OK;
	}
	TRY(analysis_copies_measure(&t->q->session,
				    &(struct analysis_run){ .first = run,
							    .count = count,
							    .of_arrays = false,
							    .keys = keys[0].data,
							    .spare = keys[1].data },
				    &copies, err));
	f->count += count - 1;
	f->bytes += copies.wasted;
	/*
	 * Keeps the string with the most copies. If several have the same number of copies, keeps
	 * the one with the lowest ID, because the order of the groups of equal strings differs
	 * between processes.
	 */
	if (count > f->class_count || (count == f->class_count && run[0].ix < f->ix)) {
		f->class_count = count;
		f->ix = run[0].ix;
	}
	return HDB_OK;
}

static int compare_strings(struct triage *t, const struct analysis_contents *contents,
			   struct base_big keys[2], struct hdb_error *err)
{
	const struct analysis_content *records = contents->records.data;
	uint64_t longest = 0;

	for (uint64_t i = 0, to; i < contents->count; i = to) {
		to = analysis_contents_run(contents, i);
		assert(to > i);
		longest = to - i > longest ? to - i : longest;
	}
	for (unsigned i = 0; i < 2; i++)
		TRY(base_big_alloc(t->q->work, &keys[i],
				   (longest + 1) * sizeof(struct base_sort_key), "strings", err));
	base_stage(t->q->work, "comparing strings", contents->count, "strings");
	for (uint64_t i = 0, to, looked = 0; i < contents->count; i = to) {
		to = analysis_contents_run(contents, i);
		if (to - i < 2)
			continue;
		TRY(count_run(t, records + i, to - i, keys, err));
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
	struct base_big keys[2] = { { 0 }, { 0 } };
	int r;

	TRY(analysis_contents_read(&t->q->session, &options, &contents, err));
	r = compare_strings(t, &contents, keys, err);
	base_big_free(&keys[0]);
	base_big_free(&keys[1]);
	return r;
}
