/*
 * damaged_test.c - blocks whose content is damaged behind a right checksum: each row of
 * tests/data/damaged_blocks.txt changes one block of a database, and states the code and message
 * that one of the questions must return. In this way each message of a decoder is tested, in store,
 * heap, derive and above.
 *
 * After a change of the format, `damaged_test find SECONDS` prints rows that it finds by chance,
 * one per message. Review them before they replace the old rows.
 */
#include "base/bytes.h"
#include "store/block.h"
#include "store/tables.h"
#include "support/fuzz_world.h"
#include "support/hostile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <cmocka.h>

#define ROWS_PATH "tests/data/damaged_blocks.txt"
#define VALUES_MAX 4096
#define MESSAGES_MAX 4096
/* An LMDB node has 8 bytes before its key: the size of its value, in two parts, flags, key size. */
#define NODE_HEAD 8

/* Number of objects in the large dump, more than fit in a block. */
#define BIG_OBJECTS 20000

/* A database: with all tables, as the import wrote it, or with all tables of a larger dump. */
static struct world {
	uint8_t *image;
	size_t size, count;
	struct fuzz_value values[VALUES_MAX];
} worlds[3];

/* How a block is changed. */
struct change {
	char world[8]; /* "all", "base" or "big" */
	/* name of the table; meta/NAME is a meta value, which is changed only in "all" */
	char table[64];
	unsigned block; /* number of the block in the table, starting at 0 */
	/*
	 * "cut": remove `at` bytes; "key": change the key; "put": write `size` bytes of `value` at
	 * `at`; "raw": like put, but keep the checksum
	 */
	char kind[8];
	unsigned at, size;
	unsigned long long value;
	unsigned part; /* part of the queries, as in hostile_answers_part */
};

static void import_world(struct world *world)
{
	const struct hdb_import_options opt = { .force = 1, .threads = 1 };
	const struct fuzz_world *all = fuzz_world();
	struct hdb_error err;
	struct stat st;
	FILE *f;

	if (hdb_import(all->dump_path, all->db_path, &opt, NULL, &err) != HDB_OK ||
	    stat(all->db_path, &st) != 0)
		fail_msg("%s", err.message);
	world->image = malloc((size_t)st.st_size);
	f = fopen(all->db_path, "rb");
	assert_true(world->image && f);
	world->size = fread(world->image, 1, (size_t)st.st_size, f);
	(void)fclose(f);
}

static void make_worlds(void)
{
	const struct fuzz_world *all = fuzz_world();
	struct hw dump;

	worlds[0].image = all->image;
	worlds[0].size = all->image_size;
	hostile_dump(&dump, HOSTILE_JAVA8, BIG_OBJECTS);
	assert_int_equal(hw_save(&dump, all->dump_path), 0);
	hw_release(&dump);
	import_world(&worlds[2]);
	hostile_dump(&dump, HOSTILE_JAVA8, 40); /* as in fuzz_world */
	assert_int_equal(hw_save(&dump, all->dump_path), 0);
	hw_release(&dump);
	import_world(&worlds[1]);
	for (size_t i = 0; i < 3; i++)
		worlds[i].count = fuzz_find_values(worlds[i].image, worlds[i].size,
						   worlds[i].values, VALUES_MAX);
}

static const struct fuzz_value *find_value(const struct world *world, const struct change *change)
{
	unsigned block = 0;

	for (size_t i = 0; i < world->count; i++) {
		const struct fuzz_value *value = &world->values[i];
		const uint8_t *key = world->image + value->key_at;
		char name[128];

		(void)snprintf(name, sizeof(name), "%s", store_table_name(be16(key)));
		if (be16(key) == STORE_META)
			(void)snprintf(name, sizeof(name), "meta/%.*s", (int)value->key_size - 2,
				       (const char *)key + 2);
		if (strcmp(name, change->table) == 0 && block++ == change->block)
			return value;
	}
	return NULL;
}

/*
 * Makes the change in a copy and runs the queries. Returns false if the block has no such position.
 */
