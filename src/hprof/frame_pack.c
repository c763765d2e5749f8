/*
 * hprof/frame_pack.c - packing a stretch of a dump; see frame_code.h.
 *
 * Sub-records are found by themselves: a chain of some that are plausible is believed. To be wrong
 * costs bytes and nothing else. What is a reference is found out by looking, too: eight bytes that
 * are near the object's own identifier, or null, in all instances of a shape.
 */
#include "hprof/frame_code_private.h"

#include "base/scope.h"
#include "hprof/quick.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* zstd's level of all streams. */
#define LEVEL 1
/* Objects in a row that are believed. */
#define CHAIN 6u
/* Serial numbers of stack traces are below this where there are objects. */
#define SERIAL_MAX (1u << 24)
/* A reference is no further than this from whoever has it. */
#define NEAR (1ull << 33)
/* Addresses below are nobody's. */
#define MAPPED_MIN (1u << 16)
/* References that are not null at the beginning of what looks like an array of them. */
#define RUN_SET_MIN 3u
/* Slots of the table that finds shapes; a power of two. */
#define SLOTS 8192u
/* Bytes of a column that are looked at to choose its stream. */
#define SAMPLE 512u
/* Streams of fewer bytes are kept as they are. */
#define PACK_MIN 24u

struct stream {
	uint8_t *data;
	uint32_t size;
};

struct hprof_packer {
	ZSTD_CCtx *context;
	uint8_t *packed; /* a stream */
	struct stream streams[FRAME_STREAMS];
	const uint8_t *data;
	uint32_t size;
	unsigned id_size;       /* that of the last stretch where objects were found, first */
	unsigned element_bytes; /* of references in arrays in the VM */
	struct frame_shape shapes[FRAME_SHAPES_MAX];
	uint32_t shape_count;
	uint16_t slots[SLOTS]; /* numbers of shapes + 1 */
	struct frame_token tokens[FRAME_TOKENS_MAX];
	uint32_t token_count;
	uint32_t order[FRAME_TOKENS_MAX]; /* tokens by shape */
	struct frame_run runs[FRAME_RUNS_MAX];
	uint32_t run_count;
	/* a column */
	uint64_t values[FRAME_VALUES_MAX];
	uint64_t owners[FRAME_VALUES_MAX];
	uint32_t codes[FRAME_VALUES_MAX];
	uint32_t other_codes[FRAME_VALUES_MAX];
	uint8_t plane[BASE_FRAME_BYTES];
	uint32_t histogram[256]; /* zeros between uses */
};

/* ---- streams ---- */

static void put_byte(struct stream *s, uint8_t v)
{
	s->data[s->size++] = v;
}

static void put_bytes(struct stream *s, const void *data, uint32_t size)
{
	memcpy(s->data + s->size, data, size);
	s->size += size;
}

static void put_number(struct stream *s, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		put_byte(s, (uint8_t)(v | 0x80));
	put_byte(s, (uint8_t)v);
}

/* ---- finding objects ---- */

static inline bool read_object(const struct hprof_packer *p, uint32_t at, const unsigned id_size,
			       struct hprof_sub *sub)
{
	const struct base_view view = { .data = p->data, .end = p->size };
	const struct hprof_range range = { at, p->size };

	assert(at <= p->size);
	return hprof_quick_sub(&view, range, id_size, sub) && sub->trace_serial < SERIAL_MAX &&
	       sub->id;
}

/* Whether some objects follow one another from `at` on, or up to the end. */
static bool begins_chain(const struct hprof_packer *p, uint32_t at, const unsigned id_size)
{
	struct hprof_sub sub = { 0 };

	for (unsigned n = 0; n < CHAIN; n++) {
		if (!read_object(p, at, id_size, &sub))
			return false;
		at = (uint32_t)sub.end;
	}
	return true;
}

static uint32_t find_chain(const struct hprof_packer *p, uint32_t at, const unsigned id_size)
{
	for (; at < p->size; at++)
		if ((uint8_t)(p->data[at] - HPROF_INSTANCE_DUMP) <= 2 &&
		    begins_chain(p, at, id_size))
			return at;
	return p->size;
}

