/*
 * heap/heap.h - an open heap database as a heap: objects, classes, sizes, references, roots.
 *
 * Reads the base tables only; what must be computed first is derive/'s. One thread at a time.
 * Pointers that a function lends are borrowed until heap_close unless it says otherwise.
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

/* No object. */
#define HEAP_NONE UINT32_MAX
/* Index of the boot class loader's stand-in, which no dump has. */
#define HEAP_BOOT_LOADER 0u

/* How shallow sizes come about; meta values sizes.*. */
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
 * Decoded groups of file offsets that are kept: a power of two; 260 KB, what a core's own cache
 * holds.
 */
#define HEAP_OFFSET_GROUPS 256u

struct heap_offsets {
	uint32_t group_no; /* + 1; 0: none */
	uint64_t offset[PACK_GROUP];
};

/* What a reader of any answer should know first. */
struct heap_state {
	/* one line: the dump file has changed since; NULL: it has not, or it is gone */
	char *stale;
	char *incomplete;       /* one line: what the dump lacks; NULL: nothing that is known */
	const char *redacted;   /* one line: values were removed from it; NULL: not known to be */
	uint64_t missing_bytes; /* of a dump that was cut: at least; 0: not known */
	uint64_t skipped_bytes; /* with objects that could not be read */
	uint64_t roots_seen;    /* root records on objects of the dump */
	bool is_cut;            /* its end is missing */
	bool takes_orphans;     /* what nothing holds counts as a root: table orphans */
	/* how it was imported */
	char imported_path[4096];
	char layout[128];        /* "": none was given */
	char mapping_path[4096]; /* of the names; "": those of the dump */
	unsigned snapshot;
	bool is_strict;
};

/* Android: which of the heaps passes over the objects see. */
struct heap_filter {
	bool is_on;       /* heap_read_block gives the objects of others as HEAP_LEFT_OUT */
	bool is_choosing; /* passes see all; who makes rows chooses by heap_passes_over */
	uint32_t heap_no; /* of both; as heap_no in struct heap_object */
};

/* Classes; read when first asked for. */
struct heap_class_tables {
	struct store_class *records;
	char **names;
	uint32_t *name_hashes;  /* heap_class_by_name; made when first asked for */
	uint64_t counted_bytes; /* taken out of the budget */
	struct heap_below
		*below; /* heap_classes.c: tables for deep chains of superclasses; owned */
};

/* Blocks of objects and identifiers that are open, by block. */
struct heap_blocks {
	struct store_objects **objects;
	struct store_ids **ids;
	uint64_t ids_generation;
	uint64_t *first_ids;          /* first ID of each block; read when first asked for */
	uint32_t found_block;         /* where the last look-up of an identifier ended */
	struct heap_offsets *offsets; /* by group number modulo HEAP_OFFSET_GROUPS; owned */
};

/* GC roots; read when first asked for. */
struct heap_roots {
	uint64_t *bits; /* by object */
	struct store_root *records;
	uint64_t count;
	struct base_big big; /* what the records are in */
};

/* What heap/values/ has found out; when first asked for. */
struct heap_value_tables {
	struct base_vec string_layouts; /* strings.h */
	struct base_vec binder_proxies; /* binder.h: struct heap_binder_proxy */
	/* named_references.h: names of fields, char *, owned; and their numbers */
	struct base_vec names;
	struct base_idmap name_nos;
	bool has_strings, has_binder_proxies;
	bool is_big_endian;
};

/* The dump beside the database; opened when first asked for. */
struct heap_dump {
	const char *path; /* where it is said to be; NULL: as at import; lent */
	struct base_source *source;
	struct hprof_file file;
	struct base_view view;
};

struct heap {
	struct store *store;    /* owned */
	struct base_work *work; /* lent */
	uint32_t object_count;  /* invented objects included */
	uint32_t class_count;
	unsigned id_size;
	struct heap_layout layout;
	struct heap_state state; /* found when it is opened */
	uint32_t class_class_no; /* java.lang.Class */
	bool is_android;
	bool is_phd; /* made from a portable heap dump: no fields, no values */
	struct heap_filter filter;
	const char *rules_path; /* the user's rules (queries/explain); NULL: none; lent */
	/* private */
	struct heap_class_tables classes;
	struct heap_blocks blocks;
	struct heap_roots roots;
	struct heap_value_tables values;
	struct heap_known *known; /* known.h; made when first asked for */
	struct heap_dump dump;
};

