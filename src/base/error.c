/* base/error.c - fills in struct hdb_error, and names result codes. */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void put_message(struct hdb_error *err, int code, const char *format, va_list args)
	HDB_PRINTF(3, 0);
static void put_message(struct hdb_error *err, int code, const char *format, va_list args)
{
	err->code = code;
	(void)vsnprintf(err->message, sizeof(err->message), format, args);
}

int hdb_fail(struct hdb_error *err, int code, const char *format, ...)
{
	va_list args;

	if (!err)
		return code;
	va_start(args, format);
	put_message(err, code, format, args);
	va_end(args);
	return code;
}

int hdb_fail_errno(struct hdb_error *err, int errno_value, const char *format, ...)
{
	const int code = errno_value == ENOMEM ? HDB_ENOMEM : HDB_EIO;
	char reason[128];
	va_list args;
	size_t used;

	if (!err)
		return code;
	va_start(args, format);
	put_message(err, code, format, args);
	va_end(args);
	used = strlen(err->message);
	(void)snprintf(err->message + used, sizeof(err->message) - used, ": %s",
		       strerror_r(errno_value, reason, sizeof(reason)));
	return code;
}

int hdb_fail_open(struct hdb_error *err, int errno_value, const char *path)
{
	const int code = hdb_fail_errno(err, errno_value, "%s", path);

	if (errno_value != ENOENT && errno_value != ENOTDIR)
		return code;
	if (err)
		err->code = HDB_EABSENT;
	return HDB_EABSENT;
}

void hdb_note_memory(struct hdb_error *err, const char *what, uint64_t size_bytes)
{
	(void)hdb_fail(err, HDB_ENOMEM, "cannot allocate memory for %s (%" PRIu64 " bytes)", what,
		       size_bytes);
}

const char *hdb_version(void)
{
	return HDB_VERSION;
}

unsigned hdb_version_number(void)
{
	return HDB_VERSION_NUMBER;
}

const char *hdb_result_name(int result)
{
	static const struct {
		int result;
		const char *name;
	} names[] = {
		{ HDB_OK, "HDB_OK" },
		{ HDB_END, "HDB_END" },
		{ HDB_NOTFOUND, "HDB_NOTFOUND" },
		{ HDB_EUSAGE, "HDB_EUSAGE" },
		{ HDB_EEXIST, "HDB_EEXIST" },
		{ HDB_EFORMAT, "HDB_EFORMAT" },
		{ HDB_ETRUNC, "HDB_ETRUNC" },
		{ HDB_ELIMIT, "HDB_ELIMIT" },
		{ HDB_ECORRUPT, "HDB_ECORRUPT" },
		{ HDB_EVERSION, "HDB_EVERSION" },
		{ HDB_ECHANGED, "HDB_ECHANGED" },
		{ HDB_EABSENT, "HDB_EABSENT" },
		{ HDB_EIO, "HDB_EIO" },
		{ HDB_ENOMEM, "HDB_ENOMEM" },
		{ HDB_EINTR, "HDB_EINTR" },
		{ HDB_EBUG, "HDB_EBUG" },
	};

	for (size_t i = 0; i < BASE_COUNT(names); i++)
		if (names[i].result == result)
			return names[i].name;
	return "unknown result";
}
