/*
 * import/sizes_vm.c - finds the layout that the VM used.
 *
 * Candidates combine a header size, a width of references and a set of rules. For each candidate,
 * all classes are laid out and their sizes are compared with the distances between objects. A class
 * supports a candidate if one of its objects ends exactly where the next one begins. It contradicts
 * the candidate, which counts much more, if an object would overlap the next one. Arrays, which
 * need no layout, rule out most candidates.
 */
#include "import/sizes.h"

#include "layout/layout_known.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/*
 * Number of explained classes that one contradicted class outweighs. A damaged dump causes few
 * contradictions. A wrong model causes very many.
 */
#define CONTRADICTION_WEIGHT 16
/*
 * Handicap of compact object headers, a rarely used option, if the dump does not record the version
 * of the VM. A dozen classes must not suffice to choose them. In a heap with compact headers,
 * hundreds of classes support them.
 */
#define COMPACT_HANDICAP 64
/*
 * Distances that are not multiples of the alignment are attributed to damage, up to one in
 * ODD_SHARE and ODD_MAX in total. In a heap with half the alignment, the class library alone has
 * thousands of such distances.
 */
#define ODD_SHARE 1000u
#define ODD_MAX 8u
/*
 * One in this many objects may have an ID that is not a multiple of 8 although the object is not a
 * flat value. If there are more, IDs are not addresses.
 */
#define ODD_IDS_SHARE 100u
/* Maximum number of candidates: header sizes x reference widths x versions. */
#define TRIES_MAX 18
/*
 * First JDK version with the field layout builder, with headers of 8 bytes, with elements directly
 * after an array's length, and with joined references, respectively.
 */
#define JAVA_BUILDER 15u
#define JAVA_COMPACT_HEADERS 24u
#define JAVA_PACKED_ARRAYS 23u
#define JAVA_JOINED_REFERENCES 25u
/* Version that is assumed if neither a version string nor a class identifies the VM. */
#define JAVA_GUESS 8u

/* Versions at which the rules or the table of known classes change. */
static const uint8_t eras[] = { 6, 7, 8, 9, 11, 12, 15, 17, 19, 20, 21, 24, 25 };

struct
try {
	struct layout_model model;
	struct sizes_score arrays;
	struct sizes_score score;
	/*
	 * value of search.laid_out when the classes were laid out for this candidate, or 0 if they
	 * were not
	 */
	unsigned laid_out;
};

struct search {
	struct sizes *s;
	const struct sizes_fixed *fixed;
	struct sizes_choice *out;
	struct try tries[TRIES_MAX];
	unsigned try_count;
	unsigned java; /* version of the VM, or 0 if unknown */
	unsigned least_java;
	unsigned laid_out; /* how many times classes have been laid out */
	/* value of laid_out when the classes were laid out with the chosen model */
	unsigned chosen;
};

/* Returns the value of a score, in which contradictions count much more than agreement. */
static int64_t worth(const struct sizes_score *score)
{
	return (int64_t)(score->exact + score->tight_arrays) -
	       CONTRADICTION_WEIGHT * (int64_t)score->contradicted;
}

static int64_t worth_of(const struct search *q, const struct try *try)
{
	const bool is_compact = try->model.header_bytes == 8 && try->model.word_bytes == 8;

	return worth(&try->score) - (is_compact && !q->java ? COMPACT_HANDICAP : 0);
}

static void set_java(struct layout_model *model, unsigned java)
{
	model->java = java;
	model->rules = java >= JAVA_BUILDER ? LAYOUT_BUILDER : LAYOUT_CLASSIC;
	model->packs_arrays = java >= JAVA_PACKED_ARRAYS;
	model->joins_references = java >= JAVA_JOINED_REFERENCES;
}

static int lay_out(struct search *q, const struct layout_model *model, struct hdb_error *err)
{
	q->laid_out++;
	return import_sizes_lay_out(q->s, model, err);
}

/* Lays out the classes with the chosen model, unless they are already laid out with it. */
static int lay_out_chosen(struct search *q, struct hdb_error *err)
{
	if (q->laid_out == q->chosen)
		return HDB_OK;
	q->chosen = q->laid_out + 1;
	return lay_out(q, &q->out->model, err);
}

/* Returns a lower bound of the version: the first version that had the newest class in the dump. */
static unsigned least_version(struct import *im)
{
	unsigned least = 0;

	for (uint32_t no = 0; no < im->classes.count; no++) {
		const unsigned since = layout_known_since(import_class_at(im, no)->known);

		if (since > least)
			least = since;
	}
	return least;
}

