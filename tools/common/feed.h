/*
 * common/feed.h - reads dumps through a pipe: from an archive (a.zip, a.tar.xz!b/c.hprof) or from a
 * command that fetches a URL (s3://...). Archives require libarchive at build time.
 */
#ifndef COMMON_FEED_H
#define COMMON_FEED_H

#include "heapdb.h"

#include <stdbool.h>

/* Returns whether the bytes begin a dump or a compressed file. */
bool feed_begins_dump(const char *head, size_t size);

/* Returns whether the name is that of an archive or of a file in one, by its suffix. */
bool feed_is_archive(const char *name);

/*
 * Returns whether the name refers to a local archive or to a file in one, and the path of the
 * archive.
 */
bool feed_archive(const char *name, char *path, size_t size);

/* Returns whether both names refer to the same file of the same archive. */
bool feed_is_same(const char *a, const char *b);

/* Like hdb_default_path, but also accepts dumps in archives and at URLs. */
int feed_default_path(const char *dump, char *out, size_t size, struct hdb_error *err);

struct feed;

/*
 * Starts reading a dump that is not a plain file: in an archive, the named file or the first file
 * that begins like a dump. `fetch` is a shell command that writes the dump or archive, with {} for
 * the name; NULL means the name is a file. Sets *out to NULL if the dump is a plain file; otherwise
 * the caller must pass *out to feed_close, and `name` and `progress` (of which only cancel and
 * notice are used) are borrowed until then.
 */
int feed_open(const char *name, const char *fetch, const struct hdb_progress *progress,
	      struct feed **out, struct hdb_error *err);

/* Returns the path from which to read the dump: the pipe, or `name`. */
const char *feed_path(const struct feed *feed, const char *name);

/*
 * Ends the feed. Returns the reader's result `rc` if the input was complete; otherwise removes the
 * file `made`, which the reader has written, and fails. Error messages name the dump. `feed` may be
 * NULL.
 */
int feed_close(struct feed *feed, int rc, const char *made, struct hdb_error *err);

#endif
