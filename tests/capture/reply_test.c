/*
 * tests/capture/reply_test.c - requests and replies of the attach protocol, as bytes; and
 * containers in /proc/PID/cgroup.
 */
#include "capture/process.h"
#include "capture/reply.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check_request(int version, const char *command, const char *const *arguments,
			  const char *bytes, size_t size)
{
	char out[ATTACH_REQUEST_MAX];

	assert_int_equal(attach_request(version, command, arguments, out), size);
	assert_memory_equal(out, bytes, size);
}

static void test_requests(void **state)
{
	const char *const none[] = { NULL };
	const char *const one[] = { "GC.heap_dump x", NULL };
	const char *const all[] = { "/tmp/x", "-live", "1", NULL };

	(void)state;
	check_request(1, "getversion", none, "1\0getversion\0\0\0\0", 16);
	check_request(1, "jcmd", one, "1\0jcmd\0GC.heap_dump x\0\0\0", 24);
	check_request(1, "dumpheap", all,
		      "1\0dumpheap\0/tmp/x\0-live\0"
		      "1\0",
		      26);
	check_request(2, "jcmd", one,
		      "2\0"
		      "20\0jcmd\0GC.heap_dump x\0",
		      25);
	check_request(2, "dumpheap", all,
		      "2\0"
		      "24\0dumpheap\0/tmp/x\0-live\0"
		      "1\0",
		      29);
	check_request(2, "getversion", none,
		      "2\0"
		      "11\0getversion\0",
		      16);
}

/* An argument of version 1 has at most 1,024 bytes. Longer arguments are refused, not cut. */
static void test_long_requests(void **state)
{
	char out[ATTACH_REQUEST_MAX], text[1100];
	const char *const words[] = { text, text, text, NULL };

	(void)state;
	memset(text, 'x', sizeof(text));
	for (size_t size = 1000; size < sizeof(text); size++) {
		text[size] = 0;
		assert_int_equal(attach_request(1, "jcmd", words, out) > 0, size <= 1024);
		assert_int_equal(attach_request(2, "jcmd", words, out) > 0, size <= 1024);
		text[size] = 'x';
	}
	assert_int_equal(attach_request(1, "a command that is too long", words, out), 0);
}

static void test_replies(void **state)
{
	static const struct {
		const char *bytes;
		bool is_good;
		long code;
		const char *text;
		int version;
		const char *last;
	} rows[] = {
		{ "0\n2", true, 0, "2", 2, "2" },
		{ "0\n2 streaming", true, 0, "2 streaming", 2, "2 streaming" },
		{ "0\n3\n", true, 0, "3\n", 2, "3" },
		{ "0\n1", true, 0, "1", 1, "1" },
		{ "0\n", true, 0, "", 1, "" },
		{ "0\nnonsense", true, 0, "nonsense", 1, "nonsense" },
		{ "0\n-7", true, 0, "-7", 1, "-7" },
		{ "-1\nOperation getversion not recognized!", true, -1,
		  "Operation getversion not recognized!", 1,
		  "Operation getversion not recognized!" },
		{ "101\n", true, 101, "", 1, "" },
		{ "0\r\nx", true, 0, "x", 1, "x" },
		{ "0\none\ntwo\n \n\n", true, 0, "one\ntwo\n \n\n", 1, "two" },
		{ "", false, 0, NULL, 0, NULL },
		{ "0", false, 0, NULL, 0, NULL },
		{ "\n", false, 0, NULL, 0, NULL },
		{ " 0\n", false, 0, NULL, 0, NULL },
		{ "\n0\n", false, 0, NULL, 0, NULL },
		{ "0x\n", false, 0, NULL, 0, NULL },
		{ "HTTP/1.1 400 Bad Request\r\n", false, 0, NULL, 0, NULL },
		{ "99999999999999999999999999\n", true, 0x7fffffffffffffff, "", 1, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char line[64];
		struct reply r = { 0 };

		bytes_add(&r.bytes, rows[i].bytes, strlen(rows[i].bytes) + 1);
		assert_int_equal(attach_parse_reply(&r), rows[i].is_good);
		if (!rows[i].is_good) {
			reply_release(&r);
			continue;
		}
		assert_int_equal(r.code, rows[i].code);
		assert_string_equal(r.text, rows[i].text);
		assert_int_equal(attach_parse_version(&r), rows[i].version);
		attach_last_line(&r, line, sizeof(line));
		assert_string_equal(line, rows[i].last);
		reply_release(&r);
	}
}

/* Arbitrary bytes. */
#define GARBAGE_MAX ((size_t)16384)
static void test_garbage(void **state)
{
	struct reply r = { 0 };
	char line[16];
	unsigned seed = 1;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		const size_t size = GARBAGE_MAX >> i % 14;
		char *bytes = bytes_room(&r.bytes, GARBAGE_MAX + 1);

		assert_non_null(bytes);
		for (size_t k = 0; k < size; k++)
			bytes[k] = (char)((seed = seed * 1103515245 + 12345) >> 16);
		memcpy(bytes, "0\n", 2);
		bytes[size] = '\0';
		if (!attach_parse_reply(&r))
			continue;
		(void)attach_parse_version(&r);
		attach_last_line(&r, line, sizeof(line));
		assert_true(strlen(line) < sizeof(line));
	}
	reply_release(&r);
}

static void test_containers(void **state)
{
#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "0::/system.slice/docker-" ID ".scope\n", "0123456789ab" },
		{ "12:pids:/docker/" ID "\n11:cpu:/docker/" ID "\n", "0123456789ab" },
		{ "0::/kubepods.slice/kubepods-pod1234_5678.slice/cri-containerd-" ID ".scope\n",
		  "0123456789ab" },
		{ "0::/\n", "" },
		{ "0::/user.slice/user-1000.slice/session-2.scope\n", "" },
		{ "0::/" ID "0\n", "" },
		{ "", "" },
		{ ID, "0123456789ab" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char have[32];

		process_parse_cgroup(rows[i].text, have, sizeof(have));
		assert_string_equal(have, rows[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests),   cmocka_unit_test(test_long_requests),
		cmocka_unit_test(test_replies),    cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_containers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
