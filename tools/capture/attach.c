/*
 * capture/attach.c - implements attach.h.
 */
#include "capture/attach.h"

#include "base/scope.h"
#include "base/base_text.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* Number of bytes per read. */
#define READ_BYTES 16384
/* Result of try_connect for a socket without a listener. */
#define NOT_YET 1

void attach_trigger_name(const struct process *process, char *out)
{
	snprintf(out, ATTACH_TRIGGER_SIZE, ".attach_pid%ld", (long)process->inner_pid);
}

static int has_ended(const struct attach *a, struct hdb_error *err)
{
	return hdb_fail(err, HDB_EIO, "process %ld ended before answering", (long)a->process->pid);
}

static bool is_stopped(const struct process *p)
{
	return p->state == 'T' || p->state == 't';
}

/* Fails with HDB_EIO because the VM did not answer in time. Adds the likely reason. */
static int fail_silent(struct attach *a, struct hdb_error *err)
{
	const char *why = "";

	if (process_is_gone(a->process))
		return has_ended(a, err);
	if (is_stopped(a->process))
		why = "; it is stopped (SIGSTOP, or a debugger)";
	else if (!a->process->catches_quit)
		why = "; it has no SIGQUIT handler (yet)";
	return hdb_fail(err, HDB_EIO, "process %ld did not answer within %llu s%s",
			(long)a->process->pid,
			(unsigned long long)capture_timeout_ms(a->options) / 1000, why);
}

/* Checks that the socket belongs to the VM, and was not put there by another user. */
static int check_socket(const struct attach *a, const char *name, struct hdb_error *err)
{
	struct stat st;

	if (fstatat(a->tmp_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ?
			       NOT_YET :
			       hdb_fail(err, HDB_EIO, "/tmp/%s: %s", name, strerror(errno));
	if (!S_ISSOCK(st.st_mode))
		return hdb_fail(err, HDB_EIO, "/tmp/%s of process %ld is not a socket", name,
				(long)a->process->pid);
	if (st.st_uid != a->process->uid || st.st_mode & (S_IWGRP | S_IWOTH | S_IRGRP | S_IROTH))
		return hdb_fail(
			err, HDB_EIO,
			"/tmp/%s of process %ld cannot be trusted: another user created it, "
			"or other users can access it",
			name, (long)a->process->pid);
	return HDB_OK;
}

/* Checks that the process itself listens at the other end of the socket. */
static int check_peer(const struct attach *a, int fd, struct hdb_error *err)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return hdb_fail(err, HDB_EIO, "socket: %s", strerror(errno));
	if (peer.pid != a->process->pid)
		return hdb_fail(err, HDB_EIO,
				"the socket of process %ld belongs to another process (%ld)",
				(long)a->process->pid, (long)peer.pid);
	return HDB_OK;
}

/* Connects to the VM. The caller must close *out. Returns NOT_YET if the VM does not listen yet. */
static int try_connect(const struct attach *a, int *out, struct hdb_error *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char name[32];
	int fd, rc;

	snprintf(name, sizeof(name), ".java_pid%ld", (long)a->process->inner_pid);
	TRY(check_socket(a, name, err));
	/* a socket path is limited to 108 bytes; a path through /proc/self/fd always fits */
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", a->tmp_fd,
		 name);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return hdb_fail(err, HDB_EIO, "socket: %s", strerror(errno));
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		const int failure = errno;

		close(fd);
		/* the VM no longer listens, or its queue is full */
		if (failure == ECONNREFUSED || failure == ENOENT || failure == EAGAIN)
			return NOT_YET;
		return hdb_fail(err, HDB_EIO, "/tmp/%s of process %ld: %s", name,
				(long)a->process->pid, strerror(failure));
	}
	if ((rc = check_peer(a, fd, err)) != HDB_OK) {
		close(fd);
		return rc;
	}
	*out = fd;
	return HDB_OK;
}

