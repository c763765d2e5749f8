/*
 * common/output.c - implements output.h. Does not depend on rows or queries.
 */
#include "common/output.h"

#include "common/shorten.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void output_init(struct output *out, int fd, const struct output_hooks *hooks)
{
	/* the buffer is large, and no byte is read before it is written */
	memset(out, 0, offsetof(struct output, buffer));
	out->hooks = hooks;
	out->fd = fd;
	out->is_terminal = isatty(fd) == 1;
}

void output_collect(struct output *out, struct bytes *into)
{
	memset(out, 0, offsetof(struct output, buffer));
	out->fd = -1;
	out->into = into;
}

/* Returns the number of terminal columns of a line. Colour escapes take none. */
static size_t line_columns(const char *line, size_t size)
{
	size_t columns = 0;

	for (size_t i = 0; i < size; i++) {
		if (line[i] == '\033') {
			while (i + 1 < size && line[i] != 'm')
				i++;
			continue;
		}
		columns += (line[i] & 0xc0) != 0x80;
	}
	return columns;
}

/* Returns the size of the first paragraph including its final blank line, or of the whole text. */
static size_t paragraph_size(const char *text, size_t size)
{
	for (size_t i = 1; i < size; i++) {
		if (text[i] == '\n' && text[i - 1] == '\n')
			return i + 1;
	}
	return size;
}

/* Returns whether a line of the text exceeds `width` columns. */
static bool has_wide_line(const char *text, size_t size, size_t width)
{
	while (size > 0) {
		const char *end = memchr(text, '\n', size);
		const size_t line = end ? (size_t)(end - text) : size;

		if (line_columns(text, line) > width)
			return true;
		text += line + (end != NULL);
		size -= line + (end != NULL);
	}
	return false;
}

/* Shortens class names line by line, because a quoted string never spans lines. */
static size_t shorten_lines(struct bytes *to, const char *text, size_t size)
{
	size_t left_out = 0;

	while (size > 0) {
		const char *end = memchr(text, '\n', size);
		const size_t line = end ? (size_t)(end - text) + 1 : size;

		left_out += shorten_names(to, text, line);
		text += line;
		size -= line;
	}
	return left_out;
}

/*
 * Returns the size of a line's prefix and sets *columns to its width. The prefix consists of blanks
 * and the lines of a drawn path.
 */
static size_t lead_size(const char *line, size_t size, size_t *columns)
{
	static const char strokes[] = { ' ', '|', '+', '-', '`', '>' };
	size_t i = 0;

	*columns = 0;
	while (i < size) {
		uint32_t c;
		const size_t n = utf8_decode(line + i, size - i, &c);
		const bool is_stroke = (c >= 0x2500 && c < 0x2580) || (c >= 0x2190 && c < 0x2200);

		if (n == 0 || (!is_stroke && (n > 1 || !memchr(strokes, (int)c, sizeof(strokes)))))
			break;
		i += n;
		++*columns;
	}
	return i;
}

/*
 * Writes the prefix of a continuation line: blanks, and the vertical lines of the path that
 * continue downwards.
 */
static void put_lead(struct bytes *to, const char *lead, size_t size)
{
	static const char down[] = "\xe2\x94\x82";
	size_t i = 0;

	while (i < size) {
		uint32_t c;

		i += utf8_decode(lead + i, size - i, &c);
		if (c == 0x2502 || c == 0x251c || c == 0x252c)
			bytes_add(to, down, sizeof(down) - 1);
		else
			bytes_add(to, c == '|' || c == '+' ? "|" : " ", 1);
	}
	bytes_add(to, "  ", 2);
}

bool output_in_size(const char *text, size_t at, size_t size)
{
	static const char *const units[] = { " B", " KiB", " MiB", " GiB", " TiB", " %" };

	if (at == 0 || text[at - 1] < '0' || text[at - 1] > '9')
		return false;
	for (size_t i = 0; i < BASE_COUNT(units); i++) {
		const size_t end = at + strlen(units[i]);

		if (end <= size && memcmp(text + at, units[i], end - at) == 0 &&
		    (end == size || strchr(" ,;.:)", text[end])))
			return true;
	}
	return false;
}

/*
 * Returns the last break within `width` columns, at a blank that does not separate a number from
 * its unit. A word that is too long for the next line stays on this line.
 */
static size_t break_at(const char *text, size_t size, size_t width)
{
	size_t best = 0;

	for (size_t i = 1; i <= size; i++) {
		if (i < size && (text[i] != ' ' || output_in_size(text, i, size)))
			continue;
		if (line_columns(text, i) <= width)
			best = i;
		else if (best && line_columns(text + best, i - best) + 2 <= width)
			return best;
		else if (!best || i == size)
			return i;
		else
			best = i;
	}
	return size;
}

