/*
 * watch/watch.h - the door of this room: series of figures of JVMs and what grows in them.
 *
 * This room knows nothing of JVMs: others measure them.
 */
#ifndef WATCH_WATCH_H
#define WATCH_WATCH_H

#include "watch/growth.h"
#include "watch/series.h"

#endif
