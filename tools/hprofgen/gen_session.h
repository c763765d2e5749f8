/*
 * gen_session.h - a session of the service shape: it and all that is its own, in a slice of the
 * heap of a fixed size.
 */
#ifndef HPROFGEN_GEN_SESSION_H
#define HPROFGEN_GEN_SESSION_H

#include "gen_shapes.h"

#define GEN_SESSION_BYTES 4096u /* a slice */
#define GEN_MAPS 16u
#define GEN_NAMES 1024u /* shared strings */

struct service {
	struct gen_batch *batch; /* of one slice; owned */
	uint64_t sessions;
	uint64_t first;            /* address of slice 0 */
	uint64_t tables[GEN_MAPS]; /* addresses of the maps' tables */
	uint64_t table_length;
	uint64_t names[GEN_NAMES];
	uint64_t queue;
	uint64_t random; /* state of the slice that is being planned */
};

/* Address of a session's object. */
uint64_t gen_session_id(const struct gen_run *run, uint64_t session);

/* Plans a session, with its entry, into the empty batch at the world's next address. */
void gen_plan_session(struct gen_run *run, uint64_t number);

#endif
