/*
 * queries/objects/q_objects.c - the objects query: all objects in order of ID, with the requested
 * columns, for exports.
 *
 * The query works block by block, so its memory does not grow with the heap. It builds only the
 * derived tables that a chosen column or the population needs.
 */
#include "heap/heap_database.h"
#include "queries/queries.h"

#include <queries/objects/q_objects.query.h>

static const char *const kind_names[] = { "instance", "object array", "primitive array", "class" };
#define KIND_COUNT BASE_COUNT(kind_names)

/* The columns of one block; numbers and codes are indexed by COLUMN. */
struct columns {
	uint32_t keep[STORE_BLOCK_OBJECTS]; /* indexes of the rows in the block */
	uint64_t values[OWN_COLUMNS][STORE_BLOCK_OBJECTS];
	uint32_t codes[OWN_COLUMNS][STORE_BLOCK_OBJECTS];
	uint8_t flags[STORE_BLOCK_OBJECTS];
	uint8_t there[OWN_COLUMNS][STORE_BLOCK_OBJECTS];
};

/*
 * All IDs by index, for random look-ups. Decoding groups of the table would take four times as
 * long. The IDs are stored as differences from the first ID, without the low bits that are 0 in all
 * of them, so that 4 bytes suffice for a heap of up to 32 GiB.
 */
struct all_ids {
	void *array; /* owned; if NULL, IDs are looked up one by one */
	uint64_t first;
	unsigned shift;
	bool is_wide; /* whether entries have 8 bytes */
};

/* Minimum number of rows for this table. With fewer rows, IDs are looked up one by one. */
#define ALL_IDS_FROM 100000

struct objects {
	struct heap_block block; /* the current block, and its columns */
	uint64_t offsets[STORE_BLOCK_OBJECTS], ids[STORE_BLOCK_OBJECTS];
	uint64_t retained[STORE_BLOCK_OBJECTS], native[STORE_BLOCK_OBJECTS];
	uint32_t dominator[STORE_BLOCK_OBJECTS];
	uint8_t reachable[STORE_BLOCK_OBJECTS];
	char **heap_names; /* indexed by heap number - 1 */
	uint64_t heap_count;
	uint32_t *class_codes; /* indexed by class number; used by batches */
	uint32_t *heap_codes;  /* indexed by heap number - 1 */
	uint32_t kind_codes[KIND_COUNT];
	struct columns *batch; /* allocated with the first batch */
	/* the batch whose rows are returned one by one, and the index of the next row in it */
	struct query_batch rows;
	struct query_batch_column row_columns[OWN_COLUMNS];
	size_t row;
	struct all_ids ids_of; /* IDs of dominators */
	bool shows[OWN_COLUMNS];
	bool with_invented, needs_reachable;
	uint32_t block_no, at, count; /* the current block is block_no - 1 */
};

/* ---- opening ---- */

static int read_heaps(struct query *q, struct objects *o, struct hdb_error *err)
{
	const uint64_t n = heap_record_count(q->heap, STORE_HEAPS);

	TRY(BASE_ALLOC(o->heap_names, n + 1, "heap names", err));
	for (uint64_t i = 0; i < n; i++) {
		struct store_heap heap;
		char name[256];

		TRY(heap_record(q->heap, STORE_HEAPS, i, &heap, err));
		TRY(heap_text(q->heap, heap.name_text, name, sizeof(name), err));
		TRY(BASE_COPY(o->heap_names[i], name, "heap names", err));
		o->heap_count++;
	}
	return HDB_OK;
}

/* Declares the names of classes, kinds and heaps, for callers that read columns. */
static int make_names(struct query *q, struct objects *o, struct hdb_error *err)
{
	const uint32_t classes = q->heap->class_count;
	BASE_FREED const char **texts = calloc((size_t)classes + 1, sizeof(*texts));
	const struct query_name_set kinds = { kind_names, KIND_COUNT, o->kind_codes };
	struct query_name_set class_names = { .texts = texts, .count = classes };
	struct query_name_set heaps = { .texts = (const char *const *)o->heap_names,
					.count = (uint32_t)o->heap_count };

	o->class_codes = calloc((size_t)classes + 1, sizeof(*o->class_codes));
	o->heap_codes = calloc(o->heap_count + 1, sizeof(*o->heap_codes));
	if (!texts || !o->class_codes || !o->heap_codes)
		return hdb_fail_memory(err, "names", classes * sizeof(*texts));
	class_names.codes = o->class_codes;
	heaps.codes = o->heap_codes;
	for (uint32_t no = 0; o->shows[CLASS] && no < classes; no++)
		texts[no] = heap_class_name(q->heap, no);
	if (o->shows[CLASS])
		query_set_names(q, CLASS, &class_names);
	if (o->shows[KIND])
		query_set_names(q, KIND, &kinds);
	if (o->shows[HEAP])
		query_set_names(q, HEAP, &heaps);
	return HDB_OK;
}

