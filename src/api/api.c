/*
 * api/api.c - implements import, open, look-ups and queries of heapdb.h. These functions check
 * arguments and convert structures; the layers below do the work.
 */
#include "api/handle.h"
#include "base/base_text.h"
#include "api/trace.h"

#include "base/input.h"
#include "base/plain_locale.h"
#include "base/scope.h"
#include "base/source.h"
#include "heap/heap_database.h"
#include "import/import.h"
#include "queries/queries.h"
#include "query/query.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns the length of a compressed file's extension, or 0 if the file name has none. */
static size_t packed_extension(const char *name)
{
	static const char *const extensions[] = { ".gz", ".zst", ".zstd" };

	for (size_t i = 0; i < BASE_COUNT(extensions); i++)
		if (base_ends_with(name, extensions[i]))
			return strlen(extensions[i]);
	return 0;
}

int hdb_default_path(const char *dump_path, char *buf, size_t size, struct hdb_error *err)
{
	API_NEEDS(dump_path && buf, err);

	static const char extension[] = ".heapdb";
	const char *slash, *name, *dot;
	size_t keep;

	if (strcmp(dump_path, BASE_INPUT_STDIN) == 0)
		return hdb_fail(err, HDB_EUSAGE,
				"a dump from standard input has no name; use -o FILE to name the "
				"database");
	slash = strrchr(dump_path, '/');
	name = slash ? slash + 1 : dump_path;
	keep = strlen(dump_path) - packed_extension(name);
	dot = memrchr(name, '.', keep - (size_t)(name - dump_path));
	if (dot && dot != name)
		keep = (size_t)(dot - dump_path);
	if (keep > INT_MAX || keep + sizeof(extension) > size)
		return hdb_fail(err, HDB_ELIMIT, "%s: file name too long", dump_path);
	(void)snprintf(buf, size, "%.*s%s", (int)keep, dump_path, extension);
	return HDB_OK;
}

void api_import_work(struct base_work *work, const struct hdb_import_options *opt,
		     uint64_t memory_bytes)
{
	base_work_init(work, memory_bytes, opt->threads, &opt->progress);
	if (memory_bytes)
		base_work_allow(work);
	work->is_unsynced = opt->no_sync != 0;
}

int hdb_import(const char *dump_path, const char *db_path, const struct hdb_import_options *opt,
	       struct hdb_import_result *out, struct hdb_error *err)
{
	API_NEEDS(dump_path, err);
	BASE_PLAIN_LOCALE;

	struct hdb_import_options options = { 0 };
	struct hdb_import_result result = { 0 };
	struct import_paths paths = { .dump = dump_path, .database = db_path };
	struct base_work work;
	char path[4096];
	int r;

	API_CHECK(out, err);
	API_READ(&options, opt, err);
	if (!db_path) {
		TRY(hdb_default_path(dump_path, path, sizeof(path), err));
		paths.database = path;
	}
	if (!options.no_sigbus_handler)
		base_sigbus_install();
	TRY(base_input_open(dump_path, options.progress.cancel, &paths.input, err));
	r = api_import_trace(paths, &options, &result, err);
	if (r == HDB_NOTFOUND) {
		api_import_work(&work, &options, options.memory_bytes);
		r = import_dump(paths, &options, &work, &result, err);
		base_work_release(&work);
	} else {
		base_input_close(paths.input);
	}
	API_WRITE(out, &result);
	return r;
}

/*
 * Announces that an outdated database will be imported again. Fails with HDB_EVERSION and the
 * reason if this is impossible, for example because the dump is missing or has changed.
 */
static int begin_again(const struct heap *heap, const struct hdb_progress *progress,
		       struct hdb_error *err)
{
	const char *path = heap_path(heap), *dump = heap_where_dump(heap);
	char writer[64], text[HDB_ERROR_SIZE];

