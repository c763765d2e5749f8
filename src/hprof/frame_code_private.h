/*
 * hprof/frame_code_private.h - what frame_pack.c and frame_unpack.c share: the streams of a packed
 * stretch, and how identifiers are foretold and references written.
 */
#ifndef HPROF_FRAME_CODE_PRIVATE_H
#define HPROF_FRAME_CODE_PRIVATE_H

#include "base/bytes.h"
#include "hprof/frame_code.h"
#include "hprof/reader.h"

/* What the streams hold; stored: never renumber. */
enum frame_stream {
	FRAME_OPS,      /* a byte a token: low byte of its shape's number + 1; 0: a run */
	FRAME_OPS_MORE, /* their high bytes, if there are more than 254 shapes */
	FRAME_HEADS,    /* shapes; lengths of runs and of arrays; varints */
	FRAME_COLUMNS,  /* how columns are written */
	FRAME_IDS,      /* identifiers, as differences from what was foretold */
	FRAME_LITERALS,
	FRAME_TEXT,   /* elements of byte and boolean arrays */
	FRAME_FEW,    /* columns of shapes that are rare here */
	FRAME_PLANES, /* columns, from the most even on */
	FRAME_STREAMS = FRAME_PLANES + 4
};

/* Shapes of a stretch: what has another one is kept as it is. */
#define FRAME_SHAPES_MAX 4095u
/* A sub-record of an object has at least so many bytes: a primitive array with 4-byte ids. */
#define FRAME_TOKEN_MIN 14u
#define FRAME_TOKENS_MAX (BASE_FRAME_BYTES / FRAME_TOKEN_MIN + 1)
/*
 * Bytes that all streams of a stretch have together, at most. References may need 8 bytes for 4,
 * heads 24 for 14, columns 2 for 1; a stretch that came to more would be kept as it is.
 */
#define FRAME_STREAMS_MAX (4u * BASE_FRAME_BYTES)
/* Values that the references of a stretch are, at most. */
#define FRAME_VALUES_MAX (BASE_FRAME_BYTES / 4)
/* The first byte of a stretch that is kept as it is: that of a zstd frame. */
#define FRAME_PLAIN 0x28u
/* Columns of no more values than this have no description and are in FRAME_FEW. */
#define FRAME_FEW_MAX 2u
/* How a column of bytes is written: one value, or the number of a stream of planes + 1. */
#define FRAME_SAME 0u
/* The bytes of a column of a shape that is rare. */
#define FRAME_AS_FEW 5u
/* How a reference is: against its own object, against the last one of its column. */
#define FRAME_BY_OWN 6u
#define FRAME_BY_LAST 7u
/*
 * An identifier: zigzag of a difference in units of 8 bytes, up to this; from this on with another
 * byte; the last one: the identifier follows.
 */
#define FRAME_ID_MORE 0xf0u
#define FRAME_ID_WHOLE 0xffu
#define FRAME_ID_STEPS ((FRAME_ID_WHOLE - FRAME_ID_MORE) << 8)
/* The code of a reference that is written out. */
#define FRAME_WRITTEN_OUT UINT32_MAX

/* What sub-records have in common; in HEADS in order of first appearance. */
struct frame_shape {
	uint64_t class_id;
	uint32_t serial;     /* of the stack trace */
	uint32_t body_bytes; /* of an instance */
	uint8_t tag;
	uint8_t element_type; /* of a primitive array */
	uint32_t count;       /* tokens */
	uint32_t first;       /* the first of them in the list by shape */
	int64_t gap;          /* from an instance to the next object, as seen last */
};

/* A token that is an object. */
struct frame_token {
	uint32_t offset; /* in the stretch */
	uint32_t length; /* of an array: elements */
	uint64_t id;
	uint16_t shape;
};

/*
 * What no object has: literal bytes, or references to one another. In HEADS: bytes, or references,
 * times two, and one for references. They are coded last of all.
 */
struct frame_run {
	uint32_t offset;
	uint32_t count; /* references */
};
/* Runs of references have no fewer than this, so there are no more of them than tokens. */
#define FRAME_RUN_MIN 16u
#define FRAME_RUNS_MAX (BASE_FRAME_BYTES / 8 / FRAME_RUN_MIN + 1)

/* Bytes before the body of a sub-record. */
static inline uint32_t frame_head_bytes(uint8_t tag, unsigned id_size)
{
	return tag == HPROF_PRIMITIVE_ARRAY_DUMP ? 10 + id_size : 9 + 2 * id_size;
}

/*
 * Where the object behind this one should lie: instances take what the last one of their shape
 * took, arrays a head of 16 bytes and their elements, references in 4 bytes.
 */
static inline uint64_t frame_foretell(const struct frame_shape *shape, uint64_t id, uint32_t length,
				      unsigned element_bytes)
{
	if (shape->tag == HPROF_INSTANCE_DUMP)
		return id + (uint64_t)shape->gap;
	return id + (((uint64_t)length * element_bytes + 16 + 7) & ~(uint64_t)7);
}

/* Learns how far the next object lies from an instance. */
static inline void frame_learn(struct frame_shape *shape, uint64_t id, uint64_t next_id)
{
	const uint64_t gap = next_id - id;

	if (shape->tag == HPROF_INSTANCE_DUMP && gap < 1u << 16)
		shape->gap = (int64_t)gap;
}

/*
 * Lists tokens by shape: the numbers of a shape's `count` tokens are in `order` from its `first`
 * on, ascending.
 */
static inline void frame_order_tokens(struct frame_shape *shapes, uint32_t shape_count,
				      const struct frame_token *tokens, uint32_t token_count,
				      uint32_t *order)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < shape_count; i++) {
		shapes[i].first = first;
		first += shapes[i].count;
		shapes[i].count = 0;
	}
	for (uint32_t i = 0; i < token_count; i++) {
		struct frame_shape *shape = &shapes[tokens[i].shape];

		order[shape->first + shape->count++] = i;
	}
}

/* The packing half of hprof_codec; see struct base_codec. */
int hprof_packer_new(void **out, struct hdb_error *err);
void hprof_packer_free(void *packer);
size_t hprof_packed_max(void);
int hprof_frame_pack(void *packer, const uint8_t *data, size_t size, struct base_packed *out,
		     struct hdb_error *err);

#endif
