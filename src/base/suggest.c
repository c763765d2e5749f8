/*
 * base/suggest.c - implements suggest.h. Compares by edit distance.
 */
#include "base/suggest.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* Maximum length of a word that is considered a typing error. */
#define NAME_MAX_SIZE 100
/* A class name is suggested only if it differs in fewer letters than this. */
#define CLASS_CHANGES ((size_t)4)

void base_suggest_init(struct base_suggest *s, const char *wanted, size_t size)
{
	*s = (struct base_suggest){ .wanted = wanted,
				    .size = size,
				    .distance = size < 3 ? 2 : size / 3 + 1 };
}

static size_t least(size_t a, size_t b, size_t c)
{
	const size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/*
 * Returns the number of letters to insert, delete, replace or swap to turn one name into the other.
 */
static size_t edit_distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
	size_t rows[3][NAME_MAX_SIZE + 1];

	assert(a_size <= NAME_MAX_SIZE);
	assert(b_size <= NAME_MAX_SIZE);
	for (size_t j = 0; j <= b_size; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= a_size; i++) {
		size_t *row = rows[i % 3];
		const size_t *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= b_size; j++) {
			row[j] = least(above[j] + 1, row[j - 1] + 1,
				       above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], two_above[j - 2] + 1, SIZE_MAX);
		}
	}
	return rows[a_size % 3][b_size];
}

void base_suggest_try(struct base_suggest *s, const char *name)
{
	const size_t size = strlen(name);
	size_t distance;

	if (size > NAME_MAX_SIZE || s->size > NAME_MAX_SIZE || s->size == 0 ||
	    size >= s->size + s->distance || s->size >= size + s->distance)
		return;
	distance = edit_distance(s->wanted, s->size, name, size);
	if (distance < s->distance && distance < size) {
		s->distance = distance;
		s->best = name;
	}
}

static const char *class_ending(const struct base_suggest_names *names, const char *wanted)
{
	const size_t size = strlen(wanted);

	for (uint32_t no = 0; size && no < names->count; no++) {
		const char *name = names->name(names->ctx, no);
		const size_t name_size = strlen(name);

		if (name_size >= size && strcasecmp(name + name_size - size, wanted) == 0 &&
		    (name_size == size || strchr(".$", name[name_size - size - 1])))
			return name;
	}
	return NULL;
}

/*
 * Returns the class whose name is nearest. If is_simple is set, compares names without their
 * packages.
 */
static const char *class_near(const struct base_suggest_names *names, const char *wanted,
			      bool is_simple)
{
	const char *class = NULL;
	struct base_suggest s;

	base_suggest_init(&s, wanted, strlen(wanted));
	s.distance = s.distance < CLASS_CHANGES ? s.distance : CLASS_CHANGES;
	for (uint32_t no = 0; no < names->count; no++) {
		const char *name = names->name(names->ctx, no);
		const char *dot = is_simple ? strrchr(name, '.') : NULL;
		const size_t before = s.distance;

		base_suggest_try(&s, dot ? dot + 1 : name);
		class = s.distance < before ? name : class;
	}
	return class;
}

const char *base_suggest_class(const char *wanted, const struct base_suggest_names *names)
{
	const char *dot = strrchr(wanted, '.');
	const char *found = class_ending(names, wanted);

	if (!found && dot)
		found = class_ending(names, dot + 1);
	return found ? found : class_near(names, wanted, !dot);
}

int base_word_index(const char *word, const char *words)
{
	const size_t size = strlen(word);
	int index = 0;

	for (const char *w = words; *w; w += strcspn(w, "|"), w += *w == '|', index++) {
		if (strcspn(w, "|") == size && memcmp(w, word, size) == 0)
			return index;
	}
	return -1;
}
