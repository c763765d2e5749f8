/*
 * heap/heap_roots.c - GC roots.
 */
#include "base/search.h"
#include "base/bits.h"
#include "heap/heap.h"

#include "base/bytes.h"

#include <assert.h>
#include <stdlib.h>

/*
 * Adds one block of the `orphans` table, which begins at word first_word. A bit beyond the last
 * object means that the table is damaged.
 */
static int add_orphan_words(struct heap *heap, uint64_t first_word, uint64_t words,
			    struct hdb_error *err)
{
	struct store_block block;
	int r = store_block(heap->store, STORE_ORPHANS, first_word, &block, err);

	assert(first_word % HEAP_ORPHAN_WORDS == 0);
	assert(words <= HEAP_ORPHAN_WORDS);
	assert(heap->roots.bits);
	if (r > 0 ||
	    (r == HDB_OK && (block.item_count != words || block.size != words * sizeof(uint64_t))))
		r = store_damaged(heap->store, STORE_ORPHANS, first_word, "impossible size", err);
	if (r < 0)
		return r;
	for (uint64_t w = 0; w < words; w++) {
		const uint64_t bits = load64(block.data + w * sizeof(uint64_t));
		const uint64_t first_ix = (first_word + w) * 64;

		if (first_ix + 64 > heap->object_count && bits >> (heap->object_count - first_ix))
			return store_damaged(heap->store, STORE_ORPHANS, first_word,
					     "index out of range", err);
		heap->roots.bits[first_word + w] |= bits;
	}
	return HDB_OK;
}

int heap_add_orphans(struct heap *heap, struct hdb_error *err)
{
	const uint64_t words = ((uint64_t)heap->object_count + 63) / 64;
	struct store_table_info info;

	if (!heap->state.takes_orphans)
		return HDB_OK;
	TRY_FOUND(store_table_info(heap->store, STORE_ORPHANS, &info, err));
	for (uint64_t at = 0; at < words; at += HEAP_ORPHAN_WORDS)
		TRY(add_orphan_words(
			heap, at, words - at < HEAP_ORPHAN_WORDS ? words - at : HEAP_ORPHAN_WORDS,
			err));
	return HDB_OK;
}

/*
 * Returns whether an object is an orphan: marked as a root, but without a root record. Records of
 * local variables are ignored, because they count as references from their thread.
 */
bool heap_is_orphan(const struct heap *heap, uint32_t ix)
{
	size_t count;
	const struct store_root *roots = heap_roots_of(heap, ix, &count);

	for (size_t i = 0; i < count; i++)
		if (!roots[i].is_local)
			return false;
	return heap_is_root(heap, ix);
}

/*
 * Loads the roots. Local variables get no bit, because they count as references from their thread.
 * After a failure, `bits` remains NULL, so the next call retries.
 */
int heap_load_roots(struct heap *heap, struct hdb_error *err)
{
	const size_t words = (size_t)heap->object_count / 64 + 1;
	uint64_t n;
	int r;

	if (heap->roots.bits)
		return HDB_OK;
	TRY(store_record_room(heap->store, STORE_ROOTS, &n, err));
	base_big_free(&heap->roots.big);
	TRY(base_big_alloc(heap->work, &heap->roots.big, (n + 1) * sizeof(*heap->roots.records),
			   "roots", err));
	heap->roots.records = heap->roots.big.data;
	TRY(heap_read_records(
		heap, STORE_ROOTS,
		&(struct heap_records){ heap->roots.records, sizeof(*heap->roots.records), n },
		err));
	heap->roots.count = n;
	TRY(HEAP_ALLOC(heap, heap->roots.bits, words, "roots", err));
	for (uint64_t i = 0; i < n; i++) {
		const uint32_t ix = heap->roots.records[i].ix;

		if (ix >= heap->object_count) {
			free(heap->roots.bits);
			heap->roots.bits = NULL;
			return store_damaged(heap->store, STORE_ROOTS, i, "index out of range",
					     err);
		}
		if (!heap->roots.records[i].is_local)
			base_bit_put(heap->roots.bits, ix);
	}
	r = heap_add_orphans(heap, err);
	if (r < 0) {
		free(heap->roots.bits);
		heap->roots.bits = NULL;
	}
	return r;
}

/*
 * Returns the root records of an object, which are adjacent because records are sorted by object.
 */
const struct store_root *heap_roots_of(const struct heap *heap, uint32_t ix, size_t *count)
{
	uint64_t end;
	struct base_search search = base_search_in(heap->roots.count);

	assert(heap->roots.bits);
	while (base_search_next(&search))
		base_search_step(&search, heap->roots.records[search.mid].ix < ix);
	for (end = search.low; end < heap->roots.count && heap->roots.records[end].ix == ix; end++)
		;
	*count = (size_t)(end - search.low);
	return *count ? heap->roots.records + search.low : NULL;
}

const char *heap_root_name(uint8_t kind)
{
	static const char *const names[UINT8_MAX + 1] = {
		[HPROF_ROOT_UNKNOWN] = "unknown",
		[HPROF_ROOT_JNI_GLOBAL] = "JNI global",
		[HPROF_ROOT_JNI_LOCAL] = "JNI local",
		[HPROF_ROOT_JAVA_FRAME] = "Java frame",
		[HPROF_ROOT_NATIVE_STACK] = "native stack",
		[HPROF_ROOT_STICKY_CLASS] = "sticky class",
		[HPROF_ROOT_THREAD_BLOCK] = "thread block",
		[HPROF_ROOT_MONITOR_USED] = "monitor used",
		[HPROF_ROOT_THREAD_OBJECT] = "thread object",
		[HPROF_ROOT_INTERNED_STRING] = "interned string",
		[HPROF_ROOT_FINALIZING] = "finalizing",
		[HPROF_ROOT_DEBUGGER] = "debugger",
		[HPROF_ROOT_REFERENCE_CLEANUP] = "reference cleanup",
		[HPROF_ROOT_VM_INTERNAL] = "VM internal",
		[HPROF_ROOT_JNI_MONITOR] = "JNI monitor",
		[HPROF_ROOT_UNREACHABLE] = "unreachable",
	};

	return names[kind] ? names[kind] : "other";
}
