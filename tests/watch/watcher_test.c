/*
 * tests/watch/watcher_test.c - tests `heapdb watch` against a simulated system in which one day
 * takes one second. JVMs leak, restart and end. The watch is killed and resumes. The disk fills up
 * and the wall clock jumps. Also tests limits on captures, pauses for histograms, and every kind of
 * condition.
 */
#include "watch/watch.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB ((uint64_t)1 << 20)
#define MINUTE ((uint64_t)60000)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)
#define START ((uint64_t)1000000)

static char path[300];

/* The simulated world. */
struct world {
	uint64_t now_ms, end_ms;
	int64_t wall_offset_ms; /* added to now_ms for the wall clock */
	uint64_t restarts[4];   /* time at which the JVM restarts */
	uint64_t heap_per_hour, gc_us_per_s;
	uint64_t pause_us, histograms, pauses_us;
	uint64_t signal_ms, oom_ms, full_from_ms, full_until_ms;
	bool cannot_attach, is_gone, capture_fails, has_no_limit;
	unsigned samples, captures, captured;
	uint64_t capture_ends_ms, last_capture_ms, first_capture_ms;
	char reasons[4096], events[65536];
};

static uint64_t now_ms(void *ctx)
{
	return ((struct world *)ctx)->now_ms;
}

static uint64_t wall_ms(void *ctx)
{
	struct world *w = ctx;

	return 1767225600000 + w->now_ms + (uint64_t)w->wall_offset_ms;
}

/* A limit on file sizes simulates a full disk. */
static void fill_disk(bool is_full)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = is_full ? 1000 : limit.rlim_max;
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void wait_until(void *ctx, uint64_t until_ms)
{
	struct world *w = ctx;

	w->now_ms = until_ms;
	if (w->full_until_ms)
		fill_disk(until_ms >= w->full_from_ms && until_ms < w->full_until_ms);
}

static bool must_stop(void *ctx)
{
	const struct world *w = ctx;

	return w->now_ms >= w->end_ms;
}

static bool was_signalled(void *ctx)
{
	struct world *w = ctx;
	const bool was = w->signal_ms && w->now_ms >= w->signal_ms;

	w->signal_ms = was ? 0 : w->signal_ms;
	return was;
}

/* Age of the JVM, and number of JVMs before it. */
static uint64_t age_of(const struct world *w, unsigned *no)
{
	uint64_t start = 0;

	*no = 0;
	for (unsigned i = 0; i < 4; i++)
		if (w->restarts[i] && w->now_ms >= w->restarts[i]) {
			start = w->restarts[i];
			*no = i + 1;
		}
	return w->now_ms - start;
}

static int find(void *ctx, struct watch_jvm *jvms, size_t *count, struct hdb_error *err)
{
	struct world *w = ctx;
	struct series_record *r = &jvms[0].sample;
	unsigned no;
	const uint64_t age_ms = age_of(w, &no);

	(void)err;
	*count = !w->is_gone;
	jvms[0] = (struct watch_jvm){ .pid = 4711, .can_attach = !w->cannot_attach };
	r->kind = SERIES_SAMPLE;
	r->age_ms = age_ms;
	snprintf(r->jvm, sizeof(r->jvm), "%u-%u", 4711 + no, no);
	snprintf(r->main_class, sizeof(r->main_class), "com.acme.Shop");
	r->figures[SERIES_HEAP] = 100 * MIB + w->heap_per_hour * age_ms / HOUR;
	r->figures[SERIES_MAX] = 1000 * MIB;
	r->figures[SERIES_RSS] = 900 * MIB;
	r->figures[SERIES_LIMIT] = w->has_no_limit ? 0 : 1000 * MIB;
	r->figures[SERIES_GC_US] = w->gc_us_per_s * age_ms / 1000;
	r->has = (1U << SERIES_FIGURES) - 1;
	jvms[0].oom_dump_ms = w->oom_ms && w->now_ms >= w->oom_ms ? w->oom_ms : 0;
	w->samples += !w->is_gone;
	return HDB_OK;
}

