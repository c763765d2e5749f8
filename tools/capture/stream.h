/*
 * capture/stream.h - carries a dump from where it comes to a pipe that is read by somebody else,
 * on a thread of its own, and says at the end whether it was whole.
 *
 * Pages are moved from pipe to pipe and not copied. The reader's end of the stream is only ever
 * closed after `stop` has been set, if the dump is not whole: whoever looks at `stop` behind the
 * end knows.
 */
#ifndef CAPTURE_STREAM_H
#define CAPTURE_STREAM_H

#include "capture/common.h"

#include <pthread.h>

struct stream {
	/* set by the caller */
	int from_fd; /* a pipe or a file; lent */
	/*
	 * a socket whose other side hangs up behind the last byte, or instead of any; -1: none;
	 * lent
	 */
	int watch_fd;
	const struct capture_options *options; /* lent */
	/*
	 * Behind the last byte: HDB_OK if `bytes` were all, else why not. On the stream's thread;
	 * NULL: they are.
	 */
	int (*finish)(void *ctx, uint64_t bytes, struct hdb_error *err);
	/*
	 * Nothing came for the time of the options since the last call or byte: HDB_OK to go on
	 * waiting. On the stream's thread; NULL: waits.
	 */
	int (*is_late)(void *ctx, struct hdb_error *err);
	void *ctx;
	/* private */
	int read_fd, write_fd;
	pthread_t thread;
	bool is_running;
	volatile int stop;
	uint64_t bytes;
	int result;
	struct hdb_error error;
};

/* Starts the thread. stream_end in either case. */
int stream_start(struct stream *stream, struct hdb_error *err);

/* Closes the end that is read and waits for the thread: as capture_end. */
int stream_end(struct stream *stream, struct hdb_error *err);

#endif
