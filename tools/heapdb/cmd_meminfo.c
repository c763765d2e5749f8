/*
 * heapdb/cmd_meminfo.c - meminfo and allocations: prints Android files other than dumps as rows.
 */
#include "heapdb/cli.h"
#include "heapdb/render.h"
#include "heapdb/report.h"

#include "androidfiles/androidfiles.h"

#include "common/door_rows.h"

#include <unistd.h>

#define SUMMARY_BYTES 512

/* ---- meminfo ---- */

#include <heapdb/cmd_meminfo.query.h>
static_assert(DUMP == PSS + ANDROID_FIGURES, "a column for each enum android_figure");

struct meminfo {
	struct cli *cli;
	struct android_memory memory;
	size_t at;
	struct hdb_value cells[MEMINFO_COLUMNS];
	/* whether the following values were read from the heap dump */
	bool has_dump;
	uint64_t java, native, unreachable;
	uint64_t pid;      /* process of the dump; 0 means the first in the file */
	char process[256]; /* process name in the dump; "" if unknown */
	char summary[SUMMARY_BYTES];
};

/* Returns whether the row belongs to the dumped process and is a category that the dump covers. */
static bool is_of_dump(const struct meminfo *m, const struct android_memory_row *row,
		       const char *name)
{
	return m->has_dump && row->section == ANDROID_MEMORY && row->pid == m->pid &&
	       strcmp(m->memory.texts.data + row->name, name) == 0;
}

static int memory_next(void *ctx, struct hdb_error *err)
{
	static const char *const sections[] = { "memory",    "details", "summary",
						"objects",   "process", "sql",
						"databases", "assets",  "system" };
	struct meminfo *m = ctx;
	const struct android_memory_row *row;

	(void)err;
	assert(m->at <= m->memory.count);
	if (m->at == m->memory.count)
		return HDB_END;
	row = &m->memory.rows[m->at++];
	assert((size_t)row->section < BASE_COUNT(sections));
	memset(m->cells, 0, sizeof(m->cells));
	m->cells[SECTION] = text_value(sections[row->section]);
	if (row->pid)
		m->cells[PID] = number_value(HDB_TYPE_COUNT, row->pid);
	if (row->process && m->memory.texts.data[row->process])
		m->cells[PROCESS] = text_value(m->memory.texts.data + row->process);
	m->cells[NAME] = text_value(m->memory.texts.data + row->name);
	for (int i = 0; i < ANDROID_FIGURES; i++)
		if (row->has >> i & 1)
			m->cells[PSS + i] =
				(struct hdb_value){ .type = meminfo_columns[PSS + i].type,
						    .u = row->figures[i] };
	if (is_of_dump(m, row, "Dalvik Heap"))
		m->cells[DUMP] = number_value(HDB_TYPE_BYTES, m->java);
	else if (is_of_dump(m, row, "Native Heap"))
		m->cells[DUMP] = number_value(HDB_TYPE_BYTES, m->native);
	else if (is_of_dump(m, row, "TOTAL"))
		m->cells[DUMP] = number_value(HDB_TYPE_BYTES, m->java + m->native);
	return HDB_OK;
}

/* Sets *out to the first of the named facts that a query sets, or to 0 if it sets none. */
static int ask_fact(struct cli *cli, const char *query, const char *const names[], uint64_t *out)
{
	const struct hdb_query_args args = { .struct_size = sizeof(args), .limit = 1 };
	DOOR_ROWS *rows = NULL;

	TRY(hdb_query(cli->db, query, &args, &rows, &cli->err));
	for (size_t i = 0; names[i]; i++) {
		const struct hdb_value *value = hdb_rows_find_fact(rows, names[i]);

		out[i] = value ? value->u : 0;
	}
	return HDB_OK;
}

/* Determines the process name from the dump. */
static int ask_process(struct meminfo *m)
{
	const struct hdb_query_args args = { .struct_size = sizeof(args) };
	DOOR_ROWS *rows = NULL;
	int rc;

	TRY(hdb_query(m->cli->db, "app", &args, &rows, &m->cli->err));
	while ((rc = hdb_rows_next(rows, &m->cli->err)) == HDB_OK) {
		const struct hdb_value *value = rows_value(rows, "value");

		if (value->type == HDB_TYPE_TEXT && rows_is(rows, "key", "process"))
			snprintf(m->process, sizeof(m->process), "%.*s",
				 (int)(value->text_size < 255 ? value->text_size : 255),
				 value->text);
	}
	return rc == HDB_END ? HDB_OK : rc;
}

/* Chooses the dumped process in the file: the process with the dump's name, otherwise the first. */
static void choose_process(struct meminfo *m)
{
	const struct android_memory_row *first =
		android_memory_find(&m->memory, ANDROID_MEMORY, "TOTAL");

	m->pid = first ? first->pid : 0;
	for (size_t i = 0; m->process[0] && i < m->memory.count; i++) {
		const struct android_memory_row *row = &m->memory.rows[i];

		if (row->section != ANDROID_MEMORY ||
		    strcmp(m->memory.texts.data + row->process, m->process) != 0)
			continue;
		m->pid = row->pid;
		return;
	}
}

