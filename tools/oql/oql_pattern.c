/*
 * oql/oql_pattern.c - regular expressions. With rare exceptions, PCRE2 accepts Java's syntax. As in
 * MAT, when the whole string must match, a "$" before the end and "[]" are literal, because they
 * occur in class names. A dot matches line terminators, because strings in MAT have none. The time
 * and memory of a match are limited.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "oql/oql_eval.h"

#include <pcre2.h>

/* Maximum number of steps of a match, about 0.1 s. */
#define MATCH_STEPS 2000000
#define MATCH_MEMORY_KIB 65536
#define PATTERN_SIZE_MAX 65536
/* Maximum number of cached patterns. A new pattern replaces the oldest one. */
#define PATTERNS_MAX 64

struct oql_pattern {
	struct oql_pattern *older;
	struct bytes source;
	bool is_whole; /* whether the pattern matches whole strings instead of substrings */
	const struct oql_expr *place; /* expression that used the pattern last, for messages */
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *context;
};

static void pattern_free(struct oql_pattern *pattern)
{
	bytes_release(&pattern->source);
	pcre2_code_free(pattern->code);
	pcre2_match_data_free(pattern->data);
	pcre2_match_context_free(pattern->context);
	free(pattern);
}

void oql_patterns_release(struct oql_pattern *patterns)
{
	while (patterns) {
		struct oql_pattern *pattern = patterns;

		patterns = pattern->older;
		pattern_free(pattern);
	}
}

static void repair(struct oql_str source, struct bytes *out)
{
	for (size_t i = 0; i < source.size; i++) {
		const char *c = source.data + i;
		const bool has_next = i + 1 < source.size;

		if (*c == '\\' && has_next) {
			bytes_add(out, c, 2);
			i++;
		} else if (*c == '$' && has_next) {
			bytes_add(out, "\\$", 2);
		} else if (*c == '[' && has_next && c[1] == ']') {
			bytes_add(out, "\\[\\]", 4);
			i++;
		} else {
			bytes_add(out, c, 1);
		}
	}
}

static int compile_source(struct oql_eval *ev, struct oql_pattern *pattern)
{
	const struct oql_str source = { pattern->source.data, pattern->source.size };
	const uint32_t whole = pattern->is_whole ? PCRE2_ANCHORED | PCRE2_ENDANCHORED : 0;
	BASE_SCOPED(bytes_release) struct bytes text = { .most = ev->budget.most_bytes };
	PCRE2_UCHAR message[120];
	PCRE2_SIZE at;
	int code;

	if (pattern->is_whole)
		repair(source, &text);
	else
		bytes_add(&text, source.data, source.size);
	TRY(oql_text_check(&text, ev->err));
	pattern->code = pcre2_compile((PCRE2_SPTR)(text.data ? text.data : ""), text.size,
				      PCRE2_UTF | PCRE2_DOTALL | whole | PCRE2_NEVER_BACKSLASH_C,
				      &code, &at, NULL);
	if (pattern->code)
		return HDB_OK;
	pcre2_get_error_message(code, message, sizeof(message));
	return oql_refuse(ev, pattern->place, "invalid regular expression at character %zu: %s",
			  (size_t)at + 1, (char *)message);
}

static int compile(struct oql_eval *ev, struct oql_pattern *pattern)
{
	assert(!pattern->code);
	TRY(compile_source(ev, pattern));
	pcre2_jit_compile(pattern->code, PCRE2_JIT_COMPLETE);
	pattern->data = pcre2_match_data_create(1, NULL);
	pattern->context = pcre2_match_context_create(NULL);
	if (!pattern->data || !pattern->context)
		return hdb_fail(ev->err, HDB_ENOMEM,
				"cannot allocate memory for a regular "
				"expression");
	pcre2_set_match_limit(pattern->context, MATCH_STEPS);
	pcre2_set_heap_limit(pattern->context, MATCH_MEMORY_KIB);
	return HDB_OK;
}

/*
 * Finds the cached pattern of this source and moves it to the front. Drops the oldest pattern if
 * there are too many patterns.
 */
static struct oql_pattern *find(struct oql_eval *ev, struct oql_str source, bool is_whole)
{
	struct oql_pattern **at = &ev->patterns, *found;

	for (size_t n = 0; *at; at = &(*at)->older, n++) {
		found = *at;
		if (found->source.size == source.size && found->is_whole == is_whole &&
		    (!source.size || memcmp(found->source.data, source.data, source.size) == 0)) {
			*at = found->older;
			found->older = ev->patterns;
			return ev->patterns = found;
		}
		if (n + 1 == PATTERNS_MAX) {
			*at = found->older;
			pattern_free(found);
			break;
		}
	}
	return NULL;
}

int oql_pattern(struct oql_eval *ev, const struct oql_expr *e, struct oql_str source, bool is_whole,
		struct oql_pattern **out)
{
	struct oql_pattern *pattern = find(ev, source, is_whole);
	int r;

	*out = pattern;
	if (pattern) {
		pattern->place = e;
		return HDB_OK;
	}
	if (source.size > PATTERN_SIZE_MAX)
		return oql_refuse(ev, e, "the regular expression is too long (limit %d bytes)",
				  PATTERN_SIZE_MAX);
	TRY(BASE_ALLOC(pattern, 1, "a regular expression", ev->err));
	pattern->is_whole = is_whole;
	pattern->place = e;
	bytes_add(&pattern->source, source.data, source.size);
	r = oql_text_check(&pattern->source, ev->err);
	if (r >= 0)
		r = compile(ev, pattern);
	if (r < 0) {
		pattern_free(pattern);
		return r;
	}
	pattern->older = ev->patterns;
	*out = ev->patterns = pattern;
	return HDB_OK;
}

int oql_matches(struct oql_eval *ev, struct oql_pattern *pattern, struct oql_match *match)
{
	const struct oql_str text = match->text;
	const int n = pcre2_match(pattern->code, (PCRE2_SPTR)(text.data ? text.data : ""),
				  text.size, match->end, 0, pattern->data, pattern->context);

	match->is_found = n >= 0;
	if (n >= 0) {
		match->start = pcre2_get_ovector_pointer(pattern->data)[0];
		match->end = pcre2_get_ovector_pointer(pattern->data)[1];
	}
	if (n == PCRE2_ERROR_MATCHLIMIT || n == PCRE2_ERROR_HEAPLIMIT ||
	    n == PCRE2_ERROR_JIT_STACKLIMIT)
		return oql_refuse(ev, pattern->place,
				  "matching the regular expression against one string exceeds the "
				  "limit of %d steps or of memory",
				  MATCH_STEPS);
	return HDB_OK; /* invalid UTF-8 does not match */
}
