/*
 * heap/heap_database.h - the contents of an open heap's database other than objects: file, meta
 * values and small tables. Analyses and queries go through these functions, so that only this
 * directory depends on the store. Results, ownership and errors are as for the functions of the
 * same names in store/store.h and store/records.h.
 */
#ifndef HEAP_HEAP_DATABASE_H
#define HEAP_HEAP_DATABASE_H

#include "heap/heap.h"
#include "store/records.h"

static inline const char *heap_path(const struct heap *heap)
{
	return store_path(heap->store);
}

static inline uint64_t heap_file_bytes(const struct heap *heap)
{
	return store_file_bytes(heap->store);
}

static inline uint64_t heap_meta_number(const struct heap *heap, const char *name,
					uint64_t fallback)
{
	return store_meta_number(heap->store, name, fallback);
}

static inline void heap_meta_text(const struct heap *heap, const char *name, char *buf, size_t size)
{
	store_meta_text(heap->store, name, buf, size);
}

static inline int heap_damaged(const struct heap *heap, enum store_table table, uint64_t key,
			       const char *what, struct hdb_error *err)
{
	return store_damaged(heap->store, table, key, what, err);
}

static inline uint64_t heap_record_count(const struct heap *heap, enum store_table table)
{
	return store_record_count(heap->store, table);
}

static inline int heap_record(const struct heap *heap, enum store_table table, uint64_t no,
			      void *out, struct hdb_error *err)
{
	return store_record(heap->store, table, no, out, err);
}

static inline int heap_table_info(const struct heap *heap, enum store_table table,
				  struct store_table_info *out, struct hdb_error *err)
{
	return store_table_info(heap->store, table, out, err);
}

#endif