/* Returns the number of rows, which is known in advance if it does not depend on reachability. */
static uint64_t known_total(const struct query *q, const struct objects *o)
{
	uint64_t total = q->heap->object_count;

	if (q->population != ANALYSIS_OF_ALL)
		return QUERY_TOTAL_UNKNOWN;
	if (o->with_invented || !total)
		return total;
	total--;
	for (uint32_t no = 0; no < q->heap->class_count; no++)
		total -= (heap_class(q->heap, no)->flags & STORE_CLASS_INVENTED) != 0;
	return total;
}

static int open_objects(struct query *q, struct hdb_error *err)
{
	struct objects *o = q->state;

	if (!query_option(q, "columns")) {
		query_choose(q, q->heap->is_android ? "id,class,kind,shallow,retained,dominator,"
						      "length,offset,reachable,heap,native" :
						      "id,class,kind,shallow,retained,dominator,"
						      "length,offset,reachable,heap");
	}
	/* A column by which rows are sorted is needed even if it is not shown. */
	for (size_t c = 0; c < OWN_COLUMNS; c++)
		o->shows[c] = query_is_shown(q, c) ||
			      (q->args.sort && strcmp(q->args.sort + (*q->args.sort == '-'),
						      objects_columns[c].name) == 0);
	/*
	 * The columns shared by all queries find the object by its ID. Reading the other two
	 * columns costs nothing.
	 */
	o->shows[ID] = o->shows[SHALLOW] = o->shows[LENGTH] = true;
	o->with_invented = query_option(q, "invented") != NULL;
	o->needs_reachable =
		q->population != ANALYSIS_OF_ALL || o->shows[REACHABLE] || o->shows[DOMINATOR];
	o->shows[REACHABLE] = o->needs_reachable;
	TRY(heap_load_classes(q->heap, err));
	if (o->shows[HEAP])
		TRY(read_heaps(q, o, err));
	TRY(make_names(q, o, err));
	if (o->shows[DOMINATOR] || o->shows[RETAINED])
		TRY(derive_need(q->derive, STORE_RETAINED, err));
	query_fact(q, "objects", q->heap->object_count);
	/*
	 * With --all, only the requested columns can require reachability. If no column requires
	 * it, the tables for it are not built.
	 */
	if (o->needs_reachable)
		query_report_unreached(q);
	q->total = known_total(q, o);
	base_stage(q->work, "reading objects", q->heap->object_count, "objects");
	return HDB_OK;
}

/* ---- blocks ---- */

static int read_block(struct query *q, struct objects *o, struct hdb_error *err)
{
	const uint32_t no = o->block_no;

	assert(no < heap_block_count(q->heap));
	assert(o->at == o->count); /* all rows of the previous block have been taken */
	TRY(heap_read_block(q->heap, no, &o->block, err));
	if (o->shows[ID] || o->with_invented)
		TRY(heap_read_ids(q->heap, no, o->ids, &o->count, err));
	if (o->shows[OFFSET])
		TRY(heap_read_offsets(q->heap, no, o->offsets, err));
	if (o->needs_reachable && !o->shows[DOMINATOR])
		TRY(derive_reachable_block(q->derive, no, o->reachable, err));
	if (o->shows[DOMINATOR])
		TRY(derive_dominator_block(q->derive, no, o->dominator, err));
	if (o->shows[NATIVE])
		TRY(derive_native_block(q->derive, no, o->native, err));
	if (o->shows[RETAINED])
		TRY(derive_retained_block(q->derive, &o->block, o->retained, err));
	TRY(base_step(q->work, o->block.first_ix, err));
	for (uint32_t i = 0; o->shows[DOMINATOR] && i < o->block.count; i++)
		o->reachable[i] = o->dominator[i] != o->block.first_ix + i;
	o->count = o->block.count;
	o->at = 0;
	o->block_no++;
	return HDB_OK;
}

static bool is_left_out(const struct query *q, const struct objects *o, uint32_t i)
{
	const struct heap_block *block = &o->block;

	if (block->kind[i] == HEAP_LEFT_OUT)
		return true;
	if (o->needs_reachable && !query_counts(q, o->reachable[i]))
		return true;
	if (o->with_invented)
		return false;
	return !heap_is_counted(q->heap, block, i);
}

static uint64_t offset_of(const struct query *q, const struct objects *o, uint32_t i)
{
	const struct heap_block *block = &o->block;

	return block->kind[i] != STORE_CLASS ?
		       o->offsets[i] :
		       heap_class(q->heap, (uint32_t)block->length[i])->file_offset;
}

