/*
 * sqlite/heapsql.c - SQL connections: databases, read-only statements, rows.
 */
#include "sqlite/sql_private.h"

#include "base/scope.h"
#include "common/unique_names.h"

#include <xxhash.h>

/* SQLite's limit of attached databases. */
#define DATABASES_MAX 10
/*
 * Maximum length of a statement, and of a string or blob in it. A single SQLite function processes
 * this much in less than a second, during which it does not check the cancel flag.
 */
#define LENGTH_MAX (8 << 20)
#define STATEMENT_MAX (1 << 20)
/* Maximum number of function arguments: json_extract() scans the whole text for each path. */
#define ARGUMENTS_MAX 32
/* Number of SQLite VM instructions between checks of the cancel flag, about 20 microseconds. */
#define CHECK_STEPS 1000
/* Default memory limit of SQLite. Sorts and joins that need more spill to files. */
#define MEMORY_DEFAULT (256u << 20)
#define MEMORY_MIN (16u << 20)

/* Sets of objects whose retained sizes are computed together. */
struct pending {
	XXH128_hash_t hash;
	uint32_t *ixs; /* owned; NULL once computed */
	size_t count;
	uint64_t bytes;
	struct sql_source *source;
};

struct heapsql {
	struct heapsql_options opt;
	sqlite3 *sqlite;
	struct sql_source *sources[DATABASES_MAX];
	size_t source_count;
	bool is_guarded;  /* whether the running statement comes from the user */
	bool is_listed;   /* whether sqlite_master lists the tables */
	const char *text; /* current statement, for hints; borrowed, or NULL if none */
	char *tmp_dir;
	/* state of retained_set */
	enum { SETS_ONE_BY_ONE, SETS_COLLECT, SETS_KNOWN } sets;
	struct base_vec pending; /* struct pending */
	uint64_t pending_members;
};

struct heapsql_rows {
	struct heapsql *sql;
	sqlite3_stmt *statement;
	/*
	 * statement that provides the column names: the running statement or, if it was rewritten,
	 * the original one
	 */
	sqlite3_stmt *named;
	struct hdb_column *columns; /* owned */
	struct hdb_value *values;   /* owned */
	size_t count;
	char **names; /* owned: printable column names */
	char **blobs; /* owned: blobs as text */
	bool has_sets, is_started, is_typed;
};

/* ---- permissions of statements ---- */

/* Pragmas that change nothing. */
static const char *const harmless[] = {
	"table_info",    "table_xinfo",     "table_list",  "database_list",  "module_list",
	"function_list", "compile_options", "pragma_list", "collation_list",
};
#define HARMLESS_COUNT BASE_COUNT(harmless)

static bool is_harmless_pragma(const char *name)
{
	for (size_t i = 0; i < HARMLESS_COUNT; i++)
		if (sqlite3_stricmp(name, harmless[i]) == 0)
			return true;
	return false;
}

/*
 * SQLite's own functions that compute a result only from their arguments, including functions of
 * future versions. The list excludes full-text and spatial functions (fts3_tokenizer() accepts and
 * returns addresses), load_extension(), and functions that reveal the connection or the program.
 */
static const char functions[] =
	" -> ->> abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling char coalesce concat "
	"concat_ws cos cosh count cume_dist current_date current_time current_timestamp date "
	"datetime degrees dense_rank exp first_value floor format glob group_concat hex if ifnull "
	"iif instr json json_array json_array_length json_error_position json_extract "
	"json_group_array json_group_object json_insert json_object json_pretty "
	"json_quote json_remove json_replace json_set json_type json_valid jsonb jsonb_array "
	"jsonb_extract jsonb_group_array jsonb_group_object jsonb_insert jsonb_object "
	"jsonb_remove jsonb_replace jsonb_set julianday lag last_value lead length like likelihood "
	"likely ln log log10 log2 lower ltrim max median min mod nth_value ntile nullif "
	"octet_length percent_rank percentile percentile_cont percentile_disc pi pow power printf "
	"quote radians random randomblob rank regexp replace round row_number rtrim sign sin sinh soundex "
	"sqlite_version sqrt strftime string_agg substr substring subtype sum tan tanh time timediff "
	"total trim trunc typeof unhex unicode unistr unistr_quote unixepoch unlikely upper zeroblob ";

