/*
 * queries/explain/entry_kinds.c - determines how a collection was filled, and which kinds of keys
 * and values it contains: entries that were never removed, random identifiers,
 * combinations of field values as keys, values that were never finished, and copies.
 *
 * A collection that only grows is not necessarily a fault, because a table may be filled once.
 * These facts describe the history of a collection if nothing else explains its size.
 */
#include "queries/explain/entry_private.h"

#include "base/error.h"
#include "base/idmap.h"
#include "queries/inspect/inspect.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <xxhash.h>

/* Minimum number of entries for which the history of a collection is reported. */
#define GROWTH_MIN 1000u
/* Maximum number of different values in a field that is described as having few values. */
#define KEYS_FEW 20u
/* Minimum share of entries that must be of one kind, in percent. */
#define KIND_MIN 95u
/* Minimum share of entries that must be in a state, in percent. */
#define STATE_MIN 80
/*
 * Minimum number of entries for a collection to be compared, because equality of smaller
 * collections proves nothing; minimum and maximum number of comparisons.
 */
#define ALIKE_MIN 32u
#define COMPARED_MIN 8u
#define COMPARED_MAX 200u
/* Length of a UUID in its text form. */
#define UUID_BYTES 36u

/* Boolean fields that mark values whose work is finished. */
static const char *const finished_flags[] = { "done",      "isDone",    "finished", "completed",
					      "processed", "delivered", "handled",  "acked" };

/*
 * Names of fields that contain the end time of a value, and values of state fields, in lower or
 * upper case.
 */
static const char *const end_time_fields[] = { "end",        "ended",      "endTime",
					       "endedAt",    "endNanos",   "endMillis",
					       "finishTime", "finishedAt", "completedAt" };
static const char *const finished_states[] = { "done",      "finished", "completed", "processed",
					       "delivered", "closed",   "expired",   "cancelled",
					       "failed",    "stopped",  "succeeded", "terminated" };
static const char *const open_states[] = { "pending", "waiting", "queued",   "in_progress",
					   "running", "started", "not_ended" };

/* Names of numeric fields that count the uses of a value. */
static const char *const use_count_fields[] = { "count", "hits", "uses", "usecount", "hitcount" };

static bool is_one_of(const char *name, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcasecmp(name, list[i]) == 0)
			return true;
	return false;
}
#define IS_ONE_OF(name, list) is_one_of(name, list, BASE_COUNT(list))

/* ---- counting ---- */

int entry_add(struct looking *l, uint32_t level, uint32_t ix, uint64_t number,
	      struct hdb_error *err)
{
	const struct feature f = { .level = level, .entry = l->entries, .hash = number, .ix = ix };

	return base_vec_push(&l->features, &f, sizeof(f), err);
}

static bool is_uuid(const char *text)
{
	size_t i = 0;

	for (; i < UUID_BYTES && text[i]; i++)
		if (i == 8 || i == 13 || i == 18 || i == 23 ? text[i] != '-' :
							      !isxdigit((unsigned char)text[i]))
			return false;
	return i == UUID_BYTES && !text[i];
}

void entry_add_uuid(struct looking *l, const char *text)
{
	l->uuids += is_uuid(text);
}

/* ---- copies ---- */

/* Data that identifies the first entries of a collection. */
struct glance {
	uint64_t list[ENTRIES_COMPARED];
	size_t count, distinct;
};

static bool has_hash(const uint64_t *list, size_t count, uint64_t hash)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == hash)
			return true;
	return false;
}

/*
 * Reads the first entries of a collection. The elements of lists are compared by position, because
 * two lists of a few different values, such as enum constants, contain the same elements even if
 * the lists are unrelated.
 */
