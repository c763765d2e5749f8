/*
 * heapdb/cmd_watch.c - watch: samples JVMs of this machine into a series, and captures them when a
 * condition holds. Captures run in separate processes, so sampling continues and this process stays
 * small.
 */
#include "base/glob.h"
#include "base/work.h"
#include "capture/capture.h"
#include "heapdb/cli.h"
#include "heapdb/progress.h"
#include "heapdb/watch_capture.h"

#include "heapdb/render.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define INTERVAL_MS UINT64_C(10000)
#define AT_MOST 3
/* Time between searches for new JVMs, which read the mappings of all processes. */
#define SCAN_MS UINT64_C(30000)
#define PATH_SIZE 4096
/* Minimum age of a JVM before heapdb attaches to it. A younger JVM may not be ready. */
#define ATTACH_AGE_MS 2000

static volatile sig_atomic_t got_signal;

static void on_signal(int number)
{
	(void)number;
	got_signal = 1;
}

struct watching {
	struct cli *cli;
	struct watch_action action;
	struct watch_running running;
	int pids[WATCH_JVMS_MAX];
	size_t pid_count;
	/* JVMs that did not answer GC.heap_info; heapdb does not query them again */
	int silent[WATCH_JVMS_MAX];
	size_t silent_count;
	uint64_t scanned_ms, began_ms;
};

/* ---- clocks ---- */

static uint64_t now_ms(void *ctx)
{
	const struct watching *w = ctx;

	return base_now_ms() * w->action.lapse;
}

static uint64_t wall_ms(void *ctx)
{
	const struct watching *w = ctx;
	struct timespec time;

	(void)clock_gettime(CLOCK_REALTIME, &time);
	return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000 +
	       (base_now_ms() - w->began_ms) * (w->action.lapse - 1);
}

static bool must_stop(void *ctx)
{
	(void)ctx;
	return progress_is_cancelled();
}

static void wait_until(void *ctx, uint64_t until_ms)
{
	struct watching *w = ctx;

	while (now_ms(ctx) < until_ms && !must_stop(ctx) && !got_signal &&
	       !watch_has_ended(&w->running)) {
		const uint64_t left = (until_ms - now_ms(ctx)) / w->action.lapse + 1;

		(void)poll(NULL, 0, left < 500 ? (int)left : 500);
	}
}

static bool was_signalled(void *ctx)
{
	const bool was = got_signal;

	(void)ctx;
	got_signal = 0;
	return was;
}

/* ---- JVMs ---- */

static void put_figure(struct series_record *r, enum series_figure figure, bool has, uint64_t value)
{
	r->figures[figure] = has ? value : 0;
	r->has |= has ? 1U << figure : 0;
}

static void fill_sample(const struct watching *w, const struct capture_meters *m,
			struct series_record *r)
{
	*r = (struct series_record){ .kind = SERIES_SAMPLE, .age_ms = m->age_ms * w->action.lapse };
	snprintf(r->jvm, sizeof(r->jvm), "%d-%" PRIu64, m->pid, m->start_ticks);
	snprintf(r->main_class, sizeof(r->main_class), "%s", m->main_class);
	snprintf(r->version, sizeof(r->version), "%s", m->version);
	put_figure(r, SERIES_HEAP, m->has_heap && (m->gc_count || !m->has_counters), m->heap_used);
	put_figure(r, SERIES_COMMITTED, m->has_heap, m->heap_committed);
	put_figure(r, SERIES_MAX, m->heap_max, m->heap_max);
	put_figure(r, SERIES_GCS, m->has_counters, m->gc_count);
	put_figure(r, SERIES_GC_US, m->has_counters, m->gc_us * w->action.lapse);
	put_figure(r, SERIES_METASPACE, m->metaspace, m->metaspace);
	put_figure(r, SERIES_LOADED, m->classes, m->classes);
	put_figure(r, SERIES_THREADS, m->threads, m->threads);
	put_figure(r, SERIES_RSS, m->rss, m->rss);
	put_figure(r, SERIES_ANONYMOUS, m->anonymous, m->anonymous);
	put_figure(r, SERIES_SWAP, m->rss, m->swap);
	put_figure(r, SERIES_LIMIT, m->has_limit, m->limit);
	put_figure(r, SERIES_USAGE, m->limit_usage, m->limit_usage);
	put_figure(r, SERIES_OOM_KILLS, m->has_limit, m->oom_kills);
}

