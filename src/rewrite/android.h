/*
 * rewrite/android.h - what only Android's dumps have: heaps, and records that others do not know.
 */
#ifndef REWRITE_ANDROID_H
#define REWRITE_ANDROID_H

#include "rewrite/rewriter.h"

/* The heap that objects belong to from here on; zeroed where a heap dump record begins. */
struct rewrite_heap {
	uint32_t id; /* 'A' app, 'Z' zygote, 'I' image; 0: not said */
};

/*
 * Notes which heap follows; whether the sub-record is to be left out: an instance or array of the
 * zygote's or the image's heap, if only the app's are kept.
 */
bool rewrite_heap_drops(struct rewrite_heap *heap, const struct hprof_sub *sub, bool app_only);

/* Whether only Android's dumps have this sub-record. */
bool rewrite_android_is(uint8_t tag);

/* Writes what HPROF 1.0.2 has for it, or nothing. */
int rewrite_android_sub(struct rewriter *w, const struct hprof_sub *sub, struct hdb_error *err);

#endif
