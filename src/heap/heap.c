/* heap/heap.c - opens a heap database, and reads IDs and objects. */
#include "heap/heap.h"

#include "base/bytes.h"
#include "base/pipeline.h"
#include "base/scope.h"
#include "base/search.h"
#include "heap/known.h"
#include "layout/layout.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/*
 * Upper limit for objects per byte of the `objects` table: a group of 128 objects has three columns
 * of at least 8 bytes each.
 */
#define OBJECTS_A_BYTE 4

/*
 * Reads the meta values on which other functions rely. A damaged database must not cause an
 * allocation for more objects or classes than it can contain, or a division by an alignment of 0.
 */
static int read_layout(struct heap *heap, struct hdb_error *err)
{
	struct store *store = heap->store;
	const uint64_t objects = store_meta_number(store, "objects", UINT64_MAX);
	const uint64_t classes = store_meta_number(store, "classes", UINT64_MAX);
	const uint64_t id_size = store_meta_number(store, "dump.id_size", 8);
	struct store_table_info info = { 0 };
	uint64_t class_room;
	const int r = store_table_info(store, STORE_OBJECTS, &info, err);

	TRY_ERRORS(r);
	TRY(store_record_room(store, STORE_CLASSES, &class_room, err));
	/* these numbers determine how much memory is allocated, so impossible ones are rejected */
	if (r == HDB_NOTFOUND || objects / OBJECTS_A_BYTE > info.bytes ||
	    info.item_count != objects || objects >= UINT32_MAX || classes >= UINT32_MAX ||
	    classes != class_room)
		return hdb_fail(err, HDB_ECORRUPT,
				"%s: damaged: impossible number of objects or "
				"classes",
				store_path(store));
	if (id_size != 4 && id_size != 8)
		return hdb_fail(err, HDB_ECORRUPT, "%s: damaged: impossible ID size",
				store_path(store));
	heap->object_count = (uint32_t)objects;
	heap->class_count = (uint32_t)classes;
	heap->id_size = (unsigned)id_size;
	heap->is_android = store_meta_number(store, "dump.is_android", 0) != 0;
	heap->is_phd = store_meta_number(store, "dump.phd", 0) != 0;
	heap->class_class_no =
		(uint32_t)store_meta_number(store, "class.java.lang.Class", HEAP_NONE);
	heap->layout = (struct heap_layout){
		.model = (enum hdb_size_model)store_meta_number(store, "sizes.model", 0),
		.header_bytes = (unsigned)store_meta_number(store, "sizes.header_bytes", 0),
		.reference_bytes = (unsigned)store_meta_number(store, "sizes.reference_bytes", 4),
		.align_bytes = (unsigned)store_meta_number(store, "sizes.align_bytes", 8),
		.array_header_bytes =
			(unsigned)store_meta_number(store, "sizes.array_header_bytes", 0),
		.primitive_header_bytes =
			(unsigned)store_meta_number(store, "sizes.primitive_header_bytes", 0),
		.wide_header_bytes =
			(unsigned)store_meta_number(store, "sizes.wide_header_bytes", 0),
	};
	if (!heap->layout.align_bytes)
		heap->layout.align_bytes = 1;
	return HDB_OK;
}

BASE_CLOSER(close_at, struct heap, heap_close)

int heap_open(const char *path, const char *dump_path, struct base_work *work, struct heap **out,
	      struct hdb_error *err)
{
	BASE_SCOPED(close_at) struct heap *heap = calloc(1, sizeof(*heap));

	if (!heap)
		return hdb_fail_memory(err, "a heap", sizeof(*heap));
	heap->work = work;
	heap->dump.path = dump_path;
	TRY(work->is_unsynced ? store_open_unsynced(path, &heap->store, err) :
				store_open(path, &heap->store, err));
	TRY(read_layout(heap, err));
	TRY(heap_find_state(heap, err));
	*out = heap;
	heap = NULL;
	return HDB_OK;
}