	heap_meta_text(heap, "writer", writer, sizeof(writer));
	if (heap_keeps_dump(heap) && !heap->dump.path)
		return hdb_fail(
			err, HDB_EVERSION,
			"%s: written by %s in a format that this version does not read, so the "
			"dump stored in it cannot be read either; import %s again",
			path, writer, dump);
	if (access(dump, R_OK) != 0)
		return hdb_fail(
			err, HDB_EVERSION,
			"%s: written by %s in a format that this version does not read, and the "
			"dump %s cannot be read (%s); import the dump again",
			path, writer, dump, strerror(errno));
	if (heap->state.stale)
		return hdb_fail(
			err, HDB_EVERSION,
			"%s: written by %s in a format that this version does not read, and the "
			"dump %s has changed since; import the dump again",
			path, writer, dump);
	(void)snprintf(text, sizeof(text),
		       "%s was written by %s in a format that this version does not read; "
		       "importing %s again",
		       path, writer, dump);
	if (progress->notice)
		progress->notice(progress->ctx, text);
	return HDB_OK;
}

int hdb_import_again(const char *db_path, const char *dump_path,
		     const struct hdb_import_options *opt, struct hdb_import_result *out,
		     struct hdb_error *err)
{
	API_NEEDS(db_path, err);

	struct hdb_import_options options = { 0 };
	struct base_work work;
	struct heap *heap = NULL;
	int r;

	API_CHECK(out, err);
	API_READ(&options, opt, err);
	if (!options.no_sigbus_handler)
		base_sigbus_install();
	base_work_init(&work, options.memory_bytes, options.threads, &options.progress);
	r = heap_open_meta(db_path, dump_path, &work, &heap, err);
	if (r == HDB_OK)
		r = begin_again(heap, &options.progress, err);
	if (r == HDB_OK) {
		const struct heap_state *state = &heap->state;

		options.sizes = heap->layout.model;
		options.layout = state->layout[0] ? state->layout : NULL;
		options.mapping_path = state->mapping_path[0] ? state->mapping_path : NULL;
		options.snapshot = state->snapshot;
		options.strict = state->is_strict;
		options.force = 1;
		r = hdb_import(heap_where_dump(heap), db_path, &options, out, err);
	}
	heap_close(heap);
	base_work_release(&work);
	return r;
}

int hdb_open(const char *db_path, const struct hdb_open_options *opt, struct hdb **out,
	     struct hdb_error *err)
{
	API_NEEDS(db_path && out, err);

	struct hdb_open_options options = { 0 };
	struct hdb *db;
	int r;

	API_READ(&options, opt, err);
	TRY(BASE_ALLOC(db, 1, "a database handle", err));
	if (!options.no_sigbus_handler)
		base_sigbus_install();
	base_work_init(&db->work, options.memory_bytes, options.threads, &options.progress);
	if (options.memory_bytes)
		base_work_allow(&db->work);
	if (options.tmp_dir)
		db->work.tmp_dir = options.tmp_dir;
	db->work.is_unsynced = options.no_sync != 0;
	db->folder = strdup(db_path);
	if (!db->folder)
		r = hdb_fail_memory(err, "a file name", strlen(db_path));
	else
		r = heap_open(db_path, options.dump_path, &db->work, &db->heap, err);
	if (r < 0) {
		base_work_release(&db->work);
		free(db->folder);
		free(db);
		return r;
	}
	db->heap->rules_path = options.rules_path ? options.rules_path : getenv("HEAPDB_RULES");
	db->work.scratch_dir = dirname(db->folder);
	derive_init(&db->derive, db->heap, &db->work);
	*out = db;
	return HDB_OK;
}

int hdb_failed(const struct hdb *db, struct hdb_error *err)
{
	API_NEEDS(db, err);
	return heap_check(db->heap, err);
}

