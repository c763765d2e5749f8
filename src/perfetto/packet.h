/*
 * perfetto/packet.h - packets of Perfetto traces, as all who read traces need them.
 */
#ifndef PERFETTO_PACKET_H
#define PERFETTO_PACKET_H

#include "perfetto/proto.h"

/* Fields of Trace, TracePacket, ClockSnapshot and its clocks. */
enum { TRACE_PACKET = 1 };
enum {
	PACKET_PROCESSES = 2,
	PACKET_CLOCKS = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13, /* bit 0: interned data starts anew */
	PACKET_HEAP_PROFILE = 37,
	PACKET_CLEARED = 41, /* the same as the flag, before Android 11 */
	PACKET_COMPRESSED = 50,
	PACKET_HEAP_GRAPH = 56,
	PACKET_SYMBOLS = 61,
	PACKET_CLEAR_NAMES = 64,
	PACKET_COMPRESSED_ZSTD = 133
};
enum { CLOCKS_CLOCK = 1, CLOCKS_ID = 1, CLOCKS_TIMESTAMP = 2 };
/* Clocks: since 1970, and since the device was started. */
enum { CLOCKS_REALTIME = 1, CLOCKS_MONOTONIC_COARSE = 4, CLOCKS_BOOT = 6 };

/* Packets that are looked at to tell whether a file is a trace. */
#define PACKETS_TELL 16

/* Whether all of a message can be read. */
static inline bool proto_is_message(struct proto message)
{
	struct proto_field field;

	while (proto_next(&message, &field))
		continue;
	return !message.is_bad;
}

/* Whether the file begins as a trace does: with packets, whole messages. */
static inline bool proto_is_trace(struct proto trace)
{
	struct proto_field field;
	unsigned count = 0;

	while (count < PACKETS_TELL && proto_next(&trace, &field)) {
		if (field.no != TRACE_PACKET || field.wire != PROTO_BYTES ||
		    !proto_is_message(field.bytes))
			return false;
		count++;
	}
	/* A trace may be cut, but not in its first packet. */
	return count > 0;
}

/* From the clock `id` to time since 1970, by a snapshot of clocks; 0: it does not have both. */
static inline int64_t proto_clock_offset(struct proto clocks, uint64_t id)
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

#endif
