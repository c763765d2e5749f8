/*
 * heapdb/cmd_report_html.c - report as a single HTML file: the page's code with the answers
 * embedded. The page makes no network requests, and text from the dump remains in JSON strings.
 */
#include "heapdb/cli.h"
#include "heapdb/report.h"

#include "common/door_rows.h"
#include "notes/notes.h"
#include "heapdb/with_files.h"
#include "serve/serve.h"

#include <sys/stat.h>

/*
 * Maximum number of rows of long answers, and of stacks, which have the longest rows. The limit
 * keeps reports small enough to send by mail.
 */
#define ROWS_MAX 3000
#define STACK_ROWS_MAX 800
#define STACK_COLUMNS "level,kind,text,id,serial,retained"

/*
 * Requests that the page's views make, each with the key that the page uses to look up the answer.
 */
#define ROW(key, query, option, value, limit, has_values, columns) \
	{ \
		key, query, { option, value }, limit, has_values, columns \
	}
#define REQUEST(key, query, option, value, limit, columns) \
	ROW(key, query, option, value, limit, false, columns)
#define VALUES(key, query, option, value, limit, columns) \
	ROW(key, query, option, value, limit, true, columns)
static const struct question {
	const char *key, *query;
	struct hdb_option option; /* none if its name is NULL */
	uint64_t limit;
	bool has_values;     /* whether the answer consists only of strings from the heap */
	const char *columns; /* columns that the page shows, "a,b,c"; NULL means all */
} questions[] = {
#include <heapdb/cmd_report_html.rows.h>
};

/* Writes JSON inside a script element. "<" could begin markup and is written as \u003c. */
static void put_script(struct output *out, const char *json, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (json[i] == '<')
			output_string(out, "\\u003c");
		else
			output_char(out, json[i]);
	}
}

/* Returns the length of the JSON string at `json`, including its quotes. */
static size_t string_size(const char *json, size_t size)
{
	size_t i = 1;

	while (i < size && json[i] != '"')
		i += json[i] == '\\' ? 2 : 1;
	return i < size ? i + 1 : size;
}

/* Parts of a string that a report without values omits. */
enum redaction {
	REDACT_QUOTED, /* removes text from the first to the last quote */
	REDACT_LABEL,  /* keeps only the class of a label */
	REDACT_FRAME,  /* keeps the class of a label; leaves frames unchanged */
	REDACT_ALL     /* becomes null */
};

/* Redaction by key, for one query or all. Keys not listed are REDACT_QUOTED. */
static const struct redacted_key {
	const char *query, *key;
	enum redaction how;
} redacted_keys[] = {
	{ NULL, "\"label_value\"", REDACT_ALL },  { "loaders", "\"label\"", REDACT_ALL },
	{ NULL, "\"thread\"", REDACT_ALL },       { "threads", "\"text\"", REDACT_FRAME },
	{ "jfr-thread", "\"name\"", REDACT_ALL }, { NULL, "\"label\"", REDACT_LABEL },
};

static bool is_text(const char *json, size_t size, const char *text)
{
	return size == strlen(text) && memcmp(json, text, size) == 0;
}

static enum redaction redaction_of(const char *query, const char *key, size_t size)
{
	for (size_t i = 0; i < BASE_COUNT(redacted_keys); i++) {
		const struct redacted_key *k = &redacted_keys[i];

		if (is_text(key, size, k->key) && (!k->query || strcmp(k->query, query) == 0))
			return k->how;
	}
	return REDACT_QUOTED;
}

/*
 * Returns whether the class of a label ends here: at the first blank, or for frames at a blank
 * after a parenthesis.
 */
static bool ends_class(const char *text, size_t at, enum redaction how)
{
	static const char klass[] = "\"class ";

	if (how == REDACT_QUOTED || text[at] != ' ')
		return false;
	if (how == REDACT_FRAME && memchr(text, '(', at))
		return false;
	return !(at == sizeof(klass) - 2 && strncmp(text, klass, at + 1) == 0);
}