int heap_open_meta(const char *path, const char *dump_path, struct base_work *work,
		   struct heap **out, struct hdb_error *err)
{
	BASE_SCOPED(close_at) struct heap *heap = calloc(1, sizeof(*heap));

	if (!heap)
		return hdb_fail_memory(err, "a heap", sizeof(*heap));
	heap->work = work;
	heap->dump.path = dump_path;
	TRY(store_open_meta(path, &heap->store, err));
	heap->layout.model = (enum hdb_size_model)store_meta_number(heap->store, "sizes.model", 0);
	TRY(heap_find_state(heap, err));
	*out = heap;
	heap = NULL;
	return HDB_OK;
}

uint32_t heap_block_count(const struct heap *heap)
{
	return (uint32_t)(((uint64_t)heap->object_count + STORE_BLOCK_OBJECTS - 1) /
			  STORE_BLOCK_OBJECTS);
}

uint64_t heap_memory_bytes(const struct heap *heap)
{
	const uint64_t block_bytes = sizeof(struct store_objects) + sizeof(struct store_ids) +
				     sizeof(*heap->blocks.objects) + sizeof(*heap->blocks.ids);

	return heap->object_count / 8 + heap_block_count(heap) * block_bytes;
}

static void forget_ids(struct heap *heap)
{
	for (uint32_t b = 0; heap->blocks.ids && b < heap_block_count(heap); b++) {
		free(heap->blocks.ids[b]);
		heap->blocks.ids[b] = NULL;
	}
}

static void forget_blocks(struct heap *heap)
{
	for (uint32_t b = 0; heap->blocks.objects && b < heap_block_count(heap); b++)
		free(heap->blocks.objects[b]);
	forget_ids(heap);
	free(heap->blocks.objects);
	free(heap->blocks.ids);
	heap->blocks.objects = NULL;
	heap->blocks.ids = NULL;
}

/* Loads the first ID of each block: about 500 bytes for a million objects. */
static int load_directory(struct heap *heap, struct hdb_error *err)
{
	const uint32_t n = heap_block_count(heap);
	BASE_FREED uint64_t *first_ids = NULL;

	if (heap->blocks.first_ids)
		return HDB_OK;
	TRY(HEAP_ALLOC(heap, first_ids, (size_t)n + 1, "blocks of identifiers", err));
	for (uint32_t b = 0; b < n; b++) {
		const int r = store_record(heap->store, STORE_ID_DIRECTORY, b, &first_ids[b], err);

		TRY_ERRORS(r);
		if (r == HDB_NOTFOUND || (b && first_ids[b] <= first_ids[b - 1]))
			return store_damaged(heap->store, STORE_ID_DIRECTORY, b, "out of order",
					     err);
	}
	heap->blocks.first_ids = first_ids;
	first_ids = NULL;
	return HDB_OK;
}

/* Frees the memory that a heap and each of its twins own separately. */
static void release_own(struct heap *heap)
{
	forget_blocks(heap);
	heap_release_below(heap);
	base_vec_release(&heap->values.string_layouts);
	for (size_t i = 0; i < heap->values.names.count; i++)
		free(*base_vec_at(&heap->values.names, char *, i));
	base_vec_release(&heap->values.names);
	base_idmap_release(&heap->values.name_nos);
	base_vec_release(&heap->values.binder_proxies);
	base_work_count(heap->work, &heap->classes.counted_bytes, 0);
	free(heap->blocks.offsets);
	heap_known_free(heap->known);
	base_view_release(&heap->dump.view);
	if (!heap->dump.is_shared)
		base_source_close(heap->dump.source);
}

