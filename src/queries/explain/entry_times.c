/*
 * queries/explain/entry_times.c - finds points in time, version numbers and numbers of attempts
 * among the fields of entries, and dates among their keys.
 *
 * Points in time are recognised by field names, because a past expiry date is a fault and a past
 * date of birth is not.
 */
#include "queries/explain/entry_private.h"

#include "base/error.h"
#include "heap/platform_classes.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/*
 * Keys that are dates are reported if the oldest date is at least this old and the newest is close
 * to the date of the dump.
 */
#define DATES_OLD_DAYS 30u
#define DATES_NEW_DAYS 2u
/* Maximum value that is interpreted as a number of attempts. */
#define TRIES_MAX 100000u

/*
 * Parts of field names in lower case, in order of preference. "at" must be the whole name, or the
 * name must end with "At".
 */
static const struct {
	const char *part;
	uint8_t kind;
} times[] = {
	{ "expir", TIME_EXPIRY },      { "lastacc", TIME_USE },        { "lastus", TIME_USE },
	{ "lastseen", TIME_USE },      { "lasttouch", TIME_USE },      { "lastactiv", TIME_USE },
	{ "lastread", TIME_USE },      { "lastrequest", TIME_USE },    { "lastping", TIME_USE },
	{ "lastheartbeat", TIME_USE }, { "created", TIME_BEGIN },      { "creation", TIME_BEGIN },
	{ "timestamp", TIME_BEGIN },   { "submitted", TIME_BEGIN },    { "queued", TIME_BEGIN },
	{ "received", TIME_BEGIN },    { "time", TIME_BEGIN },         { "version", TIME_VERSION },
	{ "revision", TIME_VERSION },  { "generation", TIME_VERSION }, { "attempts", TIME_TRIES },
	{ "retries", TIME_TRIES },     { "retrycount", TIME_TRIES },
};

/*
 * Returns whether a field name denotes a calendar date. The expiry date of a contract or a passport
 * is data of the application, like a date of birth, not the expiry time of a cache entry.
 */
static bool is_day_name(const char *name)
{
	static const char *const ends[] = { "Date", "_date", "On", "Day", "Month", "Year" };
	const size_t size = strlen(name);

	for (size_t i = 0; i < BASE_COUNT(ends); i++)
		if (size > strlen(ends[i]) && strcmp(name + size - strlen(ends[i]), ends[i]) == 0)
			return true;
	return false;
}

enum time_kind entry_time_kind(const char *name)
{
	const size_t size = strlen(name);
	char lower[EXPLAIN_CONTENT_MAX];

	for (size_t i = 0; i <= size; i++)
		lower[i] = (char)tolower((unsigned char)name[i]);
	for (size_t i = 0; i < BASE_COUNT(times); i++)
		if (strstr(lower, times[i].part))
			return times[i].kind == TIME_EXPIRY && is_day_name(name) ?
				       TIME_NONE :
				       (enum time_kind)times[i].kind;
	return strcmp(name, "at") == 0 || (size > 2 && strcmp(name + size - 2, "At") == 0) ?
		       TIME_BEGIN :
		       TIME_NONE;
}

/*
 * Returns the number of milliseconds from 1970 to a day (days_from_civil, proleptic Gregorian
 * calendar).
 */
static uint64_t day_ms(uint64_t year, uint64_t month, uint64_t day)
{
	const uint64_t y = year - (month <= 2), of_year = (153 * ((month + 9) % 12) + 2) / 5;

	return (y * 365 + y / 4 - y / 100 + y / 400 + of_year + day - 719469) * DAY_MS;
}

/* Counts a number, or a point in time in milliseconds. */
static void add_point(struct value_field *field, uint64_t number)
{
	if (!field->points++ || number < field->oldest_ms)
		field->oldest_ms = number;
	if (number > field->newest_ms)
		field->newest_ms = number;
}

void entry_add_ms(const struct looking *l, struct value_field *field, uint64_t ms)
{
	if (ms < TIME_MAX_MS / 1000)
		ms *= 1000;
	if (ms < TIME_MIN_MS || ms > TIME_MAX_MS)
		return;
	add_point(field, ms);
	field->past += ms + (field->time == TIME_EXPIRY ? 0 : DAY_MS) < l->now_ms;
}

int entry_add_date(const struct looking *l, struct value_field *field, uint32_t ix,
		   struct hdb_error *err)
{
	struct heap *heap = l->session->heap;
	struct heap_value time, year, month, day = { .bits = 1 };
	int r;

	if (!heap_is_platform_class(heap_class_name_of(heap, ix)))
		return HDB_OK;
	TRY_ERRORS(r = heap_path_value(heap, ix, "seconds|fastTime", &time, err));
	if (r == HDB_OK && time.type == HPROF_LONG)
		entry_add_ms(l, field, time.bits);
	/* A local date in a value belongs to the application's domain, such as a date of birth. */
	if (field != &l->dates)
		return HDB_OK;
	TRY_FOUND(heap_path_value(heap, ix, "year|date.year|dateTime.date.year", &year, err));
	TRY_FOUND(heap_path_value(heap, ix, "month|date.month|dateTime.date.month", &month, err));
	TRY_ERRORS(heap_path_value(heap, ix, "day|date.day|dateTime.date.day", &day, err));
	if (year.bits > 1900 && year.bits < 3000 && month.bits - 1 < 12)
		entry_add_ms(l, field, day_ms(year.bits, month.bits, day.bits & 31));
	return HDB_OK;
}

