/*
 * queries/waste/q_duplicates.c - query duplicates: strings or primitive arrays that exist more than
 * once, what their copies cost, and who holds them.
 *
 * Equal contents are neighbours after sorting by hash (contents.h). Only 32 bytes are kept for each
 * run of copies; texts and holders are found when a row is made.
 */
#include "analysis/contents.h"
#include "analysis/describe.h"
#include "base/sort.h"
#include "heap/values/string_scan.h"
#include "heap/values/values.h"
#include "queries/queries.h"
#include "queries/waste/holders.h"
#include "query/coverage.h"

#include <stdio.h>
#include <stdlib.h>

/* Room for the elements of an array that are shown. */
#define TEXT_MAX 512u
/* Maximum number of array elements shown. */
#define SHOWN_ELEMENTS 8u
#define HOLDER_MAX 1200
/* Copies between two checks of the cancel flag. */
#define STEP_COPIES 4096

static const struct hdb_option_spec options[] = {
	{ "strings", HDB_OPTION_FLAG,
	  .help = "Examine strings (default, unless --arrays is given)" },
	{ "arrays", HDB_OPTION_FLAG,
	  .help = "Examine arrays of primitive type, or of the classes that match PATTERN" },
	{ "min-count", HDB_OPTION_NUMBER, "N", "Smallest number of copies", .low = 2,
	  .high = UINT32_MAX, .unit = "objects", .default_value = "2", .example = "10" },
	{ "min-wasted", HDB_OPTION_NUMBER, "BYTES", "Smallest number of wasted bytes", .low = 0,
	  .high = UINT64_MAX, .unit = "bytes", .default_value = "0", .example = "1024" },
	QUERY_POPULATION_OPTIONS("objects"),
	{ "no-holders", HDB_OPTION_FLAG,
	  .help = "Do not look for holders. Needs one pass and no table of referrers." },
	{ .name = NULL },
};

#define COLUMNS(X) \
	X(WASTED, BYTES, "wasted", "wasted", \
	  "Bytes of all copies except one, with arrays. Shared arrays count once, partly used " \
	  "ones not at all.") \
	X(COUNT, COUNT, "objects", "objects", "Objects with this content") \
	X(ARRAYS, COUNT, "arrays", "arrays", "Distinct arrays that hold it") \
	X(CLASS, TEXT, "class", "class", "Class of the first copy") \
	X(LENGTH, COUNT, "length", "length", \
	  "Length of the text in UTF-16 units, or elements of the array") \
	X(TOTAL, BYTES, "total_shallow", "total shallow", "Bytes of all copies and their arrays") \
	X(TEXT, TEXT, "text", "text", \
	  "Text; beyond 1 MiB, its beginning and length. For arrays, the first elements.") \
	X(HOLDER, TEXT, "holder", "holder", \
	  "Holder: field, or class of arrays, from which most references to copies come") \
	X(HELD, COUNT, "held", "times", "References from that holder") \
	X(REFERENCES, COUNT, "references", "of", \
	  "References to all copies. An array counts once for each copy it holds.") \
	X(ID, ID, "id", "id", "ID of the first copy")
enum { COLUMNS(QUERY_NUMBER) };
static const struct hdb_column columns[] = { COLUMNS(QUERY_COLUMN) };

static const struct hdb_column facts[] = {
	QUERY_ZEROED_FACT,
	{ "objects", HDB_TYPE_COUNT, "objects", "Strings or arrays compared" },
	{ "contents", HDB_TYPE_COUNT, "contents", "Distinct contents among them" },
	{ "duplicated", HDB_TYPE_COUNT, "duplicated", "Contents with enough copies to be listed" },
	{ "copies", HDB_TYPE_COUNT, "copies",
	  "Objects that could be saved: all listed copies except one of each" },
	{ "wasted", HDB_TYPE_BYTES, "wasted", "Bytes that could be saved: the sum of the column" },
	{ "total_shallow", HDB_TYPE_BYTES, "total shallow",
	  "Bytes of all listed copies and their arrays: the sum of the column" },
	{ "heap_shallow", HDB_TYPE_BYTES, "heap shallow",
	  "Shallow size of all counted objects of any class" },
	{ "without_content", HDB_TYPE_COUNT, "without content",
	  "Objects whose content the dump lacks" },
	QUERY_COVERAGE_FACTS,
};

