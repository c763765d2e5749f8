/*
 * queries/explain/key_hashes.c - finds keys of hash tables that were modified after insertion.
 *
 * A table records the hash code that a key had when it was inserted. The present hash code of a
 * list of strings or boxed values is known. Other classes mostly combine fields by one of a few
 * formulas, but the dump contains neither the formula nor the names of these fields, so all are
 * tried. A formula that gives the recorded hash codes of several keys must be the right one,
 * because a wrong one matches one key in four billion. If it gives another hash code for other
 * keys, these were modified.
 */
#include "queries/explain/entry_private.h"

#include "base/error.h"
#include "heap/platform_classes.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

/* Number of fields that are tried, and of keys with which formulas are tried. */
#define PARTS_MAX 6u
#define KEYS_TRIED 256u
/* Minimum number of keys, with different hash codes, that prove a formula. */
#define MATCHES_MIN 8u
/* Maximum number of elements of a list, and of bytes of a string, that are hashed. */
#define ELEMENTS_MAX 64u
#define TEXT_MAX 256u
/* ConcurrentHashMap does not record the sign of a hash code. */
#define CONCURRENT_MASK 0x7fffffffu

/* A key: the recorded hash code, and the hash codes of its fields. */
struct hashed_key {
	uint32_t recorded;
	uint32_t parts[PARTS_MAX];
	uint8_t known, unset; /* bit sets of fields whose hash code is known, or that are null */
};

/*
 * hash = seed; for each field: hash = hash * factor + hash of the field. Records, data classes,
 * Objects.hash() and development environments, Lombok, and commons-lang.
 */
static const struct {
	uint32_t seed, factor, of_null;
} formulas[] = { { 0, 31, 0 }, { 1, 31, 0 },  { 17, 31, 0 },
		 { 7, 31, 0 }, { 1, 59, 43 }, { 17, 37, 0 } };
#define FORMULAS (sizeof(formulas) / sizeof(formulas[0]))

/* ---- hash codes of values ---- */

static int hash_text(struct heap *heap, uint32_t ix, uint32_t *out, struct hdb_error *err)
{
	char text[TEXT_MAX];

	TRY(heap_string(heap, ix, text, sizeof(text), err));
	*out = 0;
	for (const char *at = text; *at; at++) {
		if (!isascii((unsigned char)*at))
			return HDB_NOTFOUND;
		*out = *out * 31 + (unsigned char)*at;
	}
	return strlen(text) + 1 < sizeof(text) ? HDB_OK : HDB_NOTFOUND;
}

static int hash_plain(const struct heap_value *value, uint32_t *out)
{
	int64_t number;

	if (value->type == HPROF_BOOLEAN)
		*out = value->bits & 1 ? 1231 : 1237;
	else if (value->type == HPROF_LONG || value->type == HPROF_DOUBLE)
		*out = (uint32_t)(value->bits ^ value->bits >> 32);
	else if (value->type == HPROF_FLOAT)
		*out = (uint32_t)value->bits;
	else if (heap_value_number(value, &number))
		*out = (uint32_t)number;
	else
		return HDB_NOTFOUND;
	return HDB_OK;
}

/* Hashes a value that is not a list. Returns HDB_NOTFOUND if its hash code is not known. */
static int hash_leaf(struct heap *heap, const struct heap_value *value, uint32_t *out,
		     struct hdb_error *err)
{
	struct heap_value inner;
	const char *name;
	uint32_t ix;

	*out = 0;
	if (value->type != HPROF_OBJECT)
		return hash_plain(value, out);
	if (!value->bits)
		return HDB_OK;
	TRY(heap_find(heap, value->bits, &ix, err));
	if (heap_is_string(heap, ix))
		return hash_text(heap, ix, out, err);
	name = heap_class_name_of(heap, ix);
	if (strncmp(name, "java.lang.", 10) != 0 && strcmp(name, "java.util.Date") != 0)
		return HDB_NOTFOUND;
	TRY(heap_path_value(heap, ix, "value|fastTime", &inner, err));
	return hash_plain(&inner, out);
}

/* Hashes a list by its elements. Returns HDB_NOTFOUND if the object is not such a list. */
static int hash_list(struct heap *heap, uint32_t ix, uint32_t *out, struct hdb_error *err)
{
	BASE_SCOPED(heap_entries_end) struct heap_entries entries = { .heap = NULL };
	const char *name = heap_class_name_of(heap, ix);
	struct heap_collection c;
	uint32_t element;
	int r;

	if (strncmp(name, "java.util.", 10) != 0 || !strstr(name, "List"))
		return HDB_NOTFOUND;
	TRY(heap_collection_open(heap, ix, &c, err));
	if (c.rule->kind != HEAP_LIST || !c.inner || !c.has_size || !c.size ||
	    c.size > ELEMENTS_MAX)
		return HDB_NOTFOUND;
	*out = 1;
	TRY(heap_entries_begin(heap, &c, &entries, err));
	while ((r = heap_entries_next(&entries, err)) == HDB_OK) {
		TRY(hash_leaf(heap, &entries.value, &element, err));
		*out = *out * 31 + element;
	}
	return r == HDB_END ? HDB_OK : r;
}

static int hash_value(struct heap *heap, const struct heap_value *value, uint32_t *out,
		      struct hdb_error *err)
{
	uint32_t ix;
	const int r = hash_leaf(heap, value, out, err);

	if (r != HDB_NOTFOUND)
		return r;
	TRY(heap_find(heap, value->bits, &ix, err));
	return hash_list(heap, ix, out, err);
}

