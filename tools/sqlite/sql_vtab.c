/*
 * sqlite/sql_vtab.c - SQLite virtual table methods for tables with a definition, and their
 * registration.
 */
#include "sqlite/sql_private.h"

#include "base/base_text.h"

/* ---- failures ---- */

static int sqlite_code(int code)
{
	assert(code < 0);
	if (code == HDB_ENOMEM)
		return SQLITE_NOMEM;
	return code == HDB_EINTR ? SQLITE_INTERRUPT : SQLITE_ERROR;
}

static void keep_failure(struct sql_source *source, int code, const struct hdb_error *err)
{
	source->err = *err;
	source->err.code = code;
	if (!source->err.message[0])
		snprintf(source->err.message, sizeof(source->err.message), "%s",
			 hdb_result_name(code));
}

int sql_end(struct sql_source *source, int r, struct hdb_error *err)
{
	const int failed = r < 0 ? r : hdb_failed(source->db, err);

	return failed < 0 ? failed : r;
}

static int fail_table(struct sqlite3_vtab *vtab, struct sql_source *source, int code,
		      struct hdb_error *err)
{
	keep_failure(source, code, err);
	sqlite3_free(vtab->zErrMsg);
	vtab->zErrMsg = sqlite3_mprintf("%s", source->err.message);
	return sqlite_code(code);
}

void sql_function_fail(struct sqlite3_context *ctx, struct sql_source *source, int code,
		       struct hdb_error *err)
{
	keep_failure(source, code, err);
	sqlite3_result_error(ctx, source->err.message, -1);
	sqlite3_result_error_code(ctx, sqlite_code(code));
	if (sqlite_code(code) == SQLITE_ERROR)
		sqlite3_result_error(ctx, source->err.message, -1);
}

/* ---- tables ---- */

/* Data of a module. */
struct table_aux {
	struct sql_source *source;
	const struct sql_table_def *def;
	void (*release)(void *def); /* NULL means not owned */
};

/* Declares the columns of a table to SQLite. */
static int declare(const struct table_aux *a, sqlite3 *sqlite, char **message)
{
	const struct sql_table_def *def = a->def;
	struct hdb_error err = { 0 };
	sqlite3_str *text;
	char *statement;
	bool was_on;
	int rc;

	if (!def->columns && !def->declaration &&
	    def->declare((struct sql_table_def *)(uintptr_t)def, &err) < 0) {
		*message = sqlite3_mprintf("%s", err.message);
		return SQLITE_ERROR;
	}
	text = sqlite3_str_new(sqlite);
	sqlite3_str_appendf(text, "CREATE TABLE x(%s", def->columns ? "" : def->declaration);
	for (size_t i = 0; def->columns && i < def->column_count; i++)
		sqlite3_str_appendf(text, i ? ", %s" : "%s", def->columns[i].declaration);
	sqlite3_str_appendchar(text, 1, ')');
	if (!(statement = sqlite3_str_finish(text)))
		return SQLITE_NOMEM;
	/* the declaration is a CREATE TABLE, which the guard would reject */
	was_on = sql_set_guard(a->source->owner, false);
	rc = sqlite3_declare_vtab(sqlite, statement);
	if (was_on)
		(void)sql_set_guard(a->source->owner, true);
	sqlite3_free(statement);
	return rc;
}

/* NOLINTNEXTLINE(readability-function-size): SQLite defines the parameters */
static int connect_table(sqlite3 *sqlite, void *aux, int argc, const char *const *argv,
			 sqlite3_vtab **out, char **message)
{
	const struct table_aux *a = aux;
	struct sql_table *table;

	(void)argc;
	(void)argv;
	TRY(declare(a, sqlite, message));
	if (!(table = sqlite3_malloc64(sizeof(*table))))
		return SQLITE_NOMEM;
	*table = (struct sql_table){ .source = a->source, .def = a->def };
	*out = &table->base;
	return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *vtab)
{
	sqlite3_free(vtab);
	return SQLITE_OK;
}