/* Opens a database file. `work` and dump_path (may be NULL) are lent. *out is owned: heap_close. */
int heap_open(const char *path, const char *dump_path, struct base_work *work, struct heap **out,
	      struct hdb_error *err);
/*
 * The same for what meta values say: heap->state, heap->layout.model and whether the dump is kept.
 * A database of another revision opens, too; its tables are not to be read.
 */
int heap_open_meta(const char *path, const char *dump_path, struct base_work *work,
		   struct heap **out, struct hdb_error *err);
void heap_close(struct heap *heap);

/* ---- identifiers ---- */

/* Index of an ID: HDB_OK or HDB_NOTFOUND (with no message). */
int heap_find(struct heap *heap, uint64_t id, uint32_t *ix, struct hdb_error *err);

/* Index of the last object whose ID is not above `id`: HDB_OK or HDB_NOTFOUND (with no message). */
int heap_find_before(struct heap *heap, uint64_t id, uint32_t *ix, struct hdb_error *err);

/* ID of an index, which must be below object_count. */
int heap_id(struct heap *heap, uint32_t ix, uint64_t *id, struct hdb_error *err);

/* ---- objects ---- */

struct heap_object {
	uint32_t ix;
	uint32_t class_no;
	uint8_t kind; /* enum store_kind, which is enum hdb_object_kind */
	/* STORE_KIND_EMBEDDED for an array without header, a flat value; else 0 */
	uint8_t embedded;
	uint64_t length; /* arrays: elements; class objects: number of the class it stands for */
	uint64_t shallow_bytes;
	uint32_t heap_no; /* Android; 0: none */
};

/* The class by which an object is known: for a class object the one that it stands for. */
static inline uint32_t heap_known_class(const struct heap_object *object)
{
	return object->kind == STORE_CLASS ? (uint32_t)object->length : object->class_no;
}

int heap_object(struct heap *heap, uint32_t ix, struct heap_object *out, struct hdb_error *err);

/* File offset of an object's sub-record; 0 for an object that the dump lacks (invented). */
int heap_offset(struct heap *heap, uint32_t ix, uint64_t *offset, struct hdb_error *err);

/*
 * The same on any thread, if the object's block was prepared. *groups is the thread's own, NULL at
 * first: free() it.
 */
int heap_offset_by(struct heap *heap, struct heap_offsets **groups, uint32_t ix, uint64_t *offset,
		   struct hdb_error *err);

/* Whether the dump has it: false for the boot loader's stand-in and invented classes. */
int heap_is_real(struct heap *heap, uint32_t ix, bool *is_real, struct hdb_error *err);

/*
 * Shallow size from an object's parts, or of an array of another length; kind is its kind |
 * embedded. heap_load_classes must have been called.
 */
uint64_t heap_shallow(const struct heap *heap, uint32_t class_no, unsigned kind, uint64_t length);

/* Columns of one block of objects, for passes over all of them. */
struct heap_block {
	uint32_t first_ix;
	uint32_t count;
	uint32_t class_no[STORE_BLOCK_OBJECTS];
	uint8_t kind[STORE_BLOCK_OBJECTS];
	uint8_t embedded[STORE_BLOCK_OBJECTS]; /* as in heap_object */
	uint64_t length[STORE_BLOCK_OBJECTS];
	uint64_t shallow[STORE_BLOCK_OBJECTS];
};

/* Blocks of objects in the heap. */
uint32_t heap_block_count(const struct heap *heap);

/* What a heap keeps of malloc's once all its blocks were looked at and its roots are loaded. */
uint64_t heap_memory_bytes(const struct heap *heap);

/*
 * The kind of an object that a filter leaves out; its length and size are 0. No object that is
 * read one by one has it.
 */
#define HEAP_LEFT_OUT 7u

/*
 * For what must see all objects: takes the filter away and returns what to set is_filtered to
 * afterwards.
 */
static inline bool heap_show_all(struct heap *heap)
{
	const bool was_filtered = heap->filter.is_on;

	heap->filter.is_on = false;
	return was_filtered;
}

/*
 * HEAP_FILTER_SCOPE(heap_show_all, heap) does so until the end of the block, where the filter is as
 * it was before.
 */
