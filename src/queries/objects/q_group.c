/*
 * queries/objects/q_group.c - the group-by-value query: groups objects of a class by their value,
 * or by the value of a field.
 *
 * The amount of memory depends only on the number of different values: 56 bytes for each value, and
 * about 12 bytes for finding and sorting it. Texts are rebuilt for each row.
 */
#include "analysis/contents.h"
#include "analysis/hash_counter.h"
#include "base/idmap.h"
#include "derive/blocks.h"
#include "heap/known.h"
#include "heap/values/chars.h"
#include "heap/values/string_scan.h"
#include "heap/values/value_text.h"
#include "queries/queries.h"

#include <xxhash.h>

/*
 * The key by which objects are grouped: their value or the value of a field, as a 128-bit hash and
 * as text.
 *
 * The hash is the XXH3 of all characters of a string, of the bytes of a primitive array, or of the
 * text of any other object (heap/values/value_text.h).
 */

/*
 * Maximum length of a value's text in bytes. Values without contents are compared by this text.
 */
#define ANALYSIS_KEY_TEXT 1024

/* Describes how objects of a class are read. Private. */
struct analysis_key_way;

/* A set of objects, and the property by which they are grouped. */
struct analysis_keys {
	const struct session *session; /* borrowed */
	/* path of a field, as in heap_path_value, or NULL for the object itself; borrowed */
	const char *path;
	/* indexed by class number: nonzero if objects of the class are members; borrowed */
	const uint8_t *is_member;
	/* private */
	struct analysis_key_way *ways;  /* indexed by class number */
	struct store_block *references; /* by block, for strings; NULL if no strings are read */
};

/* The key of one object in a block. */
struct analysis_key {
	struct heap_text_hash hash;
	uint32_t ix;
	bool is_done; /* whether the key is complete; otherwise, the caller must call key_of */
};

#define XXH_INLINE_ALL

/*
 * Added to the seed when texts are hashed, so that their hashes differ from the hashes of contents.
 */
#define TEXT_KIND 2u
/*
 * If a block has at least this many members, that is, one in every second page, its part of the
 * dump is read as a whole.
 */
#define WANT_MEMBERS 128u
/* Buffer size for a number as text. */
#define NUMBER_TEXT 64

struct analysis_key_way {
	enum { BY_LOOKING, BY_NUMBER, BY_FIELD, BY_CHARS, BY_ELEMENTS } way;
	struct heap_place place; /* place of the field */
};

/*
 * Hashes bytes. The seed differs in each process, so that nobody can construct a dump whose values
 * collide.
 */
static struct heap_text_hash hash_bytes(const void *bytes, size_t size, uint64_t kind)
{
	const XXH128_hash_t hash = XXH3_128bits_withSeed(bytes, size, base_hash_seed() + kind);

	return (struct heap_text_hash){ .low = hash.low64, .high = hash.high64 };
}

static struct heap_text_hash hash_text(const char *text)
{
	return hash_bytes(text, strlen(text), TEXT_KIND);
}

static struct heap_text_hash hash_number(const struct heap_value *value)
{
	int64_t number;

	if (!heap_value_number(value, &number))
		number = (int64_t)value->bits;
	return hash_bytes(&number, sizeof(number), value->type);
}

static struct heap_text_hash hash_basic(const struct heap_value *value)
{
	char text[NUMBER_TEXT];

	heap_basic_text(value, text, sizeof(text));
	return hash_text(text);
}

/* A primitive array in the dump. */
struct array {
	uint64_t offset;
	uint32_t class_no;
	uint64_t length;
};

/*
 * Hashes an array. Arrays without content are distinguished by their length. `view` is private to
 * the calling thread.
 */
static int hash_array(struct heap *heap, struct base_view *view, const struct array *a,
		      struct heap_text_hash *out, struct hdb_error *err)
{
	struct analysis_content content;
	const int r = a->length ? analysis_array_hash(heap, view, a->offset, &content, err) :
				  HDB_NOTFOUND;

