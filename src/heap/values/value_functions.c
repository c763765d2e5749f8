/*
 * heap/values/value_functions.c - functions that the templates in values.rows call for values that
 * fields and literal text cannot express. The formats are those of toString. Times are in UTC.
 */
#include "heap/threads.h"
#include "heap/values/binder.h"
#include "heap/values/text.h"
#include "heap/values/value_text.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Template functions for times and durations (heap_value_function in value_text.h). */

/* Reads the integer at the end of a path from the object. Returns false if there is no integer. */
static inline bool heap_number_at(struct heap *heap, uint32_t ix, const char *path, int64_t *out)
{
	return heap_path_number(heap, ix, path, out, NULL) == HDB_OK;
}

/* Writes nanoseconds as Java prints them: 3, 6 or 9 digits, or nothing if the value is 0. */
static void put_nanos(int64_t nanos, char out[16])
{
	out[0] = '\0';
	if (nanos <= 0 || nanos > 999999999)
		return;
	if (nanos % 1000000 == 0)
		(void)snprintf(out, 16, ".%03d", (int)(nanos / 1000000));
	else if (nanos % 1000 == 0)
		(void)snprintf(out, 16, ".%06d", (int)(nanos / 1000));
	else
		(void)snprintf(out, 16, ".%09d", (int)nanos);
}

/*
 * Converts seconds since 1970 to a date and time of the proleptic Gregorian calendar, with
 * civil_from_days from Hinnant, "chrono-Compatible Low-Level Date Algorithms".
 */
static void put_moment(int64_t seconds, int64_t nanos, char *buf, size_t size)
{
	const int64_t second = (seconds % 86400 + 86400) % 86400;
	const int64_t days = (seconds - second) / 86400 + 719468;
	const int64_t era = (days >= 0 ? days : days - 146096) / 146097;
	const int64_t doe = days - era * 146097;
	const int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	const int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	const int64_t mp = (5 * doy + 2) / 153;
	const int month = (int)(mp < 10 ? mp + 3 : mp - 9);
	char fraction[16];

	assert(size > 0);
	put_nanos(nanos, fraction);
	(void)snprintf(buf, size, "%04" PRId64 "-%02d-%02dT%02d:%02d:%02d%sZ",
		       yoe + era * 400 + (month <= 2), month, (int)(doy - (153 * mp + 2) / 5 + 1),
		       (int)(second / 3600), (int)(second / 60 % 60), (int)(second % 60), fraction);
}

/* Formats an Instant. */
static bool value_instant(const struct heap_shown *o, char *buf, size_t size)
{
	int64_t seconds, nanos;

	if (!heap_number_at(o->heap, o->ix, "seconds", &seconds) ||
	    !heap_number_at(o->heap, o->ix, "nanos", &nanos) || seconds < INT64_MIN / 2)
		return false;
	put_moment(seconds, nanos, buf, size);
	return true;
}

/*
 * Writes milliseconds since 1970 as a date and time. Rounds down, even before 1970, so the fraction
 * is never negative.
 */
static bool value_millis(const struct heap_shown *o, char *buf, size_t size)
{
	int64_t ms;

	if (!heap_value_number(o->value, &ms) || ms < INT64_MIN / 2)
		return false;
	put_moment((ms - ((ms % 1000) + 1000) % 1000) / 1000, ((ms % 1000) + 1000) % 1000 * 1000000,
		   buf, size);
	return true;
}

/* Writes a LocalTime. The seconds are omitted if both seconds and nanoseconds are zero. */
static bool value_local_time(const struct heap_shown *o, char *buf, size_t size)
{
	int64_t hour, minute, second, nano;
	char fraction[16];

	if (!heap_number_at(o->heap, o->ix, "hour", &hour) ||
	    !heap_number_at(o->heap, o->ix, "minute", &minute) ||
	    !heap_number_at(o->heap, o->ix, "second", &second) ||
	    !heap_number_at(o->heap, o->ix, "nano", &nano))
		return false;
	put_nanos(nano, fraction);
	if (second || nano > 0)
		(void)snprintf(buf, size, "%02d:%02d:%02d%s", (int)hour, (int)minute, (int)second,
			       fraction);
	else
		(void)snprintf(buf, size, "%02d:%02d", (int)hour, (int)minute);
	return true;
}

