/*
 * query/conditions.c - the option --fail-if: reading conditions, measuring, judging.
 */
#include "query/conditions.h"

#include "analysis/groups.h"
#include "analysis/members.h"
#include "heap/values/text.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Longest target, as long as class names get. */
#define TARGET_MAX 1024
/* Bytes of the fact with all conditions; what is longer is cut. */
#define TEXT_MAX 4096
/* Digits of a number. */
#define DIGITS_MAX 18

enum measure { COUNT, SHALLOW, RETAINED, SUSPECTS };

static const char *const measure_names[] = { "count", "shallow", "retained", "suspects" };

enum operator{ GREATER_EQUAL, LESS_EQUAL, EQUAL, NOT_EQUAL, GREATER, LESS };

/* The longer ones first, for they begin as the shorter ones do. */
static const char *const operator_names[] = { ">=", "<=", "==", "!=", ">", "<" };

struct condition {
	const char *text; /* as it was given */
	enum measure measure;
	enum operator op;
	bool is_growth, is_percent;
	double number;
	char target[TARGET_MAX];
};

/* ---- reading ---- */

struct reader {
	const char *text, *at;
};

static void skip_blanks(struct reader *in)
{
	while (isspace((unsigned char)*in->at))
		in->at++;
}

/* Takes `word` if it is next. */
static bool take(struct reader *in, const char *word)
{
	const size_t size = strlen(word);

	skip_blanks(in);
	if (strncmp(in->at, word, size) != 0)
		return false;
	in->at += size;
	return true;
}

static int wanted(const struct reader *in, const char *what, struct hdb_error *err)
{
	return hdb_fail(err, HDB_EUSAGE, "--fail-if '%s': expected %s at \"%s\"", in->text, what,
			in->at);
}

static int read_measure(struct reader *in, struct condition *c, struct hdb_error *err)
{
	size_t size;

	for (unsigned i = 0; i < sizeof(measure_names) / sizeof(measure_names[0]); i++) {
		const struct reader before = *in;

		if (!take(in, measure_names[i]) || !take(in, "(")) {
			*in = before;
			continue;
		}
		c->measure = (enum measure)i;
		skip_blanks(in);
		size = strcspn(in->at, ")");
		if (!in->at[size])
			return wanted(in, "\")\"", err);
		memcpy(c->target, in->at, size < TARGET_MAX ? size : TARGET_MAX - 1);
		c->target[size < TARGET_MAX ? size : TARGET_MAX - 1] = '\0';
		while (size && isspace((unsigned char)in->at[size - 1]))
			size--;
		if (size >= TARGET_MAX)
			return hdb_fail(err, HDB_EUSAGE,
					"--fail-if: a name is longer than %d bytes",
					TARGET_MAX - 1);
		c->target[size] = '\0';
		if (c->measure == SUSPECTS ? size != 0 : size == 0)
			return wanted(in, size ? "\")\"" : "a class, pattern, loader or object",
				      err);
		in->at += strcspn(in->at, ")") + 1;
		return HDB_OK;
	}
	return wanted(in, "count(...), shallow(...), retained(...), suspects() or growth(...)",
		      err);
}

/* 1 for none, a power of 1,024, or 0 if what follows is no unit. */
static double read_unit(struct reader *in)
{
	static const char units[] = "KMGT";
	const char *unit = *in->at ? strchr(units, toupper((unsigned char)*in->at)) : NULL;
	double factor = 1;

	for (const char *u = units; unit && u <= unit; u++)
		factor *= 1024;
	if (unit) {
		in->at++;
		if (*in->at == 'i')
			in->at++;
	}
	if (*in->at == 'B')
		in->at++;
	return factor;
}

static int read_number(struct reader *in, struct condition *c, struct hdb_error *err)
{
	const char *start;
	double scale = 1;
	bool is_negative;

	is_negative = take(in, "-");
	skip_blanks(in);
	start = in->at;
	while (isdigit((unsigned char)*in->at))
		c->number = c->number * 10 + (*in->at++ - '0');
	if (in->at == start)
		return wanted(in, "a number", err);
	if (in->at - start > DIGITS_MAX)
		return hdb_fail(err, HDB_EUSAGE,
				"--fail-if '%s': the number has more than %d digits", in->text,
				DIGITS_MAX);
	if (*in->at == '.' && isdigit((unsigned char)in->at[1])) {
		for (in->at++; isdigit((unsigned char)*in->at); in->at++) {
			scale /= 10;
			c->number += (*in->at - '0') * scale;
		}
	}
	if (is_negative)
		c->number = -c->number;
	if (take(in, "%"))
		c->is_percent = true;
	else
		c->number *= read_unit(in);
	if (c->is_percent && c->measure == SUSPECTS)
		return hdb_fail(err, HDB_EUSAGE, "--fail-if '%s': suspects() is no percentage",
				in->text);
	return HDB_OK;
}

static int read_condition(const char *text, struct condition *c, struct hdb_error *err)
{
	struct reader in = { .text = text, .at = text };
	bool has_op = false;

	*c = (struct condition){ .text = text };
	c->is_growth = take(&in, "growth");
	if (c->is_growth && !take(&in, "("))
		return wanted(&in, "\"(\"", err);
	TRY_ERRORS(read_measure(&in, c, err));
	if (c->is_growth && !take(&in, ")"))
		return wanted(&in, "\")\"", err);
	if (c->is_growth && c->measure == SUSPECTS)
		return hdb_fail(err, HDB_EUSAGE,
				"--fail-if '%s': suspects() is a matter of growth already", text);
	for (unsigned i = 0; i < sizeof(operator_names) / sizeof(operator_names[0]) && !has_op;
	     i++) {
		has_op = take(&in, operator_names[i]);
		if (has_op)
			c->op = (enum operator)i;
	}
	if (!has_op)
		return wanted(&in, "one of > >= < <= == !=", err);
	TRY(read_number(&in, c, err));
	skip_blanks(&in);
	return *in.at ? wanted(&in, "the end", err) : HDB_OK;
}

