/*
 * fuzz/serve.c - requests that a browser, or a program that claims to be a browser, may send to the
 * page's server: access control (Host, Origin, cookies, token) and arguments. Nobody gets access
 * without the token, accepted values are within their limits, and stored values are JSON.
 *
 * Input: u8 kind. Below 64: headers, "name:value", one per line. Below 128: the five texts of the
 * access check, one per line, where an empty line means a missing text and "T" is replaced by the
 * token. Otherwise: the kind of question (for queries, u8 number of the query), and its arguments,
 * "key=value", one per line.
 */
#include "serve/serve_cache.h"
#include "serve/serve_gate.h"
#include "serve/serve_request.h"
#include "common/escape.h"

#include "support/fuzz_target.h"
#include "support/json_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define INPUT_MAX 16384
#define DATABASES 3

/* Returns the next line, or NULL after the last. */
static char *take_line(char **text)
{
	char *line = *text, *end = line ? strchr(line, '\n') : NULL;

	if (end)
		*end = '\0';
	*text = end ? end + 1 : NULL;
	return line;
}

/* Returns the line with each "T" replaced by the token, or NULL if the line is empty. Owned. */
static char *with_token(const char *line, const char *token)
{
	struct bytes made = { 0 };

	if (!line || !*line)
		return NULL;
	for (; *line; line++) {
		if (*line == 'T')
			bytes_string(&made, token);
		else
			bytes_add(&made, line, 1);
	}
	bytes_add(&made, "", 1);
	return made.data;
}

static void judge(char *text)
{
	struct serve_gate gate;
	char *lines[5];
	struct serve_visitor visitor;
	enum serve_verdict verdict;

	if (!serve_gate_init(&gate, "127.0.0.1", 8080))
		abort();
	memset(gate.token, '5', sizeof(gate.token) - 1);
	for (size_t i = 0; i < 5; i++)
		lines[i] = with_token(take_line(&text), gate.token);
	visitor = (struct serve_visitor){ lines[0], lines[1], lines[2], lines[3], lines[4], false };
	for (int navigates = 0; navigates < 2; navigates++) {
		visitor.is_navigation = navigates;
		verdict = serve_gate_judge(&gate, &visitor);
		if (verdict == SERVE_WELCOME_TOKEN &&
		    (!navigates || !lines[4] || strcmp(lines[4], gate.token) != 0))
			abort();
		if (verdict == SERVE_WELCOME && (!lines[3] || !strstr(lines[3], gate.token)))
			abort();
		if ((verdict == SERVE_WELCOME || verdict == SERVE_WELCOME_TOKEN) &&
		    (!lines[0] || !strstr(lines[0], ":8080")))
			abort();
	}
	for (size_t i = 0; i < 5; i++)
		free(lines[i]);
}

/*
 * Headers, one "name:value" per line, with all bytes unchanged. Accepted headers occur once, have a
 * valid name and contain no control characters.
 */
static void take_headers(char *text)
{
	struct serve_headers headers = { 0 };
	unsigned hosts = 0;
	char *line;

	while ((line = take_line(&text)) != NULL) {
		char *value = strchr(line, ':');
		const size_t size = strlen(line);

		if (value)
			*value++ = '\0';
		serve_gate_header(&headers, line, strlen(line), value,
				  value ? size - (size_t)(value - line) : 0);
		hosts += strcasecmp(line, "host") == 0;
		if (!headers.is_broken && (strchr(line, ' ') || !*line || hosts > 1))
			abort();
	}
	if (!headers.is_broken && (hosts != 0) != (headers.host != NULL))
		abort();
	for (const char *c = headers.host; c && !headers.is_broken && *c; c++)
		if ((unsigned char)*c < ' ' && *c != '\t')
			abort();
	if (headers.length && strcmp(headers.length, "0") != 0 && !headers.has_body &&
	    !headers.is_broken)
		abort();
}

static void check_job(const struct serve_job *job)
{
	struct hdb_error err = { 0 };
	char *key = serve_cache_key(job);

	if (job->string_count > SERVE_ARGUMENTS_MAX || job->target_count > SERVE_ARGUMENTS_MAX ||
	    job->option_count > SERVE_ARGUMENTS_MAX || job->before_count > SERVE_DATABASES_MAX ||
	    job->database >= DATABASES || job->limit > SERVE_ROWS_MAX ||
	    (job->limit == 0) != (job->format != SERVE_PAGE))
		abort();
	for (size_t i = 0; i < job->before_count; i++)
		if (job->before[i] >= DATABASES)
			abort();
	for (size_t i = 0; i < job->target_count; i++)
		if (!job->targets[i])
			abort();
	if (!key || (serve_request_check(job, &err) != HDB_OK && !err.message[0]))
		abort();
	free(key);
}

static void check_json(const char *text)
{
	struct bytes made = { 0 };

	escape_json(&made, text);
	if (!made.failed && !json_is_valid(made.data, made.size))
		abort();
	bytes_release(&made);
}

static void question(unsigned kind, char *text)
{
	struct serve_job *job = serve_job_new();
	struct hdb_error err = { 0 };
	char *line;

	if (!job)
		return;
	job->kind = kind % 4 == 0 ? SERVE_QUERY :
		    kind % 4 == 1 ? SERVE_SQL :
		    kind % 4 == 2 ? SERVE_VALUE :
				    SERVE_BITMAP;
	job->limit = SERVE_ROWS_DEFAULT;
	if (job->kind == SERVE_QUERY)
		job->spec = hdb_query_at((unsigned char)*text % hdb_query_count());
	if (*text)
		text++;
	while (err.code == HDB_OK && (line = take_line(&text)) != NULL) {
		char *value = strchr(line, '=');

		check_json(line);
		if (value)
			*value++ = '\0';
		if (serve_request_argument(job, DATABASES, line, value, &err) != HDB_OK &&
		    !err.message[0])
			abort();
	}
	if (err.code == HDB_OK)
		check_job(job);
	check_json(err.message);
	serve_job_free(job);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (size < 2 || size > INPUT_MAX)
		return 0;
	text = malloc(size);
	if (!text)
		return 0;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	if (data[0] < 64)
		take_headers(text);
	else if (data[0] < 128)
		judge(text);
	else
		question(data[0], text);
	free(text);
	return 0;
}
