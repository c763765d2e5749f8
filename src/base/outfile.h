/*
 * base/outfile.h - a file that is written sequentially, plain or compressed, and appears under its
 * name only when it is complete.
 *
 * gzip files have the JDK's format: members of 1 MiB, with "HPROF BLOCKSIZE=" in the comment of the
 * first member. zstd files have a seek table. Readers can therefore read parts of either kind of
 * file separately.
 */
#ifndef BASE_OUTFILE_H
#define BASE_OUTFILE_H

#include "base/input.h"

#include <stdbool.h>
#include <sys/types.h>

struct base_outfile;

struct base_outfile_options {
	enum base_packing packing;
	bool force;  /* whether to replace an existing file */
	mode_t mode; /* permissions; 0 means 0600 */
};

/* Returns whether the path of an output names standard output: "-", /dev/stdout or a synonym. */
bool base_names_stdout(const char *path);

/* Returns whether both paths lead to the same file. Returns false if either does not exist. */
bool base_is_same_file(const char *a, const char *b);

/*
 * Records which files this process inherited, so that an output may be named /dev/fd/3. Must be
 * called before the process opens any file, because only the caller's files may be written.
 */
void base_note_inherited_files(void);

/* Returns whether a file failed because the reader of standard output has closed its end. */
bool base_stdout_closed(void);

/*
 * Fails with HDB_EUSAGE if the path is in /dev or /proc, where a new file could replace a device or
 * a link such as /dev/stdout. Directories in /dev, such as /dev/shm, are allowed.
 */
int base_check_folder(const char *path, struct hdb_error *err);

/*
 * Starts a file. `path` is borrowed and may name standard output. Fails with HDB_EEXIST if the file
 * exists and `force` is not set. With `force`, a file is replaced, but a device or a named pipe is
 * written to. The caller must end *out with base_outfile_finish or base_outfile_abort.
 */
int base_outfile_create(const char *path, const struct base_outfile_options *options,
			struct base_outfile **out, struct hdb_error *err);

int base_outfile_write(struct base_outfile *file, const void *data, uint64_t size,
		       struct hdb_error *err);

/* Returns the descriptor, for callers that bypass base_outfile_write. */
int base_outfile_descriptor(const struct base_outfile *file);

/*
 * Writes the remaining bytes, gives the file its name, and frees *file, even after a failure. Sets
 * *bytes, unless NULL, to the size of the file.
 */
int base_outfile_finish(struct base_outfile *file, uint64_t *bytes, struct hdb_error *err);

/* Discards the file. `file` may be NULL. */
void base_outfile_abort(struct base_outfile *file);

/*
 * Write all bytes, at the descriptor's position or at an offset of the file, and resume after an
 * interruption by a signal. Return false on failure, with errno set.
 */
bool base_write_all(int fd, const void *data, uint64_t size);
bool base_write_at(int fd, const void *data, uint64_t size, uint64_t offset);

/* Makes a new name in the directory of `path` durable, as far as the file system supports this. */
int base_sync_folder(const char *path, struct hdb_error *err);

#endif
