/*
 * queries/queries.h - all query definitions, one a file q_NAME.c; registry.c has their order.
 */
#ifndef QUERIES_QUERIES_H
#define QUERIES_QUERIES_H

#include "query/query.h"

/* The table of queries. */
const struct query_def *const *query_registry(size_t *count);
/* By name, alias or former name; NULL: there is none. */
const struct query_def *query_find(const char *name);
/* What users see of it, for any thread; static. */
const struct hdb_query_spec *query_specs(size_t *count);
const struct hdb_query_spec *query_spec_named(const char *name);
/* HDB_EUSAGE for a name that no query has, with those that there are. */
int query_fail_unknown(const char *name, struct hdb_error *err);

/* sizes and the dominator tree */
extern const struct query_def query_retained;
extern const struct query_def query_histogram;
extern const struct query_def query_dominators;
extern const struct query_def query_top;
extern const struct query_def query_unreachable;
extern const struct query_def query_dominator_tree;
extern const struct query_def query_immediate_dominators;
extern const struct query_def query_drops;
extern const struct query_def query_paths;
extern const struct query_def query_consumers;

/* several dumps */
extern const struct query_def query_diff;

/* objects and what connects them */
extern const struct query_def query_path;
extern const struct query_def query_object_def; /* "object": analysis_object is a function */
extern const struct query_def query_instances;
extern const struct query_def query_direct_buffers;
extern const struct query_def query_references;
extern const struct query_def query_referrers;
extern const struct query_def query_class;
extern const struct query_def query_layout;
extern const struct query_def query_loaders;
extern const struct query_def query_duplicate_classes;
extern const struct query_def query_roots;
extern const struct query_def query_threads;
extern const struct query_def query_strings;
extern const struct query_def query_duplicates;
extern const struct query_def query_arrays;
extern const struct query_def query_substrings;

/* references */
extern const struct query_def query_reference_stats;
extern const struct query_def query_finalizers;
extern const struct query_def query_reference_leaks;
extern const struct query_def query_entries;
extern const struct query_def query_collections;
extern const struct query_def query_group;
extern const struct query_def query_properties;

/* what is wrong */
extern const struct query_def query_leaks;
extern const struct query_def query_leak_traces;
extern const struct query_def query_native;
extern const struct query_def query_bitmaps;
extern const struct query_def query_object_sites;
extern const struct query_def query_call_tree;
extern const struct query_def query_app;
extern const struct query_def query_triage;

/* the database and the dump */
extern const struct query_def query_info;
extern const struct query_def query_sizes;
extern const struct query_def query_tables;
extern const struct query_def query_check;
extern const struct query_def query_objects;
extern const struct query_def query_problems;
extern const struct query_def query_dangling;
extern const struct query_def query_records;
extern const struct query_def query_alloc_sites;
extern const struct query_def query_cpu_samples;
extern const struct query_def query_heap_summaries;

#endif
