/*
 * capture/stream.c - implements stream.h.
 */
#include "capture/stream.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

/* Number of bytes per transfer: the largest pipe buffer available without root. */
#define PIPE_BYTES ((size_t)1 << 20)

/* Further results of move_some. */
#define AT_END HDB_END
#define NOTHING_YET 2
#define READER_LEFT 3

/* Moves the available bytes. */
static int move_some(struct stream *s, struct hdb_error *err)
{
	const ssize_t n = splice(s->from_fd, NULL, s->write_fd, NULL, PIPE_BYTES,
				 SPLICE_F_MOVE | SPLICE_F_NONBLOCK);

	if (n > 0) {
		s->bytes += (uint64_t)n;
		return HDB_OK;
	}
	if (n == 0)
		return AT_END;
	if (errno == EAGAIN || errno == EINTR)
		return NOTHING_YET;
	if (errno == EPIPE)
		return READER_LEFT;
	return hdb_fail(err, HDB_EIO, "cannot read the dump: %s", strerror(errno));
}

/*
 * Waits until there are bytes to move and room for these bytes. splice() reports the end of a pipe
 * that no writer has opened yet, whereas poll() distinguishes the two cases.
 */
static int wait_until_ready(const struct stream *s, struct hdb_error *err)
{
	struct pollfd from[] = { { .fd = s->from_fd, .events = POLLIN },
				 { .fd = s->watch_fd, .events = POLLRDHUP } };
	struct pollfd to = { .fd = s->write_fd, .events = POLLOUT };

	if (poll(&to, 1, CAPTURE_TICK_MS) < 0 && errno != EINTR)
		return hdb_fail(err, HDB_EIO, "poll: %s", strerror(errno));
	if (to.revents & POLLERR)
		return READER_LEFT;
	/*
	 * wait for room first: a slow reader also blocks the VM, which must not be treated as late
	 */
	if (!(to.revents & POLLOUT))
		return HDB_OK;
	if (poll(from, 2, CAPTURE_TICK_MS) < 0 && errno != EINTR)
		return hdb_fail(err, HDB_EIO, "poll: %s", strerror(errno));
	/*
	 * the answer follows the bytes, but the bytes may have arrived after the first poll, so
	 * poll again
	 */
	if (!from[0].revents && from[1].revents && poll(from, 1, 0) == 0)
		return AT_END;
	return from[0].revents ? HDB_OK : NOTHING_YET;
}

/* Moves all bytes. Returns AT_END, READER_LEFT or a failure. */
static int move_all(struct stream *s, struct hdb_error *err)
{
	const uint64_t timeout = capture_timeout_ms(s->options);
	uint64_t since = base_now_ms();

	for (;;) {
		int rc = wait_until_ready(s, err);

		if (capture_is_cancelled(s->options))
			return capture_interrupted(err);
		if (rc == HDB_OK) {
			rc = move_some(s, err);
			since = base_now_ms();
		}
		if (rc != HDB_OK && rc != NOTHING_YET)
			return rc;
		if (rc == NOTHING_YET && base_now_ms() - since > timeout) {
			TRY(s->is_late ? s->is_late(s->ctx, err) : HDB_OK);
			since = base_now_ms();
		}
	}
}

static void *run(void *arg)
{
	struct stream *s = arg;
	int rc = move_all(s, &s->error);

	if (rc == AT_END)
		rc = s->finish ? s->finish(s->ctx, s->bytes, &s->error) : HDB_OK;
	s->result = rc == READER_LEFT ? HDB_END : rc;
	if (s->result != HDB_OK)
		base_flag_set(&s->stop, 1);
	assert(s->write_fd >= 0);
	close(s->write_fd);
	s->write_fd = -1;
	return NULL;
}

int stream_start(struct stream *s, struct hdb_error *err)
{
	int ends[2], rc;

	assert(!s->is_running);
	s->read_fd = s->write_fd = -1;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return hdb_fail(err, HDB_EIO, "pipe: %s", strerror(errno));
	s->read_fd = ends[0];
	s->write_fd = ends[1];
	/* a larger pipe is faster; the request may be refused */
	(void)fcntl(s->write_fd, F_SETPIPE_SZ, PIPE_BYTES);
	(void)fcntl(s->from_fd, F_SETPIPE_SZ, PIPE_BYTES);
	rc = pthread_create(&s->thread, NULL, run, s);
	if (rc != 0)
		return hdb_fail(err, HDB_ENOMEM, "thread: %s", strerror(rc));
	s->is_running = true;
	return HDB_OK;
}

int stream_end(struct stream *s, struct hdb_error *err)
{
	capture_close_fd(s->read_fd);
	s->read_fd = -1;
	if (!s->is_running) {
		capture_close_fd(s->write_fd);
		s->write_fd = -1;
		return HDB_END;
	}
	(void)pthread_join(s->thread, NULL);
	s->is_running = false;
	if (s->result < 0 && err)
		*err = s->error;
	return s->result;
}