static bool is_harmless_function(const char *name)
{
	char word[32];

	if (!name || strchr(name, ' '))
		return false;
	if (sql_is_function(name))
		return true;
	sqlite3_snprintf(sizeof(word), word, " %s ", name);
	for (char *c = word; *c; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c + 'a' - 'A');
	return strstr(functions, word) != NULL;
}

/* Creates the pragma tables in advance, since the guard prevents a statement from doing so. */
static void make_pragma_tables(sqlite3 *db)
{
	for (size_t i = 0; i < HARMLESS_COUNT; i++) {
		char *text = sqlite3_mprintf("SELECT 1 FROM pragma_%s LIMIT 0", harmless[i]);
		sqlite3_stmt *statement = NULL;

		if (text)
			(void)sqlite3_prepare_v2(db, text, -1, &statement, NULL);
		sqlite3_finalize(statement);
		sqlite3_free(text);
	}
}

/* NOLINTNEXTLINE(readability-function-size): SQLite defines the parameters */
static int authorize(void *ctx, int action, const char *a, const char *b, const char *schema,
		     const char *trigger)
{
	const struct heapsql *sql = ctx;

	(void)schema;
	(void)trigger;
	if (!sql->is_guarded)
		return SQLITE_OK;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return is_harmless_function(b) ? SQLITE_OK : SQLITE_DENY;
	case SQLITE_PRAGMA:
		return a && is_harmless_pragma(a) ? SQLITE_OK : SQLITE_DENY;
	default:
		return SQLITE_DENY;
	}
}

bool sql_set_guard(struct heapsql *sql, bool is_on)
{
	const bool was_on = sql->is_guarded;

	sql->is_guarded = is_on;
	return was_on;
}

static int on_progress(void *ctx)
{
	const struct heapsql *sql = ctx;

	return base_flag_is_set(sql->opt.cancel);
}

static void set_limits(struct heapsql *sql)
{
	sqlite3 *db = sql->sqlite;
	const uint64_t memory = sql->opt.memory_bytes ? sql->opt.memory_bytes : MEMORY_DEFAULT;

	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, LENGTH_MAX);
	sqlite3_limit(db, SQLITE_LIMIT_FUNCTION_ARG, ARGUMENTS_MAX);
	sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, STATEMENT_MAX);
	sqlite3_limit(db, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
	sqlite3_limit(db, SQLITE_LIMIT_WORKER_THREADS, 0);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0, NULL);
	/* makes an unknown name in double quotes an error instead of a string */
	sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
	sqlite3_hard_heap_limit64((sqlite3_int64)(memory > MEMORY_MIN ? memory : MEMORY_MIN));
	sqlite3_progress_handler(db, CHECK_STEPS, on_progress, sql);
	sqlite3_set_authorizer(db, authorize, sql);
}

/* ---- opening ---- */

