/*
 * capture/identity.h - acting as the owner of a process: as root, what is done in somebody's files
 * is done with that user's rights alone.
 */
#ifndef CAPTURE_IDENTITY_H
#define CAPTURE_IDENTITY_H

#include "capture/process.h"

/* Who we were. */
struct identity {
	uid_t uid;
	gid_t gid;
	bool is_taken;
};

/*
 * Becomes the process's effective user and group, if we are root and it is another's; all threads
 * do. HDB_EIO if it is another user's and we are not root.
 */
int identity_take(const struct process *process, struct identity *before, struct hdb_error *err);

/* Becomes what we were. Does nothing if nothing was taken. */
void identity_give_back(struct identity *before);

#endif
