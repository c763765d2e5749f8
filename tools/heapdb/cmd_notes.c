/*
 * heapdb/cmd_notes.c - notes: lists, adds and removes what people say of objects, classes and
 * leaks; and the notes of a database for its answers and the page.
 */
#include "heapdb/cli.h"
#include "heapdb/render.h"

#include "notes/notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Digits of a leak fingerprint: SHA-1 in hexadecimal. */
#define FINGERPRINT_SIZE 40

struct notes *cli_notes(struct cli *cli)
{
	struct hdb_error err = { 0 };

	if (cli->has_read_notes || !cli->db_path)
		return cli->notes;
	cli->has_read_notes = true;
	cli->notes = calloc(1, sizeof(*cli->notes));
	if (cli->notes && notes_read(cli->db_path, cli->notes, &err) != HDB_OK)
		cli_notice(cli, "without notes: %s", err.message);
	if (cli->notes && cli->notes->count == 0)
		cli_notes_release(cli);
	return cli->notes;
}

void cli_notes_release(struct cli *cli)
{
	if (cli->notes)
		notes_release(cli->notes);
	free(cli->notes);
	cli->notes = NULL;
}

int notes_text(const char *db_path, char **text, struct hdb_error *err)
{
	struct notes notes;

	TRY(notes_read(db_path, &notes, err));
	*text = notes.text;
	notes.text = NULL;
	notes_release(&notes);
	return HDB_OK;
}

/* ---- the command ---- */

static bool is_fingerprint(const char *target)
{
	return strlen(target) == FINGERPRINT_SIZE &&
	       strspn(target, "0123456789abcdef") == FINGERPRINT_SIZE;
}

static const char *kind_of(const char *target)
{
	return strncmp(target, "0x", 2) == 0 ? "object" : is_fingerprint(target) ? "leak" : "class";
}

/* Asks for the object or class: no note is on what there is not. Leaks may be other dumps'. */
static int check_target(struct cli *cli, const char *target)
{
	const struct hdb_query_args args = {
		.struct_size = sizeof(args), .targets = &target, .target_count = 1, .limit = 1
	};
	DOOR_ROWS *rows = NULL;

	if (is_fingerprint(target))
		return HDB_OK;
	if (strpbrk(target, "*?"))
		return cli_usage(cli, "a note is on one class, not on a pattern");
	return hdb_query(cli->db, kind_of(target), &args, &rows, &cli->err);
}

enum { NOTE_TARGET, NOTE_KIND, NOTE_TEXT, NOTE_TIME, NOTE_COLUMNS };

static const struct hdb_column note_columns[NOTE_COLUMNS] = {
	[NOTE_TARGET] = { "target", HDB_TYPE_TEXT, "on", "an ID, a class or a leak fingerprint" },
	[NOTE_KIND] = { "kind", HDB_TYPE_TEXT, "kind", "object, class or leak" },
	[NOTE_TEXT] = { "note", HDB_TYPE_TEXT, "note", "what was said" },
	[NOTE_TIME] = { "time", HDB_TYPE_TEXT, "written", "when, UTC" },
};

struct note_rows {
	const struct notes *notes;
	size_t next;
	struct hdb_value cells[NOTE_COLUMNS];
};

static int next_note(void *ctx, struct hdb_error *err)
{
	struct note_rows *rows = ctx;
	const struct note *note;

	(void)err;
	if (!rows->notes || rows->next == rows->notes->count)
		return HDB_END;
	note = &rows->notes->list[rows->next++];
	rows->cells[NOTE_TARGET] = text_value(note->target);
	rows->cells[NOTE_KIND] = text_value(kind_of(note->target));
	rows->cells[NOTE_TEXT] = text_value(note->text);
	rows->cells[NOTE_TIME] = text_value(note->time);
	return HDB_OK;
}

static int list(struct cli *cli)
{
	struct note_rows rows = { .notes = cli_notes(cli) };
	const struct row_source source = {
		.ctx = &rows,
		.count = NOTE_COLUMNS,
		.columns = note_columns,
		.cells = rows.cells,
		.next = next_note,
		.row_count = rows.notes ? rows.notes->count : 0,
	};
	struct answer answer = { .name = "notes", .source = &source, .limit = cli->opt.limit };

	return print_answer(cli, &answer);
}

int cmd_notes(struct cli *cli)
{
	const char *const *operands = cli->opt.operands;
	const size_t count = cli->opt.operand_count;
	const char *verb = count ? operands[0] : "list";
	const bool adds = strcmp(verb, "add") == 0;
	const char *target = count > 1 ? operands[1] : NULL;
	char id[24], *end;

	if (strcmp(verb, "list") == 0 && count < 2)
		return list(cli);
	if ((!adds && strcmp(verb, "remove") != 0) || count != (adds ? 3u : 2u))
		return cli_usage(
			cli, "expected list, add TARGET TEXT (between quotes) or remove TARGET");
	if (strncmp(target, "0x", 2) == 0) {
		snprintf(id, sizeof(id), "0x%" PRIx64, (uint64_t)strtoull(target, &end, 16));
		target = *end ? target : id;
	}
	if (adds)
		TRY(check_target(cli, target));
	return notes_set(cli->db_path, target, adds ? operands[2] : NULL, &cli->err);
}