static struct frame_shape *find_shape(struct hprof_packer *p, const struct hprof_sub *sub)
{
	const bool is_instance = sub->tag == HPROF_INSTANCE_DUMP;
	const bool is_primitive = sub->tag == HPROF_PRIMITIVE_ARRAY_DUMP;
	const struct frame_shape wanted = {
		.class_id = is_primitive ? 0 : sub->class_id,
		.serial = sub->trace_serial,
		.body_bytes = is_instance ? sub->length : 0,
		.tag = sub->tag,
		.element_type = is_primitive ? sub->element_type : 0,
	};
	uint64_t hash = (wanted.class_id >> 3) ^ ((uint64_t)wanted.body_bytes << 32) ^
			((uint64_t)wanted.serial << 44) ^ ((uint64_t)wanted.element_type << 58) ^
			((uint64_t)wanted.tag << 54);
	uint32_t slot;

	hash *= 0x9e3779b97f4a7c15ull;
	for (slot = (uint32_t)(hash >> 51); p->slots[slot]; slot = (slot + 1) % SLOTS) {
		struct frame_shape *shape = &p->shapes[p->slots[slot] - 1];

		if (shape->class_id == wanted.class_id && shape->tag == wanted.tag &&
		    shape->body_bytes == wanted.body_bytes && shape->serial == wanted.serial &&
		    shape->element_type == wanted.element_type)
			return shape;
	}
	if (p->shape_count == FRAME_SHAPES_MAX)
		return NULL;
	p->shapes[p->shape_count] = wanted;
	p->slots[slot] = (uint16_t)++p->shape_count;
	return &p->shapes[p->shape_count - 1];
}

static void put_op(struct hprof_packer *p, uint32_t op)
{
	put_byte(&p->streams[FRAME_OPS], (uint8_t)op);
	put_byte(&p->streams[FRAME_OPS_MORE], (uint8_t)(op >> 8));
}

static void put_run(struct hprof_packer *p, uint32_t number)
{
	put_op(p, 0);
	put_number(&p->streams[FRAME_HEADS], number);
}

static void put_bytes_run(struct hprof_packer *p, uint32_t from, uint32_t to)
{
	assert(from <= to);
	assert(to <= p->size);
	if (from == to)
		return;
	put_run(p, (to - from) << 1);
	put_bytes(&p->streams[FRAME_LITERALS], p->data + from, to - from);
}

/* Whether `value` may be a reference near to `id`. */
static bool is_near(uint64_t value, uint64_t id)
{
	const uint64_t off = value - id + NEAR;

	return off < 2 * NEAR && !(off & 7) && value > id >> 1;
}

/* How many references to near one another there are from `at` on; 0: too few. */
static uint32_t count_references(const struct hprof_packer *p, uint32_t at, uint32_t to)
{
	const uint32_t most = (to - at) / 8;
	uint64_t last = be64(p->data + at);
	uint32_t n = 1, set = 0;

	if (!last || last & 7 || last < MAPPED_MIN || last >> 48)
		return 0;
	for (; n < most; n++) {
		const uint64_t value = be64(p->data + at + 8 * n);

		if (value && !is_near(value, last))
			break;
		if (value)
			last = value;
		set += value != 0;
		if (n == FRAME_RUN_MIN && set < RUN_SET_MIN)
			return 0;
	}
	return n < FRAME_RUN_MIN || set < RUN_SET_MIN ? 0 : n;
}

/* What is no object: the rest of an array of references may be in it. */
static void put_literal(struct hprof_packer *p, uint32_t from, uint32_t to)
{
	uint32_t at = from;

	assert(from <= to);
	assert(to <= p->size);
	static_assert((SLOTS & (SLOTS - 1)) == 0, "slots are found by a mask");
	static_assert(SLOTS > FRAME_SHAPES_MAX, "a slot is free for every shape");
	while (p->id_size == 8 && to - at >= 8 * FRAME_RUN_MIN) {
		const uint32_t n = count_references(p, at, to);

		if (!n) {
			at++;
			continue;
		}
		put_bytes_run(p, from, at);
		put_run(p, n << 1 | 1);
		p->runs[p->run_count++] = (struct frame_run){ .offset = at, .count = n };
		from = at += 8 * n;
	}
	put_bytes_run(p, from, to);
}