/* Like Duration.toString: PT8H6M12.345S. */
static bool value_duration(const struct heap_shown *o, char *buf, size_t size)
{
	int64_t seconds, nanos, total, part;
	char hours[32] = "", minutes[16] = "", rest[48] = "", digits[16];
	size_t n;

	if (!heap_number_at(o->heap, o->ix, "seconds", &seconds) ||
	    !heap_number_at(o->heap, o->ix, "nanos", &nanos) || nanos < 0 || nanos > 999999999)
		return false;
	/*
	 * The nanoseconds are positive and added to the seconds. For a negative duration, one
	 * second is borrowed for the nanoseconds.
	 */
	total = seconds < 0 && nanos ? seconds + 1 : seconds;
	part = seconds < 0 && nanos ? 1000000000 - nanos : nanos;
	if (total / 3600)
		(void)snprintf(hours, sizeof(hours), "%" PRId64 "H", total / 3600);
	if (total % 3600 / 60)
		(void)snprintf(minutes, sizeof(minutes), "%dM", (int)(total % 3600 / 60));
	if (total % 60 || part) {
		(void)snprintf(digits, sizeof(digits), ".%09d", (int)part);
		for (n = strlen(digits); n > 1 && digits[n - 1] == '0'; n--)
			digits[n - 1] = '\0';
		(void)snprintf(rest, sizeof(rest), "%s%d%sS",
			       seconds < 0 && total % 60 == 0 ? "-" : "", (int)(total % 60),
			       part ? digits : "");
	} else if (!hours[0] && !minutes[0]) {
		(void)snprintf(rest, sizeof(rest), "0S");
	}
	(void)snprintf(buf, size, "PT%s%s%s", hours, minutes, rest);
	return true;
}

/*
 * Writes a period like java.time.Period.toString, without parts that are zero; an empty period is
 * P0D.
 */
static bool value_period(const struct heap_shown *o, char *buf, size_t size)
{
	static const char *const names[] = { "years", "months", "days" };
	size_t used = (size_t)snprintf(buf, size, "P");
	int64_t number;

	for (unsigned i = 0; i < 3; i++) {
		if (!heap_number_at(o->heap, o->ix, names[i], &number))
			return false;
		if (number || (i == 2 && used == 1))
			used += (size_t)snprintf(buf + used, size - used, "%" PRId64 "%c", number,
						 "YMD"[i]);
	}
	return true;
}

/* Writes the ID of a time zone that is not just an offset. */
static bool value_region(const struct heap_shown *o, char *buf, size_t size)
{
	uint32_t id;
	int64_t seconds;

	return o->ix != HEAP_NONE && !heap_number_at(o->heap, o->ix, "totalSeconds", &seconds) &&
	       heap_path_object(o->heap, o->ix, "id", &id, NULL) == HDB_OK &&
	       heap_string(o->heap, id, buf, size, NULL) == HDB_OK;
}

/* Maximum number of words of a BigInteger to convert: about 1,900 digits. */
#define BIG_WORDS 200u
#define BIG_DIGITS 1940
/* Maximum number of bytes or characters of an array to show. */
#define CHARS_MAX 256u
/* Maximum number of components of a record to show. */
#define RECORD_FIELDS 8

/* ---- strings ---- */

/*
 * Returns the number of UTF-16 units of a UTF-8 string: one per character, but two for characters
 * of four bytes.
 */
static uint64_t count_units(const char *text)
{
	uint64_t units = 0;

	for (; *text; text++)
		units += ((uint8_t)*text & 0xc0) != 0x80 ? 1u + ((uint8_t)*text >= 0xf0) : 0u;
	return units;
}

/* Writes a string in quotes, with an ellipsis if it was truncated. */
static bool string(const struct heap_shown *o, char *buf, size_t size)
{
	char text[HEAP_VALUE_STRING] = "";
	struct heap_utf8 out = { .buf = text, .size = sizeof(text), .is_c_text = true };

	if (heap_string_text(o->heap, o->ix, &out, NULL) != HDB_OK)
		return false;
	(void)snprintf(buf, size, "\"%s\"%s", text, out.units > count_units(text) ? "..." : "");
	return true;
}

static bool thread(const struct heap_shown *o, char *buf, size_t size)
{
	char text[HEAP_VALUE_STRING];

	if (heap_thread_name(o->heap, o->ix, text, sizeof(text), NULL) != HDB_OK || !text[0])
		return false;
	(void)snprintf(buf, size, "\"%s\"", text);
	return true;
}

/*
 * Converts `count` units to UTF-8: from a char[], or from a byte[] of UTF-16 (is_wide) or Latin-1.
 */
