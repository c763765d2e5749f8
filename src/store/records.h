/*
 * store/records.h - tables of fixed-size records (roots, threads, classes and so on), and the table
 * of texts.
 *
 * Records are numbered from 0 and stored like the struct in memory (little-endian; a static_assert
 * checks the layout next to the struct), STORE_RECORDS per block.
 */
#ifndef STORE_RECORDS_H
#define STORE_RECORDS_H

#include "base/vec.h"
#include "base/work.h"
#include "store/store.h"

#define STORE_RECORDS 1024u

/*
 * Writer of a table of records. Each record has store_table_record(table) bytes, and records are
 * written in order. The caller sets the first two fields and zeroes the rest.
 */
struct store_records_writer {
	struct store_writer *writer;
	enum store_table table;
	uint64_t count; /* number of records written */
	struct base_vec buffer;
};

/*
 * Maximum memory per class, in bytes, of the query that needs the most
 * (tests/import/memory_test.c): record, name, and sums by class. Objects are not included.
 */
#define STORE_CLASS_MEMORY_BYTES 600u

/*
 * Charges the memory of all classes to the budget (base_work_count: *counted). If the budget is too
 * small, returns HDB_ELIMIT with a sufficient --memory value, because many places keep arrays by
 * class in memory. The import also calls it, so that it never creates a database that queries would
 * refuse with the same budget.
 */
int store_count_classes(struct base_work *work, uint64_t class_count, uint64_t *counted,
			struct hdb_error *err);

int store_records_put(struct store_records_writer *w, const void *record, struct hdb_error *err);
/* Writes the last block and the state of the table. Frees the buffer, even after a failure. */
int store_records_end(struct store_records_writer *w, struct hdb_error *err);
void store_records_release(struct store_records_writer *w);

/* Writes a whole table of `count` records of store_table_record(table) bytes. */
int store_records_put_all(struct store_writer *writer, enum store_table table, const void *records,
			  uint64_t count, struct hdb_error *err);

/* Returns the number of records in a table, or 0 if the table does not exist. */
uint64_t store_record_count(struct store *store, enum store_table table);

/*
 * Determines the number of records in a table, for callers that allocate memory for all of them.
 * Fails with HDB_ECORRUPT if the number is larger than the table's size allows.
 */
int store_record_room(struct store *store, enum store_table table, uint64_t *count,
		      struct hdb_error *err);

/*
 * Copies record `no`, of store_table_record(table) bytes, to `out`. Returns HDB_NOTFOUND past the
 * end.
 */
int store_record(struct store *store, enum store_table table, uint64_t no, void *out,
		 struct hdb_error *err);

/*
 * Writer of the table of texts, which are numbered from 0. The caller sets `writer` and zeroes the
 * rest.
 */
struct store_texts_writer {
	struct store_writer *writer;
	uint64_t count;       /* number of strings written */
	uint64_t first;       /* number of the first text in the buffer */
	struct base_vec ends; /* uint32_t: end of each text in `bytes` */
	struct base_vec bytes;
	struct base_vec block; /* ends and bytes together, for writing */
};

/* Maximum size of a string in bytes. The caller truncates longer strings and reports this. */
#define STORE_TEXT_MAX (1u << 20)

int store_texts_put(struct store_texts_writer *w, const void *text, size_t size,
		    struct hdb_error *err);
int store_texts_end(struct store_texts_writer *w, struct hdb_error *err);
void store_texts_release(struct store_texts_writer *w);

/* Reads text `no`, borrowed like a block. Returns HDB_NOTFOUND past the end. */
int store_text(struct store *store, uint64_t no, const char **text, size_t *size,
	       struct hdb_error *err);

#endif
