/*
 * store/tables.h - the tables of a heap database: number, name, revision. FORMAT.md says what is in
 * each.
 *
 * The number is part of every key and never changes its meaning. The revision grows when the
 * meaning of a table's content changes (tables.c): a derived table of another revision is built
 * again, and a database with a base table of another revision is not opened.
 */
#ifndef STORE_TABLES_H
#define STORE_TABLES_H

#include <stdint.h>

/* The format of the file as a whole; see FORMAT.md, "Versions". */
#define STORE_FORMAT_VERSION 2

enum store_table {
	STORE_META = 1,
	/* base tables, written by the import */
	STORE_IDS = 2,
	STORE_OBJECTS = 3,
	STORE_REFERENCES = 4,
	STORE_REFERENCES_BIG = 5,
	STORE_CLASSES = 6,
	STORE_FIELDS = 7,
	STORE_TEXTS = 8,
	STORE_ROOTS = 9,
	STORE_THREADS = 10,
	STORE_TRACES = 11,
	STORE_TRACE_FRAMES = 12,
	STORE_FRAMES = 13,
	STORE_HEAPS = 14,
	STORE_PROBLEMS = 15,
	STORE_ALLOC_SITES = 16,
	STORE_CPU_SAMPLES = 17,
	STORE_HEAP_SUMMARIES = 18,
	STORE_DANGLING = 19,
	STORE_RECORD_COUNTS = 20,
	STORE_ID_DIRECTORY = 21,
	STORE_CLASS_COUNTS = 22,
	STORE_CONTENTS = 23,
	STORE_THREAD_STARTS = 24,
	/* derived tables, built on first need */
	STORE_REFERRERS = 64,
	STORE_REFERRERS_BIG = 65,
	STORE_REACH = 66,
	STORE_REACH_STRONG = 67,
	STORE_DOMINATORS = 68,
	STORE_RETAINED = 69,
	STORE_CHILDREN = 70,
	STORE_CHILDREN_BIG = 71,
	STORE_TOTALS = 72,
	STORE_WHOLE = 73,
	STORE_ORPHANS = 74,
	STORE_NATIVE = 75,
	STORE_RETAINED_NATIVE = 76,
	STORE_RETAINED_HEAPS = 77,
	STORE_DEPTH = 78,
	/*
	 * The same where only references up to some strength count: STORE_VIEW_TABLES for each
	 * strength, in the order of enum store_view_table
	 */
	STORE_VIEWS = 80,
	/* The top level of the dominator tree, of all references and then of each strength */
	STORE_TOP_LEVEL = 120,
	STORE_TOP_LEVEL_BIG = 121,
	/* answers that are kept; their revision says which library made them */
	STORE_ANSWERS = 130,
	STORE_ANSWER_LEAKS = STORE_ANSWERS,
	STORE_ANSWER_TRIAGE,
	STORE_ANSWER_COLLECTIONS,
	STORE_ANSWER_DUPLICATES,
	STORE_ANSWER_ARRAYS,
	STORE_ANSWER_STRINGS,
	STORE_ANSWER_SUBSTRINGS,
	STORE_ANSWER_LOADERS,
	STORE_ANSWER_REFERENCE_STATS,
	STORE_ANSWER_FINALIZERS,
	STORE_TABLE_END
};

/* Tables that there are once more for each strength but phantom, which is all references. */
enum store_view_table {
	STORE_VIEW_REACH,
	STORE_VIEW_DOMINATORS,
	STORE_VIEW_RETAINED,
	STORE_VIEW_CHILDREN,
	STORE_VIEW_CHILDREN_BIG,
	STORE_VIEW_TOTALS,
	STORE_VIEW_WHOLE,
	STORE_VIEW_RETAINED_NATIVE,
	STORE_VIEW_RETAINED_HEAPS,
	STORE_VIEW_DEPTH,
	STORE_VIEW_TABLES
};

/* The number of such a table; view 1: strong, 2: soft, 3: finalizer, 4: weak. */
#define STORE_VIEW(view, table) \
	((enum store_table)(STORE_VIEWS + ((view)-1) * STORE_VIEW_TABLES + (table)))

/* The same of the tables top.level and top.level.big: `table` is that of all references. */
#define STORE_TOP_LEVEL_VIEW(view, table) ((enum store_table)((table) + 2 * (view)))

/* "objects", "reach.strong"; NULL for a number that is no table. Static. */
const char *store_table_name(unsigned table);

/*
 * Bytes of a record of a table of records (store/records.h); 0 for the tables that are kept
 * otherwise.
 */
uint32_t store_table_record(unsigned table);

/* Bytes of a record of the tables totals and whole; only derive/ knows what is in them. */
#define STORE_TOTAL_BYTES 48
#define STORE_WHOLE_BYTES 32

/*
 * The revision of a table's content that this library reads and writes; of an answer 0 if it keeps
 * none.
 */
uint32_t store_table_revision(unsigned table);

#endif
