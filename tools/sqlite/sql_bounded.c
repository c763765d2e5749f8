/*
 * sqlite/sql_bounded.c - replacements for SQLite functions.
 *
 * A single call of some functions could run for minutes without checking the cancel flag. Their
 * replacements are bounded or check the flag. Other functions stop at the first U+0000, which
 * strings in heaps contain. Their replacements process the whole text. Otherwise results are the
 * same as in SQLite 3.46, regardless of the linked version.
 */
#include "sqlite/sql_private.h"

/* Maximum width and precision of printf(): more than a line needs, and fast. */
#define FORMAT_WIDTH_MAX 100000
/*
 * Maximum number of steps of LIKE and GLOB, which in the worst case compare each byte of the text
 * with each byte of the pattern; about 0.5 s.
 */
#define PATTERN_STEPS_MAX 200000000u
/* Number of comparisons between checks of the cancel flag, some milliseconds. */
#define CHECK_STEPS (1u << 20)

static bool is_cancelled(struct sqlite3_context *ctx)
{
	const base_flag *cancel = sqlite3_user_data(ctx);

	return base_flag_is_set(cancel);
}

static void result_string(struct sqlite3_context *ctx, sqlite3_str *out)
{
	const int size = sqlite3_str_length(out);
	const int rc = sqlite3_str_errcode(out);
	char *text = sqlite3_str_finish(out);

	if (rc != SQLITE_OK)
		sqlite3_result_error_code(ctx, rc);
	else if (text)
		sqlite3_result_text(ctx, text, size, sqlite3_free);
	else
		sqlite3_result_text(ctx, "", 0, SQLITE_STATIC);
}

/* ---- printf ---- */

/* The rest of a format string, and its arguments. */
struct format {
	const char *at;
	int argc, used;
	sqlite3_value **argv;
	int width, precision; /* width and precision of the conversion; precision -1 means none */
};

static sqlite3_value *next_value(struct format *f)
{
	return f->used < f->argc ? f->argv[f->used++] : NULL;
}

/*
 * Reads digits, or an argument for "*". Sets *out to `missing` if the text has neither. Returns
 * false if the number is too large.
 */
static bool read_number(struct format *f, int missing, int *out)
{
	sqlite3_int64 n = missing;

	if (*f->at == '*') {
		sqlite3_value *value = next_value(f);

		f->at++;
		n = value ? sqlite3_value_int64(value) : 0;
	} else if (*f->at >= '0' && *f->at <= '9') {
		for (n = 0; *f->at >= '0' && *f->at <= '9'; f->at++)
			n = n > FORMAT_WIDTH_MAX ? n : n * 10 + (*f->at - '0');
	}
	*out = (int)n;
	return n >= -FORMAT_WIDTH_MAX && n <= FORMAT_WIDTH_MAX;
}

/*
 * Writes the first character of a string `count` times, padded to `width`. An empty string counts
 * as U+0000.
 */
static void put_char(sqlite3_str *out, const char *text, bool is_left, int width, int count)
{
	int size = 1, pad;

	while (text && *text && (text[size] & 0xc0) == 0x80)
		size++;
	count = count < 1 ? 1 : count;
	pad = width > count ? width - count : 0;
	if (!is_left)
		sqlite3_str_appendchar(out, pad, ' ');
	for (int i = 0; i < count; i++)
		sqlite3_str_append(out, text ? text : "", size);
	if (is_left)
		sqlite3_str_appendchar(out, pad, ' ');
}

