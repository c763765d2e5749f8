/* base/packets.h - reads Perfetto traces as sequences of uncompressed packets. */
#ifndef BASE_PACKETS_H
#define BASE_PACKETS_H

#include "base/proto.h"
#include "base/vec.h"

/* Field numbers of Trace, TracePacket, ClockSnapshot and its clocks. */
enum { TRACE_PACKET = 1 };
enum {
	PACKET_PROCESSES = 2,
	PACKET_CLOCKS = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13, /* bit 0: the interned data starts from scratch */
	PACKET_HEAP_PROFILE = 37,
	PACKET_CLEARED = 41, /* same meaning as bit 0 above; written before Android 11 */
	PACKET_COMPRESSED = 50,
	PACKET_HEAP_GRAPH = 56,
	PACKET_SYMBOLS = 61,
	PACKET_CLEAR_NAMES = 64,
	PACKET_COMPRESSED_ZSTD = 133
};
enum { CLOCKS_CLOCK = 1, CLOCKS_ID = 1, CLOCKS_TIMESTAMP = 2 };
/*
 * Clock IDs: real time (since 1970), coarse monotonic time, and time since the device was started.
 */
enum { CLOCKS_REALTIME = 1, CLOCKS_MONOTONIC_COARSE = 4, CLOCKS_BOOT = 6 };

/* Returns whether `message` can be parsed to its end. */
bool packets_is_message(struct proto message);

/*
 * Converts *trace, the bytes of a file, to uncompressed packets. Returns HDB_NOTFOUND if the file
 * is not a trace. packets_problem returns the message for errors. *copy must be empty. The caller
 * must always release it after use, because it may own the packets.
 */
int packets_open(struct proto *trace, struct base_vec *copy);

/* Returns a static message. */
const char *packets_problem(int result);

/*
 * Returns the offset between the clock `id` and the time since 1970, taken from a snapshot of
 * clocks, or 0 if the snapshot does not contain both clocks.
 */
int64_t packets_clock_offset(struct proto clocks, uint64_t id);

#endif
