/*
 * heapdb/call_rows.h - rows of a call tree, and what a recording says of the classes in an answer.
 */
#ifndef HEAPDB_CALL_ROWS_H
#define HEAPDB_CALL_ROWS_H

#include "common/call_tree.h"
#include "heapdb/render.h"

/* What the names of a call tree are. */
enum calls_by { CALLS_BY_CLASS, CALLS_BY_THREAD, CALLS_BY_STACK, CALLS_BY_SITE };

/*
 * Prints an answer like this one with the rows of a tree, in order, as cli->opt.by says. Threads
 * have numbers as names if `is_numbered`.
 */
int print_calls(struct cli *cli, const struct answer *plain, const struct call_tree *tree,
		bool is_numbered);

/* Sampled objects of each class, and where they were allocated. */
struct sampled {
	struct row_source source; /* the rows of `rows`, with what is known of their classes */
	struct hdb_rows *rows;    /* lent */
	struct call_tree live, allocated;
	uint64_t *told; /* for each class of these: the suspect it was told of */
	size_t class_name, objects, suspect, text;
	struct hdb_value value;
	char sentence[1024];
};

/* Reads a recording. Release it in any case, after the answer. */
int sampled_open(struct cli *cli, const char *path, struct hdb_rows *rows, struct sampled *out);
void sampled_release(struct sampled *sampled);

#endif
