/*
 * heap/collections/collections.h - lists, sets, maps and queues of known classes: how many
 * elements, how much room, and what they hold.
 *
 * What is known of a class is a row of data in collection_table.c. Sizes and links are a dump's and
 * may lie: a size is cut to what could be there, a walk ends where it meets itself.
 */
#ifndef HEAP_COLLECTIONS_COLLECTIONS_H
#define HEAP_COLLECTIONS_COLLECTIONS_H

#include "heap/known.h"

enum heap_collection_kind { HEAP_LIST, HEAP_SET, HEAP_MAP, HEAP_QUEUE, HEAP_BITS };

/* Where the contents are. */
enum heap_collection_shape {
	HEAP_EMPTY, /* nowhere: it never holds anything */
	HEAP_WRAP,  /* in another collection, at `store` */
	HEAP_ARRAY, /* the first elements of the array at `store`, from `first` on, wrapped round */
	/* anywhere in the array at `store`, beside keys in the array at `key` if given */
	HEAP_SLOTS,
	HEAP_PAIRS, /* keys and values by turns in the array at `store` */
	/* entries: slots of the array at `store` begin chains by `next`, if that is given */
	HEAP_CHAINS,
	HEAP_LINKED, /* entries from `store` on, by `next` */
	HEAP_TREE,   /* entries: the root at `store`, below it by `left` and `next` */
	HEAP_PARTS,  /* collections: the elements of the array at `store` */
	HEAP_FIELDS, /* fields of its own: `value` and `key` are lists of names */
	HEAP_WORDS,  /* bits of the long, or the longs of the array, at `store` */
	HEAP_NODES,  /* in nodes, which are objects with rows of their own: `parts` */
	/* in a structure that is not described: only the size is told, from `first` to `size` */
	HEAP_HIDDEN
};

/* What a wrapper shows of a map's entries. */
enum heap_collection_takes { HEAP_TAKES_ALL, HEAP_TAKES_KEYS, HEAP_TAKES_VALUES };

enum heap_collection_flag {
	HEAP_HASHED = 1,     /* slots are chosen by hashes: collisions have a meaning */
	HEAP_CIRCULAR = 2,   /* the entry at `store` is a mark that also ends the list */
	HEAP_SKIPS_NULL = 4, /* entries with a null key (no key: value) are no elements */
	HEAP_DENSE = 8,      /* the first `size` slots or pairs are the elements, null or not */
	HEAP_BY_VALUE = 16,  /* a slot is taken if its value (not its key) is not null */
	HEAP_LENT = 32,      /* the array belongs to another collection */
	HEAP_PART = 64,      /* a piece of another collection: not counted on its own */
	HEAP_APART = 128,    /* the flag at `extra` is not in `size` */
	HEAP_BOUNDED = 256,  /* a view of a sorted map: only keys between its bounds */
	HEAP_OF_LISTS = 512, /* at `store` and `key` are lists, not arrays */
	HEAP_INNER = 1024,   /* a node that is never an element itself */
	HEAP_NESTED = 2048   /* the nodes' values are lists of entries */
};

/* What a part of a node holds. */
enum heap_part_kind {
	HEAP_PART_END,      /* after the last part */
	HEAP_PART_IF,       /* nothing; if `field` is null or 0 the parts after it are not there */
	HEAP_PART_SKIP,     /* nothing; as many of the elements that follow do not count */
	HEAP_PART_ITEM,     /* the element in `field`, with its key in `with` if that is given */
	HEAP_PART_SUM,      /* nothing; numbers below are counted from the one in `field` */
	HEAP_PART_NUMBERED, /* the element in `field`; its key is the number */
	HEAP_PART_NODE,     /* a node, or null */
	HEAP_PART_EITHER,   /* a node, an element, or null */
	HEAP_PART_REVERSED, /* a list whose last element comes first */
	HEAP_PART_REPEAT,   /* the element in `field`, as many times as `with` says */
	/* What follows is for the array in `field`. */
	HEAP_PART_ITEMS, /* elements, from the one that `from` counts up to where `with` counts */
	HEAP_PART_PAIRS, /* keys and values by turns; where a key is null the value is a node */
	HEAP_PART_NODES, /* nodes and nulls */
	HEAP_PART_MIXED, /* HEAP_INNER nodes and elements; nulls are such only if `with` is given */
	HEAP_PART_BUCKETS, /* arrays of a key, a value, and perhaps one more such array */
	/* elements (of maps: pairs) for the bits of `with`, then, from the end backwards, nodes for
	 * the bits of `from`; if both are 0 all are elements */
	HEAP_PART_CHAMP,
	/*
	 * a tree of arrays, 32 wide: `with` has 5 for each level above the leaves, or a digit is
	 * the number of levels. The elements begin at the one that `from` counts. An array that is
	 * inside an object is found there by `via` of the rule.
	 */
	HEAP_PART_ROPE,
	/* RoaringBitmap: containers, whose high 16 bits are in the array in `with`, up to where
	 * `from` counts; numbers, bits and runs (firsts and lengths by turns) of their low bits */
	HEAP_PART_CONTAINERS,
	HEAP_PART_SHORTS,
	HEAP_PART_BITS,
	HEAP_PART_RUNS
};

