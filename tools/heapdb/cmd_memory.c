/*
 * heapdb/cmd_memory.c - memory: accounts for the memory of a process, from a running JVM or from
 * saved files, and adds the information that a heap dump contains about memory outside the heap.
 */
#include "heapdb/cli.h"
#include "memory/memory.h"
#include "heapdb/progress.h"
#include "heapdb/render.h"

#include <stdio.h>
#include <string.h>

/* Details below 1 / DETAIL_SHARE of RSS are listed only with --wide. */
#define DETAIL_SHARE 100

/* Rows of the human-readable output. Each part is followed by its details, except small details. */
struct people_rows {
	const struct own_answer *of;
	bool is_tree;   /* whether details are indented instead of having their own column */
	uint64_t least; /* minimum size of listed details */
	struct hdb_value cells[ACCOUNT_COLUMNS];
	char indented[80], not_listed[80];
};

static int row_next(void *ctx, struct hdb_error *err)
{
	struct people_rows *rows = ctx;
	const struct hdb_value *cells = rows->of->source.cells;
	const struct hdb_value *detail = &cells[ACCOUNT_DETAIL];

	do {
		TRY(rows->of->source.next(rows->of->source.ctx, err));
	} while (detail->type != HDB_TYPE_NULL && cells[ACCOUNT_RESIDENT].u < rows->least);
	memcpy(rows->cells, cells, sizeof(rows->cells));
	if (rows->is_tree && detail->type != HDB_TYPE_NULL) {
		snprintf(rows->indented, sizeof(rows->indented), "  %s", detail->text);
		rows->cells[ACCOUNT_PART] = text_value(rows->indented);
	}
	return HDB_OK;
}

static size_t count_small(const struct memory *memory, uint64_t least)
{
	size_t count = 0;

	for (size_t i = 0; i < memory->row_count; i++)
		count += memory->rows[i].detail[0] && memory->rows[i].resident < least;
	return count;
}

static int print(struct cli *cli, const struct own_answer *own, const struct memory *memory)
{
	const struct options *opt = &cli->opt;
	struct people_rows rows = { .of = own,
				    .is_tree = opt->format == FORMAT_TABLE && !opt->columns };
	struct own_answer shown = *own;
	size_t small;
	struct answer answer;

	if (opt->format == FORMAT_TABLE && !opt->wide)
		rows.least = memory->rss / DETAIL_SHARE;
	small = count_small(memory, rows.least);
	if (small)
		snprintf(rows.not_listed, sizeof(rows.not_listed),
			 "%zu details below 1 %% of RSS; --wide lists them", small);
	for (size_t i = 0; i < shown.fact_count; i++)
		if (strcmp(shown.facts[i].column.name, "not_listed") == 0)
			shown.facts[i].value = text_value(rows.not_listed);
	shown.source.ctx = &rows;
	shown.source.cells = rows.cells;
	shown.source.next = row_next;
	shown.source.row_count -= small;
	answer = (struct answer){ .name = own->name,
				  .source = &shown.source,
				  .facts = shown.facts,
				  .fact_count = shown.fact_count,
				  .limit = opt->limit };
	if (rows.is_tree) {
		TRY(BASE_ALLOC(answer.picked, ACCOUNT_COLUMNS, "a list of columns", &cli->err));
		for (size_t i = 0; i < ACCOUNT_COLUMNS; i++)
			if (i != ACCOUNT_DETAIL)
				answer.picked[answer.picked_count++] = i;
	}
	return print_answer(cli, &answer);
}

static int ask_dump(struct cli *cli, const char *name, struct memory_answer *account)
{
	if (cli->db)
		return cli_usage(cli, "expected one dump or database, found two");
	TRY(locate_named(cli, name, &cli->db_path, &cli->dump_path));
	TRY(cli_open(cli, cli->db_path, cli->dump_path, 1, &cli->db));
	cli_report_health(cli, cli->db, NULL);
	return memory_answer_add_dump(account, cli->db, &cli->err);
}

static int add_file(struct cli *cli, const char *path, struct memory_answer *account)
{
	BASE_SCOPED(file_text_release) struct file_text file = { 0 };

	TRY(cli_read_file(cli, path, MEMORY_TEXT_MAX, &file));
	return cli_name_file(cli, path,
			     memory_answer_add_text(account, file.data, file.size, &cli->err));
}

int cmd_memory(struct cli *cli)
{
	BASE_SCOPED(memory_answer_free_at) struct memory_answer *account = NULL;
	const struct options *opt = &cli->opt;
	const int pid = opt->operand_count ? options_pid(opt->operands[0]) : 0;
	const struct own_answer *own;

	if (!opt->operand_count)
		return cli_usage(cli,
				 "expected the PID of a JVM, or files; `heapdb capture` lists the "
				 "JVMs of this machine");
	TRY(memory_answer_new(&account, &cli->err));
	for (size_t i = pid ? 1 : 0; i < opt->operand_count; i++)
		TRY(locate_is_heap(opt->operands[i]) ? ask_dump(cli, opt->operands[i], account) :
						       add_file(cli, opt->operands[i], account));
	if (pid)
		TRY(memory_answer_add_process(account, pid, opt->timeout,
					      progress_callbacks().cancel, &cli->err));
	TRY(memory_answer_make(account, &own, &cli->err));
	if (own->notice[0])
		cli_notice(cli, "%s", own->notice);
	return print(cli, own, memory_answer_of(account));
}
