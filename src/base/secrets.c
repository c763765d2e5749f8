/*
 * base/secrets.c - finds the positions in a string at which a rule of secrets.rules could match,
 * and tries the rule there.
 *
 * There are three kinds of rules. Words with which a secret begins are found by a hash of their
 * first three bytes. Names of secrets are found by the assignment of a value. Loose patterns are
 * searched for in the whole text if it contains enough digits or an @.
 */
#include "base/secrets.h"

#include "base/scope.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* Size of a part, and of its overlap with the next part, in bytes or chars. */
#define PART_UNITS 65536u
#define OVERLAP_UNITS 512u
/* Limits on the steps and the memory of a rule at one position. */
#define MATCH_STEPS 1000000u
#define MATCH_KILOBYTES 16384u
/*
 * Maximum number of matches of a loose rule that its check may reject in one part. After that
 * number, the rule is not tried again in the part.
 */
#define REFUSED_MAX 1000u
/* Minimum size of a secret. */
#define TEXT_MIN 8u
/* Minimum and maximum size, in bytes, of a name and of a value without a pattern. */
#define NAME_MIN 2u
#define NAME_MAX_BYTES 96u
#define VALUE_MIN 4u
#define VALUE_MAX 200u
/*
 * Maximum number of bytes that a pattern examines, and maximum number of positions in a part at
 * which a pattern is tried.
 */
#define REACH_MAX 4096u
#define TRIES_MAX 4096u
/*
 * Minimum number of different bytes in a secret that has a format. Text with fewer different bytes
 * is assumed to be an example.
 */
#define DISTINCT_MIN 6u

#define RULE_rule(word, text, nth) .name = text
#define RULE_what(word, text, nth) .what = text
#define RULE_start(word, text, nth) .start = text
#define RULE_then(word, text, nth) .then = text
#define RULE_caseless(word, text, nth) .is_caseless = true
#define RULE_loose(word, text, nth) .loose = text
#define NEEDS_at .needs_at = true
#define NEEDS_7 .digits = 7
#define NEEDS_9 .digits = 9
#define NEEDS_14 .digits = 14
#define RULE_needs(word, text, nth) NEEDS_##word
#define RULE_check(word, text, nth) .check = text
#define RULE_keys(word, text, nth) .keys = text
#define RULE_fields(word, text, nth) .fields = text
#define RULE_value(word, text, nth) .value = text
#define RULE_entropy(word, text, nth) .entropy = word
#define RULE_personal(word, text, nth) .is_personal = true
#define RULE_doc(word, text, nth) .doc = text

static const struct base_secret_rule rules[] = {
#include <base/secrets.rules.h>
};
#define RULES BASE_COUNT(rules)

const struct base_secret_rule *base_secret_rules(size_t *count)
{
	*count = RULES;
	return rules;
}

/* Number of values of the hash function, which takes three bytes. */
#define HASHES 65536u
#define WORDS_MAX 1024u

struct word {
	const char *text;
	uint16_t size, rule;
	uint16_t next; /* 1 + index of the next word with the same hash, or 0 if none */
};

/* Words, indexed by a hash of their first three bytes or of their last three bytes. */
struct words {
	struct word list[WORDS_MAX];
	size_t count;
	uint16_t first[HASHES]; /* index + 1 */
	uint8_t bits[HASHES / 8];
};

enum { MARK_SETTER = 1, MARK_DIGIT = 2, MARK_AT = 4, MARK_BINARY = 8 };

struct base_secrets {
	struct words starts, keys;
	pcre2_code *patterns[RULES];
	uint8_t marks[256], fold[256];
};

struct base_secret_search {
	const struct base_secrets *secrets;
	pcre2_match_data *match;
	pcre2_match_context *context;
	uint8_t part[PART_UNITS];
	/* the part being searched */
	const uint8_t *p;
	size_t size, whole; /* number of bytes in the part, and of characters in the whole text */
	size_t end;         /* secrets that begin after this position will be found in the next
			     * part */
	unsigned tries;     /* number of positions in the part that may still be tried */
	bool is_first;
	int (*take)(void *ctx, const struct base_secret_hit *hit, struct hdb_error *err);
	void *ctx;
};

