/*
 * common/render_values.c - writes answers as comma- or tab-separated values: a heading, then one
 * line per row. Facts are not printed.
 *
 * CSV follows RFC 4180, with \n as line end; an empty field is null, "" is the empty text. TSV
 * writes tab, line feed, carriage return and backslash as \t, \n, \r and \\. Both write other
 * control characters as \x1b or \u{9b}, since output may reach a terminal through a pipe, and
 * invalid UTF-8 as U+FFFD. Text that a spreadsheet would interpret as a formula is prefixed with an
 * apostrophe; numbers are not.
 */
#include "common/answer.h"

#include <string.h>

typedef void put_text_fn(struct output *out, const char *text, size_t size);

/*
 * Writes the escape sequence for the character at `text` to buf. Returns the sequence's length, or
 * 0 if the character is written unchanged, as most are. *taken is the number of bytes read from
 * `text`. Exports call this for every character, so it must be fast.
 */
static size_t escape_at(const char *text, size_t size, char buf[ESCAPE_SIZE], size_t *taken)
{
	const unsigned char c = (unsigned char)*text;
	uint32_t character;
	size_t n;

	*taken = 1;
	if (c < 0x20 || c == 0x7f || c == 0xc2) {
		n = escape_control(text, size, buf, taken);
		if (n > 0)
			return n;
	}
	if (c < 0x80)
		return 0;
	n = utf8_decode(text, size, &character);
	*taken = n > 0 ? n : 1;
	return n > 0 ? 0 : base_utf8(buf, UTF8_REPLACEMENT);
}

/*
 * Returns whether a spreadsheet would evaluate the text: it begins like a formula and is not a
 * number.
 */
static bool is_formula(const char *text, size_t size)
{
	static const char first[] = "=+-@\t";
	size_t i = 1;

	if (size == 0 || !memchr(first, *text, sizeof(first) - 1))
		return false;
	if (*text != '+' && *text != '-')
		return true;
	while (i < size && ((text[i] >= '0' && text[i] <= '9') || text[i] == '.'))
		i++;
	return i == 1 || i < size;
}

static void put_csv(struct output *out, const char *text, size_t size)
{
	bool is_plain = size > 0;
	size_t done = 0, taken;
	char buf[ESCAPE_SIZE];

	for (size_t i = 0; i < size && is_plain; i += taken)
		is_plain = !escape_at(text + i, size - i, buf, &taken) && text[i] != ',' &&
			   text[i] != '"' && text[i] != '\n';
	if (!is_plain)
		output_char(out, '"');
	if (is_formula(text, size))
		output_char(out, '\'');
	if (is_plain) {
		output_bytes(out, text, size);
		return;
	}
	for (size_t i = 0; i < size; i += taken) {
		const size_t escaped = escape_at(text + i, size - i, buf, &taken);

		if (!escaped && text[i] != '"')
			continue;
		output_bytes(out, text + done, i - done);
		output_bytes(out, escaped ? buf : "\"\"", escaped ? escaped : 2);
		done = i + taken;
	}
	output_bytes(out, text + done, size - done);
	output_char(out, '"');
}

static void put_tsv(struct output *out, const char *text, size_t size)
{
	size_t done = 0, taken;
	char buf[ESCAPE_SIZE];

	if (is_formula(text, size))
		output_char(out, '\'');
	for (size_t i = 0; i < size; i += taken) {
		const char c = text[i];
		size_t escaped = escape_at(text + i, size - i, buf, &taken);

		if (!escaped && c != '\t' && c != '\n' && c != '\\')
			continue;
		output_bytes(out, text + done, i - done);
		if (!escaped) {
			buf[0] = '\\';
			buf[1] = c == '\t' ? 't' : c == '\n' ? 'n' : '\\';
			escaped = 2;
		}
		output_bytes(out, buf, escaped);
		done = i + taken;
	}
	output_bytes(out, text + done, size - done);
}

/* Writes text with `put`. On a terminal, control characters are escaped as in tables. */
static void put_text(struct output *out, const char *text, size_t size, put_text_fn *put)
{
	struct bytes shown = { 0 };

	if (!out->is_terminal) {
		put(out, text, size);
		return;
	}
	escape_text(&shown, text, size);
	put(out, shown.data ? shown.data : "", shown.size);
	output_release(out, &shown);
}

static void put_value(struct output *out, const struct hdb_value *value, put_text_fn *put)
{
	if (value_for_programs(out, value))
		return;
	if (value->type == HDB_TYPE_ID)
		output_id(out, value->u);
	else if (value->type == HDB_TYPE_DOUBLE)
		output_string(out, base_real(value->d, false).text);
	else if (value->type == HDB_TYPE_TEXT)
		put_text(out, value->text, value->text_size, put);
}

static int render_values(struct answer *answer, struct output *out, char separator,
			 put_text_fn *put)
{
	const size_t columns = answer_column_count(answer);
	int rc;

	for (size_t i = 0; i < columns; i++) {
		if (i > 0)
			output_char(out, separator);
		put_text(out, answer_column(answer, i)->name,
			 strlen(answer_column(answer, i)->name), put);
	}
	if (columns > 0)
		output_char(out, '\n');
	while ((rc = answer_next(answer, out)) == HDB_OK) {
		for (size_t i = 0; i < columns; i++) {
			if (i > 0)
				output_char(out, separator);
			put_value(out, answer_value(answer, i), put);
		}
		output_char(out, '\n');
	}
	return rc == HDB_END ? HDB_OK : rc;
}

int render_csv(struct answer *answer, struct output *out)
{
	return render_values(answer, out, ',', put_csv);
}

int render_tsv(struct answer *answer, struct output *out)
{
	return render_values(answer, out, '\t', put_tsv);
}
