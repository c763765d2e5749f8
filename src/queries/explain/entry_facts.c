/*
 * queries/explain/entry_facts.c - what the entries of a large collection have in common: keys that
 * should be one key, and the prefix of keys or the field of values that most of them share.
 *
 * A value that most entries have says where they come from ("tenant-17" in 85 % of the keys) only if
 * there are others: what all have, and what only has two values, says nothing.
 */
#include "queries/explain/suspect_facts.h"

#include "base/error.h"
#include "base/idmap.h"
#include "base/sort.h"
#include "analysis/describe.h"
#include "heap/collections/collections.h"
#include "heap/platform_classes.h"
#include "queries/inspect/inspect.h"

#include <ctype.h>
#include <stdio.h>
#include <xxhash.h>

/* Entries that are read, of which an even part is looked at. */
#define ENTRIES_READ 20000u
#define ENTRIES_LOOKED 4000u
/* Bytes of a text that count; parts that a text is divided into; fields of a value. */
#define PREFIX_BYTES 80u
#define PREFIX_PARTS 3u
#define VALUE_FIELDS 12u
/* The share that is worth a word, in percent, and the different values that there must be. */
#define SHARE_MIN 70
#define SHARE_MAX 98
#define SHARE_KINDS 5u
/* Fewer keys prove nothing. */
#define SHARE_KEYS 100u
/* Entries of a collection that does not know their number. */
#define ENTRIES_COUNTED 1000000u

/* What an entry has: a prefix of its key (level < PREFIX_PARTS), or a field of its value. */
struct feature {
	uint32_t level;
	uint32_t entry; /* number of the entry, for an order without hashes */
	uint64_t hash;
	uint32_t ix;   /* the object that has it */
	uint32_t size; /* of a prefix: its bytes */
};

struct looking {
	const struct session *session;
	struct base_vec features; /* struct feature */
	struct base_vec keys;     /* struct feature: hashes of all fields of own keys */
	uint32_t value_class;     /* class of the values whose fields are looked at */
	uint32_t key_class;
	uint32_t entries;
};

static bool is_own(struct heap *heap, uint32_t class_no)
{
	const char *name = heap_class_name(heap, class_no);

	return !heap_is_platform_class(name) && !strstr(name, "$$Lambda");
}

/* Hashes the content of a string, or the ID of another object. */
static int hash_of(const struct looking *l, uint64_t bits, uint64_t *out, struct hdb_error *err)
{
	char text[PREFIX_BYTES * 2];
	uint32_t ix;

	*out = bits;
	TRY_FOUND(heap_find(l->session->heap, bits, &ix, err));
	if (!heap_is_string(l->session->heap, ix))
		return HDB_OK;
	TRY_FOUND(heap_string(l->session->heap, ix, text, sizeof(text), err));
	*out = XXH3_64bits_withSeed(text, strlen(text), base_hash_seed());
	return HDB_OK;
}

/*
 * Adds the prefixes of a text that end where a word or number does. Names of classes have dots, and
 * that most are of one package is no news.
 */
static int add_prefixes(struct looking *l, uint32_t ix, struct hdb_error *err)
{
	char text[PREFIX_BYTES];
	uint32_t level = 0;

	TRY_FOUND(heap_string(l->session->heap, ix, text, sizeof(text), err));
	for (uint32_t size = 1; text[0] && text[size] && level < PREFIX_PARTS; size++) {
		struct feature f = { .level = level, .entry = l->entries, .ix = ix, .size = size };

		if (isalnum((unsigned char)text[size]) || text[size] == '.' ||
		    (unsigned char)text[size] >= 0x80)
			continue;
		f.hash = XXH3_64bits_withSeed(text, size, base_hash_seed());
		TRY(base_vec_push(&l->features, &f, sizeof(f), err));
		level++;
	}
	return HDB_OK;
}

/* Adds the references in the fields of a value. */
static int add_fields(struct looking *l, uint32_t ix, struct hdb_error *err)
{
	struct heap_fields fields;
	uint32_t level = PREFIX_PARTS;

	TRY(heap_fields_begin(l->session->heap, ix, &fields, err));
	while (level < PREFIX_PARTS + VALUE_FIELDS) {
		struct feature f = { .level = level, .entry = l->entries, .ix = ix };
		int r;

		TRY_ERRORS(r = heap_fields_next(&fields, err));
		if (r != HDB_OK)
			return HDB_OK;
		level++;
		if (fields.value.type != HPROF_OBJECT)
			continue;
		TRY(hash_of(l, fields.value.bits, &f.hash, err));
		TRY(base_vec_push(&l->features, &f, sizeof(f), err));
	}
	return HDB_OK;
}

