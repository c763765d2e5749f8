/*
 * capture/adb.h - commands of adb, for the device that the options name.
 */
#ifndef CAPTURE_ADB_H
#define CAPTURE_ADB_H

#include "capture/child.h"

/* Words of a command: adb -s SERIAL shell ... and the NULL behind them. */
#define ADB_WORDS_MAX 16

/* "adb [-s SERIAL] WORDS...": as many as fit. */
void adb_words(const struct capture_options *options, const char *const *words, const char **argv);

/* Runs it, as child_run does. */
int adb_run(const struct capture_options *options, const char *const *words, uint64_t timeout_ms,
	    struct child_output *out, struct hdb_error *err);

/* The failure of a command, in its words; HDB_EIO. */
int adb_failed(const char *what, const struct child_output *out, struct hdb_error *err);

/* Whether that can be the name of a process, and there is a device. */
int adb_begin(const struct capture_options *options, const char *process, struct hdb_error *err);

#endif
