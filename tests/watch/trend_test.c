/*
 * tests/watch/trend_test.c - trends in generated series. Leaks are found within 20 points and
 * remain found. Series that only look like growth (noise, warm-up, saw teeth, waves) raise no alarm
 * within 60 points. The long form (HEAPDB_HOSTILE) tries 1,000 series each, and allows 1 in 100.
 */
#include "watch/trend.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define POINTS 60
#define FOUND_WITHIN 20
#define SEEDS (getenv("HEAPDB_HOSTILE") ? 1000u : 20u)
#define MIB 1048576.0

static uint64_t state_of_random;

static double uniform(void)
{
	state_of_random = state_of_random * 6364136223846793005u + 1442695040888963407u;
	return (double)(state_of_random >> 11) / 9007199254740992.0;
}

/* An approximately normal distribution with mean 0 and deviation 1. */
static double noise(void)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += uniform();
	return sum;
}

static double leak(int i)
{
	return 50 + i + 0.3 * noise();
}
static double noisy_leak(int i)
{
	return 50 + i + noise();
}
static double stepwise_leak(int i)
{
	return 50 + i / 3 * 3 + 0.2 * noise();
}
static double accelerating_leak(int i)
{
	return 50 + 0.02 * i * i + 0.5 * i + 0.3 * noise();
}
static double leak_with_outliers(int i)
{
	return 50 + i + (uniform() < 0.05 ? 4 : 0) + 0.3 * noise();
}

static double quiet(int i)
{
	(void)i;
	return 50 + noise();
}
static double still(int i)
{
	(void)i;
	return 50;
}
static double sawtooth(int i)
{
	return 50 + 2 * (i % 12) + 0.3 * noise();
}
static double short_sawtooth(int i)
{
	return 50 + 10 * (i % 5) + noise();
}
static double uneven_sawtooth(int i)
{
	static int at, top = 10;

	if (i == 0 || at >= top) {
		at = 0;
		top = 8 + (int)(uniform() * 7);
	}
	return 50 + 2 * at++ + 0.3 * noise();
}
/* The load falls or rises at some point. */
static double changing_sawtooth(int i)
{
	static double at, top, before, after;
	static int when;

	if (i == 0) {
		at = 30 * uniform();
		top = 20 + 8 * uniform();
		before = 2 + 4 * uniform();
		after = 2 + 4 * uniform();
		when = 10 + (int)(30 * uniform());
	}
	at += i < when ? before : after;
	at = fmod(at, top);
	return 50 + at + 0.3 * noise();
}
static double wave(int i)
{
	return 50 + 10 * sin(i * 2 * M_PI / 14) + 0.5 * noise();
}
static double warm_up(int i)
{
	return 50 + 30 * (1 - exp(-i / 4.0)) + 0.5 * noise();
}
static double filling_cache(int i)
{
	return 50 + (i < 10 ? 3 * i : 30) + 0.3 * noise();
}
static double step(int i)
{
	return (i < 20 ? 50 : 80) + 0.5 * noise();
}
static double drift(int i)
{
	static double value;

	value = i ? 0.8 * value + 0.6 * noise() : 0;
	return 50 + value;
}
static double shrinking(int i)
{
	return 100 - i + noise();
}

struct shape {
	const char *name;
	double (*value)(int i);
};

static const struct shape leaks[] = {
	{ "leak", leak },
	{ "noisy leak", noisy_leak },
	{ "stepwise leak", stepwise_leak },
	{ "accelerating leak", accelerating_leak },
	{ "leak with outliers", leak_with_outliers },
};
static const struct shape controls[] = {
	{ "quiet", quiet },
	{ "still", still },
	{ "saw-tooth", sawtooth },
	{ "short saw-tooth", short_sawtooth },
	{ "uneven saw-tooth", uneven_sawtooth },
	{ "changing saw-tooth", changing_sawtooth },
	{ "wave", wave },
	{ "warm-up", warm_up },
	{ "filling cache", filling_cache },
	{ "step", step },
	{ "drift", drift },
	{ "shrinking", shrinking },
};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct trend_point points[1000];

static void make(const struct shape *shape, uint64_t seed, int count)
{
	state_of_random = seed * 77777 + 1;
	for (int i = 0; i < count; i++)
		points[i] = (struct trend_point){ i * 600.0, shape->value(i) * MIB };
}

/* As in `heapdb growth`, growth of less than 5 % of the level does not count. */
static bool grows(size_t count, struct trend *trend)
{
	trend_find(points, count, 0.05 * points[count - 1].value, trend);
	return trend->grows;
}