/* ---- the table ---- */

static uint32_t hash_of(const uint8_t *fold, const uint8_t *p)
{
	return ((uint32_t)fold[p[0]] << 8 ^ (uint32_t)fold[p[1]] << 4 ^ fold[p[2]]) % HASHES;
}

static int add_word(struct base_secrets *s, struct words *words, struct word word, bool by_end,
		    struct hdb_error *err)
{
	uint32_t hash;
	uint16_t *at;

	if (word.size < 3 || words->count == WORDS_MAX)
		return hdb_fail(
			err, HDB_EBUG,
			"secrets.rules, rule %s: the word \"%.*s\" is too short, or the rules "
			"have too many words",
			rules[word.rule].name, word.size, word.text);
	hash = hash_of(s->fold, (const uint8_t *)word.text + (by_end ? word.size - 3 : 0));
	words->list[words->count++] = word;
	words->bits[hash / 8] |= (uint8_t)(1u << hash % 8);
	/* Append to the chain, so that the first rule of the table comes first. */
	for (at = &words->first[hash]; *at;)
		at = &words->list[*at - 1].next;
	*at = (uint16_t)words->count;
	return HDB_OK;
}

/* Adds the words of a list such as "a|b| c". */
static int add_words(struct base_secrets *s, struct words *words, unsigned rule, bool by_end,
		     struct hdb_error *err)
{
	const char *list = by_end ? rules[rule].keys : rules[rule].start;

	while (list && *list) {
		const size_t blanks = strspn(list, " ");
		const size_t n = strcspn(list + blanks, "|");

		TRY(add_word(s, words,
			     (struct word){ .text = list + blanks,
					    .size = (uint16_t)n,
					    .rule = (uint16_t)rule },
			     by_end, err));
		list += blanks + n;
		list += *list == '|';
	}
	return HDB_OK;
}

static int compile(struct base_secrets *s, unsigned rule, struct hdb_error *err)
{
	const struct base_secret_rule *r = &rules[rule];
	const char *pattern = r->then ? r->then : r->loose ? r->loose : r->value;
	const uint32_t options = r->loose ? 0 :
				 r->then  ? PCRE2_ANCHORED | PCRE2_DOTALL :
					    PCRE2_ANCHORED | PCRE2_ENDANCHORED;
	size_t at = 0;
	int code = 0;

	TRY(add_words(s, &s->starts, rule, false, err));
	TRY(add_words(s, &s->keys, rule, true, err));
	if (!pattern)
		return HDB_OK;
	s->patterns[rule] = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, options,
					  &code, &at, NULL);
	if (!s->patterns[rule])
		return hdb_fail(err, HDB_EBUG,
				"rule %s: invalid expression at character %zu (PCRE2 error %d)",
				r->name, at, code);
	/* Without the JIT compiler, matching is only slower. */
	(void)pcre2_jit_compile(s->patterns[rule], PCRE2_JIT_COMPLETE);
	return HDB_OK;
}

int base_secrets_new(struct base_secrets **out, struct hdb_error *err)
{
	struct base_secrets *s;
	int r = HDB_OK;

	TRY(BASE_ALLOC(s, 1, "rules", err));
	for (unsigned c = 0; c < 256; c++) {
		s->fold[c] = (uint8_t)(c >= 'A' && c <= 'Z' ? c + 32 : c);
		s->marks[c] = c >= '0' && c <= '9'        ? MARK_DIGIT :
			      strchr(" =:>", (int)c) && c ? MARK_SETTER :
			      c == '@'                    ? MARK_AT :
			      (c < ' ' && !strchr("\t\r\n", (int)c)) || c == 0 || c >= 0x7f ?
					 MARK_BINARY :
					 0;
	}
	for (unsigned i = 0; r == HDB_OK && i < RULES; i++)
		r = compile(s, i, err);
	if (r < 0)
		base_secrets_free(s);
	else
		*out = s;
	return r;
}

