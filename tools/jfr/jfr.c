/*
 * jfr/jfr.c - reads the chunks of recordings. A chunk consists of a header and events. The metadata
 * (types and their fields) and checkpoints (constants by type and key) are events as well. Numbers
 * in the header are big-endian. All other numbers have 7 bits per byte, lowest bits first, and at
 * most 9 bytes.
 *
 *     event:      size, type, fields
 *     metadata:   size, 0, start, duration, number, strings, a tree of elements
 *     element:    name, attributes (pairs of strings), children; names are indexes of strings
 *     checkpoint: size, 1, start, duration, distance to the previous one, kind, pools
 *     pool:       type, constants, each a key and the fields of its type
 *
 * One chunk is open at a time. For its constants, only the offsets are stored, by type and key. A
 * constant is decoded when a field refers to it, so cycles among constants are harmless. If several
 * constants have the same key, the first one is used, as in the JDK.
 */
#include "jfr/jfr.h"

#include "base/sort.h"
#include "base/bytes.h"
#include "base/vec.h"
#include "common/descriptor.h"
#include "base/error.h"
#include "base/scope.h"
#include "base/base_text.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_BYTES 68u
/* Maximum number of bytes in a string: any name in a class file fits. */
#define TEXT_MAX 65536u
/* Maximum nesting of structures in a skipped value. The JDK's have 3 levels. */
#define DEPTH_MAX 16
#define NO_TYPE UINT32_MAX

enum primitive { STRUCTURE, BYTE, CHAR, SHORT, INT, LONG, FLOAT, DOUBLE, STRING };

struct type {
	uint64_t id;
	uint32_t name; /* offset in texts */
	uint32_t first_field, field_count;
	enum primitive primitive;
};

struct field {
	uint32_t name; /* offset in texts */
	uint32_t type; /* index in types */
	uint64_t type_id;
	bool is_constant, is_list;
};

struct constant {
	uint64_t key;
	uint32_t type, at, end, memo;
};

struct jfr {
	const uint8_t *data;
	const base_flag *cancel;
	uint32_t size, next; /* next: file offset of the following chunk */
	uint32_t at, end;    /* remaining events of this chunk */
	unsigned chunks;
	bool is_damaged; /* whether an event or constant ends within a field */
	int64_t start_ns, start_ticks;
	double ticks_per_ns;
	struct bytes texts; /* strings of the metadata, zero-terminated */
	BASE_VEC_AS(type_vec, struct type, types, type_count); /* sorted by ID */
	BASE_VEC_AS(field_vec, struct field, fields, field_count);
	BASE_VEC_AS(constant_vec, struct constant, constants,
		    constant_count); /* sorted by type, key and offset */
	uint32_t kinds[JFR_KINDS];   /* type of each kind of event */
	struct bytes scratch;
};

/* ---- bytes ---- */

struct cursor {
	struct jfr *jfr;
	uint32_t at, end;
};

/* Returns the next `n` bytes. If fewer bytes remain, returns NULL and does not move the cursor. */
static const uint8_t *take(struct cursor *c, uint64_t n)
{
	assert(c->at <= c->end);
	assert(c->end <= c->jfr->size);
	if (n > c->end - c->at) {
		c->jfr->is_damaged = true;
		c->at = c->end;
		return NULL;
	}
	c->at += (uint32_t)n;
	return c->jfr->data + c->at - n;
}

static uint64_t number(struct cursor *c)
{
	uint64_t value = 0;

	for (unsigned shift = 0;; shift += 7) {
		const uint8_t *p = take(c, 1);

		if (!p)
			return 0;
		if (shift == 56 || *p < 0x80)
			return value | (uint64_t)*p << shift;
		value |= (uint64_t)(*p & 0x7f) << shift;
	}
}

/* Reads a number of items, each of which takes at least one byte. */
static uint32_t count_of(struct cursor *c)
{
	const uint64_t count = number(c);

	if (count <= c->end - c->at)
		return (uint32_t)count;
	c->jfr->is_damaged = true;
	c->at = c->end;
	return 0;
}

