/*
 * import/import.h - from a dump to the base tables of a heap database.
 *
 * Passes: scan (every record once: identifiers, classes, texts, roots), number (IDs get their index), resolve (in
 * index order: objects and references are written block by block on all threads), sizes, publish.
 */
#ifndef IMPORT_IMPORT_H
#define IMPORT_IMPORT_H

#include "base/work.h"

/* Damage that the import finds; the numbers below 100 are hprof's (hprof/walk.h). */
enum import_problem_kind {
	IMPORT_PROBLEM_DUPLICATE_ID = 100,  /* two objects with one ID; the first is kept */
	IMPORT_PROBLEM_MISSING_CLASS,       /* an object whose class is not in the dump; invented */
	IMPORT_PROBLEM_MISSING_SUPER,       /* a super class that is not in the dump; taken as none */
	IMPORT_PROBLEM_SUPER_CYCLE,         /* a class that is its own super class; cut */
	IMPORT_PROBLEM_SHORT_INSTANCE,      /* fewer field bytes than its class has fields */
	IMPORT_PROBLEM_NULL_ID,             /* an object with ID 0; dropped */
	IMPORT_PROBLEM_MISSING_NAME,        /* a class without a name */
	IMPORT_PROBLEM_LONG_TEXT,           /* a text longer than is kept; cut */
	IMPORT_PROBLEM_BAD_FIELD_TYPE,      /* a field of unknown type */
	IMPORT_PROBLEM_CLASS_ID             /* a class whose ID is another object's */
};

/* "duplicate-id", or hprof's name of the kind; static. */
const char *import_problem_name(int kind);

/* Imports `dump_path` to `db_path`. `work` carries budget, threads and progress. */
int import_dump(const char *dump_path, const char *db_path, const struct hdb_import_options *opt,
		struct base_work *work, struct hdb_import_result *out, struct hdb_error *err);

#endif