static int check(const struct condition *c, size_t side_count, bool has_suspects,
		 struct hdb_error *err)
{
	if (c->is_growth && side_count < 2)
		return hdb_fail(err, HDB_EUSAGE,
				"--fail-if '%s': growth(...) needs two dumps, as diff has them",
				c->text);
	if (c->measure == SUSPECTS && !has_suspects)
		return hdb_fail(err, HDB_EUSAGE,
				"--fail-if '%s': suspects() needs two dumps, as diff has them",
				c->text);
	return HDB_OK;
}

/* Condition number `no` of the query: HDB_OK or HDB_END. */
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

int query_check_conditions(const struct query *q, size_t side_count, bool has_suspects,
			   struct hdb_error *err)
{
	struct condition c;
	size_t no = 0;
	int r;

	while ((r = next_condition(q, &no, &c, err)) == HDB_OK)
		TRY_ERRORS(check(&c, side_count, has_suspects, err));
	return r == HDB_END ? HDB_OK : r;
}

/* ---- measuring ---- */

/* A class or object that a dump lacks has no objects there: that is no error. */
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
	TRY_ERRORS(derive_is_reachable(side->derive, ix, &reachable, err));
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

/* HDB_END: the dump has no such class or object. */
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
	/* What it took is given back before another dump is measured. */
	base_work_release(side->work);
	return r == HDB_NOTFOUND ? forget(err) : r;
}

static bool holds(const struct condition *c, double value)
{
	switch (c->op) {
	case GREATER_EQUAL:
		return value >= c->number;
	case LESS_EQUAL:
		return value <= c->number;
	case EQUAL:
		return fabs(value - c->number) < 0.5 / (c->is_percent ? 1e6 : 1);
	case NOT_EQUAL:
		return fabs(value - c->number) >= 0.5 / (c->is_percent ? 1e6 : 1);
	case GREATER:
		return value > c->number;
	case LESS:
		return value < c->number;
	}
	return false;
}

/* All of what the condition measures that the dump has. */
static int whole(const struct session *side, const struct condition *c, uint64_t *out,
		 struct hdb_error *err)
{
	struct derive_total total = { 0 };
	const int r = analysis_heap_total(side, &total, err);

	*out = c->measure == COUNT ? total.count : total.shallow_bytes;
	return r;
}

/* What conditions are about. */
struct judged {
	const struct session *first, *last; /* the oldest dump and the newest, which may be one */
	uint64_t suspect_count;             /* if a condition has asked for it */
};

/* What a condition compares, and what that is made of. */
struct finding {
	double value;
	char text[96];
	bool is_unknown; /* no dump that was measured has such a class or object */
};

static int find_value(const struct judged *j, const struct condition *c, struct finding *out,
		      struct hdb_error *err)
{
	uint64_t now = j->suspect_count, before = 0, all = 0;
	char *text = out->text;
	const size_t size = sizeof(out->text);
	int r;

	assert(j->first && j->last);
	*out = (struct finding){ 0 };
	if (c->measure != SUSPECTS) {
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
	if (c->is_growth)
		(void)snprintf(text, size, "was %" PRIu64 ", is %" PRIu64, before, now);
	else if (c->is_percent)
		(void)snprintf(text, size, "is %" PRIu64 " of %" PRIu64, now, all);
	else
		(void)snprintf(text, size, "is %" PRIu64, now);
	return HDB_OK;
}

int query_judge(struct query *q, const struct session *sides, size_t side_count,
		int (*suspects)(struct query *q, uint64_t *count, struct hdb_error *err),
		struct hdb_error *err)
{
	struct judged judged = { .first = &sides[0], .last = &sides[side_count - 1] };
	uint64_t failed = 0, unknown = 0;
	char list[TEXT_MAX] = "", clean[TEXT_MAX];
	size_t no = 0, used = 0;
	struct condition c;
	struct finding found;
	int r = query_check_conditions(q, side_count, suspects != NULL, err);

	if (r < 0 || !query_option(q, "fail-if"))
		return r;
	while ((r = next_condition(q, &no, &c, err)) == HDB_OK) {
		if (c.measure == SUSPECTS)
			r = suspects(q, &judged.suspect_count, err);
		if (r < 0 || (r = find_value(&judged, &c, &found, err)) < 0)
			return r;
		failed += holds(&c, found.value);
		unknown += found.is_unknown;
		if (used < sizeof(list))
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s: %s: %s%s",
						 used ? "; " : "", c.text, found.text,
						 holds(&c, found.value) ? "holds" : "does not hold",
						 found.is_unknown ? " (nothing is named so)" : "");
	}
	if (r == HDB_END)
		query_fact(q, "failed", failed);
	if (r < 0)
		return r;
	if (unknown)
		query_fact(q, "unknown", unknown);
	if (used >= sizeof(list))
		memcpy(list + sizeof(list) - 4, "...", 4);
	/* What was typed may be no UTF-8, and the cut may be anywhere. */
	(void)heap_clean_text(list, strlen(list), clean, sizeof(clean));
	query_fact_text(q, "conditions", clean);
	return HDB_OK;
}
