/*
 * api/api_scan.c - implements scans, which return columns of objects in batches, and reads the
 * fields of objects in a batch.
 */
#include "api/handle.h"

#include "analysis/edges.h"
#include "heap/heap_database.h"
#include "heap/known.h"
#include "hprof/reader.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* How many objects ahead to prefetch instance records when reading fields. */
#define RECORDS_AHEAD 16
#define CACHE_LINE 64
/* Number of bytes that the kernel maps per page fault on a file. */
#define FAULT_BYTES 65536

/* A scan. A batch never spans more than one block of the heap. */
struct hdb_scan {
	struct hdb *db;
	struct hdb_scan_options opt;
	bool needs_reachable;
	/* next block, and the one after the last; descending scans count down */
	uint32_t block_no, end_block;
	uint32_t blocks_left;
	struct store_lists lists; /* lists of referrers, if requested */
	struct heap_block block;
	/* positions of the selected objects in the block */
	uint32_t keep[STORE_BLOCK_OBJECTS];
	uint32_t ix[STORE_BLOCK_OBJECTS];
	uint32_t dominator[STORE_BLOCK_OBJECTS];
	uint64_t id[STORE_BLOCK_OBJECTS];
	uint64_t retained[STORE_BLOCK_OBJECTS];
	uint64_t offset[STORE_BLOCK_OBJECTS];
	uint64_t referrers[STORE_BLOCK_OBJECTS];
	uint32_t count; /* number of objects in the last batch */
	/* index in the batch of the instance whose fields were read last, or HDB_NONE if none */
	uint32_t open_at;
	struct heap_instance instance;
	uint8_t reachable[STORE_BLOCK_OBJECTS];
};

static int scan_prepare(struct hdb_scan *scan, struct hdb_error *err)
{
	const unsigned tree = HDB_SCAN_RETAINED | HDB_SCAN_DOMINATOR;
	struct heap *heap = scan->db->heap;
	struct hdb_scan_options *opt = &scan->opt;

	TRY(heap_load_classes(heap, err));
	if (!opt->end_ix || opt->end_ix > heap->object_count)
		opt->end_ix = heap->object_count;
	if (opt->from_ix < opt->end_ix) {
		const uint32_t first = opt->from_ix / STORE_BLOCK_OBJECTS;
		const uint32_t last = (opt->end_ix - 1) / STORE_BLOCK_OBJECTS;

		scan->block_no = opt->descending ? last : first;
		scan->blocks_left = last - first + 1;
	}
	if (opt->columns & HDB_SCAN_FIELDS)
		opt->columns |= HDB_SCAN_OFFSET;
	scan->needs_reachable = opt->population || opt->columns & HDB_SCAN_REACHABLE;
	if (opt->columns & HDB_SCAN_FIELDS)
		TRY(heap_open_dump(heap, err));
	if (opt->columns & HDB_SCAN_REFERRERS)
		TRY(derive_referrers(&scan->db->derive, &scan->lists, err));
	return opt->columns & tree ? derive_need(&scan->db->derive, STORE_RETAINED, err) : HDB_OK;
}

int hdb_scan_open(struct hdb *db, const struct hdb_scan_options *opt, struct hdb_scan **out,
		  struct hdb_error *err)
{
	API_NEEDS(db && out, err);

	struct hdb_scan_options options;
	struct hdb_scan *scan;
	int r;

	API_READ(&options, opt, err);
	scan = malloc(sizeof(*scan));
	if (!scan)
		return hdb_fail_memory(err, "a block of objects", sizeof(*scan));
	scan->db = db;
	scan->opt = options;
	scan->block_no = scan->blocks_left = 0;
	scan->count = 0;
	scan->open_at = HDB_NONE;
	r = scan_prepare(scan, err);
	if (r < 0) {
		free(scan);
		return r;
	}
	*out = scan;
	return HDB_OK;
}

void hdb_scan_close(struct hdb_scan *scan)
{
	free(scan);
}

/*
 * Selects objects as the options say, apart from reachability. Returns their number, and sets
 * scan->keep to their positions.
 */
