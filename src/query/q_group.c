/*
 * query/q_group.c - objects of a class by their value, or by the value of one of their fields.
 *
 * Values are told apart by 128 bits of XXH3: of a string all its characters, of a primitive array
 * its bytes, of others their text (heap/value_text.h). Memory grows with the number of distinct
 * values only; texts are made again when their rows are given.
 */
#include "base/idmap.h"
#include "heap/string_scan.h"
#include "heap/value_text.h"
#include "query/describe.h"
#include "query/queries.h"
#include "query/tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { VALUE, COUNT, SHALLOW, RETAINED, UNREACHABLE, ID };

/* Bytes of a value's text that are shown, and by which values without content are told apart. */
#define TEXT_MAX 1024
/* Elements of an array that are hashed at a time. */
#define CHUNK 512u

static const struct hdb_option_spec options[] = {
	{ "by", "value|field:PATH", "what objects must have in common: their own value (default), or "
	  "that of a field, with dots for fields of fields" },
	{ "sub", NULL, "objects of sub classes too" },
	{ "min-count", "N", "values that at least N objects have" },
	{ NULL, NULL, NULL },
};

static const struct hdb_column columns[] = {
	{ "value", HDB_TYPE_TEXT, "value", "the value, its first 1,023 bytes" },
	{ "count", HDB_TYPE_COUNT, "objects", "objects with this value, unreachable ones included" },
	{ "shallow", HDB_TYPE_BYTES, "shallow", "bytes of these objects themselves" },
	{ "retained", HDB_TYPE_BYTES, "retained", "sum of what each of them retains; an object within "
	  "another one counts for both; null while the table is not built" },
	{ "unreachable", HDB_TYPE_COUNT, "unreachable", "of the objects, those that no root reaches" },
	{ "id", HDB_TYPE_ID, "id", "one of the objects, the first by ID" },
};

static const struct hdb_column facts[] = {
	{ "by", HDB_TYPE_TEXT, "by", "what they have in common" },
	{ "objects", HDB_TYPE_COUNT, "objects", "objects of the class, unreachable ones included" },
	{ "values", HDB_TYPE_COUNT, "values", "distinct values" },
};

struct value_group {
	struct query_tally_head head;
	uint64_t shallow_bytes, retained_bytes, unreachable;
};

/* A block of objects with what is asked of each. */
struct columns_of_block {
	struct heap_block objects;
	uint8_t reachable[STORE_BLOCK_OBJECTS];
	uint64_t retained[STORE_BLOCK_OBJECTS];
};

struct grouping {
	uint8_t *is_member;     /* by class number */
	struct columns_of_block *block;
	struct heap_string_scan scan; /* goes along with the objects, if they are strings */
	bool has_begun;         /* the scan */
	const char *path;       /* NULL: the object itself; lent */
	bool has_retained;
	uint64_t members;
	struct query_tally tally; /* struct value_group */
	uint64_t at;
};

/* ---- values ---- */

/*
 * What an object is grouped by: itself, or its field; HDB_NOTFOUND: it has no such field. *of is the
 * object that it is, HEAP_NONE for numbers, null and what the dump lacks.
 */
static int value_of(struct query *q, const struct grouping *s, uint32_t ix, struct heap_value *out,
		    uint32_t *of, struct hdb_error *err)
{
	struct heap_object object;
	int r;

	*of = ix;
	*out = (struct heap_value){ .type = HPROF_OBJECT };
	if (!s->path)
		return HDB_OK;
	*of = HEAP_NONE;
	r = heap_object(q->heap, ix, &object, err);
	if (r == HDB_OK && object.kind != STORE_INSTANCE)
		return HDB_NOTFOUND;
	if (r == HDB_OK)
		r = heap_path_value(q->heap, ix, HEAP_NONE, s->path, out, err);
	if (r != HDB_OK || out->type != HPROF_OBJECT || !out->bits)
		return r;
	r = heap_find(q->heap, out->bits, of, err);
	return r < 0 ? r : HDB_OK;
}

