/*
 * heap/known.h - fields of known classes by name, fast, and what is remembered of classes while a
 * heap is open: places of fields, which row of the tables of known classes a class has.
 *
 * For analyses that read the same few fields of millions of objects. Paths are names with dots
 * between ("map.size"), with alternatives for other versions of a class ("elementData|array"): the
 * first whose first field is there counts.
 */
#ifndef HEAP_KNOWN_H
#define HEAP_KNOWN_H

#include "heap/values/values.h"

/* An instance that the dump has, ready to be read. */
struct heap_instance {
	uint32_t ix;
	uint32_t class_no;
	uint64_t body_offset; /* of its field values, in the dump */
	uint64_t body_size;
};

/* Opens the dump, too. HDB_NOTFOUND if ix is no instance or the dump lacks it. */
int heap_instance_open(struct heap *heap, uint32_t ix, struct heap_instance *out,
		       struct hdb_error *err);

/* Whether instances of class_no have the first field of the path (or of one alternative). */
bool heap_has_path(struct heap *heap, uint32_t class_no, uint32_t start_no, const char *path);

/* HPROF's type of the first field of a path; 0 if instances of class_no have no such field. */
uint8_t heap_path_type(struct heap *heap, uint32_t class_no, uint32_t start_no, const char *path);

/*
 * Where instances of class_no keep the field that is a path, for reading it on other threads: bytes
 * from the start of the field values, and HPROF's type. HDB_NOTFOUND if they have none, or if the
 * path follows references.
 */
struct heap_place {
	uint32_t at;
	uint8_t type;
};
int heap_path_place(struct heap *heap, uint32_t class_no, const char *path, struct heap_place *out,
		    struct hdb_error *err);

/* An object as an instance of a class of its line: what classes below that declare is not seen. */
struct heap_as {
	uint32_t ix;
	uint32_t class_no; /* HEAP_NONE: of its own class */
};

/*
 * The value at the end of a path from an object. Only the first field is sought from that class on.
 * HDB_NOTFOUND if a field is missing, or a reference on the way is null or not in the dump. `path`
 * "" is the object itself.
 */
int heap_path_value_as(struct heap *heap, struct heap_as from, const char *path,
		       struct heap_value *out, struct hdb_error *err);

/* The object at the end: HDB_NOTFOUND also if it is null or not in the dump. */
int heap_path_object_as(struct heap *heap, struct heap_as from, const char *path, uint32_t *target,
			struct hdb_error *err);

/* The number at the end, sign extended; HDB_NOTFOUND also if it is no whole number. */
int heap_path_number_as(struct heap *heap, struct heap_as from, const char *path, int64_t *out,
			struct hdb_error *err);

/* The same for objects as instances of their own classes. */
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

/* A value as a number: false for references, floats and doubles. */
bool heap_value_number(const struct heap_value *value, int64_t *out);

/*
 * The object in a static field, "java.util.ImmutableCollections.EMPTY": of the first class of this
 * name that has it. HDB_NOTFOUND if there is none.
 */
int heap_static_object(struct heap *heap, const char *class_and_field, uint32_t *target,
		       struct hdb_error *err);
/* The same as a value of any type. */
int heap_static_value(struct heap *heap, const char *class_and_field, struct heap_value *out,
		      struct hdb_error *err);

/* ---- rows of tables of known classes ---- */

/* Tables that are looked up by class; each remembers one row a class. */
enum heap_known_table { HEAP_KNOWN_COLLECTIONS, HEAP_KNOWN_VALUES, HEAP_KNOWN_TABLES };

/* Whether row number `row`, which names class_no, is for this version of the class: its fields. */
typedef bool (*heap_row_fits)(struct heap *heap, uint32_t row, uint32_t class_no);

/* The rows of a table. */
struct heap_known_rows {
	enum heap_known_table table;
	/*
	 * the class name of a row, NULL past the last; a name that ends in or holds "*" is a
	 * pattern
	 */
	const char *(*name)(uint32_t row);
	heap_row_fits fits;
};

struct heap_known_row {
	uint32_t row;      /* number in the table, HEAP_NONE: no row is for this class */
	uint32_t class_no; /* the class that the row names: the class itself or a superclass */
};

/*
 * The row for a class: the first of those that name the class and fit, else of those that name its
 * superclass, and so on. Remembered; false if memory ran out or there is none.
 */
bool heap_known_row(struct heap *heap, const struct heap_known_rows *rows, uint32_t class_no,
		    struct heap_known_row *out);

/* Frees what heap_close frees; NULL is fine. */
struct heap_known;
void heap_known_free(struct heap_known *known);

#endif
