/*
 * import/resolve.h - declarations shared by resolve.c, take_objects.c, read_object.c and
 * resolve_write.c, which build the blocks of objects.
 *
 * The second pass builds the tables ids, objects and references block by block. Block b has the
 * STORE_BLOCK_OBJECTS objects from index b x STORE_BLOCK_OBJECTS on. Each thread has a struct
 * block_builder and builds a block in four steps:
 *
 * 1. The IDs of the block's objects are read from the set of all IDs.
 *
 * 2. take_objects.c reads these objects in file order from the few pieces that contain them
 *    (object_locator.h). For each object it stores the entry in the dictionary of classes, the
 *    offset, and the IDs of its references, appended to `raw`. Its length and its distance to the
 *    next object are added to the statistics of its class (counts.h, distances.h), for sizes.c.
 *    Class objects, and objects that the dump lacks, are added afterwards.
 *
 * 3. The IDs in `raw` are looked up while further objects are read. `found` gets the indexes. Each
 *    lookup misses the caches, so BUILDER_LOOKUP_IDS lookups are prefetched before the first is
 *    completed.
 *
 * 4. resolve.c encodes the list of each object without duplicates. Lists that are too long for a
 *    block are left to the writing thread.
 *
 * The result is a struct slot. resolve_write.c writes the slots in block order on one thread and
 * adds up their statistics, so the database does not depend on the number of threads.
 */
#ifndef IMPORT_RESOLVE_H
#define IMPORT_RESOLVE_H

#include "base/bytes.h"
#include "base/thread.h"
#include "import/context.h"
#include "import/object_locator.h"
#include "store/lists_put.h"

/* Maximum number of problems reported for a block. Further problems are only counted. */
#define BLOCK_PROBLEMS_MAX 16
/*
 * Maximum number of entries in a dictionary that a thread keeps for the next block. An entry takes
 * about 52 bytes. Nearly all dumps have fewer entries.
 */
#define BUILDER_ENTRIES_MAX 65536u
/*
 * Number of slots in a thread's class cache, which is indexed by a hash of the class ID. Most
 * objects belong to only a few classes.
 */
#define BUILDER_CLASSES 2048u
/*
 * Number of IDs that are prefetched together, and number of such groups in progress. A core has
 * about 20 buffers for cache misses and stalls when they are full, so more prefetches would not
 * help.
 */
#define BUILDER_LOOKUP_IDS 16u
#define BUILDER_LOOKUPS 2u

/* A reference to an ID that does not belong to any object of the dump. */
struct missing {
	uint64_t id;
	uint32_t from_ix;
};

/*
 * A list with more than STORE_LIST_BIG entries. The writing thread writes it in parts. It reads the
 * elements of arrays from the dump again, so that they are never all in memory.
 */
struct big_list {
	uint32_t ix;
	uint64_t length;
	uint64_t start;  /* index in slot.held, or NOT_HELD for an array that will be read again */
	uint64_t offset; /* offset of the array in the dump */
};
#define NOT_HELD UINT64_MAX
/* Value in block_builder.raw_first for an object that has not been read yet. */
#define NOT_TAKEN UINT32_MAX

/* An instance that is shorter than the fields of its class. */
struct short_instance {
	uint64_t id, offset;
};

/* A finished block and its statistics. */
struct slot {
	struct base_vec ids_bytes, objects_bytes, lists_bytes;
	/* uint32_t: targets of lists too long for the block, except arrays */
	struct base_vec held;
	struct base_vec missing; /* struct missing */
	struct base_vec big;     /* struct big_list */
	struct base_vec shorts;  /* struct short_instance */
	struct base_vec counted; /* struct import_count */
	struct import_seen seen;
	struct import_zeroed zeroed;
	uint64_t first_id;
	uint32_t count;
	uint64_t missing_count, short_count, reference_count, flat_count, odd_count;
	BASE_NO_SHARING;
};

/* A class in a thread's cache. */
struct builder_class {
	uint64_t id;
	/* body size of the instances that take_objects.c reads, or UINT64_MAX if it reads none */
	uint64_t plain_bytes;
	/*
	 * distance of the last plain instance (0 if none), and number of consecutive instances with
	 * this distance that have not been counted yet, because nearly all instances of a class
	 * have the same distance
	 */
	uint32_t usual, usual_count;
	const uint32_t *plan; /* offsets of the references in an instance, ascending; borrowed */
	uint32_t plan_count;
	uint32_t no; /* class number + 1, or 0 for an unused entry */
	/* dictionary entries of its instances and of its arrays */
	uint32_t instance_entry, array_entry;
	uint32_t body_size;    /* size of an instance, without the stack of stack chunks */
	uint32_t tail_size_at; /* see struct import_class */
	uint32_t plan_first;   /* index of plan[0] in import.links.plans */
};

/*
 * The state of a thread that builds blocks. It is reused for every block, and is so small that most
 * of it stays in the core's caches.
 */
struct block_builder {
	struct slot *out;
	struct base_vec raw;   /* uint64_t: IDs of references */
	struct base_vec found; /* uint32_t: indexes of the references before `answered` */
	/*
	 * Lookups in progress, for raw[answered] to raw[lookup_end], in groups that are reused in
	 * turn.
	 */
	struct idset_lookup lookups[BUILDER_LOOKUPS];
	unsigned lookup_turn;
	size_t answered, lookup_end;
	size_t found_count;      /* number of IDs before `answered` that are in the dump */
	struct base_vec targets; /* uint32_t: a list that is being collected */
	struct store_lists_writer lists;
	/* number of entries in `ids`, including the first ID of the next block, if any */
	uint32_t id_count;
	uint32_t reading; /* index within the block of the object that is being read */
	uint32_t taken;   /* number of objects read by import_take_objects */
	/*
	 * whether statistics are updated while objects are read, because no later step marks
	 * objects
	 */
	bool is_noted;
	struct base_view view;
	uint32_t first_ix;
	size_t extra; /* number of the next extra edge */
	struct import_distances distances;
	struct import_counting counting;
	struct store_objects_dictionary dictionary;
	/*
	 * dictionary entries for primitive arrays by type, or STORE_NONE if not in the dictionary
	 * yet
	 */
	uint32_t primitive_entry[16];
	struct builder_class classes[BUILDER_CLASSES];
	uint64_t unnoted[BUILDER_CLASSES / 64]; /* bit set: classes whose usual_count is not 0 */