static void put_character(struct bytes *out, uint32_t character)
{
	/* a zero byte would end the string */
	bytes_utf8(out, character ? character : 0xfffd);
}

/*
 * Reads one character of a string whose `left` units are numbers, bytes of UTF-8 (where the VM
 * encodes each surrogate separately) or Latin-1. Returns the number of units read.
 */
static uint32_t read_unit(struct cursor *c, int encoding, uint32_t left, uint32_t *unit)
{
	const uint8_t *p = c->jfr->data + c->at;
	size_t taken = 1;

	if (encoding == 4) {
		*unit = (uint16_t)number(c);
		return 1;
	}
	*unit = *p;
	if (encoding == 3 && left >= 3 && p[0] == 0xed && p[1] >= 0xa0) {
		*unit = 0xd000 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
		taken = 3;
	} else if (encoding == 3 && !(taken = utf8_decode((const char *)p, left, unit))) {
		*unit = 0xfffd;
		taken = 1;
	}
	c->at += (uint32_t)taken;
	return (uint32_t)taken;
}

/*
 * Appends a string, or skips it if `out` is NULL. Returns its encoding, which is 0 for null and 2
 * for the constant with the key *key.
 */
static int read_string(struct cursor *c, struct bytes *out, uint64_t *key)
{
	const uint8_t *p = take(c, 1);
	const int encoding = p ? *p : 0;
	const size_t start = out ? out->size : 0;
	bool is_cut = false;
	uint32_t high = 0, unit, count;
	char mark[BASE_CUT_MARK_BYTES];

	if (encoding > 5)
		c->jfr->is_damaged = true;
	if (encoding == 2)
		*key = number(c);
	if (encoding < 3 || encoding > 5)
		return encoding;
	count = count_of(c);
	for (uint32_t left = count; left > 0 && !c->jfr->is_damaged;) {
		left -= read_unit(c, encoding, left, &unit);
		is_cut = out && out->size - start >= TEXT_MAX;
		if (!out || is_cut)
			continue;
		if (high && (unit & 0xfc00) == 0xdc00)
			unit = 0x10000 + ((high & 0x3ff) << 10) + (unit & 0x3ff);
		else if (high)
			put_character(out, high);
		high = (unit & ~0x3ffu) == 0xd800 ? unit : 0;
		if (!high)
			put_character(out, unit);
	}
	if (high)
		put_character(out, high);
	if (is_cut)
		bytes_add(
			out, mark,
			base_cut_mark(mark, count, encoding == 3 ? "bytes" : "characters", false));
	return encoding;
}

/* ---- types ---- */

static uint32_t type_of_id(const struct jfr *j, uint64_t id)
{
	const struct type key = { .id = id };
	const struct type *found = j->type_count ? bsearch(&key, j->types, j->type_count,
							   sizeof(*j->types), base_compare_u64) :
						   NULL;

	return found ? (uint32_t)(found - j->types) : NO_TYPE;
}

static enum primitive primitive_of(const char *name)
{
	static const struct {
		const char *name;
		enum primitive primitive;
	} known[] = {
		{ "boolean", BYTE }, { "byte", BYTE },     { "char", CHAR },
		{ "short", SHORT },  { "int", INT },       { "long", LONG },
		{ "float", FLOAT },  { "double", DOUBLE }, { "java.lang.String", STRING },
	};
	const size_t i = BASE_INDEX(known, name);

	return i < BASE_COUNT(known) ? known[i].primitive : STRUCTURE;
}

/* Attributes of metadata elements; offsets in texts, 0 means absent. */
struct attributes {
	uint32_t name, id, class_id, is_constant, is_list;
};

static struct attributes read_attributes(struct cursor *c, const uint32_t *strings, uint32_t count)
{
	const char *texts = c->jfr->texts.data;
	struct attributes a = { 0 };