static void put_redacted(struct output *out, const char *text, size_t size, enum redaction how)
{
	size_t begin = size, end = size;

	if (how == REDACT_ALL) {
		output_string(out, "null");
		return;
	}
	for (size_t i = 1; i + 1 < size; i++) {
		if (text[i] == '\\' && text[i + 1] == '"') {
			begin = begin == size ? i : begin;
			end = i + 2;
		}
		if (begin == size && ends_class(text, i, how)) {
			begin = i;
			end = size - 1;
			break;
		}
		i += text[i] == '\\';
	}
	put_script(out, text, begin);
	if (begin < size) {
		output_string(out, how == REDACT_QUOTED ? "\xe2\x80\xa6" : "");
		put_script(out, text + end, size - end);
	}
}

static void put_without_values(struct output *out, const char *query, const char *json, size_t size)
{
	enum redaction how = REDACT_QUOTED;
	bool is_command = false; /* whether this row of info contains the program's arguments */

	for (size_t i = 0; i < size;) {
		const size_t part = json[i] == '"' ? string_size(json + i, size - i) : 1;

		if (json[i] != '"') {
			output_char(out, json[i]);
		} else if (i + part < size && json[i + part] == ':') {
			how = is_command && is_text(json + i, part, "\"value\"") ?
				      REDACT_ALL :
				      redaction_of(query, json + i, part);
			output_bytes(out, json + i, part);
		} else {
			put_redacted(out, json + i, part, how);
			is_command = is_text(json + i, part, "\"command\"");
		}
		i += part;
	}
}

/* The page being written, and its embedded JSON. */
struct page {
	struct cli *cli;
	struct output *collect; /* owned: writes to `json` */
	struct bytes json;
};

/*
 * Begins an answer or a string in the JSON. File names may contain markup, so they are escaped as
 * well.
 */
static struct output *json_begin(struct page *page)
{
	page->json.size = 0;
	output_collect(page->collect, &page->json);
	return page->collect;
}

/* Embeds the JSON, redacted on request by the rules of `query` (NULL means none). */
static int json_end(struct page *page, const char *query)
{
	output_collect_end(page->collect);
	if (page->json.failed)
		return hdb_fail(&page->cli->err, HDB_ENOMEM,
				"cannot allocate memory for an answer");
	if (query && page->cli->opt.no_values)
		put_without_values(page->cli->out, query, page->json.data, page->json.size);
	else
		put_script(page->cli->out, page->json.data, page->json.size);
	return HDB_OK;
}

static int put_answer(struct page *page, const struct question *question)
{
	struct cli *cli = page->cli;
	const struct hdb_query_args args = {
		.struct_size = sizeof(args),
		.options = &question->option,
		.option_count = question->option.name ? 1 : 0,
		.limit = question->limit,
	};
	struct answer answer = { .name = question->query,
				 .args = &args,
				 .limit = question->limit,
				 .is_sparse = true,
				 .err = &cli->err };
	DOOR_ROWS *rows = NULL;
	int rc;

	TRY(hdb_query(cli->db, question->query, &args, &rows, &cli->err));
	answer.rows = rows;
	if (question->columns)
		TRY(answer_pick(&answer, question->columns));
	rc = render_json(&answer, json_begin(page));
	free(answer.picked);
	TRY(rc);
	output_json(cli->out, question->key, strlen(question->key));
	output_char(cli->out, ':');
	return json_end(page, question->query);
}

/* Embeds the answers of the files of --with. */
static int put_files(struct page *page)
{
	struct cli *cli = page->cli;
	struct with_files with;

	TRY(with_files_open(cli, &cli->opt.with, &with));
	for (size_t i = 0; i < with.count; i++) {
		BASE_SCOPED(bytes_release) struct bytes text = { 0 };

		TRY(with_files_text(&with, with.answers[i], true, &text, &cli->err));
		output_string(cli->out, ",\n");
		output_json(cli->out, with.answers[i], strlen(with.answers[i]));
		output_char(cli->out, ':');
		output_bytes(json_begin(page), text.data, text.size);
		TRY(json_end(page, with.answers[i]));
	}
	return HDB_OK;
}

