/*
 * heap/values/value_times.h - functions of the templates (value_text.h, heap_value_function) that
 * show moments and spans of time.
 */
#ifndef HEAP_VALUES_VALUE_TIMES_H
#define HEAP_VALUES_VALUE_TIMES_H

#include "heap/values/value_text.h"

/* A whole number at a path from the object; false if there is none. */
static inline bool heap_number_at(struct heap *heap, uint32_t ix, const char *path, int64_t *out)
{
	return heap_path_number(heap, ix, path, out, NULL) == HDB_OK;
}

/* Of an Instant. */
bool heap_value_instant(const struct heap_shown *o, char *buf, size_t size);
/* Of a number of milliseconds since 1970. */
bool heap_value_millis(const struct heap_shown *o, char *buf, size_t size);
/* Of a LocalTime. */
bool heap_value_local_time(const struct heap_shown *o, char *buf, size_t size);
bool heap_value_duration(const struct heap_shown *o, char *buf, size_t size);
bool heap_value_period(const struct heap_shown *o, char *buf, size_t size);
/* The id of a ZoneId that is more than an offset. */
bool heap_value_region(const struct heap_shown *o, char *buf, size_t size);

#endif