	for (uint32_t left = count_of(c); left > 0; left--) {
		const uint64_t key = number(c), value = number(c);
		const struct {
			const char *name;
			uint32_t *place;
		} known[] = { { "name", &a.name },
			      { "id", &a.id },
			      { "class", &a.class_id },
			      { "constantPool", &a.is_constant },
			      { "dimension", &a.is_list } };

		for (size_t i = 0; key < count && value < count && i < 5; i++)
			if (strcmp(texts + strings[key], known[i].name) == 0)
				*known[i].place = strings[value];
	}
	return a;
}

static int add_type(struct jfr *j, const struct attributes *a, struct hdb_error *err)
{
	TRY(base_vec_reserve(&j->type_vec, 1, sizeof(*j->types), err));
	j->types[j->type_count++] = (struct type){
		.id = strtoull(j->texts.data + a->id, NULL, 10),
		.name = a->name,
		.first_field = (uint32_t)j->field_count,
		.primitive = primitive_of(j->texts.data + a->name),
	};
	return HDB_OK;
}

static int add_field(struct jfr *j, const struct attributes *a, struct hdb_error *err)
{
	if (j->type_count == 0)
		return HDB_OK;
	TRY(base_vec_reserve(&j->field_vec, 1, sizeof(*j->fields), err));
	j->fields[j->field_count++] = (struct field){
		.name = a->name,
		.type_id = strtoull(j->texts.data + a->class_id, NULL, 10),
		.is_constant = strcmp(j->texts.data + a->is_constant, "true") == 0,
		.is_list = a->is_list != 0,
	};
	j->types[j->type_count - 1].field_count++;
	return HDB_OK;
}

/*
 * Reads the elements. Parents precede their children, so counting the pending elements replaces a
 * stack.
 */
static int read_elements(struct cursor *c, const uint32_t *strings, uint32_t count,
			 struct hdb_error *err)
{
	for (uint64_t left = 1; left > 0 && c->at < c->end; left--) {
		const uint64_t name = number(c);
		const char *kind = c->jfr->texts.data + (name < count ? strings[name] : 0);
		const struct attributes a = read_attributes(c, strings, count);

		left += count_of(c);
		if (strcmp(kind, "class") == 0)
			TRY(add_type(c->jfr, &a, err));
		else if (strcmp(kind, "field") == 0)
			TRY(add_field(c->jfr, &a, err));
	}
	return HDB_OK;
}

/* Resolves the types of fields and of the kinds of events. */
static void link_types(struct jfr *j)
{
	static const char *const names[JFR_KINDS] = { "jdk.OldObjectSample",
						      "jdk.ObjectAllocationSample",
						      "jdk.GCHeapSummary", "jdk.ThreadCPULoad" };

	base_vec_sort(&j->type_vec, sizeof(*j->types), base_compare_u64);
	j->is_damaged |= j->field_count == 0;
	for (size_t i = 0; i < j->field_count; i++) {
		j->fields[i].type = type_of_id(j, j->fields[i].type_id);
		j->is_damaged |= j->fields[i].type == NO_TYPE;
	}
	for (int kind = 0; kind < JFR_KINDS; kind++) {
		j->kinds[kind] = NO_TYPE;
		for (uint32_t i = 0; i < j->type_count; i++)
			if (strcmp(j->texts.data + j->types[i].name, names[kind]) == 0)
				j->kinds[kind] = i;
	}
}

/*
 * Reads an event header and sets the cursor to its fields. Returns false if the header is invalid.
 */
static bool read_event(struct cursor *c, uint64_t *type)
{
	const uint32_t start = c->at;
	const uint64_t size = number(c);

	if (size > c->end - start || size <= c->at - start)
		return false;
	c->end = start + (uint32_t)size;
	*type = number(c);
	return !c->jfr->is_damaged;
}

