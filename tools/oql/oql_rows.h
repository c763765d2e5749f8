/*
 * oql/oql_rows.h - what the rows of a SELECT are made of: the SELECTs of its UNION one after the
 * other (oql_part.c), their groups (oql_group.c), their order (oql_order.c). oql_select.c has them
 * all. Functions return result codes, HDB_END after the last row.
 */
#ifndef OQL_OQL_ROWS_H
#define OQL_OQL_ROWS_H

#include "oql/oql_eval.h"

struct oql_group;

/* One SELECT of a union. */
struct oql_part {
	const struct oql_select *select;
	struct oql_source *source; /* owned */
	struct oql_frame frame;    /* of its row */
	struct oql_arena arena;    /* of its row */
	uint64_t *retained;        /* bits by object; owned; NULL: no AS RETAINED SET */
	uint64_t next_ix;          /* in it */
	struct oql_value pending;  /* of SELECT OBJECTS: a list that is being taken apart */
	size_t pending_at, item;   /* in it; the item that comes next */
	bool has_row;              /* frame.current is a row whose items are not all taken */
	struct oql_keys keys;      /* of DISTINCT, or of GROUP BY */
	/* of what is in `kept` */
	BASE_VEC_AS(group_vec, struct oql_group *, groups, group_count);
	size_t group_at;
	bool is_grouped;
	struct oql_value *aggregates; /* in `kept` */
	struct oql_arena kept;        /* as long as the part */
	uint64_t rows;                /* that were made */
};

/* How rows are ordered. */
struct oql_order_key {
	const struct oql_expr *expr; /* NULL: by the column */
	size_t column;
	bool is_descending;
	bool is_natural; /* numbers descending, texts ascending; is_descending turns it */
};

struct oql_sorted_row {
	uint64_t no; /* in the order in which they came */
	struct oql_value *keys, *values;
};

struct oql_rows {
	struct oql_eval *ev;
	const struct oql_frame *outer;
	const struct oql_select *first;
	struct oql_part part;          /* the one that is being read */
	const struct oql_select *next; /* the part after it */
	size_t width;                  /* values of a row */
	bool are_values;               /* of SELECT * and OBJECTS: one value, without a name */
	struct oql_str *names;
	struct oql_value *values; /* of the row */
	struct oql_order_key *orders;
	size_t order_count;
	struct oql_value *keys;        /* of the row */
	uint64_t limit, offset, taken; /* limit: as the statement has it; UINT64_MAX: none */
	uint64_t wanted;               /* rows that are needed, offset included; 0: all */
	struct oql_arena arena;        /* as long as the rows */
	/* ORDER BY */
	BASE_VEC_AS(sorted_vec, struct oql_sorted_row, sorted, sorted_count);
	size_t sorted_at;
	struct oql_arena sorted_arena;
	bool is_sorted;
};

/* ---- oql_part.c ---- */

/* Starts rows->part with a SELECT. It is to be closed, also after a failure. */
int oql_part_open(struct oql_rows *rows, const struct oql_select *select);
void oql_part_close(struct oql_part *p);

/* The next row of FROM that WHERE lets through, as p->frame.current. */
int oql_part_current(struct oql_rows *rows, struct oql_part *p);

/* The columns of that row, into rows->values. */
int oql_part_cells(struct oql_rows *rows, struct oql_part *p);

/* The next row of the union, into rows->values, in no order. */
int oql_parts_next(struct oql_rows *rows);

/* ---- oql_group.c ---- */

/* The next row of a SELECT with GROUP BY or aggregates, into rows->values. */
int oql_group_next(struct oql_rows *rows, struct oql_part *p);

/* ---- oql_order.c ---- */

/* The number of the column of that name; false: there is none. */
bool oql_rows_column(const struct oql_rows *rows, struct oql_str name, size_t *column);

/* What ORDER BY names. HDB_EUSAGE for what is no column. */
int oql_order_resolve(struct oql_rows *rows);

/* The next row in order; *values are borrowed until oql_rows_close. */
int oql_order_next(struct oql_rows *rows, const struct oql_value **values);

#endif
