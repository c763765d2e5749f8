/*
 * store/tables.c - the list of tables.
 */
#include "store/tables.h"

#include "store/schema.h"

#include <assert.h>
#include <stddef.h>

/*
 * Hash of the library's sources, from the Makefile. A stored answer is valid only for the code that
 * computed it.
 */
#ifndef STORE_SOURCES_HASH
#define STORE_SOURCES_HASH 0
#endif
#define ANSWER(name) \
	{ \
		"answer." name, STORE_SOURCES_HASH, 0 \
	}

/*
 * Tables of one reference strength. Their reach tree is not among them, because the reach tree of
 * strong references is older and has its own number.
 */
#define VIEW(view, name) \
	[STORE_VIEW( \
		view, \
		STORE_VIEW_DOMINATORS)] = { "dominators." name, 1, 0 }, \
		[STORE_VIEW(view, STORE_VIEW_RETAINED)] = { "retained." name, 2, 0 }, \
		[STORE_VIEW(view, STORE_VIEW_CHILDREN)] = { "children." name, 2, 0 }, \
		[STORE_VIEW(view, STORE_VIEW_CHILDREN_BIG)] = { "children.big." name, 2, 0 }, \
		[STORE_VIEW(view, STORE_VIEW_TOTALS)] = { "totals." name, 2, STORE_TOTAL_BYTES }, \
		[STORE_VIEW(view, STORE_VIEW_WHOLE)] = { "whole." name, 2, STORE_WHOLE_BYTES }, \
		[STORE_VIEW(view, STORE_VIEW_RETAINED_NATIVE)] = { "retained.native." name, 3, \
								   0 }, \
		[STORE_VIEW(view, STORE_VIEW_RETAINED_HEAPS)] = { "retained.heaps." name, 2, 0 }, \
		[STORE_VIEW(view, STORE_VIEW_DEPTH)] = { "depth." name, 2, 0 }, \
		[STORE_TOP_LEVEL_VIEW(view, STORE_TOP_LEVEL)] = { "top.level." name, 1, 0 }, \
		[STORE_TOP_LEVEL_VIEW(view, STORE_TOP_LEVEL_BIG)] = { "top.level.big." name, 2, \
								      0 }

/*
 * The revision describes the contents of a table. Raise it when the same dump yields different
 * contents: different sizes, roots, references or dominators, or a different encoding. A new
 * revision of a base table makes existing databases unreadable, and the dump must be imported
 * again. A new revision of a derived table causes that table to be rebuilt. The revisions of tables
 * computed from it must be raised too. tests/derive/revisions_test.c compares the contents of all
 * tables of some dumps with tests/data/table_revisions.tsv, and fails if contents change and the
 * revision does not.
 */
