/*
 * watch/growth.c - implements growth.h.
 */
#include "watch/growth.h"

#include "base/scope.h"
#include "common/descriptor.h"

#include <stdlib.h>
#include <string.h>

/*
 * Minimum number of histograms. With fewer histograms, samples are more informative, so heapdb uses
 * samples instead.
 */
#define HISTOGRAMS_MIN 6
/*
 * Maximum number of groups of samples, each of which is reduced to its minimum, and minimum number
 * of times that the heap must shrink between samples.
 */
#define GROUPS_MAX 40
#define FALLS_MIN 3
/* Minimum decrease, as a fraction of the heap. Smaller decreases are noise. */
#define FALL_MIN 0.01
#define RUNS_MAX 10000

/* ---- reading ---- */

static int find_run(struct growth *g, const struct series_record *r, struct growth_run **out)
{
	struct growth_run run = { 0 };

	for (size_t i = g->run_count; i-- > 0;)
		if (strcmp(g->runs[i].jvm, r->jvm) == 0) {
			*out = &g->runs[i];
			return HDB_OK;
		}
	if (g->run_count >= RUNS_MAX)
		return hdb_fail(g->err, HDB_ELIMIT, "too many JVMs in the series (limit %d)",
				RUNS_MAX);
	memcpy(run.jvm, r->jvm, sizeof(run.jvm));
	TRY(base_vec_push(&g->run_vec, &run, sizeof(run), g->err));
	*out = &g->runs[g->run_count - 1];
	return HDB_OK;
}

static int add_histogram(struct growth *g, struct growth_run *run, const struct series_record *r)
{
	struct growth_histogram h = {
		.age_s = (double)r->age_ms / 1000,
		.bytes = r->bytes,
		.first = g->classes.count,
		.count = r->class_count,
	};

	for (size_t i = 0; i < r->class_count; i++) {
		const struct base_name name = { r->classes[i].name, r->classes[i].name_size, 0 };
		struct growth_class c = { 0, r->classes[i].objects, r->classes[i].bytes };

		TRY(base_names_add(&g->names, &name, false, &c.name, g->err));
		TRY(base_vec_push(&g->classes, &c, sizeof(c), g->err));
		h.least = i && h.least < c.bytes ? h.least : c.bytes;
	}
	return base_vec_push(&run->histogram_vec, &h, sizeof(h), g->err);
}

static int add_text(struct growth *g, const char *text, uint32_t *no)
{
	const struct base_name name = { text, strlen(text), 1 };

	return base_names_add(&g->names, &name, false, no, g->err);
}

/* Adds an event. Ignores an event whose program has no records. */
static int add_event(struct growth *g, const struct series_record *r)
{
	struct growth_event event = { .time_ms = r->time_ms };

	for (size_t i = g->run_count; i-- > 0;) {
		if (strcmp(g->runs[i].jvm, r->jvm) != 0)
			continue;
		event.run = (uint32_t)i;
		TRY(add_text(g, r->event, &event.event));
		TRY(add_text(g, r->text, &event.text));
		return base_vec_push(&g->events, &event, sizeof(event), g->err);
	}
	return HDB_OK;
}

struct reading {
	struct growth *growth;
	const char *jvm;
};

static int take_record(void *ctx, const struct series_record *r)
{
	const struct reading *reading = ctx;
	struct growth_run *run = NULL;

	if (r->kind == SERIES_EVENT)
		return add_event(reading->growth, r);
	if (!r->jvm[0] || (reading->jvm && strcmp(reading->jvm, r->jvm) != 0))
		return HDB_OK;
	TRY(find_run(reading->growth, r, &run));
	if (r->kind == SERIES_JVM)
		memcpy(run->main_class, r->main_class, sizeof(run->main_class));
	/* the age of a JVM only increases, so a record with a lower age is ignored */
	if (r->age_ms < run->age_ms)
		return HDB_OK;
	run->age_ms = r->age_ms;
	run->time_ms = r->time_ms;
	if (r->kind == SERIES_CLASSES)
		return add_histogram(reading->growth, run, r);
	if (r->kind == SERIES_SAMPLE) {
		const struct growth_sample sample = {
			.age_s = (double)r->age_ms / 1000,
			.heap = r->figures[SERIES_HEAP],
			.max = r->figures[SERIES_MAX],
			.gcs = r->figures[SERIES_GCS],
			.gc_us = r->figures[SERIES_GC_US],
			.rss = r->figures[SERIES_RSS],
			.limit = r->figures[SERIES_LIMIT],
		};

		return base_vec_push(&run->sample_vec, &sample, sizeof(sample),
				     reading->growth->err);
	}
	return HDB_OK;
}

