/* queries/android/object_sites.c - counts objects by stack trace. */
#include "queries/android/object_sites.h"

#include "base/bytes.h"
#include "heap/threads.h"
#include "query/coverage.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MAX_BYTES 512

/* The columns of one block. */
struct columns {
	struct heap_block objects;
	uint64_t offsets[STORE_BLOCK_OBJECTS];
	uint8_t reachable[STORE_BLOCK_OBJECTS];
};

/*
 * Reads the serial number of an object's stack trace, which follows the object's ID in every kind
 * of sub-record.
 */
static int read_serial(struct heap *heap, const struct columns *columns, uint32_t i, uint32_t *out,
		       struct hdb_error *err)
{
	const struct heap_block *block = &columns->objects;
	const uint64_t offset = columns->offsets[i];
	const uint8_t *p;

	*out = 0;
	if (block->kind[i] == STORE_CLASS) {
		*out = heap_class(heap, (uint32_t)block->length[i])->trace_serial;
		return HDB_OK;
	}
	if (!offset)
		return HDB_OK;
	p = base_view_at(&heap->dump.view, offset + 1 + heap->id_size, 4, err);
	if (!p)
		return HDB_ETRUNC;
	*out = be32(p);
	return HDB_OK;
}

static int count_block(struct query *q, struct object_sites *s, const struct columns *block,
		       struct hdb_error *err)
{
	const struct heap_block *objects = &block->objects;

	for (uint32_t i = 0; i < objects->count; i++) {
		struct object_site new = { .class_no = objects->class_no[i] }, *site;
		void *found;

		if (objects->first_ix + i == HEAP_BOOT_LOADER ||
		    !query_counts(q, block->reachable[i]) || objects->kind[i] == HEAP_LEFT_OUT)
			continue;
		TRY(read_serial(q->heap, block, i, &new.trace, err));
		TRY(query_group_of(&s->sites,
				   (uint64_t) new.trace << 32 | (s->is_by_class ? new.class_no : 0),
				   &new, &found, err));
		site = found;
		if (!site->count && site->trace)
			TRY_ERRORS(heap_trace(q->heap, site->trace, &site->stack, err));
		site->count++;
		site->bytes += objects->shallow[i];
	}
	return HDB_OK;
}

static int count_blocks(struct query *q, struct object_sites *s, struct columns *block,
			struct hdb_error *err)
{
	const bool is_all = q->population == ANALYSIS_OF_ALL;

	memset(block->reachable, 1, sizeof(block->reachable));
	if (!is_all)
		TRY(derive_need_reachable(q->derive, err));
	base_stage(q->work, "reading stacks of objects", q->heap->object_count, "objects");
	for (uint32_t b = 0; b < heap_block_count(q->heap); b++) {
		TRY(heap_read_block(q->heap, b, &block->objects, err));
		TRY(heap_read_offsets(q->heap, b, block->offsets, err));
		if (!is_all)
			TRY(derive_reachable_block(q->derive, b, block->reachable, err));
		TRY(count_block(q, s, block, err));
		TRY(base_step(q->work, block->objects.first_ix, err));
	}
	return HDB_OK;
}

int object_sites_count(struct query *q, struct object_sites *out, struct hdb_error *err)
{
	BASE_FREED struct columns *block = malloc(sizeof(*block));

	TRY(block ? heap_load_classes(q->heap, err) :
		    hdb_fail_memory(err, "a block of objects", sizeof(*block)));
	TRY(heap_open_dump(q->heap, err));
	out->sites.size = sizeof(struct object_site);
	return count_blocks(q, out, block, err);
}

void object_sites_release(struct object_sites *sites)
{
	query_groups_release(&sites->sites);
}

/* ---- stacks ---- */

int object_sites_set_stack(struct query *q, const struct store_trace *stack, size_t site_column,
			   size_t stack_column, struct hdb_error *err)
{
	char frame_text[TEXT_MAX_BYTES];
	BASE_SCOPED(base_vec_release) struct base_vec text = { 0 };
	int r = HDB_OK;

	for (uint32_t depth = 0; depth < stack->frame_count && depth < OBJECT_SITES_FRAMES;
	     depth++) {
		struct store_frame frame;

		r = heap_trace_frame(q->heap, stack, depth, &frame, err);
		if (r != HDB_OK)
			break;
		if ((r = heap_frame_text(q->heap, &frame, frame_text, sizeof(frame_text), err)) !=
		    HDB_OK)
			break;
		if (depth == 0)
			query_set_text(q, site_column, frame_text);
		else
			r = base_bytes_append(&text, text.count ? " < " : "", text.count ? 3 : 0,
					      err);
		if (r != HDB_OK)
			break;
		if (depth &&
		    (r = base_bytes_append(&text, frame_text, strlen(frame_text), err)) != HDB_OK)
			break;
	}
	TRY_ERRORS(r);
	if (text.count)
		query_set_text_n(q, stack_column, text.data, text.count);
	return HDB_OK;
}