static void put_shape(struct hprof_packer *p, const struct frame_shape *shape)
{
	struct stream *s = &p->streams[FRAME_HEADS];

	assert(p->shape_count <= FRAME_SHAPES_MAX);
	put_byte(s, shape->tag);
	put_number(s, shape->serial);
	if (shape->tag == HPROF_PRIMITIVE_ARRAY_DUMP) {
		put_byte(s, shape->element_type);
		return;
	}
	put_bytes(s, &shape->class_id, p->id_size);
	if (shape->tag == HPROF_INSTANCE_DUMP)
		put_number(s, shape->body_bytes);
}

/* Notes the object as a token; false: there is no room for its shape. */
static bool add_token(struct hprof_packer *p, const struct hprof_sub *sub)
{
	const uint32_t known = p->shape_count;
	struct frame_shape *shape = find_shape(p, sub);

	if (!shape)
		return false;
	p->tokens[p->token_count++] = (struct frame_token){
		.offset = (uint32_t)sub->offset,
		.length = sub->tag == HPROF_INSTANCE_DUMP ? 0 : sub->length,
		.id = sub->id,
		.shape = (uint16_t)(shape - p->shapes),
	};
	shape->count++;
	put_op(p, (uint32_t)(shape - p->shapes) + 1);
	if (p->shape_count > known)
		put_shape(p, shape);
	if (sub->tag != HPROF_INSTANCE_DUMP)
		put_number(&p->streams[FRAME_HEADS], sub->length);
	return true;
}

static inline void find_tokens(struct hprof_packer *p, const unsigned id_size)
{
	uint32_t at = 0, literal = 0;
	struct hprof_sub sub = { 0 };

	while (at < p->size) {
		at = find_chain(p, at, id_size);
		if (at < p->size)
			put_literal(p, literal, at);
		else
			break;
		while (read_object(p, at, id_size, &sub) && add_token(p, &sub))
			at = (uint32_t)sub.end;
		literal = at;
		at++;
	}
	put_literal(p, literal, p->size);
}

/* ---- identifiers ---- */

static void put_ids(struct hprof_packer *p)
{
	struct stream *s = &p->streams[FRAME_IDS];
	uint64_t foretold = 0, last = 0;
	struct frame_shape *before = NULL;

	assert(p->token_count <= FRAME_TOKENS_MAX);
	for (uint32_t i = 0; i < p->token_count; i++) {
		const struct frame_token *token = &p->tokens[i];
		struct frame_shape *shape = &p->shapes[token->shape];
		const uint64_t off = token->id - foretold;
		const uint64_t steps = zigzag((int64_t)off >> 3);

		if (!(off & 7) && steps < FRAME_ID_MORE) {
			put_byte(s, (uint8_t)steps);
		} else if (!(off & 7) && steps < FRAME_ID_MORE + FRAME_ID_STEPS) {
			put_byte(s, (uint8_t)(FRAME_ID_MORE + ((steps - FRAME_ID_MORE) >> 8)));
			put_byte(s, (uint8_t)(steps - FRAME_ID_MORE));
		} else {
			put_byte(s, FRAME_ID_WHOLE);
			put_bytes(s, &token->id, p->id_size);
		}
		if (before)
			frame_learn(before, last, token->id);
		last = token->id;
		before = shape;
		foretold = frame_foretell(shape, token->id, token->length,
					  shape->tag == HPROF_OBJECT_ARRAY_DUMP ?
						  p->element_bytes :
						  hprof_type_size(shape->element_type, p->id_size));
	}
}

/* ---- columns ---- */

/* Which stream has the like of these bytes: by how often two of them are the same. */
static unsigned choose_plane(struct hprof_packer *p, uint32_t n)
{
	const uint32_t step = n > SAMPLE ? n / SAMPLE : 1;
	uint32_t pairs = 0, count = 0;

	assert(n <= BASE_FRAME_BYTES);
	for (uint32_t i = 0; i < n; i += step, count++)
		pairs += p->histogram[p->plane[i]]++;
	for (uint32_t i = 0; i < n; i += step)
		p->histogram[p->plane[i]] = 0;
	/* pairs of the same among count * count / 2 pairs */
	if (pairs > count * count / 4)
		return 0;
	if (pairs > count * count / 16)
		return 1;
	return pairs > count * count / 120 ? 2 : 3;
}

