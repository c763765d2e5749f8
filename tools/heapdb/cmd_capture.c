/*
 * heapdb/cmd_capture.c - lists the Java VMs of this machine, or captures a dump of one of them or
 * of an Android app into a new heap database.
 */
#include "base/work.h"
#include "capture/capture.h"
#include "heapdb/capture_ask.h"
#include "heapdb/cli.h"
#include "heapdb/progress.h"
#include "heapdb/render.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DATABASE_PATH_SIZE 4096

/* ---- the list ---- */

#include <heapdb/cmd_capture.query.h>

struct vm_rows {
	struct capture_vm *vms; /* owned */
	size_t count;
	size_t next; /* index after the current row */
	char pid[16];
	struct hdb_value values[VM_COLUMNS];
};

static struct hdb_value bytes_value(const struct capture_vm *vm, uint64_t bytes)
{
	return number_value(vm->has_heap ? HDB_TYPE_BYTES : HDB_TYPE_NULL, bytes);
}

static int vm_next(void *ctx, struct hdb_error *err)
{
	struct vm_rows *rows = ctx;
	const struct capture_vm *vm = &rows->vms[rows->next];

	(void)err;
	assert(rows->next <= rows->count);
	if (rows->next == rows->count)
		return HDB_END;
	rows->next++;
	/* a string, because a PID is printed without thousands separators */
	snprintf(rows->pid, sizeof(rows->pid), "%d", vm->pid);
	rows->values[VM_PID] = text_value(rows->pid);
	rows->values[VM_USER] = text_value(vm->user);
	rows->values[VM_MAIN_CLASS] = text_value(vm->main_class);
	rows->values[VM_CONTAINER] = text_value(vm->container);
	rows->values[VM_VERSION] = text_value(vm->version);
	rows->values[VM_USED] = bytes_value(vm, vm->heap_used);
	rows->values[VM_COMMITTED] = bytes_value(vm, vm->heap_committed);
	return HDB_OK;
}

static int list_vms(struct cli *cli)
{
	struct vm_rows rows = { 0 };
	struct row_source source = {
		.ctx = &rows,
		.count = VM_COLUMNS,
		.columns = vm_columns,
		.cells = rows.values,
		.next = vm_next,
	};
	struct answer answer = { .name = "capture", .source = &source };
	size_t hidden;
	int rc;

	TRY(capture_list(&rows.vms, &rows.count, &hidden, &cli->err));
	source.row_count = rows.count;
	rc = print_answer(cli, &answer);
	if (rc == HDB_OK && !rows.count)
		cli_notice(cli, "this user has no running Java processes");
	if (rc == HDB_OK && hidden)
		cli_notice(cli, "cannot inspect %zu Java process%s of other users", hidden,
			   hidden == 1 ? "" : "es");
	free(rows.vms);
	return rc;
}

/* ---- a dump ---- */

/* Returns the options that this form of the command accepts, and the name of the form. */
static uint64_t options_of_form(const struct command *command, const struct options *opt,
				const char **form)
{
	const uint64_t asking = OPTIONS_CAPTURE | OPTIONS_QUIET;

	*form = "the list of JVMs";
	if (!opt->operand_count && !opt->adb)
		return (CAPTURE_LIST_OPTIONS & ~(uint64_t)OPTIONS_LIMIT) | OPTIONS_JSON |
		       OPTIONS_QUIET;
	*form = "--histogram";
	if (opt->histogram)
		return asking | OPTIONS_CAPTURE_ALL | CAPTURE_LIST_OPTIONS | OPTIONS_JSON;
	*form = "--stacks";
	if (opt->stacks)
		return asking;
	*form = opt->adb ? "--adb" : "a capture";
	return command->options & ~(uint64_t)CAPTURE_LIST_OPTIONS &
	       ~(opt->adb ? OPTIONS_JVM_DUMP : 0);
}

/* Fails if an option was given that this form of the command does not accept. */
static int check_use(struct cli *cli)
{
	const struct options *opt = &cli->opt;
	const char *form;
	const uint64_t groups = options_of_form(cli->command, opt, &form);

	if (opt->operand_count > 1 || (opt->operand_count && opt->adb))
		return hdb_fail(&cli->err, HDB_EUSAGE,
				"expected one process; usage: heapdb capture %s",
				cli->command->synopsis);
	TRY(options_only(opt, groups, form, &cli->err));
	if (opt->histogram && opt->stacks)
		return hdb_fail(&cli->err, HDB_EUSAGE,
				"--histogram cannot be combined with "
				"--stacks");
	if (opt->serial && !opt->adb)
		return hdb_fail(&cli->err, HDB_EUSAGE, "--serial requires --adb");
	if (opt->live && opt->all)
		return hdb_fail(&cli->err, HDB_EUSAGE, "--live and --all cannot be combined");
	if (opt->contents == HDB_CONTENTS_REFER)
		return hdb_fail(
			&cli->err, HDB_EUSAGE,
			"a captured dump is not a file, so its contents must be stored in the "
			"database");
	return HDB_OK;
}