struct heap_filter_was {
	struct heap *heap;
	bool is_on;
};
static inline void heap_filter_restore(struct heap_filter_was *was)
{
	was->heap->filter.is_on = was->is_on;
}
/* clang takes a variable that only its end uses for an unused one. */
#define HEAP_FILTER_SCOPE(show, heap) \
	__attribute__((unused)) \
	BASE_SCOPED(heap_filter_restore) struct heap_filter_was heap_filter_was_ = { heap, \
										     show(heap) }

/* Whether a filter leaves out an object of that heap. */
static inline bool heap_leaves_out(const struct heap *heap, uint32_t heap_no)
{
	return heap->filter.is_on && heap_no != heap->filter.heap_no;
}

/* The opposite, for passes that count only what rows are made of where is_choosing is set. */
static inline bool heap_show_chosen(struct heap *heap)
{
	const bool was_filtered = heap->filter.is_on;

	heap->filter.is_on |= heap->filter.is_choosing;
	return was_filtered;
}

/* Whether rows are of other objects than that of ix. False after a failure, too. */
int heap_passes_over(struct heap *heap, uint32_t ix, bool *out, struct hdb_error *err);

/* Heap numbers of a block's objects, as in struct heap_object. On threads like heap_read_block. */
int heap_read_heaps(struct heap *heap, uint32_t block_no, uint32_t *out, struct hdb_error *err);

/* Reads block number block_no (0, 1, ...). The struct is large: allocate it. */
int heap_read_block(struct heap *heap, uint32_t block_no, struct heap_block *out,
		    struct hdb_error *err);
/*
 * The same for objects of some classes (by class number: nonzero; NULL: all); sizes of others are
 * not computed.
 */
int heap_read_block_of(struct heap *heap, uint32_t block_no, const uint8_t *is_wanted,
		       struct heap_block *out, struct hdb_error *err);

/* The number of a block that was read. */
static inline uint32_t heap_block_no(const struct heap_block *block)
{
	return block->first_ix / STORE_BLOCK_OBJECTS;
}

/*
 * Looks at one block of a pass over all of them; it is lent for the call. Above 0: enough was seen.
 */
typedef int (*heap_look)(void *ctx, const struct heap_block *block, struct hdb_error *err);

/*
 * Reads all blocks as heap_read_block does, in order, on the calling thread, and calls look with
 * each; then base_step with the index of its first object, unless work is NULL. The first result of
 * look that is not HDB_OK ends the pass and is its result, above 0, too.
 */
int heap_each_block(struct heap *heap, struct base_work *work, heap_look look, void *ctx,
		    struct hdb_error *err);

/* Blocks that a pass looks at. */
struct heap_pass {
	struct base_work *work;   /* NULL: base_step is not called */
	const uint8_t *is_wanted; /* by class number: those with such objects; NULL: all */
};

/* The same with only some of the blocks. */
int heap_each_block_of(struct heap *heap, const struct heap_pass *blocks, heap_look look, void *ctx,
		       struct hdb_error *err);

/*
 * The class numbers of a block alone, of all objects whatever the filter: the rest of *out, but for
 * first_ix and count, is undefined. A third of the time. HDB_ECORRUPT: a number is none of a class.
 */
int heap_read_classes(struct heap *heap, uint32_t block_no, struct heap_block *out,
		      struct hdb_error *err);

/*
 * Whether the block has objects of a class that is asked for (by number: nonzero). Decodes no
 * object.
 */
int heap_block_has(struct heap *heap, uint32_t block_no, const uint8_t *is_wanted, bool *has,
		   struct hdb_error *err);

/*
 * File offsets of a block's sub-records, 0 for class objects and what the dump lacks; out has room
 * for STORE_BLOCK_OBJECTS.
 */
int heap_read_offsets(struct heap *heap, uint32_t block_no, uint64_t *out, struct hdb_error *err);

/*
 * Looks block_no up in the store, so that heap_read_block of it is only decoding, which several
 * threads may do at once (until the store is refreshed).
 */
int heap_prepare_block(struct heap *heap, uint32_t block_no, struct hdb_error *err);

/* The same of all blocks, on so many threads. */
int heap_prepare_blocks(struct heap *heap, unsigned threads, struct hdb_error *err);

/*
 * Asks the system to read the part of the dump that a block's objects lie in, where that is one
 * stretch; only advice. For passes over all objects: single pages of a dump that is not in memory
 * take their time one by one. On threads like heap_read_block.
 */
void heap_want_block(struct heap *heap, uint32_t block_no);
/*
 * The same for a block further on, for passes that call it for each block from 0 on; nearly in
 * order.
 */
