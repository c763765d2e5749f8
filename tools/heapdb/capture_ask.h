/*
 * heapdb/capture_ask.h - queries a running VM without a dump.
 */
#ifndef HEAPDB_CAPTURE_ASK_H
#define HEAPDB_CAPTURE_ASK_H

#include "capture/capture.h"
#include "heapdb/cli.h"

/* Prints the histogram or the stacks of the VM with this PID, as cli->opt specifies. */
int capture_ask(struct cli *cli, int pid, const struct capture_options *options);

#endif
