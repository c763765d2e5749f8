/*
 * watch/trend.c - implements trend.h.
 */
#include "watch/trend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Minimum score of the test. Each histogram tests a few hundred classes. */
#define SCORE_MIN 4.5
/*
 * Minimum score if only selected points were used: the points after a bend, or the points at the
 * same position in each period.
 */
#define SCORE_MIN_CHOSEN 5.3
/* Minimum score of the second half. */
#define LATER_SCORE_MIN 2.0
/* A bend within this number of points of the first point may be due to chance. */
#define START_NEAR 3
/* Minimum correlation of a series with itself, shifted by one period. */
#define PERIOD_CORRELATION_MIN 0.5
/* Minimum length of a period, and minimum number of periods in the series. */
#define PERIOD_POINTS_MIN 4
#define PERIODS_MIN 3
/* Maximum fall, and minimum excess over earlier points, as fractions of the rise. */
#define FALL_MAX 0.4
#define EXCESS_MIN 0.25
/* If there is a period: minimum rise of the minimum, as a fraction of the rise. */
#define MINIMUM_RISE_MIN 0.5
/* Minimum slope of the second half, as a fraction of the whole slope. */
#define LATER_SLOPE_MIN 0.5
#define NORMAL_95 1.96

struct work {
	struct trend_point points[TREND_POINTS_MAX];
	double slopes[TREND_POINTS_MAX * (TREND_POINTS_MAX - 1) / 2];
	double rest[TREND_POINTS_MAX]; /* values without the trend */
};

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * Copies at most TREND_POINTS_MAX points: the smallest of each group, because a heap after a
 * collection may still contain garbage. The last group ends with the last point.
 */
static size_t reduce(const struct trend_point *points, size_t count, struct trend_point *out)
{
	const size_t groups = count < TREND_POINTS_MAX ? count : TREND_POINTS_MAX;

	for (size_t g = 0; g < groups; g++) {
		const size_t end = (g + 1) * count / groups;
		size_t least = g * count / groups;

		for (size_t i = least + 1; i < end; i++)
			if (points[i].value < points[least].value)
				least = i;
		out[g] = points[least];
	}
	return groups;
}

/* Sums for fitting a line to the points from one index on. */
struct sums {
	double n, t, v, tt, tv, vv;
};

static void add(struct sums *s, double t, double v)
{
	s->n++;
	s->t += t;
	s->v += v;
	s->tt += t * t;
	s->tv += t * v;
	s->vv += v * v;
}

/*
 * Returns the squared error of the model "level" before the bend at t0 and "level + slope (t - t0)"
 * after it.
 */
static double error_of_bend(const struct sums *before, const struct sums *after, double t0)
{
	const double n = before->n + after->n;
	const double x = after->t - after->n * t0;
	const double xx = after->tt - 2 * t0 * after->t + after->n * t0 * t0;
	const double xy = after->tv - t0 * after->v;
	const double y = before->v + after->v, yy = before->vv + after->vv;
	const double spread = xx - x * x / n;
	const double slope = spread > 0 ? (xy - x * y / n) / spread : 0;

	/* only growth matters, so a downward bend is ignored */
	return slope > 0 ? yy - y * y / n - slope * (xy - x * y / n) : INFINITY;
}

/*
 * Finds the point where growth began, that is, where a constant level followed by a rising line
 * fits best.
 */
static size_t find_start(const struct trend_point *p, size_t count)
{
	struct sums before = { 0 }, after = { 0 };
	double best = INFINITY;
	size_t start = 0;

	if (count < TREND_POINTS_MIN)
		return 0;
	for (size_t i = 0; i < count; i++)
		add(&after, p[i].time - p[0].time, p[i].value - p[0].value);
	for (size_t i = 0; i + TREND_POINTS_MIN <= count; i++) {
		const double t = p[i].time - p[0].time, v = p[i].value - p[0].value;
		const double error = error_of_bend(&before, &after, t);

		/* a later bend must fit clearly better */
		if (error < best * 0.999) {
			best = error;
			start = i;
		}
		add(&before, t, v);
		after.n--;
		after.t -= t;
		after.v -= v;
		after.tt -= t * t;
		after.tv -= t * v;
		after.vv -= v * v;
	}
	return start;
}

