/*
 * heapdb/capture_ask.h - queries a running VM without a dump, and imports a captured dump.
 */
#ifndef HEAPDB_CAPTURE_ASK_H
#define HEAPDB_CAPTURE_ASK_H

#include "capture/capture.h"
#include "heapdb/cli.h"

/* Prints the histogram or the stacks of the VM with this PID, as cli->opt specifies. */
int capture_ask(struct cli *cli, int pid, const struct capture_options *options);

/* A captured dump: what was imported, and what the capture cost the program. */
struct captured {
	struct hdb_import_result result;
	struct capture_cost cost;
};

/*
 * Imports the stream of a capture and ends it. If the dump fails, reports that failure instead of
 * the import's, and leaves no database. Sets the name and the cancel flag of the options.
 */
int capture_import(struct capture *capture, const char *db_path, struct hdb_import_options *options,
		   struct captured *out, struct hdb_error *err);

#endif
