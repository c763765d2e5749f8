/*
 * base/base_text.c - numbers in texts.
 */
#include "base/base_text.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

struct base_number base_number(uint64_t value)
{
	struct base_number number;
	char *p = number.text + sizeof(number.text);
	unsigned digits = 0;

	*--p = '\0';
	do {
		if (digits && digits % 3 == 0)
			*--p = ',';
		*--p = (char)('0' + value % 10);
		value /= 10;
		digits++;
	} while (value);
	assert(p >= number.text);
	memmove(number.text, p, (size_t)(number.text + sizeof(number.text) - p));
	return number;
}

struct base_number base_size(uint64_t bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	struct base_number number;
	double size = (double)bytes;
	unsigned unit = 0;

	while (size >= 1024 && unit < 4) {
		size /= 1024;
		unit++;
	}
	(void)snprintf(number.text, sizeof(number.text), unit ? "%.1f %s" : "%.0f %s", size,
		       units[unit]);
	return number;
}