int heap_twin(struct heap *heap, struct heap **out, struct hdb_error *err)
{
	struct hdb_error why;

	/*
	 * If opening the dump fails here, it also fails for the twin, which reports the failure if
	 * it needs the dump.
	 */
	(void)heap_open_dump(heap, &why);
	TRY(heap_load_roots(heap, err));
	TRY(load_directory(heap, err));
	/* This reads the names of all classes, which twins share. */
	(void)heap_class_by_name(heap, "", 0);
	if (!heap->classes.name_hashes)
		return hdb_fail_memory(err, "hashes of names", heap->class_count * 4ull);
	for (uint32_t no = 0; no < heap->class_count; no++)
		if (!heap->classes.names[no])
			return hdb_fail_memory(err, "names of classes", heap->class_count * 8ull);
	TRY(HEAP_ALLOC(heap, *out, 1, "a heap", err));
	**out = *heap;
	(*out)->blocks = (struct heap_blocks){ .first_ids = heap->blocks.first_ids };
	(*out)->classes.below = NULL;
	(*out)->classes.counted_bytes = 0;
	(*out)->values = (struct heap_value_tables){ 0 };
	(*out)->known = NULL;
	(*out)->dump.view = (struct base_view){ .src = heap->dump.source };
	(*out)->dump.is_shared = heap->dump.source != NULL;
	return HDB_OK;
}

void heap_twin_close(struct heap *twin)
{
	if (twin)
		release_own(twin);
	free(twin);
}

/*
 * Closes the heap. The store is closed last, because blocks and strings are borrowed from its map.
 */
void heap_close(struct heap *heap)
{
	if (!heap)
		return;
	release_own(heap);
	for (uint32_t no = 0; heap->classes.names && no < heap->class_count; no++)
		free(heap->classes.names[no]);
	free(heap->classes.names);
	free(heap->classes.name_hashes);
	free(heap->classes.records);
	free(heap->roots.bits);
	base_big_free(&heap->roots.big);
	free(heap->blocks.first_ids);
	heap_release_state(heap);
	store_close(heap->store);
	free(heap);
}

/*
 * Prepares the tables of open blocks. A block of objects may stay open across snapshots, because
 * each use checks it.
 */
static int ready_blocks(struct heap *heap, struct hdb_error *err)
{
	const size_t n = (size_t)heap_block_count(heap) + 1;

	assert((heap->blocks.objects == NULL) == (heap->blocks.ids == NULL));
	if (heap->blocks.objects && heap->blocks.ids_generation != store_generation(heap->store)) {
		forget_ids(heap);
		heap->blocks.ids_generation = store_generation(heap->store);
	}
	if (heap->blocks.objects)
		return HDB_OK;
	heap->blocks.objects = calloc(n, sizeof(struct store_objects *));
	heap->blocks.ids = calloc(n, sizeof(struct store_ids *));
	if (!heap->blocks.objects || !heap->blocks.ids) {
		forget_blocks(heap);
		return heap_fail_memory(heap, "blocks of objects", n * 16, err);
	}
	heap->blocks.ids_generation = store_generation(heap->store);
	return HDB_OK;
}

/*
 * Returns a block of objects, opening it if needed. A block that has changed since it was opened
 * (store_objects_stay) is opened again. Checks the count, so callers may use every index below it.
 */
static int objects_block(struct heap *heap, uint32_t block_no, struct store_objects **out,
			 struct hdb_error *err)
{
	BASE_FREED struct store_objects *block = NULL;

	TRY(ready_blocks(heap, err));
	/* A heap without objects has no blocks. */
	if (block_no >= heap_block_count(heap))
		return store_damaged(heap->store, STORE_OBJECTS, block_no, "block missing", err);
	*out = heap->blocks.objects[block_no];
	if (*out && store_objects_stay(heap->store, *out))
		return HDB_OK;
	free(*out);
	*out = heap->blocks.objects[block_no] = NULL;
	TRY(HEAP_ALLOC(heap, block, 1, "a block of objects", err));
	TRY(store_objects_open(heap->store, block_no * STORE_BLOCK_OBJECTS, block, err));
	if (block->count != (block_no + 1 < heap_block_count(heap) ?
				     STORE_BLOCK_OBJECTS :
				     heap->object_count - block_no * STORE_BLOCK_OBJECTS))
		return store_damaged(heap->store, STORE_OBJECTS, block->first_ix, "impossible size",
				     err);
	*out = heap->blocks.objects[block_no] = block;
	block = NULL;
	return HDB_OK;
}

