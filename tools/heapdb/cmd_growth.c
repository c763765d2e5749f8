/*
 * heapdb/cmd_growth.c - growth: what grows steadily in the series that `heapdb watch` writes, as
 * rows or as a picture.
 */
#include "common/descriptor.h"
#include "heapdb/cli.h"
#include "heapdb/render.h"

#include "watch/watch.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define HOUR_S 3600.0
#define SUFFIX ".jsonl"
#define SUMMARY_SIZE 1024
#define TIME_SIZE 32
/* Longer than this, a limit is not worth a warning. */
#define HOURS_MAX (24 * 365.0)

enum {
	JVM,
	PROGRAM,
	NAME,
	GROWS,
	BYTES,
	PER_HOUR,
	LOW,
	HIGH,
	OBJECTS,
	OBJECTS_PER_HOUR,
	SINCE,
	HOURS,
	POINTS,
	COLUMNS
};

static const struct hdb_column columns[COLUMNS] = {
	[JVM] = { "jvm", HDB_TYPE_TEXT, "JVM", "Process ID, in the PID namespace of watch" },
	[PROGRAM] = { "program", HDB_TYPE_TEXT, "program", "Main class, module or jar" },
	[NAME] = { "name", HDB_TYPE_TEXT, "name",
		   "\"heap after GC\", or the name of a class that grows steadily" },
	[GROWS] = { "grows", HDB_TYPE_BOOL, "grows", "Whether it grows steadily" },
	[BYTES] = { "bytes", HDB_TYPE_BYTES, "bytes", "Size in the last record" },
	[PER_HOUR] = { "hourly_delta", HDB_TYPE_INT, "per hour",
		       "Growth in bytes per hour (Theil-Sen slope)" },
	[LOW] = { "low_delta", HDB_TYPE_INT, "at least",
		  "Lower bound of the growth per hour, with 95 % confidence" },
	[HIGH] = { "high_delta", HDB_TYPE_INT, "at most",
		   "Upper bound of the growth per hour, with 95 % confidence" },
	[OBJECTS] = { "objects", HDB_TYPE_COUNT, "objects", "Objects in the last histogram" },
	[OBJECTS_PER_HOUR] = { "objects_hourly_delta", HDB_TYPE_INT, "objects per hour",
			       "Growth in objects per hour" },
	[SINCE] = { "since", HDB_TYPE_TEXT, "since", "Time at which the growth began" },
	[HOURS] = { "hours_left", HDB_TYPE_DOUBLE, "hours left",
		    "Hours from the last record until the heap reaches its maximum size" },
	[POINTS] = { "points", HDB_TYPE_COUNT, "points",
		     "Number of points that the growth is computed from" },
};

struct growth_rows {
	struct growth growth;
	size_t at;
	struct hdb_value cells[COLUMNS];
	char jvm[SERIES_JVM_SIZE], since[TIME_SIZE], name[1024];
};

static void release(struct growth_rows *rows)
{
	growth_release(&rows->growth);
}

/* ---- input ---- */

static void free_entries(struct dirent ***entries)
{
	free(*entries);
}

static int select_series(const struct dirent *entry)
{
	const char *name = entry->d_name;
	const size_t size = strlen(name);

	return size > strlen(SUFFIX) && strcmp(name + size - strlen(SUFFIX), SUFFIX) == 0;
}

/* Reads all series of a folder, by name. */
static int read_folder(struct cli *cli, const char *folder, struct growth *growth)
{
	BASE_SCOPED(free_entries) struct dirent **entries = NULL;
	const int count = scandir(folder, &entries, select_series, alphasort);
	char path[4096];
	int rc = HDB_OK;

	if (count < 0)
		return hdb_fail_errno(&cli->err, errno, "%s", folder);
	if (count == 0)
		return hdb_fail(&cli->err, HDB_EABSENT,
				"%s contains no series (*" SUFFIX "); `heapdb watch` writes them",
				folder);
	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
		if (rc == HDB_OK)
			rc = growth_read(growth, path, NULL, &cli->err);
		free(entries[i]);
	}
	return rc;
}