	/* ---- the objects of the block ---- */

	uint64_t ids[STORE_BLOCK_OBJECTS + 1]; /* one extra entry: the first ID of the next block */
	/* offsets in the dump, also for class objects; 0 if the object is not in the dump */
	uint64_t offsets[STORE_BLOCK_OBJECTS];
	struct store_object_put objects[STORE_BLOCK_OBJECTS];
	/* start of the references in `raw`, or NOT_TAKEN if not read yet */
	uint32_t raw_first[STORE_BLOCK_OBJECTS];
	uint32_t raw_end[STORE_BLOCK_OBJECTS]; /* end in raw */
	uint32_t *heap_nos;                    /* NULL if the dump has no heaps */
	BASE_NO_SHARING;
};

/*
 * Writes a block, and adds its statistics to the import. Called in block order on the calling
 * thread.
 */
int import_write_block(struct import *im, struct base_view *view, struct slot *s, uint64_t first_ix,
		       struct hdb_error *err);

/* ---- take_objects.c, read_object.c: objects of the dump ---- */

/*
 * Reads the instances and arrays of the block in file order: their entries, and the IDs of their
 * references, which are appended to m->raw. If m->is_noted is set, also updates the statistics of
 * their classes.
 */
int import_take_objects(struct import *im, struct block_builder *m, struct hdb_error *err);

/* Empties the thread's dictionary of classes, and the caches that refer to its entries. */
void import_forget_classes(struct block_builder *m);

/* Returns the entry of object i of the block, as stored so far. */
struct store_object import_get_object(const struct block_builder *m, uint32_t i);

/* Returns the cache slot of a class in m->classes. */
static inline struct builder_class *import_class_entry(struct block_builder *m, uint64_t class_id)
{
	return &m->classes[import_id_hash(class_id) % BUILDER_CLASSES];
}

/*
 * Copies the references at `count` offsets of a body to `raw`, skipping nulls, and returns the
 * number of references. All offsets must be within the body. The loop has no branches. With a
 * constant id_size, it is twice as fast.
 */
static inline size_t import_read_fields(uint64_t *raw, const uint8_t *body, const uint32_t *at,
					uint32_t count, const unsigned id_size)
{
	size_t n = 0;

	for (uint32_t i = 0; i < count; i++) {
		const uint64_t id = be_id(body + at[i], id_size);

		raw[n] = id;
		n += id != 0;
	}
	return n;
}

/* Copies `count` elements of an array to `raw`, skipping nulls. */
static inline size_t import_read_elements(uint64_t *raw, const uint8_t *body, uint64_t count,
					  const unsigned id_size)
{
	size_t n = 0;

	for (uint64_t i = 0; i < count; i++) {
		const uint64_t id = be_id(body + i * id_size, id_size);

		raw[n] = id;
		n += id != 0;
	}
	return n;
}

/*
 * Reads the next object of the block, of any kind. Returns HDB_END after the last object. If
 * m->is_noted is set, adds the object to the statistics of its class.
 */
int import_take_next(struct import *im, struct block_builder *m, struct import_piece_reader *reader,
		     struct hdb_error *err);

/* Adds the instances counted for a class to the distances. */
int import_note_usual(struct block_builder *m, struct builder_class *class, struct hdb_error *err);

/* Completes the oldest group of lookups, and prefetches for the next IDs of m->raw. */
int import_look_up(struct import *im, struct block_builder *m, struct hdb_error *err);

/* Completes the lookups of all IDs in m->raw. */
int import_find_rest(struct import *im, struct block_builder *m, struct hdb_error *err);

/*
 * Adds the objects of the block that are not instances or arrays in the dump: class objects and the
 * boot loader's placeholder. Marks embedded objects. Unless m->is_noted is set, updates the
 * statistics.
 */
int import_take_rest(struct import *im, struct block_builder *m, struct hdb_error *err);

/* A value above the maximum of a byte value plus 1. See zeroed.c. */
#define IMPORT_FILL_VARIES 0x200u
/*
 * zeroed.c: finds the end of an array's contents, and checks whether all arrays contain only one
 * and the same value.
 */
int import_zeroed_add(struct import *im, struct block_builder *m, const struct hprof_sub *sub,
		      struct hdb_error *err);

/*
 * sizes_art.c: marks object i of the block, *o, if it is an artificial array that ART writes for a
 * part of another object.
 */
void import_mark_embedded(struct import *im, struct block_builder *m, uint32_t i,
			  struct store_object *o);

/* Records a reference to an ID that does not belong to any object. */
int import_note_missing(struct slot *s, uint64_t id, uint32_t ix, struct hdb_error *err);

/* Reads a long array in pieces. `take` gets the IDs that are not null, with their indexes. */
struct import_array {
	struct import *im;
	struct base_view *view;
	const struct hprof_sub *sub;
};
int import_each_element(const struct import_array *array,
			int (*take)(void *ctx, const uint64_t *ids, const uint32_t *found,
				    size_t count, struct hdb_error *err),
			void *ctx, struct hdb_error *err);

#endif
