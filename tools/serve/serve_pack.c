/*
 * serve/serve_pack.c - compresses with libdeflate in one call. Most answers are short. Long answers
 * are not compressed.
 */
#include "serve/serve_pack.h"

#include "common/output.h"

#include <assert.h>
#include <libdeflate.h>

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * Range of the sizes that are compressed. Smaller answers do not benefit, and larger answers would
 * need too much memory in a worker.
 */
#define LEAST ((size_t)1 << 10)
#define MOST ((size_t)16 << 20)
#define LEVEL 5

bool serve_pack_allowed(const char *accepted)
{
	const char *at = strcasestr(accepted, "gzip");

	if (!at)
		return false;
	at += strlen("gzip");
	at += strspn(at, " \t");
	if (*at != ';')
		return true;
	at += 1 + strspn(at + 1, " \t");
	/* "q=0" and "q=0.000" forbid gzip. */
	return strncasecmp(at, "q=0", 3) != 0 || strspn(at + 3, ".0") != strcspn(at + 3, ", \t");
}

void *serve_pack(const void *data, size_t size, size_t *packed)
{
	struct libdeflate_compressor *compressor;
	void *out = NULL;

	*packed = 0;
	if (size < LEAST || size > MOST)
		return NULL;
	compressor = libdeflate_alloc_compressor(LEVEL);
	if (!compressor)
		return NULL;
	out = malloc(size);
	if (out)
		*packed = libdeflate_gzip_compress(compressor, data, size, out, size);
	libdeflate_free_compressor(compressor);
	assert(*packed <= size);
	if (*packed == 0) { /* the compressed answer would not have been smaller */
		free(out);
		return NULL;
	}
	return out;
}

/* Returns the descriptor of an unnamed file with these bytes, or -1. */
static int file_of(const char *data, size_t size)
{
	const int fd = memfd_create("heapdb-answer", MFD_CLOEXEC);

	if (fd < 0 || base_write_all(fd, data, size))
		return fd;
	close(fd);
	return -1;
}

bool serve_pack_file(int *fd)
{
	const off_t end = lseek(*fd, 0, SEEK_END);
	const size_t size = end > 0 ? (size_t)end : 0;
	void *data, *out;
	size_t packed;
	int to;

	if (size < LEAST || size > MOST)
		return false;
	data = mmap(NULL, size, PROT_READ, MAP_SHARED, *fd, 0);
	if (data == MAP_FAILED)
		return false;
	out = serve_pack(data, size, &packed);
	munmap(data, size);
	to = out ? file_of(out, packed) : -1;
	free(out);
	if (to < 0)
		return false;
	close(*fd);
	*fd = to;
	return true;
}
