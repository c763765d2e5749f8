/*
 * queries/explain/key_hashes.c - finds keys of hash tables that were modified after insertion.
 *
 * A table records the hash code that a key had when it was inserted. The present hash code of a
 * list of strings or boxed values is known. Other classes mostly combine fields by one of a few
 * formulas, but the dump contains neither the formula nor the names of these fields, so heapdb
 * tries all formulas and combinations of fields. A formula that yields the recorded hash codes of
 * several keys must be the right one, because a wrong formula matches only one key in two billion.
 * Keys for which this formula yields a different hash code were modified. Keys with capital letters
 * do not count as modified unless one such key matches, because some classes, such as names of HTTP
 * headers, hash their text in lower case. For lists, the formula is known, but some of the recorded
 * hash codes must match a list or its beginning.
 */
#include "queries/explain/entry_private.h"

#include <ctype.h>
#include <string.h>

/* Maximum number of fields in a formula, and number of keys on which formulas are tried. */
#define PARTS_MAX 6u
#define KEYS_TRIED 256u
/* Minimum number of matching keys with different hash codes that prove a formula. */
#define MATCHES_MIN 8u
/* Maximum number of list elements, and of bytes of a string, that are hashed. */
#define ELEMENTS_MAX 64u
#define TEXT_MAX 256u
/* Bits that are compared: ConcurrentHashMap does not record the sign of a hash code. */
#define RECORDED_MASK 0x7fffffffu

/* A key: the recorded hash code, and the hash codes of its fields. */
struct hashed_key {
	uint32_t recorded;
	uint32_t parts[PARTS_MAX];
	/* bit sets: fields with a known hash code, null fields, and strings with capital letters */
	uint8_t known, unset, capitals;
	bool was_list; /* whether the recorded hash code matches the beginning of a list */
};

/*
 * hash = seed; for each field: hash = hash * factor + hash of the field. Records and data classes,
 * Objects.hash(), "Effective Java", Lombok, and commons-lang.
 */
static const struct {
	uint32_t seed, factor, of_null;
} formulas[] = { { 0, 31, 0 }, { 1, 31, 0 }, { 17, 31, 0 }, { 1, 59, 43 }, { 17, 37, 0 } };
#define FORMULAS BASE_COUNT(formulas)

/* ---- hash codes of values ---- */

/* Returns whether a table records this hash code as `recorded`. */
static bool is_recorded(uint32_t hash, uint32_t recorded)
{
	return !((hash ^ hash >> 16 ^ recorded) & RECORDED_MASK);
}

static int hash_text(struct heap *heap, uint32_t ix, uint32_t *out, bool *has_capitals,
		     struct hdb_error *err)
{
	char text[TEXT_MAX];

	TRY(heap_string(heap, ix, text, sizeof(text), err));
	*out = 0;
	for (const char *at = text; *at; at++) {
		if (!isascii((unsigned char)*at))
			return HDB_NOTFOUND;
		*has_capitals |= isupper((unsigned char)*at) != 0;
		*out = *out * 31 + (unsigned char)*at;
	}
	return strlen(text) + 1 < sizeof(text) ? HDB_OK : HDB_NOTFOUND;
}

/* Hashes a value that is not a list. Returns HDB_NOTFOUND if its hash code is not known. */
static int hash_leaf(struct heap *heap, const struct heap_value *value, uint32_t *out,
		     bool *has_capitals, struct hdb_error *err)
{
	struct heap_value plain = *value;
	const char *name;
	uint32_t ix;

	*out = 0;
	if (value->type == HPROF_OBJECT) {
		if (!value->bits)
			return HDB_OK;
		TRY(heap_find(heap, value->bits, &ix, err));
		if (heap_is_string(heap, ix))
			return hash_text(heap, ix, out, has_capitals, err);
		name = heap_class_name_of(heap, ix);
		if (strncmp(name, "java.lang.", 10) != 0 && strcmp(name, "java.util.Date") != 0)
			return HDB_NOTFOUND;
		TRY(heap_path_value(heap, ix, "value|fastTime", &plain, err));
	}
	*out = plain.type == HPROF_BYTE  ? (uint32_t)(int8_t)plain.bits :
	       plain.type == HPROF_SHORT ? (uint32_t)(int16_t)plain.bits :
					   (uint32_t)(plain.bits ^ plain.bits >> 32);
	if (plain.type == HPROF_BOOLEAN)
		*out = plain.bits & 1 ? 1231 : 1237;
	return plain.type == HPROF_OBJECT ? HDB_NOTFOUND : HDB_OK;
}

/*
 * Hashes a list by its elements, as field `no` of the key. Returns HDB_NOTFOUND if the object is
 * not a list whose elements can all be hashed.
 */
static int hash_list(struct heap *heap, uint32_t ix, struct hashed_key *key, unsigned no,
		     struct hdb_error *err)
{
	BASE_SCOPED(heap_entries_end) struct heap_entries entries = { .heap = NULL };
	const char *name = heap_class_name_of(heap, ix);
	uint32_t element, hash = 1;
	struct heap_collection c;
	bool has_capitals = false;
	uint64_t read = 0;
	int r;

