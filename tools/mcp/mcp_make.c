/*
 * mcp/mcp_make.c - the two tools that create a database: from a dump below the given directories,
 * and from a running JVM. Both need the user's consent; see mcp_call.
 */
#include "mcp_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Asks the user, makes the database and describes it. */
static int make(const struct mcp_call *call, struct mcp_making *what, const char *question,
		json_t **out, struct hdb_error *err)
{
	const struct mcp_options *options = call->files->options;
	const bool is_allowed = what->dump_path ? options->allow_import : options->allow_capture;
	struct mcp_made made = { .result = { .struct_size = sizeof(made.result) } };
	BASE_FREED char *shown = NULL;
	struct hdb *db;

	if (!is_allowed)
		TRY(call->consent(call->ctx, question,
				  what->dump_path ? "allow-import" : "allow-capture", err));
	what->progress = &call->files->open.progress;
	TRY(options->make(options, what, &made, err));
	TRY(mcp_files_open(call->files, what->db_path, &db, &shown, err));
	*out = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:f}", "db", shown, "objects",
			 (json_int_t)made.result.object_count, "classes",
			 (json_int_t)made.result.class_count, "problems",
			 (json_int_t)made.result.problem_count, "dump_bytes",
			 (json_int_t)made.result.dump_bytes, "database_bytes",
			 (json_int_t)made.result.database_bytes, "seconds", made.seconds);
	if (!what->dump_path)
		json_object_update_new(*out,
				       json_pack("{s:f, s:b}", "pause_seconds", made.pause_seconds,
						 "pause_is_estimate", made.pause_is_estimate));
	return HDB_OK;
}

int mcp_make_import(const struct mcp_call *call, const struct tool *tool, json_t **out,
		    struct hdb_error *err)
{
	BASE_FREED char *dump = NULL, *db = NULL;
	struct mcp_making what = { 0 };
	char question[8192 + 64];
	const char *name;
	struct stat info;

	TRY(mcp_begin(call, tool, "dump", &name, err));
	if (!name)
		return hdb_fail(err, HDB_EUSAGE, "missing \"dump\"");
	TRY(mcp_files_dump(call->files, name, &dump, &db, err));
	what.dump_path = dump;
	what.db_path = db;
	snprintf(question, sizeof(question), "Import the heap dump %s (%s) into the database %s?",
		 dump, base_size(stat(dump, &info) == 0 ? (uint64_t)info.st_size : 0).text, db);
	return make(call, &what, question, out, err);
}

/* ---- running JVMs ---- */

struct listing {
	json_t *rows;
	int pid; /* the JVM searched */
	char name[256];
	bool is_found;
};

static void add_jvm(void *ctx, const struct mcp_jvm *jvm)
{
	struct listing *l = ctx;
	/* NULL: a text is not UTF-8. */
	json_t *row = json_pack("{s:i, s:s, s:s, s:s, s:I}", "pid", jvm->pid, "user", jvm->user,
				"main_class", jvm->main_class, "version", jvm->version, "heap_used",
				(json_int_t)jvm->heap_used);

	if (row)
		json_array_append_new(l->rows, row);
	if (jvm->pid != l->pid)
		return;
	l->is_found = true;
	snprintf(l->name, sizeof(l->name), "%s", row ? jvm->main_class : "unknown program");
}

int mcp_make_capture(const struct mcp_call *call, const struct tool *tool, json_t **out,
		     struct hdb_error *err)
{
	json_auto_t *rows = json_array();
	struct listing listing = { .rows = rows };
	struct mcp_making what = { 0 };
	BASE_FREED char *db = NULL;
	char question[8192];
	const char *none;

	TRY(mcp_begin(call, tool, "", &none, err));
	TRY(mcp_take_pid(call->args, &listing.pid, err));
	TRY(call->files->options->jvms(add_jvm, &listing, err));
	if (!listing.pid) {
		*out = json_pack("{s:O}", "jvms", rows);
		return HDB_OK;
	}
	if (!listing.is_found)
		return hdb_fail(err, HDB_EABSENT,
				"no such JVM: %d; without \"pid\", this tool lists the JVMs",
				listing.pid);
	TRY(mcp_files_capture(call->files, listing.pid, &db, err));
	what.pid = listing.pid;
	what.db_path = db;
	snprintf(question, sizeof(question),
		 "Dump the heap of JVM %d (%s) into the database %s? The program is paused "
		 "meanwhile, and the database contains all data of its heap, including secrets.",
		 listing.pid, listing.name, db);
	return make(call, &what, question, out, err);
}
