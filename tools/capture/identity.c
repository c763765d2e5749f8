/*
 * capture/identity.c - implements identity.h.
 */
#include "capture/identity.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int identity_take(const struct process *p, struct identity *before, struct hdb_error *err)
{
	*before = (struct identity){ .uid = geteuid(), .gid = getegid() };
	if (before->uid == p->uid && before->gid == p->gid)
		return HDB_OK;
	if (before->uid != 0)
		return hdb_fail(
			err, HDB_EIO,
			"process %ld belongs to user %lu, group %lu: only root, or this user "
			"with this group, can access it",
			(long)p->pid, (unsigned long)p->uid, (unsigned long)p->gid);
	if (setegid(p->gid) < 0 || seteuid(p->uid) < 0) {
		const int failure = errno;

		(void)!setegid(before->gid);
		return hdb_fail(err, HDB_EIO, "cannot act as user %lu, group %lu: %s",
				(unsigned long)p->uid, (unsigned long)p->gid, strerror(failure));
	}
	before->is_taken = true;
	return HDB_OK;
}

void identity_give_back(struct identity *before)
{
	if (!before->is_taken)
		return;
	/* cannot fail, because root gave up only its effective IDs */
	(void)!seteuid(before->uid);
	(void)!setegid(before->gid);
	before->is_taken = false;
}