int heapsql_open(const struct heapsql_options *opt, struct heapsql **out, struct hdb_error *err)
{
	struct heapsql *sql;
	int rc, r;

	TRY(BASE_ALLOC(sql, 1, "a connection", err));
	if (opt)
		sql->opt = *opt;
	if (sql->opt.tmp_dir) {
		sqlite3_free(sqlite3_temp_directory);
		sqlite3_temp_directory = sqlite3_mprintf("%s", sql->opt.tmp_dir);
	}
	rc = sqlite3_open_v2(":memory:", &sql->sqlite,
			     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
			     NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(sql->sqlite, "PRAGMA temp_store = FILE", NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = sql_register_plain(sql->sqlite, sql->opt.cancel);
	if (rc == SQLITE_OK)
		rc = sql_register_bounded(sql->sqlite, sql->opt.cancel);
	if (rc != SQLITE_OK) {
		r = hdb_fail(err, rc == SQLITE_NOMEM ? HDB_ENOMEM : HDB_EIO, "SQLite: %s",
			     sqlite3_errstr(rc));
		heapsql_close(sql);
		return r;
	}
	make_pragma_tables(sql->sqlite);
	set_limits(sql);
	*out = sql;
	return HDB_OK;
}

static struct pending *pending_at(const struct heapsql *sql, size_t i)
{
	return base_vec_at(&sql->pending, struct pending, i);
}

static void forget_sets(struct heapsql *sql)
{
	for (size_t i = 0; i < sql->pending.count; i++)
		free(pending_at(sql, i)->ixs);
	base_vec_release(&sql->pending);
	sql->pending_members = 0;
	sql->sets = SETS_ONE_BY_ONE;
}

void heapsql_close(struct heapsql *sql)
{
	if (!sql)
		return;
	/* closing the connection destroys the modules, which still use the sources */
	sqlite3_close(sql->sqlite);
	for (size_t i = 0; i < sql->source_count; i++)
		sql_source_close(sql->sources[i]);
	forget_sets(sql);
	free(sql);
}

struct sql_source *sql_first_source(struct heapsql *sql)
{
	return sql->source_count ? sql->sources[0] : NULL;
}

struct sql_source *sql_source_named(struct heapsql *sql, const char *name)
{
	for (size_t i = 0; i < sql->source_count; i++)
		if (sqlite3_stricmp(sql->sources[i]->name, name) == 0)
			return sql->sources[i];
	return NULL;
}

static int attach(struct heapsql *sql, const char *name, struct hdb_error *err)
{
	char *statement;
	int rc;

	if (!*name || sqlite3_stricmp(name, "main") == 0 || sqlite3_stricmp(name, "temp") == 0 ||
	    sql_source_named(sql, name))
		return hdb_fail(err, HDB_EUSAGE, "invalid database name \"%.80s\"%s", name,
				sql_source_named(sql, name) ? ": already in use" : "");
	statement = sqlite3_mprintf("ATTACH ':memory:' AS \"%w\"", name);
	rc = statement ? sqlite3_exec(sql->sqlite, statement, NULL, NULL, NULL) : SQLITE_NOMEM;
	sqlite3_free(statement);
	return rc == SQLITE_OK ? HDB_OK :
				 hdb_fail(err, HDB_ELIMIT, "%s", sqlite3_errmsg(sql->sqlite));
}

int heapsql_add(struct heapsql *sql, const struct heapsql_database *database, struct hdb_error *err)
{
	struct sql_source *source;

	assert(sql->source_count <= DATABASES_MAX);
	if (sql->source_count == DATABASES_MAX)
		return hdb_fail(err, HDB_ELIMIT, "too many databases (limit %d)", DATABASES_MAX);
	if (database->name)
		TRY(attach(sql, database->name, err));
	TRY(sql_source_open(sql->sqlite, database, &source, err));
	source->owner = sql;
	source->cancel = sql->opt.cancel;
	sql->sources[sql->source_count++] = source;
	TRY(sql_register(source, err));
	if (sql->source_count == 1 && sql_register_functions(source) != SQLITE_OK)
		return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for functions");
	return HDB_OK;
}

/* ---- statements ---- */

static int code_of(int rc)
{
	switch (rc & 0xff) {
	case SQLITE_NOMEM:
		return HDB_ENOMEM;
	case SQLITE_INTERRUPT:
		return HDB_EINTR;
	case SQLITE_TOOBIG:
		return HDB_ELIMIT;
	case SQLITE_FULL:
	case SQLITE_IOERR:
	case SQLITE_CANTOPEN:
		return HDB_EIO;
	default:
		return HDB_EUSAGE;
	}
}

int sql_fail_of(struct heapsql *sql, int rc, struct hdb_error *err)
{
	char message[512], hint[512] = "";

	/* copy the message, because computing a hint may use SQLite */
	snprintf(message, sizeof(message), "%s", sqlite3_errmsg(sql->sqlite));
	for (size_t i = 0; i < sql->source_count; i++) {
		/* a class whose name cannot be read looks like a missing table */
		if (!sql->sources[i]->err.code &&
		    sql_end(sql->sources[i], HDB_OK, &sql->sources[i]->err) == HDB_OK)
			continue;
		if (err)
			*err = sql->sources[i]->err;
		if (err && sql->text) {
			const size_t used = strlen(err->message);

			sql_hint(sql->sources[0], sql->text, err->message, hint, sizeof(hint));
			snprintf(err->message + used, sizeof(err->message) - used, "%s", hint);
		}
		return sql->sources[i]->err.code;
	}
	if (code_of(rc) == HDB_EINTR)
		return hdb_fail(err, HDB_EINTR, "interrupted");
	if (rc == SQLITE_AUTH)
		return hdb_fail(err, HDB_EUSAGE,
				"statements are read-only: use SELECT, WITH or EXPLAIN");
	if (sql->text && sql->source_count)
		sql_hint(sql->sources[0], sql->text, message, hint, sizeof(hint));
	return hdb_fail(err, code_of(rc), "%s%s", message, hint);
}

static void clear_failures(struct heapsql *sql)
{
	for (size_t i = 0; i < sql->source_count; i++)
		sql->sources[i]->err.code = HDB_OK;
}

static enum hdb_type type_of(const char *declared)
{
	static const struct {
		const char *name;
		enum hdb_type type;
	} types[] = {
		{ "ID", HDB_TYPE_ID },         { "BYTES", HDB_TYPE_BYTES },
		{ "COUNT", HDB_TYPE_COUNT },   { "BOOL", HDB_TYPE_BOOL },
		{ "BOOLEAN", HDB_TYPE_BOOL },  { "TEXT", HDB_TYPE_TEXT },
		{ "DOUBLE", HDB_TYPE_DOUBLE }, { "PERCENT", HDB_TYPE_PERCENT },
	};
	const size_t i = declared ? BASE_INDEX(types, declared) : BASE_COUNT(types);

	return i < BASE_COUNT(types) ? types[i].type : HDB_TYPE_INT;
}

static int describe(struct heapsql_rows *rows, struct hdb_error *err)
{
	rows->count = (size_t)sqlite3_column_count(rows->statement);
	TRY(BASE_ALLOC(rows->columns, rows->count + 1, "columns", err));
	TRY(BASE_ALLOC(rows->values, rows->count + 1, "columns", err));
	TRY(BASE_ALLOC(rows->blobs, rows->count + 1, "columns", err));
	TRY(BASE_ALLOC(rows->names, rows->count + 1, "columns", err));
	for (size_t i = 0; i < rows->count; i++) {
		const char *name = sqlite3_column_name(rows->named, (int)i);

		rows->names[i] = name ? strdup(name) : NULL;
		if (!rows->names[i])
			return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for columns");
		/* field names come from the dump */
		for (char *at = rows->names[i]; *at; at++)
			if ((unsigned char)*at < 0x20 || *at == 0x7f)
				*at = '?';
	}
	if (!unique_names(rows->names, rows->count))
		return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for columns");
	for (size_t i = 0; i < rows->count; i++)
		rows->columns[i] = (struct hdb_column){
			.name = rows->names[i],
			.type = type_of(sqlite3_column_decltype(rows->statement, (int)i)),
			.title = rows->names[i],
			.help = "",
		};
	return HDB_OK;
}

/* Replaces the statement by an equivalent statement over totals by class, if there is one. */
static void use_totals(struct heapsql_rows *rows)
{
	char *text = sql_rewrite(sqlite3_sql(rows->named));
	sqlite3_stmt *statement = NULL;

	if (text &&
	    sqlite3_prepare_v2(rows->sql->sqlite, text, -1, &statement, NULL) == SQLITE_OK &&
	    sqlite3_column_count(statement) == sqlite3_column_count(rows->named))
		rows->statement = statement;
	else
		sqlite3_finalize(statement);
	sqlite3_free(text);
}

/*
 * Creates the class tables named in a statement, because the guard prevents SQLite from doing so.
 */
static int define_classes(struct heapsql *sql, const char *text, struct hdb_error *err)
{
	int r = HDB_OK;

	sql->is_guarded = false;
	for (size_t i = 0; i < sql->source_count && r == HDB_OK; i++)
		r = sql_define_classes(sql->sources[i], text, err);
	sql->is_guarded = true;
	return r;
}

/*
 * Fills sqlite_master if a statement reads this table. Other statements then avoid the few
 * milliseconds that creating all tables takes.
 */
static int need_catalogue(struct heapsql *sql, const char *text, struct hdb_error *err)
{
	int r;

	if (sql->is_listed || sql->source_count != 1 || !sql->sources[0]->is_only ||
	    (!strcasestr(text, "sqlite_master") && !strcasestr(text, "sqlite_schema") &&
	     !strcasestr(text, "table_list")))
		return HDB_OK;
	sql->is_guarded = false;
	r = sql_list_tables(sql->sources[0], err);
	sql->is_guarded = true;
	sql->is_listed = r == HDB_OK;
	return r;
}

int heapsql_prepare(struct heapsql *sql, const char *text, const char **rest,
		    struct heapsql_rows **out, struct hdb_error *err)
{
	struct heapsql_rows *rows;
	sqlite3_stmt *statement = NULL;
	int r, rc;

	*out = NULL;
	*rest = text;
	if (strlen(text) > STATEMENT_MAX)
		return hdb_fail(err, HDB_ELIMIT, "statement too long (limit %d bytes)",
				STATEMENT_MAX);
	clear_failures(sql);
	TRY_ERRORS(define_classes(sql, text, err));
	TRY(need_catalogue(sql, text, err));
	assert(sql->is_guarded);
	rc = sqlite3_prepare_v2(sql->sqlite, text, -1, &statement, rest);
	if (rc != SQLITE_OK) {
		sql->text = text;
		r = sql_fail_of(sql, rc, err);
		sql->text = NULL;
		return r;
	}
	if (!statement) {
		*rest = text + strlen(text);
		return HDB_OK;
	}
	rows = calloc(1, sizeof(*rows));
	if (!rows) {
		sqlite3_finalize(statement);
		return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for a statement");
	}
	rows->sql = sql;
	rows->statement = statement;
	rows->named = statement;
	use_totals(rows);
	rows->has_sets = sqlite3_strlike("%retained_set%group%by%", sqlite3_sql(statement), 0) == 0;
	r = describe(rows, err);
	if (r < 0) {
		heapsql_rows_close(rows);
		return r;
	}
	*out = rows;
	return HDB_OK;
}

void heapsql_rows_close(struct heapsql_rows *rows)
{
	if (!rows)
		return;
	if (rows->named != rows->statement)
		sqlite3_finalize(rows->named);
	sqlite3_finalize(rows->statement);
	forget_sets(rows->sql);
	for (size_t i = 0; i < rows->count; i++) {
		if (rows->blobs)
			free(rows->blobs[i]);
		if (rows->names)
			free(rows->names[i]);
	}
	free(rows->names);
	free(rows->blobs);
	free(rows->columns);
	free(rows->values);
	free(rows);
}

size_t heapsql_column_count(const struct heapsql_rows *rows)
{
	return rows->count;
}

const struct hdb_column *heapsql_column(const struct heapsql_rows *rows, size_t column)
{
	assert(column <= rows->count);
	return &rows->columns[column];
}

/* ---- retained_set: many groups at once ---- */

static int collect_set(struct heapsql *sql, struct sql_source *source, const uint32_t *ixs,
		       size_t count, struct hdb_error *err)
{
	struct pending p = { .count = count, .source = source };

	assert(count > 0);
	TRY(base_vec_reserve(&sql->pending, 1, sizeof(p), err));
	TRY(BASE_ALLOC(p.ixs, count, "a group of objects", err));
	memcpy(p.ixs, ixs, count * sizeof(*ixs));
	p.hash = XXH3_128bits(ixs, count * sizeof(*ixs));
	sql->pending_members += count;
	return base_vec_push(&sql->pending, &p, sizeof(p), err);
}

int sql_retained_of(struct sql_source *source, const uint32_t *ixs, size_t count, uint64_t *bytes,
		    struct hdb_error *err)
{
	struct heapsql *sql = source->owner;
	struct hdb_set set = { .ixs = ixs, .count = count };
	XXH128_hash_t hash;
	int r;

	if (sql && sql->sets == SETS_COLLECT)
		return collect_set(sql, source, ixs, count, err);
	if (sql && sql->sets == SETS_KNOWN) {
		hash = XXH3_128bits(ixs, count * sizeof(*ixs));
		for (size_t i = 0; i < sql->pending.count; i++) {
			const struct pending *p = pending_at(sql, i);

			if (!XXH128_isEqual(p->hash, hash) || p->count != count ||
			    p->source != source)
				continue;
			*bytes = p->bytes;
			return HDB_OK;
		}
	}
	r = hdb_retained_sets(source->db, &set, 1, err);
	*bytes = set.retained_bytes;
	return r;
}

/* Computes the retained sizes of the sets of one source. `sets` has room for all sets. */
static int solve_source(struct heapsql *sql, const struct sql_source *source, struct hdb_set *sets,
			struct hdb_error *err)
{
	size_t count = 0, at = 0;

	for (size_t i = 0; i < sql->pending.count; i++)
		if (pending_at(sql, i)->source == source) {
			sets[count].ixs = pending_at(sql, i)->ixs;
			sets[count].count = pending_at(sql, i)->count;
			count++;
		}
	assert(count <= sql->pending.count);
	if (!count)
		return HDB_OK;
	TRY_ERRORS(hdb_retained_sets(source->db, sets, count, err));
	for (size_t i = 0; i < sql->pending.count; i++)
		if (pending_at(sql, i)->source == source)
			pending_at(sql, i)->bytes = sets[at++].retained_bytes;
	assert(at == count);
	return HDB_OK;
}

/* Computes the retained sizes of all collected sets, in one pass per source. */
static int solve_sets(struct heapsql *sql, struct hdb_error *err)
{
	BASE_FREED struct hdb_set *sets = calloc(sql->pending.count + 1, sizeof(*sets));
	int r = sets ? HDB_OK : hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for groups");

	for (size_t s = 0; s < sql->source_count && r >= 0; s++)
		r = solve_source(sql, sql->sources[s], sets, err);
	for (size_t i = 0; i < sql->pending.count; i++) {
		free(pending_at(sql, i)->ixs);
		pending_at(sql, i)->ixs = NULL;
	}
	return r;
}

/*
 * Runs a statement. A statement with retained_set() and GROUP BY runs twice: first to collect the
 * groups, whose exact sizes are then computed in a single walk over the heap, then to return rows.
 */
static int run_for_sets(struct heapsql_rows *rows, struct hdb_error *err)
{
	struct heapsql *sql = rows->sql;
	int rc, r;

	forget_sets(sql);
	sql->sets = SETS_COLLECT;
	while ((rc = sqlite3_step(rows->statement)) == SQLITE_ROW)
		;
	r = rc == SQLITE_DONE ? HDB_OK : sql_fail_of(sql, rc, err);
	sqlite3_reset(rows->statement);
	sql->sets = SETS_KNOWN;
	return r < 0 ? r : solve_sets(sql, err);
}

/* ---- rows ---- */

static int set_blob(struct heapsql_rows *rows, size_t i, struct hdb_value *value,
		    struct hdb_error *err)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *data = sqlite3_column_blob(rows->statement, (int)i);
	const int size = sqlite3_column_bytes(rows->statement, (int)i);
	char *text = malloc((size_t)size * 2 + 1);

	free(rows->blobs[i]);
	rows->blobs[i] = text;
	if (!text)
		return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for a value of %d bytes",
				size);
	for (int at = 0; at < size; at++) {
		text[2 * at] = digits[data[at] >> 4];
		text[2 * at + 1] = digits[data[at] & 15];
	}
	value->text = text;
	value->text_size = (size_t)size * 2;
	return HDB_OK;
}

