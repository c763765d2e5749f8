/*
 * pictures/picture_private.h - the nodes of a picture, and what the pictures in SVG share.
 */
#ifndef PICTURES_PICTURE_PRIVATE_H
#define PICTURES_PICTURE_PRIVATE_H

#include "pictures/pictures.h"

/* No node. */
#define PICTURE_NONE SIZE_MAX

/* A node; the first one is the heap, below which the top level is. */
struct picture_node {
	size_t parent;      /* PICTURE_NONE: of the heap */
	size_t first, last; /* its children by index, linked by `next`; PICTURE_NONE: none */
	size_t next;
	size_t level;      /* 0: the heap */
	size_t name, size; /* where the name is in `names`, and its bytes: no control characters */
	uint64_t bytes;    /* with all below it: no more than what its parent has room for */
	uint64_t self;     /* bytes less those of its children */
	uint64_t count;    /* objects; 0: not known */
	bool is_rest;      /* as in struct picture_part */
};

struct picture {
	struct picture_node *nodes; /* owned */
	size_t count, capacity;
	size_t last;        /* the node that was added last */
	struct bytes names; /* escaped: no control characters */
	const char *title;  /* lent */
};

/* The name; not zero-terminated. */
static inline const char *picture_name(const struct picture *picture, size_t node)
{
	return picture->names.data + picture->nodes[node].name;
}

/*
 * The children of a node, largest first, of one size by their place, into `list` with room for all
 * of them; returns how many.
 */
size_t picture_children(const struct picture *picture, size_t node, size_t *list);

/* The kinds of picture_draw. HDB_ENOMEM. */
int picture_folded(const struct picture *picture, struct output *out, struct hdb_error *err);
int picture_speedscope(struct picture *picture, struct output *out, struct hdb_error *err);
int picture_treemap(const struct picture *picture, struct output *out, struct hdb_error *err);
int picture_icicle(const struct picture *picture, struct output *out, struct hdb_error *err);

/* ---- SVG ---- */

/* Pixels of a picture, and of the line above it that says what it is. */
#define SVG_WIDTH 1200
#define SVG_HEAD 24

/* Cells below so many pixels are not drawn, nor more cells than these. */
#define SVG_CELL_MIN 3
#define SVG_CELLS_MAX 5000

struct svg_box {
	double x, y, width, height;
};

/* Begins a picture of `height` pixels without its head. */
void svg_begin(struct output *out, const struct picture *picture, double height);

/* What is drawn of a node. */
struct svg_cell {
	size_t node;
	struct svg_box box;
	size_t folded; /* its children that are too small to be drawn, and their bytes */
	uint64_t folded_bytes;
	bool has_label; /* there is room for its name, as far as the box is wide enough */
};

/* A cell; the whole name, sizes and what is folded are in its title. */
void svg_put_cell(struct output *out, const struct picture *picture, const struct svg_cell *cell);

void svg_end(struct output *out);

/* Cells in order of breadth, so that a limit cuts the lowest levels. */
struct svg_layout {
	const struct picture *picture; /* lent */
	size_t *queue, *list;          /* owned: nodes to draw; children of one of them */
	struct svg_box *boxes;         /* owned, by place in the queue */
	size_t count;
	size_t folded; /* of the cell whose children are placed: those too small to be drawn */
	uint64_t folded_bytes;
};

/* Begins with the heap in a box of that height. svg_layout_release in any case. HDB_ENOMEM. */
int svg_layout_init(struct svg_layout *layout, const struct picture *picture, double height,
		    struct hdb_error *err);
void svg_layout_release(struct svg_layout *layout);

#endif
