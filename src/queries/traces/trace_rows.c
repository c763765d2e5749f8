/*
 * queries/traces/trace_rows.c - reads the references of all objects into rows of a graph.
 *
 * The threads read instances by plans, and arrays, straight from the dump. Everything else becomes
 * a "special" of its block, which the calling thread reads when it takes the block in order.
 */
#include "queries/traces/trace_rows.h"

#include "base/bits.h"
#include "base/bytes.h"
#include "base/thread.h"
#include "derive/blocks.h"
#include "heap/values/strings.h"
#include "hprof/quick.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static_assert(STORE_BLOCK_OBJECTS % GRAPH_GROUP == 0, "a group of rows is in one block");

/* Maximum number of targets collected before they are written to a long row. */
#define TARGETS_MAX 65536u
/* Maximum length of arrays that threads read. Longer ones are left to the calling thread. */
#define ELEMENTS_MAX 16384u

/* How objects of a class are read; bits. */
enum {
	BY_PLAN = 1,     /* instances: the threads read the fields of the plan */
	BY_ELEMENTS = 2, /* arrays: the threads read the elements */
	BY_CALLER = 4,   /* instances: the calling thread reads them */
};

/* An object that the calling thread finishes. */
struct special {
	uint32_t i;     /* its place in the block */
	uint32_t count; /* number of targets found; unless is_open */
	bool is_open;   /* nothing was read: the calling thread reads it */
};

/*
 * Memory for one block, in addition to its derive_block, whose values are offsets and whose bytes
 * are the packed rows.
 */
struct slot {
	uint8_t *length;          /* by object: length of its row */
	struct base_vec specials; /* struct special */
	struct base_vec found;    /* uint32_t: targets of the specials */
	struct base_vec targets;  /* uint32_t: targets of the current object */
	BASE_NO_SHARING;
};

/* State of trace_rows_make. */
struct row_builder {
	struct trace_graph *graph;
	struct heap *heap;
	struct graph_rows *rows;
	uint64_t *late;
	uint8_t *how; /* by class: how its objects are read */
	struct slot *slots;
	unsigned slot_count;
	/* of the object that the calling thread reads: */
	struct base_vec targets; /* uint32_t */
	struct graph_long_row row;
	bool is_long, is_late;
	/* The group of rows that is being joined, and where its next row goes. */
	uint8_t *group_end;
	uint8_t group[GRAPH_GROUP * GRAPH_ROW_MAX + GRAPH_ROW_MAX + 8];
};

/* ---- on any thread ---- */

/* A block that a thread reads. */
struct reading {
	struct row_builder *builder;
	struct derive_block *block;
	struct slot *slot;
	struct base_view view;
};

/* Reads the head of an object's sub-record. Returns false if it is not the expected one. */
static bool read_head(struct reading *r, uint64_t offset, uint8_t tag, struct hprof_sub *sub)
{
	const unsigned id_size = r->builder->heap->id_size;
	const uint64_t head = 9 + 2 * (uint64_t)id_size;
	const struct hprof_range range = { offset, r->builder->heap->dump.source->size };
	bool is_quick;

	if (!offset || !base_view_at(&r->view, offset, head, NULL))
		return false;
	is_quick = id_size == 8 ? hprof_quick_sub(&r->view, range, 8, sub) :
				  hprof_quick_sub(&r->view, range, 4, sub);
	return is_quick && sub->tag == tag;
}

/* Finds the targets of the fields of a plan. */
static void read_fields(struct reading *r, const uint8_t *body, uint64_t body_size,
			const struct trace_plan *plan, uint32_t ix)
{
	struct row_builder *m = r->builder;
	const unsigned id_size = m->heap->id_size;
	uint32_t *targets = r->slot->targets.data;
	size_t n = 0;

	assert(plan->count <= r->slot->targets.capacity);
	for (size_t i = 0; i < plan->count; i++) {
		const struct trace_field *field = &plan->fields[i];
		uint64_t id;

		if (field->is_ignored || (uint64_t)field->at + id_size > body_size)
			continue;
		id = be_id(body + field->at, id_size);
		if (!id || trace_ids_find(&m->graph->ids, id, &targets[n], NULL) != HDB_OK)
			continue;
		n++;
		/* Blocks never share a word of the bit set, so no other thread writes this one. */
		if (field->rule)
			base_bit_put(m->late, ix);
	}
	r->slot->targets.count = n;
}

