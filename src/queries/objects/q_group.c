/*
 * queries/objects/q_group.c - query group-by-value: groups objects of a class by their value, or by
 * the value of a field.
 *
 * keys.h computes the keys. Memory depends only on the number of different values: 56 bytes each,
 * and some 12 for finding and sorting them. Texts are made again for each row.
 */
#include "analysis/hash_counter.h"
#include "heap/known.h"
#include "queries/objects/keys.h"
#include "queries/queries.h"
#include "query/coverage.h"

#include <stdlib.h>
#include <string.h>

static const struct hdb_option_spec options[] = {
	{ "by", HDB_OPTION_TEXT, "value|field:PATH",
	  "What to group by: the object's own value, a field, or a path of fields joined by dots",
	  .default_value = "value", .example = "field:name" },
	{ "subclasses", HDB_OPTION_FLAG, .help = QUERY_HELP_SUBCLASSES },
	{ "min-count", HDB_OPTION_NUMBER, "N", "Smallest number of objects with the same value",
	  .low = 1, .high = UINT64_MAX, .unit = "objects", .default_value = "1", .example = "10" },
	QUERY_POPULATION_OPTIONS("objects"),
	{ .name = NULL },
};

#define COLUMNS(X) \
	X(VALUE, TEXT, "value", "value", "Value (first 1,023 bytes)") \
	X(COUNT, COUNT, "objects", "objects", "Objects with this value") \
	X(SHALLOW, BYTES, "shallow", "shallow", QUERY_HELP_SHALLOW_SUM) \
	X(RETAINED, BYTES, "retained", "retained", \
	  "Sum of the retained sizes, if the dominator tree is built. Nested objects count more " \
	  "than once.") \
	X(UNREACHABLE, COUNT, "unreachable_objects", "unreachable", \
	  "Unreachable objects among them. Only with --all.") \
	X(ID, ID, "id", "id", "ID of the first of these objects")
enum { COLUMNS(QUERY_NUMBER) };
static const struct hdb_column columns[] = { COLUMNS(QUERY_COLUMN) };

static const struct hdb_column facts[] = {
	{ "by", HDB_TYPE_TEXT, "by", "Value or field by which the objects are grouped" },
	{ "objects", HDB_TYPE_COUNT, "objects", "Objects of the class" },
	{ "shallow", HDB_TYPE_BYTES, "shallow", "Shallow size of these objects" },
	{ "values", HDB_TYPE_COUNT, "values", "Distinct values, listed or not" },
	QUERY_COVERAGE_FACTS,
};

struct value_group {
	struct analysis_counter_head head;
	uint64_t shallow_bytes, retained_bytes, unreachable;
};

struct grouping {
	struct query *q;    /* borrowed */
	uint8_t *is_member; /* by class number */
	struct analysis_keys keys;
	bool has_retained;
	uint64_t members, bytes;
	uint64_t others, other_bytes;  /* unreachable ones */
	struct analysis_counter tally; /* struct value_group */
	/* of the current block */
	uint8_t reachable[STORE_BLOCK_OBJECTS];
	uint64_t retained[STORE_BLOCK_OBJECTS];
};

static int add_object(struct grouping *s, const struct heap_block *objects,
		      const struct analysis_key *key, struct hdb_error *err)
{
	const uint32_t i = key->ix - objects->first_ix;
	struct value_group *group;
	void *entry;

	s->others += !s->reachable[i];
	s->other_bytes += s->reachable[i] ? 0 : objects->shallow[i];
	if (!query_counts(s->q, s->reachable[i]))
		return HDB_OK;
	TRY(analysis_counter_add(&s->tally, key->hash, key->ix, &entry, err));
	group = entry;
	s->members++;
	s->bytes += objects->shallow[i];
	group->shallow_bytes += objects->shallow[i];
	group->retained_bytes += s->has_retained ? s->retained[i] : 0;
	group->unreachable += !s->reachable[i];
	return HDB_OK;
}

/* Adds the keys of one block. */
static int add_block(void *ctx, const struct heap_block *objects, struct analysis_key *keys,
		     size_t count, struct hdb_error *err)
{
	struct grouping *s = ctx;

	TRY(derive_reachable_block(s->q->derive, objects->first_ix / STORE_BLOCK_OBJECTS,
				   s->reachable, err));
	if (s->has_retained)
		TRY(derive_retained_block(s->q->derive, objects, s->retained, err));
	for (size_t i = 0; i < count; i++)
		if (!keys[i].is_done)
			TRY(analysis_key_of(&s->keys, keys[i].ix, &keys[i].hash, err));
	for (size_t i = 0; i < count; i++) {
		if (count - i > ANALYSIS_COUNTER_AHEAD)
			analysis_counter_prefetch(&s->tally, keys[i + ANALYSIS_COUNTER_AHEAD].hash);
		TRY(add_object(s, objects, &keys[i], err));
	}
	return HDB_OK;
}