static int histogram(void *ctx, int pid, char **text, uint64_t *pause_us, struct hdb_error *err)
{
	struct world *w = ctx;
	unsigned no;
	const uint64_t leaked = 20 * MIB + w->heap_per_hour * age_of(w, &no) / HOUR;
	char buf[512];

	(void)err;
	assert_int_equal(pid, 4711);
	snprintf(buf, sizeof(buf),
		 " num     #instances         #bytes  class name (module)\n"
		 "-------------------------------------------------------\n"
		 "   1:       1000       83886080  [B (java.base@25)\n"
		 "   2:       %llu       %llu  com.acme.Session\n"
		 "Total       5000       %llu\n",
		 (unsigned long long)leaked / 100, (unsigned long long)leaked,
		 (unsigned long long)(80 * MIB + leaked));
	*text = strdup(buf);
	*pause_us = w->pause_us;
	w->histograms++;
	w->pauses_us += w->pause_us;
	return HDB_OK;
}

static int capture(void *ctx, const struct watch_capture *what, struct hdb_error *err)
{
	struct world *w = ctx;

	if (w->capture_fails)
		return hdb_fail(err, HDB_ELIMIT, "no room");
	w->captures++;
	w->first_capture_ms = w->first_capture_ms ? w->first_capture_ms : w->now_ms;
	w->last_capture_ms = w->now_ms;
	w->capture_ends_ms = w->now_ms + MINUTE;
	if (strlen(w->reasons) + strlen(what->reason) + 2 < sizeof(w->reasons))
		strcat(strcat(w->reasons, what->reason), what->is_oom ? "!\n" : "\n");
	return HDB_OK;
}

static bool captured(void *ctx, struct watch_captured *out)
{
	struct world *w = ctx;

	if (w->now_ms < w->capture_ends_ms)
		return false;
	*out = (struct watch_captured){ .is_good = true };
	snprintf(out->path, sizeof(out->path), "folder");
	w->captured++;
	return true;
}

static void report_event(void *ctx, const char *event, const struct series_record *of,
			 const char *text, const char *file)
{
	struct world *w = ctx;
	char line[1024];

	(void)file;
	snprintf(line, sizeof(line), "%s %s: %s\n", of ? of->jvm : "-", event, text);
	if (strlen(w->events) + strlen(line) < sizeof(w->events))
		strcat(w->events, line);
}

static struct condition conditions[CONDITIONS_MAX];
static struct watch_options options;

static void set_conditions(const char *const *texts)
{
	struct hdb_error err;

	options = (struct watch_options){
		.conditions = conditions,
		.series = path,
		.interval_ms = MINUTE,
		.histogram_ms = WATCH_HISTOGRAM_MS,
		.per_day = 3,
		.gap_ms = WATCH_CAPTURE_GAP_MS,
	};
	for (; *texts; texts++)
		assert_int_equal(
			condition_parse(*texts, &conditions[options.condition_count++], &err),
			HDB_OK);
}

static void watch(struct world *w, uint64_t until_ms)
{
	const struct watch_world world = { w,         now_ms,        wall_ms,     wait_until,
					   must_stop, was_signalled, find,        histogram,
					   capture,   captured,      report_event };
	struct hdb_error err;

	w->now_ms = w->now_ms ? w->now_ms : START;
	w->end_ms = until_ms;
	assert_int_equal(watch_run(&world, &options, &err), HDB_EINTR);
}

#define WATCH(w, hours, ...) \
	do { \
		set_conditions((const char *const[]){ __VA_ARGS__, NULL }); \
		watch(&(w), (uint64_t)((hours) * (double)HOUR) + START); \
	} while (0)

static int see(void *ctx, const struct series_record *r)
{
	((uint64_t *)ctx)[r->kind]++;
	return HDB_OK;
}

static void count_records(uint64_t counts[SERIES_KINDS])
{
	struct series_counts lines;

	memset(counts, 0, SERIES_KINDS * sizeof(counts[0]));
	assert_int_equal(
		series_read(path, &(struct series_taker){ see, counts, NULL }, &lines, NULL),
		HDB_OK);
	assert_int_equal(lines.damaged, 0);
}

