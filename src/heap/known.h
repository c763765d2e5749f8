/*
 * heap/known.h - fast access by name to fields of known classes. While a heap is open, facts about
 * classes are cached: positions of fields, and the row of each class in the tables of known
 * classes.
 *
 * These functions are for analyses that read a few fields of millions of objects. A path is a list
 * of field names separated by dots ("map.size"). It may have alternatives for different versions of
 * a class ("elementData|array"); the first alternative whose first field exists is used.
 */
#ifndef HEAP_KNOWN_H
#define HEAP_KNOWN_H

#include "heap/values/values.h"

/* An instance that can be read from the dump. */
struct heap_instance {
	uint32_t ix;
	uint32_t class_no;
	uint64_t body_offset; /* offset of its field values in the dump */
	uint64_t body_size;
};

/*
 * Opens an instance, and the dump if necessary. Returns HDB_NOTFOUND if ix is not an instance or
 * the dump does not contain it.
 */
int heap_instance_open(struct heap *heap, uint32_t ix, struct heap_instance *out,
		       struct hdb_error *err);

/*
 * Returns whether instances of class_no have the first field of a path or of one of its
 * alternatives.
 */
bool heap_has_path(struct heap *heap, uint32_t class_no, uint32_t start_no, const char *path);

/* Returns the HPROF type of the first field of a path, or 0 if instances of class_no lack it. */
uint8_t heap_path_type(struct heap *heap, uint32_t class_no, uint32_t start_no, const char *path);

/*
 * Finds the field values of the instance whose record is at `offset`. Sets body_offset and
 * body_size, or sets body_offset to 0 if no instance is there.
 */
int heap_instance_read(struct heap *heap, struct base_view *view, uint64_t offset,
		       struct heap_instance *out, struct hdb_error *err);

/* Position of a field in the field values of an instance. */
struct heap_place {
	uint64_t at;
	uint8_t type; /* HPROF type */
	uint8_t size; /* size in bytes, or 0 if there is no such field */
};

/*
 * Reads a field through any view of the dump. May be called on any thread. Sets out->type to 0 if
 * the field does not exist, or if the instance is too short (the import reports such instances).
 */
int heap_place_value(struct base_view *view, const struct heap_instance *instance,
		     struct heap_place place, struct heap_value *out, struct hdb_error *err);

/*
 * Finds the position of a field in instances of class_no. Returns HDB_NOTFOUND if the field does
 * not exist, or if the path follows references.
 */
int heap_path_place(struct heap *heap, uint32_t class_no, const char *path, struct heap_place *out,
		    struct hdb_error *err);

/*
 * An object seen as an instance of one of its superclasses, which hides the fields of subclasses.
 */
struct heap_as {
	uint32_t ix;
	uint32_t class_no; /* HEAP_NONE means its own class */
};

/*
 * Reads the value at the end of a path. Only the first field is searched from the given class. A
 * path of "" means the object itself. Returns HDB_NOTFOUND if a field is missing, or if a reference
 * on the path is null or leads to an object that is not in the dump.
 */
int heap_path_value_as(struct heap *heap, struct heap_as from, const char *path,
		       struct heap_value *out, struct hdb_error *err);

/*
 * Finds the object at the end of a path. Also returns HDB_NOTFOUND if the reference is null or the
 * object is not in the dump.
 */
int heap_path_object_as(struct heap *heap, struct heap_as from, const char *path, uint32_t *target,
			struct hdb_error *err);

/*
 * Reads the number at the end of a path, sign-extended. Also returns HDB_NOTFOUND if the value is
 * not an integer.
 */
int heap_path_number_as(struct heap *heap, struct heap_as from, const char *path, int64_t *out,
			struct hdb_error *err);

/* Like heap_path_value_as, starting at the object's own class. */
static inline int heap_path_value(struct heap *heap, uint32_t ix, const char *path,
				  struct heap_value *out, struct hdb_error *err)
{
	return heap_path_value_as(heap, (struct heap_as){ ix, HEAP_NONE }, path, out, err);
}

static inline int heap_path_object(struct heap *heap, uint32_t ix, const char *path,
				   uint32_t *target, struct hdb_error *err)
{
	return heap_path_object_as(heap, (struct heap_as){ ix, HEAP_NONE }, path, target, err);
}

static inline int heap_path_number(struct heap *heap, uint32_t ix, const char *path, int64_t *out,
				   struct hdb_error *err)
{
	return heap_path_number_as(heap, (struct heap_as){ ix, HEAP_NONE }, path, out, err);
}

/* Converts a value to a number. Returns false for references, floats and doubles. */
bool heap_value_number(const struct heap_value *value, int64_t *out);

/*
 * Finds the object in a static field such as "java.util.ImmutableCollections.EMPTY". If several
 * classes have this name, uses the first class that has the field. Returns HDB_NOTFOUND if there is
 * no object.
 */
int heap_static_object(struct heap *heap, const char *class_and_field, uint32_t *target,
		       struct hdb_error *err);
/* Reads the value of a static field of any type. */
int heap_static_value(struct heap *heap, const char *class_and_field, struct heap_value *out,
		      struct hdb_error *err);

/* ---- rows in tables of known classes ---- */

/* Tables with rows by class. The row of each class is cached per table. */
enum heap_known_table { HEAP_KNOWN_COLLECTIONS, HEAP_KNOWN_VALUES, HEAP_KNOWN_TABLES };

/*
 * Returns whether a row that names class_no fits this version of the class, judging by its fields.
 */
typedef bool (*heap_row_fits)(struct heap *heap, uint32_t row, uint32_t class_no);

/* A table of known classes. */
struct heap_known_rows {
	enum heap_known_table table;
	/*
	 * returns the class name of a row, or NULL after the last row; a name with "*" is a pattern
	 */
	const char *(*name)(uint32_t row);
	heap_row_fits fits;
};

struct heap_known_row {
	uint32_t row;      /* row number, or HEAP_NONE if no row matches */
	uint32_t class_no; /* the class named by the row: the class itself or a superclass */
};

/*
 * Finds the row of a class: the first matching row for the class itself, else for its superclass,
 * and so on. Caches the result. Returns false if no row matches or memory is exhausted.
 */
bool heap_known_row(struct heap *heap, const struct heap_known_rows *rows, uint32_t class_no,
		    struct heap_known_row *out);

/* Called by heap_close. `known` may be NULL. */
struct heap_known;
void heap_known_free(struct heap_known *known);

#endif
