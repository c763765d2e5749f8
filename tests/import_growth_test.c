/*
 * import_growth_test.c - dumps that are traps for quadratic work: import, tables and all answers on one and on one
 * eight times as big. Linear work takes eight times the processor time, quadratic work 64 times; 24 is the limit.
 *
 * HEAPDB_HOSTILE=long: ten times as big, the sizes of the worst dumps (a million classes, a million roots).
 */
#include "support/hostile.h"
#include "support/temp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <time.h>
#include <cmocka.h>

#define TIMES 8
#define GROWTH_MAX 24
/* Below this the clock and the fixed costs say nothing. */
#define TIME_MIN_US 4000

enum { OBJECT = 0x1000, CLASS = 0x1100, NODE = 0x1200, LIST = 0x1300, FIRST = 0x10000000 };

static char dump_path[512], db_path[512];

static void begin(struct hw *w)
{
	hw_init(w, HPROF_1_0_2, 8, 0);
	hw_utf8(w, 1, "java/lang/Object");
	hw_utf8(w, 2, "java/lang/Class");
	hw_utf8(w, 3, "Node");
	hw_utf8(w, 4, "next");
	hw_utf8(w, 5, "[LNode;");
	hw_load_class(w, 1, OBJECT, 0, 1);
	hw_load_class(w, 2, CLASS, 0, 2);
	hw_load_class(w, 3, NODE, 0, 3);
	hw_load_class(w, 4, LIST, 0, 5);
}

static void put_class(struct hw *w, uint64_t id, uint64_t super)
{
	const struct hprof_field next = { 4, HPROF_OBJECT };
	const struct hw_class class = { .id = id, .super_id = super, .fields = &next,
					.field_count = id == NODE };

	hw_class(w, &class);
}

static void begin_heap(struct hw *w)
{
	(void)hw_begin(w, HPROF_HEAP_DUMP_SEGMENT, 0);
	put_class(w, OBJECT, 0);
	put_class(w, CLASS, OBJECT);
	put_class(w, NODE, OBJECT);
	put_class(w, LIST, OBJECT);
}

static void put_node(struct hw *w, uint64_t id, uint64_t next)
{
	uint8_t body[8];

	for (unsigned b = 0; b < 8; b++)
		body[b] = (uint8_t)(next >> (56 - 8 * b));
	hw_instance(w, id, NODE, body, 8);
}

/* Classes that each extend the one before, an object of each. */
static void super_chain(struct hw *w, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "c/C%" PRIu64, i);
		hw_utf8(w, 100 + i, name);
		hw_load_class(w, (uint32_t)(10 + i), FIRST + i * 64, 0, 100 + i);
	}
	begin_heap(w);
	hw_root(w, HPROF_ROOT_JNI_GLOBAL, FIRST + (n - 1) * 64, 0, 0);
	for (uint64_t i = 0; i < n; i++)
		put_class(w, FIRST + i * 64, i ? FIRST + (i - 1) * 64 : OBJECT);
	for (uint64_t i = 0; i < n; i++)
		hw_instance(w, FIRST + i * 64 + 32, FIRST + i * 64, NULL, 0);
}

/* Roots of all kinds on one object. */
static void many_roots(struct hw *w, uint64_t n)
{
	begin_heap(w);
	put_node(w, FIRST, FIRST);
	for (uint64_t i = 0; i < n; i++)
		hw_root(w, i % 2 ? HPROF_ROOT_JNI_GLOBAL : HPROF_ROOT_JAVA_FRAME, FIRST, i % 7, 0);
}

/* One text, one array of characters, each of so many bytes. */
static void long_string(struct hw *w, uint64_t n)
{
	(void)hw_begin(w, HPROF_UTF8, 0);
	hw_id(w, 99);
	hw_zeros(w, (size_t)n * 400);
	memset(w->data + w->size - n * 400, 'a', (size_t)n * 400);
	hw_end(w);
	hw_load_class(w, 9, FIRST, 0, 99);
	begin_heap(w);
	put_class(w, FIRST, OBJECT);
	hw_primitive_array(w, FIRST + 64, HPROF_CHAR, NULL, (uint32_t)n * 200);
	hw_root(w, HPROF_ROOT_JNI_GLOBAL, FIRST + 64, 0, 0);
}

/* Array classes of arrays of arrays; deep names are as long as they are deep. */
static void deep_arrays(struct hw *w, uint64_t n)
{
	const uint64_t classes = 64, depth = n / classes + 1;
	char *name = malloc(depth + 2);

	if (!name)
		abort();
	memset(name, '[', depth);
	name[depth] = 'I';
	name[depth + 1] = '\0';
	for (uint64_t i = 0; i < classes; i++) {
		hw_utf8(w, 100 + i, name + (i < depth ? i : depth - 1));
		hw_load_class(w, (uint32_t)(10 + i), FIRST + i * 64, 0, 100 + i);
	}
	free(name);
	begin_heap(w);
	for (uint64_t i = 0; i < classes; i++)
		put_class(w, FIRST + i * 64, OBJECT);
	/* Objects: each array holds the next. */
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t next = FIRST + 0x100000 + (i + 1) * 32;

		hw_object_array(w, FIRST + 0x100000 + i * 32, FIRST + i % classes * 64,
				&next, i + 1 < n);
	}
	hw_root(w, HPROF_ROOT_JNI_GLOBAL, FIRST + 0x100000, 0, 0);
}

