/*
 * oql/oql_rows.h - rows of a SELECT: the SELECTs of its UNION in turn (oql_part.c), groups
 * (oql_group.c) and order (oql_order.c), combined in oql_select.c. Functions return result codes,
 * HDB_END after the last row.
 */
#ifndef OQL_OQL_ROWS_H
#define OQL_OQL_ROWS_H

#include "oql/oql_eval.h"

struct oql_group;

/* One SELECT of a union. */
struct oql_part {
	const struct oql_select *select;
	struct oql_source *source; /* owned */
	struct oql_frame frame;    /* frame of the current row */
	struct oql_arena arena;    /* memory of the current row */
	uint64_t *retained;        /* bit set by object; owned; NULL if the statement has no AS
				    * RETAINED SET */
	uint64_t next_ix;          /* next object in the set */
	struct oql_value pending;  /* for SELECT OBJECTS, the list being expanded */
	size_t pending_at, item;   /* position in the list, and next item */
	bool has_row;              /* whether frame.current has items that were not consumed */
	struct oql_keys keys;      /* keys for DISTINCT or GROUP BY */
	/* groups, allocated in `kept` */
	BASE_VEC_AS(group_vec, struct oql_group *, groups, group_count);
	size_t group_at;
	bool is_grouped;
	struct oql_value *aggregates; /* allocated in `kept` */
	struct oql_arena kept;        /* lives as long as the part */
	uint64_t rows;                /* number of rows produced */
};

/* A sort key. */
struct oql_order_key {
	const struct oql_expr *expr; /* NULL means use the column */
	size_t column;
	bool is_descending;
	bool is_natural; /* whether numbers are descending and strings ascending, which
			  * is_descending reverses */
};

struct oql_sorted_row {
	uint64_t no; /* insertion order, for a stable sort */
	struct oql_value *keys, *values;
};

struct oql_rows {
	struct oql_eval *ev;
	const struct oql_frame *outer;
	const struct oql_select *first;
	struct oql_part part;          /* the current part */
	const struct oql_select *next; /* the part after it */
	size_t width;                  /* number of values in a row */
	/* whether each row is one unnamed value: SELECT * or OBJECTS */
	bool are_values;
	struct oql_str *names;
	struct oql_value *values; /* values of the current row */
	struct oql_order_key *orders;
	size_t order_count;
	struct oql_value *keys; /* keys of the current row */
	/* maximum number of rows, from the statement; UINT64_MAX means no limit */
	uint64_t limit, offset, taken;
	uint64_t wanted;        /* number of rows needed, including skipped ones; 0 means all */
	struct oql_arena arena; /* lives as long as the rows */
	/* rows kept for ORDER BY */
	BASE_VEC_AS(sorted_vec, struct oql_sorted_row, sorted, sorted_count);
	size_t sorted_at;
	struct oql_arena sorted_arena;
	bool is_sorted;
};

/* ---- oql_part.c ---- */

/* Starts rows->part with a SELECT. The caller must close the part even after a failure. */
int oql_part_open(struct oql_rows *rows, const struct oql_select *select);
void oql_part_close(struct oql_part *p);

/* Advances to the next row that satisfies WHERE, as p->frame.current. */
int oql_part_current(struct oql_rows *rows, struct oql_part *p);

/* Computes the columns of the row into rows->values. */
int oql_part_cells(struct oql_rows *rows, struct oql_part *p);

/* Returns the next row of the union in rows->values, unsorted. */
int oql_parts_next(struct oql_rows *rows);

/* ---- oql_group.c ---- */

/* Returns the next row of a SELECT with GROUP BY or aggregates in rows->values. */
int oql_group_next(struct oql_rows *rows, struct oql_part *p);

/* ---- oql_order.c ---- */

/* Finds the index of a column by name. Returns false if no column has this name. */
bool oql_rows_column(const struct oql_rows *rows, struct oql_str name, size_t *column);

/* Resolves the keys of ORDER BY. Fails with HDB_EUSAGE for unknown columns. */
int oql_order_resolve(struct oql_rows *rows);

/* Returns the next row in order; *values are borrowed until oql_rows_close. */
int oql_order_next(struct oql_rows *rows, const struct oql_value **values);

#endif
