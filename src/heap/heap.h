/*
 * heap/heap.h - an open heap database: objects, classes, sizes, references and roots.
 *
 * This file covers base tables; derived tables belong to derive/. Only one thread at a time may use
 * a heap. Unless stated otherwise, returned pointers are borrowed until heap_close.
 */
#ifndef HEAP_HEAP_H
#define HEAP_HEAP_H

#include "base/bits.h"
#include "base/idmap.h"
#include "base/source.h"
#include "base/vec.h"
#include "base/work.h"
#include "hprof/reader.h"
#include "store/lists.h"
#include "store/records.h"
#include "store/schema.h"

/* No object or class. */
#define HEAP_NONE UINT32_MAX
/* Index of the placeholder for the boot class loader, which is not an object of the dump. */
#define HEAP_BOOT_LOADER 0u

/* Parameters for computing shallow sizes, from the meta values sizes.*. */
struct heap_layout {
	enum hdb_size_model model;
	unsigned header_bytes;
	unsigned reference_bytes;
	unsigned align_bytes;
	unsigned array_header_bytes;
	unsigned primitive_header_bytes;
	unsigned wide_header_bytes;
};

/*
 * Number of decoded groups of file offsets to cache, a power of two. They take 260 KB, which fits a
 * core's private cache.
 */
#define HEAP_OFFSET_GROUPS 256u

struct heap_offsets {
	uint32_t group_no; /* 1 + group number; 0 means unused */
	uint64_t offset[PACK_GROUP];
};

/* Facts about the dump that the reader of any answer should know. */
struct heap_state {
	/*
	 * message if the dump file has changed since the import; NULL if it is the same or missing
	 */
	char *stale;
	/* message about data that is missing from the dump, or NULL */
	char *incomplete;
	/* message if values were removed from the dump, or NULL */
	const char *redacted;
	/* minimum number of bytes missing from a truncated dump, or 0 if unknown */
	uint64_t missing_bytes;
	uint64_t skipped_bytes; /* number of bytes with objects that could not be read */
	uint64_t roots_seen;    /* number of root records for objects of the dump */
	bool is_cut;            /* whether the end of the dump is missing */
	/* whether the end of the dump, or bytes or packets inside the dump, are missing */
	bool is_damaged;
	/* whether objects without referrers count as roots; they are in the `orphans` table */
	bool takes_orphans;
	/* whether most primitive values were removed, so that a zero may stand for any value */
	bool lacks_values;
	/* path of the dump at import */
	char imported_path[4096];
	/*
	 * path of the same dump next to the database, if it is missing at dump_path; otherwise ""
	 */
	char beside_path[4096];
	char layout[128];        /* layout options of the import, or "" */
	char mapping_path[4096]; /* path of the mapping file, or "" if names are as in the dump */
	unsigned snapshot;
	bool is_strict;
};

/* Restricts passes over objects to a single Android heap. */
struct heap_filter {
	bool is_on; /* whether heap_read_block excludes objects of other heaps (HEAP_LEFT_OUT) */
	/* whether passes see all objects, and only rows are filtered (with heap_passes_over) */
	bool is_choosing;
	uint32_t heap_no; /* the selected heap, as in struct heap_object */
};

/* A cached field, with 1 + its number in the table. */
struct heap_kept_field {
	uint64_t end;
	struct store_field field;
};
#define HEAP_KEPT_FIELDS 1024u

/* The classes, which are loaded on first use. */
struct heap_class_tables {
	struct store_class *records;
	char **names;
	uint32_t *name_hashes;  /* hashes for heap_class_by_name; built on first use */
	uint64_t counted_bytes; /* charged to the budget */
	/* cache of the most recently read fields, by number modulo HEAP_KEPT_FIELDS */
	struct heap_kept_field fields[HEAP_KEPT_FIELDS];
	struct heap_below *below; /* tables of heap_below; owned */
};

/* Open blocks of objects and of IDs, by block number. */
struct heap_blocks {
	struct store_objects **objects;
	struct store_ids **ids;
	uint64_t ids_generation;
	uint64_t *first_ids;  /* first ID of each block; loaded on first use */
	uint32_t found_block; /* block in which the last ID was found */
	/* cache, indexed by group number modulo HEAP_OFFSET_GROUPS; owned */
	struct heap_offsets *offsets;
};