void hdb_health(const struct hdb *db, struct hdb_health *out)
{
	struct hdb_health health = { 0 };

	if (db) {
		const struct heap_state *state = &db->heap->state;

		health = (struct hdb_health){
			.stale = state->stale,
			.incomplete = state->incomplete,
			.redacted = state->redacted,
			.missing_bytes = state->missing_bytes,
			.skipped_bytes = state->skipped_bytes,
			.roots_seen = state->roots_seen,
			.dump_path = state->imported_path,
			.layout = state->layout[0] ? state->layout : NULL,
			.sizes = db->heap->layout.model,
			.snapshot = state->snapshot,
			.strict = state->is_strict,
			.mapping_path = state->mapping_path[0] ? state->mapping_path : NULL,
			.is_damaged = state->is_damaged,
		};
	}
	API_WRITE(out, &health);
}

uint64_t hdb_dump_fingerprint(const struct hdb *db)
{
	return db ? store_meta_number(db->heap->store, "dump.fingerprint", 0) : 0;
}

void hdb_close(struct hdb *db)
{
	if (!db)
		return;
	derive_release(&db->derive);
	heap_close(db->heap);
	base_work_release(&db->work);
	free(db->folder);
	free(db);
}

/* NOLINTNEXTLINE(readability-function-size): parameters as of pread, with handle and error */
int hdb_dump_read(struct hdb *db, uint64_t offset, void *buf, size_t size, size_t *done,
		  struct hdb_error *err)
{
	API_NEEDS(db && buf && done, err);

	struct heap *heap = db->heap;
	const uint8_t *p;
	uint64_t left;

	*done = 0;
	TRY(heap_open_dump(heap, err));
	if (offset >= heap->dump.source->size)
		return HDB_END;
	left = heap->dump.source->size - offset;
	*done = size < left ? size : (size_t)left;
	p = base_view_at(&heap->dump.view, offset, *done, err);
	if (!p)
		return HDB_EIO;
	memcpy(buf, p, *done);
	return heap_check_size(heap, err);
}

static int find(struct hdb *db, uint64_t id, uint32_t *ix, struct hdb_error *err)
{
	const int r = heap_find(db->heap, id, ix, err);

	if (r == HDB_NOTFOUND)
		return hdb_fail(err, HDB_NOTFOUND, "no such object: 0x%" PRIx64, id);
	return r;
}

int hdb_object(struct hdb *db, uint64_t id, struct hdb_object_info *out, struct hdb_error *err)
{
	API_NEEDS(db && out, err);

	struct hdb_object_info info = { .id = id };
	struct heap_object object;
	uint32_t ix;

	API_CHECK(out, err);
	TRY(find(db, id, &ix, err));
	TRY(heap_object(db->heap, ix, &object, err));
	TRY(heap_offset(db->heap, ix, &info.file_offset, err));
	info.kind = (enum hdb_object_kind)object.kind;
	info.class_name = heap_class_name(db->heap, object.class_no);
	info.class_id = heap_class(db->heap, object.class_no)->class_id;
	info.shallow_bytes = object.shallow_bytes;
	info.length = object.kind == STORE_CLASS ? 0 : object.length;
	API_WRITE(out, &info);
	/* A name that could not be read is "?". In this case, report the failure. */
	return heap_check(db->heap, err);
}

int hdb_retained(struct hdb *db, uint64_t id, uint64_t *bytes, struct hdb_error *err)
{
	API_NEEDS(db && bytes, err);

	uint32_t ix;

	TRY(find(db, id, &ix, err));
	return hdb_retained_at(db, ix, bytes, err);
}

/* ---- queries ---- */

size_t hdb_query_count(void)
{
	size_t n;

	(void)query_specs(&n);
	return n;
}

const struct hdb_query_spec *hdb_query_at(size_t no)
{
	size_t n;
	const struct hdb_query_spec *specs = query_specs(&n);

	return no < n ? &specs[no] : NULL;
}

const struct hdb_option_spec *hdb_query_option(const struct hdb_query_spec *query, size_t no)
{
	for (size_t i = 0; query && query->options[i].name; i++)
		if (i == no)
			return &query->options[i];
	return NULL;
}

