/* base/source.c - byte sources that map a file, or that read bytes in memory. */
#include "base/source.h"

#include "base/bytes.h"
#include "base/scope.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct map_source {
	struct base_source src;
	void *map;
	/*
	 * used to detect that the file has shrunk: the rest of its last page then reads as zeros
	 * without a fault
	 */
	int fd;
	_Atomic(uint64_t) fault; /* 1 + offset of the first unreadable page; 0 if none */
	char path[];
};

int base_view_fill(struct base_view *view, uint64_t offset, uint64_t size, struct hdb_error *err)
{
	struct base_source *src = view->src;

	assert(view->src);
	assert(view->start <= view->end);
	if (offset > src->size || size > src->size - offset)
		return hdb_fail(err, HDB_ETRUNC,
				"%s: %" PRIu64 " bytes requested at offset %" PRIu64
				", but the file ends at %" PRIu64,
				src->path, size, offset, src->size);
	return src->window(view, offset, size, err);
}

void base_source_close(struct base_source *src)
{
	if (src)
		src->close(src);
}

/*
 * Gives a view its window. The whole file is one window, so after the first fill a view contains
 * all of it.
 */
static int map_window(struct base_view *view, uint64_t offset, uint64_t size, struct hdb_error *err)
{
	const struct map_source *map = (const struct map_source *)view->src;

	(void)size;
	(void)err;
	view->data = (const uint8_t *)map->map + offset;
	view->start = offset;
	view->end = view->src->size;
	return HDB_OK;
}

static int map_failed(struct base_source *src, struct hdb_error *err)
{
	const struct map_source *map = (const struct map_source *)src;

	if (!map->fault)
		return HDB_OK;
	return hdb_fail(err, HDB_EIO,
			"%s: cannot read at offset %" PRIu64 " (the file shrank, or the disk "
			"failed)",
			src->path, map->fault - 1);
}

static int map_check(struct base_source *src, struct hdb_error *err)
{
	const struct map_source *map = (const struct map_source *)src;
	struct stat st;

	if (map->fault)
		return map_failed(src, err);
	if (fstat(map->fd, &st) < 0)
		return hdb_fail_errno(err, errno, "%s", src->path);
	if ((uint64_t)st.st_size < src->size)
		return hdb_fail(err, HDB_EIO,
				"%s: cannot read at offset %" PRIu64 " (the file now ends there)",
				src->path, (uint64_t)st.st_size);
	return HDB_OK;
}

static void map_want(struct base_source *src, uint64_t offset, uint64_t size)
{
	const struct map_source *map = (const struct map_source *)src;
	const uint64_t page = 4096;
	const uint64_t first = offset / page * page;

	if (offset >= src->size)
		return;
	if (size > src->size - offset)
		size = src->size - offset;
	(void)madvise((uint8_t *)map->map + first, offset + size - first, MADV_WILLNEED);
}

static void map_touch(struct base_source *src, uint64_t offset, uint64_t size)
{
#ifdef MADV_POPULATE_READ
	const struct map_source *map = (const struct map_source *)src;
	const uint64_t first = offset / 4096 * 4096;

	if (offset < src->size && size <= src->size - offset)
		(void)madvise((uint8_t *)map->map + first, offset + size - first,
			      MADV_POPULATE_READ);
#else
	(void)src;
	(void)offset;
	(void)size;
#endif
}

static void map_drop(struct base_source *src, uint64_t offset, uint64_t size)
{
	const struct map_source *map = (const struct map_source *)src;
	const uint64_t page = 4096;
	const uint64_t first = round_up(offset, page);
	const uint64_t last = (offset + size) / page * page;

	if (last > first)
		(void)madvise((uint8_t *)map->map + first, last - first, MADV_DONTNEED);
}

static void map_close(struct base_source *src)
{
	struct map_source *map = (struct map_source *)src;

	base_sigbus_remove(map->map);
	(void)munmap(map->map, src->size);
	(void)close(map->fd);
	free(map);
}

static int open_regular(const char *path, int *fd, uint64_t *size, struct hdb_error *err)
{
	struct stat st;

	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (*fd < 0)
		return hdb_fail_open(err, errno, path);
	if (fstat(*fd, &st) < 0)
		return hdb_fail_errno(err, errno, "%s", path);
	if (S_ISDIR(st.st_mode))
		return hdb_fail(err, HDB_EFORMAT, "%s: is a directory, not a file", path);
	if (!S_ISREG(st.st_mode))
		return hdb_fail(err, HDB_EFORMAT, "%s: not a regular file", path);
	if (st.st_size == 0)
		return hdb_fail(err, HDB_EFORMAT, "%s: the file is empty", path);
	*size = (uint64_t)st.st_size;
	return HDB_OK;
}

int base_map_open(const char *path, enum base_access access, struct base_source **out,
		  struct hdb_error *err)
{
	const size_t path_size = strlen(path) + 1;
	BASE_FREED struct map_source *map = NULL;
	BASE_CLOSED int fd = -1;
	uint64_t size = 0;
	int r;

	TRY(open_regular(path, &fd, &size, err));
	map = base_alloc(1, sizeof(*map) + path_size, "a file map", err);
	if (!map)
		return HDB_ENOMEM;
	memcpy(map->path, path, path_size);
	map->map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map->map == MAP_FAILED)
		return hdb_fail_errno(err, errno, "%s: cannot map %" PRIu64 " bytes", path, size);
	(void)madvise(map->map, size, access == BASE_RANDOM ? MADV_RANDOM : MADV_SEQUENTIAL);
	r = base_sigbus_add(map->map, size, &map->fault, err);
	if (r < 0) {
		(void)munmap(map->map, size);
		return r;
	}
	map->src = (struct base_source){
		.size = size,
		.path = map->path,
		.window = map_window,
		.check = map_check,
		.failed = map_failed,
		.want = map_want,
		.touch = map_touch,
		.drop = map_drop,
		.close = map_close,
	};
	*out = &map->src;
	map->fd = fd;
	fd = -1;
	map = NULL;
	return HDB_OK;
}

struct memory_source {
	struct base_source src;
	const uint8_t *data;
};

static int memory_window(struct base_view *view, uint64_t offset, uint64_t size,
			 struct hdb_error *err)
{
	(void)size;
	(void)err;
	view->data = ((const struct memory_source *)view->src)->data + offset;
	view->start = offset;
	view->end = view->src->size;
	return HDB_OK;
}

static int memory_check(struct base_source *src, struct hdb_error *err)
{
	(void)src;
	(void)err;
	return HDB_OK;
}

static void memory_close(struct base_source *src)
{
	free(src);
}

int base_memory_open(const void *data, uint64_t size, struct base_source **out,
		     struct hdb_error *err)
{
	struct memory_source *mem;

	TRY(BASE_ALLOC(mem, 1, "a memory source", err));
	mem->data = data;
	mem->src = (struct base_source){
		.size = size,
		.path = "memory",
		.window = memory_window,
		.check = memory_check,
		.close = memory_close,
	};
	*out = &mem->src;
	return HDB_OK;
}
