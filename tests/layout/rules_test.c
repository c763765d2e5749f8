/*
 * rules_test.c - offsets and sizes of classes as reported by running VMs (Unsafe.objectFieldOffset,
 * Instrumentation.getObjectSize, PrintFieldLayout), for every header, reference width and set of
 * rules.
 */
#include "layout/layout_known.h"

#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Checks the invariants of a class's shape after its layout. */
static void check_shape(const struct layout_shape *shape)
{
	assert(shape->gap_count <= LAYOUT_GAPS_MAX);
	assert(shape->end <= shape->size);
	for (unsigned i = 0; i < shape->gap_count; i++) {
		const struct layout_gap *gap = &shape->gaps[i];

		assert(gap->size > 0);
		assert(gap->offset + gap->size <= shape->size);
		/* No byte is in two gaps. Each set of rules has its own order of gaps. */
		for (unsigned k = 0; k < i; k++)
			assert(gap->offset >= shape->gaps[k].offset + shape->gaps[k].size ||
			       gap->offset + gap->size <= shape->gaps[k].offset);
	}
}

/* Models by name. */
enum {
	WIDE12,
	NARROW12,
	NARROW16,
	WIDE16,
	COMPACT,
	COMPACT_WIDE,
	BITS32,
	OLD12,
	OLD16,
	OLD32,
	ART,
	ART_OLD,
	KEEPS,
	MODELS
};

static const struct layout_model models[MODELS] = {
	[NARROW12] = { .rules = LAYOUT_BUILDER,
		       .word_bytes = 8,
		       .header_bytes = 12,
		       .reference_bytes = 4,
		       .align_bytes = 8,
		       .contended_bytes = 128,
		       .java = 17 },
	[WIDE12] = { .rules = LAYOUT_BUILDER,
		     .word_bytes = 8,
		     .header_bytes = 12,
		     .reference_bytes = 8,
		     .align_bytes = 8,
		     .contended_bytes = 128,
		     .java = 17 },
	[NARROW16] = { .rules = LAYOUT_BUILDER,
		       .word_bytes = 8,
		       .header_bytes = 16,
		       .reference_bytes = 4,
		       .align_bytes = 8,
		       .contended_bytes = 128,
		       .java = 25,
		       .packs_arrays = true },
	[WIDE16] = { .rules = LAYOUT_BUILDER,
		     .word_bytes = 8,
		     .header_bytes = 16,
		     .reference_bytes = 8,
		     .align_bytes = 8,
		     .contended_bytes = 128,
		     .java = 17 },
	[COMPACT] = { .rules = LAYOUT_BUILDER,
		      .word_bytes = 8,
		      .header_bytes = 8,
		      .reference_bytes = 4,
		      .align_bytes = 8,
		      .contended_bytes = 128,
		      .java = 25,
		      .packs_arrays = true,
		      .joins_references = true },
	[COMPACT_WIDE] = { .rules = LAYOUT_BUILDER,
			   .word_bytes = 8,
			   .header_bytes = 8,
			   .reference_bytes = 8,
			   .align_bytes = 16,
			   .contended_bytes = 128,
			   .java = 25,
			   .packs_arrays = true },
	[BITS32] = { .rules = LAYOUT_BUILDER,
		     .word_bytes = 4,
		     .header_bytes = 8,
		     .reference_bytes = 4,
		     .align_bytes = 8,
		     .contended_bytes = 128,
		     .java = 17 },
	[OLD12] = { .rules = LAYOUT_CLASSIC,
		    .word_bytes = 8,
		    .header_bytes = 12,
		    .reference_bytes = 4,
		    .align_bytes = 8,
		    .contended_bytes = 128,
		    .java = 8 },
	[OLD16] = { .rules = LAYOUT_CLASSIC,
		    .word_bytes = 8,
		    .header_bytes = 16,
		    .reference_bytes = 8,
		    .align_bytes = 8,
		    .contended_bytes = 128,
		    .java = 11 },
	[OLD32] = { .rules = LAYOUT_CLASSIC,
		    .word_bytes = 4,
		    .header_bytes = 8,
		    .reference_bytes = 4,
		    .align_bytes = 8,
		    .java = 6 },
	[ART] = { .rules = LAYOUT_ART,
		  .word_bytes = 4,
		  .header_bytes = 8,
		  .reference_bytes = 4,
		  .align_bytes = 8 },
	[ART_OLD] = { .rules = LAYOUT_ART,
		      .word_bytes = 4,
		      .header_bytes = 8,
		      .reference_bytes = 4,
		      .align_bytes = 8,
		      .widens_fields = true },
	[KEEPS] = { .rules = LAYOUT_BUILDER,
		    .word_bytes = 8,
		    .header_bytes = 12,
		    .reference_bytes = 4,
		    .align_bytes = 8,
		    .contended_bytes = 128,
		    .java = 17,
		    .keeps_super_gaps = true },
};

