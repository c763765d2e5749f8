/*
 * hprof/frame_unpack.c - unpacking a stretch of a dump; see frame_code.h. Believes nothing: every
 * number that is read is held against what is there.
 */
#include "hprof/frame_code_private.h"

#include "base/scope.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

struct stream {
	const uint8_t *at, *end;
};

struct hprof_unpacker {
	ZSTD_DCtx *context;
	uint8_t *bytes; /* of all streams */
	struct stream streams[FRAME_STREAMS];
	uint8_t *out;
	uint32_t size;
	unsigned id_size;
	unsigned element_bytes;
	struct frame_shape shapes[FRAME_SHAPES_MAX];
	uint32_t shape_count;
	struct frame_token tokens[FRAME_TOKENS_MAX];
	uint32_t token_count;
	uint32_t order[FRAME_TOKENS_MAX]; /* tokens by shape */
	struct frame_run runs[FRAME_RUNS_MAX];
	uint32_t run_count;
	/* a column */
	uint32_t codes[FRAME_VALUES_MAX];
};

/* ---- streams ---- */

/* The next n bytes of a stream; NULL: it has fewer. */
static const uint8_t *take(struct stream *s, uint32_t n)
{
	const uint8_t *at = s->at;

	if (n > (size_t)(s->end - at))
		return NULL;
	s->at += n;
	return at;
}

static bool take_byte(struct stream *s, uint8_t *v)
{
	if (s->at == s->end)
		return false;
	*v = *s->at++;
	return true;
}

static bool take_number(struct stream *s, uint64_t max, uint32_t *v)
{
	uint64_t number;
	const uint8_t *end = get_varint(s->at, s->end, &number);

	if (!end || number > max)
		return false;
	s->at = end;
	*v = (uint32_t)number;
	return true;
}

/* An identifier as it is, little-endian. */
static bool take_id(struct stream *s, unsigned id_size, uint64_t *v)
{
	const uint8_t *at = take(s, id_size);

	if (at)
		*v = id_size == 8 ? load64(at) : load32(at);
	return at;
}

/* Inflates all streams, behind one another. */
static bool open_streams(struct hprof_unpacker *u, struct stream in)
{
	uint32_t used = 0;

	for (unsigned i = 0; i < FRAME_STREAMS; i++) {
		const uint8_t *packed;
		uint32_t size, packed_size = 0;

		if (!take_number(&in, FRAME_STREAMS_MAX - used, &size) ||
		    (size && !take_number(&in, UINT32_MAX, &packed_size)))
			return false;
		packed = take(&in, packed_size ? packed_size : size);
		if (!packed)
			return false;
		u->streams[i] = (struct stream){ packed, packed + size };
		if (packed_size) {
			u->streams[i] = (struct stream){ u->bytes + used, u->bytes + used + size };
			if (ZSTD_decompressDCtx(u->context, u->bytes + used, size, packed,
						packed_size) != size)
				return false;
		}
		used += size;
	}
	return in.at == in.end;
}

/* ---- tokens ---- */

static bool take_shape(struct hprof_unpacker *u)
{
	struct stream *s = &u->streams[FRAME_HEADS];
	struct frame_shape *shape = &u->shapes[u->shape_count];

	assert(u->shape_count <= FRAME_SHAPES_MAX);
	if (u->shape_count == FRAME_SHAPES_MAX)
		return false;
	*shape = (struct frame_shape){ 0 };
	if (!take_byte(s, &shape->tag) || !take_number(s, UINT32_MAX, &shape->serial))
		return false;
	u->shape_count++;
	switch (shape->tag) {
	case HPROF_PRIMITIVE_ARRAY_DUMP:
		return take_byte(s, &shape->element_type) && shape->element_type != HPROF_OBJECT &&
		       hprof_type_size(shape->element_type, u->id_size);
	case HPROF_OBJECT_ARRAY_DUMP:
		return take_id(s, u->id_size, &shape->class_id);
	case HPROF_INSTANCE_DUMP:
		return take_id(s, u->id_size, &shape->class_id) &&
		       take_number(s, BASE_FRAME_BYTES, &shape->body_bytes);
	default:
		return false;
	}
}