static int parse_pid(struct cli *cli, int *pid)
{
	const char *text = cli->opt.operands[0];

	*pid = options_pid(text);
	return *pid ? HDB_OK :
		      hdb_fail(
			      &cli->err, HDB_EUSAGE,
			      "\"%s\" is not a PID; `heapdb capture` lists the JVMs of this machine",
			      text);
}

/* Maximum number of captures of one process that get different default names. */
#define NAMES_MAX 1000

/*
 * Chooses the output file: the argument of -o, otherwise java_pidN.heapdb or PROCESS.heapdb. Later
 * captures of the process are called java_pidN-2.heapdb and so on, so that they can be compared.
 */
static void name_output(const struct cli *cli, int pid, char *out, size_t size)
{
	char name[DATABASE_PATH_SIZE - sizeof("-1000.heapdb")];

	if (cli->opt.output) {
		snprintf(out, size, "%s", cli->opt.output);
		return;
	}
	if (cli->opt.adb)
		snprintf(name, sizeof(name), "%s", cli->opt.adb);
	else
		snprintf(name, sizeof(name), "java_pid%d", pid);
	for (char *c = name; *c; c++)
		*c = *c == '/' || *c == ':' ? '_' : *c;
	snprintf(out, size, "%s.heapdb", name);
	for (int i = 2; i < NAMES_MAX && !cli->opt.force && access(out, F_OK) == 0; i++)
		snprintf(out, size, "%s-%d.heapdb", name, i);
}

/* Reports problems with the output file before the VM is disturbed. */
static int check_database(struct cli *cli, const char *db_path)
{
	char folder[DATABASE_PATH_SIZE];

	if (strlen(db_path) >= sizeof(folder))
		return hdb_fail(&cli->err, HDB_ELIMIT, "%s: the name is too long", db_path);
	cli_folder_of(db_path, folder, sizeof(folder));
	if (access(folder, W_OK) < 0)
		return hdb_fail(&cli->err, HDB_EIO, "%s: %s", folder, strerror(errno));
	if (!cli->opt.force && access(db_path, F_OK) == 0)
		return hdb_fail(&cli->err, HDB_EEXIST, "%s already exists", db_path);
	return HDB_OK;
}

static struct capture_options options_of(struct cli *cli)
{
	return (struct capture_options){
		.all = cli->opt.all,
		.parallel = cli->opt.parallel,
		.gz = cli->opt.gz,
		.timeout_s = cli->opt.timeout,
		.tmp = cli->opt.tmp,
		.serial = cli->opt.serial,
		.cancel = progress_callbacks().cancel,
		.notice = cli_on_notice,
		.ctx = cli,
	};
}

static int start(struct cli *cli, int pid, struct capture **capture)
{
	const struct hdb_progress progress = progress_callbacks();
	const struct capture_options options = options_of(cli);

	if (progress.report)
		progress.report(progress.ctx, "requesting a dump", 0, 0, "");
	return cli->opt.adb ? capture_app_start(cli->opt.adb, &options, capture, &cli->err) :
			      capture_vm_start(pid, &options, capture, &cli->err);
}

int cmd_capture(struct cli *cli)
{
	char db_path[DATABASE_PATH_SIZE];
	struct hdb_import_options options = cli_import_options(cli);
	struct capture *capture = NULL;
	struct captured captured;
	uint64_t began_ns;
	int pid = 0;

	TRY(check_use(cli));
	if (!cli->opt.operand_count && !cli->opt.adb)
		return list_vms(cli);
	if (cli->opt.operand_count)
		TRY(parse_pid(cli, &pid));
	if (cli->opt.histogram || cli->opt.stacks) {
		const struct capture_options asking = options_of(cli);

		return capture_ask(cli, pid, &asking);
	}
	name_output(cli, pid, db_path, sizeof(db_path));
	TRY(check_database(cli, db_path));
	began_ns = base_now_ns();
	TRY(start(cli, pid, &capture));
	TRY(capture_import(capture, db_path, &options, &captured, &cli->err));
	return cli_report_import(cli, db_path, &captured.result, &captured.cost,
				 (double)(base_now_ns() - began_ns) / 1e9);
}