static int name_file(void **state)
{
	const char *folder = getenv("TMPDIR");

	(void)state;
	snprintf(path, sizeof(path), "%s/watcher_test.%d", folder ? folder : "/tmp", (int)getpid());
	return 0;
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

/*
 * 24 hours with three restarts of the JVM, two restarts of watch, and a full disk for an hour. No
 * sample is lost.
 */
static void test_a_day(void **state)
{
	static struct world w = { .restarts = { 5 * HOUR, 5 * HOUR + 15000, 17 * HOUR },
				  .heap_per_hour = 5 * MIB,
				  .full_from_ms = 11 * HOUR,
				  .full_until_ms = 12 * HOUR,
				  .pause_us = 30000 };
	uint64_t counts[SERIES_KINDS];

	(void)state;
	for (unsigned hours = 8; hours <= 24; hours += 8) {
		set_conditions((const char *const[]){ "heap > 90%", NULL });
		options.interval_ms = 10000;
		watch(&w, hours * HOUR);
	}
	count_records(counts);
	assert_int_equal(counts[SERIES_SAMPLE], w.samples);
	assert_true(w.samples > 8000);
	assert_true(counts[SERIES_CLASSES] > 100);
	assert_non_null(strstr(w.events, "series: "));
	assert_non_null(strstr(w.events, "writing resumed; 0 samples were lost"));
	assert_non_null(strstr(w.events, "4711-0 ended"));
	assert_non_null(strstr(w.events, "4712-1 ended"));
	assert_non_null(strstr(w.events, "4714-3 watching"));
	assert_int_equal(w.captures, 0);
}

static void test_duration(void **state)
{
	static struct world w = { .heap_per_hour = 100 * MIB };

	(void)state;
	/* The heap exceeds 85 % after 7.5 hours. */
	WATCH(w, 8, "heap > 85% for 5m");
	assert_int_equal(w.captures, 1);
	assert_true(w.first_capture_ms >= 7 * HOUR + 35 * MINUTE);
	assert_true(w.first_capture_ms <= 7 * HOUR + 36 * MINUTE);
	assert_string_equal(w.reasons, "heap > 85% for 5m (now 86%)\n");
	assert_int_equal(w.captured, 1);
}

/* At most three a day, an hour apart, also after a restart of watch. */
static void test_at_most(void **state)
{
	static struct world w;

	(void)state;
	WATCH(w, 2.5, "rss > 80% of limit");
	assert_int_equal(w.captures, 3);
	assert_true(w.last_capture_ms - w.first_capture_ms >= 2 * HOUR);
	WATCH(w, 23, "rss > 80% of limit");
	assert_int_equal(w.captures, 3);
	assert_non_null(
		strstr(w.events, "no capture: already captured 3 times in 24 hours (--at-most)"));
	WATCH(w, 25, "rss > 80% of limit");
	assert_int_equal(w.captures, 4);
}

static void test_skipped(void **state)
{
	static struct world w = { .capture_fails = true }, unlimited = { .has_no_limit = true };
	const char *first;

	(void)state;
	WATCH(w, 5, "rss > 80% of limit");
	assert_int_equal(w.captures, 0);
	/* Reported once. */
	assert_non_null(first = strstr(w.events, "no capture: no room"));
	assert_null(strstr(first + 16, "no room"));
	(void)unlink(path);
	WATCH(unlimited, 1, "rss > 80% of limit");
	assert_non_null(first = strstr(unlimited.events, "the process has no memory limit"));
	assert_null(strstr(first + 20, "no memory limit"));
}

static void test_conditions(void **state)
{
	static struct world w = { .gc_us_per_s = 300000 };
	static struct world every, signalled, oom, none = { .gc_us_per_s = 100000 };

	(void)state;
	WATCH(w, 0.5, "gc > 20% for 2m");
	assert_string_equal(w.reasons, "gc > 20% for 2m (now 30%)\n");
	assert_true(w.first_capture_ms - START >= 2 * MINUTE);
	(void)unlink(path);
	WATCH(every, 23.5, "every 6h");
	assert_int_equal(every.captures, 3);
	(void)unlink(path);
	signalled.signal_ms = HOUR;
	WATCH(signalled, 5, "signal");
	assert_string_equal(signalled.reasons, "signal\n");
	(void)unlink(path);
	oom.oom_ms = 2 * HOUR;
	WATCH(oom, 5, "oom");
	assert_string_equal(oom.reasons, "oom!\n");
	(void)unlink(path);
	WATCH(none, 5, "gc > 20%", "heap > 50%", "heap > 900M", "threads > 5000", "growth", "oom",
	      "signal", "swap > 2G");
	assert_string_equal(none.reasons, "");
}

static void test_growth(void **state)
{
	static struct world w = { .heap_per_hour = 30 * MIB, .pause_us = 30000 };

	(void)state;
	WATCH(w, 5, "growth");
	assert_string_equal(strtok(w.reasons, "\n"), "growth");
	/* Within 20 histograms, one every 10 minutes. */
	assert_true(w.first_capture_ms - START <= 200 * MINUTE);
}

/* Pauses take at most 0.5 % of the time, however long each is. */
static void test_pauses(void **state)
{
	static struct world quick = { .pause_us = 20000 }, slow = { .pause_us = 60000000 };
	static struct world none = { .cannot_attach = true };

	(void)state;
	WATCH(quick, 24, "growth");
	assert_true(quick.histograms >= 143 && quick.histograms <= 145);
	(void)unlink(path);
	WATCH(slow, 24, "growth");
	assert_true(slow.histograms >= 7 && slow.histograms <= 8);
	assert_true(slow.pauses_us / 1000 * 200 <= DAY + 4 * HOUR);
	(void)unlink(path);
	WATCH(none, 24, "growth");
	assert_int_equal(none.histograms, 0);
	assert_non_null(strstr(none.events, "attach: cannot take histograms"));
	assert_null(strstr(strstr(none.events, "attach: ") + 1, "attach: "));
}

/* A restart of watch does not request another histogram. */
static void test_histogram_after_restart(void **state)
{
	static struct world w = { .pause_us = 20000 };

	(void)state;
	for (int i = 1; i <= 60; i++)
		WATCH(w, i / 60.0, "growth");
	assert_true(w.histograms <= 7);
}

/*
 * The wall clock is set back by a day and forward by a year. Durations do not depend on it.
 * Captures per day are counted by the wall clock, because they must be known after a restart.
 */
static void test_clock_jumps(void **state)
{
	static struct world w = { .heap_per_hour = 30 * MIB, .pause_us = 30000 };

	(void)state;
	WATCH(w, 1, "heap > 10% for 30m");
	assert_int_equal(w.captures, 1);
	w.wall_offset_ms = -(int64_t)DAY;
	WATCH(w, 4, "heap > 10% for 30m", "growth");
	assert_int_equal(w.captures, 1);
	w.wall_offset_ms = 365 * (int64_t)DAY;
	WATCH(w, 6, "growth");
	assert_int_equal(w.captures, 3);
}

/* A signal during the only sample is not a success. */
static void test_once(void **state)
{
	struct world w = { 0 };

	(void)state;
	set_conditions((const char *const[]){ NULL });
	options.is_once = true;
	watch(&w, START);
}

/* A capture that ended during the last wait is reported before the watcher stops. */
static void test_stop_after_capture(void **state)
{
	struct world w = { 0 };

	(void)state;
	WATCH(w, 1.0 / 60, "heap > 5%");
	assert_int_equal(w.captures, 1);
	assert_non_null(strstr(w.events, "captured"));
}

static void test_parsing(void **state)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{ "", "expected heap, rss, gc" },
		{ "heap", "expected a measure, a comparison and a number" },
		{ "heap > 85% for", "expected a duration" },
		{ "heap > 85% for 5", "expected a duration" },
		{ "heap > 85% for 0m", "expected a duration" },
		{ "heap > 85% for 5y", "expected a duration" },
		{ "heap > x", "expected a measure" },
		{ "heap > 85% of limit", "only a percentage of rss" },
		{ "rss > 90% of memory", "expected \"of limit\"" },
		{ "gc > 20", "gc is a percentage" },
		{ "gc > 200%", "at most 100" },
		{ "heap > 850%", "at most 100" },
		{ "heap > 85", "such as 85% or 2G" },
		{ "threads > 5%", "cannot be a percentage" },
		{ "head > 5%", "expected heap, rss, gc" },
		{ "heap > 5% and rss > 5%", "expected a measure, a comparison" },
		{ "every", "expected a measure" },
		{ "every day", "expected a duration" },
		{ "5 > heap", "expected a measure" },
	};
	struct hdb_error err;
	struct condition c;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err.message[0] = '\0';
		if (condition_parse(bad[i].text, &c, &err) != HDB_EUSAGE ||
		    !strstr(err.message, bad[i].message))
			print_message("'%s': %s\n", bad[i].text, err.message);
		assert_non_null(strstr(err.message, bad[i].message));
	}
	assert_int_equal(condition_parse(" rss >= 1.5G for 2h ", &c, &err), HDB_OK);
	assert_int_equal(c.duration_ms, 2 * HOUR);
	assert_true(c.number > 1.6e9 && !c.is_percent);
	assert_int_equal(condition_parse("every 7d", &c, &err), HDB_OK);
	assert_int_equal(c.duration_ms, 7 * DAY);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, name_file, remove_file)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_day),
		TEST(test_duration),
		TEST(test_at_most),
		TEST(test_skipped),
		TEST(test_conditions),
		TEST(test_growth),
		TEST(test_pauses),
		TEST(test_histogram_after_restart),
		TEST(test_clock_jumps),
		TEST(test_once),
		TEST(test_stop_after_capture),
		cmocka_unit_test(test_parsing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
