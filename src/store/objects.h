/*
 * store/objects.h - blocks of the `ids` and `objects` tables, which have 16,384 objects each, in ID
 * order.
 *
 * The `ids` table contains the IDs as packed differences. The `objects` table contains class,
 * length, and offset in the dump. FORMAT.md describes the blocks. Encoding uses plain arrays.
 * Decoding uses a block borrowed from the store.
 */
#ifndef STORE_OBJECTS_H
#define STORE_OBJECTS_H

#include "base/idmap.h"
#include "base/pack.h"
#include "store/store.h"

/*
 * Number of objects in a block of every table whose key is an index. It is so large that the half
 * page that LMDB wastes per block does not matter, and so small that verifying a block on first use
 * takes microseconds.
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
	/* offset of the sub-record, or 0 if the object is not in the dump */
	uint64_t file_offset;
	/*
	 * for arrays, number of elements; for class objects, number of the class that they
	 * represent
	 */
	uint64_t length;
	uint32_t class_no; /* class number */
	/* for instances, size of a record of this class; for arrays, size of an element */
	uint32_t body_size;
	uint32_t heap_no; /* number of the Android heap, or 0 if there is none */
	uint8_t kind;     /* enum store_kind */
	/*
	 * whether the object's bytes are part of another object (artificial arrays of ART, flat
	 * values)
	 */
	uint8_t is_embedded;
};

/* Flag that store_objects_scan sets in the kind of an embedded object. */
#define STORE_KIND_EMBEDDED 0x80u

/* ---- encoding ---- */

/* The size of a record: `fixed`, plus `unit` for each element. */
struct store_record_rule {
	uint64_t fixed;
	uint32_t unit;
	bool is_class; /* whether this rule is for class objects, which have no such record */
};

/*
 * A dictionary entry: the data that objects with the same class, kind and is_embedded have in
 * common.
 */
struct store_objects_entry {
	uint32_t class_no;
	uint32_t body_size;
	uint8_t kind;
	uint8_t is_embedded;
	/* private */
	/* number in the current block, or STORE_NONE if the block does not use the entry */
	uint32_t number;
	struct store_record_rule rule;
};

/* Size of a cache of entries by class. The cache avoids lookups in the map. */
#define STORE_RECENT_CLASSES 256u

/*
 * The dictionary of an encoder, which is used for one block after another. It takes about 5 KB.
 * Private except for `entries`.
 */
struct store_objects_dictionary {
	struct base_vec entries; /* struct store_objects_entry */
	struct base_idmap map;
	struct base_vec used; /* uint32_t: entries used in the current block, by number */
	unsigned id_size;     /* size of an ID in the dump: 4 or 8 bytes */
	struct {
		uint64_t key;
		uint32_t entry;
	} recent[STORE_RECENT_CLASSES]; /* indexed by class number */
};

/* Initialises an empty dictionary. id_size is the size of an ID in the dump, 4 or 8 bytes. */
void store_objects_dictionary_init(struct store_objects_dictionary *d, unsigned id_size);
/* Frees the memory. Afterwards, the dictionary is empty. */
void store_objects_dictionary_release(struct store_objects_dictionary *d);

/*
 * Finds the number of the entry for an object, and adds the entry if it is new. The object must
 * have the body size of the entry.
 */
int store_objects_entry(struct store_objects_dictionary *d, const struct store_object *o,
			uint32_t *entry, struct hdb_error *err);

/* An object to be encoded. */
struct store_object_put {
	uint32_t entry;  /* dictionary entry */
	uint32_t length; /* as in struct store_object */
};

/* A block to be encoded. */
struct store_objects_put {
	const struct store_object_put *objects;
	const uint64_t *file_offsets; /* offsets of sub-records; ignored for class objects */
	const uint32_t *heap_nos;     /* NULL if heap numbers are not stored */
	uint32_t count;
};

/* Appends a block to `out`. */
int store_objects_encode(struct base_vec *out, struct store_objects_dictionary *d,
			 const struct store_objects_put *block, struct hdb_error *err);

/* Appends a block of `count` ascending IDs. The first has index first_ix. */
int store_ids_encode(struct base_vec *out, const uint64_t *ids, uint32_t count, uint32_t first_ix,
		     struct hdb_error *err);

/* ---- decoding ---- */

/* An open block of the `objects` table. */
struct store_objects {
	uint32_t first_ix;
	uint32_t count;
	unsigned id_size;
	uint32_t class_count;
	const uint8_t *classes; /* dictionary */
	uint64_t size;          /* size of the rest of the block */
	const uint8_t *bases;   /* u64 file offset of each group */
	struct pack_column class_column;
	struct pack_column length_column;
	struct pack_column offset_column;
	struct pack_column heap_column; /* its count is 0 if the dump has no heaps */
	/* private: generation of the last use of the block, and the block's data and checksum */
	uint64_t generation;
	const uint8_t *data;
	uint64_t checksum;
};

int store_objects_open(struct store *store, uint32_t first_ix, struct store_objects *out,
		       struct hdb_error *err);

/*
 * Returns whether an open block is unchanged in the newest snapshot, so that it can still be used.
 * This is nearly always the case.
 */
bool store_objects_stay(struct store *store, struct store_objects *block);

/* Returns the class number of dictionary entry i. The block has class_count entries. */
uint32_t store_objects_class(const struct store_objects *block, uint32_t i);

/*
 * Reads object i of the block, except file_offset, which requires decoding a whole group (see
 * below).
 */
void store_objects_get(const struct store_objects *block, uint32_t i, struct store_object *out);

/*
 * Returns the file offset of object i of the block, or 0 for class objects, whose offsets are in
 * the table classes.
 */
uint64_t store_objects_offset(const struct store_objects *block, uint32_t i);

/* Reads the file offsets of the objects of group g, which are 0 for class objects. */
void store_objects_group_offsets(const struct store_objects *block, uint32_t g,
				 uint64_t offset[PACK_GROUP]);

/* Reads the file offsets of all objects of the block, which are 0 for class objects. */
void store_objects_offsets(const struct store_objects *block, uint64_t *offset);

/*
 * Reads the class number, kind (with STORE_KIND_EMBEDDED) and length of all objects of the block.
 */
void store_objects_scan(const struct store_objects *block, uint32_t *class_no, uint8_t *kind,
			uint64_t *length);

/* An open block of the `ids` table. */
struct store_ids {
	uint32_t first_ix;
	uint32_t count;
	unsigned shift;        /* number of low zero bits removed from all differences */
	const uint8_t *firsts; /* first ID of each group */
	struct pack_column deltas;
};

/* Parses a block of the `ids` table. */
int store_ids_parse(struct store *store, const struct store_block *block, struct store_ids *out,
		    struct hdb_error *err);

/* Returns the index of `id` in the block, or UINT32_MAX. */
uint32_t store_ids_find(const struct store_ids *block, uint64_t id);

/* Returns the ID of object i of the block. */
uint64_t store_ids_get(const struct store_ids *block, uint32_t i);

/* Reads all IDs of the block. */
void store_ids_scan(const struct store_ids *block, uint64_t *ids);

#endif
