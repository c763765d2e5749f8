/*
 * heapdb/prose.c - table of queries that are printed as text, and helpers for their texts.
 */
#include "heapdb/prose.h"

#include <langinfo.h>

/* Line width if the width of the terminal is unknown. */
#define PROSE_WIDTH 100

static const struct prose texts[] = {
	{ "explain", prose_triage, .is_whole = true },
	{ "leaks", prose_leaks, .is_whole = true, .has_parts = true },
	{ "object", prose_object, .is_whole = false },
	{ "overview", prose_overview, .is_whole = true, .has_beginning = true },
	{ "path", prose_path, .is_whole = true },
	{ "references", prose_references, .has_parts = true, .needs_retained = true },
	{ "referrers", prose_references, .has_parts = true, .needs_retained = true },
	{ "threads", prose_threads, .has_parts = true, .has_stacks = true, .needs_retained = true },
	{ "triage", prose_triage, .is_whole = true },
};

const struct prose *prose_of(const char *query)
{
	const size_t i = BASE_INDEX(texts, query);

	return i < BASE_COUNT(texts) ? &texts[i] : NULL;
}

const struct hdb_value *answer_fact(const struct answer *answer, const char *name)
{
	for (size_t i = 0; i < answer_fact_count(answer); i++) {
		if (strcmp(answer_fact_column(answer, i)->name, name) == 0)
			return answer_fact_value(answer, i);
	}
	return NULL;
}

bool has_value(const struct hdb_value *value)
{
	return value && value->type != HDB_TYPE_NULL;
}

/* Maximum size of a printed text, several screens. Longer strings are truncated. */
#define TEXT_SHOWN_BYTES 4000

void prose_add_text(struct bytes *to, const struct hdb_value *text)
{
	size_t shown = TEXT_SHOWN_BYTES;
	char mark[BASE_CUT_MARK_BYTES];
	uint64_t characters = 0;

	if (text->text_size <= shown) {
		escape_text(to, text->text, text->text_size);
		return;
	}
	while (shown > 0 && ((unsigned char)text->text[shown] & 0xc0) == 0x80)
		shown--;
	for (size_t i = 0; i < text->text_size; i++)
		characters += ((unsigned char)text->text[i] & 0xc0) != 0x80;
	escape_text(to, text->text, shown);
	bytes_add(to, mark, base_cut_mark(mark, characters, "characters; --json prints all", true));
}

void prose_add(struct bytes *to, const struct output *out, const struct hdb_value *value)
{
	const struct render_style style = { .format = FORMAT_TABLE, .human = !out->is_exact };

	if (!has_value(value))
		return;
	if (value->type == HDB_TYPE_TEXT)
		prose_add_text(to, value);
	else
		value_for_people(value, &style, to);
	if (value->type == HDB_TYPE_BYTES && out->is_exact)
		bytes_add(to, " B", 2);
}

void prose_value(struct output *out, const struct hdb_value *value)
{
	struct bytes text = { 0 };

	prose_add(&text, out, value);
	output_bytes(out, text.data ? text.data : "", text.size);
	output_release(out, &text);
}

/* Fills a template with values of a row, or with facts if `rows` is NULL. */
static void fill(struct bytes *to, const struct output *out, const struct hdb_rows *rows,
		 const struct answer *answer, const char *text)
{
	size_t part = 0; /* start of the current bracket */
	bool is_whole = true;

	for (; *text; text++) {
		if (*text == '[') {
			part = to->size;
			is_whole = true;
		} else if (*text == ']') {
			to->size = is_whole ? to->size : part;
		} else if (*text == '{') {
			const int size = (int)strcspn(text + 1, "}");
			const struct hdb_value *value;
			char name[32];

			snprintf(name, sizeof(name), "%.*s", size, text + 1);
			value = rows ? rows_value(rows, name) : answer_fact(answer, name);
			is_whole &= has_value(value);
			prose_add(to, out, value);
			text += size + 1;
		} else {
			bytes_add(to, text, 1);
		}
	}
}

void prose_add_row(struct bytes *to, const struct output *out, const struct hdb_rows *rows,
		   const char *text)
{
	fill(to, out, rows, NULL, text);
}

