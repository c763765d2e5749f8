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

/* Who reads a dump, and what is made of it. All is lent. */
struct feed_reader {
	/* `path` is the dump's name, or a pipe's; below 0: it failed. */
	int (*read)(void *ctx, const char *path, struct hdb_error *err);
	void *ctx;
	const char *out_path;     /* what it makes: is removed if what came is not to be used */
	const char *after_damage; /* "; what came before is imported" */
	const struct hdb_progress *progress; /* cancel and notice are used */
};

/*
 * Has the dump read: a file, the file that is named in an archive, or the first there that begins
 * as a dump. `fetch` is a command line for the shell that writes the dump (or archive), {} in it
 * being the name; NULL: the name is a file's. Returns what the reader does, if what it read was
 * good.
 */
int feed_read(const char *name, const char *fetch, const struct feed_reader *reader,
	      struct hdb_error *err);

struct feed_import {
	const char *dump, *fetch, *database; /* fetch as of feed_read */
};

/* hdb_import of what feed_read reads; options->dump_name is set where the dump is no file. */
int feed_import(const struct feed_import *import, struct hdb_import_options *options,
		struct hdb_import_result *out, struct hdb_error *err);

#endif