static int read_operand(struct cli *cli, const char *path, struct growth *growth)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return hdb_fail_open(&cli->err, errno, path);
	return S_ISDIR(st.st_mode) ? read_folder(cli, path, growth) :
				     growth_read(growth, path, NULL, &cli->err);
}

static int read_all(struct cli *cli, struct growth *growth)
{
	for (size_t i = 0; i < cli->opt.operand_count; i++)
		TRY(read_operand(cli, cli->opt.operands[i], growth));
	if (growth->counts.damaged)
		cli_notice(cli, "%" PRIu64 " of %" PRIu64 " lines are damaged and were skipped",
			   growth->counts.damaged, growth->counts.lines);
	if (!growth->run_count)
		return hdb_fail(&cli->err, HDB_EFORMAT,
				"%s: expected a series of `heapdb watch`, but found no record in "
				"%" PRIu64 " lines",
				cli->opt.operands[0], growth->counts.lines);
	return growth_find(growth, &cli->err);
}

/* ---- rows ---- */

static void put_time(uint64_t time_ms, char *buf)
{
	const time_t seconds = (time_t)(time_ms / 1000);
	struct tm parts;

	if (!localtime_r(&seconds, &parts) || !strftime(buf, TIME_SIZE, "%F %R", &parts))
		snprintf(buf, TIME_SIZE, "?");
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
	struct growth_rows *rows = ctx;
	const struct growth_row *row = &rows->growth.rows[rows->at];
	struct hdb_value *cells = rows->cells;

	(void)err;
	if (rows->at == rows->growth.row_count)
		return HDB_END;
	rows->at++;
	memset(rows->cells, 0, sizeof(rows->cells));
	snprintf(rows->jvm, sizeof(rows->jvm), "%.*s",
		 (int)strcspn(rows->growth.runs[row->run].jvm, "-"),
		 rows->growth.runs[row->run].jvm);
	cells[JVM] = text_value(rows->jvm);
	cells[PROGRAM] = text_value(rows->growth.runs[row->run].main_class);
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
		put_time(row->since_ms, rows->since);
		cells[SINCE] = text_value(rows->since);
	}
	if (row->limit_s > 0)
		cells[HOURS] =
			(struct hdb_value){ .type = HDB_TYPE_DOUBLE, .d = row->limit_s / HOUR_S };
	return HDB_OK;
}

/* The row of the heap of a run whose heap or classes grow: the newest run; NULL if none. */
static const struct growth_row *growing_heap(const struct growth *g,
					     const struct growth_row **named)
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

/* "12.3 MiB per hour since 2026-11-29 02:10" */
static void put_speed(const struct growth_row *row, char *buf, size_t size)
{
	char since[TIME_SIZE];

	put_time(row->since_ms, since);
	snprintf(buf, size, "%s per hour since %s",
		 base_size((uint64_t)fmax(row->trend.slope * HOUR_S, 0)).text, since);
}

/* Makes the sentence about the newest JVM that grows. */
static void explain(const struct growth *g, char *buf, size_t size)
{
	const struct growth_row *named, *heap = growing_heap(g, &named);
	char speed[128], name[121], more[320] = "";

	if (!heap) {
		snprintf(buf, size, "nothing grows steadily in the records of %zu JVM%s",
			 g->run_count, g->run_count == 1 ? "" : "s");
		return;
	}
	if (named) {
		put_speed(named, speed, sizeof(speed));
		(void)descriptor_name(named->name, name, sizeof(name));
		snprintf(more, sizeof(more), "%s%s grows by %s", heap->trend.grows ? "; " : "",
			 name, speed);
	}
	put_speed(heap, speed, sizeof(speed));
	if (!heap->trend.grows)
		snprintf(buf, size, "%s", more);
	else if (heap->limit_s > 0 && heap->limit_s < HOURS_MAX * HOUR_S)
		snprintf(buf, size,
			 "the heap after GC grows by %s and reaches its maximum in %.1f hours%s",
			 speed, heap->limit_s / HOUR_S, more);
	else
		snprintf(buf, size, "the heap after GC grows by %s%s", speed, more);
}

/* ---- a picture ---- */

#define SVG_WIDTH 1200
#define SVG_HEIGHT 400
#define SVG_HEAD 40

