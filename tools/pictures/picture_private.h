/* pictures/picture_private.h - the nodes of a picture, and functions shared by the SVG pictures. */
#ifndef PICTURES_PICTURE_PRIVATE_H
#define PICTURES_PICTURE_PRIVATE_H

#include "base/vec.h"
#include "pictures/pictures.h"

#include <assert.h>

/* Index that means no node. */
#define PICTURE_NONE SIZE_MAX

/* A node. The first node is the heap, the root of the tree. */
struct picture_node {
	size_t parent;      /* PICTURE_NONE for the heap */
	size_t first, last; /* first and last child, linked by `next`; PICTURE_NONE means none */
	size_t next;
	size_t level;      /* 0 for the heap */
	size_t name, size; /* offset and length in `names`, without control characters */
	uint64_t bytes;    /* bytes including descendants; limited by the parent's size */
	uint64_t self;     /* bytes without the bytes of its children */
	uint64_t count;    /* number of objects, or 0 if unknown */
	bool is_rest;      /* as in struct picture_part */
};

struct picture {
	BASE_VEC_AS(vec, struct picture_node, nodes, count);
	size_t last;        /* the last node added */
	struct bytes names; /* escaped, without control characters */
	const char *title;  /* borrowed */
};

/* Returns the name, which is not zero-terminated. */
static inline const char *picture_name(const struct picture *picture, size_t node)
{
	assert(node < picture->count);
	assert(picture->nodes[node].name + picture->nodes[node].size <= picture->names.size);
	return picture->names.data + picture->nodes[node].name;
}

/*
 * Lists the children of a node by descending size, in insertion order if equal, into `list`, which
 * has room for all. Returns their number.
 */
size_t picture_children(const struct picture *picture, size_t node, size_t *list);

/*
 * Distinct names: the number of the name for each node, and one node for each name. The caller must
 * release the names with picture_frames_release.
 */
struct picture_frames {
	size_t *of, *nodes;
	size_t count;
};
int picture_frames(struct picture *picture, struct picture_frames *frames, struct hdb_error *err);
void picture_frames_release(struct picture_frames *frames);

/*
 * Write a picture in the formats of picture_draw. They fail with HDB_ENOMEM if memory is exhausted.
 */
int picture_folded(const struct picture *picture, struct output *out, struct hdb_error *err);
int picture_speedscope(struct picture *picture, struct output *out, struct hdb_error *err);
int picture_pprof(struct picture *picture, struct output *out, struct hdb_error *err);
int picture_treemap(const struct picture *picture, struct output *out, struct hdb_error *err);
int picture_icicle(const struct picture *picture, struct output *out, struct hdb_error *err);

/* ---- SVG ---- */

/* Size of a picture and of its title line, in pixels. */
#define SVG_WIDTH 1200
#define SVG_HEAD 24

/* Minimum width of a cell that is drawn, in pixels, and maximum number of cells. */
#define SVG_CELL_MIN 3
#define SVG_CELLS_MAX 5000

struct svg_box {
	double x, y, width, height;
};

/* Cells in breadth-first order, so that the limit cuts the deepest levels. */
struct svg_layout {
	/* All pointers are borrowed. */
	const struct picture *picture;
	size_t *queue, *list;  /* nodes to draw; children of one node */
	struct svg_box *boxes; /* one per node in the queue */
	size_t count;
	size_t folded; /* number of children of the current cell that are too small to draw */
	uint64_t folded_bytes;
};

/* Places the children of the cell at `at` in the queue and draws the cell. */
typedef void svg_cell_fn(struct output *out, struct svg_layout *layout, size_t at);

/*
 * Draws the title and the heap, which is `height` pixels high. Fails with HDB_ENOMEM if memory is
 * exhausted.
 */
int svg_draw(const struct picture *picture, double height, svg_cell_fn *put_cell,
	     struct output *out, struct hdb_error *err);

/*
 * Adds a node to the queue. Returns false if the node is too small; the node then counts as folded.
 */
bool svg_place(struct svg_layout *layout, size_t node, struct svg_box box);

/* Draws a cell. Its tooltip contains the full name, the sizes and the number of folded children. */
void svg_put_cell(struct output *out, const struct svg_layout *layout, size_t at, bool has_label);

#endif
