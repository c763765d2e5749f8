/*
 * store_test.c - tests the store: blocks, lists, records, texts, columns, publishing, damage, and
 * several processes.
 *
 * Link with: -Wl,--wrap=mkdtemp
 */
#include "store/block.h"
#include "store/column.h"
#include "store/lists.h"
#include "store/lists_put.h"
#include "store/records.h"
#include "store/store.h"
#include "store/store_private.h"
#include "support/temp.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <cmocka.h>

static struct base_work work;

static bool has_no_folder; /* no directory in which a directory can be created */

char *__real_mkdtemp(char *name);
char *__wrap_mkdtemp(char *name);

char *__wrap_mkdtemp(char *name)
{
	if (!has_no_folder)
		return __real_mkdtemp(name);
	errno = EACCES;
	return NULL;
}

static struct store_writer *create(const char *path)
{
	struct store_writer *w;

	assert_int_equal(store_create(path, true, 1 << 20, &w, NULL), HDB_OK);
	return w;
}

static struct store *publish_and_open(struct store_writer *w, const char *path)
{
	struct store *s;
	struct hdb_error err = { 0 };

	assert_int_equal(store_publish(w, NULL, &err), HDB_OK);
	if (store_open(path, &s, &err) != HDB_OK)
		fail_msg("%s", err.message);
	return s;
}

static void test_blocks(void **state)
{
	const char *path = temp_path("blocks.heapdb");
	struct store_writer *w = create(path);
	struct store_block block;
	struct store *s;
	char buffer[64];

	(void)state;
	for (uint64_t k = 0; k < 1000; k++)
		assert_int_equal(store_put(w, STORE_OBJECTS,
					   &(struct store_block){ .key = k * 10,
								  .item_count = (uint32_t)k,
								  .data = (const uint8_t *)&k,
								  .size = sizeof(k) },
					   NULL),
				 HDB_OK);
	assert_int_equal(store_put(w, STORE_REFERENCES,
				   &(struct store_block){ .key = 5,
							  .item_count = 1,
							  .data = (const uint8_t *)"x",
							  .size = 1 },
				   NULL),
			 HDB_OK);
	assert_int_equal(store_put_meta_text(w, "name", "value", NULL), HDB_OK);
	assert_int_equal(store_put_meta_number(w, "number", 42, NULL), HDB_OK);
	assert_int_equal(store_put_table(w, STORE_OBJECTS, 1000, NULL), HDB_OK);
	assert_int_equal(access(path, F_OK), -1);
	s = publish_and_open(w, path);
	assert_int_equal(store_block(s, STORE_OBJECTS, 50, &block, NULL), HDB_OK);
	assert_int_equal(block.item_count, 5);
	assert_int_equal(block.size, 8);
	assert_int_equal(store_block(s, STORE_OBJECTS, 51, &block, NULL), HDB_NOTFOUND);
	assert_int_equal(store_block_before(s, STORE_OBJECTS, 59, &block, NULL), HDB_OK);
	assert_int_equal(block.key, 50);
	assert_int_equal(store_block_before(s, STORE_OBJECTS, UINT64_MAX, &block, NULL), HDB_OK);
	assert_int_equal(block.key, 9990);
	assert_int_equal(store_block_after(s, STORE_OBJECTS, 51, &block, NULL), HDB_OK);
	assert_int_equal(block.key, 60);
	assert_int_equal(store_block_after(s, STORE_OBJECTS, 9991, &block, NULL), HDB_NOTFOUND);
	assert_int_equal(store_block_before(s, STORE_REFERENCES, 4, &block, NULL), HDB_NOTFOUND);
	assert_int_equal(store_meta_number(s, "number", 0), 42);
	assert_int_equal(store_meta_number(s, "other", 7), 7);
	store_meta_text(s, "name", buffer, sizeof(buffer));
	assert_string_equal(buffer, "value");
	store_close(s);
	temp_remove_db(path);
}

