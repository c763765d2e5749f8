/*
 * store/env.h - LMDB environments. All handles of this process for the same file share one
 * environment.
 *
 * A process must not open a file twice with LMDB, because its file locks are per process. The
 * process therefore has one list of environments with reference counts, protected by a mutex.
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
	MDB_dbi dbi; /* the main database, which is the only one */
	char *path;
	dev_t device;
	ino_t inode;
	_Atomic bool is_read_only;
	/*
	 * whether the environment belongs to one handle, uses an unlinked file, and is not in the
	 * list
	 */
	bool is_private;
	/*
	 * whether the environment is a private file without LMDB's reader table (see
	 * store_env_private)
	 */
	bool is_memory;
	unsigned user_count;
	/* LMDB's own map, or NULL if the SIGBUS handler does not watch it yet */
	const void *map;
	/* 1 + offset at which LMDB failed to read the map, or 0 */
	_Atomic(uint64_t) fault;
	/* decompressed copies of blocks that are compressed in the file */
	struct store_unpacked unpacked;
	struct store_env *next;
};

/*
 * Opens the environment of `path`, or returns the shared one. A commit waits until its data is on
 * the disk, but not until the page that makes the commit visible is there, so a power failure may
 * undo the last commit. If is_unsynced is set, commits do not wait at all. A shared environment
 * keeps the mode in which it was opened. The caller must release *out with store_env_release.
 */
int store_env_open(const char *path, bool is_unsynced, struct store_env **out,
		   struct hdb_error *err);
void store_env_release(struct store_env *env);
/* Adds a user to an environment that is in the list. */
struct store_env *store_env_share(struct store_env *env);

/*
 * Makes the SIGBUS handler watch LMDB's own map, from which LMDB reads when it writes. LMDB does
 * not expose the address of the map, but it returns a pointer to a value whose offset in the file
 * is known: the value of `key`, at `offset`. The pages on the path to this value must have been
 * checked.
 */
int store_env_watch(struct store_env *env, MDB_txn *txn, MDB_val key, uint64_t offset,
		    struct hdb_error *err);

/*
 * Creates a private file that only this process writes. It has no lock file, and is synced only at
 * the end.
 */
int store_env_create(const char *path, uint64_t size_hint, MDB_env **env, struct hdb_error *err);

/*
 * Creates an unnamed file that only this process can read (mode 0600, in a new directory), for
 * tables of a database that is not writable. It is created in `dir` or, if that is not writable, in
 * memory: in /dev/shm or in no directory (is_memory). Sets *where to the name of the directory for
 * messages (static, or `dir`). The caller must release *out with store_env_release.
 *
 * If is_memory is set, LMDB does not know about snapshots and reuses pages of the state before the
 * last one. A table is therefore written in a single transaction, whose pages are in memory anyway.
 * A snapshot is then at most two states behind the state being written: the removal of the old
 * table, and the new table.
 */
int store_env_private(const char *dir, uint64_t size_hint, struct store_env **out,
		      const char **where, struct hdb_error *err);

/*
 * Extends the file to the size of its newest state. LMDB does not write pages at the end of the
 * file that were allocated and freed in the same transaction, and without these pages the file
 * would look truncated. Must be called after a commit.
 */
int store_env_extend(MDB_env *env, const char *path, struct hdb_error *err);

/*
 * Makes the system start writing committed pages to disk, without waiting for the writes. This
 * reduces the work of the final sync but does not guarantee durability.
 */
void store_env_write_out(MDB_env *env);

/* Converts an LMDB result code to a message. No other function does this. */
int store_fail_mdb(struct hdb_error *err, int mdb_result, const char *path, const char *doing);

/*
 * Locks of the data file. They are byte ranges outside the data, and are released when the process
 * exits.
 */
enum store_lock { STORE_LOCK_OPEN = 0, STORE_LOCK_BUILD = 1, STORE_LOCK_IMPORT = 2 };
/* Lock modes, as a bit set. Without STORE_LOCK_ALONE, the lock is shared. */
enum store_lock_how { STORE_LOCK_ALONE = 1, STORE_LOCK_WAIT = 2 };
/*
 * Locks a file. Returns HDB_OK. If another process holds the lock and `how` does not include
 * STORE_LOCK_WAIT, returns HDB_END.
 */
int store_lock_file(int fd, enum store_lock lock, unsigned how, const char *path,
		    struct hdb_error *err);

#endif
