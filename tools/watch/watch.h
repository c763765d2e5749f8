/*
 * watch/watch.h - the interface of this directory: watching JVMs, series, and growth.
 *
 * The caller measures and captures the JVMs.
 */
#ifndef WATCH_WATCH_H
#define WATCH_WATCH_H

#include "watch/growth.h"
#include "watch/growth_answer.h"
#include "watch/series.h"
#include "watch/watcher.h"

#endif