/* Writes n bytes of p->plane. */
static void put_plane(struct hprof_packer *p, uint32_t n)
{
	struct stream *s = &p->streams[FRAME_COLUMNS];
	unsigned plane;

	assert(n <= BASE_FRAME_BYTES);
	if (n <= FRAME_FEW_MAX) {
		put_bytes(&p->streams[FRAME_FEW], p->plane, n);
		return;
	}
	if (!memcmp(p->plane, p->plane + 1, n - 1)) {
		put_byte(s, FRAME_SAME);
		put_byte(s, p->plane[0]);
		return;
	}
	plane = choose_plane(p, n);
	put_byte(s, (uint8_t)(plane + 1));
	put_bytes(&p->streams[FRAME_PLANES + plane], p->plane, n);
}

/* The code of a reference against `base`. */
static uint32_t code_of(uint64_t value, uint64_t base)
{
	const int64_t off = (int64_t)(value - base);

	if (!value)
		return 0;
	if ((off & 7) || off >= (int64_t)NEAR || off <= -(int64_t)NEAR)
		return FRAME_WRITTEN_OUT;
	return (uint32_t)zigzag(off / 8) + 1;
}

/* Codes of n values, each against its owner or against the last one that is not null. */
static uint64_t code_values(const struct hprof_packer *p, uint32_t n, bool is_by_last,
			    uint32_t *codes)
{
	uint64_t base = p->owners[0], bits = 0;
	uint32_t before = 0;

	assert(n <= FRAME_VALUES_MAX);
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t code = code_of(p->values[i], is_by_last ? base : p->owners[i]);

		codes[i] = code;
		if (code == FRAME_WRITTEN_OUT)
			bits += 64;
		else if (code != before)
			bits += 34 - (unsigned)__builtin_clz(code | 1);
		before = code;
		if (p->values[i])
			base = p->values[i];
	}
	return bits;
}

/* Writes n references, p->values of p->owners. */
static void put_references(struct hprof_packer *p, uint32_t n)
{
	const uint64_t own_bits = code_values(p, n, false, p->codes);
	const uint64_t last_bits = code_values(p, n, true, p->other_codes);
	const bool is_by_last = last_bits < own_bits;
	const uint32_t *codes = is_by_last ? p->other_codes : p->codes;

	assert(n <= FRAME_VALUES_MAX);
	put_byte(&p->streams[FRAME_COLUMNS], is_by_last ? FRAME_BY_LAST : FRAME_BY_OWN);
	for (unsigned k = 0; k < 4; k++) {
		for (uint32_t i = 0; i < n; i++)
			p->plane[i] = (uint8_t)(codes[i] >> 8 * k);
		put_plane(p, n);
	}
	for (uint32_t i = 0; i < n; i++)
		if (codes[i] == FRAME_WRITTEN_OUT)
			put_bytes(&p->streams[FRAME_IDS], &p->values[i], p->id_size);
}

/* Reads the values at `at` of the bodies of a shape: whether they look like references. */
static bool read_column(struct hprof_packer *p, const struct frame_shape *shape, uint32_t at,
			const unsigned id_size)
{
	const uint32_t skipped = frame_head_bytes(shape->tag, id_size) + at;
	const uint32_t *order = p->order + shape->first;
	uint64_t any = 0;

	for (uint32_t i = 0; i < shape->count; i++) {
		const struct frame_token *token = &p->tokens[order[i]];
		const uint64_t value = be_id(p->data + token->offset + skipped, id_size);

		if (value && !is_near(value, token->id))
			return false;
		p->values[i] = value;
		p->owners[i] = token->id;
		any |= value;
	}
	return any != 0;
}

static void put_instances(struct hprof_packer *p, const struct frame_shape *shape)
{
	const uint32_t head = frame_head_bytes(shape->tag, p->id_size);
	const uint32_t *order = p->order + shape->first;

	for (uint32_t at = 0; at < shape->body_bytes;) {
		if (shape->body_bytes - at >= p->id_size && read_column(p, shape, at, p->id_size)) {
			put_references(p, shape->count);
			at += p->id_size;
			continue;
		}
		if (shape->count <= FRAME_FEW_MAX)
			put_byte(&p->streams[FRAME_COLUMNS], FRAME_AS_FEW);
		for (uint32_t i = 0; i < shape->count; i++)
			p->plane[i] = p->data[p->tokens[order[i]].offset + head + at];
		put_plane(p, shape->count);
		at++;
	}
}

