/*
 * common/fail.h - how doors that are more than a client of one answer report failures: as the
 * library does, which keeps its own function for itself.
 */
#ifndef COMMON_FAIL_H
#define COMMON_FAIL_H

#include "base/scope.h"
#include "base/try.h"
#include "heapdb.h"

/* Writes a message into `err`, which may be NULL, and returns `code`. */
int door_fail(struct hdb_error *err, int code, const char *format, ...) HDB_PRINTF(3, 4);

/* Points at `count` zeroed elements: HDB_OK, or HDB_ENOMEM, "no memory for ..." (a literal). */
#define DOOR_ALLOC(pointer, count, what, err) \
	(((pointer) = calloc((count), sizeof(*(pointer)))) ? \
		 HDB_OK : \
		 door_fail((err), HDB_ENOMEM, "no memory for " what))

/* Before a declaration of rows, which may be NULL: closes them where their scope ends. */
#define DOOR_ROWS BASE_SCOPED(door_rows_close_at) struct hdb_rows
static inline void door_rows_close_at(struct hdb_rows **rows)
{
	hdb_rows_close(*rows);
}

#endif
