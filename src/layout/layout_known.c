/*
 * layout/layout_known.c - looks up the classes that HotSpot treats specially.
 */
#include "layout/layout_known.h"

#include "base/table.h"
#include "base/search.h"

#include <string.h>

/* The meanings of a row of the table. */
enum what {
	SINCE,  /* the class exists from this version on */
	INJECT, /* a field of this type is injected */
	CONTENDED_CLASS,
	CONTENDED_FIELD,  /* all @Contended fields of a class are in one named group */
	REFERENCES_FIRST, /* fixed order */
	STACK_CHUNK,
	MIRROR,
	STRING,
	VERSION,
	/* a synthetic field that ART's dumps list although objects do not contain it */
	MADE_UP
};

/* Type of an injected field of pointer size. */
#define POINTER 0xffu
#define BOOLEAN 4u
#define BYTE 8u
#define SHORT 9u
#define INT 10u
#define LONG 11u
/* Value of `until` in a row that applies to all later versions. */
#define EVER 255u

struct row {
	const char *class_name;
	const char *field; /* or NULL */
	uint8_t what;      /* enum what */
	uint8_t type;
	uint8_t since, until; /* feature versions, both inclusive */
};

#define CLASS(name, what, since, until) \
	{ \
		name, NULL, what, 0, since, until \
	}
#define FIELD(...) \
	{ \
		__VA_ARGS__ \
	}
static const struct row rows[] = {
#include <layout/layout_known.rows.h>
};

#define ROWS BASE_COUNT(rows)

unsigned layout_known(const char *class_name)
{
	struct base_search search = base_search_in(ROWS);

	while (base_search_next(&search))
		base_search_step(&search, strcmp(rows[search.mid].class_name, class_name) < 0);
	return search.low < ROWS && strcmp(rows[search.low].class_name, class_name) == 0 ?
		       (unsigned)search.low + 1 :
		       LAYOUT_UNKNOWN;
}

/* Returns the next row of a known class, from *at on, that applies to this version, or NULL. */
static const struct row *next_row(const struct layout_model *model, unsigned known, size_t *at)
{
	const unsigned java = model && model->java ? model->java : EVER;

	if (known == LAYOUT_UNKNOWN || known > ROWS)
		return NULL;
	while (known - 1 + *at < ROWS) {
		const struct row *row = &rows[known - 1 + (*at)++];

		if (strcmp(row->class_name, rows[known - 1].class_name) != 0)
			return NULL;
		if (!model || (java >= row->since && java <= row->until))
			return row;
	}
	return NULL;
}

static bool has(const struct layout_model *model, unsigned known, enum what what)
{
	const struct row *row;
	size_t at = 0;

	while ((row = next_row(model, known, &at)))
		if (row->what == (uint8_t)what)
			return true;
	return false;
}

void layout_known_traits(const struct layout_model *model, unsigned known,
			 struct layout_traits *out)
{
	out->is_contended = model->contended_bytes && has(model, known, CONTENDED_CLASS);
	out->references_first = has(model, known, REFERENCES_FIRST);
}

uint8_t layout_known_group(const struct layout_model *model, unsigned known, const char *field_name)
{
	const struct row *row;
	size_t at = 0;

	while (model->contended_bytes && (row = next_row(model, known, &at)))
		if (row->what == CONTENDED_FIELD && strcmp(row->field, field_name) == 0)
			return LAYOUT_GROUP_NAMED;
	return LAYOUT_GROUP_NONE;
}

bool layout_known_names_fields(unsigned known)
{
	return has(NULL, known, CONTENDED_FIELD);
}

bool layout_known_may_contend(unsigned known)
{
	return has(NULL, known, CONTENDED_CLASS) || has(NULL, known, CONTENDED_FIELD);
}

size_t layout_known_injected(const struct layout_model *model, unsigned known,
			     struct layout_field *out, const char **names)
{
	const struct row *row;
	size_t at = 0, count = 0;

	if (model->rules == LAYOUT_ART)
		return 0;
	while (count < LAYOUT_INJECTED_MAX && (row = next_row(model, known, &at))) {
		if (row->what != INJECT)
			continue;
		if (names)
			names[count] = row->field;
		out[count++] = (struct layout_field){
			.type = row->type != POINTER   ? row->type :
				model->word_bytes == 8 ? LONG :
							 INT,
		};
	}
	return count;
}

bool layout_known_is_stack_chunk(unsigned known)
{
	return has(NULL, known, STACK_CHUNK);
}

bool layout_known_is_string(unsigned known)
{
	return has(NULL, known, STRING);
}

bool layout_known_is_made_up(unsigned known, const char *field_name)
{
	const struct row *row;
	size_t at = 0;

	while ((row = next_row(NULL, known, &at)))
		if (row->what == MADE_UP && strcmp(row->field, field_name) == 0)
			return true;
	return false;
}

bool layout_known_has_version(unsigned known)
{
	return has(NULL, known, VERSION);
}

unsigned layout_known_since(unsigned known)
{
	const struct row *row;
	size_t at = 0;

	while ((row = next_row(NULL, known, &at)))
		if (row->what == SINCE)
			return row->since;
	return 0;
}
