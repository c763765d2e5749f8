/*
 * heapdb/cmd_growth.c - growth: prints the values that grow steadily in a series written by `heapdb
 * watch`, as rows or as a picture.
 */
#include "heapdb/cli.h"
#include "heapdb/progress.h"
#include "heapdb/render.h"

#include "watch/watch.h"

#include <math.h>
#include <string.h>

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

/* Draws the heap after collections and the resident memory of one run. */
static int draw(struct cli *cli, const struct growth *g, const char *text)
{
	const struct growth_row *heap = growth_newest(g);
	const struct growth_run *run = &g->runs[heap ? heap->run : g->run_count - 1];
	BASE_FREED struct trend_point *points = NULL;
	struct output *out = cli->out;
	char from[GROWTH_TIME_SIZE], to[GROWTH_TIME_SIZE];
	double most = 1;
	size_t count;

	TRY(growth_heap_points(run, &points, &count, &cli->err));
	for (size_t i = 0; i < count; i++)
		most = fmax(most, points[i].value);
	for (size_t i = 0; i < run->sample_count; i++)
		most = fmax(most, (double)run->samples[i].max);
	growth_time(run->time_ms, to);
	growth_time(run->time_ms -
			    (uint64_t)((double)run->age_ms -
				       (run->sample_count ? run->samples[0].age_s * 1000 : 0)),
		    from);
	output_format(out,
		      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		      "font-family=\"sans-serif\" font-size=\"12\">\n"
		      "<text x=\"0\" y=\"14\">",
		      SVG_WIDTH, SVG_HEAD + SVG_HEIGHT + 20);
	output_xml(out, text, strlen(text));
	output_format(out,
		      "</text>\n<text x=\"0\" y=\"32\">%s: heap after GC; top of the chart: "
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
	BASE_SCOPED(growth_answer_free_at) struct growth_answer *answer = NULL;
	const struct options *opt = &cli->opt;
	const struct own_answer *own;

	if (!opt->operand_count)
		return cli_usage(cli,
				 "expected a series written by `heapdb watch`, or its directory");
	if (opt->chart && (opt->has_format || opt->points))
		return cli_usage(cli, "--chart cannot be combined with %s",
				 opt->points ? "--points" : "another format");
	TRY(growth_answer_new(progress_callbacks().cancel, &answer, &cli->err));
	for (size_t i = 0; i < opt->operand_count; i++)
		TRY(growth_answer_add(answer, opt->operands[i], &cli->err));
	TRY(growth_answer_make(answer, opt->points, &own, &cli->err));
	if (own->notice[0])
		cli_notice(cli, "%s", own->notice);
	return opt->chart ? draw(cli, growth_answer_of(answer), growth_answer_summary(answer)) :
			    print_own_answer(cli, own);
}
