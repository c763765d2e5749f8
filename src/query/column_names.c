/*
 * query/column_names.c - collects the distinct strings of a text column, so that the column can
 * store indexes instead of strings.
 */
#include "base/scope.h"
#include "base/sort.h"
#include "query/query.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Maximum total size of a column's names. Readers of columns use 31-bit offsets. */
#define NAMES_MAX (1u << 30)

struct entry {
	const char *text;
	uint32_t no;
};

BASE_ORDER(compare, struct entry, BASE_BY_TEXT(text))

void query_set_names(struct query *q, size_t column, const struct query_name_set *set)
{
	const size_t columns = q->def->spec.column_count;
	BASE_FREED struct entry *entries = NULL;
	struct query_names *names;
	struct hdb_error why;
	int r = BASE_ALLOC(entries, set->count, "names", &why);

	assert(column < columns && q->def->spec.columns[column].type == HDB_TYPE_TEXT);
	if (!q->names)
		q->names = calloc(columns + 1, sizeof(*q->names));
	if (r == HDB_OK && !q->names)
		r = hdb_fail_memory(&why, "names", columns * sizeof(*q->names));
	if (r < 0) {
		query_fail(q, r, &why);
		return;
	}
	names = &q->names[column];
	assert(!names->texts);
	names->texts = calloc((size_t)set->count + 1, sizeof(*names->texts));
	names->sizes = calloc((size_t)set->count + 1, sizeof(*names->sizes));
	if (!names->texts || !names->sizes) {
		query_fail(q, hdb_fail_memory(&why, "names", set->count * sizeof(*names->texts)),
			   &why);
		return;
	}
	for (uint32_t i = 0; i < set->count; i++)
		entries[i] = (struct entry){ set->texts[i], i };
	qsort(entries, set->count, sizeof(*entries), compare);
	for (uint32_t i = 0; i < set->count; i++) {
		if (i == 0 || strcmp(entries[i].text, entries[i - 1].text) != 0) {
			const size_t size = strlen(entries[i].text);

			if (size > NAMES_MAX - names->bytes) {
				free(names->texts);
				free(names->sizes);
				*names = (struct query_names){ 0 };
				return;
			}
			names->bytes += size;
			names->sizes[names->count] = (uint32_t)size;
			names->texts[names->count++] = entries[i].text;
		}
		set->codes[entries[i].no] = names->count - 1;
	}
}
