/*
 * import/resolve.h - the maker of blocks: what resolve.c, read_object.c and resolve_write.c share.
 *
 * The second pass makes the tables ids, objects and references, block by block; block b has the
 * STORE_BLOCK_OBJECTS objects from index b x STORE_BLOCK_OBJECTS on. Each thread has a struct
 * maker, and makes a block in four steps:
 *
 *   1. The identifiers of the block's objects come from the set of all IDs.
 *   2. read_object.c reads these objects in the order of the dump, where they lie in a few pieces
 *      (object_locator.h). Of each it keeps its entry in the dictionary of classes, its offset, and
 *      the IDs that it refers to, appended to `raw`. Its length and the distance to the next object
 *      are noted by class (counts.h, distances.h), for sizes.c. Class objects, and what the dump
 *      lacks, are made up afterwards.
 *   3. The IDs in `raw` are looked up while further objects are read; `found` gets their indices.
 *      Each look-up misses the caches, so MAKER_ASK are prefetched before the first is answered.
 *   4. resolve.c encodes the list of each object, without duplicates. Lists that are too long for a
 *      block are left to the thread that writes.
 *
 * The result is a struct slot. resolve_write.c writes slots in order of blocks on one thread, and
 * adds up what they have counted, so the database is the same whatever the number of threads.
 */
#ifndef IMPORT_RESOLVE_H
#define IMPORT_RESOLVE_H

#include "base/bytes.h"
#include "base/thread.h"
#include "import/context.h"
#include "import/object_locator_read.h"
#include "store/lists_put.h"

/* Problems that one block reports; further ones are only counted. */
#define BLOCK_PROBLEMS_MAX 16
/*
 * A thread keeps its dictionary for the next block up to this many entries, about 52 bytes each:
 * more than nearly all dumps have.
 */
#define MAKER_ENTRIES_MAX 65536u
/* Slots of a thread's class cache, by a hash of the ID: few classes have most objects. */
#define MAKER_CLASSES 2048u
/*
 * IDs that are prefetched together, and such groups in flight. A core has some 20 buffers for cache
 * misses and stalls when they are full, so more would not help.
 */
#define MAKER_ASK 16u
#define MAKER_ASKED 2u

/* A reference to an ID that no object of the dump has. */
struct missing {
	uint64_t id;
	uint32_t from_ix;
};

/*
 * A list of more than STORE_LIST_BIG entries, which the writing thread writes in parts. Arrays are
 * read again from the dump then, so that they are never in memory as a whole.
 */
struct big_list {
	uint32_t ix;
	uint64_t length;
	uint64_t start;  /* in slot.held; NOT_HELD: an array */
	uint64_t offset; /* of the array */
};
#define NOT_HELD UINT64_MAX
/* maker.raw_first of an object that was not read yet. */
#define NOT_TAKEN UINT32_MAX

/* An instance whose body is shorter than the fields of its class. */
struct short_instance {
	uint64_t id, offset;
};

/* A finished block, and what making it has counted. */
struct slot {
	struct base_vec ids_bytes, objects_bytes, lists_bytes;
	/* uint32_t: targets of lists too long for the block, but for arrays */
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
	BASE_APART;
};

/* A class in the cache of a thread. */
struct maker_class {
	uint64_t id;
	const uint32_t *plan; /* offsets of references in a body, ascending; lent */
	uint32_t plan_count;
	uint32_t no; /* number + 1; 0: free */
	/* numbers in the dictionary of its instances, and of arrays of the class */
	uint32_t instance_entry, array_entry;
	uint32_t body_size;     /* of an instance, without what stack chunks have behind it */
	uint32_t stack_size_at; /* see struct import_class */
	uint32_t plan_first;    /* number of plan[0] in all plans */
};

/*
 * What a thread needs to make a block. It is reused for the next one, and most of it should stay in
 * the caches of its core: pick sizes accordingly.
 */
