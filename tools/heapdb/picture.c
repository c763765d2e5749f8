/*
 * heapdb/picture.c - reads an answer that is a tree, for those that draw it.
 */
#include "heapdb/picture.h"

#include "heapdb/cli.h"

#include <stdlib.h>
#include <string.h>

/* Which columns of the answer have what is drawn. */
struct columns {
	size_t level, name, bytes, count;
};

static size_t column_named(const struct answer *answer, const char *name)
{
	const size_t count = answer_column_count(answer);

	for (size_t i = 0; i < count; i++)
		if (strcmp(answer_column(answer, i)->name, name) == 0)
			return i;
	return PICTURE_NONE;
}

static int find_columns(const struct answer *answer, struct columns *columns)
{
	columns->level = column_named(answer, "level");
	columns->name = column_named(answer, "name");
	columns->count = column_named(answer, "objects");
	columns->bytes = column_named(answer, "retained");
	if (columns->bytes == PICTURE_NONE)
		columns->bytes = column_named(answer, "below_shallow");
	if (columns->level == PICTURE_NONE || columns->name == PICTURE_NONE ||
	    columns->bytes == PICTURE_NONE || answer->sort)
		return cli_fail(answer->err, HDB_EUSAGE,
				"only a tree in its own order can be drawn, as dominator-tree "
				"without --sort and --columns");
	return HDB_OK;
}

/* Room for one more node, which it returns; PICTURE_NONE with a message. */
static size_t add_node(struct picture *picture, struct hdb_error *err)
{
	if (picture->count == PICTURE_NODES_MAX) {
		cli_fail(err, HDB_ELIMIT, "more than %d nodes: draw fewer with --min or --depth",
			 PICTURE_NODES_MAX);
		return PICTURE_NONE;
	}
	if (picture->count == picture->capacity) {
		const size_t capacity = picture->capacity ? 2 * picture->capacity : 256;
		struct picture_node *nodes =
			realloc(picture->nodes, capacity * sizeof(picture->nodes[0]));

		if (!nodes) {
			cli_fail(err, HDB_ENOMEM, "no memory for %zu nodes", capacity);
			return PICTURE_NONE;
		}
		picture->nodes = nodes;
		picture->capacity = capacity;
	}
	picture->nodes[picture->count] = (struct picture_node){
		.parent = PICTURE_NONE,
		.first = PICTURE_NONE,
		.last = PICTURE_NONE,
		.next = PICTURE_NONE,
	};
	return picture->count++;
}

/* Names come escaped, so that no picture has a control character. */
static void set_name(struct picture *picture, size_t node, const char *text, size_t size)
{
	struct picture_node *n = &picture->nodes[node];

	n->name = picture->names.size;
	escape_text(&picture->names, text, size);
	n->size = picture->names.size - n->name;
}

/* All bytes of the heap, or 0 if the answer does not say. */
static uint64_t whole_heap(const struct answer *answer)
{
	for (size_t i = 0; i < answer_fact_count(answer); i++)
		if (strcmp(answer_fact_column(answer, i)->name, "heap_shallow") == 0)
			return answer_fact_value(answer, i)->u;
	return 0;
}

static int read_row(struct answer *answer, const struct columns *columns, struct picture *picture,
		    size_t *last)
{
	const struct hdb_value *name = answer_value(answer, columns->name);
	const struct hdb_value *count = NULL;
	const size_t node = add_node(picture, answer->err);
	struct picture_node *nodes = picture->nodes;
	size_t level, up = *last;

	if (node == PICTURE_NONE)
		return answer->err->code;
	level = (size_t)answer_value(answer, columns->level)->u + 1;
	while (nodes[up].level >= level)
		up = nodes[up].parent;
	nodes[node].parent = up;
	nodes[node].level = nodes[up].level + 1;
	if (nodes[up].first == PICTURE_NONE)
		nodes[up].first = node;
	else
		nodes[nodes[up].last].next = node;
	nodes[up].last = node;
	nodes[node].bytes = answer_value(answer, columns->bytes)->u;
	if (columns->count != PICTURE_NONE)
		count = answer_value(answer, columns->count);
	nodes[node].count = count ? count->u : 0;
	if (name->type == HDB_TYPE_TEXT)
		set_name(picture, node, name->text, name->text_size);
	else
		set_name(picture, node, "?", 1);
	*last = node;
	return HDB_OK;
}

/* What is below a node has no more room than the node. */
static void fit(struct picture *picture)
{
	struct picture_node *nodes = picture->nodes;

	for (size_t i = 0; i < picture->count; i++) {
		uint64_t left = nodes[i].bytes;

		for (size_t c = nodes[i].first; c != PICTURE_NONE; c = nodes[c].next) {
			if (nodes[c].bytes > left)
				nodes[c].bytes = left;
			left -= nodes[c].bytes;
		}
		nodes[i].self = left;
	}
}

int picture_read(struct answer *answer, const struct output *out, struct picture *picture)
{
	uint64_t top = 0;
	struct columns columns;
	size_t last;
	int rc;

	*picture = (struct picture){ 0 };
	rc = find_columns(answer, &columns);
	if (rc != HDB_OK)
		return rc;
	last = add_node(picture, answer->err);
	if (last == PICTURE_NONE)
		return answer->err->code;
	set_name(picture, last, "heap", strlen("heap"));
	while ((rc = answer_next(answer, out)) == HDB_OK) {
		rc = read_row(answer, &columns, picture, &last);
		if (rc != HDB_OK)
			return rc;
	}
	if (rc != HDB_END)
		return rc;
	if (picture->names.failed)
		return cli_fail(answer->err, HDB_ENOMEM, "no memory for names");
	for (size_t c = picture->nodes[0].first; c != PICTURE_NONE; c = picture->nodes[c].next)
		if (__builtin_add_overflow(top, picture->nodes[c].bytes, &top))
			top = UINT64_MAX;
	picture->nodes[0].bytes = whole_heap(answer) > top ? whole_heap(answer) : top;
	fit(picture);
	return HDB_OK;
}

void picture_release(struct picture *picture)
{
	free(picture->nodes);
	bytes_release(&picture->names);
	*picture = (struct picture){ 0 };
}

static int compare_size(const void *a, const void *b, void *ctx)
{
	const struct picture_node *nodes = ctx;
	const size_t x = *(const size_t *)a, y = *(const size_t *)b;

	if (nodes[x].bytes != nodes[y].bytes)
		return nodes[x].bytes < nodes[y].bytes ? 1 : -1;
	return x < y ? -1 : x > y;
}

size_t picture_children(const struct picture *picture, size_t node, size_t *list)
{
	size_t count = 0;

	for (size_t c = picture->nodes[node].first; c != PICTURE_NONE; c = picture->nodes[c].next)
		list[count++] = c;
	qsort_r(list, count, sizeof(list[0]), compare_size, picture->nodes);
	return count;
}
