/*
 * heapdb/gate.h - `heapdb gate`: the checks of a budget, their results, and formats for printing
 * them.
 *
 * A check is a condition of --fail-if (or a count of rows) with a name and a position in a YAML
 * file.
 */
#ifndef HEAPDB_GATE_H
#define HEAPDB_GATE_H

#include "heapdb/cli.h"

enum gate_measure {
	GATE_OBJECTS,
	GATE_SHALLOW,
	GATE_RETAINED,
	GATE_GROWTH, /* growth since the baseline, of a retained size or of the whole heap */
	GATE_LEAKS,
	GATE_FINGERPRINTS, /* leak suspects that are not in the baseline */
	GATE_SECRETS
};

/*
 * An object that made a check fail, and the owner and path of the object. Long strings are
 * truncated.
 */
struct gate_culprit {
	char object[512], owner[512], path[1024];
};
#define GATE_CULPRITS_MAX 3u

struct gate_check {
	char *name, *target; /* owned; target "": none */
	enum gate_measure measure;
	double limit;
	bool is_percent;
	size_t line, column; /* position of its name in the file, counted from 1 */
	size_t at, size;     /* offset and size of the limit in the file */
	/* the result */
	bool has_failed, is_unknown; /* is_unknown: whether neither dump contains the target */
	double value;
	char text[240]; /* sentence: "retained com.acme.* is 61.2 MiB, limit 50.0 MiB" */
	struct gate_culprit culprits[GATE_CULPRITS_MAX];
	size_t culprit_count;
};

struct gate_budget {
	const char *path;          /* borrowed */
	struct gate_check *checks; /* owned */
	size_t count, failed;
	double margin; /* percentage that --update adds */
};

/* The keywords of the measures in a budget. */
extern const char *const gate_words[];
/* Returns whether the measure is in bytes. */
static inline bool gate_is_size(const struct gate_check *c)
{
	return (c->measure == GATE_SHALLOW || c->measure == GATE_RETAINED ||
		c->measure == GATE_GROWTH) &&
	       !c->is_percent;
}

/*
 * Reads the checks of a budget. An error message contains line and column. The caller must release
 * *budget even after a failure.
 */
int gate_read(struct cli *cli, const struct file_text *file, struct gate_budget *budget);
void gate_release(struct gate_budget *budget);
/* Rewrites the file with limits that allow the results plus a margin. */
int gate_update(struct cli *cli, const struct file_text *file, const struct gate_budget *budget);

/* The formats, in the order of the values of --format. */
enum gate_format { GATE_TEXT, GATE_MARKDOWN, GATE_JUNIT, GATE_SARIF, GATE_GITHUB };
void gate_print(struct output *out, const struct gate_budget *budget, enum gate_format format);

#endif