void base_secrets_free(struct base_secrets *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < RULES; i++)
		pcre2_code_free(s->patterns[i]);
	free(s);
}

int base_secret_search_new(const struct base_secrets *secrets, struct base_secret_search **out,
			   struct hdb_error *err)
{
	struct base_secret_search *s;

	TRY(BASE_ALLOC(s, 1, "rules", err));
	s->secrets = secrets;
	s->match = pcre2_match_data_create(1, NULL);
	s->context = pcre2_match_context_create(NULL);
	if (!s->match || !s->context) {
		base_secret_search_free(s);
		return hdb_fail_memory(err, "rules", 0);
	}
	(void)pcre2_set_match_limit(s->context, MATCH_STEPS);
	(void)pcre2_set_heap_limit(s->context, MATCH_KILOBYTES);
	*out = s;
	return HDB_OK;
}

void base_secret_search_free(struct base_secret_search *s)
{
	if (!s)
		return;
	pcre2_match_data_free(s->match);
	pcre2_match_context_free(s->context);
	free(s);
}

/* ---- checks ---- */

/*
 * Returns the binary logarithm of n in 64ths. Interpolates linearly between powers of two, so it is
 * too small by at most 0.09.
 */
static uint64_t log2_of(uint64_t n)
{
	const unsigned bits = 63u - (unsigned)__builtin_clzll(n);

	return bits * 64u + ((n << 6 >> bits) - 64u);
}

/*
 * Computes Shannon's entropy in tenths of a bit per byte, and sets *distinct to the number of
 * different bytes.
 */
static unsigned entropy_of(const uint8_t *p, size_t size, unsigned *distinct)
{
	uint32_t counts[256] = { 0 };
	uint64_t sum = 0;

	*distinct = 0;
	for (size_t i = 0; i < size; i++)
		*distinct += counts[p[i]]++ == 0;
	for (unsigned c = 0; c < 256; c++)
		if (counts[c])
			sum += counts[c] * log2_of(counts[c]);
	return size ? (unsigned)((log2_of(size) - sum / size) * 10 / 64) : 0;
}

/*
 * Returns the number of digits of a payment card number that begins with these four digits, or 0 if
 * no issuer uses them (ISO/IEC 7812).
 */
static unsigned card_length(unsigned head)
{
	static const struct {
		uint16_t first, last;
		uint8_t length;
	} issuers[] = {
		{ 2221, 2720, 16 }, { 3000, 3059, 14 }, { 3400, 3499, 15 }, { 3528, 3589, 16 },
		{ 3600, 3699, 14 }, { 3700, 3799, 15 }, { 3800, 3899, 14 }, { 4000, 4999, 16 },
		{ 5100, 5599, 16 }, { 6011, 6011, 16 }, { 6440, 6599, 16 },
	};

	for (size_t i = 0; i < BASE_COUNT(issuers); i++)
		if (head >= issuers[i].first && head <= issuers[i].last)
			return issuers[i].length;
	return 0;
}

/*
 * Returns whether a number can be a payment card number, that is, its length matches its first
 * digits and Luhn's check digit is correct.
 */
static bool is_card(const uint8_t *p, size_t size)
{
	unsigned sum = 0, count = 0, distinct;
	uint8_t digits[32];

	for (size_t i = 0; i < size && count < sizeof(digits); i++)
		if (p[i] >= '0' && p[i] <= '9')
			digits[count++] = (uint8_t)(p[i] - '0');
	if (count < 14)
		return false;
	for (unsigned i = 0; i < count; i++) {
		const unsigned digit = digits[count - 1 - i] * (i % 2 + 1u);

		sum += digit - (digit > 9 ? 9 : 0);
	}
	(void)entropy_of(digits, count, &distinct);
	return sum % 10 == 0 && distinct >= 2 &&
	       count == card_length(digits[0] * 1000u + digits[1] * 100u + digits[2] * 10u +
				    digits[3]);
}

/*
 * Returns whether a text is an IBAN (ISO 13616): after moving the first four characters to the end
 * and replacing letters with 10 to 35, the number modulo 97 must be 1.
 */
