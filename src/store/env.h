/*
 * store/env.h - LMDB environments of this process, shared by the handles on one file.
 *
 * LMDB must not open a file twice in a process (its file locks are per process), so environments
 * are kept in a list of the whole process with a count of users, behind a mutex.
 */
#ifndef STORE_ENV_H
#define STORE_ENV_H

#include "base/error.h"
#include "store/packed.h"

#include <lmdb.h>
#include <stdbool.h>
#include <sys/types.h>

struct store_env {
	MDB_env *env;
	MDB_dbi dbi; /* the main database, the only one */
	char *path;
	dev_t device;
	ino_t inode;
	bool is_read_only;
	bool is_private; /* an unlinked file of this handle alone, in no list */
	bool is_memory;  /* and without LMDB's table of readers: see store_env_private */
	unsigned user_count;
	const void *map;         /* LMDB's map, which the SIGBUS handler watches; NULL: not yet */
	volatile uint64_t fault; /* 1 + offset at which LMDB failed to read it */
	struct store_unpacked unpacked; /* blocks that are compressed in the file */
	struct store_env *next;
};

/*
 * Opens or shares the environment of `path`. `is_unsynced`: commits do not wait for the disk; one
 * that is shared stays as it was opened. *out: store_env_release.
 */
int store_env_open(const char *path, bool is_unsynced, struct store_env **out,
		   struct hdb_error *err);
void store_env_release(struct store_env *env);
/* One more user of an environment that is in the list. */
struct store_env *store_env_share(struct store_env *env);

/*
 * Has the SIGBUS handler watch LMDB's own map, which it reads when it writes. LMDB does not tell
 * where it is, but gives a pointer to a value whose place in the file is known: `key`'s, at
 * `offset`. The path to it must have been checked.
 */
int store_env_watch(struct store_env *env, MDB_txn *txn, MDB_val key, uint64_t offset,
		    struct hdb_error *err);

/*
 * Opens a new private file for writing by this process alone: no lock file, synced at the end only.
 */
int store_env_create(const char *path, uint64_t size_hint, MDB_env **env, struct hdb_error *err);

/*
 * Makes a file that has no name and that only this process can read (0600, in a folder of its own),
 * for tables of a database that cannot be written: in `dir`, or where that cannot be written either
 * in memory: in /dev/shm, or in no folder at all (is_memory). *where is what was taken, for people
 * (static or `dir`). *out: store_env_release.
 *
 * With is_memory LMDB does not know of snapshots, and takes pages again that the state before the
 * last one had. A table is therefore written in one transaction, whose pages wait in memory anyway;
 * a snapshot is then at most two states behind what is being written: the removal of what was
 * there, and the table.
 */
int store_env_private(const char *dir, uint64_t size_hint, struct store_env **out,
		      const char **where, struct hdb_error *err);

/*
 * Makes the file as long as its newest state says. LMDB does not write pages at the end that were
 * taken and given back in one transaction; without them the file would look cut. Call it after a
 * commit.
 */
int store_env_extend(MDB_env *env, const char *path, struct hdb_error *err);

/*
 * Has the system begin to write to disk what was committed, and does not wait: less is left for the
 * sync at the end. Says nothing of what is safe.
 */
void store_env_write_out(MDB_env *env);

/* Translates an LMDB result code: the only place that does. */
int store_fail_mdb(struct hdb_error *err, int mdb_result, const char *path, const char *doing);

/* Locks of the data file, by byte ranges that hold no data; they die with the process. */
enum store_lock { STORE_LOCK_OPEN = 0, STORE_LOCK_BUILD = 1, STORE_LOCK_IMPORT = 2 };
/* How a lock is taken: bits; without them with others, and not if one has it alone. */
enum store_lock_how { STORE_LOCK_ALONE = 1, STORE_LOCK_WAIT = 2 };
/* HDB_OK, or HDB_END if another has it and `how` is without STORE_LOCK_WAIT. */
int store_lock_file(int fd, enum store_lock lock, unsigned how, const char *path,
		    struct hdb_error *err);

#endif