/* Writes one conversion. Returns false if SQLite has no conversion with this letter. */
static bool put_conversion(sqlite3_str *out, struct format *f, const char *flags, char letter)
{
	const int width = f->width;
	const int precision = f->precision < -1 ? -f->precision : f->precision;
	const bool has_precision = precision >= 0;
	sqlite3_value *value;
	const char *text;
	char spec[32];

	if (letter == 'n')
		return true;
	if (!letter || !strchr("dirxXoupfeEgGszqQwc%", letter))
		return false;
	value = letter == '%' ? NULL : next_value(f);
	/* In SQL, %p is %X, and %z is %s without freeing the text. */
	letter = letter == 'p' ? 'X' : letter == 'z' ? 's' : letter;
	sqlite3_snprintf(sizeof(spec), spec, "%%%s*%s%s%c", flags, has_precision ? ".*" : "",
			 strchr("dirxXou", letter) ? "ll" : "", letter);
#define PUT(v) \
	(has_precision ? sqlite3_str_appendf(out, spec, width, precision, v) : \
			 sqlite3_str_appendf(out, spec, width, v))
	if (strchr("dirxXou", letter)) {
		PUT(value ? sqlite3_value_int64(value) : 0);
	} else if (strchr("feEgG", letter)) {
		PUT(value ? sqlite3_value_double(value) : 0.0);
	} else {
		text = value ? (const char *)sqlite3_value_text(value) : NULL;
		if (letter == 'c')
			put_char(out, text, strchr(flags, '-') || width < 0, abs(width), precision);
		else
			PUT(text);
	}
#undef PUT
	return true;
}

static void do_printf(struct sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct format f = { .argc = argc, .used = 1, .argv = argv };
	bool is_any = false;
	sqlite3_str *out;

	if (argc < 1 || !(f.at = (const char *)sqlite3_value_text(argv[0])))
		return;
	out = sqlite3_str_new(sqlite3_context_db_handle(ctx));
	while (*f.at && sqlite3_str_errcode(out) == SQLITE_OK && !is_cancelled(ctx)) {
		const size_t plain = strcspn(f.at, "%");
		char flags[16] = "";
		size_t count;

		sqlite3_str_append(out, f.at, (int)plain);
		f.at += plain;
		if (!*f.at)
			break;
		count = strspn(++f.at, "-+ 0#!,");
		for (const char *c = f.at; c < f.at + count; c++)
			if (!strchr(flags, *c))
				flags[strlen(flags)] = *c;
		f.at += count;
		f.precision = -1;
		if (!read_number(&f, 0, &f.width) ||
		    (*f.at == '.' && (f.at++, !read_number(&f, 0, &f.precision)))) {
			sqlite3_free(sqlite3_str_finish(out));
			sqlite3_result_error(ctx, "width or precision exceeds 100,000", -1);
			return;
		}
		f.at += strspn(f.at, "l");
		if (!put_conversion(out, &f, flags, *f.at)) {
			if (!*f.at)
				sqlite3_str_appendchar(out, 1, '%');
			break;
		}
		is_any = true;
		f.at++;
	}
	/* as in SQLite, the result of an empty format is NULL */
	if (is_any || sqlite3_str_length(out) || sqlite3_str_errcode(out) != SQLITE_OK)
		result_string(ctx, out);
	else
		sqlite3_free(sqlite3_str_finish(out));
	if (is_cancelled(ctx))
		sqlite3_result_error_code(ctx, SQLITE_INTERRUPT);
}

/* ---- search ---- */

static void do_instr(struct sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const bool is_blob = sqlite3_value_type(argv[0]) == SQLITE_BLOB &&
			     sqlite3_value_type(argv[1]) == SQLITE_BLOB;
	const char *text[2], *found;
	size_t size[2];
	sqlite3_int64 place = 1;

	(void)argc;
	for (int i = 0; i < 2; i++) {
		if (sqlite3_value_type(argv[i]) == SQLITE_NULL)
			return;
		text[i] = is_blob ? sqlite3_value_blob(argv[i]) :
				    (const char *)sqlite3_value_text(argv[i]);
		size[i] = (size_t)sqlite3_value_bytes(argv[i]);
		if (size[i] && !text[i]) {
			sqlite3_result_error_nomem(ctx);
			return;
		}
	}
	found = size[1] ? size[0] ? memmem(text[0], size[0], text[1], size[1]) : NULL : text[0];
	for (const char *c = text[0]; size[1] && found && c < found; c++)
		place += is_blob || (*c & 0xc0) != 0x80;
	sqlite3_result_int64(ctx, found || !size[1] ? place : 0);
}