static bool is_iban(const uint8_t *text, size_t size)
{
	/* The countries in the registry of ISO 13616, each with the length of its numbers. */
	static const char lengths[] =
		"AD24AE23AL28AT20AZ28BA20BE16BG22BH22BR29BY28CH21CR22CY28CZ24DE22DK18DO28EE20EG29"
		"ES24FI18FO18FR27GB22GE22GI23GL18GR27GT28HR21HU28IE22IL23IQ23IS26IT27JO30KW30KZ20"
		"LB28LC32LI21LT20LU20LV21LY25MC27MD24ME22MK19MR27MT31MU30NL18NO15PK24PL28PS29PT25"
		"QA29RO24RS22SA24SC31SE24SI19SK24SM27ST25SV28TL23TN24TR26UA29VA22VG24XK20";
	unsigned rest = 0, count = 0, length = 0;

	for (const char *l = lengths; *l; l += 4)
		if (memcmp(l, text, 2) == 0)
			length = (unsigned)(l[2] - '0') * 10 + (unsigned)(l[3] - '0');

	for (size_t i = 0; i < size + 4; i++) {
		const uint8_t c = i < size ? text[i] : text[i - size];

		if (c == ' ' || i < 4)
			continue;
		count++;
		/* The pattern admits only digits and capital letters. */
		if (c >= 'A')
			rest = (rest * 100 + c - ('A' - 10u)) % 97;
		else
			rest = (rest * 10 + c - '0') % 97;
	}
	return count == length && rest == 1;
}

/* Returns whether "basic " is followed by the base64 of printable characters with a colon. */
static bool is_basic(const uint8_t *p, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t bits = 0;
	unsigned have = 0;
	bool has_colon = false;
	size_t i = size;

	while (i > 0 && p[i - 1] != ' ')
		i--;
	for (; i < size && p[i] != '='; i++) {
		const char *digit = strchr(digits, p[i]);

		assert(digit);
		bits = bits << 6 | (uint32_t)(digit - digits);
		have += 6;
		if (have < 8)
			continue;
		have -= 8;
		has_colon |= (bits >> have & 0xff) == ':';
		if ((bits >> have & 0xff) < 0x20)
			return false;
	}
	return has_colon;
}

/* Returns whether the check of the rule accepts the text that its pattern matched. */
static bool is_accepted(const struct base_secret_search *s, const struct base_secret_rule *rule,
			const uint8_t *p, size_t size)
{
	unsigned distinct;

	if (entropy_of(p, size, &distinct) < rule->entropy)
		return false;
	if (!rule->check)
		return rule->loose || distinct >= DISTINCT_MIN;
	switch (rule->check[0]) {
	case 'c':
		return is_card(p, size);
	case 'i':
		return is_iban(p, size);
	case 'b':
		return is_basic(p, size);
	default:
		return size == s->whole;
	}
}

/* ---- names and values ---- */

/*
 * Returns whether the last word of a name is "pw" or "pass": pw, db.pass, DB_PW or dbPass. Without
 * a word boundary, these may be the end of another word, such as "bypass".
 */
static bool ends_in_word(const uint8_t *name, size_t size, const char *word)
{
	const size_t n = strlen(word);
	const uint8_t *at = name + size - n;

	return size >= n && strncasecmp((const char *)at, word, n) == 0 &&
	       (size == n || !isalnum(at[-1]) || (at[0] == 'P' && islower(at[-1])));
}

/*
 * Writes a name in lower case without separators, and completes a last word "pw" or "pass", which
 * may not be the end of another word, to "pwd" or "passwd". Returns its size, or 0 if it is too
 * long.
 */
static size_t plain_name(const struct base_secrets *s, const uint8_t *name, size_t size,
			 uint8_t out[NAME_MAX_BYTES])
{
	size_t n = 0;

	if (size >= NAME_MAX_BYTES)
		return 0;
	for (size_t i = 0; i < size; i++)
		if (isalnum(name[i]))
			out[n++] = s->fold[name[i]];
	if (ends_in_word(name, size, "pass") && n + 2 < NAME_MAX_BYTES)
		out[n++] = 'w';
	else if (!ends_in_word(name, size, "pw"))
		return n;
	out[n++] = 'd';
	return n;
}

