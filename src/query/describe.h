/*
 * query/describe.h - texts about objects and references that several queries show.
 */
#ifndef QUERY_DESCRIBE_H
#define QUERY_DESCRIBE_H

#include "heap/values/values.h"
#include "query/query.h"

/*
 * What an object's value is, for people: a string's text in quotes, a boxed number, a thread's
 * name, an enum constant, the class that a class object stands for. "" if it has none that can be
 * told.
 */
void query_describe(struct query *q, uint32_t ix, char *buf, size_t size);

/* A value as text: "12", "true", "'a'", "null", "0x7f00...". Types as in HPROF. */
void query_value_text(const struct heap_value *value, char *buf, size_t size);

/*
 * Sets a text column to a value for people: a number, "null", or the label of the object; and an ID
 * column (SIZE_MAX: none) to that object, if the dump has it.
 */
int query_set_value(struct query *q, size_t text_column, size_t id_column,
		    const struct heap_value *value, struct hdb_error *err);

/*
 * How `from` holds `to`: the names of its fields with commas between, "[3]", "<class>", "<super>",
 * "<class loader>", "static NAME", "<local variable>". Long arrays are searched so far only, then
 * "[?]".
 */
int query_holder(struct query *q, uint32_t from, uint32_t to, char *buf, size_t size,
		 struct hdb_error *err);

/*
 * Sets the columns id, class, label, shallow and retained (the table's, null without it) of an
 * object.
 */
struct query_object_columns {
	size_t id, class, label, shallow, retained; /* SIZE_MAX: none */
};
int query_set_object(struct query *q, const struct query_object_columns *columns, uint32_t ix,
		     struct hdb_error *err);

/* "strong", "soft", "weak", "phantom", "finalizer"; static. */
const char *query_strength_name(uint8_t strength);

/*
 * Retained size from the table, or found locally within the usual limits; *found false if neither
 * does. Builds no dominators.
 */
int query_cheap_retained(struct query *q, uint32_t ix, bool *found, uint64_t *bytes,
			 const char **from, struct hdb_error *err);

#endif
