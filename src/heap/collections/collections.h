/*
 * heap/collections/collections.h - lists, sets, maps and queues of known classes: size, capacity
 * and contents.
 *
 * A row of collections.rows describes a class. Sizes and links come from the dump and may be wrong,
 * so sizes are limited to what is possible, and a walk stops when it returns to a node.
 */
#ifndef HEAP_COLLECTIONS_COLLECTIONS_H
#define HEAP_COLLECTIONS_COLLECTIONS_H

#include "heap/known.h"

enum heap_collection_kind { HEAP_LIST, HEAP_SET, HEAP_MAP, HEAP_QUEUE, HEAP_BITS };

/* Where the elements are. */
enum heap_collection_shape {
	HEAP_EMPTY, /* always empty: the class stores no elements */
	HEAP_WRAP,  /* a wrapper: the elements are in the collection at `store` */
	/* elements of the array at `store`, which start at index `first` and wrap around */
	HEAP_ARRAY,
	/*
	 * elements in any slots of the array at `store`, with keys in the array at `key`, if given
	 */
	HEAP_SLOTS,
	HEAP_PAIRS, /* keys and values alternate in the array at `store` */
	/*
	 * in entry objects: each slot of the array at `store` begins a chain of entries, linked by
	 * `next` if given
	 */
	HEAP_CHAINS,
	HEAP_LINKED, /* in entry objects: a list that starts at `store` and is linked by `next` */
	/* in entry objects: a tree with its root at `store` and children at `left` and `next` */
	HEAP_TREE,
	/* in other collections, which are the elements of the array at `store` */
	HEAP_PARTS,
	/* in fields of the object itself, named in the lists `value` and `key` */
	HEAP_FIELDS,
	HEAP_WORDS, /* bits of the long, or of the array of longs, at `store` */
	HEAP_NODES, /* in nodes, which are objects with their own rows (see `parts`) */
	/* in an unknown structure: only the size is known, which is `size` minus `first` */
	HEAP_HIDDEN
};

/* Which part of a map's entries a wrapper shows. */
enum heap_collection_takes { HEAP_TAKES_ALL, HEAP_TAKES_KEYS, HEAP_TAKES_VALUES };

enum heap_collection_flag {
	HEAP_HASHED = 1,   /* slots are chosen by hash, so collisions are meaningful */
	HEAP_CIRCULAR = 2, /* the entry at `store` is a sentinel that also ends the list */
	/* entries with a null key (or, without keys, a null value) are not elements */
	HEAP_SKIPS_NULL = 4,
	/* the first `size` slots or pairs are elements, even if they are null */
	HEAP_DENSE = 8,
	HEAP_BY_VALUE = 16, /* a slot is in use if its value, not its key, is not null */
	HEAP_LENT = 32,     /* the array belongs to another collection and is not counted here */
	/* a part of another collection, not listed as a collection itself */
	HEAP_PART = 64,
	HEAP_APART = 128, /* the entry whose flag is at `extra` is not included in `size` */
	/* a view of a sorted map that contains only the keys within its bounds */
	HEAP_BOUNDED = 256,
	HEAP_OF_LISTS = 512, /* `store` and `key` refer to lists, not arrays */
	HEAP_INNER = 1024,   /* a node that is never an element */
	HEAP_NESTED = 2048   /* the values in nodes are lists of entries */
};

/* Kinds of parts of a node. */
enum heap_part_kind {
	HEAP_PART_END,  /* marks the end */
	HEAP_PART_IF,   /* no element: if `field` is null or 0, the node ends here */
	HEAP_PART_SKIP, /* no element: this number of the following elements is skipped */
	HEAP_PART_ITEM, /* the element in `field`, with its key in `with` if given */
	/* no element: the number in `field` is added to the base of the numbers below this node */
	HEAP_PART_SUM,
	HEAP_PART_NUMBERED, /* the element in `field`, whose key is the number of this node */
	HEAP_PART_NODE,     /* a node or null */
	HEAP_PART_EITHER,   /* a node, an element, or null */
	HEAP_PART_REVERSED, /* a list that is visited from its end */
	HEAP_PART_REPEAT,   /* the element in `field`, repeated `with` times */
	/* All following kinds describe the array in `field`. */
	HEAP_PART_ITEMS, /* elements, from the index in `from` up to the index in `with` */
	HEAP_PART_PAIRS, /* alternating keys and values; if a key is null, the value is a node */
	HEAP_PART_NODES, /* nodes and nulls */
	/* HEAP_INNER nodes and elements; a null is an element only if `with` is given */
	HEAP_PART_MIXED,
	HEAP_PART_ONWARD,  /* elements and nulls; the last slot refers to the next such array */
	HEAP_PART_BUCKETS, /* arrays of a key, a value and, optionally, another such array */
	/*
	 * Elements (in maps, pairs), one for each bit set in `with`, followed by nodes, one for
	 * each bit set in `from`. The nodes start at the end of the array. If both are 0, all slots
	 * are elements.
	 */
	HEAP_PART_CHAMP,
	/*
	 * A tree of arrays with 32 slots each. `with` contains the number of levels above the
	 * leaves times 5 or, if `with` is a digit, the number of levels. The elements begin at the
	 * index in `from`. If the array is inside another object, `via` is its path in that object.
	 */
	HEAP_PART_ROPE,
	/*
	 * RoaringBitmap: containers whose high 16 bits are in the array in `with`. The number of
	 * containers is in `from`. The following kinds describe the low bits of a container: an
	 * array of numbers, a bit set, or runs in which first value and length alternate.
	 */
	HEAP_PART_CONTAINERS,
	HEAP_PART_SHORTS,
	HEAP_PART_BITS,
	HEAP_PART_RUNS
};

