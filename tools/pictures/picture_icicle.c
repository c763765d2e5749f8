/*
 * pictures/picture_icicle.c - a tree as an icicle, a flame graph with its root at the top: a row a
 * level, widths as bytes.
 */
#include "pictures/picture_private.h"

#include "common/fail.h"

#define ROW_HEIGHT 18
#define ROWS_MAX 64

/* Places what is below the cell at `place`, and draws that cell. */
static void put_cell(struct output *out, struct svg_layout *l, size_t place)
{
	const struct picture *picture = l->picture;
	const size_t node = l->queue[place];
	const struct svg_box box = l->boxes[place];
	const size_t children = picture_children(picture, node, l->list);
	const double all = (double)picture->nodes[node].bytes;
	double x = box.x;

	l->folded = 0;
	l->folded_bytes = 0;
	for (size_t i = 0; i < children; i++) {
		const struct picture_node *child = &picture->nodes[l->list[i]];
		const double width = all > 0 ? box.width * (double)child->bytes / all : 0;

		if (width < SVG_CELL_MIN || l->count == SVG_CELLS_MAX || child->level >= ROWS_MAX) {
			l->folded++;
			l->folded_bytes += child->bytes;
			continue;
		}
		l->queue[l->count] = l->list[i];
		l->boxes[l->count++] = (struct svg_box){ x, box.y + ROW_HEIGHT, width, ROW_HEIGHT };
		x += width;
	}
	svg_put_cell(out, picture,
		     &(struct svg_cell){ .node = node,
					 .box = box,
					 .folded = l->folded,
					 .folded_bytes = l->folded_bytes,
					 .has_label = true });
}

int picture_icicle(const struct picture *picture, struct output *out, struct hdb_error *err)
{
	struct svg_layout l = { 0 };
	size_t rows = 0;
	int rc;

	if ((rc = svg_layout_init(&l, picture, ROW_HEIGHT, err)) != HDB_OK)
		goto out;
	for (size_t i = 0; i < picture->count; i++)
		if (picture->nodes[i].level > rows && picture->nodes[i].level < ROWS_MAX)
			rows = picture->nodes[i].level;
	svg_begin(out, picture, (double)(rows + 1) * ROW_HEIGHT);
	for (size_t i = 0; i < l.count && out->error == 0; i++)
		put_cell(out, &l, i);
	svg_end(out);
out:
	svg_layout_release(&l);
	return rc;
}