/*
 * Returns a block of IDs, opening it if needed. The table is keyed by ID; the directory contains
 * the key of each block. Blocks stay open until the store's generation changes.
 */
static int ids_block(struct heap *heap, uint32_t block_no, struct store_ids **out,
		     struct hdb_error *err)
{
	struct store_block found;
	BASE_FREED struct store_ids *block = NULL;
	uint64_t first_id;
	int r;

	TRY(ready_blocks(heap, err));
	if (block_no >= heap_block_count(heap))
		return store_damaged(heap->store, STORE_IDS, block_no, "block missing", err);
	*out = heap->blocks.ids[block_no];
	if (*out)
		return HDB_OK;
	r = store_record(heap->store, STORE_ID_DIRECTORY, block_no, &first_id, err);
	if (r == HDB_OK) /* the first ID of the block is the key of the block */
		r = store_block(heap->store, STORE_IDS, first_id, &found, err);
	if (r == HDB_NOTFOUND)
		return store_damaged(heap->store, STORE_IDS, block_no, "block missing", err);
	TRY_ERRORS(r);
	TRY(HEAP_ALLOC(heap, block, 1, "a block of identifiers", err));
	TRY(store_ids_parse(heap->store, &found, block, err));
	if (block->first_ix != block_no * STORE_BLOCK_OBJECTS ||
	    block->count > heap->object_count - block->first_ix)
		return store_damaged(heap->store, STORE_IDS, first_id, "impossible size", err);
	*out = heap->blocks.ids[block_no] = block;
	block = NULL;
	return HDB_OK;
}

/*
 * Finds the last block whose first ID is not greater than `id`. Returns HDB_NOTFOUND if all IDs are
 * greater.
 */
static int find_block(struct heap *heap, uint64_t id, struct store_ids **out, struct hdb_error *err)
{
	uint32_t low = 0, high = heap_block_count(heap);
	struct base_search search;

	TRY(load_directory(heap, err));
	if (!high || id < heap->blocks.first_ids[0])
		return HDB_NOTFOUND;
	/* The ID is often in the same block as the previous one. */
	if (heap->blocks.found_block < high &&
	    heap->blocks.first_ids[heap->blocks.found_block] <= id)
		low = heap->blocks.found_block;
	if (low + 1 < high && id < heap->blocks.first_ids[low + 1])
		high = low + 1;
	search = (struct base_search){ .low = low + 1, .high = high };
	while (base_search_next(&search))
		base_search_step(&search, heap->blocks.first_ids[search.mid] <= id);
	heap->blocks.found_block = (uint32_t)search.low - 1;
	return ids_block(heap, heap->blocks.found_block, out, err);
}

/* Checks an index from the file before it is used. */
static int check_found(const struct heap *heap, uint64_t id, uint32_t ix, struct hdb_error *err)
{
	return ix < heap->object_count ?
		       HDB_OK :
		       store_damaged(heap->store, STORE_IDS, id, "index out of range", err);
}

/* Finds the index of an ID. IDs are sorted, so only one block can contain it. */
int heap_find(struct heap *heap, uint64_t id, uint32_t *ix, struct hdb_error *err)
{
	struct store_ids *block;
	uint32_t i;

	TRY(find_block(heap, id, &block, err));
	i = store_ids_find(block, id);
	if (i == UINT32_MAX)
		return HDB_NOTFOUND;
	*ix = block->first_ix + i;
	return check_found(heap, id, *ix, err);
}

/* Finds the last ID that is not greater than `id`. find_block guarantees that the block has one. */
int heap_find_before(struct heap *heap, uint64_t id, uint32_t *ix, struct hdb_error *err)
{
	struct base_search search;
	struct store_ids *block;

	TRY(find_block(heap, id, &block, err));
	search = base_search_in(block->count);
	while (base_search_next(&search))
		base_search_step(&search, store_ids_get(block, (uint32_t)search.mid) <= id);
	*ix = block->first_ix + (search.low ? (uint32_t)search.low - 1 : 0);
	return check_found(heap, id, *ix, err);
}

