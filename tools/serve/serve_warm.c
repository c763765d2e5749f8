/*
 * serve/serve_warm.c - implements serve_warm.h.
 */
#include "serve/serve_warm.h"

#include "base/table.h"

#include <assert.h>

#define REQUEST(query, limit, target, option, value) \
	{ \
		query, limit, target, \
		{ \
			option, value \
		} \
	}
static const struct {
	const char *query;
	uint64_t limit;
	const char *target; /* NULL means none */
	struct hdb_option option;
} questions[] = {
#include <serve/serve_warm.rows.h>
};

#define QUESTIONS BASE_COUNT(questions)

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