static uint32_t cell_of(const struct sql_table_def *def, size_t column)
{
	if (def->columns) {
		assert(column < def->column_count);
		return def->columns[column].cell;
	}
	return def->option_count && column >= def->column_count - def->option_count ?
		       SQL_OPTION :
		       (uint32_t)column;
}

/*
 * Chooses the keys. Each key that a statement constrains sets one bit of idxNum. The filter gets
 * the values in the order of these bits.
 */
static int best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	const struct sql_table_def *def = ((struct sql_table *)vtab)->def;
	int next = 1, found = 0, missing = 0, key = 0;
	char *text = NULL;
	const char *name = "all rows";

	if (def->plan)
		return def->plan((const struct sql_table *)vtab, info);
	info->idxNum = 0;
	for (size_t no = 0; no < def->column_count; no++) {
		const uint32_t cell = cell_of(def, no);
		int at = -1;

		if (!(cell & (SQL_KEY | SQL_OPTION)))
			continue;
		assert(key < SQL_KEYS_MAX);
		for (int i = 0; i < info->nConstraint; i++) {
			if (info->aConstraint[i].iColumn != (int)no ||
			    info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ ||
			    strcmp(sqlite3_vtab_collation(info, i), "BINARY") != 0)
				continue;
			if (info->aConstraint[i].usable)
				at = i;
			else if (cell & SQL_OPTION)
				return SQLITE_CONSTRAINT;
		}
		if (at >= 0) {
			info->aConstraintUsage[at].argvIndex = next++;
			info->aConstraintUsage[at].omit = (cell & SQL_OPTION) != 0;
			info->idxNum |= 1 << key;
			name = cell & SQL_OPTION ? "by argument" : "by key";
			found++;
		} else {
			missing += (cell & SQL_ARGUMENT) == SQL_ARGUMENT;
		}
		key++;
	}
	if (missing) {
		vtab->zErrMsg = sqlite3_mprintf("%s() requires an argument: SELECT * FROM "
						"%s(...)",
						def->name, def->name);
		return SQLITE_ERROR;
	}
	text = sqlite3_mprintf("%s, columns %llx", name, (unsigned long long)info->colUsed);
	if (!text)
		return SQLITE_NOMEM;
	info->idxStr = text;
	info->needToFreeIdxStr = 1;
	/* a key that only narrows a scan reduces its cost */
	if (!found || (unsigned)info->idxNum == def->narrowing_key) {
		const double rows = found ? def->rows / 10 : def->rows;

		info->estimatedCost = rows * 2;
		info->estimatedRows = (sqlite3_int64)rows;
	} else {
		info->estimatedCost = 100;
		info->estimatedRows = 10;
	}
	return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out)
{
	const struct sql_table *table = (const struct sql_table *)vtab;
	struct sql_cursor *c;

	if (!(c = sqlite3_malloc64(sizeof(*c))))
		return SQLITE_NOMEM;
	*c = (struct sql_cursor){
		.source = table->source,
		.def = table->def,
		.db = table->source->db,
		.state = calloc(1, table->def->state_size ? table->def->state_size : 1),
	};
	if (!c->state) {
		sqlite3_free(c);
		return SQLITE_NOMEM;
	}
	*out = &c->base;
	return SQLITE_OK;
}

static void end_rows(struct sql_cursor *c)
{
	if (c->is_started && c->def->end)
		c->def->end(c);
	c->is_started = false;
	memset(c->state, 0, c->def->state_size);
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
	struct sql_cursor *c = (struct sql_cursor *)cursor;

	end_rows(c);
	free(c->state);
	sqlite3_free(c);
	return SQLITE_OK;
}

static int end_of(const struct sql_cursor *c, int r, struct hdb_error *err)
{
	return c->def->plan ? r : sql_end(c->source, r, err);
}

