/*
 * import/object_locator.c - finds objects in the dump; see object_locator.h.
 *
 * VMs write objects mostly in address order, thread by thread or region by region. A dump therefore
 * consists of a few thousand pieces within which IDs increase. To find objects, it suffices to know
 * the pieces, and which pieces contain objects of each block. If IDs are not in order (Android
 * after compaction, dumps of agents), a table of offsets by index replaces the pieces, at the cost
 * of another pass.
 */
#include "import/object_locator.h"

#include "base/pipeline.h"

#include <assert.h>
#include <stdlib.h>

/*
 * A dump is treated as disordered if it has more than PIECES_FREE pieces and more than one piece
 * per OBJECTS_PER_PIECE objects.
 */
#define PIECES_FREE 65536u
#define OBJECTS_PER_PIECE 24u
/*
 * Pieces are not used if more than READ_FACTOR objects would have to be read per object of a block.
 */
#define READ_FACTOR 3u
/* Number of IDs looked up at a time, which is enough to hide memory latency. */
#define BATCH 256u
/* Number of extents between two progress reports. */
#define STEP_EXTENTS 64u
/* Number of objects whose first bytes are prefetched in a disordered dump. */
#define READ_AHEAD 16u
/* File size from which the upper part of an offset takes four bytes instead of one. */
#define HIGH_BYTE_END (1ull << 40)

void import_locator_release(struct import_locator *locator)
{
	base_vec_release(&locator->pieces);
	base_vec_release(&locator->extents);
	base_big_free(&locator->low);
	base_big_free(&locator->high);
	free(locator->first);
	free(locator->numbers);
	*locator = (struct import_locator){ 0 };
}

/* ---- collecting pieces ---- */

static void give_up_order(struct import_locator *locator)
{
	base_vec_release(&locator->pieces);
	locator->is_disordered = true;
}

static int add_extent(struct import_locator *locator, struct import_extent fresh,
		      struct hdb_error *err)
{
	struct import_extent *last = locator->extents.count ?
					     base_vec_at(&locator->extents, struct import_extent,
							 locator->extents.count - 1) :
					     NULL;

	if (last && last->end == fresh.offset &&
	    fresh.offset - last->offset < IMPORT_EXTENT_BYTES) {
		last->end = fresh.end;
		return HDB_OK;
	}
	return base_vec_push(&locator->extents, &fresh, sizeof(fresh), err);
}

void import_locator_pass(struct import_locator *locator, const struct hprof_sub *sub)
{
	struct import_extent *last = locator->extents.count ?
					     base_vec_at(&locator->extents, struct import_extent,
							 locator->extents.count - 1) :
					     NULL;

	if (last && last->end == sub->offset)
		last->end = sub->end;
}

static void check_order(struct import_locator *locator)
{
	if (!locator->is_disordered && locator->pieces.count > PIECES_FREE &&
	    locator->pieces.count > locator->object_count / OBJECTS_PER_PIECE)
		give_up_order(locator);
}

static struct import_piece *last_piece(struct import_locator *locator)
{
	const size_t count = locator->pieces.count;

	return count ? base_vec_at(&locator->pieces, struct import_piece, count - 1) : NULL;
}

int import_locator_add(struct import_locator *locator, const struct hprof_sub *sub,
		       struct hdb_error *err)
{
	const struct import_piece fresh = {
		.first_id = sub->id,
		.last_id = sub->id,
		.offset = sub->offset,
		.end = sub->end,
		.count = 1,
	};
	struct import_piece *last = last_piece(locator);

	TRY(add_extent(locator, (struct import_extent){ sub->offset, sub->end }, err));
	locator->object_count++;
	if (locator->is_disordered)
		return HDB_OK;
	if (last && last->end == sub->offset && import_piece_continues(last, sub->id)) {
		last->last_id = sub->id;
		last->end = sub->end;
		last->count++;
		return HDB_OK;
	}
	TRY(base_vec_push(&locator->pieces, &fresh, sizeof(fresh), err));
	check_order(locator);
	return HDB_OK;
}

int import_locator_add_run(struct import_locator *locator, struct import_extent extent,
			   const struct import_piece *pieces, size_t count, struct hdb_error *err)
{
	TRY(add_extent(locator, extent, err));
	for (size_t i = 0; i < count; i++)
		locator->object_count += pieces[i].count;
	if (locator->is_disordered)
		return HDB_OK;
	TRY(base_vec_reserve(&locator->pieces, count, sizeof(*pieces), err));
	memcpy((struct import_piece *)locator->pieces.data + locator->pieces.count, pieces,
	       count * sizeof(*pieces));
	locator->pieces.count += count;
	check_order(locator);
	return HDB_OK;
}