/*
 * Returns the next word, after *at, with which the plain name ends. *at must be 0 for the first
 * call.
 */
static const struct word *next_key(const struct base_secrets *s, const uint8_t *name, size_t size,
				   uint16_t *at, bool is_first)
{
	const struct words *keys = &s->keys;

	if (size < 3)
		return NULL;
	*at = is_first ? keys->first[hash_of(s->fold, name + size - 3)] : keys->list[*at - 1].next;
	for (; *at; *at = keys->list[*at - 1].next) {
		const struct word *word = &keys->list[*at - 1];

		if (word->size <= size &&
		    memcmp(name + size - word->size, word->text, word->size) == 0)
			return word;
	}
	return NULL;
}

bool base_secrets_has_name(const struct base_secrets *s, const char *name, size_t size)
{
	uint8_t plain[NAME_MAX_BYTES];
	const size_t n = plain_name(s, (const uint8_t *)name, size, plain);
	uint16_t at = 0;

	return next_key(s, plain, n, &at, true) != NULL;
}

bool base_secrets_has_field(const char *class_name, const char *field, unsigned *rule)
{
	const size_t n = strlen(class_name), m = strlen(field);

	for (*rule = 0; *rule < RULES; ++*rule)
		for (const char *p = rules[*rule].fields; p && *p; p += strcspn(p, "|")) {
			p += strspn(p, "| ");
			if (strncmp(p, class_name, n) == 0 && p[n] == '.' &&
			    strncmp(p + n + 1, field, m) == 0 && strchr("|", p[n + 1 + m]))
				return true;
		}
	return false;
}

/* Returns whether a value is itself the name of a secret, package, class, file or constant. */
static bool is_name(const struct base_secrets *s, const uint8_t *p, size_t size)
{
	size_t dots = 0, marks = 0, digits = 0, small = 0;

	for (size_t i = 0; i < size; i++) {
		if (!isalnum(p[i]) && !strchr("._-$/;", p[i]))
			return false;
		dots += p[i] == '.' || p[i] == '/';
		marks += p[i] == ';' || p[i] == '_';
		digits += isdigit(p[i]) != 0;
		small += islower(p[i]) != 0;
	}
	if (base_secrets_has_name(s, (const char *)p, size))
		return dots || !digits;
	/* looks like the name of a package, file, type or constant */
	return !digits && (dots > 1 || (marks && (!small || p[size - 1] == ';')));
}

/*
 * Returns whether words separated by blanks are a text for people, such as "Enter the password" or
 * "Invalid token", rather than a passphrase: they begin with a capital, as only the first word does,
 * or name a secret.
 */
static bool is_prose(const struct base_secrets *s, const uint8_t *p, size_t size)
{
	size_t capitals = 0, words = 0, digits = 0, from = 0;

	for (size_t i = 0; i <= size; i++) {
		digits += i < size && isdigit(p[i]);
		if (i < size && p[i] != ' ')
			continue;
		if (i == from)
			return true;
		capitals += isupper(p[from]) != 0;
		words++;
		if (base_secrets_has_name(s, (const char *)p + from, i - from))
			return true;
		from = i + 1;
	}
	return words > 1 && isupper(p[0]) && capitals < words && !digits;
}

/* Returns whether a value is a placeholder for a real value, or refers to a file. */
static bool is_placeholder(const uint8_t *p, size_t size)
{
	static const char *const words[] = { "null",  "true",     "false",     "none",  "undefined",
					     "empty", "redacted", "protected", "hidden" };
	size_t same = 0;

	if (strchr("$#{<%/*@([|\\", p[0]) || p[size - 1] == ')' || p[size - 1] == '(' ||
	    p[size - 1] == ':')
		return true;
	for (size_t i = 0; i < size; i++) {
		if (p[i] < ' ' || p[i] >= 0x7f)
			return true;
		same += p[i] == p[0];
	}
	for (size_t i = 0; i < BASE_COUNT(words); i++)
		if (strlen(words[i]) == size && strncasecmp(words[i], (const char *)p, size) == 0)
			return true;
	return same == size || memmem(p, size, "://", 3) || memmem(p, size, "${", 2);
}