static int ask_dump(struct meminfo *m, const char *name)
{
	static const char *const heap[] = { "shallow", "unreachable_shallow", NULL };
	static const char *const native[] = { "native", NULL };
	struct cli *cli = m->cli;
	uint64_t bytes[2] = { 0 };

	TRY(locate_named(cli, name, &cli->db_path, &cli->dump_path));
	TRY(cli_open(cli, cli->db_path, cli->dump_path, 1, &cli->db));
	cli_report_health(cli, cli->db, NULL);
	TRY(ask_fact(cli, "histogram", heap, bytes));
	m->java = bytes[0] + bytes[1];
	m->unreachable = bytes[1];
	TRY(ask_fact(cli, "native", native, &m->native));
	TRY(ask_process(m));
	m->has_dump = true;
	choose_process(m);
	return HDB_OK;
}

/* Formats the sentence that states how much of the process's memory the dump explains. */
static const char *explain(struct meminfo *m, uint64_t pss)
{
	const uint64_t known = m->java + m->native;
	const double mb = 1048576; /* as in Android's tools */

	snprintf(m->summary, sizeof(m->summary),
		 "of %.1f MB of Pss, %.1f MB are Java objects in the dump, %.1f MB are native "
		 "memory of these objects, and %.1f MB are not in the dump%s",
		 (double)pss / mb, (double)m->java / mb, (double)m->native / mb,
		 pss > known ? (double)(pss - known) / mb : 0.0,
		 known > pss ? " (the dump exceeds the memory in use: pages were swapped out, "
			       "or the dump was taken at another time)" :
			       "");
	return m->summary;
}

/* Selects the columns that have a value in at least one row. */
static int pick_columns(struct meminfo *m, struct answer *answer)
{
	unsigned has = 0;
	bool has_pid = false, has_process = false;

	for (size_t i = 0; i < m->memory.count; i++) {
		has |= m->memory.rows[i].has;
		has_pid |= m->memory.rows[i].pid != 0;
		has_process |= m->memory.texts.data[m->memory.rows[i].process] != '\0';
	}
	TRY(BASE_ALLOC(answer->picked, MEMINFO_COLUMNS, "a list of columns", &m->cli->err));
	for (size_t i = 0; i < MEMINFO_COLUMNS; i++) {
		if (i >= PSS && i < DUMP ? !(has >> (i - PSS) & 1) :
		    i == PID             ? !has_pid :
		    i == PROCESS         ? !has_process :
		    i == DUMP            ? !m->has_dump :
					   false)
			continue;
		answer->picked[answer->picked_count++] = i;
	}
	return HDB_OK;
}

/* Returns the total Pss of the dumped process. */
static uint64_t pss_of(const struct meminfo *m)
{
	uint64_t pss = 0;

	for (size_t i = 0; i < m->memory.count; i++)
		if (m->memory.rows[i].section == ANDROID_MEMORY &&
		    m->memory.rows[i].pid == m->pid &&
		    strcmp(m->memory.texts.data + m->memory.rows[i].name, "TOTAL") == 0)
			pss = m->memory.rows[i].figures[ANDROID_PSS];
	return pss;
}

static int print_memory(struct meminfo *m)
{
	const struct row_source source = {
		.ctx = m,
		.count = MEMINFO_COLUMNS,
		.columns = meminfo_columns,
		.cells = m->cells,
		.next = memory_next,
	};
	const uint64_t known = m->java + m->native, pss = pss_of(m);

	const struct own_fact facts[] = {
		text_fact("form", "form", m->memory.form),
		number_fact("pss", "Pss", HDB_TYPE_BYTES, pss),
		number_fact("java_in_dump", "Java objects in the dump", HDB_TYPE_BYTES, m->java),
		number_fact("native_in_dump", "native memory of Java objects", HDB_TYPE_BYTES,
			    m->native),
		number_fact("not_in_dump", "not in the dump", HDB_TYPE_BYTES,
			    pss > known ? pss - known : 0),
		text_fact("summary", "summary", explain(m, pss)),
	};
	struct answer answer = {
		.name = "meminfo",
		.source = &source,
		.facts = facts,
		.fact_count = m->has_dump ? BASE_COUNT(facts) : 1,
		.limit = m->cli->opt.limit,
	};

	TRY(pick_columns(m, &answer));
	return print_answer(m->cli, &answer);
}

static void release(struct meminfo *m)
{
	android_memory_release(&m->memory);
}

int cmd_meminfo(struct cli *cli)
{
	BASE_SCOPED(release) struct meminfo m = { .cli = cli };
	const struct options *opt = &cli->opt;
	BASE_SCOPED(file_text_release) struct file_text file = { 0 };

	if (opt->operand_count > 2 ||
	    (opt->operand_count == 2 && access(opt->operands[1], F_OK) == 0 &&
	     !locate_is_heap(opt->operands[1])))
		return meminfo_timeline(cli);
	if (opt->chart)
		return cli_usage(cli, "--chart needs two or more captures");
	if (!opt->operand_count)
		return cli_usage(cli,
				 "expected a file, optionally followed by a database or dump to "
				 "compare with, or several files");
	TRY(cli_read_file(cli, opt->operands[0], ANDROID_FILE_MAX, &file));
	TRY(cli_name_file(cli, opt->operands[0],
			  android_memory_read(file.data, file.size, &m.memory, &cli->err)));
	if (opt->operand_count == 2)
		TRY(ask_dump(&m, opt->operands[1]));
	return print_memory(&m);
}
