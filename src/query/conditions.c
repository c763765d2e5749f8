/* query/conditions.c - parses, measures and evaluates the conditions of --fail-if. */
#include "query/conditions.h"

#include "analysis/groups.h"
#include "analysis/members.h"
#include "base/error.h"
#include "base/expression.h"
#include "heap/values/text.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Maximum size of a target in bytes. Class names can be long. */
#define TARGET_MAX 1024
/* Maximum size of the fact that lists all conditions. Longer text is truncated. */
#define TEXT_MAX 4096

enum measure { COUNT, SHALLOW, RETAINED, SUSPECTS, LEAKS, SECRETS, GROWTH };

/*
 * Must be in the order of enum measure, because the index of a function is the number of its
 * measure.
 */
static const struct base_function functions[] = {
	{ "count", BASE_TAKES_RAW },    { "shallow", BASE_TAKES_RAW },
	{ "retained", BASE_TAKES_RAW }, { "suspects", BASE_TAKES_RAW },
	{ "leaks", BASE_TAKES_RAW },    { "secrets", BASE_TAKES_RAW },
	{ "growth", BASE_TAKES_VALUE },
};

static const struct base_grammar grammar = {
	.functions = functions,
	.function_count = BASE_COUNT(functions),
	.first = "count(...), shallow(...), retained(...), suspects(), leaks(), secrets() or "
		 "growth(...)",
	.operand = "a number",
	.is_condition = true,
};

struct condition {
	const char *text; /* as given by the user */
	enum measure measure;
	enum base_sign sign;
	bool is_growth, is_percent;
	double number;
	char target[TARGET_MAX];
};

/* ---- reading ---- */

/*
 * Returns whether the condition uses a measure without a target. Only some queries provide such
 * measures.
 */
static bool is_own(const struct condition *c)
{
	return c->measure >= SUSPECTS && c->measure <= SECRETS;
}

static int wrong(const struct condition *c, const char *what, struct hdb_error *err)
{
	return hdb_fail(err, HDB_EUSAGE, "--fail-if '%s': %s", c->text, what);
}

/* Splits a comparison of the form "measure SIGN number" into its parts. */
static int take_parts(struct condition *c, const struct base_node *left,
		      const struct base_node *right, struct hdb_error *err)
{
	if (left->kind != BASE_NODE_CALL || left->function == GROWTH ||
	    right->kind != BASE_NODE_NUMBER)
		return wrong(c, "expected a measure, a comparison and a number", err);
	c->measure = (enum measure)left->function;
	c->number = right->number;
	c->is_percent = right->is_percent;
	if (left->word.size >= TARGET_MAX)
		return wrong(c, "a name is longer than 1023 bytes", err);
	memcpy(c->target, left->word.text, left->word.size);
	c->target[left->word.size] = '\0';
	if (is_own(c) ? left->word.size != 0 : left->word.size == 0)
		return wrong(c,
			     is_own(c) ? "suspects(), leaks() and secrets() take no argument" :
					 "expected a class, pattern, loader or object",
			     err);
	if (is_own(c) && c->is_percent)
		return wrong(c, "suspects(), leaks() and secrets() cannot be a percentage", err);
	if (is_own(c) && c->is_growth)
		return wrong(c, "suspects() already counts growth", err);
	return HDB_OK;
}

static int read_condition(const char *text, struct condition *c, struct hdb_error *err)
{
	BASE_SCOPED(base_vec_release) struct base_vec nodes = { 0 };
	const struct base_node *all, *root, *left;
	struct hdb_error why;
	uint32_t no;

	*c = (struct condition){ .text = text };
	if (base_expression_parse(&grammar, base_word(text), &nodes, &no, &why) != HDB_OK)
		return wrong(c, why.message, err);
	all = nodes.data;
	root = &all[no];
	left = &all[root->left];
	c->sign = (enum base_sign)root->sign;
	c->is_growth = left->kind == BASE_NODE_CALL && left->function == GROWTH;
	return take_parts(c, c->is_growth ? &all[left->left] : left, &all[root->right], err);
}

