/*
 * heapdb/call_rows.h - prints call trees as rows, and annotates an answer with the samples of a
 * recording.
 */
#ifndef HEAPDB_CALL_ROWS_H
#define HEAPDB_CALL_ROWS_H

#include "common/call_tree.h"
#include "common/escape.h"
#include "heapdb/render.h"

/* Meaning of the names in a call tree. */
enum calls_by {
	CALLS_BY_CLASS,
	CALLS_BY_THREAD,
	CALLS_BY_STACK,
	CALLS_BY_SITE,
	CALLS_BY_MODULE,
	CALLS_BY_DUMP
};

/* Origin of the samples in a tree. The allocation tracker identifies threads by number. */
enum calls_of { CALLS_OF_RECORDING, CALLS_OF_TRACKER, CALLS_OF_NATIVE_HEAP };

/* Prints the rows of a tree, grouped by cli->opt.by, with the name and facts of `plain`. */
int print_calls(struct cli *cli, const struct answer *plain, const struct call_tree *tree,
		enum calls_of of);

/* Formats a time in ns since 1970 as UTC. Stores the text in `text`. */
struct hdb_value seconds_text(int64_t ns, struct bytes *text);

/* Samples of old objects by class, for rows of suspects. */
struct sampled {
	struct hdb_rows *rows; /* borrowed */
	struct call_tree tree; /* classes, with the allocating frames below each class */
	uint64_t last_suspect; /* number of the last suspect for which a sentence was written */
	size_t class_name, objects, suspect, text; /* column numbers */
	struct hdb_value value; /* text for the row; null leaves the row's own text unchanged */
	char sentence[1024];
};

/* Reads a recording. The caller must release out->tree after the answer, even after an error. */
int sampled_open(struct cli *cli, const char *path, struct hdb_rows *rows, struct sampled *out);
/*
 * If the current row is the first row of a suspect whose class was sampled, sets sampled->value to
 * a sentence about the samples.
 */
void sampled_match_row(struct sampled *sampled);

#endif
