/*
 * heapdb/cmd_report.c - report: runs several queries and prints their answers as one Markdown or
 * JSON document.
 */
#include "heapdb/cli.h"
#include "heapdb/prose.h"
#include "heapdb/report.h"
#include "heapdb/with_files.h"
#include "notes/notes.h"

#include <ctype.h>

/* Number of rows in a section that lists the largest objects, classes or loaders. */
#define ROWS_OF_A_LIST 10

/* The sections in order. The first one also provides the opening lines. */
static const struct section {
	const char *heading; /* Markdown heading */
	const char *name;    /* value of "section" in JSON */
	const char *query;
	const char *option, *value; /* option of the query and its value, or NULL if none */
	const char *sort;
	uint64_t limit;      /* rows; 0 means all */
	const char *columns; /* Markdown columns; NULL means the layout of suspects */
	const char *among;   /* sections of the answer to include, "dump|vm"; NULL means all rows */
} sections[] = {
#define SECTION(...) \
	{ \
		__VA_ARGS__ \
	}
#include <heapdb/cmd_report.rows.h>
};
#define SECTION_COUNT BASE_COUNT(sections)

/* A section's query and its answer. */
struct section_answer {
	struct hdb_option option;
	struct hdb_query_args args;
	struct answer answer;
};

/* Runs the query of a section. Call close_answer even after an error. */
static int ask(struct cli *cli, const struct section *section, struct section_answer *opened)
{
	opened->option = (struct hdb_option){ section->option, section->value };
	opened->args = (struct hdb_query_args){
		.struct_size = sizeof(opened->args),
		.options = &opened->option,
		.option_count = section->option != NULL,
		.sort = section->sort,
		.limit = section->limit,
	};
	opened->answer = (struct answer){
		.name = section->query,
		.section = section->name,
		.args = &opened->args,
		.limit = section->limit,
		.err = &cli->err,
	};
	answer_annotate(&opened->answer);
	TRY(cli_notes(cli, &opened->answer.notes));
	return hdb_query(cli->db, section->query, &opened->args, &opened->answer.rows, &cli->err);
}

static void close_answer(struct section_answer *opened)
{
	answer_release(&opened->answer);
	hdb_rows_close(opened->answer.rows);
}

/* ---- Markdown ---- */

static int put_headline(struct cli *cli)
{
	BASE_SCOPED(close_answer) struct section_answer opened;

	TRY(ask(cli, &sections[0], &opened));
	return markdown_headline(&opened.answer, cli->out);
}

static int put_section(struct cli *cli, const struct section *section)
{
	const struct markdown_rows which = { section->columns, section->among, section->limit > 0 };
	BASE_SCOPED(close_answer) struct section_answer opened;
	const int rc = ask(cli, section, &opened);

	output_format(cli->out, "\n## %s\n\n", section->heading);
	TRY(rc);
	return section->columns ? markdown_table(&opened.answer, &which, cli->out) :
				  markdown_leaks(&opened.answer, cli->out);
}

/*
 * Prints potential savings from the facts of the queries. Arrays inside strings count as strings.
 */
static int put_waste(struct cli *cli)
{
	static const struct section kinds[] = {
		{ .heading = "duplicate strings", .query = "duplicates" },
		{ .heading = "unused slots in collections", .query = "collections" },
	};

	output_string(cli->out,
		      "\n## Waste\n\n| kind | could be saved | lists |\n|---|---:|---|\n");
	for (size_t i = 0; i < BASE_COUNT(kinds); i++) {
		BASE_SCOPED(close_answer) struct section_answer opened;
		const int rc = ask(cli, &kinds[i], &opened);
		const struct hdb_value *wasted =
			rc == HDB_OK ? answer_fact(&opened.answer, "wasted") : NULL;

		if (has_value(wasted)) {
			output_format(cli->out, "| %s | ", kinds[i].heading);
			markdown_value(cli->out, wasted);
			output_format(cli->out, " | `heapdb %s` |\n", kinds[i].query);
		}
		/*
		 * this section reads the dump; the rest of the report is useful even if the dump is
		 * missing
		 */
		if (rc != HDB_OK && rc != HDB_ECHANGED && rc != HDB_EABSENT)
			return rc;
		cli->err = (struct hdb_error){ 0 };
	}
	return HDB_OK;
}

/* Lists all notes, including notes already shown with leaks. */
static int put_notes(struct cli *cli)
{
	struct notes *notes;

	TRY(cli_notes(cli, &notes));
	if (notes && notes->shown)
		output_string(cli->out, "\n## Notes\n\n");
	for (size_t i = 0; notes && i < notes->shown; i++) {
		output_string(cli->out, "- ");
		markdown_code(cli->out, notes->list[i].target, strlen(notes->list[i].target));
		output_string(cli->out, ": ");
		markdown_text(cli->out, notes->list[i].text, strlen(notes->list[i].text));
		output_char(cli->out, '\n');
	}
	return HDB_OK;
}

