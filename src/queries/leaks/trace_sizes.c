/*
 * queries/leaks/trace_sizes.c - what objects retain in the graph of leak traces.
 */
#include "derive/native.h"
#include "heap/known.h"
#include "queries/leaks/trace_search.h"

#include <stdlib.h>
#include <string.h>

/* Elements of an array that are read at a time. */
#define ELEMENTS_CHUNK 512u

/* Of arrays of boxed numbers: these, as large as the first one. */
static int boxes_size(struct heap *heap, const struct heap_object *array, uint64_t *bytes,
		      struct hdb_error *err)
{
	uint64_t bits[ELEMENTS_CHUNK], done = 1, count = 0, one = 0;
	struct heap_object object;
	uint32_t ix;
	uint8_t type;
	int r = HDB_OK;

	for (uint64_t from = 0; r == HDB_OK && from < array->length && done; from += done) {
		r = heap_elements(heap, array->ix, from, ELEMENTS_CHUNK, bits, &type, &done, err);
		for (uint64_t i = 0; r == HDB_OK && i < done; i++) {
			if (!bits[i])
				continue;
			if (!count++ && heap_find(heap, bits[i], &ix, err) == HDB_OK) {
				r = heap_object(heap, ix, &object, err);
				if (r == HDB_OK)
					one = heap_class(heap, object.class_no)->declared_size;
			}
		}
	}
	*bytes += count * one;
	return r;
}

static int class_size(struct heap *heap, uint32_t class_no, uint64_t *bytes, struct hdb_error *err)
{
	const uint64_t offset = heap_class(heap, class_no)->file_offset;
	struct hprof_sub sub;
	int r = HDB_OK;

	*bytes = 0;
	if (offset)
		r = hprof_sub_read(&heap->file, &heap->view, offset, heap->source->size, &sub, err);
	/* The record without its tag. */
	if (offset && r == HDB_OK && sub.end > sub.offset)
		*bytes = sub.end - sub.offset - 1;
	return r;
}

static bool is_boxed(struct heap *heap, uint32_t class_no)
{
	static const char names[] = "java.lang.Boolean[] java.lang.Character[] java.lang.Float[] "
				    "java.lang.Double[] java.lang.Byte[] java.lang.Short[] "
				    "java.lang.Integer[] java.lang.Long[] ";
	const char *name = heap_class_name(heap, class_no);
	const char *at = strncmp(name, "java.lang.", 10) == 0 ? strstr(names, name) : NULL;

	return at && at[strlen(name)] == ' ' && (at == names || at[-1] == ' ');
}

int trace_recorded_size(struct heap *heap, const struct heap_object *object, uint64_t *bytes,
			struct hdb_error *err)
{
	const struct store_class *class = heap_class(heap, object->class_no);
	struct heap_object value;
	uint32_t ix;
	int r;

	switch (object->kind) {
	case STORE_CLASS:
		return class_size(heap, (uint32_t)object->length, bytes, err);
	case STORE_OBJECT_ARRAY:
		*bytes = object->length * heap->id_size;
		return is_boxed(heap, object->class_no) ? boxes_size(heap, object, bytes, err) :
							  HDB_OK;
	case STORE_INSTANCE:
		*bytes = class->declared_size;
		if (!heap_is_string(heap, object->ix))
			return HDB_OK;
		r = heap_path_object(heap, object->ix, HEAP_NONE, "value", &ix, err);
		if (r == HDB_OK)
			r = heap_object(heap, ix, &value, err);
		if (r == HDB_OK && value.kind == STORE_PRIMITIVE_ARRAY)
			*bytes += value.length *
				  hprof_type_size(heap_class(heap, value.class_no)->element_type,
						  heap->id_size);
		return r < 0 ? r : HDB_OK;
	default:
		*bytes = object->length * hprof_type_size(class->element_type, heap->id_size);
		return HDB_OK;
	}
}