/* GC roots, which are loaded on first use. */
struct heap_roots {
	uint64_t *bits; /* one bit per object */
	struct store_root *records;
	uint64_t count;
	struct base_big big; /* memory of the records */
};

/* Data for heap/values/, which is built on first use. */
struct heap_value_tables {
	struct base_vec string_layouts; /* strings.h */
	struct base_vec binder_proxies; /* binder.h: struct heap_binder_proxy */
	/* field names (char *, owned) and their numbers, for named_references.h */
	struct base_vec names;
	struct base_idmap name_nos;
	bool has_strings, has_binder_proxies;
	bool is_big_endian;
};

/* The dump, which is opened on first use. */
struct heap_dump {
	/* path given by the user, borrowed; NULL means the path recorded by the import */
	const char *path;
	struct base_source *source;
	bool is_shared; /* whether `source` belongs to the heap of which this is a twin */
	struct hprof_file file;
	struct base_view view;
};

struct heap {
	struct store *store;    /* owned */
	struct base_work *work; /* borrowed */
	uint32_t object_count;  /* including objects invented by the import */
	uint32_t class_count;
	unsigned id_size;
	struct heap_layout layout;
	struct heap_state state; /* determined when the heap is opened */
	uint32_t class_class_no; /* class number of java.lang.Class */
	bool is_android;
	/* whether the dump was a portable heap dump, which has no field names or values */
	bool is_phd;
	struct heap_filter filter;
	const char *rules_path; /* the user's rules file (queries/explain), borrowed, or NULL */
	/* private */
	struct heap_class_tables classes;
	struct heap_blocks blocks;
	struct heap_roots roots;
	struct heap_value_tables values;
	struct heap_known *known; /* known.h; created on first use */
	struct heap_dump dump;
};

/*
 * Opens a database file. `work` and dump_path (which may be NULL) are borrowed. The caller must
 * close *out with heap_close.
 */
int heap_open(const char *path, const char *dump_path, struct base_work *work, struct heap **out,
	      struct hdb_error *err);
/*
 * Opens a database only to read meta values: heap->state, heap->layout.model, and whether the
 * database contains the dump. Also accepts databases of other revisions, whose tables must not be
 * read.
 */
int heap_open_meta(const char *path, const char *dump_path, struct base_work *work,
		   struct heap **out, struct hdb_error *err);
void heap_close(struct heap *heap);

/*
 * Makes a twin of an open heap, so that another thread can read objects, values and collections.
 * The twin shares the classes, the roots and the dump, and has caches of its own. The heap must
 * outlive the twin, and must not be refreshed meanwhile. The
 * caller must close *out with heap_twin_close.
 */
int heap_twin(struct heap *heap, struct heap **out, struct hdb_error *err);
void heap_twin_close(struct heap *twin);

/* ---- IDs ---- */

/* Finds the index of an ID. Returns HDB_OK, or HDB_NOTFOUND without a message. */
int heap_find(struct heap *heap, uint64_t id, uint32_t *ix, struct hdb_error *err);

/*
 * Finds the index of the last object whose ID is not greater than `id`. Returns HDB_OK, or
 * HDB_NOTFOUND without a message.
 */
int heap_find_before(struct heap *heap, uint64_t id, uint32_t *ix, struct hdb_error *err);

/* Finds the ID of the object with this index, which must be below object_count. */
int heap_id(struct heap *heap, uint32_t ix, uint64_t *id, struct hdb_error *err);

/* ---- objects ---- */

struct heap_object {
	uint32_t ix;
	uint32_t class_no;
	uint8_t kind; /* enum store_kind, with the same values as enum hdb_object_kind */
	/* STORE_KIND_EMBEDDED for a flat value, or for an array without a header; otherwise 0 */
	uint8_t embedded;
	/*
	 * for an array, its length; for a class object, the number of the class that it represents
	 */
	uint64_t length;
	uint64_t shallow_bytes;
	uint32_t heap_no; /* Android, or 0 if none */
};

/*
 * Returns the class under which an object is listed: for a class object, the class that it
 * represents.
 */
static inline uint32_t heap_known_class(const struct heap_object *object)
{
	return object->kind == STORE_CLASS ? (uint32_t)object->length : object->class_no;
}

int heap_object(struct heap *heap, uint32_t ix, struct heap_object *out, struct hdb_error *err);

/* Finds the file offset of an object's sub-record, or 0 if the object is not in the dump. */
int heap_offset(struct heap *heap, uint32_t ix, uint64_t *offset, struct hdb_error *err);

