/*
 * serve/serve_http.c - the server: libmicrohttpd's event loop passes requests to workers and sends
 * their answers. This file and serve_gate.c validate all parts of a request.
 */
#include "base/scope.h"
#include "common/escape.h"
#include "base/error.h"
#include "serve/serve.h"
#include "serve/serve_answer.h"
#include "serve/serve_bundle.h"
#include "serve/serve_gate.h"
#include "serve/serve_jobs.h"
#include "serve/serve_library.h"
#include "serve/serve_pack.h"
#include "serve/serve_request.h"
#include "serve/serve_slow.h"
#include "serve/serve_specs.h"
#include "serve/serve_token.h"

#include <assert.h>
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Maximum number of connections. Further connections wait in the system's queue. */
#define CONNECTIONS_MAX 400
#define CONNECTIONS_WAITING_MAX 4096

/*
 * Seconds before an idle connection is closed, and maximum size of a request line with its headers.
 */
#define SILENCE_SECONDS 20
#define REQUEST_MAX ((size_t)16 << 10)

struct server {
	const struct serve_options *options;
	struct serve_jobs *jobs;
	struct serve_slow *slow;
	_Atomic uint64_t held;    /* size of answers that have not been sent yet, in bytes */
	_Atomic uint64_t exports; /* files being made or sent */
	struct serve_gate gate;
	struct MHD_Daemon *daemon;
	int fd; /* listening socket; -1 means none */
};

/* State of a request between the calls of on_request. */
struct request {
	struct serve_headers headers;
	struct serve_job *job; /* job of the request, or NULL if none */
};

/* ---- responses ---- */