/*
 * Sends a signal through a descriptor of the process, so the signal cannot reach another process
 * that reuses the PID.
 */
static int send_quit(const struct attach *a, struct hdb_error *err)
{
	BASE_CLOSED const int fd = (int)syscall(SYS_pidfd_open, a->process->pid, 0);
	int rc;

	/* also checks that the PID still belongs to the same process */
	if (process_is_gone(a->process))
		return has_ended(a, err);
	/*
	 * SIGQUIT would kill a process without a handler, and a stopped process would print its
	 * threads later.
	 */
	if (!a->process->catches_quit || is_stopped(a->process))
		return NOT_YET;
	rc = fd >= 0 ? (int)syscall(SYS_pidfd_send_signal, fd, SIGQUIT, NULL, 0) :
		       kill(a->process->pid, SIGQUIT);
	if (rc < 0)
		return hdb_fail(err, HDB_EIO, "cannot send SIGQUIT to process %ld: %s",
				(long)a->process->pid, strerror(errno));
	return HDB_OK;
}

/*
 * Creates the trigger file. Sets *folder to the directory of the new file, or to -1 if the file
 * existed.
 */
static int make_trigger(const struct attach *a, const char *name, int *folder,
			struct hdb_error *err)
{
	const int folders[] = { a->cwd_fd, a->tmp_fd };
	int fd = -1;

	*folder = -1;
	for (size_t i = 0; i < 2 && fd < 0; i++) {
		if (folders[i] < 0)
			continue;
		fd = openat(folders[i], name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
			    0600);
		if (fd < 0 && errno == EEXIST)
			return HDB_OK;
		if (fd >= 0)
			*folder = folders[i];
	}
	if (fd < 0)
		return hdb_fail(err, HDB_EIO,
				"cannot create the file %s in the working directory or /tmp of "
				"process %ld: %s",
				name, (long)a->process->pid, strerror(errno));
	close(fd);
	return HDB_OK;
}

/* Waits until the VM listens, while the trigger file exists. */
static int wait_for_listener(struct attach *a, int *out, struct hdb_error *err)
{
	const uint64_t start = base_now_ms(), timeout = capture_timeout_ms(a->options);
	unsigned signals = 0;
	int rc = NOT_YET;

	while (rc == NOT_YET) {
		const uint64_t spent = base_now_ms() - start;

		/* a VM that is still starting may have missed the first signal */
		if (signals == 0 || (signals == 1 && spent > timeout / 2)) {
			TRY_ERRORS(rc = send_quit(a, err));
			signals += rc == HDB_OK;
		}
		(void)poll(NULL, 0, spent < 1000 ? 10 : CAPTURE_TICK_MS);
		if (capture_is_cancelled(a->options))
			return capture_interrupted(err);
		rc = try_connect(a, out, err);
		if (rc == NOT_YET && (spent > timeout || process_is_gone(a->process)))
			return fail_silent(a, err);
	}
	return rc;
}

/* Connects to the VM's socket. If needed, first makes the VM create the socket. */
static int connect_to(struct attach *a, int *out, struct hdb_error *err)
{
	char name[ATTACH_TRIGGER_SIZE];
	int folder = -1;
	int rc = try_connect(a, out, err);

	if (rc != NOT_YET)
		return rc;
	attach_trigger_name(a->process, name);
	TRY(make_trigger(a, name, &folder, err));
	rc = wait_for_listener(a, out, err);
	if (folder >= 0)
		(void)unlinkat(folder, name, 0);
	return rc;
}