static void test_lists(void **state)
{
	enum { LISTS = 500 };
	const char *path = temp_path("lists.heapdb");
	struct store_writer *w = create(path);
	struct store_lists lists = { .table = STORE_REFERENCES,
				     .big_table = STORE_REFERENCES_BIG,
				     .ix_count = 1000000 };
	uint64_t first[LISTS + 1], seed = 17, lengths[STORE_BLOCK_OBJECTS];
	uint32_t *target = malloc(400000 * sizeof(*target));
	struct store_lists_out out = { .lengths = lengths };
	struct base_vec bytes = { 0 }, all = { 0 };
	uint64_t n = 0;

	(void)state;
	for (unsigned i = 0; i < LISTS; i++) {
		const unsigned len = i == 100 ? 100000 :
				     i == 200 ? STORE_LIST_BIG :
				     i == 300 ? STORE_LIST_BIG + 1 :
						(unsigned)(test_random(&seed) % 20);

		first[i] = n;
		for (unsigned e = 0; e < len; e++)
			target[n++] = (uint32_t)(test_random(&seed) % 1000000);
	}
	first[LISTS] = n;
	assert_int_equal(store_lists_encode(&bytes,
					    &(struct store_lists_rows){ .first_ix = 0,
									.count = LISTS,
									.first = first,
									.target = target,
									.lengths = NULL },
					    NULL),
			 HDB_OK);
	assert_int_equal(store_put(w, STORE_REFERENCES,
				   &(struct store_block){ .key = 0,
							  .item_count = LISTS,
							  .data = bytes.data,
							  .size = bytes.count },
				   NULL),
			 HDB_OK);
	for (unsigned i = 0; i < LISTS; i++)
		if (first[i + 1] - first[i] > STORE_LIST_BIG)
			assert_int_equal(
				store_lists_put_big(w,
						    &(struct store_big_list){
							    .table = STORE_REFERENCES_BIG,
							    .ix = i,
							    .target = target + first[i],
							    .count = first[i + 1] - first[i] },
						    NULL),
				HDB_OK);
	lists.store = publish_and_open(w, path);
	assert_true(LISTS % 50 == 0);
	for (unsigned k = 0; k < LISTS; k++) {
		const unsigned i = (k * 37) % LISTS;
		const uint32_t *batch;
		uint64_t length, at = first[i];
		size_t count;

		assert_int_equal(store_lists_begin(&lists, i, &length, NULL), HDB_OK);
		assert_int_equal(length, first[i + 1] - first[i]);
		do {
			assert_int_equal(store_lists_next(&lists, &batch, &count, NULL), HDB_OK);
			assert_memory_equal(batch, target + at, count * 4);
			at += count;
			/*
			 * A new snapshot in the middle of a list, as if a table had been built in
			 * the meantime.
			 */
			if (k % 50 == 3)
				assert_int_equal(store_refresh(lists.store, NULL), HDB_OK);
		} while (count);
		assert_int_equal(at, first[i + 1]);
	}
	out.target = &all;
	assert_int_equal(store_lists_block(&lists, 0, &out, NULL), HDB_OK);
	assert_int_equal(out.count, LISTS);
	assert_true(lengths[100] & STORE_LIST_IS_BIG);
	assert_memory_equal(all.data, target, first[100] * 4);
	store_close(lists.store);
	temp_remove_db(path);
	base_vec_release(&bytes);
	base_vec_release(&all);
	free(target);
}

