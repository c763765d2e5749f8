/*
 * import/resolve_write.c - writes the blocks that resolve.c has built, in order and on one thread,
 * and adds up their statistics.
 */
#include "import/resolve.h"

#include <assert.h>
#include <stdlib.h>

/*
 * Records a missing object. Only IMPORT_DANGLING_MAX distinct IDs are stored, because a hostile
 * dump may have billions of them.
 */
static int merge_missing(struct import *im, uint64_t id, uint32_t ix, struct hdb_error *err)
{
	uint32_t no = base_idmap_get(&im->damage.dangling_map, id);

	if (no != BASE_IDMAP_NONE) {
		base_vec_at(&im->damage.dangling, struct store_dangling, no)->reference_count++;
		return HDB_OK;
	}
	if (im->damage.dangling.count >= IMPORT_DANGLING_MAX)
		return HDB_OK;
	const struct store_dangling fresh = { .object_id = id,
					      .reference_count = 1,
					      .example_ix = ix };
	no = (uint32_t)im->damage.dangling.count;
	assert(ix < im->object_count);
	TRY(base_vec_push(&im->damage.dangling, &fresh, sizeof(fresh), err));
	return base_idmap_put(&im->damage.dangling_map, id, no, err);
}

struct parts {
	struct import *im;
	uint32_t ix;
	uint32_t part;
	uint32_t count;
	uint32_t *buffer; /* STORE_LIST_PART */
};

/* Writes the buffer unless it is empty. */
static int put_part(struct parts *p, struct hdb_error *err)
{
	const uint32_t count = p->count;

	assert(count <= STORE_LIST_PART);
	if (!count)
		return HDB_OK;
	p->count = 0;
	return store_lists_put_part(p->im->writer,
				    &(struct store_big_list){ .table = STORE_REFERENCES_BIG,
							      .ix = p->ix,
							      .target = p->buffer,
							      .count = count },
				    p->part++, err);
}

static int write_elements(void *ctx, const uint64_t *ids, const uint32_t *found, size_t count,
			  struct hdb_error *err)
{
	struct parts *p = ctx;
	struct import *im = p->im;

	for (size_t i = 0; i < count; i++) {
		if (found[i] == IDSET_NONE) {
			im->damage.dangling_count++;
			TRY(merge_missing(im, ids[i], p->ix, err));
			continue;
		}
		p->buffer[p->count++] = found[i];
		if (p->count == STORE_LIST_PART)
			TRY(put_part(p, err));
	}
	return HDB_OK;
}

static void release(struct parts *p)
{
	free(p->buffer);
}

/*
 * Writes the references of a long array. The array is read again from the dump, so that its
 * references are never all in memory.
 */
static int write_array(struct import *im, struct base_view *view, const struct big_list *big,
		       struct hdb_error *err)
{
	BASE_SCOPED(release) struct parts p = { .im = im, .ix = big->ix };
	struct hprof_sub sub;

	TRY(BASE_ALLOC(p.buffer, STORE_LIST_PART, "a part of a list", err));
	TRY(hprof_sub_read(&im->file, view, big->offset, &sub, err));
	TRY(import_each_element(&(struct import_array){ im, view, &sub }, write_elements, &p, err));
	return put_part(&p, err);
}

static int report_short(struct import *im, const struct slot *s, struct hdb_error *err)
{
	for (size_t i = 0; i < s->shorts.count; i++) {
		const struct short_instance *one =
			base_vec_at(&s->shorts, struct short_instance, i);

		TRY(import_problem(
			im,
			&(struct import_trouble){ .kind = STORE_PROBLEM_SHORT_INSTANCE,
						  .offset = one->offset,
						  .object_id = one->id },
			err, "instance 0x%" PRIx64 " is too short for the fields of its class",
			one->id));
	}
	im->damage.problem_count += s->short_count - s->shorts.count;
	return HDB_OK;
}

/* Writes the block to each of the three tables, and the block's first ID to the directory. */
static int put_blocks(struct import *im, const struct slot *s, uint64_t first_ix,
		      struct hdb_error *err)
{
	TRY(base_vec_push(&im->links.id_directory, &s->first_id, sizeof(s->first_id), err));
	TRY(store_put(im->writer, STORE_IDS,
		      &(struct store_block){ .key = s->first_id,
					     .item_count = s->count,
					     .data = s->ids_bytes.data,
					     .size = s->ids_bytes.count },
		      err));
	TRY(store_put(im->writer, STORE_OBJECTS,
		      &(struct store_block){ .key = first_ix,
					     .item_count = s->count,
					     .data = s->objects_bytes.data,
					     .size = s->objects_bytes.count },
		      err));
	return store_put(im->writer, STORE_REFERENCES,
			 &(struct store_block){ .key = first_ix,
						.item_count = s->count,
						.data = s->lists_bytes.data,
						.size = s->lists_bytes.count },
			 err);
}

/* Writes the lists that are too long for the block. */
static int put_long_lists(struct import *im, struct base_view *view, const struct slot *s,
			  struct hdb_error *err)
{
	int r;

	for (size_t i = 0; i < s->big.count; i++) {
		const struct big_list *big = base_vec_at(&s->big, struct big_list, i);

		assert(big->length > STORE_LIST_BIG);
		assert(big->start == NOT_HELD || big->start + big->length <= s->held.count);
		r = big->start == NOT_HELD ?
			    write_array(im, view, big, err) :
			    store_lists_put_big(
				    im->writer,
				    &(struct store_big_list){
					    .table = STORE_REFERENCES_BIG,
					    .ix = big->ix,
					    .target = base_vec_at(&s->held, uint32_t, big->start),
					    .count = big->length },
				    err);
		TRY(r);
	}
	return HDB_OK;
}

int import_write_block(struct import *im, struct base_view *view, struct slot *s, uint64_t first_ix,
		       struct hdb_error *err)
{

	assert(first_ix == im->links.id_directory.count * (uint64_t)STORE_BLOCK_OBJECTS);
	assert(s->count && s->count <= STORE_BLOCK_OBJECTS);
	TRY(base_step(im->work, first_ix, err));
	TRY(put_blocks(im, s, first_ix, err));
	TRY(put_long_lists(im, view, s, err));
	for (size_t i = 0; i < s->missing.count; i++) {
		const struct missing *m = base_vec_at(&s->missing, struct missing, i);

		TRY(merge_missing(im, m->id, m->from_ix, err));
	}
	im->damage.dangling_count += s->missing_count;
	im->links.reference_count += s->reference_count;
	import_distances_merge(im, &s->seen);
	im->flat.count += s->flat_count;
	im->flat.odd_count += s->odd_count;
	import_zeroed_merge(im, &s->zeroed);
	TRY(import_counts_merge(im, &s->counted, err));
	return report_short(im, s, err);
}
