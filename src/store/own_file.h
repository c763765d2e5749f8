/*
 * store/own_file.h - creates files with guessable names in directories to which other users may
 * write: the temporary file of an import, and LMDB's lock file. heapdb never writes to a file that
 * another user has created under such a name.
 *
 * In a directory without the sticky bit, others can also replace our files at any time. Signs of
 * this are reported as errors, but only a private directory, or one with the sticky bit, is safe.
 */
#ifndef STORE_OWN_FILE_H
#define STORE_OWN_FILE_H

#include "base/error.h"

#include <lmdb.h>
#include <stdbool.h>
#include <sys/stat.h>

/*
 * Creates the temporary file `temp_path` of an import, with mode 0600, and locks it
 * (STORE_LOCK_IMPORT). A file left by a dead import is reused if it is a regular file of this user
 * with only one name, nobody else may read it, and it is not locked. The file is then emptied. *fd
 * holds the lock, and the caller must close it. Returns HDB_END if another import is writing the
 * file, and HDB_EIO, with its name, for any other file of that name. After a failure, *fd is -1 or
 * holds the lock of our own file, which the caller must remove.
 */
int store_temp_open(const char *temp_path, int *fd, struct hdb_error *err);

/*
 * Returns HDB_EIO if `env` writes to a different file than `fd`, because the file was replaced
 * before LMDB opened it by name.
 */
int store_temp_same(MDB_env *env, int fd, const char *temp_path, struct hdb_error *err);

/*
 * Renames the temporary file to its final name. An existing database of that name is replaced while
 * its open lock is held, so that nobody opens it in an intermediate state. Its lock file is removed
 * first. Handles that have it open keep their old files. Fails with HDB_EEXIST if the database
 * exists and is_force is not set.
 */
int store_temp_rename(const char *temp_path, const char *path, bool is_force,
		      struct hdb_error *err);

/*
 * Creates the lock file of the database `path` with mode 0600. An existing file must be a regular
 * file with only one name that belongs to this user, to root, or to the owner of the database
 * (`db`), or a file that this user cannot open. Otherwise, returns HDB_EIO. Returns HDB_END if the
 * disk has no room for the file, which then keeps its name, and HDB_OK if it cannot be created,
 * because LMDB will report this.
 */
int store_lock_prepare(const char *path, const struct stat *db, struct hdb_error *err);

#endif
