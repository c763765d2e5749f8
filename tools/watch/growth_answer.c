/* watch/growth_answer.c - makes an answer from growth: rows, and a sentence. */
#include "watch/growth_answer.h"
#include "base/base_text.h"
#include "watch/growth_points.h"

#include "common/descriptor.h"

#include "base/error.h"
#include "base/scope.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define HOUR_S 3600.0
#define SUFFIX ".jsonl"
#define SUMMARY_SIZE 1024
/* A limit that will not be reached within this number of hours causes no warning. */
#define HOURS_MAX (24 * 365.0)

#include <watch/growth_answer.query.h>

struct growth_answer {
	struct own_answer answer;
	struct growth growth;
	struct growth_points points;
	char path[256]; /* path of the first file, for messages */
	size_t at;
	struct hdb_value cells[GROWTH_COLUMNS];
	char jvm[SERIES_JVM_SIZE], since[GROWTH_TIME_SIZE], name[1024], summary[SUMMARY_SIZE];
};

/* ---- input ---- */

static void free_entries(struct dirent ***entries)
{
	free(*entries);
}

static int select_series(const struct dirent *entry)
{
	return base_ends_with(entry->d_name, SUFFIX);
}

/* Reads all series of a directory in order of name. */
static int add_folder(struct growth *growth, const char *folder, struct hdb_error *err)
{
	BASE_SCOPED(free_entries) struct dirent **entries = NULL;
	const int count = scandir(folder, &entries, select_series, alphasort);
	char path[4096];
	int rc = HDB_OK;

	if (count < 0)
		return hdb_fail_errno(err, errno, "%s", folder);
	if (count == 0)
		return hdb_fail(err, HDB_EABSENT,
				"%s contains no series (*" SUFFIX "); `heapdb watch` writes them",
				folder);
	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
		if (rc == HDB_OK)
			rc = growth_read(growth, path, NULL, err);
		free(entries[i]);
	}
	return rc;
}

int growth_answer_add(struct growth_answer *a, const char *path, struct hdb_error *err)
{
	struct stat st;

	if (!a->path[0])
		snprintf(a->path, sizeof(a->path), "%s", path);
	if (stat(path, &st) < 0)
		return hdb_fail_open(err, errno, path);
	return S_ISDIR(st.st_mode) ? add_folder(&a->growth, path, err) :
				     growth_read(&a->growth, path, NULL, err);
}

/* ---- rows ---- */

void growth_time(uint64_t time_ms, char buf[GROWTH_TIME_SIZE])
{
	const time_t seconds = (time_t)(time_ms / 1000);
	struct tm parts;

	if (!localtime_r(&seconds, &parts) || !strftime(buf, GROWTH_TIME_SIZE, "%F %R", &parts))
		snprintf(buf, GROWTH_TIME_SIZE, "?");
}

static struct hdb_value delta(double per_second)
{
	const double hourly = per_second * HOUR_S;

	return (struct hdb_value){
		.type = fabs(hourly) < 9e18 ? HDB_TYPE_INT : HDB_TYPE_NULL,
		.i = fabs(hourly) < 9e18 ? (int64_t)hourly : 0,
	};
}

static int next_row(void *ctx, struct hdb_error *err)
{
	struct growth_answer *rows = ctx;
	const struct growth *g = &rows->growth;
	const struct growth_row *row = &g->rows[rows->at];
	struct hdb_value *cells = rows->cells;

	(void)err;
	if (rows->at == g->row_count)
		return HDB_END;
	rows->at++;
	memset(rows->cells, 0, sizeof(rows->cells));
	snprintf(rows->jvm, sizeof(rows->jvm), "%.*s", (int)strcspn(g->runs[row->run].jvm, "-"),
		 g->runs[row->run].jvm);
	cells[JVM] = text_value(rows->jvm);
	cells[PROGRAM] = text_value(g->runs[row->run].main_class);
	(void)descriptor_name(row->name ? row->name : "heap after GC", rows->name,
			      sizeof(rows->name));
	cells[NAME] = text_value(rows->name);
	cells[GROWS] = number_value(HDB_TYPE_BOOL, row->trend.grows);
	cells[BYTES] = number_value(HDB_TYPE_BYTES, row->bytes);
	cells[POINTS] = number_value(HDB_TYPE_COUNT, row->trend.points);
	if (row->trend.points) {
		cells[PER_HOUR] = delta(row->trend.slope);
		cells[LOW] = delta(row->trend.low);
		cells[HIGH] = delta(row->trend.high);
	}
	if (row->name) {
		cells[OBJECTS] = number_value(HDB_TYPE_COUNT, row->objects);
		cells[OBJECTS_PER_HOUR] = delta(row->objects_slope);
	}
	if (row->trend.grows) {
		growth_time(row->since_ms, rows->since);
		cells[SINCE] = text_value(rows->since);
	}
	if (row->limit_s > 0)
		cells[HOURS] =
			(struct hdb_value){ .type = HDB_TYPE_DOUBLE, .d = row->limit_s / HOUR_S };
	return HDB_OK;
}

