/*
 * queries/database/q_sizes.c - the sizes query: how and why shallow sizes were computed, how many
 * objects confirm them, and the sizes that Eclipse MAT would compute.
 */
#include "base/base_text.h"
#include "base/bytes.h"
#include "heap/heap_database.h"
#include "layout/layout.h"
#include "queries/database/size_proof.h"
#include "queries/queries.h"
#include "query/info_rows.h"

/* Maximum number of classes listed whose layout was corrected based on distances. */
#define LISTED_MAX 20

/* Number and size of objects by the evidence for their sizes, and their sizes according to MAT. */
struct tally {
	uint64_t classes[4], bytes[4]; /* by enum store_size_basis, without class objects */
	uint64_t mirrors[4], mirror_bytes[4];
	uint64_t total, mat_total;
	uint64_t *class_objects;   /* indexed by class: number of instances */
	uint64_t *mat_bytes;       /* indexed by class: size of an instance */
	uint64_t *mat_class_bytes; /* indexed by class: size of its class object */
	unsigned mat_reference, mat_align;
};

static bool is_recorded(const struct query *q)
{
	return q->heap->is_android || q->heap->is_phd;
}

void query_size_proof(const struct query *q, const struct store_class *class,
		      char out[QUERY_PROOF_MAX])
{
	const uint32_t n = class->distance_count;

	if (q->heap->layout.model != HDB_SIZES_VM)
		(void)snprintf(out, QUERY_PROOF_MAX, "none: sizes are not those of the VM");
	else if (is_recorded(q))
		(void)snprintf(out, QUERY_PROOF_MAX, "recorded in the dump");
	else if (class->size_basis == STORE_SIZE_EXACT)
		(void)snprintf(out, QUERY_PROOF_MAX,
			       "exact: the closest of %s objects ends where the next object begins",
			       base_number(n).text);
	else if (class->size_basis == STORE_SIZE_OBSERVED)
		(void)snprintf(
			out, QUERY_PROOF_MAX,
			"observed: nearly all of %s objects are at this distance from the next "
			"object; the layout needs %" PRIu64 " bytes",
			base_number(n).text, class->layout_bytes);
	else if (class->size_basis == STORE_SIZE_CUT &&
		 class->instance_bytes == class->layout_bytes)
		(void)snprintf(out, QUERY_PROOF_MAX,
			       "contradicted: an object overlaps the next one");
	else if (class->size_basis == STORE_SIZE_CUT)
		(void)snprintf(
			out, QUERY_PROOF_MAX,
			"reduced to the space before the next object; the layout needs %" PRIu64
			" bytes",
			class->layout_bytes);
	else if (n && class->distance_bytes != STORE_NONE)
		(void)snprintf(out, QUERY_PROOF_MAX,
			       "uncertain: from the layout; the next object is at least %" PRIu32
			       " bytes away",
			       class->distance_bytes);
	else
		(void)snprintf(out, QUERY_PROOF_MAX,
			       "uncertain: from the layout, because no object follows");
}

/* ---- parameters ---- */

static const char *rules_text(struct query *q)
{
	if (q->heap->is_android)
		return "ART";
	if (q->heap->is_phd)
		return "OpenJ9, as recorded";
	switch (heap_meta_number(q->heap, "sizes.rules", LAYOUT_BUILDER)) {
	case LAYOUT_BUILDER:
		return "HotSpot since JDK 15";
	case LAYOUT_CLASSIC:
		return "HotSpot before JDK 15";
	default:
		return "?";
	}
}

static void add_switches(struct query *q)
{
	static const struct {
		const char *meta, *text;
	} switches[] = {
		{ "sizes.keeps_super_gaps", "-UseEmptySlotsInSupers" },
		{ "sizes.keeps_long_gap", "-CompactFields" },
		{ "sizes.references_first", "FieldsAllocationStyle=0" },
	};
	const uint64_t padding =
		heap_meta_number(q->heap, "sizes.contended_bytes", LAYOUT_CONTENDED_BYTES);
	char text[64];

	for (size_t i = 0; i < BASE_COUNT(switches); i++)
		if (heap_meta_number(q->heap, switches[i].meta, 0))
			info_text(q, "switch",
				  "VM setting, inferred from the distances between objects",
				  switches[i].text);
	if (padding == LAYOUT_CONTENDED_BYTES || is_recorded(q))
		return;
	(void)snprintf(text, sizeof(text), "ContendedPaddingWidth=%" PRIu64, padding);
	info_text(q, "switch", "VM setting, inferred from the distances between objects",
		  padding ? text : "-EnableContended");
}