int heap_id(struct heap *heap, uint32_t ix, uint64_t *id, struct hdb_error *err)
{
	struct store_ids *block;

	TRY(ids_block(heap, ix / STORE_BLOCK_OBJECTS, &block, err));
	if (ix % STORE_BLOCK_OBJECTS >= block->count)
		return store_damaged(heap->store, STORE_IDS, ix, "block too short", err);
	*id = store_ids_get(block, ix % STORE_BLOCK_OBJECTS);
	return HDB_OK;
}

int heap_read_ids(struct heap *heap, uint32_t block_no, uint64_t *out, uint32_t *count,
		  struct hdb_error *err)
{
	struct store_ids *block;

	TRY(ids_block(heap, block_no, &block, err));
	store_ids_scan(block, out);
	*count = block->count;
	return HDB_OK;
}

/*
 * Returns whether the class of an object exists. The numbers come from the file, so they are
 * checked before they are used as indexes.
 */
static bool has_class(const struct heap *heap, uint32_t class_no, uint8_t kind, uint64_t length)
{
	return class_no < heap->class_count && kind <= STORE_CLASS &&
	       (kind != STORE_CLASS || length < heap->class_count);
}

static int fail_class(const struct heap *heap, uint32_t ix, struct hdb_error *err)
{
	return store_damaged(heap->store, STORE_OBJECTS, ix, "class number out of range", err);
}

/*
 * Reads an object. Loads the classes first, because they determine its size. Checks class numbers,
 * because they come from the file and callers use them as indexes.
 */
int heap_object(struct heap *heap, uint32_t ix, struct heap_object *out, struct hdb_error *err)
{
	struct store_objects *block;
	struct store_object o;

	TRY(heap_load_classes(heap, err));
	TRY(objects_block(heap, ix / STORE_BLOCK_OBJECTS, &block, err));
	if (ix % STORE_BLOCK_OBJECTS >= block->count)
		return store_damaged(heap->store, STORE_OBJECTS, ix, "index out of range", err);
	store_objects_get(block, ix % STORE_BLOCK_OBJECTS, &o);
	if (!has_class(heap, o.class_no, o.kind, o.length))
		return fail_class(heap, ix, err);
	*out = (struct heap_object){
		.ix = ix,
		.class_no = o.class_no,
		.kind = o.kind,
		.length = o.length,
		.heap_no = o.heap_no,
		.embedded = o.is_embedded ? STORE_KIND_EMBEDDED : 0,
	};
	out->shallow_bytes = heap_shallow(heap, o.class_no, o.kind | out->embedded, o.length);
	return HDB_OK;
}

/*
 * Returns the file offset of an object, or 0 for a class object. Caches recently decoded groups,
 * because passes visit objects in order, together with objects near them.
 */
static uint64_t offset_in_group(struct heap_offsets **groups, const struct store_objects *block,
				uint32_t ix)
{
	const uint32_t group_no = ix / PACK_GROUP;
	struct heap_offsets *group;

	if (!*groups)
		*groups = calloc(HEAP_OFFSET_GROUPS, sizeof(**groups));
	if (!*groups) /* slower without the cache, but works */
		return store_objects_offset(block, ix % STORE_BLOCK_OBJECTS);
	group = &(*groups)[group_no % HEAP_OFFSET_GROUPS];
	if (group->group_no != group_no + 1) {
		store_objects_group_offsets(block, ix % STORE_BLOCK_OBJECTS / PACK_GROUP,
					    group->offset);
		group->group_no = group_no + 1;
	}
	return group->offset[ix % PACK_GROUP];
}

int heap_offset(struct heap *heap, uint32_t ix, uint64_t *offset, struct hdb_error *err)
{
	return heap_offset_by(heap, &heap->blocks.offsets, ix, offset, err);
}

/*
 * Finds the file offset of an object. The offset of a class object is in its class record, not in
 * the block.
 */
