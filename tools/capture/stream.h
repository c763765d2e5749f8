/*
 * capture/stream.h - copies a dump from its source to a pipe, on its own thread, and reports at the
 * end whether the dump is complete. splice() moves pages without copying them.
 *
 * If the dump is incomplete, `stop` is set before the reader's end of the stream is closed. A
 * reader that checks `stop` after end of file can therefore rely on it.
 */
#ifndef CAPTURE_STREAM_H
#define CAPTURE_STREAM_H

#include "base/flag.h"
#include "capture/common.h"

#include <pthread.h>

struct stream {
	/* The caller sets these members. */
	int from_fd; /* a pipe or a file; borrowed */
	/*
	 * socket whose peer hangs up at the end, or without sending any byte; -1 means none;
	 * borrowed
	 */
	int watch_fd;
	const struct capture_options *options; /* borrowed */
	/*
	 * Called on the stream's thread after the last byte. Returns HDB_OK if the whole dump has
	 * `bytes` bytes, otherwise a failure. NULL means that the dump is always complete.
	 */
	int (*finish)(void *ctx, uint64_t bytes, struct hdb_error *err);
	/*
	 * Called on the stream's thread when no byte has arrived for the timeout of the options. If
	 * the function returns HDB_OK or is NULL, the stream continues to wait.
	 */
	int (*is_late)(void *ctx, struct hdb_error *err);
	void *ctx;
	/* private */
	int read_fd, write_fd;
	pthread_t thread;
	bool is_running;
	base_flag stop;
	uint64_t bytes;
	int result;
	struct hdb_error error;
};

/* Starts the thread. stream_end must be called even after an error. */
int stream_start(struct stream *stream, struct hdb_error *err);

/* Closes the reader's end and waits for the thread. Returns the same codes as capture_end. */
int stream_end(struct stream *stream, struct hdb_error *err);

#endif
