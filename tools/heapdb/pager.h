/*
 * heapdb/pager.h - long output on a terminal goes through $PAGER.
 *
 * As git does: less if PAGER is not set, nothing if it is empty or "cat"; LESS=FRX and LV=-c unless
 * they are set. Standard error follows, so that a message comes where it belongs. The state is the
 * process's: there is one terminal.
 */
#ifndef HEAPDB_PAGER_H
#define HEAPDB_PAGER_H

#include "common/output.h"

/* Holds output to a terminal back until it is known whether it is longer than a screen. */
void pager_want(struct output *out);

/* The hook before a write: starts the pager if the output that was held back is that long. */
void pager_before_write(struct output *out);

/* Writes what was held back or waits for the pager, before a message. */
void pager_flush(void);

/* Waits until the reader leaves the pager; standard error is the terminal again. */
void pager_wait(void);

#endif
