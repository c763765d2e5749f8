/*
 * derive/segments.c - reads foreign-memory segments.
 *
 * A slice is a segment with the session and the unmapper of the segment from which it was taken,
 * but without a reference to that segment. Only the addresses show that the slice and the segment
 * share memory. The session (MemorySessionImpl) of an arena frees the arena's memory. The global
 * session never frees memory. Segments made from addresses that native code returned also have the
 * global session.
 */
#include "derive/segments.h"

#include "base/sort.h"
#include "derive/native.h"
#include "heap/known.h"

#include <stdlib.h>
#include <string.h>

/* Reads a non-negative number. The result is 0 if the field is missing. */
static int read_size(struct heap *heap, uint32_t ix, const char *path, uint64_t *out,
		     struct hdb_error *err)
{
	int64_t number = 0;
	const int r = heap_path_number(heap, ix, path, &number, err);

	*out = r == HDB_OK && number > 0 ? (uint64_t)number : 0;
	return r < 0 ? r : HDB_OK;
}

static int read_reference(struct heap *heap, uint32_t ix, const char *path, uint32_t *out,
			  struct hdb_error *err)
{
	const int r = heap_path_object(heap, ix, path, out, err);

	if (r != HDB_OK)
		*out = HEAP_NONE;
	return r < 0 ? r : HDB_OK;
}

/* Determines whether the session of a segment is closed, and whether it is the global session. */
static int read_session(struct heap *heap, struct derive_segment *s, bool *is_closed,
			struct hdb_error *err)
{
	struct heap_object object;
	int64_t state = 0;
	int r;

	*is_closed = false;
	if (s->session == HEAP_NONE)
		return HDB_OK;
	TRY(heap_object(heap, s->session, &object, err));
	s->is_global = strcmp(heap_class_name(heap, object.class_no),
			      "jdk.internal.foreign.GlobalSession") == 0;
	r = heap_path_number(heap, s->session, "state", &state, err);
	*is_closed = r == HDB_OK && state < 0;
	return r < 0 ? r : HDB_OK;
}

/*
 * Reads a segment. `scope` is the session of the arena. A closed session has freed the memory,
 * although the segment object still exists.
 */
int derive_read_segment(struct heap *heap, uint32_t ix, struct derive_segment *out,
			struct hdb_error *err)
{
	bool is_closed;

	*out = (struct derive_segment){ .ix = ix };
	TRY(read_size(heap, ix, "length", &out->bytes, err));
	TRY(read_size(heap, ix, "min", &out->address, err));
	if (!out->bytes || !out->address || out->bytes > DERIVE_NATIVE_MAX)
		return HDB_NOTFOUND;
	TRY(read_reference(heap, ix, "scope", &out->session, err));
	TRY(read_reference(heap, ix, "unmapper", &out->mapping, err));
	TRY(read_session(heap, out, &is_closed, err));
	if (is_closed)
		return HDB_NOTFOUND;
	if (out->mapping != HEAP_NONE)
		TRY(read_size(heap, out->mapping, "size", &out->mapping_bytes, err));
	return HDB_OK;
}

/*
 * Orders the segments by memory area, then by start, then by descending size.
 */
BASE_ORDER(compare, struct derive_segment, BASE_UP(session), BASE_UP(mapping), BASE_UP(address),
	   BASE_DOWN(bytes), BASE_UP(ix))

/*
 * Segments of the same mapping always share memory. Allocated segments share memory if they
 * overlap.
 */
static bool is_part(const struct derive_segment *of, const struct derive_segment *s)
{
	return s->session == of->session && s->mapping == of->mapping &&
	       (s->mapping != HEAP_NONE || s->address - of->address < of->bytes);
}

/*
 * Joins segments. Sorting makes the segments of an area adjacent, outermost first, so each segment
 * is compared only with the first segment of its group.
 */
void derive_join_segments(struct base_vec *list)
{
	struct derive_segment *segments = list->data, *first = NULL;

	if (list->count)
		qsort(segments, list->count, sizeof(*segments), compare);
	for (size_t i = 0; i < list->count; i++) {
		struct derive_segment *s = &segments[i];
		uint64_t end;

		s->is_view = first && is_part(first, s);
		if (!s->is_view) {
			first = s;
			if (s->mapping_bytes > s->bytes && s->mapping_bytes <= DERIVE_NATIVE_MAX)
				s->bytes = s->mapping_bytes;
			continue;
		}
		/* Sizes come from the dump and may be arbitrarily large. */
		end = s->address - first->address + s->bytes;
		if (end > first->bytes)
			first->bytes = end < DERIVE_NATIVE_MAX ? end : DERIVE_NATIVE_MAX;
	}
}
