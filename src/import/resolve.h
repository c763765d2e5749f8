/*
 * import/resolve.h - what reading one object and making a block of objects share. Private to the
 * import.
 */
#ifndef IMPORT_RESOLVE_H
#define IMPORT_RESOLVE_H

#include "base/bytes.h"
#include "base/thread.h"
#include "import/context.h"
#include "import/object_locator_read.h"
#include "store/lists_put.h"

/* Problems that one block may report; more are counted only. */
#define BLOCK_PROBLEMS_MAX 16
/*
 * Entries of the dictionary that a thread keeps for the next block, 32 bytes each and some 20 to
 * find them: more than nearly all dumps have.
 */
#define MAKER_ENTRIES_MAX 65536u
/* Classes remembered by a hash of their ID: nearly every object is of one of few. */
#define MAKER_CLASSES 2048u
/*
 * IDs that memory is asked for at a time, and how often before the first answer is looked at: a
 * core waits where it has asked for more lines than some 20.
 */
#define MAKER_ASK 16u
#define MAKER_ASKED 2u

struct missing {
	uint64_t id;
	uint32_t from_ix;
};

/* A list too long for its block: written in parts by the thread that writes. */
struct big_list {
	uint32_t ix;
	uint64_t length;
	uint64_t start;  /* in held, or NOT_HELD: an array, read again from the dump */
	uint64_t offset; /* of the array */
};
#define NOT_HELD UINT64_MAX
#define NOT_TAKEN UINT32_MAX

/* An instance with too few bytes. */
struct short_instance {
	uint64_t id, offset;
};

/* What making one block gives. */
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

/* A class whose objects a thread has met. 64 bytes. */
struct maker_class {
	uint64_t id;
	/* An instance of so many bytes is plain; UINT64_MAX: none is. */
	uint64_t plain_bytes;
	/*
	 * Of its last plain instances: bytes to the next object, 0 if there is none, and how many
	 * in a row, which are not noted yet.
	 */
	uint32_t usual, usual_count;
	const uint32_t *plan; /* where its references are, offsets in a body; lent */
	uint32_t plan_count;
	uint32_t no; /* number + 1; 0: free */
	/* of the dictionary: of an instance of the class, of an array, unless it is free */
	uint32_t instance_entry, array_entry;
	uint32_t body_size;
	uint32_t stack_size_at;
	uint32_t plan_first; /* number of plan in all plans */
};

/* What a thread needs to make a block; most of it must stay in the caches of its core. */
struct maker {
	struct slot *out;
	struct base_vec raw;   /* uint64_t: IDs referred to */
	struct base_vec found; /* uint32_t: their indices, as far as answered */
	/* those that are being looked up, from `answered` on; the oldest in their turn */
	struct idset_asked asked[MAKER_ASKED];
	unsigned asked_turn;
	size_t answered, asked_end;
	size_t found_count;      /* of those answered that are in the dump */
	struct base_vec targets; /* uint32_t: of one object */
	struct store_lists_writer lists;
	uint32_t id_count;  /* in ids: with the next block's, if there is one */
	uint32_t reading;   /* the object that is being read */
	uint32_t taken;     /* objects of the block that import_take_objects has taken */
	bool is_noted;      /* what is taken is noted at once: nothing marks it later */
	uint32_t plain_end; /* objects of the block that may be plain */
	struct base_view view;
	uint32_t first_ix;
	size_t extra; /* number of the next extra edge */
	struct import_distances distances;
	struct import_counting counting;
	struct store_objects_dictionary dictionary;
	/* of the dictionary: of arrays by type of element; STORE_NONE: the thread met none */
	uint32_t primitive_entry[16];
	struct maker_class classes[MAKER_CLASSES];
	uint64_t unnoted[MAKER_CLASSES / 64]; /* bits of those that may have usual_count */

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

/*
 * read_plain.c: the same for plain objects, which nearly all are, up to the first that is none.
 * What is plain is an instance or array that is the next one wanted, has all its bytes, is of a
 * class that the thread has met, and has nothing odd about it.
 */
int import_take_plain(struct import *im, struct maker *m, struct import_piece_reader *reader,
		      struct hdb_error *err);

/* Empties what the thread remembers of classes: its dictionary, and what speaks of its entries. */
void import_forget_classes(struct maker *m);

/* Object i of the block, as far as it is known. */
struct store_object import_get_object(const struct maker *m, uint32_t i);

/* Says what object i of the block is, but for where. */
int import_put_object(struct maker *m, uint32_t i, const struct store_object *o,
		      struct hdb_error *err);

/* Notes what is kept of a class's instances, and that another one has this distance. */
int import_note_instance(struct maker *m, struct maker_class *class, uint64_t distance,
			 struct hdb_error *err);
/* Notes what is kept of all classes. */
int import_note_instances(struct maker *m, struct hdb_error *err);

/* The place of a class in m->classes. */
static inline struct maker_class *import_class_entry(struct maker *m, uint64_t class_id)
{
	return &m->classes[import_id_hash(class_id) % MAKER_CLASSES];
}

/*
 * Writes to `raw` the references, but for null, at `count` offsets of a body, all of which are
 * there; returns how many.
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

/* The same of `count` elements of an array. */
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

/* Takes the answers to what was asked first, and asks for the next that m->raw has. */
int import_look_up(struct import *im, struct maker *m, struct hdb_error *err);

/* Finds what m->raw has and m->found has not yet. */
int import_find_rest(struct import *im, struct maker *m, struct hdb_error *err);

/*
 * The same for the objects of the block that are no instance and no array of the dump: a class, or
 * made up. Marks and notes all that are not noted.
 */
int import_take_rest(struct import *im, struct maker *m, struct hdb_error *err);

/* zeroed.c: looks where the content of an array ends. */
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
