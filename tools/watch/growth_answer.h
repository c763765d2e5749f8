/*
 * watch/growth_answer.h - the two answers from series: the values that grow steadily, and the
 * points of line charts.
 */
#ifndef WATCH_GROWTH_ANSWER_H
#define WATCH_GROWTH_ANSWER_H

#include "watch/growth.h"

#include "base/scope.h"
#include "common/own_answer.h"

#define GROWTH_TIME_SIZE 32

struct growth_answer;

/*
 * Makes an empty answer. `cancel` is borrowed and may be NULL. The caller must pass *out to
 * growth_answer_free.
 */
int growth_answer_new(const base_flag *cancel, struct growth_answer **out, struct hdb_error *err);
void growth_answer_free(struct growth_answer *answer); /* NULL is allowed */
BASE_CLOSER(growth_answer_free_at, struct growth_answer, growth_answer_free)

/*
 * Adds a series, or all series (*.jsonl) of a directory. Fails with HDB_EABSENT if a directory
 * contains no series.
 */
int growth_answer_add(struct growth_answer *answer, const char *path, struct hdb_error *err);

/*
 * Computes the answer, once: rows of growth, or the points of line charts, at most a few hundred
 * per line. The row of a point is a sample (figures of a JVM at a time), a class (its bytes in a
 * histogram), or an event. *out is borrowed until growth_answer_free. Fails with HDB_EFORMAT if
 * there are no records.
 */
int growth_answer_make(struct growth_answer *answer, bool is_points, const struct own_answer **out,
		       struct hdb_error *err);

/*
 * Sets *text to the answer about growth as JSON; see own_answer_json. The caller must free() *text.
 */
int growth_json(const char *const *paths, size_t count, bool is_sparse, char **text,
		struct hdb_error *err);

/* Return the findings, and the sentence about the newest JVM that grows. */
const struct growth *growth_answer_of(const struct growth_answer *answer);
const char *growth_answer_summary(const struct growth_answer *answer);

/*
 * Returns the row for the heap of the newest JVM whose heap or classes grow, or NULL if there is
 * none.
 */
const struct growth_row *growth_newest(const struct growth *growth);

/* Formats a wall-clock time as local time. */
void growth_time(uint64_t time_ms, char buf[GROWTH_TIME_SIZE]);

#endif