int heap_offset_by(struct heap *heap, struct heap_offsets **groups, uint32_t ix, uint64_t *offset,
		   struct hdb_error *err)
{
	struct store_objects *block;
	struct heap_object o;

	TRY(objects_block(heap, ix / STORE_BLOCK_OBJECTS, &block, err));
	if (ix % STORE_BLOCK_OBJECTS >= block->count)
		return store_damaged(heap->store, STORE_OBJECTS, ix, "index out of range", err);
	*offset = offset_in_group(groups, block, ix);
	if (*offset)
		return HDB_OK;
	/* a class object, or an object that is not in the dump */
	TRY(heap_object(heap, ix, &o, err));
	if (o.kind == STORE_CLASS)
		*offset = heap_class(heap, (uint32_t)o.length)->file_offset;
	return HDB_OK;
}

int heap_is_real(struct heap *heap, uint32_t ix, bool *is_real, struct hdb_error *err)
{
	struct heap_object o;

	TRY(heap_object(heap, ix, &o, err));
	*is_real = heap_object_is_counted(heap, &o);
	return HDB_OK;
}

static unsigned element_size(const struct heap *heap, const struct store_class *class)
{
	return hprof_type_size(class->element_type, heap->id_size);
}

/*
 * Rounds up a size. Only a damaged database has an alignment that is not a power of two and
 * requires a slow division.
 */
static uint64_t round_size(uint64_t v, unsigned align)
{
	return align & (align - 1) ? (v + align - 1) / align * align : layout_round(v, align);
}

uint64_t heap_tail_bytes(const struct heap *heap, uint64_t length)
{
	const struct heap_layout *l = &heap->layout;

	if (heap->is_android)
		return l->model == HDB_SIZES_VM || l->model == HDB_SIZES_AHAT ? length : 0;
	return l->model == HDB_SIZES_VM ? layout_stack_chunk(l->reference_bytes, length) : 0;
}

/*
 * Computes a shallow size. An instance has the size of its class, plus a tail if it has a length (a
 * stack chunk). An array has a header and elements, rounded up to the alignment; the header is
 * larger for 8-byte elements if the VM aligns them (wide_header_bytes).
 */
uint64_t heap_shallow(const struct heap *heap, uint32_t class_no, unsigned kind, uint64_t length)
{
	const struct heap_layout *l = &heap->layout;
	const struct store_class *class = &heap->classes.records[class_no];
	unsigned header, width;
	uint64_t tail;

	switch (kind & ~STORE_KIND_EMBEDDED) {
	case STORE_INSTANCE:
		/* The bytes of a flat value belong to the object that contains it. */
		if (kind & STORE_KIND_EMBEDDED && l->model == HDB_SIZES_VM)
			return 0;
		tail = length ? heap_tail_bytes(heap, length) : 0;
		return tail ? layout_round(class->instance_bytes + tail, l->align_bytes) :
			      class->instance_bytes;
	case STORE_CLASS:
		return heap->classes.records[length].class_bytes;
	case STORE_OBJECT_ARRAY:
		header = l->array_header_bytes;
		width = l->reference_bytes;
		if (class->element_bytes) {
			header = class->flags & STORE_CLASS_FILLER ? l->primitive_header_bytes :
								     l->wide_header_bytes;
			width = class->element_bytes;
		}
		break;
	default:
		width = element_size(heap, class);
		header = width == 8 ? l->wide_header_bytes : l->primitive_header_bytes;
		if (kind & STORE_KIND_EMBEDDED && l->model == HDB_SIZES_VM)
			header = 0;
		break;
	}
	/* With ahat's sizes, instance_bytes of an array class is the size of the header. */
	if (l->model == HDB_SIZES_AHAT)
		return class->instance_bytes + length * width;
	return round_size(header + length * width, l->align_bytes);
}

int heap_prepare_block(struct heap *heap, uint32_t block_no, struct hdb_error *err)
{
	struct store_objects *block;

	TRY(heap_load_classes(heap, err));
	return objects_block(heap, block_no, &block, err);
}

