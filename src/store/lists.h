/*
 * store/lists.h - tables of adjacency lists. Such a table contains a list of objects (references,
 * referrers or children) for every object.
 *
 * A block contains STORE_BLOCK_OBJECTS lists. A list of more than STORE_LIST_BIG entries is stored
 * in parts in a separate table. The order of a list is preserved. An entry takes little space if
 * its index is close to the index of the previous entry.
 */
#ifndef STORE_LISTS_H
#define STORE_LISTS_H

#include "store/objects.h"

/* Maximum length of a list that is not big. This limits a block to a few tens of MB. */
#define STORE_LIST_BIG 1024u
/* Maximum number of entries in one part of a big list. */
#define STORE_LIST_PART 32768u
/* Number of lists in a group. The last group of a block may have fewer. */
#define STORE_LIST_GROUP 32u

/*
 * The lists of consecutive objects. List i belongs to object first_ix + i. Its entries are
 * target[first[i] .. first[i + 1]) or, if lengths is not NULL, lengths[i] entries starting at
 * first[i]. Entries of big lists may be missing from target.
 */
struct store_lists_rows {
	uint32_t first_ix;
	uint32_t count;
	const uint64_t *first;
	const uint32_t *target;
	const uint64_t *lengths; /* may be NULL */
};

/* Appends a block with these lists to `out`. For a big list, only the length is written. */
int store_lists_encode(struct base_vec *out, const struct store_lists_rows *rows,
		       struct hdb_error *err);

/* The list of one object, or a part of it, for a table of big lists. */
struct store_big_list {
	enum store_table table;
	uint32_t ix; /* index of the object */
	const uint32_t *target;
	uint64_t count;
};

/*
 * Writes part number `part` of the object's list: the entries of `list`, at most STORE_LIST_PART.
 */
int store_lists_put_part(struct store_writer *writer, const struct store_big_list *list,
			 uint32_t part, struct hdb_error *err);

/* Writes all parts of a big list. */
int store_lists_put_big(struct store_writer *writer, const struct store_big_list *list,
			struct hdb_error *err);

/* A reader of a table of lists. The caller must set the first four fields and zero the others. */
struct store_lists {
	struct store *store;
	enum store_table table;
	enum store_table big_table;
	uint32_t ix_count; /* upper bound of all entries */
	/* private */
	struct store_block block; /* the open block */
	bool has_block;
	uint64_t generation;
	uint32_t ix;
	const uint8_t *at, *end; /* remaining bytes of the list in the block */
	uint64_t left;           /* number of remaining entries */
	bool is_big;
	uint32_t part;
	uint32_t previous;
	uint32_t batch[256];
};

/* Begins the list of object ix. Unless `length` is NULL, sets *length to the number of entries. */
int store_lists_begin(struct store_lists *lists, uint32_t ix, uint64_t *length,
		      struct hdb_error *err);

/* Returns the next batch of entries, valid until the next call. Sets *count to 0 at the end. */
int store_lists_next(struct store_lists *lists, const uint32_t **batch, size_t *count,
		     struct hdb_error *err);

/*
 * Flag in the length of a big list. The entries of such a list are not decoded. They must be read
 * with begin and next.
 */
#define STORE_LIST_IS_BIG (1ull << 63)

/* Buffers for decoded lists, provided by the caller. */
struct store_lists_out {
	/* uint32_t by list; must have room for STORE_BLOCK_OBJECTS or STORE_LIST_GROUP entries */
	uint64_t *lengths;
	/* uint32_t: entries are appended to it; its data is not NULL after decoding */
	struct base_vec *target;
	uint32_t count; /* number of lists decoded */
};

/* The table to which a block belongs. */
struct store_lists_of {
	struct store *store;    /* for messages */
	enum store_table table; /* for messages */
	uint32_t ix_count;      /* upper bound of all entries */
};

/* Decodes a whole block: all lengths, and the entries of all lists that are not big, in order. */
int store_lists_block(struct store_lists *lists, uint32_t first_ix, struct store_lists_out *out,
		      struct hdb_error *err);

/*
 * Decodes a block that store_block has found. No reader is needed, so other threads can decode
 * blocks that one thread has looked up.
 */
int store_lists_decode(const struct store_lists_of *of, const struct store_block *block,
		       struct store_lists_out *out, struct hdb_error *err);

#endif
