/*
 * queries/explain/entry_facts.c - finds features shared by the entries of a large collection: equal
 * keys, the prefix or the form of keys, a field value that most entries have, points in time, and
 * the field that retains the most.
 *
 * A value shared by most entries shows where the entries come from ("tenant-17" in 85 % of the
 * keys). A value shared by all entries, or a field with only two values, is not informative.
 */
#include "queries/explain/entry_private.h"

#include "base/error.h"
#include "base/idmap.h"
#include "heap/heap_database.h"
#include "base/sort.h"
#include "analysis/describe.h"
#include "heap/collections/collections.h"
#include "heap/platform_classes.h"
#include "queries/inspect/inspect.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <xxhash.h>

/* Maximum number of entries that are read. Only an evenly spaced sample of them is examined. */
#define ENTRIES_READ 20000u
#define ENTRIES_LOOKED 4000u
/*
 * Number of adjacent keys of a collection that are examined together, because equal keys are often
 * adjacent.
 */
#define ENTRIES_RUN 16u
/*
 * Makes the spacing of the examined elements irregular. With regular spacing, all of them could be
 * of one kind, for example if every third element is of that kind.
 */
#define ENTRIES_SPREAD 2654435761u
/* Number of values for whose fields the retained memory is measured. */
#define VALUES_WEIGHED 500u
/* Minimum share worth reporting, in percent, and minimum number of different values. */
#define SHARE_MIN 70
#define SHARE_MAX 98
#define SHARE_KINDS 5u
/* Minimum number of keys that a finding must be based on. */
#define SHARE_KEYS 100u
/* Maximum number of entries that are counted in a collection that does not record its size. */
#define ENTRIES_COUNTED 1000000u
/* Minimum number of letters of a name such as "page17" whose letters remain in the form. */
#define NAME_LETTERS_MIN 3u
/* Maximum length of an array that is part of a key, to compare its content. */
#define ARRAY_ELEMENTS 256u
/* Minimum average number of keys per form. */
#define FORM_KEYS 20u

bool entry_is_own(struct heap *heap, uint32_t class_no)
{
	return heap_is_own_class(heap_class_name(heap, class_no));
}

/*
 * Hashes the content of an array of numbers. Leaves the hash as it is if the array is long or the
 * dump lacks its values.
 */
static int hash_array(const struct looking *l, const struct heap_object *object, uint64_t *out,
		      struct hdb_error *err)
{
	uint64_t bits[ARRAY_ELEMENTS];
	struct heap_slice slice = { .bits = bits, .room = ARRAY_ELEMENTS };

	if (object->length > ARRAY_ELEMENTS)
		return HDB_OK;
	TRY(heap_elements(l->session->heap, object->ix, 0, &slice, err));
	if (slice.done == object->length)
		*out = XXH3_64bits_withSeed(bits, slice.done * sizeof(bits[0]),
					    base_hash_seed() + object->class_no);
	return HDB_OK;
}

/*
 * Hashes the content of a string or, for a key, of an array, or the ID of another object. Sets *out
 * to 0 if the object stands for the absence of a value, such as Optional.empty or an empty list.
 */
static int hash_of(const struct looking *l, uint64_t bits, bool is_key, uint64_t *out,
		   struct hdb_error *err)
{
	struct heap *heap = l->session->heap;
	char text[PREFIX_BYTES * 2];
	struct heap_object object;
	uint32_t ix;

	*out = is_key ? bits : 0;
	TRY_FOUND(heap_find(heap, bits, &ix, err));
	if (!heap_is_string(heap, ix)) {
		TRY(heap_object(heap, ix, &object, err));
		if (is_key && object.kind == STORE_PRIMITIVE_ARRAY)
			return hash_array(l, &object, out, err);
		*out = is_key || entry_is_own(heap, object.class_no) ? bits : 0;
		return HDB_OK;
	}
	TRY_FOUND(heap_string(heap, ix, text, sizeof(text), err));
	*out = XXH3_64bits_withSeed(text, strlen(text), base_hash_seed());
	return HDB_OK;
}

/* ---- keys ---- */

