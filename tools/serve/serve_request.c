/*
 * serve/serve_request.c - parses URL arguments strictly: unknown arguments are rejected, as are
 * options that name files.
 */
#include "serve/serve_request.h"

#include "base/error.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Makes a copy that lives as long as the job. On failure, returns NULL and sets the message. */
static const char *keep(struct serve_job *job, const char *text, struct hdb_error *err)
{
	char *copy;

	assert(job->string_count <= SERVE_ARGUMENTS_MAX);
	if (job->string_count == SERVE_ARGUMENTS_MAX) {
		hdb_fail(err, HDB_EUSAGE, "too many arguments (limit %d)", SERVE_ARGUMENTS_MAX);
		return NULL;
	}
	copy = strdup(text);
	if (!copy)
		hdb_fail(err, HDB_EUSAGE, "cannot allocate memory for an argument");
	else
		job->strings[job->string_count++] = copy;
	return copy;
}

/* Parses a number that consists only of digits. */
static bool read_number(const char *text, uint64_t most, uint64_t *number)
{
	*number = 0;
	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || *number > most / 10)
			return false;
		*number = *number * 10 + (uint64_t)(*text - '0');
	}
	return *number <= most;
}

bool serve_request_database(const char *text, size_t count, size_t *number)
{
	uint64_t found;

	assert(count > 0);
	if (!read_number(text, count - 1, &found))
		return false;
	*number = (size_t)found;
	return true;
}

static int set_database(struct serve_job *job, size_t count, const char *key, const char *value,
			struct hdb_error *err)
{
	size_t number;

	if (!serve_request_database(value, count, &number))
		return hdb_fail(err, HDB_EUSAGE,
				"\"%s\" must be the number of a database, 0 to "
				"%zu",
				key, count - 1);
	if (strcmp(key, "db") == 0)
		job->database = number;
	else if (job->before_count == SERVE_DATABASES_MAX)
		return hdb_fail(err, HDB_EUSAGE, "too many databases (limit %d)",
				SERVE_DATABASES_MAX);
	else
		job->before[job->before_count++] = number;
	return HDB_OK;
}

/* Sets the ID of the job, a short word that the page chooses. */
static int set_id(struct serve_job *job, const char *value, struct hdb_error *err)
{
	const size_t size = strlen(value);

	if (size == 0 || size >= sizeof(job->id) ||
	    strspn(value, "0123456789abcdefghijklmnopqrstuvwxyz-") != size)
		return hdb_fail(err, HDB_EUSAGE,
				"\"job\" must consist of at most %d letters, digits and dashes",
				SERVE_ID_SIZE - 1);
	memcpy(job->id, value, size + 1);
	return HDB_OK;
}

static bool names_file(const struct hdb_option_spec *option)
{
	static const char *const words[] = { "FILE", "DIR", "PATH" };

	return option->argument && BASE_HAS(words, option->argument);
}

static int add_option(struct serve_job *job, const char *key, const char *value,
		      struct hdb_error *err)
{
	const struct hdb_option_spec *o;
	size_t no = 0;
	struct hdb_option *option = &job->options[job->option_count];

	assert(job->spec);
	assert(job->option_count <= SERVE_ARGUMENTS_MAX);
	while ((o = hdb_query_option(job->spec, no)) != NULL && strcmp(o->name, key) != 0)
		no++;
	if (!o)
		return hdb_fail(err, HDB_EUSAGE, "the query %s has no option \"%.60s\"",
				job->spec->name, key);
	if (names_file(o))
		return hdb_fail(err, HDB_EUSAGE,
				"the option \"%s\" names files and is available only on the "
				"command line",
				o->name);
	if (job->option_count == SERVE_ARGUMENTS_MAX)
		return hdb_fail(err, HDB_EUSAGE, "too many options (limit %d)",
				SERVE_ARGUMENTS_MAX);
	*option = (struct hdb_option){ .name = o->name };
	if (o->argument) {
		option->value = keep(job, value, err);
		if (!option->value)
			return err->code;
	} else if (*value && strcmp(value, "1") != 0 && strcmp(value, "true") != 0) {
		return hdb_fail(err, HDB_EUSAGE, "the option \"%s\" is a switch and takes no value",
				o->name);
	}
	job->option_count++;
	return HDB_OK;
}

/* Sets the object from an ID such as "0x12c4". */
static int set_object(struct serve_job *job, const char *value, struct hdb_error *err)
{
	const size_t digits = strlen(value) < 2 ? 0 : strlen(value) - 2;

	if (strncmp(value, "0x", 2) != 0 || digits == 0 || digits > 16 ||
	    strspn(value + 2, "0123456789abcdef") != digits)
		return hdb_fail(err, HDB_EUSAGE, "\"id\" must be an object ID such as 0x12c4");
	job->object = strtoull(value, NULL, 16);
	return HDB_OK;
}

/*
 * Adds an argument of a value ("id", "from", "count") or of a bitmap ("id", "width", "height",
 * "pixel").
 */
