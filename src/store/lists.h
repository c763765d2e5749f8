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
 * The lists of neighbouring objects: list i belongs to object first_ix + i and is
 * target[first[i] .. first[i + 1]), or, if lengths is given, the lengths[i] entries from first[i]
 * on. Target need not hold big lists.
 */
struct store_lists_rows {
	uint32_t first_ix;
	uint32_t count;
	const uint64_t *first;
	const uint32_t *target;
	const uint64_t *lengths; /* or NULL */
};

/* Appends the block of such lists to `out`. For a big list only its length is written. */
int store_lists_encode(struct base_vec *out, const struct store_lists_rows *rows,
		       struct hdb_error *err);

/* The list of one object, or some of it, to be written to a table of big lists. */
struct store_big_list {
	enum store_table table;
	uint32_t ix; /* of the object */
	const uint32_t *target;
	uint64_t count;
};

/* Writes part number `part` of the object's list: what `list` has, at most STORE_LIST_PART. */
int store_lists_put_part(struct store_writer *writer, const struct store_big_list *list,
			 uint32_t part, struct hdb_error *err);

/* Writes all parts of a big list. */
int store_lists_put_big(struct store_writer *writer, const struct store_big_list *list,
			struct hdb_error *err);

/* A reader of one such table; zero-initialise but for the first four. */
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

/* Set in the length of a big list, whose entries are not decoded: read them with begin and next. */
#define STORE_LIST_IS_BIG (1ull << 63)

/* Where decoded lists go; lent by the caller. */
struct store_lists_out {
	uint64_t *lengths;       /* by list; room for STORE_BLOCK_OBJECTS, or STORE_LIST_GROUP */
	struct base_vec *target; /* uint32_t; entries are appended, its data is not NULL then */
	uint32_t count;          /* lists that were decoded */
};

/* Whose lists a block has. */
struct store_lists_of {
	struct store *store;    /* for messages */
	enum store_table table; /* for messages */
	uint32_t ix_count;      /* entries must be below this */
};

/* Decodes a whole block: lengths and all entries of lists that are not big, in order. */
int store_lists_block(struct store_lists *lists, uint32_t first_ix, struct store_lists_out *out,
		      struct hdb_error *err);

/*
 * The same for a block that store_block gave: needs no reader, so that other threads may decode
 * what one thread has looked up.
 */
int store_lists_decode(const struct store_lists_of *of, const struct store_block *block,
		       struct store_lists_out *out, struct hdb_error *err);

#endif