static int read_metadata(struct jfr *j, struct cursor c, struct hdb_error *err)
{
	BASE_FREED uint32_t *strings = NULL;
	uint32_t count;
	uint64_t type, key;

	j->texts.size = j->type_count = j->field_count = 0;
	bytes_add(&j->texts, "", 1);
	if (!read_event(&c, &type) || type != 0)
		return hdb_fail(err, HDB_EFORMAT, "no metadata at offset %" PRIu32, c.at);
	for (int i = 0; i < 3; i++) /* skip start, duration, number */
		(void)number(&c);
	count = count_of(&c);
	TRY(BASE_ALLOC(strings, count, "metadata", err));
	for (uint32_t i = 0; i < count; i++) {
		strings[i] = (uint32_t)j->texts.size;
		(void)read_string(&c, &j->texts, &key);
		bytes_add(&j->texts, "", 1);
	}
	if (j->texts.failed)
		return hdb_fail_memory(err, "metadata", j->texts.size);
	TRY(read_elements(&c, strings, count, err));
	link_types(j);
	return HDB_OK;
}

/* ---- values ---- */

static void skip_primitive(struct cursor *c, enum primitive primitive)
{
	uint64_t key;

	if (primitive == STRING)
		(void)read_string(c, NULL, &key);
	else if (primitive == BYTE || primitive == FLOAT || primitive == DOUBLE)
		(void)take(c, primitive == BYTE ? 1 : primitive == FLOAT ? 4 : 8);
	else
		(void)number(c);
}

/*
 * Skips fields. Structures without fields could nest without consuming input, so the number of
 * steps is limited by the size.
 */
static void skip(struct cursor *c, const struct field *fields, uint32_t count)
{
	struct {
		const struct field *fields;
		uint32_t count, at;
		uint64_t times;
	} levels[DEPTH_MAX] = { { fields, count, 0, 1 } }, *level = levels;
	const struct jfr *j = c->jfr;
	const uint32_t start = c->at;

	for (uint64_t steps = 0; !j->is_damaged; steps++) {
		const struct field *f;
		const struct type *type;
		uint32_t times;

		if (steps > 64 + 8 * (uint64_t)(c->at - start))
			break;
		if (level->at == level->count) {
			level->at = 0;
			if (--level->times > 0)
				continue;
			if (level == levels)
				return;
			level--;
			continue;
		}
		f = &level->fields[level->at++];
		type = &j->types[f->type];
		times = f->is_list ? count_of(c) : 1;
		if (f->is_constant || type->primitive) {
			for (; times > 0 && !j->is_damaged; times--)
				skip_primitive(c, f->is_constant ? LONG : type->primitive);
		} else if (times > 0) {
			if (++level == levels + DEPTH_MAX)
				break;
			level->fields = j->fields + type->first_field;
			level->count = type->field_count;
			level->at = 0;
			level->times = times;
		}
	}
	c->jfr->is_damaged = true;
}

static void skip_value(struct cursor *c, uint32_t type)
{
	const struct field one = { .type = type };

	skip(c, &one, 1);
}

BASE_ORDER(compare_constants, struct constant, BASE_UP(type), BASE_UP(key), BASE_UP(at))

static int read_pool(struct cursor *c, struct hdb_error *err)
{
	struct jfr *j = c->jfr;
	const uint64_t id = number(c);
	const uint32_t type = type_of_id(j, id);
	const uint32_t count = count_of(c);

	if (type == NO_TYPE)
		return hdb_fail(err, HDB_EFORMAT,
				"constants of unknown type %" PRIu64 " before offset %" PRIu32, id,
				c->at);
	for (uint32_t i = 0; i < count && !j->is_damaged; i++) {
		const uint64_t key = number(c);

		if (base_flag_is_set(j->cancel))
			return hdb_fail(err, HDB_EINTR, "interrupted");
		TRY(base_vec_reserve(&j->constant_vec, 1, sizeof(*j->constants), err));
		j->constants[j->constant_count++] =
			(struct constant){ .key = key, .type = type, .at = c->at, .end = c->end };
		skip_value(c, type);
	}
	return HDB_OK;
}

