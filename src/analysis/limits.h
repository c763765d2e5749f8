/*
 * analysis/limits.h - how large the heap could have become, and whether it was at that limit when
 * the dump was made.
 */
#ifndef ANALYSIS_LIMITS_H
#define ANALYSIS_LIMITS_H

#include "analysis/session.h"

#define ANALYSIS_FRAME_MAX_BYTES 512

struct analysis_limit {
	uint64_t bytes;        /* what the VM lets the heap grow to; 0: not known */
	bool is_out_of_memory; /* a thread had just been given an OutOfMemoryError */
	uint32_t thread_ix;    /* that thread, or HEAP_NONE */
	/* where: its first frame of a class that is not the platform's, else the first; or "" */
	char frame[ANALYSIS_FRAME_MAX_BYTES];
};

/*
 * HotSpot keeps the limit in a static field of its class library: direct buffers may by default
 * take as much as the heap (jdk.internal.misc.VM, before JDK 9 sun.misc.VM); unless the property
 * that sets their limit says otherwise. A dump made on an OutOfMemoryError has the constructor of
 * that class on the stack of the thread that got it. Without the dump nothing is known, which is no
 * failure. Classes must be loaded.
 */
int analysis_limit_find(const struct session *session, struct analysis_limit *out,
			struct hdb_error *err);

/* Share of the limit that so many bytes are, in percent; 0 if the limit is not known. */
double analysis_limit_percent(const struct analysis_limit *limit, uint64_t bytes);

#endif