void prose_add_facts(struct bytes *to, const struct output *out, const struct answer *answer,
		     const char *text)
{
	fill(to, out, NULL, answer, text);
}

static void put_filled(struct output *out, const struct hdb_rows *rows, const struct answer *answer,
		       const char *text)
{
	struct bytes filled = { 0 };

	fill(&filled, out, rows, answer, text);
	output_bytes(out, filled.data ? filled.data : "", filled.size);
	output_release(out, &filled);
}

void prose_row(struct output *out, const struct hdb_rows *rows, const char *text)
{
	put_filled(out, rows, NULL, text);
}

void prose_facts(struct output *out, const struct answer *answer, const char *text)
{
	put_filled(out, NULL, answer, text);
}

/* Quotes text for a shell, choosing the more readable quotes. */
static void add_quoted(struct bytes *to, const char *text, size_t size)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "._-/:@%+,";
	static const char special[] = "\"$`\\!";
	bool is_plain = size > 0, has_quote = false, is_special = false;

	for (size_t i = 0; i < size; i++) {
		is_plain &= memchr(plain, text[i], sizeof(plain) - 1) != NULL;
		has_quote |= text[i] == '\'';
		is_special |= memchr(special, text[i], sizeof(special) - 1) != NULL;
	}
	if (is_plain || (has_quote && !is_special)) {
		bytes_format(to, "%s%.*s%s", is_plain ? "" : "\"", (int)size, text,
			     is_plain ? "" : "\"");
		return;
	}
	bytes_add(to, "'", 1);
	for (size_t i = 0; i < size; i++) {
		if (text[i] == '\'')
			bytes_add(to, "'\\'", 3);
		bytes_add(to, text + i, 1);
	}
	bytes_add(to, "'", 1);
}

void prose_add_command(struct bytes *to, const struct hdb_value *action,
		       const struct hdb_value *target)
{
	struct bytes shown = { 0 };

	if (!has_value(action) || !has_value(target) || (target->text_size && *target->text == '-'))
		return;
	escape_text(&shown, target->text, target->text_size);
	/* A name that needs escaping cannot be pasted into a shell. */
	if (shown.size == target->text_size && memcmp(shown.data, target->text, shown.size) == 0) {
		bytes_format(to, "heapdb %.*s ", (int)action->text_size, action->text);
		add_quoted(to, target->text, target->text_size);
	}
	bytes_release(&shown);
}

/* Quotes the name of a file for a shell. Names that a terminal would not show become $'...'. */
static void add_file(struct bytes *to, const char *path, size_t size)
{
	const char *start = size > 1 && *path == '-' ? "./" : "";
	struct bytes text = { 0 };

	escape_text(&text, path, size);
	if (text.size == size && memcmp(text.data, path, size) == 0) {
		text.size = 0;
		bytes_format(&text, "%s%.*s", start, (int)size, path);
		add_quoted(to, text.data, text.size);
	} else {
		bytes_format(to, "$'%s", start);
		for (size_t i = 0; i < size; i++) {
			const unsigned char c = (unsigned char)path[i];

			if (c >= ' ' && c < 0x7f && c != '\'' && c != '\\')
				bytes_add(to, &c, 1);
			else
				bytes_format(to, "\\%03o", c);
		}
		bytes_string(to, "'");
	}
	to->failed |= text.failed;
	bytes_release(&text);
}

const char *prose_quote(struct bytes *to, const char *path)
{
	add_file(to, path, strlen(path));
	bytes_add(to, "", 1);
	return to->failed ? "FILE" : to->data;
}

void prose_file(struct output *out, const char *path, size_t size)
{
	struct bytes quoted = { 0 };

	add_file(&quoted, path, size);
	output_bytes(out, quoted.data, quoted.size);
	output_release(out, &quoted);
}

/* Prints "25 of 3,412 rows (--limit all shows all)". */
static void put_shown(const struct render_style *style, struct output *out, const uint64_t of[2],
		      const char *what)
{
	output_string(out, style->has_colour ? STYLE_DIM : "");
	output_format(out, "%s of %s %s (--limit all shows all)", base_number(of[0]).text,
		      base_number(of[1]).text, what);
	output_string(out, style->has_colour ? STYLE_END "\n" : "\n");
}

