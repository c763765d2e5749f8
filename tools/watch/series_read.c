/*
 * watch/series_read.c - reads a series, line by line. The file may be damaged or come from an
 * unknown source, so nothing in it is trusted, not even lines with a valid checksum.
 */
#include "watch/series.h"

#include "base/scope.h"

#include <ctype.h>
#include <errno.h>
#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Size of ,"crc":"0a1b2c3d"} */
#define CRC_SIZE ((size_t)18)

struct series_parser {
	struct series_record record;
	struct series_class classes[SERIES_CLASSES_MAX];
	/* decoded names of classes; allocated in advance, so that it does not move */
	struct bytes names;
	const char *at, *end;
};

/* ---- JSON: the parts that a line may contain ---- */

static bool take(struct series_parser *p, char c)
{
	const bool is = p->at < p->end && *p->at == c;

	p->at += is;
	return is;
}

static bool take_number(struct series_parser *p, uint64_t *out)
{
	const char *start = p->at;

	for (*out = 0; p->at < p->end && isdigit((unsigned char)*p->at); p->at++)
		*out = *out * 10 + (uint64_t)(*p->at - '0');
	return p->at > start && p->at - start <= 19;
}

/* Decodes the escape after a backslash. */
static bool take_escape(struct series_parser *p, char out[4], size_t *size)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char c = p->at < p->end ? *p->at++ : '\0';
	const char *found = c ? strchr(from, c) : NULL;
	unsigned code = 0;

	*size = 1;
	if (found) {
		out[0] = to[found - from];
		return true;
	}
	for (int i = 0; i < 4; i++) {
		if (c != 'u' || p->at == p->end || !isxdigit((unsigned char)*p->at))
			return false;
		code = code * 16 + (unsigned)(isdigit((unsigned char)*p->at) ?
						      *p->at - '0' :
						      (*p->at | 32) - 'a' + 10);
		p->at++;
	}
	/* a zero character would end the string */
	*size = base_utf8(out, code ? code : 0xfffd);
	return true;
}

/* Decodes a string into `buf`, truncated to fit and zero-terminated. */
static bool take_text(struct series_parser *p, char *buf, size_t room)
{
	size_t used = 0;

	if (!take(p, '"'))
		return false;
	while (p->at < p->end && *p->at != '"') {
		char escape[4] = { *p->at++ };
		size_t size = 1;

		if (escape[0] == '\\' && !take_escape(p, escape, &size))
			return false;
		if (size < room - used) {
			memcpy(buf + used, escape, size);
			used += size;
		}
	}
	buf[used] = '\0';
	return take(p, '"');
}

static bool take_class(struct series_parser *p)
{
	struct series_record *r = &p->record;
	struct series_class *c = &p->classes[r->class_count];
	char name[1024];

	if (r->class_count == SERIES_CLASSES_MAX || !take(p, '[') ||
	    !take_text(p, name, sizeof(name)))
		return false;
	c->name_size = strlen(name);
	c->name = p->names.data + p->names.size;
	bytes_add(&p->names, name, c->name_size);
	if (!take(p, ',') || !take_number(p, &c->objects) || !take(p, ',') ||
	    !take_number(p, &c->bytes))
		return false;
	r->class_count++;
	return take(p, ']');
}

static bool take_classes(struct series_parser *p)
{
	/* decoded names are no longer than the rest of the line */
	p->names.size = 0;
	if (!take(p, '[') || !bytes_room(&p->names, (size_t)(p->end - p->at) + 1))
		return false;
	p->record.classes = p->classes;
	if (take(p, ']'))
		return true;
	do {
		if (!take_class(p))
			return false;
	} while (take(p, ','));
	return take(p, ']');
}

static bool take_kind(struct series_parser *p)
{
	char text[16];

	if (!take_text(p, text, sizeof(text)))
		return false;
	for (unsigned i = 0; i < SERIES_KINDS; i++)
		if (strcmp(text, series_kind_names[i]) == 0) {
			p->record.kind = (enum series_kind)i;
			return true;
		}
	return false;
}

