/*
 * import/import.h - from a dump to the base tables of a heap database.
 *
 * Passes: scan (every record once: identifiers, classes, texts, roots), number (IDs get their
 * index), resolve (in index order: objects and references are written block by block on all
 * threads), sizes, publish.
 */
#ifndef IMPORT_IMPORT_H
#define IMPORT_IMPORT_H

#include "base/work.h"

struct import_paths {
	const char *dump;
	const char *database;
	struct base_input *input; /* the dump, if it is open already; closed whatever comes of it */
	/* of a dump made from a file with several: which one, from 1, and of how many; else 0 */
	unsigned snapshot, snapshot_count;
};

/* Imports a dump to a database. `work` carries budget, threads and progress; `out` may be NULL. */
int import_dump(struct import_paths paths, const struct hdb_import_options *opt,
		struct base_work *work, struct hdb_import_result *out, struct hdb_error *err);

#endif