/* The last block of the maximum number of objects, with numbers close to 2^32 and far from it. */
static void test_last_lists(void **state)
{
	enum { LISTS = 3 };
	static const uint32_t target[] = { UINT32_MAX - 1, 0, 1, UINT32_MAX - 2, 0 };
	static const uint64_t first[] = { 0, 2, 2, 5 };
	const uint32_t first_ix = UINT32_MAX / STORE_BLOCK_OBJECTS * STORE_BLOCK_OBJECTS;
	const char *path = temp_path("last.heapdb");
	struct store_writer *w = create(path);
	struct store_lists lists = { .table = STORE_REFERENCES,
				     .big_table = STORE_REFERENCES_BIG,
				     .ix_count = UINT32_MAX };
	struct base_vec bytes = { 0 };

	(void)state;
	assert_int_equal(store_lists_encode(&bytes,
					    &(struct store_lists_rows){ .first_ix = first_ix,
									.count = LISTS,
									.first = first,
									.target = target },
					    NULL),
			 HDB_OK);
	assert_int_equal(store_put(w, STORE_REFERENCES,
				   &(struct store_block){ .key = first_ix,
							  .item_count = LISTS,
							  .data = bytes.data,
							  .size = bytes.count },
				   NULL),
			 HDB_OK);
	lists.store = publish_and_open(w, path);
	for (uint32_t i = 0; i < LISTS; i++) {
		const uint32_t *batch;
		uint64_t length;
		size_t count;

		assert_int_equal(store_lists_begin(&lists, first_ix + i, &length, NULL), HDB_OK);
		assert_int_equal(length, first[i + 1] - first[i]);
		assert_int_equal(store_lists_next(&lists, &batch, &count, NULL), HDB_OK);
		assert_int_equal(count, length);
		assert_memory_equal(batch, target + first[i], count * sizeof(*batch));
	}
	store_close(lists.store);
	temp_remove_db(path);
	base_vec_release(&bytes);
}

static void test_records_and_texts(void **state)
{
	const char *path = temp_path("records.heapdb");
	struct store_writer *w = create(path);
	struct store_records_writer rw = { .writer = w, .table = STORE_ROOTS };
	struct store_texts_writer tw = { .writer = w };
	struct store *s;
	uint32_t rec[4];
	const char *text;
	size_t size;
	char buf[32];

	(void)state;
	for (uint32_t i = 0; i < 5000; i++) {
		const uint32_t out[4] = { i, i * 2, ~i };

		assert_int_equal(store_records_put(&rw, out, NULL), HDB_OK);
		(void)snprintf(buf, sizeof(buf), "text %u", i);
		assert_int_equal(store_texts_put(&tw, buf, strlen(buf), NULL), HDB_OK);
	}
	assert_int_equal(store_records_end(&rw, NULL), HDB_OK);
	assert_int_equal(store_texts_end(&tw, NULL), HDB_OK);
	s = publish_and_open(w, path);
	assert_int_equal(store_record_count(s, STORE_ROOTS), 5000);
	for (uint32_t i = 0; i < 5000; i += 7) {
		assert_int_equal(store_record(s, STORE_ROOTS, i, rec, NULL), HDB_OK);
		assert_int_equal(rec[2], ~i);
		assert_int_equal(store_text(s, i, &text, &size, NULL), HDB_OK);
		(void)snprintf(buf, sizeof(buf), "text %u", i);
		assert_int_equal(size, strlen(buf));
		assert_memory_equal(text, buf, size);
	}
	assert_int_equal(store_record(s, STORE_ROOTS, 5000, rec, NULL), HDB_NOTFOUND);
	assert_int_equal(store_text(s, 5000, &text, &size, NULL), HDB_NOTFOUND);
	store_close(s);
	temp_remove_db(path);
}

/* The checksum detects a block that was changed on disk, and the message names the block. */
static void test_checksum(void **state)
{
	const char *path = temp_path("sum.heapdb");
	struct store_writer *w = create(path);
	struct store_block block;
	struct hdb_error err;
	struct store *s;
	uint64_t checked;
	char big[20000];
	int fd;

	(void)state;
	memset(big, 'Q', sizeof(big));
	assert_int_equal(store_put(w, STORE_OBJECTS,
				   &(struct store_block){ .key = 0,
							  .item_count = 1,
							  .data = (const uint8_t *)big,
							  .size = sizeof(big) },
				   NULL),
			 HDB_OK);
	assert_int_equal(store_put_table(w, STORE_OBJECTS, 1, NULL), HDB_OK);
	s = publish_and_open(w, path);
	assert_int_equal(store_check(s, &work, &checked, NULL), HDB_OK);
	assert_int_equal(checked, 1);
	store_close(s);
	fd = open(path, O_RDWR);
	for (off_t at = 0; pread(fd, big, 5, at) == 5; at++) {
		if (memcmp(big, "QQQQQ", 5) == 0) {
			assert_int_equal(pwrite(fd, "R", 1, at + 3), 1);
			break;
		}
	}
	(void)close(fd);
	assert_int_equal(store_open(path, &s, NULL), HDB_OK);
	assert_int_equal(store_block(s, STORE_OBJECTS, 0, &block, &err), HDB_ECORRUPT);
	assert_non_null(strstr(err.message, "table objects"));
	assert_int_equal(store_check(s, &work, &checked, &err), HDB_ECORRUPT);
	store_close(s);
	temp_remove_db(path);
}