/* The sizes of a block's objects, and one each. HDB_ELIMIT if they do not fit narrow sizes. */
static int set_block(struct trace_search *s, const struct base_vec *native,
		     const struct heap_block *block, uint64_t *numbers, struct hdb_error *err)
{
	struct heap *heap = s->graph->session->heap;
	int r = graph_dominators_numbers(&s->dominators, block->first_ix, numbers, block->count,
					 err);

	for (uint32_t i = 0; i < block->count && r == HDB_OK; i++) {
		const struct heap_object object = {
			.ix = block->first_ix + i,
			.class_no = block->class_no[i],
			.kind = block->kind[i],
			.length = block->length[i],
		};
		uint64_t bytes;

		if (!numbers[i])
			continue;
		r = trace_recorded_size(heap, &object, &bytes, err);
		bytes += derive_native_in(native, object.ix);
		(void)base_sizes_set(&s->counts, (uint32_t)numbers[i], 1);
		if (r == HDB_OK && !base_sizes_set(&s->bytes, (uint32_t)numbers[i], bytes))
			r = HDB_ELIMIT;
	}
	return r;
}

static int set_sizes(struct trace_search *s, bool is_wide, const struct base_vec *native,
		     struct hdb_error *err)
{
	struct heap *heap = s->graph->session->heap;
	struct base_work *work = s->graph->session->work;
	struct heap_block *block = malloc(sizeof(*block));
	uint64_t *numbers = malloc((STORE_BLOCK_OBJECTS + GRAPH_NUMBERS_STEP) * sizeof(*numbers));
	const uint64_t n = (uint64_t)s->dominators.count + 1;
	int r = block && numbers ? HDB_OK : hdb_fail_memory(err, "sizes", sizeof(*block));

	base_sizes_release(&s->bytes);
	base_sizes_release(&s->counts);
	if (r != HDB_OK)
		goto out;
	if ((r = base_sizes_init(&s->bytes, n, is_wide, work, err)) != HDB_OK)
		goto out;
	if ((r = base_sizes_init(&s->counts, n, false, work, err)) != HDB_OK)
		goto out;
	for (uint32_t b = 0; b < heap_block_count(heap); b++) {
		if ((r = heap_read_block(heap, b, block, err)) != HDB_OK)
			goto out;
		if ((r = set_block(s, native, block, numbers, err)) != HDB_OK)
			goto out;
	}
	if ((r = graph_retained(&s->dominators, &s->bytes, err)) != HDB_OK)
		goto out;
	r = graph_retained(&s->dominators, &s->counts, err);
out:
	free(block);
	free(numbers);
	return r;
}

int trace_search_sizes(struct trace_search *s, struct hdb_error *err)
{
	const struct session *session = s->graph->session;
	struct base_vec native = { 0 };
	int r = graph_dominators(&s->rows, s->roots, GRAPH_SEARCH_ANY, session->work,
				 &s->dominators, err);

	if (r != HDB_OK)
		goto out;
	r = derive_native_sizes(session->derive, DERIVE_NATIVE_REGISTERED, &native, err);
	if (r != HDB_OK)
		goto out;
	r = set_sizes(s, false, &native, err);
out:
	if (r == HDB_ELIMIT)
		r = set_sizes(s, true, &native, err);
	base_vec_release(&native);
	return r;
}

int trace_search_retained(const struct trace_search *s, uint32_t ix, uint64_t *bytes,
			  uint64_t *objects, struct hdb_error *err)
{
	const uint32_t first = ix - ix % GRAPH_NUMBERS_STEP;
	uint64_t numbers[GRAPH_NUMBERS_STEP];
	const uint32_t left = s->dominators.node_count - first;
	const int r = graph_dominators_numbers(
		&s->dominators, first, numbers,
		left < GRAPH_NUMBERS_STEP ? left : GRAPH_NUMBERS_STEP, err);

	*bytes = *objects = 0;
	if (r != HDB_OK)
		return r;
	if (numbers[ix - first]) {
		*bytes = base_sizes_get(&s->bytes, (uint32_t)numbers[ix - first]);
		*objects = base_sizes_get(&s->counts, (uint32_t)numbers[ix - first]);
	}
	return r;
}
