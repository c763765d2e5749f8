/*
 * heap/values/value_times.c - dates, times and durations in the format of their toString; times are
 * in UTC. Template functions of value_table.c.
 */
#include "heap/values/value_times.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Nanoseconds as Java prints them: 3, 6 or 9 digits; nothing for 0. */
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
 * Converts seconds since 1970 to a date and time of the proleptic Gregorian calendar. The algorithm
 * is Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days.
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

bool heap_value_instant(const struct heap_shown *o, char *buf, size_t size)
{
	int64_t seconds, nanos;

	if (!heap_number_at(o->heap, o->ix, "seconds", &seconds) ||
	    !heap_number_at(o->heap, o->ix, "nanos", &nanos) || seconds < INT64_MIN / 2)
		return false;
	put_moment(seconds, nanos, buf, size);
	return true;
}

/* Rounds down, also before 1970, so that the fraction is not negative. */
bool heap_value_millis(const struct heap_shown *o, char *buf, size_t size)
{
	int64_t ms;

	if (!heap_value_number(o->value, &ms) || ms < INT64_MIN / 2)
		return false;
	put_moment((ms - ((ms % 1000) + 1000) % 1000) / 1000, ((ms % 1000) + 1000) % 1000 * 1000000,
		   buf, size);
	return true;
}

/* A LocalTime. Seconds are shown only if they or the nanoseconds are not zero. */
bool heap_value_local_time(const struct heap_shown *o, char *buf, size_t size)
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
bool heap_value_duration(const struct heap_shown *o, char *buf, size_t size)
{
	int64_t seconds, nanos, total, part;
	char hours[32] = "", minutes[16] = "", rest[48] = "", digits[16];
	size_t n;

	if (!heap_number_at(o->heap, o->ix, "seconds", &seconds) ||
	    !heap_number_at(o->heap, o->ix, "nanos", &nanos) || nanos < 0 || nanos > 999999999)
		return false;
	/*
	 * Nanoseconds are stored as a positive amount to be added. For a negative duration, a
	 * second is borrowed for them.
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

/* Like java.time.Period.toString: zero parts are omitted, except that an empty period is P0D. */
bool heap_value_period(const struct heap_shown *o, char *buf, size_t size)
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

/* The ID of a zone that is not just an offset. */
bool heap_value_region(const struct heap_shown *o, char *buf, size_t size)
{
	uint32_t id;
	int64_t seconds;

	return o->ix != HEAP_NONE && !heap_number_at(o->heap, o->ix, "totalSeconds", &seconds) &&
	       heap_path_object(o->heap, o->ix, "id", &id, NULL) == HDB_OK &&
	       heap_string(o->heap, id, buf, size, NULL) == HDB_OK;
}
