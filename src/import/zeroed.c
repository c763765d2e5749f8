/*
 * import/zeroed.c - whether the VM left out the content of long arrays.
 *
 * SapMachine with -XX:+LimitPrimitiveArrayContentInHeapDump (services/heapDumper.cpp,
 * dump_prim_array, since 2026) writes an array of primitives with its length, but only so many of
 * its elements: of bytes and chars 120, or StringLikeContentSizeLimitInHeapDump; of others
 * ArrayContentSizeLimitInHeapDump. The others are zeros. No record says so. It shows in that many
 * arrays of bytes and chars, most of them texts, end their content at one and the same element,
 * behind which no such array of the heap has any.
 */
#include "import/resolve.h"

/* Arrays that must end their content there: more than any program fills alike by chance. */
#define ARRAYS_MIN 32u

static void join(struct import_zeroed *to, const struct import_zeroed *from)
{
	if (from->end > to->end)
		*to = *from;
	else if (from->end == to->end)
		to->cut_count += from->cut_count;
}

int import_zeroed_add(struct import *im, struct maker *m, const struct hprof_sub *sub,
		      struct hdb_error *err)
{
	const unsigned width = sub->element_type == HPROF_CHAR ? 2 : 1;
	const uint64_t known = __atomic_load_n(&im->evidence.zeroed_end, __ATOMIC_RELAXED);
	struct import_zeroed one = { .cut_count = 1 };
	uint64_t bytes, held = known;

	if ((sub->element_type != HPROF_BYTE && sub->element_type != HPROF_CHAR) ||
	    sub->length <= known)
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
