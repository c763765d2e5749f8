/*
 * base/outfile.h - a file that is written in order, plain or compressed, and appears under its name
 * only when it is whole.
 *
 * gzip is written as the JDK does, in members of 1 MiB with "HPROF BLOCKSIZE=" in the first one's
 * comment, and zstd with a seek table, so that both can be read in parts.
 */
#ifndef BASE_OUTFILE_H
#define BASE_OUTFILE_H

#include "base/input.h"

#include <stdbool.h>
#include <sys/types.h>

struct base_outfile;

struct base_outfile_options {
	enum base_packing packing;
	bool force;  /* replaces a file of that name */
	mode_t mode; /* permissions; 0: of its owner alone, 0600 */
};

/*
 * Begins a file. `path` "-" is the standard output. `path` is lent. HDB_EEXIST if there is a file
 * of that name and `force` is not set. *out is owned: base_outfile_finish or base_outfile_abort.
 */
int base_outfile_create(const char *path, const struct base_outfile_options *options,
			struct base_outfile **out, struct hdb_error *err);

int base_outfile_write(struct base_outfile *file, const void *data, uint64_t size,
		       struct hdb_error *err);

/*
 * Writes the rest, gives the file its name, and frees it, also on failure. *bytes (may be NULL) is
 * the size of the file.
 */
int base_outfile_finish(struct base_outfile *file, uint64_t *bytes, struct hdb_error *err);

/* Drops all of it; NULL is fine. */
void base_outfile_abort(struct base_outfile *file);

/* Makes a new name in the folder of `path` durable, as far as its file system can. */
int base_sync_folder(const char *path, struct hdb_error *err);

#endif
