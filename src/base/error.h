/*
 * base/error.h - functions that fill in struct hdb_error.
 *
 * The function that knows the facts writes the message, once. Its callers pass the error up
 * unchanged.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "base/table.h"
#include "base/try.h"
#include "heapdb.h"

#include <inttypes.h>

/*
 * Writes the code and the message to err (which may be NULL) and returns the code, so that a
 * failing function ends in one line: return hdb_fail(err, HDB_ETRUNC, "... at offset %" PRIu64,
 * offset).
 */
int hdb_fail(struct hdb_error *err, int code, const char *format, ...) HDB_PRINTF(3, 4);

/*
 * Like hdb_fail, but appends ": " and the text of errno. The code is HDB_EIO, or HDB_ENOMEM for
 * ENOMEM.
 */
int hdb_fail_errno(struct hdb_error *err, int errno_value, const char *format, ...)
	HDB_PRINTF(3, 4);

/*
 * Like hdb_fail_errno, for a file that the user named and that cannot be opened. The code is
 * HDB_EABSENT if the file does not exist.
 */
int hdb_fail_open(struct hdb_error *err, int errno_value, const char *path);

/* Writes the message for hdb_fail_memory, its only caller. */
void hdb_note_memory(struct hdb_error *err, const char *what, uint64_t size_bytes);
/*
 * Reports a failed allocation of `size_bytes` for `what`. Returns HDB_ENOMEM. It is inline so that
 * static analysers see that the result is always an error.
 */
static inline int hdb_fail_memory(struct hdb_error *err, const char *what, uint64_t size_bytes)
{
	hdb_note_memory(err, what, size_bytes);
	return HDB_ENOMEM;
}

#endif
