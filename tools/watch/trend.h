/*
 * watch/trend.h - whether a quantity grows steadily, how fast, and since when.
 *
 * The slope is Theil and Sen's, the median of the slopes of all pairs of points, and the test is
 * Mann and Kendall's, on the same pairs. Neither assumes a distribution, and both ignore outliers.
 * A pattern that repeats (load by hour, a cache that is filled and cleared) would mislead them:
 *
 * - If the points have a period, only points at the same place of the period are compared.
 * - Otherwise growth must persist: no fall by half of the rise, and a new maximum at the end.
 * - The second half must grow too: a cache that fills up grows at first.
 */
#ifndef WATCH_TREND_H
#define WATCH_TREND_H

#include <stdbool.h>
#include <stddef.h>

/* Minimum number of points for a verdict. In fewer points, a warm-up looks like growth. */
#define TREND_POINTS_MIN 18
/*
 * If there are more points, they are divided into this many groups and reduced to the minimum of
 * each.
 */
#define TREND_POINTS_MAX 240

struct trend_point {
	double time, value;
};

struct trend {
	bool grows;
	size_t points; /* number of points from which the figures below are computed */
	/* per unit of time; low and high are the 95 % confidence interval */
	double slope, low, high;
	double since; /* time of the first of these points */
	double rise;  /* slope times duration */
	double level; /* value of the line at the last point */
	/* result of the test, as the number of standard deviations from "no trend" */
	double score;
	size_t period; /* in points; 1: none */
};

/*
 * Computes the trend of points in order of time. Growth of less than `rise_min` is ignored. With
 * fewer than TREND_POINTS_MIN points `grows` is false, with fewer than 3 all is zero.
 */
void trend_find(const struct trend_point *points, size_t count, double rise_min, struct trend *out);

#endif
