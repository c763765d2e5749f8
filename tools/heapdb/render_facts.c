/*
 * heapdb/render_facts.c - prints the facts of an answer around a table: the dump's health and the
 * headline above, totals and omitted rows below.
 */
#include "heapdb/prose.h"
#include "heapdb/render.h"

#include <math.h>

#define HEALTH "stale|incomplete|redacted"
/* Facts that are printed as sentences. */
#define IN_SENTENCES \
	"counted|unreachable_objects|unreachable_shallow|cut|cut_rows|cut_objects|cut_bytes|note|" \
	"no_rows|measured|reference"

static bool says_nothing(const struct hdb_value *value)
{
	switch (value->type) {
	case HDB_TYPE_COUNT:
	case HDB_TYPE_BYTES:
		return value->u == 0;
	case HDB_TYPE_INT:
		return value->i == 0;
	case HDB_TYPE_DOUBLE:
	case HDB_TYPE_PERCENT:
		return !(fabs(value->d) > 0);
	case HDB_TYPE_TEXT:
		return value->text_size == 0;
	case HDB_TYPE_ID:
	case HDB_TYPE_BOOL:
		return false;
	case HDB_TYPE_NULL:
		break;
	}
	return true;
}

/*
 * Returns whether the facts describe the target itself: the target is a single object or class, or
 * there are no rows.
 */
static bool has_headline(const struct answer *answer)
{
	const struct hdb_query_spec *spec = answer->rows ? hdb_query_named(answer->name) : NULL;

	return !answer->rows || (spec && spec->target_min == 1 && spec->target_max == 1);
}

static bool is_above(const struct answer *answer, size_t fact)
{
	const char *name = answer_fact_column(answer, fact)->name;
	const struct hdb_value *value = answer_fact_value(answer, fact);

	if (value->type == HDB_TYPE_NULL)
		return false;
	return is_among(name, HEALTH) || !answer->rows ||
	       (has_headline(answer) && !is_among(name, IN_SENTENCES) && !says_nothing(value));
}

/* Appends "title: value", unescaped. */
static void add_fact(struct bytes *to, const struct answer *answer, size_t fact,
		     const struct render_style *style)
{
	const char *title = column_title(answer_fact_column(answer, fact));
	const struct hdb_value *value = answer_fact_value(answer, fact);

	bytes_string(to, title);
	bytes_add(to, ": ", 2);
	if (value->type == HDB_TYPE_TEXT)
		prose_add_text(to, value);
	else
		column_for_people(answer_fact_column(answer, fact), value, style, to);
}

/*
 * Returns the fact whose name is the name of the row plus a suffix, such as "heap_objects_before"
 * for "heap_objects". Returns NULL if there is no such fact.
 */
static const struct hdb_value *relative(const struct answer *answer, const char *name,
					const char *ending)
{
	char other[96];

	snprintf(other, sizeof(other), "%s%s", name, ending);
	return answer_fact(answer, other);
}

/* Returns whether the fact is printed together with its earlier or later value. */
static bool is_part(const struct answer *answer, const char *name)
{
	const char *end = strrchr(name, '_');
	char base[80];

	if (!end || (strcmp(end, "_before") != 0 && strcmp(end, "_delta") != 0))
		return false;
	snprintf(base, sizeof(base), "%.*s", (int)(end - name), name);
	return has_value(answer_fact(answer, base)) && has_value(relative(answer, base, "_before"));
}

/* Appends "reachable bytes: 1.0 MiB -> 1.8 MiB (+742.1 KiB)". */
static void add_growth(struct bytes *to, const struct answer *answer, size_t fact,
		       const struct render_style *style)
{
	const struct hdb_column *column = answer_fact_column(answer, fact);
	const struct hdb_value *delta = relative(answer, column->name, "_delta");
	const struct hdb_column grew = { .name = "_delta" };

	bytes_string(to, column_title(column));
	bytes_add(to, ": ", 2);
	value_for_people(relative(answer, column->name, "_before"), style, to);
	bytes_add(to, " -> ", 4);
	value_for_people(answer_fact_value(answer, fact), style, to);
	if (!has_value(delta) || says_nothing(delta))
		return;
	bytes_add(to, " (", 2);
	column_for_people(&grew, delta, style, to);
	bytes_add(to, ")", 1);
}

/* Prints a paragraph; continuation lines are indented. */
static void put_lines(struct output *out, const struct render_style *style,
		      const struct bytes *text)
{
	if (text->size > 0)
		prose_wrap(out, style, (struct prose_place){ 2, 1 }, text->data, text->size);
}