static bool is_value_of(struct base_secret_search *s, unsigned rule,
			const struct base_secret_named *named)
{
	const uint8_t *p = named->value;
	const size_t size = named->value_size;
	unsigned distinct;

	if (size < VALUE_MIN || entropy_of(p, size, &distinct) < rules[rule].entropy)
		return false;
	if (rules[rule].value &&
	    pcre2_match(s->secrets->patterns[rule], p, size, 0, 0, s->match, s->context) < 0)
		return false;
	/* A pattern with blanks is exact enough. */
	if (rules[rule].value && memchr(p, ' ', size))
		return true;
	return (rules[rule].value || size <= VALUE_MAX) && !is_placeholder(p, size) &&
	       !is_name(s->secrets, p, size) &&
	       (named->is_array || !memchr(p, ' ', size) || !is_prose(s->secrets, p, size));
}

bool base_secrets_is_value(struct base_secret_search *s, const struct base_secret_named *named,
			   unsigned *rule)
{
	uint8_t plain[NAME_MAX_BYTES];
	const size_t n = plain_name(s->secrets, named->name, named->name_size, plain);
	const struct word *word;
	uint16_t at = 0;
	bool is_first = true;

	while ((word = next_key(s->secrets, plain, n, &at, is_first))) {
		is_first = false;
		if (is_value_of(s, word->rule, named)) {
			*rule = word->rule;
			return true;
		}
	}
	return false;
}

/* ---- places in a part ---- */

static int report(struct base_secret_search *s, const struct base_secret_hit *hit,
		  struct hdb_error *err)
{
	const size_t at = (size_t)(hit->text - s->p);

	/*
	 * A secret at the start of a part was found in the previous part, and a secret after s->end
	 * will be found in the next.
	 */
	if (at > s->end || (!s->is_first && at == 0))
		return HDB_OK;
	return s->take(s->ctx, hit, err);
}

static bool is_word_byte(const uint8_t *p, size_t size, size_t at)
{
	return at < size && isalnum(p[at]);
}

/*
 * Tries the rules that have a word at `at`. Sets *next to the end of the secret, if one is found.
 */
static int try_starts(struct base_secret_search *s, size_t at, size_t *next, struct hdb_error *err)
{
	const struct words *starts = &s->secrets->starts;
	const uint8_t *p = s->p;

	for (uint16_t no = starts->first[hash_of(s->secrets->fold, p + at)]; no;
	     no = starts->list[no - 1].next) {
		const struct word *word = &starts->list[no - 1];
		const struct base_secret_rule *rule = &rules[word->rule];
		const size_t from = at + word->size, *match;
		struct base_secret_hit hit = { .rule = word->rule,
					       .text = p + at,
					       .shown = word->size };
		size_t reach;

		if (from >= s->size ||
		    (rule->is_caseless ?
			     strncasecmp((const char *)p + at, word->text, word->size) != 0 :
			     memcmp(p + at, word->text, word->size) != 0))
			continue;
		/*
		 * A pattern with a lookbehind determines itself which characters may precede a
		 * match.
		 */
		if ((isalnum(p[at]) || p[at] == '$') && at &&
		    (isalnum(p[at - 1]) || p[at - 1] == '_') && strncmp(rule->then, "(?<=", 4) != 0)
			continue;
		if (!s->tries || !s->tries--)
			return HDB_OK;
		reach = s->size - from < REACH_MAX ? s->size : from + REACH_MAX;
		if (pcre2_match(s->secrets->patterns[word->rule], p, reach, from, 0, s->match,
				s->context) < 0)
			continue;
		match = pcre2_get_ovector_pointer(s->match);
		hit.size = match[1] - at;
		*next = match[1];
		if ((isalnum(p[match[1] - 1]) && is_word_byte(p, s->size, match[1])) ||
		    (match[1] - from > 8 && !is_accepted(s, rule, p + from, match[1] - from)))
			continue;
		return report(s, &hit, err);
	}
	return HDB_OK;
}