/*
 * Returns whether fields are listed from last to first. HotSpot dumped them this way until JDK 20;
 * agents dump them from first to last. The class java.lang.String shows which order was used,
 * because its first field is "value" in all versions.
 */
static bool lists_backwards(struct import *im)
{
	BASE_VIEW(view, im->source);

	for (uint32_t no = 0; no < im->classes.count; no++) {
		const struct import_class *class = import_class_at(im, no);
		uint64_t offset = class->fields_offset;
		struct hprof_field field = { 0 };

		if (!layout_known_is_string(class->known) || class->out.field_count < 2)
			continue;
		for (uint32_t f = 0; f < class->out.field_count; f++)
			if (hprof_field_next(&im->file, &view, &offset, &field, NULL) < 0)
				return false;
		return import_text_is(im, field.name_string_id, "value");
	}
	return false;
}

/* ---- header and width of references ---- */

static void add_try(struct search *q, const struct layout_model *base, unsigned header,
		    unsigned reference)
{
	struct try *try = &q->tries[q->try_count++];

	*try = (struct try){ .model = *base };
	try->model.header_bytes = header;
	try->model.reference_bytes = reference;
	try->arrays = import_sizes_score_arrays(q->s, &try->model);
}

/*
 * Returns whether a VM with this combination exists. Parameters specified by the user are not
 * checked.
 */
static bool is_possible(const struct search *q, unsigned java, unsigned header, unsigned reference)
{
	if (q->fixed->reference_bytes && reference != q->fixed->reference_bytes)
		return false;
	if (q->fixed->header_bytes)
		return true;
	if (header == 8 && java < JAVA_COMPACT_HEADERS)
		return false;
	return !(header == 12 && reference == 8 && java < JAVA_BUILDER);
}

static void list_tries(struct search *q, const struct layout_model *base)
{
	static const unsigned headers[] = { 12, 16, 8 };

	if (base->word_bytes == 4) {
		add_try(q, base, q->fixed->header_bytes ? q->fixed->header_bytes : 8, 4);
		return;
	}
	for (unsigned reference = 4; reference <= 8; reference += 4) {
		for (unsigned h = 0; h < 3; h++) {
			const unsigned header =
				q->fixed->header_bytes ? q->fixed->header_bytes : headers[h];

			if (is_possible(q, base->java, header, reference))
				add_try(q, base, header, reference);
			if (q->fixed->header_bytes)
				break;
		}
	}
}

/*
 * Lists the candidates for a known version or, if the version is unknown, for one version of each
 * possible set of rules.
 */
static void list_all(struct search *q, struct layout_model *base)
{
	static const unsigned modern[] = { 17, 25 };
	const unsigned first = q->java ? q->java : q->least_java ? q->least_java : JAVA_GUESS;

	set_java(base, first);
	list_tries(q, base);
	for (unsigned i = 0; i < 2 && !q->java; i++) {
		if (modern[i] <= first)
			continue;
		set_java(base, modern[i]);
		list_tries(q, base);
	}
}

/*
 * Lays out classes for the candidates that arrays contradict least. Sets *best to the best
 * candidate.
 */
static int best_try(struct search *q, struct try **best, struct hdb_error *err)
{
	uint64_t least = UINT64_MAX;

	assert(q->try_count);
	*best = NULL;
	for (unsigned i = 0; i < q->try_count; i++)
		if (q->tries[i].arrays.contradicted < least)
			least = q->tries[i].arrays.contradicted;
	for (unsigned i = 0; i < q->try_count; i++) {
		struct try *try = &q->tries[i];

		if (try->arrays.contradicted > least)
			continue;
		TRY(lay_out(q, &try->model, err));
		try->score = import_sizes_score(q->s, &try->model);
		try->laid_out = q->laid_out;
		if (!*best || worth_of(q, try) > worth_of(q, *best))
			*best = try;
	}
	assert(*best);
	return HDB_OK;
}

/* ---- rules ---- */

/* Adopts `model` if it scores better than the current choice. */
static int consider(struct search *q, const struct layout_model *model, struct hdb_error *err)
{
	struct sizes_score score;

	TRY(lay_out(q, model, err));
	score = import_sizes_score(q->s, model);
	if (worth(&score) > worth(&q->out->score)) {
		q->out->model = *model;
		q->out->score = score;
		q->chosen = q->laid_out;
	}
	return HDB_OK;
}

/*
 * For a dump that does not record the version of the VM, chooses the version that explains the most
 * classes. If several versions are equal, chooses the oldest.
 */
