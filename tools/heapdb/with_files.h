/*
 * heapdb/with_files.h - files of the same program beside a dump (--with): series, recordings, what
 * /proc and jcmd print, Android's meminfo and traces. Their answers are those of the commands that
 * read them, run in this process.
 */
#ifndef HEAPDB_WITH_FILES_H
#define HEAPDB_WITH_FILES_H

#include "heapdb/cli.h"

#define WITH_ANSWERS_MAX 12

struct with_files {
	/* Names of the answers, as the page asks for them; static. */
	const char *answers[WITH_ANSWERS_MAX];
	size_t count;
	const struct repeated *files; /* lent */
	const char *readers[OPTIONS_REPEATED_MAX];
};

/* Finds out what reads each file. Fails with HDB_EUSAGE if nothing does. */
int with_files_open(struct cli *cli, const struct repeated *files, struct with_files *out);

/*
 * Runs the command of an answer: its text for people, or its JSON, without the keys of nulls. *text
 * is owned: bytes_release. Thread-safe. `name` is one of with->answers.
 */
int with_files_text(const struct with_files *with, const char *name, bool is_json,
		    struct bytes *text, struct hdb_error *err);

/* Heading of the answer's section in a report; NULL if a report leaves it out. Static. */
const char *with_files_heading(const char *name);

/* Runs a command that opens no database, words[0], and returns its text. */
int command_text(const char *const *words, size_t count, bool is_sparse, struct bytes *text,
		 struct hdb_error *err);

#endif
