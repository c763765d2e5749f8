/*
 * export/export_file.c - an output file that gets its name only when complete, or standard output.
 */
#include "export/export_private.h"

#include "common/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct export_file {
	int fd;
	char *path, *temporary; /* owned; NULL: standard output */
	bool force;
};

static int fail_file(const char *path, struct hdb_error *err)
{
	const int number = errno;

	return hdb_fail(err, HDB_EIO, "%s: %s", path ? path : "standard output", strerror(number));
}

static int write_file(void *ctx, const void *data, size_t size, struct hdb_error *err)
{
	const struct export_file *file = ctx;

	return write_all(file->fd, data, size) ? HDB_OK : fail_file(file->path, err);
}

static int create(struct export_file *file, const char *path, struct hdb_error *err)
{
	struct stat st;

	file->path = strdup(path);
	file->temporary = malloc(strlen(path) + 16);
	if (!file->path || !file->temporary)
		return export_no_memory(err);
	if (!file->force && lstat(path, &st) == 0)
		return hdb_fail(err, HDB_EEXIST, "%s exists already", path);
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		/* Devices and pipes are written directly. */
		free(file->temporary);
		file->temporary = NULL;
		file->fd = open(path, O_WRONLY | O_CLOEXEC);
		return file->fd < 0 ? fail_file(path, err) : HDB_OK;
	}
	sprintf(file->temporary, "%s.XXXXXX", path);
	file->fd = mkstemp(file->temporary);
	if (file->fd < 0) {
		const int r = fail_file(path, err);

		free(file->temporary);
		file->temporary = NULL;
		return r;
	}
	return HDB_OK;
}

int export_file_create(const char *path, int force, struct export_file **out,
		       struct export_sink *sink, struct hdb_error *err)
{
	struct export_file *file = calloc(1, sizeof(*file));
	int r;

	if (!file)
		return export_no_memory(err);
	file->fd = -1;
	file->force = force != 0;
	if (strcmp(path, "-") == 0) {
		file->fd = STDOUT_FILENO;
	} else if ((r = create(file, path, err)) < 0) {
		export_file_abort(file);
		return r;
	}
	*sink = (struct export_sink){ write_file, file };
	*out = file;
	return HDB_OK;
}

int export_file_descriptor(const struct export_file *file)
{
	return file->fd;
}

int export_file_finish(struct export_file *file, struct hdb_error *err)
{
	int r = HDB_OK;

	if (!file->temporary)
		goto out;
	/* The file keeps mode 0600 from mkstemp, since heap contents are confidential. */
	if (fsync(file->fd) != 0) {
		r = fail_file(file->path, err);
		goto out;
	}
	if (file->force ? rename(file->temporary, file->path) : link(file->temporary, file->path)) {
		r = fail_file(file->path, err);
	} else if (file->force) {
		free(file->temporary);
		file->temporary = NULL;
	}
out:
	export_file_abort(file);
	return r;
}

void export_file_abort(struct export_file *file)
{
	if (!file)
		return;
	if (file->fd >= 0 && file->path)
		close(file->fd);
	if (file->temporary)
		unlink(file->temporary);
	free(file->temporary);
	free(file->path);
	free(file);
}