static void long_list(struct hw *w, uint64_t n)
{
	begin_heap(w);
	hw_root(w, HPROF_ROOT_JNI_GLOBAL, FIRST, 0, 0);
	for (uint64_t i = 0; i < n; i++)
		put_node(w, FIRST + i * 32, i + 1 < n ? FIRST + (i + 1) * 32 : 0);
}

/* The inverse of the finalizer of MurmurHash3, so that class IDs fall into one slot of an unseeded table. */
static uint64_t unmix(uint64_t v)
{
	v ^= v >> 33;
	v *= 0x9cb4b2f8129337dbull;
	v ^= v >> 33;
	v *= 0x4f74430c22a54005ull;
	return v ^ (v >> 33);
}

static void colliding_ids(struct hw *w, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		hw_utf8(w, unmix((i + 1) << 32), "Same");
		hw_load_class(w, (uint32_t)(10 + i), unmix((i + 1) << 32), 0, unmix((i + 1) << 32));
	}
	begin_heap(w);
	for (uint64_t i = 0; i < n; i++)
		put_class(w, unmix((i + 1) << 32), OBJECT);
	hw_root(w, HPROF_ROOT_JNI_GLOBAL, unmix(1ull << 32), 0, 0);
}

/* One hub that all refer to, and that refers to all. */
static void hub(struct hw *w, uint64_t n)
{
	uint64_t *all = malloc(n * sizeof(*all));

	if (!all)
		abort();
	begin_heap(w);
	for (uint64_t i = 0; i < n; i++) {
		all[i] = FIRST + i * 32;
		put_node(w, all[i], FIRST - 64);
	}
	hw_object_array(w, FIRST - 64, LIST, all, (uint32_t)n);
	hw_root(w, HPROF_ROOT_JNI_GLOBAL, FIRST - 64, 0, 0);
	free(all);
}

static const struct trap {
	const char *name;
	void (*put)(struct hw *w, uint64_t n);
	uint64_t n; /* of the smaller one, in the short form */
} traps[] = {
	{ "chain of super classes", super_chain, 4000 },
	{ "roots on one object", many_roots, 10000 },
	{ "long string", long_string, 10000 },
	{ "deep arrays", deep_arrays, 5000 },
	{ "long list", long_list, 10000 },
	{ "identifiers that collide", colliding_ids, 4000 },
	{ "hub", hub, 10000 },
};

static uint64_t cpu_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static uint64_t measure(const struct trap *trap, uint64_t n)
{
	const struct hdb_import_options opt = { .force = 1, .threads = 1 };
	struct hdb_error err = { 0 };
	uint64_t start, hash;
	struct hw w;

	begin(&w);
	trap->put(&w, n);
	hw_end(&w);
	hw_heap_dump_end(&w);
	assert_int_equal(hw_save(&w, dump_path), 0);
	hw_release(&w);
	start = cpu_us();
	if (hdb_import(dump_path, db_path, &opt, NULL, &err) != HDB_OK ||
	    hostile_answers(db_path, dump_path, &hash, &err) != HDB_OK)
		fail_msg("%s of %" PRIu64 ": %s", trap->name, n, err.message);
	return cpu_us() - start;
}

static void test_growth(void **state)
{
	unsigned failed = 0;

	(void)state;
	for (size_t t = 0; t < sizeof(traps) / sizeof(traps[0]); t++) {
		const uint64_t n = traps[t].n * (hostile_is_long() ? 12 : 1);
		uint64_t small = measure(&traps[t], n), big = measure(&traps[t], n * TIMES);

		if (small < TIME_MIN_US)
			small = TIME_MIN_US;
		if (big > GROWTH_MAX * small)
			big = measure(&traps[t], n * TIMES);
		print_message("%-26s %8" PRIu64 ": %8" PRIu64 " us, %8" PRIu64 ": %8" PRIu64
			      " us, times %.1f\n", traps[t].name, n, small, n * TIMES, big,
			      (double)big / (double)small);
		failed += big > GROWTH_MAX * small;
	}
	assert_int_equal(failed, 0);
}

static int setup(void **state)
{
	(void)state;
	hostile_path(dump_path, sizeof(dump_path), "growth.hprof");
	hostile_path(db_path, sizeof(db_path), "growth.heapdb");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	temp_remove_db(db_path);
	(void)unlink(dump_path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_growth) };

	return cmocka_run_group_tests(tests, setup, teardown);
}
