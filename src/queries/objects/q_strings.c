/*
 * queries/objects/q_strings.c - the strings query: how often each text occurs and how much memory
 * its copies take, or strings grouped by prefix, length or encoding.
 *
 * Strings are grouped by 128 bits of XXH3 of all their characters, in one pass in the order of the
 * heap. Memory depends only on the number of different texts: 48 bytes for each, and about 12 for
 * finding and sorting it. Texts are read again for each row.
 */
#include "analysis/hash_counter.h"
#include "derive/blocks.h"
#include "heap/values/string_scan.h"
#include "queries/queries.h"
#include "base/base_text.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/*
 * Maximum number of bytes of a text that are matched and shown. For the rest of a longer text, only
 * the length is shown.
 */
#define TEXT_MAX 65536u
/* Limits for one match of a regular expression, because some patterns take exponential time. */
#define MATCH_STEPS 1000000u
#define MATCH_KILOBYTES 65536u
/* Maximum length of a prefix in UTF-16 units. */
#define PREFIX_MAX 4096u
/* Number of strings between two checks of the cancel flag. */
#define STEP_STRINGS 4096

#include <queries/objects/q_strings.query.h>

enum by { BY_TEXT, BY_PREFIX, BY_LENGTH, BY_ENCODING };

/* All strings with the same text, or in the same group. */
struct text {
	struct analysis_counter_head head;
	uint64_t string_bytes;
	uint64_t array_bytes;
};

/* A string that passes the filters, and its group. */
struct keyed {
	struct heap_text_hash hash;
	uint64_t string_bytes, array_bytes;
	uint32_t ix;
	bool has_chars;
};

struct strings {
	struct heap_string_scan scan;
	bool is_list; /* --objects */
	enum by by;
	uint64_t prefix; /* units */
	char text[TEXT_MAX + BASE_CUT_MARK_BYTES];
	/* filters: */
	const char *equals; /* NULL means any */
	pcre2_code *regex;  /* NULL means any */
	pcre2_match_data *match_data;
	pcre2_match_context *match_context;
	/* texts: */
	struct analysis_counter tally;  /* struct text */
	struct store_block *references; /* by block, if read on several threads; owned */
	uint64_t steps, looked, without_text;
	uint64_t found, found_bytes;  /* number and size of strings that pass the filters */
	uint64_t others, other_bytes; /* unreachable strings */
	/* number of texts longer than TEXT_MAX whose start does not match */
	uint64_t in_part;
	/* the block that `reachable` describes, initially HEAP_NONE */
	uint32_t block_no;
	uint8_t reachable[STORE_BLOCK_OBJECTS];
};

/* ---- filters ---- */

static int compile(struct strings *s, const char *pattern, struct hdb_error *err)
{
	PCRE2_SIZE at = 0;
	int code = 0;
	char why[128];

	s->regex = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
				 PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C, &code, &at, NULL);
	if (!s->regex) {
		(void)pcre2_get_error_message(code, (PCRE2_UCHAR *)why, sizeof(why));
		return hdb_fail(err, HDB_EUSAGE, "--match: %s, at character %zu of \"%.200s\"", why,
				(size_t)at, pattern);
	}
	/* If the library has no JIT compiler for this machine, matching works but is slower. */
	(void)pcre2_jit_compile(s->regex, PCRE2_JIT_COMPLETE);
	s->match_data = pcre2_match_data_create_from_pattern(s->regex, NULL);
	s->match_context = pcre2_match_context_create(NULL);
	if (!s->match_data || !s->match_context)
		return hdb_fail_memory(err, "a regular expression", 0);
	(void)pcre2_set_match_limit(s->match_context, MATCH_STEPS);
	(void)pcre2_set_heap_limit(s->match_context, MATCH_KILOBYTES);
	return HDB_OK;
}