/*
 * Computes slope, bounds and score from pairs of points whose distance is a multiple of `period`.
 */
static void compare_pairs(struct work *w, const struct trend_point *p, size_t count, size_t period,
			  struct trend *out)
{
	double sum = 0, variance = 0, spread;
	size_t used = 0, low, high;

	for (size_t i = 0; i < count; i++)
		for (size_t k = i + period; k < count; k += period) {
			const double time = p[k].time - p[i].time;

			if (time <= 0)
				continue;
			sum += (p[k].value > p[i].value) - (p[k].value < p[i].value);
			w->slopes[used++] = (p[k].value - p[i].value) / time;
		}
	for (size_t i = 0; i < period; i++) {
		const size_t compared = (count - i + period - 1) / period;
		const double n = (double)compared;

		variance += n * (n - 1) * (2 * n + 5) / 18;
	}
	if (!used || variance <= 0)
		return;
	qsort(w->slopes, used, sizeof(w->slopes[0]), compare);
	out->slope = used % 2 ? w->slopes[used / 2] :
				(w->slopes[used / 2 - 1] + w->slopes[used / 2]) / 2;
	spread = NORMAL_95 * sqrt(variance);
	low = (double)used > spread ? (size_t)(((double)used - spread) / 2) : 0;
	high = used - 1 - low;
	out->low = w->slopes[low < high ? low : high];
	out->high = w->slopes[low < high ? high : low];
	/* the score changes in steps of 2, which requires a continuity correction of 1 */
	out->score = sum == 0 ? 0 : (sum - (sum > 0 ? 1 : -1)) / sqrt(variance);
}

/* Returns the correlation of the values without the trend with themselves `lag` points later. */
static double correlation(const double *rest, size_t count, size_t lag)
{
	double both = 0, first = 0, second = 0;

	for (size_t i = 0; i + lag < count; i++) {
		both += rest[i] * rest[i + lag];
		first += rest[i] * rest[i];
		second += rest[i + lag] * rest[i + lag];
	}
	return first > 0 && second > 0 ? both / sqrt(first * second) : 0;
}

/*
 * Finds the period of the values: the first peak of the correlation after the correlation was
 * negative. Returns 1 if there is no such peak.
 */
static size_t find_period(struct work *w, const struct trend_point *p, size_t count, double slope)
{
	double mean = 0, before, here, after;
	bool was_negative = false;

	for (size_t i = 0; i < count; i++)
		mean += (w->rest[i] = p[i].value - slope * (p[i].time - p[0].time)) / (double)count;
	for (size_t i = 0; i < count; i++)
		w->rest[i] -= mean;
	here = correlation(w->rest, count, 1);
	after = correlation(w->rest, count, 2);
	for (size_t lag = 2; lag * PERIODS_MIN <= count; lag++) {
		before = here;
		here = after;
		after = correlation(w->rest, count, lag + 1);
		was_negative = was_negative || here < 0;
		if (was_negative && lag >= PERIOD_POINTS_MIN && here >= PERIOD_CORRELATION_MIN &&
		    here >= before && here >= after)
			return lag;
	}
	return 1;
}