static const struct growth_row *newest(const struct growth *g, const struct growth_row **named)
{
	const struct growth_row *heap = NULL, *found = NULL, *largest = NULL;

	*named = NULL;
	for (size_t i = 0; i < g->row_count; i++) {
		const struct growth_row *row = &g->rows[i];

		if (!row->name)
			heap = row;
		if (!row->trend.grows)
			continue;
		if (found != heap)
			largest = *named = NULL;
		found = heap;
		if (row->name && !largest)
			largest = row;
		if (row->name && !*named && !growth_is_of_jdk(row->name))
			*named = row;
	}
	*named = *named ? *named : largest;
	return found;
}

const struct growth_row *growth_newest(const struct growth *g)
{
	const struct growth_row *named;

	return newest(g, &named);
}

/* Formats the speed: "12.3 MiB per hour since 2026-11-29 02:10". */
static void put_speed(const struct growth_row *row, char *buf, size_t size)
{
	char since[GROWTH_TIME_SIZE];

	growth_time(row->since_ms, since);
	snprintf(buf, size, "%s per hour since %s",
		 base_size((uint64_t)fmax(row->trend.slope * HOUR_S, 0)).text, since);
}

/* Composes the sentence about the newest JVM that grows. */
static void explain(const struct growth *g, char *buf, size_t size)
{
	const struct growth_row *named, *heap = newest(g, &named);
	char speed[128], name[121], when[40] = "less than an hour", more[320] = "";

	if (!heap) {
		snprintf(buf, size, "nothing grows steadily in the records of %zu JVM%s",
			 g->run_count, g->run_count == 1 ? "" : "s");
		return;
	}
	if (named) {
		put_speed(named, speed, sizeof(speed));
		(void)descriptor_name(named->name, name, sizeof(name));
		snprintf(more, sizeof(more), "%s%s has grown by %s", heap->trend.grows ? "; " : "",
			 name, speed);
	}
	put_speed(heap, speed, sizeof(speed));
	if (heap->limit_s >= HOUR_S)
		snprintf(when, sizeof(when), "%.1f hours", heap->limit_s / HOUR_S);
	if (!heap->trend.grows)
		snprintf(buf, size, "%s", more);
	else if (heap->limit_s > 0 && heap->limit_s < HOURS_MAX * HOUR_S)
		snprintf(buf, size,
			 "the heap after GC has grown by %s and will reach its maximum in %s%s",
			 speed, when, more);
	else
		snprintf(buf, size, "the heap after GC has grown by %s%s", speed, more);
}

/* ---- the answer ---- */

int growth_answer_new(const base_flag *cancel, struct growth_answer **out, struct hdb_error *err)
{
	TRY(BASE_ALLOC(*out, 1, "an answer", err));
	(*out)->growth.cancel = cancel;
	return HDB_OK;
}

void growth_answer_free(struct growth_answer *a)
{
	if (!a)
		return;
	growth_points_release(&a->points);
	growth_release(&a->growth);
	free(a);
}

const struct growth *growth_answer_of(const struct growth_answer *a)
{
	return &a->growth;
}

const char *growth_answer_summary(const struct growth_answer *a)
{
	return a->summary;
}

int growth_answer_make(struct growth_answer *a, bool is_points, const struct own_answer **out,
		       struct hdb_error *err)
{
	const struct series_counts *counts = &a->growth.counts;
	struct own_answer *answer = &a->answer;

	if (!a->growth.run_count)
		return hdb_fail(
			err, HDB_EFORMAT,
			"%s: expected a series written by `heapdb watch`, but found no record in "
			"%" PRIu64 " lines",
			a->path, counts->lines);
	TRY(growth_find(&a->growth, err));
	explain(&a->growth, a->summary, sizeof(a->summary));
	answer->name = "growth";
	answer->source = (struct row_source){ .ctx = a,
					      .count = GROWTH_COLUMNS,
					      .columns = growth_columns,
					      .cells = a->cells,
					      .next = next_row };
	answer->facts[answer->fact_count++] = text_fact("summary", "summary", a->summary);
	if (counts->damaged) {
		answer->facts[answer->fact_count++] =
			number_fact("damaged", "damaged lines", HDB_TYPE_COUNT, counts->damaged);
		snprintf(answer->notice, sizeof(answer->notice),
			 "%" PRIu64 " of %" PRIu64 " lines are damaged and were skipped",
			 counts->damaged, counts->lines);
	}
	*out = answer;
	return is_points ? growth_points_make(&a->points, &a->growth, answer, err) : HDB_OK;
}

int growth_json(const char *const *paths, size_t count, bool is_sparse, char **text,
		struct hdb_error *err)
{
	BASE_SCOPED(growth_answer_free_at) struct growth_answer *answer = NULL;
	const struct own_answer *own = NULL;

	TRY(growth_answer_new(NULL, &answer, err));
	for (size_t i = 0; i < count; i++)
		TRY(growth_answer_add(answer, paths[i], err));
	TRY(growth_answer_make(answer, false, &own, err));
	return own_answer_json(own, is_sparse, text, err);
}