static int check(const struct condition *c, size_t side_count, const struct query_measure *own,
		 struct hdb_error *err)
{
	if (c->is_growth && side_count < 2)
		return hdb_fail(err, HDB_EUSAGE,
				"--fail-if '%s': growth(...) requires two dumps; use diff",
				c->text);
	if (is_own(c) && (!own || strcmp(own->name, functions[c->measure].name) != 0))
		return hdb_fail(err, HDB_EUSAGE, "--fail-if '%s': %s", c->text,
				c->measure == SECRETS ? "secrets() requires the secrets query" :
				c->measure == LEAKS   ? "leaks() requires the leaks query" :
							"suspects() requires two dumps; use diff");
	return HDB_OK;
}

/* Reads the next condition, starting at option number *no. Returns HDB_OK or HDB_END. */
static int next_condition(const struct query *q, size_t *no, struct condition *c,
			  struct hdb_error *err)
{
	while (*no < q->args.option_count) {
		const struct hdb_option *option = &q->args.options[(*no)++];

		if (strcmp(option->name, "fail-if") == 0)
			return read_condition(option->value ? option->value : "", c, err);
	}
	return HDB_END;
}

int query_check_conditions(const struct query *q, size_t side_count,
			   const struct query_measure *own, struct hdb_error *err)
{
	struct condition c;
	size_t no = 0;
	int r;

	while ((r = next_condition(q, &no, &c, err)) == HDB_OK)
		TRY(check(&c, side_count, own, err));
	return r == HDB_END ? HDB_OK : r;
}

/* ---- measuring ---- */

/*
 * Clears the error if a class or object is not in a dump. Its count and sizes there are simply 0.
 */
static int forget(struct hdb_error *err)
{
	if (err)
		*err = (struct hdb_error){ 0 };
	return HDB_END;
}

static int measure_object(const struct session *side, const struct condition *c, uint64_t *out,
			  struct hdb_error *err)
{
	struct derive_retained_result result;
	struct heap_object object = { 0 };
	bool reachable = false;
	uint32_t ix;
	int r = analysis_object(side, c->target, &ix, err);

	assert(analysis_is_object(c->target));
	*out = 0;
	if (r == HDB_NOTFOUND)
		return forget(err);
	if (r < 0)
		return r;
	TRY(derive_is_reachable(side->derive, ix, &reachable, err));
	if ((r = heap_object(side->heap, ix, &object, err)) < 0 || !reachable)
		return r;
	*out = c->measure == COUNT ? 1 : object.shallow_bytes;
	if (c->measure == RETAINED) {
		r = derive_retained_set(side->derive, (struct graph_members){ &ix, 1 }, NULL,
					&result, err);
		*out = r == HDB_OK ? result.retained_bytes : 0;
	}
	return r;
}

/* Measures one dump. Returns HDB_END if the class or object is not in the dump. */
static int measure(const struct session *side, const struct condition *c, uint64_t *out,
		   struct hdb_error *err)
{
	struct derive_retained_result result;
	struct analysis_members members;
	int r;

	*out = 0;
	if (analysis_is_object(c->target))
		return measure_object(side, c, out, err);
	r = c->measure == RETAINED ?
		    analysis_members_find_whole(side, c->target, false, &members, err) :
		    analysis_members_find(side, c->target, false, &members, err);
	if (r == HDB_OK && c->measure != RETAINED)
		*out = c->measure == COUNT ? members.reachable_count : members.reachable_bytes;
	else if (r == HDB_OK &&
		 (r = derive_retained_set(side->derive,
					  (struct graph_members){ members.ixs.data, members.count },
					  NULL, &result, err)) == HDB_OK)
		*out = result.retained_bytes;
	analysis_members_release(&members);
	/* Return memory to the system before measuring another dump. */
	base_work_release(side->work);
	return r > 0 ? forget(err) : r;
}

static bool holds(const struct condition *c, double value)
{
	const bool is_equal = fabs(value - c->number) < 0.5 / (c->is_percent ? 1e6 : 1);

	if (c->sign == BASE_EQUAL || c->sign == BASE_UNEQUAL)
		return is_equal == (c->sign == BASE_EQUAL);
	return base_number_holds(value, c->sign, c->number);
}

