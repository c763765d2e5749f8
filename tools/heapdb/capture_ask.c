/*
 * heapdb/capture_ask.c - `heapdb capture PID --histogram` and `--stacks`: queries a running VM
 * without a dump.
 */
#include "capture/capture.h"
#include "common/descriptor.h"
#include "heapdb/capture_ask.h"
#include "heapdb/render.h"

#include <stdlib.h>
#include <string.h>

/* Maximum length of a class name; longer names are truncated. Class files allow 65,535 bytes. */
#define CLASS_NAME_MAX 65536

#include <heapdb/capture_ask.query.h>

struct class_rows {
	char *next; /* unread part of the VM's answer */
	char name[CLASS_NAME_MAX];
	struct hdb_value values[CLASS_COLUMNS];
};

/*
 * Skips the number at the start of a class line, such as " 1: 5032 1032344 [B (java.base@17.0.1)".
 * Returns whether the line has a number.
 */
static bool is_class(char *line, char **at)
{
	(void)strtoull(line, at, 10);
	return *at != line && *(*at)++ == ':';
}

static uint64_t count_classes(char *text)
{
	uint64_t count = 0;
	char *at;

	for (char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		count += is_class(line, &at);
	}
	return count;
}

static int next_class(void *ctx, struct hdb_error *err)
{
	struct class_rows *rows = ctx;

	(void)err;
	while (*rows->next) {
		char *line = rows->next, *end = line + strcspn(line, "\n"), *at, *module;

		rows->next = *end ? end + 1 : end;
		*end = '\0';
		if (!is_class(line, &at))
			continue;
		rows->values[CLASS_OBJECTS] = number_value(HDB_TYPE_COUNT, strtoull(at, &at, 10));
		rows->values[CLASS_SHALLOW] = number_value(HDB_TYPE_BYTES, strtoull(at, &at, 10));
		at += strspn(at, " ");
		if ((module = strstr(at, " ("))) {
			*module = '\0';
			module += 2;
			module[strcspn(module, ")")] = '\0';
		}
		(void)descriptor_name(at, rows->name, sizeof(rows->name));
		rows->values[CLASS_NAME] = text_value(rows->name);
		rows->values[CLASS_MODULE] = text_value(module);
		return HDB_OK;
	}
	return HDB_END;
}

static int print_histogram(struct cli *cli, char *text)
{
	BASE_FREED struct class_rows *rows = calloc(1, sizeof(*rows));
	struct row_source source = {
		.ctx = rows,
		.count = CLASS_COLUMNS,
		.columns = class_columns,
		.cells = rows ? rows->values : NULL,
		.next = next_class,
		.row_count = count_classes(text),
	};
	struct answer answer = { .name = "capture", .source = &source };

	if (!rows)
		return hdb_fail(&cli->err, HDB_ENOMEM, "cannot allocate memory for a histogram");
	rows->next = text;
	if (cli->opt.has_limit)
		answer.limit = cli->opt.limit;
	else if (cli->opt.format == FORMAT_TABLE)
		answer.limit = OPTIONS_LIMIT_DEFAULT;
	return print_answer(cli, &answer);
}

/*
 * Prints stacks. Thread names come from the program, so terminal escapes in them are neutralised.
 */
static void print_stacks(struct cli *cli, const char *text)
{
	char escaped[ESCAPE_SIZE];
	const size_t size = strlen(text);

	for (size_t at = 0; at < size;) {
		size_t taken = 1;
		const size_t length = escape_control(text + at, size - at, escaped, &taken);

		output_bytes(cli->out, length ? escaped : text + at, length ? length : 1);
		at += taken;
	}
}

int capture_ask(struct cli *cli, int pid, const struct capture_options *options)
{
	const enum capture_question question =
		cli->opt.histogram ? CAPTURE_HISTOGRAM : CAPTURE_STACKS;
	struct capture_text answer;
	int rc = HDB_OK;

	TRY(capture_vm_ask(pid, question, options, &answer, &cli->err));
	if (question == CAPTURE_HISTOGRAM)
		rc = print_histogram(cli, answer.text);
	else
		print_stacks(cli, answer.text);
	free(answer.text);
	return rc;
}
