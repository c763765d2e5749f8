/*
 * import/zeroed.c - whether the VM left out the content of long arrays.
 *
 * SapMachine with -XX:+LimitPrimitiveArrayContentInHeapDump (services/heapDumper.cpp,
 * dump_prim_array, since 2026) writes an array of primitives with its length, but only so many of
 * its elements: of bytes and chars 120, or StringLikeContentSizeLimitInHeapDump; of others
 * ArrayContentSizeLimitInHeapDump. The others are zeros. No record says so. It shows in that many
 * arrays of bytes and chars, most of them texts, end their content at one and the same element,
 * behind which no such array of the heap has any.
 *
 * And whether a tool redacted the dump: then all such arrays, texts too, hold one and the same
 * value, mostly 0, '?' or '*'. `fill` is 0 before the first array, then this value + 1, or
 * IMPORT_FILL_VARIES from the first array on that has another; none is read for it then.
 */
#include "import/resolve.h"

/* Arrays that must end their content there: more than any program fills alike by chance. */
#define ARRAYS_MIN 32u
/* Bytes that are compared at a time. */
#define FILL_CHUNK (64u << 10)

static void join(struct import_zeroed *to, const struct import_zeroed *from)
{
	to->filled_count += from->filled_count;
	if (from->end == to->end)
		to->cut_count += from->cut_count;
	if (from->end <= to->end)
		return;
	to->end = from->end;
	to->cut_count = from->cut_count;
}

/* The value + 1 that all elements have, or IMPORT_FILL_VARIES. */
static int fill_of(struct maker *m, const struct hprof_sub *sub, unsigned *out,
		   struct hdb_error *err)
{
	const unsigned width = sub->element_type == HPROF_CHAR ? 2 : 1;
	unsigned value = 0;

	*out = IMPORT_FILL_VARIES;
	for (uint64_t at = 0; at < sub->body_size; at += FILL_CHUNK) {
		const uint64_t left = sub->body_size - at;
		const uint64_t n = left < FILL_CHUNK ? left : FILL_CHUNK;
		const uint8_t *p = base_view_at(&m->view, sub->body_offset + at, n, err);

		if (!p)
			return HDB_ETRUNC;
		if (!at)
			value = p[width - 1];
		for (uint64_t i = 0; i < n; i++)
			if (p[i] != (width == 2 && i % 2 == 0 ? 0 : value))
				return HDB_OK;
	}
	*out = value + 1;
	return HDB_OK;
}

/* Compares with what all arrays before hold, on any thread: the order changes nothing. */
static int add_fill(struct import *im, struct maker *m, const struct hprof_sub *sub,
		    struct hdb_error *err)
{
	unsigned fill, before = 0;

	TRY_ERRORS(fill_of(m, sub, &fill, err));
	m->out->zeroed.filled_count++;
	if (!__atomic_compare_exchange_n(&im->evidence.fill, &before, fill, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED) &&
	    before != fill)
		__atomic_store_n(&im->evidence.fill, IMPORT_FILL_VARIES, __ATOMIC_RELAXED);
	return HDB_OK;
}

int import_zeroed_add(struct import *im, struct maker *m, const struct hprof_sub *sub,
		      struct hdb_error *err)
{
	const unsigned width = sub->element_type == HPROF_CHAR ? 2 : 1;
	const uint64_t known = __atomic_load_n(&im->evidence.zeroed_end, __ATOMIC_RELAXED);
	struct import_zeroed one = { .cut_count = 1 };
	uint64_t bytes, held = known;

	if ((sub->element_type != HPROF_BYTE && sub->element_type != HPROF_CHAR) || !sub->length)
		return HDB_OK;
	if (__atomic_load_n(&im->evidence.fill, __ATOMIC_RELAXED) != IMPORT_FILL_VARIES)
		TRY_ERRORS(add_fill(im, m, sub, err));
	if (im->origin.is_android || sub->length <= known)
		return HDB_OK;
	/* From the last element that counts on: all that can be more, or as much. */
	TRY_ERRORS(hprof_content_end(&m->view, sub, known ? (known - 1) * width : 0, &bytes, err));
	one.end = (bytes + width - 1) / width;
	if (!one.end || one.end < known)
		return HDB_OK;
	one.cut_count = one.end < sub->length;
	join(&m->out->zeroed, &one);
	while (held < one.end &&
	       !__atomic_compare_exchange_n(&im->evidence.zeroed_end, &held, one.end, true,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		continue;
	return HDB_OK;
}

void import_zeroed_merge(struct import *im, const struct import_zeroed *seen)
{
	join(&im->evidence.zeroed, seen);
}

uint64_t import_zeroed_from(const struct import *im)
{
	return im->evidence.zeroed.cut_count >= ARRAYS_MIN ? im->evidence.zeroed.end : 0;
}

bool import_zeroed_is_filled(const struct import *im)
{
	return im->evidence.fill != IMPORT_FILL_VARIES &&
	       im->evidence.zeroed.filled_count >= ARRAYS_MIN;
}
