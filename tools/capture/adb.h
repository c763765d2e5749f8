/* capture/adb.h - runs commands of adb for the device that the options name. */
#ifndef CAPTURE_ADB_H
#define CAPTURE_ADB_H

#include "capture/child.h"

/* Maximum number of words in a command, including the final NULL. */
#define ADB_WORDS_MAX 16

/* Builds "adb [-s SERIAL] WORDS..."; words beyond ADB_WORDS_MAX are dropped. */
void adb_words(const struct capture_options *options, const char *const *words, const char **argv);

/* Runs the command, as child_run does. */
int adb_run(const struct capture_options *options, const char *const *words, uint64_t timeout_ms,
	    struct child_output *out, struct hdb_error *err);

/* Fails with HDB_EIO and the message printed by the command. */
int adb_failed(const char *what, const struct child_output *out, struct hdb_error *err);

/* Checks that `process` is a valid process name and that a device is connected. */
int adb_begin(const struct capture_options *options, const char *process, struct hdb_error *err);

#endif