static int search(struct strings *s, size_t size, bool *found, struct hdb_error *err)
{
	char why[128];
	const int n = pcre2_match(s->regex, (PCRE2_SPTR)s->text, size, 0, PCRE2_NO_UTF_CHECK,
				  s->match_data, s->match_context);

	*found = n >= 0;
	if (n >= 0 || n == PCRE2_ERROR_NOMATCH)
		return HDB_OK;
	(void)pcre2_get_error_message(n, (PCRE2_UCHAR *)why, sizeof(why));
	return hdb_fail(err, HDB_ELIMIT,
			"--match: the expression takes too long for one "
			"string: %s",
			why);
}

/* Sets *match to whether the current string passes the filters. */
static int is_match(struct strings *s, bool *match, struct hdb_error *err)
{
	const struct heap_chars *chars = &s->scan.string.chars;
	const size_t want = s->equals ? strlen(s->equals) : 0;
	struct heap_utf8 text = { .buf = s->text, .size = TEXT_MAX + 1 };
	int r;

	*match = !s->equals && !s->regex;
	if (*match)
		return HDB_OK;
	/* One unit becomes one to three bytes of UTF-8. */
	if (s->equals && (chars->count > want || chars->count * 3 < want))
		return HDB_OK;
	TRY(r = heap_chars_utf8(&s->scan.view, chars, &text, err));
	*match = !s->equals ||
		 (text.is_whole && text.used == want && memcmp(s->text, s->equals, want) == 0);
	if (*match && s->regex)
		r = search(s, text.used, match, err);
	s->in_part += r == HDB_OK && s->regex && !*match && !text.is_whole;
	return r;
}

/* Sets *is_counted to whether a string belongs to the population. */
static int counts(struct query *q, struct strings *s, const struct keyed *one, bool *is_counted,
		  struct hdb_error *err)
{
	const uint32_t block_no = one->ix / STORE_BLOCK_OBJECTS;
	bool reachable;

	if (block_no != s->block_no)
		TRY(derive_reachable_block(q->derive, block_no, s->reachable, err));
	s->block_no = block_no;
	reachable = s->reachable[one->ix % STORE_BLOCK_OBJECTS];
	s->others += !reachable;
	s->other_bytes += reachable ? 0 : one->string_bytes;
	*is_counted = query_counts(q, reachable);
	s->looked += *is_counted;
	s->without_text += *is_counted && !one->has_chars;
	return HDB_OK;
}

/* Moves to the next string that passes. Returns HDB_OK or HDB_END. */
static int next_match(struct query *q, struct strings *s, struct hdb_error *err)
{
	bool passes = false;

	while (!passes) {
		bool is_counted = false;

		TRY(heap_string_scan_next(&s->scan, err));
		if (s->steps++ % STEP_STRINGS == 0)
			TRY(base_step(q->work, s->scan.ix, err));
		TRY(counts(q, s,
			   &(struct keyed){ .ix = s->scan.ix,
					    .string_bytes = s->scan.shallow_bytes,
					    .has_chars = s->scan.string.has_chars },
			   &is_counted, err));
		if (is_counted && s->scan.string.has_chars)
			TRY(is_match(s, &passes, err));
	}
	return HDB_OK;
}

/* ---- grouping ---- */

enum encoding { LATIN1, UTF16_LITTLE, UTF16_BIG, CHARS, NARROW_CHARS };

static int encoding_of(struct base_view *view, const struct heap_chars *chars, enum encoding *out,
		       struct hdb_error *err)
{
	bool narrow;
	int r;

	*out = chars->unit_bytes == 1 ? LATIN1 : chars->is_little ? UTF16_LITTLE : UTF16_BIG;
	if (!chars->is_char_array)
		return HDB_OK;
	r = heap_chars_are_latin1(view, chars, &narrow, err);
	*out = narrow ? NARROW_CHARS : CHARS;
	return r;
}

/* Returns the characters by which a string is grouped. */
static struct heap_chars shown_chars(const struct strings *s, const struct heap_chars *chars)
{
	struct heap_chars shown = *chars;

	if (s->by == BY_PREFIX && shown.count > s->prefix)
		shown.count = s->prefix;
	return shown;
}

