/* common/file_text.h - reads a whole file into memory. */
#ifndef COMMON_FILE_TEXT_H
#define COMMON_FILE_TEXT_H

#include "heapdb.h"

#include "base/flag.h"

#include <stdlib.h>

struct file_text {
	const char *name; /* name for messages; borrowed */
	char *data;       /* owned, zero-terminated; NULL after a failure */
	size_t size, size_max;
};

static inline void file_text_release(struct file_text *text)
{
	free(text->data);
}

/*
 * Reads the rest of a file. The caller must have set the name and size_max of `text`. Fails with
 * HDB_ELIMIT if the file has more than size_max bytes, and with HDB_EINTR once *cancel is nonzero
 * (`cancel` may be NULL).
 */
int file_text_read(int fd, const base_flag *cancel, struct file_text *text, struct hdb_error *err);

#endif