/* The parts of a node in the order in which their elements are visited. Paths are as in known.h. */
struct heap_part {
	enum heap_part_kind kind;
	const char *field, *with, *from;
};

/*
 * A row of the table, which describes one version of a class and its subclasses. Paths are as in
 * known.h.
 */
struct heap_collection_rule {
	const char *class_name; /* may contain "*" */
	enum heap_collection_kind kind;
	enum heap_collection_shape shape;
	const char *size;  /* path to the number of elements, or NULL if they must be counted */
	const char *store; /* path to the contents; its meaning depends on the shape */
	const char *next;  /* path to the next entry or, in trees, to the right child */
	/*
	 * Paths in an entry; see the shapes. For maps stored in nodes, paths in the elements of
	 * nodes: objects with a key and a value. If `key` is NULL, the value of an element is an
	 * object, and `value` a path in it.
	 */
	const char *key, *value;
	/* for arrays: path to the index of the first element; NULL means index 0 */
	const char *first;
	const char *last;  /* for arrays without `size`: path to the index after the last element */
	const char *array; /* path to the array whose length is the capacity; NULL means `store` */
	const char *left;  /* trees: path to the left child */
	const char *cells; /* path to an array of counters whose `value`s are added to the size */
	/* path to an additional entry, or to a flag that is true if the last slot is in use */
	const char *extra;
	/* path to the entry within an object that a slot may contain instead of the entry itself */
	const char *via;
	/*
	 * static field whose object means "no element" or, in pairs, marks an array of further
	 * pairs
	 */
	const char *absent;
	/* path to the value that marks free slots, or a number; NULL means 0 */
	const char *free;
	const struct heap_part *parts; /* parts of nodes; ends with HEAP_PART_END */
	unsigned takes;                /* enum heap_collection_takes */
	unsigned flags;                /* enum heap_collection_flag */
};

/* Returns the table; *count is its number of rows. */
const struct heap_collection_rule *heap_collection_rules(size_t *count);

/* Returns the row for a class, or NULL if the class is not a known collection. */
const struct heap_collection_rule *heap_collection_rule(struct heap *heap, uint32_t class_no);

/* Returns "list", "set", "map", "queue" or "bits", a static string. */
const char *heap_collection_kind_name(enum heap_collection_kind kind);

/* An open collection, and the location of its contents. */
struct heap_collection {
	uint32_t ix;
	const struct heap_collection_rule *rule;
	/* the collection inside all wrappers, or `ix` itself if it is not a wrapper */
	uint32_t inner_ix;
	const struct heap_collection_rule *inner; /* NULL if the object is not a known collection */
	uint32_t inner_class;                     /* the class named in the row `inner` */
	unsigned takes;                           /* enum heap_collection_takes */
	/* array that determines the capacity or contains the parts, or HEAP_NONE */
	uint32_t array_ix;
	uint64_t array_length;
	uint64_t size;     /* number of elements or, for a bit set, number of set bits */
	uint64_t capacity; /* number of elements that fit without growing */
	/* whether `size` is set; if not, heap_collection_count can count */
	bool has_size;
	bool has_capacity;
	bool has_lied;   /* whether the stored size is impossible */
	bool wraps_null; /* whether the collection is a wrapper of null, and therefore empty */
};

/*
 * Opens a collection. Returns HDB_NOTFOUND if the object is not a known collection. Opens the dump.
 */
int heap_collection_open(struct heap *heap, uint32_t ix, struct heap_collection *out,
			 struct hdb_error *err);

/*
 * Counts the non-null slots of the array: the first entries of chains, or the elements of open
 * tables. Subtracts the number of slots from *budget. Returns HDB_NOTFOUND if the budget is too
 * small or there is no array.
 */
int heap_collection_used(struct heap *heap, const struct heap_collection *collection,
			 uint64_t *budget, uint64_t *slots, struct hdb_error *err);