/* Objects with the same contents. */
struct group {
	uint64_t first;  /* index in the records */
	uint64_t wasted; /* bytes */
	uint64_t total;  /* bytes */
	uint32_t count;
	uint32_t arrays;
};

struct duplicates {
	struct analysis_contents contents;
	struct analysis_holders holders;
	bool of_arrays, has_holders;
	uint8_t *is_class;
	uint64_t min_count, min_wasted;
	struct base_big groups;
	struct base_big order; /* struct base_sort_key: groups in the order of rows */
	uint64_t group_count, distinct;
	/* contents with fewer copies than --min-count; contents that waste less */
	struct analysis_cut rare, thrifty;
	char text[TEXT_MAX + 1];
};

/* ---- grouping ---- */

/*
 * Counts the different contents, and those with enough copies; *longest is the largest number of
 * copies.
 */
static void count_runs(struct duplicates *d, uint64_t *groups, uint64_t *longest)
{
	*groups = *longest = 0;
	for (uint64_t i = 0; i < d->contents.count;) {
		const uint64_t to = analysis_contents_run(&d->contents, i), n = to - i;

		d->distinct++;
		*groups += n >= d->min_count;
		/* A content that exists only once is not a duplicate. */
		if (n > 1 && n < d->min_count) {
			d->rare.rows++;
			d->rare.objects += n;
		}
		if (n >= d->min_count && n > *longest)
			*longest = n;
		i = to;
	}
}

static int make_groups(struct query *q, struct duplicates *d, struct base_sort_key *keys,
		       struct base_sort_key *spare, struct hdb_error *err)
{
	const struct analysis_content *records = d->contents.records.data;
	struct group *groups = d->groups.data;
	struct analysis_copies copies;
	uint64_t looked = 0;

	base_stage(q->work, "comparing", d->contents.count, "objects");
	for (uint64_t i = 0; i < d->contents.count;) {
		const uint64_t to = analysis_contents_run(&d->contents, i);
		struct group *g = &groups[d->group_count];

		if (to - i >= d->min_count) {
			*g = (struct group){ .first = i, .count = (uint32_t)(to - i) };
			TRY(analysis_copies_measure(
				&q->session,
				&(struct analysis_run){ .first = records + i,
							.count = g->count,
							.of_arrays = d->of_arrays,
							.keys = keys,
							.spare = spare },
				&copies, err));
			g->wasted = copies.wasted;
			g->total = copies.total;
			g->arrays = copies.arrays;
			d->group_count += g->wasted >= d->min_wasted;
			if (g->wasted < d->min_wasted) {
				d->thrifty.rows++;
				d->thrifty.objects += g->count;
				d->thrifty.bytes += g->total;
			}
			looked += g->count;
		}
		if (looked >= STEP_COPIES) {
			looked = 0;
			TRY(base_step(q->work, i, err));
		}
		i = to;
	}
	return HDB_OK;
}

/* Most waste first, then by ID. */
static int order_groups(struct query *q, struct duplicates *d, struct hdb_error *err)
{
	const struct analysis_content *records = d->contents.records.data;
	const struct group *groups = d->groups.data;
	const uint64_t bytes = (d->group_count + 1) * sizeof(struct base_sort_key);
	BASE_SCOPED(base_big_free) struct base_big spare = { 0 };
	struct base_sort_key *keys;

	TRY(base_big_alloc(q->work, &d->order, bytes, "duplicates", err));
	TRY(base_big_alloc(q->work, &spare, bytes, "duplicates", err));
	keys = d->order.data;
	for (uint64_t i = 0; i < d->group_count; i++)
		keys[i] = (struct base_sort_key){ records[groups[i].first].ix, (uint32_t)i };
	base_sort_keys(keys, spare.data, d->group_count);
	for (uint64_t i = 0; i < d->group_count; i++)
		keys[i].key = ~groups[keys[i].node].wasted;
	base_sort_keys(keys, spare.data, d->group_count);
	return HDB_OK;
}