static int find_version(struct search *q, struct hdb_error *err)
{
	for (size_t i = 0; i < sizeof(eras); i++) {
		struct layout_model model = q->out->model;

		if (eras[i] < q->least_java || eras[i] == model.java)
			continue;
		set_java(&model, eras[i]);
		if (eras[i] < JAVA_COMPACT_HEADERS && model.header_bytes == 8 &&
		    model.word_bytes == 8)
			continue;
		TRY(consider(q, &model, err));
	}
	return HDB_OK;
}

/* Number of options tried. The options from FIRST_PADDING on are widths of padding. */
#define SWITCHES 6
#define FIRST_PADDING 3

/* Sets an option. Returns false if the option does not exist in this VM or is already set. */
static bool flip(struct layout_model *model, unsigned number)
{
	static const unsigned paddings[] = { 0, 64, 256 };

	switch (number) {
	case 0:
		model->keeps_super_gaps = model->rules == LAYOUT_BUILDER;
		return model->keeps_super_gaps;
	case 1:
		model->keeps_long_gap = model->rules == LAYOUT_CLASSIC;
		return model->keeps_long_gap;
	case 2:
		model->references_first = model->rules == LAYOUT_CLASSIC;
		return model->references_first;
	default:
		model->contended_bytes = paddings[number - FIRST_PADDING];
		return model->java >= 8;
	}
}

/*
 * Returns whether some class may have @Contended fields and its computed size is not confirmed
 * exactly. Only in this case are other paddings worth trying.
 */
static bool doubts_padding(const struct search *q)
{
	struct import *im = q->s->im;
	const uint64_t align = q->out->model.align_bytes;

	for (uint32_t no = 0; no < im->classes.count; no++) {
		const struct import_class *class = import_class_at(im, no);

		if (class->distance.count && layout_known_may_contend(class->known) &&
		    import_sizes_basis(layout_round(class->model_bytes, align), align,
				       &class->distance, class->distance.least) != STORE_SIZE_EXACT)
			return true;
	}
	return false;
}

/* Tries rarely used options of the VM one by one, unless everything is already explained. */
static int find_switches(struct search *q, struct hdb_error *err)
{
	const struct sizes_score *score = &q->out->score;
	bool padding;

	if (!score->loose && !score->contradicted)
		return HDB_OK;
	TRY(lay_out_chosen(q, err));
	padding = doubts_padding(q);
	for (unsigned i = 0; i < SWITCHES; i++) {
		struct layout_model model = q->out->model;

		if (!score->loose && !score->contradicted)
			break;
		if (!flip(&model, i) || (!padding && i >= FIRST_PADDING))
			continue;
		TRY(consider(q, &model, err));
	}
	return HDB_OK;
}

/* ---- evidence ---- */

/* Stores the explanation of one parameter. */
HDB_PRINTF(3, 4)
static void explain(const struct search *q, enum sizes_parameter parameter, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(q->out->evidence[parameter], SIZES_EVIDENCE_MAX, format, args);
	va_end(args);
}

static const char given[] = "given at import";
static const char as_usual[] = "default: the IDs are not addresses";

static void explain_alignment(const struct search *q)
{
	const unsigned align = q->out->model.align_bytes;

	if (q->fixed->align_bytes)
		explain(q, SIZES_ALIGN, "%s", given);
	else if (!q->out->has_addresses)
		explain(q, SIZES_ALIGN, "%s", as_usual);
	else if (q->out->odd_distances)
		explain(q, SIZES_ALIGN,
			"all distances between objects except %" PRIu64 " are multiples of %u, "
			"and not all are multiples of %u",
			q->out->odd_distances, align, 2 * align);
	else
		explain(q, SIZES_ALIGN,
			"all distances between objects are multiples of %u, but not all are "
			"multiples of %u",
			align, 2 * align);
}

/*
 * Writes a string that compares candidates that differ in only one parameter, such as "header 16:
 * 12 classes exact, 310 would reach into the next object; ...".
 */
static void explain_tries(const struct search *q, const struct try *best, bool headers, char *out)
{
	size_t used = 0;

	used += (size_t)snprintf(out, SIZES_EVIDENCE_MAX,
				 "%" PRIu64 " class sizes match a distance to the next object, "
				 "and %" PRIu64 " exceed a distance",
				 best->score.exact, best->score.contradicted);
	for (unsigned i = 0; i < q->try_count && used < SIZES_EVIDENCE_MAX; i++) {
		const struct try *try = &q->tries[i];
		const bool same_header = try->model.header_bytes == best->model.header_bytes;
		const bool same_ref = try->model.reference_bytes == best->model.reference_bytes;
		const unsigned value =
			headers ? try->model.header_bytes : try->model.reference_bytes;

		if (same_header == headers || same_ref != headers ||
		    try->model.java != best->model.java)
			continue;
		if (try->laid_out)
			used += (size_t)snprintf(out + used, SIZES_EVIDENCE_MAX - used,
						 "; with %u, %" PRIu64 " and %" PRIu64, value,
						 try->score.exact, try->score.contradicted);
		else
			used += (size_t)snprintf(out + used, SIZES_EVIDENCE_MAX - used,
						 "; with %u, "
						 "arrays of %" PRIu64
						 " classes would overlap the next object",
						 value, try->arrays.contradicted);
	}
}