/* Adds a key of an own class, by all its fields: it should be found by them. */
static int add_key(struct looking *l, uint32_t ix, struct hdb_error *err)
{
	struct feature key = { .entry = l->entries, .ix = ix };
	struct heap_fields fields;
	bool has_content = false;
	int r;

	TRY(heap_fields_begin(l->session->heap, ix, &fields, err));
	for (;;) {
		uint64_t part;

		TRY_ERRORS(r = heap_fields_next(&fields, err));
		if (r != HDB_OK)
			break;
		part = fields.value.bits;
		if (fields.value.type == HPROF_OBJECT && part)
			TRY(hash_of(l, part, &part, err));
		has_content |= part != 0;
		key.hash = XXH3_64bits_withSeed(&part, sizeof(part), key.hash);
	}
	return has_content ? base_vec_push(&l->keys, &key, sizeof(key), err) : HDB_OK;
}

/* Looks at one object of an entry: a key, or a value. */
static int look_at(struct looking *l, const struct heap_value *value, bool is_key,
		   struct hdb_error *err)
{
	struct heap *heap = l->session->heap;
	uint32_t *class_no = is_key ? &l->key_class : &l->value_class;
	struct heap_object object;
	uint32_t ix;

	if (value->type != HPROF_OBJECT || !value->bits)
		return HDB_OK;
	TRY_FOUND(heap_find(heap, value->bits, &ix, err));
	if (heap_is_string(heap, ix))
		return add_prefixes(l, ix, err);
	TRY(heap_object(heap, ix, &object, err));
	if (object.kind != STORE_INSTANCE || !is_own(heap, object.class_no))
		return HDB_OK;
	if (*class_no == HEAP_NONE)
		*class_no = object.class_no;
	if (*class_no != object.class_no)
		return HDB_OK;
	return is_key ? add_key(l, ix, err) : add_fields(l, ix, err);
}

/* Whether equal keys must not be in the collection twice. */
static bool compares_keys(const struct heap_collection *c)
{
	return c->inner && (c->rule->kind == HEAP_MAP || c->rule->kind == HEAP_SET) &&
	       !strstr(c->inner->class_name, "Identity");
}

static int look_at_entries(struct looking *l, const struct heap_collection *c,
			   struct hdb_error *err)
{
	BASE_SCOPED(heap_entries_end) struct heap_entries entries = { .heap = NULL };
	const uint64_t count = c->size < ENTRIES_READ ? c->size : ENTRIES_READ;
	const uint64_t step = count ? (count + ENTRIES_LOOKED - 1) / ENTRIES_LOOKED : 1;
	const bool has_keys = compares_keys(c);

	TRY_FOUND(heap_entries_begin(l->session->heap, c, &entries, err));
	for (uint64_t i = 0; i < count; i++) {
		TRY_FOUND(heap_entries_next(&entries, err));
		if (i % step)
			continue;
		if (entries.has_key)
			TRY(look_at(l, &entries.key, has_keys, err));
		/* The values of a set are its keys. */
		TRY(look_at(l, &entries.value, has_keys && !entries.has_key, err));
		l->entries++;
	}
	return HDB_OK;
}

/* ---- what they have in common ---- */

BASE_ORDER(compare, struct feature, BASE_UP(level), BASE_UP(hash), BASE_UP(entry))

/* The most frequent feature of a level. */
struct share {
	const struct feature *most;
	size_t count, all, kinds;
};

/* Measures the level that begins at *at, and moves *at behind it. */
static void measure(const struct base_vec *features, size_t *at, struct share *out)
{
	const struct feature *list = features->data;
	const uint32_t level = list[*at].level;

	*out = (struct share){ .count = 0 };
	while (*at < features->count && list[*at].level == level) {
		const size_t from = *at;

		while (*at < features->count && list[*at].level == level &&
		       list[*at].hash == list[from].hash)
			++*at;
		out->kinds++;
		out->all += *at - from;
		if (!out->most || *at - from > out->count ||
		    (*at - from == out->count && list[from].entry < out->most->entry)) {
			out->most = &list[from];
			out->count = *at - from;
		}
	}
}

/* The field with that number, and its value, of an object. Texts are EXPLAIN_CONTENT_MAX bytes. */
static int name_field(const struct looking *l, const struct feature *f, char *name, char *text,
		      struct hdb_error *err)
{
	struct heap *heap = l->session->heap;
	struct heap_fields fields;
	uint32_t ix;

