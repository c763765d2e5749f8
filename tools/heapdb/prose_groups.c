/*
 * heapdb/prose_groups.c - groups rows by key and prints them as a table.
 */
#include "heapdb/prose_groups.h"
#include "base/sort.h"

#include "heapdb/prose.h"

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
	if (base_vec_reserve(&groups->vec, 1, sizeof(groups->items[0]), NULL) < 0)
		return NULL;
	groups->items[groups->count] = (struct prose_group){ .key = key };
	return &groups->items[groups->count++];
}

void prose_groups_release(struct prose_groups *groups, struct output *out)
{
	for (size_t i = 0; i < groups->count; i++)
		for (size_t k = 0; k < PROSE_TEXTS; k++)
			output_release(out, &groups->items[i].text[k]);
	base_vec_release(&groups->vec);
	*groups = (struct prose_groups){ 0 };
}

BASE_ORDER(compare, struct prose_group, BASE_DOWN(retained), BASE_DOWN(shallow), BASE_UP(id))

#define COLUMNS_MAX 8

/* Row source: the groups in order. */
struct source {
	const struct prose_groups *groups;
	size_t next;
	struct hdb_value cells[COLUMNS_MAX];
};

static struct hdb_value value_of(const struct prose_group *g, const struct prose_column *c)
{
	struct hdb_value value = { .u = g->shallow };
	bool is_there = true;

	if (c->source < PROSE_SHALLOW) {
		is_there = g->text[c->source].size > 0;
		value.text = g->text[c->source].data;
		value.text_size = g->text[c->source].size;
	} else if (c->source == PROSE_RETAINED) {
		is_there = g->has_retained;
		value.u = g->retained;
	} else if (c->source == PROSE_ID) {
		is_there = g->count == 1 && g->id;
		value.u = g->id;
	}
	value.type = is_there ? c->column.type : HDB_TYPE_NULL;
	return value;
}

static int next_row(void *ctx, struct hdb_error *err)
{
	struct source *s = ctx;

	(void)err;
	if (s->next == s->groups->count)
		return HDB_END;
	for (size_t i = 0; i < s->groups->column_count; i++)
		s->cells[i] = value_of(&s->groups->items[s->next], &s->groups->columns[i]);
	s->next++;
	return HDB_OK;
}

int prose_groups_table(const struct answer *answer, struct prose_groups *groups,
		       const struct render_style *style, struct output *out)
{
	struct hdb_column columns[COLUMNS_MAX];
	struct source s = { .groups = groups };
	const struct row_source source = {
		.ctx = &s,
		.count = groups->column_count,
		.columns = columns,
		.cells = s.cells,
		.next = next_row,
		.row_count = groups->count,
	};
	struct answer table = *answer;

	assert(groups->column_count <= COLUMNS_MAX);
	for (size_t i = 0; i < groups->column_count; i++)
		columns[i] = groups->columns[i].column;
	base_vec_sort(&groups->vec, sizeof(groups->items[0]), compare);
	table.source = &source;
	table.limit = style->parts;
	table.row_count = 0;
	table.picked = NULL;
	return render_table(&table, style, out);
}
