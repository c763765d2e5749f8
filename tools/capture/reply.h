/*
 * capture/reply.h - encodes requests and decodes replies of HotSpot's attach protocol.
 *
 * A request is a list of zero-terminated strings. Version 1: "1", a command and exactly three
 * arguments. Version 2 (JDK 24 and later): "2", the size of the rest, a command and any number of
 * arguments. A reply is a number, a line feed, and text.
 */
#ifndef CAPTURE_REPLY_H
#define CAPTURE_REPLY_H

#include "base/base_text.h"

#include <stdbool.h>
#include <stddef.h>

#define ATTACH_ARGUMENTS 3

/* Maximum size of a request: the protocol's own limit in version 1. */
#define ATTACH_REQUEST_MAX 4096

struct reply {
	struct bytes bytes; /* the whole reply, zero-terminated */
	long code;          /* 0 means success */
	const char *text;   /* text after the number; points into `bytes` */
};

void reply_release(struct reply *reply);

/*
 * Writes a request of the given version to `out` (ATTACH_REQUEST_MAX bytes). Returns its size, or 0
 * if it does not fit. NULL ends the arguments, of which there are at most ATTACH_ARGUMENTS.
 */
size_t attach_request(int version, const char *command, const char *const *arguments, char *out);

/* Splits the bytes into code and text. Returns false if they are not a reply. */
bool attach_parse_reply(struct reply *reply);

/* Returns the version from a reply to "getversion", or 1 if the VM does not know this command. */
int attach_parse_version(const struct reply *reply);

/* Copies the last nonempty line of the text, which is the error message, truncated to fit. */
void attach_last_line(const struct reply *reply, char *out, size_t size);

#endif