/* Writes the whole request. The socket has room for the request unless the VM hangs. */
static int write_all(struct attach *a, int fd, const char *data, size_t size, struct hdb_error *err)
{
	const uint64_t end = base_now_ms() + capture_timeout_ms(a->options);
	int rc;

	while (size > 0) {
		const ssize_t n = send(fd, data, size, MSG_NOSIGNAL);

		if (n > 0) {
			data += n;
			size -= (size_t)n;
			continue;
		}
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return process_is_ending(a->process) ?
				       has_ended(a, err) :
				       hdb_fail(err, HDB_EIO,
						"process %ld closed the connection: "
						"%s",
						(long)a->process->pid, strerror(errno));
		if ((rc = capture_wait(a->options, fd, POLLOUT, end, err)) != HDB_OK)
			return rc == HDB_END ? fail_silent(a, err) : rc;
	}
	return HDB_OK;
}

int attach_send(struct attach *a, const char *command, const char *const *arguments, int *socket_fd,
		struct hdb_error *err)
{
	char request[ATTACH_REQUEST_MAX];
	const size_t size =
		attach_request(a->version ? a->version : 1, command, arguments, request);
	BASE_CLOSED int fd = -1;

	*socket_fd = -1;
	if (!size)
		return hdb_fail(err, HDB_EUSAGE, "the request is too long for the VM");
	assert(size <= sizeof(request));
	TRY(connect_to(a, &fd, err));
	assert(fd >= 0);
	TRY(write_all(a, fd, request, size, err));
	*socket_fd = fd;
	fd = -1;
	return HDB_OK;
}

int attach_check_life(struct attach *a, struct hdb_error *err)
{
	if (process_is_gone(a->process))
		return has_ended(a, err);
	return is_stopped(a->process) ? fail_silent(a, err) : HDB_OK;
}

/* Reads until the VM closes the connection. */
static int read_all(struct attach *a, int fd, bool is_patient, struct bytes *out,
		    struct hdb_error *err)
{
	uint64_t end = base_now_ms() + capture_timeout_ms(a->options);

	for (;;) {
		char *to = bytes_room(out, READ_BYTES + 1);
		int rc = to ? capture_wait(a->options, fd, POLLIN, end, err) :
			      hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for the answer");
		ssize_t n;

		if (rc == HDB_END) {
			TRY(is_patient ? attach_check_life(a, err) : fail_silent(a, err));
			end = base_now_ms() + capture_timeout_ms(a->options);
			continue;
		}
		TRY(rc);
		n = recv(fd, to, READ_BYTES, 0);
		if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) {
			*to = '\0';
			return HDB_OK;
		}
		out->size += n > 0 ? (size_t)n : 0;
		if (out->size > ATTACH_REPLY_MAX)
			return hdb_fail(err, HDB_ELIMIT, "the answer exceeds %u MiB",
					ATTACH_REPLY_MAX >> 20);
	}
}

int attach_receive(struct attach *a, int socket_fd, bool is_patient, struct reply *reply,
		   struct hdb_error *err)
{
	TRY(read_all(a, socket_fd, is_patient, &reply->bytes, err));
	if (reply->bytes.size == 0)
		return process_is_ending(a->process) ?
			       has_ended(a, err) :
			       hdb_fail(err, HDB_EIO,
					"process %ld closed the connection without "
					"an answer",
					(long)a->process->pid);
	return attach_parse_reply(reply) ?
		       HDB_OK :
		       hdb_fail(err, HDB_EFORMAT,
				"unexpected answer from process %ld: not from a HotSpot VM",
				(long)a->process->pid);
}

int attach_ask(struct attach *a, const char *command, const char *const *arguments,
	       struct reply *reply, struct hdb_error *err)
{
	BASE_CLOSED int fd = -1;

	TRY(attach_send(a, command, arguments, &fd, err));
	return attach_receive(a, fd, false, reply, err);
}

int attach_begin(struct attach *a, struct hdb_error *err)
{
	static const char *const none[] = { NULL };
	BASE_SCOPED(reply_release) struct reply reply = { 0 };

	a->version = 0;
	TRY(attach_ask(a, "getversion", none, &reply, err));
	a->version = attach_parse_version(&reply);
	return HDB_OK;
}