/*
 * Shortens a line of EXPLAIN QUERY PLAN: "SCAN objects VIRTUAL TABLE INDEX 32505920:dominator="
 * becomes "SCAN objects (dominator=)".
 */
static int set_plan(struct heapsql_rows *rows, size_t i, struct hdb_value *value,
		    struct hdb_error *err)
{
	static const char before[] = " VIRTUAL TABLE INDEX ";
	const char *at = strstr(value->text, before), *how = at ? strchr(at, ':') : NULL;
	const char *columns = how ? strstr(how, ", columns ") : NULL;
	char *text;

	if (!how)
		return HDB_OK;
	text = malloc(value->text_size + 3);
	free(rows->blobs[i]);
	rows->blobs[i] = text;
	if (!text)
		return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for a string");
	value->text_size = (size_t)snprintf(
		text, value->text_size + 3, "%.*s (%.*s)", (int)(at - value->text), value->text,
		(int)(columns ? (size_t)(columns - how - 1) : strlen(how + 1)), how + 1);
	value->text = text;
	return HDB_OK;
}

static int set_value(struct heapsql_rows *rows, size_t i, struct hdb_error *err)
{
	struct hdb_value *value = &rows->values[i];
	const enum hdb_type declared = rows->columns[i].type;
	const unsigned char *text;

	*value = (struct hdb_value){ .type = HDB_TYPE_NULL };
	switch (sqlite3_column_type(rows->statement, (int)i)) {
	case SQLITE_INTEGER:
		value->type = HDB_TYPE_INT;
		value->i = sqlite3_column_int64(rows->statement, (int)i);
		value->u = (uint64_t)value->i;
		if (declared == HDB_TYPE_ID ||
		    (value->i >= 0 && (declared == HDB_TYPE_BYTES || declared == HDB_TYPE_COUNT)))
			value->type = declared;
		else if (declared == HDB_TYPE_BOOL && !(value->u >> 1))
			value->type = HDB_TYPE_BOOL;
		return HDB_OK;
	case SQLITE_FLOAT:
		value->type = declared == HDB_TYPE_PERCENT ? declared : HDB_TYPE_DOUBLE;
		value->d = sqlite3_column_double(rows->statement, (int)i);
		return HDB_OK;
	case SQLITE_TEXT:
		value->type = HDB_TYPE_TEXT;
		text = sqlite3_column_text(rows->statement, (int)i);
		if (!text)
			return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for a string");
		value->text = (const char *)text;
		value->text_size = (size_t)sqlite3_column_bytes(rows->statement, (int)i);
		return sqlite3_stmt_isexplain(rows->statement) == 2 ?
			       set_plan(rows, i, value, err) :
			       HDB_OK;
	case SQLITE_BLOB:
		value->type = HDB_TYPE_TEXT;
		return set_blob(rows, i, value, err);
	default:
		return HDB_OK;
	}
}

