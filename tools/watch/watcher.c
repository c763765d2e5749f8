/*
 * watch/watcher.c - implements watcher.h.
 */
#include "watch/watcher.h"

#include "base/scope.h"
#include "watch/growth.h"

#include <stdio.h>

/* Number of captures to remember, so that the daily limit can be checked. */
#define CAPTURES_MAX 256
/*
 * Minimum age of a JVM. A JVM that has just started does not yet report whether it can be attached
 * to.
 */
#define HISTOGRAM_AGE_MS 2000

/* State of a JVM. */
struct watched {
	struct watch_jvm jvm;
	bool is_here; /* whether the JVM was found in this round */
	uint64_t found_ms, sampled_ms;
	uint64_t histogram_ms; /* time at which the next histogram is due */
	double gc_percent;
	bool grows; /* whether the JVM grows, according to the last histogram */
	bool told_attach;
	uint64_t oom_seen_ms;
	/* time since which the condition has held; 0 means it does not hold */
	uint64_t since_ms[CONDITIONS_MAX];
	/* whether the user has been told that a capture is not possible now */
	bool is_reported[CONDITIONS_MAX];
};

struct past_capture {
	char program[256];
	uint64_t wall_ms;
};

struct watcher {
	const struct watch_world *world;
	const struct watch_options *options;
	struct series *series;
	struct watched jvms[WATCH_JVMS_MAX];
	size_t count;
	struct watch_jvm found[WATCH_JVMS_MAX];
	struct past_capture captures[CAPTURES_MAX];
	size_t capture_count;
	bool is_capturing, told_disk, was_signalled;
	struct series_class classes[SERIES_CLASSES_MAX];
};

static uint64_t now(const struct watcher *w)
{
	return w->world->now_ms(w->world->ctx);
}

static void report_event(const struct watcher *w, const char *event, const struct series_record *of,
			 const char *text, const char *path)
{
	w->world->report_event(w->world->ctx, event, of, text, path);
}

/* ---- the series ---- */

/* Appends a record. Reports a full disk once, and again when there is room. */
static void append(struct watcher *w, struct series_record *r)
{
	struct hdb_error err;
	char text[128];
	int rc;

	r->time_ms = w->world->wall_ms(w->world->ctx);
	rc = series_append(w->series, r, &err);
	if (rc != HDB_OK && !w->told_disk)
		report_event(w, "series", r, err.message, NULL);
	if (rc == HDB_OK && w->told_disk) {
		snprintf(text, sizeof(text), "writing resumed; %" PRIu64 " samples were lost",
			 series_lost(w->series));
		report_event(w, "series", r, text, NULL);
	}
	w->told_disk = rc != HDB_OK;
}

static void append_event(struct watcher *w, const struct series_record *of, const char *event,
			 const char *text, const char *path)
{
	struct series_record r = { .kind = SERIES_EVENT, .age_ms = of->age_ms };

	memcpy(r.jvm, of->jvm, sizeof(r.jvm));
	memcpy(r.main_class, of->main_class, sizeof(r.main_class));
	snprintf(r.event, sizeof(r.event), "%s", event);
	snprintf(r.text, sizeof(r.text), "%s", text);
	snprintf(r.path, sizeof(r.path), "%s", path ? path : "");
	append(w, &r);
	report_event(w, event, of, text, path);
}

static void remember_capture(struct watcher *w, const char *program, uint64_t wall_ms)
{
	struct past_capture *c;

	if (w->capture_count == CAPTURES_MAX) {
		memmove(w->captures, w->captures + 1, sizeof(w->captures) - sizeof(*c));
		w->capture_count--;
	}
	c = &w->captures[w->capture_count++];
	snprintf(c->program, sizeof(c->program), "%s", program);
	c->wall_ms = wall_ms;
}

/* Reads the earlier captures from the series, so that a restart does not forget them. */
static int resume_record(void *ctx, const struct series_record *r)
{
	struct watcher *w = ctx;

	if (r->kind == SERIES_EVENT && strcmp(r->event, "capture") == 0)
		remember_capture(w, r->main_class, r->time_ms);
	return HDB_OK;
}

/* Reads the JVM's records in the series to find when the next histogram is due. */
struct last_histogram {
	const char *jvm;
	uint64_t age_ms, pause_us;
	bool is_found;
};