	if (r == HDB_NOTFOUND)
		*out = hash_bytes(&a->length, sizeof(a->length), a->class_no);
	else if (r == HDB_OK)
		*out = (struct heap_text_hash){ content.low, content.high ^ a->class_no };
	return r < 0 ? r : HDB_OK;
}

/* ---- one object ---- */

/*
 * Finds the value by which an object is grouped: the object itself, or its field. Returns
 * HDB_NOTFOUND if the object has no such field. Sets *of to the object to which the value refers,
 * or to HEAP_NONE for numbers, null, and objects that are not in the dump.
 */
static int value_of(const struct analysis_keys *k, uint32_t ix, struct heap_value *out,
		    uint32_t *of, struct hdb_error *err)
{
	struct heap *heap = k->session->heap;
	struct heap_object object;
	int r;

	*of = ix;
	*out = (struct heap_value){ .type = HPROF_OBJECT };
	if (!k->path)
		return HDB_OK;
	*of = HEAP_NONE;
	TRY(heap_object(heap, ix, &object, err));
	if (object.kind != STORE_INSTANCE)
		return HDB_NOTFOUND;
	r = heap_path_value(heap, ix, k->path, out, err);
	if (r != HDB_OK || out->type != HPROF_OBJECT || !out->bits)
		return r;
	TRY_ERRORS(heap_find(heap, out->bits, of, err));
	return HDB_OK;
}

/* Writes an object's value as text. */
static int text_of_object(const struct session *session, uint32_t of, char *text,
			  struct hdb_error *err)
{
	struct heap_object object;
	uint64_t id;
	int r = heap_object(session->heap, of, &object, err);

	if (r < 0 || heap_string(session->heap, of, text, ANALYSIS_KEY_TEXT, NULL) == HDB_OK)
		return r;
	analysis_describe(session, of, text, ANALYSIS_KEY_TEXT);
	if (!text[0] && object.kind == STORE_PRIMITIVE_ARRAY)
		(void)snprintf(text, ANALYSIS_KEY_TEXT, "%s of %" PRIu64 " elements",
			       heap_class_name(session->heap, object.class_no), object.length);
	else if (!text[0] && heap_id(session->heap, of, &id, NULL) == HDB_OK)
		(void)snprintf(text, ANALYSIS_KEY_TEXT, "0x%" PRIx64, id);
	return HDB_OK;
}

/*
 * Writes the value as text (ANALYSIS_KEY_TEXT bytes): "null", a number, or "(none)" if the object
 * has no such field.
 */
static int key_text(struct analysis_keys *k, uint32_t ix, char *text, struct hdb_error *err)
{
	struct heap_value value;
	uint32_t of;
	int r = value_of(k, ix, &value, &of, err);

	if (r == HDB_NOTFOUND)
		(void)snprintf(text, ANALYSIS_KEY_TEXT, "(none)");
	TRY_FOUND(r);
	if (of != HEAP_NONE)
		return text_of_object(k->session, of, text, err);
	heap_basic_text(&value, text, ANALYSIS_KEY_TEXT);
	return HDB_OK;
}

/*
 * Hashes the contents of an object. Returns HDB_NOTFOUND if the object has no contents, in which
 * case its text is the key.
 */
static int hash_content(const struct session *session, const struct heap_object *object,
			struct heap_text_hash *out, struct hdb_error *err)
{
	struct heap *heap = session->heap;
	struct heap_string string;
	struct heap_value value;

	if (object->kind == STORE_PRIMITIVE_ARRAY) {
		struct array array = { .class_no = object->class_no, .length = object->length };

		TRY(heap_open_dump(heap, err));
		TRY(heap_offset(heap, object->ix, &array.offset, err));
		return hash_array(heap, &heap->dump.view, &array, out, err);
	}
	if (object->kind == STORE_INSTANCE && heap_is_string(heap, object->ix)) {
		TRY(heap_string_one(heap, object->ix, &string, err));
		return heap_chars_hash(&heap->dump.view, &string.chars, out, err);
	}
	/* Most such objects are boxed numbers, which are hashed without writing their text. */
	if (!heap_value_is_number(heap, object->class_no))
		return HDB_NOTFOUND;
	TRY(heap_path_value(heap, object->ix, "value", &value, err));
	*out = hash_number(&value);
	return HDB_OK;
}

