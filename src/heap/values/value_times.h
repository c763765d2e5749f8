/*
 * heap/values/value_times.h - template functions (value_text.h, heap_value_function) for times and
 * durations.
 */
#ifndef HEAP_VALUES_VALUE_TIMES_H
#define HEAP_VALUES_VALUE_TIMES_H

#include "heap/values/value_text.h"

/* Reads an integer at a path from the object. False if there is none. */
static inline bool heap_number_at(struct heap *heap, uint32_t ix, const char *path, int64_t *out)
{
	return heap_path_number(heap, ix, path, out, NULL) == HDB_OK;
}

/* An Instant. */
bool heap_value_instant(const struct heap_shown *o, char *buf, size_t size);
/* A number of milliseconds since 1970. */
bool heap_value_millis(const struct heap_shown *o, char *buf, size_t size);
/* A LocalTime. */
bool heap_value_local_time(const struct heap_shown *o, char *buf, size_t size);
bool heap_value_duration(const struct heap_shown *o, char *buf, size_t size);
bool heap_value_period(const struct heap_shown *o, char *buf, size_t size);
/* The ID of a ZoneId that is not just an offset. */
bool heap_value_region(const struct heap_shown *o, char *buf, size_t size);

#endif
