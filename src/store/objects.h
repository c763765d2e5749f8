/*
 * store/objects.h - blocks of the tables ids and objects: 16,384 objects each, in the order of
 * their IDs.
 *
 * ids: identifiers, as packed differences. objects: class, length and place in the dump. What a
 * block holds is in FORMAT.md. Encoding works on plain arrays; decoding on a block borrowed from
 * the store.
 */
#ifndef STORE_OBJECTS_H
#define STORE_OBJECTS_H

#include "base/idmap.h"
#include "base/pack.h"
#include "store/store.h"

/*
 * Objects in a block of every table that is keyed by ix. Large enough that the half page that LMDB
 * loses a block is nothing, small enough that checking a block on first use costs microseconds.
 */
#define STORE_BLOCK_OBJECTS 16384u

enum store_kind {
	STORE_INSTANCE = 0,
	STORE_OBJECT_ARRAY = 1,
	STORE_PRIMITIVE_ARRAY = 2,
	STORE_CLASS = 3
};

/* One object. */
struct store_object {
	uint64_t file_offset; /* of its sub-record; 0 for an object that the dump lacks */
	/* arrays: elements; class objects: the number of the class it stands for */
	uint64_t length;
	uint32_t class_no; /* number of its class */
	/* instances: bytes of a record of this class; arrays: bytes an element */
	uint32_t body_size;
	uint32_t heap_no; /* Android heap, 0 when there is none */
	uint8_t kind;     /* enum store_kind */
	/* its bytes are a part of another object: an array that ART makes up, a flat value */
	uint8_t is_embedded;
};

/* Set in the kind that store_objects_scan gives for objects that are embedded. */
#define STORE_KIND_EMBEDDED 0x80u

/* ---- encoding ---- */

/* The size of a record: `fixed`, and `unit` for each element. */
struct store_record_rule {
	uint64_t fixed;
	uint32_t unit;
	bool is_class; /* a class object's: it has none */
};

/* What all objects of a class, a kind, embedded or not have in common: an entry of a dictionary. */
struct store_objects_entry {
	uint32_t class_no;
	uint32_t body_size;
	uint8_t kind;
	uint8_t is_embedded;
	/* private */
	uint32_t number; /* in the block that is being encoded; STORE_NONE: not in it */
	struct store_record_rule rule;
};

/* Classes whose entries are found without looking into the map. */
#define STORE_RECENT_CLASSES 256u

/* The entries of whoever encodes blocks, one after the other. Some 5 KB; private but `entries`. */
struct store_objects_dictionary {
	struct base_vec entries; /* struct store_objects_entry */
	struct base_idmap map;
	struct base_vec used; /* uint32_t: those in the block that is being encoded, by number */
	unsigned id_size;     /* of the dump, bytes: 4 or 8 */
	struct {
		uint64_t key;
		uint32_t entry;
	} recent[STORE_RECENT_CLASSES]; /* by class */
};

/* Empty. id_size: of the dump, 4 or 8 bytes. */
void store_objects_dictionary_init(struct store_objects_dictionary *d, unsigned id_size);
/* Frees and empties it. */
void store_objects_dictionary_release(struct store_objects_dictionary *d);

/*
 * The number of the entry for an object, which is added if it is new. An object's body size must be
 * that of its entry.
 */
int store_objects_entry(struct store_objects_dictionary *d, const struct store_object *o,
			uint32_t *entry, struct hdb_error *err);

/* An object that is to be encoded. */
struct store_object_put {
	uint32_t entry;  /* of the dictionary */
	uint32_t length; /* as in struct store_object */
};

/* A block of them. */
struct store_objects_put {
	const struct store_object_put *objects;
	const uint64_t *file_offsets; /* of sub-records; those of class objects do not count */
	const uint32_t *heap_nos;     /* or NULL: no heap numbers are kept */
	uint32_t count;
};

/* Appends a block to `out`. */
int store_objects_encode(struct base_vec *out, struct store_objects_dictionary *d,
			 const struct store_objects_put *block, struct hdb_error *err);

/* Appends the block of `count` ascending IDs, the first of which has index first_ix. */
int store_ids_encode(struct base_vec *out, const uint64_t *ids, uint32_t count, uint32_t first_ix,
		     struct hdb_error *err);

/* ---- decoding ---- */

/* An open block of the table objects. */
struct store_objects {
	uint32_t first_ix;
	uint32_t count;
	unsigned id_size;
	uint32_t class_count;
	const uint8_t *classes; /* its dictionary */
	uint64_t size;          /* bytes from there on */
	const uint8_t *bases;   /* a u64 file offset a group */
	struct pack_column class_column;
	struct pack_column length_column;
	struct pack_column offset_column;
	struct pack_column heap_column; /* count 0 when there are no heaps */
	/* private: of which snapshot it is known to be, and the block's data and checksum */
	uint64_t generation;
	const uint8_t *data;
	uint64_t checksum;
};

int store_objects_open(struct store *store, uint32_t first_ix, struct store_objects *out,
		       struct hdb_error *err);

/*
 * Whether a block that was opened is the newest snapshot's, too, most often so: then it may be used
 * on.
 */
bool store_objects_stay(struct store *store, struct store_objects *block);

/* Number of the class of entry i of the block's dictionary, which has class_count entries. */
uint32_t store_objects_class(const struct store_objects *block, uint32_t i);

/* Object i of the block; file_offset is not filled in (it costs a group's decoding: see below). */
void store_objects_get(const struct store_objects *block, uint32_t i, struct store_object *out);

/* File offset of object i of the block; 0 for class objects (the table classes has theirs). */
uint64_t store_objects_offset(const struct store_objects *block, uint32_t i);

/* File offsets of the objects of group g of the block; 0 for class objects. */
void store_objects_group_offsets(const struct store_objects *block, uint32_t g,
				 uint64_t offset[PACK_GROUP]);

/* File offsets of all objects of the block; 0 for class objects. */
void store_objects_offsets(const struct store_objects *block, uint64_t *offset);

/*
 * All objects of the block, without file offsets: class number, kind (with STORE_KIND_EMBEDDED),
 * length.
 */
void store_objects_scan(const struct store_objects *block, uint32_t *class_no, uint8_t *kind,
			uint64_t *length);

/* An open block of the table ids. */
struct store_ids {
	uint32_t first_ix;
	uint32_t count;
	unsigned shift;        /* low bits that all differences lack */
	const uint8_t *firsts; /* first ID of each group */
	struct pack_column deltas;
};

/* Opens what store_block_* found in the table ids. */
int store_ids_parse(struct store *store, const struct store_block *block, struct store_ids *out,
		    struct hdb_error *err);

/* Index in the block of `id`, or UINT32_MAX. */
uint32_t store_ids_find(const struct store_ids *block, uint64_t id);

/* ID of object i of the block. */
uint64_t store_ids_get(const struct store_ids *block, uint32_t i);

/* All IDs of the block. */
void store_ids_scan(const struct store_ids *block, uint64_t *ids);

#endif