/* What an object is in words. */
static int text_of_object(struct query *q, uint32_t of, char *text, struct hdb_error *err)
{
	struct heap_object object;
	uint64_t id;
	int r = heap_object(q->heap, of, &object, err);

	if (r < 0 || heap_string(q->heap, of, text, TEXT_MAX, NULL, NULL) == HDB_OK)
		return r;
	query_describe(q, of, text, TEXT_MAX);
	if (!text[0] && object.kind == STORE_PRIMITIVE_ARRAY)
		(void)snprintf(text, TEXT_MAX, "%s of %" PRIu64 " elements",
			       heap_class_name(q->heap, object.class_no), object.length);
	else if (!text[0] && heap_id(q->heap, of, &id, err) == HDB_OK)
		(void)snprintf(text, TEXT_MAX, "0x%" PRIx64, id);
	return HDB_OK;
}

/* The value in words; "null", a number, "(none)" without the field. */
static int text_of(struct query *q, const struct grouping *s, uint32_t ix, char *text,
		   struct hdb_error *err)
{
	struct heap_value value;
	uint32_t of;
	int r = value_of(q, s, ix, &value, &of, err);

	if (r == HDB_NOTFOUND)
		(void)snprintf(text, TEXT_MAX, "(none)");
	if (r != HDB_OK)
		return r < 0 ? r : HDB_OK;
	if (of != HEAP_NONE)
		return text_of_object(q, of, text, err);
	heap_basic_text(&value, text, TEXT_MAX);
	return HDB_OK;
}

static int hash_array(struct query *q, const struct heap_object *array, XXH128_hash_t *out,
		      struct hdb_error *err)
{
	uint64_t bits[CHUNK], done = 0;
	XXH3_state_t state;
	uint8_t type;

	XXH3_INITSTATE(&state);
	(void)XXH3_128bits_reset_withSeed(&state, base_hash_seed() + array->class_no);
	for (uint64_t from = 0; from < array->length; from += done) {
		const int r = heap_elements(q->heap, array->ix, from, CHUNK, bits, &type, &done, err);

		if (r < 0)
			return r;
		if (!done)
			break;
		(void)XXH3_128bits_update(&state, bits, done * sizeof(bits[0]));
	}
	(void)XXH3_128bits_update(&state, &array->length, sizeof(array->length));
	*out = XXH3_128bits_digest(&state);
	return HDB_OK;
}

/* The characters of a string: of those that come in their order by the scan. */
static int find_chars(struct query *q, struct grouping *s, uint32_t of, struct heap_chars *out,
		      struct hdb_error *err)
{
	struct heap_string string = { .has_chars = false };
	int r = HDB_OK;

	if (s->path) {
		r = heap_string_one(q->heap, of, &string, err);
		*out = string.chars;
		return r;
	}
	while (r == HDB_OK && (!s->has_begun || s->scan.ix < of)) {
		r = heap_string_scan_next(&s->scan, err);
		s->has_begun = true;
	}
	if (r != HDB_OK || s->scan.ix != of || !s->scan.string.has_chars)
		return r < 0 ? r : HDB_NOTFOUND;
	*out = s->scan.string.chars;
	return HDB_OK;
}

static int hash_object(struct query *q, struct grouping *s, uint32_t of, XXH128_hash_t *out,
		       struct hdb_error *err)
{
	struct heap_text_hash hash;
	struct heap_object object;
	struct heap_value value;
	struct heap_chars chars;
	char text[TEXT_MAX] = "";
	int64_t number;
	int r = heap_object(q->heap, of, &object, err);

	if (r == HDB_OK && object.kind == STORE_PRIMITIVE_ARRAY)
		return hash_array(q, &object, out, err);
	if (r == HDB_OK && object.kind == STORE_INSTANCE && heap_is_string(q->heap, of)) {
		r = find_chars(q, s, of, &chars, err);
		if (r == HDB_OK)
			r = heap_chars_hash(&s->scan.view, &chars, &hash, err);
		*out = (XXH128_hash_t){ .low64 = hash.low, .high64 = hash.high };
		if (r <= HDB_OK)
			return r;
	}
	/* Boxed numbers are the most: by the number itself. */
	if (r >= 0 && heap_value_is_number(q->heap, object.class_no)) {
		r = heap_path_value(q->heap, of, HEAP_NONE, "value", &value, err);
		if (r == HDB_OK && !heap_value_number(&value, &number))
			number = (int64_t)value.bits;
		if (r == HDB_OK)
			*out = XXH3_128bits_withSeed(&number, sizeof(number),
						     base_hash_seed() + value.type);
		if (r <= HDB_OK)
			return r;
	}
	if (r >= 0)
		r = text_of_object(q, of, text, err);
	*out = XXH3_128bits_withSeed(text, strlen(text), base_hash_seed() + 2);
	return r;
}