/* Returns the measure's total for the whole dump, for percentages. */
static int whole(const struct session *side, const struct condition *c, uint64_t *out,
		 struct hdb_error *err)
{
	struct derive_total total = { 0 };
	const int r = analysis_heap_total(side, &total, err);

	*out = c->measure == COUNT ? total.count : total.shallow_bytes;
	return r;
}

/* What conditions are evaluated on. */
struct judged {
	const struct session *first, *last; /* oldest and newest dump, possibly the same */
	/* used only for measures without a target */
	uint64_t own_count;
};

/* A measured value, and a text that explains it. */
struct finding {
	double value;
	uint64_t now, reference; /* reference: the oldest dump or the whole heap */
	char text[96];
	bool is_unknown; /* whether no measured dump contains the class or object */
};

static int find_value(const struct judged *j, const struct condition *c, struct finding *out,
		      struct hdb_error *err)
{
	uint64_t now = j->own_count, before = 0, all = 0;
	char *text = out->text;
	const size_t size = sizeof(out->text);
	int r;

	assert(j->first && j->last);
	*out = (struct finding){ 0 };
	if (!is_own(c)) {
		TRY_ERRORS(r = measure(j->last, c, &now, err));
		out->is_unknown = r == HDB_END;
	}
	if (c->is_growth) {
		TRY_ERRORS(r = measure(j->first, c, &before, err));
		out->is_unknown &= r == HDB_END;
	}
	out->value = (double)now - (double)before;
	if (c->is_percent && !c->is_growth) {
		TRY(whole(j->last, c, &all, err));
		out->value = analysis_percent(now, all);
	}
	if (c->is_percent && c->is_growth)
		out->value = before ? 100 * out->value / (double)before :
			     now    ? (double)INFINITY :
				      0;
	out->now = now;
	out->reference = c->is_growth ? before : all;
	if (c->is_growth)
		(void)snprintf(text, size, "%" PRIu64 " before, %" PRIu64 " now", before, now);
	else if (c->is_percent)
		(void)snprintf(text, size, "%" PRIu64 " of %" PRIu64, now, all);
	else
		(void)snprintf(text, size, "%" PRIu64, now);
	return HDB_OK;
}

int query_judge(struct query *q, const struct session *sides, size_t side_count,
		const struct query_measure *own, struct hdb_error *err)
{
	struct judged judged = { .first = &sides[0], .last = &sides[side_count - 1] };
	uint64_t count = 0, failed = 0, unknown = 0;
	char list[TEXT_MAX] = "", clean[TEXT_MAX];
	size_t no = 0, used = 0;
	struct condition c;
	struct finding found;
	int r = query_check_conditions(q, side_count, own, err);

	if (r < 0 || !query_option(q, "fail-if"))
		return r;
	while ((r = next_condition(q, &no, &c, err)) == HDB_OK) {
		if (is_own(&c))
			r = own->count(q, &judged.own_count, err);
		if (r < 0 || (r = find_value(&judged, &c, &found, err)) < 0)
			return r;
		count++;
		failed += holds(&c, found.value);
		unknown += found.is_unknown;
		if (used < sizeof(list))
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s %s (%s%s)",
						 used ? "; " : "", c.text,
						 holds(&c, found.value) ? "holds" : "does not hold",
						 found.text,
						 found.is_unknown ? "; no object or class has this "
								    "name" :
								    "");
	}
	if (r == HDB_END)
		query_fact(q, "failed", failed);
	if (r < 0)
		return r;
	if (count == 1) {
		query_fact(q, "measured", found.now);
		query_fact(q, "reference", found.reference);
	}
	if (unknown)
		query_fact(q, "unknown", unknown);
	if (used >= sizeof(list))
		memcpy(list + sizeof(list) - 4, "...", 4);
	/*
	 * The text comes from the user and may be invalid UTF-8, or it may be truncated within a
	 * character.
	 */
	(void)heap_clean_text(list, strlen(list), clean, sizeof(clean));
	query_fact_text(q, "conditions", clean);
	return HDB_OK;
}
