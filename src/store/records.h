/*
 * store/records.h - tables of records of one size (roots, threads, classes, ...), and the table of
 * texts.
 *
 * Records are numbered from 0 and kept as the struct is in memory (little-endian, fixed layout,
 * checked by static_assert where the struct is defined), STORE_RECORDS to a block.
 */
#ifndef STORE_RECORDS_H
#define STORE_RECORDS_H

#include "base/vec.h"
#include "base/work.h"
#include "store/store.h"

#define STORE_RECORDS 1024u

/*
 * Writes a table of records of store_table_record(table) bytes in order. Zero-initialise, set the
 * first two.
 */
struct store_records_writer {
	struct store_writer *writer;
	enum store_table table;
	uint64_t count; /* records put so far */
	struct base_vec buffer;
};

/*
 * What a class takes of memory at most, in bytes, in the query that keeps most of them
 * (tests/import/memory_test.c): its record and name, and what is added up by class. Objects do not
 * count.
 */
#define STORE_CLASS_MEMORY_BYTES 600u

/*
 * Takes the memory of all classes out of the budget (base_work_count: *counted). HDB_ELIMIT, with
 * the --memory that suffices, if it has no room for them: arrays by class are in memory everywhere.
 * The import asks this, so that no database is made that queries refuse under the same budget.
 */
int store_count_classes(struct base_work *work, uint64_t class_count, uint64_t *counted,
			struct hdb_error *err);

int store_records_put(struct store_records_writer *w, const void *record, struct hdb_error *err);
/* Writes the last block and the table's state; frees the buffer (also on failure). */
int store_records_end(struct store_records_writer *w, struct hdb_error *err);
void store_records_release(struct store_records_writer *w);

/* Writes `count` records of store_table_record(table) bytes at once. */
int store_records_put_all(struct store_writer *writer, enum store_table table, const void *records,
			  uint64_t count, struct hdb_error *err);

/* Records of a table; 0 if it is absent. */
uint64_t store_record_count(struct store *store, enum store_table table);

/*
 * The same, for callers that allocate room for all of them: HDB_ECORRUPT if the table claims more
 * than fit into its bytes.
 */
int store_record_room(struct store *store, enum store_table table, uint64_t *count,
		      struct hdb_error *err);

/* Copies record `no`, of store_table_record(table) bytes, to `out`. HDB_NOTFOUND past the end. */
int store_record(struct store *store, enum store_table table, uint64_t no, void *out,
		 struct hdb_error *err);

/* Writes the table of texts, numbered from 0. Zero-initialise, set the writer. */
struct store_texts_writer {
	struct store_writer *writer;
	uint64_t count;       /* texts put so far */
	uint64_t first;       /* number of the first in the buffer */
	struct base_vec ends; /* uint32_t */
	struct base_vec bytes;
	struct base_vec block; /* both, when they are written */
};

/* Longest text that is kept, bytes; longer ones are cut by the caller, who says so. */
#define STORE_TEXT_MAX (1u << 20)

int store_texts_put(struct store_texts_writer *w, const void *text, size_t size,
		    struct hdb_error *err);
int store_texts_end(struct store_texts_writer *w, struct hdb_error *err);
void store_texts_release(struct store_texts_writer *w);

/* Text `no`, borrowed like a block. HDB_NOTFOUND past the end. */
int store_text(struct store *store, uint64_t no, const char **text, size_t *size,
	       struct hdb_error *err);

#endif