int prose_footer(struct answer *answer, const struct render_style *style, struct output *out)
{
	struct bytes cut = { 0 };
	uint64_t total;
	const int rc = answer_total(answer, &total);

	facts_cut(answer, style, &cut);
	if (cut.size)
		prose_wrap(out, style, (struct prose_place){ 2, 1 }, cut.data, cut.size);
	output_release(out, &cut);
	if (rc >= 0 && answer->row_count < total)
		put_shown(style, out, (const uint64_t[]){ answer->row_count, total }, "rows");
	return rc < 0 ? rc : HDB_OK;
}

void prose_parts_footer(const struct render_style *style, struct output *out, uint64_t all,
			const char *parts)
{
	output_char(out, '\n');
	put_shown(style, out, (const uint64_t[]){ style->parts, all }, parts);
}

/*
 * Returns the size of the part of a long word that fits into `width` columns and ends before a
 * bracket, or after a dot, slash or dollar sign. Returns `size` if there is no such place.
 */
static size_t fitting_part(const char *word, size_t size, size_t width)
{
	size_t part = size, columns = 0;

	for (size_t i = 0; i < size && columns <= width; i++) {
		if (i && (word[i] == '(' || strchr("./$", word[i - 1])))
			part = i;
		columns += (word[i] & 0xc0) != 0x80;
	}
	return part;
}

void prose_wrap(struct output *out, const struct render_style *style, struct prose_place place,
		const char *text, size_t size)
{
	size_t at = place.at;
	const size_t width = style->width ? style->width : PROSE_WIDTH;
	struct bytes shown = { 0 };
	bool is_first = at > 0;

	escape_text(&shown, text, size);
	for (size_t i = 0; i < shown.size;) {
		size_t word = 0, columns = 0, whole;

		while (i + word < shown.size && (shown.data[i + word] != ' ' ||
						 output_in_size(shown.data, i + word, shown.size)))
			word++;
		whole = word;
		if (word + place.indent > width)
			word = fitting_part(shown.data + i, word, width - place.indent);
		for (size_t k = 0; k < word; k++)
			columns += (shown.data[i + k] & 0xc0) != 0x80;
		if (!is_first && at > 0 && at + 1 + columns > width) {
			output_char(out, '\n');
			at = 0;
		}
		if (at == 0) {
			output_blanks(out, place.indent);
			at = place.indent;
		} else if (!is_first) {
			output_char(out, ' ');
			at++;
		}
		output_bytes(out, shown.data + i, word);
		at += columns;
		is_first = false;
		if (word < whole) {
			output_char(out, '\n');
			at = 0;
		}
		i += word + (word == whole && i + word < shown.size);
	}
	output_char(out, '\n');
	output_release(out, &shown);
}

void prose_wrap_value(struct output *out, const struct render_style *style,
		      struct prose_place place, const struct hdb_value *value)
{
	if (has_value(value))
		prose_wrap(out, style, place, value->text, value->text_size);
}

void prose_bold(struct output *out, const struct render_style *style, bool is_on)
{
	if (style->has_colour)
		output_string(out, is_on ? STYLE_BOLD : STYLE_END);
}

bool prose_has_boxes(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

const char *prose_stroke(enum prose_stroke stroke)
{
	static const char *const boxes[] = {
		[STROKE_ROOT] = "\xe2\x94\xac\xe2\x94\x80",
		[STROKE_STEP] = "\xe2\x94\x9c\xe2\x94\x80",
		[STROKE_LAST] = "\xe2\x95\xb0\xe2\x86\x92",
		[STROKE_BAR] = "\xe2\x94\x82",
		[STROKE_DOWN] = "\xe2\x86\x93",
	};
	static const char *const plain[] = {
		[STROKE_ROOT] = "+-", [STROKE_STEP] = "|-", [STROKE_LAST] = "`>",
		[STROKE_BAR] = "|",   [STROKE_DOWN] = "v",
	};

	return (prose_has_boxes() ? boxes : plain)[stroke];
}
