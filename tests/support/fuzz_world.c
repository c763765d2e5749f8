/*
 * support/fuzz_world.c - see fuzz_world.h.
 */
#include "support/fuzz_world.h"

#include "store/block.h"
#include "store/pages.h"
#include "store/view.h"
#include "support/hostile.h"
#include "support/temp.h"

#include <fcntl.h>
#include <sys/stat.h>

#define VALUES_MAX 4096

static struct fuzz_world world;
static struct fuzz_value values[VALUES_MAX];
static size_t value_count;

static void stop(const char *why)
{
	(void)fprintf(stderr, "fuzz world: %s\n", why);
	abort();
}

static void remove_world(void)
{
	temp_remove_db(world.db_path);
	(void)unlink(world.dump_path);
	free(world.image);
}

static void read_image(void)
{
	FILE *f = fopen(world.db_path, "rb");
	struct stat st;

	if (!f || fstat(fileno(f), &st) != 0)
		stop("no database");
	world.image_size = (size_t)st.st_size;
	world.image = malloc(world.image_size);
	if (!world.image || fread(world.image, 1, world.image_size, f) != world.image_size)
		stop("cannot read the database");
	(void)fclose(f);
}

/* Returns the number of the newest transaction: the greater one of both meta pages'. */
static uint64_t newest(const uint8_t *image)
{
	const size_t at = 16 + 24 + 2 * 48 + 8;
	const uint64_t a = load64(image + at), b = load64(image + 4096 + at);

	return a > b ? a : b;
}

size_t fuzz_find_values(const uint8_t *image, size_t size, struct fuzz_value *out, size_t room)
{
	struct pages pages;
	struct pages_place place = { .tree = &pages.main };
	size_t count = 0;
	int r;

	if (store_pages_open(&pages, &(struct pages_file){ image, size, "image" }, newest(image),
			     NULL) != HDB_OK)
		stop("cannot read the pages");
	r = store_pages_seek(&pages, (struct pages_key){ "", 0 }, &place, NULL);
	while (r == HDB_OK && count < room) {
		out[count++] = (struct fuzz_value){
			.key_at = (size_t)(place.key - image),
			.key_size = place.key_size,
			.at = (size_t)(place.value - image),
			.size = place.value_size,
		};
		r = store_pages_next(&pages, &place, NULL);
	}
	store_pages_close(&pages);
	return count;
}

struct fuzz_world *fuzz_world(void)
{
	const struct hdb_import_options opt = { .force = 1, .threads = 1 };
	struct hdb_error err = { 0 };
	uint64_t hash;
	struct hw w;

	if (world.image)
		return &world;
	hostile_path(world.dump_path, sizeof(world.dump_path), "fuzz.hprof");
	hostile_path(world.db_path, sizeof(world.db_path), "fuzz.heapdb");
	hostile_dump(&w, HOSTILE_JAVA8, 40);
	if (hw_save(&w, world.dump_path) != 0)
		stop("cannot write the dump");
	hw_release(&w);
	if (hdb_import(world.dump_path, world.db_path, &opt, NULL, &err) != HDB_OK ||
	    hostile_answers(world.db_path, world.dump_path, &hash, &err) != HDB_OK)
		stop(err.message);
	read_image();
	value_count = fuzz_find_values(world.image, world.image_size, values, VALUES_MAX);
	(void)atexit(remove_world);
	return &world;
}

void fuzz_world_write(const uint8_t *image, size_t size)
{
	const int fd = open(world.db_path, O_WRONLY | O_TRUNC | O_CREAT, 0600);

	if (fd < 0 || write(fd, image, size) != (ssize_t)size)
		stop("cannot write the database");
	(void)close(fd);
}

const struct fuzz_value *fuzz_world_values(size_t *count)
{
	*count = value_count;
	return values;
}

static void seal_value(uint8_t *image, const struct fuzz_value *value)
{
	store64(image + value->at, store_block_checksum(image + value->key_at, value->key_size,
							image + value->at, value->size));
}

static bool is_meta(const uint8_t *image, const struct fuzz_value *value, const char *name)
{
	const uint8_t *key = image + value->key_at;

	return be16(key) == STORE_META &&
	       (!name || (value->key_size == 2 + strlen(name) &&
			  memcmp(key + 2, name, value->key_size - 2) == 0));
}

/* The seal has a hash of each meta value: the new one in the old one's place. */
static void mend_seal(uint8_t *image, const struct fuzz_value *value, uint64_t old)
{
	const struct fuzz_value *seal = NULL;

	for (size_t i = 0; i < value_count; i++)
		if (is_meta(image, &values[i], "seal"))
			seal = &values[i];
	for (size_t at = BLOCK_HEADER_SIZE; seal && at + 8 <= seal->size; at += 8)
		if (load64(image + seal->at + at) == old)
			store64(image + seal->at + at,
				store_seal_entry(image + value->key_at + 2, value->key_size - 2,
						 image + value->at));
	if (seal)
		seal_value(image, seal);
}

void fuzz_world_seal(uint8_t *image, const struct fuzz_value *value)
{
	const uint64_t old = is_meta(image, value, NULL) ?
				     store_seal_entry(image + value->key_at + 2,
						      value->key_size - 2, image + value->at) :
				     0;

	seal_value(image, value);
	if (is_meta(image, value, NULL) && !is_meta(image, value, "seal"))
		mend_seal(image, value, old);
}
