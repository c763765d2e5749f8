/*
 * watch/watch_conditions.h - the conditions under which a JVM is captured: the option --when.
 *
 * condition  measure SIGN number [ "of limit" ] [ "for" DURATION ]
 *            | "growth" | "every" DURATION | "signal" | "oom"
 * measure    heap | rss | gc | metaspace | threads | classes | swap
 * number     as in base/expression.h; a percentage of the maximum heap size (heap), of the memory
 *            limit (rss, swap) or of time (gc)
 * DURATION   a number and s, m, h or d
 */
#ifndef WATCH_WATCH_CONDITIONS_H
#define WATCH_WATCH_CONDITIONS_H

#include "watch/series.h"

#include "base/expression.h"

#define CONDITIONS_MAX 16
#define CONDITION_TEXT_SIZE 128

enum condition_kind {
	CONDITION_MEASURE,
	CONDITION_GROWTH,
	CONDITION_EVERY,
	CONDITION_SIGNAL,
	CONDITION_OOM
};

enum condition_measure {
	MEASURE_HEAP,
	MEASURE_RSS,
	MEASURE_GC,
	MEASURE_METASPACE,
	MEASURE_THREADS,
	MEASURE_CLASSES,
	MEASURE_SWAP,
	MEASURES
};

struct condition {
	enum condition_kind kind;
	enum condition_measure measure;
	enum base_sign sign;
	bool is_percent;
	double number;
	/* time for which the condition must hold; for "every", the interval */
	uint64_t duration_ms;
	char text[CONDITION_TEXT_SIZE];
};

/* Parses a condition. Fails with HDB_EUSAGE and a message that describes what was expected. */
int condition_parse(const char *text, struct condition *out, struct hdb_error *err);

/* Parses "10s", "5m", "24h" or "7d". Returns false if it is not a duration of at least a second. */
bool duration_parse(const char *text, size_t size, uint64_t *ms);

/* Returns whether the condition is about a share of the memory limit of the process. */
bool condition_needs_limit(const struct condition *c);
/*
 * Evaluates a condition on a measure. `gc_percent` is the share of time in collections since the
 * previous sample, or negative. Sets *value to the measured value, in the unit of the condition.
 * Returns false if the measure is unknown, or if there is no limit to which a percentage could
 * refer.
 */
bool condition_holds(const struct condition *condition, const struct series_record *sample,
		     double gc_percent, double *value);

#endif