static const struct {
	const char *name, *value;
} fixed_headers[] = {
	{ "Content-Security-Policy",
	  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
	  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'" },
	{ "X-Content-Type-Options", "nosniff" },
	{ "X-Frame-Options", "DENY" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Cross-Origin-Opener-Policy", "same-origin" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
	{ "Cache-Control", "no-store" },
};

/*
 * Sends and releases the response. If `response` is NULL because memory is exhausted, the
 * connection is closed.
 */
static enum MHD_Result send_response(struct MHD_Connection *connection, unsigned status,
				     const char *type, struct MHD_Response *response)
{
	enum MHD_Result r;

	assert(type);
	if (!response)
		return MHD_NO;
	for (size_t i = 0; i < BASE_COUNT(fixed_headers); i++)
		MHD_add_response_header(response, fixed_headers[i].name, fixed_headers[i].value);
	MHD_add_response_header(response, "Content-Type", type);
	r = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return r;
}

#define JSON "application/json"

/*
 * Makes a response from static bytes (MHD_RESPMEM_PERSISTENT) or from a copy of the bytes.
 * Compresses the response with gzip if the client accepts gzip.
 */
static struct MHD_Response *bytes_response(const void *data, size_t size,
					   enum MHD_ResponseMemoryMode mode, bool takes_gzip)
{
	size_t packed;
	void *gzip = takes_gzip ? serve_pack(data, size, &packed) : NULL;
	struct MHD_Response *response;

	/* libmicrohttpd 0.9.75 takes a non-const pointer, although it does not modify the bytes */
	if (!gzip)
		return MHD_create_response_from_buffer(size, (void *)(uintptr_t)data, mode);
	response = MHD_create_response_from_buffer(packed, gzip, MHD_RESPMEM_MUST_COPY);
	free(gzip);
	if (response)
		MHD_add_response_header(response, "Content-Encoding", "gzip");
	return response;
}

/* Makes a response from the text and releases the text. Returns NULL if memory is exhausted. */
static struct MHD_Response *text_response(struct bytes *text, bool takes_gzip)
{
	struct MHD_Response *response = NULL;

	if (!text->failed)
		response =
			bytes_response(text->data, text->size, MHD_RESPMEM_MUST_COPY, takes_gzip);
	bytes_release(text);
	return response;
}

static enum MHD_Result send_text(struct MHD_Connection *connection, struct bytes *text,
				 bool takes_gzip)
{
	return send_response(connection, MHD_HTTP_OK, JSON, text_response(text, takes_gzip));
}

static struct MHD_Response *error_response(const char *code, const char *message)
{
	struct bytes text = { 0 };

	bytes_format(&text, "{\"schema\":%d,\"error\":{\"code\":", HDB_SCHEMA);
	escape_json(&text, code);
	bytes_string(&text, ",\"message\":");
	escape_json(&text, message);
	bytes_string(&text, "}}\n");
	return text_response(&text, false);
}

static enum MHD_Result send_error(struct MHD_Connection *connection, unsigned status,
				  const char *code, const char *message)
{
	return send_response(connection, status, JSON, error_response(code, message));
}

/*
 * Sends a response and closes the connection, because further data on this connection cannot be
 * trusted.
 */
static enum MHD_Result send_last(struct MHD_Connection *connection, unsigned status,
				 const char *code, const char *message)
{
	struct MHD_Response *response = error_response(code, message);

	if (response)
		MHD_add_response_header(response, "Connection", "close");
	return send_response(connection, status, JSON, response);
}

static unsigned status_of(int result)
{
	switch (result) {
	case HDB_EUSAGE:
	case HDB_ELIMIT:
		return MHD_HTTP_BAD_REQUEST;
	case HDB_NOTFOUND:
		return MHD_HTTP_NOT_FOUND;
	case HDB_EINTR:
		return MHD_HTTP_SERVICE_UNAVAILABLE;
	default:
		return MHD_HTTP_INTERNAL_SERVER_ERROR;
	}
}

/* ---- requests ---- */

static void on_done(struct serve_job *job)
{
	MHD_resume_connection(job->connection);
}

/* Suffixes and types of row files, indexed by enum serve_format. */
static const struct {
	const char *ending, *type;
} files[] = {
	[SERVE_PAGE] = { "json", JSON },
	[SERVE_CSV] = { "csv", "text/csv; charset=utf-8" },
	[SERVE_JSON] = { "json", JSON },
	[SERVE_PARQUET] = { "parquet", "application/vnd.apache.parquet" },
};

/* Names the download: "0x12c4.txt", "histogram.csv". */
static void name_file(struct MHD_Response *response, const struct serve_job *job)
{
	char text[96];

	assert(job->format < BASE_COUNT(files));
	if (job->format != SERVE_PAGE)
		snprintf(text, sizeof(text), "attachment; filename=\"%s.%s\"",
			 job->spec ? job->spec->name : "sql", files[job->format].ending);
	else
		snprintf(text, sizeof(text), "attachment; filename=\"0x%llx.%s\"",
			 (unsigned long long)job->object, job->is_text ? "txt" : "bin");
	MHD_add_response_header(response, "Content-Disposition", text);
}

static enum MHD_Result send_answer(struct MHD_Connection *connection, struct serve_job *job)
{
	const bool is_value = job->kind == SERVE_VALUE;
	struct MHD_Response *response;
	off_t size;

	if (job->result != HDB_OK || job->fd < 0)
		return send_error(connection, status_of(job->result), hdb_result_name(job->result),
				  job->err.message[0] ? job->err.message :
							hdb_result_name(job->result));
	size = lseek(job->fd, 0, SEEK_END);
	if (size < 0)
		return MHD_NO;
	response = MHD_create_response_from_fd_at_offset64((uint64_t)size, job->fd, 0);
	if (response)
		job->fd = -1; /* libmicrohttpd closes the descriptor */
	if (response && (is_value || job->format != SERVE_PAGE))
		name_file(response, job);
	if (response && job->is_packed)
		MHD_add_response_header(response, "Content-Encoding", "gzip");
	if (!job->type)
		job->type = is_value ? "application/octet-stream" : files[job->format].type;
	return send_response(connection, MHD_HTTP_OK, job->type, response);
}

struct arguments {
	struct server *server;
	struct serve_job *job;
	struct hdb_error err;
};

/* NOLINTNEXTLINE(readability-function-size): libmicrohttpd defines the parameters */
static enum MHD_Result on_argument(void *ctx, enum MHD_ValueKind kind, const char *key,
				   size_t key_size, const char *value, size_t value_size)
{
	struct arguments *a = ctx;

	(void)kind;
	(void)key_size;
	(void)value_size; /* without_zeros ensures that neither string contains a zero byte */
	return serve_request_argument(a->job, a->server->options->database_count, key, value,
				      &a->err) == HDB_OK ?
		       MHD_YES :
		       MHD_NO;
}

static const char *file_of(const struct serve_options *options, const char *name)
{
	for (size_t i = 0; i < options->file_count; i++)
		if (strcmp(options->files[i], name) == 0)
			return options->files[i];
	return NULL;
}

/* Makes a job for the path. Returns NULL if the path is unknown or memory is exhausted. */
static struct serve_job *job_of(const struct server *server, const char *path)
{
	static const char query[] = "/api/query/", own[] = "/api/file/";
	const bool is_query = strncmp(path, query, sizeof(query) - 1) == 0;
	const bool is_sql = SERVE_HAS_SQL && strcmp(path, "/api/sql") == 0;
	const bool is_bitmap = strcmp(path, "/api/bitmap") == 0;
	const char *file = strncmp(path, own, sizeof(own) - 1) == 0 ?
				   file_of(server->options, path + sizeof(own) - 1) :
				   NULL;
	struct serve_job *job;

	if (!is_query && !is_sql && !is_bitmap && !file && strcmp(path, "/api/value") != 0)
		return NULL;
	job = serve_job_new();
	if (!job)
		return NULL;
	job->kind = is_query  ? SERVE_QUERY :
		    is_sql    ? SERVE_SQL :
		    is_bitmap ? SERVE_BITMAP :
		    file      ? SERVE_FILE :
				SERVE_VALUE;
	job->spec = is_query ? hdb_query_named(path + sizeof(query) - 1) : NULL;
	job->file = file;
	job->limit = SERVE_ROWS_DEFAULT;
	job->done = on_done;
	if (is_query && !job->spec) {
		serve_job_free(job);
		return NULL;
	}
	return job;
}

/* Queues the job. The connection is suspended until a worker resumes it. */
static enum MHD_Result ask(struct server *server, struct MHD_Connection *connection,
			   struct request *request, struct serve_job *job)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct arguments a = { .server = server, .job = job };

	job->connection = connection;
	job->client = info ? info->connect_fd : -1;
	job->held = &server->held;
	job->takes_gzip = request->headers.takes_gzip;
	MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, on_argument, &a);
	if (a.err.code == HDB_OK)
		serve_request_check(job, &a.err);
	if (a.err.code == HDB_OK && job->format != SERVE_PAGE) {
		job->held = &server->exports;
		job->size = 1;
		if (atomic_fetch_add(job->held, 1) >= SERVE_EXPORTS_MAX)
			hdb_fail(&a.err, HDB_ELIMIT,
				 "%d files are already being created or sent; try again later",
				 SERVE_EXPORTS_MAX);
	}
	if (a.err.code != HDB_OK) {
		serve_job_free(job);
		return send_error(connection, MHD_HTTP_BAD_REQUEST, "HDB_EUSAGE", a.err.message);
	}
	request->job = job;
	MHD_suspend_connection(connection);
	if (!serve_jobs_add(server->jobs, job)) {
		job->state = SERVE_DONE;
		job->result = HDB_EINTR;
		snprintf(job->err.message, sizeof(job->err.message),
			 "%d requests are already waiting; try again later", SERVE_WAITING_MAX);
		MHD_resume_connection(connection);
	}
	return MHD_YES;
}