static int read_entries(struct looking *l, uint32_t ix, struct glance *out, struct hdb_error *err)
{
	BASE_SCOPED(heap_entries_end) struct heap_entries entries = { .heap = NULL };
	uint64_t seen[ENTRIES_COMPARED], part[3] = { 0 };
	struct heap_collection c;
	int r;

	out->count = out->distinct = 0;
	TRY_FOUND(heap_collection_open(l->session->heap, ix, &c, err));
	TRY_FOUND(heap_entries_begin(l->session->heap, &c, &entries, err));
	entries.looks_max = l->slots_left;
	while ((r = heap_entries_next(&entries, err)) == HDB_OK) {
		part[0] = entries.value.bits;
		part[1] = entries.has_key ? entries.key.bits : 0;
		part[2] = 0;
		seen[out->count] = XXH3_64bits_withSeed(part, sizeof(part), base_hash_seed());
		out->distinct += !has_hash(seen, out->count, seen[out->count]);
		if (c.rule->kind == HEAP_LIST || c.rule->kind == HEAP_QUEUE)
			part[2] = out->count;
		out->list[out->count++] =
			XXH3_64bits_withSeed(part, sizeof(part), base_hash_seed());
		if (out->count == ENTRIES_COMPARED)
			break;
	}
	l->slots_left -= entries.looked;
	return r < 0 ? r : HDB_OK;
}

/* Counts an empty collection that has room for elements, because it had some. */
static int count_emptied(struct looking *l, uint32_t ix, struct hdb_error *err)
{
	struct heap_collection c;
	uint64_t budget = 1;

	TRY_FOUND(heap_collection_open(l->session->heap, ix, &c, err));
	if (!c.has_size)
		TRY_FOUND(heap_collection_count(l->session->heap, &c, &budget, err));
	l->emptied += !c.size && c.has_capacity && c.capacity;
	return HDB_OK;
}

int entry_add_collection(struct looking *l, uint32_t ix, struct hdb_error *err)
{
	struct glance now;
	size_t same = 0;

	TRY(count_emptied(l, ix, err));
	if (l->compared >= COMPARED_MAX || !l->slots_left)
		return HDB_OK;
	TRY(read_entries(l, ix, &now, err));
	if (!l->slots_left)
		return HDB_OK;
	for (size_t i = 0; i < now.count; i++)
		same += has_hash(l->previous, l->previous_count, now.list[i]);
	l->compared++;
	l->alike += now.count >= ALIKE_MIN && same * 10 >= now.count * 8 &&
		    now.distinct * 2 >= now.count;
	memcpy(l->previous, now.list, now.count * sizeof(now.list[0]));
	l->previous_count = now.count;
	return HDB_OK;
}

/* ---- figures ---- */

static bool is_most(const struct looking *l, size_t count)
{
	return count * 100 >= (size_t)l->entries * KIND_MIN;
}

/* Adds a field of the keys to the sentence, if there is room: "name (few values)". */
static void describe_key_field(struct looking *l, const struct share *s, struct explain_facts *out)
{
	const struct key_field *field = &l->key_fields[s->most->level - KEY_LEVEL];
	struct explain_figure *to = &out->figures[EXPLAIN_FACT_key_fields];
	const bool is_first = to->kind == BASE_NOTHING;
	const size_t used = is_first ? 0 : strlen(to->text);
	const char *values = s->kinds <= KEYS_FEW ? "few values" : "many values";
	char text[2 * EXPLAIN_CONTENT_MAX];

	if (!is_most(l, s->all) || (field->is_opaque && s->kinds * 10 >= s->all * 9))
		return;
	if (s->kinds * 10 >= s->all * 9)
		values = "nearly always different";
	(void)snprintf(text, sizeof(text), "%s%s (%s)", is_first ? "" : ", ", field->name, values);
	if (used + strlen(text) + sizeof(" and 8 more") > sizeof(to->text)) {
		l->key_fields_left++;
		return;
	}
	to->kind = BASE_STRING;
	(void)snprintf(to->text + used, sizeof(to->text) - used, "%s", text);
}

void entry_set_kinds(struct looking *l, const struct share *s, struct explain_facts *out)
{
	struct value_field *field;

	if (s->most->level >= KEY_LEVEL) {
		describe_key_field(l, s, out);
		return;
	}
	assert(s->most->level >= NUMBER_LEVEL);
	field = &l->fields[s->most->level - NUMBER_LEVEL];
	field->kinds = (uint32_t)s->kinds;
	if (s->most->hash != 1 || !is_most(l, s->count) ||
	    !IS_ONE_OF(field->name, use_count_fields))
		return;
	entry_set_field(l, field, EXPLAIN_FACT_once_field, out);
	explain_fact_set(out, EXPLAIN_FACT_once_percent,
			 (double)s->count * 100 / (double)l->entries);
}