/* Returns the median of three consecutive values. */
static double middle(const struct trend_point *p)
{
	const double a = p[0].value, b = p[1].value, c = p[2].value;

	return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/*
 * Returns whether growth continues after each decrease, and the last values exceed all values
 * before the start of the growth.
 */
static bool survives(const struct trend_point *all, size_t count, size_t start)
{
	const double rise = middle(all + count - 3) - middle(all + start);
	double most = all[start].value, earlier = -INFINITY;

	for (size_t i = 0; i < start; i++)
		earlier = all[i].value > earlier ? all[i].value : earlier;
	for (size_t i = start; i < count; i++) {
		most = all[i].value > most ? all[i].value : most;
		if (!(most - all[i].value <= FALL_MAX * rise))
			return false;
	}
	return start == 0 || most >= earlier + EXCESS_MIN * rise;
}

static double least_of(const struct trend_point *p, size_t count)
{
	double least = INFINITY;

	for (size_t i = 0; i < count; i++)
		least = fmin(least, p[i].value);
	return least;
}

/*
 * Returns whether the minimum of a periodic series rises: that of the last period must exceed those
 * of all earlier periods, which does not hold for a saw tooth of varying length. The rise must also
 * exceed a typical step between points, because the minimum drifts by up to one step if the period
 * is not a whole number of points.
 */
static bool minimum_rises(const struct trend_point *all, size_t count, const struct trend *t)
{
	const struct trend_point *last = all + count - t->period;
	const double last_least = least_of(last, t->period);
	const double rise = last_least - least_of(all, t->period);
	double steps = 0;

	for (size_t i = t->period; i + t->period <= count - t->period; i += t->period)
		if (!(least_of(all + i, t->period) < last_least))
			return false;
	for (size_t i = 1; i < count; i++)
		steps += fabs(all[i].value - all[i - 1].value);
	return rise > steps / (double)(count - 1) &&
	       rise >= MINIMUM_RISE_MIN * t->slope * (last->time - all->time);
}

/* Returns whether the second half also grows, by at least a given fraction of the whole slope. */
static bool grows_still(struct work *w, const struct trend_point *p, size_t count,
			const struct trend *all)
{
	struct trend later = { 0 };
	size_t start = count / 2;

	if (all->period > 1 && count - start < 2 * all->period)
		start = count > 2 * all->period ? count - 2 * all->period : 0;
	compare_pairs(w, p + start, count - start, all->period, &later);
	return later.score >= LATER_SCORE_MIN && later.slope >= LATER_SLOPE_MIN * all->slope;
}

/* Computes the trend of the points from `start` on, for this period. */
static void judge(struct work *w, size_t count, size_t start, double rise_min, struct trend *out)
{
	const struct trend_point *p = w->points + start;
	const double score_min = start || out->period > 1 ? SCORE_MIN_CHOSEN : SCORE_MIN;

	compare_pairs(w, p, count - start, out->period, out);
	out->points = count - start;
	out->since = p->time;
	out->rise = out->slope * (w->points[count - 1].time - out->since);
	out->level = w->points[count - 1].value;
	out->grows = out->points >= TREND_POINTS_MIN && out->score >= score_min && out->low > 0 &&
		     out->rise >= rise_min &&
		     (out->period > 1 ? minimum_rises(w->points, count, out) :
					survives(w->points, count, start)) &&
		     grows_still(w, p, out->points, out);
}

void trend_find(const struct trend_point *points, size_t count, double rise_min, struct trend *out)
{
	struct trend periodic = { 0 };
	struct work *w;
	size_t start;

	memset(out, 0, sizeof(*out));
	out->period = 1;
	if (count < 3 || !(w = calloc(1, sizeof(*w))))
		return;
	count = reduce(points, count, w->points);
	start = find_start(w->points, count);
	judge(w, count, start, rise_min, out);
	if (!out->grows && start > 0 && start <= START_NEAR)
		judge(w, count, 0, rise_min, out);
	if (!out->grows && count >= TREND_POINTS_MIN) {
		compare_pairs(w, w->points, count, 1, &periodic);
		periodic.period = find_period(w, w->points, count, periodic.slope);
		if (periodic.period > 1)
			judge(w, count, 0, rise_min, &periodic);
		if (periodic.period > 1)
			*out = periodic;
	}
	free(w);
}
