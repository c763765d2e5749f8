/* queries/objects/secret_scan.c - implements the passes described in secret_scan.h. */
#include "queries/objects/secret_scan.h"

#include "analysis/describe.h"
#include "analysis/edges.h"
#include "analysis/properties.h"
#include "base/bits.h"
#include "derive/blocks.h"
#include "derive/class_tree.h"
#include "heap/collections/collections.h"
#include "heap/heap_database.h"
#include "heap/known.h"
#include "heap/values/string_scan.h"
#include "heap/values/values.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Maximum number of bytes in a value with a name; longer values are truncated. */
#define VALUE_MAX 2048u
/* Seed of the hashes of secrets that were found by name. */
#define NAMED_SEED 0x10000u

/* A secret that a thread found in an array of a block. */
struct found {
	struct heap_text_hash hash;
	uint32_t ix, rule, size;
	char shown[SECRET_SHOWN_MAX];
	char key[SECRET_KEY_MAX];
};

/* Personal data that was found. */
struct personal {
	uint32_t ix, rule, size;
};

static const struct base_secret_rule *rule_at(uint32_t no)
{
	size_t count;

	return &base_secret_rules(&count)[no];
}

static struct heap_text_hash hash_of(const void *text, size_t size, uint64_t seed)
{
	const XXH128_hash_t hash = XXH3_128bits_withSeed(text, size, base_hash_seed() + seed);

	return (struct heap_text_hash){ .low = hash.low64, .high = hash.high64 };
}

static void copy_text(char *to, size_t room, const void *text, size_t size)
{
	const size_t n = size < room - 1 ? size : room - 1;

	if (n) /* `text` may be NULL */
		memcpy(to, text, n);
	to[n] = '\0';
}

/* ---- arrays, on all threads ---- */

struct made {
	struct secret_scan *s;
	struct derive_block *block;
	struct derive_reader dump;
	uint32_t ix; /* the array being searched */
};

static int note_hit(void *ctx, const struct base_secret_hit *hit, struct hdb_error *err)
{
	struct made *m = ctx;
	struct found found = { .ix = m->ix, .rule = hit->rule, .size = (uint32_t)hit->size };

	found.hash = hash_of(hit->text, hit->size, hit->rule);
	copy_text(found.shown, sizeof(found.shown), hit->text, hit->shown);
	copy_text(found.key, sizeof(found.key), hit->key, hit->key_size);
	return base_vec_push(&m->block->bytes[0], &found, sizeof(found), err);
}

static int search_arrays(struct made *m, struct hdb_error *err)
{
	const struct heap_block *objects = m->block->objects;
	struct heap *heap = m->s->session->heap;
	uint64_t *offsets = m->block->values;

	TRY(heap_read_offsets(heap, m->block->block_no, offsets, err));
	for (uint32_t i = 0; i < objects->count; i++) {
		struct base_secret_text text = { .view = &m->dump.view };
		struct hprof_sub sub;

		if (objects->kind[i] != STORE_PRIMITIVE_ARRAY || !offsets[i])
			continue;
		TRY(hprof_sub_read(&heap->dump.file, &m->dump.view, offsets[i], &sub, err));
		if (sub.tag != HPROF_PRIMITIVE_ARRAY_DUMP ||
		    (sub.element_type != HPROF_CHAR && sub.element_type != HPROF_BYTE))
			continue;
		m->ix = objects->first_ix + i;
		text.offset = sub.body_offset;
		text.size = sub.body_size;
		text.is_chars = sub.element_type == HPROF_CHAR;
		TRY(base_secrets_find(m->s->searches[m->block->slot], &text, note_hit, m, err));
	}
	return HDB_OK;
}

/* Marks a string that is the name of a secret. Blocks never share a word of the bit set. */
static int look_at_name(void *ctx, uint32_t i, const struct heap_string *string,
			struct hdb_error *err)
{
	struct made *m = ctx;
	char name[SECRET_KEY_MAX];
	struct heap_utf8 text = { .buf = name, .size = sizeof(name) };

