/*
 * growth_test.c - runs every query on dumps that reveal quadratic work. Each query runs on a dump
 * and on a dump that is eight times as big, and must take about eight times the processor time, not
 * 64 times. The same applies to comparisons with a dump that has other objects, and to the commands
 * `report` and `diff` in all formats.
 *
 * HEAPDB_HOSTILE=long: twelve times as big.
 * Slow: every question on 14 dumps, each in two sizes.
 */
#include "support/command.h"
#include "support/hostile.h"
#include "support/temp.h"
#include "support/traps.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <time.h>
#include <cmocka.h>

/* Below this time, the clock's resolution and fixed costs dominate. */
#define TIME_MIN_US 6000
/* Maximum number of questions: each query with each value of --by and with each target. */
#define QUESTIONS_MAX 600
/*
 * Number of rows that are read, a few more than people see. The import test measures reading all
 * rows.
 */
#define ROWS_MAX 500

struct question {
	const struct hdb_query_spec *spec;
	const char *const *words; /* a command instead of a query, or NULL */
	char by[40];              /* "": none */
	const char *target;       /* NULL: none */
	bool has_before;
	uint64_t us[2]; /* times for the small dump and for the big dump */
};

static struct question questions[QUESTIONS_MAX];
static size_t question_count;
static char dump_path[2][512], db_path[2][512];

static void add(const struct hdb_query_spec *spec, const char *by, const char *target)
{
	struct question *q = &questions[question_count++];

	assert_true(question_count < QUESTIONS_MAX);
	*q = (struct question){ .spec = spec,
				.target = target,
				.has_before = strcmp(spec->name, "diff") == 0 };
	(void)snprintf(q->by, sizeof(q->by), "%s", by);
}

/* DB is the newer database, OLD the other. */
static const char *const commands_tested[][COMMAND_WORDS_MAX] = {
	{ "report", "--db", "DB" },
	{ "report", "--json", "--db", "DB" },
	{ "diff", "OLD", "DB", "--limit", "500" },
	{ "diff", "OLD", "DB", "--by", "object", "--json" },
	{ "diff", "OLD", "DB", "--format", "csv" },
};

static void add_commands(void)
{
	static struct hdb_query_spec spec[sizeof(commands_tested) / sizeof(commands_tested[0])];

	for (size_t i = 0; i < sizeof(commands_tested) / sizeof(commands_tested[0]); i++) {
		spec[i].name = commands_tested[i][0];
		add(&spec[i], "", NULL);
		questions[question_count - 1].words = commands_tested[i];
		questions[question_count - 1].target = commands_tested[i][1];
	}
}

static int list_questions(void **state)
{
	size_t count;

	(void)state;
	count = hdb_query_count();
	for (size_t i = 0; i < count; i++) {
		const struct hdb_option_spec *o = hdb_query_at(i)->options;

		while (o->name && strcmp(o->name, "by") != 0)
			o++;
		add(hdb_query_at(i), "", NULL);
		if (hdb_query_at(i)->targets[0]) {
			add(hdb_query_at(i), "", "0x10000000");
			add(hdb_query_at(i), "", "0x10000040");
			add(hdb_query_at(i), "", "*");
		}
		for (const char *p = o->name ? o->argument : ""; *p;) {
			const size_t n = strcspn(p, "|");
			char by[40];

			(void)snprintf(by, sizeof(by), "%.*s", (int)n, p);
			if (!strchr(by, ':')) /* field:NAME is no value but a form */
				add(hdb_query_at(i), by, NULL);
			p += n + (p[n] != '\0');
		}
	}
	add_commands();
	for (unsigned i = 0; i < 2; i++) {
		hostile_path(dump_path[i], sizeof(dump_path[i]),
			     i ? "qgrowth2.hprof" : "qgrowth.hprof");
		hostile_path(db_path[i], sizeof(db_path[i]),
			     i ? "qgrowth2.heapdb" : "qgrowth.heapdb");
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		temp_remove_db(db_path[i]);
		(void)unlink(dump_path[i]);
	}
	return 0;
}

static uint64_t cpu_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static int run_command(const struct question *q, struct hdb_error *err)
{
	static const char *const names[] = { "OLD", "DB" };
	const char *const files[] = { db_path[0], db_path[1] };
	const char *words[COMMAND_WORDS_MAX + 1];
	const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct command_run ran;

	command_words(q->words, names, files, 2, words);
	ran = command_run(words, null, NULL);
	(void)close(null);
	(void)snprintf(err->message, sizeof(err->message), "%s", ran.err);
	command_release(&ran);
	return ran.code == 0 ? HDB_OK : HDB_EIO;
}

