/*
 * queries/objects/q_entries.c - what a collection holds: keys and values of a map, elements of the
 * others.
 */
#include "analysis/describe.h"
#include "heap/collections/collections.h"
#include "queries/queries.h"
#include "query/object_cells.h"

#include <stdlib.h>

enum { NO, KEY, KEY_ID, VALUE, VALUE_ID, RETAINED, ENTRY };

static const struct hdb_option_spec options[] = {
	{ "from", HDB_OPTION_NUMBER, "N", "first entry that is shown, from 0", .low = 0,
	  .high = UINT64_MAX, .unit = "entries", .default_value = "0", .example = "100" },
	{ .name = NULL },
};

static const struct hdb_column columns[] = {
	{ "no", HDB_TYPE_COUNT, "no", "number of the entry in the collection's own order, from 0" },
	{ "key", HDB_TYPE_TEXT, "key", "the key; null for what has no keys" },
	{ "key_id", HDB_TYPE_ID, "key id", "the key, if it is an object that the dump has" },
	{ "value", HDB_TYPE_TEXT, "value",
	  "the value, or the element; bits by their numbers; a "
	  "last one <cut: ...> where the links are damaged" },
	{ "value_id", HDB_TYPE_ID, "value id", "the value, if it is an object that the dump has" },
	{ "retained", HDB_TYPE_BYTES, "retained",
	  "bytes that the value retains; null while the "
	  "table is not built" },
	{ "entry", HDB_TYPE_ID, "entry", "the object that holds both, if there is one" },
};

static const struct hdb_column facts[] = {
	{ "id", HDB_TYPE_ID, "object", "the collection" },
	{ "class", HDB_TYPE_TEXT, "class", "its class" },
	{ "known_as", HDB_TYPE_TEXT, "known as", "the class of the table of known collections" },
	{ "kind", HDB_TYPE_TEXT, "kind", "list, set, map, queue or bits" },
	{ "in", HDB_TYPE_ID, "contents in", "the collection that it wraps" },
	{ "size", HDB_TYPE_COUNT, "size", "entries by its own count; null if it keeps none" },
	{ "capacity", HDB_TYPE_COUNT, "capacity", "entries that fit without growing" },
	{ "note", HDB_TYPE_TEXT, "note", "what is wrong, or not to be seen" },
};

struct contents {
	struct heap_collection collection;
	struct heap_entries entries;
	uint64_t from;
	bool is_told; /* that it was cut */
};

static const char *note_of(const struct heap_collection *c)
{
	if (!c->inner)
		return "what it wraps is null or no known collection";
	if (c->inner->shape == HEAP_HIDDEN)
		return "only its size is known, not its structure";
	return c->has_lied ? "its size is impossible" : NULL;
}

static int set_facts(struct query *q, const struct contents *s, struct hdb_error *err)
{
	const struct heap_collection *c = &s->collection;
	const char *note = note_of(c);
	struct heap_object object;
	uint64_t id;
	int r = heap_object(q->heap, c->ix, &object, err);

	if (r != HDB_OK)
		return r;
	if ((r = heap_id(q->heap, c->ix, &id, err)) != HDB_OK)
		return r;
	if ((r = query_fact(q, "id", id, err)) != HDB_OK)
		return r;
	r = query_fact_text(q, "class", heap_class_name(q->heap, object.class_no), err);
	if (r != HDB_OK)
		return r;
	if ((r = query_fact_text(q, "known_as", c->rule->class_name, err)) != HDB_OK)
		return r;
	r = query_fact_text(q, "kind", heap_collection_kind_name(c->rule->kind), err);
	if (r != HDB_OK)
		return r;
	if (c->inner_ix != c->ix) {
		if ((r = heap_id(q->heap, c->inner_ix, &id, err)) != HDB_OK)
			return r;
		if ((r = query_fact(q, "in", id, err)) != HDB_OK)
			return r;
	}
	if (c->has_size && (r = query_fact(q, "size", c->size, err)) != HDB_OK)
		return r;
	if (c->has_capacity && (r = query_fact(q, "capacity", c->capacity, err)) != HDB_OK)
		return r;
	return note ? query_fact_text(q, "note", note, err) : HDB_OK;
}

