/* rewrite/android.c - turns sub-records that only Android writes into those of HPROF 1.0.2. */
#include "rewrite/android.h"

#include "base/bytes.h"

#include <assert.h>

bool rewrite_android_is(uint8_t tag)
{
	switch (tag) {
	case HPROF_ROOT_INTERNED_STRING:
	case HPROF_ROOT_FINALIZING:
	case HPROF_ROOT_DEBUGGER:
	case HPROF_ROOT_REFERENCE_CLEANUP:
	case HPROF_ROOT_VM_INTERNAL:
	case HPROF_ROOT_JNI_MONITOR:
	case HPROF_ROOT_UNREACHABLE:
	case HPROF_PRIMITIVE_ARRAY_NODATA:
	case HPROF_HEAP_DUMP_INFO:
		return true;
	default:
		return false;
	}
}

/* The elements are not in the dump, so an array without elements is written. */
static int put_empty_array(struct rewriter *w, const struct hprof_sub *sub, struct hdb_error *err)
{
	const uint8_t zeros[4] = { 0 };
	const uint8_t tag = HPROF_PRIMITIVE_ARRAY_DUMP;

	TRY(rewriter_begin(w, 1 + w->id_size + 9, err));
	TRY(rewriter_put(w, &tag, 1, err));
	TRY(rewriter_copy_ids(w, sub->offset + 1, 1, err));
	TRY(rewriter_copy(w, sub->offset + 1 + w->file.id_size, 4, err));
	TRY(rewriter_put(w, zeros, 4, err));
	return rewriter_put(w, &sub->element_type, 1, err);
}

int rewrite_android_sub(struct rewriter *w, const struct hprof_sub *sub, struct hdb_error *err)
{
	const uint8_t tag = HPROF_ROOT_UNKNOWN;

	assert(rewrite_android_is(sub->tag));
	/* Neither holds an object. A root in its place would, and would make garbage reachable. */
	if (sub->tag == HPROF_HEAP_DUMP_INFO || sub->tag == HPROF_ROOT_UNREACHABLE)
		return HDB_OK;
	if (sub->tag == HPROF_PRIMITIVE_ARRAY_NODATA)
		return put_empty_array(w, sub, err);
	/* Other roots become ROOT UNKNOWN: their kind is lost, and a monitor's thread and depth. */
	TRY(rewriter_begin(w, 1 + w->id_size, err));
	TRY(rewriter_put(w, &tag, 1, err));
	return rewriter_copy_ids(w, sub->offset + 1, 1, err);
}
