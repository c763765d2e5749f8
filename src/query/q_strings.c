/*
 * query/q_strings.c - strings by content: how often each text is there and what its copies cost.
 *
 * Strings are grouped by a 128-bit hash of their content in one pass over all of them, so memory grows with the number
 * of distinct texts only; texts are read again when their rows are given.
 */
#define PCRE2_CODE_UNIT_WIDTH 8

#include "base/bytes.h"
#include "query/describe.h"
#include "query/queries.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { COUNT, TEXT, LENGTH, SHALLOW, ARRAYS, TOTAL, ID };

/* Bytes of a text that are matched and shown; the rest is told by its length. */
#define TEXT_MAX 65536u
/* Steps that a regular expression may take on one text, against patterns that explode. */
#define MATCH_LIMIT 1000000u

static const struct hdb_option_spec options[] = {
	{ "match", "REGEX", "texts that match a regular expression (PCRE2)" },
	{ "equals", "TEXT", "this text only" },
	{ "min-count", "N", "texts that are there at least N times" },
	{ "objects", NULL, "the strings one by one, in the order of the dump" },
	{ NULL, NULL, NULL },
};

static const struct hdb_column columns[] = {
	{ "count", HDB_TYPE_COUNT, "strings", "String objects with this text" },
	{ "text", HDB_TYPE_TEXT, "text", "the text, its first 64 KiB" },
	{ "length", HDB_TYPE_COUNT, "length", "UTF-16 units of the whole text" },
	{ "shallow", HDB_TYPE_BYTES, "strings' bytes", "shallow size of the String objects" },
	{ "arrays", HDB_TYPE_BYTES, "arrays' bytes", "shallow size of their arrays, once a String" },
	{ "total", HDB_TYPE_BYTES, "total", "both together" },
	{ "id", HDB_TYPE_ID, "id", "a String object with this text, the first by ID" },
};

static const struct hdb_column facts[] = {
	{ "strings", HDB_TYPE_COUNT, "strings", "String objects, unreachable ones included" },
	{ "texts", HDB_TYPE_COUNT, "texts", "distinct texts that are shown" },
	{ "without_text", HDB_TYPE_COUNT, "without text", "String objects whose characters the dump "
	  "lacks" },
};

struct text_group {
	XXH128_hash_t hash;
	uint64_t count;        /* 0: free slot */
	uint64_t shallow_bytes, array_bytes;
	uint32_t first_ix;
	uint8_t is_wanted;
};

struct strings_query {
	struct text_group *groups;
	uint64_t capacity, group_count;
	uint64_t at;           /* of the sorted groups */
	uint64_t strings, without_text, shown, min_count;
	const char *equals;
	pcre2_code *regex;
	pcre2_match_data *match;
	pcre2_match_context *context;
	char *text;            /* TEXT_MAX + 1 */
	bool is_list;
	struct base_vec list;  /* uint32_t: wanted strings, with --objects */
};

/* ---- one string ---- */

static int read_text(struct query *q, struct strings_query *s, uint32_t ix, uint64_t *length,
		     struct hdb_error *err)
{
	return heap_string(q->heap, ix, s->text, TEXT_MAX + 1, length, err);
}

static int is_wanted(struct strings_query *s, bool *out, struct hdb_error *err)
{
	char why[128];
	int n;

	*out = true;
	if (s->equals)
		*out = strcmp(s->text, s->equals) == 0;
	if (!*out || !s->regex)
		return HDB_OK;
	n = pcre2_match(s->regex, (PCRE2_SPTR)s->text, strlen(s->text), 0, PCRE2_NO_UTF_CHECK,
			s->match, s->context);
	*out = n >= 0;
	if (n >= 0 || n == PCRE2_ERROR_NOMATCH)
		return HDB_OK;
	(void)pcre2_get_error_message(n, (PCRE2_UCHAR *)why, sizeof(why));
	return hdb_fail(err, HDB_ELIMIT, "--match: the expression takes too long on a text: %s", why);
}

/* ---- grouping ---- */

static struct text_group *slot_of(struct text_group *groups, uint64_t capacity, XXH128_hash_t hash)
{
	uint64_t slot = hash.low64 & (capacity - 1);

	while (groups[slot].count && !XXH128_isEqual(groups[slot].hash, hash))
		slot = (slot + 1) & (capacity - 1);
	return &groups[slot];
}

