/*
 * base/error.h - writing struct hdb_error.
 *
 * Whoever knows the facts writes the message, once; callers pass it up untouched.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "base/try.h"
#include "heapdb.h"

#include <inttypes.h>

/*
 * Writes code and message into err (which may be NULL) and returns the code, so that a failure is
 * one line: return hdb_fail(err, HDB_ETRUNC, "... at offset %" PRIu64, offset).
 */
int hdb_fail(struct hdb_error *err, int code, const char *format, ...) HDB_PRINTF(3, 4);

/* The same with ": " and the text of errno at the end; code HDB_EIO, or HDB_ENOMEM for ENOMEM. */
int hdb_fail_errno(struct hdb_error *err, int errno_value, const char *format, ...)
	HDB_PRINTF(3, 4);

/*
 * The same for a file that was named and cannot be opened: HDB_EABSENT if there is none of that
 * name.
 */
int hdb_fail_open(struct hdb_error *err, int errno_value, const char *path);

/* Writes that message; for hdb_fail_memory alone. */
void hdb_note_memory(struct hdb_error *err, const char *what, uint64_t size_bytes);
/*
 * The message of a failed allocation of `size_bytes` for `what`. Returns HDB_ENOMEM; inline, so
 * that static checkers see that it is always an error.
 */
static inline int hdb_fail_memory(struct hdb_error *err, const char *what, uint64_t size_bytes)
{
	hdb_note_memory(err, what, size_bytes);
	return HDB_ENOMEM;
}

#endif