static bool is_word_byte(char c)
{
	return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* Sets the bits of the words of a key that differ in another key of the same form. */
static void compare_words(const char *key, const char *other, uint64_t *varied)
{
	for (uint64_t bit = 1; *key; key++, other += *other != '\0') {
		size_t size = 0, length = 0;

		while (is_word_byte(key[size]))
			size++;
		while (is_word_byte(other[length]))
			length++;
		if (!size)
			continue;
		if (size != length || memcmp(key, other, size) != 0)
			*varied |= bit;
		bit <<= 1;
		key += size - 1;
		other += length ? length - 1 : 0;
	}
}

/*
 * Writes a key with each word that contains a digit replaced by "*": "/orders?id=123" becomes
 * "/orders?id=*". Returns false unless the result is informative, that is, unless the key is a
 * path, a query, a statement or the like, a name around a number ("order.7.time"), or an IP
 * address. Only words whose bit is set in `varied` are replaced.
 */
static bool form_of(const char *text, uint64_t varied, struct base_text to)
{
	size_t used = 0;
	bool has_parts = false, has_place = false, has_name = false;

	while (*text && used + 2 < to.size) {
		size_t size = 0, letters = 0;
		bool has_digit = false, is_same;

		while (is_word_byte(text[size]))
			has_digit |= isdigit((unsigned char)text[size++]) != 0;
		/* The letters of a name such as "page17" remain. */
		while (letters < size && !isdigit((unsigned char)text[letters]))
			letters++;
		if (letters < NAME_LETTERS_MIN ||
		    letters + strspn(text + letters, "0123456789") != size)
			letters = 0;
		if (!size) {
			has_parts |= strchr("/=?&(", *text) != NULL;
			to.buf[used++] = *text++;
			continue;
		}
		is_same = !(varied & 1);
		varied >>= 1;
		has_parts |= has_place && !has_digit && to.buf[used - 1] == '.';
		has_place |= has_digit;
		has_name |= !has_digit || letters;
		used += has_digit && !is_same ? (size_t)snprintf(to.buf + used, to.size - used,
								 "%.*s*", (int)letters, text) :
						(size_t)snprintf(to.buf + used, to.size - used,
								 "%.*s", (int)size, text);
		used = used < to.size ? used : to.size - 1;
		text += size;
	}
	to.buf[used] = '\0';
	return (has_parts && has_place && has_name) || strcmp(to.buf, "*.*.*.*") == 0;
}

/*
 * Returns whether a form is that of names: each number ends a name, or is part of a key such as
 * "screen.12.text.3" of a table of texts. Other forms are those of paths, queries and statements.
 */
static bool is_name_form(const char *form)
{
	const char *place = strchr(form, '*');

	if (!place)
		return false;
	if (!strpbrk(form, "/=?&( ") && strcmp(form, "*.*.*.*") != 0)
		return true;
	for (; place; place = strchr(place + 1, '*'))
		if (place == form || !is_word_byte(place[-1]))
			return false;
	return true;
}

static int add_form(struct looking *l, uint32_t ix, const char *text, struct hdb_error *err)
{
	struct feature f = { .level = FORM_LEVEL, .entry = l->entries, .ix = ix };
	char form[PREFIX_BYTES];

	if (!form_of(text, UINT64_MAX, BASE_TEXT(form)))
		return HDB_OK;
	f.hash = XXH3_64bits_withSeed(form, strlen(form), base_hash_seed());
	return base_vec_push(&l->features, &f, sizeof(f), err);
}

/*
 * Adds the prefixes of a string that end after a word or number. Class names are skipped, because
 * it is normal for most of them to be in the same package.
 */
static int add_prefixes(struct looking *l, uint32_t ix, bool is_key, struct hdb_error *err)
{
	char text[PREFIX_BYTES];
	uint32_t level = 0;

	TRY_FOUND(heap_string(l->session->heap, ix, text, sizeof(text), err));
	if (is_key) {
		TRY(add_form(l, ix, text, err));
		entry_add_day(l, &l->dates, text);
	}
	if (is_key || !l->has_keys)
		entry_add_uuid(l, text);
	for (uint32_t size = 1; text[0] && text[size] && level < PREFIX_PARTS; size++) {
		struct feature f = { .level = level, .entry = l->entries, .ix = ix, .size = size };

		if (is_word_byte(text[size]) || text[size] == '.')
			continue;
		f.hash = XXH3_64bits_withSeed(text, size, base_hash_seed());
		TRY(base_vec_push(&l->features, &f, sizeof(f), err));
		level++;
	}
	return HDB_OK;
}

/* ---- the fields of values ---- */

/* Adds the size that is retained only by this field of a value. */
static int weigh(struct looking *l, struct value_field *field, uint32_t value_ix, uint64_t bits,
		 struct hdb_error *err)
{
	struct heap_object object;
	uint32_t ix, dominator;
	uint64_t bytes;

	TRY_FOUND(heap_find(l->session->heap, bits, &ix, err));
	TRY(derive_dominator(l->session->derive, ix, &dominator, err));
	if (dominator != value_ix)
		return HDB_OK;
	TRY(heap_object(l->session->heap, ix, &object, err));
	TRY(derive_retained(l->session->derive, ix, &bytes, err));
	if (!field->bytes)
		field->class_no = heap_known_class(&object);
	field->bytes += bytes;
	return HDB_OK;
}

/*
 * Counts an object to which a field of a value refers, if it can be closed. Counts at most one
 * object per entry.
 */
static int add_below(struct looking *l, uint64_t bits, struct hdb_error *err)
{
	const uint64_t before = l->below.objects;
	uint32_t ix;

	if (before && l->below_entry == l->entries)
		return HDB_OK;
	TRY_FOUND(heap_find(l->session->heap, bits, &ix, err));
	TRY(explain_flag_add(l->session->heap, ix, &l->below, err));
	if (l->below.objects > before)
		l->below_entry = l->entries;
	return HDB_OK;
}

/* Examines the fields of a value. For values of platform classes, only measures retained sizes. */
static int add_fields(struct looking *l, uint32_t ix, bool are_own, struct hdb_error *err)
{
	const bool is_weighed = l->weighed < VALUES_WEIGHED;
	struct heap_fields fields;
	uint64_t bytes;

	TRY(derive_retained(l->session->derive, ix, &bytes, err));
	l->weighed += is_weighed;
	l->weighed_bytes += is_weighed ? bytes : 0;
	TRY(heap_fields_begin(l->session->heap, ix, &fields, err));
	for (uint32_t no = 0; no < VALUE_FIELDS; no++) {
		struct feature f = { .level = FIELD_LEVEL + no, .entry = l->entries, .ix = ix };
		struct value_field *field = &l->fields[no];

		TRY_FOUND(heap_fields_next(&fields, err));
		if (!field->name[0]) {
			TRY(heap_text(l->session->heap, fields.field.name_text, field->name,
				      sizeof(field->name), err));
			field->time = (uint8_t)(are_own ? entry_time_kind(field->name) : TIME_NONE);
			field->type = fields.value.type;
			if (are_own && fields.value.type == HPROF_BOOLEAN)
				field->is_closed =
					explain_is_closed_name(field->name, &field->is_inverse);
		}
		field->values++;
		field->unset += !fields.value.bits;
		if (fields.value.type == HPROF_INT || fields.value.type == HPROF_LONG)
			TRY(entry_add(l, NUMBER_LEVEL + no, ix, fields.value.bits, err));
		if (field->is_closed) {
			field->points++;
			field->past += (fields.value.bits & 1) != field->is_inverse;
		}
		if (field->time && fields.value.bits)
			TRY(entry_add_time(l, field, &fields.value, err));
		if (fields.value.type != HPROF_OBJECT)
			continue;
		if (is_weighed && fields.value.bits)
			TRY(weigh(l, field, ix, fields.value.bits, err));
		if (fields.value.bits)
			TRY(add_below(l, fields.value.bits, err));
		if (!are_own)
			continue;
		TRY(hash_of(l, fields.value.bits, false, &f.hash, err));
		TRY(base_vec_push(&l->features, &f, sizeof(f), err));
	}
	return HDB_OK;
}

static int add_key_field(struct looking *l, uint32_t no, const struct heap_fields *at,
			 uint64_t part, struct hdb_error *err)
{
	struct key_field *field = &l->key_fields[no];

	/* the fields of a reference, and the outer object, are not parts of a key */
	if (!entry_is_own(l->session->heap, at->declaring_no))
		return HDB_OK;
	if (!field->name[0])
		TRY(heap_text(l->session->heap, at->field.name_text, field->name,
			      sizeof(field->name), err));
	if (strncmp(field->name, "this$", 5) == 0)
		return HDB_OK;
	/* the value is an object's ID rather than the hash of a string */
	field->is_opaque |= at->value.type == HPROF_OBJECT && part && part == at->value.bits;
	return entry_add(l, KEY_LEVEL + no, HEAP_NONE, part, err);
}

/*
 * Marks a key with an array, unless the key is an element of a set, or has an identity of its own,
 * and something other than the entry refers to it too: such keys may be meant to be compared by
 * reference.
 */
static int mark_array(const struct looking *l, uint32_t array_ix, struct feature *key,
		      struct hdb_error *err)
{
	const char *name;
	uint32_t dominator;

	key->level = array_ix + 1;
	if (l->is_map && array_ix == key->ix)
		return HDB_OK;
	TRY(derive_dominator(l->session->derive, key->ix, &dominator, err));
	name = dominator == HEAP_NONE ? "" : heap_class_name_of(l->session->heap, dominator);
	/* the dominator is a node such as HashMap$Node, or the Object[] of a table without nodes */
	if (!heap_is_platform_class(name) || !strchr(name, '[') == !strchr(name, '$'))
		key->level = 0;
	return HDB_OK;
}

/* Marks a key if this field, the first such field of the first such key, is an array of numbers. */
static int add_array_field(struct looking *l, const struct heap_fields *at, uint32_t no,
			   struct feature *key, struct hdb_error *err)
{
	struct heap_object object;
	char name[EXPLAIN_CONTENT_MAX];

	if (l->array[0] && no != l->array_no)
		return HDB_OK;
	TRY_FOUND(heap_find(l->session->heap, at->value.bits, &object.ix, err));
	TRY(heap_object(l->session->heap, object.ix, &object, err));
	if (object.kind != STORE_PRIMITIVE_ARRAY)
		return HDB_OK;
	if (l->array[0])
		return mark_array(l, object.ix, key, err);
	l->array_no = no;
	TRY(heap_text(l->session->heap, at->field.name_text, name, sizeof(name), err));
	(void)snprintf(l->array, sizeof(l->array), "the field %.60s (%s) of %.90s", name,
		       heap_class_name(l->session->heap, object.class_no),
		       explain_short_class(l->session->heap, l->key_class));
	return mark_array(l, object.ix, key, err);
}

/*
 * Adds a key of an application class, with the hash of all its fields. Keys with equal fields are
 * expected to be equal.
 */
static int add_key(struct looking *l, uint32_t ix, struct hdb_error *err)
{
	struct feature key = { .entry = l->entries, .ix = ix };
	struct heap_fields fields;
	bool has_content = false;
	int r;

	TRY(heap_fields_begin(l->session->heap, ix, &fields, err));
	for (uint32_t no = 0;; no++) {
		uint64_t part;

		TRY_ERRORS(r = heap_fields_next(&fields, err));
		if (r != HDB_OK)
			break;
		part = fields.value.bits;
		if (fields.value.type == HPROF_OBJECT && part) {
			TRY(entry_add_time(l, &l->dates, &fields.value, err));
			TRY(hash_of(l, part, true, &part, err));
			TRY(add_array_field(l, &fields, no, &key, err));
			if (no == l->array_no)
				key.size = (uint32_t)part;
		}
		if (no < KEY_FIELDS && l->is_map)
			TRY(add_key_field(l, no, &fields, part, err));
		has_content |= part != 0;
		key.hash = XXH3_64bits_withSeed(&part, sizeof(part), key.hash);
	}
	return has_content ? base_vec_push(&l->keys, &key, sizeof(key), err) : HDB_OK;
}

/* Examines a key of a platform class: a number, a UUID, or a point in time. */
static int add_platform(struct looking *l, uint32_t ix, struct hdb_error *err)
{
	struct heap *heap = l->session->heap;
	const char *name = heap_class_name_of(heap, ix);
	struct heap_value value;

	if (strcmp(name, "java.util.UUID") == 0) {
		l->uuids++;
		return HDB_OK;
	}
	if (strcmp(name, "java.lang.Long") != 0 && strcmp(name, "java.lang.Integer") != 0)
		return entry_add_date(l, &l->dates, ix, err);
	TRY_FOUND(heap_path_value(heap, ix, "value", &value, err));
	/* Numbers that could be times in seconds are more likely IDs. */
	if (value.type == HPROF_LONG && value.bits >= TIME_MIN_MS)
		entry_add_ms(l, &l->dates, value.bits);
	return HDB_OK;
}

/* Adds a key that is an array of numbers. */
static int add_array_key(struct looking *l, const struct heap_object *object, struct hdb_error *err)
{
	struct feature key = { .entry = l->entries, .ix = object->ix, .hash = object->ix };

	if (l->key_class == HEAP_NONE)
		l->key_class = object->class_no;
	if (l->key_class != object->class_no)
		return HDB_OK;
	TRY(hash_array(l, object, &key.hash, err));
	TRY(mark_array(l, object->ix, &key, err));
	key.size = (uint32_t)key.hash;
	(void)snprintf(l->array, sizeof(l->array), "each key (%s)",
		       heap_class_name(l->session->heap, object->class_no));
	return base_vec_push(&l->keys, &key, sizeof(key), err);
}

/* Examines the key or the value of an entry. */
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
		return add_prefixes(l, ix, is_key, err);
	TRY(heap_object(heap, ix, &object, err));
	if ((is_key || !l->has_keys) && object.kind == STORE_INSTANCE)
		TRY(add_platform(l, ix, err));
	if (!is_key && heap_collection_rule(heap, object.class_no))
		return entry_add_collection(l, ix, err);
	if (is_key && object.kind == STORE_PRIMITIVE_ARRAY)
		return add_array_key(l, &object, err);
	if (object.kind != STORE_INSTANCE || (is_key && !entry_is_own(heap, object.class_no)))
		return HDB_OK;
	if (l->is_list && !heap_is_platform_class(heap_class_name(heap, object.class_no))) {
		const struct feature same = { SAME_LEVEL, l->entries, value->bits, ix, 0 };

		TRY(base_vec_push(&l->features, &same, sizeof(same), err));
	}
	if (*class_no == HEAP_NONE)
		*class_no = object.class_no;
	if (*class_no != object.class_no)
		return HDB_OK;
	return is_key ? add_key(l, ix, err) :
			add_fields(l, ix, entry_is_own(heap, object.class_no), err);
}