static enum MHD_Result send_progress(struct server *server, struct MHD_Connection *connection)
{
	const char *id = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "job");
	struct serve_progress progress = { .state = SERVE_DONE };
	struct bytes text = { 0 };
	const bool is_there = id && *id && serve_jobs_progress(server->jobs, id, &progress);

	bytes_format(&text, "{\"state\":\"%s\"",
		     !is_there                       ? "none" :
		     progress.state == SERVE_WAITING ? "waiting" :
						       "running");
	if (is_there) {
		bytes_string(&text, ",\"stage\":");
		escape_json(&text, progress.stage);
		bytes_format(&text, ",\"done\":%llu,\"total\":%llu,\"rows\":%llu,\"unit\":",
			     (unsigned long long)progress.done, (unsigned long long)progress.total,
			     (unsigned long long)progress.rows);
		escape_json(&text, progress.unit);
	}
	bytes_string(&text, "}\n");
	return send_text(connection, &text, false);
}

static enum MHD_Result cancel(struct server *server, struct MHD_Connection *connection)
{
	const char *id = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "job");
	const bool is_found = id && *id && serve_jobs_cancel(server->jobs, id);
	struct bytes text = { 0 };

	bytes_format(&text, "{\"cancelled\":%s}\n", is_found ? "true" : "false");
	return send_text(connection, &text, false);
}

/* ---- notes ---- */

static const char *argument(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
}

/*
 * Returns all notes of the database. A POST request first writes the note "text" on "on", or
 * removes the note if there is no "text".
 */
