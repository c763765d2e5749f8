/*
 * packed_test.c - tests store/packed.c and packed blocks in the store. All handles read the blocks
 * as they were written. Blocks that do not unpack, or that claim to be too large, count as damage.
 * If no file can be written, blocks are kept in memory.
 */
#include "store/packed.h"

#include "store/store_private.h"
#include "support/temp.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <cmocka.h>

#define BLOCK_BYTES 60000u

static struct base_work work;

/* Bytes that packing makes about three times smaller. */
static void fill(uint8_t *data, size_t size, uint64_t number)
{
	uint64_t seed = number + 1;

	for (size_t i = 0; i < size; i++)
		data[i] = (uint8_t)(i % 3 ? 7 : test_random(&seed));
}

/* Packs a block. The packed bytes are a copy that the caller frees. */
static struct store_packed packed_of(struct store_packer *packer, const uint8_t *data,
				     uint64_t size, uint64_t checksum)
{
	struct store_packed packed = { .checksum = checksum, .raw_size = size };
	const uint8_t *bytes;
	uint8_t *copy;

	assert_int_equal(store_pack(packer, &(struct store_block){ .data = data, .size = size },
				    &bytes, &packed.size, NULL),
			 HDB_OK);
	assert_true(packed.size && packed.size < size);
	copy = malloc(packed.size);
	assert_non_null(copy);
	memcpy(copy, bytes, packed.size);
	packed.data = copy;
	return packed;
}

static void drop(struct store_packed *packed)
{
	free((void *)(uintptr_t)packed->data);
}

static void test_what_is_packed(void **state)
{
	static uint8_t data[1 << 20];
	struct store_packer *packer;
	const uint8_t *bytes;
	uint64_t size, seed = 3;
	struct store_block block = { .data = data, .size = 4095 };

	(void)state;
	assert_int_equal(store_packer_new(&packer, NULL), HDB_OK);
	/* too small */
	assert_int_equal(store_pack(packer, &block, &bytes, &size, NULL), HDB_OK);
	assert_int_equal(size, 0);
	/* larger than a reader accepts */
	block.size = sizeof(data);
	assert_int_equal(store_pack(packer, &block, &bytes, &size, NULL), HDB_OK);
	assert_int_equal(size, 0);
	/* nothing saved */
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)test_random(&seed);
	assert_int_equal(store_pack(packer, &block, &bytes, &size, NULL), HDB_OK);
	assert_int_equal(size, 0);
	store_packer_free(packer);
}

static void test_unpacking(void **state)
{
	static uint8_t data[BLOCK_BYTES];
	const char *path = temp_path("unpacked.heapdb");
	struct store_unpacked unpacked;
	struct store_packer *packer;
	struct store_packed packed;
	const uint8_t *first, *again;

	(void)state;
	assert_int_equal(store_packer_new(&packer, NULL), HDB_OK);
	store_unpacked_init(&unpacked);
	fill(data, sizeof(data), 5);
	packed = packed_of(packer, data, sizeof(data), 77);
	assert_int_equal(store_unpack(&unpacked, path, &packed, &first, NULL), HDB_OK);
	assert_memory_equal(first, data, sizeof(data));
	assert_false(unpacked.is_in_memory);
	assert_int_equal(store_unpack(&unpacked, path, &packed, &again, NULL), HDB_OK);
	assert_ptr_equal(again, first);
	/* a different size with the same checksum */
	packed.raw_size--;
	assert_int_equal(store_unpack(&unpacked, path, &packed, &again, NULL), HDB_ECORRUPT);
	/* the data is too short, too long, or impossible */
	packed.checksum++;
	assert_int_equal(store_unpack(&unpacked, path, &packed, &again, NULL), HDB_ECORRUPT);
	packed.raw_size += 2;
	assert_int_equal(store_unpack(&unpacked, path, &packed, &again, NULL), HDB_ECORRUPT);
	packed.raw_size = (packed.size + 1) * STORE_PACKED_RATIO;
	assert_int_equal(store_unpack(&unpacked, path, &packed, &again, NULL), HDB_ECORRUPT);
	packed.raw_size = sizeof(data);
	packed.size--;
	assert_int_equal(store_unpack(&unpacked, path, &packed, &again, NULL), HDB_ECORRUPT);
	packed.size = 0;
	assert_int_equal(store_unpack(&unpacked, path, &packed, &again, NULL), HDB_ECORRUPT);
	drop(&packed);
	store_unpacked_release(&unpacked);
	store_packer_free(packer);
}

/*
 * More data than fits in a window, a block that is larger than a window, and then a file that
 * cannot grow.
 */
