/*
 * path_test.c - paths to roots on random heaps: each is as short as possible, every step is a
 * reference that counts, and there is one path per root.
 */
#include "support/query_world.h"

#define WORLDS 30

static struct world world;

/*
 * Whether the references of a node are ignored, because references of a.One and its subclasses are
 * excluded.
 */
static bool is_mute(uint32_t v, bool excluded)
{
	return excluded && world.class_no[v] <= 2;
}

/*
 * Number of steps from a root to each node over references that count; UINT32_MAX: no path exists.
 */
static void distances(bool excluded, uint32_t *steps)
{
	uint32_t queue[WORLD_NODES_MAX], head = 0, tail = 0;

	for (uint32_t v = 0; v < world.n; v++) {
		steps[v] = world.is_root[v] ? 0 : UINT32_MAX;
		if (world.is_root[v])
			queue[tail++] = v;
	}
	while (head < tail) {
		const uint32_t v = queue[head++];

		for (uint32_t e = 0; e < WORLD_EDGES && !is_mute(v, excluded); e++) {
			const uint32_t to = world.edge[v][e];

			if (to >= world.n || steps[to] != UINT32_MAX)
				continue;
			steps[to] = steps[v] + 1;
			queue[tail++] = to;
		}
	}
}

/*
 * Reads all paths. Each begins at the target, ends at a different root, and is not shorter than the
 * previous path.
 */
static uint32_t check_paths(struct hdb_rows *rows, uint32_t target, bool excluded, uint32_t best,
			    uint32_t limit)
{
	uint32_t last = 0, length = 0, count = 0, previous = best;
	bool seen_root[WORLD_NODES_MAX] = { false };
	struct hdb_error err = { 0 };
	int r;

	while ((r = hdb_rows_next(rows, &err)) == HDB_OK) {
		const uint64_t step = value_of(rows, "step")->u;
		const uint32_t v = (uint32_t)((value_of(rows, "id")->u - WORLD_FIRST) / WORLD_STEP);
		const struct hdb_value *root = value_of(rows, "root");

		assert_true(v < world.n);
		if (step == 0) {
			count++;
			assert_int_equal(v, target);
		} else {
			assert_int_equal(step, length + 1);
			assert_true(world_refers(&world, v, last) && !is_mute(v, excluded));
			assert_true(value_of(rows, "via_field")->text_size >= strlen("next"));
		}
		assert_int_equal(value_of(rows, "path")->u, count);
		length = (uint32_t)step;
		last = v;
		if (root->type == HDB_TYPE_NULL)
			continue;
		assert_true(value_is(rows, "root", "JNI global"));
		assert_true(world.is_root[v] && !seen_root[v]);
		seen_root[v] = true;
		assert_true(count == 1 ? length == best : length >= previous);
		previous = length;
	}
	assert_int_equal(r, HDB_END);
	assert_true(count >= 1 && count <= limit);
	return count;
}

static void one_target(uint32_t v, bool excluded, bool all, uint32_t best)
{
	char id[32];
	struct ask question = { .query = "path", .target = id };
	struct hdb_error err = { 0 };
	struct hdb_rows *rows = NULL;
	int r;

	(void)snprintf(id, sizeof(id), "0x%" PRIx64, world_id(v));
	question.options[0] = excluded ? "exclude=a.One:next" : "exclude=none";
	question.options[1] = all ? "all=5" : NULL;
	r = ask_open(world.db, &question, &rows, &err);
	if (best == UINT32_MAX) {
		assert_int_equal(r, HDB_NOTFOUND);
		assert_non_null(
			strstr(err.message, world.is_reachable[v] ? "excluded" : "garbage"));
		return;
	}
	if (r != HDB_OK)
		fail_msg("path %s: %s", id, err.message);
	(void)check_paths(rows, v, excluded, best, all ? 5 : 1);
	hdb_rows_close(rows);
}

static void random_heaps(void **state)
{
	uint64_t seed = world_seed();

	(void)state;
	for (int i = 0; i < WORLDS; i++) {
		uint32_t plain[WORLD_NODES_MAX], without[WORLD_NODES_MAX];

		world_make(&world, 2 + (uint32_t)(test_random(&seed) % 120), &seed);
		/* The field names are read from the dump. */
		world_write(&world, temp_path("world.hprof"));
		distances(false, plain);
		distances(true, without);
		for (uint32_t v = 0; v < world.n; v++) {
			one_target(v, false, false, plain[v]);
			/* Node 0 is a class loader, which class objects also hold. */
			one_target(v, false, v != 0, plain[v]);
			one_target(v, true, v % 2, without[v]);
		}
		world_free(&world);
		(void)unlink(temp_path("world.hprof"));
	}
}

static void wrong_questions(void **state)
{
	static const struct refusal cases[] = {
		{ { .query = "path" }, HDB_EUSAGE, "missing argument: OBJECT" },
		{ { .query = "path", .target = "0xdead" }, HDB_NOTFOUND, "no such object: 0xdead" },
		{ { .query = "path", .target = "0x10000", .options = { "exclude=nonsense" } },
		  HDB_EUSAGE,
		  "nonsense" },
		{ { .query = "path", .target = "0x10000", .options = { "exclude=No.Class:next" } },
		  HDB_NOTFOUND,
		  "No.Class" },
		{ { .query = "path", .target = "0x10000", .options = { "all=0" } },
		  HDB_EUSAGE,
		  "--all" },
	};
	uint64_t seed = 7;

	(void)state;
	world_make(&world, 10, &seed);
	expect_refusals(world.db, cases, sizeof(cases) / sizeof(cases[0]));
	world_free(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_heaps),
		cmocka_unit_test(wrong_questions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