static bool is_name_byte(uint8_t c)
{
	return isalnum(c) || c == '_' || c == '.' || c == '-';
}

static bool has_digit(const uint8_t *p, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (isdigit(p[i]))
			return true;
	return false;
}

/* Finds the name before the sign at `at`. Returns false if it is not the name of a secret. */
static bool find_name(const struct base_secret_search *s, size_t at, struct base_secret_named *out)
{
	const uint8_t *p = s->p;
	size_t end = at, from;

	while (end > 0 && at - end < 2 && p[end - 1] == ' ')
		end--;
	if (end > 0 && (p[end - 1] == '"' || p[end - 1] == '\''))
		end--;
	for (from = end; from > 0 && end - from <= NAME_MAX_BYTES && is_name_byte(p[from - 1]);)
		from--;
	*out = (struct base_secret_named){ .name = p + from, .name_size = end - from };
	return end - from >= NAME_MIN && (p[at] != ' ' || p[from] == '-') &&
	       base_secrets_has_name(s->secrets, (const char *)p + from, end - from) &&
	       (p[at] != '>' || (from > 0 && p[from - 1] == '<'));
}

/* Finds the value that begins near `at`. Returns whether it is quoted. */
static bool find_value(const struct base_secret_search *s, size_t at, struct base_secret_named *out)
{
	const uint8_t *p = s->p;
	size_t value = at, size = 0;
	uint8_t quote = 0;

	while (value < s->size && value - at < 4 && p[value] == ' ')
		value++;
	if (value < s->size && (p[value] == '"' || p[value] == '\''))
		quote = p[value++];
	while (value + size < s->size && size < REACH_MAX &&
	       (quote ? p[value + size] != quote && p[value + size] >= ' ' :
			p[value + size] > ' ' && !strchr("\"'&;,<>)]}", p[value + size])))
		size++;
	out->value = p + value;
	out->value_size = size;
	return quote != 0;
}

/*
 * Tries the value assigned to a name at `at`: name=value, "name": "value", <name>value<, --name
 * value.
 */
static int try_setter(struct base_secret_search *s, size_t at, struct hdb_error *err)
{
	const bool is_option = s->p[at] == ' ';
	struct base_secret_named named = { 0 };
	struct base_secret_hit hit = { 0 };
	bool is_quoted;

	if (!find_name(s, at, &named))
		return HDB_OK;
	is_quoted = find_value(s, at + 1, &named);
	/*
	 * An assigned expression is code and not a secret. The text that follows an option in a
	 * sentence is a word without digits. A value with blanks is only trusted in JSON.
	 */
	if ((!is_quoted && memchr(named.value, '(', named.value_size)) ||
	    (is_option && !has_digit(named.value, named.value_size)) ||
	    !base_secrets_is_value(s, &named, &hit.rule) ||
	    (!rules[hit.rule].value && memchr(named.value, ' ', named.value_size) &&
	     named.name[named.name_size] != '"'))
		return HDB_OK;
	hit.text = named.value;
	hit.size = named.value_size;
	hit.key = named.name;
	hit.key_size = named.name_size;
	return report(s, &hit, err);
}

static int try_loose(struct base_secret_search *s, unsigned rule, struct hdb_error *err)
{
	const size_t *match = pcre2_get_ovector_pointer(s->match);
	size_t from = 0;

	for (unsigned refused = 0; refused < REFUSED_MAX && from < s->size;) {
		struct base_secret_hit hit = { .rule = rule };

		if (pcre2_match(s->secrets->patterns[rule], s->p, s->size, from, 0, s->match,
				s->context) < 0)
			return HDB_OK;
		hit.text = s->p + match[0];
		hit.size = match[1] - match[0];
		from = match[1];
		if (is_accepted(s, &rules[rule], hit.text, hit.size)) {
			TRY(report(s, &hit, err));
		} else {
			refused++;
			from = match[0] + 1;
		}
	}
	return HDB_OK;
}