/*
 * Classes as JVM descriptors: fields of the outermost class first, "/" between classes, "!" before
 * a field that is @Contended in a named group, "+" before one that is alone, "^" before a class
 * that is @Contended.
 */
struct row {
	int model;
	const char *fields;
	uint64_t size;       /* rounded to the alignment */
	const char *offsets; /* offsets of all fields, in the same order; NULL: not checked */
};

static const struct row rows[] = {
	/* HotSpot 17, default: Layouts.java's classes. */
	{ NARROW12, "", 16, "" },
	{ NARROW12, "/B", 16, "12 " },
	{ NARROW12, "/B/B", 16, "12 13 " },
	{ NARROW12, "/B/B/JB", 24, "12 13 16 14 " },
	{ NARROW12, "/B/B/JB/SL", 32, "12 13 16 14 24 28 " },
	{ NARROW12, "/J", 24, "16 " },
	{ NARROW12, "/J/I", 24, "16 12 " },
	{ NARROW12, "/J/I/L", 32, "16 12 24 " },
	{ NARROW12, "/CZZ/LLJ", 32, "12 14 15 24 28 16 " },
	{ NARROW12, "/CZZ/LLJIZ", 40, NULL },
	/* java.lang.Integer, String with its injected byte, HashMap.Node, Object[] holders. */
	{ NARROW12, "/I", 16, "12 " },
	{ NARROW12, "/LBIZB", 24, "20 16 12 17 18 " },
	{ NARROW12, "/ILLL", 32, "12 16 20 24 " },
	{ COMPACT, "", 8, "" },
	{ COMPACT, "/LBIZB", 24, "16 12 8 13 14 " },
	{ COMPACT, "/J", 16, "8 " },
	/* JDK 25: references come first if the superclass ends with one. */
	{ COMPACT, "/IL/LZ", 24, "8 12 16 20 " },
	{ COMPACT, "/LI/ZL", 24, "12 8 20 16 " },
	{ WIDE12, "/L", 24, "16 " },
	{ WIDE12, "/L/I", 24, "16 12 " },
	{ WIDE16, "/I", 24, "16 " },
	{ WIDE16, "/LL/B", 40, "16 24 32 " },
	{ NARROW16, "/J/I", 32, "16 24 " },
	{ COMPACT_WIDE, "/L", 16, "8 " },
	{ COMPACT_WIDE, "/LL", 32, "8 16 " },
	{ BITS32, "/J", 16, "8 " },
	{ BITS32, "/I/J", 24, "8 16 " },
	{ BITS32, "/I/J/I", 24, "8 16 12 " },
	/* -UseEmptySlotsInSupers */
	{ KEEPS, "/B/B", 24, "12 16 " },
	{ KEEPS, "/J/I", 32, "16 24 " },
	/* @Contended: LongAdder's Cell, ForkJoinPool-like fields, a subclass of a padded class. */
	{ NARROW12, "/^J", 280, "144 " },
	{ NARROW12, "/I!J", 280, "12 144 " },
	{ NARROW12, "/I!I!I", 280, "12 144 148 " },
	{ NARROW12, "/I+I+I", 408, "12 144 276 " },
	{ NARROW12, "/^J/I", 288, "144 280 " },
	/*
	 * JDK 8 and 11: bytes, shorts and ints fill the gap before longs; superclasses end at a
	 * reference.
	 */
	{ OLD12, "/B/B", 24, "12 16 " },
	{ OLD12, "/JI", 24, "16 12 " },
	{ OLD12, "/JSBB", 24, "16 12 14 15 " },
	{ OLD12, "/JL", 24, "16 12 " },
	{ OLD12, "/J/I", 32, "16 24 " },
	{ OLD12, "/LI", 24, "16 12 " },
	{ OLD12, "/^J", 280, "144 " },
	{ OLD12, "/I!J", 280, "12 144 " },
	{ OLD16, "/IL", 32, "16 24 " },
	{ OLD16, "/B/B", 32, "16 24 " },
	{ OLD32, "/J", 16, "8 " },
	{ OLD32, "/LJ", 24, "16 8 " },
	{ OLD32, "/I/J", 24, "8 16 " },
	{ OLD32, "/Z/Z", 16, "8 12 " },
	/*
	 * ART: android.util.SparseArray (mGarbage, mKeys, mSize, mValues): 21 bytes; then its gaps.
	 */
	{ ART, "/ZLIL", 24, "20 8 16 12 " },
	{ ART_OLD, "/ZLIL", 24, "20 8 16 12 " },
	{ ART, "/Z/L", 16, "8 12 " },
	{ ART, "/LJ/I", 32, "8 16 24 " },
	{ ART, "/LJZ", 24, "8 16 12 " },
	{ ART, "/LJZSI", 32, "8 16 26 24 12 " },
	{ ART_OLD, "/LJZZ", 32, "8 16 12 24 " },
};