/*
 * Counts a map value that means "nothing". Such values are cached after an unsuccessful lookup of a
 * key.
 */
static int look_for_nothing(struct looking *l, const struct heap_value *value,
			    struct hdb_error *err)
{
	static const char *const nothings[] = {
		"java.lang.Object",
		"java.util.Optional",
		"java.util.Collections$EmptyList",
		"java.util.Collections$EmptyMap",
		"java.util.Collections$EmptySet",
	};
	struct heap *heap = l->session->heap;
	const char *name;
	struct heap_value inner = { .bits = 0 };
	uint32_t ix;

	if (value->type != HPROF_OBJECT)
		return HDB_OK;
	if (!value->bits) {
		l->nothings++;
		return HDB_OK;
	}
	TRY_FOUND(heap_find(heap, value->bits, &ix, err));
	name = heap_class_name_of(heap, ix);
	for (size_t i = 0; i < BASE_COUNT(nothings); i++) {
		if (strcmp(name, nothings[i]) != 0)
			continue;
		if (i == 1)
			TRY_ERRORS(heap_path_value(heap, ix, "value", &inner, err));
		if (inner.bits)
			return HDB_OK;
		l->nothing = nothings[i];
		l->nothings++;
	}
	return HDB_OK;
}

/*
 * Counts an entry whose key and value are the same object, if only the map refers to this object.
 * Such a map is a pool that stores one copy of each value, and this value is not in use.
 */
