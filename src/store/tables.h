/*
 * store/tables.h - the tables of a heap database: number, name, revision. FORMAT.md describes their
 * contents.
 *
 * The number is part of every key and never changes its meaning. The revision is raised when the
 * contents of a table change their meaning (tables.c). A derived table of another revision is
 * rebuilt, and a database with a base table of another revision is not opened.
 */
#ifndef STORE_TABLES_H
#define STORE_TABLES_H

#include <stdint.h>

/* Version of the file format as a whole; see FORMAT.md, "Versions". */
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
	/* derived tables, which are built when first needed */
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
	 * The same tables, computed with references down to a given strength: STORE_VIEW_TABLES
	 * tables for each strength, in the order of enum store_view_table.
	 */
	STORE_VIEWS = 80,
	/*
	 * The top level of the dominator tree, first for all references and then for each strength.
	 */
	STORE_TOP_LEVEL = 120,
	STORE_TOP_LEVEL_BIG = 121,
	/* stored answers; their revision identifies the library that computed them */
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
	STORE_ANSWER_DOMINATOR_TREE,
	/* answers of queries with options or targets: a block for each */
	STORE_ANSWER_OPTIONS,
	STORE_TABLE_END
};

/* Tables that exist once per strength, except for phantom, which stands for all references. */
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

/*
 * Returns the number of a table for the weakest strength of reference that it follows. View 1:
 * strong, 2: soft, 3: finalizer, 4: weak.
 */
#define STORE_VIEW(view, table) \
	((enum store_table)(STORE_VIEWS + ((view)-1) * STORE_VIEW_TABLES + (table)))

/*
 * Returns the number of the `top.level` or `top.level.big` table for one strength. `table` is the
 * one for all references.
 */
#define STORE_TOP_LEVEL_VIEW(view, table) ((enum store_table)((table) + 2 * (view)))

/*
 * Returns the name of a table, such as "objects" or "reach.strong", or NULL for an unknown number.
 * Static.
 */
const char *store_table_name(unsigned table);

/* Returns the size of a record in a table of records (store/records.h), or 0 for other tables. */
uint32_t store_table_record(unsigned table);

/* Size of a record of the `totals` and `whole` tables. Only derive/ knows their contents. */
#define STORE_TOTAL_BYTES 48
#define STORE_WHOLE_BYTES 32

/*
 * Returns the revision of a table's contents that this library reads and writes, or 0 for an answer
 * if answers are not stored.
 */
uint32_t store_table_revision(unsigned table);

#endif