int growth_read(struct growth *g, const char *path, const char *jvm, struct hdb_error *err)
{
	struct reading reading = { g, jvm };
	struct series_counts counts = { 0 };
	int rc;

	g->err = err;
	rc = series_read(path, &(struct series_taker){ take_record, &reading, g->cancel }, &counts,
			 err);
	g->counts.lines += counts.lines;
	g->counts.damaged += counts.damaged;
	return rc;
}

void growth_release(struct growth *g)
{
	for (size_t i = 0; i < g->run_count; i++) {
		base_vec_release(&g->runs[i].sample_vec);
		base_vec_release(&g->runs[i].histogram_vec);
	}
	base_vec_release(&g->run_vec);
	base_vec_release(&g->row_vec);
	base_vec_release(&g->classes);
	base_vec_release(&g->events);
	base_names_release(&g->names);
}

/* ---- the heap ---- */

/* Copies the samples that follow a collection. */
static size_t after_collections(const struct growth_run *run, struct trend_point *out)
{
	uint64_t gcs = 0;
	size_t count = 0;

	for (size_t i = 0; i < run->sample_count; i++) {
		const struct growth_sample *s = &run->samples[i];

		if (s->heap && s->gcs > gcs)
			out[count++] = (struct trend_point){ s->age_s, (double)s->heap };
		gcs = s->gcs;
	}
	return count;
}

int growth_heap_points(const struct growth_run *run, struct trend_point **out, size_t *count,
		       struct hdb_error *err)
{
	const bool is_exact = run->histogram_count >= HISTOGRAMS_MIN;

	TRY(BASE_ALLOC(*out, is_exact ? run->histogram_count : run->sample_count, "points", err));
	*count = is_exact ? run->histogram_count : after_collections(run, *out);
	for (size_t i = 0; is_exact && i < *count; i++)
		(*out)[i] = (struct trend_point){ run->histograms[i].age_s,
						  (double)run->histograms[i].bytes };
	return HDB_OK;
}

static bool falls_often(const struct trend_point *points, size_t count)
{
	size_t falls = 0;

	for (size_t i = 1; i < count; i++)
		falls += points[i].value < points[i - 1].value * (1 - FALL_MIN);
	return falls >= FALLS_MIN;
}

/* Reduces each group of points to its smallest point. */
static size_t keep_minima(struct trend_point *points, size_t count)
{
	const size_t groups = count < GROUPS_MAX ? count : GROUPS_MAX;

	for (size_t g = 0; g < groups; g++) {
		size_t least = g * count / groups;

		for (size_t i = least; i < (g + 1) * count / groups; i++)
			if (points[i].value < points[least].value)
				least = i;
		points[g] = points[least];
	}
	return groups;
}

uint64_t growth_time_of(const struct growth_run *run, double age_s)
{
	const double ago_ms = (double)run->age_ms - age_s * 1000;

	return run->time_ms - (ago_ms > 0 && ago_ms < (double)run->time_ms ? (uint64_t)ago_ms : 0);
}

const char *growth_name(const struct growth *g, uint32_t name)
{
	return base_vec_at(&g->names.list, struct base_name, name)->text;
}

static int add_row(struct growth *g, struct growth_row *row, struct hdb_error *err)
{
	row->since_ms = growth_time_of(&g->runs[row->run], row->trend.since);
	return base_vec_push(&g->row_vec, row, sizeof(*row), err);
}

static int judge_heap(struct growth *g, uint32_t run_no, struct hdb_error *err)
{
	const struct growth_run *run = &g->runs[run_no];
	const bool is_exact = run->histogram_count >= HISTOGRAMS_MIN;
	struct growth_row row = { .run = run_no };
	BASE_FREED struct trend_point *points = NULL;
	uint64_t max = run->sample_count ? run->samples[run->sample_count - 1].max : 0;
	bool is_settled;
	size_t count;

	TRY(growth_heap_points(run, &points, &count, err));
	if (!count)
		return HDB_OK;
	row.bytes = (uint64_t)points[count - 1].value;
	is_settled = is_exact || falls_often(points, count);
	if (!is_exact)
		count = keep_minima(points, count);
	trend_find(points, count, (double)row.bytes * GROWTH_HEAP_MIN + GROWTH_BYTES_MIN,
		   &row.trend);
	row.trend.grows = row.trend.grows && is_settled;
	if (row.trend.grows && (double)max > row.trend.level)
		row.limit_s = ((double)max - row.trend.level) / row.trend.slope;
	return add_row(g, &row, err);
}

