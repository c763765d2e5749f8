/*
 * heapdb/progress.c - draws stage, percentage, rate and remaining time on one line.
 */
#include "heapdb/progress.h"

#include "base/pipeline.h"
#include "base/work.h"
#include "common/output.h"
#include "heapdb/pager.h"

#include <assert.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* Minimum duration of work for which a line is drawn; shorter work would only flicker. */
#define FIRST_DRAW_NS UINT64_C(300000000)
#define REDRAW_NS UINT64_C(100000000)

static base_flag cancel;
/* Cancel flag of the request that this thread answers, or NULL to use `cancel`. */
static _Thread_local const base_flag *of_request;

static struct {
	bool is_drawing;
	bool is_shown;        /* whether the line is on the terminal */
	uint64_t start_ns;    /* start of the first stage */
	uint64_t drawn_ns;    /* time of the last drawing */
	const char *stage;    /* static string of the library */
	uint64_t stage_ns;    /* start of the stage */
	uint64_t stage_done;  /* amount done at the start of the stage */
	struct bytes above;   /* lines of text to draw above the progress line, if any */
	unsigned drawn_above; /* number of lines of this text that are on the terminal */
} line;

/* Maximum number of stages of a command. */
#define STAGES_MAX 64

static struct {
	bool is_kept;
	unsigned count;
	const char *name[STAGES_MAX];
	uint64_t spent_ns[STAGES_MAX], cpu_ns[STAGES_MAX];
	struct base_meter divided[STAGES_MAX];
	struct base_meter meter;         /* measures since the current stage began */
	unsigned now;                    /* the current stage */
	uint64_t since_ns, cpu_since_ns; /* start of the current stage, on both clocks */
} times;

static void on_signal(int number)
{
	base_flag_set(&cancel, number);
}

static void catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action;

	for (size_t i = 0; i < BASE_COUNT(signals); i++) {
		/* if the signal was ignored, keep ignoring it, as nohup and shells request */
		if (sigaction(signals[i], NULL, &action) == 0 && action.sa_handler == SIG_IGN)
			continue;
		memset(&action, 0, sizeof(action));
		action.sa_handler = on_signal;
		action.sa_flags = (int)SA_RESETHAND;
		sigemptyset(&action.sa_mask);
		sigaction(signals[i], &action, NULL);
	}
}

void progress_time_limit(unsigned seconds)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal;
	sigemptyset(&action.sa_mask);
	sigaction(SIGALRM, &action, NULL);
	(void)alarm(seconds);
}

bool progress_is_out_of_time(void)
{
	return base_flag_value(&cancel) == SIGALRM;
}

int progress_signal(void)
{
	return progress_is_out_of_time() ? 0 : base_flag_value(&cancel);
}

void progress_again(void)
{
	base_flag_set(&cancel, 0);
	catch_signals();
}

void progress_start(bool draw, bool keep_times)
{
	const char *term = getenv("TERM");

	catch_signals();
	/* a dumb terminal, such as a shell in Emacs, would show escape sequences as text */
	line.is_drawing =
		draw && isatty(STDERR_FILENO) == 1 && !(term && strcmp(term, "dumb") == 0);
	line.start_ns = base_now_ns();
	times.is_kept = keep_times;
	base_meter_use(keep_times ? &times.meter : NULL);
}

static void add_divided(struct base_meter *to)
{
	to->parts += times.meter.parts;
	to->made_ns += times.meter.made_ns;
	to->longest_ns += times.meter.longest_ns;
}

