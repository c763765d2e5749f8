/*
 * heapdb/feed.h - dumps that come by a pipe: out of an archive (a.zip, a.tar.xz!b/c.hprof), or from
 * a command that fetches what is no file here (s3://...). Archives are read by libarchive, if it
 * was there when this was built.
 */
#ifndef HEAPDB_FEED_H
#define HEAPDB_FEED_H

#include "heapdb.h"

#include <stdbool.h>

struct feed;

/* Whether it names an archive, a file in one, or an address: what is no dump itself. */
bool feed_takes(const char *name);

/* Whether bytes begin as a dump does, or as a compressed file. */
bool feed_begins_dump(const char *head, size_t size);

/* Whether it is an archive, or in one, that is a file here: its path. */
bool feed_archive(const char *name, char *path, size_t size);

/* Whether both names are of one archive and of the same file in it. */
bool feed_is_same(const char *a, const char *b);

/*
 * What the dump would be called as a file here: for hdb_default_path. HDB_ELIMIT: it is too long.
 */
int feed_file_name(const char *name, char *out, size_t size, struct hdb_error *err);

/*
 * Begins to read: of an archive the file that is named, or the first that begins as a dump. `fetch`
 * is a command line for the shell that writes the dump (or archive), {} in it being the name; NULL:
 * the name is a file's. Both are lent. In any case *out is owned: feed_end.
 */
int feed_start(const char *name, const char *fetch, struct feed **out, struct hdb_error *err);

/* The path of the pipe; valid until feed_end. */
const char *feed_path(const struct feed *feed);

/*
 * Waits for the end. HDB_OK; HDB_END: the archive is damaged, and what came before is good; below
 * 0: nothing that came is to be used. The message of both is in *err. `other` is the name of
 * another dump in the archive, or empty.
 */
int feed_end(struct feed *feed, char *other, size_t size, struct hdb_error *err);

#endif
