/*
 * capture/identity.h - acts as the owner of a process. Root accesses a user's files only with that
 * user's rights, so links that the user has placed there give no further access.
 */
#ifndef CAPTURE_IDENTITY_H
#define CAPTURE_IDENTITY_H

#include "capture/process.h"

/* The identity to restore. */
struct identity {
	uid_t uid;
	gid_t gid;
	bool is_taken;
};

/*
 * Switches all threads to the effective user and group of the process, if heapdb runs as root and
 * the process belongs to another user. Fails with HDB_EIO if the process belongs to another user
 * and heapdb does not run as root.
 */
int identity_take(const struct process *process, struct identity *before, struct hdb_error *err);

/* Restores the previous identity, if it was changed. */
void identity_give_back(struct identity *before);

#endif