static int prepare_block(void *ctx, unsigned slot, uint64_t block_no, struct hdb_error *err)
{
	struct store_objects *block;

	(void)slot;
	return objects_block(ctx, (uint32_t)block_no, &block, err);
}

int heap_prepare_blocks(struct heap *heap, unsigned threads, struct hdb_error *err)
{
	const uint32_t count = heap_block_count(heap);
	uint32_t ready = 0;

	TRY(heap_load_classes(heap, err));
	TRY(ready_blocks(heap, err));
	/* In most passes, all blocks are already open. */
	while (ready < count && heap->blocks.objects[ready] &&
	       store_objects_stay(heap->store, heap->blocks.objects[ready]))
		ready++;
	if (ready == count)
		return HDB_OK;
	return base_pipeline_each(count, threads, heap, prepare_block, err);
}

static uint32_t heap_of(const struct store_objects *block, uint32_t i)
{
	return block->heap_column.count ? (uint32_t)base_pack_get(&block->heap_column, i) : 0;
}

/*
 * Marks excluded objects as HEAP_LEFT_OUT. They stay in the block, so that positions still
 * correspond to object indexes.
 */
static void leave_out(const struct heap *heap, const struct store_objects *block,
		      struct heap_block *out)
{
	assert(heap->filter.is_on);
	for (uint32_t i = 0; i < out->count; i++) {
		if (!heap_leaves_out(heap, heap_of(block, i)))
			continue;
		out->kind[i] = HEAP_LEFT_OUT;
		out->length[i] = out->shallow[i] = 0;
	}
}

/* Opens a block of objects, and loads the classes. Sets first_ix and count of *out. */
static int begin_block(struct heap *heap, uint32_t block_no, struct store_objects **block,
		       struct heap_block *out, struct hdb_error *err)
{
	TRY(heap_load_classes(heap, err));
	TRY(objects_block(heap, block_no, block, err));
	out->first_ix = (*block)->first_ix;
	out->count = (*block)->count;
	return HDB_OK;
}

int heap_read_block(struct heap *heap, uint32_t block_no, struct heap_block *out,
		    struct hdb_error *err)
{
	return heap_read_block_of(heap, block_no, NULL, out, err);
}

/* Checks the class numbers in the block's dictionary, which saves a check per object. */
static bool has_classes(const struct heap *heap, const struct store_objects *block)
{
	for (uint32_t i = 0; i < block->class_count; i++)
		if (store_objects_class(block, i) >= heap->class_count)
			return false;
	return true;
}

/*
 * Reads an object that is not a plain instance. Returns false if its class number, or the number of
 * the class that it represents, is invalid.
 */
static bool read_other(const struct heap *heap, struct heap_block *out, uint32_t i)
{
	const uint8_t kind = out->kind[i];

	out->embedded[i] = kind & STORE_KIND_EMBEDDED;
	out->kind[i] = (uint8_t)(kind & ~STORE_KIND_EMBEDDED);
	if (!has_class(heap, out->class_no[i], out->kind[i], out->length[i]))
		return false;
	out->shallow[i] = heap_shallow(heap, out->class_no[i], kind, out->length[i]);
	return true;
}

/*
 * Reads a block. Nearly all objects are plain instances with the size of their class; the loop
 * handles these without a call.
 */
int heap_read_block_of(struct heap *heap, uint32_t block_no, const uint8_t *is_wanted,
		       struct heap_block *out, struct hdb_error *err)
{
	struct store_objects *block;
	const struct store_class *classes;

	TRY(begin_block(heap, block_no, &block, out, err));
	classes = heap->classes.records;
	if (!has_classes(heap, block))
		return fail_class(heap, out->first_ix, err);
	store_objects_scan(block, out->class_no, out->kind, out->length);
	memset(out->embedded, 0, out->count * sizeof(*out->embedded));
	for (uint32_t i = 0; i < out->count; i++) {
		if (is_wanted && !is_wanted[out->class_no[i]]) {
			out->embedded[i] = out->kind[i] & STORE_KIND_EMBEDDED;
			out->kind[i] &= (uint8_t)~STORE_KIND_EMBEDDED;
		} else if (out->kind[i] == STORE_INSTANCE && !out->length[i]) {
			out->shallow[i] = classes[out->class_no[i]].instance_bytes;
		} else if (!read_other(heap, out, i)) {
			return fail_class(heap, out->first_ix + i, err);
		}
	}
	if (heap->filter.is_on)
		leave_out(heap, block, out);
	return HDB_OK;
}

