/*
 * base/packets.h - Perfetto traces as sequences of packets, none of which is compressed.
 */
#ifndef BASE_PACKETS_H
#define BASE_PACKETS_H

#include "base/proto.h"
#include "base/vec.h"

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

/* Whether all of a message can be read. */
bool packets_is_message(struct proto message);

/*
 * Makes of *trace, the bytes of a file, packets of which none is compressed. HDB_NOTFOUND if it is
 * no trace; of errors packets_problem is the message. Release *copy, empty before, in any case.
 */
int packets_open(struct proto *trace, struct base_vec *copy);

/* Static. */
const char *packets_problem(int result);

/* From the clock `id` to time since 1970, by a snapshot of clocks; 0: it does not have both. */
int64_t packets_clock_offset(struct proto clocks, uint64_t id);

#endif
