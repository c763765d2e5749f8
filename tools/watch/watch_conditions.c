/*
 * watch/watch_conditions.c - implements watch_conditions.h.
 */
#include "watch/watch_conditions.h"

#include "base/scope.h"

#include <ctype.h>
#include <stdio.h>

static const char *const measures[MEASURES] = {
	"heap", "rss", "gc", "metaspace", "threads", "classes", "swap",
};

static const struct base_grammar grammar = {
	.first = "heap, rss, gc, metaspace, threads, classes or swap",
	.operand = "a number",
	.has_percent = true,
};

bool duration_parse(const char *text, size_t size, uint64_t *ms)
{
	static const char units[] = "smhd";
	static const uint64_t factors[] = { 1000, 60000, 3600000, 86400000 };
	const char *unit = size > 1 ? strchr(units, text[size - 1]) : NULL;
	uint64_t number = 0;

	if (!unit || !*unit || size > 8)
		return false;
	for (size_t i = 0; i + 1 < size; i++) {
		if (!isdigit((unsigned char)text[i]))
			return false;
		number = number * 10 + (uint64_t)(text[i] - '0');
	}
	*ms = number * factors[unit - units];
	return number > 0;
}

static int wrong(const struct condition *c, const char *what, struct hdb_error *err)
{
	return hdb_fail(err, HDB_EUSAGE, "--when '%s': %s", c->text, what);
}

/*
 * Cuts " WORD REST" from the end of the text. Returns REST, or NULL if the text does not contain
 * the word.
 */
static const char *cut_after(char *text, const char *word)
{
	for (char *at = text; (at = strstr(at, word)); at++) {
		const char *rest = at + strlen(word);

		if (at == text || at[-1] != ' ' || (*rest && *rest != ' '))
			continue;
		*at = '\0';
		return rest + strspn(rest, " ");
	}
	return NULL;
}

static bool take_duration(struct condition *c, const char *text)
{
	size_t size = strlen(text);

	while (size && text[size - 1] == ' ')
		size--;
	return duration_parse(text, size, &c->duration_ms);
}

/* Reads "measure SIGN number" from the nodes of a parsed comparison. */
static int take_comparison(struct condition *c, const struct base_vec *nodes, uint32_t root_no,
			   struct hdb_error *err)
{
	const struct base_node *root = base_vec_at(nodes, struct base_node, root_no);
	const struct base_node *left, *right;

	if (root->kind != BASE_NODE_SIGN || root->sign > BASE_BELOW)
		return wrong(c, "expected a measure, a comparison and a number", err);
	left = base_vec_at(nodes, struct base_node, root->left);
	right = base_vec_at(nodes, struct base_node, root->right);
	if (left->kind != BASE_NODE_PATH || right->kind != BASE_NODE_NUMBER)
		return wrong(c, "expected a measure, a comparison and a number", err);
	c->sign = (enum base_sign)root->sign;
	c->number = right->number;
	c->is_percent = right->is_percent;
	for (unsigned i = 0; i < MEASURES; i++) {
		if (!base_is_word(left->word, measures[i]))
			continue;
		c->measure = (enum condition_measure)i;
		if (c->measure == MEASURE_GC && !c->is_percent)
			return wrong(c, "gc is a percentage of time: gc > 20%", err);
		if (c->is_percent &&
		    (c->measure == MEASURE_THREADS || c->measure == MEASURE_CLASSES ||
		     c->measure == MEASURE_METASPACE))
			return wrong(c, "this measure cannot be a percentage", err);
		if (c->is_percent && c->number > 100)
			return wrong(c, "a percentage is at most 100", err);
		/* "heap > 85" would mean 85 bytes, so the condition would be true at once. */
		if (!c->is_percent && c->number > 0 && c->number <= 100 &&
		    c->measure != MEASURE_THREADS && c->measure != MEASURE_CLASSES)
			return wrong(c, "expected a percentage or a size, such as 85% or 2G", err);
		return HDB_OK;
	}
	return wrong(c, "expected heap, rss, gc, metaspace, threads, classes or swap", err);
}

static int parse_measure(struct condition *c, struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec nodes = { 0 };
	char text[CONDITION_TEXT_SIZE];
	const char *duration, *limit;
	struct hdb_error why;
	uint32_t root;

	snprintf(text, sizeof(text), "%s", c->text);
	duration = cut_after(text, "for");
	if (duration && !take_duration(c, duration))
		return wrong(c, "expected a duration such as 30s, 5m or 2h after \"for\"", err);
	limit = cut_after(text, "of");
	if (limit && strncmp(limit, "limit", 5) != 0)
		return wrong(c, "expected \"of limit\"", err);
	if (base_expression_parse(&grammar, base_word(text), &nodes, &root, &why) != HDB_OK)
		return wrong(c, why.message, err);
	TRY(take_comparison(c, &nodes, root, err));
	return limit && (!c->is_percent || c->measure != MEASURE_RSS) ?
		       wrong(c, "only a percentage of rss can be \"of limit\"", err) :
		       HDB_OK;
}

int condition_parse(const char *text, struct condition *out, struct hdb_error *err)
{
	static const struct {
		const char *word;
		enum condition_kind kind;
	} words[] = { { "growth", CONDITION_GROWTH },
		      { "signal", CONDITION_SIGNAL },
		      { "oom", CONDITION_OOM } };
	size_t i;

	*out = (struct condition){ 0 };
	text += strspn(text, " ");
	if (snprintf(out->text, sizeof(out->text), "%s", text) >= (int)sizeof(out->text))
		return wrong(out, "expected a shorter condition", err);
	if ((i = BASE_INDEX(words, text)) < BASE_COUNT(words)) {
		out->kind = words[i].kind;
		return HDB_OK;
	}
	if (strncmp(text, "every ", 6) == 0) {
		out->kind = CONDITION_EVERY;
		return take_duration(out, text + 6) ?
			       HDB_OK :
			       wrong(out, "expected a duration such as 24h after \"every\"", err);
	}
	return parse_measure(out, err);
}

bool condition_needs_limit(const struct condition *c)
{
	return c->kind == CONDITION_MEASURE && c->is_percent &&
	       (c->measure == MEASURE_RSS || c->measure == MEASURE_SWAP);
}

/* Finds the measured value, and the value that corresponds to 100 %. */
static bool measure(const struct condition *c, const struct series_record *s, double gc_percent,
		    double *value, double *whole)
{
	static const enum series_figure figures[MEASURES] = {
		SERIES_HEAP,    SERIES_RSS,    SERIES_GC_US, SERIES_METASPACE,
		SERIES_THREADS, SERIES_LOADED, SERIES_SWAP,
	};
	const enum series_figure of = c->measure == MEASURE_HEAP ? SERIES_MAX : SERIES_LIMIT;

	*whole = 100;
	*value = gc_percent;
	if (c->measure == MEASURE_GC)
		return gc_percent >= 0;
	*value = (double)s->figures[figures[c->measure]];
	*whole = (double)s->figures[of];
	return (s->has >> figures[c->measure] & 1) && (!c->is_percent || s->figures[of]);
}

bool condition_holds(const struct condition *c, const struct series_record *sample,
		     double gc_percent, double *value)
{
	double whole;

	if (c->kind != CONDITION_MEASURE || !measure(c, sample, gc_percent, value, &whole))
		return false;
	if (c->is_percent)
		*value = *value / whole * 100;
	return base_number_holds(*value, c->sign, c->number);
}
