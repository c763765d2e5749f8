/*
 * api/struct.c - converts structures for callers that were compiled with an older or newer header.
 */
#include "api/handle.h"

#include <assert.h>
#include <string.h>

/* No structure will ever be larger. A larger struct_size was not initialised. */
#define STRUCT_BYTES_MAX (1u << 20)

static size_t struct_size(const void *theirs, size_t first)
{
	size_t size;

	memcpy(&size, theirs, sizeof(size));
	return size ? size : first;
}

int api_check_struct(const void *theirs, size_t first, struct hdb_error *err)
{
	const size_t size = theirs ? struct_size(theirs, first) : first;

	assert(first >= sizeof(size));
	if (size >= first && size <= STRUCT_BYTES_MAX)
		return HDB_OK;
	return hdb_fail(err, HDB_EUSAGE,
			"struct_size is %zu; expected at least %zu (the sizeof of the structure)",
			size, first);
}

int api_read_struct(void *ours, size_t size, size_t first, const void *theirs,
		    struct hdb_error *err)
{
	size_t has;

	assert(first <= size);
	TRY(api_check_struct(theirs, first, err));
	memset(ours, 0, size);
	if (!theirs)
		return HDB_OK;
	has = struct_size(theirs, first);
	memcpy(ours, theirs, has < size ? has : size);
	memcpy(ours, &size, sizeof(size));
	return HDB_OK;
}

void api_write_struct(void *theirs, size_t first, const void *ours, size_t size)
{
	size_t room;

	assert(first <= size);
	if (!theirs || api_check_struct(theirs, first, NULL) != HDB_OK)
		return;
	room = struct_size(theirs, first);
	memcpy((char *)theirs + sizeof(room), (const char *)ours + sizeof(room),
	       (room < size ? room : size) - sizeof(room));
	if (room > size)
		memset((char *)theirs + size, 0, room - size);
}
