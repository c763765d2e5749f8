/*
 * heapdb/call_rows.h - rows of a call tree, and what a recording says of the classes in an answer.
 */
#ifndef HEAPDB_CALL_ROWS_H
#define HEAPDB_CALL_ROWS_H

#include "common/call_tree.h"
#include "common/escape.h"
#include "heapdb/render.h"

/* What the names of a call tree are. */
enum calls_by {
	CALLS_BY_CLASS,
	CALLS_BY_THREAD,
	CALLS_BY_STACK,
	CALLS_BY_SITE,
	CALLS_BY_MODULE,
	CALLS_BY_DUMP
};

/* What was sampled. The tracker's threads have numbers as names. */
enum calls_of { CALLS_OF_RECORDING, CALLS_OF_TRACKER, CALLS_OF_NATIVE_HEAP };

/* Prints an answer like this one with the rows of a tree, in order, as cli->opt.by says. */
int print_calls(struct cli *cli, const struct answer *plain, const struct call_tree *tree,
		enum calls_of of);

/* A time in ns since 1970, as UTC: its text is in `text`. */
struct hdb_value seconds_text(int64_t ns, struct bytes *text);

/* Old objects of each class that were sampled, for rows of suspects. */
struct sampled {
	struct hdb_rows *rows; /* lent */
	struct call_tree tree; /* classes, and below them where they were allocated */
	uint64_t told;         /* the last suspect of which something was said */
	size_t class_name, objects, suspect, text; /* columns */
	struct hdb_value value;                    /* of text in this row; null: as it is */
	char sentence[1024];
};

/* Reads a recording. Release out->tree in any case, after the answer. */
int sampled_open(struct cli *cli, const char *path, struct hdb_rows *rows, struct sampled *out);
/* Makes the value: the first row of a suspect whose class was sampled says so. */
void sampled_meet(struct sampled *sampled);

#endif