static void test_many(void **state)
{
	enum { COUNT = 40, SIZE = 3 << 20, LARGE = 65 << 20 };
	const struct rlimit small = { 80 << 20, RLIM_INFINITY };
	const char *path = temp_path("unpacked.heapdb");
	const uint8_t *there[COUNT + 1];
	uint8_t *data = malloc(LARGE);
	struct store_unpacked unpacked;
	struct store_packer *packer;
	struct rlimit before;

	(void)state;
	assert_non_null(data);
	assert_int_equal(store_packer_new(&packer, NULL), HDB_OK);
	store_unpacked_init(&unpacked);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	for (unsigned i = 0; i <= COUNT; i++) {
		const size_t size = i == 3 ? LARGE : SIZE;
		struct store_packed packed;

		fill(data, size, i);
		packed = packed_of(packer, data, size, i);
		assert_int_equal(store_unpack(&unpacked, path, &packed, &there[i], NULL), HDB_OK);
		drop(&packed);
	}
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_true(unpacked.is_in_memory);
	for (unsigned i = 0; i <= COUNT; i++) {
		const size_t size = i == 3 ? LARGE : SIZE;

		fill(data, size, i);
		assert_memory_equal(there[i], data, size);
	}
	store_unpacked_release(&unpacked);
	store_packer_free(packer);
	free(data);
}

static void put(struct store_writer *w, enum store_table table, uint64_t key, const uint8_t *data)
{
	assert_int_equal(
		store_put(w, table,
			  &(struct store_block){
				  .key = key, .item_count = 9, .data = data, .size = BLOCK_BYTES },
			  NULL),
		HDB_OK);
}

static void test_store(void **state)
{
	static uint8_t data[BLOCK_BYTES];
	const char *path = temp_path("packed.heapdb");
	struct store_table_info info;
	struct store *s, *other;
	struct store_writer *w;
	struct store_block block, same;
	uint64_t count;

	(void)state;
	assert_int_equal(store_create(path, true, 1 << 20, &w, NULL), HDB_OK);
	assert_int_equal(store_pack_tables(w, NULL), HDB_OK);
	for (unsigned i = 0; i < 20; i++) {
		fill(data, sizeof(data), i);
		put(w, STORE_REFERENCES, 100 * i, data);
		put(w, STORE_CONTENTS, 100 * i, data);
	}
	assert_int_equal(store_put_table(w, STORE_REFERENCES, 180, NULL), HDB_OK);
	assert_int_equal(store_put_table(w, STORE_CONTENTS, 180, NULL), HDB_OK);
	assert_int_equal(store_publish(w, NULL, NULL), HDB_OK);

	assert_int_equal(store_open(path, &s, NULL), HDB_OK);
	assert_int_equal(store_table_info(s, STORE_REFERENCES, &info, NULL), HDB_OK);
	assert_int_equal(info.revision, store_table_revision(STORE_REFERENCES));
	assert_int_equal(info.bytes, 20 * (BLOCK_BYTES + 16));
	assert_true(info.file_bytes < info.bytes / 2);
	assert_int_equal(store_table_info(s, STORE_CONTENTS, &info, NULL), HDB_OK);
	assert_int_equal(info.file_bytes, info.bytes);
	assert_int_equal(store_open_again(s, &other, NULL), HDB_OK);
	for (unsigned i = 0; i < 20; i++) {
		fill(data, sizeof(data), i);
		assert_int_equal(store_block_before(s, STORE_REFERENCES, 100 * i + 9, &block, NULL),
				 HDB_OK);
		assert_int_equal(block.key, 100 * i);
		assert_int_equal(block.item_count, 9);
		assert_int_equal(block.size, BLOCK_BYTES);
		assert_memory_equal(block.data, data, BLOCK_BYTES);
		assert_int_equal(store_block(other, STORE_REFERENCES, 100 * i, &same, NULL),
				 HDB_OK);
		assert_ptr_equal(same.data, block.data);
	}
	assert_int_equal(store_check(s, &work, &count, NULL), HDB_OK);
	assert_int_equal(count, 40);
	store_close(other);
	store_close(s);
	temp_remove_db(path);
}

/* An earlier reader finds a version in the table:NAME value that it does not know. */
static void test_not_misread(void **state)
{
	static uint8_t data[BLOCK_BYTES];
	const char *path = temp_path("packed.heapdb");
	const struct store_view_meta *meta;
	struct store_writer *w;
	struct store *s;

	(void)state;
	assert_int_equal(store_create(path, true, 1 << 20, &w, NULL), HDB_OK);
	assert_int_equal(store_pack_tables(w, NULL), HDB_OK);
	fill(data, sizeof(data), 1);
	put(w, STORE_IDS, 0, data);
	assert_int_equal(store_put_table(w, STORE_IDS, 9, NULL), HDB_OK);
	assert_int_equal(store_publish(w, NULL, NULL), HDB_OK);
	assert_int_equal(store_open(path, &s, NULL), HDB_OK);
	meta = store_view_meta(&s->view, "table:ids");
	assert_non_null(meta);
	assert_int_equal(meta->size, BLOCK_HEADER_SIZE + TABLE_INFO_PACKED_SIZE);
	assert_int_not_equal(load32(meta->value + BLOCK_HEADER_SIZE),
			     store_table_revision(STORE_IDS));
	store_close(s);
	temp_remove_db(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_packed), cmocka_unit_test(test_unpacking),
		cmocka_unit_test(test_many),           cmocka_unit_test(test_store),
		cmocka_unit_test(test_not_misread),
	};

	base_work_init(&work, 0, 1, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
