/*
 * pictures/picture_icicle.c - draws an icicle graph, which is a flame graph with the root at the
 * top: one row per level, widths proportional to bytes.
 */
#include "pictures/picture_private.h"

#define ROW_HEIGHT 18
#define ROWS_MAX 64

/* Places the children of the cell at `place`, then draws the cell. */
static void put_cell(struct output *out, struct svg_layout *l, size_t place)
{
	const struct picture *picture = l->picture;
	const size_t node = l->queue[place];
	const struct svg_box box = l->boxes[place];
	const size_t children = picture_children(picture, node, l->list);
	const double all = (double)picture->nodes[node].bytes;
	double x = box.x;

	l->boxes[place].height = ROW_HEIGHT; /* the root cell also needs its height */
	for (size_t i = 0; i < children; i++) {
		const struct picture_node *child = &picture->nodes[l->list[i]];
		const double width = all > 0 ? box.width * (double)child->bytes / all : 0;

		/* levels that are too deep have height 0 */
		if (svg_place(l, l->list[i],
			      (struct svg_box){ x, box.y + ROW_HEIGHT, width,
						child->level < ROWS_MAX ? ROW_HEIGHT : 0 }))
			x += width;
	}
	svg_put_cell(out, l, place, true);
}

int picture_icicle(const struct picture *picture, struct output *out, struct hdb_error *err)
{
	size_t rows = 0;

	for (size_t i = 0; i < picture->count; i++)
		if (picture->nodes[i].level > rows && picture->nodes[i].level < ROWS_MAX)
			rows = picture->nodes[i].level;
	return svg_draw(picture, (double)(rows + 1) * ROW_HEIGHT, put_cell, out, err);
}