	if (!string->has_chars || string->chars.count < 2 || string->chars.count >= sizeof(name))
		return HDB_OK;
	TRY(heap_chars_utf8(&m->dump.view, &string->chars, &text, err));
	if (text.is_whole && base_secrets_has_name(m->s->rules, name, text.used))
		base_bit_put(m->s->names.data, m->block->objects->first_ix + i);
	return HDB_OK;
}

static int search_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct secret_scan *s = ctx;
	struct heap *heap = s->session->heap;
	struct made m = { .s = s, .block = block, .dump = derive_reader(heap, s->references) };
	int r;

	heap_prefetch_ahead(heap, block->block_no);
	for (uint32_t i = 0; i < block->objects->count; i++)
		if (block->objects->kind[i] == STORE_INSTANCE &&
		    s->has_field[block->objects->class_no[i]])
			base_bit_put(s->holders.data, block->objects->first_ix + i);
	r = search_arrays(&m, err);
	if (r == HDB_OK)
		r = derive_block_strings(&m.dump, block, look_at_name, &m, err);
	derive_reader_release(&m.dump);
	return r;
}

/* ---- counting, on the calling thread ---- */

/*
 * Hashes the class that holds personal data. Personal data is counted by class, so that a million
 * customers produce one finding.
 */
static int hash_place(const struct secret_scan *s, uint32_t ix, uint32_t rule,
		      struct heap_text_hash *hash, struct hdb_error *err)
{
	const char *name;
	uint32_t parent;

	for (unsigned step = 0; step < 2; step++) {
		TRY(derive_reach(s->session->derive, false, ix, &parent, err));
		if (parent == HEAP_NONE || parent == ix)
			break;
		ix = parent;
		if (!heap_is_string(s->session->heap, ix))
			break;
	}
	name = heap_class_name_of(s->session->heap, ix);
	*hash = hash_of(name, strlen(name), rule);
	return HDB_OK;
}

static int count_one(struct secret_scan *s, const struct found *f, struct heap_text_hash hash,
		     struct hdb_error *err)
{
	struct secret *secret;
	void *entry;

	TRY(analysis_counter_add(&s->found, hash, f->ix, &entry, err));
	secret = entry;
	if (secret->head.count > 1)
		return HDB_OK;
	secret->rule = f->rule;
	secret->holder_ix = HEAP_NONE;
	secret->value_ix = f->ix;
	secret->size = f->size;
	memcpy(secret->shown, f->shown, sizeof(f->shown));
	memcpy(secret->key, f->key, sizeof(f->key));
	return HDB_OK;
}

static int count_found(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct secret_scan *s = ctx;
	const struct found *found = block->bytes[0].data;

	for (size_t i = 0; i < block->bytes[0].count; i++) {
		const struct found *f = &found[i];
		const struct personal personal = { f->ix, f->rule, f->size };

		base_bit_put(s->taken.data, f->ix);
		TRY(rule_at(f->rule)->is_personal ?
			    base_vec_push(&s->personal, &personal, sizeof(personal), err) :
			    count_one(s, f, f->hash, err));
	}
	return HDB_OK;
}

/*
 * Counts personal data by class. Requires the reach tree, which is not built for a heap without
 * such data.
 */
static int count_personal(struct secret_scan *s, struct hdb_error *err)
{
	for (size_t i = 0; i < s->personal.count; i++) {
		const struct personal *p = base_vec_at(&s->personal, struct personal, i);
		const struct found found = { .ix = p->ix, .rule = p->rule, .size = p->size };
		struct heap_text_hash hash;

		TRY(hash_place(s, p->ix, p->rule, &hash, err));
		TRY(count_one(s, &found, hash, err));
	}
	return HDB_OK;
}

/* ---- values with a name ---- */

/* A value and the object that has it. */
struct named {
	uint32_t holder_ix;
	uint64_t value_id;
	const char *key;
	bool has_rule; /* whether the field is secret according to `rule`, whatever its value */
	unsigned rule;
};

/* The characters of a string, or of an array of bytes or chars, perhaps in a wrapper. */
struct value {
	uint8_t text[VALUE_MAX];
	size_t size; /* 0 if the object is not text */
	/* whether any bytes count unless all of them are zero; if not set, only text counts */
	bool is_bytes;
	uint32_t array_ix;
};

