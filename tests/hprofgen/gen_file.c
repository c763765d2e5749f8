/*
 * gen_file.c - see gen_file.h. A segment stays in the buffer until it ends, so that its length can
 * be filled in. Only streamed records, whose length is known in advance, are longer than the
 * buffer.
 */
#include "gen_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define BUFFER_BYTES (4u << 20)
#define SEGMENT_BYTES (1u << 20) /* as HotSpot: its dump buffer */
#define NO_SEGMENT SIZE_MAX
#define HEADER_BYTES 9u /* tag, time, length */
#define TIMESTAMP_MS UINT64_C(1700000000000)

static void flush(struct gen_file *f)
{
	size_t done = 0;

	while (done < f->used && !f->error) {
		const ssize_t n = write(f->fd, f->buf + done, f->used - done);

		if (n > 0)
			done += (size_t)n;
		else if (n == 0 || errno != EINTR)
			f->error = n == 0 ? EIO : errno;
	}
	f->written += done;
	f->used = 0;
}

/* Ends the open segment, if there is one. */
static void end_segment(struct gen_file *f)
{
	if (f->segment == NO_SEGMENT)
		return;
	(void)gen_u4(f->buf + f->segment + 5, (uint32_t)(f->used - f->segment - HEADER_BYTES));
	f->segment = NO_SEGMENT;
}

int gen_file_open(struct gen_file *f, const char *path, unsigned id_size)
{
	static const char version[] = "JAVA PROFILE 1.0.2";
	uint8_t *p;

	*f = (struct gen_file){ .fd = -1, .id_size = id_size, .segment = NO_SEGMENT };
	f->buf = malloc(BUFFER_BYTES);
	if (!f->buf)
		return -1;
	f->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (f->fd < 0) {
		free(f->buf);
		f->buf = NULL;
		return -1;
	}
	p = gen_file_reserve(f, sizeof(version) + 12);
	memcpy(p, version, sizeof(version));
	p = gen_u4(p + sizeof(version), id_size);
	(void)gen_u8(p, TIMESTAMP_MS);
	return 0;
}

int gen_file_close(struct gen_file *f)
{
	end_segment(f);
	flush(f);
	if (close(f->fd) < 0 && !f->error)
		f->error = errno;
	free(f->buf);
	f->buf = NULL;
	errno = f->error;
	return f->error ? -1 : 0;
}

uint8_t *gen_file_reserve(struct gen_file *f, size_t size)
{
	assert(size <= GEN_RECORD_MAX);
	assert(f->segment == NO_SEGMENT);
	if (size > BUFFER_BYTES - f->used)
		flush(f);
	f->used += size;
	return f->buf + f->used - size;
}

uint8_t *gen_file_record(struct gen_file *f, enum gen_tag tag, size_t size)
{
	uint8_t *p;

	end_segment(f);
	p = gen_file_reserve(f, HEADER_BYTES + size);
	p = gen_u1(p, tag);
	p = gen_u4(p, 0);
	return gen_u4(p, (uint32_t)size);
}

uint8_t *gen_file_heap(struct gen_file *f, size_t size)
{
	assert(size <= GEN_RECORD_MAX);
	if (f->segment == NO_SEGMENT || f->used - f->segment + size > SEGMENT_BYTES) {
		end_segment(f);
		if (BUFFER_BYTES - f->used < SEGMENT_BYTES + GEN_RECORD_MAX)
			flush(f);
		f->segment = f->used;
		(void)gen_u4(gen_u4(gen_u1(f->buf + f->used, GEN_HEAP_SEGMENT), 0), 0);
		f->used += HEADER_BYTES;
	}
	f->used += size;
	return f->buf + f->used - size;
}

void gen_file_heap_stream(struct gen_file *f, uint32_t size)
{
	uint8_t *p;

	end_segment(f);
	p = gen_file_reserve(f, HEADER_BYTES);
	(void)gen_u4(gen_u4(gen_u1(p, GEN_HEAP_SEGMENT), 0), size);
}
