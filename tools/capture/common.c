/*
 * capture/common.c - implements common.h.
 */
#include "capture/common.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

uint64_t capture_timeout_ms(const struct capture_options *options)
{
	return (options->timeout_s ? options->timeout_s : CAPTURE_TIMEOUT_DEFAULT) * UINT64_C(1000);
}

bool capture_is_cancelled(const struct capture_options *options)
{
	return base_flag_is_set(options->cancel);
}

int capture_interrupted(struct hdb_error *err)
{
	return hdb_fail(err, HDB_EINTR, "interrupted");
}

int capture_wait(const struct capture_options *options, int fd, short events, uint64_t end_ms,
		 struct hdb_error *err)
{
	for (;;) {
		struct pollfd p = { .fd = fd, .events = events };
		int n;

		if (capture_is_cancelled(options))
			return capture_interrupted(err);
		if (base_now_ms() > end_ms)
			return HDB_END;
		n = poll(&p, 1, CAPTURE_TICK_MS);
		if (n > 0)
			return HDB_OK;
		if (n < 0 && errno != EINTR)
			return hdb_fail(err, HDB_EIO, "poll: %s", strerror(errno));
	}
}

void capture_notice(const struct capture_options *options, const char *format, ...)
{
	char text[HDB_ERROR_SIZE];
	va_list args;

	if (!options->notice)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	options->notice(options->ctx, text);
}

long capture_read(int fd, void *buf, size_t size)
{
	size_t used = 0;

	while (used < size) {
		const ssize_t n = read(fd, (char *)buf + used, size - used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		used += (size_t)n;
	}
	return (long)used;
}

long capture_read_file(int dir_fd, const char *name, char *buf, size_t size)
{
	BASE_CLOSED const int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	const long used = fd < 0 ? -1 : capture_read(fd, buf, size - 1);

	buf[used < 0 ? 0 : used] = '\0';
	return used;
}

void capture_close_fd(int fd)
{
	if (fd >= 0)
		(void)close(fd);
}

void capture_random_name(const char *prefix, char *out, size_t size)
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != (ssize_t)sizeof(number))
		number = base_now_ms() << 20 ^ (uint64_t)getpid();
	snprintf(out, size, "%s%016" PRIx64, prefix, number);
}
