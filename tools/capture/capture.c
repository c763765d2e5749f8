/*
 * capture/capture.c - a capture, whatever is captured.
 */
#include "capture/capture_private.h"

int capture_input(const struct capture *c)
{
	return c->stream.read_fd;
}

const char *capture_name(const struct capture *c)
{
	return c->name;
}

const volatile int *capture_stop(const struct capture *c)
{
	return &c->stream.stop;
}

int capture_end(struct capture *c, struct hdb_error *err)
{
	const int rc = stream_end(&c->stream, err);

	c->release(c);
	return rc;
}