/* Wraps a line at blanks. Words are not broken. */
static void wrap_line(struct bytes *to, const char *line, size_t size, size_t width)
{
	size_t indent, first = 0;
	const size_t lead = lead_size(line, size, &indent);

	bytes_add(to, line, lead);
	for (size_t at = lead; at < size;) {
		const size_t room = width > indent + first ? width - indent - first : 1;
		const size_t part = break_at(line + at, size - at, room);

		bytes_add(to, line + at, part);
		at += part + (at + part < size);
		if (at < size) {
			bytes_add(to, "\n", 1);
			put_lead(to, line, lead);
			first = 2;
		}
	}
}

/* Appends lines, and wraps lines that are too wide. */
static void wrap_lines(struct bytes *to, const char *text, size_t size, size_t width)
{
	while (size > 0) {
		const char *end = memchr(text, '\n', size);
		const size_t line = end ? (size_t)(end - text) : size;

		if (line_columns(text, line) > width)
			wrap_line(to, text, line, width);
		else
			bytes_add(to, text, line);
		bytes_add(to, text + line, end != NULL);
		text += line + (end != NULL);
		size -= line + (end != NULL);
	}
}

/*
 * Shortens class names in paragraphs with lines that are too wide, then wraps the lines that are
 * still too wide. Skips paragraphs that were already shortened. If the result does not fit the
 * buffer or memory, lines stay unchanged.
 */
static void fit_paragraphs(struct output *out)
{
	struct bytes shortened = { 0 }, fitted = { 0 };
	size_t from = 0;

	while (from < out->used) {
		const char *text = out->buffer + from;
		size_t size = paragraph_size(text, out->used - from);

		from += size;
		shortened.size = 0;
		if (has_wide_line(text, size, out->fit) &&
		    shorten_lines(&shortened, text, size) > 0 && !shortened.failed) {
			text = shortened.data;
			size = shortened.size;
			out->was_shortened = true;
		}
		wrap_lines(&fitted, text, size, out->fit);
	}
	if (!fitted.failed && fitted.size <= OUTPUT_BUFFER_SIZE) {
		if (fitted.size > 0)
			memcpy(out->buffer, fitted.data, fitted.size);
		out->used = fitted.size;
	}
	bytes_release(&fitted);
	bytes_release(&shortened);
}

/*
 * Returns the number of bytes up to the end of the last complete paragraph, or otherwise of the
 * last line.
 */
static size_t ended_size(const struct output *out)
{
	size_t line = 0;

	for (size_t i = out->used; i-- > 1;) {
		if (out->buffer[i] != '\n')
			continue;
		if (out->buffer[i - 1] == '\n')
			return i + 1;
		line = line ? line : i + 1;
	}
	return line;
}

/* Writes the first `size` buffered bytes. */
static void write_first(struct output *out, size_t size)
{
	size_t done = 0;

	if (out->into)
		bytes_add(out->into, out->buffer, size);
	else if (size > 0 && out->is_terminal && out->hooks)
		out->hooks->before_write(out);
	while (!out->into && done < size && out->error == 0) {
		const ssize_t n = write(out->fd, out->buffer + done, size - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR || (out->hooks && out->hooks->is_cancelled()))
			out->error = errno;
	}
	out->written += done;
	memmove(out->buffer, out->buffer + size, out->used - size);
	out->used -= size;
}

void output_flush(struct output *out)
{
	if (out->fit > 0)
		fit_paragraphs(out);
	if (!out->is_held)
		write_first(out, out->used);
}

void output_fit(struct output *out, size_t width)
{
	output_flush(out);
	out->fit = width;
}

void output_collect_end(struct output *out)
{
	output_flush(out);
	/* If an output has failed, also marks the text that collects the output as failed. */
	out->into->failed |= out->error != 0;
}

int output_close(struct output *out)
{
	output_flush(out);
	write_first(out, out->used);
	if (out->fd >= 0 && close(out->fd) != 0 && out->error == 0 && errno != EINTR)
		out->error = errno;
	out->fd = -1;
	return out->error;
}

/*
 * Makes room for `size` bytes, at most OUTPUT_BUFFER_SIZE. An incomplete paragraph stays in the
 * buffer.
 */
static char *room(struct output *out, size_t size)
{
	if (out->fit > 0 && size > OUTPUT_BUFFER_SIZE - out->used) {
		fit_paragraphs(out);
		write_first(out, ended_size(out));
	}
	if (size > OUTPUT_BUFFER_SIZE - out->used) {
		output_flush(out);
		write_first(out, out->used);
	}
	return out->buffer + out->used;
}