static void write_file(const char *path, const char *text, size_t size)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

static void test_not_a_database(void **state)
{
	const char *path = temp_path("no.heapdb");
	char zeros[65536] = { 0 };
	struct hdb_error err;
	struct store *s;

	(void)state;
	assert_int_equal(store_open(path, &s, &err), HDB_EABSENT);
	write_file(path, "hello", 5);
	assert_int_equal(store_open(path, &s, &err), HDB_ECORRUPT);
	write_file(path, zeros, sizeof(zeros));
	assert_int_equal(store_open(path, &s, &err), HDB_ECORRUPT);
	memset(zeros, 'x', sizeof(zeros));
	write_file(path, zeros, sizeof(zeros));
	assert_int_equal(store_open(path, &s, &err), HDB_ECORRUPT);
	assert_int_equal(store_open("/", &s, &err), HDB_EFORMAT);
	temp_remove_db(path);
}

static void test_truncated_database(void **state)
{
	const char *path = temp_path("cut.heapdb");
	struct store_writer *w = create(path);
	char big[100000] = { 0 };
	struct hdb_error err;
	struct store *s;

	(void)state;
	for (uint64_t k = 0; k < 20; k++)
		assert_int_equal(store_put(w, STORE_OBJECTS,
					   &(struct store_block){ .key = k,
								  .item_count = 1,
								  .data = (const uint8_t *)big,
								  .size = sizeof(big) },
					   NULL),
				 HDB_OK);
	store_close(publish_and_open(w, path));
	assert_int_equal(truncate(path, 300000), 0);
	assert_int_equal(store_open(path, &s, &err), HDB_ECORRUPT);
	assert_non_null(strstr(err.message, "truncated"));
	temp_remove_db(path);
}

static void test_exists_and_force(void **state)
{
	const char *path = temp_path("force.heapdb");
	struct store_writer *w = create(path), *second;
	struct hdb_error err;
	struct store *old, *fresh;
	struct stat st;
	char leftover[600];

	(void)state;
	/* A second import with the same name is refused and does no harm. */
	assert_int_equal(store_create(path, true, 0, &second, &err), HDB_END);
	assert_int_equal(store_put_meta_number(w, "n", 1, NULL), HDB_OK);
	old = publish_and_open(w, path);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(store_create(path, false, 0, &w, &err), HDB_EEXIST);
	/* The file that a killed import left is replaced. */
	(void)snprintf(leftover, sizeof(leftover), "%s.importing", path);
	write_file(leftover, "garbage", 7);
	assert_int_equal(chmod(leftover, 0600), 0);
	w = create(path);
	assert_int_equal(store_put_meta_number(w, "n", 2, NULL), HDB_OK);
	fresh = publish_and_open(w, path);
	/* The earlier handle still reads the old file. */
	assert_int_equal(store_meta_number(old, "n", 0), 1);
	assert_int_equal(store_meta_number(fresh, "n", 0), 2);
	assert_int_equal(access(leftover, F_OK), -1);
	store_close(old);
	store_close(fresh);
	/* After an abort, the old file remains, and no other file. */
	w = create(path);
	store_abort(w);
	assert_int_equal(access(leftover, F_OK), -1);
	assert_int_equal(store_open(path, &fresh, NULL), HDB_OK);
	store_close(fresh);
	temp_remove_db(path);
}

static const enum store_table built[] = { STORE_REACH };

