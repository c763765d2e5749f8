/*
 * queries/objects/q_entries.c - the entries query, which lists the contents of a collection, or of
 * all collections of a class: the keys and values of maps, and the elements of other collections.
 */
#include "analysis/members.h"
#include "heap/collections/collections.h"
#include "queries/queries.h"

/* Maximum length of a key or value as text, in bytes. */
#define TEXT_SIZE 4096
/* Number of objects between two checks of the cancel flag. */
#define STEP_OBJECTS 4096

/* Columns for a single collection. */
#define COLUMNS_OF_ONE "no,key,key_label,key_id,value,value_label,value_id,retained,entry"

#include <queries/objects/q_entries.query.h>

struct contents {
	struct analysis_members members; /* collections of a class */
	bool is_class;
	bool is_open; /* whether either iterator is open */
	uint64_t at;  /* index of the next member */
	struct heap_collection collection;
	struct heap_entries entries;
	uint64_t from;
	bool is_reported; /* whether omitted entries have been reported */
};

static void set_facts(struct query *q, const struct contents *s)
{
	const struct heap_collection *c = &s->collection;
	const char *note = s->entries.unknown ? s->entries.unknown :
			   !c->inner          ? "the wrapped collection is null" :
			   c->has_lied        ? "the collection records an impossible size" :
						NULL;

	query_fact_object(q, c->ix);
	query_fact_text(q, "known_as", c->rule->class_name);
	query_fact_text(q, "kind", heap_collection_kind_name(c->rule->kind));
	if (c->inner_ix != c->ix)
		query_fact_id(q, "in", c->inner_ix);
	if (c->has_size)
		query_fact(q, "size", c->size);
	if (c->has_capacity)
		query_fact(q, "capacity", c->capacity);
	if (note)
		query_fact_text(q, "note", note);
}

static int fail_unknown(struct query *q, uint32_t ix, struct hdb_error *err)
{
	struct heap_object object;

	TRY(heap_object(q->heap, ix, &object, err));
	return hdb_fail(err, HDB_NOTFOUND,
			"%s is not a known collection: its class is %s; `query object` shows its "
			"fields or elements",
			q->targets[0], heap_class_name(q->heap, object.class_no));
}

static int open_one(struct query *q, struct contents *s, struct hdb_error *err)
{
	uint32_t ix;
	int r;

	q->population = ANALYSIS_OF_NOTHING;
	TRY(analysis_object(&q->session, q->targets[0], &ix, err));
	r = heap_collection_open(q->heap, ix, &s->collection, err);
	if (r == HDB_NOTFOUND)
		return fail_unknown(q, ix, err);
	TRY_ERRORS(r);
	TRY(heap_entries_begin(q->heap, &s->collection, &s->entries, err));
	set_facts(q, s);
	s->is_open = true;
	query_choose(q, COLUMNS_OF_ONE);
	return HDB_OK;
}

static int open_class(struct query *q, struct contents *s, struct hdb_error *err)
{
	bool is_known = false;

	s->is_class = true;
	TRY(analysis_members_find(&q->session, q->targets[0], query_option(q, "subclasses") != NULL,
				  &s->members, err));
	for (uint32_t no = 0; no < q->heap->class_count && !is_known; no++)
		is_known = s->members.is_member_class[no] && heap_collection_rule(q->heap, no);
	if (!is_known)
		return hdb_fail(err, HDB_NOTFOUND, "%s is not a known collection class",
				q->targets[0]);
	query_fact_text(q, "class", q->targets[0]);
	query_fact(q, "objects", s->members.count);
	query_report_unreachable(q, s->members.unreachable_count, s->members.unreachable_bytes);
	return HDB_OK;
}

static int open_entries(struct query *q, struct hdb_error *err)
{
	struct contents *s = q->state;

	s->from = query_number(q, "from", 0);
	return analysis_is_object(q->targets[0]) ? open_one(q, s, err) : open_class(q, s, err);
}

/* ---- rows ---- */

/* Sets a value as text, without its class and quotes. */
static int set_plain(struct query *q, size_t column, const struct heap_value *value,
		     struct hdb_error *err)
{
	char text[TEXT_SIZE];
	uint32_t ix;

	if (value->type != HPROF_OBJECT) {
		analysis_value_text(value, text, sizeof(text));
		query_set_text(q, column, text);
		return HDB_OK;
	}
	if (!value->bits)
		return HDB_OK;
	TRY_FOUND(heap_find(q->heap, value->bits, &ix, err));
	text[0] = '\0';
	if (heap_is_string(q->heap, ix)) {
		TRY_FOUND(query_set_string(q, column, ix, err));
		return HDB_OK;
	}
	analysis_describe(&q->session, ix, text, sizeof(text));
	if (text[0])
		query_set_text(q, column, text);
	return HDB_OK;
}

static int set_retained(struct query *q, const struct heap_value *value, struct hdb_error *err)
{
	uint64_t retained;
	uint32_t ix;

	if (value->type != HPROF_OBJECT || !value->bits || !derive_has(q->derive, STORE_RETAINED))
		return HDB_OK;
	TRY_FOUND(heap_find(q->heap, value->bits, &ix, err));
	TRY_FOUND(derive_retained(q->derive, ix, &retained, err));
	query_set(q, RETAINED, retained);
	return HDB_OK;
}