/* Literal bytes go where they belong, references are noted. */
static bool take_run(struct hprof_unpacker *u, uint32_t *at)
{
	const uint8_t *bytes;
	uint32_t number, count;

	assert(u->run_count <= FRAME_RUNS_MAX);
	if (!take_number(&u->streams[FRAME_HEADS], 2 * BASE_FRAME_BYTES + 1, &number))
		return false;
	count = number >> 1;
	if (number & 1) {
		if (u->id_size != 8 || count < FRAME_RUN_MIN || count > (u->size - *at) / 8)
			return false;
		u->runs[u->run_count++] = (struct frame_run){ .offset = *at, .count = count };
		*at += 8 * count;
		return true;
	}
	if (!count || count > u->size - *at)
		return false;
	bytes = take(&u->streams[FRAME_LITERALS], count);
	if (!bytes)
		return false;
	memcpy(u->out + *at, bytes, count);
	*at += count;
	return true;
}

/* Bytes of an array's element. */
static unsigned element_size(const struct hprof_unpacker *u, const struct frame_shape *shape)
{
	return shape->tag == HPROF_OBJECT_ARRAY_DUMP ?
		       u->id_size :
		       hprof_type_size(shape->element_type, u->id_size);
}

static bool take_token(struct hprof_unpacker *u, uint32_t shape_no, uint32_t *at)
{
	struct frame_shape *shape = &u->shapes[shape_no];
	struct frame_token *token = &u->tokens[u->token_count];
	uint64_t bytes;

	if (shape_no > u->shape_count || (shape_no == u->shape_count && !take_shape(u)))
		return false;
	*token = (struct frame_token){ .offset = *at, .shape = (uint16_t)shape_no };
	if (shape->tag == HPROF_INSTANCE_DUMP)
		bytes = shape->body_bytes;
	else if (!take_number(&u->streams[FRAME_HEADS], BASE_FRAME_BYTES, &token->length))
		return false;
	else
		bytes = (uint64_t)token->length * element_size(u, shape);
	bytes += frame_head_bytes(shape->tag, u->id_size);
	if (bytes > u->size - *at)
		return false;
	u->token_count++; /* there is room: each takes FRAME_TOKEN_MIN bytes */
	shape->count++;
	*at += (uint32_t)bytes;
	return true;
}

static bool take_tokens(struct hprof_unpacker *u)
{
	struct stream *ops = &u->streams[FRAME_OPS], *more = &u->streams[FRAME_OPS_MORE];
	const bool has_more = more->at < more->end;
	uint32_t at = 0;

	while (at < u->size) {
		uint8_t low, high = 0;
		uint32_t op;

		if (!take_byte(ops, &low) || (has_more && !take_byte(more, &high)))
			return false;
		op = low | (uint32_t)high << 8;
		if (op > FRAME_SHAPES_MAX || !(op ? take_token(u, op - 1, &at) : take_run(u, &at)))
			return false;
	}
	return true;
}

/* ---- identifiers and heads ---- */

static void put_id(uint8_t *out, uint64_t id, const unsigned id_size)
{
	assert(id_size == 4 || id_size == 8);
	if (id_size == 8)
		put_be64(out, id);
	else
		put_be32(out, (uint32_t)id);
}

static void put_head(uint8_t *out, const struct frame_shape *shape, const struct frame_token *token,
		     const unsigned id_size)
{
	*out++ = shape->tag;
	put_id(out, token->id, id_size);
	put_be32(out + id_size, shape->serial);
	out += id_size + 4;
	if (shape->tag == HPROF_INSTANCE_DUMP) {
		put_id(out, shape->class_id, id_size);
		put_be32(out + id_size, shape->body_bytes);
		return;
	}
	put_be32(out, token->length);
	if (shape->tag == HPROF_OBJECT_ARRAY_DUMP)
		put_id(out + 4, shape->class_id, id_size);
	else
		out[4] = shape->element_type;
}