/*
 * Computes the 128-bit key that all strings of a group share. Longer keys are hashed; the
 * probability of a collision is negligible.
 */
static int key_of(const struct strings *s, struct base_view *view, const struct heap_chars *chars,
		  struct heap_text_hash *out, struct hdb_error *err)
{
	const struct heap_chars shown = shown_chars(s, chars);
	enum encoding encoding;
	int r;

	*out = (struct heap_text_hash){ .low = chars->count };
	if (s->by == BY_LENGTH)
		return HDB_OK;
	if (s->by != BY_ENCODING)
		return heap_chars_hash(view, &shown, out, err);
	r = encoding_of(view, chars, &encoding, err);
	out->low = encoding;
	return r;
}

static int count_string(struct strings *s, const struct keyed *one, struct hdb_error *err)
{
	struct text *text;
	void *entry;

	TRY(analysis_counter_add(&s->tally, one->hash, one->ix, &entry, err));
	text = entry;
	text->string_bytes += one->string_bytes;
	text->array_bytes += one->array_bytes;
	s->found++;
	s->found_bytes += one->string_bytes + one->array_bytes;
	return HDB_OK;
}

/* Counts the strings that pass the filters, on one thread. */
static int count_matches(struct query *q, struct strings *s, struct hdb_error *err)
{
	int r;

	base_stage(q->work, "reading strings", q->heap->object_count, "objects");
	while ((r = next_match(q, s, err)) == HDB_OK) {
		struct keyed one = {
			.ix = s->scan.ix,
			.string_bytes = s->scan.shallow_bytes,
			.array_bytes = s->scan.string.array_bytes,
		};

		TRY(key_of(s, &s->scan.view, &s->scan.string.chars, &one.hash, err));
		TRY(count_string(s, &one, err));
	}
	return r < 0 ? r : HDB_OK;
}

/* ---- without filters, on several threads ---- */

struct reading {
	const struct strings *s;
	struct derive_block *block;
	struct derive_reader dump;
};

static int key_string(void *ctx, uint32_t i, const struct heap_string *string,
		      struct hdb_error *err)
{
	struct reading *m = ctx;
	struct keyed one = {
		.ix = m->block->objects->first_ix + i,
		.string_bytes = m->block->objects->shallow[i],
		.array_bytes = string->array_bytes,
		.has_chars = string->has_chars,
	};

	if (one.has_chars)
		TRY(key_of(m->s, &m->dump.view, &string->chars, &one.hash, err));
	return base_vec_push(&m->block->bytes[0], &one, sizeof(one), err);
}

static int key_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	const struct query *q = ctx;
	const struct strings *s = q->state;
	struct reading m = { .s = s,
			     .block = block,
			     .dump = derive_reader(q->heap, s->references) };
	int r;

	heap_prefetch_block(q->heap, block->block_no);
	r = derive_block_strings(&m.dump, block, key_string, &m, err);
	derive_reader_release(&m.dump);
	return r;
}

static int count_block(void *ctx, struct derive_block *block, struct hdb_error *err)
{
	struct query *q = ctx;
	struct strings *s = q->state;
	const struct keyed *all = block->bytes[0].data;
	const size_t count = block->bytes[0].count;

	for (size_t i = 0; i < count; i++) {
		const size_t later = i + ANALYSIS_COUNTER_AHEAD / 2,
			     last = i + ANALYSIS_COUNTER_AHEAD;
		bool is_counted;

		if (last < count)
			analysis_counter_prefetch(&s->tally, all[last].hash);
		if (later < count)
			analysis_counter_prefetch_entry(&s->tally, all[later].hash);
		TRY(counts(q, s, &all[i], &is_counted, err));
		if (is_counted && all[i].has_chars)
			TRY(count_string(s, &all[i], err));
	}
	return HDB_OK;
}

