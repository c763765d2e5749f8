/*
 * heap/values/value_text.h - values of objects of well-known classes as text, in the format of
 * their toString: strings, numbers, dates, addresses, names.
 *
 * The classes and formats are data, in values.rows. A row is a template:
 *
 *     {path}       the value at a path (known.h) from the object: a number, a string's text, a
 *                  class's name, or the displayed value of another object
 *     {path%04}    a number, with zeros to that width
 *     {path@name}  the result of a function in value_functions.c, called with that value
 *     {@name}      the result of such a function, called with the object itself
 *     <...>        omitted if a value in it is null, missing, empty, zero or negative
 *
 * Rows of one class are tried in order; the first one that has a value to show is used.
 */
#ifndef HEAP_VALUES_VALUE_TEXT_H
#define HEAP_VALUES_VALUE_TEXT_H

#include "heap/known.h"

/* Maximum number of bytes shown of a string in quotes or inside other text. */
#define HEAP_VALUE_STRING 64

struct heap_value_rule {
	const char *class_name; /* may contain "*"; the row also applies to subclasses */
	const char *text;       /* template */
};

/* Returns the table; *count is its number of rows. */
const struct heap_value_rule *heap_value_rules(size_t *count);

/*
 * Writes the displayed value of an object to buf (size bytes, terminated), or "" if the class is
 * unknown. Strings are quoted, and end with "..." if they are truncated. The value of a class
 * object is the name of the class.
 */
void heap_value_text(struct heap *heap, uint32_t ix, char *buf, size_t size);

/*
 * Returns whether the displayed value of objects of a class is just the number in their field
 * `value`, as for boxed and atomic numbers.
 */
bool heap_value_is_number(struct heap *heap, uint32_t class_no);

/* Writes a field or element as text: "12", "true", "'a'", "null", "0x7f00...". */
void heap_basic_text(const struct heap_value *value, char *buf, size_t size);

/* A value to display. For references, `ix` is the object; otherwise, it is HEAP_NONE. */
struct heap_shown {
	struct heap *heap;
	uint32_t ix;
	const struct heap_value *value;
};

/* A template function. Writes its text to buf. Returns false if there is nothing to show. */
typedef bool (*heap_value_function)(const struct heap_shown *o, char *buf, size_t size);
/* Finds a template function by name. Returns NULL if there is none. */
heap_value_function heap_value_function_named(const char *name, size_t name_size);

#endif