/* Computes the key of object ix. Must be called on the calling thread. */
static int key_of(struct analysis_keys *k, uint32_t ix, struct heap_text_hash *out,
		  struct hdb_error *err)
{
	struct heap_object object;
	struct heap_value value;
	char text[ANALYSIS_KEY_TEXT] = "(none)";
	uint32_t of;
	int r = value_of(k, ix, &value, &of, err);

	TRY_ERRORS(r);
	if (r == HDB_OK && of != HEAP_NONE) {
		TRY(heap_object(k->session->heap, of, &object, err));
		if ((r = hash_content(k->session, &object, out, err)) <= HDB_OK)
			return r;
		text[0] = '\0';
		TRY(text_of_object(k->session, of, text, err));
	} else if (r == HDB_OK) {
		heap_basic_text(&value, text, NUMBER_TEXT);
	}
	*out = hash_text(text);
	return HDB_OK;
}

/* ---- the groups ---- */

/* Chooses how to read the objects of a class. */
static int find_way(struct analysis_keys *k, uint32_t no, struct analysis_key_way *out,
		    struct hdb_error *err)
{
	struct heap *heap = k->session->heap;

	assert(no < heap->class_count);
	out->way = BY_LOOKING;
	if (!k->path && heap_string_layout(heap, no)) {
		out->way = BY_CHARS;
		return HDB_OK;
	}
	if (!k->path && heap_class(heap, no)->element_type) {
		out->way = BY_ELEMENTS;
		return HDB_OK;
	}
	if (!k->path && !heap_value_is_number(heap, no))
		return HDB_OK;
	TRY_FOUND(heap_path_place(heap, no, k->path ? k->path : "value", &out->place, err));
	out->way = k->path ? BY_FIELD : BY_NUMBER;
	return HDB_OK;
}

/*
 * Loads the necessary tables. The caller must set the first three members and zero the others, and
 * must call keys_release even after a failure.
 */
static int keys_begin(struct analysis_keys *k, struct hdb_error *err)
{
	struct heap *heap = k->session->heap;
	unsigned threads_max = 1;
	bool has_strings = false;

	k->ways = NULL;
	TRY(heap_load_strings(heap, err));
	TRY(heap_open_dump(heap, err));
	TRY(BASE_ALLOC(k->ways, (size_t)heap->class_count + 1, "classes", err));
	for (uint32_t no = 0; no < heap->class_count; no++) {
		if (k->is_member[no])
			TRY(find_way(k, no, &k->ways[no], err));
		has_strings = has_strings || k->ways[no].way == BY_CHARS;
	}
	if (has_strings)
		TRY(heap_string_blocks(heap, &k->references, &threads_max, err));
	/*
	 * Strings with an unusual layout are found by their ID, which only the calling thread may
	 * do.
	 */
	if (threads_max == 1) {
		free(k->references);
		k->references = NULL;
	}
	return HDB_OK;
}

static void keys_release(struct analysis_keys *k)
{
	free(k->ways);
	free(k->references);
	k->ways = NULL;
	k->references = NULL;
}

struct each_key {
	struct analysis_keys *keys;
	int (*take)(void *ctx, const struct heap_block *objects, struct analysis_key *keys,
		    size_t count, struct hdb_error *err);
	void *ctx;
};

/* State of a thread that reads a block. */
struct reading {
	struct analysis_keys *keys;
	struct derive_block *block;
	struct derive_reader dump;
	size_t at; /* number of keys before the current string */
};