void facts_above(struct answer *answer, const struct render_style *style, struct output *out)
{
	struct bytes text = { 0 }, line = { 0 };
	bool is_any = false;

	for (size_t i = 0; i < answer_fact_count(answer); i++) {
		/* text output has already printed the dump's health */
		if (!is_above(answer, i) ||
		    (style->as_text && is_among(answer_fact_column(answer, i)->name, HEALTH)))
			continue;
		text.size = 0;
		add_fact(&text, answer, i, style);
		if (style->width > 0) {
			put_lines(out, style, &text);
		} else {
			escape_text(&line, text.data, text.size);
			bytes_add(&line, "\n", 1);
		}
		is_any = true;
	}
	output_bytes(out, line.data ? line.data : "", line.size);
	if (is_any && answer_column_count(answer) > 0)
		output_char(out, '\n');
	output_release(out, &line);
	output_release(out, &text);
}

/* Appends ", 25" from the fact. Returns the value, or NULL if there is nothing to append. */
static const struct hdb_value *add_number(struct bytes *to, const struct answer *answer,
					  const char *fact, const struct render_style *style)
{
	const struct hdb_value *value = answer_fact(answer, fact);

	if (!has_value(value) || says_nothing(value))
		return NULL;
	bytes_add(to, to->size ? ", " : "", to->size ? 2 : 0);
	value_for_people(value, style, to);
	return value;
}

/* Appends ", 25 rows". The name of the fact ends with the unit. */
static void add_count(struct bytes *to, const struct answer *answer, const char *fact,
		      const struct render_style *style)
{
	const struct hdb_value *value = add_number(to, answer, fact, style);
	const char *unit = strrchr(fact, '_');

	if (!value || value->type != HDB_TYPE_COUNT)
		return;
	bytes_add(to, " ", 1);
	bytes_add(to, unit + 1, strlen(unit + 1) - (value->u == 1));
}

void facts_cut(const struct answer *answer, const struct render_style *style, struct bytes *to)
{
	const struct hdb_value *why = answer_fact(answer, "cut");
	struct bytes numbers = { 0 };

	if (!has_value(why))
		return;
	add_count(&numbers, answer, "cut_rows", style);
	add_count(&numbers, answer, "cut_objects", style);
	add_count(&numbers, answer, "cut_bytes", style);
	bytes_add(to, "left out: ", 10);
	bytes_add(to, why->text, why->text_size);
	if (numbers.size) {
		bytes_add(to, " (", 2);
		bytes_add(to, numbers.data, numbers.size);
		bytes_add(to, ")", 1);
	}
	to->failed |= numbers.failed;
	bytes_release(&numbers);
}

/* If only reachable objects were counted, appends the number of unreachable objects. */
static void add_population(struct bytes *to, const struct answer *answer,
			   const struct render_style *style)
{
	const struct hdb_value *counted = answer_fact(answer, "counted");
	const struct hdb_value *bytes = answer_fact(answer, "unreachable_shallow");
	struct bytes numbers = { 0 };
	const struct hdb_value *objects =
		add_number(&numbers, answer, "unreachable_objects", style);

	if (has_value(counted) && (counted->text_size != strlen("reachable") ||
				   memcmp(counted->text, "reachable", counted->text_size) != 0)) {
		bytes_add(to, "counted: ", 9);
		bytes_add(to, counted->text, counted->text_size);
	} else if (objects) {
		bytes_add(to, "not counted: ", 13);
		bytes_add(to, numbers.data, numbers.size);
		bytes_format(to, " unreachable object%s, ", objects->u == 1 ? "" : "s");
		value_for_people(bytes, style, to);
	}
	to->failed |= numbers.failed;
	bytes_release(&numbers);
}

/* Prints the paragraph, if any, and clears it. */
static void put_paragraph(struct output *out, const struct render_style *style, struct bytes *text)
{
	put_lines(out, style, text);
	text->size = 0;
}

void facts_below(struct answer *answer, const struct render_style *style, struct output *out)
{
	const struct hdb_value *note = answer_fact(answer, "note");
	struct bytes text = { 0 };

	for (size_t i = 0; i < answer_fact_count(answer); i++) {
		const char *name = answer_fact_column(answer, i)->name;

		if (is_above(answer, i) || says_nothing(answer_fact_value(answer, i)) ||
		    is_among(name, IN_SENTENCES) || is_part(answer, name))
			continue;
		bytes_add(&text, "; ", text.size ? 2 : 0);
		(has_value(relative(answer, name, "_before")) ? add_growth :
								add_fact)(&text, answer, i, style);
	}
	put_paragraph(out, style, &text);
	add_population(&text, answer, style);
	put_paragraph(out, style, &text);
	facts_cut(answer, style, &text);
	put_paragraph(out, style, &text);
	if (has_value(note) && answer->row_count > 0) {
		bytes_add(&text, "note: ", 6);
		bytes_add(&text, note->text, note->text_size);
		put_paragraph(out, style, &text);
	}
	output_release(out, &text);
}
