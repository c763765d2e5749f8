/*
 * heap/heap_dump.c - opens the dump of an open heap database, checks it, and asks the operating
 * system to read ahead.
 */
#include "base/fingerprint.h"
#include "base/frames.h"
#include "heap/heap.h"

#include <assert.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Number of objects to sample to find the part of the dump that a block needs. Objects in address
 * order are contiguous in the dump in runs of thousands.
 */
#define WANT_SAMPLES 16u
/* Maximum size of that part. Most of a larger part probably belongs to other blocks. */
#define WANT_BYTES_MAX (8u << 20)
/*
 * Limits for the cache of decompressed frames of a dump in the database: a fraction of the budget
 * (divisor), and a number of bytes.
 */
#define KEPT_CACHE_PART 8u
#define KEPT_CACHE_MAX (64u << 20)
/*
 * Number of bytes to read ahead beyond the start of the block's last object, which may be a short
 * array.
 */
#define WANT_BYTES_MORE 4096u

#define KEEP_ADVICE "; `import --contents keep` makes a database that needs no dump"

int heap_check(struct heap *heap, struct hdb_error *err)
{

	TRY_ERRORS(store_failed(heap->store, err));
	return heap->dump.source ? base_source_failed(heap->dump.source, err) : HDB_OK;
}

int heap_check_size(struct heap *heap, struct hdb_error *err)
{

	TRY(store_fault_size(heap->store, err));
	TRY(heap_check(heap, err));
	return heap->dump.source ? heap->dump.source->check(heap->dump.source, err) : HDB_OK;
}

/* ---- a dump contained in the database ---- */

bool heap_keeps_dump(const struct heap *heap)
{
	return store_meta_number(heap->store, "dump.is_kept", 0) != 0;
}

static int open_header(struct heap *heap, struct hdb_error *err)
{
	const int r = hprof_open(heap->dump.source, &heap->dump.file, err);

	heap->dump.file.is_emptied = store_meta_number(heap->store, "dump.is_emptied", 0) != 0;
	return r;
}

/*
 * Finds a frame of the stored dump. Uses its own store handle, because other threads may read
 * blocks through the heap's handle.
 */
static int find_kept(void *ctx, uint64_t offset, struct base_frame *out, struct hdb_error *err)
{
	struct store *store = ctx;
	struct store_block block;

	TRY(store_block_before(store, STORE_CONTENTS, offset, &block, err));
	store_block_frame(&block, out);
	return HDB_OK;
}

static void close_kept(void *ctx)
{
	store_close(ctx);
}

/* Opens the dump stored in the database, through a store handle that close_kept closes. */
static int open_kept(struct heap *heap, struct hdb_error *err)
{
	struct base_frames frames = {
		.size = store_meta_number(heap->store, "dump.bytes", 0),
		.path = store_path(heap->store),
		.cache_bytes = heap->work->memory_bytes / KEPT_CACHE_PART,
		.find = find_kept,
		.close = close_kept,
	};
	struct store_table_info info;
	struct store *store = NULL;
	int r = store_table_info(heap->store, STORE_CONTENTS, &info, err);

	assert(!heap->dump.source);
	if (r > 0)
		r = store_damaged(heap->store, STORE_CONTENTS, 0, "no contents", err);
	if (r < 0)
		return r;
	TRY_ERRORS(store_open_again(heap->store, &store, err));
	if (frames.cache_bytes > KEPT_CACHE_MAX)
		frames.cache_bytes = KEPT_CACHE_MAX;
	frames.ctx = store;
	if ((r = base_frames_open(&frames, &heap->dump.source, err)) < 0) {
		store_close(store);
		return r;
	}
	return open_header(heap, err);
}

/* ---- a dump file ---- */

/*
 * Checks that a file is the imported dump, by size and fingerprint. Offsets from the import would
 * be meaningless in any other file.
 */