static void add_evidence(struct query *q)
{
	static const struct {
		const char *key, *meta;
	} texts[] = {
		{ "why these rules", "sizes.evidence.rules" },
		{ "why this header", "sizes.evidence.header" },
		{ "why this reference", "sizes.evidence.reference" },
		{ "why this alignment", "sizes.evidence.align" },
	};
	char text[1024];

	for (size_t i = 0; i < BASE_COUNT(texts); i++) {
		heap_meta_text(q->heap, texts[i].meta, text, sizeof(text));
		if (text[0])
			info_text(q, texts[i].key, "Evidence in the dump", text);
	}
}

int info_sizes(struct query *q, struct hdb_error *err)
{
	static const char *const models[] = { "vm", "mat", "dump", "ahat" };
	static const struct info_meta numbers[] = {
		{ "header", "sizes.header_bytes", "Size of an instance's header in bytes" },
		{ "reference", "sizes.reference_bytes", "Size of a reference in bytes" },
		{ "alignment", "sizes.align_bytes", "Alignment of all sizes, in bytes" },
		{ "array header", "sizes.array_header_bytes",
		  "Size of the header of object arrays in bytes" },
		{ "primitive array header", "sizes.primitive_header_bytes",
		  "Size of the header of arrays with elements up to 4 bytes" },
		{ "wide array header", "sizes.wide_header_bytes",
		  "Size of the header of long and double arrays in bytes" },
	};
	const unsigned model = (unsigned)q->heap->layout.model;
	char text[1024];

	(void)err;
	info_text(q, "model", "Model by which shallow sizes are computed: vm, mat, dump or ahat",
		  model < 3 ? models[model] : "?");
	info_meta(q, numbers, BASE_COUNT(numbers));
	heap_meta_text(q->heap, "sizes.evidence", text, sizeof(text));
	info_text(q, "evidence", "Evidence in the dump", text);
	return HDB_OK;
}

static void add_rules(struct query *q)
{
	const uint64_t java = heap_meta_number(q->heap, "sizes.java", 0);

	if (q->heap->layout.model != HDB_SIZES_VM)
		return;
	info_text(q, "rules", "VM whose rules place fields", rules_text(q));
	if (java)
		info_number(
			q, "version",
			"Version of the VM whose injected fields and @Contended classes are used",
			java);
	add_switches(q);
	add_evidence(q);
}

/* ---- Eclipse MAT's arithmetic ---- */

/* Consecutive fields in the table of all fields. */
struct field_run {
	uint32_t first, count;
};

/* Adds up the sizes of the values of these fields. */
static int field_bytes(struct query *q, const struct tally *t, struct field_run run,
		       uint64_t *bytes, struct hdb_error *err)
{
	*bytes = 0;
	for (uint32_t i = 0; i < run.count; i++) {
		struct store_field field;

		TRY(heap_field(q->heap, run.first + i, &field, err));
		*bytes += field.type == HPROF_OBJECT ?
				  t->mat_reference :
				  hprof_type_size(field.type, q->heap->id_size);
	}
	return HDB_OK;
}

/*
 * Computes the size of a class before alignment. Superclasses are computed first, using a stack of
 * pending classes.
 */
static int mat_class(struct query *q, struct tally *t, uint32_t no, struct base_vec *stack,
		     struct hdb_error *err)
{
	stack->count = 0;
	while (no != STORE_NONE && !t->mat_bytes[no] && stack->count <= q->heap->class_count) {
		TRY(base_vec_push(stack, &no, sizeof(no), err));
		no = heap_class(q->heap, no)->super_no;
	}
	while (stack->count) {
		const struct store_class *class;
		uint64_t own;

		no = *base_vec_at(stack, uint32_t, --stack->count);
		class = heap_class(q->heap, no);
		if (class->super_no == STORE_NONE) {
			t->mat_bytes[no] = q->heap->id_size + t->mat_reference;
			continue;
		}
		TRY(field_bytes(q, t, (struct field_run){ class->first_field, class->field_count },
				&own, err));
		t->mat_bytes[no] = round_up(own + t->mat_bytes[class->super_no], t->mat_reference);
	}
	return HDB_OK;
}

static int mat_classes(struct query *q, struct tally *t, struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec stack = { 0 };

	for (uint32_t no = 0; no < q->heap->class_count; no++) {
		const struct store_class *class = heap_class(q->heap, no);

		TRY(mat_class(q, t, no, &stack, err));
		TRY(field_bytes(q, t,
				(struct field_run){ class->first_static, class->static_count },
				&t->mat_class_bytes[no], err));
	}
	return HDB_OK;
}

