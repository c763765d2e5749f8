/*
 * import/object_locator_read.h - reading the objects of a block where they are in the dump.
 *
 * Inline, so that what is done with each object becomes a part of the loop that reads it: the
 * import does it for every object.
 */
#ifndef IMPORT_OBJECT_LOCATOR_READ_H
#define IMPORT_OBJECT_LOCATOR_READ_H

#include "import/object_locator.h"

/* A reader's place among the objects of a block. */
struct import_piece_reader {
	const struct import_locator *locator;
	struct import_wanted wanted;
	uint32_t i;       /* of the next object that may come */
	uint64_t at, end; /* offsets: of what is read next, and where the piece ends */
	uint64_t limit;   /* what is read must end here */
	uint32_t next,
		/* ordered: pieces to come, in locator->numbers; disordered: objects of the block */
		last;
	uint64_t first_ix; /* disordered: index of the block's first object */
};

/*
 * What import_locator_read_sub does if the window lacks the head, or the walk has read it the slow
 * way.
 */
int import_locator_read_slow(const struct hprof_file *file, struct base_view *view,
			     struct hprof_range range, struct hprof_sub *sub,
			     struct hdb_error *err);

/* Reads the instance or array at range.offset, or what else lies between those of an extent. */
static inline int import_locator_read_sub(const struct hprof_file *file, struct base_view *view,
					  struct hprof_range range, struct hprof_sub *sub,
					  struct hdb_error *err)
{
	/*
	 * Separate from *sub, whose address would escape: so the compiler keeps that in registers.
	 */
	struct hprof_sub slow;
	int r;

	if (range.offset >= view->start && range.offset <= view->end) {
		if ((file->id_size == 8 ? hprof_quick_sub(view, range, 8, sub) :
					  hprof_quick_sub(view, range, 4, sub)) &&
		    !(file->is_emptied && sub->tag == HPROF_PRIMITIVE_ARRAY_DUMP))
			return HDB_OK;
	}
	r = import_locator_read_slow(file, view, range, &slow, err);
	*sub = slow;
	return r;
}

/* Begins to read what import_locator_block would find. */
void import_locator_begin(struct import_piece_reader *reader, const struct import_locator *locator,
			  uint64_t first_ix, const struct import_wanted *wanted);

/*
 * Goes on to the next piece, or to the next object where the order is none; false: there is none.
 */
bool import_locator_next_piece(struct import_piece_reader *reader);

/*
 * Reads the next object, in the order of the file where the dump has one: number *i of those
 * wanted. HDB_END after the last. The view may be moved between two calls.
 */
static inline int import_locator_next(struct import_piece_reader *reader, uint32_t *i,
				      struct hprof_sub *sub, struct hdb_error *err)
{
	const struct import_wanted *wanted = &reader->wanted;
	const uint64_t *ids = wanted->ids;

	for (;;) {
		uint32_t k = reader->i;
		int r;

		if (reader->at >= reader->end || k >= wanted->count) {
			if (!import_locator_next_piece(reader))
				return HDB_END;
			continue;
		}
		r = import_locator_read_sub(reader->locator->file, wanted->view,
					    (struct hprof_range){ reader->at, reader->limit }, sub,
					    err);
		if (r < 0)
			return r;
		reader->at = sub->end;
		while (k < wanted->count && ids[k] < sub->id)
			k++;
		reader->i = k;
		/* Of two objects with one ID the first in the file counts. */
		if (k < wanted->count && ids[k] == sub->id && !wanted->offsets[k]) {
			wanted->offsets[k] = sub->offset;
			reader->i = k + 1;
			*i = k;
			return HDB_OK;
		}
	}
}

#endif
