/*
 * queries/objects/vthreads.c - reads virtual threads, their carriers and stack chunks, and finds
 * threads without a record.
 */
#include "queries/objects/vthreads.h"

#include "base/bits.h"
#include "heap/known.h"
#include "heap/threads.h"

static int int_field(const struct session *session, uint32_t ix, const char *name, uint64_t *out,
		     struct hdb_error *err)
{
	struct heap_value value;
	const int r = heap_path_value(session->heap, ix, name, &value, err);

	*out = r == HDB_OK && (int32_t)value.bits > 0 ? (uint32_t)value.bits : 0;
	return r < 0 ? r : HDB_OK;
}

int analysis_stack_chunk(const struct session *session, uint32_t ix, uint64_t *bytes,
			 uint32_t *below, struct hdb_error *err)
{
	uint64_t size, sp;
	int r;

	TRY(int_field(session, ix, "size", &size, err));
	/*
	 * The values of both fields are numbers of words. The stack grows down, so all words above
	 * sp are in use.
	 */
	TRY(int_field(session, ix, "sp", &sp, err));
	*bytes = size > sp ? (size - sp) * session->heap->id_size : 0;
	*below = HEAP_NONE;
	r = heap_path_object(session->heap, ix, "parent", below, err);
	if (r > 0)
		*below = HEAP_NONE;
	return r < 0 ? r : HDB_OK;
}

int analysis_vthread(const struct session *session, uint32_t ix, struct analysis_vthread *out,
		     struct hdb_error *err)
{
	struct heap_object object;
	uint32_t chunk;
	uint64_t bytes;
	int r;

	*out = (struct analysis_vthread){ .carrier_ix = HEAP_NONE, .chunk_ix = HEAP_NONE };
	TRY(heap_object(session->heap, ix, &object, err));
	if (object.kind != STORE_INSTANCE ||
	    !heap_has_superclass(session->heap, object.class_no, "java.lang.VirtualThread"))
		return HDB_NOTFOUND;
	r = heap_path_object(session->heap, ix, "carrierThread", &out->carrier_ix, err);
	TRY_ERRORS(r);
	if (r != HDB_OK)
		out->carrier_ix = HEAP_NONE;
	TRY_FOUND(heap_path_object(session->heap, ix, "cont.tail", &chunk, err));
	out->chunk_ix = chunk;
	while (chunk != HEAP_NONE && out->chunk_count < ANALYSIS_CHUNKS_MAX) {
		TRY(analysis_stack_chunk(session, chunk, &bytes, &chunk, err));
		out->stack_bytes += bytes;
		out->chunk_count++;
	}
	assert(out->chunk_count <= ANALYSIS_CHUNKS_MAX);
	out->is_cut = chunk != HEAP_NONE;
	return HDB_OK;
}

struct unlisted {
	const uint8_t *is_thread;  /* indexed by class */
	const uint64_t *is_listed; /* bit set by object */
	struct base_vec *ixs;
};

static int find_unlisted(void *ctx, const struct heap_block *block, struct hdb_error *err)
{
	const struct unlisted *u = ctx;

	for (uint32_t i = 0; i < block->count; i++) {
		const uint32_t ix = block->first_ix + i;

		if (block->kind[i] == STORE_INSTANCE && u->is_thread[block->class_no[i]] &&
		    !base_bit_has(u->is_listed, ix))
			TRY(base_vec_push(u->ixs, &ix, sizeof(ix), err));
	}
	return HDB_OK;
}

int analysis_unlisted_threads(const struct session *session, struct base_vec *ixs,
			      struct hdb_error *err)
{
	struct heap *heap = session->heap;
	BASE_FREED uint8_t *is_thread = NULL;
	BASE_FREED uint64_t *is_listed = NULL;

	TRY(heap_load_classes(heap, err));
	TRY(BASE_ALLOC(is_thread, (size_t)heap->class_count + 1, "threads", err));
	TRY(BASE_ALLOC(is_listed, base_bit_words(heap->object_count) + 1, "threads", err));
	for (uint32_t no = 0; no < heap->class_count; no++)
		is_thread[no] = heap_has_superclass(heap, no, "java.lang.Thread");
	for (uint64_t no = 0; no < heap_thread_count(heap); no++) {
		struct store_thread thread;

		TRY(heap_thread(heap, no, &thread, err));
		if (thread.ix < heap->object_count)
			base_bit_put(is_listed, thread.ix);
	}
	base_stage(session->work, "finding threads", heap->object_count, "objects");
	return heap_each_block(heap, session->work, find_unlisted,
			       &(struct unlisted){ is_thread, is_listed, ixs }, err);
}