static int read_value(struct heap *heap, uint32_t ix, struct value *value, struct hdb_error *err)
{
	uint64_t bits[VALUE_MAX / 8];
	struct heap_slice slice = { .bits = bits, .room = BASE_COUNT(bits) };
	struct heap_utf8 out = { .buf = (char *)value->text, .size = VALUE_MAX };
	struct heap_object object;
	struct heap_string string;
	size_t size = 0;

	value->size = 0;
	value->array_ix = ix;
	TRY(heap_object(heap, ix, &object, err));
	if (object.kind == STORE_INSTANCE && heap_is_string(heap, ix)) {
		const int r = heap_string_one(heap, ix, &string, err);

		if (r != HDB_OK)
			return r < 0 ? r : HDB_OK;
		value->array_ix = string.array_ix;
		TRY(heap_chars_utf8(&heap->dump.view, &string.chars, &out, err));
		/* the characters of a redacted string are zeros */
		value->size = value->text[0] > ' ' && value->text[0] < 0x7f ? out.used : 0;
		return HDB_OK;
	}
	if (object.kind != STORE_PRIMITIVE_ARRAY || !object.length)
		return HDB_OK;
	TRY(heap_elements(heap, ix, 0, &slice, err));
	if (slice.type != HPROF_CHAR && slice.type != HPROF_BYTE)
		return HDB_OK;
	if (value->is_bytes) {
		uint64_t all = 0;

		for (; size < slice.done; size++) {
			value->text[size] = (uint8_t)bits[size];
			all |= bits[size];
		}
		value->size = all ? size : 0;
		return HDB_OK;
	}
	for (; size < slice.done && bits[size] && bits[size] < 0x7f; size++)
		value->text[size] = (uint8_t)bits[size];
	/*
	 * In a buffer, zeros may follow the text. If anything else follows the text, the array is
	 * not text.
	 */
	value->size = size < slice.done && bits[size] ? 0 : size;
	return HDB_OK;
}

/*
 * Replaces a wrapper, such as a StringBuilder, an Optional or an AtomicReference, by the object in
 * its field "value". Strings have such a field, too.
 */
static int unwrap(struct heap *heap, uint32_t *ix, struct hdb_error *err)
{
	struct heap_object object;
	uint32_t inner = HEAP_NONE;

	TRY(heap_object(heap, *ix, &object, err));
	if (object.kind != STORE_INSTANCE || heap_is_string(heap, *ix))
		return HDB_OK;
	TRY_ERRORS(heap_path_object(heap, *ix, "value", &inner, err));
	*ix = inner == HEAP_NONE ? *ix : inner;
	return HDB_OK;
}

static int add_named(struct secret_scan *s, const struct named *named, struct hdb_error *err)
{
	struct heap *heap = s->session->heap;
	struct value read = { .is_bytes = named->has_rule };
	struct base_secret_named value = { .name = (const uint8_t *)named->key,
					   .name_size = strlen(named->key),
					   .value = read.text };
	struct secret *secret;
	uint32_t ix;
	struct heap_text_hash hash;
	unsigned rule = named->rule;
	void *entry;

	if (!named->value_id || heap_find(heap, named->value_id, &ix, NULL) != HDB_OK)
		return HDB_OK;
	TRY(unwrap(heap, &ix, err));
	TRY(read_value(heap, ix, &read, err));
	value.value_size = read.size;
	value.is_array = read.array_ix == ix;
	/* The element after an option without a value is another option, not a value. */
	if (named->key[0] == '-' && read.size && read.text[0] == '-')
		return HDB_OK;
	/* A secret that was found by its format need not be found again. */
	if (base_bit_has(s->taken.data, read.array_ix) || !read.size ||
	    (!named->has_rule && !base_secrets_is_value(s->searches[0], &value, &rule)))
		return HDB_OK;
	if (rule_at(rule)->is_personal) {
		const char *class_name = heap_class_name_of(heap, named->holder_ix);

		hash = hash_of(class_name, strlen(class_name), NAMED_SEED + rule);
	} else {
		hash = hash_of(read.text, read.size, NAMED_SEED + rule);
	}
	TRY(analysis_counter_add(&s->found, hash, named->holder_ix, &entry, err));
	secret = entry;
	if (secret->head.count > 1)
		return HDB_OK;
	secret->rule = rule;
	secret->holder_ix = named->holder_ix;
	secret->value_ix = ix;
	secret->size = value.value_size;
	secret->is_bytes = named->has_rule && !heap_is_string(heap, ix);
	copy_text(secret->key, sizeof(secret->key), named->key, strlen(named->key));
	return HDB_OK;
}

