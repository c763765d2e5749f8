/*
 * query/object_cells.h - cells about objects, classes and groups of them that several queries have.
 */
#ifndef QUERY_OBJECT_CELLS_H
#define QUERY_OBJECT_CELLS_H

#include "analysis/groups.h"
#include "heap/values/values.h"
#include "query/query.h"

/*
 * Sets a text column to a value for people: a number, "null", or the label of the object; and an ID
 * column (SIZE_MAX: none) to that object, if the dump has it.
 */
void query_set_value(struct query *q, size_t text_column, size_t id_column,
		     const struct heap_value *value);

/*
 * Sets the columns id, class, label, shallow and retained (the table's, null without it) of an
 * object.
 */
struct query_object_columns {
	size_t id, class, label, shallow, retained; /* SIZE_MAX: none */
};
void query_set_object(struct query *q, const struct query_object_columns *columns, uint32_t ix);

/* Sets a text column to the group's name. */
void query_set_group(struct query *q, size_t column, const struct analysis_groups *groups,
		     const struct derive_total *total);

/*
 * Sets the columns of a group's class or loader object, and of a class's loader: its name, with its
 * ID unless it is the boot loader. Packages have neither.
 */
void query_set_group_objects(struct query *q, size_t id_column, size_t loader_column,
			     const struct analysis_groups *groups,
			     const struct derive_total *total);

#endif
