/*
 * queries/waste/q_substrings.c - the substrings query: arrays that several strings share, or that
 * strings use only in part: substrings in VMs up to JDK 7u5, deduplicated strings, and copies made
 * by new String(String).
 *
 * Strings are sorted by array (contents.h), so all strings that use an array are adjacent.
 */
#include "analysis/contents.h"
#include "queries/queries.h"

/* Number of strings between two checks of the cancel flag. */
#define STEP_STRINGS 65536

#include <queries/waste/q_substrings.query.h>

/* An array to show. */
struct shown {
	uint64_t first; /* index of its first string in the records */
	uint64_t wasted, used;
	uint32_t strings;
};

struct substrings {
	struct analysis_contents contents;
	struct base_big rows;  /* struct shown */
	struct base_big order; /* struct base_sort_key: one per array, in the order of the rows */
	uint64_t row_count;
	uint64_t arrays, shared, sharing, wasted;
	struct analysis_cut unshared,
		/*
		 * arrays with waste but only one string, and arrays that waste less than the limit
		 */
		thrifty;
};

/* Adds up the strings of one array, which the caller has set. */
static int measure(struct query *q, const struct substrings *s, struct shown *out,
		   struct hdb_error *err)
{
	const struct analysis_content *records =
		(const struct analysis_content *)s->contents.records.data + out->first;
	uint64_t end = 0;
	struct heap_object array;

	TRY(heap_object(q->heap, records[0].array_ix, &array, err));
	/* The strings are sorted by their first element. */
	for (uint32_t i = 0; i < out->strings; i++) {
		const uint64_t first = records[i].high >> 32;
		const uint64_t after = first + (uint32_t)records[i].high;

		if (after <= end)
			continue;
		out->used += after - (first > end ? first : end);
		end = after;
	}
	if (out->used < array.length)
		out->wasted =
			array.shallow_bytes - heap_shallow(q->heap, array.class_no,
							   array.kind | array.embedded, out->used);
	return HDB_OK;
}

static void leave_out(struct analysis_cut *cut, const struct shown *row)
{
	cut->rows++;
	cut->objects += row->strings;
	cut->bytes += row->wasted;
}

/*
 * Visits all arrays that strings use. If `rows` is NULL, sums the arrays and their wasted bytes,
 * and counts the rows. Otherwise fills in the rows.
 */
static int find_arrays(struct query *q, struct substrings *s, uint64_t min_wasted,
		       struct shown *rows, struct hdb_error *err)
{
	const bool only_shared = query_option(q, "shared") != NULL;
	const struct analysis_content *records = s->contents.records.data;
	const uint64_t count = s->contents.count;
	uint64_t looked = 0, found = 0;

	base_stage(q->work, "comparing", count, "strings");
	for (uint64_t from = 0, to; from < count; from = to) {
		struct shown row = { .first = from };
		bool is_shared;

		for (to = from + 1; to < count && records[to].low == records[from].low; to++)
			;
		row.strings = (uint32_t)(to - from);
		TRY(measure(q, s, &row, err));
		is_shared = row.strings > 1;
		if (!rows) {
			s->arrays++;
			s->wasted += row.wasted;
			s->shared += is_shared;
			s->sharing += is_shared ? row.strings : 0;
			if (row.wasted && row.wasted >= min_wasted && !is_shared && only_shared)
				leave_out(&s->unshared, &row);
			else if ((row.wasted || is_shared) && row.wasted < min_wasted)
				leave_out(&s->thrifty, &row);
		}
		if ((is_shared || (row.wasted && !only_shared)) && row.wasted >= min_wasted) {
			if (rows)
				rows[found] = row;
			found++;
		}
		if (to - looked >= STEP_STRINGS) {
			looked = to;
			TRY(base_step(q->work, to, err));
		}
	}
	s->row_count = found;
	return HDB_OK;
}

/* Sorts by waste and number of strings, largest first, then by ID. */
static int order_rows(struct query *q, struct substrings *s, struct hdb_error *err)
{
	const uint64_t bytes = (s->row_count + 1) * sizeof(struct base_sort_key);
	const struct shown *rows = s->rows.data;
	BASE_SCOPED(base_big_free) struct base_big spare = { 0 };
	struct base_sort_key *keys;

	TRY(base_big_alloc(q->work, &s->order, bytes, "substrings", err));
	TRY(base_big_alloc(q->work, &spare, bytes, "substrings", err));
	keys = s->order.data;
	for (uint64_t i = 0; i < s->row_count; i++)
		keys[i] = (struct base_sort_key){ ~(uint64_t)rows[i].strings, (uint32_t)i };
	base_sort_keys(keys, spare.data, s->row_count);
	for (uint64_t i = 0; i < s->row_count; i++)
		keys[i].key = ~rows[keys[i].node].wasted;
	base_sort_keys(keys, spare.data, s->row_count);
	return HDB_OK;
}

static void set_facts(struct query *q, const struct substrings *s, uint64_t min_wasted)
{
	query_zeroed(q);
	query_fact(q, "strings", s->contents.count);

	query_fact(q, "arrays", s->arrays);
	query_fact(q, "shared", s->shared);
	query_fact(q, "sharing", s->sharing);
	query_fact(q, "without_text", s->contents.without);
	query_report_unreachable(q, s->contents.unreachable_count, s->contents.unreachable_bytes);
	query_cut(q, &s->unshared,
		  "arrays used by only one string, and the bytes they waste (--shared)");
	query_cut(q, &s->thrifty,
		  "arrays that waste fewer than %" PRIu64
		  " bytes, and the bytes they waste (--min-wasted)",
		  min_wasted);
	query_fact(q, "wasted", s->wasted);
}

static int open_substrings(struct query *q, struct hdb_error *err)
{
	struct analysis_contents_options wanted = { .kind = ANALYSIS_SPANS };
	struct substrings *s = q->state;
	uint64_t min_wasted;

	min_wasted = query_number(q, "min-wasted", 0);
	wanted.population = q->population;
	TRY(analysis_contents_read(&q->session, &wanted, &s->contents, err));
	TRY(find_arrays(q, s, min_wasted, NULL, err));
	TRY(base_big_alloc(q->work, &s->rows, (s->row_count + 1) * sizeof(struct shown),
			   "substrings", err));
	TRY(find_arrays(q, s, min_wasted, s->rows.data, err));
	TRY(order_rows(q, s, err));
	q->total = s->row_count;
	set_facts(q, s, min_wasted);
	return HDB_OK;
}

static int array_row(struct query *q, size_t no, struct hdb_error *err)
{
	struct substrings *s = q->state;
	const struct base_sort_key *order = s->order.data;
	const struct shown *row = (const struct shown *)s->rows.data + order[no].node;
	const struct analysis_content *record =
		(const struct analysis_content *)s->contents.records.data + row->first;
	struct heap_object array;

	query_set(q, WASTED, row->wasted);
	query_set(q, STRINGS, row->strings);
	query_set(q, USED, row->used);
	TRY(heap_object(q->heap, record->array_ix, &array, err));
	query_set(q, LENGTH, array.length);
	query_set(q, SHALLOW, array.shallow_bytes);
	query_set_class_of(q, CLASS, record->array_ix);
	TRY(query_set_string(q, TEXT, record->ix, err));
	query_set_id(q, STRING, record->ix);
	query_set_id(q, ID, record->array_ix);
	return HDB_OK;
}

QUERY_DEFINE(substrings, QUERY_STATE(struct substrings, contents, rows, order),
	     .open = open_substrings, .row = array_row);
