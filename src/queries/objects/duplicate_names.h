/*
 * queries/objects/duplicate_names.h - names shared by several classes. Implemented in
 * q_duplicate_classes.c.
 */
#ifndef QUERIES_OBJECTS_DUPLICATE_NAMES_H
#define QUERIES_OBJECTS_DUPLICATE_NAMES_H

#include "query/query.h"

/* Counts the names that several classes have. */
int query_count_duplicates(struct query *q, uint64_t *names, struct hdb_error *err);

#endif