static int fail_unknown(struct query *q, uint32_t ix, struct hdb_error *err)
{
	struct heap_object object;
	const int r = heap_object(q->heap, ix, &object, err);

	if (r < 0)
		return r;
	return hdb_fail(err, HDB_NOTFOUND,
			"%s is no known collection: its class is %s; `query "
			"object` shows its fields or elements",
			q->targets[0], heap_class_name(q->heap, object.class_no));
}

static int open_entries(struct query *q, struct hdb_error *err)
{
	struct contents *s = calloc(1, sizeof(*s));
	uint32_t ix;
	int r;

	q->state = s;
	if (!s)
		return hdb_fail_memory(err, "entries", sizeof(*s));
	s->from = query_number(q, "from", 0);
	r = analysis_object(&q->session, q->targets[0], &ix, err);
	if (r != HDB_OK)
		return r;
	r = heap_collection_open(q->heap, ix, &s->collection, err);
	if (r == HDB_NOTFOUND)
		return fail_unknown(q, ix, err);
	if (r != HDB_OK)
		goto out;
	if ((r = set_facts(q, s, err)) != HDB_OK)
		goto out;
	r = heap_entries_begin(q->heap, &s->collection, &s->entries, err);
out:
	q->total = QUERY_TOTAL_UNKNOWN;
	return r;
}

static int set_retained(struct query *q, const struct heap_value *value, struct hdb_error *err)
{
	uint64_t retained;
	uint32_t ix;
	int r;

	if (value->type != HPROF_OBJECT || !value->bits || !derive_has(q->derive, STORE_RETAINED))
		return HDB_OK;
	if ((r = heap_find(q->heap, value->bits, &ix, err)) != HDB_OK)
		goto out;
	if ((r = derive_retained(q->derive, ix, &retained, err)) != HDB_OK)
		goto out;
	query_set(q, RETAINED, retained);
out:
	return r < 0 ? r : HDB_OK;
}

static int next_entries(struct query *q, struct hdb_error *err)
{
	struct contents *s = q->state;
	struct heap_entries *e = &s->entries;
	int r;

	do
		r = heap_entries_next(e, err);
	while (r == HDB_OK && e->no < s->from);
	if (r == HDB_END && e->is_cut && !s->is_told) {
		s->is_told = true;
		return query_set_text(q, VALUE, "<cut: its links run into themselves>", err);
	}
	if (r != HDB_OK || q->is_counting)
		return r;
	query_set(q, NO, e->no);
	if (e->has_key)
		r = query_set_value(q, KEY, KEY_ID, &e->key, err);
	if (r != HDB_OK)
		return r;
	if ((r = query_set_value(q, VALUE, VALUE_ID, &e->value, err)) != HDB_OK)
		return r;
	if ((r = set_retained(q, &e->value, err)) != HDB_OK)
		return r;
	return query_set_id(q, ENTRY, e->entry_ix, err);
}

static void close_entries(struct query *q)
{
	free(q->state);
}

const struct query_def query_entries = {
	.spec = {
		.name = "entries", .aliases = "collection-entries|hash-entries",
		.group = "objects", .example = "0xfeb10838",
		.targets = "OBJECT",
		.target_types = HDB_TARGET_OBJECT, .target_min = 1, .target_max = 1,
		.summary = "the elements or entries of a list, set, map or queue",
		.options = options,
		.columns = columns, .column_count = sizeof(columns) / sizeof(columns[0]),
		.facts = facts, .fact_count = sizeof(facts) / sizeof(facts[0]), .is_query = 1,
	},
	.open = open_entries, .next = next_entries, .close = close_entries,
};