/*
 * Counts the elements by visiting them, in at most *budget steps. Sets the size, or returns
 * HDB_NOTFOUND.
 */
int heap_collection_count(struct heap *heap, struct heap_collection *collection, uint64_t *budget,
			  struct hdb_error *err);

/* ---- contents ---- */

/* Number of array elements to read at a time. */
#define HEAP_ENTRIES_CHUNK 512
/* Maximum depth of a tree. A balanced tree of 2^32 entries has at most 64 levels. */
#define HEAP_TREE_LEVELS 128
/* Maximum number of elements in a collection that stores them in fields. */
#define HEAP_ENTRY_FIELDS_MAX 16
/*
 * Maximum nesting depth of nodes. Tries have about seven levels, but reading a list backwards takes
 * one level per element. The stack takes at most 48 MB.
 */
#define HEAP_NODE_LEVELS (1u << 20)

/* A buffer of array elements. */
struct heap_chunk {
	uint32_t array_ix;
	uint64_t first; /* index in the array of element number 0 */
	uint64_t from, count;
	/* whether the buffer holds all elements and has no array behind it */
	bool is_whole;
	uint8_t type;
	uint64_t bits[HEAP_ENTRIES_CHUNK];
};

/* Position of a walk in a node, or in an array of a node. */
struct heap_frame {
	const struct heap_collection_rule *rule; /* row of the node */
	uint64_t at, end; /* for arrays and repeated elements: next slot, and end */
	/* for ropes, number of elements to skip; for numbers, base that is added to each number */
	uint64_t base;
	uint32_t ix;       /* the node or the array */
	uint32_t class_no; /* nodes: the class named in the row */
	uint32_t run_done; /* for runs: number of values returned from the current run */
	/* for nodes: next part; for arrays: the part to which the array belongs */
	uint16_t part;
	uint8_t level;        /* for arrays of arrays: level of the array, 0 for a leaf */
	bool is_array : 1;    /* iterates over slots */
	bool is_reversed : 1; /* whether the parts are visited in reverse order */
};

/* Iterator over the contents of a collection. */
struct heap_entries {
	/* current entry */
	uint64_t no;       /* index, from 0 */
	uint32_t entry_ix; /* the entry object, or HEAP_NONE if none */
	bool has_key;
	struct heap_value key, value;
	/* state of the iteration */
	/*
	 * whether the walk stopped because the structure is damaged: it returned to a node or took
	 * too many steps
	 */
	bool is_cut;
	/*
	 * reason, as a sentence, why the contents are unknown or incomplete; NULL if they are
	 * complete
	 */
	const char *unknown;
	/*
	 * maximum value of `looked`, at which the iteration ends as if the structure were damaged;
	 * unlimited unless set after heap_entries_begin
	 */
	uint64_t looks_max;
	uint64_t looked; /* number of slots and entries visited so far */
	/* private */
	struct heap *heap;
	struct heap_collection from;             /* the collection or part being read */
	const struct heap_collection_rule *rule; /* NULL means nothing to read */
	unsigned takes;
	uint64_t left; /* number of array elements left */
	uint64_t skip; /* for nodes: number of following elements to skip */
	/* number of remaining steps; no collection has more entries than the heap has objects */
	uint64_t steps;
	uint64_t at, slots;  /* next slot, and number of slots */
	uint64_t slot_start; /* first slot */
	bool has_extra;
	int64_t free_number; /* value that marks a free slot */
	struct heap_bounds {
		bool has[2], is_included[2]; /* lowest key, highest key */
		struct heap_value keys[2];
		bool is_backwards; /* the order of keys is reversed */
	} bounds;
	uint32_t node;     /* next entry of a chain, or HEAP_NONE */
	uint32_t end_node; /* entry that ends a list */
	uint32_t tortoise; /* node remembered by Brent's cycle detection */
	uint64_t chain_steps, chain_power;
	uint32_t stack[HEAP_TREE_LEVELS];
	unsigned depth;
	struct base_vec frames; /* struct heap_frame, innermost last */
	uint32_t absent_ix;
	/* for parts: position in the outer collection */
	uint32_t parts_ix;
	uint64_t part_at, part_count;
	struct heap_chunk store, keys;
};

/*
 * Begins an iteration. The structure takes about 9 KB. The caller must call heap_entries_end, even
 * after a failure; it also accepts a zeroed structure.
 */
int heap_entries_begin(struct heap *heap, const struct heap_collection *collection,
		       struct heap_entries *out, struct hdb_error *err);
/* Moves to the next entry. Returns HDB_OK, or HDB_END after the last entry. */
int heap_entries_next(struct heap_entries *entries, struct hdb_error *err);
void heap_entries_end(struct heap_entries *entries);

#endif