static int hash_of(struct query *q, struct grouping *s, uint32_t ix, XXH128_hash_t *out,
		   struct hdb_error *err)
{
	struct heap_value value;
	char text[64] = "(none)";
	uint32_t of;
	int r = value_of(q, s, ix, &value, &of, err);

	if (r < 0)
		return r;
	if (r == HDB_OK && of != HEAP_NONE)
		return hash_object(q, s, of, out, err);
	if (r == HDB_OK)
		heap_basic_text(&value, text, sizeof(text));
	*out = XXH3_128bits_withSeed(text, strlen(text), base_hash_seed() + 2);
	return HDB_OK;
}

static int add_object(struct query *q, struct grouping *s, uint32_t i, struct hdb_error *err)
{
	const struct columns_of_block *b = s->block;
	const uint32_t ix = b->objects.first_ix + i;
	struct value_group *group;
	XXH128_hash_t hash;
	void *entry;
	int r = hash_of(q, s, ix, &hash, err);

	if (r == HDB_OK)
		r = query_tally_add(q, &s->tally, (struct heap_text_hash){ hash.low64, hash.high64 },
				    ix, &entry, err);
	if (r < 0)
		return r;
	group = entry;
	s->members++;
	group->shallow_bytes += b->objects.shallow[i];
	group->retained_bytes += s->has_retained ? b->retained[i] : 0;
	group->unreachable += !b->reachable[i];
	return HDB_OK;
}

/* ---- the query ---- */

/* A field that no class of the members has is a mistake, not an answer. */
static int check_path(struct query *q, const struct grouping *s, struct hdb_error *err)
{
	for (uint32_t no = 0; s->path && no < q->heap->class_count; no++)
		if (s->is_member[no] && heap_has_path(q->heap, no, HEAP_NONE, s->path))
			return HDB_OK;
	return s->path ? hdb_fail(err, HDB_NOTFOUND, "%s has no field %s; `query class` lists its "
				  "fields", q->args->targets[0], s->path) : HDB_OK;
}

static int read_by(struct query *q, struct grouping *s, struct hdb_error *err)
{
	const char *by = query_option(q, "by");

	if (by && strncmp(by, "field:", 6) == 0 && by[6])
		s->path = by + 6;
	else if (by && strcmp(by, "value") != 0)
		return hdb_fail(err, HDB_EUSAGE, "--by wants value or field:NAME, not \"%s\"", by);
	return query_fact_text(q, "by", by ? by : "value", err);
}

static int mark_classes(struct query *q, struct grouping *s, struct hdb_error *err)
{
	uint32_t *classes;
	size_t count;
	int r = query_classes(q, q->args->targets[0], query_option(q, "sub") != NULL, &classes,
			      &count, err);

	if (r != HDB_OK)
		return r;
	s->is_member = calloc((size_t)q->heap->class_count + 1, 1);
	if (!s->is_member)
		r = hdb_fail_memory(err, "classes", q->heap->class_count);
	for (size_t i = 0; r == HDB_OK && i < count; i++)
		s->is_member[classes[i]] = 1;
	free(classes);
	return r;
}

/* Reads what is asked of the objects of a block, if it has members. */
static int read_block(struct query *q, struct grouping *s, uint32_t block_no, bool *any,
		      struct hdb_error *err)
{
	struct columns_of_block *b = s->block;
	int r = heap_read_block(q->heap, block_no, &b->objects, err);

	*any = false;
	for (uint32_t i = 0; r == HDB_OK && i < b->objects.count && !*any; i++)
		*any = s->is_member[b->objects.class_no[i]];
	if (r == HDB_OK && *any)
		r = derive_reachable_block(q->derive, block_no, b->reachable, err);
	if (r == HDB_OK && *any && s->has_retained)
		r = derive_retained_block(q->derive, &b->objects, b->retained, err);
	return r;
}