static void put_units(const uint64_t *bits, uint64_t count, bool is_wide, char *buf, size_t size)
{
	struct heap_utf16 to = { .p = buf, .end = buf + size - 1 };

	assert(size > 0);
	for (uint64_t i = 0; i < count; i++) {
		const uint32_t unit = is_wide ? (uint32_t)(bits[2 * i] | bits[2 * i + 1] << 8) :
						(uint32_t)bits[i];

		heap_put_utf16(&to, unit ? unit : HEAP_C_ZERO);
	}
	heap_end_utf16(&to);
	*to.p = '\0';
}

/*
 * Writes the text of a StringBuilder or StringBuffer: its value and count fields and, since JDK 9,
 * its coder field.
 */
static bool builder(const struct heap_shown *o, char *buf, size_t size)
{
	uint64_t bits[HEAP_VALUE_STRING * 2];
	struct heap_slice slice = { .bits = bits, .room = BASE_COUNT(bits) };
	int64_t count = 0, coder = 0;
	char text[HEAP_VALUE_STRING];
	bool is_wide;
	uint32_t array;

	if (heap_path_object(o->heap, o->ix, "value", &array, NULL) != HDB_OK ||
	    !heap_number_at(o->heap, o->ix, "count", &count) || count < 0 ||
	    heap_elements(o->heap, array, 0, &slice, NULL) < 0)
		return false;
	is_wide = heap_number_at(o->heap, o->ix, "coder", &coder) && coder == 1 &&
		  slice.type == HPROF_BYTE;
	slice.done = is_wide ? slice.done / 2 : slice.done;
	slice.done = (uint64_t)count < slice.done ? (uint64_t)count : slice.done;
	put_units(bits, slice.done, is_wide, text, sizeof(text));
	(void)snprintf(buf, size, "\"%s\"%s", text,
		       (uint64_t)count > count_units(text) ? "..." : "");
	return true;
}

/* Writes the text of a byte[] that contains UTF-8, or of a char[]. */
static bool chars(const struct heap_shown *o, char *buf, size_t size)
{
	uint64_t bits[CHARS_MAX];
	struct heap_slice slice = { .bits = bits, .room = CHARS_MAX };
	char raw[CHARS_MAX];

	if (o->ix == HEAP_NONE || heap_elements(o->heap, o->ix, 0, &slice, NULL) < 0)
		return false;
	if (slice.type == HPROF_CHAR)
		put_units(bits, slice.done, false, buf, size);
	for (uint64_t i = 0; slice.type == HPROF_BYTE && i < slice.done; i++)
		raw[i] = (char)bits[i];
	if (slice.type == HPROF_BYTE)
		(void)heap_clean_text(raw, slice.done, buf, size);
	return slice.type == HPROF_CHAR || slice.type == HPROF_BYTE;
}

/*
 * Writes the components of a record in the order of the dump: primitive values, strings, and IDs of
 * other objects.
 */
static bool record(const struct heap_shown *o, char *buf, size_t size)
{
	struct heap_fields fields;
	char name[HEAP_VALUE_STRING], text[HEAP_VALUE_STRING + 8];
	unsigned shown = 0;
	size_t used = 0;
	uint32_t of;

	if (heap_fields_begin(o->heap, o->ix, &fields, NULL) != HDB_OK)
		return false;
	while (used < size && heap_fields_next(&fields, NULL) == HDB_OK) {
		const struct heap_value *v = &fields.value;

		heap_basic_text(v, text, sizeof(text));
		if (heap_text(o->heap, fields.field.name_text, name, sizeof(name), NULL) < 0)
			break;
		if (v->type == HPROF_OBJECT && v->bits &&
		    (heap_find(o->heap, v->bits, &of, NULL) != HDB_OK ||
		     !string(&(struct heap_shown){ o->heap, of, v }, text, sizeof(text))))
			(void)snprintf(text, sizeof(text), "0x%" PRIx64, v->bits);
		if (shown++ == RECORD_FIELDS)
			(void)snprintf(text, sizeof(text), "...");
		used += (size_t)snprintf(buf + used, size - used, "%s%s=%s", shown > 1 ? ", " : "[",
					 name, text);
		if (shown > RECORD_FIELDS)
			break;
	}
	if (shown && used < size)
		(void)snprintf(buf + used, size - used, "]");
	return shown != 0;
}

/* ---- numbers ---- */

static bool boolean(const struct heap_shown *o, char *buf, size_t size)
{
	(void)snprintf(buf, size, "%s", o->value->bits ? "true" : "false");
	return true;
}

/*
 * Writes the digits of a BigInteger without its sign to `out` (BIG_DIGITS bytes). Sets *sign to -1,
 * 0 or 1. The JDK stores `mag` with the highest word first, and Android stores `digits` with the
 * lowest word first.
 */