static int search_part(struct base_secret_search *s, struct hdb_error *err)
{
	const struct base_secrets *secrets = s->secrets;
	const uint8_t *p = s->p;
	size_t digits = 0, binary = 0, next = 0;
	uint8_t marks = 0;

	s->tries = TRIES_MAX;
	for (size_t i = 0; i < s->size; i++) {
		const uint8_t mark = secrets->marks[p[i]];

		marks |= mark;
		digits += mark == MARK_DIGIT;
		binary += mark == MARK_BINARY;
		if (mark == MARK_SETTER && i >= next)
			TRY(try_setter(s, i, err));
		if (i + 3 <= s->size && i >= next) {
			const uint32_t hash = hash_of(secrets->fold, p + i);

			if (secrets->starts.bits[hash / 8] & 1u << hash % 8)
				TRY(try_starts(s, i, &next, err));
		}
	}
	/* Binary data contains sequences that look like numbers and addresses by chance. */
	if (binary > s->size / 16)
		return HDB_OK;
	for (unsigned i = 0; i < RULES; i++)
		if (rules[i].loose && digits >= rules[i].digits &&
		    (!rules[i].needs_at || marks & MARK_AT))
			TRY(try_loose(s, i, err));
	return HDB_OK;
}

/* ---- texts ---- */

/*
 * Returns whether the bytes look like UTF-16: more than half of the bytes at even positions, or
 * more than half of the bytes at odd positions, are zero. Sets *low to 1 if the low bytes are at
 * odd positions (big-endian).
 */
static bool is_wide(const uint8_t *p, uint64_t size, unsigned *low)
{
	uint64_t zeros[2] = { 0, 0 };

	if (size % 2 || !memchr(p, 0, size))
		return false;
	for (uint64_t i = 0; i + 1 < size; i += 2) {
		zeros[0] += p[i] == 0;
		zeros[1] += p[i + 1] == 0;
	}
	*low = zeros[0] > zeros[1];
	return zeros[!*low] > size / 4;
}

/* Copies the low bytes of UTF-16 text to s->part. Characters above 0xff become 0xff. */
static void squeeze(struct base_secret_search *s, uint64_t size, unsigned low)
{
	const uint8_t *p = s->p;
	size_t n = 0;

	for (uint64_t i = 0; i + 1 < size; i += 2)
		s->part[n++] = p[i + !low] ? 0xff : p[i + low];
	s->p = s->part;
	s->size = n;
}

int base_secrets_find(struct base_secret_search *s, const struct base_secret_text *text,
		      int (*take)(void *ctx, const struct base_secret_hit *hit,
				  struct hdb_error *err),
		      void *ctx, struct hdb_error *err)
{
	const uint64_t width = text->is_chars ? 2 : 1;

	s->take = take;
	s->ctx = ctx;
	s->is_first = true;
	if (text->size < TEXT_MIN * width)
		return HDB_OK;
	for (uint64_t at = 0;; at += (PART_UNITS - OVERLAP_UNITS) * width) {
		const uint64_t left = text->size - at, most = PART_UNITS * width;
		const uint64_t n = left < most ? left : most;
		unsigned low = 1; /* chars are big-endian */
		bool is_utf16;

		s->p = base_view_at(text->view, text->offset + at, n, err);
		if (!s->p)
			return HDB_EIO;
		s->size = n;
		is_utf16 = text->is_chars || is_wide(s->p, n, &low);
		s->whole = text->size / (is_utf16 ? 2 : 1);
		s->end = left <= most ? SIZE_MAX : PART_UNITS - OVERLAP_UNITS;
		if (is_utf16) {
			squeeze(s, n, low);
			s->end = left <= most ?
					 SIZE_MAX :
					 (PART_UNITS - OVERLAP_UNITS) / (text->is_chars ? 1 : 2);
		}
		TRY(search_part(s, err));
		if (left <= most)
			return HDB_OK;
		s->is_first = false;
	}
}
