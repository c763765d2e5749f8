/*
 * fuzz/oql.c - statements of MAT's query language, answered on a small heap: rows whose texts are
 * UTF-8, or a message. Statements that never end are stopped as Ctrl-C stops them.
 *
 * Input: the statement.
 */
#include "oql/oql.h"

#include "support/fuzz_target.h"
#include "support/fuzz_world.h"
#include "support/json_check.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

#define INPUT_MAX 4096
#define ROWS_MAX 200
#define MEMORY_MAX (32U << 20)
/* Time limit for a statement in microseconds. */
#define TIME_MAX 300000

static volatile int is_over;

static void on_alarm(int sig)
{
	(void)sig;
	is_over = 1;
}

static void set_alarm(void)
{
	const struct itimerval timer = { .it_value.tv_usec = TIME_MAX };

	is_over = 0;
	signal(SIGVTALRM, on_alarm);
	setitimer(ITIMER_VIRTUAL, &timer, NULL);
}

static struct hdb *open_world(void)
{
	static struct hdb *db;
	const struct fuzz_world *world = fuzz_world();
	const struct hdb_open_options options = { .dump_path = world->dump_path, .threads = 1 };

	if (!db && hdb_open(world->db_path, &options, &db, NULL) != HDB_OK)
		abort();
	return db;
}

static void check(int r, const struct hdb_error *err)
{
	if (r >= 0)
		return;
	if (!err->message[0] ||
	    (r != HDB_EUSAGE && r != HDB_ELIMIT && r != HDB_EINTR && r != HDB_ENOMEM))
		abort();
}

static void take_rows(struct oql *oql, struct hdb_error *err)
{
	uint64_t total;
	int r = HDB_OK;

	for (unsigned i = 0; i < ROWS_MAX && (r = oql_next(oql, err)) == HDB_OK; i++) {
		for (size_t c = 0; c < oql_column_count(oql); c++) {
			const struct hdb_value *value = oql_value(oql, c);

			if (value->type == HDB_TYPE_TEXT &&
			    !text_is_utf8(value->text, value->text_size))
				abort();
		}
	}
	check(r, err);
	if (r >= 0)
		check(oql_total(oql, &total, err), err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct oql_options options = {
		.memory_bytes = MEMORY_MAX,
		.progress.cancel = &is_over,
	};
	struct hdb_error err = { 0 };
	struct oql *oql = NULL;
	struct hdb *db;
	int r;

	if (size > INPUT_MAX)
		return 0;
	db = open_world();
	set_alarm();
	r = oql_open(db, (struct oql_str){ (const char *)data, size }, &options, &oql, &err);
	check(r, &err);
	if (r == HDB_OK)
		take_rows(oql, &err);
	oql_close(oql);
	return 0;
}
