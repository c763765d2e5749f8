/*
 * serve/serve_warm.c - the requests of page/views.tsx and page/waste.tsx that do not concern a
 * particular object. The arguments must be identical to those of the page, otherwise the cached
 * answers are not found. tests/e2e/page_client.py compares the arguments of the waste requests.
 */
#include "serve/serve_warm.h"

#include <assert.h>

static const struct {
	const char *query;
	uint64_t limit;
	const char *target; /* NULL means none */
	struct hdb_option option;
} questions[] = {
	{ "leaks", 5000, NULL, { NULL, NULL } },
	{ "triage", 200, NULL, { NULL, NULL } },
	/* for the table of objects: the page shows the path of the object under the pointer */
	{ "path", 1, "class java.lang.Object", { "exclude", "none" } },
	{ "dominator-tree", 100000, NULL, { "by", "class" } },
	{ "dominator-tree", 100000, NULL, { "by", "package" } },
	{ "dominator-tree", 100000, NULL, { "by", "loader" } },
	{ "collections", 1000, NULL, { NULL, NULL } },
	{ "duplicates", 1000, NULL, { NULL, NULL } },
	{ "arrays", 1000, NULL, { NULL, NULL } },
	{ "duplicates", 1000, NULL, { "arrays", NULL } },
	{ "collections", 10000, NULL, { NULL, NULL } },
	{ "collections", 1000, NULL, { "by", "size" } },
	{ "arrays", 10000, NULL, { NULL, NULL } },
	{ "group-by-value", 1000, "java.lang.Long", { NULL, NULL } },
	{ "group-by-value", 1000, "java.lang.Integer", { NULL, NULL } },
	{ "strings", 1000, NULL, { NULL, NULL } },
	{ "loaders", 1000, NULL, { NULL, NULL } },
	{ "substrings", 1000, NULL, { NULL, NULL } },
	{ "reference-stats", 1000, NULL, { NULL, NULL } },
	{ "finalizers", 1000, NULL, { NULL, NULL } },
};

#define QUESTIONS (sizeof(questions) / sizeof(questions[0]))

struct serve_job *serve_warm_job(size_t number, size_t database_count)
{
	const size_t no = number / database_count;
	struct serve_job *job = no < QUESTIONS ? serve_job_new() : NULL;

	if (!job)
		return NULL;
	job->database = number % database_count;
	job->spec = hdb_query_named(questions[no].query);
	assert(job->spec);
	job->limit = questions[no].limit;
	job->targets[0] = questions[no].target;
	job->target_count = questions[no].target ? 1 : 0;
	job->option_count = questions[no].option.name ? 1 : 0;
	job->options[0] = questions[no].option;
	return job;
}
