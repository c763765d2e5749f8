/*
 * watch/watch.h - the interface of this directory: watching JVMs, series, and growth.
 *
 * This room leaves measuring and capturing JVMs to the caller.
 */
#ifndef WATCH_WATCH_H
#define WATCH_WATCH_H

#include "watch/growth.h"
#include "watch/growth_answer.h"
#include "watch/series.h"
#include "watch/watcher.h"

#endif