/* Writes the members of a block to bytes[0], without their hashes. */
static int list_members(const struct analysis_keys *k, struct derive_block *block,
			bool *has_strings, struct hdb_error *err)
{
	const struct heap *heap = k->session->heap;
	const struct heap_block *objects = block->objects;

	assert(k->ways);
	for (uint32_t i = 0; i < objects->count; i++) {
		const struct analysis_key key = { .ix = objects->first_ix + i };
		const uint32_t no = objects->class_no[i];

		if (!k->is_member[no] || key.ix == HEAP_BOOT_LOADER ||
		    (objects->kind[i] == STORE_CLASS &&
		     heap_class(heap, (uint32_t)objects->length[i])->flags & STORE_CLASS_INVENTED))
			continue;
		*has_strings = *has_strings || k->ways[no].way == BY_CHARS;
		TRY(base_vec_push(&block->bytes[0], &key, sizeof(key), err));
	}
	return HDB_OK;
}

/* Reads a number, which is boxed or in a field, at its known position in the instance. */
static int read_number(struct reading *m, const struct analysis_key_way *way, uint64_t offset,
		       struct analysis_key *key, struct hdb_error *err)
{
	struct heap *heap = m->keys->session->heap;
	struct heap_instance instance = { 0 };
	struct heap_value value;

	if (!offset)
		return HDB_OK;
	TRY(heap_instance_read(heap, &m->dump.view, offset, &instance, err));
	TRY(heap_place_value(&m->dump.view, &instance, way->place, &value, err));
	/* All other objects must be looked up. */
	if (!value.type || (value.type == HPROF_OBJECT && value.bits))
		return HDB_OK;
	key->hash = way->way == BY_NUMBER ? hash_number(&value) : hash_basic(&value);
	key->is_done = true;
	return HDB_OK;
}

static int read_members(struct reading *m, struct hdb_error *err)
{
	struct heap *heap = m->keys->session->heap;
	const struct heap_block *objects = m->block->objects;
	struct analysis_key *keys = m->block->bytes[0].data;
	uint64_t *offsets = m->block->values;

	TRY(heap_read_offsets(heap, m->block->block_no, offsets, err));
	for (size_t at = 0; at < m->block->bytes[0].count; at++) {
		const uint32_t i = keys[at].ix - objects->first_ix;
		const struct analysis_key_way *way = &m->keys->ways[objects->class_no[i]];

		if (objects->kind[i] == STORE_PRIMITIVE_ARRAY && way->way == BY_ELEMENTS) {
			const struct array array = { offsets[i], objects->class_no[i],
						     objects->length[i] };

			TRY(hash_array(heap, &m->dump.view, &array, &keys[at].hash, err));
			keys[at].is_done = true;
		} else if (objects->kind[i] == STORE_INSTANCE &&
			   (way->way == BY_NUMBER || way->way == BY_FIELD))
			TRY(read_number(m, way, offsets[i], &keys[at], err));
	}
	return HDB_OK;
}

static int take_string(void *ctx, uint32_t i, const struct heap_string *string,
		       struct hdb_error *err)
{
	struct reading *m = ctx;
	struct analysis_key *keys = m->block->bytes[0].data;
	const uint32_t ix = m->block->objects->first_ix + i;

	while (m->at < m->block->bytes[0].count && keys[m->at].ix < ix)
		m->at++;
	if (m->at == m->block->bytes[0].count || keys[m->at].ix != ix || !string->has_chars)
		return HDB_OK;
	keys[m->at].is_done = true;
	return heap_chars_hash(&m->dump.view, &string->chars, &keys[m->at].hash, err);
}

static void release_reading(struct reading *m)
{
	derive_reader_release(&m->dump);
}

static int make_keys(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct analysis_keys *k = ((struct each_key *)ctx)->keys;
	BASE_SCOPED(release_reading)
	struct reading m = { .keys = k,
			     .block = block,
			     .dump = derive_reader(k->session->heap, k->references) };
	bool has_strings = false;

	TRY(list_members(k, block, &has_strings, err));
	if (block->bytes[0].count > WANT_MEMBERS)
		heap_prefetch_block(k->session->heap, block->block_no);
	if (block->bytes[0].count)
		TRY(read_members(&m, err));
	if (!has_strings || !k->references)
		return HDB_OK;
	return derive_block_strings(&m.dump, block, take_string, &m, err);
}