#define ROW(key, value, is_list) \
	{ \
		key, value, is_list \
	}
#define PAIR(key, value) ROW(key, value, false)
#define LIST(key, value) ROW(key, value, true)
static const struct {
	const char *key, *value;
	bool is_list;
} pairs[] = {
#include <queries/objects/secret_pairs.rows.h>
};

/*
 * Sets *is_name to whether the object is a string that is the name of a secret, and reads the
 * string.
 */
static int read_name(const struct secret_scan *s, uint64_t id, char name[SECRET_KEY_MAX],
		     bool *is_name, struct hdb_error *err)
{
	uint32_t ix;

	*is_name = id && heap_find(s->session->heap, id, &ix, NULL) == HDB_OK &&
		   base_bit_has(s->names.data, ix);
	return *is_name ? heap_string(s->session->heap, ix, name, SECRET_KEY_MAX, err) : HDB_OK;
}

/* Examines the values whose key is in this field of the object. */
static int look_at_pairs(struct secret_scan *s, uint32_t ix, const char *field, uint64_t key_id,
			 struct hdb_error *err)
{
	struct heap *heap = s->session->heap;
	char name[SECRET_KEY_MAX];
	bool is_name;

	TRY(read_name(s, key_id, name, &is_name, err));
	for (size_t p = 0; is_name && p < BASE_COUNT(pairs); p++) {
		uint32_t value_ix;
		uint64_t value_id;
		int r;

		if (strcmp(field, pairs[p].key) != 0 || (pairs[p].is_list && name[0] != '-'))
			continue;
		r = heap_path_object(heap, ix, pairs[p].value, &value_ix, err);
		TRY_ERRORS(r);
		if (r != HDB_OK)
			continue;
		TRY(heap_id(heap, value_ix, &value_id, err));
		TRY(add_named(s,
			      &(struct named){ .holder_ix = ix, .value_id = value_id, .key = name },
			      err));
	}
	return HDB_OK;
}

static int look_at_fields(struct secret_scan *s, uint32_t ix, struct heap_fields *walk,
			  struct hdb_error *err)
{
	struct heap *heap = s->session->heap;
	int r;

	while ((r = heap_fields_next(walk, err)) == HDB_OK) {
		const uint64_t id = walk->value.bits;
		char name[SECRET_KEY_MAX];
		struct named named = { .holder_ix = ix, .value_id = id, .key = name };

		if (walk->value.type != HPROF_OBJECT)
			continue;
		TRY(heap_text(heap, walk->field.name_text, name, sizeof(name), err));
		named.has_rule = base_secrets_has_field(heap_class_name(heap, walk->declaring_no),
							name, &named.rule);
		if (named.has_rule || base_secrets_has_name(s->rules, name, strlen(name)))
			TRY(add_named(s, &named, err));
		if (!walk->is_static)
			TRY(look_at_pairs(s, ix, name, id, err));
	}
	return r < 0 ? r : HDB_OK;
}

/*
 * Sets *is_map to whether the array belongs to a map, so that keys and values alternate in it, and
 * *is_code to whether the array contains the constants of a class (ANALYSIS_CONSTANTS), in the
 * order in which the class's code uses them.
 */
static int use_of_array(const struct secret_scan *s, uint32_t ix, bool *is_map, bool *is_code,
			struct hdb_error *err)
{
	struct heap *heap = s->session->heap;
	const struct heap_collection_rule *rule;
	struct analysis_link link;
	struct heap_object holder;
	uint32_t parent;