/* ---- ordered dumps: the pieces of each block ---- */

/* The ranges of blocks whose objects are in some pieces. */
struct spans {
	uint32_t from[BATCH / 2], to[BATCH / 2];
	unsigned count;
};

/*
 * Finds the ranges of blocks for the pieces that start at number `first`. `ids` contains the first
 * and the last ID of each piece.
 */
static void find_spans(const struct import_locator *locator, const struct idset *ids, size_t first,
		       struct spans *spans)
{
	const size_t left = locator->pieces.count - first;
	uint64_t wanted[BATCH];
	uint32_t found[BATCH];

	spans->count = left < BATCH / 2 ? (unsigned)left : BATCH / 2;
	for (unsigned i = 0; i < spans->count; i++) {
		const struct import_piece *piece =
			base_vec_at(&locator->pieces, struct import_piece, first + i);

		wanted[2 * i] = piece->first_id;
		wanted[2 * i + 1] = piece->last_id;
	}
	import_idset_find_many(ids, wanted, 2 * (size_t)spans->count, found);
	for (unsigned i = 0; i < spans->count; i++) {
		assert(found[2 * i] <= found[2 * i + 1]);
		spans->from[i] = found[2 * i] / locator->block_objects;
		spans->to[i] = found[2 * i + 1] / locator->block_objects;
	}
}

/*
 * Counts the pieces of each block in first[block + 1]. Returns false if reading the blocks would
 * cost too much. A piece whose IDs span several blocks is read once for each of them.
 */
static bool count_pieces(struct import_locator *locator, const struct idset *ids)
{
	uint64_t left = locator->object_count * READ_FACTOR + PIECES_FREE;
	struct spans spans;

	for (size_t p = 0; p < locator->pieces.count; p += spans.count) {
		find_spans(locator, ids, p, &spans);
		for (unsigned i = 0; i < spans.count; i++) {
			const uint32_t count =
				base_vec_at(&locator->pieces, struct import_piece, p + i)->count;
			const uint64_t blocks = (uint64_t)(spans.to[i] - spans.from[i]) + 1;

			if (blocks > left / count)
				return false;
			left -= blocks * count;
			for (uint32_t b = spans.from[i]; b <= spans.to[i]; b++)
				locator->first[b + 1]++;
		}
	}
	return true;
}

static int order(struct import_locator *locator, const struct idset *ids, uint32_t blocks,
		 struct hdb_error *err)
{
	struct spans spans;
	uint32_t *next;

	TRY(BASE_ALLOC(locator->first, (size_t)blocks + 2, "positions of objects", err));
	if (!count_pieces(locator, ids)) {
		give_up_order(locator);
		return HDB_OK;
	}
	for (uint32_t b = 0; b < blocks; b++)
		locator->first[b + 1] += locator->first[b];
	locator->numbers = malloc(((size_t)locator->first[blocks] + 1) * sizeof(uint32_t));
	next = malloc(((size_t)blocks + 1) * sizeof(*next));
	if (!locator->numbers || !next) {
		free(next);
		return hdb_fail_memory(err, "positions of objects",
				       (uint64_t)locator->first[blocks] * 4);
	}
	memcpy(next, locator->first, (size_t)blocks * sizeof(*next));
	for (size_t p = 0; p < locator->pieces.count; p += spans.count) {
		find_spans(locator, ids, p, &spans);
		for (unsigned i = 0; i < spans.count; i++)
			for (uint32_t b = spans.from[i]; b <= spans.to[i]; b++)
				locator->numbers[next[b]++] = (uint32_t)(p + i);
	}
	free(next);
	return HDB_OK;
}

/* ---- disordered dumps: a table of offsets ---- */

struct locate {
	struct import_locator *locator;
	const struct idset *ids;
	struct base_work *work;
	struct base_view *views; /* one per slot */
};

static uint64_t get_offset(const struct import_locator *locator, uint64_t ix)
{
	uint64_t offset = ((const uint32_t *)locator->low.data)[ix];

	if (locator->high_bytes == 1)
		offset |= (uint64_t)((const uint8_t *)locator->high.data)[ix] << 32;
	else if (locator->high_bytes)
		offset |= (uint64_t)((const uint32_t *)locator->high.data)[ix] << 32;
	return offset;
}

static void put_offset(struct import_locator *locator, uint64_t ix, uint64_t offset)
{
	((uint32_t *)locator->low.data)[ix] = (uint32_t)offset;
	if (locator->high_bytes == 1)
		((uint8_t *)locator->high.data)[ix] = (uint8_t)(offset >> 32);
	else if (locator->high_bytes)
		((uint32_t *)locator->high.data)[ix] = (uint32_t)(offset >> 32);
}