static uint64_t mat_object(const struct query *q, const struct tally *t, uint32_t class_no,
			   uint8_t kind, uint64_t length)
{
	const uint64_t head = q->heap->id_size + t->mat_reference + 4;
	uint64_t bytes;

	switch (kind) {
	case STORE_INSTANCE:
		bytes = t->mat_bytes[class_no];
		break;
	case STORE_CLASS:
		bytes = t->mat_class_bytes[length];
		break;
	case STORE_OBJECT_ARRAY:
		bytes = head + length * t->mat_reference;
		break;
	default:
		bytes = round_up(head, t->mat_reference) +
			length * hprof_type_size(heap_class(q->heap, class_no)->element_type,
						 q->heap->id_size);
		break;
	}
	return round_up(bytes, t->mat_align);
}

/*
 * Computes MAT's size for objects whose lengths are equal modulo a period (layout_array_period).
 * All have the same padding, because MAT's alignment divides the size of a period.
 */
static uint64_t mat_objects(const struct query *q, const struct tally *t,
			    const struct heap_count *c)
{
	const uint64_t elements = c->elements - c->count * c->length;
	unsigned width = 0;

	if (c->kind == STORE_OBJECT_ARRAY)
		width = t->mat_reference;
	else if (c->kind == STORE_PRIMITIVE_ARRAY)
		width = hprof_type_size(heap_class(q->heap, c->class_no)->element_type,
					q->heap->id_size);
	return c->count * mat_object(q, t, c->class_no, c->kind, c->length) + elements * width;
}

/* ---- counting ---- */

static void release_tally(struct tally *t)
{
	free(t->class_objects);
	free(t->mat_bytes);
	free(t->mat_class_bytes);
}

static int open_tally(struct query *q, struct tally *t, struct hdb_error *err)
{
	const size_t n = (size_t)q->heap->class_count + 1;

	t->mat_reference = heap_meta_number(q->heap, "sizes.mat_reference_bytes", 4) == 8 ? 8 : 4;
	t->mat_align = (unsigned)heap_meta_number(q->heap, "sizes.mat_align_bytes", 8);
	if (!t->mat_align)
		t->mat_align = 8;
	TRY(BASE_ALLOC(t->class_objects, n, "sizes by class", err));
	TRY(BASE_ALLOC(t->mat_bytes, n, "sizes by class", err));
	TRY(BASE_ALLOC(t->mat_class_bytes, n, "sizes by class", err));
	return mat_classes(q, t, err);
}

struct counting {
	struct query *q;
	struct tally *t;
};

/* Counts the objects of one class and kind, which have equal padding. */
static int add_counted(void *ctx, const struct heap_count *count, struct hdb_error *err)
{
	const struct counting *c = ctx;
	struct tally *t = c->t;
	const uint32_t no = count->class_no;
	unsigned basis;

	(void)err;
	if (count->is_invented)
		return HDB_OK;
	if (count->kind == STORE_CLASS) {
		basis = heap_class(c->q->heap, (uint32_t)count->length)->class_basis & 3;
		t->mirrors[basis] += count->count;
		t->mirror_bytes[basis] += count->shallow_bytes;
	} else {
		basis = heap_class(c->q->heap, no)->size_basis & 3;
		t->class_objects[no] += count->count;
		t->bytes[basis] += count->shallow_bytes;
	}
	t->total += count->shallow_bytes;
	t->mat_total += mat_objects(c->q, t, count);
	return HDB_OK;
}

static int count_all(struct query *q, struct tally *t, struct hdb_error *err)
{
	struct counting c = { .q = q, .t = t };

	TRY(heap_count_all(q->heap, q->work, add_counted, &c, err));
	/*
	 * All class objects follow the same layout rules. If the size of one class object is
	 * certain, the sizes of all others are exact too.
	 */
	if (t->mirrors[STORE_SIZE_EXACT] && !t->mirrors[STORE_SIZE_CUT])
		t->bytes[STORE_SIZE_EXACT] += t->mirror_bytes[STORE_SIZE_COMPUTED];
	else
		t->bytes[STORE_SIZE_COMPUTED] += t->mirror_bytes[STORE_SIZE_COMPUTED];
	t->bytes[STORE_SIZE_EXACT] += t->mirror_bytes[STORE_SIZE_EXACT];
	t->bytes[STORE_SIZE_CUT] += t->mirror_bytes[STORE_SIZE_CUT];
	for (uint32_t no = 0; no < q->heap->class_count; no++)
		if (t->class_objects[no])
			t->classes[heap_class(q->heap, no)->size_basis & 3]++;
	return HDB_OK;
}

