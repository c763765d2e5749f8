/*
 * export/export.c - reads a stream of columns, determines their types, and passes batches to a
 * format's writer.
 */
#include "export/export_private.h"

#include <errno.h>
#include <stdlib.h>

int export_no_memory(struct hdb_error *err)
{
	return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for written rows");
}

int export_write(struct export_writer *w, const void *data, size_t size, struct hdb_error *err)
{
	w->offset += size;
	return size ? w->sink->write(w->sink->ctx, data, size, err) : HDB_OK;
}

/* Determines the type of a schema field. Only formats that hdb_rows_arrow uses are known. */
static int read_field(const struct ArrowSchema *field, struct export_column *column,
		      struct hdb_error *err)
{
	const char *format = field->format;

	column->name = field->name ? field->name : "";
	if (field->dictionary) {
		if (strcmp(format, "i") != 0 || strcmp(field->dictionary->format, "u") != 0)
			goto unknown;
		column->kind = EXPORT_TEXT;
		column->has_dictionary = true;
		return HDB_OK;
	}
	if (strcmp(format, "L") == 0 || strcmp(format, "l") == 0)
		column->kind = EXPORT_I64;
	else if (strcmp(format, "g") == 0)
		column->kind = EXPORT_F64;
	else if (strcmp(format, "b") == 0)
		column->kind = EXPORT_BOOL;
	else if (strcmp(format, "u") == 0)
		column->kind = EXPORT_TEXT;
	else
		goto unknown;
	column->is_unsigned = *format == 'L';
	return HDB_OK;
unknown:
	return hdb_fail(err, HDB_EUSAGE, "column \"%.60s\" has an unsupported type", column->name);
}

static int read_schema(const struct ArrowSchema *schema, struct export_writer *w,
		       struct export_column **columns, struct hdb_error *err)
{
	const size_t count = (size_t)schema->n_children;

	if (strcmp(schema->format, "+s") != 0 || !count)
		return hdb_fail(err, HDB_EUSAGE, "no columns to export");
	*columns = calloc(count, sizeof(**columns));
	if (!*columns)
		return export_no_memory(err);
	for (size_t i = 0; i < count; i++)
		TRY(read_field(schema->children[i], &(*columns)[i], err));
	w->columns = *columns;
	w->column_count = count;
	return HDB_OK;
}

/* Returns the uncompressed size of a batch in bytes. */
static uint64_t raw_bytes(const struct export_writer *w, const struct ArrowArray *batch)
{
	const uint64_t rows = (uint64_t)batch->length;
	uint64_t bytes = 0;

	for (size_t i = 0; i < w->column_count; i++) {
		const struct ArrowArray *c = batch->children[i];

		if (w->columns[i].kind == EXPORT_TEXT && !w->columns[i].has_dictionary)
			bytes += 4 * rows + (uint64_t)((const int32_t *)c->buffers[1])[rows];
		else if (w->columns[i].kind == EXPORT_TEXT)
			bytes += 4 * rows;
		else
			bytes += w->columns[i].kind == EXPORT_BOOL ? (rows + 7) / 8 : 8 * rows;
	}
	return bytes;
}

static int fail_stream(struct ArrowArrayStream *stream, int code, struct hdb_error *err)
{
	const char *message = stream->get_last_error(stream);

	/* the stream reports errno codes only */
	const int result = code == ENOMEM  ? HDB_ENOMEM :
			   code == EINTR   ? HDB_EINTR :
			   code == EINVAL  ? HDB_EUSAGE :
			   code == EBADMSG ? HDB_ECORRUPT :
					     HDB_EIO;

	return hdb_fail(err, result, "%s", message ? message : "cannot read the rows");
}

static int write_batches(struct ArrowArrayStream *stream, const struct export_writing *writing,
			 struct export_writer *w, struct export_result *out, struct hdb_error *err)
{
	int r;

	for (;;) {
		struct ArrowArray batch = { 0 };
		const int code = stream->get_next(stream, &batch);

		if (code)
			return fail_stream(stream, code, err);
		if (!batch.release)
			return HDB_OK;
		out->rows += (uint64_t)batch.length;
		out->raw_bytes += raw_bytes(w, &batch);
		r = writing->batch(w, &batch, err);
		batch.release(&batch);
		TRY_ERRORS(r);
	}
}

static int write_file(void *ctx, const void *data, size_t size, struct hdb_error *err)
{
	return base_outfile_write(ctx, data, size, err);
}

struct export_sink export_file_sink(struct base_outfile *file)
{
	return (struct export_sink){ write_file, file };
}

int export_stream(struct ArrowArrayStream *stream, const struct export_options *options,
		  const struct export_sink *sink, struct export_result *out, struct hdb_error *err)
{
	const struct export_writing *writing =
		options->format == EXPORT_PARQUET ? &export_parquet : &export_arrow;
	struct export_writer w = { .options = options, .sink = sink };
	struct export_result result = { 0 };
	struct export_column *columns = NULL;
	struct ArrowSchema schema = { 0 };
	int code = stream->get_schema(stream, &schema), r;

	if (code)
		return fail_stream(stream, code, err);
	if ((r = read_schema(&schema, &w, &columns, err)) < 0)
		goto out;
	if ((r = writing->begin(&w, err)) < 0)
		goto out;
	if ((r = write_batches(stream, writing, &w, &result, err)) < 0)
		goto out;
	if ((r = writing->end(&w, err)) < 0)
		goto out;
	result.bytes = w.offset;
	if (out)
		*out = result;
out:
	writing->release(&w);
	free(columns);
	schema.release(&schema);
	return r;
}