static void do_replace(struct sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const char *text[3], *at, *found;
	size_t size[3], left;
	sqlite3_str *out;

	(void)argc;
	for (int i = 0; i < 3; i++) {
		text[i] = (const char *)sqlite3_value_text(argv[i]);
		if (!text[i])
			return;
		size[i] = (size_t)sqlite3_value_bytes(argv[i]);
		if (i == 1 && !size[1]) {
			sqlite3_result_text(ctx, text[0], (int)size[0], SQLITE_TRANSIENT);
			return;
		}
	}
	out = sqlite3_str_new(sqlite3_context_db_handle(ctx));
	for (at = text[0], left = size[0]; (found = memmem(at, left, text[1], size[1])) != NULL &&
					   sqlite3_str_errcode(out) == SQLITE_OK;) {
		sqlite3_str_append(out, at, (int)(found - at));
		sqlite3_str_append(out, text[2], (int)size[2]);
		left -= (size_t)(found - at) + size[1];
		at = found + size[1];
	}
	sqlite3_str_append(out, at, (int)left);
	result_string(ctx, out);
}

/* ---- characters ---- */

/*
 * Returns the end of a character. As in SQLite, each byte of invalid UTF-8 that is not a
 * continuation begins a character.
 */
static const char *after_char(const char *c, const char *end)
{
	if ((unsigned char)*c++ >= 0xc0)
		while (c < end && (*c & 0xc0) == 0x80)
			c++;
	return c;
}

static void do_length(struct sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const int type = sqlite3_value_type(argv[0]);
	sqlite3_int64 count = sqlite3_value_bytes(argv[0]);
	const char *c, *end;

	(void)argc;
	if (type == SQLITE_NULL)
		return;
	if (type == SQLITE_TEXT) {
		c = (const char *)sqlite3_value_text(argv[0]);
		if (!c) {
			sqlite3_result_error_nomem(ctx);
			return;
		}
		for (end = c + count, count = 0; c < end; count++)
			c = after_char(c, end);
	}
	sqlite3_result_int64(ctx, count);
}

/* Limits an argument of substr() to the maximum length of a string or blob. */
static sqlite3_int64 place_of(sqlite3_value *value)
{
	const sqlite3_int64 most = INT32_MAX, place = sqlite3_value_int64(value);

	return place > most ? most : place < -most ? -most : place;
}

static void do_substr(struct sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const bool is_blob = sqlite3_value_type(argv[0]) == SQLITE_BLOB;
	const char *at =
		is_blob ? sqlite3_value_blob(argv[0]) : (const char *)sqlite3_value_text(argv[0]);
	const char *const end = at ? at + sqlite3_value_bytes(argv[0]) : NULL;
	sqlite3_int64 from = place_of(argv[1]), count = argc > 2 ? place_of(argv[2]) : INT32_MAX;
	sqlite3_int64 length = end - at;
	const char *to;

	for (int i = 0; i < argc; i++)
		if (sqlite3_value_type(argv[i]) == SQLITE_NULL)
			return;
	if (!at)
		return;
	/* as in SQLite, positions before the start of the text count */
	if (from < 0) {
		if (!is_blob)
			for (length = 0, to = at; to < end; length++)
				to = after_char(to, end);
		from += length;
	} else if (from > 0) {
		from--;
	} else if (count > 0) {
		count--;
	}
	if (count < 0) {
		from += count;
		count = -count;
	}
	if (from < 0) {
		count += from;
		from = 0;
	}
	if (is_blob) {
		at += from < length ? from : length;
		to = count > end - at ? end : at + (count > 0 ? count : 0);
		sqlite3_result_blob(ctx, at, (int)(to - at), SQLITE_TRANSIENT);
		return;
	}
	while (from-- > 0 && at < end)
		at = after_char(at, end);
	for (to = at; count-- > 0 && to < end;)
		to = after_char(to, end);
	sqlite3_result_text(ctx, at, (int)(to - at), SQLITE_TRANSIENT);
}

