/*
 * pictures/picture_private.h - the nodes of a picture, and what the pictures in SVG share.
 */
#ifndef PICTURES_PICTURE_PRIVATE_H
#define PICTURES_PICTURE_PRIVATE_H

#include "base/vec.h"
#include "pictures/pictures.h"

#include <assert.h>

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
	BASE_VEC_AS(vec, struct picture_node, nodes, count);
	size_t last;        /* the node that was added last */
	struct bytes names; /* escaped: no control characters */
	const char *title;  /* lent */
};

/* The name; not zero-terminated. */
static inline const char *picture_name(const struct picture *picture, size_t node)
{
	assert(node < picture->count);
	assert(picture->nodes[node].name + picture->nodes[node].size <= picture->names.size);
	return picture->names.data + picture->nodes[node].name;
}

/*
 * The children of a node, largest first, of one size by their place, into `list` with room for all
 * of them; returns how many.
 */
size_t picture_children(const struct picture *picture, size_t node, size_t *list);

/* Names, each once: their numbers by node, and a node of each. Owned: picture_frames_release. */
struct picture_frames {
	size_t *of, *nodes;
	size_t count;
};
int picture_frames(struct picture *picture, struct picture_frames *frames, struct hdb_error *err);
void picture_frames_release(struct picture_frames *frames);

/* The kinds of picture_draw. HDB_ENOMEM. */
int picture_folded(const struct picture *picture, struct output *out, struct hdb_error *err);
int picture_speedscope(struct picture *picture, struct output *out, struct hdb_error *err);
int picture_pprof(struct picture *picture, struct output *out, struct hdb_error *err);
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

/* Cells in order of breadth, so that a limit cuts the lowest levels. */
struct svg_layout {
	const struct picture *picture; /* lent */
	size_t *queue, *list;          /* lent: nodes to draw; children of one of them */
	struct svg_box *boxes;         /* lent, by place in the queue */
	size_t count;
	size_t folded; /* of the cell whose children are placed: those too small to be drawn */
	uint64_t folded_bytes;
};

/* Places the children of the cell at `at` in the queue, and draws that cell. */
typedef void svg_cell_fn(struct output *out, struct svg_layout *layout, size_t at);

/* Draws a head and, `height` pixels high, the heap with what is in it. HDB_ENOMEM. */
int svg_draw(const struct picture *picture, double height, svg_cell_fn *put_cell,
	     struct output *out, struct hdb_error *err);

/* Places a node in the queue; false: it is too small to be drawn, and counted as folded. */
bool svg_place(struct svg_layout *layout, size_t node, struct svg_box box);

/* Draws a cell; the whole name, sizes and what is folded are in its title. */
void svg_put_cell(struct output *out, const struct svg_layout *layout, size_t at, bool has_label);

#endif