static void read_elements(struct reading *r, const uint8_t *body, uint64_t length)
{
	struct row_builder *m = r->builder;
	const unsigned id_size = m->heap->id_size;
	uint32_t *targets = r->slot->targets.data;
	size_t n = 0;

	assert(length <= r->slot->targets.capacity);
	for (uint64_t i = 0; i < length; i++) {
		const uint64_t id = be_id(body + i * id_size, id_size);

		if (id && trace_ids_find(&m->graph->ids, id, &targets[n], NULL) == HDB_OK)
			n++;
	}
	r->slot->targets.count = n;
}

/* Finds the targets of object i of the block. Returns false if the calling thread must read it. */
static bool read_object(struct reading *r, uint32_t i)
{
	const struct heap_block *objects = r->block->objects;
	const uint32_t no = objects->class_no[i];
	const uint8_t how = r->builder->how[no], kind = objects->kind[i];
	const uint64_t offset = r->block->values[i];
	struct hprof_sub sub;
	const uint8_t *body;

	r->slot->targets.count = 0;
	if (kind == STORE_PRIMITIVE_ARRAY || (kind == STORE_OBJECT_ARRAY && !(how & BY_ELEMENTS)) ||
	    (kind == STORE_INSTANCE && !(how & (BY_PLAN | BY_CALLER))))
		return true;
	if (kind == STORE_CLASS || objects->embedded[i] ||
	    (kind == STORE_INSTANCE && how & BY_CALLER))
		return false;
	if (!read_head(r, offset,
		       kind == STORE_INSTANCE ? HPROF_INSTANCE_DUMP : HPROF_OBJECT_ARRAY_DUMP,
		       &sub))
		return false;
	if (kind == STORE_OBJECT_ARRAY && sub.length > ELEMENTS_MAX)
		return false;
	body = base_view_at(&r->view, sub.body_offset, sub.body_size, NULL);
	if (!body)
		return false;
	if (kind == STORE_INSTANCE)
		read_fields(r, body, sub.body_size, r->builder->graph->plans[no],
			    objects->first_ix + i);
	else
		read_elements(r, body, sub.length);
	return true;
}

/* Leaves an object to the calling thread, with the targets found so far unless is_open. */
static int add_special(struct slot *s, uint32_t i, bool is_open, struct hdb_error *err)
{
	const uint32_t count = is_open ? 0 : (uint32_t)s->targets.count;
	const struct special special = { .i = i, .count = count, .is_open = is_open };

	TRY(base_vec_reserve(&s->found, count, sizeof(uint32_t), err));
	if (count)
		memcpy(base_vec_at(&s->found, uint32_t, s->found.count), s->targets.data,
		       count * sizeof(uint32_t));
	s->found.count += count;
	return base_vec_push(&s->specials, &special, sizeof(special), err);
}

static int pack_object(struct reading *r, uint32_t i, struct hdb_error *err)
{
	struct derive_block *block = r->block;
	struct slot *s = r->slot;
	unsigned length;
	int rc;

	if (!read_object(r, i))
		return add_special(s, i, true, err);
	if (!s->targets.count)
		return HDB_OK;
	if ((rc = base_vec_reserve(&block->bytes[0], GRAPH_ROW_MAX + 8, 1, err)) != HDB_OK)
		return rc;
	length = graph_rows_pack(r->builder->rows, block->objects->first_ix + i, s->targets.data,
				 s->targets.count,
				 base_vec_at(&block->bytes[0], uint8_t, block->bytes[0].count));
	if (length == GRAPH_ROW_LONG)
		return add_special(s, i, false, err);
	s->length[i] = (uint8_t)length;
	block->bytes[0].count += length;
	return HDB_OK;
}