/* ---- trim ---- */

static size_t char_size(const char *c, const char *end)
{
	size_t n = 1;

	while (c + n < end && (c[n] & 0xc0) == 0x80)
		n++;
	return n;
}

/* Returns whether the set contains the character. Counts comparisons. */
static bool has_char(const char *set, size_t set_size, const char *c, size_t size, uint64_t *steps)
{
	for (const char *s = set, *end = set + set_size; s < end;) {
		const size_t n = char_size(s, end);

		++*steps;
		if (n == size && memcmp(s, c, n) == 0)
			return true;
		s += n;
	}
	return false;
}

/* The ends of a string that a function trims. */
enum { TRIM_LEFT = 1, TRIM_RIGHT = 2 };

static void trim(struct sqlite3_context *ctx, int argc, sqlite3_value **argv, int ends)
{
	const char *at = (const char *)sqlite3_value_text(argv[0]);
	const char *set = argc > 1 ? (const char *)sqlite3_value_text(argv[1]) : " ";
	size_t set_size, n;
	uint64_t steps = 0;
	const char *end;

	if (!at || !set)
		return;
	end = at + sqlite3_value_bytes(argv[0]);
	set_size = argc > 1 ? (size_t)sqlite3_value_bytes(argv[1]) : 1;
	while (at < end && ends) {
		const bool is_left = ends & TRIM_LEFT;
		const char *c = at;

		if (!is_left)
			for (c = end - 1; c > at && (*c & 0xc0) == 0x80;)
				c--;
		n = char_size(c, end);
		if (!has_char(set, set_size, c, n, &steps))
			ends &= is_left ? ~TRIM_LEFT : ~TRIM_RIGHT;
		else if (is_left)
			at += n;
		else
			end = c;
		if (steps > CHECK_STEPS) {
			steps = 0;
			if (is_cancelled(ctx)) {
				sqlite3_result_error_code(ctx, SQLITE_INTERRUPT);
				return;
			}
		}
	}
	sqlite3_result_text(ctx, at, (int)(end - at), SQLITE_TRANSIENT);
}

static void do_trim(struct sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	trim(ctx, argc, argv, TRIM_LEFT | TRIM_RIGHT);
}

static void do_ltrim(struct sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	trim(ctx, argc, argv, TRIM_LEFT);
}

static void do_rtrim(struct sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	trim(ctx, argc, argv, TRIM_RIGHT);
}

/* ---- patterns ---- */

/*
 * Replacement for U+0000 in texts that SQLite matches with patterns, because a zero would end the
 * text. It decodes to a character beyond the range of Unicode, which no text contains.
 */
#define ZERO "\xf7\xbf\xbf\xbf"

/*
 * Returns the zero-terminated text of the value. If the value contains zeros, the text is a copy,
 * *owned, which the caller must free. Returns NULL if memory is exhausted or the value is NULL in
 * SQL.
 */
static const char *match_text(sqlite3_value *value, char **owned)
{
	const char *text = (const char *)sqlite3_value_text(value);
	const size_t size = (size_t)sqlite3_value_bytes(value);
	char *out;

	if (!text || !memchr(text, 0, size))
		return text;
	*owned = out = sqlite3_malloc64(4 * (sqlite3_uint64)size + 1);
	for (size_t i = 0; out && i < size; i++) {
		memcpy(out, text[i] ? &text[i] : ZERO, text[i] ? 1 : 4);
		out += text[i] ? 1 : 4;
	}
	if (out)
		*out = '\0';
	return *owned;
}