/* Sets the types of expressions to the types of their values in the first row. */
static void guess_types(struct heapsql_rows *rows)
{
	rows->is_typed = true;
	for (size_t i = 0; i < rows->count; i++)
		if (!sqlite3_column_decltype(rows->statement, (int)i) &&
		    rows->values[i].type != HDB_TYPE_NULL)
			rows->columns[i].type = rows->values[i].type;
}

bool heapsql_is_typed(const struct heapsql_rows *rows, size_t column)
{
	const char *declared = sqlite3_column_decltype(rows->statement, (int)column);

	return declared && *declared;
}

int heapsql_next(struct heapsql_rows *rows, struct hdb_error *err)
{
	struct heapsql *sql = rows->sql;
	int rc, r = HDB_OK;

	clear_failures(sql);
	if (!rows->is_started && rows->has_sets)
		r = run_for_sets(rows, err);
	rows->is_started = true;
	TRY_ERRORS(r);
	rc = sqlite3_step(rows->statement);
	if (rc == SQLITE_DONE)
		return HDB_END;
	if (rc != SQLITE_ROW) {
		sql->text = sqlite3_sql(rows->named);
		r = sql_fail_of(sql, rc, err);
		sql->text = NULL;
		return r;
	}
	for (size_t i = 0; i < rows->count; i++)
		TRY(set_value(rows, i, err));
	if (!rows->is_typed)
		guess_types(rows);
	return HDB_OK;
}