static int check_dump(struct heap *heap, const char *path, struct hdb_error *err)
{
	const uint64_t size = store_meta_number(heap->store, "dump.bytes", 0);
	uint64_t fingerprint;

	assert(heap->dump.source);
	if (heap->dump.source->size != size)
		return hdb_fail(err, HDB_ECHANGED,
				"this query reads the dump, but %s is not the imported dump: its "
				"size is %" PRIu64 " bytes instead of %" PRIu64,
				path, heap->dump.source->size, size);
	TRY(base_fingerprint(heap->dump.source, &fingerprint, err));
	if (fingerprint != store_meta_number(heap->store, "dump.fingerprint", 0))
		return hdb_fail(err, HDB_ECHANGED,
				"this query reads the dump, but %s is not the imported dump: its "
				"contents have changed",
				path);
	return open_header(heap, err);
}

/*
 * Returns the result code for a dump that could not be opened. A missing dump is HDB_ECHANGED,
 * because many queries work without it. Other errors, such as exhausted memory or file handles and
 * disk errors, must not be hidden.
 */
static int no_dump(const char *path, int result)
{
	struct stat st;

	if (result == HDB_ENOMEM)
		return result;
	return result == HDB_EIO && stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
			       access(path, R_OK) == 0 ?
		       result :
		       HDB_ECHANGED;
}

const char *heap_where_dump(const struct heap *heap)
{
	return heap->dump.path          ? heap->dump.path :
	       *heap->state.beside_path ? heap->state.beside_path :
					  heap->state.imported_path;
}

/*
 * Opens the dump at the path that the user gave, else at the path that the import recorded, else
 * next to the database.
 */
static int open_file(struct heap *heap, struct hdb_error *err)
{
	const char *path = heap_where_dump(heap);
	struct hdb_error why = { 0 };
	const int r = base_map_open(path, BASE_RANDOM, &heap->dump.source, &why);

	if (r < 0)
		return hdb_fail(err, heap->dump.path ? r : no_dump(path, r),
				"this query reads the dump, which is not available: %s%s",
				why.message, heap->dump.path ? "" : KEEP_ADVICE);
	return check_dump(heap, path, err);
}

int heap_open_dump(struct heap *heap, struct hdb_error *err)
{
	struct hdb_error why;
	int r;

	if (heap->dump.source)
		return base_source_failed(heap->dump.source, err);
	r = heap_keeps_dump(heap) ? open_kept(heap, &why) : open_file(heap, &why);
	if (r < 0) {
		base_source_close(heap->dump.source);
		heap->dump.source = NULL;
		/*
		 * Without the dump, values are not shown, which is not an error. A system failure
		 * is an error.
		 */
		if (r == HDB_ENOMEM || r == HDB_EIO || r == HDB_ECORRUPT)
			return store_fail(heap->store, &why, err);
		if (err)
			*err = why;
		return r;
	}
	heap->dump.view = (struct base_view){ .src = heap->dump.source };
	return HDB_OK;
}

/* ---- reading ahead ---- */

/*
 * Prefetches the part of the dump that a block needs, judging by a few of its offsets. If these
 * offsets are far apart, the objects are scattered, and reading the whole range would cost more
 * than it saves.
 */
void heap_prefetch_block(struct heap *heap, uint32_t block_no)
{
	const struct store_objects *block;
	uint64_t low = UINT64_MAX, high = 0;

	if (!heap->dump.source || !heap->dump.source->want || block_no >= heap_block_count(heap) ||
	    heap_prepare_block(heap, block_no, NULL) < 0)
		return;
	block = heap->blocks.objects[block_no];
	for (uint32_t k = 0; k <= WANT_SAMPLES; k++) {
		const uint64_t i = (uint64_t)(block->count - 1) * k / WANT_SAMPLES;
		const uint64_t offset = store_objects_offset(block, (uint32_t)i);

		if (offset && offset < low)
			low = offset;
		if (offset > high)
			high = offset;
	}
	if (low < high && high < heap->dump.source->size && high - low <= WANT_BYTES_MAX)
		heap->dump.source->want(heap->dump.source, low, high - low + WANT_BYTES_MORE);
}

void heap_prefetch_ahead(struct heap *heap, uint32_t block_no)
{
	for (uint32_t b = 0; block_no == 0 && b < HEAP_PREFETCH_BLOCKS; b++)
		heap_prefetch_block(heap, b);
	if (block_no < UINT32_MAX - HEAP_PREFETCH_BLOCKS)
		heap_prefetch_block(heap, block_no + HEAP_PREFETCH_BLOCKS);
}
