/*
 * store/own_file.h - files with a name that others can guess, in a folder that others may write:
 * the temporary file of an import and LMDB's lock file. What another user has planted under such a
 * name is never written to.
 *
 * In a folder without the sticky bit others can also take our files away and put theirs there at
 * any moment; what can be seen of that is an error, but only a folder of one's own or a sticky one
 * is safe.
 */
#ifndef STORE_OWN_FILE_H
#define STORE_OWN_FILE_H

#include "base/error.h"

#include <lmdb.h>
#include <stdbool.h>
#include <sys/stat.h>

/*
 * Makes the temporary file `temp_path` of an import, mode 0600, and locks it (STORE_LOCK_IMPORT);
 * or takes over what an import left that died: a regular file of this user with one name, that
 * nobody else may read, and that is not locked. It is empty then. *fd holds the lock; close it.
 * HDB_END: another import is writing it. HDB_EIO names anything else that is there. After a failure
 * *fd is -1, or holds the lock of a file of ours to be removed.
 */
int store_temp_open(const char *temp_path, int *fd, struct hdb_error *err);

/*
 * HDB_EIO if the file that `env` writes is another than `fd`: it was exchanged before LMDB opened
 * it by its name.
 */
int store_temp_same(MDB_env *env, int fd, const char *temp_path, struct hdb_error *err);

/*
 * Gives the temporary file its name. A database of that name is taken away under its open lock, so
 * that nobody opens it half way, and its lock file goes first: handles that have it open keep their
 * old files. HDB_EEXIST if there is one and is_force is not set.
 */
int store_temp_rename(const char *temp_path, const char *path, bool is_force,
		      struct hdb_error *err);

/*
 * Makes the lock file of the database `path`, mode 0600, unless it is there, which must be a
 * regular file with one name that belongs to this user, to root or to the owner of the database,
 * `db`, or that this user cannot open: else HDB_EIO. HDB_OK too where it cannot be made, for LMDB
 * says that.
 */
int store_lock_prepare(const char *path, const struct stat *db, struct hdb_error *err);

#endif
