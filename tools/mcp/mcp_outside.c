/*
 * mcp/mcp_outside.c - the two tools that do not read a database: growth in series, and the memory
 * of a process. Files must be below the given directories, and are only read.
 */
#include "mcp_private.h"

#include "memory/memory.h"
#include "watch/watch.h"

#include <stdlib.h>
#include <string.h>

#define FILES_MAX 16

/* The files of a call; owned. */
struct named_files {
	char *paths[FILES_MAX];
	size_t count;
};

static void release_files(struct named_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free(files->paths[i]);
}

static int take_files(const struct mcp_call *call, struct named_files *out, struct hdb_error *err)
{
	const json_t *value = json_object_get(call->args, "files");
	const size_t count = json_is_array(value) ? json_array_size(value) : 1;

	if (!value || json_is_null(value))
		return HDB_OK;
	if (count > FILES_MAX)
		return hdb_fail(err, HDB_ELIMIT, "too many files (limit %d)", FILES_MAX);
	for (size_t i = 0; i < count; i++) {
		const json_t *name = json_is_array(value) ? json_array_get(value, i) : value;

		if (!json_is_string(name))
			return hdb_fail(err, HDB_EUSAGE,
					"\"files\" must be a string or an array of strings");
		TRY(mcp_files_plain(call->files, json_string_value(name), &out->paths[out->count],
				    err));
		out->count++;
	}
	return HDB_OK;
}

/* Makes an answer from the text. Omits rows that do not fit. */
static int put_answer(const struct mcp_call *call, const char *text, json_t **out,
		      struct hdb_error *err)
{
	json_auto_t *all = json_loads(text, 0, NULL);
	json_t *rows = json_object_get(all, "rows"), *fact;
	const char *name;
	size_t budget, used = 0, count = 0;
	void *next;

	TRY(mcp_take_budget(call->args, &budget, err));
	if (!rows)
		return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for an answer");
	json_object_foreach_safe(json_object_get(all, "facts"), next, name, fact)
	{
		if (json_is_null(fact))
			json_object_del(json_object_get(all, "facts"), name);
	}
	json_object_del(all, "schema");
	json_object_del(all, "columns");
	json_object_del(all, "in_bytes");
	used = mcp_size(all) - mcp_size(rows);
	while (count < json_array_size(rows) &&
	       (used += mcp_size(json_array_get(rows, count)) + 1) <= budget)
		count++;
	if (count < json_array_size(rows))
		json_object_set_new(all, "cut", json_string("rows omitted because of max_tokens"));
	while (json_array_size(rows) > count)
		json_array_remove(rows, json_array_size(rows) - 1);
	json_object_set_new(all, "row_count", json_integer((json_int_t)count));
	*out = json_incref(all);
	return HDB_OK;
}

int mcp_growth(const struct mcp_call *call, const struct tool *tool, json_t **out,
	       struct hdb_error *err)
{
	BASE_SCOPED(release_files) struct named_files files = { 0 };
	BASE_FREED char *text = NULL;
	const char *none;

	TRY(mcp_begin(call, tool, "", &none, err));
	TRY(take_files(call, &files, err));
	if (!files.count)
		return hdb_fail(err, HDB_EUSAGE,
				"missing argument \"files\" (series files written by "
				"`heapdb watch`)");
	TRY(growth_json((const char *const *)files.paths, files.count, true, &text, err));
	return put_answer(call, text, out, err);
}

int mcp_memory(const struct mcp_call *call, const struct tool *tool, json_t **out,
	       struct hdb_error *err)
{
	BASE_SCOPED(release_files) struct named_files files = { 0 };
	struct memory_sources what = { .cancel = call->cancel };
	BASE_FREED char *text = NULL;
	const char *db;

	TRY(mcp_begin(call, tool, "db", &db, err));
	TRY(take_files(call, &files, err));
	TRY(mcp_take_pid(call->args, &what.pid, err));
	if (!what.pid && !files.count)
		return hdb_fail(err, HDB_EUSAGE, "missing \"pid\" or \"files\"");
	if (db)
		TRY(mcp_files_open(call->files, db, &what.db, NULL, err));
	what.files = (const char *const *)files.paths;
	what.file_count = files.count;
	TRY(memory_json(&what, true, &text, err));
	return put_answer(call, text, out, err);
}