/* Adds the time since the last call to the time of the current stage. */
static void charge(uint64_t now)
{
	struct timespec cpu;
	uint64_t cpu_now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	cpu_now = (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec;
	if (times.count) {
		assert(times.now < times.count);
		times.spent_ns[times.now] += now - times.since_ns;
		times.cpu_ns[times.now] += cpu_now - times.cpu_since_ns;
		add_divided(&times.divided[times.now]);
	}
	times.meter = (struct base_meter){ 0 };
	times.since_ns = now;
	times.cpu_since_ns = cpu_now;
}

static void keep_time(const char *stage, uint64_t now)
{
	unsigned i = 0;

	if (times.count && strcmp(times.name[times.now], stage) == 0)
		return;
	charge(now);
	while (i < times.count && strcmp(times.name[i], stage) != 0)
		i++;
	if (i == STAGES_MAX)
		i--;
	else if (i == times.count)
		times.name[times.count++] = stage;
	times.now = i;
	assert(times.now < times.count);
	assert(times.count <= STAGES_MAX);
}

void progress_print_timings(void)
{
	if (!times.is_kept || !times.count)
		return;
	charge(base_now_ns());
	for (unsigned i = 0; i < times.count; i++) {
		const struct base_meter *divided = &times.divided[i];
		const double cpu = (double)times.cpu_ns[i] / 1e9;
		const double made = (double)divided->made_ns / 1e9;
		const double longest = (double)divided->longest_ns / 1e9;

		/*
		 * The critical path is the work that cannot run in parallel, plus the longest part.
		 */
		fprintf(stderr, "%s\t%.3f\t%.3f\t%" PRIu64 "\t%.3f\t%.3f\n", times.name[i],
			(double)times.spent_ns[i] / 1e9, cpu, divided->parts, longest,
			(cpu > made ? cpu - made : 0) + longest);
	}
	times.count = 0;
}

void progress_cancel_by(const base_flag *flag)
{
	of_request = flag;
}

bool progress_is_cancelled(void)
{
	return base_flag_is_set(of_request ? of_request : &cancel);
}

static void put(const char *text, size_t size)
{
	(void)base_write_all(STDERR_FILENO, text, size);
}

void progress_hide(void)
{
	char up[32];

	if (line.is_shown)
		put("\r\033[K", 4);
	if (line.drawn_above)
		put(up, (size_t)snprintf(up, sizeof(up), "\033[%uA\033[J", line.drawn_above));
	line.is_shown = false;
	line.drawn_above = 0;
	bytes_release(&line.above);
}

bool progress_draws(void)
{
	return line.is_drawing;
}

void progress_show(struct bytes *lines)
{
	progress_hide();
	line.above = *lines;
	*lines = (struct bytes){ 0 };
}

/* Draws the text above the line if the screen has room for both. */
static void draw_above(void)
{
	struct winsize window;
	unsigned count = 0;

	for (size_t i = 0; i < line.above.size; i++)
		count += line.above.data[i] == '\n';
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) != 0 || count >= window.ws_row)
		return;
	put("\r\033[K", 4);
	put(line.above.data, line.above.size);
	line.drawn_above = count;
}

void progress_no_more(void)
{
	progress_hide();
	line.is_drawing = false;
}

/* Formats "  12.3 MB/s". */
static void format_rate(char *out, size_t size, double rate, const char *unit)
{
	if (strcmp(unit, "bytes") == 0)
		snprintf(out, size, "  %.1f MB/s", rate / 1e6);
	else if (rate >= 1e6)
		snprintf(out, size, "  %.1f M %s/s", rate / 1e6, unit);
	else
		snprintf(out, size, "  %s %s/s", base_number((uint64_t)(rate + 0.5)).text, unit);
}

/* Formats "  1:02 left". */
static void format_left(char *out, size_t size, double seconds)
{
	const uint64_t s = seconds > 359999 ? 359999 : (uint64_t)(seconds + 0.5);

	if (s >= 3600)
		snprintf(out, size, "  %" PRIu64 ":%02" PRIu64 ":%02" PRIu64 " left", s / 3600,
			 s / 60 % 60, s % 60);
	else
		snprintf(out, size, "  %" PRIu64 ":%02" PRIu64 " left", s / 60, s % 60);
}

/*
 * Returns the maximum width of the line: one less than the terminal's, so that the cursor does not
 * wrap.
 */
static size_t line_width(void)
{
	struct winsize window;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1)
		return window.ws_col - 1U;
	return 79;
}

static void draw(uint64_t now, uint64_t done, uint64_t total, const char *unit)
{
	const double seconds = (double)(now - line.stage_ns) / 1e9;
	const double moved = done > line.stage_done ? (double)(done - line.stage_done) : 0;
	char text[256], percent[32] = "", rate[96] = "", left[48] = "";
	size_t size;

	if (total > 0)
		snprintf(percent, sizeof(percent), "  %3.0f %%",
			 done < total ? 100 * (double)done / (double)total : 100.0);
	if (seconds > 0.2 && moved > 0) {
		format_rate(rate, sizeof(rate), moved / seconds, unit ? unit : "steps");
		if (total > done)
			format_left(left, sizeof(left), (double)(total - done) * seconds / moved);
	}
	snprintf(text, sizeof(text), "\r%s%s%s%s", line.stage, percent, rate, left);
	size = strlen(text);
	if (line.above.size && !line.drawn_above)
		draw_above();
	put(text, size > line_width() + 1 ? line_width() + 1 : size);
	put("\033[K", 3);
	line.is_shown = true;
}

static void report(void *ctx, const char *stage, uint64_t done, uint64_t total, const char *unit)
{
	const uint64_t now = base_now_ns();

	(void)ctx;
	if (times.is_kept)
		keep_time(stage, now);
	if (!line.is_drawing)
		return;
	if (!line.stage || strcmp(line.stage, stage) != 0) {
		line.stage = stage;
		line.stage_ns = now;
		line.stage_done = done;
	} else if (now - line.drawn_ns < REDRAW_NS) {
		return;
	}
	if (now - line.start_ns < FIRST_DRAW_NS)
		return;
	line.drawn_ns = now;
	draw(now, done, total, unit);
}

struct hdb_progress progress_callbacks(void)
{
	return (struct hdb_progress){
		.report = line.is_drawing || times.is_kept ? report : NULL,
		.cancel = of_request ? of_request : &cancel,
	};
}

const struct output_hooks progress_hooks = {
	.before_write = pager_before_write,
	.is_cancelled = progress_is_cancelled,
};
