/*
 * sqlite/sql_objects.h - private to sqlite: tables of objects, namely their shape (sql_shapes.c),
 * constraints (sql_object_plan.c), rows (sql_objects.c, and sql_object_tree.c for ordered rows) and
 * columns (sql_object_columns.c).
 */
#ifndef SQLITE_SQL_OBJECTS_H
#define SQLITE_SQL_OBJECTS_H

#include "sqlite/sql_private.h"

/* Kinds of columns. Fields of a class follow them. */
enum column {
	C_ID,
	C_CLASS,
	C_KIND,
	C_SHALLOW,
	C_RETAINED,
	C_DOMINATOR,
	C_REACHABLE,
	C_LENGTH,
	C_CLASS_ID,
	C_HEAP,
	C_OFFSET,
	C_REFERRERS, /* number of referrers */
	C_TEXT,
	C_TYPE,    /* element type of a primitive array */
	C_PATTERN, /* instances(): the argument */
	C_SUB,     /* argument of instances(): whether to include subclasses */
	C_FIELD
};

/* Maximum number of classes with one name (one per class loader) whose fields are read. */
#define BASES_MAX 64

/* A table. Modules also use this structure to create a table when a statement names the table. */
struct shape {
	struct sql_table_def def; /* must be first */
	struct sql_source *source;
	char *name;   /* owned */
	int *columns; /* enum column, or C_FIELD + index of a field */
	size_t column_count;
	unsigned kinds;   /* 1 << enum hdb_object_kind; 0 means all */
	uint8_t *classes; /* indexed by class number; NULL means all; owned */
	bool with_sub;
	/* for class tables */
	uint32_t bases[BASES_MAX]; /* classes with the name */
	uint32_t base_count;
	struct hdb_fields *fields[BASES_MAX]; /* fields of each base; owned */
	const struct hdb_field **field_of;    /* [column of the table][base]; owned */
	char *declaration;                    /* sqlite3_free */
};

/*
 * Maximum number of rows that the table returns largest first. If there are more rows, SQLite sorts
 * them.
 */
#define LARGEST_MAX 100000

/* Bits of idxNum. */
enum {
	BY_ID = 1,
	BY_CLASS = 2,
	BY_CLASS_IN = 4,
	BY_CLASS_GLOB = 8,
	BY_KIND = 16,
	BY_REACHABLE = 32,
	BY_DOMINATOR = 64,
	BY_ROWID = 128,
	BY_PATTERN = 256,
	BY_SUB = 512,
	DESCENDING = 1024,
	ID_FROM = 1 << 11, /* id >= or > */
	ID_TO = 1 << 12,   /* id <= or < */
	LARGEST = 1 << 13, /* ORDER BY retained DESC with LIMIT: reads from the top of the dominator
			    * tree */
	BY_CLASS_ID = 1 << 14,
	RETAINED_FROM = 1 << 15, /* retained >= or > */
	MOST_REFERRED = 1 << 16, /* ORDER BY referrers DESC LIMIT */
	SCAN_SHIFT = 20          /* higher bits contain an enum hdb_scan_column */
};

/* The state of a cursor. */
struct objects_cursor {
	struct sql_source *source;
	struct hdb *db;
	const struct shape *shape;
	struct hdb_scan *scan;
	struct hdb_batch batch;
	size_t at;
	/* one object or a list, used instead of a scan */
	uint32_t single;
	struct hdb_list *list;
	const uint32_t *list_ixs;
	size_t list_count, list_at;
	struct hdb_object_facts facts; /* the current object, if it was not scanned */
	uint8_t kind;                  /* facts.kind, in the type of a batch column */
	uint8_t *marks;                /* requested classes; owned */
	unsigned kinds;
	int population;
	uint32_t rest_of; /* remaining range of the search for a single object */
	uint32_t from_ix, end_ix;
	uint64_t retained_from; /* 0 means no constraint */
	/* owned memory of `list_ixs` */
	uint32_t *found;
	/* whether the list contains the largest objects and then objects that retain nothing */
	bool is_largest;
};

/* ---- shapes ---- */

/*
 * Creates a table, which the caller must free with sql_shape_free. Returns NULL if memory is
 * exhausted.
 */
struct shape *sql_shape_new(struct sql_source *source, const char *name);
/* NULL is allowed. */
void sql_shape_free(void *shape);
/*
 * Describes a table of objects that exists in every database. sql_shape_plain returns NULL if
 * memory is exhausted.
 */
struct sql_objects_def {
	const char *name, *help;
	unsigned kinds;         /* 0 means all */
	const char *class_name; /* NULL means all classes */
	int columns[16];        /* enum column, terminated by -1 */
};
#define SQL_OBJECT_TABLES 4
extern const struct sql_objects_def sql_object_tables[SQL_OBJECT_TABLES];
struct shape *sql_shape_plain(struct sql_source *source, const struct sql_objects_def *def);
/* Makes the table of a class, "NAME" or "NAME+". Returns HDB_NOTFOUND if there is no such class. */
int sql_shape_of(struct sql_source *source, const char *name, struct shape **out,
		 struct hdb_error *err);
/* Adds the columns of an announced class. */
int sql_shape_fill(struct shape *s, struct hdb_error *err);

/* ---- constraints ---- */

/* A bit of idxNum, and the text for this bit in EXPLAIN QUERY PLAN. */
struct sql_part {
	int part;
	const char *text;
};
#define SQL_PART_COUNT 13
/* The bits of idxNum, in the order of their arguments. id and rowid come first. */
extern const struct sql_part sql_parts[SQL_PART_COUNT];

int sql_objects_plan(const struct sql_table *table, sqlite3_index_info *info);

/* Makes an object the current row without a scan. */
int sql_object_take(struct objects_cursor *c, uint32_t ix, struct hdb_error *err);

/*
 * Sets the cursor's list to the `wanted` objects that retain most, but at least c->retained_from.
 * Builds the dominator tree if needed.
 */
int sql_objects_largest(struct objects_cursor *c, size_t wanted, struct hdb_error *err);
/*
 * Lists all objects that retain at least c->retained_from (> 0), in the order of their numbers. If
 * there are more than LARGEST_MAX such objects, sets *is_few to false, because a scan is then
 * faster.
 */
int sql_objects_retaining(struct objects_cursor *c, bool is_descending, bool *is_few,
			  struct hdb_error *err);
/* Lists the objects with the most referrers. */
int sql_objects_most_referred(struct objects_cursor *c, unsigned columns, size_t wanted,
			      struct hdb_error *err);

int sql_object_column(struct sql_cursor *cursor, sqlite3_context *ctx, int number,
		      struct hdb_error *err);

#endif
