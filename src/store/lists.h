/*
 * store/lists.h - tables of adjacency lists: for every object a list of objects (references,
 * referrers, children).
 *
 * Blocks of STORE_BLOCK_OBJECTS lists; a list of more than STORE_LIST_BIG entries is kept in parts
 * in a table of its own. Lists keep their order; neighbours in a list cost little when their
 * indices are near one another.
 */
#ifndef STORE_LISTS_H
#define STORE_LISTS_H

#include "store/objects.h"

/* Lists longer than this are big: bounds a block to some tens of MB. */
#define STORE_LIST_BIG 1024u
/* Entries of a part of a big list. */
#define STORE_LIST_PART 32768u
/* Lists of a group; the last one of a block may have fewer. */
#define STORE_LIST_GROUP 32u

/*
 * Appends the block of `count` lists to `out`: list i belongs to object first_ix + i and is
 * target[first[i] .. first[i + 1]), or, if lengths is given, the lengths[i] entries from first[i]
 * on. For a big list only its length is written, and target need not hold it.
 */
int store_lists_encode(struct base_vec *out, uint32_t first_ix, uint32_t count,
		       const uint64_t *first, const uint32_t *target, const uint64_t *lengths,
		       struct hdb_error *err);

/* Writes part `part` of the big list of object ix. */
int store_lists_put_part(struct store_writer *writer, enum store_table big_table, uint32_t ix,
			 uint32_t part, const uint32_t *target, uint32_t count,
			 struct hdb_error *err);

/* Writes all parts of a big list. */
int store_lists_put_big(struct store_writer *writer, enum store_table big_table, uint32_t ix,
			const uint32_t *target, uint64_t count, struct hdb_error *err);

/* A reader of one such table; zero-initialise but for the first three. */
struct store_lists {
	struct store *store;
	enum store_table table;
	enum store_table big_table;
	uint32_t ix_count; /* entries must be below this */
	/* private */
	struct store_block block; /* the open block */
	bool has_block;
	uint64_t generation;
	uint32_t ix;
	const uint8_t *at, *end; /* what is left of the list in the block */
	uint64_t left;           /* entries left */
	bool is_big;
	uint32_t part;
	uint32_t previous;
	uint32_t batch[256];
};

/* Starts the list of object ix; *length (may be NULL) is its number of entries. */
int store_lists_begin(struct store_lists *lists, uint32_t ix, uint64_t *length,
		      struct hdb_error *err);

/* Lends the next batch of entries until the next call; *count 0 at the end. */
int store_lists_next(struct store_lists *lists, const uint32_t **batch, size_t *count,
		     struct hdb_error *err);

/*
 * Decodes a whole block: lengths (STORE_BLOCK_OBJECTS entries) and all entries of lists that are
 * not big, in order, appended to `target` (a vec of uint32_t, whose data is not NULL afterwards).
 * *count is the number of lists. Big lists have their length with STORE_LIST_IS_BIG set and no
 * entries; read them with begin and next.
 */
#define STORE_LIST_IS_BIG (1ull << 63)
int store_lists_block(struct store_lists *lists, uint32_t first_ix, uint64_t *lengths,
		      struct base_vec *target, uint32_t *count, struct hdb_error *err);

/*
 * The same for a block that store_block gave: needs no reader, so that other threads may decode
 * what one thread has looked up. `store` and `table` are for the message.
 */
int store_lists_decode(struct store *store, enum store_table table, const struct store_block *block,
		       uint32_t ix_count, uint64_t *lengths, struct base_vec *target,
		       struct hdb_error *err);
/*
 * The same for one group: *count is how many lists it has. `lengths` has room for STORE_LIST_GROUP.
 * Entries are those of lists that the mask has (bit i: the group's list i); the others are stepped
 * over.
 */
int store_lists_decode_group(struct store *store, enum store_table table,
			     const struct store_block *block, uint32_t group_no, uint32_t mask,
			     uint32_t ix_count, uint64_t *lengths, struct base_vec *target,
			     uint32_t *count, struct hdb_error *err);

#endif
