/*
 * fuzz/answers.c - stored answers from arbitrary bytes. Reading them gives rows with the columns,
 * types and texts of the query, or an error.
 *
 * Input: u8 number of a query whose answers are stored, u8 number of rows, the block.
 */
#include "queries/queries.h"
#include "query/kept_answers.h"
#include "query/rows.h"
#include "support/fuzz_target.h"
#include "support/fuzz_world.h"
#include "support/json_check.h"

#include <stdlib.h>
#include <string.h>

/* Finds a query by its number among the queries whose answers are stored. */
static const struct query_def *query_of(unsigned number)
{
	size_t count, kept = 0;
	const struct query_def *const *all = query_registry(&count);

	for (size_t i = 0; i < count; i++)
		kept += all[i]->keeps != 0;
	number %= (unsigned)kept;
	for (size_t i = 0;; i++)
		if (all[i]->keeps && number-- == 0)
			return all[i];
}

static void check_value(const struct hdb_value *value, enum hdb_type type)
{
	if (value->type != HDB_TYPE_NULL && value->type != type)
		abort();
	if (value->type == HDB_TYPE_TEXT && !text_is_utf8(value->text, value->text_size))
		abort();
	if (value->type == HDB_TYPE_BOOL && value->u > 1)
		abort();
}

/* Reads all rows of the stored answer. */
static int read_rows(struct query *q, uint64_t most, struct hdb_error *err)
{
	const struct hdb_query_spec *spec = &q->def->spec;
	uint64_t rows = 0;
	int r;

	if (!q->column_count || q->column_count > spec->column_count)
		abort();
	for (size_t i = 0; i < q->fact_count; i++)
		check_value(&q->facts[i].value, q->facts[i].column->type);
	while ((r = query_kept_next(q, err)) == HDB_OK) {
		if (++rows > most)
			abort();
		for (size_t i = 0; i < q->column_count; i++)
			check_value(&q->cells[q->columns[i]], spec->columns[q->columns[i]].type);
	}
	return r;
}

static void ask(struct heap *heap, const struct query_def *def, uint64_t most)
{
	struct hdb_error err = { 0 };
	struct query q = { .def = def, .heap = heap };
	int r;

	q.columns = calloc(def->spec.column_count, sizeof(*q.columns));
	q.cells = calloc(def->spec.column_count, sizeof(*q.cells));
	if (!q.columns || !q.cells)
		abort();
	r = query_kept_begin(&q, &err);
	if (query_is_replayed(&q) && r == HDB_OK)
		r = read_rows(&q, most, &err);
	if (r != HDB_END && r != HDB_NOTFOUND && r != HDB_ECORRUPT && r != HDB_ENOMEM)
		abort();
	query_kept_free(q.kept);
	for (size_t i = 0; i < q.fact_count; i++)
		free(q.facts[i].text);
	free(q.facts);
	free(q.columns);
	free(q.cells);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct fuzz_world *world = fuzz_world();
	struct store_block block = { .data = data + 2, .size = size - 2 };
	const struct query_def *def;
	struct hdb_error err;
	struct base_work work;
	struct heap *heap;
	uint32_t objects;

	if (size < 2)
		return 0;
	def = query_of(data[0]);
	block.item_count = data[1];
	fuzz_world_write(world->image, world->image_size);
	base_work_init(&work, 0, 1, NULL);
	if (heap_open(world->db_path, world->dump_path, &work, &heap, &err) != HDB_OK)
		abort();
	if (store_keep(heap->store, def->keeps, &block, &err) != HDB_OK)
		abort();
	heap_close(heap);
	if (heap_open(world->db_path, world->dump_path, &work, &heap, &err) != HDB_OK)
		abort();
	/* Only answers from large heaps are stored. */
	objects = heap->object_count;
	heap->object_count = QUERY_KEPT_OBJECTS;
	ask(heap, def, block.item_count);
	heap->object_count = objects;
	heap_close(heap);
	base_work_release(&work);
	return 0;
}