	*is_map = *is_code = false;
	TRY(derive_reach(s->session->derive, false, ix, &parent, err));
	if (parent == HEAP_NONE || parent == ix)
		return HDB_OK;
	TRY(heap_object(heap, parent, &holder, err));
	if (holder.kind == STORE_CLASS) {
		TRY(analysis_link_find(s->session, parent, ix, &link, err));
		*is_code = strcmp(analysis_link_name(&link), ANALYSIS_CONSTANTS) == 0;
	}
	rule = holder.kind == STORE_INSTANCE ? heap_collection_rule(heap, holder.class_no) : NULL;
	*is_map = rule && rule->shape == HEAP_PAIRS;
	return HDB_OK;
}

/* Examines the keys of a map, or the options of a command line, and the elements after them. */
static int look_at_array(struct secret_scan *s, uint32_t ix, struct hdb_error *err)
{
	struct heap *heap = s->session->heap;
	char name[SECRET_KEY_MAX];
	struct heap_walk walk;
	uint64_t id, before = 0;
	bool is_name = false, is_map, is_code;
	int r;

	TRY(use_of_array(s, ix, &is_map, &is_code, err));
	if (is_code)
		return HDB_OK;
	heap_walk_begin(&walk, ix, 0, UINT64_MAX);
	for (; (r = heap_walk_next(heap, &walk, &id, err)) == HDB_OK; before = id) {
		if (is_map && walk.at % 2 == 1)
			continue;
		TRY(read_name(s, before, name, &is_name, err));
		if (is_name && (is_map || name[0] == '-'))
			TRY(add_named(
				s, &(struct named){ .holder_ix = ix, .value_id = id, .key = name },
				err));
	}
	return r < 0 ? r : HDB_OK;
}

/* Marks an object that refers to the name of a secret. */
static int mark_holder(void *ctx, uint32_t ix, const uint32_t *entries, size_t count,
		       struct hdb_error *err)
{
	struct secret_scan *s = ctx;

	(void)err;
	for (size_t i = 0; i < count; i++)
		if (base_bit_has(s->names.data, entries[i])) {
			base_bit_put(s->holders.data, ix);
			break;
		}
	return HDB_OK;
}

static int look_at_holders(struct secret_scan *s, struct hdb_error *err)
{
	struct heap *heap = s->session->heap;
	uint64_t looked = 0;

	for (uint64_t i = 0; base_bit_next(s->holders.data, heap->object_count, &i); i++) {
		struct heap_object object;
		struct heap_fields walk;

		if (looked++ % 4096 == 0)
			TRY(base_step(s->session->work, i, err));
		TRY(heap_object(heap, (uint32_t)i, &object, err));
		if (object.kind == STORE_OBJECT_ARRAY)
			TRY(look_at_array(s, (uint32_t)i, err));
		if (object.kind != STORE_INSTANCE)
			continue;
		TRY(heap_fields_begin(heap, (uint32_t)i, &walk, err));
		TRY(look_at_fields(s, (uint32_t)i, &walk, err));
	}
	for (uint32_t no = 0; no < heap->class_count; no++) {
		struct heap_fields walk;

		heap_statics_begin(heap, no, &walk);
		TRY(look_at_fields(s, heap_class(heap, no)->ix, &walk, err));
	}
	return HDB_OK;
}

/* Examines the environment, which has its own classes for names and values. */
static int look_at_environment(struct secret_scan *s, struct hdb_error *err)
{
	BASE_FREED struct analysis_properties *p = NULL;
	uint64_t id;
	int r;

	TRY(BASE_ALLOC(p, 1, "properties", err));
	while ((r = analysis_properties_next(s->session, p, err)) == HDB_OK) {
		if (p->value_ix == HEAP_NONE || strcmp(p->section, "environment") != 0 ||
		    !base_secrets_has_name(s->rules, p->name, strlen(p->name)))
			continue;
		TRY(heap_id(s->session->heap, p->value_ix, &id, err));
		TRY(add_named(
			s,
			&(struct named){ .holder_ix = p->value_ix, .value_id = id, .key = p->name },
			err));
	}
	return r < 0 ? r : HDB_OK;
}

/* ---- the whole scan ---- */

