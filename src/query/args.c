/* query/args.c - reads the arguments of a query: options, and targets (objects and classes). */
#include "query/query.h"

#include "query/object_columns.h"

#include "analysis/targets.h"
#include "base/base_text.h"
#include "base/glob.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct hdb_option_spec query_no_options[] = { { .name = NULL } };

/* ---- checks ---- */

struct option_list {
	char text[512];
	size_t used;
};

static void add_to_list(struct option_list *list, const struct hdb_option_spec *o)
{
	if (list->used < sizeof(list->text))
		list->used +=
			(size_t)snprintf(list->text + list->used, sizeof(list->text) - list->used,
					 "%s--%s%s%s", list->used ? ", " : "", o->name,
					 o->argument ? " " : "", o->argument ? o->argument : "");
}

static int unknown_option(const struct query_def *def, const char *name, struct hdb_error *err)
{
	struct option_list list = { .used = 0 };
	const struct hdb_option_spec *o;

	if (def->spec.one_population &&
	    (strcmp(name, "unreachable") == 0 || strcmp(name, "all") == 0))
		return hdb_fail(err, HDB_EUSAGE, "%s has no option --%s: %s", def->spec.name, name,
				def->spec.one_population);
	for (o = def->spec.options; o->name; o++)
		add_to_list(&list, o);
	for (unsigned i = 0; (o = query_shared_option(def, i)) != NULL; i++)
		add_to_list(&list, o);
	if (!list.used)
		return hdb_fail(err, HDB_EUSAGE,
				"unknown option --%s: %s has no options of its own", name,
				def->spec.name);
	return hdb_fail(err, HDB_EUSAGE, "%s has no option --%s; available options: %s",
			def->spec.name, name, list.text);
}

static int bad_choice(const struct hdb_option_spec *o, const char *value, struct hdb_error *err)
{
	char list[256];
	size_t used = 0;

	for (const char *p = o->argument; *p && used + 3 < sizeof(list); p++) {
		list[used++] = *p == '|' ? ',' : *p;
		if (*p == '|')
			list[used++] = ' ';
	}
	list[used] = '\0';
	return hdb_fail(err, HDB_EUSAGE, "--%s must be one of %s, not \"%s\"", o->name, list,
			value);
}

/* Parses a number in the option's unit. */
static bool read_number(const struct hdb_option_spec *o, const char *text, uint64_t *out)
{
	const bool is_bytes = o->unit && strcmp(o->unit, "bytes") == 0;

	return base_read_number(text, is_bytes, out) && *out >= o->low && *out <= o->high;
}

/*
 * Fails with a message that states the valid range: "must be a number of bytes, 1 or more", "must
 * be a percentage from 1 to 100".
 */
static int bad_number(const struct hdb_option_spec *o, const char *value, struct hdb_error *err)
{
	const bool is_percent = o->unit && strcmp(o->unit, "percent") == 0;
	char range[64] = "";

	if (o->high < INT64_MAX)
		(void)snprintf(range, sizeof(range), " from %" PRIu64 " to %" PRIu64, o->low,
			       o->high);
	else if (o->low)
		(void)snprintf(range, sizeof(range), ", %" PRIu64 " or more", o->low);
	return hdb_fail(err, HDB_EUSAGE, "--%s must be a %s%s%s%s, not \"%s\"", o->name,
			is_percent ? "percentage" : "number", o->unit && !is_percent ? " of " : "",
			o->unit && !is_percent ? o->unit : "", range, value);
}

const struct hdb_option_spec *query_find_option(const struct query_def *def, const char *name)
{
	const struct hdb_option_spec *o = def->spec.options;

	for (; o->name; o++)
		if (strcmp(o->name, name) == 0)
			return o;
	for (unsigned i = 0; (o = query_shared_option(def, i)) != NULL; i++)
		if (strcmp(o->name, name) == 0)
			return o;
	return NULL;
}

const char *query_default(const struct query *q, const char *name)
{
	const struct hdb_option_spec *o = query_find_option(q->def, name);

	return o ? o->default_value : NULL;
}

static int check_option(const struct query_def *def, const struct hdb_option *option,
			struct hdb_error *err)
{
	const struct hdb_option_spec *o = query_find_option(def, option->name);
	const char *value = option->value ? option->value : "";
	uint64_t number;