static void explain_reference(const struct search *q, const struct try *best)
{
	if (q->fixed->reference_bytes)
		explain(q, SIZES_REFERENCE, "%s", given);
	else if (best->model.word_bytes == 4)
		explain(q, SIZES_REFERENCE, "the IDs have 4 bytes");
	else if (!q->out->has_addresses)
		explain(q, SIZES_REFERENCE, "%s", as_usual);
	else if (best->model.reference_bytes == 4 && q->s->im->evidence.wide_overlaps)
		explain(q, SIZES_REFERENCE,
			"%" PRIu64 " object arrays would overlap the next object with 8 bytes",
			q->s->im->evidence.wide_overlaps);
	else
		explain_tries(q, best, false, q->out->evidence[SIZES_REFERENCE]);
}

static void explain_header(const struct search *q, const struct try *best)
{
	if (q->fixed->header_bytes)
		explain(q, SIZES_HEADER, "%s", given);
	else if (!q->out->has_addresses)
		explain(q, SIZES_HEADER, "%s", as_usual);
	else
		explain_tries(q, best, true, q->out->evidence[SIZES_HEADER]);
}

static void explain_rules(const struct search *q, const char *version)
{
	if (q->java)
		explain(q, SIZES_RULES, "%s", version);
	else if (!q->out->has_addresses)
		explain(q, SIZES_RULES,
			"the class library does not record its version, and the IDs are not "
			"addresses");
	else
		explain(q, SIZES_RULES,
			"the class library does not record its version; it has classes added in "
			"version %u, and with version %u, the sizes of %" PRIu64 " classes "
			"match a distance to the next object",
			q->least_java, q->out->model.java, q->out->score.exact);
}

/* ---- the choice ---- */

/*
 * Finds the alignment: the number of low zero bits of all distances, except for a few distances
 * that can be attributed to damage. Unless the dump numbers its objects, IDs that are not multiples
 * of 8 were excluded from the distances (flat.c). If there are too many such IDs, the other IDs are
 * not addresses either.
 */
static void find_alignment(struct search *q, struct layout_model *model)
{
	const struct import *im = q->s->im;
	uint64_t all = 0, below = 0, allowed;
	unsigned bits = 0;

	for (unsigned i = 0; i <= IMPORT_LOW_BITS; i++)
		all += im->evidence.low_bits[i];
	allowed = all / ODD_SHARE < ODD_MAX ? all / ODD_SHARE : ODD_MAX;
	while (bits < IMPORT_LOW_BITS && below + im->evidence.low_bits[bits] <= allowed)
		below += im->evidence.low_bits[bits++];
	q->out->odd_distances = below;
	q->out->has_addresses = all && bits >= 3 && !im->flat.is_numbered &&
				im->flat.odd_count <= all / ODD_IDS_SHARE;
	model->align_bytes = bits < 3 ? 8 : 1u << bits;
	if (q->fixed->align_bytes)
		model->align_bytes = q->fixed->align_bytes;
}

int import_sizes_choose(struct sizes *s, const struct sizes_fixed *fixed, struct sizes_choice *out,
			struct hdb_error *err)
{
	struct search q = { .s = s, .fixed = fixed, .out = out };
	struct layout_model base = {
		.word_bytes = s->im->file.id_size,
		.contended_bytes = LAYOUT_CONTENDED_BYTES,
	};
	char version[SIZES_EVIDENCE_MAX] = "";
	struct try *best;

	memset(out, 0, sizeof(*out));
	base.reverses_fields = lists_backwards(s->im);
	q.java = import_sizes_vm_version(s->im, version);
	q.least_java = least_version(s->im);
	find_alignment(&q, &base);
	list_all(&q, &base);
	TRY(best_try(&q, &best, err));
	out->model = best->model;
	out->score = best->score;
	q.chosen = best->laid_out;
	if (out->has_addresses && !q.java)
		TRY(find_version(&q, err));
	if (out->has_addresses)
		TRY(find_switches(&q, err));
	explain_alignment(&q);
	explain_reference(&q, best);
	explain_header(&q, best);
	explain_rules(&q, version);
	return lay_out_chosen(&q, err);
}