static enum MHD_Result notes(const struct server *server, struct MHD_Connection *connection,
			     bool writes)
{
	const struct serve_options *options = server->options;
	const char *db = argument(connection, "db"), *on = argument(connection, "on");
	struct hdb_error err = { 0 };
	struct MHD_Response *response;
	char *json = NULL;
	size_t number = 0;
	int r;

	if (!serve_request_database(db ? db : "0", options->database_count, &number) ||
	    (writes && !on))
		return send_error(connection, MHD_HTTP_BAD_REQUEST, "HDB_EUSAGE",
				  "\"db\" must be the number of a database, \"on\" the target of a "
				  "note");
	r = options->notes(options->databases[number].db_path, writes ? on : NULL,
			   argument(connection, "text"), &json, &err);
	if (r != HDB_OK)
		return send_error(connection, status_of(r), hdb_result_name(r), err.message);
	response = bytes_response(json, strlen(json), MHD_RESPMEM_MUST_COPY, false);
	free(json);
	return send_response(connection, MHD_HTTP_OK, JSON, response);
}

/* ---- requests ---- */

/*
 * Returns whether the line that ends after `size` bytes ended with a bare LF. libmicrohttpd 1.0
 * (start) and later versions reject such lines. Earlier versions terminate lines in place, and
 * replace CR LF by two zeros.
 */
static bool is_bare_line(const char *text, size_t size)
{
	return strncmp(MHD_get_version(), "0.", 2) == 0 && text[size + 1] != '\0';
}

/* NOLINTNEXTLINE(readability-function-size): libmicrohttpd defines the parameters */
static enum MHD_Result on_header(void *ctx, enum MHD_ValueKind kind, const char *name,
				 size_t name_size, const char *value, size_t value_size)
{
	struct serve_headers *headers = ctx;

	(void)kind;
	serve_gate_header(headers, name, name_size, value, value_size);
	headers->is_broken |= value && is_bare_line(value, value_size);
	return MHD_YES;
}

/*
 * Decodes %XX in a text. A decoded zero byte would end the text, so it is replaced by another
 * character.
 */
static size_t without_zeros(void *ctx, struct MHD_Connection *connection, char *text)
{
	const size_t size = MHD_http_unescape(text);

	(void)ctx;
	(void)connection;
	for (size_t i = 0; i < size; i++)
		if (text[i] == '\0')
			text[i] = '\1';
	return size;
}

static enum serve_verdict judge(const struct server *server, struct MHD_Connection *connection,
				const char *path, const struct serve_headers *headers, bool is_get)
{
	const struct serve_visitor visitor = {
		.host = headers->host,
		.origin = headers->origin,
		.fetch_site = headers->fetch_site,
		.cookies = headers->cookies,
		.token = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "token"),
		.is_navigation = is_get && strcmp(path, "/") == 0,
	};

	return serve_gate_judge(&server->gate, &visitor);
}

static enum MHD_Result send_file(const struct server *server, struct MHD_Connection *connection,
				 const struct serve_file *file, bool sets_cookie, bool takes_gzip)
{
	struct MHD_Response *response = bytes_response(file->data, (size_t)(file->end - file->data),
						       MHD_RESPMEM_PERSISTENT, takes_gzip);

	if (response && sets_cookie) {
		char cookie[160];

		snprintf(cookie, sizeof(cookie), "%s=%s; Path=/; HttpOnly; SameSite=Strict",
			 server->gate.cookie, server->gate.token);
		MHD_add_response_header(response, "Set-Cookie", cookie);
	}
	return send_response(connection, MHD_HTTP_OK, file->type, response);
}

/*
 * Sends the response to a request with an outdated URL. For example, the URL may come from before a
 * restart of the server.
 */
static enum MHD_Result send_closed_door(struct MHD_Connection *connection)
{
	static const char page[] =
		"<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">"
		"<meta name=\"viewport\" content=\"width=device-width\"><title>heapdb</title>"
		"<h1>Open the address that <code>heapdb serve</code> printed</h1>"
		"<p>That address contains a token. This address has no token, or the token of "
		"another database.\n";

	return send_response(connection, MHD_HTTP_FORBIDDEN, "text/html; charset=utf-8",
			     MHD_create_response_from_buffer(sizeof(page) - 1,
							     (void *)(uintptr_t)page,
							     MHD_RESPMEM_PERSISTENT));
}

static enum MHD_Result refuse(struct MHD_Connection *connection, enum serve_verdict verdict,
			      bool is_page)
{
	if (verdict == SERVE_WRONG_HOST)
		return send_error(connection, MHD_HTTP_MISDIRECTED_REQUEST, "HOST",
				  "this server does not accept requests for this host name");
	if (verdict == SERVE_WRONG_ORIGIN)
		return send_error(connection, MHD_HTTP_FORBIDDEN, "ORIGIN",
				  "requests from other sites are refused");
	if (is_page)
		return send_closed_door(connection);
	return send_error(connection, MHD_HTTP_FORBIDDEN, "TOKEN",
			  "open the address that `heapdb serve` printed: it contains the token");
}