/* Parts come in the order in which the collection goes through them. Paths as in known.h. */
struct heap_part {
	enum heap_part_kind kind;
	const char *field, *with, *from;
};

/* A row of the table: one version of one class; subclasses are the same. Paths as in known.h. */
struct heap_collection_rule {
	const char *class_name; /* may hold "*" */
	enum heap_collection_kind kind;
	enum heap_collection_shape shape;
	const char *size;  /* path of the number of elements; NULL: it must be found out */
	const char *store; /* path of the contents, as the shape says */
	const char *next;  /* of an entry; of trees: the right one */
	/*
	 * of an entry: paths; see the shapes. Of maps in nodes: paths in what the nodes have as
	 * elements, which are then objects with both; without `key`: the path in their values
	 */
	const char *key, *value;
	const char *first; /* arrays: path of the index of the first element; NULL: 0 */
	const char *last;  /* arrays without size: path of the index after the last */
	const char *array; /* path of the array whose length is the capacity; NULL: `store` */
	const char *left;  /* trees */
	const char *cells; /* path of an array of counters, whose `value`s belong to the size */
	const char *extra; /* path of one more entry, or of a flag: the last slot is taken, too */
	const char *via;   /* a slot may hold not an entry but an object with this path to one */
	/* static field: the object that stands for no element; of pairs: for a key whose value is
	 * an array of more pairs */
	const char *absent;
	const char *free; /* path of what is in a slot that is not taken, or a number; NULL: 0 */
	const struct heap_part *parts; /* of nodes, the last HEAP_PART_END */
	unsigned takes;                /* enum heap_collection_takes */
	unsigned flags;                /* enum heap_collection_flag */
};

/* The table; *count rows. */
const struct heap_collection_rule *heap_collection_rules(size_t *count);

/* The row for a class, NULL if it is no known collection. */
const struct heap_collection_rule *heap_collection_rule(struct heap *heap, uint32_t class_no);

/* "list", "set", "map", "queue", "bits"; static. */
const char *heap_collection_kind_name(enum heap_collection_kind kind);

/* A collection, and where it has its contents. */
struct heap_collection {
	uint32_t ix;
	const struct heap_collection_rule *rule;
	/* what is behind its wrappers; itself if it wraps none */
	uint32_t inner_ix;
	const struct heap_collection_rule *inner; /* NULL: nothing that is known */
	uint32_t inner_class;                     /* the class that `inner` names */
	unsigned takes;                           /* enum heap_collection_takes */
	uint32_t array_ix; /* the array that gives the capacity, or has the parts; HEAP_NONE */
	uint64_t array_length;
	uint64_t size;     /* elements: bits that are set, of a bit set */
	uint64_t capacity; /* elements that fit without growing */
	bool has_size;     /* else heap_collection_count finds it */
	bool has_capacity;
	bool has_lied;   /* its size said more than can be, or less than none */
	bool wraps_null; /* it wraps nothing, so it is empty */
};

/* HDB_OK, or HDB_NOTFOUND if ix is no known collection. Opens the dump. */
int heap_collection_open(struct heap *heap, uint32_t ix, struct heap_collection *out,
			 struct hdb_error *err);

/*
 * Slots of the array that are not null: entries that begin chains, elements of open tables. Takes
 * what it read off *budget (slots); HDB_NOTFOUND if that does not do, or there is no array.
 */
int heap_collection_used(struct heap *heap, const struct heap_collection *collection,
			 uint64_t *budget, uint64_t *slots, struct hdb_error *err);