/* Reads all checkpoints from the cursor on. */
static int read_constants(struct cursor all, struct hdb_error *err)
{
	struct jfr *j = all.jfr;

	j->constant_count = 0;
	while (all.at < all.end) {
		struct cursor c = all;
		uint64_t type;

		if (!read_event(&c, &type))
			return hdb_fail(err, HDB_EFORMAT, "no event at offset %" PRIu32, all.at);
		for (int i = 0; type == 1 && i < 4; i++) /* skip start, duration, distance, kind */
			(void)number(&c);
		for (uint32_t left = type == 1 ? count_of(&c) : 0; left > 0; left--) {
			TRY(read_pool(&c, err));
			if (j->is_damaged)
				return hdb_fail(err, HDB_EFORMAT,
						"damaged constants before offset %" PRIu32, c.at);
		}
		all.at = c.end;
	}
	base_vec_sort(&j->constant_vec, sizeof(*j->constants), compare_constants);
	return HDB_OK;
}

/* ---- chunks ---- */

static int open_chunk(struct jfr *j, struct hdb_error *err)
{
	const uint32_t start = j->next, left = j->size - start;
	const uint8_t *p = j->data + start;
	struct cursor c = { j, start, j->size };
	uint64_t size, metadata;

	if (left < HEADER_BYTES)
		return hdb_fail(err, HDB_ETRUNC,
				"the file ends inside the chunk header at offset %" PRIu32, start);
	if (memcmp(p, "FLR", 4) != 0)
		return hdb_fail(err, HDB_EFORMAT, "no Flight Recorder chunk at offset %" PRIu32,
				start);
	/* flags: integers must be compressed (LEB128) */
	if (be16(p + 4) != 2 || !(p[67] & 1))
		return hdb_fail(err, HDB_EFORMAT,
				"version %u.%u of the format is not supported: expected a "
				"recording of JDK 11 or later",
				be16(p + 4), be16(p + 6));
	size = be64(p + 8);
	metadata = be64(p + 24);
	if (size > left)
		return hdb_fail(err, HDB_ETRUNC,
				"the file ends inside the chunk at offset %" PRIu32, start);
	if (size < HEADER_BYTES || metadata < HEADER_BYTES || metadata > size)
		return hdb_fail(err, HDB_EFORMAT, "damaged chunk header at offset %" PRIu32, start);
	j->start_ns = (int64_t)be64(p + 32);
	j->start_ticks = (int64_t)be64(p + 48);
	j->ticks_per_ns = (double)be64(p + 56) / 1e9;
	j->chunks++;
	j->next = j->end = c.end = start + (uint32_t)size;
	c.at = start + (uint32_t)metadata;
	TRY(read_metadata(j, c, err));
	c.at = j->at = start + HEADER_BYTES;
	if (j->is_damaged)
		return hdb_fail(err, HDB_EFORMAT,
				"damaged metadata in the chunk at offset %" PRIu32, start);
	return read_constants(c, err);
}

int jfr_open(const void *data, size_t size, const base_flag *cancel, struct jfr **out,
	     struct hdb_error *err)
{
	TRY(BASE_ALLOC(*out, 1, "a recording", err));
	if (size > JFR_SIZE_MAX)
		return hdb_fail(err, HDB_ELIMIT, "too large (limit %u bytes)", JFR_SIZE_MAX);
	if (size < 4 || memcmp(data, "FLR", 4) != 0)
		return hdb_fail(err, HDB_EFORMAT, "not a Flight Recorder recording");
	(*out)->data = data;
	(*out)->size = (uint32_t)size;
	(*out)->cancel = cancel;
	return HDB_OK;
}

void jfr_close(struct jfr *jfr)
{
	if (!jfr)
		return;
	bytes_release(&jfr->texts);
	bytes_release(&jfr->scratch);
	base_vec_release(&jfr->type_vec);
	base_vec_release(&jfr->field_vec);
	base_vec_release(&jfr->constant_vec);
	free(jfr);
}

void jfr_rewind(struct jfr *jfr)
{
	jfr->next = jfr->at = jfr->end = 0;
	jfr->chunks = 0;
}