static uint8_t type_of(char c)
{
	switch (c) {
	case 'L':
		return 2;
	case 'Z':
		return 4;
	case 'C':
		return 5;
	case 'F':
		return 6;
	case 'D':
		return 7;
	case 'B':
		return 8;
	case 'S':
		return 9;
	case 'I':
		return 10;
	default:
		return 11;
	}
}

#define FIELDS_MAX 32

/* Lays out the classes of one line, and appends the offsets to `offsets`. */
static uint64_t lay_out(const struct layout_model *model, const char *text, char *offsets)
{
	struct layout_shape shape, super;
	bool has_super = false;

	*offsets = '\0';
	for (;;) {
		struct layout_field fields[FIELDS_MAX];
		struct layout_traits traits = { 0 };
		size_t count = 0;
		uint8_t group = LAYOUT_GROUP_NONE;

		for (; *text && *text != '/'; text++) {
			if (*text == '^') {
				traits.is_contended = true;
			} else if (*text == '!' || *text == '+') {
				group = *text == '!' ? LAYOUT_GROUP_NAMED : LAYOUT_GROUP_ALONE;
			} else {
				fields[count++] = (struct layout_field){
					.type = type_of(*text),
					.group = group,
				};
				group = LAYOUT_GROUP_NONE;
			}
		}
		layout_class(model, has_super ? &super : NULL,
			     (struct layout_fields){ fields, count }, &traits, &shape);
		check_shape(&shape);
		for (size_t i = 0; i < count; i++)
			offsets += sprintf(offsets, "%d ", (int)fields[i].offset);
		if (!*text++)
			break;
		super = shape;
		has_super = true;
	}
	return layout_round(shape.size, model->align_bytes);
}

static void classes(void **state)
{
	unsigned bad = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		char offsets[FIELDS_MAX * 8];
		const uint64_t size = lay_out(&models[row->model], row->fields, offsets);

		if (size == row->size && (!row->offsets || strcmp(offsets, row->offsets) == 0))
			continue;
		print_message("model %d, \"%s\": %d bytes at %s; wanted %d at %s\n", row->model,
			      row->fields, (int)size, offsets, (int)row->size,
			      row->offsets ? row->offsets : "?");
		bad++;
	}
	assert_int_equal(bad, 0);
}

