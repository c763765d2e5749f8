/*
 * perfetto/inflated.h - opens a trace in memory: what is compressed in it, all of it or packets, by
 * deflate or zstd, is inflated, within limits.
 */
#ifndef PERFETTO_INFLATED_H
#define PERFETTO_INFLATED_H

#include "heapdb.h"
#include "perfetto/packet.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

/*
 * What may be inflated: of one TracePacket, and of a file so many times its bytes and MiB. Perfetto
 * compresses some 512 KB at a time; real heaps become a fifth.
 */
#define INFLATED_PACKET_MAX (64u << 20)
#define INFLATED_GROWTH_MIB 64u
#define INFLATED_GROWTH_MAX 64u
/* Bytes that are inflated at a time. */
#define INFLATED_STEP 65536u
/* First bytes of gzip and zstd, which no trace has. */
enum { INFLATED_GZIP = 0x1f, INFLATED_ZSTD = 0x28 };

/* Packets as they were before they were compressed. */
struct packed_copy {
	uint8_t *data; /* owned */
	size_t size, room, most;
	int result;
};

/* Room for more bytes; false if there is none, or what came so far does not begin with a packet. */
static inline bool packed_room(struct packed_copy *to, size_t more)
{
	const size_t need = to->size + more;
	uint8_t *data = to->data;

	if (to->result != HDB_OK)
		return false;
	if (to->size && data[0] != (TRACE_PACKET << 3 | PROTO_BYTES))
		to->result = HDB_NOTFOUND;
	else if (to->size > to->most)
		to->result = HDB_ELIMIT;
	else if (need > to->room && !(data = realloc(data, 2 * need)))
		to->result = HDB_ENOMEM;
	if (to->result != HDB_OK)
		return false;
	to->room = need > to->room ? 2 * need : to->room;
	to->data = data;
	return true;
}

/* The form of zlib or gzip, of which several members may follow one another. */
static inline void packed_inflate(struct packed_copy *to, struct proto from)
{
	z_stream z = { .next_in = (z_const Bytef *)from.at };
	int r = inflateInit2(&z, MAX_WBITS + 32);

	while (r == Z_OK && packed_room(to, INFLATED_STEP)) {
		const size_t left = (size_t)(from.end - z.next_in);

		z.avail_in = left < UINT32_MAX ? (uInt)left : UINT32_MAX;
		z.next_out = to->data + to->size;
		z.avail_out = INFLATED_STEP;
		r = inflate(&z, Z_NO_FLUSH);
		to->size += INFLATED_STEP - z.avail_out;
		if (r == Z_STREAM_END && z.next_in < from.end)
			r = inflateReset(&z);
	}
	(void)inflateEnd(&z);
	if (r != Z_STREAM_END && to->result == HDB_OK)
		to->result = r == Z_MEM_ERROR ? HDB_ENOMEM : HDB_EFORMAT;
}

/* Frames of zstd. */
static inline void packed_zstd(struct packed_copy *to, struct proto from)
{
	ZSTD_DStream *z = ZSTD_createDStream();
	ZSTD_inBuffer in = { from.at, proto_size(&from), 0 };
	size_t left = 1, came = 1;

	while (z && came && (left || in.pos < in.size) && packed_room(to, INFLATED_STEP)) {
		ZSTD_outBuffer out = { to->data + to->size, INFLATED_STEP, 0 };
		const size_t at = in.pos;

		left = ZSTD_decompressStream(z, &out, &in);
		came = ZSTD_isError(left) ? 0 : out.pos + in.pos - at;
		to->size += out.pos;
	}
	(void)ZSTD_freeDStream(z);
	if (to->result == HDB_OK && (left || !came))
		to->result = z ? HDB_EFORMAT : HDB_ENOMEM;
}

static inline void packed_unpack(struct packed_copy *to, struct proto from)
{
	if (proto_size(&from) && *from.at == INFLATED_ZSTD)
		packed_zstd(to, from);
	else
		packed_inflate(to, from);
}

static inline void packed_add(struct packed_copy *to, const uint8_t *at, const uint8_t *end)
{
	if (at == end || !packed_room(to, (size_t)(end - at)))
		return;
	memcpy(to->data + to->size, at, (size_t)(end - at));
	to->size += (size_t)(end - at);
}

/* Copies a trace if packets of it are compressed. */
static inline void packed_expand(struct packed_copy *to, struct proto trace, size_t most)
{
	const uint8_t *at = trace.at; /* of what is not in the copy yet */
	struct proto_field packet, part;

	for (const uint8_t *tag = at; proto_next(&trace, &packet); tag = trace.at) {
		struct proto all = packet.bytes, packed = { 0 };

		while (packet.no == TRACE_PACKET && proto_next(&all, &part))
			if (part.no == PACKET_COMPRESSED || part.no == PACKET_COMPRESSED_ZSTD)
				packed = part.bytes;
		if (!packed.at || to->result != HDB_OK)
			continue;
		packed_add(to, at, tag);
		at = trace.at;
		to->most = to->size + INFLATED_PACKET_MAX;
		to->most = to->most < most ? to->most : most;
		packed_unpack(to, packed);
	}
	to->most = most;
	if (to->data)
		packed_add(to, at, trace.at);
}

/*
 * Makes of *trace, the bytes of a file, packets of which none is compressed. HDB_NOTFOUND if it is
 * no trace; other codes: packed_problem. *copy is to be freed in any case.
 */
static inline int packed_open(struct proto *trace, uint8_t **copy)
{
	const size_t most = (INFLATED_GROWTH_MIB << 20) + proto_size(trace) * INFLATED_GROWTH_MAX;
	struct packed_copy whole = { .most = most }, packets = { 0 };

	if (proto_size(trace) && (*trace->at == INFLATED_GZIP || *trace->at == INFLATED_ZSTD)) {
		packed_unpack(&whole, *trace);
		*trace = (struct proto){ whole.data, whole.data + whole.size, false };
	}
	*copy = whole.data;
	if (!proto_is_trace(*trace)) /* whatever is wrong with it, others may read it */
		return HDB_NOTFOUND;
	if (whole.result != HDB_OK)
		return whole.result;
	packed_expand(&packets, *trace, most);
	if (packets.data) {
		free(whole.data);
		*copy = packets.data;
		*trace = (struct proto){ packets.data, packets.data + packets.size, false };
	}
	return packets.result == HDB_NOTFOUND ? HDB_EFORMAT : packets.result;
}

static inline const char *packed_problem(int result)
{
	return result == HDB_ENOMEM ?
		       "no memory for compressed packets" :
	       result == HDB_ELIMIT ?
		       "compressed packets grow to more than 64 MiB each, or 64 times "
		       "the file: damaged, or made to fill memory" :
		       "compressed packets are damaged or cut short";
}

#endif