	if (!o)
		return unknown_option(def, option->name, err);
	if (o->type == HDB_OPTION_FLAG)
		return !*value ? HDB_OK :
				 hdb_fail(err, HDB_EUSAGE, "--%s takes no value (got \"%s\")",
					  o->name, value);
	if (!*value)
		return hdb_fail(err, HDB_EUSAGE, "--%s requires a value: %s", o->name, o->argument);
	if (o->type == HDB_OPTION_CHOICE && !base_is_among(o->argument, value))
		return bad_choice(o, value, err);
	if (o->type == HDB_OPTION_NUMBER && !read_number(o, value, &number))
		return bad_number(o, value, err);
	return o->type == HDB_OPTION_OBJECT ? analysis_check_object(value, err) : HDB_OK;
}

static int check_targets(const struct query *q, struct hdb_error *err)
{
	const struct hdb_query_spec *spec = &q->def->spec;

	if (q->target_count >= spec->target_min && q->target_count <= spec->target_max)
		return HDB_OK;
	if (spec->target_max == 0)
		return hdb_fail(err, HDB_EUSAGE, "%s takes no arguments", spec->name);
	if (q->target_count < spec->target_min)
		return hdb_fail(err, HDB_EUSAGE, "missing argument: %s", spec->targets);
	return hdb_fail(err, HDB_EUSAGE, "%s takes at most %u argument%s: %s", spec->name,
			spec->target_max, spec->target_max == 1 ? "" : "s", spec->targets);
}

/* Size of an ID's text, including the terminator. */
#define ID_TEXT 19

/*
 * Collects the targets given as strings, then the targets given as numbers, which are converted to
 * strings.
 */
static int gather_targets(struct query *q, struct hdb_error *err)
{
	const struct hdb_query_args *args = &q->args;

	if (args->id_count > SIZE_MAX / ID_TEXT - args->target_count - 1)
		return hdb_fail(err, HDB_EUSAGE, "too many objects requested");
	q->targets = calloc(args->target_count + args->id_count + 1, sizeof(*q->targets));
	q->id_texts = calloc(args->id_count + 1, ID_TEXT);
	if (!q->targets || !q->id_texts)
		return hdb_fail_memory(err, "targets", args->target_count + args->id_count);
	for (size_t i = 0; i < args->target_count; i++)
		q->targets[q->target_count++] = args->targets[i];
	for (size_t i = 0; i < args->id_count; i++) {
		char *text = q->id_texts + i * ID_TEXT;

		(void)snprintf(text, ID_TEXT, "0x%" PRIx64, args->ids[i]);
		q->targets[q->target_count++] = text;
	}
	return HDB_OK;
}

int query_read_args(struct query *q, struct hdb_error *err)
{
	for (size_t i = 0; i < q->args.option_count; i++)
		TRY(check_option(q->def, &q->args.options[i], err));
	TRY(gather_targets(q, err));
	return check_targets(q, err);
}

/* ---- values ---- */

const char *query_option(const struct query *q, const char *name)
{
	const char *value = NULL;

	/* The last value of a repeated option wins, as is usual on command lines. */
	for (size_t i = 0; i < q->args.option_count; i++) {
		const struct hdb_option *option = &q->args.options[i];

		if (strcmp(option->name, name) == 0)
			value = option->value ? option->value : "";
	}
	return value;
}

const char *query_text(const struct query *q, const char *name)
{
	const char *value = query_option(q, name);
	const struct hdb_option_spec *o = query_find_option(q->def, name);

	return value ? value : o ? o->default_value : NULL;
}

uint64_t query_number(const struct query *q, const char *name, uint64_t fallback)
{
	const struct hdb_option_spec *o = query_find_option(q->def, name);
	const char *text = query_text(q, name);
	uint64_t value;

	return o && text && read_number(o, text, &value) ? value : fallback;
}

unsigned query_choice(const struct query *q, const char *name)
{
	const struct hdb_option_spec *o = query_find_option(q->def, name);
	const char *text = query_text(q, name);
	const size_t size = text ? strlen(text) : 0;
	unsigned place = 0;

	for (const char *word = o && text ? o->argument : ""; *word; place++) {
		const size_t n = strcspn(word, "|");

		if (n == size && memcmp(word, text, n) == 0)
			return place;
		word += n + (word[n] == '|');
	}
	return QUERY_NO_CHOICE;
}
