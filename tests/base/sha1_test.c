/* tests/base/sha1_test.c - SHA-1 of RFC 3174's examples, in one piece and in several pieces. */
#include "base/sha1.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static const struct {
	const char *text;
	unsigned times;
	const char *digest;
} examples[] = {
	{ "", 1, "da39a3ee5e6b4b0d3255bfef95601890afd80709" },
	{ "abc", 1, "a9993e364706816aba3e25717850c26c9cd0d89d" },
	{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
	  "84983e441c3bd26ebaae4aa1f95129e5e54670f1" },
	{ "a", 1000000, "34aa973cd4c4daa4f61eeb2bdbad27316534016f" },
	{ "0123456701234567012345670123456701234567012345670123456701234567", 10,
	  "dea356a2cddd90c7a7ecedc5ebb563934f460452" },
};

static void test_examples(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		uint8_t digest[BASE_SHA1_BYTES];
		char text[BASE_SHA1_TEXT];
		struct base_sha1 sha;

		base_sha1_init(&sha);
		for (unsigned k = 0; k < examples[i].times; k++)
			base_sha1_add(&sha, examples[i].text, strlen(examples[i].text));
		base_sha1_end(&sha, digest);
		base_sha1_text(digest, text);
		assert_string_equal(text, examples[i].digest);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