const struct hdb_column *hdb_query_column(const struct hdb_query_spec *query, size_t no)
{
	return query && no < query->column_count ? &query->columns[no] : NULL;
}

const struct hdb_column *hdb_query_fact(const struct hdb_query_spec *query, size_t no)
{
	size_t n = 0;
	const struct hdb_column *facts = query ? query->facts : query_common_facts(&n);

	return no < (query ? query->fact_count : n) ? &facts[no] : NULL;
}

const struct hdb_query_spec *hdb_query_named(const char *name)
{
	return name ? query_spec_named(name) : NULL;
}

/*
 * Fails with HDB_EUSAGE if a list has a count but is NULL or contains NULL, or if a filter has no
 * function.
 */
static int check_args(const struct hdb_query_args *args, struct hdb_error *err)
{
	const struct hdb_row_filter *filter = args->filter;
	bool lacks = (args->target_count && !args->targets) || (args->id_count && !args->ids) ||
		     (args->option_count && !args->options) ||
		     (args->before_count && !args->before) ||
		     (filter && (!filter->begin || !filter->uses || !filter->test));

	for (size_t i = 0; !lacks && i < args->target_count; i++)
		lacks = !args->targets[i];
	for (size_t i = 0; !lacks && i < args->option_count; i++)
		lacks = !args->options[i].name;
	for (size_t i = 0; !lacks && i < args->before_count; i++)
		lacks = !args->before[i];
	return lacks ? hdb_fail(err, HDB_EUSAGE,
				"hdb_query: a required pointer in `args` is NULL") :
		       HDB_OK;
}

int hdb_query(struct hdb *db, const char *name, const struct hdb_query_args *args,
	      struct hdb_rows **out, struct hdb_error *err)
{
	API_NEEDS(db && name && out, err);
	BASE_PLAIN_LOCALE;

	const struct session session = api_session(db);
	const struct query_def *def = query_find(name);
	struct hdb_query_args call_args;
	struct hdb_row_filter filter;
	struct hdb_rows *rows;
	int r;

	API_READ(&call_args, args, err);
	API_READ(&filter, call_args.filter, err);
	if (call_args.filter)
		call_args.filter = &filter;
	if (!def)
		return query_fail_unknown(name, err);
	TRY(check_args(&call_args, err));
	rows = calloc(1, sizeof(*rows));
	if (rows)
		rows->before = calloc(call_args.before_count + 1, sizeof(*rows->before));
	if (!rows || !rows->before) {
		free(rows);
		return hdb_fail_memory(err, "an answer", sizeof(*rows));
	}
	rows->filter = filter;
	if (call_args.filter)
		call_args.filter = &rows->filter;
	for (size_t i = 0; i < call_args.before_count; i++) {
		struct hdb *other = call_args.before[i];

		rows->before[i] = api_session(other);
	}
	r = query_open(def, &(struct query_sides){ &session, rows->before }, &call_args,
		       &rows->query, err);
	if (r != HDB_OK) {
		free(rows->before);
		free(rows);
		return r;
	}
	*out = rows;
	return HDB_OK;
}

size_t hdb_rows_column_count(const struct hdb_rows *rows)
{
	return rows ? query_column_count(rows->query) : 0;
}

const struct hdb_column *hdb_rows_column(const struct hdb_rows *rows, size_t column)
{
	return rows ? query_column(rows->query, column) : NULL;
}

size_t hdb_rows_find_column(const struct hdb_rows *rows, const char *name)
{
	return rows && name ? query_find_shown(rows->query, name) : SIZE_MAX;
}

int hdb_rows_next(struct hdb_rows *rows, struct hdb_error *err)
{
	API_NEEDS(rows, err);
	BASE_PLAIN_LOCALE;

	return query_next(rows->query, err);
}

const struct hdb_value *hdb_rows_value(const struct hdb_rows *rows, size_t column)
{
	return rows ? query_value(rows->query, column) : NULL;
}

/* ---- values by their type ---- */

