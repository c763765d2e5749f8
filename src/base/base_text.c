/* base/base_text.c - formats numbers, and builds strings in growing buffers. */
#include "base/base_text.h"

#include "base/plain_locale.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Number of bytes allocated beyond the number needed, so that the next few additions need no
 * allocation.
 */
#define SPARE 64

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
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	struct base_number number;
	double size = (double)bytes;
	unsigned unit = 0;

	/* from here on, the number would be rounded to 1024.0 */
	while (size >= 1023.95 && unit < 6) {
		size /= 1024;
		unit++;
	}
	(void)snprintf(number.text, sizeof(number.text), unit ? "%.1f %s" : "%.0f %s", size,
		       units[unit]);
	return number;
}

bool base_ends_with(const char *text, const char *end)
{
	const size_t size = strlen(text), tail = strlen(end);

	return size > tail && strcmp(text + size - tail, end) == 0;
}

bool base_read_number(const char *text, bool has_unit, uint64_t *out)
{
	static const char units[] = "KMGT";
	const char *unit;
	char *end;

	errno = 0;
	if (*text < '0' || *text > '9')
		return false;
	*out = strtoull(text, &end, 10);
	unit = has_unit && *end ? strchr(units, *end & ~0x20) : NULL;
	if (unit) {
		const unsigned shift = 10 * (unsigned)(unit - units + 1);

		if (*out > UINT64_MAX >> shift)
			return false;
		*out <<= shift;
		end++;
		end += strcmp(end, "iB") == 0 ? 2 : strcmp(end, "B") == 0 ? 1 : 0;
	}
	return !*end && !errno;
}

struct base_number base_real(double value, bool is_float)
{
	BASE_PLAIN_LOCALE;
	struct base_number number = { "" };

	if (!isfinite(value)) {
		(void)snprintf(number.text, sizeof(number.text), "%s",
			       isnan(value) ? "NaN" :
			       value > 0    ? "Infinity" :
					      "-Infinity");
		return number;
	}
	for (int digits = is_float ? 6 : 15; digits <= (is_float ? 9 : 17); digits++) {
		(void)snprintf(number.text, sizeof(number.text), "%.*g", digits, value);
		if (is_float ? !islessgreater(strtof(number.text, NULL), (float)value) :
			       !islessgreater(strtod(number.text, NULL), value))
			break;
	}
	return number;
}

size_t base_cut_mark(char buf[BASE_CUT_MARK_BYTES], uint64_t count, const char *what,
		     bool is_for_people)
{
	char plain[24];
	int size;

	(void)snprintf(plain, sizeof(plain), "%" PRIu64, count);
	size = snprintf(buf, BASE_CUT_MARK_BYTES, "... (%s %s)",
			is_for_people ? base_number(count).text : plain, what);
	assert(size > 0 && (size_t)size < BASE_CUT_MARK_BYTES);
	return (size_t)size;
}

size_t base_utf8(char buf[4], uint32_t character)
{
	const uint32_t c = character > 0x10ffff || (character >= 0xd800 && character < 0xe000) ?
				   0xfffd :
				   character;
	const size_t size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	buf[0] = (char)(first[size] | c >> 6 * (size - 1));
	for (size_t i = 1; i < size; i++)
		buf[i] = (char)(0x80 | (c >> 6 * (size - 1 - i) & 63));
	return size;
}

void *bytes_room(struct bytes *b, size_t more)
{
	const size_t need = b->size + more;
	size_t capacity;
	char *grown = NULL;

	assert(b->size <= b->capacity);
	if (!b->failed && (!b->data || more > b->capacity - b->size)) {
		capacity = need / 2 < b->capacity ? b->capacity * 2 : need + SPARE;
		if (need < more || capacity < need || (b->most && capacity > b->most) ||
		    !(grown = realloc(b->data, capacity))) {
			b->failed = true;
			return NULL;
		}
		b->data = grown;
		b->capacity = capacity;
	}
	return b->failed ? NULL : b->data + b->size;
}

void bytes_add(struct bytes *b, const void *data, size_t size)
{
	void *to = size ? bytes_room(b, size) : NULL;

	if (!to)
		return;
	memcpy(to, data, size);
	b->size += size;
}

void bytes_string(struct bytes *b, const char *string)
{
	bytes_add(b, string, strlen(string));
}

void bytes_format(struct bytes *b, const char *format, ...)
{
	va_list args, again;
	char *to = bytes_room(b, SPARE); /* most fit */
	int n;

	if (!to)
		return;
	va_start(args, format);
	va_copy(again, args);
	n = vsnprintf(to, b->capacity - b->size, format, args);
	if (n > 0 && (size_t)n >= b->capacity - b->size && (to = bytes_room(b, (size_t)n + 1)))
		n = vsnprintf(to, (size_t)n + 1, format, again);
	if (n > 0 && to)
		b->size += (size_t)n;
	va_end(again);
	va_end(args);
}

void bytes_utf8(struct bytes *b, uint32_t character)
{
	char buf[4];
	const size_t size = base_utf8(buf, character);

	bytes_add(b, buf, size);
}

void bytes_release(struct bytes *b)
{
	free(b->data);
	*b = (struct bytes){ .most = b->most };
}
