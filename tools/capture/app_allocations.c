/*
 * capture/app_allocations.c - the allocation tracker of an app on an Android device, by way of the
 * debugger's protocol (JDWP), whose socket adb forwards.
 *
 * After a handshake, which is the same text in both directions, there are packets: u4 size, u4
 * number, u1 flags, then u1 set and u1 command, or of an answer u2 error. The set that Android adds
 * has one command, whose body is a chunk: u4 type, u4 size, bytes. Where there is nothing to say,
 * an answer has no chunk, or there is no answer (Android 9 and later). The VM sends packets of its
 * own whenever it likes. All numbers are big-endian.
 */
#include "capture/adb.h"
#include "common/big_endian.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HANDSHAKE "JDWP-Handshake"
#define HANDSHAKE_BYTES (sizeof(HANDSHAKE) - 1)
#define HEADER_BYTES 11u
#define CHUNK_BYTES 8u
#define IS_ANSWER 0x80
#define DDM_SET 199
#define DDM_COMMAND 1
/* Bytes read at once; each may take a second longer than an answer of none. */
#define PART_BYTES 65536u
#define PART_MS 1000u

struct tracker {
	struct capture_options options;
	int fd;
	uint64_t end_ms; /* of waiting for the answer */
	uint32_t number; /* of the last packet sent */
};

static void put_u4(uint8_t *p, size_t value)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* ---- packets ---- */

static int hung_up(struct hdb_error *err)
{
	return door_fail(err, HDB_EIO,
			 "the VM hung up: the app has ended or was disconnected, it cannot be "
			 "debugged, or a debugger (Android Studio) is attached to it");
}