static int grow(struct query *q, struct strings_query *s, struct hdb_error *err)
{
	const uint64_t capacity = s->capacity ? s->capacity * 2 : 4096;
	struct text_group *bigger;

	if (capacity * sizeof(*bigger) > q->work->memory_bytes)
		return hdb_fail(err, HDB_ELIMIT, "%" PRIu64 " distinct texts do not fit in the memory "
				"budget of %" PRIu64 " bytes; --memory gives more, --objects with "
				"--match or --equals needs less", s->group_count,
				q->work->memory_bytes);
	bigger = calloc(capacity, sizeof(*bigger));
	if (!bigger)
		return hdb_fail_memory(err, "texts", capacity * sizeof(*bigger));
	for (uint64_t i = 0; i < s->capacity; i++)
		if (s->groups[i].count)
			*slot_of(bigger, capacity, s->groups[i].hash) = s->groups[i];
	free(s->groups);
	s->groups = bigger;
	s->capacity = capacity;
	return HDB_OK;
}

static int add_string(struct query *q, struct strings_query *s, uint32_t ix, uint64_t shallow,
		      struct hdb_error *err)
{
	struct text_group *group;
	struct heap_object array = { 0 };
	uint64_t length;
	uint32_t array_ix;
	bool wanted;
	int r = read_text(q, s, ix, &length, err);

	s->strings++;
	if (r == HDB_NOTFOUND)
		s->without_text++;
	if (r != HDB_OK)
		return r < 0 ? r : HDB_OK;
	if (s->is_list) {
		r = is_wanted(s, &wanted, err);
		return r == HDB_OK && wanted ? base_vec_push(&s->list, &ix, sizeof(ix), err) : r;
	}
	if (s->group_count * 2 >= s->capacity) {
		r = grow(q, s, err);
		if (r < 0)
			return r;
	}
	/* Texts beyond the limit differ at least by their length. */
	const XXH128_hash_t hash = XXH3_128bits_withSeed(s->text, strlen(s->text), length);
	group = slot_of(s->groups, s->capacity, hash);
	if (!group->count) {
		r = is_wanted(s, &wanted, err);
		if (r < 0)
			return r;
		*group = (struct text_group){ .hash = hash, .first_ix = ix, .is_wanted = wanted };
		s->group_count++;
	}
	r = heap_field_object(q->heap, ix, NULL, "value", &array_ix, err);
	if (r == HDB_OK)
		r = heap_object(q->heap, array_ix, &array, err);
	if (r < 0)
		return r;
	group->count++;
	group->shallow_bytes += shallow;
	group->array_bytes += array.shallow_bytes;
	return HDB_OK;
}

static int each_string(struct query *q, struct strings_query *s, struct hdb_error *err)
{
	struct heap_block *block = malloc(sizeof(*block));
	uint8_t *is_string = calloc((size_t)q->heap->class_count + 1, 1);
	int r = block && is_string ? heap_load_classes(q->heap, err) :
		hdb_fail_memory(err, "a block of objects", sizeof(*block));

	for (uint32_t no = 0; r == HDB_OK && no < q->heap->class_count; no++)
		is_string[no] = strcmp(heap_class_name(q->heap, no), "java.lang.String") == 0;
	base_stage(q->work, "reading strings", q->heap->object_count, "objects");
	for (uint32_t b = 0; r == HDB_OK && b < heap_block_count(q->heap); b++) {
		r = heap_read_block(q->heap, b, block, err);
		if (r == HDB_OK)
			r = base_step(q->work, block->first_ix, err);
		for (uint32_t i = 0; r == HDB_OK && i < block->count; i++)
			if (is_string[block->class_no[i]] && block->kind[i] == STORE_INSTANCE)
				r = add_string(q, s, block->first_ix + i, block->shallow[i], err);
	}
	free(block);
	free(is_string);
	return r;
}

/* Most copies first, then by ID, so that the order does not depend on the hash. */
static int compare_groups(const void *a, const void *b)
{
	const struct text_group *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->first_ix < y->first_ix ? -1 : x->first_ix > y->first_ix;
}

/* Keeps the groups that are wanted, in order. */
static void sort_groups(struct strings_query *s)
{
	uint64_t kept = 0;

	for (uint64_t i = 0; i < s->capacity; i++)
		if (s->groups[i].count >= s->min_count && s->groups[i].count &&
		    s->groups[i].is_wanted)
			s->groups[kept++] = s->groups[i];
	if (kept)
		qsort(s->groups, kept, sizeof(*s->groups), compare_groups);
	s->shown = kept;
}

/* ---- the query ---- */