unsigned jfr_chunks(const struct jfr *jfr)
{
	return jfr->chunks;
}

int jfr_next(struct jfr *jfr, enum jfr_kind *kind, struct jfr_value *event, struct hdb_error *err)
{
	for (;;) {
		struct cursor c = { jfr, jfr->at, jfr->end };
		uint64_t id = 0;
		uint32_t type;

		if (base_flag_is_set(jfr->cancel))
			return hdb_fail(err, HDB_EINTR, "interrupted");
		if (jfr->is_damaged)
			return hdb_fail(err, HDB_EFORMAT, "damaged event before offset %" PRIu32,
					jfr->at);
		if (jfr->at == jfr->end && jfr->next == jfr->size)
			return HDB_END;
		if (jfr->at == jfr->end) {
			TRY(open_chunk(jfr, err));
			continue;
		}
		if (!read_event(&c, &id))
			return hdb_fail(err, HDB_EFORMAT, "no event at offset %" PRIu32, jfr->at);
		jfr->at = c.end;
		type = type_of_id(jfr, id);
		*event = (struct jfr_value){ .type = type, .at = c.at, .end = c.end };
		for (int i = 0; type != NO_TYPE && i < JFR_KINDS; i++) {
			*kind = (enum jfr_kind)i;
			if (jfr->kinds[i] == type)
				return HDB_OK;
		}
	}
}

/* ---- fields ---- */

