/*
 * support/tree_tables.h - writes tables of dominators and retained sizes with arbitrary values, for
 * tests with invalid tables.
 */
#ifndef SUPPORT_TREE_TABLES_H
#define SUPPORT_TREE_TABLES_H

#include "heap/heap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/*
 * Writes columns for a heap of one block. values[t] has a value for each object, for table
 * tables.table[t].
 */
static inline void tree_tables_write(struct heap *heap, struct store_tables tables,
				     const uint64_t *const *values)
{
	struct store_writer *writer;
	struct base_vec block = { 0 };

	assert_true(heap->object_count <= STORE_BLOCK_OBJECTS);
	assert_int_equal(store_build(heap->store, tables, heap->work, &writer, NULL), HDB_OK);
	for (unsigned t = 0; t < tables.count; t++) {
		block.count = 0;
		assert_int_equal(base_pack_encode(&block, values[t], heap->object_count, NULL),
				 HDB_OK);
		assert_int_equal(store_put(writer, tables.table[t],
					   &(struct store_block){ .key = 0,
								  .item_count = heap->object_count,
								  .data = block.data,
								  .size = block.count },
					   NULL),
				 HDB_OK);
		assert_int_equal(store_put_table(writer, tables.table[t], heap->object_count, NULL),
				 HDB_OK);
	}
	assert_int_equal(store_publish(writer, NULL, NULL), HDB_OK);
	base_vec_release(&block);
}

/*
 * Builds both tables for a heap of one block, with a value for each object (for dominators,
 * derive_tree_value). Fails the test if the tables already exist.
 */
static inline void tree_tables_put(struct heap *heap, const uint64_t *dominators,
				   const uint64_t *retained)
{
	const enum store_table tables[] = { STORE_DOMINATORS, STORE_RETAINED };
	const uint64_t *values[] = { dominators, retained };

	tree_tables_write(heap, (struct store_tables){ tables, 2 }, values);
}

#endif