static bool big_digits(struct heap *heap, uint32_t ix, char *out, int64_t *sign)
{
	uint64_t bits[BIG_WORDS];
	struct heap_slice slice = { .bits = bits, .room = BIG_WORDS };
	uint32_t words[BIG_WORDS], array;
	char *p = &out[BIG_DIGITS - 1];
	struct heap_object object;
	uint64_t count;
	bool is_java = heap_path_object(heap, ix, "mag", &array, NULL) == HDB_OK;

	if (!heap_number_at(heap, ix, "signum|sign", sign) ||
	    (!is_java && heap_path_object(heap, ix, "digits", &array, NULL) != HDB_OK) ||
	    heap_object(heap, array, &object, NULL) < 0 || object.length > BIG_WORDS ||
	    heap_elements(heap, array, 0, &slice, NULL) < 0 ||
	    (slice.type != HPROF_INT && slice.done))
		return false;
	count = slice.done;
	for (uint64_t i = 0; i < count; i++)
		words[i] = (uint32_t)bits[is_java ? i : count - 1 - i];
	*p = '\0';
	do {
		uint64_t rest = 0;

		for (uint64_t i = 0; i < count; i++) {
			const uint64_t part = rest << 32 | words[i];

			words[i] = (uint32_t)(part / 10);
			rest = part % 10;
		}
		*--p = (char)('0' + rest);
		/* Leading zero words need no further divisions. */
		while (count && !words[0]) {
			count--;
			memmove(words, words + 1, count * sizeof(words[0]));
		}
	} while (count && p > out);
	memmove(out, p, strlen(p) + 1);
	return true;
}

static bool bigint(const struct heap_shown *o, char *buf, size_t size)
{
	char digits[BIG_DIGITS];
	int64_t sign;

	if (!big_digits(o->heap, o->ix, digits, &sign))
		return false;
	(void)snprintf(buf, size, "%s%s", sign < 0 ? "-" : "", digits);
	return true;
}

/*
 * Writes the unscaled digits of a BigDecimal: from intVal if it is set, otherwise from intCompact.
 */
static bool decimal_digits(struct heap *heap, uint32_t ix, char *digits, bool *is_negative)
{
	int64_t compact, sign = 0;
	uint32_t big;

	if (heap_number_at(heap, ix, "intCompact|smallValue", &compact) && compact != INT64_MIN &&
	    (compact || heap_path_object(heap, ix, "intVal", &big, NULL) != HDB_OK)) {
		*is_negative = compact < 0;
		(void)snprintf(digits, BIG_DIGITS, "%" PRIu64,
			       compact < 0 ? 0 - (uint64_t)compact : (uint64_t)compact);
		return true;
	}
	if (heap_path_object(heap, ix, "intVal", &big, NULL) != HDB_OK ||
	    !big_digits(heap, big, digits, &sign))
		return false;
	*is_negative = sign < 0;
	return true;
}

/*
 * Writes a number like BigDecimal.toString: in plain notation if the exponent is at least -6,
 * otherwise in scientific notation.
 */
static bool bigdecimal(const struct heap_shown *o, char *buf, size_t size)
{
	char digits[BIG_DIGITS];
	bool is_negative;
	int64_t scale, exponent;
	int64_t count, whole;

	if (!heap_number_at(o->heap, o->ix, "scale", &scale) ||
	    !decimal_digits(o->heap, o->ix, digits, &is_negative))
		return false;
	count = (int64_t)strlen(digits);
	exponent = -scale + (count - 1);
	whole = count - (scale > count ? count : scale);
	if (scale == 0)
		(void)snprintf(buf, size, "%s%s", is_negative ? "-" : "", digits);
	else if (scale > 0 && exponent >= -6 && whole > 0)
		(void)snprintf(buf, size, "%s%.*s.%s", is_negative ? "-" : "", (int)whole, digits,
			       digits + whole);
	else if (scale > 0 && exponent >= -6)
		(void)snprintf(buf, size, "%s0.%.*s%s", is_negative ? "-" : "",
			       (int)(scale - count), "000000", digits);
	else
		(void)snprintf(buf, size, "%s%c%s%sE%+" PRId64, is_negative ? "-" : "", digits[0],
			       count > 1 ? "." : "", digits + 1, exponent);
	return true;
}

