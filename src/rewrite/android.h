/*
 * rewrite/android.h - sub-records that only Android's dumps have, for tools that do not know them.
 */
#ifndef REWRITE_ANDROID_H
#define REWRITE_ANDROID_H

#include "rewrite/rewriter.h"

/* Whether HPROF 1.0.2 lacks this sub-record. */
bool rewrite_android_is(uint8_t tag);

/* Writes the closest sub-record of HPROF 1.0.2, or nothing if there is none. */
int rewrite_android_sub(struct rewriter *w, const struct hprof_sub *sub, struct hdb_error *err);

#endif