/* Lists the JVMs that --name or --all select. */
static int scan(struct watching *w, struct hdb_error *err)
{
	const char *pattern = w->cli->opt.name;
	BASE_FREED struct capture_vm *vms = NULL;
	size_t count = 0, hidden;

	TRY(capture_list(&vms, &count, &hidden, err));
	w->pid_count = 0;
	for (size_t i = 0; i < count && w->pid_count < WATCH_JVMS_MAX; i++)
		if (!pattern || base_glob_list(pattern, vms[i].main_class))
			w->pids[w->pid_count++] = vms[i].pid;
	w->scanned_ms = base_now_ms();
	return HDB_OK;
}

/* Asks a JVM without hsperfdata for the size of its heap. */
static void ask_heap(struct watching *w, struct capture_meters *m)
{
	const struct capture_options options = { .timeout_s = 1,
						 .cancel = progress_callbacks().cancel };
	struct hdb_error err;

	if (m->has_counters || m->cannot_attach || m->age_ms < ATTACH_AGE_MS)
		return;
	for (size_t i = 0; i < w->silent_count; i++)
		if (w->silent[i] == m->pid)
			return;
	if (capture_heap_info(&options, m, &err) != HDB_OK && w->silent_count < WATCH_JVMS_MAX)
		w->silent[w->silent_count++] = m->pid;
}

static int find(void *ctx, struct watch_jvm *jvms, size_t *count, struct hdb_error *err)
{
	struct watching *w = ctx;
	const bool is_one = w->cli->opt.operand_count > 0;
	struct capture_meters meters;
	struct hdb_error why;

	*count = 0;
	if (!is_one &&
	    (!w->scanned_ms || base_now_ms() - w->scanned_ms >= SCAN_MS / w->action.lapse))
		TRY(scan(w, err));
	for (size_t i = 0; i < w->pid_count; i++) {
		struct watch_jvm *jvm = &jvms[*count];
		const int rc = capture_measure(w->pids[i], &meters, &why);

		if (rc != HDB_OK)
			continue;
		ask_heap(w, &meters);
		*jvm = (struct watch_jvm){ .pid = meters.pid, .can_attach = !meters.cannot_attach };
		fill_sample(w, &meters, &jvm->sample);
		jvm->oom_dump_ms = watch_find_dump(&meters);
		++*count;
	}
	w->scanned_ms = w->scanned_ms ? w->scanned_ms : base_now_ms();
	return HDB_OK;
}

static int ask_histogram(void *ctx, int pid, char **text, uint64_t *pause_us, struct hdb_error *err)
{
	const struct capture_options options = {
		.cancel = progress_callbacks().cancel,
	};
	struct capture_text answer;
	const int rc = capture_vm_ask(pid, CAPTURE_HISTOGRAM, &options, &answer, err);

	(void)ctx;
	*text = answer.text;
	*pause_us = answer.cost.pause_us;
	return rc;
}

static int start_capture(void *ctx, const struct watch_capture *what, struct hdb_error *err)
{
	struct watching *w = ctx;

	return watch_start(&w->action, what, &w->running, err);
}

static bool take_captured(void *ctx, struct watch_captured *out)
{
	struct watching *w = ctx;

	if (!watch_has_ended(&w->running))
		return false;
	watch_take(&w->running, out);
	return true;
}

/* ---- events ---- */

static void report_event(void *ctx, const char *event, const struct series_record *of,
			 const char *text, const char *path)
{
	const struct watching *w = ctx;
	struct cli *cli = w->cli;
	const char *jvm = of ? of->jvm : "";
	const int pid_size = (int)strcspn(jvm, "-");

	if (cli->opt.format != FORMAT_JSON) {
		cli_notice(cli, "%s%.*s%s%s: %s%s%s", *jvm ? "JVM " : "", pid_size, jvm,
			   *jvm ? ": " : "", event, text, path && *path ? ": " : "",
			   path ? path : "");
		return;
	}
	output_format(cli->out, "{\"time\":%" PRIu64 ",\"event\":\"%s\"", wall_ms(ctx), event);
	if (*jvm)
		output_format(cli->out, ",\"pid\":%.*s", pid_size, jvm);
	render_json_field(cli->out, ",\"program\":", of ? of->main_class : NULL);
	render_json_field(cli->out, ",\"text\":", text);
	render_json_field(cli->out, ",\"path\":", path && *path ? path : NULL);
	output_string(cli->out, "}\n");
	output_flush(cli->out);
}

