/*
 * heapdb/read_file.c - reads a whole file or standard input.
 */
#include "heapdb/cli.h"
#include "heapdb/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Bytes per read if the size is unknown. */
#define READ_BYTES 65536u

static int read_all(struct cli *cli, int fd, struct file_text *text)
{
	BASE_SCOPED(bytes_release) struct bytes all = { 0 };

	for (;;) {
		char *to = bytes_room(&all, READ_BYTES + 1);
		const ssize_t n = to ? read(fd, to, READ_BYTES) : 0;

		if (!to)
			return hdb_fail(&cli->err, HDB_ENOMEM, "cannot allocate memory for %s",
					text->name);
		if (n < 0 && errno == EINTR && !progress_is_cancelled())
			continue;
		if (n < 0)
			return hdb_fail(&cli->err, progress_is_cancelled() ? HDB_EINTR : HDB_EIO,
					"%s: %s", text->name, strerror(errno));
		all.size += (size_t)n;
		if (all.size > text->size_max)
			return hdb_fail(&cli->err, HDB_ELIMIT, "%s: too large (limit %zu bytes)",
					text->name, text->size_max);
		if (n == 0)
			break;
	}
	all.data[all.size] = '\0';
	text->data = all.data;
	text->size = all.size;
	all = (struct bytes){ 0 };
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
		return hdb_fail(&cli->err, errno == ENOENT ? HDB_EFORMAT : HDB_EIO, "%s: %s", path,
				strerror(errno));
	rc = read_all(cli, fd, out);
	if (!is_input)
		close(fd);
	return rc;
}

int cli_name_file(struct cli *cli, const char *name, int rc)
{
	char message[HDB_ERROR_SIZE];

	if (rc >= 0)
		return rc;
	snprintf(message, sizeof(message), "%s", cli->err.message);
	return hdb_fail(&cli->err, rc, "%.100s: %.300s", name, message);
}