/* ---- rows ---- */

static void add_basis(struct query *q, const struct tally *t)
{
	static const struct {
		uint8_t basis;
		const char *classes, *bytes, *mirrors, *help;
	} rows[] = {
		{ STORE_SIZE_EXACT, "exact", "exact bytes", "exact class objects",
		  "Number of classes with an object that ends where the next object begins" },
		{ STORE_SIZE_OBSERVED, "observed", "observed bytes", NULL,
		  "Number of classes whose instances are larger than their layout, as hundreds of "
		  "equal distances show" },
		{ STORE_SIZE_CUT, "cut", "cut bytes", "cut class objects",
		  "Number of classes whose layout exceeds the space before the next object. The "
		  "smaller size counts." },
		{ STORE_SIZE_COMPUTED, "in doubt", "in doubt bytes", "class objects in doubt",
		  "Number of classes whose objects are all too far from the next object" },
	};

	for (size_t i = 0; i < BASE_COUNT(rows); i++) {
		const uint8_t basis = rows[i].basis;

		info_number(q, rows[i].classes, rows[i].help, t->classes[basis]);
		info_number(q, rows[i].bytes,
			    "Shallow size of the objects of these classes. Class objects count "
			    "as one class.",
			    t->bytes[basis]);
		if (rows[i].mirrors)
			info_number(q, rows[i].mirrors,
				    "Number of class objects, including static fields, counted "
				    "in the same way",
				    t->mirrors[basis]);
	}
}

/* Lists classes whose layout was corrected based on distances. */
static void add_corrected(struct query *q, const struct tally *t)
{
	unsigned listed = 0;

	for (uint32_t no = 0; no < q->heap->class_count && listed < LISTED_MAX; no++) {
		const struct store_class *class = heap_class(q->heap, no);
		char text[160];

		if (!t->class_objects[no] || (class->size_basis != STORE_SIZE_OBSERVED &&
					      class->size_basis != STORE_SIZE_CUT))
			continue;
		(void)snprintf(text, sizeof(text), "%s bytes; the layout needs %s; %s distances",
			       base_number(class->instance_bytes).text,
			       base_number(class->layout_bytes).text,
			       base_number(class->distance_count).text);
		info_text(q, heap_class_name(q->heap, no),
			  "Class whose object distances correct the layout (the first 20)", text);
		listed++;
	}
}

static void add_totals(struct query *q, const struct tally *t)
{
	const uint64_t more =
		t->total > t->mat_total ? t->total - t->mat_total : t->mat_total - t->total;
	char text[96];

	info_number(q, "bytes",
		    "Shallow size of all objects in the dump, including unreachable ones",
		    t->total);
	if (q->heap->layout.model == HDB_SIZES_VM && !is_recorded(q)) {
		(void)snprintf(text, sizeof(text), "%.2f %%",
			       analysis_percent(t->bytes[STORE_SIZE_EXACT], t->total));
		info_text(q, "exact", "Share of the shallow size in classes with a proved size",
			  text);
	}
	info_number(q, "Eclipse MAT's bytes",
		    "Shallow size of the same objects as computed by Eclipse MAT", t->mat_total);
	(void)snprintf(text, sizeof(text), "%s%s bytes, %.2f %%",
		       t->total == t->mat_total ? "" :
		       t->total > t->mat_total  ? "+" :
						  "-",
		       base_number(more).text, analysis_percent(more, t->mat_total));
	info_text(q, "difference", "Difference from the size in Eclipse MAT", text);
}

static int add_sizes(struct query *q, struct tally *t, struct hdb_error *err)
{
	info_section(q, "sizes");
	TRY(info_sizes(q, err));
	add_rules(q);
	TRY(heap_load_classes(q->heap, err));
	TRY(open_tally(q, t, err));
	TRY(count_all(q, t, err));
	info_section(q, "classes");
	if (q->heap->layout.model == HDB_SIZES_VM && !is_recorded(q))
		add_basis(q, t);
	info_section(q, "corrected");
	add_corrected(q, t);
	info_section(q, "totals");
	add_totals(q, t);
	return HDB_OK;
}

static int open_sizes(struct query *q, struct hdb_error *err)
{
	BASE_SCOPED(release_tally) struct tally t = { 0 };

	TRY(add_sizes(q, &t, err));
	info_end(q);
	return HDB_OK;
}

#include <queries/database/q_sizes.query.h>

QUERY_DEFINE(sizes, .open = open_sizes, .row = info_row, .close = info_close,
	     .state_size = sizeof(struct info_rows));
