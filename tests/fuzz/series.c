/*
 * fuzz/series.c - a series file of arbitrary bytes is read, examined for growth, extended and read
 * again. A line that ends with "!" gets a valid checksum.
 */
#include "watch/growth.h"
#include "watch/series.h"

#include "support/fuzz_target.h"

#include <fcntl.h>
#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int count(void *ctx, const struct series_record *r)
{
	uint64_t *records = ctx;

	if (!memchr(r->jvm, 0, sizeof(r->jvm)) || !memchr(r->text, 0, sizeof(r->text)))
		abort();
	++*records;
	return HDB_OK;
}

static uint64_t read_all(const char *path, struct series_counts *counts)
{
	uint64_t records = 0;

	if (series_read(path, &(struct series_taker){ count, &records, NULL }, counts, NULL) !=
	    HDB_OK)
		return 0;
	if (records + counts->damaged > counts->lines)
		abort();
	return records;
}

/* Writes the input, in which "!" at the end of a line stands for its checksum. */
static void write_lines(int fd, const char *data, size_t size)
{
	for (const char *at = data, *end = data + size; at < end;) {
		const char *feed = memchr(at, '\n', (size_t)(end - at));
		const size_t used = feed ? (size_t)(feed - at) : (size_t)(end - at);
		const bool is_signed = used > 0 && at[used - 1] == '!';

		if (write(fd, at, used - is_signed) < 0)
			abort();
		if (is_signed)
			dprintf(fd, ",\"crc\":\"%08x\"}", libdeflate_crc32(0, at, used - 1));
		if (feed && write(fd, "\n", 1) < 0)
			abort();
		at += used + (feed != NULL);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct series_record sample = { .kind = SERIES_SAMPLE, .jvm = "1-1", .time_ms = 1 };
	const int fd = memfd_create("series", MFD_CLOEXEC);
	struct series_counts counts = { 0 };
	struct growth growth = { 0 };
	struct series *series = NULL;
	struct hdb_error err;
	uint64_t records;
	char path[64];

	if (fd < 0)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	write_lines(fd, (const char *)data, size);
	records = read_all(path, &counts);
	if (growth_read(&growth, path, NULL, &err) == HDB_OK &&
	    growth_find(&growth, &err) == HDB_OK && growth.row_count > 0 && !growth.run_count)
		abort();
	growth_release(&growth);
	if (series_open(path, 1 << 20, &series, &err) == HDB_OK) {
		if (series_append(series, &sample, &err) != HDB_OK)
			abort();
		series_close(series);
		/* Earlier records still exist, unless the file was thinned. */
		if (read_all(path, &counts) < (size < 1 << 19 ? records + 1 : 1))
			abort();
	}
	(void)close(fd);
	return 0;
}
