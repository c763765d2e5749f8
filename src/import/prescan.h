/*
 * import/prescan.h - reading a chunk of the dump before the walk gets there, on another thread.
 *
 * What is read ahead is a guess: where the first sub-record of the chunk begins is found by
 * looking for headers that lead to one another. The walk alone decides. A run that begins just
 * where the walk stands, inside the heap record that the walk is in, is what the walk would
 * have met, and is taken as a whole; any other is dropped and the walk goes step by step.
 */
#ifndef IMPORT_PRESCAN_H
#define IMPORT_PRESCAN_H

#include "base/thread.h"
#include "import/object_locator.h"

/* Bytes of the dump that are read at a time. */
#define PRESCAN_CHUNK_BYTES (2u << 20)
/* A run ends after so many objects, or bytes: what is lost when one cannot be taken. */
#define PRESCAN_RUN_OBJECTS 4096u
#define PRESCAN_RUN_BYTES (256u << 10)

/* A class that objects of a run have, in order of first appearance; now and then twice. */
struct import_prescan_class {
	uint64_t class_id;
	uint32_t max_body; /* longest instance, bytes */
	bool is_array;     /* of an object array */
};

/* Instances and arrays back to back; none of them has ID 0. */
struct import_prescan_run {
	uint64_t start;
	struct hprof_sub last;     /* the last one: where the run ends */
	size_t first_id, id_count; /* in ids, in order of the file */
	size_t first_class, class_count;
	size_t first_piece, piece_count;
	uint64_t count[3], bytes[3]; /* instances, object arrays, primitive arrays */
	uint32_t primitive_used;     /* a bit for each basic type of primitive arrays */
	/* object arrays: the first's ID, the last's, the end that the last would have with 8-byte
	   references, how many lie inside the one before them by that measure (see sizes.c) */
	uint64_t first_array, last_array, last_array_end, array_overlap;
};

/* Classes of a run that are found again without a search. */
#define PRESCAN_CACHE 1024u

/* One of them: as far as the run has read, and where it goes when it is pushed out. */
struct import_prescan_slot {
	struct import_prescan_class class; /* free: its ID belongs to another slot */
	size_t no;                         /* in classes; SIZE_MAX: free */
};

struct import_prescan {
	struct base_view view;   /* of the chunk */
	struct base_view beside; /* for what is no instance and no array, and may lead out */
	struct base_vec runs;    /* struct import_prescan_run */
	struct base_vec ids;     /* uint64_t */
	struct base_vec classes; /* struct import_prescan_class */
	struct base_vec pieces;  /* struct import_piece */
	struct import_prescan_slot
		slots[PRESCAN_CACHE]; /* by a hash of the class ID; free between two runs */
	BASE_APART;
};

/* The end of an object array at `id` with 8-byte references: Eclipse MAT's evidence. */
static inline uint64_t import_wide_array_end(uint64_t id, uint32_t length)
{
	return id + 16 + (uint64_t)length * 8;
}

/* Reads what begins in [from, until). Fails only for lack of memory or of the source. */
int import_prescan_read(struct import_prescan *a, const struct hprof_file *file, uint64_t from,
			uint64_t until, struct hdb_error *err);

void import_prescan_release(struct import_prescan *a);

#endif
