/*
 * serve/serve_warm.c - what page/views.tsx asks without an object: the same arguments, else they
 * are other questions. tests/e2e/serve_client.py compares.
 */
#include "serve/serve_warm.h"

static const struct {
	const char *query;
	uint64_t limit;
	struct hdb_option option;
} questions[] = {
	{ "leaks", 5000, { NULL, NULL } },
	{ "triage", 200, { NULL, NULL } },
	{ "dominator-tree", 100000, { "by", "class" } },
	{ "dominator-tree", 100000, { "by", "package" } },
	{ "dominator-tree", 100000, { "by", "loader" } },
	{ "collections", 1000, { NULL, NULL } },
	{ "duplicates", 1000, { NULL, NULL } },
	{ "arrays", 1000, { NULL, NULL } },
	{ "strings", 1000, { NULL, NULL } },
	{ "loaders", 1000, { NULL, NULL } },
	{ "substrings", 1000, { NULL, NULL } },
	{ "reference-stats", 1000, { NULL, NULL } },
	{ "finalizers", 1000, { NULL, NULL } },
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
	job->limit = questions[no].limit;
	job->option_count = questions[no].option.name ? 1 : 0;
	job->options[0] = questions[no].option;
	return job;
}
