/*
 * heapdb/picture_icicle.c - a tree as an icicle, a flame graph with its root at the top: a row a
 * level, widths as bytes.
 */
#include "heapdb/picture.h"

#include "heapdb/cli.h"

#include <stdlib.h>

#define ROW_HEIGHT 18
#define ROWS_MAX 64

/* Cells in order of breadth, so that a limit cuts the lowest levels. */
struct layout {
	size_t *queue, *list;  /* owned: nodes to draw; children of one of them */
	struct svg_box *boxes; /* owned, by place in the queue */
	size_t count;
};

static void layout_release(struct layout *l)
{
	free(l->queue);
	free(l->list);
	free(l->boxes);
}

static int layout_init(struct layout *l, const struct picture *picture, struct hdb_error *err)
{
	l->queue = calloc(SVG_CELLS_MAX, sizeof(l->queue[0]));
	l->boxes = calloc(SVG_CELLS_MAX, sizeof(l->boxes[0]));
	l->list = calloc(picture->count, sizeof(l->list[0]));
	if (!l->queue || !l->boxes || !l->list)
		return cli_fail(err, HDB_ENOMEM, "no memory for %zu nodes", picture->count);
	l->queue[0] = 0;
	l->boxes[0] = (struct svg_box){ 0, SVG_HEAD, SVG_WIDTH, ROW_HEIGHT };
	l->count = 1;
	return HDB_OK;
}

/* Places what is below the cell at `place`, and draws that cell. */
static void put_cell(struct output *out, const struct picture *picture, struct layout *l,
		     size_t place)
{
	const size_t node = l->queue[place];
	const struct svg_box box = l->boxes[place];
	const size_t children = picture_children(picture, node, l->list);
	const double all = (double)picture->nodes[node].bytes;
	uint64_t folded_bytes = 0;
	size_t folded = 0;
	double x = box.x;

	for (size_t i = 0; i < children; i++) {
		const struct picture_node *child = &picture->nodes[l->list[i]];
		const double width = all > 0 ? box.width * (double)child->bytes / all : 0;

		if (width < SVG_CELL_MIN || l->count == SVG_CELLS_MAX || child->level >= ROWS_MAX) {
			folded++;
			folded_bytes += child->bytes;
			continue;
		}
		l->queue[l->count] = l->list[i];
		l->boxes[l->count++] = (struct svg_box){ x, box.y + ROW_HEIGHT, width, ROW_HEIGHT };
		x += width;
	}
	svg_put_cell(out, picture,
		     &(struct svg_cell){ .node = node,
					 .box = box,
					 .folded = folded,
					 .folded_bytes = folded_bytes,
					 .has_label = true });
}

int render_icicle(struct answer *answer, struct output *out)
{
	struct layout l = { 0 };
	struct picture picture;
	size_t rows = 0;
	int rc = picture_read(answer, out, &picture);

	if (rc == HDB_OK)
		rc = layout_init(&l, &picture, answer->err);
	if (rc != HDB_OK)
		goto out;
	for (size_t i = 0; i < picture.count; i++)
		if (picture.nodes[i].level > rows && picture.nodes[i].level < ROWS_MAX)
			rows = picture.nodes[i].level;
	svg_begin(out, answer, &picture, (double)(rows + 1) * ROW_HEIGHT);
	for (size_t i = 0; i < l.count && out->error == 0; i++)
		put_cell(out, &picture, &l, i);
	svg_end(out);
out:
	layout_release(&l);
	picture_release(&picture);
	return rc;
}