/* Reads or writes all of the bytes; HDB_END if that takes too long. */
static int transfer(struct tracker *t, void *data, size_t size, short event, struct hdb_error *err)
{
	for (uint8_t *at = data; size > 0;) {
		ssize_t n;

		TRY(capture_wait(&t->options, t->fd, event, t->end_ms, err));
		n = event == POLLIN ? read(t->fd, at, size) : write(t->fd, at, size);
		if (n == 0 || (n < 0 && errno != EINTR))
			return hung_up(err);
		at += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
	return HDB_OK;
}

static int shake_hands(struct tracker *t, struct hdb_error *err)
{
	char text[] = HANDSHAKE;

	t->end_ms = clock_ms() + capture_timeout_ms(&t->options);
	TRY(transfer(t, text, HANDSHAKE_BYTES, POLLOUT, err));
	TRY(transfer(t, text, HANDSHAKE_BYTES, POLLIN, err));
	if (memcmp(text, HANDSHAKE, HANDSHAKE_BYTES) != 0)
		return door_fail(err, HDB_EFORMAT, "no VM answers: another handshake");
	return HDB_OK;
}

/* The next packet that answers the last one sent, its body in `out`; others are dropped. */
static int next_answer(struct tracker *t, uint8_t header[HEADER_BYTES], struct bytes *out,
		       struct hdb_error *err)
{
	bool is_ours = false;

	while (!is_ours) {
		size_t left, part;

		TRY(transfer(t, header, HEADER_BYTES, POLLIN, err));
		left = big_endian_u4(header);
		if (left < HEADER_BYTES || left > CAPTURE_ALLOCATIONS_MAX)
			return door_fail(err, HDB_EFORMAT, "the VM sent a packet of %zu bytes",
					 left);
		is_ours = header[8] & IS_ANSWER && big_endian_u4(header + 4) == t->number;
		out->size = 0;
		for (left -= HEADER_BYTES; left > 0; left -= part) {
			char *to = bytes_room(out, PART_BYTES);

			if (!to)
				return door_fail(err, HDB_ENOMEM, "no memory for allocations");
			part = left < PART_BYTES ? left : PART_BYTES;
			TRY(transfer(t, to, part, POLLIN, err));
			out->size += is_ours ? part : 0;
			t->end_ms += is_ours ? PART_MS : 0;
		}
	}
	return HDB_OK;
}

/* The failure that a chunk FAIL tells: u4 code, u4 characters, u2 each. */
static int refused(const char *type, const struct bytes *chunk, struct hdb_error *err)
{
	char text[200];
	size_t used = 0;

	for (size_t i = CHUNK_BYTES + 8; i + 1 < chunk->size && used + 1 < sizeof(text); i += 2) {
		const char c = chunk->data[i + 1];

		text[used++] = chunk->data[i] == 0 && c >= ' ' && c < 127 ? c : '?';
	}
	text[used] = '\0';
	return door_fail(err, HDB_EIO, "the VM refuses %s: %s", type, used ? text : "no reason");
}

/* Sends a chunk, with a byte if that is not negative. */
static int put_chunk(struct tracker *t, const char *type, int byte, struct hdb_error *err)
{
	uint8_t packet[HEADER_BYTES + CHUNK_BYTES + 1] = { 0 };
	const size_t size = sizeof(packet) - (byte < 0);

	put_u4(packet, size);
	put_u4(packet + 4, ++t->number);
	packet[9] = DDM_SET;
	packet[10] = DDM_COMMAND;
	memcpy(packet + HEADER_BYTES, type, 4);
	put_u4(packet + HEADER_BYTES + 4, byte >= 0);
	packet[sizeof(packet) - 1] = (uint8_t)byte;
	t->end_ms = clock_ms() + capture_timeout_ms(&t->options);
	return transfer(t, packet, size, POLLOUT, err);
}

/* Sends a chunk and reads that of the answer: `out`, what it has in it; empty if there is none. */
static int ask(struct tracker *t, const char *type, struct bytes *out, struct hdb_error *err)
{
	uint8_t header[HEADER_BYTES];

	TRY(put_chunk(t, type, -1, err));
	TRY(next_answer(t, header, out, err));
	if (header[9] || header[10])
		return door_fail(err, HDB_EIO, "the VM refuses %s: error %d of JDWP", type,
				 header[9] << 8 | header[10]);
	if (out->size == 0)
		return HDB_OK;
	if (out->size >= CHUNK_BYTES && memcmp(out->data, "FAIL", 4) == 0)
		return refused(type, out, err);
	if (out->size < CHUNK_BYTES || memcmp(out->data, type, 4) != 0 ||
	    big_endian_u4(out->data + 4) != out->size - CHUNK_BYTES)
		return door_fail(err, HDB_EFORMAT, "the VM's answer to %s is no chunk of that type",
				 type);
	out->size -= CHUNK_BYTES;
	memmove(out->data, out->data + CHUNK_BYTES, out->size);
	return HDB_OK;
}

/* ---- the device ---- */

static int find_pid(const struct capture_options *options, const char *process, unsigned long *pid,
		    struct hdb_error *err)
{
	const char *const words[] = { "shell", "pidof", process, NULL };
	struct child_output out;
	char *end;

	*pid = strtoul(process, &end, 10);
	if (*pid && !*end)
		return HDB_OK;
	TRY(adb_run(options, words, capture_timeout_ms(options), &out, err));
	*pid = strtoul(out.text, &end, 10);
	if (out.code != 0 || !*pid)
		return door_fail(err, HDB_EABSENT,
				 "there is no process %s on the device (before Android 6 it is "
				 "found by its PID alone)",
				 process);
	if (end[strspn(end, "\r\n")])
		return door_fail(err, HDB_EABSENT, "several processes are called %s: give a PID",
				 process);
	return HDB_OK;
}

static int connect_to(struct tracker *t, unsigned long port, struct hdb_error *err)
{
	const struct sockaddr_in address = { .sin_family = AF_INET,
					     .sin_port = htons((uint16_t)port),
					     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	t->fd = socket(AF_INET, SOCK_STREAM, 0);
	if (t->fd < 0 || fcntl(t->fd, F_SETFD, FD_CLOEXEC) < 0 ||
	    connect(t->fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return door_fail(err, HDB_EIO, "port %lu, which adb forwards: %s", port,
				 strerror(errno));
	return shake_hands(t, err);
}

/* Connects to the VM. The port that adb forwards is taken away again once that is decided. */
static int attach(struct tracker *t, const char *process, struct hdb_error *err)
{
	char local[32] = "tcp:0", remote[32];
	const char *const add[] = { "forward", local, remote, NULL };
	const char *const remove[] = { "forward", "--remove", local, NULL };
	/* an interruption must not hide which port it is */
	struct capture_options calm = t->options;
	struct child_output out;
	unsigned long pid, port;
	int rc;

	calm.cancel = NULL;
	TRY(adb_begin(&t->options, process, err));
	TRY(find_pid(&t->options, process, &pid, err));
	snprintf(remote, sizeof(remote), "jdwp:%lu", pid);
	TRY(adb_run(&calm, add, capture_timeout_ms(&calm), &out, err));
	port = strtoul(out.text, NULL, 10);
	if (out.code != 0 || port == 0 || port > UINT16_MAX)
		return adb_failed("adb forward", &out, err);
	snprintf(local, sizeof(local), "tcp:%lu", port);
	rc = connect_to(t, port, err);
	(void)adb_run(&calm, remove, capture_timeout_ms(&calm), &out, NULL);
	return rc;
}

/* Waits for so long, or until the user interrupts or the VM hangs up. */
static void wait_for(const struct tracker *t, unsigned seconds)
{
	const uint64_t end = clock_ms() + seconds * UINT64_C(1000);
	char byte;

	while (clock_ms() < end && !capture_is_cancelled(&t->options)) {
		(void)poll(NULL, 0, CAPTURE_TICK_MS);
		if (recv(t->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
			return;
	}
}

/* Whether the tracker is on. A VM that has none says nothing at all. */
static int ask_state(struct tracker *t, bool *is_on, struct hdb_error *err)
{
	BASE_SCOPED(bytes_release) struct bytes answer = { 0 };
	const int rc = ask(t, "REAQ", &answer, err);

	if (rc == HDB_END || (rc == HDB_OK && answer.size != 1))
		return door_fail(err, HDB_EIO,
				 "the VM does not say whether its allocation tracker is on: "
				 "Android 12 and later have none");
	*is_on = rc == HDB_OK && answer.data[0] != 0;
	return rc;
}

/* Switches the tracker, which most VMs do not answer; when they say how it is, it is done. */
static int switch_tracker(struct tracker *t, bool on, struct hdb_error *err)
{
	bool is_on = on;

	TRY(put_chunk(t, "REAE", on, err));
	TRY(ask_state(t, &is_on, err));
	return is_on == on ? HDB_OK :
			     door_fail(err, HDB_EIO, "the allocation tracker stays %s",
				       on ? "off" : "on");
}

static int record(struct tracker *t, unsigned seconds, struct bytes *out, struct hdb_error *err)
{
	bool was_on;
	int rc = HDB_OK;

	TRY(ask_state(t, &was_on, err));
	if (was_on)
		capture_notice(&t->options,
			       "the allocation tracker was on already: what it recorded before is "
			       "in the record, and it stays on");
	else
		rc = switch_tracker(t, true, err);
	if (rc == HDB_OK) {
		capture_notice(&t->options, "recording for %u s; Ctrl-C ends that early", seconds);
		wait_for(t, seconds);
	}
	/* An interruption ends the waiting. */
	t->options.cancel = NULL;
	if (rc == HDB_OK)
		rc = ask(t, "REAL", out, err);
	if (!was_on && switch_tracker(t, false, NULL) != HDB_OK)
		capture_notice(&t->options,
			       "the allocation tracker may still be on, until the app ends");
	return rc != HDB_OK || out->size ? rc : door_fail(err, HDB_EIO, "the VM gave no record");
}

int capture_app_allocations(const char *process, unsigned seconds,
			    const struct capture_options *options, struct bytes *out,
			    struct hdb_error *err)
{
	struct tracker t = { .options = *options, .fd = -1 };
	int rc = attach(&t, process, err);

	if (rc == HDB_OK)
		rc = record(&t, seconds, out, err);
	capture_close_fd(t.fd);
	if (rc == HDB_END)
		return door_fail(err, HDB_EIO,
				 "the VM did not answer within %llu s; is a debugger (Android "
				 "Studio) attached to it?",
				 (unsigned long long)capture_timeout_ms(options) / 1000);
	return rc;
}