static int step(sqlite3_vtab_cursor *cursor)
{
	struct sql_cursor *c = (struct sql_cursor *)cursor;
	struct hdb_error err;
	int r;

	assert(c->is_started);
	sql_no_error(&err);
	c->row_no++;
	if (base_flag_is_set(c->source->cancel))
		r = hdb_fail(&err, HDB_EINTR, "interrupted");
	else
		r = end_of(c, c->def->next(c, &err), &err);
	c->at_end = r != HDB_OK;
	return r < 0 ? fail_table(c->base.pVtab, c->source, r, &err) : SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *cursor, int index, const char *text, int argc,
		  sqlite3_value **argv)
{
	struct sql_cursor *c = (struct sql_cursor *)cursor;
	const char *used = text ? strrchr(text, ' ') : NULL;
	struct hdb_error err = { 0 };
	int at = 0, r;

	end_rows(c);
	for (int k = 0; k < SQL_KEYS_MAX; k++)
		c->key[k] = index >> k & 1 && at < argc ? argv[at++] : NULL;
	c->used = used ? strtoull(used + 1, NULL, 16) : ~(sqlite3_uint64)0;
	c->index = index;
	c->argc = argc;
	c->argv = argv;
	c->row_no = 0;
	c->is_started = true;
	r = sql_end(c->source, c->def->begin ? c->def->begin(c, &err) : HDB_OK, &err);
	for (int k = 0; k < SQL_KEYS_MAX; k++)
		c->key[k] = NULL;
	c->argv = NULL;
	assert(at <= argc);
	if (r < 0)
		return fail_table(cursor->pVtab, c->source, r, &err);
	c->at_end = r != HDB_OK;
	return c->at_end ? SQLITE_OK : step(cursor);
}

static int is_at_end(sqlite3_vtab_cursor *cursor)
{
	return ((struct sql_cursor *)cursor)->at_end;
}

/* Returns text to SQLite: for a reference the object's text, otherwise the value. */
static int result_text(struct sql_cursor *c, sqlite3_context *ctx, const struct hdb_basic *value,
		       struct hdb_error *err)
{
	uint32_t ix;

	if (value->type != HDB_BASIC_OBJECT || !value->id) {
		sql_result_basic(ctx, value);
		return HDB_OK;
	}
	TRY_FOUND(hdb_find(c->db, value->id, &ix, err));
	return sql_result_text_of(ctx, c->source, ix, err);
}

static int result_cell(struct sql_cursor *c, sqlite3_context *ctx, uint32_t cell,
		       struct hdb_error *err)
{
	const void *at = (const char *)c->state + (cell & 0xffff);

	if (cell & SQL_OPTION)
		return HDB_OK;
	switch ((enum sql_how)(cell >> 16 & 0xff)) {
	case SQL_BY_COLUMN:
		return c->def->column(c, ctx, (int)(cell & 0xffff), err);
	case SQL_INT:
		sqlite3_result_int(ctx, *(const int *)at);
		break;
	case SQL_U32:
		if (*(const uint32_t *)at != HDB_NONE)
			sqlite3_result_int64(ctx, *(const uint32_t *)at);
		break;
	case SQL_ID:
		if (!*(const uint64_t *)at)
			break;
		/* fall through */
	case SQL_U64:
		sqlite3_result_int64(ctx, *(const int64_t *)at);
		break;
	case SQL_STATIC:
		sqlite3_result_text(ctx, *(const char *const *)at, -1, SQLITE_STATIC);
		break;
	case SQL_TEXT:
		sql_result_copy(ctx, *(const char *const *)at);
		break;
	case SQL_CHARS:
		sql_result_copy(ctx, at);
		break;
	case SQL_CLASS:
		if (*(const uint32_t *)at != HDB_NONE)
			sql_result_class(ctx, c->source, *(const uint32_t *)at);
		break;
	case SQL_OBJECT:
		return sql_result_ix(ctx, c->source, *(const uint32_t *)at, err);
	case SQL_RETAINED:
		return sql_result_retained(ctx, c->source, *(const uint32_t *)at, err);
	case SQL_REFERENCE:
		if (((const struct hdb_basic *)at)->type != HDB_BASIC_OBJECT)
			break;
		/* fall through */
	case SQL_BASIC:
		sql_result_basic(ctx, at);
		break;
	case SQL_BASIC_TEXT:
		return result_text(c, ctx, at, err);
	}
	return HDB_OK;
}