static uint32_t choose(struct hdb_scan *scan)
{
	const struct hdb_scan_options *opt = &scan->opt;
	const struct heap_block *b = &scan->block;
	const uint32_t low = opt->from_ix > b->first_ix ? opt->from_ix - b->first_ix : 0;
	const uint32_t room = opt->end_ix - b->first_ix;
	const uint32_t high = room < b->count ? room : b->count;
	const unsigned kinds = opt->kinds ? opt->kinds : ~0u;
	uint32_t n = 0;

	assert(scan->block.count <= STORE_BLOCK_OBJECTS);
	for (uint32_t i = low; i < high; i++) {
		const uint32_t no = b->class_no[i];
		bool wants = kinds >> b->kind[i] & 1 && (!opt->classes || opt->classes[no]);

		if (wants && (b->kind[i] == STORE_CLASS || b->first_ix + i == HEAP_BOOT_LOADER))
			wants = b->first_ix + i != HEAP_BOOT_LOADER &&
				!(heap_class(scan->db->heap, (uint32_t)b->length[i])->flags &
				  STORE_CLASS_INVENTED);
		scan->keep[n] = i;
		n += wants;
	}
	assert(n <= b->count);
	return n;
}

static uint32_t choose_reachable(struct hdb_scan *scan, uint32_t n)
{
	const uint8_t wanted = scan->opt.population > 0;
	uint32_t kept = 0;

	assert(n <= scan->block.count);
	assert(scan->needs_reachable);
	for (uint32_t k = 0; k < n; k++) {
		const uint32_t i = scan->keep[k];

		scan->keep[kept] = i;
		kept += scan->reachable[i] == wanted;
	}
	assert(kept <= n);
	return kept;
}

static int add_referrers(void *ctx, uint32_t ix, const uint32_t *entries, size_t count,
			 struct hdb_error *err)
{
	struct hdb_scan *scan = ctx;
	uint64_t *sum = &scan->referrers[ix - scan->block.first_ix];
	bool counts = true;

	for (size_t i = 0; i < count; i++) {
		if (scan->opt.columns & HDB_SCAN_REACHABLE_REFERRERS)
			TRY(derive_is_reachable(&scan->db->derive, entries[i], &counts, err));
		*sum += counts;
	}
	return HDB_OK;
}

static int count_referrers(struct hdb_scan *scan, struct hdb_error *err)
{
	const struct session session = api_session(scan->db);
	const struct heap_block *b = &scan->block;

	memset(scan->referrers, 0, sizeof(scan->referrers));
	return analysis_each_edge(&session, &scan->lists, (uint64_t)b->first_ix + b->count,
				  &(struct analysis_edge_taker){ add_referrers, scan, b->first_ix },
				  err);
}

static int read_columns(struct hdb_scan *scan, uint32_t block_no, struct hdb_error *err)
{
	struct hdb *db = scan->db;
	const unsigned columns = scan->opt.columns;
	uint32_t ids = scan->block.count;

	assert(block_no < heap_block_count(scan->db->heap));
	if (columns & HDB_SCAN_ID)
		TRY(heap_read_ids(db->heap, block_no, scan->id, &ids, err));
	if (ids != scan->block.count)
		return heap_damaged(db->heap, STORE_IDS, scan->block.first_ix, "impossible size",
				    err);
	if (columns & HDB_SCAN_RETAINED)
		TRY(derive_retained_block(&db->derive, &scan->block, scan->retained, err));
	if (columns & HDB_SCAN_DOMINATOR)
		TRY(derive_dominator_block(&db->derive, block_no, scan->dominator, err));
	if (columns & HDB_SCAN_OFFSET)
		TRY(heap_read_offsets(db->heap, block_no, scan->offset, err));
	if (columns & HDB_SCAN_REFERRERS)
		TRY(count_referrers(scan, err));
	for (uint32_t i = 0; columns & HDB_SCAN_OFFSET && i < scan->block.count; i++)
		if (scan->block.kind[i] == STORE_CLASS)
			scan->offset[i] =
				heap_class(db->heap, (uint32_t)scan->block.length[i])->file_offset;
	return HDB_OK;
}

