/*
 * common/file_text.c - implements file_text.h.
 */
#include "common/file_text.h"

#include "base/error.h"
#include "base/scope.h"
#include "common/output.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Number of bytes per read. The size of the file may be unknown. */
#define READ_BYTES 65536u

int file_text_read(int fd, const base_flag *cancel, struct file_text *text, struct hdb_error *err)
{
	BASE_SCOPED(bytes_release) struct bytes all = { 0 };

	for (;;) {
		char *to = bytes_room(&all, READ_BYTES + 1);
		const ssize_t n = to ? read(fd, to, READ_BYTES) : 0;

		if (!to)
			return hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for %s",
					text->name);
		if (base_flag_is_set(cancel))
			return hdb_fail(err, HDB_EINTR, "%s: interrupted", text->name);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return hdb_fail(err, HDB_EIO, "%s: %s", text->name, strerror(errno));
		all.size += (size_t)n;
		if (all.size > text->size_max)
			return hdb_fail(err, HDB_ELIMIT, "%s: too large (limit %zu bytes)",
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
