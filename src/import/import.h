/*
 * import/import.h - imports a dump into the base tables of a heap database.
 *
 * Passes: scan (reads every record once: IDs, classes, strings, roots), number (assigns indexes to
 * IDs), resolve (in index order; all threads write objects and references block by block), sizes,
 * publish.
 */
#ifndef IMPORT_IMPORT_H
#define IMPORT_IMPORT_H

#include "base/work.h"

struct import_paths {
	const char *dump;
	const char *database;
	struct base_input *input; /* the dump, if it is already open; always closed */
	/*
	 * for a dump extracted from a file with several dumps, its number, starting at 1, and the
	 * number of dumps; otherwise 0
	 */
	unsigned snapshot, snapshot_count;
};

/*
 * Imports a dump into a database. `work` provides budget, threads and progress. `out` may be NULL.
 */
int import_dump(struct import_paths paths, const struct hdb_import_options *opt,
		struct base_work *work, struct hdb_import_result *out, struct hdb_error *err);

#endif