/*
 * Stores the offsets of a batch of objects. If two objects have the same ID, the first one in the
 * file is used. Only the sparse form of the set accepts duplicates, and with that form a single
 * thread locates objects in file order.
 */
static void locate_batch(const struct locate *l, const uint64_t *ids, const uint64_t *offsets,
			 size_t count)
{
	uint32_t found[BATCH];

	import_idset_find_many(l->ids, ids, count, found);
	for (size_t i = 0; i < count; i++)
		if (found[i] != IDSET_NONE &&
		    (!l->ids->is_sparse || !get_offset(l->locator, found[i])))
			put_offset(l->locator, found[i], offsets[i]);
}

/* Reads the sub-record at range.offset. */
static int read_sub(const struct hprof_file *file, struct base_view *view, struct hprof_range range,
		    struct hprof_sub *sub, struct hdb_error *err)
{
	const unsigned id_size = file->id_size;
	const uint64_t head = 9 + 2 * (uint64_t)id_size;
	const uint64_t left = file->source->size - range.offset;

	if (!base_view_at(view, range.offset, left < head ? left : head, err))
		return HDB_ETRUNC;
	if ((id_size == 8 ? hprof_quick_sub(view, range, 8, sub) :
			    hprof_quick_sub(view, range, 4, sub)) &&
	    !(file->is_emptied && sub->tag == HPROF_PRIMITIVE_ARRAY_DUMP))
		return HDB_OK;
	/* the file ends here, or the record requires the slow parser */
	return hprof_sub_read_in(file, view, range, sub, err);
}

static bool is_object(const struct hprof_sub *sub)
{
	return (sub->tag >= HPROF_INSTANCE_DUMP && sub->tag <= HPROF_PRIMITIVE_ARRAY_DUMP) ||
	       sub->tag == HPROF_PRIMITIVE_ARRAY_NODATA;
}

static int locate_extent(void *ctx, unsigned slot, uint64_t item, struct hdb_error *err)
{
	const struct locate *l = ctx;
	const struct import_extent *extent =
		base_vec_at(&l->locator->extents, struct import_extent, item);
	uint64_t ids[BATCH], offsets[BATCH];
	size_t count = 0;

	for (uint64_t at = extent->offset; at < extent->end;) {
		struct hprof_sub sub;
		const struct hprof_range range = { at, extent->end };

		TRY_ERRORS(read_sub(l->locator->file, &l->views[slot], range, &sub, err));
		ids[count] = sub.id;
		offsets[count] = at;
		count += is_object(&sub);
		at = sub.end;
		if (count == BATCH) {
			locate_batch(l, ids, offsets, count);
			count = 0;
		}
	}
	if (count)
		locate_batch(l, ids, offsets, count);
	return HDB_OK;
}

static int located(void *ctx, unsigned slot, uint64_t item, struct hdb_error *err)
{
	const struct locate *l = ctx;

	(void)slot;
	if (item % STEP_EXTENTS)
		return HDB_OK;
	return base_step(l->work,
			 base_vec_at(&l->locator->extents, struct import_extent, item)->end, err);
}

static int locate_all(struct import_locator *locator, const struct idset *ids,
		      struct base_work *work, struct hdb_error *err)
{
	struct locate l = { .locator = locator, .ids = ids, .work = work };
	const uint64_t size = locator->file->source->size;
	/*
	 * In the sparse form, several objects may share an ID and the first in the file is kept, so
	 * a single thread locates objects in file order.
	 */
	const unsigned threads = ids->is_sparse ? 1 : work->threads;
	const struct base_pipeline pipeline = {
		.item_count = locator->extents.count,
		.threads = threads,
		.slot_count = 4 * threads,
		.ctx = &l,
		.produce = locate_extent,
		.consume = located,
	};
	int r;

	locator->high_bytes = size <= UINT32_MAX ? 0 : size <= HIGH_BYTE_END ? 1 : 4;
	base_stage(work, "locating objects", size, "bytes");
	TRY(base_big_alloc(work, &locator->low, ids->count * 4, "object offsets", err));
	if (locator->high_bytes) {
		TRY(base_big_alloc(work, &locator->high, ids->count * locator->high_bytes,
				   "object offsets", err));
	}
	TRY(BASE_ALLOC(l.views, pipeline.slot_count, "views", err));
	for (unsigned i = 0; i < pipeline.slot_count; i++)
		l.views[i].src = locator->file->source;
	r = base_pipeline_run(&pipeline, err);
	for (unsigned i = 0; i < pipeline.slot_count; i++)
		base_view_release(&l.views[i]);
	free(l.views);
	return r;
}

