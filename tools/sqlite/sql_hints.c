/*
 * sqlite/sql_hints.c - suggestions for statements that SQLite rejects, and for statements whose
 * answer is empty because a name does not occur.
 */
#include "sqlite/sql_private.h"

#include "base/suggest.h"
#include "common/suggest_class.h"

#include <ctype.h>
#include <strings.h>

/* Maximum length of a name. Longer names are truncated. */
#define NAME_SIZE 128
/* Maximum number of GC roots examined for their kinds. */
#define ROOTS_MAX 100000

/* Finds the first word that equals `name`. Returns false if no word is equal. */
static bool find_word(const char *text, const char *name, struct sql_word *word)
{
	for (; sql_next_word(text, word); text = word->at + word->size)
		if (word->kind == SQL_WORD && sql_is(word, name))
			return true;
	return false;
}

/* Copies the name at `at`: letters, digits and the characters in `others`. */
static void copy_name(const char *at, const char *others, char name[NAME_SIZE])
{
	size_t size = 0;

	while (size + 1 < NAME_SIZE && *at && (isalnum((unsigned char)*at) || strchr(others, *at)))
		name[size++] = *at++;
	name[size] = '\0';
}

/* ---- failures ---- */

/*
 * Compares a name with the wanted name, and copies it if it is the nearest so far. `name` need not
 * stay valid.
 */
static void try_name(struct base_suggest *near, const char *name, char best[NAME_SIZE])
{
	base_suggest_try(near, name);
	if (near->best == name) {
		snprintf(best, NAME_SIZE, "%s", name);
		near->best = best;
	}
}

static void try_columns(const struct sql_source *source, const char *table,
			struct base_suggest *near, char best[NAME_SIZE])
{
	sqlite3_stmt *statement = NULL;

	(void)sqlite3_prepare_v2(source->sqlite, "SELECT name FROM pragma_table_xinfo(?)", -1,
				 &statement, NULL);
	(void)sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
	while (sqlite3_step(statement) == SQLITE_ROW)
		try_name(near, (const char *)sqlite3_column_text(statement, 0), best);
	sqlite3_finalize(statement);
}

/*
 * Copies the next name after FROM, JOIN or a comma. Returns the text after the name, or NULL if
 * there is no further name.
 */
static const char *next_table(const char *at, char name[NAME_SIZE])
{
	struct sql_word word, dot;

	do {
		if (!sql_next_word(at, &word))
			return NULL;
		at = word.at + word.size;
	} while (!sql_is(&word, ",") && !sql_is(&word, "from") && !sql_is(&word, "join"));
	if (!sql_next_word(at, &word))
		return NULL;
	if (sql_next_word(word.at + word.size, &dot) && dot.kind == '.') /* skip the schema */
		(void)sql_next_word(dot.at + 1, &word);
	sql_word_text(&word, name, NAME_SIZE);
	return word.at + (word.kind == SQL_WORD || word.kind == SQL_QUOTED ? word.size : 0);
}

/* Suggests the nearest column of the tables in the statement. */
static void hint_column(const struct sql_source *source, const char *text, const char *wanted,
			char *hint, size_t size)
{
	struct base_suggest near;
	char name[NAME_SIZE], best[NAME_SIZE];

	base_suggest_init(&near, wanted, strlen(wanted));
	while ((text = next_table(text, name)) != NULL)
		try_columns(source, name, &near, best);
	if (near.best)
		snprintf(hint, size, "; did you mean %s?", near.best);
}

static void hint_no_column(const struct sql_source *source, const char *text, const char *message,
			   char *hint, size_t size)
{
	char wanted[NAME_SIZE], quoted[NAME_SIZE + 2];

	copy_name(message + (*message == '"'), "_$.[]", wanted);
	snprintf(quoted, sizeof(quoted), "\"%s\"", wanted);
	if (strstr(text, quoted))
		snprintf(hint, size, "; string literals are in single quotes: '%s'", wanted);
	else
		hint_column(source, text, strrchr(wanted, '.') ? strrchr(wanted, '.') + 1 : wanted,
			    hint, size);
}

static void hint_no_table(const struct sql_source *source, const char *wanted, char *hint,
			  size_t size)
{
	struct heapsql_table table;
	struct base_suggest near;
	const char *class;
	char best[NAME_SIZE];
	size_t left;

	base_suggest_init(&near, wanted, strlen(wanted));
	for (size_t no = 0; sql_table_at(no, &table, &left); no++)
		try_name(&near, table.name, best);
	class = suggest_class(source->db, wanted);
	if (near.best)
		snprintf(hint, size, "; did you mean %s?", near.best);
	else if (class)
		snprintf(hint, size, "; did you mean the class \"%s\"?", class);
}