const struct hdb_value *heapsql_value(const struct heapsql_rows *rows, size_t column)
{
	assert(column <= rows->count);
	return &rows->values[column];
}

/* ---- for the writers of answers ---- */

/* Counts text before writing it, so that an answer cannot exceed its limit. */
static int count_texts(struct heapsql_answer *r, struct hdb_error *err)
{
	for (size_t i = 0; i < r->source.count; i++) {
		const struct hdb_value *value = &r->source.cells[i];

		if (value->type == HDB_TYPE_TEXT)
			r->texts += value->text_size;
	}
	if (r->texts_max && r->texts > r->texts_max)
		return hdb_fail(err, HDB_ELIMIT,
				"the answer exceeds %" PRIu64 " MiB of text; request fewer "
				"rows, or use substr(text, 1, 100)",
				r->texts_max >> 20);
	return HDB_OK;
}

static int next_row(void *ctx, struct hdb_error *err)
{
	struct heapsql_answer *r = ctx;
	int rc = r->is_first ? r->first : heapsql_next(r->rows, err);

	r->is_first = false;
	TRY(rc);
	return r->texts_max ? count_texts(r, err) : HDB_OK;
}

int heapsql_answer(struct heapsql_answer *out, struct heapsql_rows *rows, struct hdb_error *err)
{
	*out = (struct heapsql_answer){
		.source = {
			.ctx = out,
			.count = heapsql_column_count(rows),
			.next = next_row,
			.columns = heapsql_column(rows, 0),
			.cells = heapsql_value(rows, 0),
		},
		.rows = rows,
		.is_first = true,
		.first = heapsql_next(rows, err),
	};
	return out->first < 0 ? out->first : HDB_OK;
}