static int take_keys(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct each_key *each = ctx;

	return block->bytes[0].count ? each->take(each->ctx, block->objects, block->bytes[0].data,
						  block->bytes[0].count, err) :
				       HDB_OK;
}

/*
 * Calls `take` for each block with members, in order, on the calling thread. Keys are computed on
 * several threads and are in ascending order. Objects that are not in the dump are skipped.
 */
static int keys_each(struct analysis_keys *keys, const char *stage,
		     int (*take)(void *ctx, const struct heap_block *objects,
				 struct analysis_key *keys, size_t count, struct hdb_error *err),
		     void *ctx, struct hdb_error *err)
{
	struct each_key each = { .keys = keys, .take = take, .ctx = ctx };

	return derive_each_block(keys->session->derive,
				 &(struct derive_pass){ .stage = stage,
							.reads_objects = true,
							.make = make_keys,
							.take = take_keys,
							.ctx = &each },
				 err);
}

#include <queries/objects/q_group.query.h>

struct value_group {
	struct analysis_counter_head head;
	uint64_t shallow_bytes, retained_bytes, unreachable;
};

struct grouping {
	struct query *q;    /* borrowed */
	uint8_t *is_member; /* indexed by class number */
	struct analysis_keys keys;
	bool has_retained;
	uint64_t members, bytes;
	uint64_t others, other_bytes;  /* unreachable objects */
	struct analysis_counter tally; /* struct value_group */
	/* whether each object of the current block is reachable */
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
			TRY(key_of(&s->keys, keys[i].ix, &keys[i].hash, err));
	for (size_t i = 0; i < count; i++) {
		if (count - i > ANALYSIS_COUNTER_AHEAD)
			analysis_counter_prefetch(&s->tally, keys[i + ANALYSIS_COUNTER_AHEAD].hash);
		if (count - i > ANALYSIS_COUNTER_AHEAD / 2)
			analysis_counter_prefetch_entry(&s->tally,
							keys[i + ANALYSIS_COUNTER_AHEAD / 2].hash);
		TRY(add_object(s, objects, &keys[i], err));
	}
	return HDB_OK;
}

/* ---- the query ---- */

/* Returns HDB_NOTFOUND if no member's class has the field, which is a usage error. */
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

/* Reports the values that were omitted. */
static void leave_rare(struct query *q, const struct grouping *s, uint64_t min_count)
{
	struct analysis_cut cut = { .rows = s->tally.used - q->total };

	for (uint64_t i = q->total; i < s->tally.used; i++) {
		const struct value_group *group = analysis_counter_at(&s->tally, i);

		cut.objects += group->head.count;
		cut.bytes += group->shallow_bytes;
	}
	query_cut(q, &cut, "values with fewer than %" PRIu64 " objects (--min-count)", min_count);
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
	TRY(keys_begin(&s->keys, err));
	TRY(derive_need_reachable(q->derive, err));
	TRY(keys_each(&s->keys, "grouping objects", add_block, s, err));
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

	(void)err;
	query_set(q, COUNT, group->head.count);
	query_set(q, SHALLOW, group->shallow_bytes);
	if (s->has_retained)
		query_set(q, RETAINED, group->retained_bytes);
	query_set(q, UNREACHABLE, group->unreachable);
	return HDB_OK;
}

static int group_rest(struct query *q, size_t no, struct hdb_error *err)
{
	struct grouping *s = q->state;
	const struct value_group *group = analysis_counter_at(&s->tally, no);
	char text[ANALYSIS_KEY_TEXT];

	TRY(key_text(&s->keys, group->head.first_ix, text, err));
	query_set_text(q, VALUE, text);
	query_set_id(q, ID, group->head.first_ix);
	return HDB_OK;
}

static void close_group(struct query *q)
{
	struct grouping *s = q->state;

	keys_release(&s->keys);
	free(s->is_member);
	analysis_counter_release(&s->tally);
}

QUERY_DEFINE(group, .state_size = sizeof(struct grouping), .open = open_group, .row = group_row,
	     .rest = group_rest, .close = close_group);
