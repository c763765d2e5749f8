/*
 * mcp/mcp_make.c - the two tools that create a database: from a dump below the given directories,
 * and from a running JVM. Both need the user's consent; see mcp_call.
 */
#include "mcp_private.h"

#include "base/work.h"
#include "capture/capture.h"
#include "common/feed.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* A database to be created. Strings are borrowed. */
struct making {
	const char *dump_path; /* NULL means capture `pid` */
	int pid;
	const char *db_path;
};

static int import_dump(const struct making *what, struct hdb_import_options *options,
		       struct captured *out, struct hdb_error *err)
{
	struct feed *feed;

	TRY(feed_open(what->dump_path, NULL, &options->progress, &feed, err));
	if (feed)
		options->dump_name = what->dump_path;
	return feed_close(feed,
			  hdb_import(feed_path(feed, what->dump_path), what->db_path, options,
				     &out->result, err),
			  what->db_path, err);
}

static int capture_jvm(const struct making *what, struct hdb_import_options *options,
		       struct captured *out, struct hdb_error *err)
{
	const struct capture_options capturing = { .cancel = options->progress.cancel };
	struct capture *capture = NULL;

	TRY(capture_vm_start(what->pid, &capturing, &capture, err));
	return capture_import(capture, what->db_path, options, out, err);
}

/* Asks the user for consent, creates the database and describes it. */
static int make(const struct mcp_call *call, const struct making *what, const char *question,
		json_t **out, struct hdb_error *err)
{
	const struct mcp_options *options = call->files->options;
	const bool is_allowed = what->dump_path ? options->allow_import : options->allow_capture;
	struct hdb_import_options importing = {
		.struct_size = sizeof(importing),
		.memory_bytes = options->memory_bytes,
		.threads = options->threads,
		.progress = call->files->open.progress,
	};
	struct captured made = { .result = { .struct_size = sizeof(made.result) } };
	const struct hdb_import_result *result = &made.result;
	BASE_FREED char *shown = NULL;
	uint64_t began_ns;
	double seconds;
	struct hdb *db;

	if (!is_allowed)
		TRY(call->consent(call->ctx, question,
				  what->dump_path ? "allow-import" : "allow-capture", err));
	began_ns = base_now_ns();
	TRY((what->dump_path ? import_dump : capture_jvm)(what, &importing, &made, err));
	seconds = (double)(base_now_ns() - began_ns) / 1e9;
	TRY(mcp_files_open(call->files, what->db_path, &db, &shown, err));
	*out = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:f}", "db", shown, "objects",
			 (json_int_t)result->object_count, "classes",
			 (json_int_t)result->class_count, "problems",
			 (json_int_t)result->problem_count, "dump_bytes",
			 (json_int_t)result->dump_bytes, "database_bytes",
			 (json_int_t)result->database_bytes, "seconds", seconds);
	if (!what->dump_path)
		json_object_update_new(*out, json_pack("{s:f, s:b}", "pause_seconds",
						       (double)made.cost.pause_us / 1e6,
						       "pause_is_estimate", !made.cost.pauses));
	return HDB_OK;
}

int mcp_make_import(const struct mcp_call *call, const struct tool *tool, json_t **out,
		    struct hdb_error *err)
{
	BASE_FREED char *dump = NULL, *db = NULL;
	char question[8192 + 64];
	const char *name;
	struct stat info;

	TRY(mcp_begin(call, tool, "dump", &name, err));
	if (!name)
		return hdb_fail(err, HDB_EUSAGE, "missing \"dump\"");
	TRY(mcp_files_dump(call->files, name, &dump, &db, err));
	snprintf(question, sizeof(question), "Import the heap dump %s (%s) into the database %s?",
		 dump, base_size(stat(dump, &info) == 0 ? (uint64_t)info.st_size : 0).text, db);
	return make(call, &(struct making){ .dump_path = dump, .db_path = db }, question, out, err);
}

/* ---- running JVMs ---- */

/* Describes a JVM as JSON. Returns NULL if a string is not UTF-8. */
static json_t *describe(const struct capture_vm *vm)
{
	return json_pack("{s:i, s:s, s:s, s:s, s:I}", "pid", vm->pid, "user", vm->user,
			 "main_class", vm->main_class, "version", vm->version, "heap_used",
			 (json_int_t)vm->heap_used);
}

int mcp_make_capture(const struct mcp_call *call, const struct tool *tool, json_t **out,
		     struct hdb_error *err)
{
	BASE_FREED struct capture_vm *vms = NULL;
	json_auto_t *rows = json_array();
	struct making what = { 0 };
	BASE_FREED char *db = NULL;
	char name[256], question[8192];
	size_t count, hidden;
	bool is_found = false;
	const char *none;

	TRY(mcp_begin(call, tool, "", &none, err));
	TRY(mcp_take_pid(call->args, &what.pid, err));
	TRY(capture_list(&vms, &count, &hidden, err));
	for (size_t i = 0; i < count; i++) {
		json_t *row = describe(&vms[i]);

		if (row)
			json_array_append_new(rows, row);
		if (vms[i].pid != what.pid)
			continue;
		is_found = true;
		snprintf(name, sizeof(name), "%s", row ? vms[i].main_class : "unknown program");
	}
	if (!what.pid) {
		*out = json_pack("{s:O}", "jvms", rows);
		return HDB_OK;
	}
	if (!is_found)
		return hdb_fail(err, HDB_EABSENT,
				"no such JVM: %d; without \"pid\", this tool lists the JVMs",
				what.pid);
	TRY(mcp_files_capture(call->files, what.pid, &db, err));
	what.db_path = db;
	snprintf(question, sizeof(question),
		 "Dump the heap of JVM %d (%s) into the database %s? The program is paused "
		 "meanwhile, and the database contains all data of its heap, including secrets.",
		 what.pid, name, db);
	return make(call, &what, question, out, err);
}
