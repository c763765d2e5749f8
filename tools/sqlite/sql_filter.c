/*
 * sqlite/sql_filter.c - evaluates an expression for each row of an answer: a table with that single
 * row, and a statement that returns a row if the expression is true.
 */
#include "sqlite/sql_private.h"

struct heapsql_filter {
	struct sql_table_def def; /* definition of the table; must be the first member */
	struct heapsql *sql;
	struct sql_source *source;
	sqlite3_stmt *statement;
	char *declaration; /* declaration of the table; owned: sqlite3_free */
	size_t count;
	/* columns that are used, as in sqlite3_index_info.colUsed */
	sqlite3_uint64 used;
	const struct hdb_value *const *values; /* values of the current row; borrowed */
};

#define TABLE "heapdb row"

/* ---- the table of one row ---- */

static int plan_row(const struct sql_table *table, struct sqlite3_index_info *info)
{
	((struct heapsql_filter *)(uintptr_t)table->def)->used |= info->colUsed;
	info->estimatedCost = 1;
	info->estimatedRows = 1;
	return SQLITE_OK;
}

static int next_row(struct sql_cursor *c, struct hdb_error *err)
{
	(void)err;
	return c->row_no == 1 ? HDB_OK : HDB_END;
}

static int column(struct sql_cursor *c, sqlite3_context *ctx, int number, struct hdb_error *err)
{
	const struct heapsql_filter *filter = (const struct heapsql_filter *)c->def;

	(void)err;
	if (filter->values && (size_t)number < filter->count)
		sql_result_value(ctx, filter->values[number]);
	return HDB_OK;
}

/* ---- opening ---- */

static bool is_named_before(const struct hdb_column *const *columns, size_t column)
{
	for (size_t i = 0; i < column; i++)
		if (sqlite3_stricmp(columns[i]->name, columns[column]->name) == 0)
			return true;
	return false;
}

/* Declares the columns by name. A duplicate, such as a field "id", gets a numeric suffix. */
static char *declare(const struct hdb_column *const *columns, size_t count)
{
	sqlite3_str *text = sqlite3_str_new(NULL);

	for (size_t i = 0; i < count; i++) {
		sqlite3_str_appendf(text, i ? ", \"%w" : "\"%w", columns[i]->name);
		if (is_named_before(columns, i))
			sqlite3_str_appendf(text, "_%zu", i + 1);
		sqlite3_str_appendf(text, "\" %s", sql_column_type(columns[i]->type));
	}
	return sqlite3_str_finish(text);
}

/* Fails with the message "no such column: x; there are: id, label". */
static int fail_expression(struct heapsql_filter *f, int rc,
			   const struct hdb_column *const *columns, struct hdb_error *err)
{
	int r = sql_fail_of(f->sql, rc, err);
	size_t used = err ? strlen(err->message) : 0;

	if (!err || strncmp(err->message, "no such column", 14) != 0)
		return r;
	for (size_t i = 0; i < f->count && used + 1 < sizeof(err->message); i++) {
		const bool is_plain = !strpbrk(columns[i]->name, ".$-");

		used += (size_t)snprintf(err->message + used, sizeof(err->message) - used,
					 is_plain ? "%s%s" : "%s\"%s\"",
					 i ? ", " : "; there are: ", columns[i]->name);
	}
	return r;
}

static int prepare(struct heapsql_filter *f, const char *expression,
		   const struct hdb_column *const *columns, struct hdb_error *err)
{
	/*
	 * The first form has no parentheses, so errors do not quote a parenthesis that is not in
	 * the expression. The second form has parentheses, which admit no LIMIT. A line feed
	 * follows the expression, because it may end in a comment.
	 */
	static const char *const forms[] = { "SELECT 1 FROM \"" TABLE "\" AS row WHERE %s\n",
					     "SELECT 1 FROM \"" TABLE "\" AS row WHERE (%s\n)" };
	int rc = sql_add_table(f->source, TABLE, &f->def, NULL), r = HDB_OK;

	(void)sql_set_guard(f->sql, true);
	for (unsigned i = 0; rc == SQLITE_OK && r == HDB_OK && i < BASE_COUNT(forms); i++) {
		char *text = sqlite3_mprintf(forms[i], expression);
		const char *rest = "";

		if (!text)
			return hdb_fail(err, HDB_ENOMEM,
					"cannot allocate memory for an expression");
		sqlite3_finalize(f->statement);
		rc = sqlite3_prepare_v2(f->source->sqlite, text, -1, &f->statement, &rest);
		if (rc == SQLITE_OK && (!f->statement || rest[strspn(rest, " \t\r\n;")]))
			r = hdb_fail(err, HDB_EUSAGE, "expected one expression, not \"%.200s\"",
				     expression);
		sqlite3_free(text);
	}
	return rc == SQLITE_OK ? r : fail_expression(f, rc, columns, err);
}

int heapsql_filter_open(struct heapsql *sql, const char *expression,
			const struct heapsql_columns *columns, struct heapsql_filter **out,
			struct hdb_error *err)
{
	struct heapsql_filter *f;
	int r;

	TRY(BASE_ALLOC(f, 1, "an expression", err));
	f->sql = sql;
	f->source = sql_first_source(sql);
	f->count = columns->count;
	f->declaration = declare(columns->list, columns->count);
	f->def = (struct sql_table_def){
		.name = TABLE,
		.declaration = f->declaration,
		.plan = plan_row,
		.next = next_row,
		.column = column,
	};
	if (!f->source)
		r = hdb_fail(err, HDB_EUSAGE, "no database");
	else if (!f->declaration)
		r = hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for columns");
	else
		r = prepare(f, expression, columns->list, err);
	if (r < 0) {
		heapsql_filter_close(f);
		return r;
	}
	*out = f;
	return HDB_OK;
}

void heapsql_filter_close(struct heapsql_filter *f)
{
	if (!f)
		return;
	sqlite3_finalize(f->statement);
	if (f->source)
		(void)sqlite3_create_module_v2(f->source->sqlite, TABLE, NULL, NULL, NULL);
	sqlite3_free(f->declaration);
	free(f);
}

bool heapsql_filter_uses(const struct heapsql_filter *f, size_t column)
{
	return f->used >> (column < 63 ? column : 63) & 1;
}

int heapsql_filter_test(struct heapsql_filter *f, const struct hdb_value *const *values,
			bool *holds, struct hdb_error *err)
{
	int rc;

	f->values = values;
	f->source->err.code = HDB_OK;
	rc = sqlite3_step(f->statement);
	*holds = rc == SQLITE_ROW;
	if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
		const int r = sql_fail_of(f->sql, rc, err);

		(void)sqlite3_reset(f->statement);
		return r;
	}
	(void)sqlite3_reset(f->statement);
	return HDB_OK;
}
