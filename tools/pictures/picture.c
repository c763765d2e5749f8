/*
 * pictures/picture.c - the tree of a picture, built node by node.
 */
#include "pictures/picture_private.h"

#include "base/error.h"
#include "base/base_text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Adds a node and returns its index. On failure, returns PICTURE_NONE and sets the message. */
static size_t add_node(struct picture *picture, struct hdb_error *err)
{
	if (picture->count == PICTURE_NODES_MAX) {
		hdb_fail(err, HDB_ELIMIT,
			 "too many nodes (limit %d); use --min or --depth to "
			 "draw fewer nodes",
			 PICTURE_NODES_MAX);
		return PICTURE_NONE;
	}
	if (base_vec_reserve(&picture->vec, 1, sizeof(*picture->nodes), err) < 0)
		return PICTURE_NONE;
	picture->nodes[picture->count] = (struct picture_node){
		.parent = PICTURE_NONE,
		.first = PICTURE_NONE,
		.last = PICTURE_NONE,
		.next = PICTURE_NONE,
	};
	return picture->count++;
}

/* Sets the name of a node. Names are stored escaped, so pictures contain no control characters. */
static void set_name(struct picture *picture, size_t node, const char *text, size_t size)
{
	struct picture_node *n = &picture->nodes[node];

	n->name = picture->names.size;
	escape_text(&picture->names, text, size);
	n->size = picture->names.size - n->name;
}

int picture_make(struct picture **picture, const char *title, struct hdb_error *err)
{
	*picture = calloc(1, sizeof(**picture));
	if (!*picture || add_node(*picture, err) == PICTURE_NONE) {
		picture_release(*picture);
		*picture = NULL;
		return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for an image");
	}
	(*picture)->title = title;
	set_name(*picture, 0, "heap", strlen("heap"));
	return HDB_OK;
}

void picture_release(struct picture *picture)
{
	if (!picture)
		return;
	base_vec_release(&picture->vec);
	bytes_release(&picture->names);
	free(picture);
}

int picture_add(struct picture *picture, const struct picture_part *part, struct hdb_error *err)
{
	const size_t node = add_node(picture, err);
	const size_t level = (size_t)part->level + 1;
	struct picture_node *nodes = picture->nodes;
	size_t up = picture->last;

	if (node == PICTURE_NONE)
		return err->code;
	while (up != 0 && nodes[up].level >= level)
		up = nodes[up].parent;
	assert(up < node); /* a parent precedes its children */
	nodes[node].parent = up;
	nodes[node].level = nodes[up].level + 1;
	if (nodes[up].first == PICTURE_NONE)
		nodes[up].first = node;
	else
		nodes[nodes[up].last].next = node;
	nodes[up].last = node;
	nodes[node].bytes = part->bytes;
	nodes[node].count = part->count;
	nodes[node].is_rest = part->is_rest;
	set_name(picture, node, part->name, part->name_size);
	picture->last = node;
	return HDB_OK;
}

/* Scales the children of a node if their sum exceeds the node's size. */
static void fit(struct picture *picture)
{
	struct picture_node *nodes = picture->nodes;

	for (size_t i = 0; i < picture->count; i++) {
		uint64_t left = nodes[i].bytes;

		for (size_t c = nodes[i].first; c != PICTURE_NONE; c = nodes[c].next) {
			if (nodes[c].bytes > left)
				nodes[c].bytes = left;
			assert(c > i && nodes[c].parent == i);
			left -= nodes[c].bytes;
		}
		nodes[i].self = left;
	}
}

int picture_draw(struct picture *picture, enum picture_kind kind, uint64_t heap, struct output *out,
		 struct hdb_error *err)
{
	struct picture_node *nodes = picture->nodes;
	uint64_t top = 0;

	assert(picture->count > 0 && nodes[0].level == 0);
	if (picture->names.failed)
		return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for names");
	for (size_t c = nodes[0].first; c != PICTURE_NONE; c = nodes[c].next)
		if (__builtin_add_overflow(top, nodes[c].bytes, &top))
			top = UINT64_MAX;
	nodes[0].bytes = heap > top ? heap : top;
	fit(picture);
	switch (kind) {
	case PICTURE_FOLDED:
		return picture_folded(picture, out, err);
	case PICTURE_SPEEDSCOPE:
		return picture_speedscope(picture, out, err);
	case PICTURE_PPROF:
		return picture_pprof(picture, out, err);
	case PICTURE_TREEMAP:
		return picture_treemap(picture, out, err);
	case PICTURE_ICICLE:
		break;
	}
	return picture_icicle(picture, out, err);
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

	assert(node < picture->count);
	for (size_t c = picture->nodes[node].first; c != PICTURE_NONE; c = picture->nodes[c].next)
		list[count++] = c;
	qsort_r(list, count, sizeof(list[0]), compare_size, picture->nodes);
	return count;
}
