/*
 * watch/growth_answer.h - the two answers that series give: what grows steadily, and the points of
 * its lines.
 */
#ifndef WATCH_GROWTH_ANSWER_H
#define WATCH_GROWTH_ANSWER_H

#include "watch/growth.h"

#include "common/own_answer.h"

#define GROWTH_TIME_SIZE 32

/* Adds a series, or all series (*.jsonl) of a folder. HDB_EABSENT if a folder has none. */
int growth_add(struct growth *growth, const char *path, struct hdb_error *err);

/* Computes the growth. HDB_EFORMAT if there is no record; `path` is for the message. */
int growth_compute(struct growth *growth, const char *path, struct hdb_error *err);

/*
 * The row of the heap of the newest JVM whose heap or classes grow; NULL if none. *named: the
 * largest of its classes that grow, rather one of the program than of the JDK; NULL if none.
 */
const struct growth_row *growth_newest(const struct growth *growth,
				       const struct growth_row **named);

/* Makes the sentence about the newest JVM that grows. */
void growth_explain(const struct growth *growth, char *buf, size_t size);

/* The wall clock's local time as text. */
void growth_time(uint64_t time_ms, char buf[GROWTH_TIME_SIZE]);

/* Answers about growth, which is lent. *out is owned: free(); so is what it refers to. */
struct growth_answer;
int growth_answer(const struct growth *growth, struct growth_answer **out, struct hdb_error *err);
const struct own_answer *growth_answer_get(const struct growth_answer *answer);

/*
 * Returns the points of lines as JSON, at most some hundred of each line: *text is owned, free().
 * A row is a sample (figures of a JVM at a time), a class (its bytes in a histogram), or an event.
 */
int growth_points_json(const struct growth *growth, char **text, struct hdb_error *err);

/*
 * Reads series or folders and returns the answer about growth as JSON, and the points unless
 * `points` is NULL: both owned, free().
 */
int growth_json(const char *const *paths, size_t count, char **text, char **points,
		struct hdb_error *err);

#endif
