/*
 * heapdb/with_files.h - files about the same program as a dump (--with): series, recordings, output
 * of /proc and jcmd, Android's meminfo and traces. Their answers come from the commands that read
 * them, run in this process.
 */
#ifndef HEAPDB_WITH_FILES_H
#define HEAPDB_WITH_FILES_H

#include "heapdb/cli.h"

#define WITH_ANSWERS_MAX 12

struct with_files {
	/* Names of the answers, which the page uses to request them; static. */
	const char *answers[WITH_ANSWERS_MAX];
	size_t count;
	const struct repeated *files; /* borrowed */
	const char *readers[OPTIONS_REPEATED_MAX];
};

/* Determines which command reads each file. Fails with HDB_EUSAGE if no command reads a file. */
int with_files_open(struct cli *cli, const struct repeated *files, struct with_files *out);

/*
 * Runs the command of an answer. Sets *text to its human-readable output, or to its JSON output
 * without keys whose value is null. The caller must release *text with bytes_release. Thread-safe.
 * `name` is one of with->answers.
 */
int with_files_text(const struct with_files *with, const char *name, bool is_json,
		    struct bytes *text, struct hdb_error *err);

/*
 * Returns the heading of the answer's section in a report, or NULL if reports omit it. The string
 * is static.
 */
const char *with_files_heading(const char *name);

#endif
