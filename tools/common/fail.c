/*
 * common/fail.c - a failure of a door, with its message.
 */
#include "common/fail.h"

#include <stdarg.h>
#include <stdio.h>

int door_fail(struct hdb_error *err, int code, const char *format, ...)
{
	va_list args;

	if (!err)
		return code;
	va_start(args, format);
	vsnprintf(err->message, sizeof(err->message), format, args);
	va_end(args);
	err->code = code;
	return code;
}
