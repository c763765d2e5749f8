/*
 * import/zeroed.c - detects VMs and tools that omit the contents of arrays.
 *
 * SapMachine with -XX:+LimitPrimitiveArrayContentInHeapDump (services/heapDumper.cpp,
 * dump_prim_array, since 2026) dumps primitive arrays with their length, but only a limited number
 * of elements: 120 for bytes and chars, or StringLikeContentSizeLimitInHeapDump;
 * ArrayContentSizeLimitInHeapDump for others. The remaining elements are zeros. No record mentions
 * this. heapdb detects this limit because the contents of many byte and char arrays, most of them
 * strings, end at the same index, and no array in the heap has contents beyond this index.
 *
 * The file also detects dumps redacted by a tool: all byte and char arrays, including strings,
 * contain the same value, usually 0, '?' or '*'. `fill` is 0 before the first array, then that
 * value + 1, and IMPORT_FILL_VARIES once an array differs. From then on, no contents are read for
 * this purpose.
 */
#include "import/resolve.h"

/*
 * Number of arrays whose contents must end at the same index. This does not happen by chance in any
 * program.
 */
#define ARRAYS_MIN 32u
/* Number of bytes compared at a time. */
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

/* Sets *out to 1 + the common value of all elements, or to IMPORT_FILL_VARIES. */
static int fill_of(struct block_builder *m, const struct hprof_sub *sub, unsigned *out,
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

/*
 * Compares an array with the value of all previous arrays. May run on any thread, because the order
 * does not affect the result.
 */
static int add_fill(struct import *im, struct block_builder *m, const struct hprof_sub *sub,
		    struct hdb_error *err)
{
	unsigned fill, before = 0;

	TRY(fill_of(m, sub, &fill, err));
	m->out->zeroed.filled_count++;
	if (!__atomic_compare_exchange_n(&im->evidence.fill, &before, fill, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED) &&
	    before != fill)
		__atomic_store_n(&im->evidence.fill, IMPORT_FILL_VARIES, __ATOMIC_RELAXED);
	return HDB_OK;
}

int import_zeroed_add(struct import *im, struct block_builder *m, const struct hprof_sub *sub,
		      struct hdb_error *err)
{
	const unsigned width = sub->element_type == HPROF_CHAR ? 2 : 1;
	const uint64_t known = __atomic_load_n(&im->evidence.zeroed_end, __ATOMIC_RELAXED);
	struct import_zeroed one = { .cut_count = 1 };
	uint64_t bytes, held = known;

	if ((sub->element_type != HPROF_BYTE && sub->element_type != HPROF_CHAR) || !sub->length)
		return HDB_OK;
	if (__atomic_load_n(&im->evidence.fill, __ATOMIC_RELAXED) != IMPORT_FILL_VARIES)
		TRY(add_fill(im, m, sub, err));
	if (im->origin.is_android || sub->length <= known)
		return HDB_OK;
	/*
	 * The search starts at the last index that can change the result, because shorter contents
	 * are irrelevant.
	 */
	TRY(hprof_content_end(&m->view, sub, known ? (known - 1) * width : 0, &bytes, err));
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
