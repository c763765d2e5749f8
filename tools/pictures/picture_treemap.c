/*
 * pictures/picture_treemap.c - draws a squarified treemap (Bruls, Huizing, van Wijk): areas are
 * proportional to bytes, children are inside their parent, and cells are almost square.
 */
#include "pictures/picture_private.h"

#define HEIGHT 800
/* Height of the line for the name above a cell's children, if there is room. */
#define NAME_HEIGHT 15
#define BORDER 2

static double area_of(const struct svg_layout *l, size_t i, double scale)
{
	return (double)l->picture->nodes[l->list[i]].bytes * scale;
}

/* Returns the worst aspect ratio in a row of cells. */
static double worst(double largest, double smallest, double sum, double side)
{
	const double across = sum / side;
	const double a = largest / (across * across), b = across * across / smallest;

	return a > b ? a : b;
}

/* Places the cells [first, end) along the shorter side of `*room`, and reduces the room. */
static void place_row(struct svg_layout *l, size_t first, size_t end, double scale,
		      struct svg_box *room)
{
	const bool upright = room->width >= room->height;
	const double side = upright ? room->height : room->width;
	double sum = 0, at = 0, across;

	assert(first < end);
	assert(side > 0);
	for (size_t i = first; i < end; i++)
		sum += area_of(l, i, scale);
	across = sum / side;
	for (size_t i = first; i < end; i++) {
		const double along = across > 0 ? area_of(l, i, scale) / across : 0;

		svg_place(l, l->list[i],
			  upright ? (struct svg_box){ room->x, room->y + at, across, along } :
				    (struct svg_box){ room->x + at, room->y, along, across });
		at += along;
	}
	if (upright) {
		room->x += across;
		room->width -= across;
	} else {
		room->y += across;
		room->height -= across;
	}
}

/* Places all children. The area that remains free is the node's own size. */
static void squarify(struct svg_layout *l, size_t children, double scale, struct svg_box room)
{
	for (size_t first = 0, end; first < children; first = end) {
		const double side = room.width < room.height ? room.width : room.height;
		const double largest = area_of(l, first, scale);
		double sum = largest;

		end = first + 1;
		while (side > 0 && largest > 0 && end < children && area_of(l, end, scale) > 0) {
			const double next = area_of(l, end, scale);

			if (worst(largest, next, sum + next, side) >
			    worst(largest, area_of(l, end - 1, scale), sum, side))
				break;
			sum += next;
			end++;
		}
		if (side < SVG_CELL_MIN) {
			for (; first < children; first++)
				svg_place(l, l->list[first], (struct svg_box){ 0, 0, 0, 0 });
			return;
		}
		place_row(l, first, end, scale, &room);
	}
}

/* Places the children of the cell at `at`, then draws the cell. */
static void put_cell(struct output *out, struct svg_layout *l, size_t at)
{
	const size_t node = l->queue[at];
	const struct svg_box box = l->boxes[at];
	const bool has_name = box.height > 2 * NAME_HEIGHT && box.width > 2 * NAME_HEIGHT;
	const double head = has_name ? NAME_HEIGHT : BORDER;
	const struct svg_box room = { box.x + BORDER, box.y + head, box.width - 2 * BORDER,
				      box.height - head - BORDER };
	const size_t children = picture_children(l->picture, node, l->list);
	const double bytes = (double)l->picture->nodes[node].bytes;
	const size_t before = l->count;

	assert(at < before);
	if (room.width >= SVG_CELL_MIN && room.height >= SVG_CELL_MIN && bytes > 0)
		squarify(l, children, room.width * room.height / bytes, room);
	svg_put_cell(out, l, at, has_name || l->count == before);
}

int picture_treemap(const struct picture *picture, struct output *out, struct hdb_error *err)
{
	return svg_draw(picture, HEIGHT, put_cell, out, err);
}