/*
 * Finds the file offset of an object's sub-record. May be called on any thread if the object's
 * block has been prepared. *groups belongs to the thread, which must initialise it with NULL and
 * finally free() it.
 */
int heap_offset_by(struct heap *heap, struct heap_offsets **groups, uint32_t ix, uint64_t *offset,
		   struct hdb_error *err);

/*
 * Sets *is_real to whether the object is in the dump. The boot loader's placeholder and invented
 * classes are not.
 */
int heap_is_real(struct heap *heap, uint32_t ix, bool *is_real, struct hdb_error *err);

/*
 * Returns the shallow size that an object with these properties would have. `kind` is the object's
 * kind | embedded. Classes must be loaded.
 */
uint64_t heap_shallow(const struct heap *heap, uint32_t class_no, unsigned kind, uint64_t length);

/*
 * Returns the number of bytes after the fields of an instance that has a length: the stack of a
 * stack chunk or, in a heap graph, the bytes by which an object exceeds the smallest object of its
 * class.
 */
uint64_t heap_tail_bytes(const struct heap *heap, uint64_t length);

/* The columns of a block of objects, for passes over all objects. */
struct heap_block {
	uint32_t first_ix;
	uint32_t count;
	uint32_t class_no[STORE_BLOCK_OBJECTS];
	uint8_t kind[STORE_BLOCK_OBJECTS];
	uint8_t embedded[STORE_BLOCK_OBJECTS]; /* as in heap_object */
	uint64_t length[STORE_BLOCK_OBJECTS];
	uint64_t shallow[STORE_BLOCK_OBJECTS];
};

/* Returns the number of blocks of objects. */
uint32_t heap_block_count(const struct heap *heap);

/* Returns how much malloc memory a heap uses once all blocks are open and the roots are loaded. */
uint64_t heap_memory_bytes(const struct heap *heap);

/* Kind of an excluded object, with length and size 0. Only passes over blocks use it. */
#define HEAP_LEFT_OUT 7u

/* Switches the filter off, for code that must see all objects. Returns whether it was on. */
static inline bool heap_show_all(struct heap *heap)
{
	const bool was_filtered = heap->filter.is_on;

	heap->filter.is_on = false;
	return was_filtered;
}

/*
 * HEAP_FILTER_SCOPE(heap_show_all, heap) switches the filter off, and restores it at the end of the
 * enclosing C block.
 */
struct heap_filter_was {
	struct heap *heap;
	bool is_on;
};
static inline void heap_filter_restore(struct heap_filter_was *was)
{
	was->heap->filter.is_on = was->is_on;
}
/* clang considers a variable unused if only its cleanup function uses it. */
#define HEAP_FILTER_SCOPE(show, heap) \
	__attribute__((unused)) \
	BASE_SCOPED(heap_filter_restore) struct heap_filter_was heap_filter_was_ = { heap, \
										     show(heap) }

/* Returns whether the filter excludes the objects of a heap. */
static inline bool heap_leaves_out(const struct heap *heap, uint32_t heap_no)
{
	return heap->filter.is_on && heap_no != heap->filter.heap_no;
}

/*
 * Switches the filter on if is_choosing is set, so that passes see only the objects that rows show.
 * The opposite of heap_show_all.
 */
static inline bool heap_show_chosen(struct heap *heap)
{
	const bool was_filtered = heap->filter.is_on;

	heap->filter.is_on |= heap->filter.is_choosing;
	return was_filtered;
}

/* Sets *out to whether the object is excluded from rows, and to false after a failure. */
int heap_passes_over(struct heap *heap, uint32_t ix, bool *out, struct hdb_error *err);

/*
 * Reads the heap numbers of a block's objects, as in struct heap_object. May be called on other
 * threads, like heap_read_block.
 */
int heap_read_heaps(struct heap *heap, uint32_t block_no, uint32_t *out, struct hdb_error *err);

/* Reads a block. struct heap_block is too large for the stack. */
int heap_read_block(struct heap *heap, uint32_t block_no, struct heap_block *out,
		    struct hdb_error *err);
/*
 * Reads a block, but computes sizes only for classes for which is_wanted[class_no] is nonzero. NULL
 * means all classes.
 */
int heap_read_block_of(struct heap *heap, uint32_t block_no, const uint8_t *is_wanted,
		       struct heap_block *out, struct hdb_error *err);

