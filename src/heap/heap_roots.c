/*
 * heap/heap_roots.c - GC roots.
 */
#include "heap/heap.h"

#include <stdlib.h>
#include <string.h>

int heap_load_roots(struct heap *heap, struct hdb_error *err)
{
	const size_t words = (size_t)heap->object_count / 64 + 1;
	uint64_t done = 0, n;
	int found;

	if (heap->root_bits)
		return HDB_OK;
	found = store_record_room(heap->store, STORE_ROOTS, sizeof(*heap->roots), &n, err);
	if (found < 0)
		return found;
	free(heap->roots);
	heap->roots = calloc((size_t)n + 1, sizeof(*heap->roots));
	if (!heap->roots)
		return hdb_fail_memory(err, "roots", n * sizeof(*heap->roots));
	while (done < n) {
		struct store_block block;
		int r = store_block(heap->store, STORE_ROOTS, done, &block, err);

		if (r == HDB_NOTFOUND || (r == HDB_OK && (block.item_count > n - done ||
		    !block.item_count ||
		    block.size != (uint64_t)block.item_count * sizeof(*heap->roots))))
			r = store_damaged(heap->store, STORE_ROOTS, done, "impossible size", err);
		if (r < 0)
			return r;
		memcpy(heap->roots + done, block.data, block.size);
		done += block.item_count;
	}
	heap->root_count = n;
	heap->root_bits = calloc(words, sizeof(uint64_t));
	if (!heap->root_bits)
		return hdb_fail_memory(err, "roots", words * 8);
	for (uint64_t i = 0; i < n; i++) {
		const uint32_t ix = heap->roots[i].ix;

		if (ix >= heap->object_count) {
			free(heap->root_bits);
			heap->root_bits = NULL;
			return store_damaged(heap->store, STORE_ROOTS, i, "index out of range", err);
		}
		if (!heap->roots[i].is_local)
			heap->root_bits[ix >> 6] |= (uint64_t)1 << (ix & 63);
	}
	return HDB_OK;
}

const struct store_root *heap_roots_of(const struct heap *heap, uint32_t ix, size_t *count)
{
	uint64_t low = 0, high = heap->root_count, end;

	while (low < high) {
		const uint64_t mid = low + (high - low) / 2;

		if (heap->roots[mid].ix < ix)
			low = mid + 1;
		else
			high = mid;
	}
	for (end = low; end < heap->root_count && heap->roots[end].ix == ix; end++)
		;
	*count = (size_t)(end - low);
	return *count ? heap->roots + low : NULL;
}

const char *heap_root_name(uint8_t kind)
{
	switch (kind) {
	case HPROF_ROOT_UNKNOWN: return "unknown";
	case HPROF_ROOT_JNI_GLOBAL: return "JNI global";
	case HPROF_ROOT_JNI_LOCAL: return "JNI local";
	case HPROF_ROOT_JAVA_FRAME: return "Java frame";
	case HPROF_ROOT_NATIVE_STACK: return "native stack";
	case HPROF_ROOT_STICKY_CLASS: return "sticky class";
	case HPROF_ROOT_THREAD_BLOCK: return "thread block";
	case HPROF_ROOT_MONITOR_USED: return "monitor used";
	case HPROF_ROOT_THREAD_OBJECT: return "thread object";
	case HPROF_ROOT_INTERNED_STRING: return "interned string";
	case HPROF_ROOT_FINALIZING: return "finalizing";
	case HPROF_ROOT_DEBUGGER: return "debugger";
	case HPROF_ROOT_REFERENCE_CLEANUP: return "reference cleanup";
	case HPROF_ROOT_VM_INTERNAL: return "VM internal";
	case HPROF_ROOT_JNI_MONITOR: return "JNI monitor";
	case HPROF_ROOT_UNREACHABLE: return "unreachable";
	default: return "other";
	}
}