static int group_contents(struct query *q, struct duplicates *d, struct hdb_error *err)
{
	BASE_SCOPED(base_big_free) struct base_big keys = { 0 }, spare = { 0 };
	uint64_t groups, longest;

	count_runs(d, &groups, &longest);
	TRY(base_big_alloc(q->work, &d->groups, (groups + 1) * sizeof(struct group), "duplicates",
			   err));
	longest = (longest + 1) * sizeof(struct base_sort_key);
	TRY(base_big_alloc(q->work, &keys, longest, "duplicates", err));
	TRY(base_big_alloc(q->work, &spare, longest, "duplicates", err));
	TRY(make_groups(q, d, keys.data, spare.data, err));
	return order_groups(q, d, err);
}

static void set_facts(struct query *q, const struct duplicates *d)
{
	const struct group *groups = d->groups.data;
	uint64_t copies = 0, wasted = 0, total = 0;
	query_zeroed(q);
	query_fact(q, "objects", d->contents.count);

	for (uint64_t i = 0; i < d->group_count; i++) {
		copies += groups[i].count - 1;
		wasted += groups[i].wasted;
		total += groups[i].total;
	}
	query_fact(q, "contents", d->distinct);
	query_fact(q, "duplicated", d->group_count);
	query_fact(q, "copies", copies);
	query_fact(q, "wasted", wasted);
	query_fact(q, "total_shallow", total);
	query_fact(q, "heap_shallow", d->contents.heap_bytes);
	query_report_unreachable(q, d->contents.unreachable_count, d->contents.unreachable_bytes);
	query_cut(q, &d->rare,
		  "contents that occur more than once, but fewer than %" PRIu64
		  " times (--min-count)",
		  d->min_count);
	query_cut(q, &d->thrifty, "contents that waste fewer than %" PRIu64 " bytes (--min-wasted)",
		  d->min_wasted);
	query_fact(q, "without_content", d->contents.without);
}

/* ---- the query ---- */

/* Finds the array classes that PATTERN matches. */
static int choose_classes(struct query *q, struct duplicates *d, struct hdb_error *err)
{
	if (!q->target_count)
		return HDB_OK;
	if (!d->of_arrays)
		return hdb_fail(err, HDB_EUSAGE,
				"a class pattern needs --arrays: all strings are compared");
	return analysis_class_marks(&q->session, q->targets[0], false, &d->is_class, err);
}

static int read_options(struct query *q, struct duplicates *d, struct hdb_error *err)
{
	d->of_arrays = query_option(q, "arrays") != NULL;
	d->has_holders = !query_option(q, "no-holders");
	if (d->of_arrays && query_option(q, "strings"))
		return hdb_fail(err, HDB_EUSAGE, "--strings cannot be combined with --arrays");
	d->min_count = query_number(q, "min-count", 0);
	d->min_wasted = query_number(q, "min-wasted", 0);
	TRY(choose_classes(q, d, err));
	if (d->of_arrays) {
		query_choose(q, d->has_holders ? "wasted,objects,class,length,text,holder,held,"
						 "references,id" :
						 "wasted,objects,class,length,text,id");
		return HDB_OK;
	}
	query_choose(q, d->has_holders ? "wasted,objects,arrays,length,total_shallow,text,"
					 "holder,held,references,id" :
					 "wasted,objects,arrays,length,total_shallow,text,"
					 "id");
	return HDB_OK;
}

static int open_duplicates(struct query *q, struct hdb_error *err)
{
	struct duplicates *d = q->state;
	struct analysis_contents_options wanted = { 0 };

	d->rare.bytes = ANALYSIS_NOT_COUNTED;
	TRY(read_options(q, d, err));
	wanted.kind = d->of_arrays ? ANALYSIS_ARRAYS : ANALYSIS_TEXTS;
	wanted.population = q->population;
	wanted.is_class = d->is_class;
	wanted.counts_heap = true;
	if (d->has_holders)
		TRY(analysis_holders_begin(&q->session, &d->holders,
					   q->population != ANALYSIS_OF_REACHABLE, err));
	TRY(analysis_contents_read(&q->session, &wanted, &d->contents, err));
	TRY(group_contents(q, d, err));
	q->total = d->group_count;
	set_facts(q, d);
	return HDB_OK;
}