/* Returns the number of a block. */
static inline uint32_t heap_block_no(const struct heap_block *block)
{
	return block->first_ix / STORE_BLOCK_OBJECTS;
}

/* Called for each block of a pass. The block is borrowed for the call. */
typedef int (*heap_look)(void *ctx, const struct heap_block *block, struct hdb_error *err);

/*
 * Reads all blocks like heap_read_block, in order, on the calling thread, and calls `look` for
 * each. Unless `work` is NULL, then calls base_step with the index of the block's first object. If
 * `look` returns anything but HDB_OK, even a positive value, the pass ends and returns that value.
 */
int heap_each_block(struct heap *heap, struct base_work *work, heap_look look, void *ctx,
		    struct hdb_error *err);

/* Selects the blocks that a pass reads. */
struct heap_pass {
	struct base_work *work; /* NULL means base_step is not called */
	/*
	 * indexed by class number: nonzero selects blocks with objects of this class; NULL selects
	 * all blocks
	 */
	const uint8_t *is_wanted;
};

/* Like heap_each_block, but visits only the selected blocks. */
int heap_each_block_of(struct heap *heap, const struct heap_pass *blocks, heap_look look, void *ctx,
		       struct hdb_error *err);

/*
 * Reads only the class numbers of a block, for all objects regardless of the filter, in a third of
 * the time of heap_read_block. Sets only first_ix, count and class_no of *out. Fails with
 * HDB_ECORRUPT if a number is invalid.
 */
int heap_read_classes(struct heap *heap, uint32_t block_no, struct heap_block *out,
		      struct hdb_error *err);

/*
 * Sets *has to whether a block has objects of a class for which is_wanted[class_no] is nonzero.
 * Does not decode objects.
 */
int heap_block_has(struct heap *heap, uint32_t block_no, const uint8_t *is_wanted, bool *has,
		   struct hdb_error *err);

/*
 * Reads the file offsets of a block's objects: 0 for class objects and for objects that are not in
 * the dump. `out` must have room for STORE_BLOCK_OBJECTS offsets.
 */
int heap_read_offsets(struct heap *heap, uint32_t block_no, uint64_t *out, struct hdb_error *err);

/*
 * Looks up a block in the store. Afterwards, heap_read_block only decodes, which several threads
 * may do at once until the store is refreshed.
 */
int heap_prepare_block(struct heap *heap, uint32_t block_no, struct hdb_error *err);

/* Prepares all blocks on several threads. */
int heap_prepare_blocks(struct heap *heap, unsigned threads, struct hdb_error *err);

/*
 * Asks the operating system to read the part of the dump with a block's objects, if that part is
 * contiguous. This speeds up passes if the dump is not in memory, because single page faults are
 * slow. May be called on other threads, like heap_read_block.
 */
void heap_prefetch_block(struct heap *heap, uint32_t block_no);
/*
 * Prefetches the block HEAP_PREFETCH_BLOCKS ahead. For passes that call this for every block,
 * nearly in order.
 */
#define HEAP_PREFETCH_BLOCKS 4u
void heap_prefetch_ahead(struct heap *heap, uint32_t block_no);

/* Reads the IDs of a block in order. `out` has room for STORE_BLOCK_OBJECTS. */
int heap_read_ids(struct heap *heap, uint32_t block_no, uint64_t *out, uint32_t *count,
		  struct hdb_error *err);

/* ---- object counts from the import ---- */

/*
 * The number of objects of a class and kind. Arrays and stack chunks have several rows, by their
 * length modulo a period (layout_array_period), so that all objects of a row have the same padding
 * as one with `length`, whatever the heap's alignment.
 */
struct heap_count {
	uint32_t class_no;
	uint8_t kind;     /* enum store_kind; each class object has a separate row */
	uint8_t embedded; /* as in heap_object */
	bool is_invented; /* whether this is a class object that the dump does not contain */
	uint64_t length;  /* class objects: number of the class */
	uint64_t count;
	uint64_t elements;      /* arrays and stack chunks: sum of lengths */
	uint64_t shallow_bytes; /* total shallow size */
};

/*
 * Calls `take` for each count. The counts cover all objects except the boot loader's placeholder.
 * *count is borrowed for the call. Returns HDB_NOTFOUND, without a message, if the database has no
 * counts, for example because the dump had too many kinds of arrays.
 */