static bool ask(const struct change *change, int *r, struct hdb_error *err)
{
	const struct fuzz_world *files = fuzz_world();
	const struct world *world = &worlds[strcmp(change->world, "all") == 0  ? 0 :
					    strcmp(change->world, "base") == 0 ? 1 :
										 2];
	const struct fuzz_value *found = find_value(world, change);
	struct fuzz_value value;
	uint8_t *image, *node;
	uint64_t hash;

	if (!found)
		return false;
	value = *found;
	image = malloc(world->size);
	assert_non_null(image);
	memcpy(image, world->image, world->size);
	node = image + value.key_at - NODE_HEAD;
	if (strcmp(change->kind, "cut") == 0) {
		/* If a value has its own pages, its size is stored there, too. */
		if (change->at > value.size || load32(node) != value.size)
			goto no_place;
		value.size -= change->at;
		store32(node, (uint32_t)value.size);
	} else if (strcmp(change->kind, "key") == 0) {
		image[value.key_at + value.key_size - 1]++;
	} else {
		if (change->at < 8 || change->at + change->size > value.size)
			goto no_place;
		for (unsigned i = 0; i < change->size; i++)
			image[value.at + change->at + i] = (uint8_t)(change->value >> (8 * i));
	}
	if (strcmp(change->kind, "raw") != 0 && value.size >= 8 && world == worlds)
		fuzz_world_seal(image, &value);
	else if (strcmp(change->kind, "raw") != 0 && value.size >= 8)
		store64(image + value.at, store_block_checksum(image + value.key_at, value.key_size,
							       image + value.at, value.size));
	fuzz_world_write(image, world->size);
	free(image);
	*err = (struct hdb_error){ 0 };
	*r = hostile_answers_part(files->db_path, files->dump_path, change->part, &hash, err);
	return true;
no_place:
	free(image);
	return false;
}

static void test_rows(void **state)
{
	FILE *f = fopen(ROWS_PATH, "r");
	unsigned rows = 0, failed = 0;
	char line[512];

	(void)state;
	assert_non_null(f);
	make_worlds();
	while (fgets(line, sizeof(line), f)) {
		struct change change;
		struct hdb_error err;
		int r = 0, code, end = 0;

		if (line[0] == '#')
			continue;
		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%7s %63s %u %7s %u %u %llx %u %d %n", change.world, change.table,
			   &change.block, change.kind, &change.at, &change.size, &change.value,
			   &change.part, &code, &end) != 9 ||
		    !end)
			fail_msg("no row: %s", line);
		rows++;
		if (!ask(&change, &r, &err))
			print_message("no such place: %s\n", line);
		else if (r != code || !strstr(err.message, line + end))
			print_message("%s\n  gives %d %s\n", line, r, err.message);
		else
			continue;
		failed++;
	}
	(void)fclose(f);
	print_message("%u rows\n", rows);
	assert_int_equal(failed, 0);
	assert_true(rows > 100);
}

/* ---- finding rows ---- */

/* Removes the path and the numbers from a message, for comparison. */
static const char *message_of(const char *text, char *kind, size_t size)
{
	const char *message = text[0] == '/' && strstr(text, ": ") ? strstr(text, ": ") + 2 : text;
	size_t n = 0;

	for (const char *p = message; *p && n + 1 < size; p++)
		if (*p < '0' || *p > '9')
			kind[n++] = *p;
	kind[n] = '\0';
	return message;
}

static void random_change(struct change *change)
{
	static const unsigned long long values[] = { 0, UINT64_MAX, 1, 0x7f, INT32_MAX, 128, 17 };
	static const unsigned cuts[] = { 1, 4, 8, 16, 0, 0 };
	const struct world *world = &worlds[rand() % 2];
	const struct fuzz_value *value = &world->values[(size_t)rand() % world->count];
	const unsigned table = be16(world->image + value->key_at), kind = (unsigned)rand() % 6;

	*change = (struct change){ .part = (unsigned)rand() % (HOSTILE_PARTS + 1) };
	strcpy(change->world, world == worlds ? "all" : "base");
	(void)snprintf(change->table, sizeof(change->table), "%s", store_table_name(table));
	for (const struct fuzz_value *v = world->values; v < value; v++)
		change->block += be16(world->image + v->key_at) == table;
	strcpy(change->kind, kind == 0 ? "cut" : kind == 1 ? "key" : "put");
	if (kind == 0) {
		const unsigned cut = cuts[rand() % 6];

		change->at = cut ? cut : (unsigned)(value->size - 16 * ((unsigned)rand() % 2));
	} else if (kind > 1) {
		change->at = 8 + (unsigned)rand() % (unsigned)(value->size < 48 ? value->size : 48);
		change->size = 1u << rand() % 4;
		change->value = values[rand() % 7];
	}
}

static void find_rows(double seconds)
{
	static char seen[MESSAGES_MAX][HDB_ERROR_SIZE];
	const time_t begin = time(NULL);
	size_t count = 0;

	make_worlds();
	while (difftime(time(NULL), begin) < seconds && count < MESSAGES_MAX) {
		struct change change;
		struct hdb_error err;
		const char *message;
		size_t i = 0;
		int r;

		random_change(&change);
		if (strcmp(change.table, "meta") == 0 || !ask(&change, &r, &err) || r >= 0)
			continue;
		message = message_of(err.message, seen[count], sizeof(seen[0]));
		while (strcmp(seen[i], seen[count]) != 0)
			i++;
		if (i < count)
			continue;
		count++;
		printf("%s %s %u %s %u %u %llx %u %d %s\n", change.world, change.table,
		       change.block, change.kind, change.at, change.size, change.value, change.part,
		       r, message);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_rows) };

	if (argc == 3 && strcmp(argv[1], "find") == 0) {
		find_rows(atof(argv[2]));
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
