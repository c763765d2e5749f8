/*
 * pack_test.c - tests base/pack.c: every value is read back, and damage is detected.
 */
#include "base/bytes.h"
#include "base/pack.h"
#include "support/temp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void check_values(const uint64_t *values, uint32_t count)
{
	struct base_vec out = { 0 };
	struct pack_column column;
	uint64_t group[PACK_GROUP];
	struct hdb_error err;
	uint8_t *exact;

	assert_int_equal(base_pack_encode(&out, values, count, &err), HDB_OK);
	/* The buffer has exactly the size of the data, so that ASan detects reads past the end. */
	exact = malloc(out.count);
	assert_non_null(exact);
	memcpy(exact, out.data, out.count);
	assert_int_equal(base_pack_open(&column, exact, out.count, count, &err), HDB_OK);
	assert_int_equal(column.size, out.count);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(base_pack_get(&column, i), values[i]);
	for (uint32_t g = 0; g * PACK_GROUP < count; g++) {
		const unsigned n = base_pack_group(&column, g, group);

		for (unsigned i = 0; i < n; i++)
			assert_int_equal(group[i], values[g * PACK_GROUP + i]);
	}
	free(exact);
	base_vec_release(&out);
}

static void test_widths(void **state)
{
	uint64_t values[PACK_GROUP * 3 + 17], seed = 7;
	const uint32_t n = sizeof(values) / sizeof(values[0]);

	(void)state;
	for (unsigned width = 0; width <= 64; width++) {
		for (uint32_t i = 0; i < n; i++)
			values[i] = width ? test_random(&seed) >> (64 - width) : 0;
		check_values(values, n);
		/* A few values that need far more bits. */
		for (uint32_t i = 3; i < n; i += 41)
			values[i] = test_random(&seed);
		check_values(values, n);
		/* All values are far from zero. */
		for (uint32_t i = 0; i < n; i++)
			values[i] = UINT64_MAX - (values[i] >> 20);
		check_values(values, n);
	}
}

static void test_counts(void **state)
{
	uint64_t values[PACK_GROUP * 2 + 2] = { 0 };

	(void)state;
	for (uint32_t n = 0; n <= PACK_GROUP * 2 + 2; n++) {
		for (uint32_t i = 0; i < n; i++)
			values[i] = i * 3 + (i == n / 2 ? 1u << 30 : 0);
		check_values(values, n);
	}
}

/* The bytes that every version must write, because databases are compared byte by byte. */
static void test_bytes(void **state)
{
	uint64_t values[PACK_GROUP * 2], hash = 14695981039346656037u, seed = 2026;
	struct base_vec out = { 0 };

	(void)state;
	for (unsigned i = 0; i < 40000; i++) {
		const unsigned width = (unsigned)(test_random(&seed) % 65);
		const unsigned rare_width = (unsigned)(test_random(&seed) % 65);
		const unsigned rare = 1 + (unsigned)(test_random(&seed) % 60);
		const uint64_t base = test_random(&seed) >> i % 64;
		const uint32_t n = 1 + (uint32_t)(test_random(&seed) % (2 * PACK_GROUP));

		for (uint32_t k = 0; k < n; k++) {
			const unsigned w = test_random(&seed) % rare ? width : rare_width;

			values[k] = (w ? test_random(&seed) >> (64 - w) : 0) + (i % 3 ? 0 : base);
		}
		out.count = 0;
		assert_int_equal(base_pack_encode(&out, values, n, NULL), HDB_OK);
		for (size_t k = 0; k < out.count; k++)
			hash = (hash ^ *base_vec_at(&out, uint8_t, k)) * 1099511628211u;
	}
	assert_int_equal(hash, 0x9f95177b1ccad9ab);
	base_vec_release(&out);
}

static void test_small_when_regular(void **state)
{
	uint64_t values[16384];
	struct base_vec out = { 0 };

	(void)state;
	for (unsigned i = 0; i < 16384; i++)
		values[i] = 1000;
	assert_int_equal(base_pack_encode(&out, values, 16384, NULL), HDB_OK);
	assert_true(out.count < 16384 / 10);
	base_vec_release(&out);
}

/*
 * A column with any byte changed, or cut anywhere, is rejected or still readable without a fault
 * (run under ASan).
 */
static void test_damage(void **state)
{
	uint64_t values[PACK_GROUP + 40], group[PACK_GROUP], seed = 99;
	struct base_vec out = { 0 };
	uint8_t *copy;

	(void)state;
	for (unsigned i = 0; i < PACK_GROUP + 40; i++)
		values[i] = test_random(&seed) >> (i % 9 ? 50 : 20);
	assert_int_equal(base_pack_encode(&out, values, PACK_GROUP + 40, NULL), HDB_OK);
	for (size_t size = 0; size <= out.count; size++) {
		for (unsigned bit = 0; bit < (size == out.count ? 8 * out.count : 1); bit++) {
			struct pack_column column;

			/*
			 * The buffer has exactly this size, so that ASan detects reads past the
			 * end.
			 */
			copy = malloc(size + !size);
			memcpy(copy, out.data, size);
			if (size == out.count)
				copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
			if (base_pack_open(&column, copy, size, PACK_GROUP + 40, NULL) == HDB_OK) {
				for (uint32_t i = 0; i < column.count; i++)
					(void)base_pack_get(&column, i);
				(void)base_pack_group(&column, 0, group);
				(void)base_pack_group(&column, 1, group);
			} else if (size == out.count) {
				assert_true(bit < 8 * out.count);
			}
			if (size < out.count)
				assert_int_equal(
					base_pack_open(&column, copy, size, PACK_GROUP + 40, NULL),
					HDB_ECORRUPT);
			free(copy);
		}
	}
	base_vec_release(&out);
}

static void test_varint(void **state)
{
	uint8_t buffer[VARINT_MAX];
	uint64_t v;

	(void)state;
	for (unsigned shift = 0; shift < 64; shift++) {
		const uint64_t want = (uint64_t)1 << shift | shift;
		const uint8_t *end = put_varint(buffer, want);

		assert_ptr_equal(get_varint(buffer, end, &v), end);
		assert_int_equal(v, want);
		assert_null(get_varint(buffer, end - 1, &v));
		assert_int_equal(unzigzag(zigzag((int64_t)want)), (int64_t)want);
		assert_int_equal(unzigzag(zigzag(-(int64_t)shift)), -(int64_t)shift);
	}
	memset(buffer, 0xff, sizeof(buffer));
	assert_null(get_varint(buffer, buffer + sizeof(buffer), &v));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_widths), cmocka_unit_test(test_counts),
		cmocka_unit_test(test_bytes),  cmocka_unit_test(test_small_when_regular),
		cmocka_unit_test(test_damage), cmocka_unit_test(test_varint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
