/*
 * rewrite/secrets.c - applies the rules to texts.
 *
 * The rules look for ASCII only, so of chars and of bytes in UTF-16 only the low bytes are
 * searched. Long arrays are searched in parts that overlap, so that a secret at a boundary is
 * found.
 */
#include "rewrite/secrets.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* Bytes or chars of a part, and of the overlap with the next part. */
#define PART_UNITS 65536u
#define OVERLAP_UNITS 512u
/* Maximum steps and memory of a rule on one part. */
#define MATCH_STEPS 1000000u
#define MATCH_KILOBYTES 16384u
/* Matches of a rule that its check rejects; after so many in one part the rule gives up there. */
#define REFUSED_MAX 1000u
#define RULES_MAX 32u
/* No rule matches a shorter text. */
#define TEXT_MIN 8u

struct rewrite_secrets {
	struct base_outfile *out;
	pcre2_code *rules[RULES_MAX];
	pcre2_match_data *match;
	pcre2_match_context *context;
	uint64_t count;
	uint32_t marks[256]; /* REWRITE_HAS_* of each byte value */
	uint8_t part[PART_UNITS];
};

/* The text that is searched, for the report. */
struct subject {
	uint64_t id;
	const char *kind; /* "byte[]", "char[]" or "name" */
	uint64_t length;  /* in elements */
	bool is_kept;
};

static int put_heading(struct rewrite_secrets *s, struct hdb_error *err)
{
	static const char heading[] = "id\tkind\tlength\trule\twhat\tstays\n";

	return base_outfile_write(s->out, heading, sizeof(heading) - 1, err);
}

static void set_marks(struct rewrite_secrets *s)
{
	static const struct {
		uint8_t c;
		uint32_t marks;
	} table[] = {
		{ '-', REWRITE_HAS_DASH },
		{ '_', REWRITE_HAS_UNDERSCORE },
		{ '.', REWRITE_HAS_DOT },
		{ ' ', REWRITE_HAS_SPACE },
		{ '/', REWRITE_HAS_SLASH },
		{ '@', REWRITE_HAS_AT },
		{ ':', REWRITE_HAS_COLON | REWRITE_HAS_SETTER },
		{ '=', REWRITE_HAS_SETTER },
		{ 'A', REWRITE_HAS_A },
		{ 'J', REWRITE_HAS_J },
	};

	for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		s->marks[table[i].c] = table[i].marks;
	for (unsigned c = 'A'; c <= 'Z'; c++)
		s->marks[c] |= REWRITE_HAS_CAPITAL;
}

static int compile(struct rewrite_secrets *s, struct hdb_error *err)
{
	for (unsigned i = 0; rewrite_secret_rules[i].name; i++) {
		int code;
		size_t at;

		s->rules[i] = pcre2_compile((PCRE2_SPTR)rewrite_secret_rules[i].pattern,
					    PCRE2_ZERO_TERMINATED, 0, &code, &at, NULL);
		if (!s->rules[i])
			return hdb_fail(err, HDB_EBUG, "rule %s, at %zu: code %d",
					rewrite_secret_rules[i].name, at, code);
		/* If the JIT is not available, matching is just slower. */
		(void)pcre2_jit_compile(s->rules[i], PCRE2_JIT_COMPLETE);
	}
	set_marks(s);
	s->match = pcre2_match_data_create(1, NULL);
	s->context = pcre2_match_context_create(NULL);
	if (!s->match || !s->context)
		return hdb_fail_memory(err, "rules", 0);
	(void)pcre2_set_match_limit(s->context, MATCH_STEPS);
	(void)pcre2_set_heap_limit(s->context, MATCH_KILOBYTES);
	return HDB_OK;
}

int rewrite_secrets_open(const char *path, bool force, struct rewrite_secrets **out,
			 struct hdb_error *err)
{
	const struct base_outfile_options options = { .packing = BASE_PLAIN, .force = force };
	struct rewrite_secrets *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return hdb_fail_memory(err, "rules", sizeof(*s));
	if ((r = base_outfile_create(path, &options, &s->out, err)) < 0 ||
	    (r = compile(s, err)) < 0 || (r = put_heading(s, err)) < 0) {
		rewrite_secrets_close(s);
		return r;
	}
	*out = s;
	return HDB_OK;
}

void rewrite_secrets_close(struct rewrite_secrets *s)
{
	if (!s)
		return;
	base_outfile_abort(s->out);
	for (unsigned i = 0; i < RULES_MAX; i++)
		pcre2_code_free(s->rules[i]);
	pcre2_match_data_free(s->match);
	pcre2_match_context_free(s->context);
	free(s);
}

int rewrite_secrets_finish(struct rewrite_secrets *s, uint64_t *count, struct hdb_error *err)
{
	struct base_outfile *out = s->out;

	*count = s->count;
	s->out = NULL; /* freed below, even on failure */
	return base_outfile_finish(out, NULL, err);
}

/* Whether the rule matches in s->part. */
static bool finds(struct rewrite_secrets *s, unsigned rule, size_t size)
{
	const size_t *match = pcre2_get_ovector_pointer(s->match);
	size_t from = 0;

	for (unsigned i = 0; i < REFUSED_MAX && from < size; i++) {
		const int n =
			pcre2_match(s->rules[rule], s->part, size, from, 0, s->match, s->context);

		/* Report a rule that takes too many steps: somebody should look at the text. */
		if (n < 0)
			return n != PCRE2_ERROR_NOMATCH;
		if (!rewrite_secret_rules[rule].check ||
		    rewrite_secret_rules[rule].check(s->part + match[0], match[1] - match[0]))
			return true;
		from = match[0] + 1;
	}
	return false;
}

