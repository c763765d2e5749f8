/*
 * frame_code_test.c - tests hprof/frame_pack.c and frame_unpack.c: stretches of dumps, cut
 * anywhere, and of what is no dump come back as they were; dumps become much smaller than zstd
 * makes them; what is damaged gives a result code.
 */
#include "hprof/frame_code.h"
#include "support/hprof_writer.h"
#include "support/temp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <zstd.h>

static void *packer, *unpacker;
static uint8_t *packed, out[BASE_FRAME_BYTES + 1];

static size_t pack(const uint8_t *data, size_t size)
{
	struct base_packed frame = { .bytes = packed };

	assert_int_equal(hprof_codec.pack(packer, data, size, &frame, NULL), HDB_OK);
	assert_true(frame.size && frame.size <= hprof_codec.packed_max());
	hprof_packer_check(packer);
	return frame.size;
}

static int unpack(const uint8_t *from, size_t packed_size, size_t size)
{
	const struct base_frame frame = { .size = size,
					  .packed = from,
					  .packed_size = packed_size };
	const int r = (out[size] = 0x5a, hprof_codec.unpack(unpacker, &frame, out, NULL));

	assert_int_equal(out[size], 0x5a);
	return r;
}

/* Packs and unpacks; returns what it took. */
static size_t there_and_back(const uint8_t *data, size_t size)
{
	const size_t packed_size = pack(data, size);

	memset(out, 0xee, size);
	assert_int_equal(unpack(packed, packed_size, size), HDB_OK);
	assert_memory_equal(out, data, size);
	return packed_size;
}

/* Where objects lie: in order, some words apart, with gaps at times. */
static uint64_t next_id(uint64_t id, uint64_t bytes, uint64_t *seed)
{
	return id + ((bytes + 16 + 7) & ~7ull) +
	       (test_random(seed) % 40 ? 0 : 8 * (test_random(seed) % 9000));
}

/*
 * A heap of some classes: references to near and far and null, constants and noise, arrays of all
 * types and lengths.
 */
static void write_heap(struct hw *w, unsigned id_size, unsigned objects, uint64_t seed)
{
	const uint64_t base = id_size == 8 ? 0x704a00000 : 0x12c00000;
	uint64_t id = base, last = base;

	hw_init(w, HPROF_1_0_2, id_size, 1);
	hw_utf8(w, 5, "java/lang/Object");
	(void)hw_begin(w, HPROF_HEAP_DUMP_SEGMENT, 0);
	for (unsigned i = 0; i < objects; i++) {
		const unsigned kind = (unsigned)(test_random(&seed) % 12);
		const uint32_t n = (uint32_t)(test_random(&seed) % (i % 100 ? 12 : 3000));
		const uint8_t type = (uint8_t)(4 + test_random(&seed) % 8);
		static uint8_t body[3000 * 8];

		for (uint32_t k = 0; k < n * 8; k++)
			body[k] = (uint8_t)(k % 8 == 7 ? test_random(&seed) : i % 3);
		if (i % 2000 == 1999) {
			hw_end(w);
			(void)hw_begin(w, HPROF_HEAP_DUMP_SEGMENT, 0);
			hw_root(w, HPROF_ROOT_STICKY_CLASS, base, 0, 0);
		}
		if (kind < 7) {
			struct hw values;

			hw_init(&values, HPROF_1_0_2, id_size, 0);
			values.size = 0;
			hw_id(&values, kind % 2 ? last : 0);
			hw_u4(&values, i);
			hw_id(&values,
			      test_random(&seed) % 4 ? id + 8 * (test_random(&seed) % 90000) : 0);
			hw_u1(&values, kind);
			if (kind == 6)
				hw_u8(&values, test_random(&seed));
			hw_instance(w, id, base + 64 * kind, values.data, (uint32_t)values.size);
			last = id;
			id = next_id(id, values.size, &seed);
			hw_release(&values);
		} else if (kind < 9) {
			uint64_t elements[3000];

			for (uint32_t k = 0; k < n; k++)
				elements[k] = k % 3 ? base + 8 * (test_random(&seed) % 500000) : 0;
			hw_object_array(w, id, base + 8, elements, n);
			id = next_id(id, n * 4ull, &seed);
		} else {
			hw_primitive_array(w, id, type, body, n);
			id = next_id(id, (uint64_t)n * hprof_type_size(type, id_size), &seed);
		}
	}
	hw_end(w);
	hw_heap_dump_end(w);
}

