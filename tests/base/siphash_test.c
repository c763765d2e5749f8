/*
 * siphash_test.c - test vectors of the authors' reference program (vectors_sip128), and input in
 * parts of any size.
 */
#include "base/siphash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static void hash(const uint8_t *data, size_t size, size_t part, uint8_t out[16])
{
	struct base_siphash sip;
	uint8_t key[16];
	uint64_t two[2];

	for (unsigned i = 0; i < 16; i++)
		key[i] = (uint8_t)i;
	base_siphash_init(&sip, key);
	for (size_t at = 0; at < size; at += part)
		base_siphash_add(&sip, data + at, size - at < part ? size - at : part);
	base_siphash_end(&sip, two);
	for (unsigned i = 0; i < 16; i++)
		out[i] = (uint8_t)(two[i / 8] >> i % 8 * 8);
}

static void test_vectors(void **state)
{
	static const struct {
		size_t size;
		uint8_t out[16];
	} vectors[] = {
		{ 0,
		  { 0xa3, 0x81, 0x7f, 0x04, 0xba, 0x25, 0xa8, 0xe6, 0x6d, 0xf6, 0x72, 0x14, 0xc7,
		    0x55, 0x02, 0x93 } },
		{ 1,
		  { 0xda, 0x87, 0xc1, 0xd8, 0x6b, 0x99, 0xaf, 0x44, 0x34, 0x76, 0x59, 0x11, 0x9b,
		    0x22, 0xfc, 0x45 } },
		{ 2,
		  { 0x81, 0x77, 0x22, 0x8d, 0xa4, 0xa4, 0x5d, 0xc7, 0xfc, 0xa3, 0x8b, 0xde, 0xf6,
		    0x0a, 0xff, 0xe4 } },
	};
	uint8_t data[64], out[16];

	(void)state;
	for (unsigned i = 0; i < 64; i++)
		data[i] = (uint8_t)i;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		hash(data, vectors[i].size, 64, out);
		assert_memory_equal(out, vectors[i].out, 16);
	}
}

static void test_parts(void **state)
{
	uint8_t data[100], whole[16], parts[16];

	(void)state;
	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7);
	for (size_t size = 0; size <= sizeof(data); size++) {
		hash(data, size, sizeof(data), whole);
		for (size_t part = 1; part < 20; part++) {
			hash(data, size, part, parts);
			assert_memory_equal(whole, parts, 16);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
