/*
 * heapdb/pager.h - pages long output on a terminal through $PAGER, with git's conventions: less if
 * PAGER is unset, no pager if it is empty or "cat"; LESS=FRX and LV=-c unless set. Standard error
 * is redirected as well, so messages appear in order. Its state is global because there is only one
 * terminal.
 */
#ifndef HEAPDB_PAGER_H
#define HEAPDB_PAGER_H

#include "common/output.h"

/*
 * Makes the output hold back text for the terminal until it is known whether it exceeds the screen.
 */
void pager_want(struct output *out);

/* Called before a write: starts the pager if the held-back output is long. */
void pager_before_write(struct output *out);

/* Writes held-back output, or flushes to the pager, before a message. */
void pager_flush(void);

/* Waits for the pager to exit and restores standard error. */
void pager_wait(void);

#endif
