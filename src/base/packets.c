/*
 * base/packets.c - opens a trace in memory. Compressed parts (the whole file or packets, with
 * deflate or zstd) are inflated, within limits.
 */
#include "base/packets.h"

#include "base/scope.h"

#include <zlib.h>
#include <zstd.h>

/*
 * Limits for inflating: the size of one TracePacket in bytes, and for a file a number of MiB plus a
 * multiple of its size. Perfetto compresses about 512 KB at a time, and real heap graphs shrink to
 * a fifth.
 */
#define PACKET_MAX (64u << 20)
#define GROWTH_MIB 64u
#define GROWTH_MAX 64u
/* Number of bytes inflated at a time. */
#define STEP 65536u
/* First bytes of gzip and zstd files. No uncompressed trace starts with them. */
enum { GZIP = 0x1f, ZSTD = 0x28 };

/* Number of packets examined to decide whether a file is a trace. */
#define LOOK_PACKETS 16

bool packets_is_message(struct proto message)
{
	struct proto_field field;

	while (proto_next(&message, &field))
		continue;
	return !message.is_bad;
}

/* Returns whether the file starts like a trace, with packets that are complete messages. */
static bool is_trace(struct proto trace)
{
	struct proto_field field;
	unsigned count = 0;

	while (count < LOOK_PACKETS && proto_next(&trace, &field)) {
		if (field.no != TRACE_PACKET || field.wire != PROTO_BYTES ||
		    !packets_is_message(field.bytes))
			return false;
		count++;
	}
	/* A trace may be truncated, but not in its first packet. */
	return count > 0;
}

int64_t packets_clock_offset(struct proto clocks, uint64_t id)
{
	struct proto_field clock;
	uint64_t realtime = 0, other = 0;

	while (proto_next(&clocks, &clock)) {
		const uint64_t clock_id = proto_last(clock.bytes, CLOCKS_ID).value;
		const uint64_t timestamp = proto_last(clock.bytes, CLOCKS_TIMESTAMP).value;

		if (clock.no != CLOCKS_CLOCK)
			continue;
		realtime = clock_id == CLOCKS_REALTIME ? timestamp : realtime;
		other = clock_id == id ? timestamp : other;
	}
	return realtime && other ? (int64_t)(realtime - other) : 0;
}

/* Packets being inflated. */
struct unpacked {
	struct base_vec *bytes;
	size_t most;
	int result;
};

/*
 * Makes room for more bytes. Returns NULL if memory or the limit is exhausted, or if the bytes so
 * far do not start with a packet.
 */
static uint8_t *room(struct unpacked *to, size_t more)
{
	const uint8_t *data = to->bytes->data;
	const size_t size = to->bytes->count;

	if (to->result == HDB_OK && size && data[0] != (TRACE_PACKET << 3 | PROTO_BYTES))
		to->result = HDB_NOTFOUND;
	else if (to->result == HDB_OK)
		to->result =
			size > to->most ? HDB_ELIMIT : base_vec_reserve(to->bytes, more, 1, NULL);
	return to->result == HDB_OK ? (uint8_t *)to->bytes->data + size : NULL;
}

/* Inflates zlib or gzip data, which may consist of several members. */
static void unpack_deflate(struct unpacked *to, struct proto from)
{
	z_stream z = { .next_in = (z_const Bytef *)from.at };
	int r = inflateInit2(&z, MAX_WBITS + 32);

	while (r == Z_OK && (z.next_out = room(to, STEP))) {
		const size_t left = (size_t)(from.end - z.next_in);

		z.avail_in = left < UINT32_MAX ? (uInt)left : UINT32_MAX;
		z.avail_out = STEP;
		r = inflate(&z, Z_NO_FLUSH);
		to->bytes->count += STEP - z.avail_out;
		if (r == Z_STREAM_END && z.next_in < from.end)
			r = inflateReset(&z);
	}
	(void)inflateEnd(&z);
	if (r != Z_STREAM_END && to->result == HDB_OK)
		to->result = r == Z_MEM_ERROR ? HDB_ENOMEM : HDB_EFORMAT;
}