static bool take_ids(struct hprof_unpacker *u, const unsigned id_size)
{
	struct stream *s = &u->streams[FRAME_IDS];
	struct frame_shape *before = NULL;
	uint64_t foretold = 0, last = 0;

	assert(u->token_count <= FRAME_TOKENS_MAX);
	for (uint32_t i = 0; i < u->token_count; i++) {
		struct frame_token *token = &u->tokens[i];
		struct frame_shape *shape = &u->shapes[token->shape];
		uint8_t low = 0, high;

		if (!take_byte(s, &high))
			return false;
		if (high < FRAME_ID_MORE) {
			token->id = foretold + 8 * (uint64_t)unzigzag(high);
		} else if (high == FRAME_ID_WHOLE) {
			if (!take_id(s, id_size, &token->id))
				return false;
		} else {
			if (!take_byte(s, &low))
				return false;
			token->id = foretold +
				    8 * (uint64_t)unzigzag(
						FRAME_ID_MORE +
						((uint64_t)(high - FRAME_ID_MORE) << 8 | low));
		}
		if (id_size == 4)
			token->id = (uint32_t)token->id;
		put_head(u->out + token->offset, shape, token, id_size);
		if (before)
			frame_learn(before, last, token->id);
		last = token->id;
		before = shape;
		foretold = frame_foretell(shape, token->id, token->length,
					  shape->tag == HPROF_OBJECT_ARRAY_DUMP ?
						  u->element_bytes :
						  element_size(u, shape));
	}
	return true;
}

/* ---- columns ---- */

/* n bytes, or the one that all of them are. */
struct plane {
	const uint8_t *bytes; /* NULL: all are `same` */
	uint8_t same;
};

/* Takes the plane that is described by `how`. */
static bool take_plane_as(struct hprof_unpacker *u, uint8_t how, uint32_t n, struct plane *out)
{
	*out = (struct plane){ 0 };
	if (how == FRAME_SAME)
		return take_byte(&u->streams[FRAME_COLUMNS], &out->same);
	if (how == FRAME_AS_FEW)
		out->bytes = take(&u->streams[FRAME_FEW], n);
	else if (how < FRAME_AS_FEW)
		out->bytes = take(&u->streams[FRAME_PLANES + how - 1], n);
	return out->bytes;
}

static bool take_plane(struct hprof_unpacker *u, uint32_t n, struct plane *out)
{
	uint8_t how = FRAME_AS_FEW;

	return (n <= FRAME_FEW_MAX || take_byte(&u->streams[FRAME_COLUMNS], &how)) &&
	       take_plane_as(u, how, n, out);
}

/* Puts the codes of n references together. */
static bool take_codes(struct hprof_unpacker *u, uint32_t n)
{
	struct plane planes[4];
	uint32_t same = 0;

	for (unsigned k = 0; k < 4; k++) {
		if (!take_plane(u, n, &planes[k]))
			return false;
		same |= (uint32_t)planes[k].same << 8 * k;
	}
	for (uint32_t i = 0; i < n; i++)
		u->codes[i] = same;
	for (unsigned k = 0; k < 4; k++) {
		const uint8_t *bytes = planes[k].bytes;

		for (uint32_t i = 0; bytes && i < n; i++)
			u->codes[i] |= (uint32_t)bytes[i] << 8 * k;
	}
	return true;
}

/* What references are coded against. */
struct base {
	uint64_t last;
	bool is_by_last;
};

static bool begin_references(struct hprof_unpacker *u, uint8_t how, uint32_t n, uint64_t first,
			     struct base *base)
{
	base->last = first;
	base->is_by_last = how == FRAME_BY_LAST;
	return (how == FRAME_BY_OWN || how == FRAME_BY_LAST) && take_codes(u, n);
}

/*
 * The reference that a code stands for. Inlined into the innermost loops: what a struct would carry
 * stays in registers, and id_size is a constant.
 */
/* NOLINTNEXTLINE(readability-function-size) */
static inline bool decode(struct hprof_unpacker *u, struct base *base, uint32_t code, uint64_t own,
			  uint64_t *value, const unsigned id_size)
{
	*value = 0;
	if (!code)
		return true;
	if (code == FRAME_WRITTEN_OUT) {
		if (!take_id(&u->streams[FRAME_IDS], id_size, value))
			return false;
	} else {
		*value = (base->is_by_last ? base->last : own) + 8 * (uint64_t)unzigzag(code - 1);
		if (id_size == 4)
			*value = (uint32_t)*value;
	}
	if (*value)
		base->last = *value;
	return true;
}