void output_bytes(struct output *out, const char *data, size_t size)
{
	while (size > 0) {
		const size_t part = size < OUTPUT_BUFFER_SIZE ? size : OUTPUT_BUFFER_SIZE;

		memcpy(room(out, part), data, part);
		out->used += part;
		data += part;
		size -= part;
	}
}

void output_release(struct output *out, struct bytes *text)
{
	if (text->failed && out->error == 0)
		out->error = ENOMEM;
	bytes_release(text);
}

void output_string(struct output *out, const char *string)
{
	output_bytes(out, string, strlen(string));
}

void output_char(struct output *out, char c)
{
	*room(out, 1) = c;
	out->used++;
}

void output_blanks(struct output *out, size_t count)
{
	for (; count > 0; count--)
		output_char(out, ' ');
}

void output_format(struct output *out, const char *format, ...)
{
	char line[1024];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (n > 0)
		output_bytes(out, line, (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1);
}

/* Formats a number in decimal into a buffer of OUTPUT_NUMBER_SIZE bytes. Returns its length. */
static size_t format_u64(char *buf, uint64_t value)
{
	char digits[20];
	size_t n = 0;

	do {
		digits[n++] = (char)('0' + value % 10);
		value /= 10;
	} while (value > 0);
	for (size_t i = 0; i < n; i++)
		buf[i] = digits[n - 1 - i];
	return n;
}

void output_xml(struct output *out, const char *text, size_t size)
{
	struct bytes line = { 0 };

	for (size_t at = 0; at < size;) {
		uint32_t c = UTF8_REPLACEMENT;
		const size_t n = utf8_decode(text + at, size - at, &c);

		at += n ? n : 1;
		if ((c < 0x20 && c != '\n' && c != '\t') || c == 0xfffe || c == 0xffff)
			c = UTF8_REPLACEMENT;
		if (c == '<' || c == '>' || c == '&' || c == '"' || c == '\n')
			bytes_format(&line, "&#%u;", (unsigned)c);
		else
			bytes_utf8(&line, c);
	}
	output_bytes(out, line.data ? line.data : "", line.size);
	output_release(out, &line);
}

void output_json(struct output *out, const char *text, size_t size)
{
	struct json_part part;

	output_char(out, '"');
	for (size_t at = 0; at < size; at += part.taken) {
		escape_json_part(text + at, size - at, &part);
		output_bytes(out, text + at, part.plain);
		output_bytes(out, part.escape, part.size);
	}
	output_char(out, '"');
}

void output_u64(struct output *out, uint64_t value)
{
	char *p = room(out, OUTPUT_NUMBER_SIZE);

	out->used += format_u64(p, value);
}

void output_i64(struct output *out, int64_t value)
{
	if (value < 0)
		output_char(out, '-');
	output_u64(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void output_id(struct output *out, uint64_t id)
{
	char *p = room(out, OUTPUT_NUMBER_SIZE);

	out->used += format_id(p, id);
}

size_t format_id(char *buf, uint64_t id)
{
	size_t digits = 1;

	while (digits < 16 && id >> (4 * digits) != 0)
		digits++;
	buf[0] = '0';
	buf[1] = 'x';
	for (size_t i = 0; i < digits; i++)
		buf[2 + i] = "0123456789abcdef"[id >> (4 * (digits - 1 - i)) & 15];
	return 2 + digits;
}

/* Number of significant digits of a real number that has no shorter decimal form. */
#define REAL_DIGITS 4
#define REAL_DIGITS_MAX 8

size_t format_real(char *buf, double value)
{
	const double size = fabs(value);
	int digits = 1, decimals, n;

	if (!isfinite(value)) {
		n = snprintf(buf, OUTPUT_NUMBER_SIZE, "%s", base_real(value, false).text);
		return (size_t)n;
	}
	for (; digits < REAL_DIGITS_MAX; digits++) {
		snprintf(buf, OUTPUT_NUMBER_SIZE, "%.*g", digits, value);
		if (!(strtod(buf, NULL) < value || strtod(buf, NULL) > value))
			break;
	}
	if (digits == REAL_DIGITS_MAX)
		digits = REAL_DIGITS;
	if (size != 0 && (size < 1e-5 || size >= 1e15)) {
		n = snprintf(buf, OUTPUT_NUMBER_SIZE, "%.*g", digits, value);
		return n < 0 ? 0 : (size_t)n;
	}
	decimals = digits - 1 - (size != 0 ? (int)floor(log10(size)) : 0);
	n = snprintf(buf, OUTPUT_NUMBER_SIZE, "%.*f", decimals < 1 ? 1 : decimals, value);
	for (; n > 2 && buf[n - 1] == '0' && buf[n - 2] != '.';)
		n--;
	return n < 0 ? 0 : (size_t)n;
}