/* ---- for a shell ---- */

bool heapsql_is_complete(const char *text)
{
	return sqlite3_complete(text) != 0;
}

bool heapsql_table(struct heapsql *sql, size_t no, struct heapsql_table *out)
{
	if (sql_table_at(no, out, &no))
		return true;
	out->kind = HEAPSQL_CLASS;
	out->help = "";
	for (size_t s = 0; s < sql->source_count; s++) {
		const uint32_t classes = hdb_class_count(sql->sources[s]->db);

		if (no < classes) {
			out->class = hdb_class_name(sql->sources[s]->db, (uint32_t)no);
			snprintf(out->name, sizeof(out->name), "%s", out->class);
			return true;
		}
		no -= classes;
	}
	return false;
}

/*
 * Appends column names to a list. Each row has a name, a type and whether the column is hidden.
 * Returns HDB_NOTFOUND if there are no rows.
 */
static int list_columns(struct heapsql_rows *rows, bool with_types, sqlite3_str *list,
			struct hdb_error *err)
{
	size_t count = 0;
	bool in_arguments = false;
	int r;

	assert(rows->count == 3);
	while ((r = heapsql_next(rows, err)) == HDB_OK) {
		const struct hdb_value *name = &rows->values[0], *type = &rows->values[1];
		const struct hdb_value *hidden = &rows->values[2];

		count++;
		if (with_types) {
			sqlite3_str_appendf(list, "  %-*.*s  %.*s%s\n", 20, (int)name->text_size,
					    name->text, (int)type->text_size, type->text,
					    hidden->i ? "  (argument or hidden)" : "");
			continue;
		}
		sqlite3_str_appendf(list, "%s%.*s",
				    count == 1                 ? "" :
				    hidden->i && !in_arguments ? "; arguments or hidden: " :
								 ", ",
				    (int)name->text_size, name->text);
		in_arguments |= hidden->i != 0;
	}
	TRY_ERRORS(r);
	return count ? HDB_OK : HDB_NOTFOUND;
}