static int count_values(struct query *q, struct grouping *s, struct hdb_error *err)
{
	const uint32_t blocks = heap_block_count(q->heap);
	bool any, is_real;
	int r;

	s->block = malloc(sizeof(*s->block));
	r = s->block ? HDB_OK : hdb_fail_memory(err, "a block of objects", sizeof(*s->block));
	/* Builds what tells reachable objects apart, before the stage begins. */
	if (r == HDB_OK && blocks)
		r = derive_reachable_block(q->derive, 0, s->block->reachable, err);
	base_stage(q->work, "grouping objects", q->heap->object_count, "objects");
	for (uint32_t no = 0; no < blocks && r == HDB_OK; no++) {
		r = read_block(q, s, no, &any, err);
		for (uint32_t i = 0; r == HDB_OK && any && i < s->block->objects.count; i++) {
			const struct heap_block *objects = &s->block->objects;

			if (!s->is_member[objects->class_no[i]])
				continue;
			r = heap_is_real(q->heap, objects->first_ix + i, &is_real, err);
			if (r == HDB_OK && is_real)
				r = add_object(q, s, i, err);
		}
		if (r == HDB_OK)
			r = base_step(q->work, (uint64_t)no * STORE_BLOCK_OBJECTS, err);
	}
	return r;
}

static int open_group(struct query *q, struct hdb_error *err)
{
	struct grouping *s = calloc(1, sizeof(*s));
	uint64_t min_count;
	int r;

	q->state = s;
	if (!s)
		return hdb_fail_memory(err, "values", sizeof(*s));
	s->tally = (struct query_tally){
		.entry_bytes = sizeof(struct value_group), .what = "values", .advice = "",
	};
	r = query_targets(q, 1, 1, err);
	if (r == HDB_OK)
		r = query_number(q, "min-count", 1, UINT64_MAX, 1, &min_count, err);
	if (r == HDB_OK)
		r = read_by(q, s, err);
	if (r == HDB_OK)
		r = mark_classes(q, s, err);
	if (r == HDB_OK)
		r = check_path(q, s, err);
	if (r == HDB_OK)
		r = heap_string_scan_begin(&s->scan, q->heap, err);
	if (r != HDB_OK)
		return r;
	s->has_retained = derive_has(q->derive, STORE_RETAINED);
	r = count_values(q, s, err);
	if (r == HDB_OK)
		r = query_fact(q, "objects", s->members, err);
	if (r == HDB_OK)
		r = query_fact(q, "values", s->tally.used, err);
	if (r == HDB_OK)
		q->total = query_tally_order(&s->tally, min_count);
	return r;
}

static int next_group(struct query *q, struct hdb_error *err)
{
	struct grouping *s = q->state;
	const struct value_group *group;
	char text[TEXT_MAX];
	int r;

	if (s->at >= q->total)
		return HDB_END;
	group = query_tally_at(&s->tally, s->at++);
	r = text_of(q, s, group->head.first_ix, text, err);
	if (r == HDB_OK)
		r = query_set_text(q, VALUE, text, err);
	query_set(q, COUNT, group->head.count);
	query_set(q, SHALLOW, group->shallow_bytes);
	if (s->has_retained)
		query_set(q, RETAINED, group->retained_bytes);
	query_set(q, UNREACHABLE, group->unreachable);
	return r == HDB_OK ? query_set_id(q, ID, group->head.first_ix, err) : r;
}

static void close_group(struct query *q)
{
	struct grouping *s = q->state;

	if (!s)
		return;
	heap_string_scan_release(&s->scan);
	free(s->is_member);
	free(s->block);
	query_tally_release(q, &s->tally);
	free(s);
}

const struct query_def query_group = {
	.spec = {
		.name = "group", .targets = "CLASS|PATTERN",
		.summary = "objects of a class by their value, or by the value of a field",
		.options = options,
		.columns = columns, .column_count = sizeof(columns) / sizeof(columns[0]),
		.facts = facts, .fact_count = sizeof(facts) / sizeof(facts[0]), .is_query = 1,
	},
	.open = open_group, .next = next_group, .close = close_group,
};
