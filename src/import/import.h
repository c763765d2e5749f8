/*
 * import/import.h - imports a dump into the base tables of a heap database.
 *
 * The passes are: scan (reads every record once to collect IDs, classes, strings and roots), number
 * (assigns indexes to IDs), resolve (writes objects and references block by block, in index order
 * and on several threads), sizes, publish.
 */
#ifndef IMPORT_IMPORT_H
#define IMPORT_IMPORT_H

#include "base/work.h"

struct import_paths {
	const char *dump;
	const char *database;
	struct base_input *input; /* the dump, if it is already open; the import always closes it */
	/*
	 * for a dump extracted from a file with several dumps: its number, starting at 1, and the
	 * number of dumps in the file; otherwise 0
	 */
	unsigned snapshot, snapshot_count;
};

/*
 * Imports a dump into a database. `work` provides budget, threads and progress. `out` may be NULL.
 */
int import_dump(struct import_paths paths, const struct hdb_import_options *opt,
		struct base_work *work, struct hdb_import_result *out, struct hdb_error *err);

#endif