static int set_string(struct query *q, uint32_t ix, struct hdb_error *err)
{
	struct heap_string string;

	TRY(heap_string_one(q->heap, ix, &string, err));
	query_set(q, LENGTH, string.chars.count);
	return query_set_string(q, TEXT, ix, err);
}

static int set_array(struct query *q, struct duplicates *d, uint32_t ix, struct hdb_error *err)
{
	uint64_t bits[SHOWN_ELEMENTS];
	struct heap_slice slice = { .bits = bits, .room = SHOWN_ELEMENTS };
	struct heap_value value = { 0 };
	struct heap_object object;
	size_t used = 0;

	TRY(heap_object(q->heap, ix, &object, err));
	TRY(heap_elements(q->heap, ix, 0, &slice, err));
	value.type = slice.type;
	for (uint64_t i = 0; i < slice.done; i++) {
		char text[64];

		value.bits = bits[i];
		analysis_value_text(&value, text, sizeof(text));
		used += (size_t)snprintf(d->text + used, TEXT_MAX - used, "%s%s", i ? ", " : "",
					 text);
	}
	query_set(q, LENGTH, object.length);
	query_format(q, TEXT, "[%.*s%s]", (int)used, d->text,
		     object.length > slice.done ? ", ..." : "");
	return HDB_OK;
}

static int set_holder(struct query *q, struct duplicates *d, const struct group *g,
		      struct hdb_error *err)
{
	const struct analysis_content *records = d->contents.records.data;
	char holder[HOLDER_MAX];
	uint64_t held;

	analysis_holders_clear(&d->holders);
	for (uint64_t i = g->first; i < g->first + g->count; i++) {
		TRY(analysis_holders_add(&q->session, &d->holders, records[i].ix, err));
		if ((i - g->first) % STEP_COPIES == STEP_COPIES - 1)
			TRY(base_step(q->work, q->row_no, err));
	}
	TRY(analysis_holders_top(&q->session, &d->holders, BASE_TEXT(holder), &held, err));
	query_set(q, HELD, held);
	query_set(q, REFERENCES, d->holders.references);
	query_set_text(q, HOLDER, holder);
	return HDB_OK;
}

static int group_row(struct query *q, size_t no, struct hdb_error *err)
{
	struct duplicates *d = q->state;
	const struct base_sort_key *order = d->order.data;
	const struct analysis_content *records = d->contents.records.data;
	const struct group *g = (const struct group *)d->groups.data + order[no].node;
	const uint32_t ix = records[g->first].ix;

	query_set(q, WASTED, g->wasted);
	query_set(q, COUNT, g->count);
	query_set(q, ARRAYS, g->arrays);
	query_set(q, TOTAL, g->total);
	TRY(d->of_arrays ? set_array(q, d, ix, err) : set_string(q, ix, err));
	query_set_class_of(q, CLASS, ix);
	query_set_id(q, ID, ix);
	return d->has_holders ? set_holder(q, d, g, err) : HDB_OK;
}

static void close_duplicates(struct query *q)
{
	struct duplicates *d = q->state;

	analysis_contents_release(&d->contents);
	analysis_holders_release(&d->holders);
	base_big_free(&d->groups);
	base_big_free(&d->order);
	free(d->is_class);
}

const struct query_def query_duplicates = {
	.spec = {
		.name = "duplicates", .aliases = "duplicate-strings",
		.group = "waste", .example = "",
		.targets = "[PATTERN]",
		.target_types = HDB_TARGET_PATTERN, .target_min = 0, .target_max = 1,
		.never_null = "wasted|objects",
		.summary = "Duplicate strings or primitive arrays, the bytes they waste, and the "
			"fields that hold them",
		.options = options,
		QUERY_COLUMNS(columns), QUERY_FACTS(facts), .is_query = 1,
	},
	.no_rows = "no requested content occurs more than once",
	.population = ANALYSIS_OF_REACHABLE,
	.uses = QUERY_USES_STRENGTH | QUERY_USES_HEAP,
	.keeps = STORE_ANSWER_DUPLICATES,
	.state_size = sizeof(struct duplicates),
	.open = open_duplicates, .row = group_row, .close = close_duplicates,
};