	if (strncmp(name, "java.util.", 10) != 0 || !strstr(name, "List"))
		return HDB_NOTFOUND;
	TRY(heap_collection_open(heap, ix, &c, err));
	if (c.rule->kind != HEAP_LIST || !c.inner || !c.has_size || !c.size ||
	    c.size > ELEMENTS_MAX)
		return HDB_NOTFOUND;
	TRY(heap_entries_begin(heap, &c, &entries, err));
	for (; (r = heap_entries_next(&entries, err)) == HDB_OK; read++) {
		key->was_list |= is_recorded(hash, key->recorded);
		TRY(hash_leaf(heap, &entries.value, &element, &has_capitals, err));
		hash = hash * 31 + element;
	}
	key->was_list |= is_recorded(hash, key->recorded);
	key->parts[no] = hash;
	return r != HDB_END ? r : read == c.size ? HDB_OK : HDB_NOTFOUND;
}

/* ---- keys ---- */

static int add_fields(struct heap *heap, uint32_t ix, struct hashed_key *key, struct hdb_error *err)
{
	struct heap_fields fields;
	const struct heap_value *value = &fields.value;
	bool has_capitals;
	uint32_t list_ix;
	int r;

	TRY(heap_fields_begin(heap, ix, &fields, err));
	for (unsigned i = 0; i < PARTS_MAX; i++) {
		TRY_FOUND(heap_fields_next(&fields, err));
		has_capitals = false;
		r = hash_leaf(heap, value, &key->parts[i], &has_capitals, err);
		if (r == HDB_NOTFOUND && heap_find(heap, value->bits, &list_ix, err) == HDB_OK)
			r = hash_list(heap, list_ix, key, i, err);
		TRY_ERRORS(r);
		key->known |= (uint8_t)((r == HDB_OK) << i);
		key->capitals |= (uint8_t)(has_capitals << i);
		key->unset |= (uint8_t)((value->type == HPROF_OBJECT && !value->bits) << i);
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
	if (!heap_has_superclass(heap, entry.class_no,
				 "java.util.concurrent.ConcurrentHashMap$Node") &&
	    !heap_has_superclass(heap, entry.class_no, "java.util.HashMap$Node"))
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
		TRY_ERRORS(r = hash_list(heap, ix, &key, 0, err));
		key.known = r == HDB_OK;
	}
	return key.known ? base_vec_push(&l->hashed, &key, sizeof(key), err) : HDB_OK;
}

/* ---- formulas ---- */

/*
 * A formula, the fields that it combines, and how many keys it matches. Dumps list the fields of a
 * class in the order of its source or, from HotSpot, backwards. Formula numbers from FORMULAS on
 * mean the same formulas with the fields in reverse order.
 */
struct guess {
	size_t formula;
	unsigned fields;     /* bit set */
	unsigned keys, hits; /* number of keys, and of keys that the formula matches */
	/*
	 * hits whose hash code differs from that of their neighbours or, if is_list, lists that
	 * match completely
	 */
	unsigned proofs;
	bool is_list; /* whether the keys are lists */
};

static bool is_match(const struct hashed_key *key, const struct guess *guess)
{
	const size_t no = guess->formula % FORMULAS;
	uint32_t hash = formulas[no].seed;

	for (unsigned n = 0; n < PARTS_MAX; n++) {
		const unsigned i = guess->formula < FORMULAS ? n : PARTS_MAX - 1 - n;

		if (guess->fields >> i & 1)
			hash = hash * formulas[no].factor +
			       (key->unset >> i & 1 ? formulas[no].of_null : key->parts[i]);
	}
	return is_recorded(hash, key->recorded);
}

/* Counts the hits among the first keys. */
static void check(const struct base_vec *hashed, size_t most, struct guess *guess)
{
	const struct hashed_key *keys = hashed->data, *last = NULL;
	unsigned doubtful = 0, capital_hits = 0;

	guess->keys = guess->hits = guess->proofs = 0;
	for (size_t i = 0; i < hashed->count && i < most; i++) {
		if ((keys[i].known & guess->fields) != guess->fields)
			continue;
		guess->keys++;
		if (guess->is_list)
			guess->proofs += keys[i].was_list;
		if (!is_match(&keys[i], guess)) {
			doubtful += (keys[i].capitals & guess->fields) != 0;
			continue;
		}
		guess->hits++;
		capital_hits += (keys[i].capitals & guess->fields) != 0;
		if (!guess->is_list)
			guess->proofs += !last || last->recorded != keys[i].recorded;
		last = &keys[i];
	}
	if (!capital_hits)
		guess->keys -= doubtful;
}

void entry_set_changed(const struct looking *l, struct explain_facts *out)
{
	const bool is_own = l->hashed.count && entry_is_own(l->session->heap, l->hashed_class);
	/* A list counts as a single field, whose hash code is that of the list itself. */
	struct guess best = { .fields = 1, .is_list = !is_own };

	for (unsigned subset = 1; is_own && subset < 1u << PARTS_MAX; subset++) {
		for (size_t i = 0; i < 2 * FORMULAS; i++) {
			struct guess guess = { .formula = i, .fields = subset };

			check(&l->hashed, KEYS_TRIED, &guess);
			if (guess.proofs > best.proofs)
				best = guess;
		}
	}
	if (!is_own)
		check(&l->hashed, KEYS_TRIED, &best);
	if (best.proofs < MATCHES_MIN)
		return;
	check(&l->hashed, SIZE_MAX, &best);
	if (best.hits == best.keys)
		return;
	explain_fact_set(out, EXPLAIN_FACT_changed_percent,
			 (best.keys - best.hits) * 100.0 / best.keys);
	explain_fact_text(out, EXPLAIN_FACT_changed_kind,
			  explain_short_class(l->session->heap, l->hashed_class));
}
