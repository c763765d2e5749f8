/*
 * store/own_file.h - files whose names others can guess, in a folder that others may write to: the
 * temporary file of an import, and LMDB's lock file. A file that another user has planted under
 * such a name is never written to.
 *
 * In a folder without the sticky bit, others can also replace our files at any time. Signs of that
 * are reported as errors, but only a private folder, or one with the sticky bit, is safe.
 */
#ifndef STORE_OWN_FILE_H
#define STORE_OWN_FILE_H

#include "base/error.h"

#include <lmdb.h>
#include <stdbool.h>
#include <sys/stat.h>

/*
 * Creates the temporary file `temp_path` of an import, with mode 0600, and locks it
 * (STORE_LOCK_IMPORT). If an import that died left the file, it is reused: it must be a regular
 * file of this user with one name, that nobody else may read, and not locked. It is empty
 * afterwards. *fd holds the lock; close it. HDB_END: another import is writing it. HDB_EIO names
 * any other file found there. After a failure, *fd is -1 or holds the lock of a file of ours, which
 * the caller must remove.
 */
int store_temp_open(const char *temp_path, int *fd, struct hdb_error *err);

/*
 * HDB_EIO if `env` writes a different file than `fd`: the file was replaced before LMDB opened it
 * by name.
 */
int store_temp_same(MDB_env *env, int fd, const char *temp_path, struct hdb_error *err);

/*
 * Renames the temporary file to its final name. An existing database of that name is replaced while
 * its open lock is held, so that nobody opens it halfway. Its lock file is removed first. Handles
 * that have it open keep their old files. HDB_EEXIST if it exists and is_force is not set.
 */
int store_temp_rename(const char *temp_path, const char *path, bool is_force,
		      struct hdb_error *err);

/*
 * Creates the lock file of the database `path` with mode 0600. If it exists, it must be a regular
 * file with one name that belongs to this user, to root, or to the owner of the database (`db`), or
 * that this user cannot open; else HDB_EIO. HDB_OK if it cannot be created: LMDB reports that.
 */
int store_lock_prepare(const char *path, const struct stat *db, struct hdb_error *err);

#endif
