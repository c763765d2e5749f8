/* import/distances.c - collects the distances between objects, by class. */
#include "import/context.h"

#include "layout/layout.h"

#include <string.h>

void import_distances_init(struct import_distances *d)
{
	memset(d, 0, sizeof(*d));
}

static void keep_next(struct import_distance *to, int64_t least)
{
	if (least > to->least && least < to->next_least)
		to->next_least = least;
}

static void join(struct import_distance *to, const struct import_distance *from)
{
	if (!from->count)
		return;
	if (!to->count) {
		*to = *from;
		return;
	}
	if (from->least < to->least) {
		to->next_least = to->least;
		to->at_least = from->at_least;
		to->least = from->least;
	} else if (from->least == to->least) {
		to->at_least += from->at_least;
	}
	keep_next(to, from->least);
	keep_next(to, from->next_least);
	if (from->least_wide < to->least_wide)
		to->least_wide = from->least_wide;
	to->count += from->count;
}

/*
 * Returns the distance minus the size of the elements. If the length is impossible, returns
 * INT64_MIN, a value that contradicts every model.
 */
static int64_t without(uint64_t distance, uint64_t elements, uint64_t width)
{
	uint64_t bytes;

	if (__builtin_mul_overflow(elements, width, &bytes) || bytes > INT64_MAX ||
	    distance > INT64_MAX)
		return INT64_MIN;
	return (int64_t)distance - (int64_t)bytes;
}

/* Moves an entry of the cache to the block's list. */
static int push_out(struct import_distances *d, struct import_distance_entry *e,
		    struct hdb_error *err)
{
	int r;

	if (!e->key)
		return HDB_OK;
	r = base_vec_push(&d->seen->entries, e, sizeof(*e), err);
	e->key = 0;
	return r;
}

/*
 * Finds the cache entry for an object's class and kind. If the slot contains another entry, that
 * entry is evicted.
 */
static int entry_of(struct import_distances *d, const struct store_object *o,
		    struct import_distance_entry **out, struct hdb_error *err)
{
	const uint64_t no = o->kind == STORE_CLASS ? o->length : o->class_no;
	const uint64_t key = import_distances_key(no, o->kind);
	struct import_distance_entry *e = &d->cache[no % IMPORT_DISTANCE_CACHE];

	if (e->key != key) {
		TRY(push_out(d, e, err));
		*e = (struct import_distance_entry){
			.distance = { .least = INT64_MAX,
				      .next_least = INT64_MAX,
				      .least_wide = INT64_MAX },
			.key = key,
		};
	}
	*out = e;
	return HDB_OK;
}

/*
 * Adds a distance. The size of the elements is subtracted for both possible widths of references,
 * because the width is chosen later, from the evidence of all objects.
 */
int import_distances_add(struct import_distances *d, const struct store_object *o,
			 uint64_t distance, uint32_t times, struct hdb_error *err)
{
	struct import_distance_entry *e;
	int64_t least, wide;

	TRY(entry_of(d, o, &e, err));
	switch (o->kind) {
	case STORE_INSTANCE:
		least = without(distance, o->length ? layout_stack_chunk(4, o->length) : 0, 1);
		wide = without(distance, o->length ? layout_stack_chunk(8, o->length) : 0, 1);
		break;
	case STORE_CLASS:
		least = wide = without(distance, 0, 1);
		break;
	case STORE_OBJECT_ARRAY:
		least = without(distance, o->length, 4);
		wide = without(distance, o->length, 8);
		break;
	default:
		least = wide = without(distance, o->length, o->body_size);
		break;
	}
	import_distances_note(d, &e->distance,
			      &(struct import_noted){
				      .distance = distance,
				      .times = times,
				      .least = least,
				      .wide = wide,
				      .is_filled_array = o->kind == STORE_OBJECT_ARRAY && o->length,
			      });
	return HDB_OK;
}

/* Counts an instance whose distance must not influence the layout. */
int import_distances_pass(struct import_distances *d, const struct store_object *o,
			  struct hdb_error *err)
{
	struct import_distance_entry *e;

	TRY(entry_of(d, o, &e, err));
	e->unmeasured++;
	return HDB_OK;
}

int import_distances_flush(struct import_distances *d, struct hdb_error *err)
{
	for (unsigned i = 0; i < IMPORT_DISTANCE_CACHE; i++)
		TRY(push_out(d, &d->cache[i], err));
	memcpy(d->seen->low_bits, d->low_bits, sizeof(d->low_bits));
	memset(d->low_bits, 0, sizeof(d->low_bits));
	d->seen->wide_overlaps = d->wide_overlaps;
	d->wide_overlaps = 0;
	return HDB_OK;
}

/*
 * Merges the distances of a block. Called in block order on one thread, but the totals do not
 * depend on the number of threads.
 */
void import_distances_merge(struct import *im, struct import_seen *seen)
{
	for (size_t i = 0; i < seen->entries.count; i++) {
		const struct import_distance_entry *e =
			base_vec_at(&seen->entries, struct import_distance_entry, i);
		struct import_class *class = import_class_at(im, (uint32_t)(e->key >> 3));

		if ((e->key >> 1 & 3) == STORE_INSTANCE)
			class->instance_count += e->distance.count + e->unmeasured;
		join((e->key >> 1 & 3) == STORE_CLASS ? &class->mirror_distance : &class->distance,
		     &e->distance);
	}
	for (unsigned i = 0; i <= IMPORT_LOW_BITS; i++) {
		im->evidence.low_bits[i] += seen->low_bits[i];
		seen->low_bits[i] = 0;
	}
	im->evidence.wide_overlaps += seen->wide_overlaps;
	seen->entries.count = 0;
	seen->wide_overlaps = 0;
}
