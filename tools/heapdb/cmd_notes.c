/*
 * heapdb/cmd_notes.c - notes: lists, adds and removes notes on objects, classes and leaks; loads a
 * database's notes for answers and the page.
 */
#include "base/scope.h"
#include "heapdb/cli.h"
#include "heapdb/render.h"

#include "notes/notes.h"

int cli_notes(struct cli *cli, struct notes **notes)
{
	struct hdb_error err = { 0 };
	int r = HDB_OK;

	if (!cli->has_read_notes && cli->db_path) {
		TRY(BASE_ALLOC(cli->notes, 1, "notes", &cli->err));
		r = notes_read(cli->db, cli->db_path, cli->notes, &err);
		cli->has_read_notes = true;
	}
	if (r != HDB_OK || (cli->notes && cli->notes->count == 0))
		cli_notes_release(cli);
	*notes = cli->notes;
	if (r == HDB_EIO || r == HDB_ENOMEM) {
		cli->err = err;
		return r;
	}
	if (r != HDB_OK)
		cli_notice(cli, "cannot show notes: %s", err.message);
	return HDB_OK;
}

void cli_notes_release(struct cli *cli)
{
	if (cli->notes)
		notes_release(cli->notes);
	free(cli->notes);
	cli->notes = NULL;
}

BASE_CLOSER(close_at, struct hdb, hdb_close)

int page_notes(const char *db_path, const char *target, const char *text, char **json,
	       struct hdb_error *err)
{
	/* Opens its own handle, since the server's handles belong to worker threads. */
	BASE_SCOPED(close_at) struct hdb *db = NULL;
	struct notes notes = { 0 };
	int r;

	TRY(hdb_open(db_path, NULL, &db, err));
	if (target)
		TRY(notes_set(db, db_path, target, text, err));
	r = notes_read(db, db_path, &notes, err);
	if (r == HDB_OK)
		r = notes_json(&notes, json, err);
	notes_release(&notes);
	return r;
}

/* ---- the command ---- */

#include <heapdb/cmd_notes.query.h>

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
	rows->cells[NOTE_KIND] = text_value(notes_kind(note->target));
	rows->cells[NOTE_TEXT] = text_value(note->text);
	rows->cells[NOTE_TIME] = text_value(note->time);
	rows->cells[NOTE_DUMP] = note->is_other ? text_value(note->dump) : (struct hdb_value){ 0 };
	return HDB_OK;
}

static int list(struct cli *cli)
{
	struct note_rows rows = { .next = 0 };
	struct row_source source = {
		.ctx = &rows,
		.count = NOTE_COLUMNS,
		.columns = note_columns,
		.cells = rows.cells,
		.next = next_note,
	};
	struct answer answer = { .name = "notes", .source = &source, .limit = cli->opt.limit };
	struct notes *notes;

	TRY(cli_notes(cli, &notes));
	rows.notes = notes;
	source.row_count = notes ? notes->count : 0;
	return print_answer(cli, &answer);
}

int cmd_notes(struct cli *cli)
{
	const char *const *operands = cli->opt.operands;
	const size_t count = cli->opt.operand_count;
	const char *verb = count ? operands[0] : "list";
	const bool adds = strcmp(verb, "add") == 0;

	if (strcmp(verb, "list") == 0 && count < 2)
		return list(cli);
	if ((!adds && strcmp(verb, "remove") != 0) || count != (adds ? 3u : 2u))
		return cli_usage(
			cli, "expected list, add TARGET TEXT (TEXT in quotes) or remove TARGET");
	return notes_set(cli->db, cli->db_path, operands[1], adds ? operands[2] : NULL, &cli->err);
}
