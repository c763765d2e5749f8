/*
 * support/hostile.h - what the campaigns against hostile input share: small dumps with a bit of
 * everything, and one number that stands for all answers of a database.
 *
 * The campaigns run a short form in `make test`; HEAPDB_HOSTILE=long in the environment asks for
 * all of it (`make hostile`).
 */
#ifndef SUPPORT_HOSTILE_H
#define SUPPORT_HOSTILE_H

#include "heapdb.h"

#include "support/hprof_writer.h"

#include <stdbool.h>

/*
 * Whether a sanitizer is compiled in that reserves memory of its own, so that limits of memory say
 * nothing.
 */
#if defined(__has_feature)
#define HOSTILE_HAS_SANITIZER (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HOSTILE_HAS_SANITIZER 1
#else
#define HOSTILE_HAS_SANITIZER 0
#endif

/* Whether the long form is asked for. */
bool hostile_is_long(void);

/*
 * Ends the process (SIGPROF) once it has used so many more seconds of processor time; 0: no more.
 * Not seconds of the clock, for tests run on busy machines; who waits for ever is ended by the
 * runner.
 */
void hostile_seconds(unsigned seconds);

/*
 * A file name of this process's own, on memory where there is such a thing, for thousands of files
 * are written and synced. To be removed by the caller.
 */
void hostile_path(char *buf, size_t size, const char *name);

/* The kinds of small dumps: every record and sub-record that their format has. */
enum hostile_dump { HOSTILE_JAVA8, HOSTILE_JAVA4, HOSTILE_ANDROID };

/*
 * Writes such a dump of some 1 to 2 KB, with `extra` more objects in a graph. hw_release frees.
 */
void hostile_dump(struct hw *w, enum hostile_dump kind, unsigned extra);

/*
 * Asks a database everything that can be asked without naming anything, and each of the first
 * objects by ID, and builds all tables that it takes. *hash stands for all that was answered.
 * HDB_OK, or the first failure.
 */
int hostile_answers(const char *db_path, const char *dump_path, uint64_t *hash,
		    struct hdb_error *err);

/*
 * The same of one part of the questions in HOSTILE_PARTS; 0: of all. Where tables are missing, only
 * all of them give the same hash each time.
 */
#define HOSTILE_PARTS 8
int hostile_answers_part(const char *db_path, const char *dump_path, unsigned part, uint64_t *hash,
			 struct hdb_error *err);

/* The check of the whole database: HDB_OK, HDB_NOTFOUND if it counts failures, or a failure. */
int hostile_check(const char *db_path, const char *dump_path, struct hdb_error *err);

#endif