/* A state, and the share of the values that are in it. */
struct state {
	const struct value_field *field;
	bool is_finished;
	const char *value;
	double percent;
};

/* Reports the first field that shows a state of most values. */
static void set_state(const struct looking *l, const struct state *state, struct explain_facts *out)
{
	static const enum explain_fact to[2][3] = {
		{ EXPLAIN_FACT_open_field, EXPLAIN_FACT_open_value, EXPLAIN_FACT_open_percent },
		{ EXPLAIN_FACT_finished_field, EXPLAIN_FACT_finished_value,
		  EXPLAIN_FACT_finished_percent },
	};
	const enum explain_fact *facts = to[state->is_finished];

	if (state->percent < STATE_MIN || out->figures[facts[0]].kind != BASE_NOTHING)
		return;
	entry_set_field(l, state->field, facts[0], out);
	explain_fact_text(out, facts[1], state->value);
	explain_fact_set(out, facts[2], state->percent);
}

static bool is_state_name(const char *name)
{
	static const char *const ends[] = {
		"state", "State", "status", "Status", "phase", "stage"
	};
	const size_t size = strlen(name);

	for (size_t i = 0; i < BASE_COUNT(ends); i++)
		if (size >= strlen(ends[i]) && strcmp(name + size - strlen(ends[i]), ends[i]) == 0)
			return true;
	return false;
}

void entry_set_state(const struct looking *l, uint32_t no, const char *value, double percent,
		     struct explain_facts *out)
{
	struct state state = { &l->fields[no], true, value, percent };
	char word[24];

	/* skip the quotation marks around a string */
	(void)snprintf(word, sizeof(word), "%.*s", (int)strcspn(value + (value[0] == '"'), "\""),
		       value + (value[0] == '"'));
	state.is_finished = IS_ONE_OF(word, finished_states);
	if (state.is_finished || IS_ONE_OF(word, open_states)) {
		set_state(l, &state, out);
	} else if (percent >= KIND_MIN && is_state_name(state.field->name) &&
		   out->figures[EXPLAIN_FACT_state_field].kind == BASE_NOTHING) {
		entry_set_field(l, state.field, EXPLAIN_FACT_state_field, out);
		explain_fact_text(out, EXPLAIN_FACT_state_value, word);
		explain_fact_set(out, EXPLAIN_FACT_state_percent, percent);
	}
}

void entry_set_rest(const struct looking *l, struct explain_facts *out)
{
	struct explain_figure *keys = &out->figures[EXPLAIN_FACT_key_fields];
	const size_t used = keys->kind == BASE_STRING ? strlen(keys->text) : 0;
	char text[EXPLAIN_CONTENT_MAX], age[32];

	for (size_t i = 0; i < VALUE_FIELDS; i++) {
		const struct value_field *field = &l->fields[i];
		const double unset = (double)field->unset * 100 / (double)l->entries;
		const double set =
			(double)(field->values - field->unset) * 100 / (double)l->entries;

		if (field->type == HPROF_BOOLEAN && IS_ONE_OF(field->name, finished_flags)) {
			set_state(l, &(struct state){ field, true, "true", set }, out);
			set_state(l, &(struct state){ field, false, "false", unset }, out);
		} else if (IS_ONE_OF(field->name, end_time_fields)) {
			set_state(l, &(struct state){ field, false, "not set", unset }, out);
		}
	}
	if (used && l->key_fields_left)
		(void)snprintf(keys->text + used, sizeof(keys->text) - used, " and %u more",
			       l->key_fields_left);
	if (l->compared >= COMPARED_MIN && l->alike * 10 >= l->compared * 8)
		explain_fact_set(out, EXPLAIN_FACT_alike_percent,
				 (double)l->alike * 100 / (double)l->compared);
	if (is_most(l, l->uuids)) {
		(void)snprintf(text, sizeof(text), "The %s are UUIDs.", l->noun);
		explain_fact_text(out, EXPLAIN_FACT_keys, text);
	}
	if (!is_most(l, l->dates.points) || l->now_ms <= l->dates.oldest_ms ||
	    l->dates.newest_ms > l->now_ms + DAY_MS ||
	    out->figures[EXPLAIN_FACT_keys].kind != BASE_NOTHING)
		return;
	entry_age_text(l->now_ms - l->dates.oldest_ms, BASE_TEXT(age));
	(void)snprintf(text, sizeof(text),
		       "The %s are points in time, the oldest of them %s before the dump.", l->noun,
		       age);
	explain_fact_text(out, EXPLAIN_FACT_keys, text);
}