static bool find_constant(struct jfr *j, uint32_t type, uint64_t key, struct jfr_value *out)
{
	size_t low = 0, high = j->constant_count;
	const struct constant wanted = { .key = key, .type = type };

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (compare_constants(&j->constants[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == j->constant_count || j->constants[low].type != type ||
	    j->constants[low].key != key)
		return false;
	*out = (struct jfr_value){ .type = type,
				   .at = j->constants[low].at,
				   .end = j->constants[low].end,
				   .memo = &j->constants[low].memo };
	return true;
}

/* Enters the field at the cursor. */
static bool enter(struct cursor *c, const struct field *f, struct jfr_value *out)
{
	if (f->is_constant && !f->is_list)
		return find_constant(c->jfr, f->type, number(c), out);
	*out = (struct jfr_value){ .type = f->type };
	out->left = f->is_list ? count_of(c) : 0;
	out->at = c->at;
	out->end = c->end;
	return !(f->is_constant && f->is_list); /* the JDK does not write lists of constants */
}

int jfr_find(struct jfr *jfr, const struct jfr_value *of, const char *path, struct jfr_value *out)
{
	struct jfr_value now = *of;

	for (const char *name = path;;) {
		const size_t size = strcspn(name, ".");
		const struct type *type = &jfr->types[now.type];
		const struct field *f = jfr->fields + type->first_field;
		struct cursor c = { jfr, now.at, now.end };
		uint32_t i = 0;

		while (i < type->field_count &&
		       (strncmp(jfr->texts.data + f[i].name, name, size) != 0 ||
			jfr->texts.data[f[i].name + size]))
			i++;
		if (i == type->field_count)
			return HDB_NOTFOUND;
		skip(&c, f, i);
		if (jfr->is_damaged || !enter(&c, &f[i], &now))
			return HDB_NOTFOUND;
		if (!name[size])
			break;
		name += size + 1;
	}
	*out = now;
	return HDB_OK;
}

bool jfr_item(struct jfr *jfr, struct jfr_value *list, struct jfr_value *item)
{
	struct cursor c = { jfr, list->at, list->end };

	if (list->left == 0 || jfr->is_damaged)
		return false;
	*item = (struct jfr_value){ .type = list->type, .at = list->at, .end = list->end };
	skip_value(&c, list->type);
	list->at = c.at;
	list->left--;
	return !jfr->is_damaged;
}

int64_t jfr_integer(struct jfr *jfr, const struct jfr_value *value)
{
	struct cursor c = { jfr, value->at, value->end };
	const enum primitive primitive = jfr->types[value->type].primitive;

	if (primitive == BYTE) {
		const uint8_t *p = take(&c, 1);

		return p ? (int8_t)*p : 0;
	}
	if (primitive < CHAR || primitive > LONG)
		return 0;
	return primitive == INT ? (int32_t)number(&c) : (int64_t)number(&c);
}

float jfr_real(struct jfr *jfr, const struct jfr_value *value)
{
	struct cursor c = { jfr, value->at, value->end };
	const uint8_t *p = jfr->types[value->type].primitive == FLOAT ? take(&c, 4) : NULL;
	const uint32_t bits = p ? be32(p) : 0;
	float real;

	memcpy(&real, &bits, sizeof(real));
	return real;
}

int64_t jfr_time(struct jfr *jfr, const struct jfr_value *value)
{
	const uint64_t ticks = (uint64_t)jfr_integer(jfr, value) - (uint64_t)jfr->start_ticks;
	const double ns = (double)(int64_t)ticks / jfr->ticks_per_ns; /* computed as in the JDK */

	/* values beyond 64 bits become 0 */
	return jfr->start_ns < INT64_MAX / 2 && ns > -4e18 && ns < 4e18 ?
		       (int64_t)((uint64_t)jfr->start_ns + (uint64_t)(int64_t)ns) :
		       0;
}

bool jfr_text(struct jfr *jfr, const struct jfr_value *value, struct bytes *out)
{
	struct jfr_value now = *value;
	uint64_t key = 0;

	/*
	 * a symbol refers to a string, which may itself be a constant; follow only a few references
	 */
	for (int i = 0; i < 4; i++) {
		const struct type *type = &jfr->types[now.type];
		struct cursor c = { jfr, now.at, now.end };
		int encoding = 2;

		if (type->primitive == STRING)
			encoding = read_string(&c, out, &key);
		else if (type->primitive || !type->field_count ||
			 !enter(&c, &jfr->fields[type->first_field], &now))
			return false;
		else
			continue;
		if (encoding != 2)
			return encoding != 0 && !jfr->is_damaged;
		if (!find_constant(jfr, now.type, key, &now))
			return false;
	}
	return false;
}

bool jfr_class(struct jfr *jfr, const struct jfr_value *value, struct bytes *out)
{
	struct jfr_value text;
	bool is_found;
	size_t size;
	char *name;

	jfr->scratch.size = 0;
	is_found = jfr_find(jfr, value, "name", &text) == HDB_OK &&
		   jfr_text(jfr, &text, &jfr->scratch);
	bytes_add(&jfr->scratch, "", 1);
	out->failed |= jfr->scratch.failed;
	if (!is_found || jfr->scratch.failed)
		return false;
	/* each bracket becomes two characters, and a type character becomes at most a word */
	size = 2 * jfr->scratch.size + sizeof("boolean");
	name = bytes_room(out, size);
	if (!name)
		return false;
	size = descriptor_name(jfr->scratch.data, name, size);
	for (size_t i = 0; i < size; i++)
		name[i] = name[i] == '/' ? '.' : name[i];
	out->size += size;
	return true;
}

bool jfr_frame(struct jfr *jfr, const struct jfr_value *frame, struct bytes *out)
{
	struct jfr_value method, part, line;
	char text[16];

	if (jfr_find(jfr, frame, "method", &method) != HDB_OK)
		return false;
	if (jfr_find(jfr, &method, "type", &part) == HDB_OK && jfr_class(jfr, &part, out))
		bytes_add(out, ".", 1);
	if (jfr_find(jfr, &method, "name", &part) == HDB_OK)
		(void)jfr_text(jfr, &part, out);
	if (jfr_find(jfr, frame, "lineNumber", &line) == HDB_OK && jfr_integer(jfr, &line) > 0)
		bytes_add(
			out, text,
			(size_t)snprintf(text, sizeof(text), ":%" PRId64, jfr_integer(jfr, &line)));
	return true;
}