static int column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int number)
{
	struct sql_cursor *c = (struct sql_cursor *)cursor;
	struct hdb_error err;
	int r;

	sql_no_error(&err);
	r = end_of(c, result_cell(c, ctx, cell_of(c->def, (size_t)number), &err), &err);
	return r < 0 ? fail_table(cursor->pVtab, c->source, r, &err) : SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out)
{
	*out = ((struct sql_cursor *)cursor)->row_no;
	return SQLITE_OK;
}

static const struct sqlite3_module module = {
	.iVersion = 0,
	.xCreate = connect_table,
	.xConnect = connect_table,
	.xBestIndex = best_index,
	.xDisconnect = disconnect,
	.xDestroy = disconnect,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter,
	.xNext = step,
	.xEof = is_at_end,
	.xColumn = column,
	.xRowid = row_id,
};

const struct sql_table_def *const sql_tables[] = {
	&sql_refs,           &sql_classes,      &sql_class_fields,
	&sql_roots,          &sql_threads,      &sql_frames,
	&sql_locals,         &sql_heaps,        &sql_class_totals,
	&sql_kind_totals,    &sql_references,   &sql_referrers,
	&sql_outbound,       &sql_inbound,      &sql_dominated,
	&sql_reachable_from, &sql_path_to_root, &sql_entries,
	&sql_elements,       &sql_fields,       NULL,
};

static void release_table(void *p)
{
	struct table_aux *aux = p;

	if (aux->release)
		aux->release((void *)(uintptr_t)aux->def);
	free(aux);
}

int sql_add_table(struct sql_source *source, const char *name, const struct sql_table_def *def,
		  void (*release)(void *def))
{
	struct table_aux *aux = malloc(sizeof(*aux));
	char *module_name = source->is_only ? sqlite3_mprintf("%s", name) :
					      sqlite3_mprintf("heapdb %s %s", source->name, name);
	char *statement = NULL;
	int rc;

	if (!aux) {
		sqlite3_free(module_name);
		if (release)
			release((void *)(uintptr_t)def);
		return SQLITE_NOMEM;
	}
	*aux = (struct table_aux){ source, def, release };
	if (!module_name) {
		release_table(aux);
		return SQLITE_NOMEM;
	}
	rc = sqlite3_create_module_v2(source->sqlite, module_name, &module, aux, release_table);
	if (rc == SQLITE_OK && !source->is_only) {
		statement = sqlite3_mprintf(
			"CREATE VIRTUAL TABLE IF NOT EXISTS \"%w\".\"%w\" USING \"%w\"",
			source->name, name, module_name);
		rc = statement ? sqlite3_exec(source->sqlite, statement, NULL, NULL, NULL) :
				 SQLITE_NOMEM;
	}
	sqlite3_free(statement);
	sqlite3_free(module_name);
	return rc;
}

int sql_register_tables(struct sql_source *source)
{
	for (size_t i = 0; sql_tables[i]; i++)
		TRY(sql_add_table(source, sql_tables[i]->name, sql_tables[i], NULL));
	return SQLITE_OK;
}

/* ---- values ---- */

int sql_value_object(struct sql_source *source, struct sqlite3_value *value, uint32_t *ix,
		     struct hdb_error *err)
{
	uint64_t id = 0;

	if (!value)
		return HDB_NOTFOUND;
	switch (sqlite3_value_type(value)) {
	case SQLITE_INTEGER:
		id = (uint64_t)sqlite3_value_int64(value);
		break;
	case SQLITE_TEXT: {
		const char *text = (const char *)sqlite3_value_text(value);
		char *end = NULL;

		if (text && text[0] == '0' && (text[1] | 0x20) == 'x')
			id = strtoull(text + 2, &end, 16);
		if (!end || *end)
			return hdb_fail(err, HDB_EUSAGE,
					"\"%.80s\" is not an object ID: expected an ID like 0x12c4",
					text ? text : "");
		break;
	}
	case SQLITE_NULL:
		return HDB_NOTFOUND;
	default:
		return hdb_fail(err, HDB_EUSAGE,
				"expected an object ID, not a real number or a blob");
	}
	return id ? hdb_find(source->db, id, ix, err) : HDB_NOTFOUND;
}

