/* base/fingerprint.c - computes a hash of samples of a source. */
#include "base/fingerprint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <xxhash.h>

#define ENDS_BYTES 65536u
#define SAMPLES 64u
#define SAMPLE_BYTES 4096u
/* Maximum size of a file that is hashed as a whole, as one part. */
#define WHOLE_BYTES (2 * ENDS_BYTES + SAMPLES * SAMPLE_BYTES)
#define PARTS_MAX (SAMPLES + 1)

struct part {
	uint64_t offset;
	uint64_t size;
};

/* Finds the parts of a file of `size` bytes that are hashed, in order. Returns their number. */
static unsigned find_parts(uint64_t size, struct part parts[PARTS_MAX])
{
	const uint64_t step = (size - SAMPLE_BYTES) / SAMPLES;

	parts[0] = (struct part){ 0, size };
	if (size <= WHOLE_BYTES)
		return 1;
	parts[0].size = ENDS_BYTES;
	for (unsigned i = 1; i < SAMPLES; i++)
		parts[i] = (struct part){ i * step, SAMPLE_BYTES };
	parts[SAMPLES] = (struct part){ size - ENDS_BYTES, ENDS_BYTES };
	return PARTS_MAX;
}

int base_fingerprint(struct base_source *source, uint64_t *out, struct hdb_error *err)
{
	BASE_VIEW(view, source);
	struct part parts[PARTS_MAX];
	const unsigned count = find_parts(source->size, parts);
	uint64_t hash = XXH3_64bits(&source->size, sizeof(source->size));

	for (unsigned i = 0; i < count; i++) {
		const uint8_t *p = base_view_at(&view, parts[i].offset, parts[i].size, err);

		if (!p)
			return HDB_ETRUNC;
		hash = XXH3_64bits_withSeed(p, parts[i].size, hash);
	}
	*out = hash;
	return HDB_OK;
}

/* Reads all of a part. Returns 0 or an errno, which is EIO if the file is too short. */
static int read_part(int fd, const struct part *part, uint8_t *buf)
{
	uint64_t done = 0;

	while (done < part->size) {
		const ssize_t n =
			pread(fd, buf + done, part->size - done, (off_t)(part->offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : EIO;
		done += (uint64_t)n;
	}
	return 0;
}

int base_fingerprint_fd(int fd, uint64_t size, uint64_t *out, struct hdb_error *err)
{
	struct part parts[PARTS_MAX];
	const unsigned count = find_parts(size, parts);
	uint8_t *buf = malloc(WHOLE_BYTES);
	uint64_t hash = XXH3_64bits(&size, sizeof(size));
	int failed = 0;

	if (!buf)
		return hdb_fail_memory(err, "samples of a file", WHOLE_BYTES);
	/* Prefetches all parts first, so that the disk can read them at the same time. */
	for (unsigned i = 0; i < count; i++)
		(void)posix_fadvise(fd, (off_t)parts[i].offset, (off_t)parts[i].size,
				    POSIX_FADV_WILLNEED);
	for (unsigned i = 0; i < count && !failed; i++) {
		failed = read_part(fd, &parts[i], buf);
		if (!failed)
			hash = XXH3_64bits_withSeed(buf, parts[i].size, hash);
	}
	free(buf);
	*out = hash;
	return failed ? hdb_fail_errno(err, failed, "cannot read") : HDB_OK;
}
