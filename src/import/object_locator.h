/*
 * import/object_locator.h - where each object is in the dump, without a table of offsets if that
 * can be.
 *
 * VMs write objects in the order of their addresses, region by region. A stretch of the file in
 * which IDs rise is a piece; a block of objects reads the few pieces that its IDs lie in, and
 * meets its objects in order. Only a dump whose order is no order gets a table of offsets.
 */
#ifndef IMPORT_OBJECT_LOCATOR_H
#define IMPORT_OBJECT_LOCATOR_H

#include "base/vec.h"
#include "base/work.h"
#include "hprof/quick.h"
#include "import/idset.h"

/* Objects in a piece, at most. A block may have to skip twice as many for each of its pieces. */
#define IMPORT_PIECE_OBJECTS 512u
/* A jump of the IDs by this much begins a new piece: it must not span what lies between. */
#define IMPORT_GAP_BYTES (1u << 20)
/* A stretch that one thread looks through at a time. */
#define IMPORT_EXTENT_BYTES (1u << 20)

/* Instances and arrays, back to back in the file, IDs rising. */
struct import_piece {
	uint64_t first_id, last_id;
	uint64_t offset, end; /* in the file */
	uint32_t count;
};

/* Instances and arrays, and now and then other sub-records, back to back in the file. */
struct import_extent {
	uint64_t offset, end;
};

struct import_locator {
	struct base_vec pieces;  /* struct import_piece in order of the file; empty: disordered */
	struct base_vec extents; /* struct import_extent in order of the file */
	uint64_t object_count;
	bool is_disordered;
	/* ordered: the pieces of each block of objects, after import_locator_finish */
	uint32_t *first;   /* by block, and one more: in numbers */
	uint32_t *numbers; /* of pieces */
	/* disordered: by index */
	struct base_big low;  /* uint32_t, the low half of the offset */
	struct base_big high; /* uint8_t, or uint32_t in files over 1 TiB; none up to 4 GiB */
	unsigned high_bytes;
	/* set by the caller before import_locator_finish */
	const struct hprof_file *file; /* lent */
	uint32_t block_objects;        /* indices of a block */
};

/* Whether an object with this ID may follow one with last_id in a piece: above, but not far. */
static inline bool import_piece_follows(uint64_t last_id, uint64_t id)
{
	return id - last_id - 1 < IMPORT_GAP_BYTES - 1;
}

/* Whether an object with this ID goes on the piece. */
static inline bool import_piece_continues(const struct import_piece *piece, uint64_t id)
{
	return import_piece_follows(piece->last_id, id) && piece->count < IMPORT_PIECE_OBJECTS;
}

/* Adds one instance or array; in order of the file. */
int import_locator_add(struct import_locator *locator, const struct hprof_sub *sub,
		       struct hdb_error *err);

/* Tells of another sub-record, which does not part the objects before it from those behind it. */
void import_locator_pass(struct import_locator *locator, const struct hprof_sub *sub);

/* Instances and arrays of an extent, cut into pieces. */
int import_locator_add_run(struct import_locator *locator, struct import_extent extent,
			   const struct import_piece *pieces, size_t count, struct hdb_error *err);

/*
 * Prepares look-ups once the set is numbered; `file` and `block_objects` must have been set. Where
 * the order is none this looks through the whole dump, on all threads.
 */
int import_locator_finish(struct import_locator *locator, const struct idset *ids,
			  struct base_work *work, struct hdb_error *err);

/* Objects of a block that are looked for. */
struct import_wanted {
	struct base_view *view;
	const uint64_t *ids; /* ascending */
	uint32_t count;
	uint64_t *offsets; /* result, one an ID: 0, or an offset that is known and stays */
};

/*
 * Finds objects of one block, which have the indices first_ix + i. Those that are no instance and
 * no array keep the offset that is there. Any thread; the view is the caller's.
 * object_locator_read.h has the same for those who want to read the objects too.
 */
int import_locator_block(const struct import_locator *locator, uint64_t first_ix,
			 const struct import_wanted *wanted, struct hdb_error *err);

void import_locator_release(struct import_locator *locator);

#endif