static void check_heap(unsigned id_size)
{
	const size_t room = ZSTD_compressBound(BASE_FRAME_BYTES);
	void *zstd = malloc(room);
	uint64_t seed = 9;
	struct hw w;

	assert_non_null(zstd);
	write_heap(&w, id_size, 40000, 5 + id_size);
	assert_true(w.size > 4 * BASE_FRAME_BYTES);
	for (unsigned i = 0; i < 300; i++) {
		const size_t at = test_random(&seed) % w.size;
		size_t size = 1 + test_random(&seed) % (i % 3 ? BASE_FRAME_BYTES : 200);
		size_t n;

		size = size < w.size - at ? size : w.size - at;
		n = there_and_back(w.data + at, size);
		/* Not only kept as it is. */
		if (size > 100000)
			assert_true(10 * n < 8 * ZSTD_compress(zstd, room, w.data + at, size, 1));
	}
	hw_release(&w);
	free(zstd);
}

static void test_heaps(void **state)
{
	(void)state;
	check_heap(8);
	check_heap(4);
}

/* A stretch from the midst of a long array, of references and of other things. */
static void test_long_arrays(void **state)
{
	static uint8_t data[BASE_FRAME_BYTES];
	uint64_t seed = 4;
	size_t n;

	(void)state;
	for (size_t i = 3; i + 8 <= sizeof(data); i += 8) {
		const uint64_t id =
			test_random(&seed) % 3 ? 0x704a00000 + 8 * (test_random(&seed) % 1000) : 0;

		for (unsigned k = 0; k < 8; k++)
			data[i + k] = (uint8_t)(id >> (56 - 8 * k));
	}
	n = there_and_back(data, sizeof(data));
	assert_true(n < sizeof(data) / 4);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)test_random(&seed);
	(void)there_and_back(data, sizeof(data));
	(void)there_and_back(data, 1);
	memset(data, 0, sizeof(data));
	assert_true(there_and_back(data, sizeof(data)) < 100);
	memset(data, 0x21, sizeof(data));
	(void)there_and_back(data, sizeof(data));
	/* As many shapes as there can be, and more. */
	for (size_t i = 0; i + 26 <= sizeof(data); i += 26) {
		memset(data + i, 0, 26);
		data[i] = HPROF_INSTANCE_DUMP;
		data[i + 8] = data[i + 16] = 8;
		data[i + 18] = (uint8_t)(i / 26 >> 8);
		data[i + 19] = (uint8_t)(i / 26);
		data[i + 24] = 1;
		data[i + 25] = (uint8_t)i;
	}
	(void)there_and_back(data, sizeof(data));
}

/* What was packed before makes no difference. */
static void test_alike(void **state)
{
	uint8_t *before = malloc(hprof_codec.packed_max());
	size_t n;
	struct hw w;

	(void)state;
	assert_non_null(before);
	write_heap(&w, 8, 10000, 77);
	n = pack(w.data, 200000);
	memcpy(before, packed, n);
	(void)pack(w.data + 100000, 150000);
	assert_int_equal(pack(w.data, 200000), n);
	assert_memory_equal(before, packed, n);
	hw_release(&w);
	free(before);
}

static void test_damage(void **state)
{
	const size_t size = 30000;
	unsigned refused = 0;
	uint64_t seed = 8;
	uint8_t *copy;
	struct hw w;
	size_t n;

	(void)state;
	write_heap(&w, 8, 4000, 3);
	n = pack(w.data, size);
	/* Its end is its own: reading on is found. */
	for (size_t cut = 0; cut < n; cut += 1 + n / 400) {
		copy = malloc(cut ? cut : 1);
		assert_non_null(copy);
		memcpy(copy, packed, cut);
		assert_int_equal(unpack(copy, cut, size), HDB_ECORRUPT);
		free(copy);
	}
	copy = malloc(n);
	assert_non_null(copy);
	for (unsigned i = 0; i < 4000; i++) {
		int r;

		memcpy(copy, packed, n);
		for (unsigned k = 0; k <= i % 3; k++)
			copy[test_random(&seed) % (i % 2 ? n : 300)] ^=
				(uint8_t)(1 + test_random(&seed) % 255);
		r = unpack(copy, n, size);
		assert_true(r == HDB_OK || r == HDB_ECORRUPT);
		refused += r != HDB_OK;
	}
	assert_true(refused > 1000);
	assert_int_equal(unpack(packed, n, size - 1), HDB_ECORRUPT);
	assert_int_equal(unpack(packed, n, size + 1), HDB_ECORRUPT);
	free(copy);
	hw_release(&w);
}

static int setup(void **state)
{
	(void)state;
	packed = malloc(hprof_codec.packed_max());
	return !packed || hprof_codec.new_packer(&packer, NULL) < 0 ||
	       hprof_codec.new_unpacker(&unpacker, NULL) < 0;
}

static int teardown(void **state)
{
	(void)state;
	hprof_codec.free_packer(packer);
	hprof_codec.free_unpacker(unpacker);
	free(packed);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heaps),
		cmocka_unit_test(test_long_arrays),
		cmocka_unit_test(test_alike),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