/* Opens the next collection of the class. Returns HDB_OK or HDB_END. */
static int open_next(struct query *q, struct hdb_error *err)
{
	struct contents *s = q->state;
	const uint32_t *ixs = s->members.ixs.data;
	int r = HDB_NOTFOUND;

	assert(!s->is_open);
	assert(s->at <= s->members.count);
	while (r == HDB_NOTFOUND) {
		bool reachable = true;
		uint32_t ix;

		if (!s->is_class || s->at == s->members.count)
			return HDB_END;
		ix = ixs[s->at++];
		TRY(derive_is_reachable(q->derive, ix, &reachable, err));
		r = query_counts(q, reachable) ?
			    heap_collection_open(q->heap, ix, &s->collection, err) :
			    HDB_NOTFOUND;
		if (r == HDB_NOTFOUND && s->at % STEP_OBJECTS == 0 &&
		    base_step(q->work, s->at, err) < 0)
			return HDB_EINTR;
	}
	s->is_reported = false;
	s->is_open = r == HDB_OK;
	return r < 0 ? r : heap_entries_begin(q->heap, &s->collection, &s->entries, err);
}

/*
 * Sets *out to whether an entry is shown. With --heap, only entries with a value in that heap are
 * shown.
 */
static int is_shown(struct query *q, const struct heap_value *value, bool *out,
		    struct hdb_error *err)
{
	uint32_t ix;
	int r;

	*out = !q->is_filtered;
	if (*out || value->type != HPROF_OBJECT || !value->bits)
		return HDB_OK;
	TRY_FOUND(heap_find(q->heap, value->bits, &ix, err));
	r = heap_passes_over(q->heap, ix, out, err);
	*out = !*out;
	return r;
}

static const char *cut_text(const struct heap_entries *e)
{
	return e->rule && e->rule->shape == HEAP_NODES ?
		       "the nodes form a cycle, or their number exceeds what the dump can "
		       "contain" :
		       "the links form a cycle";
}

/*
 * Moves to the next entry to show. If the entries of a collection end early because its links are
 * damaged or entries are unknown, sets *end to the reason.
 */
static int step(struct query *q, const char **end, struct hdb_error *err)
{
	struct contents *s = q->state;
	struct heap_entries *e = &s->entries;
	bool shown;
	int r;

	*end = NULL;
	for (;;) {
		if (!s->is_open)
			TRY(open_next(q, err));
		do
			r = heap_entries_next(e, err);
		while (r == HDB_OK && e->no < s->from);
		if (r == HDB_OK) {
			TRY(is_shown(q, &e->value, &shown, err));
			if (shown)
				return HDB_OK;
			continue;
		}
		if (r != HDB_END)
			return r;
		*end = s->is_reported ? NULL : e->is_cut ? cut_text(e) : e->unknown;
		s->is_reported = true;
		if (*end)
			return HDB_OK;
		if (!s->is_class)
			return HDB_END;
		s->is_open = false;
	}
}

/*
 * Sets the columns that a filter tests first. The other columns are needed only for rows that pass.
 */
static int set_columns(struct query *q, bool is_tested, struct hdb_error *err)
{
	const struct heap_entries *e = &((const struct contents *)q->state)->entries;

	if (e->has_key && query_is_tested(q, KEY) == is_tested)
		TRY(set_plain(q, KEY, &e->key, err));
	if (query_is_tested(q, VALUE) == is_tested)
		TRY(set_plain(q, VALUE, &e->value, err));
	if (e->has_key && query_is_tested(q, KEY_LABEL) == is_tested) {
		query_set_value(q, KEY_LABEL, SIZE_MAX, &e->key);
	}
	if (query_is_tested(q, VALUE_LABEL) == is_tested)
		query_set_value(q, VALUE_LABEL, SIZE_MAX, &e->value);
	return HDB_OK;
}

static int set_id(struct query *q, size_t column, const struct heap_value *value,
		  struct hdb_error *err)
{
	uint32_t ix;

	if (value->type != HPROF_OBJECT || !value->bits)
		return HDB_OK;
	TRY_FOUND(heap_find(q->heap, value->bits, &ix, err));
	query_set(q, column, value->bits);
	return HDB_OK;
}

/* Sets the columns that are cheap to set, or that a test may use implicitly. */
static int set_ids(struct query *q, struct hdb_error *err)
{
	const struct heap_entries *e = &((const struct contents *)q->state)->entries;

	TRY(set_retained(q, &e->value, err));
	if (e->has_key)
		TRY(set_id(q, KEY_ID, &e->key, err));
	TRY(set_id(q, VALUE_ID, &e->value, err));
	query_set_id(q, ENTRY, e->entry_ix);
	return HDB_OK;
}

static int next_entries(struct query *q, struct hdb_error *err)
{
	struct contents *s = q->state;
	const struct heap_entries *e = &s->entries;
	const char *end;
	bool wanted = false;
	char text[200];

	while (!wanted) {
		TRY(step(q, &end, err));
		if (q->is_counting)
			return HDB_OK;
		query_reset(q);
		if (s->is_class)
			query_set_id(q, OWNER, s->collection.ix);
		if (end) {
			(void)snprintf(text, sizeof(text), "<%s: %s>",
				       e->is_cut ? "cut" : "unknown", end);
			query_set_text(q, VALUE_LABEL, text);
			return HDB_OK;
		}
		query_set(q, NO, e->no);
		TRY(set_ids(q, err));
		TRY(set_columns(q, true, err));
		TRY(query_test(q, &wanted, err));
	}
	return set_columns(q, false, err);
}

QUERY_DEFINE(entries, QUERY_STATE(struct contents, entries, members), .open = open_entries,
	     .next = next_entries);