#define HEAP_WANT_AHEAD 4u
void heap_want_ahead(struct heap *heap, uint32_t block_no);

/* IDs of a block, in order; out has room for STORE_BLOCK_OBJECTS. */
int heap_read_ids(struct heap *heap, uint32_t block_no, uint64_t *out, uint32_t *count,
		  struct hdb_error *err);

/* ---- objects counted by the import ---- */

/*
 * Objects of one class and kind, counted; of arrays and stack chunks those whose lengths are a
 * multiple of a period from `length`, so that under every alignment of this heap they are padded
 * like it (layout_array_period).
 */
struct heap_count {
	uint32_t class_no;
	uint8_t kind;     /* enum store_kind; a class object has a row of its own */
	uint8_t embedded; /* as in heap_object */
	bool is_invented; /* the dump lacks this class object */
	uint64_t length;  /* class objects: the number of the class */
	uint64_t count;
	uint64_t elements;      /* arrays, stack chunks: the sum of their lengths */
	uint64_t shallow_bytes; /* of all of them */
};

/*
 * Hands all objects on in this form, but for the boot loader's stand-in; *count is lent for the
 * call. HDB_NOTFOUND, with no message, if the import did not count, as of
 * dumps with very many kinds of arrays.
 */
int heap_each_count(struct heap *heap,
		    int (*take)(void *ctx, const struct heap_count *count, struct hdb_error *err),
		    void *ctx, struct hdb_error *err);
/* The same, or each object as a count of one in a pass over all blocks; work may be NULL. */
int heap_count_all(struct heap *heap, struct base_work *work,
		   int (*take)(void *ctx, const struct heap_count *count, struct hdb_error *err),
		   void *ctx, struct hdb_error *err);

/* ---- classes ---- */

/* Reads a table of records whole, whose number was checked. */
struct heap_records {
	void *records; /* has room for them */
	size_t size;   /* of each */
	uint64_t count;
};
int heap_read_records(struct heap *heap, enum store_table table, const struct heap_records *to,
		      struct hdb_error *err);

/* Reads the classes if they are not yet read; most functions do it themselves. */
int heap_load_classes(struct heap *heap, struct hdb_error *err);

/*
 * How many of the objects the dump lacks: the boot loader's stand-in and invented classes. Classes
 * must be loaded.
 */
uint32_t heap_invented_count(const struct heap *heap);

/* A class record; classes must be loaded, no below class_count. */
static inline const struct store_class *heap_class(const struct heap *heap, uint32_t no)
{
	return &heap->classes.records[no];
}

/*
 * Whether object i of a block counts in totals: not if the dump lacks it (the boot loader's
 * stand-in, invented classes), nor if a filter leaves it out. Classes must be loaded.
 */
static inline bool heap_is_counted(const struct heap *heap, const struct heap_block *block,
				   uint32_t i)
{
	return block->first_ix + i != HEAP_BOOT_LOADER && block->kind[i] != HEAP_LEFT_OUT &&
	       !(block->kind[i] == STORE_CLASS &&
		 heap_class(heap, (uint32_t)block->length[i])->flags & STORE_CLASS_INVENTED);
}

/* The same of one object, which no filter leaves out. */
static inline bool heap_object_is_counted(const struct heap *heap, const struct heap_object *object)
{
	return object->ix != HEAP_BOOT_LOADER &&
	       !(object->kind == STORE_CLASS &&
		 heap_class(heap, (uint32_t)object->length)->flags & STORE_CLASS_INVENTED);
}

/*
 * Whether all that was read so far could be read: the database, where the reader had no error to
 * fill in (store_failed), and the mapped dump. Whoever shows results asks at the end of each step.
 */
int heap_check(struct heap *heap, struct hdb_error *err);
/* The same, and that the files of database and dump are as long as they were: system calls. */
int heap_check_size(struct heap *heap, struct hdb_error *err);

/*
 * HDB_ENOMEM, which heap_check reports if err is NULL. On any thread; inline, so that static
 * checkers see that it is an error.
 */
static inline int heap_fail_memory(struct heap *heap, const char *what, uint64_t bytes,
				   struct hdb_error *err)
{
	(void)store_fail_memory(heap->store, what, bytes, err);
	return HDB_ENOMEM;
}

/* Points at `count` zeroed elements, for `what`: HDB_OK or HDB_ENOMEM. */
#define HEAP_ALLOC(heap, pointer, count, what, err) \
	(((pointer) = calloc((count), sizeof(*(pointer)))) ? \
		 HDB_OK : \
		 heap_fail_memory((heap), (what), (uint64_t)(count) * sizeof(*(pointer)), (err)))

