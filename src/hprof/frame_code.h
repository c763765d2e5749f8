/*
 * hprof/frame_code.h - a stretch of a dump, packed: the sub-records of instances and arrays in it
 * are taken apart, like bytes put beside like, and each kind compressed by itself with zstd.
 *
 * A stretch is packed and unpacked by itself. It may begin and end anywhere, and be of no dump at
 * all: what is not understood is kept as it is, so any bytes come back as they were. FORMAT.md of
 * src/store has the layout.
 */
#ifndef HPROF_FRAME_CODE_H
#define HPROF_FRAME_CODE_H

#include "base/frames.h"

/* Stretches are frames of base/frames.h, BASE_FRAME_BYTES at most; a packer takes some 8 MB. */
extern const struct base_codec hprof_codec;

/*
 * Asserts what holds of a packer of hprof_codec after a frame: objects and runs in order, within
 * the frame. For tests and debugging.
 */
void hprof_packer_check(const void *packer);

#endif
