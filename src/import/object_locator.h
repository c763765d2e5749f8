/*
 * import/object_locator.h - finds objects in the dump, without a table of offsets if possible.
 *
 * VMs write objects in the order of their addresses, region by region. A part of the file in which
 * IDs increase is called a piece. To read the objects of a block, only the few pieces that contain
 * the IDs of the block are read. Only a dump that is out of order requires a table of offsets.
 */
#ifndef IMPORT_OBJECT_LOCATOR_H
#define IMPORT_OBJECT_LOCATOR_H

#include "base/vec.h"
#include "base/work.h"
#include "hprof/quick.h"
#include "import/idset.h"

/*
 * Maximum number of objects in a piece. A block may have to skip up to twice this number of objects
 * per piece.
 */
#define IMPORT_PIECE_OBJECTS 512u
/*
 * A gap between IDs of at least this size begins a new piece. Otherwise, a piece could span regions
 * that belong to other pieces.
 */
#define IMPORT_GAP_BYTES (1u << 20)
/* Size of the part of the file that one thread processes at a time. */
#define IMPORT_EXTENT_BYTES (1u << 20)

/* Instances and arrays that are contiguous in the file and have increasing IDs. */
struct import_piece {
	uint64_t first_id, last_id;
	uint64_t offset, end; /* offsets in the file */
	uint32_t count;
};

/* Instances and arrays that are contiguous in the file, with few other sub-records between them. */
struct import_extent {
	uint64_t offset, end;
};

struct import_locator {
	/* struct import_piece in file order; empty if the dump is out of order */
	struct base_vec pieces;
	struct base_vec extents; /* struct import_extent in file order */
	uint64_t object_count;
	bool is_disordered;
	/* for ordered dumps, the pieces of each block; valid after import_locator_finish */
	/* by block, with one extra entry: index of the block's first piece in `numbers` */
	uint32_t *first;
	uint32_t *numbers; /* numbers of pieces */
	/* for disordered dumps, offsets by object index */
	struct base_big low; /* uint32_t: low 32 bits of the offset */
	/* upper part: uint8_t, or uint32_t for files over 1 TiB; unused up to 4 GiB */
	struct base_big high;
	unsigned high_bytes;
	/* set by the caller before import_locator_finish */
	const struct hprof_file *file; /* borrowed */
	uint32_t block_objects;        /* number of objects in a block */
};

/*
 * Returns whether an object with this ID may follow an object with last_id in the same piece: the
 * ID must be higher, but not much higher.
 */
static inline bool import_piece_follows(uint64_t last_id, uint64_t id)
{
	return id - last_id - 1 < IMPORT_GAP_BYTES - 1;
}

/* Returns whether an object with this ID belongs to the same piece. */
static inline bool import_piece_continues(const struct import_piece *piece, uint64_t id)
{
	return import_piece_follows(piece->last_id, id) && piece->count < IMPORT_PIECE_OBJECTS;
}

/* Adds an instance or array. Objects must be added in file order. */
int import_locator_add(struct import_locator *locator, const struct hprof_sub *sub,
		       struct hdb_error *err);

/* Reports a sub-record of another kind. It does not end the extent. */
void import_locator_pass(struct import_locator *locator, const struct hprof_sub *sub);

/* Adds the instances and arrays of an extent, already split into pieces. */
int import_locator_add_run(struct import_locator *locator, struct import_extent extent,
			   const struct import_piece *pieces, size_t count, struct hdb_error *err);

/*
 * Prepares lookups. The IDs must be numbered, and `file` and `block_objects` must be set. If the
 * dump is disordered, reads the whole dump on several threads.
 */
int import_locator_finish(struct import_locator *locator, const struct idset *ids,
			  struct base_work *work, struct hdb_error *err);

/* The objects of a block to search for. */
struct import_wanted {
	struct base_view *view;
	const uint64_t *ids; /* ascending */
	uint32_t count;
	/*
	 * Result for each ID. Must be 0 on entry, or an offset that is already known, which is
	 * kept.
	 */
	uint64_t *offsets;
};

/*
 * Finds the objects with the indexes first_ix + i, which must be in one block. The offsets of
 * objects that are neither instances nor arrays do not change. May be called on any thread, if each
 * caller has its own view.
 */
int import_locator_block(const struct import_locator *locator, uint64_t first_ix,
			 const struct import_wanted *wanted, struct hdb_error *err);

/* Position of a reader among the objects of a block. */
struct import_piece_reader {
	const struct import_locator *locator;
	struct import_wanted wanted;
	uint32_t i;       /* index of the next candidate object */
	uint64_t at, end; /* offset of the next sub-record, and end of the piece */
	uint64_t limit;   /* sub-records must not extend beyond this offset */
	uint32_t next,
		/*
		 * ordered dump: range of remaining pieces in locator->numbers; disordered dump:
		 * range of remaining objects in the block
		 */
		last;
	uint64_t first_ix; /* disordered: index of the block's first object */
};

/* Starts to read the objects that import_locator_block would find. */
void import_locator_begin(struct import_piece_reader *reader, const struct import_locator *locator,
			  uint64_t first_ix, const struct import_wanted *wanted);

/*
 * Reads the next object, in file order if the dump is ordered. Sets *i to its index among the
 * requested objects. Returns HDB_END after the last object. The caller may move the view between
 * calls.
 */
int import_locator_next(struct import_piece_reader *reader, uint32_t *i, struct hprof_sub *sub,
			struct hdb_error *err);

void import_locator_release(struct import_locator *locator);

#endif
