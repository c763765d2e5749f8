/*
 * sqlite/sql_source.c - a database as SQLite's modules see it: its tables and functions, and the
 * tables of classes, which are made when a statement names them.
 */
#include "base/scope.h"
#include "sqlite/sql_private.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of classes by name: open addressing, class number + 1. */
struct sql_names {
	uint32_t *slots;
	size_t room;
	char **made; /* names of class tables that are there; owned */
	size_t made_count;
};

/* Most class tables of one connection. */
#define MADE_MAX 4096

static struct sql_names *names_of(struct sql_source *source);

int sql_source_open(struct sqlite3 *sqlite, const struct heapsql_database *database,
		    struct sql_source **out, struct hdb_error *err)
{
	struct sql_source *source;

	TRY(SQL_ALLOC(source, 1, "a database", err));
	source->sqlite = sqlite;
	source->database = *database;
	source->db = database->db;
	source->name = strdup(database->name ? database->name : "main");
	source->is_only = !database->name;
	source->database.name = NULL; /* lent: the source has its own */
	source->name_sizes =
		calloc((size_t)hdb_class_count(source->db) + 1, sizeof(*source->name_sizes));
	if (!source->name || !source->name_sizes) {
		sql_source_close(source);
		return sql_fail(err, HDB_ENOMEM, "no memory for a database");
	}
	*out = source;
	return HDB_OK;
}

void sql_source_close(struct sql_source *source)
{
	if (!source)
		return;
	if (source->names) {
		for (size_t i = 0; i < source->names->made_count; i++)
			free(source->names->made[i]);
		free(source->names->made);
		free(source->names->slots);
		free(source->names);
	}
	if (source->owns_db) {
		hdb_close(source->db);
		free(source->database.ctx);
	}
	free(source->counts);
	free(source->retained);
	free(source->name_sizes);
	free(source->name);
	free(source);
}

int sql_register(struct sql_source *source, struct hdb_error *err)
{
	int rc = sql_register_queries(source);

	if (rc == SQLITE_OK)
		rc = sql_register_objects(source);
	if (rc == SQLITE_OK)
		rc = sql_register_tables(source);
	if (rc == SQLITE_OK)
		return HDB_OK;
	return sql_fail(err, rc == SQLITE_NOMEM ? HDB_ENOMEM : HDB_EBUG,
			"the tables cannot be made: %s", sqlite3_errmsg(source->sqlite));
}

/* ---- names of classes ---- */

static size_t hash_of(const char *name, size_t size)
{
	size_t hash = 14695981039346656037u;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)name[i]) * 1099511628211u;
	return hash ^ hash >> 29;
}

static struct sql_names *names_of(struct sql_source *source)
{
	const uint32_t n = hdb_class_count(source->db);
	struct sql_names *names = source->names;

	if (names)
		return names;
	names = calloc(1, sizeof(*names));
	if (!names)
		return NULL;
	for (names->room = 1024; names->room < (size_t)n * 2; names->room *= 2)
		;
	names->slots = calloc(names->room, sizeof(*names->slots));
	names->made = calloc(MADE_MAX, sizeof(*names->made));
	if (!names->slots || !names->made) {
		free(names->slots);
		free(names->made);
		free(names);
		return NULL;
	}
	for (uint32_t no = 0; no < n; no++) {
		const char *name = hdb_class_name(source->db, no);
		size_t at = hash_of(name, strlen(name)) & (names->room - 1);

		/* One slot a name will do. */
		while (names->slots[at] &&
		       strcmp(hdb_class_name(source->db, names->slots[at] - 1), name) != 0)
			at = (at + 1) & (names->room - 1);
		if (!names->slots[at])
			names->slots[at] = no + 1;
	}
	source->names = names;
	return names;
}

static bool is_class(struct sql_source *source, const char *name, size_t size)
{
	const struct sql_names *names = names_of(source);
	size_t at;

	if (!names || !size)
		return false;
	for (at = hash_of(name, size) & (names->room - 1); names->slots[at];
	     at = (at + 1) & (names->room - 1)) {
		const char *have = hdb_class_name(source->db, names->slots[at] - 1);

		if (strncmp(have, name, size) == 0 && !have[size])
			return true;
	}
	return false;
}

/* Makes the table of a class, unless it is there. */
static int make_class(struct sql_source *source, const char *name, struct hdb_error *err)
{
	struct sql_names *names = names_of(source);
	size_t same = MADE_MAX;

	assert(names);
	assert(names->made_count <= MADE_MAX);
	for (size_t i = 0; i < names->made_count; i++) {
		if (strcmp(names->made[i], name) == 0)
			return HDB_OK;
		/* SQLite does not tell A from a: the table that is named now replaces the other. */
		if (sqlite3_stricmp(names->made[i], name) == 0)
			same = i;
	}
	if (same == MADE_MAX && names->made_count == MADE_MAX)
		return sql_fail(err, HDB_ELIMIT, "tables of more than %d classes", MADE_MAX);
	TRY(sql_define_class(source, name, err));
	if (same < MADE_MAX)
		free(names->made[same]);
	else
		same = names->made_count++;
	names->made[same] = strdup(name);
	if (!names->made[same]) {
		names->made[same] = names->made[--names->made_count];
		return sql_fail(err, HDB_ENOMEM, "no memory for a table");
	}
	return HDB_OK;
}

/* ---- identifiers of a statement ---- */

/* Copies what is between quotes, doubled ones once; returns what follows the closing one. */
static const char *unquote(const char *at, char close, char *out)
{
	for (; *at; at++) {
		if (*at == close && (close == ']' || at[1] != close))
			break;
		if (*at == close)
			at++;
		*out++ = *at;
	}
	*out = '\0';
	return *at ? at + 1 : at;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static const char *skip(const char *at)
{
	if (at[0] == '-' && at[1] == '-')
		return at + strcspn(at, "\n");
	if (at[0] == '/' && at[1] == '*') {
		const char *close = strstr(at + 2, "*/");

		return close ? close + 2 : at + strlen(at);
	}
	return NULL;
}

/* The next identifier, in `out`, which has room for the statement; NULL: there is none. */
static const char *next_name(const char *at, char *out)
{
	while (*at) {
		const char *after = skip(at);

		if (after) {
			at = after;
		} else if (*at == '\'') {
			at = unquote(at + 1, '\'', out);
		} else if (*at == '"' || *at == '`' || *at == '[') {
			return unquote(at + 1, *at == '[' ? ']' : *at, out);
		} else if (is_word(*at)) {
			size_t size = 1;

			while (is_word(at[size]))
				size++;
			if (!isdigit((unsigned char)*at)) {
				memcpy(out, at, size);
				out[size] = '\0';
				return at + size;
			}
			at += size;
		} else {
			at++;
		}
	}
	return NULL;
}

int sql_define_classes(struct sql_source *source, const char *statement, struct hdb_error *err)
{
	BASE_FREED char *name = malloc(strlen(statement) + 1);

	if (!name)
		return sql_fail(err, HDB_ENOMEM, "no memory for a statement");
	for (const char *at = statement; (at = next_name(at, name)) != NULL;) {
		const size_t size = strlen(name);

		assert(size <= strlen(statement));
		if (sql_has_table(name) || !names_of(source))
			continue;
		if (!is_class(source, name, size) &&
		    !(size > 1 && name[size - 1] == '+' && is_class(source, name, size - 1)))
			continue;
		TRY(make_class(source, name, err));
	}
	return HDB_OK;
}