int heap_each_count(struct heap *heap,
		    int (*take)(void *ctx, const struct heap_count *count, struct hdb_error *err),
		    void *ctx, struct hdb_error *err);
/*
 * Like heap_each_count, but if the database has no counts, visits all blocks and reports each
 * object separately. `work` may be NULL.
 */
int heap_count_all(struct heap *heap, struct base_work *work,
		   int (*take)(void *ctx, const struct heap_count *count, struct hdb_error *err),
		   void *ctx, struct hdb_error *err);

/* ---- classes ---- */

/* Destination for a whole table of records, whose number has been checked. */
struct heap_records {
	void *records; /* must have room for `count` records */
	size_t size;   /* size of a record */
	uint64_t count;
};
int heap_read_records(struct heap *heap, enum store_table table, const struct heap_records *to,
		      struct hdb_error *err);

/* Loads the classes unless already loaded. Most functions do this themselves. */
int heap_load_classes(struct heap *heap, struct hdb_error *err);

/*
 * Returns the number of objects that are not in the dump: the boot loader's placeholder and
 * invented classes. Classes must be loaded.
 */
uint32_t heap_invented_count(const struct heap *heap);

/* Returns a class record. Classes must be loaded, and `no` must be below class_count. */
static inline const struct store_class *heap_class(const struct heap *heap, uint32_t no)
{
	return &heap->classes.records[no];
}

/*
 * Returns whether object i of a block counts in totals. Objects that are not in the dump (the boot
 * loader's placeholder, invented classes) and objects that a filter excludes do not. Classes must
 * be loaded.
 */
static inline bool heap_is_counted(const struct heap *heap, const struct heap_block *block,
				   uint32_t i)
{
	return block->first_ix + i != HEAP_BOOT_LOADER && block->kind[i] != HEAP_LEFT_OUT &&
	       !(block->kind[i] == STORE_CLASS &&
		 heap_class(heap, (uint32_t)block->length[i])->flags & STORE_CLASS_INVENTED);
}

/* Returns whether a single object counts in totals, ignoring filters. */
static inline bool heap_object_is_counted(const struct heap *heap, const struct heap_object *object)
{
	return object->ix != HEAP_BOOT_LOADER &&
	       !(object->kind == STORE_CLASS &&
		 heap_class(heap, (uint32_t)object->length)->flags & STORE_CLASS_INVENTED);
}

/*
 * Checks that no read has failed: neither from the database, including reads without an error
 * argument (store_failed), nor from the mapped dump. Required at the end of each step, before
 * results are shown.
 */
int heap_check(struct heap *heap, struct hdb_error *err);
/*
 * Like heap_check, but also checks that the sizes of the database and the dump have not changed, at
 * the cost of system calls.
 */
int heap_check_size(struct heap *heap, struct hdb_error *err);

/*
 * Reports HDB_ENOMEM. If err is NULL, heap_check reports it later. May be called on any thread.
 * Inline, so that static analysers see that it always fails.
 */
static inline int heap_fail_memory(struct heap *heap, const char *what, uint64_t bytes,
				   struct hdb_error *err)
{
	(void)store_fail_memory(heap->store, what, bytes, err);
	return HDB_ENOMEM;
}

/*
 * Allocates `count` zeroed elements. `what` names them in error messages. Returns HDB_OK or
 * HDB_ENOMEM.
 */
#define HEAP_ALLOC(heap, pointer, count, what, err) \
	(((pointer) = calloc((count), sizeof(*(pointer)))) ? \
		 HDB_OK : \
		 heap_fail_memory((heap), (what), (uint64_t)(count) * sizeof(*(pointer)), (err)))

/*
 * Returns the name of a class: valid UTF-8, terminated, never NULL. An unreadable name is "?", and
 * heap_check reports the error.
 */
const char *heap_class_name(struct heap *heap, uint32_t no);

/* Returns the name of an object's class. */
const char *heap_class_name_of(struct heap *heap, uint32_t ix);

/* Returns the class name of a class's loader, or "<boot>". */
const char *heap_loader_name(struct heap *heap, const struct store_class *class);

/*
 * Returns whether a class is never unloaded because a loader of the VM (boot, platform or
 * application) loaded it. A reference to such a class does not explain why its static fields are
 * alive.
 */