static int find_histogram(void *ctx, const struct series_record *r)
{
	struct last_histogram *last = ctx;

	if (r->kind == SERIES_CLASSES && strcmp(r->jvm, last->jvm) == 0)
		*last = (struct last_histogram){ last->jvm, r->age_ms, r->pause_us, true };
	return HDB_OK;
}

static uint64_t histogram_gap(const struct watcher *w, uint64_t pause_us)
{
	const uint64_t least = pause_us / 1000 * WATCH_PAUSE_SHARE;

	return least > w->options->histogram_ms ? least : w->options->histogram_ms;
}

/* ---- JVMs ---- */

static void begin(struct watcher *w, const struct watch_jvm *jvm)
{
	struct last_histogram last = { .jvm = jvm->sample.jvm };
	struct watched *v = &w->jvms[w->count++];
	struct series_record head = jvm->sample;

	*v = (struct watched){ .jvm = *jvm, .is_here = true, .gc_percent = -1 };
	v->found_ms = v->histogram_ms = now(w);
	(void)series_read(w->options->series, &(struct series_taker){ find_histogram, &last, NULL },
			  NULL, NULL);
	if (last.is_found && jvm->sample.age_ms >= last.age_ms) {
		const uint64_t gone = jvm->sample.age_ms - last.age_ms;
		const uint64_t gap = histogram_gap(w, last.pause_us);

		v->histogram_ms += gap > gone ? gap - gone : 0;
	}
	head.kind = SERIES_JVM;
	head.has = 0;
	append(w, &head);
	report_event(w, "watching", &v->jvm.sample, head.main_class, NULL);
}

/* Removes JVMs that ended. */
static void forget_ended(struct watcher *w)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->count; i++) {
		struct watched *v = &w->jvms[i];

		if (!v->is_here) {
			append_event(w, &v->jvm.sample, "ended", v->jvm.sample.main_class, NULL);
			continue;
		}
		if (kept != i)
			w->jvms[kept] = *v;
		kept++;
	}
	w->count = kept;
}

static double gc_share(const struct watched *v, const struct watch_jvm *jvm, uint64_t now_ms)
{
	const uint64_t before = v->jvm.sample.figures[SERIES_GC_US];
	const uint64_t after = jvm->sample.figures[SERIES_GC_US];

	if (!(jvm->sample.has >> SERIES_GC_US & 1) || after < before || now_ms <= v->sampled_ms ||
	    !v->sampled_ms)
		return -1;
	return (double)(after - before) / 10 / (double)(now_ms - v->sampled_ms);
}

static void update(struct watcher *w, struct watched *v, const struct watch_jvm *jvm)
{
	const uint64_t now_ms = now(w);
	struct series_record sample;

	v->gc_percent = gc_share(v, jvm, now_ms);
	if (jvm->sample.figures[SERIES_OOM_KILLS] > v->jvm.sample.figures[SERIES_OOM_KILLS])
		append_event(w, &jvm->sample, "oom-kill",
			     "the kernel killed a process in the cgroup", NULL);
	v->jvm = *jvm;
	v->is_here = true;
	v->sampled_ms = now_ms;
	/* only the record that announces the JVM contains its names */
	sample = jvm->sample;
	sample.main_class[0] = sample.version[0] = '\0';
	append(w, &sample);
}

/* Finds and samples the JVMs. */
static int look(struct watcher *w, struct hdb_error *err)
{
	size_t count = 0;

	TRY(w->world->find(w->world->ctx, w->found, &count, err));
	for (size_t i = 0; i < w->count; i++)
		w->jvms[i].is_here = false;
	for (size_t i = 0; i < count; i++) {
		struct watched *v = NULL;

		for (size_t k = 0; k < w->count && !v; k++)
			if (strcmp(w->jvms[k].jvm.sample.jvm, w->found[i].sample.jvm) == 0)
				v = &w->jvms[k];
		if (!v && w->count < WATCH_JVMS_MAX) {
			begin(w, &w->found[i]);
			v = &w->jvms[w->count - 1];
		}
		if (v)
			update(w, v, &w->found[i]);
	}
	forget_ended(w);
	return HDB_OK;
}

/* ---- histograms ---- */

/* Returns whether the heap or a class of the JVM grows steadily, according to the series. */
static bool has_growth(struct watcher *w, const struct watched *v)
{
	BASE_SCOPED(growth_release) struct growth g = { 0 };
	struct hdb_error err;

	if (growth_read(&g, w->options->series, v->jvm.sample.jvm, &err) != HDB_OK ||
	    growth_find(&g, &err) != HDB_OK)
		return false;
	for (size_t i = 0; i < g.row_count; i++)
		if (g.rows[i].trend.grows)
			return true;
	return false;
}

