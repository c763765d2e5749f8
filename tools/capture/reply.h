/*
 * capture/reply.h - requests and replies of HotSpot's attach protocol, as bytes.
 *
 * A request is texts with a zero behind each: version 1 is "1", a command and exactly three
 * arguments; version 2 (JDK 24 and later) "2", the size of what follows, a command and any
 * arguments. A reply is a number and a line end, and then text.
 */
#ifndef CAPTURE_REPLY_H
#define CAPTURE_REPLY_H

#include "base/base_text.h"

#include <stdbool.h>
#include <stddef.h>

#define ATTACH_ARGUMENTS 3

/* Bytes of a request: the protocol's own limit of version 1, which is enough. */
#define ATTACH_REQUEST_MAX 4096

struct reply {
	struct bytes bytes; /* of all of it, and a zero */
	long code;          /* 0: done */
	const char *text;   /* behind the number; in `bytes` */
};

void reply_release(struct reply *reply);

/*
 * Writes a request of this version into `out` (ATTACH_REQUEST_MAX bytes): its size, or 0 if it
 * does not fit. A NULL ends the arguments, at most ATTACH_ARGUMENTS.
 */
size_t attach_request(int version, const char *command, const char *const *arguments, char *out);

/* Reads the bytes into code and text; false if that is no reply. */
bool attach_parse_reply(struct reply *reply);

/* The version in a reply to "getversion": 1 if the VM does not know the command. */
int attach_parse_version(const struct reply *reply);

/* The last line of the text that is not empty: what went wrong stands there. Cut to fit. */
void attach_last_line(const struct reply *reply, char *out, size_t size);

#endif