void sql_result_class(struct sqlite3_context *ctx, struct sql_source *source, uint32_t class_no)
{
	const char *name = hdb_class_name(source->db, class_no);
	size_t *size = &source->name_sizes[class_no];
	struct hdb_error err;
	int r;

	if (!*size) {
		if ((r = hdb_failed(source->db, &err)) < 0) {
			sql_function_fail(ctx, source, r, &err);
			return;
		}
		*size = strlen(name) + 1;
	}
	sqlite3_result_text(ctx, name, (int)(*size - 1), SQLITE_STATIC);
}

int sql_result_ix(struct sqlite3_context *ctx, struct sql_source *source, uint32_t ix,
		  struct hdb_error *err)
{
	struct hdb_object_facts facts = { .struct_size = sizeof(facts) };

	if (ix == HDB_NONE)
		return HDB_OK;
	TRY(hdb_object_at(source->db, ix, &facts, err));
	if (facts.id)
		sqlite3_result_int64(ctx, (sqlite3_int64)facts.id);
	return HDB_OK;
}

void sql_result_basic(struct sqlite3_context *ctx, const struct hdb_basic *value)
{
	switch (value->type) {
	case HDB_BASIC_OBJECT:
		if (value->id)
			sqlite3_result_int64(ctx, (sqlite3_int64)value->id);
		break;
	case HDB_BASIC_FLOAT:
	case HDB_BASIC_DOUBLE:
		sqlite3_result_double(ctx, value->d);
		break;
	default:
		sqlite3_result_int64(ctx, value->i);
	}
}

const char *sql_column_type(enum hdb_type type)
{
	static const char *const names[] = {
		[HDB_TYPE_COUNT] = "COUNT",   [HDB_TYPE_BYTES] = "BYTES",
		[HDB_TYPE_ID] = "ID",         [HDB_TYPE_INT] = "INT",
		[HDB_TYPE_DOUBLE] = "DOUBLE", [HDB_TYPE_PERCENT] = "PERCENT",
		[HDB_TYPE_BOOL] = "BOOL",
	};
	const char *name = (size_t)type < BASE_COUNT(names) ? names[type] : NULL;

	return name ? name : "TEXT";
}

void sql_result_value(struct sqlite3_context *ctx, const struct hdb_value *value)
{
	switch (value->type) {
	case HDB_TYPE_NULL:
		break;
	case HDB_TYPE_INT:
		sqlite3_result_int64(ctx, value->i);
		break;
	case HDB_TYPE_DOUBLE:
	case HDB_TYPE_PERCENT:
		sqlite3_result_double(ctx, value->d);
		break;
	case HDB_TYPE_TEXT:
		sqlite3_result_text64(ctx, value->text, value->text_size, SQLITE_TRANSIENT,
				      SQLITE_UTF8);
		break;
	default:
		sqlite3_result_int64(ctx, (sqlite3_int64)value->u);
	}
}

int sql_result_text_of(struct sqlite3_context *ctx, struct sql_source *source, uint32_t ix,
		       struct hdb_error *err)
{
	const int most = sqlite3_limit(source->sqlite, SQLITE_LIMIT_LENGTH, -1);
	struct hdb_text text = { .struct_size = sizeof(text) };
	struct hdb_object_facts object = { .struct_size = sizeof(object) };

	TRY_FOUND(hdb_read_text(source->db, ix, (uint64_t)most, &text, err));
	if (text.is_whole) {
		sqlite3_result_text64(ctx, text.text, text.size, free, SQLITE_UTF8);
		return HDB_OK;
	}
	free(text.text);
	TRY(hdb_object_at(source->db, ix, &object, err));
	return hdb_fail(err, HDB_ELIMIT,
			"the string 0x%" PRIx64 " has %s characters, but a string in SQL has at "
			"most %s bytes; exclude this object (id <> 0x%" PRIx64 ")",
			object.id, base_number(text.units).text, base_number((uint64_t)most).text,
			object.id);
}