/* Counts the elements by walking, within *budget steps: sets size, or HDB_NOTFOUND. */
int heap_collection_count(struct heap *heap, struct heap_collection *collection, uint64_t *budget,
			  struct hdb_error *err);

/* ---- contents ---- */

/* Elements of an array that are read at a time. */
#define HEAP_ENTRIES_CHUNK 512
/* Levels of a tree that are followed: a balanced one of 2^32 entries has at most 64. */
#define HEAP_TREE_LEVELS 128
/* Fields of a collection that holds its elements in such. */
#define HEAP_ENTRY_FIELDS_MAX 16
/*
 * Nodes within one another that are followed. Tries have some seven levels; a list that is read
 * backwards needs one for each element. 48 MB.
 */
#define HEAP_NODE_LEVELS (1u << 20)

/* A part of an array, read ahead. */
struct heap_chunk {
	uint32_t array_ix;
	uint64_t first; /* the array's element that is number 0 */
	uint64_t from, count;
	bool is_whole; /* there is no array, only what was read */
	uint8_t type;
	uint64_t bits[HEAP_ENTRIES_CHUNK];
};

/* Where a walk is in a node, or in an array of one. */
struct heap_frame {
	const struct heap_collection_rule *rule; /* of the node */
	uint64_t at, end;  /* of arrays and repeated elements: the next slot, and after the last */
	uint64_t base;     /* of ropes: elements to skip; of numbers: what is added to them */
	uint32_t ix;       /* the node or the array */
	uint32_t class_no; /* of nodes: the class that the row names */
	uint32_t run_done; /* of runs: numbers of this one so far */
	uint16_t part;     /* nodes: the next; arrays: the one that it is in */
	uint8_t level;     /* of arrays of arrays: 0 is a leaf */
	bool is_array : 1; /* it goes through slots */
	bool is_reversed : 1; /* its parts come in the opposite order */
};

/* Reads the contents, one by one. */
struct heap_entries {
	/* the current entry */
	uint64_t no;       /* from 0 */
	uint32_t entry_ix; /* the entry object, HEAP_NONE if there is none */
	bool has_key;
	struct heap_value key, value;
	/* how it ended */
	bool is_cut; /* a walk met itself, or went on for too long: damaged */
	/* why contents are not known, or not all of them, as a sentence; NULL: they are */
	const char *unknown;
	/* private */
	struct heap *heap;
	struct heap_collection from;             /* what is read: a part, if it has parts */
	const struct heap_collection_rule *rule; /* NULL: there is nothing to read */
	unsigned takes;
	uint64_t left;       /* elements of arrays that are still to come */
	uint64_t skip;       /* of nodes: elements to come that do not count */
	uint64_t steps;      /* left to take: no collection has more entries than the heap */
	uint64_t at, slots;  /* next slot; their number */
	uint64_t slot_start; /* the slot that is the first */
	bool has_extra;
	int64_t free_number; /* in slots that are not taken */
	struct heap_bounds {
		bool has[2], is_included[2]; /* the lowest key, the highest */
		struct heap_value keys[2];
		bool is_backwards; /* by the order of keys, which is a reversed one */
	} bounds;
	uint32_t node;     /* next entry of a chain, HEAP_NONE: none */
	uint32_t end_node; /* that ends a list */
	uint32_t tortoise; /* Brent's cycle finding */
	uint64_t chain_steps, chain_power;
	uint32_t stack[HEAP_TREE_LEVELS];
	unsigned depth;
	struct base_vec frames; /* struct heap_frame; the innermost is the last */
	uint32_t absent_ix;
	/* parts: where to go on in the outer collection */
	uint32_t parts_ix;
	uint64_t part_at, part_count;
	uint64_t looked; /* slots and entries so far */
	struct heap_chunk store, keys;
};

/*
 * Starts. The struct has some 9 KB. Also after a failure heap_entries_end frees what it owns; a
 * struct of zeros is fine.
 */
int heap_entries_begin(struct heap *heap, const struct heap_collection *collection,
		       struct heap_entries *out, struct hdb_error *err);
/* HDB_OK with the next, HDB_END after the last. */
int heap_entries_next(struct heap_entries *entries, struct hdb_error *err);
void heap_entries_end(struct heap_entries *entries);

#endif
