/*
 * common/own_answer.h - answers that do not come from a query: rows and facts of a series, a
 * process or a recording. The command line prints them in every format. The web page and the MCP
 * server return JSON.
 */
#ifndef COMMON_OWN_ANSWER_H
#define COMMON_OWN_ANSWER_H

#include "heapdb.h"

#include "common/output.h"

#include <stdbool.h>

/* Source of rows that do not come from a query. */
struct row_source {
	void *ctx;
	size_t count;                                  /* number of columns */
	int (*next)(void *ctx, struct hdb_error *err); /* like hdb_rows_next */
	const struct hdb_column *columns;              /* borrowed */
	const struct hdb_value *cells;                 /* cells of the current row; borrowed */
	uint64_t row_count;                            /* number of rows, or 0 if `total` must be
						        * called */
	/* like hdb_rows_total; NULL if the number is unknown */
	int (*total)(void *ctx, uint64_t *total, struct hdb_error *err);
};

/* A fact that does not come from a query. */
struct own_fact {
	struct hdb_column column;
	struct hdb_value value;
};

#define OWN_FACTS_MAX 16

/* An answer: rows and facts. The rows can be read once. */
struct own_answer {
	const char *name; /* value of "query" in JSON */
	struct row_source source;
	struct own_fact facts[OWN_FACTS_MAX];
	size_t fact_count;
	char notice[1024]; /* further information for the user, or "" */
};

/* Makes a text cell (borrowed; null if NULL or empty), or a number. */
struct hdb_value text_value(const char *text);
struct hdb_value number_value(enum hdb_type type, uint64_t u);
/* Makes a number cell. 0 means that the number is unknown, and becomes a null cell. */
struct hdb_value known_value(enum hdb_type type, uint64_t u);
/*
 * Make facts like the cells above. Null values have HDB_TYPE_NULL. If `title` is NULL, the title is
 * the name.
 */
struct own_fact text_fact(const char *name, const char *title, const char *text);
struct own_fact number_fact(const char *name, const char *title, enum hdb_type type, uint64_t u);
struct own_fact known_fact(const char *name, const char *title, enum hdb_type type, uint64_t u);

/* Prints a number or boolean as in all machine-readable formats. Returns false for other types. */
bool value_for_programs(struct output *out, const struct hdb_value *value);
/* Prints a value as JSON. */
void json_value(struct output *out, const struct hdb_value *value);

/*
 * Returns the answer as `heapdb COMMAND --json` prints it. The caller must free() *text. If
 * `is_sparse` is set, rows omit keys whose value is null.
 */
int own_answer_json(const struct own_answer *answer, bool is_sparse, char **text,
		    struct hdb_error *err);

#endif
