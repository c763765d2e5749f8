/*
 * graph/piles.h - records thrown on piles, each read back in the order in which they came.
 *
 * For tables that are filled at random and do not fit: what goes to one part of the table goes on one pile, and each
 * pile is worked off in memory. A record is one or two numbers that are near those of the pile's record before, written
 * as differences, and up to two others, all as varints: 3 to 6 bytes. Piles are chains of chunks, which stay in memory
 * while the budget lasts and go to a scratch file after that, in whole chunks. What it holds is trusted: it was written
 * by the process that reads it.
 */
#ifndef GRAPH_PILES_H
#define GRAPH_PILES_H

#include "base/bytes.h"
#include "base/spill.h"
#include "base/vec.h"

/* Numbers of a record. */
#define GRAPH_PILE_FIELDS 4u

/* Bytes of a chunk: at least what a disk reads at once; more make reading faster. */
#define GRAPH_CHUNK_MIN 4096u
#define GRAPH_CHUNK_MAX 65536u

struct graph_pile {
	uint8_t *chunk;      /* being filled */
	uint32_t used;       /* bytes of it; past every limit if there is none */
	uint32_t slot;       /* of it */
	uint32_t first, last; /* full chunks: slots, GRAPH_NO_SLOT */
	uint64_t before[2];  /* of the record added last */
	uint64_t count;      /* records */
};

#define GRAPH_NO_SLOT UINT32_MAX

/* Where a chunk is. */
struct graph_pile_slot {
	uint8_t *data;       /* NULL: in the file */
	uint64_t place;      /* in the file: its number there; else its slab */
	uint32_t used;       /* bytes */
	uint32_t next;       /* slot of the chunk after it, or of the next free one */
};

struct graph_pile_slab {
	struct base_big big;
	uint32_t live;       /* chunks that are in use */
};

struct graph_piles {
	struct base_work *work;
	const char *what;
	struct graph_pile *pile;
	uint32_t pile_count;
	uint32_t chunk_bytes;
	uint32_t full;       /* a chunk with more bytes than this has no room for a record */
	uint64_t kept_bytes; /* of the budget, for others */
	struct base_vec slots; /* struct graph_pile_slot */
	struct base_vec slabs; /* struct graph_pile_slab */
	bool has_small_slabs;
	uint32_t free_slot;  /* in memory */
	uint32_t free_place; /* in the file */
	uint64_t place_count; /* in the file */
	struct base_spill spill;
};

/*
 * `pile_count` empty piles; `work` and `what` are lent. Chunks are at most so large that one a pile takes
 * `chunks_bytes`; `kept_bytes` of the budget are left to others. Zero-initialise; release it in any case.
 */
int graph_piles_init(struct graph_piles *piles, uint32_t pile_count, uint64_t chunks_bytes,
		     uint64_t kept_bytes, struct base_work *work, const char *what,
		     struct hdb_error *err);
void graph_piles_release(struct graph_piles *piles);

/* Gives a pile a chunk with room. For graph_piles_add. */
int graph_piles_turn(struct graph_piles *piles, struct graph_pile *pile, struct hdb_error *err);

/* Puts a record on a pile: `deltas` (at most 2) numbers near those of the record before, then `plains` others. */
static inline int graph_piles_add(struct graph_piles *piles, uint32_t pile_no, unsigned deltas,
				  unsigned plains, const uint64_t *v, struct hdb_error *err)
{
	struct graph_pile *pile = &piles->pile[pile_no];
	uint8_t *at;

	if (__builtin_expect(pile->used > piles->full, 0)) {
		const int rc = graph_piles_turn(piles, pile, err);
		if (rc < 0)
			return rc;
	}
	at = pile->chunk + pile->used;
	for (unsigned i = 0; i < deltas; i++) {
		at = put_varint(at, zigzag((int64_t)(v[i] - pile->before[i])));
		pile->before[i] = v[i];
	}
	for (unsigned i = deltas; i < deltas + plains; i++)
		at = put_varint(at, v[i]);
	pile->used = (uint32_t)(at - pile->chunk);
	pile->count++;
	return HDB_OK;
}

/* Reads one pile from its first record on. Any thread may, while nothing is put on any. */
struct graph_pile_reader {
	const struct graph_piles *piles;
	const struct graph_pile *pile;
	const uint8_t *at, *end;
	uint8_t *buffer;     /* a chunk from the file */
	uint32_t next;       /* slot */
	uint32_t ahead;      /* slot from which on nothing was asked for yet */
	uint32_t ahead_count; /* chunks from next to ahead */
	bool is_at_last;     /* the chunk that is being filled is the one that is read */
	uint64_t before[2];
};

/* Lends the piles to the reader until graph_pile_end, which takes one that was never begun (zeros), too. */
int graph_pile_begin(const struct graph_piles *piles, uint32_t pile_no,
		     struct graph_pile_reader *reader, struct hdb_error *err);
void graph_pile_end(struct graph_pile_reader *reader);

/* The next chunk: HDB_OK or HDB_END. For graph_pile_next. */
int graph_pile_more(struct graph_pile_reader *reader, struct hdb_error *err);

/* A varint that is known to be whole. */
static inline const uint8_t *graph_pile_varint(const uint8_t *p, uint64_t *v)
{
	uint64_t r = *p++;
	unsigned shift = 7;

	if (r >= 0x80) {
		r &= 0x7f;
		for (; *p >= 0x80 && shift < 63; shift += 7)
			r |= (uint64_t)(*p++ & 0x7f) << shift;
		r |= (uint64_t)*p++ << shift;
	}
	*v = r;
	return p;
}

/* The next record into v, of as many numbers as it was put with: HDB_OK or HDB_END. */
static inline int graph_pile_next(struct graph_pile_reader *reader, unsigned deltas,
				  unsigned plains, uint64_t *v, struct hdb_error *err)
{
	const uint8_t *at;

	if (reader->at == reader->end) {
		const int rc = graph_pile_more(reader, err);
		if (rc != HDB_OK)
			return rc;
	}
	at = reader->at;
	for (unsigned i = 0; i < deltas; i++) {
		at = graph_pile_varint(at, &v[i]);
		v[i] = reader->before[i] + (uint64_t)unzigzag(v[i]);
		reader->before[i] = v[i];
	}
	for (unsigned i = deltas; i < deltas + plains; i++)
		at = graph_pile_varint(at, &v[i]);
	reader->at = at;
	return HDB_OK;
}

/* Says that a pile will be read soon. */
void graph_pile_soon(const struct graph_piles *piles, uint32_t pile_no);

/* Empties a pile that was read; its memory is used again. */
void graph_pile_drop(struct graph_piles *piles, uint32_t pile_no);

#endif
