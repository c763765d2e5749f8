/* queries/registry.c - the table of queries, and searches by name; see queries.h. */
#include "base/glob.h"
#include "queries/queries.h"

#include <pthread.h>

#define X(name) &query_##name,
static const struct query_def *const registry[] = { QUERIES(X) };
#undef X

#define REGISTRY_COUNT BASE_COUNT(registry)

const struct query_def *const *query_registry(size_t *count)
{
	*count = REGISTRY_COUNT;
	return registry;
}

/* The public specs of all queries in one array, filled by the first thread that needs it. */
static struct hdb_query_spec specs[REGISTRY_COUNT];
/* Maximum number of options: the query's own options, shared options, and the end. */
#define OPTIONS_MAX 24
static struct hdb_option_spec options[REGISTRY_COUNT][OPTIONS_MAX];

static void fill_options(size_t no)
{
	const struct query_def *def = registry[no];
	const struct hdb_option_spec *option = def->spec.options;
	size_t used = 0;

	for (; option->name; option++) {
		assert(used < OPTIONS_MAX - 1);
		options[no][used++] = *option;
	}
	for (unsigned i = 0; (option = query_shared_option(def, i)) != NULL; i++) {
		assert(used < OPTIONS_MAX - 1);
		options[no][used] = *option;
		if (def->heap_help && strcmp(option->name, "heap") == 0)
			options[no][used].help = def->heap_help;
		used++;
	}
	specs[no].options = options[no];
}

/* Returns whether the query counts objects, in which case the answer states which objects. */
static bool is_counting(const struct hdb_query_spec *spec)
{
	for (size_t i = 0; i < spec->fact_count; i++)
		if (strcmp(spec->facts[i].name, "counted") == 0)
			return true;
	return false;
}

static bool has_option(const struct hdb_query_spec *spec, const char *name)
{
	for (const struct hdb_option_spec *option = spec->options; option->name; option++)
		if (strcmp(option->name, name) == 0)
			return true;
	return false;
}

const char *query_missing_field(const struct query_def *def)
{
	const struct hdb_query_spec *spec = &def->spec;

	return !spec->name             ? "spec.name" :
	       !spec->group            ? "spec.group" :
	       !spec->example          ? "spec.example" :
	       !spec->targets          ? "spec.targets" :
	       !spec->summary          ? "spec.summary" :
	       !spec->options          ? "spec.options" :
	       !spec->columns          ? "spec.columns" :
	       !def->row && !def->next ? "row" :
	       is_counting(spec) != (def->population != ANALYSIS_OF_NOTHING) ?
					 "population" :
	       is_counting(spec) && !spec->one_population && !has_option(spec, "all") ?
					 "spec.one_population" :
					 NULL;
}

static void fill_specs(void)
{
	for (size_t i = 0; i < REGISTRY_COUNT; i++) {
#ifndef NDEBUG
		const char *missing = query_missing_field(registry[i]);

		if (missing) {
			fprintf(stderr, "the definition of query %s has no .%s\n",
				registry[i]->spec.name ? registry[i]->spec.name : "without a name",
				missing);
			abort();
		}
#endif
		specs[i] = registry[i]->spec;
		specs[i].is_tree = registry[i]->order != QUERY_ORDER_FLAT;
		fill_options(i);
	}
}

const struct hdb_query_spec *query_specs(size_t *count)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, fill_specs);
	*count = REGISTRY_COUNT;
	return specs;
}

static bool is_named(const struct hdb_query_spec *spec, const char *name)
{
	return strcmp(spec->name, name) == 0 ||
	       (spec->aliases && base_is_among(spec->aliases, name));
}

/* Returns the index in the registry, or REGISTRY_COUNT. */
static size_t find(const char *name)
{
	size_t i = 0;

	while (i < REGISTRY_COUNT && !is_named(&registry[i]->spec, name))
		i++;
	return i;
}

const struct query_def *query_find(const char *name)
{
	const size_t i = find(name);

	return i < REGISTRY_COUNT ? registry[i] : NULL;
}

const struct hdb_query_spec *query_spec_named(const char *name)
{
	const size_t i = find(name);
	size_t count;

	return i < REGISTRY_COUNT ? &query_specs(&count)[i] : NULL;
}

int query_fail_unknown(const char *name, struct hdb_error *err)
{
	size_t used = 0;
	char list[1024] = "";

	for (size_t i = 0; i < REGISTRY_COUNT && used < sizeof(list); i++)
		if (registry[i]->spec.is_query)
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
						 used ? ", " : "", registry[i]->spec.name);
	return hdb_fail(err, HDB_EUSAGE, "unknown query \"%s\"; known queries: %s", name, list);
}