/* Draws a line of points, scaled to the largest value. */
static void draw_line(struct output *out, const struct trend_point *points, size_t count,
		      const struct growth_run *run, double most)
{
	const double from = run->sample_count ? run->samples[0].age_s : points[0].time;
	const double span = fmax((double)run->age_ms / 1000 - from, 1);

	output_string(out,
		      "<polyline fill=\"none\" stroke=\"#e15759\" stroke-width=\"2\" points=\"");
	for (size_t i = 0; i < count; i++)
		output_format(out, "%.1f,%.1f ", fmax(points[i].time - from, 0) / span * SVG_WIDTH,
			      SVG_HEAD + SVG_HEIGHT * (1 - points[i].value / most));
	output_string(out, "\"/>\n");
}

/* Draws the heap after collections of a run, and its resident memory, from the newest row. */
static int draw(struct cli *cli, const struct growth *g)
{
	const struct growth_row *named, *heap = growing_heap(g, &named);
	const struct growth_run *run = &g->runs[heap ? heap->run : g->run_count - 1];
	BASE_FREED struct trend_point *points = NULL;
	struct output *out = cli->out;
	char text[SUMMARY_SIZE], from[TIME_SIZE], to[TIME_SIZE];
	double most = 1;
	size_t count;

	TRY(growth_heap_points(run, &points, &count, &cli->err));
	for (size_t i = 0; i < count; i++)
		most = fmax(most, points[i].value);
	for (size_t i = 0; i < run->sample_count; i++)
		most = fmax(most, (double)run->samples[i].max);
	explain(g, text, sizeof(text));
	put_time(run->time_ms, to);
	put_time(run->time_ms - (uint64_t)((double)run->age_ms -
					   (run->sample_count ? run->samples[0].age_s * 1000 : 0)),
		 from);
	output_format(out,
		      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		      "font-family=\"sans-serif\" font-size=\"12\">\n"
		      "<text x=\"0\" y=\"14\">",
		      SVG_WIDTH, SVG_HEAD + SVG_HEIGHT + 20);
	for (const char *c = text; *c; c++)
		output_format(out, *c == '<' || *c == '&' ? "&#%d;" : "%c", *c);
	output_format(out,
		      "</text>\n<text x=\"0\" y=\"32\">%s: heap after GC, top of the picture: "
		      "%s</text>\n",
		      run->jvm, base_size((uint64_t)most).text);
	if (count)
		draw_line(out, points, count, run, most);
	output_format(out,
		      "<text x=\"0\" y=\"%d\">%s</text><text x=\"%d\" y=\"%d\" "
		      "text-anchor=\"end\">%s</text>\n</svg>\n",
		      SVG_HEAD + SVG_HEIGHT + 16, from, SVG_WIDTH, SVG_HEAD + SVG_HEIGHT + 16, to);
	return HDB_OK;
}

int cmd_growth(struct cli *cli)
{
	BASE_SCOPED(release) struct growth_rows rows = { 0 };
	const struct row_source source = {
		.ctx = &rows,
		.count = COLUMNS,
		.columns = columns,
		.cells = rows.cells,
		.next = next_row,
	};
	struct answer answer = { .name = "growth", .source = &source };
	struct own_fact facts[2];
	char summary[SUMMARY_SIZE];

	if (!cli->opt.operand_count)
		return cli_usage(cli, "expected a series that `heapdb watch` wrote, or its folder");
	if (cli->opt.chart && cli->opt.has_format)
		return cli_usage(cli, "--chart cannot be combined with another format");
	TRY(read_all(cli, &rows.growth));
	if (cli->opt.chart)
		return draw(cli, &rows.growth);
	explain(&rows.growth, summary, sizeof(summary));
	facts[0] = text_fact("summary", "summary", summary);
	facts[1] =
		number_fact("damaged", "damaged lines", HDB_TYPE_COUNT, rows.growth.counts.damaged);
	answer.facts = facts;
	answer.fact_count = rows.growth.counts.damaged ? 2 : 1;
	answer.limit = cli->opt.limit;
	return print_answer(cli, &answer);
}