static int report(struct rewrite_secrets *s, unsigned rule, const struct subject *subject,
		  struct hdb_error *err)
{
	char line[256];
	const int n = snprintf(line, sizeof(line), "0x%llx\t%s\t%llu\t%s\t%s\t%s\n",
			       (unsigned long long)subject->id, subject->kind,
			       (unsigned long long)subject->length, rewrite_secret_rules[rule].name,
			       rewrite_secret_rules[rule].help, subject->is_kept ? "yes" : "no");

	assert(rule < 32);
	s->count++;
	return n < 0 ? HDB_ENOMEM : base_outfile_write(s->out, line, (size_t)n, err);
}

/*
 * The rules that could match s->part, as bits. Rules out most of them in one pass over the bytes.
 */
static uint32_t rules_for(const struct rewrite_secrets *s, size_t size)
{
	uint32_t marks = 0, digits = 0, rules = 0;

	for (size_t i = 0; i < size; i++) {
		marks |= s->marks[s->part[i]];
		digits += (uint8_t)(s->part[i] - '0') < 10;
	}
	for (unsigned i = 0; rewrite_secret_rules[i].name; i++) {
		const struct rewrite_secret_rule *rule = &rewrite_secret_rules[i];

		if ((marks & rule->marks) == rule->marks && digits >= rule->digits &&
		    size >= rule->least)
			rules |= 1u << i;
	}
	return rules;
}

/* Searches s->part. *seen has a bit for each rule that was already reported for this text. */
static int look(struct rewrite_secrets *s, size_t size, const struct subject *subject,
		uint32_t *seen, struct hdb_error *err)
{
	uint32_t rules = size >= TEXT_MIN ? rules_for(s, size) & ~*seen : 0;

	for (; rules; rules &= rules - 1) {
		const unsigned i = (unsigned)__builtin_ctz(rules);

		if (!finds(s, i, size))
			continue;
		*seen |= 1u << i;
		TRY(report(s, i, subject, err));
	}
	return HDB_OK;
}

/*
 * Whether the bytes look like UTF-16: more than half of the even or of the odd ones are zero. *low
 * is 1 if the low bytes are the odd ones (big-endian).
 */
static bool is_wide(const uint8_t *p, uint64_t size, unsigned *low)
{
	uint64_t zeros[2] = { 0, 0 };

	for (uint64_t i = 0; i + 1 < size; i += 2) {
		zeros[0] += p[i] == 0;
		zeros[1] += p[i + 1] == 0;
	}
	*low = zeros[0] > zeros[1];
	return size % 2 == 0 && zeros[!*low] > size / 4;
}

/* Copies the low bytes of UTF-16 to s->part; a character above 0xff becomes 0xff. */
static size_t squeeze(struct rewrite_secrets *s, const uint8_t *p, uint64_t size, unsigned low)
{
	size_t n = 0;

	for (uint64_t i = 0; i + 1 < size; i += 2)
		s->part[n++] = p[i + !low] ? 0xff : p[i + low];
	return n;
}

int rewrite_secrets_array(struct rewrite_secrets *s, struct rewriter *w,
			  const struct hprof_sub *sub, bool is_kept, struct hdb_error *err)
{
	const bool has_chars = sub->element_type == HPROF_CHAR;
	const uint64_t width = has_chars ? 2 : 1;
	const struct subject subject = {
		.id = sub->id,
		.kind = has_chars ? "char[]" : "byte[]",
		.length = sub->length,
		.is_kept = is_kept,
	};
	uint32_t seen = 0;

	if ((!has_chars && sub->element_type != HPROF_BYTE) || sub->body_size < TEXT_MIN * width)
		return HDB_OK;
	for (uint64_t at = 0; at < sub->body_size; at += (PART_UNITS - OVERLAP_UNITS) * width) {
		const uint64_t left = sub->body_size - at, most = PART_UNITS * width;
		const uint64_t n = left < most ? left : most;
		const uint8_t *p = base_view_at(&w->view, sub->body_offset + at, n, err);
		unsigned low = 1; /* chars are big-endian */
		size_t size = n;

		if (!p)
			return HDB_EIO;
		if (has_chars || is_wide(p, n, &low))
			size = squeeze(s, p, n, low);
		else
			memcpy(s->part, p, n);
		TRY(look(s, size, &subject, &seen, err));
		if (left <= most)
			break;
	}
	return HDB_OK;
}

int rewrite_secrets_record(struct rewrite_secrets *s, struct rewriter *w,
			   const struct hprof_record *rec, bool is_kept, struct hdb_error *err)
{
	struct subject subject = { .kind = "name", .is_kept = is_kept };
	struct hprof_utf8 utf8;
	uint32_t seen = 0;

	if (rec->tag != HPROF_UTF8)
		return HDB_OK;
	TRY(hprof_read_utf8(&w->file, &w->view, rec, &utf8, err));
	subject.id = utf8.string_id;
	subject.length = utf8.text_size;
	if (utf8.text_size > PART_UNITS)
		utf8.text_size = PART_UNITS;
	memcpy(s->part, utf8.text, utf8.text_size);
	return look(s, utf8.text_size, &subject, &seen, err);
}