	name[0] = text[0] = '\0';
	TRY(heap_fields_begin(heap, f->ix, &fields, err));
	for (uint32_t i = PREFIX_PARTS; i <= f->level; i++)
		TRY_FOUND(heap_fields_next(&fields, err));
	TRY_FOUND(heap_find(heap, fields.value.bits, &ix, err));
	TRY(heap_text(heap, fields.field.name_text, name, EXPLAIN_CONTENT_MAX, err));
	analysis_describe(l->session, ix, text, EXPLAIN_CONTENT_MAX);
	if (!text[0]) {
		uint64_t id;

		TRY(heap_id(heap, ix, &id, err));
		(void)snprintf(text, EXPLAIN_CONTENT_MAX, "%.60s 0x%" PRIx64,
			       inspect_simple_name(heap_class_name_of(heap, ix)), id);
	}
	return HDB_OK;
}

static int set_share(const struct looking *l, const struct share *s, struct explain_facts *out,
		     struct hdb_error *err)
{
	char name[EXPLAIN_CONTENT_MAX] = "prefix", text[EXPLAIN_CONTENT_MAX];

	if (s->most->level < PREFIX_PARTS) {
		TRY_FOUND(heap_string(l->session->heap, s->most->ix, text, sizeof(text), err));
		text[s->most->size < sizeof(text) ? s->most->size : sizeof(text) - 1] = '\0';
	} else {
		TRY(name_field(l, s->most, name, text, err));
	}
	if (!name[0] || !text[0])
		return HDB_OK;
	explain_fact_text(out, EXPLAIN_FACT_part_of, name);
	explain_fact_text(out, EXPLAIN_FACT_part, text);
	explain_fact_set(out, EXPLAIN_FACT_part_percent,
			 (double)s->count * 100 / (double)l->entries);
	explain_fact_set(out, EXPLAIN_FACT_part_kinds, (double)s->kinds);
	return HDB_OK;
}

/* Finds the first level with a value that most entries have. */
static int find_share(struct looking *l, struct explain_facts *out, struct hdb_error *err)
{
	base_vec_sort(&l->features, sizeof(struct feature), compare);
	for (size_t at = 0; at < l->features.count;) {
		struct share s;

		measure(&l->features, &at, &s);
		if (s.most->hash && s.count * 100 >= (size_t)l->entries * SHARE_MIN &&
		    s.count * 100 <= (size_t)l->entries * SHARE_MAX && s.kinds >= SHARE_KINDS)
			return set_share(l, &s, out, err);
	}
	return HDB_OK;
}

static void find_same_keys(struct looking *l, struct explain_facts *out)
{
	const struct feature *list = l->keys.data;
	double same = 0;

	base_vec_sort(&l->keys, sizeof(struct feature), compare);
	for (size_t from = 0, to; from < l->keys.count; from = to) {
		for (to = from; to < l->keys.count && list[to].hash == list[from].hash; to++)
			;
		same += to - from > 1 ? (double)(to - from) : 0;
	}
	if (l->keys.count < SHARE_KEYS)
		return;
	explain_fact_set(out, EXPLAIN_FACT_key_percent, same * 100 / (double)l->keys.count);
	explain_fact_text(out, EXPLAIN_FACT_key_kind,
			  explain_short_class(l->session->heap, l->key_class));
}

/* Queues between threads that take whatever is added. */
static bool is_queue(struct heap *heap, uint32_t class_no)
{
	static const char *const names[] = {
		"java.util.concurrent.ConcurrentLinkedQueue",
		"java.util.concurrent.ConcurrentLinkedDeque",
		"java.util.concurrent.LinkedTransferQueue",
		"java.util.concurrent.PriorityBlockingQueue",
		"java.util.concurrent.DelayQueue",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (heap_has_superclass(heap, class_no, names[i]))
			return true;
	return false;
}

int explain_entry_facts(const struct session *session, uint32_t collection_ix,
			struct explain_facts *out, struct hdb_error *err)
{
	struct looking l = { .session = session, .value_class = HEAP_NONE, .key_class = HEAP_NONE };
	uint64_t budget = ENTRIES_COUNTED;
	struct heap_object object;
	struct heap_collection c;
	int r;

	TRY(heap_object(session->heap, collection_ix, &object, err));
	TRY_FOUND(heap_collection_open(session->heap, collection_ix, &c, err));
	if (!c.has_size)
		TRY_FOUND(heap_collection_count(session->heap, &c, &budget, err));
	out->figures[EXPLAIN_FACT_entries] =
		(struct explain_figure){ .kind = BASE_NUMBER, .number = (double)c.size };
	explain_fact_text(out, EXPLAIN_FACT_entries_kind,
			  explain_short_class(session->heap, object.class_no));
	if (is_queue(session->heap, object.class_no))
		explain_fact_set(out, EXPLAIN_FACT_is_queue, 1);
	r = look_at_entries(&l, &c, err);
	if (r == HDB_OK && l.entries) {
		r = find_share(&l, out, err);
		find_same_keys(&l, out);
	}
	base_vec_release(&l.features);
	base_vec_release(&l.keys);
	return r;
}
