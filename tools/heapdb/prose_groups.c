/*
 * heapdb/prose_groups.c - groups by key, and the table of them.
 */
#include "heapdb/prose_groups.h"

#include "common/grow.h"
#include "heapdb/prose.h"

#include <stdlib.h>
#include <string.h>

/* FNV-1a. */
uint64_t prose_hash(uint64_t key, const struct hdb_value *text)
{
	key ^= 0xcbf29ce484222325;
	for (size_t i = 0; has_value(text) && i < text->text_size; i++)
		key = (key ^ (unsigned char)text->text[i]) * 0x100000001b3;
	return (key ^ 0xff) * 0x100000001b3;
}

void prose_set(struct bytes *to, const struct hdb_value *value)
{
	to->size = 0;
	if (has_value(value))
		bytes_add(to, value->text, value->text_size);
}

struct prose_group *prose_groups_find(struct prose_groups *groups, uint64_t key)
{
	for (size_t i = 0; i < groups->count; i++)
		if (groups->items[i].key == key)
			return &groups->items[i];
	if (groups->count == groups->room && !GROW(groups->items, groups->room))
		return NULL;
	groups->items[groups->count] = (struct prose_group){ .key = key };
	return &groups->items[groups->count++];
}

void prose_groups_release(struct prose_groups *groups, struct output *out)
{
	for (size_t i = 0; i < groups->count; i++)
		for (size_t k = 0; k < PROSE_TEXTS; k++)
			output_release(out, &groups->items[i].text[k]);
	free(groups->items);
	*groups = (struct prose_groups){ 0 };
}

static int compare(const void *a, const void *b)
{
	const struct prose_group *x = a, *y = b;

	if (x->retained != y->retained)
		return x->retained > y->retained ? -1 : 1;
	if (x->shallow != y->shallow)
		return x->shallow > y->shallow ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Rows of a table: groups in order. */
struct source {
	const struct prose_groups *groups;
	size_t next;
	struct hdb_value value;
};

static const struct hdb_column *column_of(void *ctx, size_t column)
{
	return &((const struct source *)ctx)->groups->columns[column].column;
}

static int next_row(void *ctx, struct hdb_error *err)
{
	struct source *s = ctx;

	(void)err;
	return s->next++ < s->groups->count ? HDB_OK : HDB_END;
}

static const struct hdb_value *value_of(void *ctx, size_t column)
{
	struct source *s = ctx;
	const struct prose_group *g = &s->groups->items[s->next - 1];
	const struct prose_column *c = &s->groups->columns[column];
	bool is_there = true;

	s->value = (struct hdb_value){ .u = g->shallow };
	if (c->source < PROSE_SHALLOW) {
		is_there = g->text[c->source].size > 0;
		s->value.text = g->text[c->source].data;
		s->value.text_size = g->text[c->source].size;
	} else if (c->source == PROSE_RETAINED) {
		is_there = g->has_retained;
		s->value.u = g->retained;
	} else if (c->source == PROSE_ID) {
		is_there = g->count == 1 && g->id;
		s->value.u = g->id;
	}
	s->value.type = is_there ? c->column.type : HDB_TYPE_NULL;
	return &s->value;
}

int prose_groups_table(const struct answer *answer, struct prose_groups *groups,
		       const struct render_style *style, struct output *out)
{
	struct source s = { .groups = groups };
	const struct row_source source = {
		.ctx = &s,
		.count = groups->column_count,
		.column = column_of,
		.next = next_row,
		.value = value_of,
		.row_count = groups->count,
	};
	struct answer table = *answer;

	if (groups->count > 0)
		qsort(groups->items, groups->count, sizeof(groups->items[0]), compare);
	table.source = &source;
	table.limit = style->parts;
	table.row_count = 0;
	table.picked = NULL;
	return render_table(&table, style, out);
}