/*
 * Suggests quotes around a class in FROM java.util.HashMap, because the name of a class table
 * contains dots.
 */
static bool hint_class(const char *text, char *hint, size_t size)
{
	static const char *const words[] = { "from", "join" };
	struct sql_word word;
	char name[NAME_SIZE];

	for (size_t i = 0; i < BASE_COUNT(words); i++) {
		if (!find_word(text, words[i], &word))
			continue;
		(void)sql_next_word(word.at + word.size, &word);
		copy_name(word.at, "_$.[]", name);
		if (!strchr(name, '.') && !strchr(name, '['))
			continue;
		snprintf(hint, size, "; class names are in double quotes: \"%s\"", name);
		return true;
	}
	return false;
}

void sql_hint(const struct sql_source *source, const char *text, const char *message, char *hint,
	      size_t size)
{
	struct sql_word word;

	text += strspn(text, " \t\r\n(");
	hint[0] = '\0';
	if (strncasecmp(text, "show", 4) == 0 || strncasecmp(text, "desc", 4) == 0)
		snprintf(hint, size,
			 "; .tables lists tables, .schema TABLE lists columns, and SELECT name, "
			 "sql FROM sqlite_master lists both");
	else if (strncmp(message, "no such column: ", 16) == 0)
		hint_no_column(source, text, message + 16, hint, size);
	else if (strncmp(message, "no such table: ", 15) == 0 && !hint_class(text, hint, size))
		hint_no_table(source, message + 15, hint, size);
	else if (strncmp(message, "near \".\"", 8) == 0 || strncmp(message, "near \"[", 7) == 0)
		(void)hint_class(text, hint, size);
	else if (find_word(text, "object", &word) && strstr(message, "missing argument"))
		snprintf(hint, size, "; the table of all objects is objects");
}

/* ---- empty answers ---- */

/*
 * Finds the next comparison COLUMN = 'TEXT' and advances *at. Returns false if there is no further
 * comparison.
 */
static bool next_compared(const char **at, const char *column, char text[NAME_SIZE])
{
	struct sql_word word;

	while (find_word(*at, column, &word)) {
		*at = word.at + word.size;
		if (!sql_next_word(*at, &word) || word.kind != '=')
			continue;
		while (word.kind == '=' && sql_next_word(word.at + 1, &word))
			;
		if (*word.at != '\'' || word.size < 3 || word.size > NAME_SIZE)
			continue;
		sql_word_text(&word, text, NAME_SIZE);
		return true;
	}
	return false;
}

/*
 * Returns whether any object or GC root is of this kind. If there is no such object or root, sets
 * *near to a kind that differs only in case, or to NULL.
 */
static bool has_kind(struct hdb *db, const char *kind, const char **near)
{
	uint64_t count = 0;

	*near = NULL;
	for (unsigned i = 0; i < 4; i++)
		if (strcmp(sql_kind_name(i), kind) == 0)
			return true;
	if (hdb_root_count(db, &count, NULL) < 0)
		return true;
	for (uint64_t no = 0; no < count && no < ROOTS_MAX; no++) {
		struct hdb_root root = { .struct_size = sizeof(root) };

		if (hdb_root_at(db, no, &root, NULL) < 0 || strcmp(root.kind, kind) == 0)
			return true;
		if (strcasecmp(root.kind, kind) == 0)
			*near = root.kind;
	}
	return false;
}

bool sql_why_empty(const struct sql_source *source, const char *text, char *why, size_t size)
{
	static const char *const ids[] = { "id", "source", "target", "dominator", "class_id" };
	char name[NAME_SIZE];
	const char *near;

	for (size_t i = 0; i < BASE_COUNT(ids); i++)
		for (const char *at = text; next_compared(&at, ids[i], name);)
			if (strncasecmp(name, "0x", 2) == 0) {
				snprintf(why, size,
					 "IDs are numbers: write %s = %s, without quotes", ids[i],
					 name);
				return true;
			}
	for (const char *at = text; next_compared(&at, "class", name);) {
		if (hdb_class_named(source->db, name, 0) != HDB_NONE)
			continue;
		near = suggest_class(source->db, name);
		snprintf(why, size, "no such class: '%s'%s%s%s", name,
			 near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
		return true;
	}
	for (const char *at = text; next_compared(&at, "kind", name);) {
		if (has_kind(source->db, name, &near))
			continue;
		snprintf(why, size, "unknown kind: '%s'%s%s%s", name,
			 near ? "; did you mean '" :
				"; kinds of objects are instance, object array, primitive array "
				"and class; SELECT DISTINCT kind FROM roots lists kinds of GC "
				"roots",
			 near ? near : "", near ? "'?" : "");
		return true;
	}
	return false;
}
