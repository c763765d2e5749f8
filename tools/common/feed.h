/*
 * common/feed.h - dumps that come by a pipe: out of an archive (a.zip, a.tar.xz!b/c.hprof), or from
 * a command that fetches what is no file here (s3://...). Archives are read by libarchive, if it
 * was there when this was built.
 */
#ifndef COMMON_FEED_H
#define COMMON_FEED_H

#include "heapdb.h"

#include <stdbool.h>

/* Whether bytes begin as a dump does, or as a compressed file. */
bool feed_begins_dump(const char *head, size_t size);

/* Whether it is an archive, or in one, that is a file here: its path. */
bool feed_archive(const char *name, char *path, size_t size);

/* Whether both names are of one archive and of the same file in it. */
bool feed_is_same(const char *a, const char *b);

/* hdb_default_path, which is also that of a dump in an archive or at an address. */
int feed_default_path(const char *dump, char *out, size_t size, struct hdb_error *err);

struct feed;

/*
 * Begins to read a dump that is no file of its own: of an archive the file that is named, or the
 * first that begins as a dump. `fetch` is a command line for the shell that writes the dump (or
 * archive), {} in it being the name; NULL: the name is a file's. *out is owned: feed_close; NULL if
 * the dump is a file. `name` and `progress`, of which cancel and notice are used, are lent until
 * then.
 */
int feed_open(const char *name, const char *fetch, const struct hdb_progress *progress,
	      struct feed **out, struct hdb_error *err);

/* What to read the dump from: the pipe, or `name`. */
const char *feed_path(const struct feed *feed, const char *name);

/*
 * Ends it; returns what came of reading, `rc`, if what was read was good, else removes the file
 * `made` of it and fails. The message of a failure names the dump. `feed` may be NULL.
 */
int feed_close(struct feed *feed, int rc, const char *made, struct hdb_error *err);

#endif