static void put_object_arrays(struct hprof_packer *p, const struct frame_shape *shape)
{
	const uint32_t head = frame_head_bytes(shape->tag, p->id_size);
	uint32_t n = 0;

	for (uint32_t i = 0; i < shape->count; i++) {
		const struct frame_token *token = &p->tokens[p->order[shape->first + i]];
		const uint8_t *at = p->data + token->offset + head;

		for (uint32_t k = 0; k < token->length; k++, at += p->id_size) {
			p->values[n] = be_id(at, p->id_size);
			p->owners[n++] = token->id;
		}
	}
	if (n)
		put_references(p, n);
}

static void put_primitive_arrays(struct hprof_packer *p, const struct frame_shape *shape)
{
	const uint32_t head = frame_head_bytes(shape->tag, p->id_size);
	const unsigned width = hprof_type_size(shape->element_type, p->id_size);
	uint32_t n = 0;

	for (unsigned k = 0; k < width; k++) {
		n = 0;
		for (uint32_t i = 0; i < shape->count; i++) {
			const struct frame_token *token = &p->tokens[p->order[shape->first + i]];
			const uint8_t *at = p->data + token->offset + head;

			if (width == 1) {
				put_bytes(&p->streams[FRAME_TEXT], at, token->length);
				continue;
			}
			for (uint32_t j = 0; j < token->length; j++)
				p->plane[n++] = at[j * width + k];
		}
		if (n)
			put_plane(p, n);
	}
}

static void put_bodies(struct hprof_packer *p)
{
	frame_order_tokens(p->shapes, p->shape_count, p->tokens, p->token_count, p->order);
	for (uint32_t i = 0; i < p->shape_count; i++) {
		const struct frame_shape *shape = &p->shapes[i];

		if (shape->tag == HPROF_INSTANCE_DUMP)
			put_instances(p, shape);
		else if (shape->tag == HPROF_OBJECT_ARRAY_DUMP)
			put_object_arrays(p, shape);
		else
			put_primitive_arrays(p, shape);
	}
}

static void put_runs(struct hprof_packer *p)
{
	uint32_t n = 0;

	assert(p->run_count <= FRAME_RUNS_MAX);
	for (uint32_t i = 0; i < p->run_count; i++) {
		for (uint32_t k = 0; k < p->runs[i].count; k++) {
			p->values[n] = be64(p->data + p->runs[i].offset + 8 * k);
			p->owners[n++] = 0;
		}
	}
	if (n)
		put_references(p, n);
}

/* ---- all of it ---- */

static void begin(struct hprof_packer *p, unsigned id_size)
{
	assert(id_size == 4 || id_size == 8);
	p->id_size = id_size;
	p->shape_count = p->token_count = p->run_count = 0;
	memset(p->slots, 0, sizeof(p->slots));
	for (unsigned i = 0; i < FRAME_STREAMS; i++)
		p->streams[i].size = 0;
}

size_t hprof_packed_max(void)
{
	return 1 + FRAME_STREAMS * 2 * 5 + ZSTD_compressBound(FRAME_STREAMS_MAX);
}

/* Compresses a stream to `at`; what does not become smaller has packed size 0. */
static int put_stream(struct hprof_packer *p, const struct stream *s, uint8_t **at,
		      struct hdb_error *err)
{
	size_t n = 0;

	*at = put_varint(*at, s->size);
	if (!s->size)
		return HDB_OK;
	if (s->size >= PACK_MIN) {
		n = ZSTD_compress2(p->context, p->packed, ZSTD_compressBound(s->size), s->data,
				   s->size);
		if (ZSTD_isError(n))
			return hdb_fail(err, HDB_ENOMEM, "cannot compress %u bytes: %s", s->size,
					ZSTD_getErrorName(n));
	}
	if (n >= s->size)
		n = 0;
	*at = put_varint(*at, (uint32_t)n);
	memcpy(*at, n ? p->packed : s->data, n ? n : s->size);
	*at += n ? n : s->size;
	return HDB_OK;
}

