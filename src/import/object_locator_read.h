/*
 * import/object_locator_read.h - reads the objects of a block from the dump.
 *
 * Inline, so that the code that processes an object becomes part of the loop that reads it. The
 * import does this for every object.
 */
#ifndef IMPORT_OBJECT_LOCATOR_READ_H
#define IMPORT_OBJECT_LOCATOR_READ_H

#include "import/object_locator.h"

/* Position of a reader among the objects of a block. */
struct import_piece_reader {
	const struct import_locator *locator;
	struct import_wanted wanted;
	uint32_t i;       /* index of the next object that may come */
	uint64_t at, end; /* offset of the next sub-record, and end of the piece */
	uint64_t limit;   /* sub-records must not extend beyond this */
	uint32_t next,
		/*
		 * ordered: range of pieces left in locator->numbers; disordered: range of objects
		 * left in the block
		 */
		last;
	uint64_t first_ix; /* disordered: index of the block's first object */
};

/*
 * Fallback of import_locator_read_sub if the window does not contain the head, or if only the slow
 * parser reads the record.
 */
int import_locator_read_slow(const struct hprof_file *file, struct base_view *view,
			     struct hprof_range range, struct hprof_sub *sub,
			     struct hdb_error *err);

/*
 * Reads the sub-record at range.offset: with the fast reader if it is an instance or array in the
 * view's window, otherwise with the slow parser.
 */
static inline int import_locator_read_sub(const struct hprof_file *file, struct base_view *view,
					  struct hprof_range range, struct hprof_sub *sub,
					  struct hdb_error *err)
{
	/*
	 * A separate variable, because the address of *sub would escape and the compiler could not
	 * keep it in registers.
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

/* Starts reading the objects that import_locator_block would find. */
void import_locator_begin(struct import_piece_reader *reader, const struct import_locator *locator,
			  uint64_t first_ix, const struct import_wanted *wanted);

/* Moves to the next piece, or in a disordered dump to the next object. False at the end. */
bool import_locator_next_piece(struct import_piece_reader *reader);

/*
 * Reads the next object, in file order if the dump is ordered. *i is its index among those wanted.
 * HDB_END after the last. The view may be moved between calls.
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
		/* If two objects have the same ID, the first in the file counts. */
		if (k < wanted->count && ids[k] == sub->id && !wanted->offsets[k]) {
			wanted->offsets[k] = sub->offset;
			reader->i = k + 1;
			*i = k;
			return HDB_OK;
		}
	}
}

#endif