int import_locator_finish(struct import_locator *locator, const struct idset *ids,
			  struct base_work *work, struct hdb_error *err)
{
	const uint32_t unit = locator->block_objects;
	const uint32_t blocks = (uint32_t)((ids->count + unit - 1) / unit);

	assert(ids->is_finished);
	if (!locator->is_disordered)
		TRY(order(locator, ids, blocks, err));
	/* The call of `order` may have discarded the pieces. */
	if (locator->is_disordered)
		TRY(locate_all(locator, ids, work, err));
	base_vec_release(&locator->extents);
	return HDB_OK;
}

/* ---- reading a block ---- */

void import_locator_begin(struct import_piece_reader *reader, const struct import_locator *locator,
			  uint64_t first_ix, const struct import_wanted *wanted)
{
	const uint64_t block = first_ix / locator->block_objects;

	/* All requested objects belong to one block, so only the pieces of that block are read. */
	assert(first_ix % locator->block_objects + wanted->count <= locator->block_objects);
	*reader = (struct import_piece_reader){
		.locator = locator,
		.wanted = *wanted,
		.last = wanted->count,
		.first_ix = first_ix,
	};
	if (!locator->is_disordered) {
		reader->next = locator->first[block];
		reader->last = locator->first[block + 1];
	}
}

/* In an ordered dump, moves to the next piece that may contain requested objects. */
static bool next_of_pieces(struct import_piece_reader *reader)
{
	const struct import_wanted *wanted = &reader->wanted;
	const struct import_piece *piece;

	assert(reader->next <= reader->last);
	if (reader->next == reader->last)
		return false;
	piece = base_vec_at(&reader->locator->pieces, struct import_piece,
			    reader->locator->numbers[reader->next++]);
	reader->i = import_idset_lower_bound(wanted->ids, 0, wanted->count, piece->first_id);
	reader->at = piece->offset;
	reader->end = reader->limit = piece->end;
	return true;
}

/*
 * Moves to the next piece or, in a disordered dump, to the next object. Returns false at the end.
 */
static bool next_piece(struct import_piece_reader *reader)
{
	const struct import_wanted *wanted = &reader->wanted;

	if (!reader->locator->is_disordered)
		return next_of_pieces(reader);
	/* In a disordered dump, every requested object is treated as a piece of its own. */
	while (reader->next < reader->last) {
		const uint32_t i = reader->next++;
		const uint64_t ix = reader->first_ix + i;

		if (i + READ_AHEAD < reader->last)
			base_view_prefetch(wanted->view,
					   get_offset(reader->locator, ix + READ_AHEAD));
		reader->i = i;
		reader->at = wanted->offsets[i] ? 0 : get_offset(reader->locator, ix);
		reader->end = reader->at + 1;
		reader->limit = reader->locator->file->source->size;
		if (reader->at)
			return true;
	}
	return false;
}

int import_locator_next(struct import_piece_reader *reader, uint32_t *i, struct hprof_sub *sub,
			struct hdb_error *err)
{
	const struct import_wanted *wanted = &reader->wanted;
	const uint64_t *ids = wanted->ids;

	for (;;) {
		uint32_t k = reader->i;
		int r;

		if (reader->at >= reader->end || k >= wanted->count) {
			if (!next_piece(reader))
				return HDB_END;
			continue;
		}
		r = read_sub(reader->locator->file, wanted->view,
			     (struct hprof_range){ reader->at, reader->limit }, sub, err);
		if (r < 0)
			return r;
		reader->at = sub->end;
		while (k < wanted->count && ids[k] < sub->id)
			k++;
		reader->i = k;
		/* If two objects have the same ID, the first one in the file is used. */
		if (k < wanted->count && ids[k] == sub->id && !wanted->offsets[k]) {
			wanted->offsets[k] = sub->offset;
			reader->i = k + 1;
			*i = k;
			return HDB_OK;
		}
	}
}

int import_locator_block(const struct import_locator *locator, uint64_t first_ix,
			 const struct import_wanted *wanted, struct hdb_error *err)
{
	struct import_piece_reader reader;
	struct hprof_sub sub;
	uint32_t i;
	int r;

	import_locator_begin(&reader, locator, first_ix, wanted);
	do
		r = import_locator_next(&reader, &i, &sub, err);
	while (r == HDB_OK);
	return r < 0 ? r : HDB_OK;
}
