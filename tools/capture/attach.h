/*
 * capture/attach.h - speaks with a HotSpot VM by its attach protocol, as jcmd does.
 *
 * The VM listens on a socket, .java_pidN in /tmp of its own file system, N its PID as it sees
 * itself. It makes it when it gets SIGQUIT and finds a file .attach_pidN in its working folder or
 * /tmp.
 */
#ifndef CAPTURE_ATTACH_H
#define CAPTURE_ATTACH_H

#include "capture/process.h"
#include "capture/reply.h"

struct attach {
	struct process *process;               /* lent */
	const struct capture_options *options; /* lent */
	int tmp_fd;                            /* its /tmp; lent */
	int cwd_fd;                            /* its working folder; lent; -1: not to be seen */
	int version;                           /* of the protocol; 0: not asked yet */
};

/* Bytes of ".attach_pidN" and its end. */
#define ATTACH_TRIGGER_SIZE 32

/* The name of the trigger file. */
void attach_trigger_name(const struct process *process, char *out);

/*
 * Has the VM listen, and finds out which version of the protocol it speaks. As the process's owner:
 * see identity.h. HDB_EIO if it does not answer in time, ends, or may not be asked.
 */
int attach_begin(struct attach *attach, struct hdb_error *err);

/*
 * Sends a command: *socket_fd is owned, and gives the reply. `arguments` as of attach_request.
 */
int attach_send(struct attach *attach, const char *command, const char *const *arguments,
		int *socket_fd, struct hdb_error *err);

/* Bytes of a whole reply: the histogram of some 500,000 classes. */
#define ATTACH_REPLY_MAX (64u << 20)

/*
 * Reads the whole reply, which the caller releases in any case: for as long as the options say, or,
 * of a command that may take any time (is_patient), for as long as the process lives and is not
 * stopped.
 */
int attach_receive(struct attach *attach, int socket_fd, bool is_patient, struct reply *reply,
		   struct hdb_error *err);

/* Whether there is no hope of an answer: HDB_OK if the process lives and is not stopped. */
int attach_check_life(struct attach *attach, struct hdb_error *err);

/* Both of it, without patience. */
int attach_ask(struct attach *attach, const char *command, const char *const *arguments,
	       struct reply *reply, struct hdb_error *err);

#endif