static void put_reach(struct store_writer *w, unsigned blocks)
{
	char big[30000] = { 1 };

	for (uint64_t k = 0; k < blocks; k++)
		assert_int_equal(store_put(w, STORE_REACH,
					   &(struct store_block){ .key = k,
								  .item_count = 1,
								  .data = (const uint8_t *)big,
								  .size = sizeof(big) },
					   NULL),
				 HDB_OK);
}

/*
 * Two handles, one build: the second handle finds the finished table. A killed build leaves nothing
 * visible.
 */
static void test_build(void **state)
{
	const char *path = temp_path("build.heapdb");
	struct store *a = publish_and_open(create(path), path), *b;
	struct store_table_info info;
	struct store_writer *w;
	struct store_block block;
	int status;
	pid_t child;

	(void)state;
	store_close(a);
	child = fork();
	if (child == 0) {
		/*
		 * Writes more than fits in one transaction, then kills itself before the build
		 * ends.
		 */
		if (store_open(path, &a, NULL) == HDB_OK &&
		    store_build(a, (struct store_tables){ built, 1 }, &work, &w, NULL) == HDB_OK)
			put_reach(w, 2000);
		(void)raise(SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(store_open(path, &a, NULL), HDB_OK);
	assert_int_equal(store_open(path, &b, NULL), HDB_OK);
	assert_int_equal(store_table_info(a, STORE_REACH, &info, NULL), HDB_NOTFOUND);
	assert_int_equal(store_build(a, (struct store_tables){ built, 1 }, &work, &w, NULL),
			 HDB_OK);
	/* The remains of the killed process are gone. */
	assert_int_equal(store_refresh(b, NULL), HDB_OK);
	assert_int_equal(store_block(b, STORE_REACH, 5, &block, NULL), HDB_NOTFOUND);
	put_reach(w, 3);
	assert_int_equal(store_put_table(w, STORE_REACH, 3, NULL), HDB_OK);
	assert_int_equal(store_publish(w, NULL, NULL), HDB_OK);
	assert_int_equal(store_table_info(a, STORE_REACH, &info, NULL), HDB_OK);
	assert_int_equal(info.block_count, 3);
	assert_int_equal(store_table_info(b, STORE_REACH, &info, NULL), HDB_NOTFOUND);
	assert_int_equal(store_build(b, (struct store_tables){ built, 1 }, &work, &w, NULL),
			 HDB_END);
	assert_int_equal(store_table_info(b, STORE_REACH, &info, NULL), HDB_OK);
	store_close(a);
	store_close(b);
	temp_remove_db(path);
}

/*
 * Answers with arguments share a table. The first answer for a key stays. A full table is emptied
 * before the next answer. The file remains private.
 */
static void test_answers(void **state)
{
	const char *path = temp_path("answers.heapdb");
	struct store *s = publish_and_open(create(path), path);
	struct store_block block = { .data = (const uint8_t *)"answer",
				     .size = 6,
				     .item_count = 2 };
	struct store_table_info info;
	struct stat st;

	(void)state;
	for (block.key = 0; block.key < STORE_ANSWERS_MAX; block.key++)
		assert_int_equal(store_keep(s, STORE_ANSWER_OPTIONS, &block, NULL), HDB_OK);
	block.key = 7;
	assert_int_equal(store_keep(s, STORE_ANSWER_OPTIONS, &block, NULL), HDB_END);
	assert_int_equal(store_table_info(s, STORE_ANSWER_OPTIONS, &info, NULL), HDB_NOTFOUND);
	assert_int_equal(store_refresh(s, NULL), HDB_OK);
	assert_int_equal(store_table_info(s, STORE_ANSWER_OPTIONS, &info, NULL), HDB_OK);
	assert_int_equal(info.block_count, STORE_ANSWERS_MAX);
	assert_int_equal(info.item_count, 2 * STORE_ANSWERS_MAX);
	block.key = UINT64_MAX;
	assert_int_equal(store_keep(s, STORE_ANSWER_OPTIONS, &block, NULL), HDB_OK);
	assert_int_equal(store_refresh(s, NULL), HDB_OK);
	assert_int_equal(store_table_info(s, STORE_ANSWER_OPTIONS, &info, NULL), HDB_OK);
	assert_int_equal(info.block_count, 1);
	assert_int_equal(info.item_count, 2);
	assert_int_equal(store_block(s, STORE_ANSWER_OPTIONS, 7, &block, NULL), HDB_NOTFOUND);
	assert_int_equal(store_block(s, STORE_ANSWER_OPTIONS, UINT64_MAX, &block, NULL), HDB_OK);
	assert_memory_equal(block.data, "answer", 6);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	store_close(s);
	temp_remove_db(path);
}

/*
 * A block with its own pages keeps its address, whatever is built later. If another block was at
 * this address before, the new block is verified.
 */
static void test_growth(void **state)
{
	const char *path = temp_path("growth.heapdb");
	struct store_writer *w = create(path);
	struct store_block before, after;
	struct store_table_info info;
	struct store *a;
	uint64_t file_bytes;
	char big[30000] = { 2 };

	(void)state;
	assert_int_equal(store_put(w, STORE_TEXTS,
				   &(struct store_block){ .key = 1,
							  .item_count = 1,
							  .data = (const uint8_t *)big,
							  .size = sizeof(big) },
				   NULL),
			 HDB_OK);
	assert_int_equal(store_put_table(w, STORE_TEXTS, 1, NULL), HDB_OK);
	a = publish_and_open(w, path);
	assert_int_equal(store_block(a, STORE_TEXTS, 1, &before, NULL), HDB_OK);
	file_bytes = a->view.map_bytes;
	assert_int_equal(store_build(a, (struct store_tables){ built, 1 }, &work, &w, NULL),
			 HDB_OK);
	put_reach(w, 2000);
	assert_int_equal(store_put_table(w, STORE_REACH, 2000, NULL), HDB_OK);
	assert_int_equal(store_publish(w, NULL, NULL), HDB_OK);
	assert_int_equal(store_table_info(a, STORE_REACH, &info, NULL), HDB_OK);
	assert_true(a->view.map_bytes > file_bytes);
	assert_int_equal(store_block(a, STORE_TEXTS, 1, &after, NULL), HDB_OK);
	assert_ptr_equal(after.data, before.data);
	assert_int_equal(after.checksum, before.checksum);
	/* The block that was read there before had another checksum, so this block is verified. */
	assert_int_equal(store_block(a, STORE_REACH, 7, &after, NULL), HDB_OK);
	assert_int_equal(base_idmap_put(&a->verified,
					(uint64_t)(uintptr_t)(after.data - BLOCK_HEADER_SIZE),
					(uint32_t)(after.checksum + 1) & INT32_MAX, NULL),
			 HDB_OK);
	assert_int_equal(store_block(a, STORE_REACH, 7, &after, NULL), HDB_OK);
	assert_int_equal(
		base_idmap_get(&a->verified, (uint64_t)(uintptr_t)(after.data - BLOCK_HEADER_SIZE)),
		(uint32_t)after.checksum & INT32_MAX);
	store_close(a);
	temp_remove_db(path);
}

/*
 * If neither the database nor a directory can be written, a table is kept in memory. It can be read
 * completely while the next table, of many blocks, is written.
 */
static void test_in_memory(void **state)
{
	enum { BLOCKS = 1500, BIG_BLOCKS = 1000 };
	static const enum store_table first[] = { STORE_DOMINATORS };
	const char *path = temp_path("memory.heapdb");
	struct store *a = publish_and_open(create(path), path);
	struct store_table_info info;
	struct store_writer *w;
	struct store_block block;
	struct hdb_error err;
	char text[100] = "", big[30000] = { 1 };

	(void)state;
	if (access("/proc/self/fd", F_OK) != 0) {
		store_close(a);
		temp_remove_db(path);
		print_message("no /proc, by which LMDB opens a file without a name\n");
		skip();
	}
	a->env->is_read_only = true;
	has_no_folder = true;
	assert_int_equal(store_build(a, (struct store_tables){ first, 1 }, &work, &w, &err),
			 HDB_OK);
	for (uint64_t k = 0; k < BLOCKS; k++) {
		(void)snprintf(text, sizeof(text), "block %u", (unsigned)k);
		assert_int_equal(store_put(w, STORE_DOMINATORS,
					   &(struct store_block){ .key = k,
								  .item_count = 1,
								  .data = (const uint8_t *)text,
								  .size = sizeof(text) },
					   NULL),
				 HDB_OK);
	}
	assert_int_equal(store_put_table(w, STORE_DOMINATORS, BLOCKS, NULL), HDB_OK);
	assert_int_equal(store_publish(w, NULL, NULL), HDB_OK);
	assert_true(a->side->env->is_memory);
	assert_int_equal(store_build(a, (struct store_tables){ built, 1 }, &work, &w, &err),
			 HDB_OK);
	for (uint64_t k = 0; k < BIG_BLOCKS; k++) {
		const uint64_t old = k * 37 % BLOCKS;

		/* Its key is smaller than the existing keys, so their pages are rewritten. */
		assert_int_equal(store_put(w, STORE_REACH,
					   &(struct store_block){ .key = k,
								  .item_count = 1,
								  .data = (const uint8_t *)big,
								  .size = sizeof(big) },
					   NULL),
				 HDB_OK);
		(void)snprintf(text, sizeof(text), "block %u", (unsigned)old);
		assert_int_equal(store_block(a, STORE_DOMINATORS, old, &block, &err), HDB_OK);
		assert_string_equal((const char *)block.data, text);
	}
	assert_int_equal(store_put_table(w, STORE_REACH, BIG_BLOCKS, NULL), HDB_OK);
	assert_int_equal(store_publish(w, NULL, NULL), HDB_OK);
	has_no_folder = false;
	assert_int_equal(store_table_info(a, STORE_REACH, &info, NULL), HDB_OK);
	assert_int_equal(info.block_count, BIG_BLOCKS);
	assert_int_equal(store_table_info(a, STORE_DOMINATORS, &info, NULL), HDB_OK);
	for (uint64_t k = 0; k < BLOCKS; k++) {
		(void)snprintf(text, sizeof(text), "block %u", (unsigned)k);
		assert_int_equal(store_block(a, STORE_DOMINATORS, k, &block, &err), HDB_OK);
		assert_string_equal((const char *)block.data, text);
	}
	store_close(a);
	temp_remove_db(path);
}

/*
 * A build in another process holds the lock. A process that needs the same table waits, and can be
 * interrupted.
 */
static void test_waiting(void **state)
{
	const char *path = temp_path("wait.heapdb");
	struct store *a = publish_and_open(create(path), path);
	static volatile int cancel = 1;
	struct store_writer *w;
	struct hdb_error err;
	int ready[2], status;
	char byte = 0;
	pid_t child;

	(void)state;
	store_close(a);
	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		if (store_open(path, &a, NULL) == HDB_OK &&
		    store_build(a, (struct store_tables){ built, 1 }, &work, &w, NULL) == HDB_OK) {
			(void)!write(ready[1], "r", 1);
			(void)usleep(300000);
			put_reach(w, 2);
			if (store_put_table(w, STORE_REACH, 2, NULL) == HDB_OK &&
			    store_publish(w, NULL, NULL) == HDB_OK)
				_exit(0);
		}
		_exit(1);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(store_open(path, &a, NULL), HDB_OK);
	work.progress.cancel = &cancel;
	assert_int_equal(store_build(a, (struct store_tables){ built, 1 }, &work, &w, &err),
			 HDB_EINTR);
	work.progress.cancel = NULL;
	assert_int_equal(store_build(a, (struct store_tables){ built, 1 }, &work, &w, &err),
			 HDB_END);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	store_close(a);
	(void)close(ready[0]);
	(void)close(ready[1]);
	temp_remove_db(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_last_lists),
		cmocka_unit_test(test_records_and_texts),
		cmocka_unit_test(test_checksum),
		cmocka_unit_test(test_not_a_database),
		cmocka_unit_test(test_truncated_database),
		cmocka_unit_test(test_exists_and_force),
		cmocka_unit_test(test_build),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_waiting),
		cmocka_unit_test(test_in_memory),
	};

	base_work_init(&work, 0, 1, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