static int ask(struct hdb *db, struct hdb *before, const struct question *q, struct hdb_error *err)
{
	const struct hdb_option by = { "by", q->by };
	const struct hdb_query_args args = {
		.targets = &q->target,
		.target_count = q->target != NULL,
		.options = &by,
		.option_count = q->by[0] != '\0',
		.limit = ROWS_MAX,
		.before = &before,
		.before_count = q->has_before,
	};
	struct hdb_rows *rows = NULL;
	int r = hdb_query(db, q->spec->name, &args, &rows, err);

	while (r == HDB_OK)
		r = hdb_rows_next(rows, err);
	hdb_rows_close(rows);
	/*
	 * Queries that do not accept such a target report this. A limit, such as on the levels of a
	 * tree, is also a valid answer.
	 */
	return r == HDB_EUSAGE || r == HDB_ELIMIT || r > 0 ? HDB_OK : r;
}

static double times_of(const struct question *q)
{
	return (double)q->us[1] / (double)(q->us[0] < TIME_MIN_US ? TIME_MIN_US : q->us[0]);
}

/*
 * Runs all questions on a trap of n items, and compares it with a slightly larger trap. `which` is
 * 0 for the small dump, 1 for the big dump.
 */
static void measure(const struct trap *trap, uint64_t n, unsigned which)
{
	const struct hdb_import_options opt = { .force = 1, .threads = 1 };
	const struct hdb_open_options open = { .threads = 1 };
	struct hdb *db[2] = { NULL, NULL };
	struct hdb_error err = { 0 };

	for (unsigned i = 0; i < 2; i++) {
		trap_write(trap, i ? n + n / 8 : n, dump_path[i]);
		if (hdb_import(dump_path[i], db_path[i], &opt, NULL, &err) != HDB_OK ||
		    hdb_open(db_path[i], &open, &db[i], &err) != HDB_OK)
			fail_msg("%s: %s", trap->name, err.message);
	}
	/*
	 * The second time, all tables exist, so only the query itself is measured. A query is
	 * repeated only if this may change the result.
	 */
	for (unsigned turn = 0; turn < 2; turn++) {
		for (size_t i = 0; i < question_count; i++) {
			const uint64_t start = cpu_us();
			uint64_t took;

			if (turn && (which ? times_of(&questions[i]) <= TRAP_GROWTH_MAX :
					     questions[i].us[0] <= TIME_MIN_US))
				continue;
			if ((questions[i].words ? run_command(&questions[i], &err) :
						  ask(db[1], db[0], &questions[i], &err)) != HDB_OK)
				fail_msg("%s, query %s %s: %s", trap->name, questions[i].spec->name,
					 questions[i].by, err.message);
			took = cpu_us() - start;
			if (!turn || took < questions[i].us[which])
				questions[i].us[which] = took;
		}
	}
	hdb_close(db[0]);
	hdb_close(db[1]);
}

static unsigned judge(const struct trap *trap)
{
	const struct question *worst = &questions[0];
	double most = 0;
	unsigned failed = 0;

	for (size_t i = 0; i < question_count; i++) {
		const struct question *q = &questions[i];
		const double times = times_of(q);

		if (times > most) {
			most = times;
			worst = q;
		}
		if (times > TRAP_GROWTH_MAX) {
			failed++;
			print_message("  GROWS %s %s %s: %" PRIu64 " us to %" PRIu64 " us\n",
				      q->spec->name, q->by, q->target ? q->target : "", q->us[0],
				      q->us[1]);
		}
	}
	print_message("%-26s most: times %5.1f, %s %s %s\n", trap->name, most, worst->spec->name,
		      worst->by, worst->target ? worst->target : "");
	return failed;
}

static void test_growth(void **state)
{
	unsigned failed = 0;

	(void)state;
	for (size_t t = 0; t < trap_count; t++) {
		const uint64_t n = traps[t].n * (hostile_is_long() ? 12 : 1);

		measure(&traps[t], n, 0);
		measure(&traps[t], n * TRAP_TIMES, 1);
		failed += judge(&traps[t]);
	}
	print_message("%zu questions on %zu traps\n", question_count, trap_count);
	assert_int_equal(failed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_growth) };

	return cmocka_run_group_tests(tests, list_questions, teardown);
}