static int look_for_self(struct looking *l, const struct heap_entries *entries,
			 struct hdb_error *err)
{
	struct heap *heap = l->session->heap;
	const char *name;
	uint32_t ix, dominator;

	if (entries->key.type != HPROF_OBJECT || entries->key.bits != entries->value.bits)
		return HDB_OK;
	TRY_FOUND(heap_find(heap, entries->key.bits, &ix, err));
	TRY(derive_dominator(l->session->derive, ix, &dominator, err));
	if (dominator == HEAP_NONE)
		return HDB_OK;
	name = heap_class_name_of(heap, dominator);
	l->selves += strncmp(name, l->map_class, strlen(l->map_class)) == 0;
	return HDB_OK;
}

/* Adds the text of a key of a map that compares keys by reference (IdentityHashMap). */
static int add_text_key(struct looking *l, const struct heap_value *key, struct hdb_error *err)
{
	struct feature f = { .entry = l->entries };

	TRY_FOUND(heap_find(l->session->heap, key->bits, &f.ix, err));
	if (!heap_is_string(l->session->heap, f.ix))
		return HDB_OK;
	TRY(hash_of(l, key->bits, true, &f.hash, err));
	return base_vec_push(&l->keys, &f, sizeof(f), err);
}

/* Returns whether a collection of this kind must not contain equal keys. */
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

	l->has_keys = c->rule->kind == HEAP_MAP || c->rule->kind == HEAP_SET;
	l->is_map = c->rule->kind == HEAP_MAP;
	l->noun = l->has_keys ? "keys" : "elements";
	TRY_FOUND(heap_entries_begin(l->session->heap, c, &entries, err));
	for (uint64_t i = 0; i < count; i++) {
		TRY_FOUND(heap_entries_next(&entries, err));
		if (has_keys ? i / ENTRIES_RUN % step != 0 :
			       i % step != (i / step * ENTRIES_SPREAD >> 16) % step)
			continue;
		if (entries.has_key)
			TRY(look_at(l, &entries.key, has_keys, err));
		if (l->is_identity)
			TRY(add_text_key(l, &entries.key, err));
		/* Each value of a set is also a key. */
		if (has_keys && !entries.has_key)
			TRY(look_at(l, &entries.value, true, err));
		if (has_keys)
			TRY(entry_add_hash(l, &entries, err));
		TRY(look_at(l, &entries.value, false, err));
		if (entries.has_key) {
			TRY(look_for_nothing(l, &entries.value, err));
			TRY(look_for_self(l, &entries, err));
		}
		l->entries++;
	}
	return HDB_OK;
}