/*
 * Moves the selected values to the front of a column. `keep` is ascending, so this works in place.
 */
#define PACK(column) \
	do { \
		for (uint32_t k = 0; k < n; k++) \
			(column)[k] = (column)[scan->keep[k]]; \
	} while (0)
#define REVERSE(type, column) \
	do { \
		for (uint32_t k = 0; k < n / 2; k++) { \
			const type other = (column)[k]; \
\
			(column)[k] = (column)[n - 1 - k]; \
			(column)[n - 1 - k] = other; \
		} \
	} while (0)

static void pack_columns(struct hdb_scan *scan, uint32_t n)
{
	const unsigned columns = scan->opt.columns;
	const bool is_turned = scan->opt.descending != 0;
	struct heap_block *b = &scan->block;

	assert(n <= scan->block.count);
	for (uint32_t k = 0; k < n; k++)
		scan->ix[k] = b->first_ix + scan->keep[k];
	if (n < b->count) {
		PACK(b->class_no);
		PACK(b->kind);
		PACK(b->shallow);
		PACK(b->length);
		if (columns & HDB_SCAN_ID)
			PACK(scan->id);
		if (scan->needs_reachable)
			PACK(scan->reachable);
		if (columns & HDB_SCAN_RETAINED)
			PACK(scan->retained);
		if (columns & HDB_SCAN_DOMINATOR)
			PACK(scan->dominator);
		if (columns & HDB_SCAN_OFFSET)
			PACK(scan->offset);
		if (columns & HDB_SCAN_REFERRERS)
			PACK(scan->referrers);
	}
	if (!is_turned)
		return;
	REVERSE(uint32_t, scan->ix);
	REVERSE(uint32_t, b->class_no);
	REVERSE(uint8_t, b->kind);
	REVERSE(uint64_t, b->shallow);
	REVERSE(uint64_t, b->length);
	if (columns & HDB_SCAN_ID)
		REVERSE(uint64_t, scan->id);
	if (scan->needs_reachable)
		REVERSE(uint8_t, scan->reachable);
	if (columns & HDB_SCAN_RETAINED)
		REVERSE(uint64_t, scan->retained);
	if (columns & HDB_SCAN_DOMINATOR)
		REVERSE(uint32_t, scan->dominator);
	if (columns & HDB_SCAN_OFFSET)
		REVERSE(uint64_t, scan->offset);
	if (columns & HDB_SCAN_REFERRERS)
		REVERSE(uint64_t, scan->referrers);
}

/*
 * Maps the part of the dump with the records of the batch in one call. If the records are so
 * scattered that page faults (16 pages each) would map less memory, leaves the mapping to page
 * faults.
 */
static void touch_records(struct hdb_scan *scan, uint32_t n)
{
	struct base_source *source = scan->db->heap->dump.source;
	uint64_t low = UINT64_MAX, high = 0;

	assert(n <= scan->block.count);
	for (uint32_t k = 0; k < n; k++) {
		const uint64_t offset = scan->offset[k];

		if (offset && offset < low)
			low = offset;
		if (offset > high)
			high = offset;
	}
	if (source->touch && low < high && (high - low) / FAULT_BYTES < n)
		source->touch(source, low, high - low);
}

/* Reads a block. Sets *n to the number of selected objects in it, which may be 0. */
static int scan_block(struct hdb_scan *scan, uint32_t block_no, uint32_t *n, struct hdb_error *err)
{
	struct hdb *db = scan->db;
	bool has = true;
	int r = HDB_OK;

	*n = 0;
	if (scan->opt.classes)
		TRY(heap_block_has(db->heap, block_no, scan->opt.classes, &has, err));
	if (has)
		r = heap_read_block_of(db->heap, block_no, scan->opt.classes, &scan->block, err);
	if (r < 0 || !has)
		return r;
	*n = choose(scan);
	if (*n && scan->needs_reachable)
		TRY(derive_reachable_block(&db->derive, block_no, scan->reachable, err));
	if (*n && scan->opt.population)
		*n = choose_reachable(scan, *n);
	if (*n)
		TRY(read_columns(scan, block_no, err));
	if (*n)
		pack_columns(scan, *n);
	if (*n && scan->opt.columns & HDB_SCAN_FIELDS)
		touch_records(scan, *n);
	return r;
}

