/*
 * derive/dominators/top_notes.h - the objects of the top level and their sizes, noted while
 * dominators and retained sizes are written: the table of the top level, which most questions begin
 * with, needs not read those again. Private to derive.
 *
 * Notes are kept in struct derive until the next table is built, and only if there is plenty of
 * memory: a bit an object, and 4 bytes one of the top level. Without notes that table is built from
 * the other two and is the same.
 */
#ifndef DERIVE_TOP_NOTES_H
#define DERIVE_TOP_NOTES_H

#include "derive/blocks.h"
#include "derive/build.h"

#include <stdatomic.h>

struct derive_top_notes {
	struct base_work *work;
	uint32_t object_count;
	uint64_t *bits;  /* by object: whether it is of the top level */
	uint64_t *first; /* by block: where its sizes begin; there is one more */
	uint64_t count;
	uint32_t *units; /* retained sizes in units of the alignment; NULL: they are not noted */
	atomic_bool is_too_big; /* a size does not fit */
	struct base_big bits_big, units_big;
};

/* No notes yet. `notes` is zeros; release it in any case. */
int derive_top_begin(struct derive_top_notes *notes, const struct derive *derive,
		     struct hdb_error *err);
void derive_top_release(struct derive_top_notes *notes);

/*
 * Marks what a block's values, as they are in the table of dominators, say. Once for each block, on
 * any thread.
 */
void derive_top_mark(struct derive_top_notes *notes, const struct derive_block *block);

/* When all blocks are marked: takes room for sizes, or leaves it. */
int derive_top_marked(struct derive_top_notes *notes, struct hdb_error *err);

/*
 * Notes sizes of a block's objects, by object, in units of the alignment; does nothing where there
 * is no room. On any thread, once for each block.
 */
void derive_top_set(struct derive_top_notes *notes, const struct heap_block *objects,
		    const uint64_t *units);

/* The notes are whole: they become the derive's own, if sizes were noted; else they are empty. */
int derive_top_keep(struct derive_top_notes *notes, struct derive *derive, struct hdb_error *err);

/* Lets the derive's notes go, if there are any. */
void derive_top_drop(struct derive *derive);

/*
 * The objects of the top level, notes->count, largest first, then by index. HDB_NOTFOUND: too many
 * are large for this way. Release *nodes in any case.
 */
int derive_top_sort(const struct derive_top_notes *notes, struct base_big *nodes,
		    struct hdb_error *err);

#endif
