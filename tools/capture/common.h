/*
 * capture/common.h - what the files of this folder share: clocks, interruption, and small files
 * read whole.
 */
#ifndef CAPTURE_COMMON_H
#define CAPTURE_COMMON_H

#include "base/work.h"
#include "capture/capture.h"
#include "base/error.h"
#include "base/scope.h"

#include <stddef.h>
#include <stdint.h>

/* How often what blocks looks whether it should stop, in milliseconds. */
#define CAPTURE_TICK_MS 100

/* The seconds of the options, in milliseconds. */
uint64_t capture_timeout_ms(const struct capture_options *options);

bool capture_is_cancelled(const struct capture_options *options);

/* HDB_EINTR, with its message. */
int capture_interrupted(struct hdb_error *err);

/*
 * Waits until a descriptor can be read or written (POLLIN or POLLOUT): HDB_END after end_ms of
 * base_now_ms, also if it could be.
 */
int capture_wait(const struct capture_options *options, int fd, short events, uint64_t end_ms,
		 struct hdb_error *err);

/* Passes one line for the user to the notice callback, if there is one. */
void capture_notice(const struct capture_options *options, const char *format, ...)
	HDB_PRINTF(2, 3);

/*
 * Reads the file `name` in the folder `dir_fd`, at most size - 1 bytes, and puts a zero behind: its
 * size, or -1 with errno.
 */
long capture_read_file(int dir_fd, const char *name, char *buf, size_t size);

/* Reads until `size` bytes are there or no more come: how many, or -1 with errno. */
long capture_read(int fd, void *buf, size_t size);

/* close() that takes -1, too. */
void capture_close_fd(int fd);

/* An unpredictable name: `prefix` and 16 hexadecimal digits. */
void capture_random_name(const char *prefix, char *out, size_t size);

#endif
