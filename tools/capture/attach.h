/*
 * capture/attach.h - client of HotSpot's attach protocol, as used by jcmd.
 *
 * The VM listens on the socket .java_pidN in /tmp of its own file system, where N is its PID in its
 * own namespace. It creates the socket on SIGQUIT if a file .attach_pidN exists in its working
 * directory or /tmp.
 */
#ifndef CAPTURE_ATTACH_H
#define CAPTURE_ATTACH_H

#include "capture/process.h"
#include "capture/reply.h"

struct attach {
	struct process *process;               /* borrowed */
	const struct capture_options *options; /* borrowed */
	int tmp_fd;                            /* the VM's /tmp; borrowed */
	int cwd_fd;  /* the VM's working directory; borrowed; -1 means not accessible */
	int version; /* protocol version; 0 means not queried yet */
};

/* Size of ".attach_pidN" including the terminating zero. */
#define ATTACH_TRIGGER_SIZE 32

/* Writes the name of the trigger file to `out`. */
void attach_trigger_name(const struct process *process, char *out);

/*
 * Makes the VM listen and determines the protocol version. Must run as the process's owner
 * (identity.h). Fails with HDB_EIO if the VM does not answer in time, exits or denies access.
 */
int attach_begin(struct attach *attach, struct hdb_error *err);

/*
 * Sends a command. The caller owns *socket_fd and reads the reply from this socket. See
 * attach_request for `arguments`.
 */
int attach_send(struct attach *attach, const char *command, const char *const *arguments,
		int *socket_fd, struct hdb_error *err);

/* Maximum size of a reply, enough for a histogram of about 500,000 classes. */
#define ATTACH_REPLY_MAX (64u << 20)

/*
 * Reads the whole reply. The caller must release it even after an error. Waits for the timeout of
 * the options or, if is_patient is set, as long as the process exists and is not stopped.
 */
int attach_receive(struct attach *attach, int socket_fd, bool is_patient, struct reply *reply,
		   struct hdb_error *err);

/* Returns HDB_OK if the process exists and is not stopped. Otherwise no answer can be expected. */
int attach_check_life(struct attach *attach, struct hdb_error *err);

/* Sends a command and reads its reply, with the timeout of the options. */
int attach_ask(struct attach *attach, const char *command, const char *const *arguments,
	       struct reply *reply, struct hdb_error *err);

#endif
