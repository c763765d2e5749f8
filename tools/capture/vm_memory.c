/*
 * capture/vm_memory.c - reads the memory of a VM through /proc: its mappings, and which of its
 * pages are in memory. This does not affect the VM.
 */
#include "base/scope.h"
#include "capture/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Number of bytes per read. */
#define READ_BYTES 65536u
/* Number of entries of pagemap per read, and its bit for pages in memory (Linux: pagemap.rst). */
#define PAGES_PER_READ 4096u
#define PAGE_PRESENT (UINT64_C(1) << 63)

struct capture_memory {
	struct process process;
	int pages_fd, bytes_fd; /* /proc/PID/pagemap and mem; -1 means not accessible */
};

int capture_memory_open(int pid, struct capture_memory **out, struct hdb_error *err)
{
	int failure;

	TRY(BASE_ALLOC(*out, 1, "a process", err));
	(*out)->pages_fd = (*out)->bytes_fd = -1;
	failure = process_open(pid, &(*out)->process);
	if (failure)
		return hdb_fail(err, HDB_EABSENT, "no such process: %d", pid);
	(*out)->pages_fd = openat((*out)->process.proc_fd, "pagemap", O_RDONLY | O_CLOEXEC);
	(*out)->bytes_fd = openat((*out)->process.proc_fd, "mem", O_RDONLY | O_CLOEXEC);
	return HDB_OK;
}

void capture_memory_close(struct capture_memory *memory)
{
	if (!memory)
		return;
	capture_close_fd(memory->pages_fd);
	capture_close_fd(memory->bytes_fd);
	process_close(&memory->process);
	free(memory);
}

int capture_memory_smaps(struct capture_memory *memory, size_t size_max, struct bytes *text,
			 struct hdb_error *err)
{
	const long pid = (long)memory->process.pid;
	BASE_CLOSED const int fd = openat(memory->process.proc_fd, "smaps", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : 1;

	while (n > 0) {
		char *to = bytes_room(text, READ_BYTES + 1);

		if (!to)
			return hdb_fail(err, HDB_ENOMEM,
					"cannot allocate memory for the mappings of process %ld",
					pid);
		do
			n = read(fd, to, READ_BYTES);
		while (n < 0 && errno == EINTR);
		text->size += n > 0 ? (size_t)n : 0;
		if (text->size > size_max)
			return hdb_fail(
				err, HDB_ELIMIT,
				"the list of mappings of process %ld is longer than %zu bytes", pid,
				size_max);
	}
	if (n < 0 && (errno == ESRCH || errno == ENOENT))
		text->size = 0;
	else if (n < 0)
		return hdb_fail(err, HDB_EIO, "/proc/%ld/smaps: %s", pid, strerror(errno));
	if (!text->size)
		return hdb_fail(err, HDB_EIO, "process %ld has ended", pid);
	text->data[text->size] = '\0';
	return HDB_OK;
}

bool capture_memory_pages(void *ctx, uint64_t start, uint64_t end, uint64_t *bytes)
{
	const struct capture_memory *memory = ctx;
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t entries[PAGES_PER_READ];

	*bytes = 0;
	if (memory->pages_fd < 0)
		return false;
	for (uint64_t at = start / page; at < end / page;) {
		const uint64_t left = end / page - at;
		const size_t count = left < PAGES_PER_READ ? (size_t)left : PAGES_PER_READ;
		const ssize_t n = pread(memory->pages_fd, entries, count * 8, (off_t)(at * 8));

		if (n < 8)
			return false;
		for (size_t i = 0; i < (size_t)n / 8; i++)
			*bytes += entries[i] & PAGE_PRESENT ? page : 0;
		at += (uint64_t)n / 8;
	}
	return true;
}

size_t capture_memory_read(void *ctx, uint64_t at, void *out, size_t size)
{
	const struct capture_memory *memory = ctx;
	const ssize_t n = memory->bytes_fd < 0 ? 0 : pread(memory->bytes_fd, out, size, (off_t)at);

	return n > 0 ? (size_t)n : 0;
}