/* Marks the classes whose instances have a field with the name of a secret. */
static int mark_classes(struct secret_scan *s, struct hdb_error *err)
{
	BASE_SCOPED(derive_class_tree_release) struct class_tree tree = { 0 };
	struct heap *heap = s->session->heap;

	TRY(derive_class_tree_init(&tree, heap, err));
	/* Visits the classes in preorder: subclasses have all fields of a class. */
	for (uint32_t place = 0; place < heap->class_count; place++) {
		const uint32_t no = tree.order[place];
		const struct store_class *class = heap_class(heap, no);

		s->has_field[no] = tree.parent[no] != STORE_NONE && s->has_field[tree.parent[no]];
		for (uint32_t i = 0; i < class->field_count; i++) {
			char name[SECRET_KEY_MAX];
			struct store_field field;
			unsigned rule;

			TRY(heap_field(heap, class->first_field + i, &field, err));
			if (field.type != HPROF_OBJECT)
				continue;
			TRY(heap_text(heap, field.name_text, name, sizeof(name), err));
			s->has_field[no] |=
				base_secrets_has_name(s->rules, name, strlen(name)) ||
				base_secrets_has_field(heap_class_name(heap, no), name, &rule);
		}
	}
	return HDB_OK;
}

static int prepare(struct secret_scan *s, unsigned *threads_max, struct hdb_error *err)
{
	struct heap *heap = s->session->heap;
	struct base_work *work = s->session->work;
	const uint64_t bytes = base_bit_words(heap->object_count + 64ull) * 8;

	s->found = (struct analysis_counter){ .session = s->session,
					      .entry_bytes = sizeof(struct secret),
					      .what = "secrets" };
	TRY(heap_load_classes(heap, err));
	TRY(heap_open_dump(heap, err));
	TRY(base_secrets_new(&s->rules, err));
	s->slot_count = DERIVE_SLOTS_PER_THREAD * work->threads;
	TRY(BASE_ALLOC(s->searches, s->slot_count, "rules", err));
	for (unsigned i = 0; i < s->slot_count; i++)
		TRY(base_secret_search_new(s->rules, &s->searches[i], err));
	TRY(BASE_ALLOC(s->has_field, heap->class_count + 1, "classes", err));
	TRY(mark_classes(s, err));
	TRY(base_big_alloc(work, &s->names, bytes, "secrets", err));
	TRY(base_big_alloc(work, &s->holders, bytes, "secrets", err));
	TRY(base_big_alloc(work, &s->taken, bytes, "secrets", err));
	return heap_string_blocks(heap, &s->references, threads_max, err);
}

int secret_scan_run(struct secret_scan *s, struct hdb_error *err)
{
	/* Keyed hashes look like passwords but are not. */
	const bool has_names =
		heap_meta_number(s->session->heap, "dump.is_redacted", 0) != HPROF_IS_HASHED;
	struct base_work *work = s->session->work;
	const unsigned threads = work->threads;
	struct store_lists lists;
	unsigned threads_max;
	int r;

	TRY(prepare(s, &threads_max, err));
	work->threads = threads < threads_max ? threads : threads_max;
	r = derive_each_block(s->session->derive,
			      &(struct derive_pass){ .stage = "searching arrays",
						     .reads_objects = true,
						     .make = search_block,
						     .take = count_found,
						     .ctx = s },
			      err);
	work->threads = threads;
	TRY(r);
	TRY(count_personal(s, err));
	if (!has_names)
		return HDB_OK;
	base_stage(work, "searching names", s->session->heap->object_count, "objects");
	heap_references(s->session->heap, &lists);
	TRY(analysis_each_edge(s->session, &lists, s->session->heap->object_count,
			       &(struct analysis_edge_taker){ .take = mark_holder, .ctx = s },
			       err));
	TRY(look_at_holders(s, err));
	return look_at_environment(s, err);
}

void secret_scan_release(struct secret_scan *s)
{
	for (unsigned i = 0; s->searches && i < s->slot_count; i++)
		base_secret_search_free(s->searches[i]);
	free(s->searches);
	base_secrets_free(s->rules);
	free(s->references);
	free(s->has_field);
	base_big_free(&s->names);
	base_big_free(&s->holders);
	base_big_free(&s->taken);
	base_vec_release(&s->personal);
	analysis_counter_release(&s->found);
}