/* ---- columns ---- */

/* Takes the remaining rows of the current block, and returns their number. */
static size_t keep_rows(const struct query *q, struct objects *o)
{
	uint32_t *keep = o->batch->keep;
	size_t n = 0;

	assert(o->at <= o->count && o->count <= STORE_BLOCK_OBJECTS);
	for (uint32_t i = o->at; i < o->count; i++) {
		keep[n] = i;
		n += !is_left_out(q, o, i);
	}
	o->at = o->count;
	return n;
}

/*
 * Finds the low bits that are 0 in the difference between each ID and the first ID. Sets *last to
 * the largest difference.
 */
static int measure_ids(struct query *q, struct objects *o, uint64_t *last, struct hdb_error *err)
{
	const uint32_t blocks = heap_block_count(q->heap);
	uint64_t *ids = o->batch->values[DOMINATOR], bits = 0;
	uint32_t count;

	for (uint32_t b = 0; b < blocks; b++) {
		TRY(heap_read_ids(q->heap, b, ids, &count, err));
		for (uint32_t i = 0; i < count; i++) {
			if (b == 0 && i == 0)
				o->ids_of.first = ids[0];
			*last = ids[i] - o->ids_of.first;
			bits |= *last;
		}
	}
	o->ids_of.shift = bits ? (unsigned)__builtin_ctzll(bits) : 0;
	return HDB_OK;
}

static int read_all_ids(struct query *q, struct objects *o, struct hdb_error *err)
{
	const uint32_t blocks = heap_block_count(q->heap);
	uint64_t *ids = o->batch->values[DOMINATOR], last = 0;
	struct all_ids *all = &o->ids_of;
	uint64_t size;
	uint32_t count;

	if (q->heap->object_count < ALL_IDS_FROM || (q->args.limit && q->args.limit < ALL_IDS_FROM))
		return HDB_OK;
	TRY(measure_ids(q, o, &last, err));
	all->is_wide = last >> all->shift > UINT32_MAX;
	size = (uint64_t)blocks * STORE_BLOCK_OBJECTS * (all->is_wide ? 8 : 4);
	if (size > q->work->memory_bytes / 2)
		return HDB_OK;
	all->array = malloc(size);
	if (!all->array)
		return hdb_fail_memory(err, "identifiers", size);
	for (uint32_t b = 0; b < blocks; b++) {
		const size_t at = (size_t)b * STORE_BLOCK_OBJECTS;

		TRY(heap_read_ids(q->heap, b, ids, &count, err));
		for (uint32_t i = 0; i < count; i++) {
			const uint64_t low = (ids[i] - all->first) >> all->shift;

			if (all->is_wide)
				((uint64_t *)all->array)[at + i] = low;
			else
				((uint32_t *)all->array)[at + i] = (uint32_t)low;
		}
	}
	return HDB_OK;
}

static int id_of(struct query *q, const struct all_ids *all, uint32_t ix, uint64_t *id,
		 struct hdb_error *err)
{
	uint64_t low;

	if (!all->array || ix >= q->heap->object_count)
		return heap_id(q->heap, ix, id, err);
	assert(all->shift < 64);
	low = all->is_wide ? ((uint64_t *)all->array)[ix] : ((uint32_t *)all->array)[ix];
	*id = all->first + (low << all->shift);
	return HDB_OK;
}

static int fill_dominators(struct query *q, struct objects *o, size_t n, struct hdb_error *err)
{
	struct columns *c = o->batch;

	for (size_t k = 0; k < n; k++) {
		const uint32_t i = c->keep[k];
		const uint32_t dominator = o->dominator[i];

		c->there[DOMINATOR][k] = o->reachable[i];
		c->values[DOMINATOR][k] = 0;
		if (dominator != HEAP_NONE && o->reachable[i])
			TRY(id_of(q, &o->ids_of, dominator, &c->values[DOMINATOR][k], err));
	}
	return HDB_OK;
}

static int fill_heaps(struct query *q, struct objects *o, size_t n, struct hdb_error *err)
{
	struct columns *c = o->batch;

	for (size_t k = 0; k < n; k++) {
		struct heap_object object;

		TRY(heap_object(q->heap, o->block.first_ix + c->keep[k], &object, err));
		c->there[HEAP][k] = object.heap_no && object.heap_no <= o->heap_count;
		c->codes[HEAP][k] = c->there[HEAP][k] ? o->heap_codes[object.heap_no - 1] : 0;
	}
	return HDB_OK;
}

