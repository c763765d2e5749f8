/*
 * tests/memory/arena_test.c - malloc's arenas with glibc's memory layout: free blocks of the main
 * arena, of an arena with its own state, and of a second heap. Chains that do not end at the end of
 * the arena, and sizes that lead outside it, are ignored. Reading files stops when the flag is set.
 */
#include "memory/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAIN UINT64_C(0x555500000000)
#define ARENA UINT64_C(0x7f0008000000)
#define SIZE 0x10000u
#define IN_USE 1u
#define OTHER_ARENA 4u

static unsigned char bytes[SIZE];
static uint64_t base;

static size_t read_bytes(void *ctx, uint64_t at, void *out, size_t size)
{
	(void)ctx;
	if (at < base || at >= base + SIZE)
		return 0;
	size = size < base + SIZE - at ? size : (size_t)(base + SIZE - at);
	memcpy(out, bytes + (at - base), size);
	return size;
}

static void put(size_t at, uint64_t word)
{
	memcpy(bytes + at, &word, sizeof(word));
}

/* Writes a used chunk of 0x1000 bytes, a free chunk of 0x2000, a used chunk, and the free rest. */
static void put_chunks(size_t at, unsigned flags, bool is_closed)
{
	const size_t end = is_closed ? SIZE - 0x20 : SIZE;

	put(at + 8, 0x1000 | IN_USE | flags);
	put(at + 0x1008, 0x2000 | IN_USE);
	put(at + 0x3008, 0x1000 | flags);
	put(at + 0x4008, (end - at - 0x4000) | IN_USE);
	if (is_closed) {
		put(end + 8, 0x10);
		put(end + 0x18, IN_USE);
	}
}

/*
 * Creates the arena, and checks the number of its free bytes; 0: it is not recognised as an arena.
 */
static void check(bool is_main, uint64_t least)
{
	char smaps[256];
	struct memory memory = { 0 };
	struct hdb_error err;

	base = is_main ? MAIN : ARENA;
	snprintf(smaps, sizeof(smaps),
		 "%llx-%llx rw-p 00000000 00:00 0 %s\nSize: 64 kB\nRss: 64 kB\n",
		 (unsigned long long)base, (unsigned long long)base + SIZE,
		 is_main ? "[heap]" : "");
	assert_int_equal(memory_add(&memory, MEMORY_SMAPS, smaps, strlen(smaps), &err), HDB_OK);
	assert_int_equal(memory_add_arenas(&memory, read_bytes, NULL, &err), HDB_OK);
	assert_int_equal(memory.has_malloc, least > 0);
	assert_int_equal(memory.malloc_free, least);
	assert_int_equal(memory.malloc_arenas, least ? SIZE : 0);
	memory_release(&memory);
}

static void test_main(void **state)
{
	(void)state;
	memset(bytes, 0, SIZE);
	put_chunks(0, 0, false);
	check(true, 0x2000 + SIZE - 0x4000);
	/* A size that leads past the end, an impossible size, and a size that is too small. */
	put(0x3008, SIZE);
	check(true, 0);
	put(0x3008, 0x1008);
	check(true, 0);
	put(0x3008, IN_USE);
	check(true, 0);
	memset(bytes, 0xff, SIZE);
	check(true, 0);
}

static void test_arena(void **state)
{
	static const size_t heads[] = { 0x20, 0x30 };

	(void)state;
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		const size_t first = (heads[i] + 2200 + 15) / 16 * 16;

		memset(bytes, 0, SIZE);
		put(0, ARENA + heads[i]);
		put(16, SIZE);
		put_chunks(first, OTHER_ARENA, false);
		check(false, 0x2000 + SIZE - first - 0x4000);
		put(16, SIZE + 0x1000);
		check(false, 0);
		put(16, UINT64_MAX);
		check(false, 0);
	}
}

/* The arena continues in another heap. Two unused chunks close this one. */
static void test_second_heap(void **state)
{
	(void)state;
	memset(bytes, 0, SIZE);
	put(0, ARENA - (64 << 20) + 0x30);
	put(16, SIZE);
	put_chunks(0x30, OTHER_ARENA, true);
	check(false, 0x2000 + SIZE - 0x50 - 0x4000);
	put(SIZE - 0x18, 0x10 | IN_USE);
	check(false, 0x2000);
	put_chunks(0x30, OTHER_ARENA, false);
	check(false, 0x2000 + SIZE - 0x30 - 0x4000);
}

static void test_cancelled(void **state)
{
	const char *const files[] = { "/proc/self/smaps" };
	base_flag cancel = 0;
	const struct memory_sources sources = { .files = files,
						.file_count = 1,
						.cancel = &cancel };
	struct hdb_error err = { 0 };
	char *text = NULL;

	(void)state;
	assert_int_equal(memory_json(&sources, false, &text, &err), HDB_OK);
	free(text);
	base_flag_set(&cancel, 1);
	assert_int_equal(memory_json(&sources, false, &text, &err), HDB_EINTR);
	assert_string_equal(err.message, "/proc/self/smaps: interrupted");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_main),
		cmocka_unit_test(test_arena),
		cmocka_unit_test(test_second_heap),
		cmocka_unit_test(test_cancelled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
