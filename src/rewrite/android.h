/*
 * rewrite/android.h - records that only Android's dumps have.
 */
#ifndef REWRITE_ANDROID_H
#define REWRITE_ANDROID_H

#include "rewrite/rewriter.h"

/* Whether only Android's dumps have this sub-record. */
bool rewrite_android_is(uint8_t tag);

/* Writes what HPROF 1.0.2 has for it, or nothing. */
int rewrite_android_sub(struct rewriter *w, const struct hprof_sub *sub, struct hdb_error *err);

#endif