static void test_leaks_are_found(void **state)
{
	struct trend trend;

	(void)state;
	for (size_t s = 0; s < COUNT(leaks); s++) {
		unsigned missed = 0, lost = 0;

		for (uint64_t seed = 0; seed < SEEDS; seed++) {
			make(&leaks[s], seed, POINTS);
			missed += !grows(FOUND_WITHIN, &trend);
			lost += !grows(POINTS, &trend);
		}
		print_message("%s: missed %u of %u within %d points, %u within %d\n", leaks[s].name,
			      missed, SEEDS, FOUND_WITHIN, lost, POINTS);
		assert_true(missed <= SEEDS / 200);
		assert_int_equal(lost, 0);
	}
}

static void test_no_false_alarms(void **state)
{
	(void)state;
	for (size_t s = 0; s < COUNT(controls); s++) {
		unsigned alarms = 0;

		for (uint64_t seed = 0; seed < SEEDS; seed++) {
			struct trend trend;
			bool is_alarm = false;

			make(&controls[s], seed, POINTS);
			for (size_t n = 1; n <= POINTS; n++)
				is_alarm = is_alarm || grows(n, &trend);
			alarms += is_alarm;
		}
		print_message("%s: alarms in %u of %u series\n", controls[s].name, alarms, SEEDS);
		assert_true(alarms <= SEEDS / 100);
	}
}

static void test_figures(void **state)
{
	struct trend trend;

	(void)state;
	make(&leaks[0], 1, POINTS);
	assert_true(grows(POINTS, &trend));
	assert_true(fabs(trend.slope * 600 / MIB - 1) < 0.05);
	assert_true(trend.low < trend.slope && trend.slope < trend.high);
	assert_true(trend.low * 600 / MIB > 0.9 && trend.high * 600 / MIB < 1.1);
	assert_true(fabs(trend.rise / MIB - 59) < 3);
	assert_int_equal(trend.period, 1);
}

/* A leak that begins late: the result is its start and its rate since then, not an average. */
static void test_since(void **state)
{
	struct trend trend;

	(void)state;
	state_of_random = 5;
	for (int i = 0; i < 120; i++)
		points[i] =
			(struct trend_point){ i, (i < 70 ? 100 : 100 + 2 * (i - 70)) + noise() };
	trend_find(points, 120, 1, &trend);
	assert_true(trend.grows);
	assert_true(fabs(trend.since - 70) <= 4);
	assert_true(fabs(trend.slope - 2) < 0.15);
}

/* A wave that is larger than the leak below it. */
static void test_leak_below_a_wave(void **state)
{
	struct trend trend;

	(void)state;
	state_of_random = 5;
	for (int i = 0; i < 192; i++)
		points[i] = (struct trend_point){ i, 100 + 20 * sin(i * 2 * M_PI / 24) + 0.2 * i +
							     noise() };
	trend_find(points, 192, 1, &trend);
	assert_int_equal(trend.period, 24);
	assert_true(trend.grows);
	assert_true(fabs(trend.slope - 0.2) < 0.05);
}

/* So many points that computing all pairs would take too long. */
static void test_many_points(void **state)
{
	struct trend trend;

	(void)state;
	make(&leaks[1], 3, 1000);
	assert_true(grows(1000, &trend));
	assert_true(fabs(trend.slope * 600 / MIB - 1) < 0.05);
	make(&controls[2], 3, 1000);
	assert_false(grows(1000, &trend));
}

static void test_strange_points(void **state)
{
	static const double values[] = { 0, -1, 1e308, -1e308, INFINITY, NAN };
	struct trend trend;

	(void)state;
	for (size_t v = 0; v < COUNT(values); v++) {
		for (int i = 0; i < 100; i++)
			points[i] = (struct trend_point){ i / 2 * 2, i % 7 ? i : values[v] };
		for (size_t n = 0; n <= 100; n++)
			trend_find(points, n, 1, &trend);
		/* Time does not advance, or runs backwards. */
		for (int i = 0; i < 100; i++)
			points[i].time = v % 2 ? 5 : 100 - i;
		trend_find(points, 100, 1, &trend);
		assert_false(trend.grows);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_leaks_are_found),   cmocka_unit_test(test_no_false_alarms),
		cmocka_unit_test(test_figures),           cmocka_unit_test(test_since),
		cmocka_unit_test(test_leak_below_a_wave), cmocka_unit_test(test_many_points),
		cmocka_unit_test(test_strange_points),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
