/*
 * query/registry.c - the table of queries, in the order of the manual.
 */
#include "query/queries.h"

#include <pthread.h>
#include <string.h>

static const struct query_def *const registry[] = {
	&query_retained,    &query_histogram,  &query_dominators,  &query_top,
	&query_path,        &query_object_def, &query_references,  &query_referrers,
	&query_class,       &query_layout,     &query_roots,       &query_threads,
	&query_strings,     &query_leaks,      &query_triage,
	&query_duplicates,  &query_arrays,      &query_substrings,
	&query_reference_stats, &query_reference_leaks, &query_finalizers,
	&query_entries,     &query_collections, &query_group,     &query_properties,
	&query_unreachable, &query_info,       &query_sizes,       &query_check,
	&query_objects,
	&query_problems,    &query_dangling,   &query_tables,      &query_records,
	&query_diff,
	&query_dominator_tree, &query_immediate_dominators, &query_drops, &query_paths,
	&query_consumers,   &query_loaders,    &query_duplicate_classes,
	&query_alloc_sites, &query_cpu_samples, &query_heap_summaries,
};

#define REGISTRY_COUNT (sizeof(registry) / sizeof(registry[0]))

const struct query_def *const *query_registry(size_t *count)
{
	*count = REGISTRY_COUNT;
	return registry;
}

/* The registry holds definitions; users see their specs in one array, made once whichever thread asks first. */
static struct hdb_query_spec specs[REGISTRY_COUNT];

static void fill_specs(void)
{
	for (size_t i = 0; i < REGISTRY_COUNT; i++)
		specs[i] = registry[i]->spec;
}

const struct hdb_query_spec *query_specs(size_t *count)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, fill_specs);
	*count = REGISTRY_COUNT;
	return specs;
}

const struct query_def *query_find(const char *name)
{
	for (size_t i = 0; i < REGISTRY_COUNT; i++)
		if (strcmp(registry[i]->spec.name, name) == 0)
			return registry[i];
	return NULL;
}