/*
 * Returns to SQLite whether the text matches the pattern; `escape` is the escape character of LIKE,
 * or -1 for GLOB.
 */
static void match(struct sqlite3_context *ctx, sqlite3_value **argv, int escape)
{
	char *owned[2] = { NULL, NULL };
	const char *text[2] = { NULL, NULL };
	uint64_t steps = 1;

	for (int i = 0; i < 2; i++) {
		if (sqlite3_value_type(argv[i]) == SQLITE_BLOB &&
		    sqlite3_compileoption_used("LIKE_DOESNT_MATCH_BLOBS")) {
			sqlite3_result_int(ctx, 0);
			return;
		}
		steps *= (uint64_t)sqlite3_value_bytes(argv[i]) + 1;
	}
	for (int i = 0; i < 2 && steps <= PATTERN_STEPS_MAX; i++)
		text[i] = match_text(argv[i], &owned[i]);
	if (sqlite3_value_type(argv[0]) == SQLITE_NULL ||
	    sqlite3_value_type(argv[1]) == SQLITE_NULL)
		sqlite3_result_null(ctx);
	else if (steps > PATTERN_STEPS_MAX)
		sqlite3_result_error(ctx, "the pattern is too long for a string of this length",
				     -1);
	else if (!text[0] || !text[1])
		sqlite3_result_error_nomem(ctx);
	else
		sqlite3_result_int(
			ctx, escape < 0 ? sqlite3_strglob(text[0], text[1]) == 0 :
					  sqlite3_strlike(text[0], text[1], (unsigned)escape) == 0);
	sqlite3_free(owned[0]);
	sqlite3_free(owned[1]);
}

static void do_like(struct sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const unsigned char *e = argc == 3 ? sqlite3_value_text(argv[2]) : NULL;

	if (argc == 3 && !e)
		return;
	if (e && (!e[0] || e[0] >= 0x80 || e[1] || e[0] == '%' || e[0] == '_'))
		sqlite3_result_error(ctx, "ESCAPE takes one ASCII character other than % and _",
				     -1);
	else
		match(ctx, argv, e ? e[0] : 0);
}

static void do_glob(struct sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	(void)argc;
	match(ctx, argv, -1);
}

/*
 * Rejects a second argument, which is a list of characters to ignore, because SQLite scans it for
 * each character of the text.
 */
static void do_unhex(struct sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	(void)argc;
	(void)argv;
	sqlite3_result_error(ctx, "unhex() takes one argument", -1);
}

int sql_register_bounded(struct sqlite3 *sqlite, const base_flag *cancel)
{
	static const struct {
		const char *name;
		int args;
		void (*call)(struct sqlite3_context *ctx, int argc, sqlite3_value **argv);
	} functions[] = {
		{ "printf", -1, do_printf },   { "format", -1, do_printf },
		{ "instr", 2, do_instr },      { "replace", 3, do_replace },
		{ "trim", 1, do_trim },        { "trim", 2, do_trim },
		{ "ltrim", 1, do_ltrim },      { "ltrim", 2, do_ltrim },
		{ "rtrim", 1, do_rtrim },      { "rtrim", 2, do_rtrim },
		{ "like", 2, do_like },        { "like", 3, do_like },
		{ "glob", 2, do_glob },        { "unhex", 2, do_unhex },
		{ "length", 1, do_length },    { "substr", 2, do_substr },
		{ "substr", 3, do_substr },    { "substring", 2, do_substr },
		{ "substring", 3, do_substr },
	};
	int rc = SQLITE_OK;

	for (size_t i = 0; rc == SQLITE_OK && i < BASE_COUNT(functions); i++)
		rc = sqlite3_create_function_v2(
			sqlite, functions[i].name, functions[i].args,
			SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
			(void *)(uintptr_t)cancel, functions[i].call, NULL, NULL, NULL);
	return rc;
}