int hdb_scan_next(struct hdb_scan *scan, struct hdb_batch *out, struct hdb_error *err)
{
	API_NEEDS(scan && out, err);

	const unsigned columns = scan->opt.columns;
	struct hdb *db = scan->db;
	struct hdb_batch batch;
	uint32_t n = 0;
	int r = HDB_OK;

	API_CHECK(out, err);
	while (!n && r == HDB_OK) {
		const uint32_t block_no = scan->block_no;

		if (!scan->blocks_left)
			return HDB_END;
		scan->blocks_left--;
		scan->block_no += scan->opt.descending ? UINT32_MAX : 1;
		if (columns & HDB_SCAN_FIELDS && !scan->opt.descending)
			heap_prefetch_ahead(db->heap, block_no);
		r = scan_block(scan, block_no, &n, err);
		if (r == HDB_OK)
			r = base_check_cancelled(&db->work, err);
	}
	scan->count = n;
	scan->open_at = HDB_NONE;
	TRY_ERRORS(api_end(db, r, err));
	batch = (struct hdb_batch){
		.count = n,
		.ix = scan->ix,
		.class_no = scan->block.class_no,
		.kind = scan->block.kind,
		.shallow_bytes = scan->block.shallow,
		.length = scan->block.length,
		.id = columns & HDB_SCAN_ID ? scan->id : NULL,
		.reachable = scan->needs_reachable ? scan->reachable : NULL,
		.retained_bytes = columns & HDB_SCAN_RETAINED ? scan->retained : NULL,
		.dominator = columns & HDB_SCAN_DOMINATOR ? scan->dominator : NULL,
		.file_offset = columns & HDB_SCAN_OFFSET ? scan->offset : NULL,
		.referrers = columns & HDB_SCAN_REFERRERS ? scan->referrers : NULL,
	};
	API_WRITE(out, &batch);
	return HDB_OK;
}

/* ---- fields ---- */

/* Locates the field values of object `at` of the batch. */
static int open_instance(struct hdb_scan *scan, size_t at, struct hdb_error *err)
{
	struct heap *heap = scan->db->heap;

	assert(at < scan->count);
	scan->open_at = HDB_NONE;
	scan->instance = (struct heap_instance){ .class_no = scan->block.class_no[at] };
	if (at + RECORDS_AHEAD < scan->count) {
		/*
		 * Prefetches the header and the first fields. Records are in no particular order,
		 * so the CPU cannot predict the next one.
		 */
		base_view_prefetch(&heap->dump.view, scan->offset[at + RECORDS_AHEAD]);
		base_view_prefetch(&heap->dump.view, scan->offset[at + RECORDS_AHEAD] + CACHE_LINE);
	}
	if (scan->block.kind[at] == STORE_INSTANCE && scan->offset[at])
		TRY(heap_instance_read(heap, &heap->dump.view, scan->offset[at], &scan->instance,
				       err));
	scan->open_at = (uint32_t)at;
	return HDB_OK;
}

int hdb_scan_field(struct hdb_scan *scan, size_t at, const struct hdb_field *field,
		   struct hdb_basic *out, struct hdb_error *err)
{
	API_NEEDS(scan && field && out, err);

	if (at >= scan->count || !(scan->opt.columns & HDB_SCAN_FIELDS))
		return hdb_fail(err, HDB_EUSAGE,
				"the object does not belong to a batch opened with "
				"HDB_SCAN_FIELDS");
	if (scan->open_at != at)
		TRY(open_instance(scan, at, err));
	return api_field_value(scan->db, &scan->instance, field, out, err);
}