/* Writes a UUID like java.util.UUID: two longs as 8-4-4-4-12 hexadecimal digits. */
static bool uuid(const struct heap_shown *o, char *buf, size_t size)
{
	int64_t most, least;

	if (!heap_number_at(o->heap, o->ix, "mostSigBits", &most) ||
	    !heap_number_at(o->heap, o->ix, "leastSigBits", &least))
		return false;
	(void)snprintf(buf, size, "%08x-%04x-%04x-%04x-%012" PRIx64,
		       (unsigned)((uint64_t)most >> 32), (unsigned)((uint64_t)most >> 16 & 0xffff),
		       (unsigned)((uint64_t)most & 0xffff), (unsigned)((uint64_t)least >> 48),
		       (uint64_t)least & 0xffffffffffff);
	return true;
}

/* Adds up the base and the cells of a striped adder. The longs may contain the bits of doubles. */
static bool add_up(struct heap *heap, uint32_t ix, bool is_double, uint64_t *sum, double *real)
{
	uint64_t bits[CHARS_MAX];
	struct heap_slice slice = { .bits = bits, .room = CHARS_MAX };
	uint32_t cells, cell;
	int64_t base;

	if (!heap_number_at(heap, ix, "base", &base))
		return false;
	*sum = (uint64_t)base;
	memcpy(real, &base, sizeof(*real));
	if (heap_path_object(heap, ix, "cells", &cells, NULL) == HDB_OK)
		(void)heap_elements(heap, cells, 0, &slice, NULL);
	for (uint64_t i = 0; i < slice.done; i++) {
		double part;

		if (!bits[i] || heap_find(heap, bits[i], &cell, NULL) != HDB_OK ||
		    !heap_number_at(heap, cell, "value", &base))
			continue;
		memcpy(&part, &base, sizeof(part));
		*sum += (uint64_t)base;
		*real += is_double ? part : 0;
	}
	return true;
}

static bool adder(const struct heap_shown *o, char *buf, size_t size)
{
	uint64_t sum;
	double real;

	if (!add_up(o->heap, o->ix, false, &sum, &real))
		return false;
	(void)snprintf(buf, size, "%" PRId64, (int64_t)sum);
	return true;
}

static bool doubleadder(const struct heap_shown *o, char *buf, size_t size)
{
	struct heap_value real_value = { .type = HPROF_DOUBLE };
	uint64_t sum;
	double real;

	if (!add_up(o->heap, o->ix, true, &sum, &real))
		return false;
	memcpy(&real_value.bits, &real, sizeof(real));
	heap_basic_text(&real_value, buf, size);
	return true;
}

/* ---- addresses ---- */

static bool ipv4(const struct heap_shown *o, char *buf, size_t size)
{
	const unsigned a = (unsigned)(uint32_t)o->value->bits;

	(void)snprintf(buf, size, "%u.%u.%u.%u", a >> 24, a >> 16 & 255, a >> 8 & 255, a & 255);
	return o->value->type == HPROF_INT;
}

/* Writes an IPv6 address. Like Inet6Address, does not abbreviate runs of zeros. */
static bool ipv6(const struct heap_shown *o, char *buf, size_t size)
{
	uint64_t b[16] = { 0 };
	struct heap_slice slice = { .bits = b, .room = 16 };
	size_t used = 0;

	if (o->ix == HEAP_NONE || heap_elements(o->heap, o->ix, 0, &slice, NULL) < 0 ||
	    slice.done != 16 || slice.type != HPROF_BYTE)
		return false;
	for (unsigned i = 0; i < 16 && used < size; i += 2)
		used += (size_t)snprintf(buf + used, size - used, "%s%x", i ? ":" : "",
					 (unsigned)(b[i] << 8 | b[i + 1]));
	return true;
}

/*
 * Finds a function by name. Uses a linear search, because names are resolved only when a value is
 * displayed.
 */
heap_value_function heap_value_function_named(const char *name, size_t name_size)
{
	static const struct {
		const char *name;
		heap_value_function function;
	} functions[] = {
		{ "string", string },
		{ "thread", thread },
		{ "builder", builder },
		{ "chars", chars },
		{ "record", record },
		{ "bool", boolean },
		{ "bigint", bigint },
		{ "bigdecimal", bigdecimal },
		{ "uuid", uuid },
		{ "adder", adder },
		{ "doubleadder", doubleadder },
		{ "instant", value_instant },
		{ "millis", value_millis },
		{ "time", value_local_time },
		{ "duration", value_duration },
		{ "period", value_period },
		{ "region", value_region },
		{ "ipv4", ipv4 },
		{ "ipv6", ipv6 },
		{ "binder", heap_value_binder },
		{ "binder_proxy", heap_value_binder_proxy },
	};

	for (size_t i = 0; i < BASE_COUNT(functions); i++)
		if (strlen(functions[i].name) == name_size &&
		    memcmp(functions[i].name, name, name_size) == 0)
			return functions[i].function;
	return NULL;
}
