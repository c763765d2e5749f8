/*
 * common/door_rows.h - closes rows at the end of their scope.
 */
#ifndef COMMON_DOOR_ROWS_H
#define COMMON_DOOR_ROWS_H

#include "base/scope.h"
#include "heapdb.h"

/* Declares rows, possibly NULL, that are closed at the end of their scope. */
#define DOOR_ROWS BASE_SCOPED(door_rows_close_at) struct hdb_rows
BASE_CLOSER(door_rows_close_at, struct hdb_rows, hdb_rows_close)

#endif