void entry_add_day(const struct looking *l, struct value_field *field, const char *text)
{
	for (; *text; text++) {
		const size_t digits = strspn(text, "0123456789");
		unsigned year = 0, month = 0, day = 0;

		if ((digits == 4 && sscanf(text, "%4u-%2u-%2u", &year, &month, &day) == 3) ||
		    (digits == 8 && sscanf(text, "%4u%2u%2u", &year, &month, &day) == 3)) {
			if (year >= 2000 && year < 2100 && month - 1 < 12 && day - 1 < 31)
				entry_add_ms(l, field, day_ms(year, month, day));
			return;
		}
		text += digits ? digits - 1 : 0;
	}
}

/* Returns whether a field contains a number of versions or attempts rather than a point in time. */
static bool is_counter(const struct value_field *field)
{
	return field->time == TIME_VERSION || field->time == TIME_TRIES;
}

int entry_add_time(const struct looking *l, struct value_field *field,
		   const struct heap_value *value, struct hdb_error *err)
{
	int64_t number;
	uint32_t ix;

	if (value->type == HPROF_OBJECT) {
		TRY_FOUND(heap_find(l->session->heap, value->bits, &ix, err));
		return is_counter(field) ? HDB_OK : entry_add_date(l, field, ix, err);
	}
	if (!is_counter(field)) {
		if (value->type == HPROF_LONG)
			entry_add_ms(l, field, value->bits);
		return HDB_OK;
	}
	if (heap_value_number(value, &number) && number > 0)
		add_point(field, (uint64_t)number);
	return HDB_OK;
}

/* ---- facts ---- */

void entry_age_text(uint64_t ms, struct base_text to)
{
	static const struct {
		uint64_t ms;
		const char *name;
	} units[] = { { DAY_MS, "day" }, { 3600000, "hour" }, { 60000, "minute" } };
	size_t i = 0;

	while (i < 2 && ms < 2 * units[i].ms)
		i++;
	/* The oldest value in a sample may be a little younger than the oldest value of all. */
	ms = (ms + units[i].ms / 2) / units[i].ms;
	(void)snprintf(to.buf, to.size, "%" PRIu64 " %s%s", ms, units[i].name, ms == 1 ? "" : "s");
}

/*
 * Facts about each kind of point in time: the field, the share in the past, and the oldest point.
 */
static const struct {
	enum explain_fact field, percent, age;
} time_facts[] = {
	[TIME_EXPIRY] = { EXPLAIN_FACT_expiry_field, EXPLAIN_FACT_expired_percent,
			  EXPLAIN_FACT_expired_age },
	[TIME_USE] = { EXPLAIN_FACT_use_field, EXPLAIN_FACT_unused_percent,
		       EXPLAIN_FACT_unused_age },
	[TIME_BEGIN] = { EXPLAIN_FACT_begin_field, EXPLAIN_FACT_begun_percent,
			 EXPLAIN_FACT_begun_age },
};

/* Reports version numbers if they differ in nearly all entries. */
static void set_versions(const struct looking *l, const struct value_field *field, uint64_t entries,
			 struct explain_facts *out)
{
	const uint64_t span = field->newest_ms - field->oldest_ms;

	if (field->kinds * 10 < l->entries * 9 || span < entries / 2 || span > entries * 2)
		return;
	entry_set_field(l, field, EXPLAIN_FACT_version_field, out);
	explain_fact_set(out, EXPLAIN_FACT_first_version, (double)field->oldest_ms);
	explain_fact_set(out, EXPLAIN_FACT_last_version, (double)field->newest_ms);
}

/* Reports the lowest number of attempts if every value has an attempt counter. */
static void set_tries(const struct looking *l, const struct value_field *field,
		      struct explain_facts *out)
{
	if (field->points < l->entries || field->newest_ms > TRIES_MAX ||
	    strncmp(field->name, "max", 3) == 0)
		return;
	entry_set_field(l, field, EXPLAIN_FACT_tries_field, out);
	explain_fact_set(out, EXPLAIN_FACT_least_tries, (double)field->oldest_ms);
}

void entry_set_dates(const struct looking *l, struct explain_facts *out)
{
	const struct value_field *dates = &l->dates;
	char age[EXPLAIN_CONTENT_MAX];

	if (dates->points * 10 < l->entries * 9 ||
	    l->now_ms < dates->oldest_ms + DATES_OLD_DAYS * (uint64_t)DAY_MS ||
	    l->now_ms > dates->newest_ms + DATES_NEW_DAYS * (uint64_t)DAY_MS ||
	    dates->newest_ms > l->now_ms + DAY_MS)
		return;
	entry_age_text(l->now_ms - dates->oldest_ms, BASE_TEXT(age));
	explain_fact_text(out, EXPLAIN_FACT_oldest_key, age);
	explain_fact_text(out, EXPLAIN_FACT_key_noun, l->noun);
}

static void set_point(const struct looking *l, const struct value_field *field,
		      struct explain_facts *out)
{
	const enum explain_fact to = time_facts[field->time].field;
	char age[EXPLAIN_CONTENT_MAX];

	/* skip fields that few values have, and all but the first field of a kind */
	if (field->points * 2 < l->entries || out->figures[to].kind != BASE_NOTHING ||
	    field->oldest_ms >= l->now_ms)
		return;
	entry_set_field(l, field, to, out);
	entry_age_text(l->now_ms - field->oldest_ms, BASE_TEXT(age));
	explain_fact_text(out, time_facts[field->time].age, age);
	explain_fact_set(out, time_facts[field->time].percent,
			 (double)field->past * 100 / (double)field->points);
}

void entry_set_time(const struct looking *l, const struct value_field *field, uint64_t entries,
		    struct explain_facts *out)
{
	if (field->time == TIME_VERSION)
		set_versions(l, field, entries, out);
	else if (field->time == TIME_TRIES)
		set_tries(l, field, out);
	else if (field->time && l->now_ms)
		set_point(l, field, out);
}
