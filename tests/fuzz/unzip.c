/*
 * fuzz/unzip.c - compressed streams of arbitrary bytes, as a file and through a pipe: both give the
 * same bytes, in bounded memory and time, and damage is reported.
 */
#include "base/input.h"
#include "base/unpack.h"

#include "support/fuzz_target.h"

#define XXH_STATIC_LINKING_ONLY /* passes the state by value */
#include <xxhash.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Larger inputs find no more problems than smaller inputs. */
#define SIZE_MAX_FUZZ 65536u
/* Maximum number of inflated bytes that are read from a small file. */
#define TAKEN_MAX (64u << 20)

/* A consumer of inflated bytes that stops at some point. */
struct taking {
	XXH3_state_t hash;
	uint64_t bytes;
};

static int put(void *ctx, const struct base_frame *frame, struct hdb_error *err)
{
	struct taking *t = ctx;
	static uint8_t out[BASE_FRAME_BYTES];

	if (base_frame_unpack(frame, out, err) < 0)
		abort();
	(void)XXH3_64bits_update(&t->hash, out, frame->size);
	t->bytes += frame->size;
	return t->bytes < TAKEN_MAX ? HDB_OK : hdb_fail(err, HDB_ELIMIT, "enough");
}

/* Reads all data. *damage is the number of damaged places. */
static int read_all(const char *path, unsigned threads, struct taking *t, size_t *damage)
{
	struct base_work work;
	struct base_input *in;
	struct base_unpack unpack = { .work = &work, .ctx = t, .put = put };
	uint64_t size;
	int r;

	(void)XXH3_64bits_reset(&t->hash);
	t->bytes = 0;
	base_work_init(&work, 0, threads, NULL);
	if (base_input_open(path, NULL, &in, NULL) < 0)
		return HDB_EFORMAT;
	unpack.input = in;
	r = base_unpack_run(&unpack, &size, NULL);
	if (r == HDB_OK && size != t->bytes)
		abort();
	(void)base_input_damage(in, damage);
	base_input_close(in);
	return r;
}

struct feed {
	const uint8_t *data;
	size_t size;
	int fd;
};

static void *feed_pipe(void *arg)
{
	const struct feed *f = arg;

	for (size_t done = 0; done < f->size;) {
		const ssize_t n = write(f->fd, f->data + done, f->size - done);

		if (n <= 0)
			break;
		done += (size_t)n;
	}
	(void)close(f->fd);
	return NULL;
}

static int read_pipe(const uint8_t *data, size_t size, struct taking *t, size_t *damage)
{
	struct feed feed = { .data = data, .size = size };
	pthread_t thread;
	char path[32];
	int fds[2], r;

	/*
	 * The reader may close the pipe before all bytes are written, because of a decompression
	 * bomb or on a machine without /proc.
	 */
	(void)signal(SIGPIPE, SIG_IGN);
	if (pipe(fds) < 0)
		return HDB_EIO;
	feed.fd = fds[1];
	if (pthread_create(&thread, NULL, feed_pipe, &feed) != 0)
		abort();
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
	r = read_all(path, 1, t, damage);
	(void)close(fds[0]);
	(void)pthread_join(thread, NULL);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct taking file, two, pipe_taking;
	size_t file_damage = 0, two_damage = 0, pipe_damage = 0;
	char path[32];
	int fd, r, q;

	if (!size || size > SIZE_MAX_FUZZ)
		return 0;
	fd = memfd_create("unzip", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = read_all(path, 1, &file, &file_damage);
	q = read_all(path, 2, &two, &two_damage);
	if (r != q ||
	    (r == HDB_OK && (file.bytes != two.bytes || file_damage != two_damage ||
			     XXH3_64bits_digest(&file.hash) != XXH3_64bits_digest(&two.hash))))
		abort();
	/* A pipe is not read in parts. Undamaged data is the same in both cases. */
	q = read_pipe(data, size, &pipe_taking, &pipe_damage);
	if (r == HDB_OK && q == HDB_OK && !file_damage && !pipe_damage &&
	    (file.bytes != pipe_taking.bytes ||
	     XXH3_64bits_digest(&file.hash) != XXH3_64bits_digest(&pipe_taking.hash)))
		abort();
	(void)close(fd);
	return 0;
}
