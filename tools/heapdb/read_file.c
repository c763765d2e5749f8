/*
 * heapdb/read_file.c - a file or the standard input, whole.
 */
#include "heapdb/cli.h"
#include "heapdb/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes read at a time, of what has no size. */
#define READ_BYTES 65536u

static int read_all(struct cli *cli, int fd, struct file_text *text)
{
	size_t room = 0;

	for (;;) {
		ssize_t n;

		if (room - text->size <= READ_BYTES) {
			char *more;

			room = room * 2 + 2 * READ_BYTES;
			more = realloc(text->data, room);
			if (!more)
				return door_fail(&cli->err, HDB_ENOMEM, "no memory for %s",
						 text->name);
			text->data = more;
		}
		n = read(fd, text->data + text->size, READ_BYTES);
		if (n < 0 && errno == EINTR && !progress_is_cancelled())
			continue;
		if (n < 0)
			return door_fail(&cli->err, progress_is_cancelled() ? HDB_EINTR : HDB_EIO,
					 "%s: %s", text->name, strerror(errno));
		if (n == 0)
			break;
		text->size += (size_t)n;
		if (text->size > text->size_max)
			return door_fail(&cli->err, HDB_ELIMIT, "%s: larger than %zu bytes",
					 text->name, text->size_max);
	}
	text->data[text->size] = '\0';
	return HDB_OK;
}

int cli_read_file(struct cli *cli, const char *path, size_t size_max, struct file_text *out)
{
	const bool is_input = strcmp(path, "-") == 0;
	const int fd = is_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	int rc;

	*out = (struct file_text){ .name = is_input ? "standard input" : path,
				   .size_max = size_max };
	if (fd < 0)
		return door_fail(&cli->err, errno == ENOENT ? HDB_EFORMAT : HDB_EIO, "%s: %s", path,
				 strerror(errno));
	rc = read_all(cli, fd, out);
	if (!is_input)
		close(fd);
	if (rc != HDB_OK) {
		free(out->data);
		out->data = NULL;
	}
	return rc;
}

int cli_name_file(struct cli *cli, const char *name, int rc)
{
	char message[HDB_ERROR_SIZE];

	if (rc >= 0)
		return rc;
	snprintf(message, sizeof(message), "%s", cli->err.message);
	return door_fail(&cli->err, rc, "%.100s: %.300s", name, message);
}
