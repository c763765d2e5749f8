/*
 * support/hostile.h - shared by the tests of hostile input: small dumps with a bit of everything,
 * and one number that represents all answers of a database.
 *
 * `make test` runs a short form of these tests. HEAPDB_HOSTILE=long in the environment selects the
 * long form (`make hostile`).
 */
#ifndef SUPPORT_HOSTILE_H
#define SUPPORT_HOSTILE_H

#include "heapdb.h"

#include "support/hprof_writer.h"

#include <stdbool.h>

/*
 * Whether the program contains a sanitizer that reserves its own memory, which makes memory limits
 * useless.
 */
#if defined(__has_feature)
#define HOSTILE_HAS_SANITIZER (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HOSTILE_HAS_SANITIZER 1
#else
#define HOSTILE_HAS_SANITIZER 0
#endif

/* Whether the long form is requested. */
bool hostile_is_long(void);

/*
 * Ends the process (SIGPROF) after this many more seconds of processor time; 0 removes the limit.
 * Elapsed time is not limited, because tests run on busy machines. The test runner ends a process
 * that waits forever.
 */
void hostile_seconds(unsigned seconds);

/*
 * Returns the name of a file that only this process uses, in a memory file system if possible,
 * because thousands of files are written and synced. The caller must remove the file.
 */
void hostile_path(char *buf, size_t size, const char *name);

/* The kinds of small dumps. Each contains every record and sub-record of its format. */
enum hostile_dump { HOSTILE_JAVA8, HOSTILE_JAVA4, HOSTILE_ANDROID };

/*
 * Writes such a dump of 1 to 2 KB, plus `extra` objects that form a graph. Release it with
 * hw_release.
 */
void hostile_dump(struct hw *w, enum hostile_dump kind, unsigned extra);

/*
 * Runs every query that needs no target, and queries about each of the first objects by ID. Builds
 * all tables that they need. *hash is a hash of all answers. Returns HDB_OK or the first failure.
 */
int hostile_answers(const char *db_path, const char *dump_path, uint64_t *hash,
		    struct hdb_error *err);

/*
 * Runs one of HOSTILE_PARTS parts of these queries; 0: all queries. If tables are missing, the hash
 * is reproducible only for all queries.
 */
#define HOSTILE_PARTS 8
int hostile_answers_part(const char *db_path, const char *dump_path, unsigned part, uint64_t *hash,
			 struct hdb_error *err);

/* Checks the whole database. Returns HDB_OK, HDB_NOTFOUND if a check fails, or a failure. */
int hostile_check(const char *db_path, const char *dump_path, struct hdb_error *err);

#endif