bool heap_class_is_permanent(struct heap *heap, uint32_t no);
/* Returns whether an object is the class object of a class that is never unloaded. */
bool heap_is_permanent_class(struct heap *heap, uint32_t ix);

/*
 * Returns the package of a class: "java.util" for "java.util.HashMap$Node[]", "<unnamed>" for
 * "App", "<primitive arrays>" for "byte[][]". The result has *size bytes; it is part of class_name
 * or static.
 */
const char *heap_package(const char *class_name, size_t *size);

/* Finds the class that a class object represents, or HEAP_NONE for other objects. */
int heap_class_of_object(struct heap *heap, uint32_t ix, uint32_t *class_no, struct hdb_error *err);

/* Returns the first class with exactly this name and a number of at least `from`, or HEAP_NONE. */
uint32_t heap_class_by_name(struct heap *heap, const char *name, uint32_t from);

/* Returns whether class `no` is super_no or a subclass of super_no. */
bool heap_is_subclass(const struct heap *heap, uint32_t no, uint32_t super_no);

/* Returns whether class `no` or one of its superclasses has this name. */
bool heap_has_superclass(struct heap *heap, uint32_t no, const char *name);
/*
 * Like heap_has_superclass, for all classes: bits (base/bits.h), by class number. The first call
 * for a name takes longer. Returns NULL if memory is exhausted or too many names have been
 * requested.
 */
const uint64_t *heap_below(struct heap *heap, const char *name);
/* Frees tables that heap_below keeps. heap_close calls it. */
void heap_release_below(struct heap *heap);

/* Reads record number i of the table fields. */
int heap_field(struct heap *heap, uint32_t i, struct store_field *out, struct hdb_error *err);

/*
 * Copies a string of the dump to `buf` as valid UTF-8, terminated, and truncated to fit `size`.
 * STORE_NONE gives "".
 */
int heap_text(struct heap *heap, uint32_t text_no, char *buf, size_t size, struct hdb_error *err);

/* ---- references ---- */

/* Opens the stored references. They do not include the edge from an object to its class. */
void heap_references(struct heap *heap, struct store_lists *out);

/* Returns the table of references, for decoding whole blocks with store_lists_decode. */
static inline struct store_lists_of heap_references_of(const struct heap *heap)
{
	return (struct store_lists_of){ heap->store, STORE_REFERENCES, heap->object_count };
}

/* ---- roots ---- */

/* Loads the roots unless already loaded. */
int heap_load_roots(struct heap *heap, struct hdb_error *err);

/*
 * Returns whether ix is a root. Local variables of known threads do not count as roots. Roots must
 * be loaded.
 */
static inline bool heap_is_root(const struct heap *heap, uint32_t ix)
{
	return base_bit_has(heap->roots.bits, ix);
}

/* Number of words per block of the `orphans` table: the bits of 262,144 objects. */
#define HEAP_ORPHAN_WORDS 4096u

/*
 * Makes the objects in the `orphans` table of an incomplete dump roots, if the table exists
 * (derive/orphans.c). Roots must be loaded; heap_load_roots also calls this.
 */
int heap_add_orphans(struct heap *heap, struct hdb_error *err);

/*
 * Returns whether an object is a root only because nothing in an incomplete dump refers to it.
 * Roots must be loaded.
 */
bool heap_is_orphan(const struct heap *heap, uint32_t ix);

/* Shown in place of a root kind: for orphans, and for classes that are never unloaded. */
#define HEAP_ORPHAN_NAME "none (its holder may be missing)"
#define HEAP_STAYS_NAME "class that is never unloaded"

/*
 * Returns the first root record of an object, including local variables, or NULL if there is none.
 */
const struct store_root *heap_roots_of(const struct heap *heap, uint32_t ix, size_t *count);

/* Returns the display name of a root kind, such as "JNI global" or "Java frame". Static. */
const char *heap_root_name(uint8_t kind);

/* ---- the dump ---- */

/* Returns the path of the dump; borrowed until heap_close. */
const char *heap_where_dump(const struct heap *heap);

/* Returns whether the database contains the dump. */
bool heap_keeps_dump(const struct heap *heap);

/* heap_state.c: fills in heap->state, which heap_close releases. */
int heap_find_state(struct heap *heap, struct hdb_error *err);
void heap_release_state(struct heap *heap);

/* Opens the dump. Returns HDB_ECHANGED if it has changed since the import. */
int heap_open_dump(struct heap *heap, struct hdb_error *err);

#endif