/* ---- classes ---- */

/* Points of one class: sizes in bytes and numbers of objects. */
struct class_points {
	struct trend_point *bytes, *objects; /* owned; as many as histograms */
};

static void release_points(struct class_points *points)
{
	free(points->bytes);
	free(points->objects);
}

const struct growth_class *growth_class_in(const struct growth *g, const struct growth_histogram *h,
					   uint32_t name)
{
	const struct growth_class *classes = g->classes.data;

	for (size_t i = 0; i < h->count; i++)
		if (classes[h->first + i].name == name)
			return &classes[h->first + i];
	return NULL;
}

/*
 * Computes the points of a class. If a histogram does not list the class, all listed classes are
 * larger. The class is then assumed to be as large as the smallest listed class, or as large as in
 * the next histogram if that is less.
 */
static void fill_points(const struct growth *g, const struct growth_run *run,
			const struct growth_class *last, struct class_points *out)
{
	uint64_t bytes = last->bytes, objects = last->objects;

	for (size_t i = run->histogram_count; i-- > 0;) {
		const struct growth_histogram *h = &run->histograms[i];
		const struct growth_class *c = growth_class_in(g, h, last->name);

		if (!c && h->least < bytes)
			bytes = h->least;
		objects = c ? c->objects : objects;
		bytes = c ? c->bytes : bytes;
		out->bytes[i] = (struct trend_point){ h->age_s, (double)bytes };
		out->objects[i] = (struct trend_point){ h->age_s, (double)objects };
	}
}

static int by_rise(const void *a, const void *b)
{
	const double x = ((const struct growth_row *)a)->trend.rise;
	const double y = ((const struct growth_row *)b)->trend.rise;

	return (x < y) - (x > y);
}

bool growth_is_of_jdk(const char *name)
{
	return descriptor_is_of_jdk(name, strlen(name)) || strchr(name, '[');
}

/*
 * Returns the minimum growth of a class to be reported. The minimum is higher for a JDK class,
 * which is hardly ever the cause of a leak and whose size changes with the load.
 */
static double class_rise_min(const struct growth *g, const struct growth_class *c,
			     const struct growth_histogram *last)
{
	const char *name = growth_name(g, c->name);

	return GROWTH_BYTES_MIN + (growth_is_of_jdk(name) ? (double)last->bytes * GROWTH_CLASS_MIN :
							    (double)c->bytes * GROWTH_OWN_MIN);
}

static int judge_classes(struct growth *g, uint32_t run_no, struct hdb_error *err)
{
	const struct growth_run *run = &g->runs[run_no];
	BASE_SCOPED(release_points) struct class_points points = { 0 };
	const struct growth_histogram *last;
	const size_t first_row = g->row_count;

	if (run->histogram_count < TREND_POINTS_MIN)
		return HDB_OK;
	TRY(BASE_ALLOC(points.bytes, run->histogram_count, "points", err));
	TRY(BASE_ALLOC(points.objects, run->histogram_count, "points", err));
	last = &run->histograms[run->histogram_count - 1];
	for (size_t i = 0; i < last->count; i++) {
		const struct growth_class *c =
			base_vec_at(&g->classes, struct growth_class, last->first + i);
		struct growth_row row = { .run = run_no, .bytes = c->bytes, .objects = c->objects };
		const double rise_min = class_rise_min(g, c, last);
		struct trend objects;

		if (base_flag_is_set(g->cancel))
			return hdb_fail(err, HDB_EINTR, "interrupted");
		/* the growth of a class cannot exceed its size */
		if ((double)c->bytes < rise_min)
			continue;
		fill_points(g, run, c, &points);
		trend_find(points.bytes, run->histogram_count, rise_min, &row.trend);
		if (!row.trend.grows)
			continue;
		trend_find(points.objects, run->histogram_count, 0, &objects);
		row.objects_slope = objects.slope;
		row.name = growth_name(g, c->name);
		TRY(add_row(g, &row, err));
	}
	if (g->row_count > first_row)
		qsort(&g->rows[first_row], g->row_count - first_row, sizeof(g->rows[0]), by_rise);
	return HDB_OK;
}

int growth_find(struct growth *g, struct hdb_error *err)
{
	g->row_count = 0;
	for (uint32_t i = 0; i < g->run_count; i++) {
		TRY(judge_heap(g, i, err));
		TRY(judge_classes(g, i, err));
	}
	return HDB_OK;
}
