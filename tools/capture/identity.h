/*
 * capture/identity.h - acts as the owner of a process. Root accesses a user's files only with that
 * user's rights, so links placed there gain nothing.
 */
#ifndef CAPTURE_IDENTITY_H
#define CAPTURE_IDENTITY_H

#include "capture/process.h"

/* Previous identity. */
struct identity {
	uid_t uid;
	gid_t gid;
	bool is_taken;
};

/*
 * If we are root and the process belongs to another user, takes its effective user and group, for
 * all threads. Fails with HDB_EIO if the process belongs to another user and we are not root.
 */
int identity_take(const struct process *process, struct identity *before, struct hdb_error *err);

/* Restores the previous identity, if it was changed. */
void identity_give_back(struct identity *before);

#endif
