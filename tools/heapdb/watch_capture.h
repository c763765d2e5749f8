/*
 * heapdb/watch_capture.h - captures that `heapdb watch` starts, one at a time. Each capture runs in
 * a process that calls `heapdb capture`, `heapdb report` and the user's command.
 */
#ifndef HEAPDB_WATCH_CAPTURE_H
#define HEAPDB_WATCH_CAPTURE_H

#include "capture/capture.h"
#include "watch/watch.h"

#include <sys/types.h>

enum watch_keep { KEEP_DATABASE, KEEP_GRAPH, KEEP_REDACTED, KEEP_DUMP };

struct watch_action {
	const char *dir;    /* parent of the directories of captures; borrowed */
	const char *series; /* series for the reports; borrowed */
	const char *then;   /* shell command to run afterwards, or NULL if none; borrowed */
	enum watch_keep keep;
	uint64_t lapse; /* factor by which time passes faster in tests */
};

/*
 * A capture that is running, or that has ended but whose result has not been read yet. Initialise
 * it with zeros.
 */
struct watch_running {
	pid_t pid; /* 0 means none */
	int result_fd;
	bool has_ended, is_good;
	char jvm[SERIES_JVM_SIZE], folder[1024];
};

int watch_keep_named(const char *name, enum watch_keep *out, struct hdb_error *err);

/*
 * Checks memory and disk space, and starts a capture. Fails with HDB_ELIMIT if memory or disk space
 * is insufficient, or if a capture is running.
 */
int watch_start(const struct watch_action *action, const struct watch_capture *what,
		struct watch_running *running, struct hdb_error *err);

/* Returns whether a capture has ended. If so, watch_take returns its result, once. */
bool watch_has_ended(struct watch_running *running);
void watch_take(struct watch_running *running, struct watch_captured *out);

/* Ends a capture that is still running. The capture removes its files. */
void watch_stop(struct watch_running *running);

/*
 * Returns the time in milliseconds at which a dump written by a JVM that ran out of memory was
 * complete, or 0 if there is none.
 */
uint64_t watch_find_dump(const struct capture_meters *jvm);

#endif
