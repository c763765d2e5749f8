/*
 * support/json_check.c - a strict JSON parser that only validates. Written from RFC 8259 and RFC
 * 3629.
 */
#include "support/json_check.h"

#include <stdint.h>
#include <string.h>

#define DEPTH_MAX 64

struct reader {
	const unsigned char *p, *end;
	char open[DEPTH_MAX]; /* '{' or '[' */
	unsigned depth;
};

/* Bytes of the character at p, 0 if it is not well-formed. */
static size_t character(const unsigned char *p, const unsigned char *end)
{
	const size_t left = (size_t)(end - p);
	size_t n;

	if (*p < 0x80)
		return 1;
	n = *p >= 0xc2 && *p < 0xe0 ? 2 :
	    *p >= 0xe0 && *p < 0xf0 ? 3 :
	    *p >= 0xf0 && *p < 0xf5 ? 4 :
				      0;
	if (!n || n > left)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] >= 0xa0) ||
	    (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] >= 0x90))
		return 0;
	return n;
}

bool text_is_clean(const char *text, size_t size)
{
	const unsigned char *p = (const unsigned char *)text, *end = p + size;

	while (p < end) {
		const size_t n = character(p, end);

		if (!n || (*p < 0x20 && *p != '\n' && *p != '\t') || *p == 0x7f ||
		    (*p == 0xc2 && p[1] < 0xa0))
			return false;
		p += n;
	}
	return true;
}

bool text_is_utf8(const char *text, size_t size)
{
	const unsigned char *p = (const unsigned char *)text, *end = p + size;
	size_t n;

	for (; p < end; p += n) {
		n = character(p, end);
		if (!n)
			return false;
	}
	return true;
}

static void skip_blanks(struct reader *r)
{
	while (r->p < r->end && (*r->p == ' ' || *r->p == '\n' || *r->p == '\t' || *r->p == '\r'))
		r->p++;
}

static bool string(struct reader *r)
{
	if (r->p == r->end || *r->p++ != '"')
		return false;
	while (r->p < r->end && *r->p != '"') {
		if (*r->p < 0x20)
			return false;
		if (*r->p == '\\') {
			if (++r->p == r->end || !strchr("\"\\/bfnrtu", *r->p))
				return false;
			if (*r->p == 'u') {
				for (unsigned i = 0; i < 4; i++)
					if (++r->p == r->end ||
					    !strchr("0123456789abcdefABCDEF", *r->p))
						return false;
			}
			r->p++;
		} else {
			const size_t n = character(r->p, r->end);

			if (!n)
				return false;
			r->p += n;
		}
	}
	return r->p < r->end && *r->p++ == '"';
}

static size_t digits(struct reader *r)
{
	size_t n = 0;

	while (r->p < r->end && *r->p >= '0' && *r->p <= '9') {
		r->p++;
		n++;
	}
	return n;
}

static bool number(struct reader *r)
{
	if (*r->p == '-')
		r->p++;
	if (r->p < r->end && *r->p == '0')
		r->p++;
	else if (!digits(r))
		return false;
	if (r->p < r->end && *r->p == '.') {
		r->p++;
		if (!digits(r))
			return false;
	}
	if (r->p < r->end && (*r->p == 'e' || *r->p == 'E')) {
		r->p++;
		if (r->p < r->end && (*r->p == '+' || *r->p == '-'))
			r->p++;
		if (!digits(r))
			return false;
	}
	return true;
}

static bool word(struct reader *r, const char *w)
{
	const size_t n = strlen(w);

	if ((size_t)(r->end - r->p) < n || memcmp(r->p, w, n) != 0)
		return false;
	r->p += n;
	return true;
}

/* The name and colon before a member's value. */
static bool name(struct reader *r)
{
	skip_blanks(r);
	if (!string(r))
		return false;
	skip_blanks(r);
	return r->p < r->end && *r->p++ == ':';
}

/* What follows a value: ends that close, or a comma. *more: another value comes. */
static bool after(struct reader *r, bool *more)
{
	*more = false;
	for (;;) {
		skip_blanks(r);
		if (!r->depth)
			return true;
		if (r->p == r->end)
			return false;
		if (*r->p == ',') {
			r->p++;
			*more = true;
			return r->open[r->depth - 1] == '[' || name(r);
		}
		if (*r->p++ != (r->open[r->depth - 1] == '[' ? ']' : '}'))
			return false;
		r->depth--;
	}
}

/* A scalar, or the start of an object or array; *is_open: its first value comes. */
static bool value(struct reader *r, bool *is_open)
{
	*is_open = false;
	skip_blanks(r);
	if (r->p == r->end)
		return false;
	switch (*r->p) {
	case '{':
	case '[':
		if (r->depth == DEPTH_MAX)
			return false;
		r->open[r->depth++] = (char)*r->p++;
		skip_blanks(r);
		if (r->p < r->end && *r->p == (r->open[r->depth - 1] == '[' ? ']' : '}')) {
			r->p++;
			r->depth--;
			return true;
		}
		*is_open = true;
		return r->open[r->depth - 1] == '[' || name(r);
	case '"':
		return string(r);
	case 't':
		return word(r, "true");
	case 'f':
		return word(r, "false");
	case 'n':
		return word(r, "null");
	default:
		return number(r);
	}
}

bool json_is_valid(const char *text, size_t size)
{
	struct reader r = { .p = (const unsigned char *)text,
			    .end = (const unsigned char *)text + size };
	bool more = true;

	while (more) {
		bool is_open;

		if (!value(&r, &is_open))
			return false;
		if (is_open)
			continue;
		if (!after(&r, &more))
			return false;
	}
	return r.p == r.end;
}