/* Embeds a key and a string that does not come from an answer. */
static int put_text(struct page *page, const char *key, const char *text)
{
	output_string(page->cli->out, key);
	render_json_field(json_begin(page), "", text);
	return json_end(page, NULL);
}

static int put_these_notes(struct cli *cli, struct notes *notes)
{
	BASE_FREED char *text = NULL;

	TRY(notes_json(notes, &text, &cli->err));
	output_string(cli->out, ",\"notes\":");
	put_script(cli->out, text, strlen(text));
	return HDB_OK;
}

static int put_notes(struct cli *cli)
{
	struct notes *notes;

	TRY(cli_notes(cli, &notes));
	return notes ? put_these_notes(cli, notes) : HDB_OK;
}

static bool is_asked(const char *query)
{
	return BASE_HAS(questions, query);
}

static int put_answers(struct page *page, const char *name)
{
	struct output *out = page->cli->out;
	struct hdb_health health = { .struct_size = sizeof(health) };
	char *specs = NULL;
	size_t size = 0;

	hdb_health(page->cli->db, &health);
	TRY(put_text(page, "{\"title\":", name));
	TRY(put_text(page, ",\"databases\":[{\"index\":0,\"name\":", name));
	TRY(put_text(page, ",\"stale\":", health.stale));
	TRY(put_text(page, ",\"incomplete\":", health.incomplete));
	output_string(out, "}],\"specs\":");
	if (serve_columns_json(is_asked, &specs, &size) != HDB_OK)
		return hdb_fail(&page->cli->err, HDB_ENOMEM,
				"cannot allocate memory for the queries");
	put_script(out, specs, size);
	free(specs);
	/* notes may quote strings of the heap */
	if (!page->cli->opt.no_values)
		TRY(put_notes(page->cli));
	output_string(out, ",\"answers\":{");
	for (size_t i = 0; i < BASE_COUNT(questions); i++) {
		if (questions[i].has_values && page->cli->opt.no_values)
			continue;
		output_string(out, i ? ",\n" : "\n");
		TRY(put_answer(page, &questions[i]));
	}
	TRY(put_files(page));
	output_string(out, "}}");
	return HDB_OK;
}

static void put_part(struct output *out, const char *path)
{
	size_t size = 0;
	const char *data = serve_page(path, &size);

	output_bytes(out, data, size);
}

static int put_page(struct cli *cli)
{
	const char *slash = strrchr(cli->db_path, '/');
	struct page page = { .cli = cli };
	struct output *out = cli->out;
	int rc;

	TRY(BASE_ALLOC(page.collect, 1, "a report", &cli->err));
	output_string(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
			   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
			   "'none'; script-src '");
	put_part(out, "/report.js.hash");
	output_string(out, "'; style-src '");
	put_part(out, "/app.css.hash");
	output_string(out, "'; img-src data:\">\n<meta name=\"viewport\" "
			   "content=\"width=device-width, initial-scale=1\">\n"
			   "<title>heapdb report</title>\n<style>");
	put_part(out, "/app.css");
	output_string(out, "</style></head><body><div id=\"app\"></div>\n"
			   "<script type=\"application/json\" id=\"answers\">");
	rc = put_answers(&page, slash ? slash + 1 : cli->db_path);
	output_string(out, "</script>\n<script>");
	put_part(out, "/report.js");
	output_string(out, "</script></body></html>\n");
	bytes_release(&page.json);
	free(page.collect);
	return rc;
}

/* The file appears only when it is complete, and has mode 0600. */
int report_html(struct cli *cli, const char *path)
{
	const mode_t mask = umask(077);
	int rc;

	cli->opt.output = path;
	cli->opt.force = true;
	rc = export_to_file(cli, put_page);
	(void)umask(mask);
	return rc;
}