/* Adds the output of the commands for the files of --with, as indented code blocks. */
static int put_files(struct cli *cli, bool is_json)
{
	struct with_files with;

	TRY(with_files_open(cli, &cli->opt.with, &with));
	for (size_t i = 0; i < with.count; i++) {
		BASE_SCOPED(bytes_release) struct bytes text = { 0 };
		const char *heading = with_files_heading(with.answers[i]);

		if (!heading)
			continue;
		TRY(with_files_text(&with, with.answers[i], is_json, &text, &cli->err));
		if (is_json) {
			output_string(cli->out, ",");
			output_bytes(cli->out, text.data, text.size);
			continue;
		}
		output_format(cli->out, "\n## %s\n\n", heading);
		for (size_t at = 0, size; at < text.size; at += size + 1) {
			const char *line = text.data + at,
				   *end = memchr(line, '\n', text.size - at);

			size = end ? (size_t)(end - line) : text.size - at;
			output_string(cli->out, size ? "    " : "");
			output_bytes(cli->out, line, size);
			output_char(cli->out, '\n');
		}
	}
	return HDB_OK;
}

static int report_markdown(struct cli *cli)
{
	const char *slash = strrchr(cli->db_path, '/');
	const char *name = slash ? slash + 1 : cli->db_path;
	struct health_line lines[HEALTH_LINES];
	const size_t count = cli_health(cli->db, lines);

	output_string(cli->out, "# Heap report: ");
	markdown_code(cli->out, name, strlen(name));
	output_string(cli->out, "\n\n");
	for (size_t i = 0; i < count; i++) {
		output_format(cli->out, "> **%c%s:** ", toupper((unsigned char)lines[i].name[0]),
			      lines[i].name + 1);
		markdown_text(cli->out, lines[i].text, strlen(lines[i].text));
		output_string(cli->out, "\n\n");
	}
	TRY(put_headline(cli));
	for (size_t i = 0; i < SECTION_COUNT; i++)
		TRY(put_section(cli, &sections[i]));
	TRY(put_files(cli, false));
	TRY(put_waste(cli));
	TRY(put_notes(cli));
	return HDB_OK;
}

int report_text(struct hdb *db, const char *name, char **text, size_t *size, struct hdb_error *err)
{
	BASE_FREED struct output *out = NULL;
	BASE_FREED char *path = strdup(name);
	BASE_SCOPED(bytes_release) struct bytes into = { 0 };
	struct cli cli = { .db = db, .db_path = path };
	int r;

	TRY(BASE_ALLOC(out, 1, "a report", err));
	if (!path)
		return hdb_fail_memory(err, "a file name", strlen(name));
	cli.out = out;
	output_collect(out, &into);
	r = report_markdown(&cli);
	output_collect_end(out);
	*err = cli.err;
	TRY(r);
	if (into.failed)
		return hdb_fail_memory(err, "a report", into.size);
	*text = into.data;
	*size = into.size;
	into = (struct bytes){ 0 };
	return HDB_OK;
}

/* ---- JSON ---- */

/* Prints one answer of the JSON list. */
static int put_json(struct cli *cli, size_t no)
{
	BASE_SCOPED(close_answer) struct section_answer opened;
	int rc;

	assert(no < SECTION_COUNT);
	TRY(ask(cli, &sections[no], &opened));
	output_string(cli->out, no ? "," : "");
	rc = render_json(&opened.answer, cli->out);
	if (opened.answer.is_open)
		output_char(cli->out, '}');
	return rc;
}

/*
 * Prints {"schema":2,"report":[ANSWER,...]}, where each answer has the form of `heapdb query
 * --json`. If one answer fails, closes its object and the list, so that the runner can add the key
 * "error".
 */
static int report_json(struct cli *cli)
{
	int rc = HDB_OK;

	output_format(cli->out, "{\"schema\":%d,\"report\":[\n", HDB_SCHEMA);
	for (size_t i = 0; i < SECTION_COUNT && rc == HDB_OK; i++)
		rc = put_json(cli, i);
	if (rc == HDB_OK)
		rc = put_files(cli, true);
	output_char(cli->out, ']');
	cli->is_open = rc != HDB_OK;
	if (!cli->is_open)
		output_string(cli->out, "}\n");
	return rc;
}

int cmd_report(struct cli *cli)
{
	struct with_files with;

	if (cli->opt.no_values && !cli->opt.html)
		return cli_usage(cli, "--no-values requires --html");
	if (cli->opt.has_format && cli->opt.html)
		return cli_usage(cli, "--html and --json cannot be combined");
	/* open the files before anything is printed */
	TRY(with_files_open(cli, &cli->opt.with, &with));
	if (cli->opt.html)
		return report_html(cli, cli->opt.html);
	return cli->opt.format == FORMAT_JSON ? report_json(cli) : report_markdown(cli);
}