/* ---- the query ---- */

/* A field that no class of the members has is a mistake of the user. */
static int check_path(struct query *q, const struct grouping *s, struct hdb_error *err)
{
	const char *path = s->keys.path;

	for (uint32_t no = 0; path && no < q->heap->class_count; no++)
		if (s->is_member[no] && heap_has_path(q->heap, no, HEAP_NONE, path))
			return HDB_OK;
	return path ? hdb_fail(err, HDB_NOTFOUND,
			       "%s has no field %s; `query class` lists its fields", q->targets[0],
			       path) :
		      HDB_OK;
}

static int read_by(struct query *q, struct grouping *s, struct hdb_error *err)
{
	const char *by = query_text(q, "by");

	if (strncmp(by, "field:", 6) == 0 && by[6])
		s->keys.path = by + 6;
	else if (strcmp(by, "value") != 0)
		return hdb_fail(err, HDB_EUSAGE, "--by must be value or field:NAME, not \"%s\"",
				by);
	query_fact_text(q, "by", by);
	return HDB_OK;
}

/* Reports what is not listed. */
static void leave_rare(struct query *q, const struct grouping *s, uint64_t min_count)
{
	struct analysis_cut cut = { .rows = s->tally.used - q->total };

	for (uint64_t i = q->total; i < s->tally.used; i++) {
		const struct value_group *group = analysis_counter_at(&s->tally, i);

		cut.objects += group->head.count;
		cut.bytes += group->shallow_bytes;
	}
	query_cut(q, &cut, "values of fewer than %" PRIu64 " objects (--min-count)", min_count);
}

static int open_group(struct query *q, struct hdb_error *err)
{
	struct grouping *s = q->state;
	uint64_t min_count;

	s->q = q;
	s->tally = (struct analysis_counter){
		.session = &q->session,
		.entry_bytes = sizeof(struct value_group),
		.what = "values",
	};
	min_count = query_number(q, "min-count", 0);
	if (q->population != ANALYSIS_OF_ALL) {
		query_choose(q, "value,objects,shallow,retained,id");
	}
	TRY(read_by(q, s, err));
	TRY(analysis_class_marks(&q->session, q->targets[0], query_option(q, "subclasses") != NULL,
				 &s->is_member, err));
	TRY(check_path(q, s, err));
	s->keys.session = &q->session;
	s->keys.is_member = s->is_member;
	s->has_retained = derive_has(q->derive, STORE_RETAINED);
	TRY(analysis_keys_begin(&s->keys, err));
	TRY(derive_need_reachable(q->derive, err));
	TRY(analysis_keys_each(&s->keys, "grouping objects", add_block, s, err));
	query_fact(q, "objects", s->members);
	query_fact(q, "values", s->tally.used);
	query_fact(q, "shallow", s->bytes);
	query_report_unreachable(q, s->others, s->other_bytes);
	TRY(analysis_counter_order(&s->tally, min_count, &q->total, err));
	leave_rare(q, s, min_count);
	return HDB_OK;
}

static int group_row(struct query *q, size_t no, struct hdb_error *err)
{
	struct grouping *s = q->state;
	const struct value_group *group = analysis_counter_at(&s->tally, no);
	char text[ANALYSIS_KEY_TEXT];

	TRY(analysis_key_text(&s->keys, group->head.first_ix, text, err));
	query_set_text(q, VALUE, text);
	query_set(q, COUNT, group->head.count);
	query_set(q, SHALLOW, group->shallow_bytes);
	if (s->has_retained)
		query_set(q, RETAINED, group->retained_bytes);
	query_set(q, UNREACHABLE, group->unreachable);
	query_set_id(q, ID, group->head.first_ix);
	return HDB_OK;
}

static void close_group(struct query *q)
{
	struct grouping *s = q->state;

	analysis_keys_release(&s->keys);
	free(s->is_member);
	analysis_counter_release(&s->tally);
}

const struct query_def query_group = {
	.spec = {
		.name = "group-by-value", .aliases = "group",
		.group = "objects", .example = "java.lang.Thread --by field:name",
		.targets = "CLASS|PATTERN",
		.target_types = HDB_TARGET_CLASS | HDB_TARGET_PATTERN,
		.target_min = 1, .target_max = 1,
		.summary = "Objects of a class grouped by their value, or by a field's value",
		.options = options,
		QUERY_COLUMNS(columns), QUERY_FACTS(facts), .is_query = 1,
	},
	.population = ANALYSIS_OF_REACHABLE,
	.uses = QUERY_USES_STRENGTH | QUERY_USES_HEAP,
	.state_size = sizeof(struct grouping),
	.open = open_group, .row = group_row, .close = close_group,
};