/* A column of references of instances. */
static inline bool take_references(struct hprof_unpacker *u, const struct frame_shape *shape,
				   uint32_t skipped, uint8_t how, const unsigned id_size)
{
	const uint32_t *order = u->order + shape->first;
	struct base base;

	if (!begin_references(u, how, shape->count, u->tokens[order[0]].id, &base))
		return false;
	for (uint32_t i = 0; i < shape->count; i++) {
		const struct frame_token *token = &u->tokens[order[i]];
		uint64_t value;

		if (!decode(u, &base, u->codes[i], token->id, &value, id_size))
			return false;
		put_id(u->out + token->offset + skipped, value, id_size);
	}
	return true;
}

static inline bool take_instances(struct hprof_unpacker *u, const struct frame_shape *shape,
				  const unsigned id_size)
{
	const uint32_t head = frame_head_bytes(shape->tag, id_size);
	const uint32_t *order = u->order + shape->first;

	for (uint32_t at = 0; at < shape->body_bytes;) {
		struct plane plane;
		uint8_t how;

		if (!take_byte(&u->streams[FRAME_COLUMNS], &how))
			return false;
		if (how > FRAME_AS_FEW) {
			if (shape->body_bytes - at < id_size ||
			    !take_references(u, shape, head + at, how, id_size))
				return false;
			at += id_size;
			continue;
		}
		if (!take_plane_as(u, how, shape->count, &plane))
			return false;
		for (uint32_t i = 0; i < shape->count; i++)
			u->out[u->tokens[order[i]].offset + head + at] =
				plane.bytes ? plane.bytes[i] : plane.same;
		at++;
	}
	return true;
}

/* Elements of all arrays of a shape. */
static uint32_t count_elements(const struct hprof_unpacker *u, const struct frame_shape *shape)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < shape->count; i++)
		n += u->tokens[u->order[shape->first + i]].length;
	return n;
}

static inline bool take_object_arrays(struct hprof_unpacker *u, const struct frame_shape *shape,
				      const unsigned id_size)
{
	const uint32_t head = frame_head_bytes(shape->tag, id_size);
	const uint32_t *order = u->order + shape->first;
	const uint32_t n = count_elements(u, shape);
	const uint32_t *code = u->codes;
	struct base base;
	uint64_t first = 0;
	uint8_t how;

	if (!n)
		return true;
	for (uint32_t i = 0; !first && i < shape->count; i++)
		if (u->tokens[order[i]].length)
			first = u->tokens[order[i]].id;
	if (!take_byte(&u->streams[FRAME_COLUMNS], &how) ||
	    !begin_references(u, how, n, first, &base))
		return false;
	for (uint32_t i = 0; i < shape->count; i++) {
		const struct frame_token *token = &u->tokens[order[i]];
		uint8_t *out = u->out + token->offset + head;

		for (uint32_t k = 0; k < token->length; k++, out += id_size) {
			uint64_t value;

			if (!decode(u, &base, *code++, token->id, &value, id_size))
				return false;
			put_id(out, value, id_size);
		}
	}
	return true;
}

/* Bytes number k of the elements, `width` bytes each, of all arrays of a shape. */
static bool take_elements(struct hprof_unpacker *u, const struct frame_shape *shape,
			  const unsigned width, unsigned k, const struct plane *plane)
{
	const uint32_t head = frame_head_bytes(shape->tag, u->id_size);
	uint32_t n = 0;

	for (uint32_t i = 0; i < shape->count; i++) {
		const struct frame_token *token = &u->tokens[u->order[shape->first + i]];
		uint8_t *out = u->out + token->offset + head + k;

		for (uint32_t j = 0; j < token->length; j++, n++)
			out[j * width] = plane->bytes ? plane->bytes[n] : plane->same;
	}
	return true;
}

static bool take_primitive_arrays(struct hprof_unpacker *u, const struct frame_shape *shape)
{
	const uint32_t head = frame_head_bytes(shape->tag, u->id_size);
	const unsigned width = element_size(u, shape);
	const uint32_t n = count_elements(u, shape);

	for (uint32_t i = 0; width == 1 && i < shape->count; i++) {
		const struct frame_token *token = &u->tokens[u->order[shape->first + i]];
		const uint8_t *bytes = take(&u->streams[FRAME_TEXT], token->length);

		if (!bytes)
			return false;
		memcpy(u->out + token->offset + head, bytes, token->length);
	}
	for (unsigned k = 0; width > 1 && n && k < width; k++) {
		struct plane plane;

		if (!take_plane(u, n, &plane))
			return false;
		if (width == 2)
			(void)take_elements(u, shape, 2, k, &plane);
		else if (width == 4)
			(void)take_elements(u, shape, 4, k, &plane);
		else
			(void)take_elements(u, shape, 8, k, &plane);
	}
	return true;
}