static enum MHD_Result route(struct server *server, struct MHD_Connection *connection,
			     const char *path, bool is_get, struct request *request)
{
	const enum serve_verdict verdict =
		judge(server, connection, path, &request->headers, is_get);
	const struct serve_file *file;
	struct serve_job *job;
	struct bytes text = { 0 };

	if (verdict != SERVE_WELCOME && verdict != SERVE_WELCOME_TOKEN)
		return refuse(connection, verdict, is_get && strcmp(path, "/") == 0);
	if (strcmp(path, "/api/notes") == 0 && server->options->notes)
		return notes(server, connection, !is_get);
	if (!is_get)
		return strcmp(path, "/api/cancel") == 0 ?
			       cancel(server, connection) :
			       send_error(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "METHOD",
					  "only /api/cancel and /api/notes accept POST");
	file = serve_bundle_file(path);
	if (file)
		return send_file(server, connection, file, verdict == SERVE_WELCOME_TOKEN,
				 request->headers.takes_gzip);
	job = job_of(server, path);
	if (job)
		return ask(server, connection, request, job);
	if (strcmp(path, "/api/progress") == 0)
		return send_progress(server, connection);
	if (strcmp(path, "/api/specs") != 0 && strcmp(path, "/api/health") != 0)
		return send_error(connection, MHD_HTTP_NOT_FOUND, "HDB_NOTFOUND",
				  "no such page; /api/specs lists the queries");
	if (strcmp(path, "/api/specs") == 0)
		serve_specs(&text);
	else
		serve_health(&text, server->options, server->jobs);
	return send_text(connection, &text, request->headers.takes_gzip);
}

static struct serve_slow_one *slow_one_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

/* Handles a request after its headers, before its body. */
static enum MHD_Result begin_request(struct server *server, struct MHD_Connection *connection,
				     const char *version, void **state)
{
	struct request *request = calloc(1, sizeof(*request));

	*state = request;
	if (!request)
		return MHD_NO;
	serve_slow_set(server->slow, slow_one_of(connection), true);
	MHD_get_connection_values_n(connection, MHD_HEADER_KIND, on_header, &request->headers);
	if (request->headers.is_broken || strncmp(version, "HTTP/1.", 7) != 0 ||
	    is_bare_line(version, strlen(version)))
		return send_last(connection, MHD_HTTP_BAD_REQUEST, "HEADERS",
				 "the request's headers are invalid");
	return request->headers.has_body ? send_last(connection, MHD_HTTP_CONTENT_TOO_LARGE, "BODY",
						     "requests must not have a body") :
					   MHD_YES;
}

/* NOLINTNEXTLINE(readability-function-size): libmicrohttpd defines the parameters */
static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *path,
				  const char *method, const char *version, const char *upload,
				  size_t *upload_size, void **state)
{
	const bool is_get = strcmp(method, "GET") == 0;
	struct request *request = *state;

	(void)upload;
	if (!request)
		return begin_request(ctx, connection, version, state);
	if (request->job)
		return send_answer(connection, request->job);
	if (*upload_size > 0)
		return MHD_NO;
	if (!is_get && strcmp(method, "POST") != 0)
		return send_error(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "METHOD",
				  "only GET and POST are supported");
	return route(ctx, connection, path, is_get, request);
}

static void on_completed(void *ctx, struct MHD_Connection *connection, void **state,
			 enum MHD_RequestTerminationCode code)
{
	const struct server *server = ctx;
	struct request *request = *state;

	(void)code;
	serve_slow_set(server->slow, slow_one_of(connection), false);
	if (request)
		serve_job_free(request->job);
	free(request);
	*state = NULL;
}

static void on_connection(void *ctx, struct MHD_Connection *connection, void **one,
			  enum MHD_ConnectionNotificationCode code)
{
	const struct server *server = ctx;
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	if (code == MHD_CONNECTION_NOTIFY_STARTED && info)
		*one = serve_slow_enter(server->slow, info->connect_fd);
	else if (code == MHD_CONNECTION_NOTIFY_CLOSED)
		serve_slow_leave(server->slow, *one);
}

/* ---- the server ---- */

