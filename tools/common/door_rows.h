/*
 * common/door_rows.h - rows of an answer that are closed where their scope ends.
 */
#ifndef COMMON_DOOR_ROWS_H
#define COMMON_DOOR_ROWS_H

#include "base/scope.h"
#include "heapdb.h"

/* Before a declaration of rows, which may be NULL: closes them where their scope ends. */
#define DOOR_ROWS BASE_SCOPED(door_rows_close_at) struct hdb_rows
static inline void door_rows_close_at(struct hdb_rows **rows)
{
	hdb_rows_close(*rows);
}

#endif
