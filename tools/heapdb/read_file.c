/*
 * heapdb/read_file.c - reads a whole file or standard input.
 */
#include "heapdb/cli.h"
#include "heapdb/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

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
	rc = file_text_read(fd, progress_callbacks().cancel, out, &cli->err);
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