static void release_reading(struct reading *reading)
{
	base_view_release(&reading->view);
}

static int make_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct row_builder *m = ctx;
	struct trace_graph *graph = m->graph;
	const struct heap_block *objects = block->objects;
	BASE_SCOPED(release_reading)
	struct reading reading = {
		.builder = m,
		.block = block,
		.slot = &m->slots[block->slot],
		.view = { .src = m->heap->dump.source },
	};
	size_t local = trace_graph_locals(graph, objects->first_ix);
	/* The next thread with local variables: these are among its references. */
	uint32_t thread = HEAP_NONE;

	heap_prefetch_ahead(m->heap, block->block_no);
	memset(reading.slot->length, 0, STORE_BLOCK_OBJECTS);
	reading.slot->specials.count = reading.slot->found.count = 0;
	TRY(heap_read_offsets(m->heap, block->block_no, block->values, err));
	for (uint32_t i = 0; i < objects->count; i++) {
		const uint32_t ix = objects->first_ix + i;

		for (; local < graph->locals.count && (thread == HEAP_NONE || thread < ix); local++)
			thread = base_vec_at(&graph->locals, struct store_root, local)
					 ->thread_serial;
		TRY(ix == thread || !graph->ids.page_count ?
			    add_special(reading.slot, i, true, err) :
			    pack_object(&reading, i, err));
	}
	return HDB_OK;
}

/* ---- on the calling thread ---- */

static int put_long(struct row_builder *m, const uint32_t *targets, size_t count,
		    struct hdb_error *err)
{
	m->is_long = true;
	return graph_rows_add_long(m->rows, &m->row, targets, count, err);
}

static int take_target(void *ctx, const struct trace_reference *reference, struct hdb_error *err)
{
	struct row_builder *m = ctx;
	int r = base_vec_push(&m->targets, &reference->to, sizeof(reference->to), err);

	m->is_late |= reference->is_late;
	if (r != HDB_OK || m->targets.count < TARGETS_MAX)
		return r;
	m->targets.count = 0;
	return put_long(m, m->targets.data, TARGETS_MAX, err);
}

/* Writes the row of a special to m->group_end. */
static int finish_special(struct row_builder *m, const struct derive_block *block,
			  const struct special *special, const uint32_t *found,
			  struct hdb_error *err)
{
	const uint32_t ix = block->objects->first_ix + special->i;
	uint8_t *length = &m->slots[block->slot].length[special->i];
	const uint32_t *targets = found;
	size_t count = special->count;
	unsigned packed = 0;
	int r = HDB_OK;

	m->targets.count = 0;
	m->row = (struct graph_long_row){ 0, 0 };
	m->is_long = m->is_late = false;
	if (special->is_open) {
		r = trace_graph_read(m->graph, ix, take_target, m, err);
		targets = m->targets.data;
		count = m->targets.count;
	}
	TRY(r);
	if (m->is_late)
		base_bit_put(m->late, ix);
	if (!m->is_long && count)
		packed = graph_rows_pack(m->rows, ix, targets, count, m->group_end);
	*length = (uint8_t)packed;
	if (!m->is_long && packed != GRAPH_ROW_LONG)
		return HDB_OK;
	if (count)
		r = put_long(m, targets, count, err);
	memcpy(m->group_end, &m->row, sizeof(m->row));
	*length = GRAPH_ROW_LONG | sizeof(m->row);
	return r;
}

/* Appends the rows of a block to those before, group by group. */
static int take_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct row_builder *m = ctx;
	const struct slot *s = &m->slots[block->slot];
	const struct special *special = s->specials.data;
	const struct special *end = special ? special + s->specials.count : NULL;
	const uint32_t *found = s->found.data;
	const uint8_t *bytes = block->bytes[0].data;

	for (uint32_t i = 0; i < block->objects->count; i += GRAPH_GROUP) {
		m->group_end = m->group;
		for (uint32_t k = i; k < i + GRAPH_GROUP; k++) {
			const uint8_t length = s->length[k];

			if (length)
				memcpy(m->group_end, bytes, length);
			bytes += length;
			if (special < end && special->i == k) {
				TRY(finish_special(m, block, special, found, err));
				found += special->count;
				special++;
			}
			m->group_end += s->length[k] & GRAPH_ROW_MAX;
		}
		TRY(graph_rows_put(m->rows, (block->objects->first_ix + i) / GRAPH_GROUP,
				   &s->length[i], m->group, err));
	}
	return HDB_OK;
}

