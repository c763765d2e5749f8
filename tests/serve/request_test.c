/*
 * tests/serve/request_test.c - arguments of requests that the page's server refuses: each with its
 * code and message.
 */
#include "serve/serve_request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct {
	enum serve_kind kind;
	const char *key, *value, *message;
} rows[] = {
	{ SERVE_QUERY, "db", "2", "\"db\" must be the number of a database, 0 to 1" },
	{ SERVE_QUERY, "before", "x", "\"before\" must be the number of a database, 0 to 1" },
	{ SERVE_QUERY, "job", "A", "\"job\" must consist of at most" },
	{ SERVE_QUERY, "job", "", "\"job\" must consist of at most" },
	{ SERVE_QUERY, "frob", "1", "the query explain has no option \"frob\"" },
	{ SERVE_QUERY, "format", "xml", "\"format\" must be csv, json or parquet" },
	{ SERVE_QUERY, "limit", "0", "\"limit\" must be a number of rows, 1 to" },
	{ SERVE_QUERY, "limit", "99999999999999999999",
	  "\"limit\" must be a number of rows, 1 to" },
	{ SERVE_SQL, "sort", "a",
	  "expected \"q\" and optionally \"all\" (1) with a statement, not \"sort\"" },
	{ SERVE_SQL, "all", "2",
	  "expected \"q\" and optionally \"all\" (1) with a statement, not \"all\"" },
	{ SERVE_VALUE, "id", "12", "\"id\" must be an object ID such as 0x12c4" },
	{ SERVE_VALUE, "id", "0x", "\"id\" must be an object ID such as 0x12c4" },
	{ SERVE_VALUE, "id", "0x12345678901234567", "\"id\" must be an object ID such as 0x12c4" },
	{ SERVE_VALUE, "width", "1", "unknown argument \"width\"" },
	{ SERVE_VALUE, "from", "-1", "\"from\" must be a number of elements" },
	{ SERVE_BITMAP, "width", "4294967296", "\"width\" must be a number of elements" },
	{ SERVE_BITMAP, "from", "1", "unknown argument \"from\"" },
};

static struct serve_job *new_job(enum serve_kind kind)
{
	struct serve_job *job = calloc(1, sizeof(*job));

	assert_non_null(job);
	job->kind = kind;
	job->fd = -1;
	job->spec = kind == SERVE_QUERY ? hdb_query_named("explain") : NULL;
	return job;
}

static void check(int r, const struct hdb_error *err, const char *message)
{
	if (r != HDB_EUSAGE || !strstr(err->message, message))
		fail_msg("%d \"%s\", expected \"%s\"", r, err->message, message);
}

static void test_arguments(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct serve_job *job = new_job(rows[i].kind);
		struct hdb_error err = { 0 };

		check(serve_request_argument(job, 2, rows[i].key, rows[i].value, &err), &err,
		      rows[i].message);
		serve_job_free(job);
	}
}

/* Switches with a value, and arguments that occur too often. */
static void test_many(void **state)
{
	struct serve_job *job = new_job(SERVE_QUERY);
	struct hdb_error err = { 0 };
	int r = HDB_OK;

	(void)state;
	job->spec = hdb_query_named("histogram");
	check(serve_request_argument(job, 1, "shallow", "no", &err), &err,
	      "the option \"shallow\" is a switch and takes no value");
	for (unsigned i = 0; r == HDB_OK && i < 1000; i++)
		r = serve_request_argument(job, 1, "shallow", "1", &err);
	check(r, &err, " options");
	for (r = HDB_OK; r == HDB_OK;)
		r = serve_request_argument(job, 1, "target", "a.B", &err);
	check(r, &err, "too many targets");
	for (r = HDB_OK; r == HDB_OK;)
		r = serve_request_argument(job, 1, "before", "0", &err);
	check(r, &err, " databases");
	serve_job_free(job);
}

static void test_missing(void **state)
{
	struct serve_job *sql = new_job(SERVE_SQL), *value = new_job(SERVE_VALUE);
	struct hdb_error err = { 0 };

	(void)state;
	check(serve_request_check(sql, &err), &err, "missing parameter \"q\" (an SQL statement)");
	check(serve_request_check(value, &err), &err, "missing parameter \"id\" (an object ID)");
	serve_job_free(sql);
	serve_job_free(value);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
