/*
 * pictures/pictures.h - trees as what other programs draw (folded stacks, speedscope, pprof) and as
 * pictures (SVG: treemap, icicle), and the pixels of an Android bitmap as a PNG file. Knows no
 * query: the caller adds the nodes of its tree, parents before children.
 */
#ifndef PICTURES_PICTURES_H
#define PICTURES_PICTURES_H

#include "heapdb.h"

#include "common/output.h"
#include "common/pixels.h"

#include <stdbool.h>
#include <stdio.h>

/* Nodes that a picture is made of at most; some 100 bytes each. A longer tree is refused. */
#define PICTURE_NODES_MAX 2000000

enum picture_kind {
	PICTURE_FOLDED,     /* one line a node with bytes of its own: "a;b;c 123" */
	PICTURE_SPEEDSCOPE, /* the file format of speedscope.app */
	PICTURE_PPROF,      /* a profile for pprof */
	PICTURE_TREEMAP,    /* SVG */
	PICTURE_ICICLE      /* SVG */
};

struct picture;

/* What is added: a node with all that is below it. */
struct picture_part {
	uint64_t level;   /* 0: the top one */
	const char *name; /* lent; any bytes: what is no text is escaped */
	size_t name_size;
	uint64_t bytes; /* with all below it */
	uint64_t count; /* objects; 0: not known */
	bool is_rest;   /* several nodes that are too small to be drawn by themselves */
};

/*
 * An empty picture, to be released by picture_release; `title` says what it is of and is lent.
 * HDB_ENOMEM.
 */
int picture_make(struct picture **picture, const char *title, struct hdb_error *err);
void picture_release(struct picture *picture); /* NULL: nothing */

/* Adds a node below the last one of a level above. HDB_ELIMIT, HDB_ENOMEM. */
int picture_add(struct picture *picture, const struct picture_part *part, struct hdb_error *err);

/*
 * Draws what was added, once, as part of a heap of `heap` bytes, or of the sum of its top level if
 * that is more. HDB_ENOMEM; what cannot be written is in out->error.
 */
int picture_draw(struct picture *picture, enum picture_kind kind, uint64_t heap, struct output *out,
		 struct hdb_error *err);

/* ---- pixels ---- */

/* Sides of pictures that are written, in pixels: more than any screen's or camera's. */
#define PICTURE_SIDE_MAX 65535

/* Whether this program was built with libpng. */
bool picture_png_is_there(void);

/*
 * Writes pixels, at least one and each side up to PICTURE_SIDE_MAX. HDB_EUSAGE for those of another
 * kind, HDB_EIO, HDB_ENOMEM; HDB_EBUG without libpng.
 */
int picture_png_write(const struct pixels *pixels, FILE *file, struct hdb_error *err);

#endif