struct maker {
	struct slot *out;
	struct base_vec raw;   /* uint64_t: IDs referred to */
	struct base_vec found; /* uint32_t: their indices, as far as answered */
	/*
	 * Look-ups in flight: raw[answered] up to raw[asked_end], in groups that take turns. Those
	 * before have their index in `found`.
	 */
	struct idset_asked asked[MAKER_ASKED];
	unsigned asked_turn;
	size_t answered, asked_end;
	size_t found_count;      /* IDs before `answered` that are in the dump */
	struct base_vec targets; /* uint32_t: a list that is gathered */
	struct store_lists_writer lists;
	uint32_t id_count; /* in ids: with the next block's, if there is one */
	uint32_t reading;  /* number in the block of the object that is being read */
	uint32_t taken;    /* objects that import_take_objects has read */
	bool is_noted;     /* objects are noted as they are read: nothing marks them afterwards */
	struct base_view view;
	uint32_t first_ix;
	size_t extra; /* number of the next extra edge */
	struct import_distances distances;
	struct import_counting counting;
	struct store_objects_dictionary dictionary;
	/* numbers in the dictionary of primitive arrays by type; STORE_NONE: not in it yet */
	uint32_t primitive_entry[16];
	struct maker_class classes[MAKER_CLASSES];

	/* ---- the objects of the block ---- */

	uint64_t ids[STORE_BLOCK_OBJECTS + 1]; /* the last: the next block's first */
	/* in the dump, of class objects, too; 0: not in it */
	uint64_t offsets[STORE_BLOCK_OBJECTS];
	struct store_object_put objects[STORE_BLOCK_OBJECTS];
	uint32_t raw_first[STORE_BLOCK_OBJECTS]; /* in raw; NOT_TAKEN before it is taken */
	uint32_t raw_end[STORE_BLOCK_OBJECTS];   /* past its last in raw */
	uint32_t *heap_nos;                      /* NULL if the dump has no heaps */
	BASE_APART;
};

/*
 * Writes a block that was made, and adds to the import what it counted. In order, on the calling
 * thread.
 */
int import_write_block(struct import *im, struct base_view *view, struct slot *s, uint64_t first_ix,
		       struct hdb_error *err);

/* ---- read_object.c: objects of the dump ---- */

/*
 * Reads the instances and arrays of the block, in the order of the dump: their entries, and the IDs
 * that they refer to, appended to m->raw. With m->is_noted notes what they tell of their classes.
 */
int import_take_objects(struct import *im, struct maker *m, struct hdb_error *err);

/* Empties what the thread remembers of classes: its dictionary, and what speaks of its entries. */
void import_forget_classes(struct maker *m);

/* Object i of the block, as far as it is known. */
struct store_object import_get_object(const struct maker *m, uint32_t i);

/* Says what object i of the block is, but for where. */
int import_put_object(struct maker *m, uint32_t i, const struct store_object *o,
		      struct hdb_error *err);

/* The place of a class in m->classes. */
static inline struct maker_class *import_class_entry(struct maker *m, uint64_t class_id)
{
	return &m->classes[import_id_hash(class_id) % MAKER_CLASSES];
}

/* Completes the oldest group of look-ups, and prefetches for the next IDs in m->raw. */
int import_look_up(struct import *im, struct maker *m, struct hdb_error *err);

/* Finds what m->raw has and m->found has not yet. */
int import_find_rest(struct import *im, struct maker *m, struct hdb_error *err);

/*
 * The same for the objects of the block that are no instance and no array of the dump: a class, or
 * made up. Marks and notes all that are not noted.
 */
int import_take_rest(struct import *im, struct maker *m, struct hdb_error *err);

/* More than any byte + 1: see zeroed.c. */
#define IMPORT_FILL_VARIES 0x200u
/* zeroed.c: looks where the content of an array ends, and whether all arrays hold one value. */
int import_zeroed_add(struct import *im, struct maker *m, const struct hprof_sub *sub,
		      struct hdb_error *err);

/* sizes_art.c: marks object i of the block, *o, if ART made it up for a part of another object. */
void import_mark_embedded(struct import *im, struct maker *m, uint32_t i, struct store_object *o);

/* Notes a reference to an ID that is no object's. */
int import_note_missing(struct slot *s, uint64_t id, uint32_t ix, struct hdb_error *err);

/* Reads a long array piece by piece; `take` gets IDs that are not null with their indices. */
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
