/*
 * pictures/pictures.h - writes trees in formats of other programs (folded stacks, speedscope,
 * pprof) and as SVG (treemap, icicle), and pixels of Android bitmaps as PNG. Independent of
 * queries: the caller adds the nodes, parents before children.
 */
#ifndef PICTURES_PICTURES_H
#define PICTURES_PICTURES_H

#include "heapdb.h"

#include "common/output.h"
#include "common/pixels.h"

#include <stdbool.h>
#include <stdio.h>

/* Maximum number of nodes, about 100 bytes each. Larger trees are rejected. */
#define PICTURE_NODES_MAX 2000000

enum picture_kind {
	PICTURE_FOLDED,     /* one line per node with its own bytes: "a;b;c 123" */
	PICTURE_SPEEDSCOPE, /* the file format of speedscope.app */
	PICTURE_PPROF,      /* a profile for pprof */
	PICTURE_TREEMAP,    /* SVG */
	PICTURE_ICICLE      /* SVG */
};

struct picture;

/* A node to add. */
struct picture_part {
	uint64_t level;   /* 0 means top level */
	const char *name; /* borrowed; may be any bytes, which are escaped if they are not text */
	size_t name_size;
	uint64_t bytes; /* including descendants */
	uint64_t count; /* number of objects, or 0 if unknown */
	/* whether the node sums several nodes that are too small to be drawn separately */
	bool is_rest;
};

/*
 * Makes an empty picture, which the caller must release with picture_release. `title` describes the
 * picture and is borrowed. Fails with HDB_ENOMEM if memory is exhausted.
 */
int picture_make(struct picture **picture, const char *title, struct hdb_error *err);
void picture_release(struct picture *picture); /* NULL is allowed */

/*
 * Adds a node below the node of the level above that was added last. Fails with HDB_ELIMIT or
 * HDB_ENOMEM.
 */
int picture_add(struct picture *picture, const struct picture_part *part, struct hdb_error *err);

/*
 * Draws the picture as part of a heap of `heap` bytes, or of the sum of its top level if that is
 * more. Fails with HDB_ENOMEM if memory is exhausted. May be called only once. Write errors are in
 * out->error.
 */
int picture_draw(struct picture *picture, enum picture_kind kind, uint64_t heap, struct output *out,
		 struct hdb_error *err);

/* ---- pixels ---- */

/* Maximum width and height of a PNG in pixels. Screens and camera images are smaller. */
#define PICTURE_SIDE_MAX 65535

/* Returns whether this build includes libpng. */
bool picture_png_is_there(void);

/*
 * Writes pixels. Both sides must be 1 to PICTURE_SIDE_MAX. Fails with HDB_EUSAGE for unsupported
 * pixel formats, with HDB_EIO or HDB_ENOMEM, and with HDB_EBUG if the build has no libpng.
 */
int picture_png_write(const struct pixels *pixels, FILE *file, struct hdb_error *err);

#endif