/* Returns HDB_NOTFOUND if only one thread can read the strings of this heap. */
static int count_all(struct query *q, struct strings *s, struct hdb_error *err)
{
	unsigned threads_max;

	TRY(heap_string_blocks(q->heap, &s->references, &threads_max, err));
	if (threads_max == 1)
		return HDB_NOTFOUND;
	return derive_each_block(q->derive,
				 &(struct derive_pass){
					 .stage = "reading strings",
					 .reads_objects = true,
					 .make = key_block,
					 .take = count_block,
					 .ctx = q,
				 },
				 err);
}

/* Reports the strings that are not shown or not searched. */
static void leave_rare(struct query *q, const struct strings *s, uint64_t min_count)
{
	struct analysis_cut cut = { .rows = s->tally.used - q->total };
	assert(q->total <= s->tally.used);
	for (uint64_t i = q->total; i < s->tally.used; i++) {
		const struct text *text = analysis_counter_at(&s->tally, i);

		cut.objects += text->head.count;
		cut.bytes += text->string_bytes + text->array_bytes;
	}
	query_cut(q, &cut, "strings that occur fewer than %" PRIu64 " times (--min-count)",
		  min_count);
	if (s->in_part)
		query_cut(q, NULL,
			  "%" PRIu64 " strings longer than the %u bytes that --match searches, "
			  "without a match in the searched part",
			  s->in_part, TEXT_MAX);
}

static int group_texts(struct query *q, struct strings *s, uint64_t min_count,
		       struct hdb_error *err)
{
	int r = HDB_NOTFOUND;

	if (!s->equals && !s->regex)
		TRY_ERRORS(r = count_all(q, s, err));
	if (r == HDB_NOTFOUND)
		TRY(count_matches(q, s, err));
	TRY(analysis_counter_order(&s->tally, min_count, &q->total, err));
	query_zeroed(q);
	query_fact(q, "objects", s->looked);
	query_fact(q, "found", s->found);
	query_fact(q, "found_shallow", s->found_bytes);
	query_fact(q, "texts", q->total);
	query_fact(q, "without_text", s->without_text);
	query_report_unreachable(q, s->others, s->other_bytes);
	leave_rare(q, s, min_count);
	return HDB_OK;
}

/* ---- the query ---- */

static int read_by(struct query *q, struct strings *s, struct hdb_error *err)
{
	static const char *const shown[] = {
		"objects,text,length,shallow,array_shallow,total_shallow,id",
		"objects,text,shallow,array_shallow,total_shallow,id",
		"objects,length,shallow,array_shallow,total_shallow,id",
		"objects,encoding,shallow,array_shallow,total_shallow,id",
	};

	s->by = (enum by)query_choice(q, "by");
	s->prefix = query_number(q, "prefix-length", 0);
	if (s->is_list && query_option(q, "by"))
		return hdb_fail(err, HDB_EUSAGE, "--objects cannot be combined with --by");
	query_choose(q, s->is_list ? "id,text,length,shallow,array_shallow,total_shallow" :
				     shown[s->by]);
	return HDB_OK;
}

static int open_strings(struct query *q, struct hdb_error *err)
{
	struct strings *s = q->state;
	const char *pattern = query_option(q, "match");
	uint64_t min_count = 1;

	s->tally = (struct analysis_counter){
		.session = &q->session,
		.entry_bytes = sizeof(struct text),
		.what = "texts",
	};
	s->block_no = HEAP_NONE;
	s->is_list = query_option(q, "objects") != NULL;
	s->equals = query_option(q, "equals");
	min_count = query_number(q, "min-count", 0);
	if (s->equals && strlen(s->equals) > TEXT_MAX)
		return hdb_fail(err, HDB_EUSAGE, "the value of --equals is longer than %u bytes",
				TEXT_MAX);
	TRY(read_by(q, s, err));
	if (pattern)
		TRY(compile(s, pattern, err));
	TRY(derive_need_reachable(q->derive, err));
	TRY(heap_string_scan_begin(&s->scan, q->heap, err));
	if (s->is_list && s->regex)
		query_cut(q, NULL,
			  "--match searches only the first %u bytes of strings longer than %u "
			  "bytes",
			  TEXT_MAX, TEXT_MAX);
	if (s->is_list && min_count > 1)
		return hdb_fail(err, HDB_EUSAGE, "--min-count cannot be combined with --objects");
	/* Listed strings are found row by row, so their facts are not known before the last row. */
	return s->is_list ? HDB_OK : group_texts(q, s, min_count, err);
}

