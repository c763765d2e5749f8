/*
 * tests/capture/heap_info_test.c - sizes of a heap from GC.heap_info, by collector and JDK, and
 * from texts that are not valid answers.
 */
#include "capture/capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define KIB ((uint64_t)1024)
#define MIB (1024 * KIB)

static const struct {
	const char *text;
	uint64_t used, committed, max;
} answers[] = {
	{ " def new generation   total 9792K, used 8435K [0x00000000f0000000, 0x00000000f0aa0000, "
	  "0x00000000f5550000)\n"
	  "  eden space 8704K,  96% used [0x00000000f0000000, 0x00000000f083cfc8, "
	  "0x00000000f0880000)\n"
	  " tenured generation   total 21888K, used 7K [0x00000000f5550000, 0x00000000f6ab0000, "
	  "0x0000000100000000)\n"
	  "   the space 21888K,   0% used [0x00000000f5550000, 0x00000000f5550000, "
	  "0x00000000f5550200, 0x00000000f6ab0000)\n"
	  " Metaspace       used 347K, committed 512K, reserved 1114112K\n"
	  "  class space    used 18K, committed 128K, reserved 1048576K\n",
	  8442 * KIB, 31680 * KIB, 256 * MIB },
	{ "PSYoungGen      total 9728K, used 8601K [0x00000000fab00000, 0x00000000fb580000, "
	  "0x0000000100000000)\n"
	  " from space 1024K, 0% used [0x00000000fb480000,0x00000000fb480000,0x00000000fb580000)\n"
	  "ParOldGen       total 22016K, used 1166K [0x00000000f0000000, 0x00000000f1580000, "
	  "0x00000000fab00000)\n",
	  9767 * KIB, 31744 * KIB, 256 * MIB },
	{ " garbage-first heap   total 34816K, used 3832K [0x00000000f0000000, 0x0000000100000000)\n"
	  "  region size 1024K, 3 young (3072K), 1 survivors (1024K)\n",
	  3832 * KIB, 34816 * KIB, 256 * MIB },
	{ "garbage-first heap   total reserved 262144K, committed 34816K, used 9936K "
	  "[0x00000000f0000000, 0x0000000100000000)\n",
	  9936 * KIB, 34816 * KIB, 256 * MIB },
	{ " ZHeap           used 10M, capacity 32M, max capacity 1G\n", 10 * MIB, 32 * MIB,
	  1024 * MIB },
	{ "Shenandoah Heap\n 256M max, 128M soft max, 32768K committed, 8448K used\n 1024 x 256K "
	  "regions\n",
	  8448 * KIB, 32 * MIB, 256 * MIB },
};

static void test_answers(void **state)
{
	struct capture_meters m = { .heap_used = 1, .heap_committed = 1, .heap_max = 1 };

	(void)state;
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		assert_true(capture_parse_heap_info(answers[i].text, &m));
		assert_true(m.has_heap);
		assert_true(m.heap_used == answers[i].used);
		assert_true(m.heap_committed == answers[i].committed);
		assert_true(m.heap_max == answers[i].max);
	}
}

/* An answer that is cut anywhere is read or refused. Other texts are refused. */
static void test_others(void **state)
{
	static const char *const others[] = {
		"",
		"\n\n",
		" total \n used 1K",
		"Epsilon Heap\nAllocation space:\n space 1K, 2% used [0x1, 0x2, 0x3)\n",
		" Metaspace       used 347K, committed 512K, reserved 1114112K\n",
		" ZHeap used -M, capacity 99999999999999999999M, max capacity M",
	};
	struct capture_meters m;

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		assert_false(capture_parse_heap_info(others[i], &m));
		assert_false(m.has_heap);
	}
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		for (size_t size = 0; size < strlen(answers[i].text); size++) {
			char *copy = strndup(answers[i].text, size);

			assert_non_null(copy);
			(void)capture_parse_heap_info(copy, &m);
			free(copy);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