/* Reads the value of a key. Values of unknown keys must be numbers or strings. */
static bool take_value(struct series_parser *p, const char *key)
{
	struct series_record *r = &p->record;
	const struct {
		const char *key;
		char *buf;
		size_t size;
	} texts[] = {
		{ "jvm", r->jvm, sizeof(r->jvm) },
		{ "main", r->main_class, sizeof(r->main_class) },
		{ "version", r->version, sizeof(r->version) },
		{ "event", r->event, sizeof(r->event) },
		{ "text", r->text, sizeof(r->text) },
		{ "path", r->path, sizeof(r->path) },
	};
	const struct {
		const char *key;
		uint64_t *to;
	} numbers[] = {
		{ "time", &r->time_ms },    { "age", &r->age_ms },  { "pause_us", &r->pause_us },
		{ "objects", &r->objects }, { "bytes", &r->bytes },
	};
	char other[16];
	uint64_t number;

	if (strcmp(key, "kind") == 0)
		return take_kind(p);
	if (strcmp(key, "classes") == 0)
		return take_classes(p);
	for (size_t i = 0; i < BASE_COUNT(texts); i++)
		if (strcmp(key, texts[i].key) == 0)
			return take_text(p, texts[i].buf, texts[i].size);
	if (p->at < p->end && *p->at == '"')
		return take_text(p, other, sizeof(other));
	if (!take_number(p, &number))
		return false;
	for (size_t i = 0; i < BASE_COUNT(numbers); i++)
		if (strcmp(key, numbers[i].key) == 0)
			*numbers[i].to = number;
	for (unsigned i = 0; i < SERIES_FIGURES; i++)
		if (strcmp(key, series_figure_keys[i]) == 0) {
			r->figures[i] = number;
			r->has |= 1U << i;
		}
	return true;
}

static bool has_checksum(const char *line, size_t size)
{
	char expected[CRC_SIZE + 1];

	if (size <= CRC_SIZE)
		return false;
	snprintf(expected, sizeof(expected), ",\"crc\":\"%08x\"}",
		 libdeflate_crc32(0, line, size - CRC_SIZE));
	return memcmp(line + size - CRC_SIZE, expected, CRC_SIZE) == 0;
}

struct series_parser *series_parser_new(void)
{
	return calloc(1, sizeof(struct series_parser));
}

void series_parser_free(struct series_parser *p)
{
	if (p)
		bytes_release(&p->names);
	free(p);
}

const struct series_record *series_parse(struct series_parser *p, const char *line, size_t size)
{
	char key[16];

	if (!has_checksum(line, size))
		return NULL;
	p->at = line;
	p->end = line + size - CRC_SIZE;
	memset(&p->record, 0, sizeof(p->record));
	p->record.kind = SERIES_KINDS;
	if (!take(p, '{'))
		return NULL;
	do {
		if (!take_text(p, key, sizeof(key)) || !take(p, ':') || !take_value(p, key))
			return NULL;
	} while (take(p, ','));
	return p->at == p->end && p->record.kind < SERIES_KINDS ? &p->record : NULL;
}

/* ---- the file ---- */

/* A file that is read in pieces. `buffer` contains the start of a line. */
struct reader {
	struct series_parser *parser;
	const struct series_taker *taker;
	struct series_counts counts;
};

static int use_line(struct reader *r, const char *line, size_t size)
{
	const struct series_record *record = series_parse(r->parser, line, size);

	/*
	 * a writer that resumes after an incomplete line ends that line, which may leave an empty
	 * line
	 */
	r->counts.lines += size > 0;
	r->counts.damaged += size > 0 && !record;
	return record ? r->taker->take(r->taker->ctx, record) : HDB_OK;
}

BASE_CLOSER(free_parser, struct series_parser, series_parser_free)

/*
 * Reads up to a line feed. Returns false at the end of the file or once *cancel is set. Lines that
 * are too long are skipped.
 */
static bool next_line(FILE *file, const base_flag *cancel, char *buf, size_t *size)
{
	int c;

	*size = 0;
	while ((c = getc_unlocked(file)) != EOF && c != '\n') {
		if (base_flag_is_set(cancel))
			return false;
		if (*size < SERIES_LINE_MAX)
			buf[*size] = (char)c;
		*size += *size < SERIES_LINE_MAX;
	}
	return c != EOF || *size > 0;
}

static int read_lines(FILE *file, struct reader *reader, struct hdb_error *err)
{
	BASE_FREED char *buf = NULL;
	size_t size;
	int rc = HDB_OK;

	TRY(BASE_ALLOC(buf, SERIES_LINE_MAX, "a line", err));
	while (rc == HDB_OK && next_line(file, reader->taker->cancel, buf, &size))
		rc = use_line(reader, buf, size);
	return rc == HDB_OK && base_flag_is_set(reader->taker->cancel) ?
		       hdb_fail(err, HDB_EINTR, "interrupted") :
		       rc;
}

int series_read(const char *path, const struct series_taker *taker, struct series_counts *counts,
		struct hdb_error *err)
{
	BASE_SCOPED(free_parser) struct series_parser *parser = series_parser_new();
	struct reader reader = { .parser = parser, .taker = taker };
	FILE *file = parser ? fopen(path, "re") : NULL;
	int rc;

	if (!parser)
		return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for a series");
	if (!file)
		return hdb_fail_open(err, errno, path);
	rc = read_lines(file, &reader, err);
	if (rc == HDB_OK && ferror(file))
		rc = hdb_fail_errno(err, errno, "%s", path);
	fclose(file);
	if (counts)
		*counts = reader.counts;
	return rc;
}