static void take_histogram(struct watcher *w, struct watched *v)
{
	struct series_record r = v->jvm.sample;
	BASE_FREED char *text = NULL;
	struct hdb_error err;
	uint64_t pause_us = 0;
	int rc;

	if (!w->options->histogram_ms || now(w) < v->histogram_ms || w->is_capturing ||
	    v->jvm.sample.age_ms < HISTOGRAM_AGE_MS)
		return;
	rc = v->jvm.can_attach ?
		     w->world->histogram(w->world->ctx, v->jvm.pid, &text, &pause_us, &err) :
		     hdb_fail(&err, HDB_EIO,
			      "cannot take histograms: the JVM was started with "
			      "-XX:+DisableAttachMechanism");
	v->histogram_ms = now(w) + histogram_gap(w, pause_us);
	if (rc != HDB_OK) {
		if (!v->told_attach)
			report_event(w, "attach", &v->jvm.sample, err.message, NULL);
		v->told_attach = true;
		return;
	}
	v->told_attach = false;
	r.kind = SERIES_CLASSES;
	r.has = 0;
	r.main_class[0] = r.version[0] = '\0';
	r.pause_us = pause_us;
	watch_histogram(text, w->classes, &r);
	append(w, &r);
	v->grows = has_growth(w, v);
}

/* ---- conditions ---- */

/*
 * Returns HDB_OK if the program may be captured now; HDB_END soon after the last capture;
 * HDB_ELIMIT if there were too many captures.
 */
static int check_allowed(const struct watcher *w, const struct watched *v, struct hdb_error *err)
{
	const uint64_t wall_ms = w->world->wall_ms(w->world->ctx);
	unsigned today = 0;

	for (size_t i = 0; i < w->capture_count; i++) {
		const struct past_capture *c = &w->captures[i];
		/* if the clock was set back, earlier captures appear to be in the future */
		const uint64_t ago = wall_ms > c->wall_ms ? wall_ms - c->wall_ms : 0;

		if (strcmp(c->program, v->jvm.sample.main_class) != 0)
			continue;
		if (ago < w->options->gap_ms)
			return HDB_END;
		today += ago < WATCH_DAY_MS;
	}
	return today < w->options->per_day ?
		       HDB_OK :
		       hdb_fail(err, HDB_ELIMIT,
				"already captured %u times in 24 hours (--at-most)", today);
}

static void try_capture(struct watcher *w, struct watched *v, size_t no, const char *reason)
{
	const struct watch_capture what = {
		.pid = v->jvm.pid,
		.sample = &v->jvm.sample,
		.reason = reason,
		.is_oom = w->options->conditions[no].kind == CONDITION_OOM,
	};
	char text[HDB_ERROR_SIZE + CONDITION_TEXT_SIZE + 64];
	struct hdb_error err;

	int rc;

	if (w->is_capturing || (rc = check_allowed(w, v, &err)) == HDB_END)
		return;
	if (rc != HDB_OK || w->world->capture(w->world->ctx, &what, &err) != HDB_OK) {
		snprintf(text, sizeof(text), "%s: no capture: %s", reason, err.message);
		if (!v->is_reported[no])
			append_event(w, &v->jvm.sample, "skipped", text, NULL);
		v->is_reported[no] = true;
		return;
	}
	v->is_reported[no] = false;
	w->is_capturing = true;
	remember_capture(w, v->jvm.sample.main_class, w->world->wall_ms(w->world->ctx));
	append_event(w, &v->jvm.sample, "capture", reason, NULL);
}

/* Returns whether the condition holds now, regardless of its duration. */
static bool is_true(struct watcher *w, struct watched *v, const struct condition *c, double *value)
{
	const uint64_t age_ms = now(w) - v->found_ms;
	bool is_new;

	switch (c->kind) {
	case CONDITION_GROWTH:
		return v->grows;
	case CONDITION_EVERY:
		is_new = age_ms >= c->duration_ms;
		if (is_new)
			v->found_ms += c->duration_ms;
		return is_new;
	case CONDITION_SIGNAL:
		return w->was_signalled;
	case CONDITION_OOM:
		is_new = v->jvm.oom_dump_ms != v->oom_seen_ms && v->jvm.oom_dump_ms;
		v->oom_seen_ms = v->jvm.oom_dump_ms;
		return is_new;
	case CONDITION_MEASURE:
		break;
	}
	return condition_holds(c, &v->jvm.sample, v->gc_percent, value);
}

