/*
 * queries/waste/q_duplicates.c - the duplicates query: strings or primitive arrays that exist more
 * than once, how much memory their copies take, and what holds them.
 *
 * After sorting by hash, equal contents are adjacent (contents.h). Only 32 bytes are kept for each
 * run of copies. Strings and holders are found when a row is read.
 */
#include "analysis/contents.h"
#include "base/base_text.h"
#include "base/idmap.h"
#include "heap/values/string_scan.h"
#include "heap/values/values.h"
#include "queries/queries.h"

/* The fields that hold a set of objects, and the number of references from each field. */

/* A field, the elements of an array class, or local variables of threads. */
struct holder_count {
	/* class number << 32 | index in the `fields` table, or a special field number */
	uint64_t key;
	uint64_t count; /* number of references from this holder */
};

/* Counts of references to a set of objects. */
struct holders {
	struct store_lists referrers;
	bool with_unreachable;     /* whether references from unreachable objects also count */
	struct base_vec counts;    /* struct holder_count */
	struct base_idmap numbers; /* key to index of the count */
	uint64_t references;       /* number of references counted */
};

/* Special field numbers: elements of an array, a reference that is not from a field, a root. */
#define ELEMENTS 0xfffffffeu
#define LOCAL 0xfffffffdu
#define ROOT 0xfffffffcu

#define FIELD_NAME_BYTES 512
/* Number of references between two checks of the cancel flag. */
#define STEP_REFERENCES 4096

static int count(struct holders *h, uint32_t class_no, uint32_t field_no, struct hdb_error *err)
{
	const struct holder_count fresh = { .key = (uint64_t)class_no << 32 | field_no };
	uint32_t no = base_idmap_get(&h->numbers, fresh.key);

	if (no == BASE_IDMAP_NONE) {
		no = (uint32_t)h->counts.count;
		TRY(base_vec_push(&h->counts, &fresh, sizeof(fresh), err));
		TRY(base_idmap_put(&h->numbers, fresh.key, no, err));
	}
	base_vec_at(&h->counts, struct holder_count, no)->count++;
	h->references++;
	return HDB_OK;
}

static void holders_release(struct holders *h)
{
	base_vec_release(&h->counts);
	base_idmap_release(&h->numbers);
}

/*
 * Sets all counts to 0. The first call builds the table of referrers, because callers that read
 * only the facts do not need this table.
 */
static int holders_begin(const struct session *session, struct holders *h, struct hdb_error *err)
{
	h->counts.count = 0;
	base_idmap_release(&h->numbers);
	h->references = 0;
	if (h->referrers.store)
		return HDB_OK;
	TRY(heap_load_roots(session->heap, err));
	return derive_referrers(session->derive, &h->referrers, err);
}

/* Counts the fields of an instance, or the static fields of a class, that contain to_id. */
static int count_fields(struct holders *h, struct heap_fields *fields, uint64_t to_id, bool *found,
			struct hdb_error *err)
{
	int r;

	while ((r = heap_fields_next(fields, err)) == HDB_OK) {
		if (fields->value.type != HPROF_OBJECT || fields->value.bits != to_id)
			continue;
		*found = true;
		r = count(h, fields->declaring_no, fields->at - 1, err);
		TRY_ERRORS(r);
	}
	return r == HDB_END ? HDB_OK : r;
}

static int count_holder(const struct session *session, struct holders *h, uint32_t from,
			uint64_t to_id, struct hdb_error *err)
{
	struct heap_fields fields;
	struct heap_object object;
	bool found = false;
	int r = heap_object(session->heap, from, &object, err);

	TRY(r);
	switch (object.kind) {
	case STORE_OBJECT_ARRAY:
		return count(h, object.class_no, ELEMENTS, err);
	case STORE_CLASS:
		heap_statics_begin(session->heap, (uint32_t)object.length, &fields);
		break;
	default:
		r = heap_fields_begin(session->heap, from, &fields, err);
		break;
	}
	TRY(r);
	TRY(count_fields(h, &fields, to_id, &found, err));
	return !found ? count(h, object.class_no, LOCAL, err) : HDB_OK;
}

/* Counts the references to object ix. A root without referrers counts as held by "<root>". */
static int holders_add(const struct session *session, struct holders *h, uint32_t ix,
		       struct hdb_error *err)
{
	const uint32_t *batch;
	size_t n = 0;
	uint64_t to_id, before = h->references;

	TRY(heap_id(session->heap, ix, &to_id, err));
	TRY(store_lists_begin(&h->referrers, ix, NULL, err));
	do {
		TRY(store_lists_next(&h->referrers, &batch, &n, err));
		for (size_t i = 0; i < n; i++) {
			bool reachable = true;

			if (!h->with_unreachable)
				TRY(derive_is_reachable(session->derive, batch[i], &reachable,
							err));
			if (reachable)
				TRY(count_holder(session, h, batch[i], to_id, err));
			if (h->references % STEP_REFERENCES == 0)
				TRY(base_step(session->work, h->references, err));
		}
	} while (n);
	if (h->references == before && heap_is_root(session->heap, ix))
		return count(h, 0, ROOT, err);
	return HDB_OK;
}

