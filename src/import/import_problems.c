/*
 * import/import_problems.c - records the problems of a dump, and which data is lost because of
 * them.
 */
#include "import/context.h"

#include <stdarg.h>
#include <stdio.h>

int import_problem(struct import *im, const struct import_trouble *trouble, struct hdb_error *err,
		   const char *format, ...)
{
	struct store_problem problem = {
		.offset = trouble->offset,
		.lost_bytes = trouble->lost_bytes,
		.object_id = trouble->object_id,
		.kind = trouble->kind,
	};
	va_list args;

	im->damage.problem_count++;
	if (im->damage.problems.count >= IMPORT_PROBLEMS_MAX)
		return HDB_OK;
	va_start(args, format);
	(void)vsnprintf(problem.message, sizeof(problem.message), format, args);
	va_end(args);
	return base_vec_push(&im->damage.problems, &problem, sizeof(problem), err);
}

int import_write_problems(struct import *im, struct hdb_error *err)
{
	return store_records_put_all(im->writer, STORE_PROBLEMS, im->damage.problems.data,
				     im->damage.problems.count, err);
}
