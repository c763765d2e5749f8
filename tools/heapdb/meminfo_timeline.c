/*
 * heapdb/meminfo_timeline.c - prints several captures of a process's memory in the categories of
 * Android Studio's profiler, as rows or as a stacked bar chart.
 */
#include "heapdb/cli.h"
#include "heapdb/render.h"

#include "androidfiles/androidfiles.h"

#define MB 1048576.0 /* MB as in Android's tools */

#include <heapdb/meminfo_timeline.query.h>

#define CATEGORIES (TOTAL - JAVA)

struct timeline {
	struct hdb_value (*rows)[TIMELINE_COLUMNS]; /* owned */
	size_t count, at;
	uint64_t first_ms;
	struct hdb_value cells[TIMELINE_COLUMNS];
};

static int read_row(struct cli *cli, struct timeline *t, const char *path)
{
	static const char *const names[OTHERS - JAVA] = { "Java Heap", "Native Heap", "Graphics",
							  "Stack", "Code" };
	BASE_SCOPED(android_memory_release) struct android_memory memory = { 0 };
	BASE_SCOPED(file_text_release) struct file_text file = { 0 };
	const struct android_memory_row *total, *row;
	struct hdb_value *cells = t->rows[t->count];
	uint64_t left;

	TRY(cli_read_file(cli, path, ANDROID_FILE_MAX, &file));
	TRY(cli_name_file(cli, path,
			  android_memory_read(file.data, file.size, &memory, &cli->err)));
	total = android_memory_find(&memory, ANDROID_MEMORY, "TOTAL");
	if (!total)
		return hdb_fail(
			&cli->err, HDB_EFORMAT,
			"%s: expected the output of `dumpsys meminfo` or smaps for a single "
			"process",
			path);
	cells[CAPTURE] = text_value(path);
	t->first_ms = t->count++ ? t->first_ms : memory.uptime_ms;
	if (memory.uptime_ms && t->first_ms)
		cells[SECONDS] = (struct hdb_value){
			.type = HDB_TYPE_DOUBLE,
			.d = ((double)memory.uptime_ms - (double)t->first_ms) / 1000,
		};
	if (total->pid)
		cells[PID] = number_value(HDB_TYPE_COUNT, total->pid);
	left = total->figures[ANDROID_PSS];
	cells[TOTAL] = number_value(HDB_TYPE_BYTES, left);
	for (size_t i = 0; i < OTHERS - JAVA; i++) {
		row = android_memory_find(&memory, ANDROID_SUMMARY, names[i]);
		if (!row || row->pid != total->pid)
			continue;
		cells[JAVA + i] = number_value(HDB_TYPE_BYTES, row->figures[ANDROID_PSS]);
		left -= row->figures[ANDROID_PSS] < left ? row->figures[ANDROID_PSS] : left;
	}
	if (cells[JAVA].type)
		cells[OTHERS] = number_value(HDB_TYPE_BYTES, left);
	return HDB_OK;
}

static int next_row(void *ctx, struct hdb_error *err)
{
	struct timeline *t = ctx;

	(void)err;
	if (t->at == t->count)
		return HDB_END;
	memcpy(t->cells, t->rows[t->at++], sizeof(t->cells));
	return HDB_OK;
}

/*
 * Formats the sentence that states how much the total, and the category that changed most, changed
 * from the first to the last capture.
 */
static void explain(const struct timeline *t, char *buf, size_t size)
{
	double change[TIMELINE_COLUMNS];
	size_t most = JAVA;

	for (size_t i = JAVA; i < TIMELINE_COLUMNS; i++) {
		change[i] = ((double)t->rows[t->count - 1][i].u - (double)t->rows[0][i].u) / MB;
		if (i < TOTAL && change[i] * change[i] > change[most] * change[most])
			most = i;
	}
	snprintf(
		buf, size,
		"from the first to the last capture, Pss changed by %+.1f MB; largest change: %s, %+.1f MB",
		change[TOTAL], timeline_columns[most].title, change[most]);
}

/* ---- a picture ---- */

#define SVG_WIDTH 1200
#define SVG_HEIGHT 400
#define SVG_HEAD 30

static int draw(const struct timeline *t, struct output *out)
{
	static const char *const colours[CATEGORIES] = { "#4e79a7", "#59a14f", "#f28e2b",
							 "#b07aa1", "#76b7b2", "#bab0ac" };
	const double step = (double)SVG_WIDTH / (double)t->count;
	uint64_t largest = 1;

	for (size_t i = 0; i < t->count; i++)
		largest = t->rows[i][TOTAL].u > largest ? t->rows[i][TOTAL].u : largest;
	output_format(out,
		      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		      "font-family=\"sans-serif\" font-size=\"12\">\n",
		      SVG_WIDTH, SVG_HEAD + SVG_HEIGHT);
	for (int i = 0; i < CATEGORIES; i++)
		output_format(out,
			      "<rect x=\"%d\" y=\"6\" width=\"12\" height=\"12\" fill=\"%s\"/>"
			      "<text x=\"%d\" y=\"17\">%s</text>\n",
			      i * 110, colours[i], i * 110 + 16, timeline_columns[JAVA + i].title);
	output_format(out, "<text x=\"%d\" y=\"17\" text-anchor=\"end\">%.1f MB</text>\n",
		      SVG_WIDTH, (double)largest / MB);
	for (size_t i = 0; i < t->count; i++) {
		double y = SVG_HEAD + SVG_HEIGHT;

		for (size_t k = 0; k < CATEGORIES; k++) {
			const double bytes = (double)t->rows[i][JAVA + k].u;
			const double height = bytes / (double)largest * SVG_HEIGHT;

			y -= height;
			output_format(out,
				      "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
				      "fill=\"%s\"><title>%zu: %s %.1f MB</title></rect>\n",
				      (double)i * step, y, step * 0.9, height, colours[k], i + 1,
				      timeline_columns[JAVA + k].title, bytes / MB);
		}
	}
	output_string(out, "</svg>\n");
	return HDB_OK;
}

static void release(struct timeline *t)
{
	free(t->rows);
}

static int read_all(struct cli *cli, struct timeline *t)
{
	TRY(BASE_ALLOC(t->rows, cli->opt.operand_count, "captures", &cli->err));
	for (size_t i = 0; i < cli->opt.operand_count; i++)
		TRY(read_row(cli, t, cli->opt.operands[i]));
	return HDB_OK;
}

int meminfo_timeline(struct cli *cli)
{
	BASE_SCOPED(release) struct timeline t = { 0 };
	const struct row_source source = {
		.ctx = &t,
		.count = TIMELINE_COLUMNS,
		.columns = timeline_columns,
		.cells = t.cells,
		.next = next_row,
	};
	struct answer answer = { .name = "meminfo", .source = &source, .fact_count = 1 };
	struct own_fact fact;
	char summary[256];

	if (cli->opt.chart && cli->opt.has_format)
		return cli_usage(cli, "--chart cannot be combined with another format");
	TRY(read_all(cli, &t));
	if (cli->opt.chart)
		return draw(&t, cli->out);
	explain(&t, summary, sizeof(summary));
	fact = text_fact("summary", "summary", summary);
	answer.facts = &fact;
	answer.limit = cli->opt.limit;
	return print_answer(cli, &answer);
}