static int name_of(const struct session *session, uint64_t key, char *buf, size_t size,
		   struct hdb_error *err)
{
	const uint32_t class_no = (uint32_t)(key >> 32), field_no = (uint32_t)key;
	const char *class = heap_class_name(session->heap, class_no);
	char name[FIELD_NAME_BYTES];
	struct store_field field;

	switch (field_no) {
	case ELEMENTS:
		(void)snprintf(buf, size, "%s", class);
		return HDB_OK;
	case LOCAL:
		(void)snprintf(buf, size, "<local variable>");
		return HDB_OK;
	case ROOT:
		(void)snprintf(buf, size, "<root>");
		return HDB_OK;
	default:
		break;
	}
	TRY(heap_field(session->heap, field_no, &field, err));
	TRY(heap_text(session->heap, field.name_text, name, sizeof(name), err));
	(void)snprintf(buf, size, "%s%s.%s", field.is_static ? "static " : "", class, name);
	return HDB_OK;
}

/*
 * Writes the most frequent holder: "java.util.HashMap$Node.key", "static Main.cache",
 * "java.lang.String[]", "<local variable>", "<root>". Writes nothing if there is none. Sets
 * *references to the number of its references.
 */
static int holders_top(const struct session *session, const struct holders *h,
		       struct base_text text, uint64_t *references, struct hdb_error *err)
{
	const struct holder_count *counts = h->counts.data, *best = NULL;

	assert(text.size > 0);
	text.buf[0] = '\0';
	*references = 0;
	for (size_t i = 0; i < h->counts.count; i++)
		if (!best || counts[i].count > best->count ||
		    (counts[i].count == best->count && counts[i].key < best->key))
			best = &counts[i];
	if (!best)
		return HDB_OK;
	*references = best->count;
	return name_of(session, best->key, text.buf, text.size, err);
}

/* Maximum size of the text with an array's first elements. */
#define TEXT_MAX 512u
/* Maximum number of array elements shown. */
#define SHOWN_ELEMENTS 8u
#define HOLDER_MAX 1200
/* Number of copies between two checks of the cancel flag. */
#define STEP_COPIES 4096

#include <queries/waste/q_duplicates.query.h>

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
	struct holders holders;
	bool of_arrays, has_holders;
	uint8_t *is_class;
	uint64_t min_count, min_wasted;
	struct base_big groups;
	struct base_big order; /* struct base_sort_key: the groups in the order of the rows */
	uint64_t group_count, distinct;
	/*
	 * contents with fewer copies than --min-count, and contents that waste less than the limit
	 */
	struct analysis_cut rare, thrifty;
	char text[TEXT_MAX + 1];
};

/* ---- grouping ---- */

/*
 * Counts the different contents, and the contents with enough copies. Sets *longest to the largest
 * number of copies.
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

/* Sorts groups by waste, largest first, then by ID. */
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
				"a class pattern requires --arrays; without it, the query compares "
				"all strings");
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
	d->holders.with_unreachable = q->population != ANALYSIS_OF_REACHABLE;
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

	TRY(holders_begin(&q->session, &d->holders, err));
	for (uint64_t i = g->first; i < g->first + g->count; i++) {
		TRY(holders_add(&q->session, &d->holders, records[i].ix, err));
		if ((i - g->first) % STEP_COPIES == STEP_COPIES - 1)
			TRY(base_step(q->work, q->row_no, err));
	}
	TRY(holders_top(&q->session, &d->holders, BASE_TEXT(holder), &held, err));
	query_set(q, HELD, held);
	query_set(q, REFERENCES, d->holders.references);
	query_set_text(q, HOLDER, holder);
	return HDB_OK;
}

static const struct group *group_at(const struct duplicates *d, size_t no)
{
	const struct base_sort_key *order = d->order.data;

	return (const struct group *)d->groups.data + order[no].node;
}

static int group_row(struct query *q, size_t no, struct hdb_error *err)
{
	const struct group *g = group_at(q->state, no);

	(void)err;
	query_set(q, WASTED, g->wasted);
	query_set(q, COUNT, g->count);
	query_set(q, ARRAYS, g->arrays);
	query_set(q, TOTAL, g->total);
	return HDB_OK;
}

static int group_rest(struct query *q, size_t no, struct hdb_error *err)
{
	struct duplicates *d = q->state;
	const struct analysis_content *records = d->contents.records.data;
	const struct group *g = group_at(d, no);
	const uint32_t ix = records[g->first].ix;

	TRY(d->of_arrays ? set_array(q, d, ix, err) : set_string(q, ix, err));
	query_set_class_of(q, CLASS, ix);
	query_set_id(q, ID, ix);
	return d->has_holders ? set_holder(q, d, g, err) : HDB_OK;
}

static void close_duplicates(struct query *q)
{
	struct duplicates *d = q->state;

	analysis_contents_release(&d->contents);
	holders_release(&d->holders);
	base_big_free(&d->groups);
	base_big_free(&d->order);
	free(d->is_class);
}

QUERY_DEFINE(duplicates, .state_size = sizeof(struct duplicates), .open = open_duplicates,
	     .row = group_row, .rest = group_rest, .close = close_duplicates);