int sql_result_retained(struct sqlite3_context *ctx, struct sql_source *source, uint32_t ix,
			struct hdb_error *err)
{
	uint64_t bytes;

	TRY(hdb_retained_at(source->db, ix, &bytes, err));
	sqlite3_result_int64(ctx, (sqlite3_int64)bytes);
	return HDB_OK;
}

void sql_result_copy(struct sqlite3_context *ctx, const char *text)
{
	sqlite3_result_text(ctx, text, -1, SQLITE_TRANSIENT);
}

const char *sql_kind_name(unsigned kind)
{
	static const char *const names[] = { "instance", "object array", "primitive array",
					     "class" };

	return names[kind & 3];
}

const char *sql_type_name(enum hdb_basic_type type)
{
	static const char *const names[] = {
		[HDB_BASIC_OBJECT] = "object", [HDB_BASIC_BOOLEAN] = "boolean",
		[HDB_BASIC_CHAR] = "char",     [HDB_BASIC_FLOAT] = "float",
		[HDB_BASIC_DOUBLE] = "double", [HDB_BASIC_BYTE] = "byte",
		[HDB_BASIC_SHORT] = "short",   [HDB_BASIC_INT] = "int",
		[HDB_BASIC_LONG] = "long",
	};

	return (size_t)type < BASE_COUNT(names) && names[type] ? names[type] : "?";
}

uint32_t sql_mark_classes(struct sql_source *source, const char *name, int is_glob, uint8_t *marks)
{
	const uint32_t n = hdb_class_count(source->db);
	uint32_t count = 0;

	for (uint32_t no = 0; no < n; no++) {
		const char *have = hdb_class_name(source->db, no);

		if (is_glob ? sqlite3_strglob(name, have) == 0 : strcmp(name, have) == 0) {
			count += !marks[no];
			marks[no] = 1;
		}
	}
	return count;
}

/* ---- visible objects ---- */

int sql_is_shown(struct sql_source *source, uint32_t ix, bool *shown, struct hdb_error *err)
{
	int reachable = 1;
	const int r =
		source->database.all ? HDB_OK : hdb_reachable_at(source->db, ix, &reachable, err);

	*shown = reachable != 0;
	return r;
}

int sql_need_counts(struct sql_source *source, bool reachable, struct hdb_error *err)
{
	if (source->counts && (source->counts_reachable || !reachable))
		return HDB_OK;
	if (!source->counts)
		TRY(BASE_ALLOC(source->counts, (size_t)hdb_class_count(source->db) + 1,
			       "totals of classes", err));
	source->counts_reachable = reachable;
	return hdb_class_counts(source->db, reachable, source->counts, err);
}

int sql_need_retained(struct sql_source *source, struct hdb_error *err)
{
	/* unreachable objects retain nothing */
	const struct hdb_scan_options opt = { .struct_size = sizeof(opt),
					      .columns = HDB_SCAN_RETAINED,
					      .population = 1 };
	BASE_FREED uint64_t *sums = NULL;
	struct hdb_scan *scan;
	struct hdb_batch batch = { .struct_size = sizeof(batch) };
	int r;

	if (source->retained)
		return HDB_OK;
	TRY(BASE_ALLOC(sums, (size_t)hdb_class_count(source->db) + 1, "totals of classes", err));
	TRY(hdb_scan_open(source->db, &opt, &scan, err));
	while ((r = hdb_scan_next(scan, &batch, err)) == HDB_OK)
		for (size_t i = 0; i < batch.count; i++)
			sums[batch.class_no[i]] += batch.retained_bytes[i];
	hdb_scan_close(scan);
	TRY_ERRORS(r);
	source->retained = sums;
	sums = NULL;
	return HDB_OK;
}
