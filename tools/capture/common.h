/*
 * capture/common.h - shared helpers: clocks, cancellation, reading small files.
 */
#ifndef CAPTURE_COMMON_H
#define CAPTURE_COMMON_H

#include "base/work.h"
#include "capture/capture.h"
#include "base/error.h"
#include "base/scope.h"

#include <stddef.h>
#include <stdint.h>

/* Interval in ms at which blocking calls check for cancellation. */
#define CAPTURE_TICK_MS 100

/* Returns the timeout of the options in milliseconds. */
uint64_t capture_timeout_ms(const struct capture_options *options);

bool capture_is_cancelled(const struct capture_options *options);

/* Returns HDB_EINTR with its message. */
int capture_interrupted(struct hdb_error *err);

/*
 * Waits until a descriptor is readable or writable (POLLIN or POLLOUT). Returns HDB_END once
 * base_now_ms exceeds end_ms, even if the descriptor is ready.
 */
int capture_wait(const struct capture_options *options, int fd, short events, uint64_t end_ms,
		 struct hdb_error *err);

/* Passes a line for the user to the notice callback, if the options contain a callback. */
void capture_notice(const struct capture_options *options, const char *format, ...)
	HDB_PRINTF(2, 3);

/*
 * Reads at most size - 1 bytes of the file `name` in `dir_fd` and appends a zero. Returns the
 * number of bytes, or -1 with errno.
 */
long capture_read_file(int dir_fd, const char *name, char *buf, size_t size);

/* Reads until `size` bytes or the end. Returns the number of bytes, or -1 with errno. */
long capture_read(int fd, void *buf, size_t size);

/* Closes a descriptor; accepts -1. */
void capture_close_fd(int fd);

/* Writes `prefix` and 16 random hexadecimal digits. */
void capture_random_name(const char *prefix, char *out, size_t size);

#endif