/* Reports once that a condition can never be true, because the process has no memory limit. */
static void report_no_limit(struct watcher *w, struct watched *v, size_t no)
{
	const struct condition *c = &w->options->conditions[no];
	const bool lacks_limit = condition_needs_limit(c) && !v->jvm.sample.figures[SERIES_LIMIT];
	char text[CONDITION_TEXT_SIZE + 64];

	snprintf(text, sizeof(text), "%s: the process has no memory limit", c->text);
	if (lacks_limit && !v->is_reported[no])
		append_event(w, &v->jvm.sample, "skipped", text, NULL);
	v->is_reported[no] = lacks_limit;
}

static void judge(struct watcher *w, struct watched *v)
{
	for (size_t i = 0; i < w->options->condition_count; i++) {
		const struct condition *c = &w->options->conditions[i];
		char reason[CONDITION_TEXT_SIZE + 32];
		double value = 0;

		if (!is_true(w, v, c, &value)) {
			v->since_ms[i] = 0;
			report_no_limit(w, v, i);
			continue;
		}
		v->since_ms[i] = v->since_ms[i] ? v->since_ms[i] : now(w);
		if (c->kind == CONDITION_MEASURE && now(w) - v->since_ms[i] < c->duration_ms)
			continue;
		snprintf(reason, sizeof(reason),
			 c->kind == CONDITION_MEASURE && c->is_percent ? "%s (now %.0f%%)" : "%s",
			 c->text, value);
		try_capture(w, v, i, reason);
	}
}

static void take_captured(struct watcher *w)
{
	struct watch_captured done;

	if (!w->is_capturing || !w->world->captured(w->world->ctx, &done))
		return;
	w->is_capturing = false;
	for (size_t i = 0; i <= w->count; i++) {
		struct series_record of = { 0 };

		if (i < w->count && strcmp(w->jvms[i].jvm.sample.jvm, done.jvm) != 0)
			continue;
		memcpy(of.jvm, done.jvm, sizeof(of.jvm));
		if (i < w->count)
			of = w->jvms[i].jvm.sample;
		append_event(w, &of, done.is_good ? "captured" : "failed", done.text, done.path);
		break;
	}
}

/* ---- the loop ---- */

static int run(struct watcher *w, struct hdb_error *err)
{
	const struct watch_world *world = w->world;
	uint64_t next_ms = now(w);

	TRY(look(w, err));
	if (!w->count && w->options->ends_with_jvm)
		return hdb_fail(err, HDB_EABSENT, "no such JVM");
	for (;;) {
		for (size_t i = 0; i < w->count; i++) {
			take_histogram(w, &w->jvms[i]);
			judge(w, &w->jvms[i]);
		}
		take_captured(w);
		if (w->options->is_once && !w->is_capturing && !world->must_stop(world->ctx))
			return HDB_OK;
		if (!w->count && w->options->ends_with_jvm && !w->is_capturing)
			return HDB_OK;
		/* a signal ends the wait early; missed samples are not repeated */
		while (next_ms <= now(w))
			next_ms += w->options->interval_ms;
		world->wait(world->ctx, next_ms);
		if (world->must_stop(world->ctx)) {
			/* record a capture that has ended, because its files stay */
			take_captured(w);
			return hdb_fail(err, HDB_EINTR, "interrupted");
		}
		w->was_signalled = world->was_signalled(world->ctx);
		if (look(w, err) != HDB_OK)
			report_event(w, "processes", NULL, err->message, NULL);
	}
}

int watch_run(const struct watch_world *world, const struct watch_options *options,
	      struct hdb_error *err)
{
	BASE_FREED struct watcher *w = NULL;
	int rc;

	TRY(BASE_ALLOC(w, 1, "watching", err));
	w->world = world;
	w->options = options;
	TRY(series_open(options->series, SERIES_BYTES_MAX, &w->series, err));
	rc = series_read(options->series, &(struct series_taker){ resume_record, w, NULL }, NULL,
			 err);
	if (rc == HDB_OK)
		rc = run(w, err);
	series_close(w->series);
	return rc;
}