static int compile(struct query *q, struct strings_query *s, struct hdb_error *err)
{
	const char *pattern = query_option(q, "match");
	char why[128];
	int code;
	PCRE2_SIZE at;

	if (!pattern)
		return HDB_OK;
	s->regex = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_UTF, &code, &at,
				 NULL);
	if (!s->regex) {
		(void)pcre2_get_error_message(code, (PCRE2_UCHAR *)why, sizeof(why));
		return hdb_fail(err, HDB_EUSAGE, "--match: %s, at character %zu of \"%s\"", why,
				(size_t)at, pattern);
	}
	(void)pcre2_jit_compile(s->regex, PCRE2_JIT_COMPLETE);
	s->match = pcre2_match_data_create_from_pattern(s->regex, NULL);
	s->context = pcre2_match_context_create(NULL);
	if (!s->match || !s->context)
		return hdb_fail_memory(err, "a regular expression", 0);
	(void)pcre2_set_match_limit(s->context, MATCH_LIMIT);
	return HDB_OK;
}

static int open_strings(struct query *q, struct hdb_error *err)
{
	struct strings_query *s = calloc(1, sizeof(*s));
	int r;

	q->state = s;
	if (s)
		s->text = malloc(TEXT_MAX + 1);
	if (!s || !s->text)
		return hdb_fail_memory(err, "strings", TEXT_MAX);
	s->equals = query_option(q, "equals");
	s->is_list = query_option(q, "objects") != NULL;
	r = query_targets(q, 0, 0, err);
	if (r == HDB_OK)
		r = query_number(q, "min-count", 1, UINT64_MAX, 1, &s->min_count, err);
	if (r == HDB_OK)
		r = compile(q, s, err);
	if (r == HDB_OK)
		r = each_string(q, s, err);
	if (r != HDB_OK)
		return r;
	if (s->is_list)
		s->shown = s->list.count;
	else
		sort_groups(s);
	q->total = s->shown;
	r = query_fact(q, "strings", s->strings, err);
	if (r == HDB_OK && !s->is_list)
		r = query_fact(q, "texts", s->shown, err);
	if (r == HDB_OK)
		r = query_fact(q, "without_text", s->without_text, err);
	if (r == HDB_OK && s->is_list)
		r = query_choose(q, "id,text,length,shallow,arrays,total", err);
	return r;
}

static int set_text(struct query *q, struct strings_query *s, uint32_t ix, struct hdb_error *err)
{
	uint64_t length;
	int r = read_text(q, s, ix, &length, err);

	if (r == HDB_OK)
		r = query_set_text(q, TEXT, s->text, err);
	query_set(q, LENGTH, length);
	return r == HDB_OK ? query_set_id(q, ID, ix, err) : r;
}

static int next_listed(struct query *q, struct strings_query *s, struct hdb_error *err)
{
	struct heap_object object, array = { 0 };
	uint32_t ix, array_ix;
	int r;

	if (s->at == s->list.count)
		return HDB_END;
	ix = *base_vec_at(&s->list, uint32_t, s->at++);
	r = heap_object(q->heap, ix, &object, err);
	if (r == HDB_OK)
		r = heap_field_object(q->heap, ix, NULL, "value", &array_ix, err);
	if (r == HDB_OK)
		r = heap_object(q->heap, array_ix, &array, err);
	if (r < 0)
		return r;
	query_set(q, SHALLOW, object.shallow_bytes);
	query_set(q, ARRAYS, array.shallow_bytes);
	query_set(q, TOTAL, object.shallow_bytes + array.shallow_bytes);
	return set_text(q, s, ix, err);
}

static int next_strings(struct query *q, struct hdb_error *err)
{
	struct strings_query *s = q->state;
	const struct text_group *group;

	if (s->is_list)
		return next_listed(q, s, err);
	if (s->at == s->shown)
		return HDB_END;
	group = &s->groups[s->at++];
	query_set(q, COUNT, group->count);
	query_set(q, SHALLOW, group->shallow_bytes);
	query_set(q, ARRAYS, group->array_bytes);
	query_set(q, TOTAL, group->shallow_bytes + group->array_bytes);
	return set_text(q, s, group->first_ix, err);
}

static void close_strings(struct query *q)
{
	struct strings_query *s = q->state;

	if (!s)
		return;
	pcre2_code_free(s->regex);
	pcre2_match_data_free(s->match);
	pcre2_match_context_free(s->context);
	base_vec_release(&s->list);
	free(s->groups);
	free(s->text);
	free(s);
}

const struct query_def query_strings = {
	.spec = {
		.name = "strings", .targets = "",
		.summary = "strings by content, with how often each is there and what it costs",
		.options = options,
		.columns = columns, .column_count = sizeof(columns) / sizeof(columns[0]),
		.facts = facts, .fact_count = sizeof(facts) / sizeof(facts[0]), .is_query = 1,
	},
	.open = open_strings, .next = next_strings, .close = close_strings,
};
