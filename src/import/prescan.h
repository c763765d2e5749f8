/*
 * import/prescan.h - reads a chunk of the dump on another thread, before the walk reaches it.
 *
 * A prescan is a guess: it finds the first sub-record of the chunk by looking for headers that
 * follow one another. Only the walk decides what is in the dump. If a run begins exactly at the
 * position of the walk, inside the current heap record, it contains the records that the walk would
 * have found, and is used as a whole. All other runs are dropped, and the walk reads record by
 * record.
 */
#ifndef IMPORT_PRESCAN_H
#define IMPORT_PRESCAN_H

#include "base/thread.h"
#include "import/object_locator.h"

/* Number of bytes of the dump read at a time. */
#define PRESCAN_CHUNK_BYTES (2u << 20)
/*
 * Maximum size of a run, in objects and in bytes. This limits the work that is lost if a run cannot
 * be used.
 */
#define PRESCAN_RUN_OBJECTS 4096u
#define PRESCAN_RUN_BYTES (256u << 10)

/*
 * A class of objects in a run. Classes are in order of first appearance. A class may appear twice
 * if its cache slot was reused.
 */
struct import_prescan_class {
	uint64_t class_id;
	uint32_t max_body; /* size of the longest instance, bytes */
	bool is_array;     /* whether the class is that of an object array */
};

/* Instances and arrays that follow each other without gaps. None of them has ID 0. */
struct import_prescan_run {
	uint64_t start;
	struct hprof_sub last;     /* the last object of the run */
	size_t first_id, id_count; /* entries of `ids`, in file order */
	size_t first_class, class_count;
	size_t first_piece, piece_count;
	/* by kind (instance, object array, primitive array): number and size of the objects */
	uint64_t count[3], bytes[3];
	uint32_t primitive_used; /* bit set of the basic types of primitive arrays */
	/*
	 * Evidence from object arrays (see sizes.c): ID of the first array, ID of the last array,
	 * end that the last array would have with 8-byte references, and number of arrays that
	 * would begin inside the previous array.
	 */
	uint64_t first_array, last_array, last_array_end, array_overlap;
};

/* Number of slots for the classes of a run. */
#define PRESCAN_CACHE 1024u

/*
 * A slot: a class with the data collected so far, and the position at which the data will be
 * stored.
 */
struct import_prescan_slot {
	/* a free slot contains an ID that belongs to another slot */
	struct import_prescan_class class;
	size_t no; /* index in classes; SIZE_MAX means free */
};

struct import_prescan {
	struct base_view view; /* window on the chunk */
	/* window for other sub-records, which may extend beyond the chunk */
	struct base_view beside;
	struct base_vec runs;    /* struct import_prescan_run */
	struct base_vec ids;     /* uint64_t */
	struct base_vec classes; /* struct import_prescan_class */
	struct base_vec pieces;  /* struct import_piece */
	struct import_prescan_slot
		/* by hash of the class ID; all slots are free between runs */
		slots[PRESCAN_CACHE];
	BASE_NO_SHARING;
};

/*
 * Returns the end that an object array at `id` would have if references had 8 bytes, which is
 * Eclipse MAT's evidence.
 */
static inline uint64_t import_wide_array_end(uint64_t id, uint32_t length)
{
	return id + 16 + (uint64_t)length * 8;
}

/*
 * Reads the sub-records that begin in [from, until). Fails only if memory is exhausted or the
 * source cannot be read.
 */
int import_prescan_read(struct import_prescan *a, const struct hprof_file *file, uint64_t from,
			uint64_t until, struct hdb_error *err);

void import_prescan_release(struct import_prescan *a);

#endif