/* ---- before ---- */

static int plan_counted(void *ctx, const struct heap_count *count, struct hdb_error *err)
{
	struct row_builder *m = ctx;
	const uint32_t no = count->class_no;

	if (count->kind != STORE_INSTANCE || no >= m->heap->class_count)
		return HDB_OK;
	TRY(trace_graph_plan(m->graph, no, err));
	m->how[no] &= (uint8_t)~BY_CALLER;
	/* Strings include their characters, so they have no references. */
	if (m->graph->shapes[no])
		m->how[no] |= BY_CALLER;
	else if (m->graph->plans[no]->count && !heap_string_layout(m->heap, no))
		m->how[no] |= BY_PLAN;
	return HDB_OK;
}

/* Decides how the objects of each class are read. */
static int plan_classes(struct row_builder *m, struct hdb_error *err)
{
	int r;

	TRY(BASE_ALLOC(m->how, (size_t)m->heap->class_count + 1, "classes", err));
	for (uint32_t no = 0; no < m->heap->class_count; no++)
		m->how[no] = heap_class(m->heap, no)->element_bytes || trace_is_boxes(m->heap, no) ?
				     BY_CALLER :
				     BY_CALLER | BY_ELEMENTS;
	/* Without the import's counts, the calling thread makes plans as it meets classes. */
	r = heap_each_count(m->heap, plan_counted, m, err);
	return r > 0 ? HDB_OK : r;
}

static int make_slots(struct row_builder *m, struct hdb_error *err)
{
	/* A thread's buffer must have room for all fields of a plan. */
	size_t most = ELEMENTS_MAX;

	for (uint32_t no = 0; no < m->heap->class_count; no++)
		if (m->graph->plans[no] && m->graph->plans[no]->count > most)
			most = m->graph->plans[no]->count;
	m->slot_count = DERIVE_SLOTS_PER_THREAD * m->graph->session->work->threads;
	TRY(BASE_ALLOC(m->slots, m->slot_count, "references", err));
	for (unsigned i = 0; i < m->slot_count; i++) {
		TRY(BASE_ALLOC(m->slots[i].length, STORE_BLOCK_OBJECTS, "references", err));
		TRY(base_vec_reserve(&m->slots[i].targets, most, sizeof(uint32_t), err));
	}
	return HDB_OK;
}

static void release_builder(struct row_builder *m)
{
	for (unsigned i = 0; m->slots && i < m->slot_count; i++) {
		free(m->slots[i].length);
		base_vec_release(&m->slots[i].specials);
		base_vec_release(&m->slots[i].found);
		base_vec_release(&m->slots[i].targets);
	}
	free(m->slots);
	free(m->how);
	base_vec_release(&m->targets);
}

int trace_rows_make(struct trace_graph *graph, struct graph_rows *rows, uint64_t *late,
		    struct hdb_error *err)
{
	struct heap *heap = graph->session->heap;
	BASE_SCOPED(release_builder)
	struct row_builder m = { .graph = graph, .heap = heap, .rows = rows, .late = late };
	HEAP_FILTER_SCOPE(heap_show_all, heap);

	TRY(graph_rows_init(rows, heap->object_count, graph->session->work, err));
	TRY(heap_load_strings(heap, err));
	TRY(plan_classes(&m, err));
	TRY(make_slots(&m, err));
	return derive_each_block(
		graph->session->derive,
		&(struct derive_pass){ .stage = "reading references for leak traces",
				       .reads_objects = true,
				       .make = make_block,
				       .take = take_block,
				       .ctx = &m },
		err);
}
