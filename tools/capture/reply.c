/*
 * capture/reply.c - implements reply.h.
 */
#include "capture/reply.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limits of a command name and of an argument in version 1 (jdk: AttachOperation). */
#define COMMAND_MAX 16
#define ARGUMENT_MAX 1024

/* Size of the buffer for version and length. */
#define HEAD_MAX 32

/* Appends text and a zero at *used. Returns false if the text does not fit. */
static bool put(char *out, size_t room, size_t *used, const char *text)
{
	const size_t size = strlen(text) + 1;

	assert(*used <= room);
	if (size > room - *used)
		return false;
	memcpy(out + *used, text, size);
	*used += size;
	return true;
}

size_t attach_request(int version, const char *command, const char *const *arguments, char *out)
{
	char body[ATTACH_REQUEST_MAX - HEAD_MAX];
	size_t used = 0, head;
	bool is_end = false;

	if (strlen(command) > COMMAND_MAX || !put(body, sizeof(body), &used, command))
		return 0;
	for (unsigned i = 0; i < ATTACH_ARGUMENTS; i++) {
		const char *argument;

		is_end = is_end || !arguments[i];
		if (is_end && version > 1)
			break;
		argument = is_end ? "" : arguments[i];
		if (strlen(argument) > ARGUMENT_MAX || !put(body, sizeof(body), &used, argument))
			return 0;
	}
	if (version > 1)
		head = (size_t)snprintf(out, HEAD_MAX, "2%c%zu", '\0', used) + 1;
	else
		head = (size_t)snprintf(out, HEAD_MAX, "1") + 1;
	assert(head <= HEAD_MAX);
	assert(used <= sizeof(body));
	memcpy(out + head, body, used);
	return head + used;
}

void reply_release(struct reply *r)
{
	bytes_release(&r->bytes);
}

bool attach_parse_reply(struct reply *r)
{
	const char *bytes = r->bytes.data;
	char *end;

	r->code = strtol(bytes, &end, 10);
	r->text = end;
	if (end == bytes || bytes[0] == ' ' || bytes[0] == '\n')
		return false;
	/* the number must be alone on its line */
	if (*end == '\r')
		end++;
	if (*end != '\n')
		return false;
	r->text = end + 1;
	return true;
}

int attach_parse_version(const struct reply *r)
{
	const long version = r->code == 0 ? strtol(r->text, NULL, 10) : 1;

	return version >= 2 ? 2 : 1;
}

void attach_last_line(const struct reply *r, char *out, size_t size)
{
	const char *end = r->text + strlen(r->text), *start;

	assert(size > 0);
	while (end > r->text && strchr(" \t\r\n", end[-1]))
		end--;
	start = end;
	while (start > r->text && start[-1] != '\n')
		start--;
	snprintf(out, size, "%.*s", (int)(end - start), start);
}
