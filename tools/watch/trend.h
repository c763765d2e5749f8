/*
 * watch/trend.h - determines whether a quantity grows steadily, how fast, and since when.
 *
 * The slope is Theil and Sen's, the median of the slopes of all pairs of points, and the test is
 * Mann and Kendall's, on the same pairs. Neither method assumes a distribution, and outliers have
 * little influence on either. A pattern that repeats (load by hour, a cache that is filled and
 * cleared) would mislead both methods:
 *
 * - If the points have a period, only points at the same position in the period are compared.
 * - Otherwise growth must persist: there must be no decrease by half of the rise, and the end must
 *   be a new maximum.
 * - The second half must grow as well, because a cache that is being filled grows only at first.
 */
#ifndef WATCH_TREND_H
#define WATCH_TREND_H

#include <stdbool.h>
#include <stddef.h>

/* Minimum number of points for a verdict. With fewer points, a warm-up would look like growth. */
#define TREND_POINTS_MIN 18
/*
 * Maximum number of points examined. More points are divided into this number of groups, and the
 * minimum of each group is used.
 */
#define TREND_POINTS_MAX 240

struct trend_point {
	double time, value;
};

struct trend {
	bool grows;
	size_t points; /* number of points from which the figures below are computed */
	/* slope per unit of time; low and high are its 95 % confidence interval */
	double slope, low, high;
	double since; /* time of the first of the `points` */
	double rise;  /* slope times duration */
	double level; /* value of the line at the last point */
	/* result of the test: number of standard deviations from "no trend" */
	double score;
	size_t period; /* period in points; 1: none */
};

/*
 * Computes the trend of points, which must be in order of time. Growth of less than `rise_min` is
 * ignored. If there are fewer than TREND_POINTS_MIN points, `grows` is false; if there are fewer
 * than 3, all members are zero.
 */
void trend_find(const struct trend_point *points, size_t count, double rise_min, struct trend *out);

#endif