int heap_each_block(struct heap *heap, struct base_work *work, heap_look look, void *ctx,
		    struct hdb_error *err)
{
	return heap_each_block_of(heap, &(struct heap_pass){ .work = work }, look, ctx, err);
}

/*
 * Visits blocks. Does not decode a block if its dictionary shows that it has no object of a
 * requested class.
 */
int heap_each_block_of(struct heap *heap, const struct heap_pass *blocks, heap_look look, void *ctx,
		       struct hdb_error *err)
{
	BASE_FREED struct heap_block *block = NULL;

	TRY(HEAP_ALLOC(heap, block, 1, "a block of objects", err));
	for (uint32_t b = 0; b < heap_block_count(heap); b++) {
		bool has = true;

		if (blocks->is_wanted)
			TRY(heap_block_has(heap, b, blocks->is_wanted, &has, err));
		if (has) {
			TRY(heap_read_block(heap, b, block, err));
			TRY(look(ctx, block, err));
		}
		if (blocks->work)
			TRY(base_step(blocks->work, (uint64_t)b * STORE_BLOCK_OBJECTS, err));
	}
	return HDB_OK;
}

int heap_passes_over(struct heap *heap, uint32_t ix, bool *out, struct hdb_error *err)
{
	struct heap_object object;

	*out = false;
	if (!heap->filter.is_on && !heap->filter.is_choosing)
		return HDB_OK;
	TRY(heap_object(heap, ix, &object, err));
	*out = object.heap_no != heap->filter.heap_no;
	return HDB_OK;
}

/* Reads the classes of a block, without the lengths that sizes would need. */
int heap_read_classes(struct heap *heap, uint32_t block_no, struct heap_block *out,
		      struct hdb_error *err)
{
	struct store_objects *block;

	TRY(begin_block(heap, block_no, &block, out, err));
	if (!has_classes(heap, block))
		return fail_class(heap, block->first_ix, err);
	store_objects_scan(block, out->class_no, out->kind, NULL);
	return HDB_OK;
}

int heap_read_heaps(struct heap *heap, uint32_t block_no, uint32_t *out, struct hdb_error *err)
{
	struct store_objects *block;

	TRY(objects_block(heap, block_no, &block, err));
	for (uint32_t i = 0; i < block->count; i++)
		out[i] = heap_of(block, i);
	return HDB_OK;
}

/*
 * Looks in a block's dictionary for given classes. A class number that is out of range, in a
 * damaged database, matches nothing here and is reported when the block is read.
 */
int heap_block_has(struct heap *heap, uint32_t block_no, const uint8_t *is_wanted, bool *has,
		   struct hdb_error *err)
{
	struct store_objects *block;

	*has = false;
	TRY(objects_block(heap, block_no, &block, err));
	for (uint32_t i = 0; i < block->class_count && !*has; i++) {
		const uint32_t no = store_objects_class(block, i);

		*has = no < heap->class_count && is_wanted[no];
	}
	return HDB_OK;
}

int heap_read_offsets(struct heap *heap, uint32_t block_no, uint64_t *out, struct hdb_error *err)
{
	struct store_objects *block;

	TRY(objects_block(heap, block_no, &block, err));
	store_objects_offsets(block, out);
	return HDB_OK;
}

void heap_references(struct heap *heap, struct store_lists *out)
{
	assert(heap->store);
	memset(out, 0, sizeof(*out));
	out->store = heap->store;
	out->table = STORE_REFERENCES;
	out->big_table = STORE_REFERENCES_BIG;
	out->ix_count = heap->object_count;
}