/* A row: a string, or a text with the sizes of all its strings. */
struct text_row {
	uint32_t ix;
	const struct heap_chars *chars;
	uint64_t string_bytes, array_bytes;
};

static int set_row(struct query *q, struct strings *s, const struct text_row *row,
		   struct hdb_error *err)
{
	static const char *const encodings[] = {
		[LATIN1] = "Latin-1 bytes",
		[UTF16_LITTLE] = "UTF-16 bytes, little-endian",
		[UTF16_BIG] = "UTF-16 bytes, big-endian",
		[CHARS] = "char[]",
		[NARROW_CHARS] = "char[] that fits Latin-1",
	};
	const struct heap_chars shown = shown_chars(s, row->chars);
	enum encoding encoding = LATIN1;
	struct heap_utf8 text = { .buf = s->text, .size = TEXT_MAX + 1 };

	TRY(heap_chars_utf8(&s->scan.view, &shown, &text, err));
	if (!text.is_whole)
		text.used += base_cut_mark(s->text + text.used, shown.count, "characters", false);
	query_set_text_n(q, TEXT, s->text, text.used);
	if (s->by == BY_ENCODING)
		TRY(encoding_of(&s->scan.view, row->chars, &encoding, err));
	query_set_text(q, ENCODING, encodings[encoding]);
	query_set(q, LENGTH, shown.count);
	query_set(q, SHALLOW, row->string_bytes);
	query_set(q, ARRAYS, row->array_bytes);
	query_set(q, TOTAL, row->string_bytes + row->array_bytes);
	query_set_id(q, ID, row->ix);
	return HDB_OK;
}

/* Returns the next string. With --objects, the number of rows is not known before the last row. */
static int next_string(struct query *q, struct hdb_error *err)
{
	struct strings *s = q->state;
	struct text_row row;
	int r;

	if ((r = next_match(q, s, err)) != HDB_OK || q->is_counting)
		return r;
	row = (struct text_row){ s->scan.ix, &s->scan.string.chars, s->scan.shallow_bytes,
				 s->scan.string.array_bytes };
	return set_row(q, s, &row, err);
}

static int text_row(struct query *q, size_t no, struct hdb_error *err)
{
	const struct strings *s = q->state;
	const struct text *text = analysis_counter_at(&s->tally, no);

	(void)err;
	query_set(q, COUNT, text->head.count);
	query_set(q, SHALLOW, text->string_bytes);
	query_set(q, ARRAYS, text->array_bytes);
	query_set(q, TOTAL, text->string_bytes + text->array_bytes);
	return HDB_OK;
}

static int text_rest(struct query *q, size_t no, struct hdb_error *err)
{
	struct strings *s = q->state;
	const struct text *text = analysis_counter_at(&s->tally, no);
	struct heap_string string;
	struct text_row row;

	TRY(heap_string_one(q->heap, text->head.first_ix, &string, err));
	row = (struct text_row){ text->head.first_ix, &string.chars, text->string_bytes,
				 text->array_bytes };
	return set_row(q, s, &row, err);
}

static void close_strings(struct query *q)
{
	struct strings *s = q->state;

	heap_string_scan_release(&s->scan);
	free(s->references);
	pcre2_code_free(s->regex);
	pcre2_match_data_free(s->match_data);
	pcre2_match_context_free(s->match_context);
	analysis_counter_release(&s->tally);
}

QUERY_DEFINE(strings, .state_size = sizeof(struct strings), .open = open_strings,
	     .next = next_string, .row = text_row, .rest = text_rest, .close = close_strings);
