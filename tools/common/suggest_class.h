/*
 * common/suggest_class.h - suggests a class of a database for an unknown name.
 */
#ifndef COMMON_SUGGEST_CLASS_H
#define COMMON_SUGGEST_CLASS_H

#include "heapdb.h"

/* Calls base_suggest_class with the classes of `db`. The result is borrowed until hdb_close. */
const char *suggest_class(struct hdb *db, const char *wanted);

#endif