static const struct {
	const char *name;
	uint32_t revision;
	uint32_t record_bytes; /* 0 means not a table of records */
} tables[STORE_TABLE_END] = {
	[STORE_META] = { "meta", 1, 0 },
	[STORE_IDS] = { "ids", 1, 0 },
	[STORE_OBJECTS] = { "objects", 4, 0 },
	[STORE_REFERENCES] = { "references", 1, 0 },
	[STORE_REFERENCES_BIG] = { "references.big", 1, 0 },
	[STORE_CLASSES] = { "classes", 3, sizeof(struct store_class) },
	[STORE_FIELDS] = { "fields", 2, sizeof(struct store_field) },
	[STORE_TEXTS] = { "texts", 2, 0 },
	[STORE_ROOTS] = { "roots", 1, sizeof(struct store_root) },
	[STORE_THREADS] = { "threads", 2, sizeof(struct store_thread) },
	[STORE_TRACES] = { "traces", 1, sizeof(struct store_trace) },
	[STORE_TRACE_FRAMES] = { "trace.frames", 1, sizeof(uint32_t) },
	[STORE_FRAMES] = { "frames", 2, sizeof(struct store_frame) },
	[STORE_HEAPS] = { "heaps", 2, sizeof(struct store_heap) },
	[STORE_PROBLEMS] = { "problems", 1, sizeof(struct store_problem) },
	[STORE_ALLOC_SITES] = { "alloc.sites", 2, sizeof(struct store_alloc_site) },
	[STORE_CPU_SAMPLES] = { "cpu.samples", 1, sizeof(struct store_cpu_sample) },
	[STORE_HEAP_SUMMARIES] = { "heap.summaries", 2, sizeof(struct store_heap_summary) },
	[STORE_DANGLING] = { "dangling", 1, sizeof(struct store_dangling) },
	[STORE_RECORD_COUNTS] = { "record.counts", 1, sizeof(struct store_record_count) },
	[STORE_ID_DIRECTORY] = { "ids.directory", 1, sizeof(uint64_t) },
	[STORE_CLASS_COUNTS] = { "class.counts", 2, sizeof(struct store_class_count) },
	[STORE_THREAD_STARTS] = { "thread.starts", 1, sizeof(struct store_thread_start) },
	[STORE_CONTENTS] = { "contents", 3, 0 },
	[STORE_REFERRERS] = { "referrers", 1, 0 },
	[STORE_REFERRERS_BIG] = { "referrers.big", 1, 0 },
	[STORE_REACH] = { "reach", 1, 0 },
	[STORE_REACH_STRONG] = { "reach.strong", 2, 0 },
	[STORE_DOMINATORS] = { "dominators", 1, 0 },
	[STORE_RETAINED] = { "retained", 2, 0 },
	[STORE_CHILDREN] = { "children", 2, 0 },
	[STORE_CHILDREN_BIG] = { "children.big", 2, 0 },
	[STORE_TOTALS] = { "totals", 2, STORE_TOTAL_BYTES },
	[STORE_WHOLE] = { "whole", 2, STORE_WHOLE_BYTES },
	[STORE_ORPHANS] = { "orphans", 1, 0 },
	[STORE_NATIVE] = { "native", 3, 0 },
	[STORE_RETAINED_NATIVE] = { "retained.native", 3, 0 },
	[STORE_RETAINED_HEAPS] = { "retained.heaps", 2, 0 },
	[STORE_DEPTH] = { "depth", 1, 0 },
	[STORE_TOP_LEVEL] = { "top.level", 1, 0 },
	[STORE_TOP_LEVEL_BIG] = { "top.level.big", 2, 0 },
	VIEW(1, "strong"),
	VIEW(2, "soft"),
	[STORE_VIEW(2, STORE_VIEW_REACH)] = { "reach.soft", 1, 0 },
	VIEW(3, "finalizer"),
	[STORE_VIEW(3, STORE_VIEW_REACH)] = { "reach.finalizer", 1, 0 },
	VIEW(4, "weak"),
	[STORE_VIEW(4, STORE_VIEW_REACH)] = { "reach.weak", 1, 0 },
	[STORE_ANSWER_LEAKS] = ANSWER("leaks"),
	[STORE_ANSWER_TRIAGE] = ANSWER("triage"),
	[STORE_ANSWER_COLLECTIONS] = ANSWER("collections"),
	[STORE_ANSWER_DUPLICATES] = ANSWER("duplicates"),
	[STORE_ANSWER_ARRAYS] = ANSWER("arrays"),
	[STORE_ANSWER_STRINGS] = ANSWER("strings"),
	[STORE_ANSWER_SUBSTRINGS] = ANSWER("substrings"),
	[STORE_ANSWER_LOADERS] = ANSWER("loaders"),
	[STORE_ANSWER_REFERENCE_STATS] = ANSWER("reference-stats"),
	[STORE_ANSWER_FINALIZERS] = ANSWER("finalizers"),
	[STORE_ANSWER_DOMINATOR_TREE] = ANSWER("dominator-tree"),
	[STORE_ANSWER_OPTIONS] = ANSWER("options"),
};

const char *store_table_name(unsigned table)
{
	return table < STORE_TABLE_END ? tables[table].name : NULL;
}

uint32_t store_table_revision(unsigned table)
{
	return table < STORE_TABLE_END ? tables[table].revision : 0;
}

uint32_t store_table_record(unsigned table)
{
	assert(table < STORE_TABLE_END);
	return table < STORE_TABLE_END ? tables[table].record_bytes : 0;
}
