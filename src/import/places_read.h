/*
 * import/places_read.h - reading the objects of a block where they are in the dump.
 *
 * Inline, so that what is done with each object becomes a part of the loop that reads it: the
 * import does it for every object.
 */
#ifndef IMPORT_PLACES_READ_H
#define IMPORT_PLACES_READ_H

#include "import/places.h"

/* Objects whose heads are asked of memory before they are read, where the order is none. */
#define PLACES_READ_AHEAD 16u

/*
 * Takes the sub-record of wanted->ids[i], in the order of the file where the dump has one; it may move the view.
 * HDB_OK, or a failure.
 */
typedef int places_take(void *ctx, uint32_t i, const struct hprof_sub *sub, struct hdb_error *err);

/* What places_read_sub does where the window lacks the head, or the walk has read the sub-record the slow way. */
int places_read_slow(const struct hprof_file *file, struct base_view *view, uint64_t at,
		     uint64_t limit, struct hprof_sub *sub, struct hdb_error *err);

/* Reads the instance or array at `at`, or what else lies between those of an extent. */
static inline int places_read_sub(const struct hprof_file *file, struct base_view *view,
				  uint64_t at, uint64_t limit, struct hprof_sub *sub,
				  struct hdb_error *err)
{
	if (at >= view->start && at <= view->end) {
		const uint8_t *p = view->data + (at - view->start);

		if (file->id_size == 8 ? hprof_quick_sub(p, at, view->end, limit, 8, sub) :
					 hprof_quick_sub(p, at, view->end, limit, 4, sub))
			return HDB_OK;
	}
	return places_read_slow(file, view, at, limit, sub, err);
}

static inline int places_read_piece(const struct hprof_file *file, const struct places_piece *piece,
				    const struct places_wanted *wanted, places_take *take,
				    void *ctx, struct hdb_error *err)
{
	const uint64_t *ids = wanted->ids;
	const uint32_t count = wanted->count;
	uint32_t i = idset_lower_bound(ids, 0, count, piece->first_id);

	for (uint64_t at = piece->offset; at < piece->end && i < count;) {
		struct hprof_sub sub;
		int r = places_read_sub(file, wanted->view, at, piece->end, &sub, err);

		if (r < 0)
			return r;
		while (i < count && ids[i] < sub.id)
			i++;
		/* Of two objects with one ID the first in the file counts. */
		if (i < count && ids[i] == sub.id && !wanted->offsets[i]) {
			wanted->offsets[i] = at;
			r = take(ctx, i, &sub, err);
			if (r < 0)
				return r;
			i++;
		}
		at = sub.end;
	}
	return HDB_OK;
}

/* Offset of the object with this index, where the order is none; 0: no instance and no array. */
static inline uint64_t places_offset(const struct places *places, uint64_t ix)
{
	uint64_t offset = ((const uint32_t *)places->low.data)[ix];

	if (places->high_bytes == 1)
		offset |= (uint64_t)((const uint8_t *)places->high.data)[ix] << 32;
	else if (places->high_bytes)
		offset |= (uint64_t)((const uint32_t *)places->high.data)[ix] << 32;
	return offset;
}

static inline int places_read_each(const struct places *places, const struct hprof_file *file,
				   uint64_t first_ix, const struct places_wanted *wanted,
				   places_take *take, void *ctx, struct hdb_error *err)
{
	for (uint32_t i = 0; i < wanted->count; i++) {
		const uint64_t at = places_offset(places, first_ix + i);
		struct hprof_sub sub;
		int r;

		if (i + PLACES_READ_AHEAD < wanted->count)
			base_view_prefetch(wanted->view,
					   places_offset(places, first_ix + i + PLACES_READ_AHEAD));
		if (wanted->offsets[i] || !at)
			continue;
		wanted->offsets[i] = at;
		r = places_read_sub(file, wanted->view, at, file->source->size, &sub, err);
		if (r == HDB_OK)
			r = take(ctx, i, &sub, err);
		if (r < 0)
			return r;
	}
	return HDB_OK;
}

/* places_block, where each object that it finds is read and handed to `take`. */
static inline int places_read(const struct places *places, const struct hprof_file *file,
			      uint32_t block, uint32_t block_objects,
			      const struct places_wanted *wanted, places_take *take, void *ctx,
			      struct hdb_error *err)
{
	int r = HDB_OK;

	if (places->is_disordered)
		return places_read_each(places, file, (uint64_t)block * block_objects, wanted,
					take, ctx, err);
	for (uint32_t k = places->first[block]; k < places->first[block + 1] && r == HDB_OK; k++)
		r = places_read_piece(file, base_vec_at(&places->pieces, struct places_piece,
							places->numbers[k]),
				      wanted, take, ctx, err);
	return r;
}

#endif
