/*
 * api/api.c - the bodies of heapdb.h: import, open, look-ups, queries. Thin: what is done is done
 * below.
 */
#include "api/handle.h"

#include "base/input.h"
#include "base/source.h"
#include "import/import.h"
#include "queries/queries.h"
#include "query/query.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A query's rows are its running state. */
struct hdb_rows {
	struct query *query;
	struct session *before; /* of args->before; owned */
};

/* Bytes of the extension that says that a file is compressed; 0: it has none. */
static size_t packed_extension(const char *name)
{
	static const char *const extensions[] = { ".gz", ".zst", ".zstd" };
	const size_t size = strlen(name);

	for (size_t i = 0; i < sizeof(extensions) / sizeof(extensions[0]); i++) {
		const size_t n = strlen(extensions[i]);

		if (size > n && strcmp(name + size - n, extensions[i]) == 0)
			return n;
	}
	return 0;
}

int hdb_default_path(const char *dump_path, char *buf, size_t size, struct hdb_error *err)
{
	static const char extension[] = ".heapdb";
	const char *slash, *name, *dot;
	size_t keep;

	if (!dump_path)
		return hdb_fail(err, HDB_EUSAGE, "no dump was named");
	if (strcmp(dump_path, BASE_INPUT_STDIN) == 0)
		return hdb_fail(err, HDB_EUSAGE,
				"what comes from the standard input has no name: -o FILE names "
				"the database");
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

int hdb_import(const char *dump_path, const char *db_path, const struct hdb_import_options *opt,
	       struct hdb_import_result *out, struct hdb_error *err)
{
	static const struct hdb_import_options defaults;
	struct base_work work;
	char path[4096];
	int r;

	if (!opt)
		opt = &defaults;
	if (!dump_path)
		return hdb_fail(err, HDB_EUSAGE, "no dump was named");
	if (!db_path) {
		r = hdb_default_path(dump_path, path, sizeof(path), err);
		if (r < 0)
			return r;
		db_path = path;
	}
	base_sigbus_install();
	base_work_init(&work, opt->memory_bytes, opt->threads, &opt->progress);
	r = import_dump(dump_path, db_path, opt, &work, out, err);
	base_work_release(&work);
	return r;
}

int hdb_open(const char *db_path, const struct hdb_open_options *opt, struct hdb **out,
	     struct hdb_error *err)
{
	static const struct hdb_open_options defaults;
	struct hdb *db;
	int r;

	if (!db_path)
		return hdb_fail(err, HDB_EUSAGE, "no database was named");
	db = calloc(1, sizeof(*db));
	if (!db)
		return hdb_fail_memory(err, "a database handle", sizeof(*db));
	if (!opt)
		opt = &defaults;
	base_sigbus_install();
	base_work_init(&db->work, opt->memory_bytes, opt->threads, &opt->progress);
	if (opt->tmp_dir)
		db->work.tmp_dir = opt->tmp_dir;
	db->folder = strdup(db_path);
	if (!db->folder)
		r = hdb_fail_memory(err, "a file name", strlen(db_path));
	else
		r = heap_open(db_path, opt->dump_path, &db->work, &db->heap, err);
	if (r < 0) {
		base_work_release(&db->work);
		free(db->folder);
		free(db);
		return r;
	}
	db->work.scratch_dir = dirname(db->folder);
	derive_init(&db->derive, db->heap, &db->work);
	*out = db;
	return HDB_OK;
}

void hdb_health(const struct hdb *db, struct hdb_health *out)
{
	const struct heap_state *state = &db->heap->state;

	*out = (struct hdb_health){
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
	};
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

int hdb_dump_read(struct hdb *db, uint64_t offset, void *buf, size_t size, size_t *done,
		  struct hdb_error *err)
{
	struct heap *heap = db->heap;
	const uint8_t *p;
	uint64_t left;
	int r = heap_open_dump(heap, err);

	*done = 0;
	if (r < 0)
		return r;
	if (offset >= heap->source->size)
		return HDB_END;
	left = heap->source->size - offset;
	*done = size < left ? size : (size_t)left;
	p = base_view_at(&heap->view, offset, *done, err);
	if (!p)
		return HDB_EIO;
	memcpy(buf, p, *done);
	return heap_check_size(heap, err);
}

static int find(struct hdb *db, uint64_t id, uint32_t *ix, struct hdb_error *err)
{
	const int r = heap_find(db->heap, id, ix, err);

	if (r == HDB_NOTFOUND)
		return hdb_fail(err, HDB_NOTFOUND, "there is no object 0x%" PRIx64, id);
	return r;
}

int hdb_object(struct hdb *db, uint64_t id, struct hdb_object_info *out, struct hdb_error *err)
{
	struct heap_object object;
	uint32_t ix;
	int r = find(db, id, &ix, err);

	if (r != HDB_OK)
		return r;
	memset(out, 0, sizeof(*out));
	r = heap_object(db->heap, ix, &object, err);
	if (r == HDB_OK)
		r = heap_offset(db->heap, ix, &out->file_offset, err);
	if (r < 0)
		return r;
	out->id = id;
	out->kind = (enum hdb_object_kind)object.kind;
	out->class_name = heap_class_name(db->heap, object.class_no);
	out->class_id = heap_class(db->heap, object.class_no)->class_id;
	out->shallow_bytes = object.shallow_bytes;
	out->length = object.kind == STORE_CLASS ? 0 : object.length;
	/* A name that could not be read is not shown as if right. */
	return heap_check(db->heap, err);
}

int hdb_retained(struct hdb *db, uint64_t id, uint64_t *bytes, struct hdb_error *err)
{
	uint32_t ix;
	const int r = find(db, id, &ix, err);

	return r == HDB_OK ? hdb_retained_at(db, ix, bytes, err) : r;
}

/* ---- queries ---- */

const struct hdb_query_spec *hdb_queries(size_t *count)
{
	return query_specs(count);
}

const struct hdb_query_spec *hdb_query_named(const char *name)
{
	return query_spec_named(name);
}

const struct hdb_column *hdb_common_facts(size_t *count)
{
	return query_common_facts(count);
}

int hdb_query(struct hdb *db, const char *name, const struct hdb_query_args *args,
	      struct hdb_rows **out, struct hdb_error *err)
{
	static const struct hdb_query_args none;
	const struct session session = { db->heap, &db->derive, &db->work };
	const struct query_def *def = name ? query_find(name) : NULL;
	struct hdb_rows *rows;
	int r;

	if (!def)
		return query_fail_unknown(name ? name : "", err);
	rows = calloc(1, sizeof(*rows));
	if (!args)
		args = &none;
	if (rows)
		rows->before = calloc(args->before_count + 1, sizeof(*rows->before));
	if (!rows || !rows->before) {
		free(rows);
		return hdb_fail_memory(err, "an answer", sizeof(*rows));
	}
	for (size_t i = 0; i < args->before_count; i++) {
		struct hdb *other = args->before[i];

		rows->before[i] = (struct session){ other->heap, &other->derive, &other->work };
	}
	r = query_open(def, &session, rows->before, args, &rows->query, err);
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
	return query_column_count(rows->query);
}

const struct hdb_column *hdb_rows_column(const struct hdb_rows *rows, size_t column)
{
	return query_column(rows->query, column);
}

int hdb_rows_next(struct hdb_rows *rows, struct hdb_error *err)
{
	return query_next(rows->query, err);
}

const struct hdb_value *hdb_rows_value(const struct hdb_rows *rows, size_t column)
{
	return query_value(rows->query, column);
}

int hdb_rows_total(struct hdb_rows *rows, uint64_t *total, struct hdb_error *err)
{
	return query_total(rows->query, total, err);
}

size_t hdb_rows_fact_count(const struct hdb_rows *rows)
{
	return query_fact_count(rows->query);
}

const struct hdb_column *hdb_rows_fact_column(const struct hdb_rows *rows, size_t fact)
{
	return query_fact_column(rows->query, fact);
}

const struct hdb_value *hdb_rows_fact_value(const struct hdb_rows *rows, size_t fact)
{
	return query_fact_value(rows->query, fact);
}

void hdb_rows_close(struct hdb_rows *rows)
{
	if (!rows)
		return;
	query_close(rows->query);
	free(rows->before);
	free(rows);
}
