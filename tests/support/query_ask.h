/* query_ask.h - creates databases from dumps that a test writes, and runs queries on them. */
#ifndef QUERY_ASK_H
#define QUERY_ASK_H

#include "heapdb.h"
#include "support/hprof_writer.h"
#include "support/temp.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <time.h>
#include <cmocka.h>

/* ---- a dump that the test writes ---- */

struct written {
	struct hdb *db;
	char db_path[512], dump_path[512];
};

/*
 * Ends the open segment and the dump, saves and releases the dump, imports it, and opens its
 * database with these options (NULL: the default options). `name` is part of the file names. Fails
 * the test if a step fails.
 */
static inline void written_open(struct written *t, struct hw *dump, const char *name,
				const struct hdb_open_options *options)
{
	const struct hdb_import_options opt = { .force = 1, .sizes = HDB_SIZES_MAT, .threads = 1 };
	struct hdb_error err = { 0 };

	hw_end(dump);
	hw_heap_dump_end(dump);
	(void)snprintf(t->dump_path, sizeof(t->dump_path), "%s.hprof", temp_path(name));
	(void)snprintf(t->db_path, sizeof(t->db_path), "%s.heapdb", temp_path(name));
	assert_int_equal(hw_save(dump, t->dump_path), 0);
	hw_release(dump);
	if (hdb_import(t->dump_path, t->db_path, &opt, NULL, &err) < 0 ||
	    hdb_open(t->db_path, options, &t->db, &err) < 0)
		fail_msg("%s", err.message);
}

/* Closes the database, and removes the database and the dump. */
static inline void written_close(struct written *t)
{
	hdb_close(t->db);
	(void)unlink(t->dump_path);
	temp_remove_db(t->db_path);
}

/* ---- queries ---- */

/*
 * A query: its name, one target (NULL: no target), and up to two options "name" or "name=value",
 * followed by NULL.
 */
struct ask {
	const char *query, *target, *options[3], *sort;
	uint64_t limit;
};

/*
 * Arguments are borrowed until the rows are closed, so at most four answers may be open at the same
 * time.
 */
static inline int ask_open(struct hdb *db, const struct ask *ask, struct hdb_rows **rows,
			   struct hdb_error *err)
{
	static struct {
		char names[3][64];
		char values[3][64];
		const char *target;
		struct hdb_option options[3];
		struct hdb_query_args args;
	} turns[4], *t;
	static unsigned turn;
	size_t n = 0;

	t = &turns[turn++ % 4];
	t->target = ask->target;
	for (; n < 3 && ask->options[n]; n++) {
		const char *text = ask->options[n];
		const size_t size = strcspn(text, "=");

		(void)snprintf(t->names[n], 64, "%.*s", (int)size, text);
		(void)snprintf(t->values[n], 64, "%s", text[size] ? text + size + 1 : "");
		t->options[n].name = t->names[n];
		t->options[n].value = text[size] ? t->values[n] : NULL;
	}
	t->args = (struct hdb_query_args){
		.targets = &t->target,
		.target_count = ask->target != NULL,
		.options = t->options,
		.option_count = n,
		.sort = ask->sort,
		.limit = ask->limit,
	};
	return hdb_query(db, ask->query, &t->args, rows, err);
}

/* Runs the query. Fails the test if there is no answer. */
static inline struct hdb_rows *ask_rows(struct hdb *db, const struct ask *ask)
{
	struct hdb_error err = { 0 };
	struct hdb_rows *rows = NULL;

	if (ask_open(db, ask, &rows, &err) != HDB_OK)
		fail_msg("%s %s: %s", ask->query, ask->target ? ask->target : "", err.message);
	return rows;
}

/* Steps to the next row. Returns false after the last row. Fails the test after an error. */
static inline bool next_row(struct hdb_rows *rows)
{
	struct hdb_error err = { 0 };
	const int r = hdb_rows_next(rows, &err);

	if (r < 0)
		fail_msg("%s", err.message);
	return r == HDB_OK;
}

/* Runs a query that must fail with this code and a message that contains these words. */
struct refusal {
	struct ask ask;
	int code;
	const char *says;
};

static inline void expect_refusals(struct hdb *db, const struct refusal *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct hdb_error err = { 0 };
		struct hdb_rows *rows = NULL;
		const int r = ask_open(db, &cases[i].ask, &rows, &err);

		if (r != cases[i].code || !strstr(err.message, cases[i].says) || !err.message[0])
			fail_msg("refusal %zu: %d %s", i, r, err.message);
		assert_null(rows);
	}
}

/* Finds a column by name. Fails the test if there is no such column. */
static inline size_t column_of(const struct hdb_rows *rows, const char *name)
{
	for (size_t i = 0; i < hdb_rows_column_count(rows); i++)
		if (strcmp(hdb_rows_column(rows, i)->name, name) == 0)
			return i;
	fail_msg("no column %s", name);
	return 0;
}

static inline const struct hdb_value *value_of(const struct hdb_rows *rows, const char *name)
{
	return hdb_rows_value(rows, column_of(rows, name));
}

static inline bool value_is(const struct hdb_rows *rows, const char *name, const char *text)
{
	const struct hdb_value *value = value_of(rows, name);

	return value->type == HDB_TYPE_TEXT && value->text_size == strlen(text) &&
	       memcmp(value->text, text, value->text_size) == 0;
}

/* Returns a fact, or NULL if the answer does not have it. */
static inline const struct hdb_value *fact_of(const struct hdb_rows *rows, const char *name)
{
	for (size_t i = 0; i < hdb_rows_fact_count(rows); i++)
		if (strcmp(hdb_rows_fact_column(rows, i)->name, name) == 0)
			return hdb_rows_fact_value(rows, i);
	return NULL;
}

#endif