static int add_value_argument(struct serve_job *job, const char *key, const char *value,
			      struct hdb_error *err)
{
	const struct {
		const char *key;
		enum serve_kind kind;
		uint64_t *number;
	} known[] = {
		{ "from", SERVE_VALUE, &job->from },
		{ "count", SERVE_VALUE, &job->count },
		{ "width", SERVE_BITMAP, &job->width },
		{ "height", SERVE_BITMAP, &job->height },
		{ "pixel", SERVE_BITMAP, &job->pixel_bytes },
	};
	uint64_t *number = NULL;

	for (size_t i = 0; i < BASE_COUNT(known); i++)
		if (known[i].kind == job->kind && strcmp(known[i].key, key) == 0)
			number = known[i].number;

	if (strcmp(key, "id") == 0)
		return set_object(job, value, err);
	if (!number)
		return hdb_fail(err, HDB_EUSAGE, "unknown argument \"%.60s\"", key);
	return read_number(value, UINT32_MAX, number) ?
		       HDB_OK :
		       hdb_fail(err, HDB_EUSAGE, "\"%s\" must be a number of elements", key);
}

static int add_target(struct serve_job *job, const char *value, struct hdb_error *err)
{
	if (job->target_count == SERVE_ARGUMENTS_MAX)
		return hdb_fail(err, HDB_EUSAGE, "too many targets (limit %d)",
				SERVE_ARGUMENTS_MAX);
	job->targets[job->target_count] = keep(job, value, err);
	return job->targets[job->target_count++] ? HDB_OK : err->code;
}

/* Stores a copy of a string argument. */
static int set_text(struct serve_job *job, const char **to, const char *value,
		    struct hdb_error *err)
{
	*to = keep(job, value, err);
	return *to ? HDB_OK : err->code;
}

static int set_format(struct serve_job *job, const char *value, struct hdb_error *err)
{
	job->format = strcmp(value, "csv") == 0     ? SERVE_CSV :
		      strcmp(value, "json") == 0    ? SERVE_JSON :
		      strcmp(value, "parquet") == 0 ? SERVE_PARQUET :
						      SERVE_PAGE;
	job->limit = 0;
	return job->format != SERVE_PAGE ?
		       HDB_OK :
		       hdb_fail(err, HDB_EUSAGE, "\"format\" must be csv, json or parquet");
}

static int set_limit(struct serve_job *job, const char *value, struct hdb_error *err)
{
	if (read_number(value, SERVE_ROWS_MAX, &job->limit) && job->limit > 0)
		return HDB_OK;
	return hdb_fail(err, HDB_EUSAGE, "\"limit\" must be a number of rows, 1 to %d",
			SERVE_ROWS_MAX);
}

/* Adds an argument of a statement: "q", or "all". */
static int add_statement_argument(struct serve_job *job, const char *key, const char *value,
				  struct hdb_error *err)
{
	if (strcmp(key, "all") == 0 && strcmp(value, "1") == 0) {
		job->all = true;
		return HDB_OK;
	}
	if (strcmp(key, "q") == 0 && !job->statement)
		return set_text(job, &job->statement, value, err);
	return hdb_fail(err, HDB_EUSAGE,
			"expected \"q\" and optionally \"all\" (1) with a statement, not \"%.60s\"",
			key);
}

/* Adds an argument of a query or statement. */
static int add_rows_argument(struct serve_job *job, const char *key, const char *value,
			     struct hdb_error *err)
{
	if (strcmp(key, "format") == 0)
		return set_format(job, value, err);
	if (strcmp(key, "limit") == 0 && job->format == SERVE_PAGE)
		return set_limit(job, value, err);
	if (strcmp(key, "filter") == 0)
		return set_text(job, &job->filter, value, err);
	if (job->kind == SERVE_SQL)
		return add_statement_argument(job, key, value, err);
	if (strcmp(key, "sort") == 0)
		return set_text(job, &job->sort, value, err);
	return strcmp(key, "target") == 0 ? add_target(job, value, err) :
					    add_option(job, key, value, err);
}

int serve_request_argument(struct serve_job *job, size_t database_count, const char *key,
			   const char *value, struct hdb_error *err)
{
	if (!value)
		value = "";
	if (strcmp(key, "db") == 0 || (job->kind == SERVE_QUERY && strcmp(key, "before") == 0))
		return set_database(job, database_count, key, value, err);
	if (strcmp(key, "job") == 0)
		return set_id(job, value, err);
	if (job->kind == SERVE_FILE)
		return hdb_fail(err, HDB_EUSAGE, "unknown argument \"%.60s\"", key);
	return job->kind == SERVE_VALUE || job->kind == SERVE_BITMAP ?
		       add_value_argument(job, key, value, err) :
		       add_rows_argument(job, key, value, err);
}

int serve_request_check(const struct serve_job *job, struct hdb_error *err)
{
	if (job->kind == SERVE_SQL && !job->statement)
		return hdb_fail(err, HDB_EUSAGE, "missing parameter \"q\" (an SQL statement)");
	if ((job->kind == SERVE_VALUE || job->kind == SERVE_BITMAP) && job->object == 0)
		return hdb_fail(err, HDB_EUSAGE, "missing parameter \"id\" (an object ID)");
	return HDB_OK;
}
