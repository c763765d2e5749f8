/* query/object_cells.h - sets cells that describe objects, classes and groups of objects. */
#ifndef QUERY_OBJECT_CELLS_H
#define QUERY_OBJECT_CELLS_H

#include "analysis/groups.h"
#include "heap/values/values.h"
#include "query/query.h"

/*
 * Sets a text column to a value: a number, "null", or the label of the object that a reference
 * leads to. If that object is in the dump, also sets an ID column (SIZE_MAX if none) to its ID.
 */
void query_set_value(struct query *q, size_t text_column, size_t id_column,
		     const struct heap_value *value);

/* Columns that describe an object. */
struct query_object_columns {
	size_t id, class, label, shallow, retained; /* SIZE_MAX means none */
};
void query_set_object(struct query *q, const struct query_object_columns *columns, uint32_t ix);

/* Sets a text column to the name of a group. */
void query_set_group(struct query *q, size_t column, const struct analysis_groups *groups,
		     const struct derive_total *total);

/*
 * Sets the columns that identify a group: the ID of its class object or class loader, and, for a
 * class, its class loader. The boot loader has no ID; packages have neither.
 */
void query_set_group_objects(struct query *q, size_t id_column, size_t loader_column,
			     const struct analysis_groups *groups,
			     const struct derive_total *total);

#endif
