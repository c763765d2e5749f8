/*
 * tests/graph/parts_faults_test.c - makes the n-th call that can fail do so, once or from then on,
 * in any of several concurrent searches. The result is an error or the right answer, nothing is
 * left behind, and no part waits for another.
 *
 * Link with: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free,--wrap=strdup
 * Link with: -Wl,--wrap=strndup
 * Link with: -Wl,--wrap=realpath
 * Link with: -Wl,--wrap=asprintf,--wrap=mmap,--wrap=open,--wrap=fopen,--wrap=fstat,--wrap=stat
 * Link with: -Wl,--wrap=write,--wrap=close,--wrap=opendir,--wrap=linkat,--wrap=read
 * Link with: -Wl,--wrap=pread,--wrap=rename,--wrap=fchmod,--wrap=fcntl,--wrap=posix_fallocate
 * Link with: -Wl,--wrap=mkostemp,--wrap=mkdtemp,--wrap=pthread_create
 * Link with: -Wl,--wrap=mdb_env_create,--wrap=mdb_env_open,--wrap=mdb_env_sync
 * Link with: -Wl,--wrap=mdb_txn_begin,--wrap=mdb_txn_commit,--wrap=mdb_dbi_open
 * Link with: -Wl,--wrap=mdb_cursor_open,--wrap=mdb_cursor_get,--wrap=mdb_cursor_del
 * Link with: -Wl,--wrap=mdb_put,--wrap=mdb_del,--wrap=mdb_env_get_fd,--wrap=mdb_get
 * Slow: each call that can fail fails once.
 */
#include "support/faults.h"
#include "support/graph_oracle.h"

/* Number of nodes, enough for arrays that can be in files. */
#define NODES 300000u
#define EDGES (2 * NODES)

/*
 * Number of calls that fail, chosen differently in each run, and the number if time does not
 * matter.
 */
#define CALL_COUNT 50
#define CALL_COUNT_LONG 1000

static struct oracle_graph graph;

/* Lists from a few hundred roots, with edges between the lists. */
static int start(void **state)
{
	(void)state;
	oracle_start();
	oracle_init(&graph, NODES, EDGES);
	for (uint32_t v = 0; v < NODES; v++) {
		if (v + 1 < NODES && v % 500)
			oracle_edge(&graph, v, v + 1);
		oracle_edge(&graph, v, (v + oracle_below(v % 7 ? 20 : NODES)) % NODES);
		if (v % 1000 == 1)
			oracle_set(graph.roots, v);
	}
	oracle_build(&graph, false);
	return 0;
}

static int end(void **state)
{
	(void)state;
	oracle_free(&graph);
	return 0;
}

/* A hash of all dominators, which does not depend on which part took which nodes. */
static uint64_t hash_of(const struct graph_dominators *d)
{
	struct base_big nodes = { 0 };
	const uint32_t *node;
	struct hdb_error err;
	uint64_t hash = 0;

	assert_int_equal(graph_dominators_nodes(d, &nodes, &err), HDB_OK);
	node = nodes.data;
	for (uint32_t w = 1; w <= d->count; w++)
		hash += ((uint64_t)node[w] + 1) * (2 * (uint64_t)node[d->dominator[w]] + 1) ^
			node[w];
	base_big_free(&nodes);
	return hash;
}

/* Runs with this part of the smallest budget. Returns the number of calls that could fail. */
static unsigned long run(uint64_t room, unsigned long at, bool is_sticky, uint64_t *want)
{
	struct hdb_error err = { 0 };
	struct graph_dominators d;
	uint64_t counted = 0, hash;
	struct graph_rows *rows;
	struct base_work work;
	int r;

	fault.live = 0;
	base_work_init(&work, 1, 3, NULL);
	work.scratch_dir = work.tmp_dir;
	rows = oracle_rows(&graph, &work);
	if (base_work_room(&work) > room)
		base_work_count(&work, &counted, base_work_room(&work) - room);
	fault.at = at;
	fault.is_sticky = is_sticky;
	fault.count = 0;
	fault.failed = "nothing";
	fault.is_armed = true;
	r = graph_dominators(rows, graph.roots, GRAPH_SEARCH_PARTS, &d, &err);
	fault.is_armed = false;
	if (r > 0 || (r < 0 && !err.message[0]) || (!at && r < 0))
		fail_msg("call %lu (%s): result %d, \"%s\"", at, fault.failed, r, err.message);
	hash = r == HDB_OK ? hash_of(&d) : *want;
	if (!*want)
		*want = hash;
	if (hash != *want)
		fail_msg("call %lu (%s): another answer", at, fault.failed);
	graph_dominators_release(&d);
	base_work_count(&work, &counted, 0);
	assert_int_equal(work.memory_used, 0);
	base_work_release(&work);
	if (fault.live != 0)
		fail_msg("call %lu (%s): %ld blocks of memory leak", at, fault.failed, fault.live);
	return fault.count;
}

static void fail_each(uint64_t room)
{
	uint64_t want = 0;
	const unsigned long calls = run(room, 0, false, &want);
	const unsigned long step =
		1 + calls / (getenv("HEAPDB_HOSTILE") ? CALL_COUNT_LONG : CALL_COUNT);

	assert_true(calls > 30);
	for (unsigned long at = 1 + oracle_below((uint32_t)step); at <= calls; at += step) {
		(void)run(room, at, false, &want);
		(void)run(room, at, true, &want);
	}
}

static void memory_is_there(void **state)
{
	(void)state;
	fail_each(UINT64_MAX);
}

/* Arrays are in files, and the order of the search is in many small pieces. */
static void memory_is_short(void **state)
{
	(void)state;
	fail_each((uint64_t)1 << 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_there),
		cmocka_unit_test(memory_is_short),
	};

	return cmocka_run_group_tests(tests, start, end);
}