/* The stretch as it is. */
static int put_plain(struct hprof_packer *p, struct base_packed *out, struct hdb_error *err)
{
	const size_t n = ZSTD_compress2(p->context, out->bytes, ZSTD_compressBound(p->size),
					p->data, p->size);

	assert(p->size <= BASE_FRAME_BYTES);
	if (ZSTD_isError(n))
		return hdb_fail(err, HDB_ENOMEM, "cannot compress %u bytes: %s", p->size,
				ZSTD_getErrorName(n));
	out->size = n;
	return HDB_OK;
}

/* Takes the stretch apart, into the streams. */
static void take_apart(struct hprof_packer *p)
{
	begin(p, 8);
	find_tokens(p, 8);
	if (!p->token_count) {
		begin(p, 4);
		find_tokens(p, 4);
	}
	if (!p->token_count) {
		begin(p, 8);
		put_literal(p, 0, p->size);
	}
	p->element_bytes = 4;
	put_ids(p);
	put_bodies(p);
	put_runs(p);
	if (p->shape_count < 255)
		p->streams[FRAME_OPS_MORE].size = 0;
}

int hprof_frame_pack(void *packer, const uint8_t *data, size_t size, struct base_packed *out,
		     struct hdb_error *err)
{
	struct hprof_packer *p = packer;
	uint32_t total = 0;
	uint8_t *at = out->bytes;

	assert(size > 0);
	assert(size <= BASE_FRAME_BYTES);
	p->data = data;
	p->size = (uint32_t)size;
	p->shape_count = p->token_count = p->run_count = 0;
	if (!memcmp(data, data + 1, size - 1))
		return put_plain(p, out, err); /* zeros: nothing to look for */
	take_apart(p);
	for (unsigned i = 0; i < FRAME_STREAMS; i++)
		total += p->streams[i].size;
	if ((!p->token_count && !p->run_count) || total > FRAME_STREAMS_MAX)
		return put_plain(p, out, err);
	*at++ = (uint8_t)(p->id_size | p->element_bytes << 4);
	for (unsigned i = 0; i < FRAME_STREAMS; i++)
		TRY_ERRORS(put_stream(p, &p->streams[i], &at, err));
	out->size = (size_t)(at - out->bytes);
	return HDB_OK;
}

int hprof_packer_new(void **out, struct hdb_error *err)
{
	struct hprof_packer *p;
	bool is_good;

	TRY(BASE_ALLOC(p, 1, "a compressor", err));
	p->context = ZSTD_createCCtx();
	p->packed = malloc(ZSTD_compressBound(FRAME_STREAMS_MAX));
	is_good = p->packed && p->context &&
		  !ZSTD_isError(ZSTD_CCtx_setParameter(p->context, ZSTD_c_compressionLevel, LEVEL));
	for (unsigned i = 0; i < FRAME_STREAMS && is_good; i++) {
		/* Only what is used of it is memory. */
		p->streams[i].data = malloc(FRAME_STREAMS_MAX);
		is_good = p->streams[i].data;
	}
	if (!is_good) {
		hprof_packer_free(p);
		return hdb_fail_memory(err, "a compressor", sizeof(*p));
	}
	*out = p;
	return HDB_OK;
}

void hprof_packer_free(void *packer)
{
	struct hprof_packer *p = packer;

	for (unsigned i = 0; i < FRAME_STREAMS; i++)
		free(p->streams[i].data);
	free(p->packed);
	(void)ZSTD_freeCCtx(p->context);
	free(p);
}

void hprof_packer_check(const void *packer)
{
	const struct hprof_packer *p = packer;
	uint64_t end = 0;

	assert(p->size <= BASE_FRAME_BYTES);
	assert(p->shape_count <= FRAME_SHAPES_MAX);
	assert(p->token_count <= FRAME_TOKENS_MAX);
	assert(p->run_count <= FRAME_RUNS_MAX);
	for (uint32_t i = 0; i < p->token_count; i++) {
		const struct frame_token *token = &p->tokens[i];

		assert(token->shape < p->shape_count);
		assert(token->offset >= end);
		end = token->offset + FRAME_TOKEN_MIN;
	}
	assert(end <= p->size || !p->token_count);
	end = 0;
	for (uint32_t i = 0; i < p->run_count; i++) {
		assert(p->runs[i].offset >= end);
		end = p->runs[i].offset + 8ull * p->runs[i].count;
	}
	assert(end <= p->size);
	/* Zeros between uses. */
	for (unsigned i = 0; i < 256; i++)
		assert(p->histogram[i] == 0);
}