/* Inflates zstd frames. */
static void unpack_zstd(struct unpacked *to, struct proto from)
{
	ZSTD_DStream *z = ZSTD_createDStream();
	ZSTD_inBuffer in = { from.at, proto_size(&from), 0 };
	ZSTD_outBuffer out = { .size = STEP };
	size_t left = 1, came = 1;

	while (z && came && (left || in.pos < in.size) && (out.dst = room(to, STEP))) {
		const size_t at = in.pos;

		out.pos = 0;
		left = ZSTD_decompressStream(z, &out, &in);
		came = ZSTD_isError(left) ? 0 : out.pos + in.pos - at;
		to->bytes->count += out.pos;
	}
	(void)ZSTD_freeDStream(z);
	if (to->result == HDB_OK && (left || !came))
		to->result = z ? HDB_EFORMAT : HDB_ENOMEM;
}

static void unpack(struct unpacked *to, struct proto from)
{
	if (proto_size(&from) && *from.at == ZSTD)
		unpack_zstd(to, from);
	else
		unpack_deflate(to, from);
}

static void add(struct unpacked *to, const uint8_t *at, const uint8_t *end)
{
	if (at != end && room(to, (size_t)(end - at)))
		to->result = base_bytes_append(to->bytes, at, (size_t)(end - at), NULL);
}

/* Copies a trace and inflates any compressed packets. */
static int expand(struct base_vec *copy, struct proto trace, size_t most)
{
	struct unpacked to = { .bytes = copy };
	const uint8_t *at = trace.at; /* start of the part that has not been copied yet */
	struct proto_field packet, part;

	for (const uint8_t *tag = at; proto_next(&trace, &packet); tag = trace.at) {
		struct proto all = packet.bytes, packed = { 0 };

		while (packet.no == TRACE_PACKET && proto_next(&all, &part))
			if (part.no == PACKET_COMPRESSED || part.no == PACKET_COMPRESSED_ZSTD)
				packed = part.bytes;
		if (!packed.at || to.result != HDB_OK)
			continue;
		add(&to, at, tag);
		at = trace.at;
		to.most = copy->count + PACKET_MAX < most ? copy->count + PACKET_MAX : most;
		unpack(&to, packed);
	}
	to.most = most;
	if (copy->data)
		add(&to, at, trace.at);
	return to.result == HDB_NOTFOUND ? HDB_EFORMAT : to.result;
}

static struct proto all_of(const struct base_vec *bytes)
{
	const uint8_t *data = bytes->data;

	return (struct proto){ data, data + bytes->count, false };
}

int packets_open(struct proto *trace, struct base_vec *copy)
{
	const size_t most = (GROWTH_MIB << 20) + proto_size(trace) * GROWTH_MAX;
	BASE_SCOPED(base_vec_release) struct base_vec packets = { 0 };
	struct unpacked whole = { .bytes = copy, .most = most };
	int r;

	if (proto_size(trace) && (*trace->at == GZIP || *trace->at == ZSTD)) {
		unpack(&whole, *trace);
		*trace = all_of(copy);
	}
	/*
	 * if the file is not a trace, ignore the error, because other readers may accept the file
	 */
	if (!is_trace(*trace))
		return HDB_NOTFOUND;
	TRY(whole.result);
	r = expand(&packets, *trace, most);
	if (packets.data) {
		base_vec_release(copy);
		*copy = packets;
		packets = (struct base_vec){ 0 };
		*trace = all_of(copy);
	}
	return r;
}

const char *packets_problem(int result)
{
	return result == HDB_ENOMEM ?
		       "cannot allocate memory for compressed packets" :
	       result == HDB_ELIMIT ?
		       "a packet expands to more than 64 MiB, or all packets to more than 64 MiB "
		       "plus 64 times the file size: the file is damaged or malicious" :
		       "compressed packets are damaged or truncated";
}
