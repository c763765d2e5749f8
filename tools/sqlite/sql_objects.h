/*
 * sqlite/sql_objects.h - tables of objects, among the files that make them: what a table has
 * (sql_shapes.c), which constraints it takes (sql_object_plan.c), its rows (sql_objects.c; those
 * that come first: sql_object_tree.c) and their columns (sql_object_columns.c). Private to sqlite.
 */
#ifndef SQLITE_SQL_OBJECTS_H
#define SQLITE_SQL_OBJECTS_H

#include "sqlite/sql_private.h"

/* What a column is; fields of a class come after these. */
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
	C_REFERRERS, /* how many */
	C_TEXT,
	C_TYPE,    /* of a primitive array's elements */
	C_PATTERN, /* instances(): the argument */
	C_SUB,     /* instances(): with subclasses; argument */
	C_FIELD
};

/* Classes of one name, one a class loader, whose fields are read. */
#define BASES_MAX 64

/* A table. Also what a module has, from which tables are made when they are named. */
struct shape {
	struct sql_table_def def; /* must be first */
	struct sql_source *source;
	char *name;   /* owned */
	int *columns; /* enum column, C_FIELD + number of a field */
	size_t column_count;
	unsigned kinds;   /* 1 << enum hdb_object_kind; 0: all */
	uint8_t *classes; /* by class number; NULL: all; owned */
	bool with_sub;
	/* class tables */
	uint32_t bases[BASES_MAX]; /* the classes of the name */
	uint32_t base_count;
	struct hdb_fields *fields[BASES_MAX]; /* of each; owned */
	const struct hdb_field **field_of;    /* [column of the table][base]; owned */
	char *declaration;                    /* sqlite3_free */
};

/* Rows that are given largest first; more are sorted by SQLite. */
#define LARGEST_MAX 100000

/* Parts of idxNum. */
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
	LARGEST = 1 << 13, /* ORDER BY retained DESC LIMIT: the dominator tree from its top */
	BY_CLASS_ID = 1 << 14,
	RETAINED_FROM = 1 << 15, /* retained >= or > */
	MOST_REFERRED = 1 << 16, /* ORDER BY referrers DESC LIMIT */
	SCAN_SHIFT = 20          /* enum hdb_scan_column from here on */
};

/* The state of a cursor. */
struct objects_cursor {
	struct sql_source *source;
	struct hdb *db;
	const struct shape *shape;
	struct hdb_scan *scan;
	struct hdb_batch batch;
	size_t at;
	/* objects that are not scanned: one, or a list */
	uint32_t single;
	struct hdb_list *list;
	const uint32_t *list_ixs;
	size_t list_count, list_at;
	struct hdb_object_facts facts; /* of the current object, if it was not scanned */
	uint8_t kind;                  /* the same as facts.kind, for the batch */
	uint8_t *marks;                /* classes that are asked for; owned */
	unsigned kinds;
	int population;
	uint32_t rest_of; /* when looking for one: from, to */
	uint32_t from_ix, end_ix;
	uint64_t retained_from; /* 0: no constraint */
	/* those that retain so much, or come first: what `list_ixs` points to; owned */
	uint32_t *found;
	bool is_largest; /* what retains nothing comes behind them */
};

/* ---- shapes ---- */

/* NULL: no memory. Owned: sql_shape_free. */
struct shape *sql_shape_new(struct sql_source *source, const char *name);
/* NULL is fine. */
void sql_shape_free(void *shape);
/* A table of objects that every database has. NULL: no memory. */
struct sql_objects_def {
	const char *name, *help;
	unsigned kinds;         /* 0: all */
	const char *class_name; /* NULL: of all */
	int columns[16];        /* enum column, ended by -1 */
};
#define SQL_OBJECT_TABLES 4
extern const struct sql_objects_def sql_object_tables[SQL_OBJECT_TABLES];
struct shape *sql_shape_plain(struct sql_source *source, const struct sql_objects_def *def);
/* The table of a class, "NAME" or "NAME+"; HDB_NOTFOUND if there is none. */
int sql_shape_of(struct sql_source *source, const char *name, struct shape **out,
		 struct hdb_error *err);
/* A class that was announced gets its columns. */
int sql_shape_fill(struct shape *s, struct hdb_error *err);

/* ---- constraints ---- */

/* A part of idxNum, and how EXPLAIN QUERY PLAN calls it. */
struct sql_part {
	int part;
	const char *text;
};
#define SQL_PART_COUNT 13
/* In the order in which their values come; id and rowid first. */
extern const struct sql_part sql_parts[SQL_PART_COUNT];

int sql_objects_plan(const struct sql_table *table, sqlite3_index_info *info);

/* Makes an object the current one, which was not scanned. */
int sql_object_take(struct objects_cursor *c, uint32_t ix, struct hdb_error *err);

/*
 * Makes these the cursor's list: the `wanted` objects that retain most, but none that retains less
 * than c->retained_from. The tree's table is built if it is not there.
 */
int sql_objects_largest(struct objects_cursor *c, size_t wanted, struct hdb_error *err);
/*
 * All that retain c->retained_from (1 at least), in order of index. *is_few is false if the
 * dominator tree has more than LARGEST_MAX such objects: a scan finds them sooner.
 */
int sql_objects_retaining(struct objects_cursor *c, bool is_descending, bool *is_few,
			  struct hdb_error *err);
/* Those with most referrers. */
int sql_objects_most_referred(struct objects_cursor *c, unsigned columns, size_t wanted,
			      struct hdb_error *err);

int sql_object_column(struct sql_cursor *cursor, sqlite3_context *ctx, int number,
		      struct hdb_error *err);

#endif