/*
 * Name of a class, valid UTF-8, terminated; never NULL ("?" if it cannot be read: heap_check
 * tells).
 */
const char *heap_class_name(struct heap *heap, uint32_t no);

/* The same of an object's class. */
const char *heap_class_name_of(struct heap *heap, uint32_t ix);

/* Name of a loader: "<boot>", else the name of its class. */
const char *heap_loader_name(struct heap *heap, const struct store_class *class);

/*
 * The package of a class: "java.util" of "java.util.HashMap$Node[]", "<unnamed>" of "App", and
 * "<primitive arrays>" of "byte[][]", which is in none. *size bytes at the result, which is within
 * class_name or static.
 */
const char *heap_package(const char *class_name, size_t *size);

/* The class that a class object stands for, or HEAP_NONE. */
int heap_class_of_object(struct heap *heap, uint32_t ix, uint32_t *class_no, struct hdb_error *err);

/* First class with this exact name at or after `from`, or HEAP_NONE. */
uint32_t heap_class_by_name(struct heap *heap, const char *name, uint32_t from);

/* Whether `no` is `super_no` or a sub class of it. */
bool heap_is_subclass(const struct heap *heap, uint32_t no, uint32_t super_no);

/* Whether a class of this name is the class `no` or one of its super classes. */
bool heap_has_superclass(struct heap *heap, uint32_t no, const char *name);
/*
 * Frees the tables that deep chains of super classes made heap_is_subclass keep; heap_close calls
 * it.
 */
void heap_release_below(struct heap *heap);

/* Field number i of the table fields. */
int heap_field(struct heap *heap, uint32_t i, struct store_field *out, struct hdb_error *err);

/* A text of the dump as valid UTF-8, copied and terminated; cut to `size`. "" for STORE_NONE. */
int heap_text(struct heap *heap, uint32_t text_no, char *buf, size_t size, struct hdb_error *err);

/* ---- references ---- */

/* A reader of the stored references (without the edge to the class). */
void heap_references(struct heap *heap, struct store_lists *out);

/* The same for whole blocks of them, see store_lists_decode. */
static inline struct store_lists_of heap_references_of(const struct heap *heap)
{
	return (struct store_lists_of){ heap->store, STORE_REFERENCES, heap->object_count };
}

/* ---- roots ---- */

/* Reads the roots if they are not yet read. */
int heap_load_roots(struct heap *heap, struct hdb_error *err);

/* Whether ix is a root of its own (locals of known threads are not). Roots must be loaded. */
static inline bool heap_is_root(const struct heap *heap, uint32_t ix)
{
	return base_bit_has(heap->roots.bits, ix);
}

/* Words in a block of the table orphans: the bits of 262,144 objects. */
#define HEAP_ORPHAN_WORDS 4096u

/*
 * Of an incomplete dump: what nothing in it holds becomes a root, too, if the table orphans is
 * there (derive/orphans.c).
 * Roots must be loaded; heap_load_roots does it itself where the table is there already.
 */
int heap_add_orphans(struct heap *heap, struct hdb_error *err);

/*
 * Whether an object is a root only because nothing in an incomplete dump holds it. Roots must be
 * loaded.
 */
bool heap_is_orphan(const struct heap *heap, uint32_t ix);

/* What is said instead of the kind of a root. */
#define HEAP_ORPHAN_NAME "none: what holds it may be missing"

/*
 * The root records of an object, locals included: the first (NULL if there is none), and how many.
 */
const struct store_root *heap_roots_of(const struct heap *heap, uint32_t ix, size_t *count);

/* "JNI global", "Java frame", ...: the kind of a root for people; static. */
const char *heap_root_name(uint8_t kind);

/* ---- the dump ---- */

/* Where the dump is said to be; borrowed until heap_close. */
const char *heap_where_dump(const struct heap *heap);

/* Whether the dump's bytes are in the database: no file is needed then. */
bool heap_keeps_dump(const struct heap *heap);

/* heap_state.c: fills in heap->state, which heap_close releases. */
int heap_find_state(struct heap *heap, struct hdb_error *err);
void heap_release_state(struct heap *heap);

/* Opens the dump and checks that it is the one that was imported. HDB_ECHANGED if not. */
int heap_open_dump(struct heap *heap, struct hdb_error *err);

#endif