/* Opens the listening socket. Sets *port to its port. */
static int listen_on(struct server *server, unsigned *port, struct hdb_error *err)
{
	const struct serve_options *options = server->options;
	int *fd = &server->fd;
	const char *address = options->listen ? options->listen : "127.0.0.1";
	const uint16_t first =
		htons((uint16_t)(options->port ? options->port :
						 serve_token_port(options->databases[0].name)));
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = first };
	struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = first };
	const bool is_four = inet_pton(AF_INET, address, &four.sin_addr) == 1;
	struct sockaddr *to = is_four ? (struct sockaddr *)&four : (struct sockaddr *)&six;
	socklen_t size = is_four ? sizeof(four) : sizeof(six);
	const int one = 1;
	int r;

	if (!is_four && inet_pton(AF_INET6, address, &six.sin6_addr) != 1)
		return hdb_fail(err, HDB_EUSAGE, "%s: %s", address, "not an IPv4 or IPv6 address");
	*fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*fd < 0)
		return hdb_fail(err, HDB_EIO, "%s: %s", address, strerror(errno));
	setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	r = bind(*fd, to, size);
	if (r != 0 && !options->port) {
		four.sin_port = six.sin6_port = 0; /* the port is in use, so use any other port */
		r = bind(*fd, to, size);
	}
	if (r != 0 || listen(*fd, CONNECTIONS_WAITING_MAX) != 0 || getsockname(*fd, to, &size) != 0)
		return hdb_fail(err, HDB_EIO, "%s: %s", address, strerror(errno));
	*port = ntohs(is_four ? four.sin_port : six.sin6_port);
	return HDB_OK;
}

static int start(struct server *server, struct hdb_error *err)
{
	/* before version 1.0, strict mode applies to the Host header instead of line ends */
	const int strict = strncmp(MHD_get_version(), "0.", 2) != 0;

	server->daemon = MHD_start_daemon(
		MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC, 0, NULL,
		NULL, on_request, server, MHD_OPTION_LISTEN_SOCKET, server->fd,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SILENCE_SECONDS,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, REQUEST_MAX, MHD_OPTION_NOTIFY_COMPLETED,
		on_completed, server, MHD_OPTION_NOTIFY_CONNECTION, on_connection, server,
		MHD_OPTION_UNESCAPE_CALLBACK, without_zeros, NULL, MHD_OPTION_STRICT_FOR_CLIENT,
		strict, MHD_OPTION_END);
	return server->daemon ? HDB_OK :
				hdb_fail(err, HDB_EIO, "cannot serve: %s", strerror(errno));
}

static void print_ready(const struct server *server, unsigned port)
{
	const struct serve_options *options = server->options;
	const char *address = options->listen ? options->listen : "127.0.0.1";
	char url[160];

	snprintf(url, sizeof(url),
		 strchr(address, ':') ? "http://[%s]:%u/?token=%s" : "http://%s:%u/?token=%s",
		 address, port, server->gate.token);
	options->ready(options->ctx, url);
}

static void end(struct server *server)
{
	serve_jobs_stop(server->jobs);
	if (server->daemon)
		MHD_stop_daemon(server->daemon);
	serve_slow_free(server->slow);
	if (server->fd >= 0)
		close(server->fd);
}

int serve_run(const struct serve_options *options, struct hdb_error *err)
{
	BASE_SCOPED(end) struct server server = { .options = options, .fd = -1 };
	unsigned port = 0;

	if (options->database_count == 0 || options->database_count > SERVE_DATABASES_MAX)
		return hdb_fail(err, HDB_ELIMIT, "too many databases (limit 16)");
	TRY(serve_library_load(err));
	TRY(listen_on(&server, &port, err));
	if (!serve_gate_init(&server.gate, options->listen ? options->listen : "127.0.0.1", port))
		return hdb_fail(err, HDB_EIO, "cannot get random bytes: %s", strerror(errno));
	serve_token_keep(options->databases[0].db_path, server.gate.token);
	server.slow = serve_slow_new();
	if (!server.slow)
		return hdb_fail(err, HDB_ENOMEM, "cannot start the server: out of memory");
	TRY(serve_jobs_start(options, &server.jobs, err));
	TRY(start(&server, err));
	print_ready(&server, port);
	while (!base_flag_is_set(options->stop)) {
		const struct timespec tick = { .tv_nsec = 100000000 };

		nanosleep(&tick, NULL);
		serve_jobs_watch(server.jobs);
		serve_slow_watch(server.slow);
	}
	MHD_quiesce_daemon(server.daemon);
	return HDB_OK;
}