static bool is_array(const struct heap_block *block, uint32_t i)
{
	return block->kind[i] == STORE_OBJECT_ARRAY || block->kind[i] == STORE_PRIMITIVE_ARRAY;
}

/* Fills in the columns that do not require a look-up of other objects. */
static void fill_plain(struct query *q, struct objects *o, size_t n)
{
	const struct heap_block *block = &o->block;
	struct columns *c = o->batch;

	assert(n <= block->count);
	for (size_t k = 0; k < n; k++)
		c->values[ID][k] = o->ids[c->keep[k]];
	for (size_t k = 0; k < n && o->shows[CLASS]; k++)
		c->codes[CLASS][k] = o->class_codes[block->class_no[c->keep[k]]];
	for (size_t k = 0; k < n && o->shows[KIND]; k++)
		c->codes[KIND][k] = o->kind_codes[block->kind[c->keep[k]]];
	for (size_t k = 0; k < n; k++)
		c->values[SHALLOW][k] = block->shallow[c->keep[k]];
	for (size_t k = 0; k < n && o->shows[RETAINED]; k++)
		c->values[RETAINED][k] = o->retained[c->keep[k]];
	for (size_t k = 0; k < n; k++) {
		c->there[LENGTH][k] = is_array(block, c->keep[k]);
		c->values[LENGTH][k] = c->there[LENGTH][k] ? block->length[c->keep[k]] : 0;
	}
	for (size_t k = 0; k < n && o->needs_reachable; k++)
		c->flags[k] = o->reachable[c->keep[k]];
	for (size_t k = 0; k < n && o->shows[OFFSET]; k++) {
		c->values[OFFSET][k] = offset_of(q, o, c->keep[k]);
		c->there[OFFSET][k] = c->values[OFFSET][k] != 0;
	}
	for (size_t k = 0; k < n && o->shows[NATIVE]; k++)
		c->values[NATIVE][k] = o->native[c->keep[k]];
}

static int batch_objects(struct query *q, struct query_batch *out, struct hdb_error *err)
{
	struct objects *o = q->state;

	if (!o->batch) {
		TRY(BASE_ALLOC(o->batch, 1, "columns of objects", err));
		if (o->shows[DOMINATOR])
			TRY(read_all_ids(q, o, err));
	}
	while (!(out->count = keep_rows(q, o))) {
		if (o->block_no == heap_block_count(q->heap))
			return HDB_END;
		TRY(read_block(q, o, err));
	}
	fill_plain(q, o, out->count);
	if (o->shows[DOMINATOR])
		TRY(fill_dominators(q, o, out->count, err));
	if (o->shows[HEAP])
		TRY(fill_heaps(q, o, out->count, err));
	for (size_t c = 0; c < OWN_COLUMNS; c++) {
		const bool is_text = objects_columns[c].type == HDB_TYPE_TEXT;
		const bool has_gaps = c == DOMINATOR || c == LENGTH || c == OFFSET || c == HEAP;

		out->columns[c] = (struct query_batch_column){
			.values = is_text ? NULL : o->batch->values[c],
			.codes = is_text ? o->batch->codes[c] : NULL,
			.flags = c == REACHABLE ? o->batch->flags : NULL,
			.there = has_gaps ? o->batch->there[c] : NULL,
		};
	}
	return HDB_OK;
}

/* Returns the rows of a batch one by one. */
static int next_objects(struct query *q, struct hdb_error *err)
{
	struct objects *o = q->state;
	size_t k;

	if (o->row == o->rows.count) {
		o->row = o->rows.count = 0;
		o->rows.columns = o->row_columns;
		TRY(batch_objects(q, &o->rows, err));
	}
	assert(o->row < o->rows.count);
	k = o->row++;
	for (size_t i = 0; i < OWN_COLUMNS; i++) {
		const struct query_batch_column *column = &o->row_columns[i];

		if (!o->shows[i] || (column->there && !column->there[k]))
			continue;
		if (column->codes)
			query_lend_text_n(q, i, q->names[i].texts[column->codes[k]],
					  q->names[i].sizes[column->codes[k]]);
		else
			query_set(q, i, column->flags ? column->flags[k] : column->values[k]);
	}
	return HDB_OK;
}

static void close_objects(struct query *q)
{
	struct objects *o = q->state;

	for (uint64_t i = 0; i < o->heap_count; i++)
		free(o->heap_names[i]);
	free(o->heap_names);
	free(o->class_codes);
	free(o->heap_codes);
	free(o->batch);
	free(o->ids_of.array);
}

QUERY_DEFINE(objects, .batch_columns = OWN_COLUMNS, .state_size = sizeof(struct objects),
	     .open = open_objects, .next = next_objects, .batch = batch_objects,
	     .close = close_objects);
