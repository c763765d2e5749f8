/*
 * serve/serve_value.c - texts in one piece, arrays in pieces.
 */
#include "serve/serve_value.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Elements that are read at once. */
#define PIECE 8192

/* Bytes of the longest number with its line's end. */
#define NUMBER_MAX 32

static int fail(struct hdb_error *err, int code, const char *format, ...) HDB_PRINTF(3, 4);
static int fail(struct hdb_error *err, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(err->message, sizeof(err->message), format, args);
	va_end(args);
	return err->code = code;
}

static int put(struct serve_job *job, const char *data, size_t size)
{
	while (size > 0) {
		const ssize_t n = write(job->fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fail(&job->err, HDB_EIO, "the value cannot be kept: %s",
				    strerror(errno));
		data += n;
		size -= (size_t)n;
	}
	return HDB_OK;
}

static int too_long(struct serve_job *job)
{
	return fail(&job->err, HDB_ELIMIT,
		    "the value is longer than %" PRIu64 " MiB: ask the command",
		    SERVE_VALUE_MAX >> 20);
}

/* All of a text, which is asked for twice: how long it is, and then what. */
static int put_text(struct hdb *db, struct serve_job *job, uint32_t ix)
{
	char first[NUMBER_MAX * 64], *all = NULL;
	uint64_t units = 0;
	int r = hdb_text(db, ix, first, sizeof(first), &units, &job->err);

	if (r == HDB_NOTFOUND)
		return fail(&job->err, r, "the object has no value of its own, only fields");
	if (r != HDB_OK)
		return r;
	job->is_text = true;
	if (units < sizeof(first) / 3)
		return put(job, first, strlen(first));
	if (units > SERVE_VALUE_MAX / 3)
		return too_long(job);
	all = malloc(3 * units + 1);
	r = all ? hdb_text(db, ix, all, 3 * units + 1, NULL, &job->err) :
		  fail(&job->err, HDB_ENOMEM, "no memory for a text");
	if (r == HDB_OK)
		r = put(job, all, strlen(all));
	free(all);
	return r;
}

static size_t format(char *line, enum hdb_basic_type type, uint64_t bits)
{
	struct hdb_basic value;
	int n;

	hdb_basic_of(type, bits, &value);
	if (type == HDB_BASIC_BYTE) {
		*line = (char)value.i;
		return 1;
	}
	if (type == HDB_BASIC_FLOAT || type == HDB_BASIC_DOUBLE)
		n = snprintf(line, NUMBER_MAX, "%.17g\n", value.d);
	else if (type == HDB_BASIC_OBJECT)
		n = snprintf(line, NUMBER_MAX, "0x%" PRIx64 "\n", value.id);
	else
		n = snprintf(line, NUMBER_MAX, "%" PRId64 "\n", value.i);
	return n > 0 ? (size_t)n : 0;
}

static int put_array(struct hdb *db, struct serve_job *job, uint32_t ix)
{
	uint64_t *bits = malloc(PIECE * sizeof(*bits)), left = job->count ? job->count : UINT64_MAX;
	uint64_t at = job->from, sent = 0;
	char *text = malloc((size_t)PIECE * NUMBER_MAX);
	int r = bits && text ? HDB_OK : fail(&job->err, HDB_ENOMEM, "no memory for an array");

	while (r == HDB_OK && left > 0) {
		enum hdb_basic_type type;
		size_t done = 0, size = 0;

		r = hdb_elements(db, ix, at, left < PIECE ? (size_t)left : PIECE, bits, &type,
				 &done, &job->err);
		if (r != HDB_OK || done == 0)
			break;
		for (size_t i = 0; i < done; i++)
			size += format(text + size, type, bits[i]);
		sent += size;
		r = sent > SERVE_VALUE_MAX ? too_long(job) : put(job, text, size);
		at += done;
		left -= done;
	}
	free(bits);
	free(text);
	return r;
}

int serve_value(struct hdb *db, struct serve_job *job)
{
	struct hdb_object_facts facts;
	uint32_t ix;
	int r = hdb_find(db, job->object, &ix, &job->err);

	if (r == HDB_NOTFOUND)
		return fail(&job->err, r, "there is no object 0x%" PRIx64, job->object);
	if (r == HDB_OK)
		r = hdb_object_at(db, ix, &facts, &job->err);
	if (r != HDB_OK)
		return r;
	return facts.kind == HDB_KIND_OBJECT_ARRAY || facts.kind == HDB_KIND_PRIMITIVE_ARRAY ?
		       put_array(db, job, ix) :
		       put_text(db, job, ix);
}