/* ---- features that entries share ---- */

BASE_ORDER(compare, struct feature, BASE_UP(level), BASE_UP(hash), BASE_UP(entry))

/* Measures the level that begins at *at, and moves *at to the next level. */
static void measure(const struct base_vec *features, size_t *at, struct share *out)
{
	const struct feature *list = features->data;
	const uint32_t level = list[*at].level;

	assert(*at < features->count);
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

/*
 * Reads the field with this number from an object: its name, and its value as text. Each string has
 * room for EXPLAIN_CONTENT_MAX bytes.
 */
static int name_field(const struct looking *l, const struct feature *f, char *name, char *text,
		      struct hdb_error *err)
{
	struct heap *heap = l->session->heap;
	struct heap_fields fields;
	uint32_t ix;

	assert(f->level >= PREFIX_PARTS);
	name[0] = text[0] = '\0';
	TRY(heap_fields_begin(heap, f->ix, &fields, err));
	for (uint32_t i = FIELD_LEVEL; i <= f->level; i++)
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

static int set_share(const struct looking *l, const struct share *s, bool *is_found,
		     struct explain_facts *out, struct hdb_error *err)
{
	const double percent = (double)s->count * 100 / (double)l->entries;
	char name[EXPLAIN_CONTENT_MAX] = "prefix", text[EXPLAIN_CONTENT_MAX];

	assert(l->entries && s->count <= s->all);
	if (s->most->level < PREFIX_PARTS) {
		TRY_FOUND(heap_string(l->session->heap, s->most->ix, text, sizeof(text), err));
		text[s->most->size < sizeof(text) ? s->most->size : sizeof(text) - 1] = '\0';
	} else {
		TRY(name_field(l, s->most, name, text, err));
		entry_set_state(l, s->most->level - FIELD_LEVEL, text, percent, out);
	}
	if (!name[0] || !text[0] || *is_found || percent > SHARE_MAX || s->kinds < SHARE_KINDS)
		return HDB_OK;
	*is_found = true;
	explain_fact_text(out, EXPLAIN_FACT_part_of, name);
	explain_fact_text(out, EXPLAIN_FACT_part, text);
	explain_fact_set(out, EXPLAIN_FACT_part_percent, percent);
	explain_fact_set(out, EXPLAIN_FACT_part_kinds, (double)s->kinds);
	return HDB_OK;
}

/* Reports the form that most keys have or, if there are only a few forms, the most frequent one. */
static int set_form(const struct looking *l, const struct share *s, struct explain_facts *out,
		    struct hdb_error *err)
{
	const bool is_one = s->count * 100 >= (size_t)l->entries * SHARE_MIN;
	const size_t count = is_one ? s->count : s->all;
	char text[PREFIX_BYTES], form[PREFIX_BYTES], name[EXPLAIN_CONTENT_MAX + 8];
	uint64_t varied = 0;
	const char *cut;

	if (count * 100 < (size_t)l->entries * SHARE_MIN || s->kinds * FORM_KEYS > s->all)
		return HDB_OK;
	TRY_FOUND(heap_string(l->session->heap, s->most->ix, text, sizeof(text), err));
	/* Features with the same form are adjacent. */
	for (size_t i = 1; i < s->count; i++) {
		TRY_FOUND(heap_string(l->session->heap, s->most[i].ix, form, sizeof(form), err));
		compare_words(text, form, &varied);
	}
	(void)form_of(text, varied, BASE_TEXT(form));
	cut = strlen(text) + 1 == sizeof(text) ? "..." : "";
	if (is_one)
		(void)snprintf(name, sizeof(name), "the form %s%s", form, cut);
	else
		(void)snprintf(name, sizeof(name), "one of %zu forms, such as %s%s", s->kinds, form,
			       cut);
	explain_fact_text(out, EXPLAIN_FACT_key_form, name);
	if (is_name_form(form))
		explain_fact_set(out, EXPLAIN_FACT_form_is_name, 1);
	explain_fact_set(out, EXPLAIN_FACT_key_form_percent,
			 (double)count * 100 / (double)l->entries);
	return HDB_OK;
}

/* Finds the first level at which most entries have the same value. */
static int find_share(struct looking *l, struct explain_facts *out, struct hdb_error *err)
{
	bool is_found = false;

	base_vec_sort(&l->features, sizeof(struct feature), compare);
	for (size_t at = 0; at < l->features.count;) {
		struct share s;

		measure(&l->features, &at, &s);
		if (s.most->level >= NUMBER_LEVEL)
			entry_set_kinds(l, &s, out);
		else if (s.most->level == FORM_LEVEL)
			TRY(set_form(l, &s, out, err));
		else if (s.most->level == SAME_LEVEL)
			explain_fact_set(out, EXPLAIN_FACT_same_percent,
					 (double)s.count * 100 / (double)l->entries);
		else if (s.most->hash && s.count * 100 >= (size_t)l->entries * SHARE_MIN)
			TRY(set_share(l, &s, &is_found, out, err));
	}
	return HDB_OK;
}

/* Names a field: "Token.expiresAt". */
void entry_set_field(const struct looking *l, const struct value_field *field, enum explain_fact to,
		     struct explain_facts *out)
{
	char name[2 * EXPLAIN_CONTENT_MAX];

	(void)snprintf(name, sizeof(name), "%.*s.%s", (int)EXPLAIN_CONTENT_MAX - 1,
		       explain_short_class(l->session->heap, l->value_class), field->name);
	explain_fact_text(out, to, name);
}

/* Reports how many of the entries are closed. */
static void set_closed(const struct looking *l, const struct explain_flag *flag,
		       struct explain_facts *out)
{
	explain_fact_text(out, EXPLAIN_FACT_closed_value, flag->is_inverse ? "false" : "true");
	explain_fact_set(out, EXPLAIN_FACT_closed_percent,
			 (double)flag->closed * 100 / (double)l->entries);
}

/* Records the field of the values that retains the most. */
static void set_heaviest(const struct looking *l, const struct value_field *most,
			 struct explain_facts *out)
{
	struct heap *heap = l->session->heap;

	/* A field that few entries have, or that retains less than half of them, is no news. */
	if (!most->bytes || !l->weighed_bytes || most->values * 20 < l->entries * 19 ||
	    most->bytes * 2 < l->weighed_bytes)
		return;
	entry_set_field(l, most, EXPLAIN_FACT_field, out);
	explain_fact_set(out, EXPLAIN_FACT_field_percent,
			 (double)most->bytes * 100 / (double)l->weighed_bytes);
	explain_fact_text(out, EXPLAIN_FACT_field_kind, explain_short_class(heap, most->class_no));
	/*
	 * Values of these kinds are expected to take memory: collections, strings, arrays and
	 * application objects.
	 */
	explain_fact_set(
		out, EXPLAIN_FACT_is_machinery,
		entry_is_own(heap, l->value_class) &&
			heap_is_platform_class(heap_class_name(heap, most->class_no)) &&
			!strchr(heap_class_name(heap, most->class_no), '[') &&
			/* an AtomicReference itself takes little memory */
			strcmp(heap_class_name(heap, most->class_no),
			       "java.util.concurrent.atomic.AtomicReference") != 0 &&
			!heap_collection_rule(heap, most->class_no) &&
			strcmp(heap_class_name(heap, most->class_no), "java.lang.String") != 0);
}

/* Reports fields of the values: points in time, and the field that retains the most. */
static void set_fields(const struct looking *l, uint64_t entries, struct explain_facts *out)
{
	struct heap *heap = l->session->heap;
	const struct value_field *most = &l->fields[0];

	for (size_t i = 0; i < VALUE_FIELDS; i++) {
		entry_set_time(l, &l->fields[i], entries, out);
		if (l->fields[i].is_closed && l->fields[i].points * 2 >= l->entries) {
			entry_set_field(l, &l->fields[i], EXPLAIN_FACT_closed_field, out);
			set_closed(l,
				   &(struct explain_flag){ .is_inverse = l->fields[i].is_inverse,
							   .closed = l->fields[i].past },
				   out);
		}
		if (l->fields[i].bytes > most->bytes)
			most = &l->fields[i];
	}
	if (out->figures[EXPLAIN_FACT_closed_field].kind == BASE_NOTHING &&
	    l->below.objects * 2 >= l->entries) {
		explain_fact_text(out, EXPLAIN_FACT_closed_field, l->below.name);
		explain_fact_set(out, EXPLAIN_FACT_closed_below, 1);
		set_closed(l, &l->below, out);
	}
	if (l->dates.points)
		entry_set_dates(l, out);
	explain_fact_set(out, EXPLAIN_FACT_emptied_percent,
			 (double)l->emptied * 100 / (double)l->entries);
	if (l->value_class != HEAP_NONE)
		explain_fact_text(out, EXPLAIN_FACT_value_kind,
				  heap_class_name(heap, l->value_class));
	explain_fact_set(out, EXPLAIN_FACT_self_percent,
			 (double)l->selves * 100 / (double)l->entries);
	/* A map whose values are all null or the same Object is a set of its keys. */
	if (l->nothings < l->entries ||
	    (l->nothing && strcmp(l->nothing, "java.lang.Object") != 0)) {
		explain_fact_set(out, EXPLAIN_FACT_empty_values,
				 (double)l->nothings * 100 / (double)l->entries);
		explain_fact_text(out, EXPLAIN_FACT_empty_value, l->nothing ? l->nothing : "null");
	}
	set_heaviest(l, most, out);
}

BASE_ORDER(compare_keys, struct feature, BASE_UP(hash), BASE_UP(ix), BASE_UP(entry))

/*
 * Returns whether nearly all equal keys have arrays that are different objects, and not all of
 * these arrays have the same content, such as none. The keys are sorted.
 */
static bool differ_by_arrays(const struct base_vec *keys, double same)
{
	const struct feature *list = keys->data, *first = NULL;
	bool is_varied = false, was_pair = false;
	double arrays = 0;

	for (size_t i = 1; i < keys->count; i++) {
		const struct feature *key = &list[i], *other = key - 1;
		const bool is_pair = key->hash == other->hash && key->level && other->level &&
				     key->level != other->level;

		first = first || !is_pair ? first : key;
		is_varied |= is_pair && key->size != first->size;
		arrays += is_pair ? 1 + !was_pair : 0;
		was_pair = is_pair;
	}
	return is_varied && arrays * 20 >= same * 19;
}

static void find_same_keys(struct looking *l, struct explain_facts *out)
{
	const struct feature *list = l->keys.data;
	double same = 0, repeated = 0;

	base_vec_sort(&l->keys, sizeof(struct feature), compare_keys);
	for (size_t from = 0, to; from < l->keys.count; from = to) {
		for (to = from; to < l->keys.count && list[to].hash == list[from].hash; to++)
			repeated += (to > from && list[to].ix == list[to - 1].ix) ||
				    (to + 1 < l->keys.count && list[to].ix == list[to + 1].ix);
		same += to - from > 1 ? (double)(to - from) : 0;
	}
	/* Keys of other classes are not examined. */
	if (l->keys.count < SHARE_KEYS || l->keys.count * 20 < (size_t)l->entries * 19)
		return;
	explain_fact_set(out, EXPLAIN_FACT_key_percent, same * 100 / (double)l->keys.count);
	explain_fact_set(out, EXPLAIN_FACT_repeated_percent,
			 repeated * 100 / (double)l->keys.count);
	if (l->array[0] && (l->array_no != UINT32_MAX || l->keys.count == l->entries) &&
	    differ_by_arrays(&l->keys, same))
		explain_fact_text(out, EXPLAIN_FACT_key_array, l->array);
	explain_fact_text(out, EXPLAIN_FACT_key_kind,
			  l->key_class == HEAP_NONE ?
				  "String" :
				  explain_short_class(l->session->heap, l->key_class));
}

/*
 * Reports collections to which elements are added at one end and removed at the other: unbounded
 * queues between threads, and other lists. Queue libraries use names such as MpscLinkedQueue and
 * MpscUnboundedArrayQueue for unbounded queues.
 */
static void set_queue(struct heap *heap, uint32_t class_no, const struct heap_collection *c,
		      struct explain_facts *out)
{
	static const char *const queues[] = { "java.util.concurrent.PriorityBlockingQueue",
					      "java.util.concurrent.DelayQueue" };
	const char *name = strchr(c->rule->class_name, '*') ? explain_short_class(heap, class_no) :
							      c->rule->class_name;
	bool is_queue = c->rule->kind == HEAP_QUEUE && !strstr(name, "Blocking") &&
			(strstr(name, "Linked") || strstr(name, "Unbounded"));

	for (size_t i = 0; i < BASE_COUNT(queues); i++)
		is_queue |= heap_has_superclass(heap, class_no, queues[i]);
	if (is_queue)
		explain_fact_set(out, EXPLAIN_FACT_is_queue, 1);
	if (heap_has_superclass(heap, class_no, "java.util.ArrayDeque") ||
	    heap_has_superclass(heap, class_no, "java.util.LinkedList"))
		explain_fact_set(out, EXPLAIN_FACT_is_deque, 1);
}

int explain_entry_facts(const struct session *session, uint32_t collection_ix,
			struct explain_facts *out, struct hdb_error *err)
{
	struct looking l = {
		.session = session,
		.value_class = HEAP_NONE,
		.key_class = HEAP_NONE,
		.hashed_class = HEAP_NONE,
		.now_ms = heap_meta_number(session->heap, "dump.timestamp_ms", 0),
		.slots_left = SLOTS_COMPARED_MAX,
		.below = EXPLAIN_FLAG_NONE,
		.array_no = UINT32_MAX,
	};
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
	explain_fact_object(out, EXPLAIN_FACT_collection, collection_ix);
	set_queue(session->heap, object.class_no, &c, out);
	TRY(heap_object(session->heap, c.inner_ix, &object, err));
	if (entry_is_own(session->heap, object.class_no) &&
	    heap_has_superclass(session->heap, object.class_no, "java.util.LinkedHashMap"))
		explain_fact_set(out, EXPLAIN_FACT_evicts, 1);
	l.is_list = c.rule->kind == HEAP_LIST;
	l.is_identity = strcmp(heap_class_name(session->heap, object.class_no),
			       "java.util.IdentityHashMap") == 0;
	l.map_class = c.inner ? heap_class_name_of(session->heap, c.inner_ix) : "";
	r = look_at_entries(&l, &c, err);
	out->is_sampled = l.entries < c.size;
	if (r == HDB_OK && l.entries) {
		r = find_share(&l, out, err);
		find_same_keys(&l, out);
		entry_set_changed(&l, out);
		set_fields(&l, c.size, out);
		entry_set_rest(&l, out);
	}
	if (r == HDB_OK)
		r = entry_set_growth(session->heap, &c, out, err);
	out->is_sampled = false;
	base_vec_release(&l.features);
	base_vec_release(&l.keys);
	base_vec_release(&l.hashed);
	return r;
}
