/* base/proto.h - reads Protocol Buffers messages field by field, without a schema. */
#ifndef BASE_PROTO_H
#define BASE_PROTO_H

#include "base/sort.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The unread rest of a message; borrowed. */
struct proto {
	const uint8_t *at, *end;
	bool is_bad; /* whether the message ended in the middle of a field */
};

enum proto_wire { PROTO_VARINT = 0, PROTO_64 = 1, PROTO_BYTES = 2, PROTO_32 = 5 };

/* A field of a message. */
struct proto_field {
	uint32_t no;
	enum proto_wire wire;
	uint64_t value;     /* value of a field that is a number */
	struct proto bytes; /* contents of a field that is a string, packed numbers or a message */
};

static inline bool proto_varint(struct proto *p, uint64_t *out)
{
	*out = 0;
	for (unsigned shift = 0; p->at < p->end && shift < 64; shift += 7) {
		const uint8_t byte = *p->at++;

		*out |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	p->is_bad = true;
	return false;
}

/* Reads the next field. Returns false at the end, or if the bytes are not a message; see is_bad. */
static inline bool proto_next(struct proto *p, struct proto_field *out)
{
	uint64_t tag, size = 0;

	if (p->at == p->end || !proto_varint(p, &tag))
		return false;
	*out = (struct proto_field){ .no = (uint32_t)(tag >> 3),
				     .wire = (enum proto_wire)(tag & 7) };
	switch (out->wire) {
	case PROTO_VARINT:
		return proto_varint(p, &out->value);
	case PROTO_64:
	case PROTO_32:
		size = out->wire == PROTO_64 ? 8 : 4;
		break;
	case PROTO_BYTES:
		if (!proto_varint(p, &size))
			return false;
		break;
	default:
		p->is_bad = true;
		return false;
	}
	if (!out->no || size > (uint64_t)(p->end - p->at)) {
		p->is_bad = true;
		return false;
	}
	out->bytes = (struct proto){ .at = p->at, .end = p->at + size };
	p->at += size;
	return true;
}

/* Returns the last field with this number, or zeros if the message has none. */
static inline struct proto_field proto_last(struct proto message, uint32_t no)
{
	struct proto_field field, last = { 0 };

	while (proto_next(&message, &field))
		last = field.no == no ? field : last;
	return last;
}

static inline size_t proto_size(const struct proto *p)
{
	return (size_t)(p->end - p->at);
}

/* Compares the unread bytes of two messages. */
static inline int proto_compare(const struct proto *a, const struct proto *b)
{
	return base_compare_text((const char *)a->at, proto_size(a), (const char *)b->at,
				 proto_size(b));
}

#endif