/* ---- the command ---- */

static int take_duration(struct cli *cli, const char *name, const char *text, uint64_t *out)
{
	if (!text || duration_parse(text, strlen(text), out))
		return HDB_OK;
	return cli_usage(cli, "--%s %s: expected a duration such as 30s, 10m or 1h", name, text);
}

static int check_target(struct watching *w)
{
	const struct options *opt = &w->cli->opt;

	if ((opt->operand_count > 0) + (opt->name != NULL) + opt->all != 1 ||
	    opt->operand_count > 1)
		return cli_usage(w->cli, "expected a PID, --name PATTERN or --all");
	if (!opt->operand_count)
		return HDB_OK;
	w->pids[0] = options_pid(opt->operands[0]);
	if (!w->pids[0])
		return cli_usage(w->cli,
				 "\"%s\" is not a PID; `heapdb capture` lists the JVMs of this "
				 "machine",
				 opt->operands[0]);
	w->pid_count = 1;
	return HDB_OK;
}

static int read_options(struct watching *w, struct condition *conditions,
			struct watch_options *options)
{
	struct cli *cli = w->cli;
	const struct options *opt = &cli->opt;
	const char *lapse = getenv("HEAPDB_WATCH_LAPSE");

	w->action.lapse = lapse && atoi(lapse) > 1 ? (uint64_t)atoi(lapse) : 1;
	w->began_ms = base_now_ms();
	TRY(check_target(w));
	for (size_t i = 0; i < opt->when.count; i++)
		TRY(condition_parse(opt->when.values[i], &conditions[i], &cli->err));
	TRY(take_duration(cli, "interval", opt->interval, &options->interval_ms));
	if (opt->histograms && strcmp(opt->histograms, "none") == 0)
		options->histogram_ms = 0;
	else
		TRY(take_duration(cli, "histograms", opt->histograms, &options->histogram_ms));
	options->condition_count = opt->when.count;
	options->per_day = opt->at_most ? opt->at_most : AT_MOST;
	options->is_once = opt->once;
	options->ends_with_jvm = opt->operand_count > 0;
	w->action.dir = opt->dir ? opt->dir : ".";
	w->action.then = opt->then;
	return watch_keep_named(opt->keep, &w->action.keep, &cli->err);
}

int cmd_watch(struct cli *cli)
{
	struct condition conditions[CONDITIONS_MAX];
	struct watching w = { .cli = cli };
	struct watch_options options = {
		.conditions = conditions,
		.interval_ms = INTERVAL_MS,
		.histogram_ms = WATCH_HISTOGRAM_MS,
		.gap_ms = WATCH_CAPTURE_GAP_MS,
	};
	const struct watch_world world = {
		.ctx = &w,
		.now_ms = now_ms,
		.wall_ms = wall_ms,
		.wait = wait_until,
		.must_stop = must_stop,
		.was_signalled = was_signalled,
		.find = find,
		.histogram = ask_histogram,
		.capture = start_capture,
		.captured = take_captured,
		.report_event = report_event,
	};
	struct sigaction action = { .sa_handler = on_signal };
	struct capture_meters meters;
	char series[PATH_SIZE];
	int rc;

	static_assert(CONDITIONS_MAX >= OPTIONS_REPEATED_MAX, "conditions");
	TRY(read_options(&w, conditions, &options));
	/* a wrong PID is reported before anything is created */
	if (cli->opt.operand_count)
		TRY(capture_measure(w.pids[0], &meters, &cli->err));
	if (mkdir(w.action.dir, 0700) < 0 && errno != EEXIST)
		return hdb_fail_errno(&cli->err, errno, "%s", w.action.dir);
	snprintf(series, sizeof(series), "%s/series.jsonl", w.action.dir);
	options.series = w.action.series = cli->opt.series ? cli->opt.series : series;
	(void)sigaction(SIGUSR1, &action, NULL);
	rc = watch_run(&world, &options, &cli->err);
	watch_stop(&w.running);
	return rc;
}
