/* base/spill.c - scratch files, which are accessed with pread and pwrite. */
#include "base/spill.h"

#include "base/outfile.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int base_spill_write(struct base_spill *spill, uint64_t offset, const void *data, size_t size,
		     struct hdb_error *err)
{
	assert(spill->work);
	assert(data || !size);
	if (!spill->is_open) {
		TRY(base_scratch_file(spill->work, &spill->fd, err));
		spill->is_open = true;
	}
	return base_write_at(spill->fd, data, size, offset) ?
		       HDB_OK :
		       hdb_fail_errno(err, errno, "cannot write a temporary file in %s",
				      spill->work->scratch_dir);
}

int base_spill_read(const struct base_spill *spill, uint64_t offset, void *data, size_t size,
		    struct hdb_error *err)
{
	char *at = data;

	assert(data || !size);
	assert(spill->is_open);
	while (size) {
		const ssize_t n = pread(spill->fd, at, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return hdb_fail_errno(err, n < 0 ? errno : EIO,
					      "cannot read a temporary file");
		at += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return HDB_OK;
}

void base_spill_prefetch(const struct base_spill *spill, uint64_t offset, uint64_t size)
{
	if (spill->is_open)
		(void)posix_fadvise(spill->fd, (off_t)offset, (off_t)size, POSIX_FADV_WILLNEED);
}

void base_spill_close(struct base_spill *spill)
{
	if (spill->is_open)
		(void)close(spill->fd);
	*spill = (struct base_spill){ .work = spill->work };
}
