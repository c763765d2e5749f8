/*
 * damage_test.c - small dumps cut at every byte and with a bit flipped at every byte: the
 * import gives a result or a clear error, in bounded time and memory, and the database, if there is
 * one, answers all questions and passes the check.
 *
 * The short form flips one bit of each byte and asks all questions after every 16th change; the
 * long form flips all eight, sets bytes to 0, 0x7f and 0xff, and always asks. With HEAPDB_SMALL,
 * for ThreadSanitizer, one position in 17 is tried.
 * Slow: 11,439 imports.
 */
#include "import/import.h"
#include "support/hostile.h"
#include "support/temp.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <cmocka.h>
#include <zlib.h>
#include <zstd.h>

/*
 * Limits for an import of 2 KB: seconds, and bytes of private memory, even if the dump claims to
 * have 4 G elements.
 */
#define STEP_SECONDS_MAX 10
#define MEMORY_MAX (192ull << 20)
/*
 * Limit for any file, including scratch files, which hold data that does not fit in the budget of
 * every other import.
 */
#define FILE_MAX (8ull << 20)
#define BUDGET (2ull << 20)
/* In the short form, all queries run after one of this many changes. */
#define ASK_EACH 16

/* With HEAPDB_SMALL: prime to ASK_EACH and 8, so that all bits are flipped and both kinds ask. */
#define SMALL_STEP 17

static size_t step = 1;
static char dump_path[512], db_path[512];
static struct {
	unsigned long imports, refused, asked;
} counts;

static void write_dump(const uint8_t *data, size_t size)
{
	const int fd = open(dump_path, O_WRONLY | O_TRUNC | O_CREAT, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), size);
	(void)close(fd);
}

static void try_dump(const uint8_t *data, size_t size, bool is_selected, const char *what,
		     size_t at)
{
	const struct hdb_import_options opt = { .force = 1,
						.threads = 1,
						.sizes = (enum hdb_size_model)(at % 3),
						.memory_bytes = at % 2 ? BUDGET : 0 };
	struct hdb_error err = { 0 };
	uint64_t hash;
	int r;

	write_dump(data, size);
	hostile_seconds(STEP_SECONDS_MAX);
	counts.imports++;
	r = hdb_import(dump_path, db_path, &opt, NULL, &err);
	if (r < 0) {
		counts.refused++;
		if (!err.message[0] || (r != HDB_EFORMAT && r != HDB_ETRUNC && r != HDB_ELIMIT &&
					!(size == 0 && r == HDB_EIO)))
			fail_msg("%s at %zu: result %d: %s", what, at, r, err.message);
	} else if (is_selected || hostile_is_long()) {
		counts.asked++;
		r = hostile_answers(db_path, dump_path, &hash, &err);
		if (r == HDB_OK)
			r = hostile_check(db_path, dump_path, &err);
		if (r != HDB_OK)
			fail_msg("%s at %zu: what was imported does not answer: result %d: %s",
				 what, at, r, err.message);
	}
	hostile_seconds(0);
}

static void test_kind(enum hostile_dump kind)
{
	uint8_t *bad;
	struct hw w;

	hostile_dump(&w, kind, 6);
	bad = malloc(w.size);
	assert_non_null(bad);
	memcpy(bad, w.data, w.size);
	for (size_t at = 0; at <= w.size; at += step)
		try_dump(w.data, at, at % ASK_EACH == 0, "cut", at);
	for (size_t at = 0; at < w.size; at += step) {
		for (unsigned bit = 0; bit < 8; bit++) {
			if (!hostile_is_long() && bit != at * 5 % 8)
				continue;
			bad[at] ^= (uint8_t)(1u << bit);
			try_dump(bad, w.size, at % ASK_EACH == 1, "flip", at);
			bad[at] = w.data[at];
		}
		for (unsigned v = 0; hostile_is_long() && v < 3; v++) {
			bad[at] = (const uint8_t[]){ 0, 0x7f, 0xff }[v];
			try_dump(bad, w.size, true, "set", at);
			bad[at] = w.data[at];
		}
	}
	free(bad);
	hw_release(&w);
}

static void test_java8(void **state)
{
	(void)state;
	test_kind(HOSTILE_JAVA8);
}

static void test_java4(void **state)
{
	(void)state;
	test_kind(HOSTILE_JAVA4);
}

static void test_android(void **state)
{
	(void)state;
	test_kind(HOSTILE_ANDROID);
}

/* ---- compressed ---- */

static size_t deflate_to(uint8_t *out, size_t room, const uint8_t *p, size_t size)
{
	z_stream z = { 0 };

	assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (Bytef *)(uintptr_t)p;
	z.avail_in = (uInt)size;
	z.next_out = out;
	z.avail_out = (uInt)room;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	(void)deflateEnd(&z);
	return room - z.avail_out;
}

/* The data has two parts. The second part is found again after damage in the first. */
static size_t pack(uint8_t *out, size_t room, const struct hw *w, bool is_gzip)
{
	const size_t half = w->size / 2;
	size_t n;

	if (is_gzip) {
		n = deflate_to(out, room, w->data, half);
		return n + deflate_to(out + n, room - n, w->data + half, w->size - half);
	}
	n = ZSTD_compress(out, room, w->data, half, 1);
	return n + ZSTD_compress(out + n, room - n, w->data + half, w->size - half, 1);
}

static void test_packed(void **state)
{
	static uint8_t packed[1 << 16], bad[1 << 16];
	struct hw w;

	(void)state;
	hostile_dump(&w, HOSTILE_JAVA8, 6);
	for (unsigned is_gzip = 0; is_gzip < 2; is_gzip++) {
		const size_t size = pack(packed, sizeof(packed), &w, is_gzip);

		memcpy(bad, packed, size);
		for (size_t at = 1; at <= size; at += step)
			try_dump(packed, at, at % ASK_EACH == 0, "packed and cut", at);
		for (size_t at = 0; at < size; at += step) {
			bad[at] ^= (uint8_t)(1u << at * 5 % 8);
			try_dump(bad, size, at % ASK_EACH == 1, "packed, flip", at);
			bad[at] = packed[at];
		}
	}
	hw_release(&w);
}

static int teardown(void **state)
{
	(void)state;
	print_message("%lu imports, %lu refused, %lu asked everything\n", counts.imports,
		      counts.refused, counts.asked);
	temp_remove_db(db_path);
	(void)unlink(dump_path);
	return 0;
}

int main(void)
{
	const struct rlimit file_limit = { FILE_MAX, FILE_MAX };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_java8),
		cmocka_unit_test(test_java4),
		cmocka_unit_test(test_android),
		cmocka_unit_test(test_packed),
	};
#if !HOSTILE_HAS_SANITIZER
	const struct rlimit limit = { MEMORY_MAX, MEMORY_MAX };

	(void)setrlimit(RLIMIT_DATA, &limit);
#endif
	(void)signal(SIGXFSZ, SIG_IGN);
	(void)setrlimit(RLIMIT_FSIZE, &file_limit);
	step = getenv("HEAPDB_SMALL") ? SMALL_STEP : 1;
	hostile_path(dump_path, sizeof(dump_path), "damage.hprof");
	hostile_path(db_path, sizeof(db_path), "damage.heapdb");
	return cmocka_run_group_tests(tests, NULL, teardown);
}