static void arrays(void **state)
{
	static const struct {
		int model;
		unsigned references, bytes, longs;
	} wanted[] = {
		{ NARROW12, 16, 16, 16 }, { WIDE12, 16, 16, 16 },  { WIDE16, 24, 24, 24 },
		{ NARROW16, 20, 20, 24 }, { COMPACT, 12, 12, 16 }, { COMPACT_WIDE, 16, 12, 16 },
		{ BITS32, 12, 12, 16 },   { OLD12, 16, 16, 16 },   { OLD16, 24, 24, 24 },
		{ OLD32, 12, 12, 16 },    { ART, 12, 12, 16 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		const struct layout_model *model = &models[wanted[i].model];

		assert_int_equal(layout_array_base(model, 2), wanted[i].references);
		assert_int_equal(layout_array_base(model, 8), wanted[i].bytes);
		assert_int_equal(layout_array_base(model, 11), wanted[i].longs);
	}
}

/* Class objects of JDK 17 (an instance of java.lang.Class has 112 bytes): no gap is filled. */
static void mirrors(void **state)
{
	const struct layout_statics none = { 0 }, few = {
		.references = 3, .bytes_8 = 1, .bytes_2 = 1, .bytes_1 = 1
	};
	const struct layout_statics one = { .bytes_1 = 1 };
	struct layout_model java6 = models[OLD32];

	(void)state;
	assert_int_equal(layout_mirror(&models[NARROW12], 112, &none), 112);
	assert_int_equal(layout_mirror(&models[NARROW12], 112, &one), 120);
	assert_int_equal(layout_mirror(&models[NARROW12], 112, &few), 144);
	assert_int_equal(layout_mirror(&java6, 96, &few), 96);
}

/* A bit for each possible reference, in whole words. */
static void stack_chunks(void **state)
{
	(void)state;
	assert_int_equal(layout_stack_chunk(4, 0), 0);
	assert_int_equal(layout_stack_chunk(4, 32), 8 * (32 + 1));
	assert_int_equal(layout_stack_chunk(4, 33), 8 * (33 + 2));
	assert_int_equal(layout_stack_chunk(8, 64), 8 * (64 + 1));
}

static size_t injected(unsigned java, const char *name)
{
	struct layout_model model = models[NARROW12];
	struct layout_field fields[LAYOUT_INJECTED_MAX];
	const char *names[LAYOUT_INJECTED_MAX];

	model.java = java;
	return layout_known_injected(&model, layout_known(name), fields, names);
}

static void known(void **state)
{
	struct layout_model model = models[NARROW12];
	struct layout_traits traits;
	const unsigned pool = layout_known("java.util.concurrent.ForkJoinPool");

	(void)state;
	assert_int_equal(layout_known("java.lang.Nothing"), LAYOUT_UNKNOWN);
	assert_int_equal(layout_known(""), LAYOUT_UNKNOWN);
	assert_int_equal(injected(6, "java.lang.Class"), 3);
	assert_int_equal(injected(7, "java.lang.Class"), 5);
	assert_int_equal(injected(8, "java.lang.Class"), 7);
	assert_int_equal(injected(17, "java.lang.Class"), 7);
	assert_int_equal(injected(25, "java.lang.Class"), 6);
	assert_int_equal(injected(11, "java.lang.String"), 0);
	assert_int_equal(injected(17, "java.lang.String"), 1);
	assert_int_equal(injected(17, "java.lang.Thread"), 0);
	assert_int_equal(injected(25, "java.lang.Thread"), 4);
	assert_int_equal(injected(25, "java.lang.Nothing"), 0);
	layout_known_traits(&model, pool, &traits);
	assert_false(traits.is_contended);
	assert_int_equal(layout_known_group(&model, pool, "ctl"), LAYOUT_GROUP_NAMED);
	assert_int_equal(layout_known_group(&model, pool, "stealCount"), LAYOUT_GROUP_NONE);
	model.java = 8;
	layout_known_traits(&model, pool, &traits);
	assert_true(traits.is_contended);
	model.contended_bytes = 0;
	layout_known_traits(&model, pool, &traits);
	assert_false(traits.is_contended);
	assert_int_equal(layout_known_since(layout_known("java.lang.Module")), 9);
	assert_int_equal(layout_known_since(pool), 0);
}

/*
 * Very many fields, unknown types, long lines of classes with gaps: no gap is used twice, nothing
 * overlaps.
 */
static void random_lines(void **state)
{
	static const uint8_t types[] = { 2, 4, 5, 6, 7, 8, 9, 10, 11, 0, 3, 200 };
	uint32_t seed = 12345;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		const struct layout_model *model = &models[round % MODELS];
		static uint8_t used[4096 * 4];
		struct layout_shape shape, super;
		const int depth = 1 + round % 40;

		memset(used, 0, sizeof(used));
		for (int d = 0; d < depth; d++) {
			struct layout_field fields[FIELDS_MAX];
			struct layout_traits traits = { 0 };
			size_t count;

			seed = seed * 1664525u + 1013904223u;
			count = (seed >> 24) % 9;
			for (size_t i = 0; i < count; i++) {
				seed = seed * 1664525u + 1013904223u;
				fields[i] = (struct layout_field){
					.type = types[(seed >> 16) % sizeof(types)],
				};
			}
			layout_class(model, d ? &super : NULL,
				     (struct layout_fields){ fields, count }, &traits, &shape);
			check_shape(&shape);
			for (size_t i = 0; i < count; i++) {
				const unsigned size = layout_type_size(model, fields[i].type);

				assert_true(fields[i].offset + size <= shape.size);
				assert_true(fields[i].offset + size < sizeof(used));
				if (size)
					assert_int_equal(fields[i].offset % size, 0);
				for (unsigned k = 0; k < size; k++) {
					assert_int_equal(used[fields[i].offset + k], 0);
					used[fields[i].offset + k] = 1;
				}
			}
			super = shape;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes), cmocka_unit_test(arrays),
		cmocka_unit_test(mirrors), cmocka_unit_test(stack_chunks),
		cmocka_unit_test(known),   cmocka_unit_test(random_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
