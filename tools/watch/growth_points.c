/*
 * watch/growth_points.c - implements growth_points.h.
 */
#include "watch/growth_points.h"

#include "common/descriptor.h"

#include <assert.h>
#include <string.h>

/*
 * Maximum numbers of points for a JVM and for each of its classes, and maximum numbers of classes,
 * JVMs, and events in a series.
 */
#define SAMPLES_MAX 300
#define HISTOGRAMS_MAX 100
#define CLASSES_MAX 6
#define RUNS_SHOWN 20
#define EVENTS_MAX 500

#include <watch/growth_points.query.h>
static_assert(POINT_COLUMNS == GROWTH_POINT_COLUMNS, "a cell for each column");

struct point {
	uint32_t run, name;
	int kind; /* POINT_SAMPLE and so on */
	uint64_t time_ms, bytes;
	struct growth_sample sample;
	double gc_percent; /* negative means unknown */
	uint32_t text;
};
enum { POINT_SAMPLE, POINT_CLASS, POINT_EVENT };

void growth_points_release(struct growth_points *p)
{
	base_vec_release(&p->list);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Divides the samples into equal groups and adds one point per group, with the largest figures. */
static int add_samples(struct growth_points *p, uint32_t no, struct hdb_error *err)
{
	const struct growth_run *run = &p->growth->runs[no];
	const size_t groups = run->sample_count < SAMPLES_MAX ? run->sample_count : SAMPLES_MAX;
	const struct growth_sample *before = NULL;

	for (size_t g = 0; g < groups; g++) {
		const size_t end = (g + 1) * run->sample_count / groups;
		const struct growth_sample *last = &run->samples[end - 1];
		struct point point = { .run = no, .kind = POINT_SAMPLE, .sample = *last };

		point.time_ms = growth_time_of(run, last->age_s);
		for (size_t i = g * run->sample_count / groups; i < end; i++) {
			point.sample.heap = larger(point.sample.heap, run->samples[i].heap);
			point.sample.rss = larger(point.sample.rss, run->samples[i].rss);
		}
		point.gc_percent = -1;
		if (before && last->age_s > before->age_s && last->gc_us >= before->gc_us)
			point.gc_percent = (double)(last->gc_us - before->gc_us) / 1e4 /
					   (last->age_s - before->age_s);
		before = last;
		TRY(base_vec_push(&p->list, &point, sizeof(point), err));
	}
	return HDB_OK;
}

static int add_class(struct growth_points *p, uint32_t no, uint32_t name, struct hdb_error *err)
{
	const struct growth_run *run = &p->growth->runs[no];
	const size_t count = run->histogram_count,
		     groups = count < HISTOGRAMS_MAX ? count : HISTOGRAMS_MAX;

	for (size_t g = 0; g < groups; g++) {
		const struct growth_histogram *h = &run->histograms[(g + 1) * count / groups - 1];
		const struct growth_class *c = growth_class_in(p->growth, h, name);
		const struct point point = {
			.run = no,
			.kind = POINT_CLASS,
			.name = name,
			.time_ms = growth_time_of(run, h->age_s),
			.bytes = c ? c->bytes : 0,
		};

		if (c)
			TRY(base_vec_push(&p->list, &point, sizeof(point), err));
	}
	return HDB_OK;
}

struct chosen {
	uint32_t names[CLASSES_MAX];
	size_t count;
};

static void choose(struct chosen *chosen, uint32_t name)
{
	for (size_t i = 0; i < chosen->count; i++)
		if (chosen->names[i] == name)
			return;
	if (chosen->count < CLASSES_MAX)
		chosen->names[chosen->count++] = name;
}

/* Adds the growing classes, in descending order of growth, then the largest classes. */
static int add_classes(struct growth_points *p, uint32_t no, struct hdb_error *err)
{
	const struct growth *g = p->growth;
	const struct growth_run *run = &g->runs[no];
	const struct growth_class *classes;
	struct chosen chosen = { .count = 0 };
	size_t count;

	if (!run->histogram_count)
		return HDB_OK;
	count = run->histograms[run->histogram_count - 1].count;
	classes = base_vec_at(&g->classes, struct growth_class,
			      run->histograms[run->histogram_count - 1].first);
	for (size_t i = 0; i < g->row_count; i++)
		for (size_t k = 0; g->rows[i].run == no && g->rows[i].name && k < count; k++)
			if (growth_name(g, classes[k].name) == g->rows[i].name)
				choose(&chosen, classes[k].name);
	for (size_t k = 0; k < count && k < CLASSES_MAX; k++)
		choose(&chosen, classes[k].name);
	for (size_t i = 0; i < chosen.count; i++)
		TRY(add_class(p, no, chosen.names[i], err));
	return HDB_OK;
}

static int add_events(struct growth_points *p, uint32_t first_run, struct hdb_error *err)
{
	const struct base_vec *events = &p->growth->events;

	for (size_t i = events->count > EVENTS_MAX ? events->count - EVENTS_MAX : 0;
	     i < events->count; i++) {
		const struct growth_event *e = base_vec_at(events, struct growth_event, i);
		const struct point point = {
			.run = e->run,
			.kind = POINT_EVENT,
			.name = e->event,
			.text = e->text,
			.time_ms = e->time_ms,
		};

		if (e->run >= first_run)
			TRY(base_vec_push(&p->list, &point, sizeof(point), err));
	}
	return HDB_OK;
}

static int next_row(void *ctx, struct hdb_error *err)
{
	static const char *const kinds[] = { "sample", "class", "event" };
	struct growth_points *p = ctx;
	const struct point *point = base_vec_next(&p->list, struct point, &p->at);
	struct hdb_value *cells = p->cells;

	(void)err;
	if (!point)
		return HDB_END;
	memset(p->cells, 0, sizeof(p->cells));
	cells[KIND] = text_value(kinds[point->kind]);
	cells[JVM] = text_value(p->growth->runs[point->run].jvm);
	cells[TIME] = number_value(HDB_TYPE_COUNT, point->time_ms);
	if (point->kind == POINT_SAMPLE) {
		cells[PROGRAM] = text_value(p->growth->runs[point->run].main_class);
		cells[HEAP] = known_value(HDB_TYPE_BYTES, point->sample.heap);
		cells[MAX] = known_value(HDB_TYPE_BYTES, point->sample.max);
		cells[RSS] = known_value(HDB_TYPE_BYTES, point->sample.rss);
		cells[LIMIT] = known_value(HDB_TYPE_BYTES, point->sample.limit);
		if (point->gc_percent >= 0)
			cells[GC] = (struct hdb_value){ .type = HDB_TYPE_PERCENT,
							.d = point->gc_percent };
		return HDB_OK;
	}
	(void)descriptor_name(growth_name(p->growth, point->name), p->name, sizeof(p->name));
	cells[NAME] = text_value(p->name);
	if (point->kind == POINT_CLASS)
		cells[BYTES] = number_value(HDB_TYPE_BYTES, point->bytes);
	else
		cells[TEXT] = text_value(growth_name(p->growth, point->text));
	return HDB_OK;
}

int growth_points_make(struct growth_points *p, const struct growth *growth, struct own_answer *out,
		       struct hdb_error *err)
{
	const size_t count = growth->run_count, first = count > RUNS_SHOWN ? count - RUNS_SHOWN : 0;

	p->growth = growth;
	for (size_t i = first; i < count; i++) {
		TRY(add_samples(p, (uint32_t)i, err));
		TRY(add_classes(p, (uint32_t)i, err));
	}
	TRY(add_events(p, (uint32_t)first, err));
	out->source = (struct row_source){
		.ctx = p,
		.count = GROWTH_POINT_COLUMNS,
		.columns = point_columns,
		.cells = p->cells,
		.row_count = p->list.count,
		.next = next_row,
	};
	out->facts[out->fact_count++] = number_fact("jvms", "JVMs", HDB_TYPE_COUNT, count);
	if (first)
		out->facts[out->fact_count++] =
			number_fact("not_shown", "older JVMs, not shown", HDB_TYPE_COUNT, first);
	return HDB_OK;
}