bool heapsql_why_empty(struct heapsql *sql, const char *text, char *why, size_t size)
{
	return sql->source_count && sql_why_empty(sql->sources[0], text, why, size);
}

int heapsql_schema(struct heapsql *sql, const char *table, bool with_types, char **out,
		   struct hdb_error *err)
{
	/*
	 * the SQL comment mentions the class, so that its table is created before SQLite looks for
	 * it
	 */
	char *text = sqlite3_mprintf("SELECT name, type, hidden FROM pragma_table_xinfo('%q') "
				     "/* \"%w\" */",
				     table, table);
	char *quoted = sqlite3_mprintf("\"%w\"", table);
	struct heapsql_rows *rows = NULL;
	sqlite3_str *list = sqlite3_str_new(sql->sqlite);
	char *made;
	const char *rest;
	int r = HDB_ENOMEM;

	*out = NULL;
	if (text && quoted)
		r = define_classes(sql, quoted, err);
	if (r == HDB_OK)
		r = heapsql_prepare(sql, text, &rest, &rows, err);
	if (r == HDB_OK)
		r = list_columns(rows, with_types, list, err);
	made = sqlite3_str_finish(list);
	if (r == HDB_OK) {
		*out = made ? strdup(made) : NULL;
		r = *out ? HDB_OK : HDB_ENOMEM;
	}
	sqlite3_free(made);
	sqlite3_free(quoted);
	sqlite3_free(text);
	heapsql_rows_close(rows);
	return r;
}