static inline bool take_bodies(struct hprof_unpacker *u, const unsigned id_size)
{
	for (uint32_t i = 0; i < u->shape_count; i++) {
		const struct frame_shape *shape = &u->shapes[i];
		bool is_good;

		if (shape->tag == HPROF_INSTANCE_DUMP)
			is_good = take_instances(u, shape, id_size);
		else if (shape->tag == HPROF_OBJECT_ARRAY_DUMP)
			is_good = take_object_arrays(u, shape, id_size);
		else
			is_good = take_primitive_arrays(u, shape);
		if (!is_good)
			return false;
	}
	return true;
}

/* References that no object of the stretch has; all are of 8 bytes. */
static bool take_runs(struct hprof_unpacker *u)
{
	const uint32_t *code = u->codes;
	struct base base;
	uint32_t n = 0;
	uint8_t how;

	for (uint32_t i = 0; i < u->run_count; i++)
		n += u->runs[i].count;
	if (!n)
		return true;
	if (!take_byte(&u->streams[FRAME_COLUMNS], &how) || !begin_references(u, how, n, 0, &base))
		return false;
	for (uint32_t i = 0; i < u->run_count; i++) {
		uint8_t *out = u->out + u->runs[i].offset;

		for (uint32_t k = 0; k < u->runs[i].count; k++, out += 8) {
			uint64_t value;

			if (!decode(u, &base, *code++, 0, &value, 8))
				return false;
			put_be64(out, value);
		}
	}
	return true;
}

/* ---- all of it ---- */

static bool put_together(struct hprof_unpacker *u, unsigned how, struct stream in)
{
	u->id_size = how & 15;
	u->element_bytes = how >> 4;
	u->shape_count = u->token_count = u->run_count = 0;
	if ((u->id_size != 4 && u->id_size != 8) ||
	    (u->element_bytes != 4 && u->element_bytes != 8) || !open_streams(u, in) ||
	    !take_tokens(u))
		return false;
	assert(u->token_count <= FRAME_TOKENS_MAX);
	frame_order_tokens(u->shapes, u->shape_count, u->tokens, u->token_count, u->order);
	if (u->id_size == 8)
		return take_ids(u, 8) && take_bodies(u, 8) && take_runs(u);
	return take_ids(u, 4) && take_bodies(u, 4) && take_runs(u);
}

static int unpack_frame(void *unpacker, const struct base_frame *frame, uint8_t *out,
			struct hdb_error *err)
{
	struct hprof_unpacker *u = unpacker;
	const uint8_t *packed = frame->packed;
	const uint64_t size = frame->packed_size;
	bool is_good;

	u->out = out;
	u->size = (uint32_t)frame->size;
	if (size && packed[0] == FRAME_PLAIN)
		is_good = ZSTD_decompressDCtx(u->context, out, frame->size, packed, size) ==
			  frame->size;
	else
		is_good = size &&
			  put_together(u, packed[0], (struct stream){ packed + 1, packed + size });
	return is_good ? HDB_OK : hdb_fail(err, HDB_ECORRUPT, "they are no packed part of a dump");
}

static void free_unpacker(void *unpacker)
{
	struct hprof_unpacker *u = unpacker;

	free(u->bytes);
	(void)ZSTD_freeDCtx(u->context);
	free(u);
}

static int new_unpacker(void **out, struct hdb_error *err)
{
	struct hprof_unpacker *u;

	TRY(BASE_ALLOC(u, 1, "a decompressor", err));
	u->context = ZSTD_createDCtx();
	u->bytes = malloc(FRAME_STREAMS_MAX);
	if (!u->context || !u->bytes) {
		free_unpacker(u);
		return hdb_fail_memory(err, "a decompressor", sizeof(*u) + FRAME_STREAMS_MAX);
	}
	*out = u;
	return HDB_OK;
}

const struct base_codec hprof_codec = {
	.new_packer = hprof_packer_new,
	.free_packer = hprof_packer_free,
	.packed_max = hprof_packed_max,
	.pack = hprof_frame_pack,
	.new_unpacker = new_unpacker,
	.free_unpacker = free_unpacker,
	.unpack = unpack_frame,
};