/* Returns NULL if the column does not exist or has no value. */
static const struct hdb_value *value_of(const struct hdb_rows *rows, size_t column)
{
	const struct hdb_value *value;

	if (!rows || column >= query_column_count(rows->query))
		return NULL;
	value = query_value(rows->query, column);
	return value->type != HDB_TYPE_NULL ? value : NULL;
}

static bool is_unsigned(enum hdb_type type)
{
	return type == HDB_TYPE_COUNT || type == HDB_TYPE_BYTES || type == HDB_TYPE_ID ||
	       type == HDB_TYPE_BOOL;
}

int hdb_rows_is_null(const struct hdb_rows *rows, size_t column)
{
	return value_of(rows, column) == NULL;
}

uint64_t hdb_rows_u64(const struct hdb_rows *rows, size_t column)
{
	const struct hdb_value *value = value_of(rows, column);

	return value && is_unsigned(value->type) ? value->u : 0;
}

int64_t hdb_rows_i64(const struct hdb_rows *rows, size_t column)
{
	const struct hdb_value *value = value_of(rows, column);

	if (value && is_unsigned(value->type))
		return value->u <= INT64_MAX ? (int64_t)value->u : INT64_MAX;
	return value && value->type == HDB_TYPE_INT ? value->i : 0;
}

double hdb_rows_double(const struct hdb_rows *rows, size_t column)
{
	const struct hdb_value *value = value_of(rows, column);

	if (!value || value->type == HDB_TYPE_TEXT)
		return 0;
	return is_unsigned(value->type)    ? (double)value->u :
	       value->type == HDB_TYPE_INT ? (double)value->i :
					     value->d;
}

const char *hdb_rows_text(struct hdb_rows *rows, size_t column)
{
	const struct hdb_value *value = value_of(rows, column);
	char *copy;

	if (!value || value->type != HDB_TYPE_TEXT)
		return NULL;
	if (!rows->texts)
		rows->texts = calloc(query_column_count(rows->query) + 1, sizeof(*rows->texts));
	copy = rows->texts ? malloc(value->text_size + 1) : NULL;
	if (!copy)
		return NULL;
	memcpy(copy, value->text, value->text_size);
	copy[value->text_size] = '\0';
	free(rows->texts[column]);
	rows->texts[column] = copy;
	return copy;
}

int hdb_rows_total(struct hdb_rows *rows, uint64_t *total, struct hdb_error *err)
{
	API_NEEDS(rows && total, err);

	return query_total(rows->query, total, err);
}

size_t hdb_rows_fact_count(const struct hdb_rows *rows)
{
	return rows ? query_fact_count(rows->query) : 0;
}

const struct hdb_column *hdb_rows_fact_column(const struct hdb_rows *rows, size_t fact)
{
	return fact < hdb_rows_fact_count(rows) ? query_fact_column(rows->query, fact) : NULL;
}

const struct hdb_value *hdb_rows_fact_value(const struct hdb_rows *rows, size_t fact)
{
	return fact < hdb_rows_fact_count(rows) ? query_fact_value(rows->query, fact) : NULL;
}

const struct hdb_value *hdb_rows_find_fact(const struct hdb_rows *rows, const char *name)
{
	const size_t count = hdb_rows_fact_count(rows);

	for (size_t i = 0; name && i < count; i++)
		if (strcmp(query_fact_column(rows->query, i)->name, name) == 0)
			return query_fact_value(rows->query, i);
	return NULL;
}

void hdb_rows_close(struct hdb_rows *rows)
{
	struct base_work *work;

	if (!rows)
		return;
	for (size_t i = 0; rows->texts && i < query_column_count(rows->query); i++)
		free(rows->texts[i]);
	free(rows->texts);
	work = rows->query ? rows->query->work : NULL;
	query_close(rows->query);
	/* The handle may stay idle for a long time, so free the memory kept for the next query. */
	if (work)
		base_work_release(work);
	free(rows->before);
	free(rows);
}
