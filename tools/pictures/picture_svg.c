/*
 * pictures/picture_svg.c - functions shared by the SVG pictures: title, colours, labelled cells.
 * Text is escaped for XML and contains no control characters.
 */
#include "pictures/picture_private.h"

#include "base/scope.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* Average width of a letter, and height of a line, in pixels. */
#define LETTER_WIDTH 6.2
#define LINE_HEIGHT 13

/* Muted hues, assigned to packages by a hash of the name. */
#define HUES 12

/* Returns the start of the name without its package: after the last dot followed by a letter. */
static size_t package_size(const char *name, size_t size)
{
	size_t end = 0;

	for (size_t i = 0; i + 1 < size && name[i] != '(' && name[i] != '/'; i++)
		if (name[i] == '.')
			end = i + 1;
	return end;
}

static unsigned hue_of(const char *name, size_t size)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)name[i]) * 16777619u;
	return (hash >> 8) % HUES * (360 / HUES);
}

static void svg_begin(struct output *out, const struct picture *picture, double height)
{
	output_format(out,
		      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" "
		      "viewBox=\"0 0 %d %.0f\" font-family=\"sans-serif\" font-size=\"11\">\n"
		      "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
		      "<text x=\"4\" y=\"16\">",
		      SVG_WIDTH, height + SVG_HEAD, SVG_WIDTH, height + SVG_HEAD);
	output_xml(out, picture->title, strlen(picture->title));
	output_format(out,
		      ": %s bytes; area: retained size; colour: package (grey: several small "
		      "nodes)</text>\n",
		      base_number(picture->nodes[0].bytes).text);
}

/* Returns the number of bytes of the name that fit into `width` pixels, in whole characters. */
static size_t fit(const char *name, size_t size, double width)
{
	const double letters = width / LETTER_WIDTH;

	if (letters < 3)
		return 0;
	return escape_fit(name, size, (size_t)letters, NULL);
}

/* Writes the name, and the size if both fit. */
static void put_label(struct output *out, const char *name, size_t size,
		      const struct picture_node *node, struct svg_box box)
{
	const size_t room = fit(name, size, box.width - 4);
	const struct base_number bytes = base_size(node->bytes);
	const size_t more = 2 + strlen(bytes.text);

	if (room == 0 || box.height < LINE_HEIGHT)
		return;
	output_format(out, "<text x=\"%.1f\" y=\"%.1f\">", box.x + 3, box.y + LINE_HEIGHT - 3);
	output_xml(out, name, room < size && room > 1 ? fit(name, size, box.width - 10) : room);
	if (room < size)
		output_string(out, "\xe2\x80\xa6");
	else if (fit(name, size, box.width - 4 - (double)more * LETTER_WIDTH) == size)
		output_format(out, "  %s", bytes.text);
	output_string(out, "</text>");
}

/* Writes the colour of a node. A node that sums several small nodes has no package and is grey. */
static void put_colour(struct output *out, const struct picture_node *node, const char *name,
		       size_t package)
{
	output_format(out, "hsl(%u,%u%%,%u%%)",
		      node->is_rest ? 220 : hue_of(name, package ? package : node->size),
		      node->is_rest ? 8u : 45u, node->level % 2 ? 76u : 84u);
}

void svg_put_cell(struct output *out, const struct svg_layout *layout, size_t at, bool has_label)
{
	const struct picture *picture = layout->picture;
	const size_t node = layout->queue[at];
	const struct picture_node *n = &picture->nodes[node];
	const char *name = picture_name(picture, node);
	const size_t package = package_size(name, n->size);
	const uint64_t all = picture->nodes[0].bytes;
	const struct svg_box *box = &layout->boxes[at];

	assert(at < layout->count);
	assert(package <= n->size);
	output_format(out,
		      "<g><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
		      "fill=\"",
		      box->x, box->y, box->width, box->height);
	put_colour(out, n, name, package);
	output_string(out, "\" stroke=\"#fff\" stroke-width=\"0.5\"/><title>");
	output_xml(out, name, n->size);
	output_format(out, ": %s, %.1f %% of the heap", base_size(n->bytes).text,
		      all ? 100 * (double)n->bytes / (double)all : 0.0);
	if (n->count > 0)
		output_format(out, ", %s object%s", base_number(n->count).text,
			      n->count == 1 ? "" : "s");
	if (layout->folded > 0)
		output_format(out, "; %zu more below, too small to draw, %s", layout->folded,
			      base_size(layout->folded_bytes).text);
	output_string(out, "</title>");
	if (has_label)
		put_label(out, name + package, n->size - package, n, *box);
	output_string(out, "</g>\n");
}

bool svg_place(struct svg_layout *layout, size_t node, struct svg_box box)
{
	assert(node > 0); /* the heap is placed first */
	assert(layout->count <= SVG_CELLS_MAX);
	if (box.width < SVG_CELL_MIN || box.height < SVG_CELL_MIN ||
	    layout->count == SVG_CELLS_MAX) {
		layout->folded++;
		layout->folded_bytes += layout->picture->nodes[node].bytes;
		return false;
	}
	layout->queue[layout->count] = node;
	layout->boxes[layout->count++] = box;
	return true;
}

int svg_draw(const struct picture *picture, double height, svg_cell_fn *put_cell,
	     struct output *out, struct hdb_error *err)
{
	BASE_FREED size_t *queue = calloc(SVG_CELLS_MAX, sizeof(*queue));
	BASE_FREED size_t *list = calloc(picture->count, sizeof(*list));
	BASE_FREED struct svg_box *boxes = calloc(SVG_CELLS_MAX, sizeof(*boxes));
	struct svg_layout l = { picture, queue, list, boxes, .count = 1 };

	if (!queue || !boxes || !list)
		return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for %zu nodes",
				picture->count);
	boxes[0] = (struct svg_box){ 0, SVG_HEAD, SVG_WIDTH, height };
	svg_begin(out, picture, height);
	for (size_t i = 0; i < l.count && out->error == 0; i++) {
		l.folded = 0;
		l.folded_bytes = 0;
		put_cell(out, &l, i);
	}
	output_string(out, "</svg>\n");
	return HDB_OK;
}