/* ---- the history of a collection ---- */

/*
 * Collections that count their changes in modCount: each addition of an element, and each removal
 * of one or more elements. Lists also count other changes, so for lists only equality of both
 * numbers is evidence. A copy of a map counts its entries as additions. A LinkedHashMap in access
 * order also counts lookups.
 *
 * Some collections count addAll as one change, so removals can make both numbers equal by chance.
 * An array that is larger than its size explains shows that this may have happened: addAll adjusts
 * the array to the added elements.
 */
struct counting {
	const char *class_name;
	bool is_list, is_exact;
	unsigned growth_percent; /* maximum capacity after one addition at a time, or 0 */
};

static const struct counting counting[] = {
	{ "java.util.HashMap", false, true, 0 },
	{ "java.util.LinkedHashMap", false, true, 0 },
	{ "java.util.TreeMap", false, false, 0 },
	{ "java.util.LinkedList", false, false, 0 },
	{ "java.util.IdentityHashMap", false, true, 0 },
	{ "java.util.ArrayList", true, false, 150 },
	{ "java.util.Vector", true, false, 200 },
	{ "java.util.PriorityQueue", true, false, 200 },
};
#define COUNTING BASE_COUNT(counting)
/* Capacity of an empty ArrayList, Vector or PriorityQueue, rounded up. */
#define FIRST_CAPACITY 16u

/* Returns NULL if the collection does not count its changes. */
static const struct counting *counting_of(struct heap *heap, const struct heap_collection *c)
{
	const char *name = c->inner ? heap_class_name(heap, c->inner_class) : "";

	for (size_t i = 0; i < COUNTING; i++)
		if (strcmp(name, counting[i].class_name) == 0)
			return &counting[i];
	return NULL;
}

int entry_growth(struct heap *heap, const struct heap_collection *c, bool *never, uint64_t *removed,
		 struct hdb_error *err)
{
	const struct counting *counts = counting_of(heap, c);
	const struct heap_as as = { c->inner_ix, c->inner_class };
	int64_t number, by_access = 0;

	*never = false;
	*removed = 0;
	if (!counts)
		return HDB_OK;
	TRY_FOUND(heap_path_number_as(heap, as, "modCount", &number, err));
	if (number < 0)
		return HDB_OK;
	*never = (uint64_t)number == c->size &&
		 (!counts->growth_percent || !c->has_capacity ||
		  c->capacity <= FIRST_CAPACITY + c->size / 100 * counts->growth_percent);
	if (counts->is_list || (uint64_t)number <= c->size)
		return HDB_OK;
	if (strcmp(counts->class_name, "java.util.LinkedHashMap") == 0)
		TRY_FOUND(heap_path_number_as(heap, as, "accessOrder", &by_access, err));
	*removed = by_access ? 0 : ((uint64_t)number - c->size) / 2;
	return HDB_OK;
}

int entry_set_growth(struct heap *heap, const struct heap_collection *c, struct explain_facts *out,
		     struct hdb_error *err)
{
	const char *kind = out->figures[EXPLAIN_FACT_entries_kind].text;
	char text[EXPLAIN_CONTENT_MAX];
	uint64_t removed;
	bool never;

	if (c->size < GROWTH_MIN)
		return HDB_OK;
	TRY(entry_growth(heap, c, &never, &removed, err));
	if (removed)
		explain_fact_set(out, EXPLAIN_FACT_removed, (double)removed);
	/* nothing was removed through a wrapper that does not allow removals */
	if (!never || strncmp(kind, "Collections$Unmodifiable", 24) == 0)
		return HDB_OK;
	if (c->inner && strncmp(kind, "Collections$", 12) == 0)
		kind = inspect_simple_name(heap_class_name_of(heap, c->inner_ix));
	(void)snprintf(text, sizeof(text), "%s %s was ever removed from the %.60s.",
		       counting_of(heap, c)->is_exact ? "No" : "Probably no",
		       c->rule->kind == HEAP_MAP ? "entry" : "element", kind);
	explain_fact_text(out, EXPLAIN_FACT_growth, text);
	return HDB_OK;
}