/* ---- keys ---- */

static int add_fields(struct heap *heap, uint32_t ix, struct hashed_key *key, struct hdb_error *err)
{
	struct heap_fields fields;
	int r;

	TRY(heap_fields_begin(heap, ix, &fields, err));
	for (unsigned i = 0; i < PARTS_MAX; i++) {
		TRY_FOUND(heap_fields_next(&fields, err));
		TRY_ERRORS(r = hash_value(heap, &fields.value, &key->parts[i], err));
		key->known |= (uint8_t)((r == HDB_OK) << i);
		key->unset |=
			(uint8_t)((fields.value.type == HPROF_OBJECT && !fields.value.bits) << i);
	}
	return HDB_OK;
}

int entry_add_hash(struct looking *l, const struct heap_entries *at, struct hdb_error *err)
{
	const struct heap_value *value = at->has_key ? &at->key : &at->value;
	struct heap *heap = l->session->heap;
	struct hashed_key key = { .known = 0 };
	struct heap_object entry, object;
	int64_t recorded;
	uint32_t ix;
	int r;

	if (at->entry_ix == HEAP_NONE || value->type != HPROF_OBJECT || !value->bits)
		return HDB_OK;
	TRY(heap_object(heap, at->entry_ix, &entry, err));
	l->hash_mask = UINT32_MAX;
	if (heap_has_superclass(heap, entry.class_no,
				"java.util.concurrent.ConcurrentHashMap$Node"))
		l->hash_mask = CONCURRENT_MASK;
	else if (!heap_has_superclass(heap, entry.class_no, "java.util.HashMap$Node"))
		return HDB_OK;
	TRY_FOUND(heap_find(heap, value->bits, &ix, err));
	TRY(heap_object(heap, ix, &object, err));
	if (object.kind != STORE_INSTANCE || heap_is_string(heap, ix))
		return HDB_OK;
	TRY_FOUND(heap_path_number(heap, at->entry_ix, "hash", &recorded, err));
	key.recorded = (uint32_t)recorded;
	if (l->hashed_class == HEAP_NONE)
		l->hashed_class = object.class_no;
	if (l->hashed_class != object.class_no)
		return HDB_OK;
	if (entry_is_own(heap, object.class_no)) {
		TRY(add_fields(heap, ix, &key, err));
	} else {
		TRY_ERRORS(r = hash_list(heap, ix, &key.parts[0], err));
		key.known = r == HDB_OK;
	}
	return key.known ? base_vec_push(&l->hashed, &key, sizeof(key), err) : HDB_OK;
}

/* ---- formulas ---- */

/*
 * Returns whether a formula with these fields gives the hash code recorded for a key. Dumps list
 * the fields of a class in the order of its source or, from HotSpot, backwards. Formulas from
 * FORMULAS on are the same formulas backwards.
 */
static bool is_match(const struct hashed_key *key, size_t formula, unsigned fields, uint32_t mask)
{
	const bool is_reversed = formula >= FORMULAS;
	const size_t no = formula % FORMULAS;
	uint32_t hash = formulas[no].seed;

	for (unsigned n = 0; n < PARTS_MAX; n++) {
		const unsigned i = is_reversed ? PARTS_MAX - 1 - n : n;

		if (fields >> i & 1)
			hash = hash * formulas[no].factor +
			       (key->unset >> i & 1 ? formulas[no].of_null : key->parts[i]);
	}
	return ((hash ^ hash >> 16) & mask) == key->recorded;
}

/* Counts the keys for which a formula gives the recorded hash code, without equal neighbours. */
static unsigned matches_of(const struct looking *l, size_t formula, unsigned fields)
{
	const struct hashed_key *keys = l->hashed.data, *last = NULL;
	unsigned count = 0;

	for (size_t i = 0; i < l->hashed.count && i < KEYS_TRIED; i++) {
		if ((keys[i].known & fields) != fields ||
		    !is_match(&keys[i], formula, fields, l->hash_mask) ||
		    (last && last->recorded == keys[i].recorded))
			continue;
		last = &keys[i];
		count++;
	}
	return count;
}

void entry_set_changed(const struct looking *l, struct explain_facts *out)
{
	const struct hashed_key *keys = l->hashed.data;
	const bool is_own = l->hashed.count && entry_is_own(l->session->heap, l->hashed_class);
	unsigned most = 0, fields = 1;
	double all = 0, changed = 0;
	size_t formula = 0;

	/*
	 * With one field, the first formula gives the hash code of that field. If the key is a
	 * list, the field is the key itself.
	 */
	for (unsigned subset = 1; is_own && subset < 1u << PARTS_MAX; subset++) {
		for (size_t i = 0; i < 2 * FORMULAS; i++) {
			const unsigned count = matches_of(l, i, subset);

			if (count <= most)
				continue;
			most = count;
			fields = subset;
			formula = i;
		}
	}
	if (is_own && most < MATCHES_MIN)
		return;
	for (size_t i = 0; i < l->hashed.count; i++) {
		if ((keys[i].known & fields) != fields)
			continue;
		all++;
		changed += !is_match(&keys[i], formula, fields, l->hash_mask);
	}
	if (!changed)
		return;
	explain_fact_set(out, EXPLAIN_FACT_changed_percent, changed * 100 / all);
	explain_fact_text(out, EXPLAIN_FACT_changed_kind,
			  explain_short_class(l->session->heap, l->hashed_class));
}
